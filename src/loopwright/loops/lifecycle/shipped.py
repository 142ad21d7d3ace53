"""What becomes of a proposal, its merge, the target that has moved, and the deploy command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopwright.kernel.changing import replace
from loopwright.kernel.events import Answer, Combined, TimeReached
from loopwright.kernel.faults import conflict_finding, engine_finding
from loopwright.kernel.findings import identify
from loopwright.kernel.model import NO_COMMIT
from loopwright.kernel.sightings import PullRequestSeen, RanOnce
from loopwright.loops import course as c
from loopwright.loops.lifecycle import gate_rules, gating
from loopwright.loops.lifecycle.backwards import sent_back
from loopwright.loops.lifecycle.failures import BACK_OFFS
from loopwright.loops.lifecycle.flow import blocked, brought_together, expected, failed, onward
from loopwright.loops.lifecycle.opinions import is_withdrawn, rejection_of
from loopwright.loops.lifecycle.state import LifecycleState, Step, begun
from loopwright.loops.lifecycle.states import Stage


def _proposed(state: LifecycleState, event: Answer) -> LifecycleState:
    event = expected(state, event, PullRequestSeen)
    if event.failed:
        return _forge_failed(state, event)
    draft = state.phase is not Stage.SHIP  # as it was asked for: a forge without drafts has none
    requested = tuple(gate.evidence for gate in gating.blocking(state))
    state = replace(state, proposal=replace(event.seen, draft=draft), back_offs=0)
    return onward(replace(state, requested=requested, asked=event.seen.asked or state.asked))


def _forge_failed(state: LifecycleState, event: PullRequestSeen) -> LifecycleState:
    if event.away and state.back_offs < len(BACK_OFFS):
        return begun(replace(state, back_offs=state.back_offs + 1), Step.POLL)
    ask = "Fix what the forge says, then `loop answer resume`."
    return blocked(replace(state, back_offs=0), "external" if event.away else "proposal", event.failed, ask)


def _read(state: LifecycleState, event: Answer) -> LifecycleState:
    """Of a merge that was asked for, or of one that a person makes."""
    event = expected(state, event, PullRequestSeen)
    seen = event.seen
    if seen.state == "merged" and seen.head not in (NO_COMMIT, state.landed):
        why = f"The pull request was merged at {seen.head[:12]}, and {state.landed[:12]} was approved"
        return blocked(state, "proposal", why, "Look at what was merged: nothing here has verified it. Then cancel.")
    if seen.state == "merged":
        return onward(replace(state, proposal=seen, merged=seen.merged_as or state.landed, back_offs=0))
    if seen.onto and seen.head == state.landed:
        return onward(replace(state, proposal=seen, back_offs=0))
    if seen.state == "closed":
        return blocked(state, "proposal", f"The pull request #{seen.number} was closed unmerged", _REOPEN)
    if seen.number and seen.head not in (NO_COMMIT, state.landed):
        why = f"Somebody pushed to {state.plan.branch}: it is at {seen.head[:12]}, and {state.landed[:12]} was approved"
        return blocked(state, "proposal", why, f"Put the branch back to {state.landed[:12]}, or cancel.")
    if seen.number and (held_up := _not_to_be_merged(replace(state, proposal=seen, back_offs=0))) is not None:
        return held_up
    if event.failed:
        return _forge_failed(state, event)
    to_merge = state.plan.merges and state.step is Step.READ
    return begun(replace(state, proposal=seen, back_offs=0), Step.MERGE if to_merge else Step.POLL)


def _not_to_be_merged(state: LifecycleState) -> LifecycleState | None:
    """Changes are asked for after all, the forge's own checks fail or have not ended, or it was made a draft again.
    None: it may be merged.
    """
    seen = state.proposal
    if (asked := _changes_asked(state) or _withdrawn(state)) is not None:
        return asked
    if seen.red:
        why = f"Checks of the forge are red after the approval: {', '.join(seen.red)}"
        return failed(state, "tests", (engine_finding("forge-checks", why),))
    return begun(state, Step.POLL) if seen.pending or seen.draft else None


_REOPEN = "Reopen it, then `loop answer resume`; or cancel the system."


def _changes_asked(state: LifecycleState) -> LifecycleState | None:
    """Of exactly what is proposed now: it takes the approval of that tree back."""
    gate = state.course.due(gate_rules.DEPLOY)
    asked = rejection_of(state, gate) if gate is not None else None
    if asked is None or gate is None:
        return None
    no = replace(gate, ruling=c.Ruling.REJECTED, reason=asked.reason, by=asked.by)
    gates = tuple(no if each is gate else each for each in state.course.gates)
    return sent_back(c.steered(state, gates=gates), no)


def _withdrawn(state: LifecycleState) -> LifecycleState | None:
    """An approval that was taken back before the merge is none: the gate is waited for again."""
    gate = state.course.due(gate_rules.DEPLOY)
    if gate is None or gate.ruling is not c.Ruling.APPROVED or not is_withdrawn(state, gate):
        return None
    gates = tuple(replace(each, ruling=c.Ruling.OPEN, by="") if each is gate else each for each in state.course.gates)
    return onward(c.steered(state, gates=gates))


def _polled(state: LifecycleState, event: Answer) -> LifecycleState:
    expected(state, event, TimeReached)
    return onward(state)


def _updated(state: LifecycleState, event: Answer) -> LifecycleState:
    """The target has moved, or a person has gone on with the branch: it is verified and approved anew."""
    event = expected(state, event, Combined)
    if event.left_out:
        paths = tuple(path for each in event.conflicts for path in each.paths) or (state.plan.branch,)
        other = "what the target has by now" if state.theirs == NO_COMMIT else "what you committed on the branch"
        found = tuple(identify(conflict_finding(path, other)) for path in paths)
        return failed(replace(state, conflicted=event.commit), "merge", found)
    reviewed = event.commit if state.reviewed == state.tip else state.reviewed  # its own change is as it was
    return onward(brought_together(replace(state, reviewed=reviewed), event.commit))


def _deployed(state: LifecycleState, event: Answer) -> LifecycleState:
    event = expected(state, event, RanOnce)
    if event.code == 0:
        return onward(replace(state, deployed=True))
    how = "nobody knows how it ended" if event.code is None else f"it ended with {event.code}"
    why = f"The deploy command did not succeed ({how}): {event.detail}".rstrip(": ")
    return onward(replace(state, deployed=True, deploy_failed=why))


SHIPPED: Mapping[Step, Callable[[LifecycleState, Answer], LifecycleState]] = {
    Step.PROPOSE: _proposed,
    Step.MERGE: _read,
    Step.READ: _read,
    Step.POLL: _polled,
    Step.UPDATE: _updated,
    Step.JOIN: _updated,
    Step.DEPLOY: _deployed,
}
