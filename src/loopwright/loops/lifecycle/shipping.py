"""What is wanted when a system is shipped and completed, and what the queue of systems is told of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from loopwright.kernel.actions import (
    Action,
    Announce,
    CleanUp,
    Combine,
    ExamineFiles,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunOnce,
    Tell,
    WaitUntil,
)
from loopwright.kernel.deliverables import FileDemand
from loopwright.kernel.events import StateEdited
from loopwright.kernel.model import Cleanup
from loopwright.loops.lifecycle import completing, proposing
from loopwright.loops.lifecycle.failures import BACK_OFFS
from loopwright.loops.lifecycle.flow import deploy_command
from loopwright.loops.lifecycle.state import LifecycleState, Step, step_key


def told(state: LifecycleState, status: str, why: str) -> Tell:
    system = state.plan.system.id
    # Nothing that is blocked is looked at before it is in progress again.
    step = "in-progress" if state.queued == "blocked" and status == "review" else status
    value: dict[str, str] = {"status": step, "loop": state.plan.loop}
    if state.course.cancel is not None:
        value["reason"] = "cancelled by a person"
    elif step == "blocked" and state.blocked:
        value["reason"] = state.blocked.reason
    said = StateEdited(subject=system, value=json.dumps(value, sort_keys=True), by=f"loop {state.plan.loop}")
    return Tell(key=step_key(state), loop=state.plan.queue, said=said, why=why)


def _propose(state: LifecycleState) -> OpenPullRequest:
    return proposing.wanted(state, step_key(state))


def _merge(state: LifecycleState) -> MergePullRequest:
    return MergePullRequest(
        key=step_key(state),
        branch=state.plan.branch,
        target=state.plan.target,
        number=state.proposal.number,
        commit=state.landed,
        why="the approved deploy gate is the word to merge",
    )


def _read(state: LifecycleState) -> ReadPullRequest:
    return proposing.reading(state, step_key(state))


def _poll(state: LifecycleState) -> WaitUntil:
    """A forge that is away is waited for as everything that is."""
    delay = BACK_OFFS[state.back_offs - 1] if state.back_offs else state.plan.poll
    what = "the pull request is no draft any more" if state.proposal.draft else "the pull request is looked at again"
    return WaitUntil(key=step_key(state), delay=delay, why=f"until {what}")


def _join(state: LifecycleState) -> Combine:
    return Combine(
        key=step_key(state),
        base=state.theirs,
        commits=(state.tip,),
        made_on=(state.theirs_on,),
        marks=True,
        label=f"{state.turn}-join",
        why="what was committed by hand, and what was made and has not landed",
    )


def _update(state: LifecycleState) -> Combine:
    return Combine(
        key=step_key(state),
        base=state.proposal.onto,
        commits=(state.tip,),
        made_on=(state.onto or state.plan.base,),
        marks=True,
        label=f"{state.turn}-update",
        why=f"{state.plan.target.removeprefix('refs/heads/')} has moved on",
    )


def _decided(state: LifecycleState) -> ExamineFiles:
    found = state.failure.findings if state.failure else ()
    return ExamineFiles(
        key=step_key(state),
        commit=state.conflicted,
        wanted=tuple(FileDemand(path=each.file, format="merged") for each in found if each.file),
        why="no conflict is left undecided",
    )


def _deploy(state: LifecycleState) -> RunOnce:
    return RunOnce(
        key=step_key(state),
        argv=deploy_command(state),
        commit=state.merged,
        why="once for the approval, and never again by itself",
    )


def _weigh(state: LifecycleState) -> Announce:
    lines = (f"[{'x' if each.met else ' '}] {each.name}" for each in completing.conditions(state))
    return Announce(key=step_key(state), text="complete when: " + "; ".join(lines), why="all ten have to be true")


def _queue(state: LifecycleState) -> Action:
    why = "1. update queue"
    if not state.plan.queue:
        return Announce(key=step_key(state), text=f"{why}: there is none", why=why)
    return told(state, "complete", why)


def _announce(text: Callable[[LifecycleState], str]) -> Callable[[LifecycleState], Announce]:
    return lambda state: Announce(key=step_key(state), text=text(state))


def _clean(state: LifecycleState) -> CleanUp:
    branch = state.plan.branch if state.plan.delete_branch else ""
    return CleanUp(
        key=step_key(state), choice=Cleanup.KEEP_ARTIFACTS, base=state.plan.base, branch=branch, why="4. clean up"
    )


SHIPPING: Mapping[Step, Callable[[LifecycleState], Action]] = {
    Step.PROPOSE: _propose,
    Step.MERGE: _merge,
    Step.POLL: _poll,
    Step.READ: _read,
    Step.UPDATE: _update,
    Step.JOIN: _join,
    Step.DECIDED: _decided,
    Step.DEPLOY: _deploy,
    Step.WEIGH: _weigh,
    Step.QUEUE: _queue,
    Step.HANDOFF: _announce(lambda state: f"2. create handoff: what was built of {state.plan.system.name}"),
    Step.INTERFACES: _announce(completing.interfaces_line),
    Step.CLEAN: _clean,
    Step.NEXT: _announce(completing.next_line),
}
