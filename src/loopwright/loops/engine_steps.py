"""Steps of every loop that no agent takes part in: before the first is paid, and after the end, when a person approves
what was held back."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar, assert_never

from loopwright.kernel.actions import Action, RunChecks
from loopwright.kernel.events import ChecksReported, GateDecided, Integrated, IntegrationRefused
from loopwright.kernel.evidence import describe_decisions
from loopwright.kernel.faults import faults_of, names_of_faults
from loopwright.kernel.gates import PROTECTED, evidence
from loopwright.kernel.model import Ending, Finding, Key, Outcome
from loopwright.kernel.trust import evidence_with, tests_of
from loopwright.kernel.wording import counted
from loopwright.loops import course as c
from loopwright.loops.closing import BY_HAND
from loopwright.loops.course import Course, GateRecord, OnCourse, Ruling, Station
from loopwright.loops.hooks import Machine, ended, refusal

S = TypeVar("S", bound=OnCourse)
L = TypeVar("L")
PREFLIGHT = "preflight"
HELD = (Station.HELD_CHECK, Station.HELD_LAND)
AFTER_THE_END = (*HELD, Station.DONE)
_LANDED = (Ending.VERIFIED, Ending.REVIEWED, Ending.ACCEPTED)
_NO_OUTCOME = Outcome(ending=Ending.VERIFIED)


def wanted(own: Machine[S, L], state: S) -> Action:
    """Steps of the floor that no agent takes part in: before the first, and after the last."""
    course, tries, outcome = state.course, state.course.held_tries, state.course.outcome
    if course.station is Station.PREFLIGHT:
        trust = own.trust(state).on(own.base(state))
        why = "the checks must be able to run before anybody is paid"
        key = Key(PREFLIGHT, course.asked or None)  # again where a person has mended what could not run
        return RunChecks(key=key, commit=trust.base, base=trust.base, trust=trust, preflight=True, why=why)
    before = own.landing(state)
    if course.station is Station.HELD_CHECK or outcome is None:
        return RunChecks(
            key=Key("checks-held", tries),
            commit=course.candidate,
            base=before.base,
            approved=course.approved,
            may_drop=course.may_drop,
            trust=before.trust.on(before.base),
            also=before.also,
            why="what was held back is approved",
        )
    return replace(
        before,
        key=Key("land-held", tries),
        commit=course.candidate,
        base=course.landed,
        tree=course.lands,
        branch=outcome.branch,
        target=before.target if outcome.merged_into else "",
        approved=course.approved,
        may_drop=course.may_drop,
        holds_back=False,
        on_top=True,
        verified=True,
        message="\n\n".join(
            (f"Held back until it was approved: {before.message}", *describe_decisions(course.decisions))
        ),
        why="what was held back is approved and verified",
    )


def preflighted(own: Machine[S, L], state: S, event: ChecksReported) -> S:
    """What is red was so before, and must be green at the end. What cannot run can never be."""
    if event.unable:
        return own.unable(state, replace(own.outcome(state, Ending.FAILED), note="; ".join(event.unable)))
    red = tuple(result.name for result in event.results if not result.passed)
    forgiven = tuple(dict.fromkeys(known for result in event.results for known in result.known))
    state = c.steered(state, station=None, preflighted=True, before=faults_of(event), forgiven=forgiven, red=red)
    return own.red_base(state) if red else state


def held_landing(own: Machine[S, L], state: S, event: ChecksReported | Integrated | IntegrationRefused) -> S:
    """What a person approved after the end lands if it passes as everything has to; else it stays held back."""
    match event:
        case ChecksReported():
            if faults := faults_of(event):
                return still_held(state, _why_not(event), faults, event.claim.dropped if event.claim else ())
            if event.claim is not None or not _lands_some(state.course, event):
                return still_held(state, "it is not all that a person would have to approve", ())
            return c.stationed(c.steered(state, lands=event.lands, held_again=event.held), Station.HELD_LAND)
        case IntegrationRefused():
            return still_held(state, _why_refused(state.course, event), event.findings)
        case Integrated():
            before = state.course.outcome or _NO_OUTCOME
            state = c.steered(_with_landed(state), landed=event.landed)
            return ended(own, state, before.ending, replace(event, held_on=event.held_on or before.held_on))
        case _:
            assert_never(event)


def _lands_some(course: Course, report: ChecksReported) -> bool:
    """Return whether the run took in changes that were held back, and did without none but the others of them."""
    return {*report.held} <= {*course.held, *course.left_out} and not {*course.held} <= {*report.held}


def _with_landed(state: S) -> S:
    """Return the state after the approved changes have landed: their gates are never asked again."""
    held = tuple(change for change in state.course.held if change in state.course.held_again)
    gates = tuple(
        replace(each, lasting=False)
        if each.ruling is Ruling.APPROVED and each.lasting and not {*each.because} & {*held}
        else each
        for each in state.course.gates
    )
    return c.steered(state, gates=gates, held=held)


def _why_refused(course: Course, event: IntegrationRefused) -> str:
    why, branch = event.detail or event.reason, course.outcome.held_on if course.outcome else ""
    if event.reason != "conflict" or not branch:
        return why
    return f"{why}; {BY_HAND}, `git cherry-pick {branch}`, and reject the gate"


def _why_not(report: ChecksReported) -> str:
    gone = report.claim.dropped if report.claim else ()
    if gone:
        return f"{counted(len(gone), 'test')} of the base would not run any more, which was not approved"
    return f"these fail with it: {names_of_faults(report)}"


def still_held(state: S, why: str, faults: tuple[Finding, ...], gone: tuple[str, ...] = ()) -> S:
    """The approval was for something that passes: it is asked for again. Tests that are `gone` make it another one."""
    outcome = replace(state.course.outcome or _NO_OUTCOME, still_held=why, findings=faults)
    return c.done(c.steered(state, gates=_asked_again(state.course, why, gone)), outcome)


def held_after_all(state: S, report: ChecksReported) -> S | None:
    """Red with what was approved while the rest was landed, it is tried without that; None: there is nothing such."""
    gates = _asked_again(state.course, _why_not(report), report.claim.dropped if report.claim else ())
    return c.steered(state, gates=gates) if faults_of(report) and gates != state.course.gates else None


def _asked_again(course: Course, why: str, gone: tuple[str, ...]) -> tuple[GateRecord, ...]:
    return tuple(
        _opened_again(each, f"{c.WHY_STILL_HELD}{why}", gone)
        if each.lasting and each.due and each.ruling is Ruling.APPROVED
        else each
        for each in course.gates
    )


def _opened_again(gate: GateRecord, why: str, gone: tuple[str, ...]) -> GateRecord:
    dropped = tuple(dict.fromkeys((*gate.dropped, *gone)))
    mark = evidence_with(gate.because, dropped) if gone else gate.evidence
    return replace(gate, ruling=Ruling.OPEN, by="", why=why, notes=(), dropped=dropped, evidence=mark)


def settled(state: S) -> S:
    """At the end, what a person decided on what is held back while the rest was landed."""
    outcome = state.course.outcome
    has_landed = state.course.station is Station.DONE and outcome is not None and outcome.ending in _LANDED
    return decided_afterwards(state) if has_landed else state


def accepted_without(own: Machine[S, L], state: S, event: Integrated) -> S:
    """What of an accepted candidate did not land: only the landing found it out."""
    action = own.landing(state)
    if action.tree or not action.holds_back:
        return state
    state = c.steered(state, held=event.held, candidate=action.commit)
    gate = GateRecord(
        gate=PROTECTED,
        evidence=evidence(event.held),
        because=event.held,
        commit=action.commit,
        why=c.WHY_HELD,
        lasting=True,
    )
    return c.called_for(state, gate)


def decided_afterwards(state: S) -> S:
    """Follow the decisions on what was held back, once the loop has ended: leave out, or verify and land."""
    course, outcome = state.course, state.course.outcome
    if course.station is not Station.DONE or outcome is None:
        return state  # it is on its way, and comes by here again
    held = tuple(change for change in course.held if change not in course.left_out)
    if held != course.held:
        told = replace(outcome, held=held, still_held=outcome.still_held if held else "")
        state = c.steered(state, outcome=told, held=held)
    approved = (each for each in course.parts(PROTECTED) if each.lasting and each.ruling is Ruling.APPROVED)
    if {*held}.isdisjoint(change for each in approved for change in each.because):
        return state
    return c.stationed(c.steered(state, held_tries=course.held_tries + 1), Station.HELD_CHECK)


def split_gate(state: OnCourse, event: GateDecided, gate: GateRecord) -> tuple[GateRecord, ...]:
    """Return the part of the gate that the decision covers, and the rest under an id of its own, if there is one.

    Both halves of a move belong together. A test that would be gone goes with the file that its id names; with the
    last part where it names none, or several.
    """
    if not event.only:
        return (gate,)
    if gate.gate != PROTECTED:
        raise refusal(state, event, f"gate {gate.gate} can only be decided as a whole")
    known = {path for change in gate.because for path in (change.path, change.moved)}
    if strangers := [path for path in event.only if path not in known]:
        raise refusal(state, event, f"gate {gate.gate} is not about {', '.join(strangers)}")
    part = tuple(each for each in gate.because if {each.path, each.moved} & {*event.only})
    rest = tuple(each for each in gate.because if each not in part)
    if not rest:
        return (gate,)
    own = tests_of(gate.dropped, part, rest)
    others = tuple(test for test in gate.dropped if test not in own)
    return (
        replace(gate, because=part, dropped=own, evidence=evidence_with(part, own)),
        replace(gate, because=rest, dropped=others, evidence=evidence_with(rest, others)),
    )
