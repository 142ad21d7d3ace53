"""Back to an earlier state: by a person's no at a gate, or by their word."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.changing import replace
from loopwright.kernel.codec import decode
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.judges import is_source, judge_by_name
from loopwright.kernel.model import NO_COMMIT, Commit
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.quoting import one_line
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord
from loopwright.loops.lifecycle.failures import captured
from loopwright.loops.lifecycle.flow import judged_by, moved, onward
from loopwright.loops.lifecycle.making import is_product, is_test
from loopwright.loops.lifecycle.state import FILES, Child, LifecycleState, Step
from loopwright.loops.lifecycle.states import NORMAL, PER_CAPABILITY, Stage


def sent_back(state: LifecycleState, gate: GateRecord) -> LifecycleState:
    """Its reason is a finding for whoever makes it anew. Before anything is built, the state itself is done again."""
    why = gate.reason or "no reason given"
    told = engine_finding("gate-rejected", f"A person rejected {gate.gate}: {why}")
    stage = state.resumes_at
    entry = replace(
        captured(state.failures + 1, stage, "gate-rejection", (told,)), fix="", outcome="sent back", findings=()
    )
    refusal = f"A person rejected the gate {gate.gate}: {why}"
    state = c.steered(state, refusals=(*state.course.refusals, refusal))
    state = replace(state, history=(*state.history, entry), blocked=None, failure=None, going=None)
    if NORMAL.index(stage) < NORMAL.index(Stage.IMPLEMENT):
        if stage is Stage.SCAFFOLD and gate.gate == PROTECTED:  # what was rejected is not there any more
            state = replace(state, tip=state.landed_tip, pieces=())
        again = moved(replace(state, phase=stage), stage)
        return onward(replace(again, skills=(), findings=(told,)))
    state = unshipped(_reopened(state, gate, f"a person rejected {gate.gate}: {one_line(why, 300)}"))
    return onward(replace(moved(replace(state, phase=Stage.IMPLEMENT), Stage.IMPLEMENT), findings=(told,)))


def _reopened(state: LifecycleState, gate: GateRecord, why: str) -> LifecycleState:
    """The capability whose files the evidence names, else the last one, is open again; others that are open wait."""
    named = {risk.file for risk in gate.reasons} | {change.path for change in gate.because}
    hit = next((name for name, file in state.made if file in named), "")
    again = state.current if state.current and not hit else hit or (state.done[-1] if state.done else "")
    waiting = (state.current, *state.remaining) if state.current and state.current != again else state.remaining
    return anew(
        replace(
            state,
            done=tuple(each for each in state.done if each != again),
            current=again,
            built_on=state.onto or state.plan.base,  # what it built before counts
            remaining=tuple(each for each in waiting if each and each != again),
            reopened=why,
            skills=(),
        )
    )


def set_back(state: LifecycleState, to: Stage, why: str) -> LifecycleState:
    """By a person's word, never forward past checks that did not run."""
    if state.phase is to:
        return state
    is_later = to is not state.resumes_at
    state = replace(state, blocked=None, going=None, rechecking=not is_later)
    if not is_later:
        return moved(state, to)
    if to in PER_CAPABILITY and state.resumes_at not in PER_CAPABILITY and not state.current:
        state = _reopened(state, GateRecord(gate="", evidence=""), why)
    elif NORMAL.index(to) < NORMAL.index(Stage.IMPLEMENT):
        every = (*state.done, *((state.current,) if state.current else ()), *state.remaining)
        whole = state.onto or state.plan.base
        state = replace(state, done=(), current=every[0] if every else "", remaining=every[1:], built_on=whole)
    state = moved(replace(state, phase=to, failure=None), to)
    return anew(unshipped(replace(state, skills=(), findings=())))


def unshipped(state: LifecycleState) -> LifecycleState:
    """What is made from here on is proposed, approved, merged and deployed like all else, whatever was before."""
    return replace(
        state,
        proposal=PullRequest(),
        merged=NO_COMMIT,
        deployed=False,
        deploy_failed="",
        deployments=state.deployments + state.deployed,
        papers=NO_COMMIT,
        requested=(),
    )


def anew(state: LifecycleState) -> LifecycleState:
    """No loop within goes on from what it began with, and what was reviewed before is reviewed again."""
    maker = _left(state.maker, begun=state.step is Step.SKILL)
    reviews = _left(state.reviews, begun=state.step is Step.REVIEWS)
    return replace(state, maker=maker, reviews=reviews, reviewed=NO_COMMIT)


def _left(child: Child, *, begun: bool) -> Child:
    """One that may have been begun and has not been heard of yet keeps its name: the next has another."""
    return replace(child, number=child.number + (child.over and begun), over=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handwork:
    """What a person committed on the system's branch."""

    commit: Commit
    paths: tuple[str, ...] = ()  # that they changed
    made: tuple[str, ...] = ()  # that agents had, of what they merged there first
    onto: Commit = NO_COMMIT  # where the target stands, if they brought it in
    whole: bool = False  # they have merged what was made and had not landed


def taken_in(state: LifecycleState, value: str) -> LifecycleState:
    """It is the system's work from now on. Of what judges, theirs does; sources of theirs are judged like all others.

    What was made and has not landed is brought together with it, unless they did that. What they mended of a capability
    that could not be made is looked at before anybody makes it once more.
    """
    theirs = decode(Handwork, value)
    under_way, commit = state.tip != state.landed_tip and not theirs.whole, theirs.commit
    judging = tuple(
        path for path in theirs.paths if is_test(state, path) or not is_source(path) or judge_by_name(path) is not None
    )
    if theirs.onto != NO_COMMIT:
        state = replace(state, onto=theirs.onto, ground=theirs.onto, proposal=replace(state.proposal, onto=NO_COMMIT))
    stuck = state.resumes_at is Stage.IMPLEMENT and (state.failure is not None or state.blocked is not None)
    if stuck and any(is_product(state, path) for path in (*theirs.paths, *theirs.made)):
        state = replace(state, skills=("implement",), files=tuple(dict.fromkeys((*state.files, *theirs.made)))[:FILES])
    return anew(
        replace(
            state,
            tip=state.tip if under_way else commit,
            theirs=commit if under_way else NO_COMMIT,
            theirs_on=(state.theirs_on or state.landed) if under_way else NO_COMMIT,
            landed=commit,
            landed_tip=commit,
            pieces=(),  # without what is theirs none of them can land any more
            conflicted=NO_COMMIT,
            checked=NO_COMMIT,
            looked=NO_COMMIT,
            grounded=judged_by(state, commit, judging),
            regrounds=True,
        )
    )
