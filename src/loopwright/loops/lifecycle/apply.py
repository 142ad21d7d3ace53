"""What the lifecycle makes of the answer to its step."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.errors import InvalidTransition
from loopwright.kernel.changing import replace
from loopwright.kernel.events import (
    Announced,
    Answer,
    ChecksReported,
    CleanedUp,
    Combined,
    Integrated,
    IntegrationRefused,
    TimeReached,
)
from loopwright.kernel.faults import conflict_finding, engine_finding, faults_of
from loopwright.kernel.findings import identify
from loopwright.kernel.model import NO_COMMIT, Finding
from loopwright.kernel.sightings import ChangeExamined, Heard, PullRequestSeen, RanOnce
from loopwright.loops import course as c
from loopwright.loops.lifecycle import completing, gate_rules, gating
from loopwright.loops.lifecycle.backwards import sent_back
from loopwright.loops.lifecycle.ending import finished
from loopwright.loops.lifecycle.failures import BACK_OFFS, failed_checks, sort_of
from loopwright.loops.lifecycle.flow import blocked, decided, failed, moved, onward, queue_status
from loopwright.loops.lifecycle.retrying import retried, retry_begun
from loopwright.loops.lifecycle.skilled import skilled
from loopwright.loops.lifecycle.state import LifecycleState, Step, begun
from loopwright.loops.lifecycle.states import Stage
from loopwright.loops.weighing import Failed, Passed, Rejected, Waits, weighed

_OF_SKILLS = (Step.SKILL, Step.RECORD, Step.EXAMINE, Step.REVIEWS)
_OF_RETRIES = (Step.DIAGNOSE, Step.FIX, Step.RECORD_FIX, Step.RECHECK, Step.SUITE)


def took(state: LifecycleState, event: Answer) -> LifecycleState:
    if state.step in _OF_SKILLS:
        return skilled(state, event)
    if state.step in _OF_RETRIES:
        return retried(state, event)
    return _BY_STEP[state.step](state, event)


def _refused(state: LifecycleState, event: Answer) -> InvalidTransition:
    return InvalidTransition(c.where(state), type(event).__name__, f"{state.step} is under way")


# --- transitions ----------------------------------------------------------------------------------------------------


def _told(state: LifecycleState, event: Answer) -> LifecycleState:
    """The queue may know better: a person who edited it is not overruled, and it is said."""
    if not isinstance(event, Heard):
        raise _refused(state, event)
    if state.course.cancel is not None:
        return c.cleaning_up(replace(state, queued="blocked"))
    to = state.going.to if state.going else state.phase
    status = queue_status(to)
    if state.queued == "blocked" and status == "review" and not event.refused:
        return begun(replace(state, queued="in-progress"), Step.TELL)
    state = replace(state, queued=status)
    if event.refused:
        state = replace(state, remarks=(*state.remarks, f"the queue: {event.refused}"))
    return begun(state, Step.MOVE) if state.going else onward(state)


def _moved(state: LifecycleState, _event: Answer) -> LifecycleState:
    if state.going is None:
        raise _refused(state, _event)
    return arrived(moved(state, state.going.to))


def arrived(state: LifecycleState) -> LifecycleState:
    """What a state begins with."""
    match state.phase:
        case Stage.FAILED:
            return decided(state)
        case Stage.RETRY:
            return retry_begun(state)
        case Stage.BLOCKED:
            told = state.blocked
            return c.escalated(state, (told.reason,) if told else ())
        case _:
            return onward(state)


# --- verification ---------------------------------------------------------------------------------------------------


def _checked(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, ChecksReported):
        raise _refused(state, event)
    state, said = weighed(state, event, state.tip, _words(state))
    match said:
        case Passed():
            return onward(replace(state, checked=state.tip, back_offs=0))
        case Waits(gate=gate):
            known = gating.covered(state, gate)
            return c.at_the_gate(state) if known is None else begun(known, Step.CHECK)
        case Rejected(gate=gate):
            return sent_back(state, gate)
        case Failed(faults=faults):
            return _not_passed(state, event, faults)


def _words(state: LifecycleState) -> tuple[str, ...]:
    """What the work was asked for in."""
    return (state.plan.system.description, *state.plan.capabilities, *state.course.answers)


def _not_passed(state: LifecycleState, event: ChecksReported, faults: tuple[Finding, ...]) -> LifecycleState:
    found = faults_of(event)
    if not found and state.phase is Stage.TEST:
        # No test notices the change: whoever writes the tests hears of it, and nothing has failed.
        return onward(replace(state, skills=(), findings=faults))
    found = found or faults
    sort = sort_of(event, found)
    if sort == "external" and state.back_offs < len(BACK_OFFS):
        return begun(replace(state, back_offs=state.back_offs + 1), Step.BACK_OFF)
    return failed(state, sort, found, failed_checks(event))


def _waited(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, TimeReached):
        raise _refused(state, event)
    return begun(state, Step.RECHECK if state.phase is Stage.RETRY else Step.CHECK)


def _grounded(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, Combined):
        raise _refused(state, event)
    return onward(replace(state, ground=event.commit, checked=NO_COMMIT, looked=NO_COMMIT))


def _looked(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, ChangeExamined):
        raise _refused(state, event)
    state = replace(state, looked=state.tip, risks=event.risks, tree=event.tree, paths=event.paths)
    state = gating.opened(state)
    if (no := gating.rejected(state)) is not None:
        return sent_back(state, no)
    return onward(state)


def _landed(state: LifecycleState, event: Answer) -> LifecycleState:
    match event:
        case Integrated():
            state = replace(c.steered(state, landed=event.landed), held_on=event.held_on or state.held_on)
            tip = state.tip if state.course.held else event.landed
            return onward(
                replace(
                    state,
                    landed=event.landed,
                    landed_tip=tip,
                    tip=tip,
                    checked=tip,
                    looked=tip,
                    reviewed=tip if state.reviewed == state.tip else state.reviewed,
                )
            )
        case IntegrationRefused():
            why = event.detail or event.reason
            return blocked(state, "target", f"What was made could not be put on {state.plan.branch}: {why}", why)
        case _:
            raise _refused(state, event)


# --- shipping -------------------------------------------------------------------------------------------------------


def _proposed(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, PullRequestSeen):
        raise _refused(state, event)
    if event.failed:
        return _forge_failed(state, event)
    state = replace(state, proposal=event.seen, back_offs=0)
    return onward(state)


def _forge_failed(state: LifecycleState, event: PullRequestSeen) -> LifecycleState:
    if event.away and state.back_offs < len(BACK_OFFS):
        return begun(replace(state, back_offs=state.back_offs + 1), Step.POLL)
    ask = "Mend what the forge says, then resume."
    return blocked(replace(state, back_offs=0), "external" if event.away else "proposal", event.failed, ask)


def _read(state: LifecycleState, event: Answer) -> LifecycleState:
    """Of a merge that was asked for, or of one that a person makes."""
    if not isinstance(event, PullRequestSeen):
        raise _refused(state, event)
    seen = event.seen
    if seen.state == "merged":
        return onward(replace(state, proposal=seen, merged=seen.merged_as or state.landed, back_offs=0))
    if seen.onto and seen.head == state.landed:
        return begun(replace(state, proposal=seen, back_offs=0), Step.UPDATE)
    if seen.state == "closed":
        return blocked(state, "proposal", f"The pull request #{seen.number} was closed unmerged", _REOPEN)
    if seen.number and seen.head not in (NO_COMMIT, state.landed):
        why = f"Somebody pushed to {state.plan.branch}: it is at {seen.head[:12]}, and {state.landed[:12]} was approved"
        return blocked(state, "proposal", why, f"Put the branch back to {state.landed[:12]}, or cancel.")
    if event.failed:
        return _forge_failed(state, event)
    state = replace(state, proposal=seen, back_offs=0)
    if (asked := _changes_asked(state)) is not None:
        return asked
    if seen.red:
        why = f"Checks of the forge are red after the approval: {', '.join(seen.red)}"
        return failed(state, "tests", (engine_finding("forge-checks", why),))
    return begun(state, Step.POLL)


_REOPEN = "Reopen it and resume, or cancel the system."


def _changes_asked(state: LifecycleState) -> LifecycleState | None:
    said = {each.by: each for each in state.proposal.opinions if each.said != "commented"}
    asked = next((each for each in said.values() if each.said == "changes-requested"), None)
    if asked is None:
        return None
    gate = state.course.due(gate_rules.DEPLOY)
    if gate is None:
        return None
    return sent_back(state, replace(gate, ruling=c.Ruling.REJECTED, reason=asked.text, by=asked.by))


def _polled(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, TimeReached):
        raise _refused(state, event)
    return begun(state, Step.READ) if state.proposal.number else onward(state)


def _updated(state: LifecycleState, event: Answer) -> LifecycleState:
    """The target has moved: what would be merged now is verified and approved anew."""
    if not isinstance(event, Combined):
        raise _refused(state, event)
    onto = state.proposal.onto
    if event.left_out:
        paths = tuple(path for each in event.conflicts for path in each.paths) or (state.plan.branch,)
        found = tuple(identify(conflict_finding(path, "what the target has by now")) for path in paths)
        return failed(state, "merge", found)
    state = replace(state, tip=event.commit, onto=onto, ground=onto, proposal=replace(state.proposal, onto=NO_COMMIT))
    return begun(state, Step.GROUND) if state.scaffolded else onward(state)


def _deployed(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, RanOnce):
        raise _refused(state, event)
    if event.code == 0:
        return onward(replace(state, deployed=True))
    how = "nobody knows how it ended" if event.code is None else f"it ended with {event.code}"
    why = f"The deploy command did not succeed ({how}): {event.detail}".rstrip(": ")
    ask = "Look at what was deployed and set it right; resume goes on without running the command again."
    return blocked(replace(state, deployed=True), "deploy", why, ask)


# --- completion -----------------------------------------------------------------------------------------------------


def _weighed(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, Announced):
        raise _refused(state, event)
    unmet = tuple(each.name for each in completing.conditions(state) if not each.met)
    if unmet:
        why = f"Not complete: {'; '.join(unmet)}"
        return blocked(state, "completion", why, "Say how what is missing is to be made good.")
    return begun(state, Step.QUEUE)


def _queued(state: LifecycleState, event: Answer) -> LifecycleState:
    if isinstance(event, Heard):
        words = [line.partition(" ") for line in event.reply]
        unblocked = tuple(rest for first, _, rest in words if first == "unblocked")
        following = next((rest for first, _, rest in words if first == "next"), "")
        remarks = (*state.remarks, f"the queue: {event.refused}") if event.refused else state.remarks
        state = replace(state, queued="complete", unblocked=unblocked, next=following, remarks=remarks)
    return begun(state, Step.HANDOFF)


def _then(step: Step) -> Callable[[LifecycleState, Answer], LifecycleState]:
    return lambda state, _event: begun(state, step)


def _cleaned(state: LifecycleState, event: Answer) -> LifecycleState:
    if not isinstance(event, CleanedUp):
        raise _refused(state, event)
    return begun(state, Step.NEXT)


_BY_STEP: dict[Step, Callable[[LifecycleState, Answer], LifecycleState]] = {
    Step.TELL: _told,
    Step.MOVE: _moved,
    Step.CHECK: _checked,
    Step.BACK_OFF: _waited,
    Step.GROUND: _grounded,
    Step.LOOK: _looked,
    Step.LAND: _landed,
    Step.PROPOSE: _proposed,
    Step.MERGE: _read,
    Step.READ: _read,
    Step.POLL: _polled,
    Step.UPDATE: _updated,
    Step.DEPLOY: _deployed,
    Step.WEIGH: _weighed,
    Step.QUEUE: _queued,
    Step.HANDOFF: _then(Step.INTERFACES),
    Step.INTERFACES: _then(Step.CLEAN),
    Step.CLEAN: _cleaned,
    Step.NEXT: lambda state, _event: finished(state),
}
