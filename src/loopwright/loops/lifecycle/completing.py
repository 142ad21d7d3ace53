"""When a system is complete: ten conditions, each with what shows it; and the five actions that follow, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import shorten

from loopwright.kernel.quoting import one_line
from loopwright.loops.course import Ruling
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.matrix import COMPLEXITY, LINT, PERFORMANCE, TYPES, sort_of_check
from loopwright.loops.lifecycle.skills import SKILLS, folder_of
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage

_SUBJECT = 60  # characters
_VERIFIES = (LINT, TYPES, COMPLEXITY)
_MESSAGES = {
    Stage.INIT: "docs({id}): specification of {name}",
    Stage.SCAFFOLD: "chore({id}): scaffold of {name}",
    Stage.IMPLEMENT: "feat({id}): {capability}",
    Stage.TEST: "feat({id}): {capability}",
    Stage.VERIFY: "feat({id}): {capability}",
    Stage.VALIDATE: "docs({id}): validation of {name}",
    Stage.DOCUMENT: "docs({id}): documentation of {name}",
    Stage.REVIEW: "chore({id}): review of {name}",
    Stage.SHIP: "Merge what the target has by now into {name}",
}


@dataclass(frozen=True, slots=True)
class Condition:
    name: str
    met: bool
    shown_by: str
    waived: bool = False  # not met, and a person said that it need not be


def message(state: LifecycleState) -> str:
    """Of the commit that lands next."""
    return state.piece.message if state.piece else stage_message(state)


def stage_message(state: LifecycleState) -> str:
    """Of what is made in the present state, or in the one whose failure is mended."""
    system = state.plan.system
    text = _MESSAGES.get(state.resumes_at, "work({id}): {name}")
    return text.format(
        id=system.id, name=one_line(system.name, 60), capability=one_line(state.current or system.name, 60)
    )


def fix_message(state: LifecycleState, failure: Failure) -> str:
    return (
        f"fix({state.plan.system.id}): {shorten(one_line(state.fixed, 500), _SUBJECT, placeholder='…')}\n\n"
        f"Error: {one_line(failure.error, 300)}\n"
        f"Cause: {one_line(state.diagnosis, 300) or 'not known'}\n"
        f"Fix: {one_line(state.fixed, 300)}\n\n"
        f"Attempt: {state.retries}/{state.allowance.retries}"
    )


def conditions(state: LifecycleState) -> tuple[Condition, ...]:
    return tuple(_conditions(state))


def _conditions(state: LifecycleState) -> Iterator[Condition]:
    checks = ", ".join(state.plan.checks) or "none"
    yield _capabilities(state)
    yield Condition("All tests passing", bool(state.merged), f"checks on the tree that was merged: {checks}")
    yield _verified(state)
    yield _by_skill(state, "Code validation passing (logic, requirements)", "code-validation")
    audit = _by_skill(state, "Security audit passing (no critical/high)", "security-audit")
    yield replace(audit, shown_by=audit.shown_by + _by_word(state, "security", "; run again"))
    measured = any(sort_of_check(name) == PERFORMANCE for name in state.plan.checks)
    if measured:
        yield Condition("Performance targets met", bool(state.merged), "a check measures it")
    else:
        yield _by_skill(state, "Performance targets met", "perf-analysis", "not measured")
    yield _by_skill(state, "Documentation updated", "document")
    yield _reviewed(state)
    deployed = _by_word(state, "deploy", "; deployed")
    yield Condition("PR approved and merged", bool(state.merged), f"merged as {state.merged[:12]}{deployed}")
    unapproved = [
        gate.gate for gate in state.course.gates if _is_missing(gate.gate, gate.due, gate.ruling, gate.lasting)
    ]
    yield Condition("All required gates approved", not unapproved, ", ".join(unapproved) or "every gate that was due")


def _by_word(state: LifecycleState, cause: str, what: str) -> str:
    """Return whose word it rests on that this was resolved; empty where nobody had to say so."""
    names = dict.fromkeys(one_line(name, 100) for each, name in state.resolved_by if each == cause)
    return f"{what}: by the word of {' and '.join(names)}" if names else ""


def _verified(state: LifecycleState) -> Condition:
    """By the checks of each sort; the sorts that nothing looks at are named."""
    name = "Code verification passing (lint, types, complexity)"
    known = {each: sort_of_check(each) for each in state.plan.checks}
    there = [each for each, sort in known.items() if sort in _VERIFIES]
    missing = [sort for sort in _VERIFIES if sort not in known.values()]
    absent = f"not configured: {', '.join(missing)}" if missing else ""
    if not there:
        return _by_skill(state, name, "code-verification", absent)
    return Condition(name, bool(state.merged), "; ".join(filter(None, (", ".join(there), absent))))


def _is_missing(gate: str, due: bool, ruling: Ruling, lasting: bool) -> bool:  # noqa: FBT001
    return due and not lasting and ruling is not Ruling.APPROVED and gate in gating.GATES


def _capabilities(state: LifecycleState) -> Condition:
    left = (*((state.current,) if state.current else ()), *state.remaining)
    unbuilt = "".join(f"; {one_line(each.capability, 60)} {one_line(each.why, 80)}" for each in state.unbuilt)
    # What a person skipped or accepted is on record, and holds up nothing.
    return Condition(
        "All capabilities implemented",
        not left and not unbuilt,
        f"{len(state.built)} done{unbuilt}",
        waived=bool(unbuilt) and not left,
    )


def _reviewed(state: LifecycleState) -> Condition:
    """The loop over the changed files, which no skip leaves out, and the skill."""
    more = "the loop over the changed files" if state.reviews.number else ""
    shown = _by_skill(state, "Code review self-assessment passing", "code-review", more)
    return shown if shown.waived else replace(shown, met=shown.met and bool(state.reviewed))


def _by_skill(state: LifecycleState, name: str, skill: str, more: str = "") -> Condition:
    if skill in state.finished:
        return Condition(name, met=True, shown_by=f"the skill {skill}{f'; {more}' if more else ''}")
    skip = next((each for each in state.skips if each.skill == skill), None)
    shown = f"skipped by {skip.by or 'a person'}: {skip.reason}" if skip is not None else "not done"
    return Condition(name, met=False, shown_by=shown, waived=skip is not None)


def papers_line(state: LifecycleState) -> str:
    """Where what was written after the approval lies: it is in no branch."""
    if not state.papers:
        return ""
    commit, left = state.papers[:12], SKILLS["retrospective"].leaves if "retrospective" in state.finished else ""
    place = f"{folder_of(state.plan.system.id)}/{left}"
    return f"Papers of SHIP and COMPLETE: commit {commit}, `git show {commit}:{place}`"


def interfaces_line(state: LifecycleState) -> str:
    told = f"; told: {', '.join(state.unblocked)}" if state.unblocked else ""
    return f"3. update interfaces: contracts of {state.plan.system.id} are final{told}"


def next_line(state: LifecycleState) -> str:
    if state.next:
        return f"5. trigger next: {state.next} is ready"
    return "5. trigger next: no system is ready"
