"""What one loop has of its own: the hooks by which the floor under every machine asks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, Exhibit, Integrate, Option
from loopwright.kernel.events import (
    Answer,
    Answered,
    Event,
    Integrated,
    IntegrationRefused,
    SessionMarked,
    SkillSkipped,
    StateEdited,
)
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.gates import UNTESTED
from loopwright.kernel.model import Commit, Ending, Finding, Outcome
from loopwright.kernel.trust import Trust
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, OnCourse

S = TypeVar("S", bound=OnCourse)
L = TypeVar("L")


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """What a person is asked when the loop cannot go on by itself."""

    question: str
    options: tuple[Option, ...]
    why: str
    findings: tuple[Finding, ...] = ()
    # Of a check-in the first option is taken by going on; a question is for people alone, whatever a parent takes.
    kind: Literal["escalation", "check-in", "question"] = "escalation"
    paused: bool = False  # a limit is reached, that a person may raise
    exhibit: Exhibit | None = None


def not_offered(state: S, event: Answered) -> S:
    raise refusal(state, event, f"{event.choice!r} is not one of the options")


def _not_edited(state: S, event: StateEdited) -> S:
    raise refusal(state, event, f"nothing that others write about {event.subject!r} is taken in here")


def _not_skipped(state: S, event: SkillSkipped) -> S:
    raise refusal(state, event, f"no skill {event.skill!r} is asked for here")


def _as_it_was(state: S, _: GateRecord | SessionMarked) -> S:
    return state


def _unchanged(state: S) -> S:
    return state


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Generic[S, L]):
    """What one loop has of its own. Each hook is given the state after the floor has noted its part."""

    limits: type[L]  # its table in the configuration
    base: Callable[[S], Commit]
    trust: Callable[[S], Trust] = lambda _state: Trust()  # what judges below and beside it
    work: Callable[[S], tuple[Action, ...]]  # what its own phases ask for
    took: Callable[[S, Answer], S]  # what answers that; of an agent's failures only those that count
    landing: Callable[[S], Integrate]
    outcome: Callable[[S, Ending], Outcome]  # without where it landed
    escalation: Callable[[S], Escalation]
    continued: Callable[[S, Answered], S]  # `count` is what is granted
    revised: Callable[[S, Answered], S]
    relimited: Callable[[S, L], S]
    decided: Callable[[S, GateRecord], S] = _as_it_was  # a gate that stood beside the work or was waited for
    accepted: Callable[[S], S] = c.taking
    landed: Callable[[S, Integrated], S] | None = None  # None: that is the end
    refused: Callable[[S, IntegrationRefused], S] = c.not_landed
    cancelled: Callable[[S], S] = c.cleaning_up
    unable: Callable[[S, Outcome], S] = c.done  # the checks cannot run here
    red_base: Callable[[S], S] = _unchanged  # they can, and some fail before anything is made
    answered: Callable[[S, Answered], S] = not_offered  # answers that only this loop offers
    edited: Callable[[S, StateEdited], S] = _not_edited  # what others wrote into a file of it
    skipped: Callable[[S, SkillSkipped], S] = _not_skipped
    marked: Callable[[S, SessionMarked], S] = _as_it_was  # somebody began to drive it, or stopped
    noun: str = "loop"
    on_hold: str = "the {who} cannot go on without a person"
    beside_answer: tuple[str, ...] = ("cancel",)  # which of the escalation's options a question offers too
    beside: tuple[str, ...] = ()  # steps that hold up nobody: an agent that cannot do one is not waited for
    asked_before: tuple[str, ...] = ()  # steps whose questions were heard before events told their role


def ended(own: Machine[S, L], state: S, ending: Ending, landed: Integrated | None = None) -> S:
    outcome = own.outcome(state, ending)
    outcome = replace(outcome, findings=(*outcome.findings, *untested(state)))
    if landed is None:
        outcome = replace(outcome, waiting=())
    else:
        if landed.landed == own.base(state) and not state.course.held:
            # Its branch stands where the base does: nobody is told to take that.
            not_merged = "nothing has landed" if landed.merged_into or landed.not_merged else ""
            landed = replace(landed, branch="", merged_into="", not_merged=not_merged, take="", note="")
        outcome = replace(
            outcome,
            commit=landed.commit,
            branch=landed.branch,
            merged_into=landed.merged_into,
            not_merged=landed.not_merged,
            take=landed.take,
            note=landed.note or outcome.note,
            held=state.course.held,
            held_on=landed.held_on,
            written=state.course.written,
            tests_of_agents=state.course.tests_of_agents,
            allowed=own.trust(state).allow,
            unnoticed=state.course.unnoticed,
            evidence=c.with_decisions(state.course.evidence, state.course.decisions),
        )
    cleanup = state.course.cancel if ending is Ending.CANCELLED else None
    return c.done(state, replace(outcome, cleanup=cleanup))


def untested(state: OnCourse) -> tuple[Finding, ...]:
    """What a person owes who took a change that no check looks at."""
    gate = state.course.due(UNTESTED) if state.course.untested else None
    return (engine_finding("untested-change", f"Taken untested: {gate.why}"),) if gate else ()


def refusal(state: OnCourse, event: Event, why: str) -> InvalidTransition:
    return InvalidTransition(c.where(state), type(event).__name__, why)
