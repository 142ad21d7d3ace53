"""How a system goes on: the next step of its state, the transition to the next, to FAILED, and to BLOCKED.

A state is left in this order: its skills are done, its checks pass, its gates are open, what was made has landed.
"""

from __future__ import annotations

import shlex
from typing import TypeVar

from loopwright.kernel.changing import replace
from loopwright.kernel.events import Answer
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import NO_COMMIT, Commit, Finding
from loopwright.loops import course as c
from loopwright.loops.course import Ruling
from loopwright.loops.hooks import refusal
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.failures import (
    Blocked,
    Cause,
    Failure,
    Sort,
    captured,
    escalates,
    seen_before,
)
from loopwright.loops.lifecycle.limits import ended_with
from loopwright.loops.lifecycle.making import artifacts
from loopwright.loops.lifecycle.matrix import checks_for
from loopwright.loops.lifecycle.skills import PRIMARY, in_order
from loopwright.loops.lifecycle.state import LifecycleState, Step, Transition, Unbuilt, begun, skipped_in
from loopwright.loops.lifecycle.states import PER_CAPABILITY, Stage, after
from loopwright.loops.weighing import rejection

# What is made becomes a commit of its branch when these are left: a capability is one, once it is verified.
_LANDING = (Stage.INIT, Stage.SCAFFOLD, Stage.VERIFY, Stage.VALIDATE, Stage.DOCUMENT, Stage.REVIEW, Stage.SHIP)
_SETTLING = 8  # failures whose details are kept; the log has all


def onward(state: LifecycleState) -> LifecycleState:
    """The next step of the present state, or the transition out of it."""
    if _queue_is_behind(state, state.phase):
        return begun(state, Step.TELL)
    if state.theirs != NO_COMMIT:
        return begun(state, Step.JOIN)
    if state.regrounds:
        return begun(replace(state, regrounds=False), Step.GROUND)
    if state.phase is Stage.SHIP:
        return _shipped(state)
    if missing := missing_skills(state):
        return _with_skill(state, missing[0])
    if state.phase is Stage.COMPLETE:
        return begun(state, Step.WEIGH)
    if (verified := _verified(state)) is not None:
        return verified
    if state.phase is Stage.IMPLEMENT and _is_unbuilt(state):
        why = f"{state.current} changes no product code"
        return blocked(state, "unbuilt", why, UNBUILT)
    state = replace(state, checked=state.tip)
    to = after(state.phase, more_capabilities=bool(state.remaining))
    return going(state, to, _why_left(state))


def _is_unbuilt(state: LifecycleState) -> bool:
    """Return whether a person is asked: one who skipped it knows, unless nothing was built at all."""
    if state.builds or state.current in state.accepted:
        return False
    return "implement" not in skipped_in(state, Stage.IMPLEMENT) or not (state.built or state.remaining)


UNBUILT = "Commit it on the branch and answer `resume`, say with `revise` what is to be built, or `accept` it as it is."


def _verified(state: LifecycleState) -> LifecycleState | None:
    """Before anything is left, or merged: checked, looked at, approved, landed. None: all of it is so."""
    if state.phase is Stage.SCAFFOLD and (grounded := _ground(state)) is not None:
        return grounded
    if is_to_be_reviewed(state):  # a fix, too
        if state.listed != state.tip:
            return begun(state, Step.LOOK)
        if artifacts(state):
            return begun(state, Step.REVIEWS)
        state = replace(state, reviewed=state.tip)
    return _passed(state)


def is_to_be_reviewed(state: LifecycleState) -> bool:
    return state.phase in (Stage.REVIEW, Stage.SHIP) and state.reviewed != state.tip


def _passed(state: LifecycleState) -> LifecycleState | None:
    if state.checked != state.tip:
        if checks_for(Stage.REVIEW if state.phase is Stage.SHIP else state.phase, state.plan.checks):
            return begun(state, Step.CHECK)
        state = replace(state, checked=state.tip)
    if state.looked != state.tip:
        return begun(state, Step.LOOK)
    if (no := gating.rejected(state)) is not None:
        return failed(state, "gate-rejection", (rejection(no),))
    waits = bool(gating.blocking(state))
    if state.landed_tip != state.tip and (state.phase in _LANDING or (waits and state.plan.forge != "local")):
        return begun(state, Step.LAND)
    if waits:
        return begun(state, Step.PROPOSE) if _is_to_be_proposed(state) else c.at_the_gate(state)
    return None


def _is_to_be_proposed(state: LifecycleState) -> bool:
    """Where people look at it elsewhere, they find it there before they are waited for."""
    if state.plan.forge == "local":
        return False
    asked = {gate.evidence for gate in gating.blocking(state)} <= {*state.requested}
    return state.proposal.head != state.landed or not asked


def _ground(state: LifecycleState) -> LifecycleState | None:
    """What the scaffold changes of what judges is one question; approved, it is part of the base."""
    gate, parts = state.course.due(PROTECTED), state.course.parts(PROTECTED)
    if gate is None:
        return None
    if gate.ruling is Ruling.REJECTED:
        return failed(state, "gate-rejection", (rejection(gate),))
    if gate.ruling is Ruling.APPROVED or state.plan.trusts_scaffold:
        kept = judged_by(state, gate.commit or state.tip, tuple(each.path for part in parts for each in part.because))
        return begun(replace(gating.closed(state, gate), grounded=kept), Step.GROUND)
    return c.at_the_gate(state)


def judged_by(state: LifecycleState, commit: Commit, paths: tuple[str, ...]) -> tuple[tuple[Commit, str], ...]:
    """With these files as they are in this commit, whatever is done to them later."""
    return (*(each for each in state.grounded if each[1] not in paths), *((commit, path) for path in paths))


def missing_skills(state: LifecycleState) -> tuple[str, ...]:
    """Required, and neither done nor skipped."""
    settled = {*state.skills, *skipped_in(state, state.phase)}
    return tuple(name for name in in_order(state.phase) if name not in settled)


def skill_now(state: LifecycleState) -> str:
    """The one that is under way."""
    missing = missing_skills(state)
    return missing[0] if missing else PRIMARY[state.phase]


def _with_skill(state: LifecycleState, skill: str) -> LifecycleState:
    if skill == "deploy" and not (state.plan.deploy or state.deploy):
        return blocked(state, "prerequisite", NO_TARGET, "Answer with the deploy target, or with `skip deploy`.")
    return begun(state, Step.SKILL)


DEPLOY_ASK = "Look at what was deployed and set it right, then `loop answer deployed`: the command is not run again."
NO_TARGET = "No deploy target configured. Specify target or 'skip deploy' to skip"


def _shipped(state: LifecycleState) -> LifecycleState:
    """Prepared by its skills, proposed, merged, deployed; what the target has by now is verified first."""
    if state.proposal.onto:
        return begun(state, Step.UPDATE)
    if (verified := _verified(state)) is not None:
        return verified
    if missing := missing_skills(state):
        return _with_skill(state, missing[0])
    if not state.proposal.number or state.proposal.head != state.landed or state.requested:
        return begun(state, Step.PROPOSE)
    if not state.merged:
        return begun(state, Step.MERGE if state.plan.merges and state.plan.forge == "local" else Step.READ)
    if not state.deployed and deploy_command(state):
        return begun(state, Step.DEPLOY)
    if state.deploy_failed:
        return blocked(state, "deploy", state.deploy_failed, DEPLOY_ASK)
    return going(state, Stage.COMPLETE, f"the pull request is merged as {state.merged[:12]}")


def brought_together(state: LifecycleState, commit: Commit) -> LifecycleState:
    """With what the target has by now, which judges from here on, and with it what a person approved; or with what a
    person made, who has said already what judges."""
    if state.theirs != NO_COMMIT:
        return replace(state, tip=commit, theirs=NO_COMMIT, theirs_on=NO_COMMIT, conflicted=NO_COMMIT)
    onto = state.proposal.onto
    proposal = replace(state.proposal, onto=NO_COMMIT)
    state = replace(state, tip=commit, onto=onto, ground=onto, proposal=proposal, conflicted=NO_COMMIT)
    return replace(state, regrounds=bool(state.grounded))


def deploy_command(state: LifecycleState) -> tuple[str, ...]:
    if "deploy" in skipped_in(state, Stage.SHIP):
        return ()
    return tuple(shlex.split(state.deploy)) or state.plan.deploy


def _why_left(state: LifecycleState) -> str:
    checks = checks_for(state.phase, state.plan.checks)
    passed = f"{', '.join(checks)} pass" if checks else "nothing has to pass before it"
    if state.phase is Stage.VERIFY:
        left = f"{len(state.remaining)} more to do" if state.remaining else "it was the last"
        return f"{state.current or state.plan.system.name} is verified: {passed}; {left}"
    return f"its skills are done, {passed}"


E = TypeVar("E", bound=Answer)


def expected(state: LifecycleState, event: Answer, kind: type[E]) -> E:
    """The answer, which is of the kind that the present step is answered by."""
    if not isinstance(event, kind):
        raise refusal(state, event, f"{state.step} is under way")
    return event


# --- transitions ----------------------------------------------------------------------------------------------------


def going(state: LifecycleState, to: Stage, why: str) -> LifecycleState:
    """On the way to another state: whoever keeps the queue hears of it first."""
    state = replace(state, going=Transition(to=to, why=why))
    return begun(state, Step.TELL if _queue_is_behind(state, to) else Step.MOVE)


def queue_status(stage: Stage) -> str:
    """What the queue calls a system in this state; what is complete it hears when everything else is done."""
    return {Stage.SHIP: "review", Stage.COMPLETE: "review", Stage.BLOCKED: "blocked"}.get(stage, "in-progress")


def _queue_is_behind(state: LifecycleState, stage: Stage) -> bool:
    return bool(state.plan.queue) and state.queued not in (queue_status(stage), "complete")


def moved(state: LifecycleState, to: Stage) -> LifecycleState:
    """In another state, with nothing of it done."""
    before = state.phase
    state = replace(
        c.entered(state, to),
        transitions=state.transitions + 1,
        turn=state.turn + 1,
        going=None,
    )
    if to in (Stage.FAILED, Stage.RETRY, Stage.BLOCKED):
        return state
    if before in (Stage.FAILED, Stage.RETRY, Stage.BLOCKED):
        return state  # back where it was: what is done of it stays done
    if to is not Stage.SHIP:  # what is shipped is what was verified when the review was left
        state = replace(state, checked=NO_COMMIT, looked=NO_COMMIT)
    state = replace(state, skills=(), findings=())
    if before is Stage.VERIFY and to is not before:  # a person may set it back to where it is
        state = _capability_done(state)
    if to is Stage.IMPLEMENT and not state.current:
        state = _next_capability(state)
    return _settled(state)


def _capability_done(state: LifecycleState) -> LifecycleState:
    others = tuple(each for each in state.made if each[0] != state.current)
    known = {file for _, file in others}
    made = (*others, *((state.current, file) for file in state.files if file not in known))
    done = (*state.done, state.current)
    maker = replace(state.maker, over=True, commit=NO_COMMIT)
    unbuilt = tuple(each for each in state.unbuilt if each.capability != state.current)
    if not state.builds:
        why = next(
            (f"skipped: {each.reason}" for each in state.skips if each.skill == "implement"), "accepted as it is"
        )
        unbuilt = (*unbuilt, Unbuilt(capability=state.current, why=why))
    return replace(state, done=done, current="", files=(), made=made, reopened="", maker=maker, unbuilt=unbuilt)


def _next_capability(state: LifecycleState) -> LifecycleState:
    """A system that names none is one itself."""
    current, *rest = state.remaining or (state.plan.system.name,)
    state = c.steered(state, told_unshown=False, no_test="")
    return replace(state, current=current, remaining=tuple(rest), built_on=state.landed, builds=False)


def _settled(state: LifecycleState) -> LifecycleState:
    """A state was left with everything passing: what failed before is resolved, and its count begins anew, without
    what was granted for it."""
    return replace(
        c.steered(state, red_tests=(), made=()),
        failure=None,
        allowance=ended_with(state.allowance, state.plan.limits),
        history=tuple(_resolved(each, state.fixed) for each in state.history),
        retries=0,
        episode=(),
        back_offs=0,
        diagnosis="",
        fixed="",
        strayed=(),
        rechecking=False,
        blocked=None,
    )


def _resolved(failure: Failure, fix: str) -> Failure:
    """What was done last is what did it."""
    if failure.resolved:
        return failure
    return replace(failure, resolved=True, findings=(), trace="", fix=failure.fix or fix)


# --- what went wrong ------------------------------------------------------------------------------------------------


def failed(
    state: LifecycleState, sort: Sort, findings: tuple[Finding, ...], checks: tuple[str, ...] = ()
) -> LifecycleState:
    """Something did not pass: to FAILED. Whether it is tried again is decided there."""
    stage = state.resumes_at
    failure = replace(
        captured(state.failures + 1, stage, sort, findings),
        capability=state.current if stage in PER_CAPABILITY else "",
        checks=checks,
    )
    is_same = bool(state.episode) and state.episode[-1] == failure.mark
    retries = state.retries if is_same else 0
    history = (*_without_details(state.history, state.fixed, state.diagnosis), replace(failure, attempt=retries))
    state = replace(
        state,
        failure=replace(failure, attempt=retries),
        history=history,
        retries=retries,
        episode=(*state.episode, failure.mark),
        total=state.total + 1,
        findings=findings,
        diagnosis="",
        fixed="",
    )
    return going(state, Stage.FAILED, failure.error)


def _without_details(history: tuple[Failure, ...], fix: str, hypothesis: str) -> tuple[Failure, ...]:
    """The newest with what was tried against it. Of the others nobody needs more than the error."""
    if not history:
        return ()
    *earlier, last = history
    if not last.resolved:
        last = replace(last, fix=fix or last.fix, hypothesis=hypothesis or last.hypothesis, outcome="still failing")
    kept = [replace(each, findings=(), trace="") if each.findings else each for each in earlier[-_SETTLING:]]
    return (*earlier[:-_SETTLING], *kept, replace(last, findings=(), trace=""))


def decided(state: LifecycleState, failure: Failure) -> LifecycleState:
    """In FAILED: tried again, or a person is needed."""
    if state.rechecking and seen_before(state.episode, failure.mark) > 1:
        return blocked(state, "retries", "It still fails as it did before", ask_of(state, failure))
    reason = escalates(failure, state.episode, state.retries, state.total, state.allowance)
    if reason is not None:
        cause, why = reason
        return blocked(state, cause, why, ask_of(state, failure, cause))
    return going(
        replace(state, retries=state.retries + 1, rechecking=False),  # it is another failure than what was resolved
        Stage.RETRY,
        f"retry {state.retries + 1} of {state.allowance.retries}: {failure.error}",
    )


def ask_of(state: LifecycleState, failure: Failure, cause: Cause = "retries") -> str:
    where = f" ({failure.file}{f':{failure.line}' if failure.line else ''})" if failure.file else ""
    asks = {
        "security": f"Decide on the security finding{where}: mend it, or take the code out.",
        "logic": f"Find what hangs{where} and mend it.",
        "external": "Bring back what it depends on, or take the dependency out.",
        "circular": f"Find a fix that does not break the other{where}: two fixes undo each other.",
    }
    branch, target = state.plan.branch, state.plan.target.removeprefix("refs/heads/")
    if failure.sort == "merge" and state.theirs == NO_COMMIT:
        decide = (
            f"Merge {target} into the branch {branch}, deciding each conflict{where}, or say how it is to be decided."
        )
        return asks.get(cause, decide)
    made = f" (first `git merge {state.handed_over[:12]}` there: what was made so far is not on it yet)"
    there = branch if state.handed_over == state.landed_tip else f"{branch}{made}"
    return asks.get(
        cause, f"Mend what fails{where} and commit it on the branch {there}, or say how it is to be mended."
    )


def blocked(state: LifecycleState, cause: Cause, reason: str, ask: str) -> LifecycleState:
    """Only a person can help. Where it goes on is the state it could not leave."""
    stage = state.resumes_at
    history = state.history
    if history and not history[-1].resolved and state.phase is Stage.FAILED:
        history = (*history[:-1], replace(history[-1], escalated=True))
    told = Blocked(cause=cause, reason=reason, ask=ask, stage=stage)
    return going(replace(state, blocked=told, history=history, rechecking=False), Stage.BLOCKED, reason)
