"""The loops within: one that makes a capability, whichever kind it is, and one over the changed files."""

from __future__ import annotations

import json
from typing import Any

from loopwright.kernel.changing import replace
from loopwright.kernel.codec import plain
from loopwright.kernel.gates import matches
from loopwright.kernel.model import NO_COMMIT
from loopwright.kernel.risks import DOCUMENTATION
from loopwright.kernel.trust import LandedBefore, Trust
from loopwright.loops.lifecycle.gate_rules import DELIVERABLES
from loopwright.loops.lifecycle.skills import folder_of
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage

_NO_ARTIFACTS = (*DOCUMENTATION, DELIVERABLES, "**/*.lock")


def capability_task(state: LifecycleState) -> str:
    system = state.plan.system
    name = state.current or system.name
    about = f"\n\n{system.description}" if system.description else ""
    papers = f"\n\nWhat is known of it lies in {folder_of(system.id)}/ (specification, architecture)."
    reopened = f"\n\nIt is done again: {state.reopened}" if state.reopened else ""
    later = " Tests are written afterwards: a change to existing behaviour keeps the existing tests passing."
    return f"Implement the capability {name!r} of {system.name}.{about}{papers}{later}{reopened}"


def maker_params(state: LifecycleState) -> str:
    plan, inner = state.plan, state.plan.inner
    given: dict[str, Any] = json.loads(plan.child)
    given |= _said(given, state)
    given |= {
        "base": state.tip,
        "answers": [*state.course.answers, *state.course.refusals],
        "before": plain(state.course.before),
        "trust": plain(early_trust(state)),
    }
    if inner.details or inner.attempts:  # those that leave their result to whoever began them
        given |= {
            "lands": False,
            "part": {"task_id": state.current, "request": _request(state), "learned": [], "must_not": []},
            "after": plain(landed_before(state)),
        }
    return json.dumps(given, sort_keys=True)


def landed_before(state: LifecycleState) -> LandedBefore:
    """Tests of earlier capabilities stay as they landed. Before the first there are none; and what one that is made
    again made itself, it may change."""
    if not state.done:
        return LandedBefore()
    own = tuple(file for name, file in state.made if name == state.current)
    return LandedBefore(
        commit=state.landed,
        own=own,
        allow=state.course.released,
        noticed=state.resumes_at is not Stage.SHIP,  # there it is brought together with what the target changed
        began=state.plan.base if state.onto else NO_COMMIT,
        target=state.onto,
    )


def early_trust(state: LifecycleState) -> Trust:
    """Tests of a capability are written after it: of what is made before, only that it is read is asked."""
    return replace(state.plan.trust.on(state.ground), new_ground=True, tests_to_come=True)


def _request(state: LifecycleState) -> str:
    system = state.plan.system
    every = (*state.done, *((state.current,) if state.current else ()), *state.remaining)
    listed = "".join(f"\n- {name}" for name in every)
    return f"{system.name}: {system.description or 'a system of its own'}" + (
        f"\n\nIts capabilities:{listed}" if listed else ""
    )


def _said(given: dict[str, Any], state: LifecycleState) -> dict[str, str]:
    """What is to be done, under the names that the loop has for it."""
    inner, task = state.plan.inner, capability_task(state)
    name = state.current or state.plan.system.name
    said = {inner.task: name, inner.details: task} if inner.details else {inner.task: task}
    if inner.name:
        count = f"{len(state.done) + 1}-{state.maker.number + state.maker.over}"
        said[inner.name] = f"{given[inner.name]}-{count}"
    return said


def artifacts(state: LifecycleState) -> tuple[str, ...]:
    """The changed files that are reviewed: no tests, which the checks look at, no papers, and nothing that is gone."""
    return tuple(path for path in state.paths if path not in state.gone and is_product(state, path))


def is_product(state: LifecycleState, path: str) -> bool:
    return not is_test(state, path) and not any(matches(path, pattern) for pattern in _NO_ARTIFACTS)


def is_test(state: LifecycleState, path: str) -> bool:
    return any(matches(path, pattern) for pattern in state.plan.tests)


def review_params(state: LifecycleState) -> str:
    given: dict[str, Any] = json.loads(state.plan.review)
    trust = plain(replace(state.plan.trust.on(state.ground), new_ground=True))
    shared = {
        **given["each"],
        "base": state.tip,
        "against": state.onto or state.plan.base,
        "trust": trust,
        "task": f"Review what was built of {state.plan.system.name}: is it right, safe, and only what was asked?",
    }
    own = {
        **given["all"],
        "artifacts": [{"path": path, "own": json.dumps({"story": _story(state, path)})} for path in artifacts(state)],
        "shared": json.dumps(shared, sort_keys=True),
        "base": state.tip,
        "trust": trust,
    }
    return json.dumps(own, sort_keys=True)


def _story(state: LifecycleState, path: str) -> str:
    plain_path = "".join(char if char.isalnum() else "-" for char in path.lower()).strip("-")
    return f"{state.plan.system.id}-{plain_path}"[:80]
