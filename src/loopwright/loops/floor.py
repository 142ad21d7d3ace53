"""The floor under every machine: what is wanted and what happens outside of a loop's own phases, once for all.

A machine hands over a `Machine`: what its own phases ask for, what it makes of the answers, and what the common turns
(continue, accept, revise, a gate, a landing, a cancel) mean to its counters. `decide` and `apply` of a loop are these.
"""

from __future__ import annotations

import re
from typing import TypeVar, assert_never

from loopwright.kernel.actions import (
    Action,
    Ask,
    AwaitGate,
    CleanUp,
    Option,
    RunAgent,
    Stop,
    WaitUntil,
)
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    Answered,
    BudgetChanged,
    CancelRequested,
    ChecksReported,
    CleanedUp,
    ConfigChanged,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    SessionMarked,
    SkillSkipped,
    StateEdited,
    TimeReached,
)
from loopwright.kernel.model import AgentStatus, Cleanup, Ending, Key, Outcome, Question
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import ANSWERED
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Inquiry, OnCourse, Ruling, Station
from loopwright.loops.engine_steps import (
    AFTER_THE_END,
    HELD,
    accepted_without,
    decided_afterwards,
    held_landing,
    preflighted,
    settled,
    split_gate,
    still_held,
    wanted,
)
from loopwright.loops.hooks import Machine, ended, not_offered, refusal
from loopwright.loops.signing import sign

CONTINUE_BY_DEFAULT = 3

S = TypeVar("S", bound=OnCourse)
L = TypeVar("L")
_FromAgent = AgentReported | AgentFailed | AgentUnavailable


def decide(own: Machine[S, L], state: S) -> tuple[Action, ...]:
    """All that may be in flight now: what the phase or the station asks for, and open gates beside it."""
    gates = tuple(_await(gate) for gate in state.course.open_gates)
    match state.course.station:
        case None:
            return (*_at_work(own, state), *gates)
        case Station.CLARIFY | Station.ESCALATED:
            return (_ask(own, state), *gates)
        case Station.PREFLIGHT | Station.HELD_CHECK | Station.HELD_LAND:
            return (wanted(own, state),)
        case Station.GATE:
            return gates
        case Station.LAND:
            return (sign(own.landing(state), state.course, own.trust(state)),)
        case Station.CLEAN_UP:
            choice = state.course.cancel or Cleanup.KEEP_EVERYTHING
            why = f"the {own.noun} was cancelled"
            return (CleanUp(key=Key("clean-up"), choice=choice, base=own.base(state), why=why),)
        case Station.DONE:
            return (_stop(state), *(_await(gate) for gate in state.course.open_gates if gate.lasting))
        case _:
            assert_never(state.course.station)


def _at_work(own: Machine[S, L], state: S) -> tuple[Action, ...]:
    """Steps that have asked a person wait until those beside them are done."""
    tried = ((action, state.course.trial_of(action.key.part)) for action in own.work(state))
    return tuple(_waited(action, trial.until) for action, trial in tried if not trial.held)


def _waited(action: Action, until: float | None) -> Action:
    if until is None:
        return action
    return WaitUntil(key=action.key.waiting(), when=until, why="the agent is not available before then")


def _await(gate: GateRecord) -> AwaitGate:
    return AwaitGate(
        key=Key("gate", part=f"{gate.gate}-{gate.evidence}"),
        gate=gate.gate,
        commit=gate.commit,
        evidence=gate.evidence,
        because=gate.because,
        failing=gate.failing,
        dropped=gate.dropped,
        why=gate.explanation,
        reasons=gate.reasons,
    )


def _ask(own: Machine[S, L], state: S) -> Ask:
    course, asks = state.course, own.escalation(state)
    if course.station is Station.ESCALATED:
        return Ask(
            key=Key(asks.kind, course.asked),
            kind=asks.kind,
            paused=asks.paused,
            question=asks.question,
            options=asks.options,
            findings=asks.findings,
            exhibit=asks.exhibit,
            why=asks.why,
        )
    beside = tuple(option for option in asks.options if option.choice in own.beside_answer)
    text = _question(state)
    return Ask(
        key=Key("clarify", course.asked),
        question=text,
        questions=tuple(question for inquiry in course.inquiries for question in inquiry.questions),
        free_text=True,
        options=(Option(choice="answer", label="Answer the question"), *beside),
        findings=asks.findings,
        exhibit=asks.exhibit,
        why=own.on_hold.format(who=" and the ".join(each.role for each in course.inquiries), question=text),
    )


def _question(state: OnCourse) -> str:
    return "\n".join(each.question for inquiry in state.course.inquiries for each in inquiry.questions)


def _asked(state: OnCourse) -> str:
    """The question as it is kept with its answer: nothing in it can be taken for the person's own words."""
    return re.sub(r"\n\s*→", "\n->", _question(state))


def _stop(state: OnCourse) -> Stop:
    outcome = state.course.outcome or Outcome(ending=Ending.FAILED)
    return Stop(outcome=outcome, why=outcome.note or outcome.ending.value)


# --- what happened ------------------------------------------------------------------------------


def apply(own: Machine[S, L], state: S, event: Event) -> S:
    """The state after an event that answers what was asked for, or that people may say at any time."""
    match event:
        case Answered():
            return _answered(own, state, event)
        case GateDecided():
            return _decided(own, state, event)
        case CancelRequested():
            return _cancelled(own, state, event)
        case ConfigChanged():
            return _reconfigured(own, state, event)
        case StateEdited():
            return own.edited(state, event)
        case SkillSkipped():
            return own.skipped(state, event)
        case SessionMarked():
            return own.marked(state, event)
        case BudgetChanged():
            return state  # money is the engine's business
        case _:
            return settled(_held(own, _took(own, state, event)))


def _took(own: Machine[S, L], state: S, event: Answer) -> S:
    match event:
        case AgentReported() | AgentFailed() | AgentUnavailable():
            return _from_agent(own, state, event)
        case TimeReached() if event.key.waits:
            return c.with_trial(state, state.course.trial_of(event.key.part).again())
        case ChecksReported() if state.course.station is Station.PREFLIGHT:
            return preflighted(own, state, event)
        case ChecksReported() | Integrated() | IntegrationRefused() if state.course.station in HELD:
            return held_landing(own, state, event)
        case Integrated() if state.course.station is Station.LAND:
            return _landed(own, state, event)
        case IntegrationRefused() if state.course.station is Station.LAND:
            return own.cancelled(state) if state.course.cancel is not None else own.refused(state, event)
        case CleanedUp() if state.course.station is Station.CLEAN_UP:
            return ended(own, state, Ending.CANCELLED)
        case _:
            return own.took(state, event)


def _from_agent(own: Machine[S, L], state: S, event: _FromAgent) -> S:
    trial = state.course.trial_of(event.key.part)
    if event.key.step in own.beside and not _asks(event):
        return _beside(own, state, event)
    if isinstance(event, AgentUnavailable) and trial.waits < c.MOST_WAITS:
        return c.with_trial(state, trial.waiting(event))
    if questions := _questions(own, state, event):
        # What a person answers to its own question is something new to judge by; that they mended a crash is not.
        said_no = trial.said_no and not isinstance(event, AgentReported)
        state = c.with_trial(state, replace(trial, held=True, said_no=said_no))
        return c.steered(state, inquiries=(*state.course.inquiries, questions))
    once_more = trial.after(event) if isinstance(event, AgentFailed) else None
    return own.took(state, event) if once_more is None else c.with_trial(state, once_more)


def _asks(event: _FromAgent) -> bool:
    """Whether it needs a person by its own word."""
    if isinstance(event, AgentFailed):
        return event.reason == "needs_person"
    return isinstance(event, AgentReported) and event.report.status is AgentStatus.NEEDS_CLARIFICATION


def _beside(own: Machine[S, L], state: S, event: _FromAgent) -> S:
    """What holds up nobody is tried once more where it may be, and then told as it is."""
    if isinstance(event, AgentUnavailable):
        why = f"it is not available: {event.detail}"
        return own.took(state, AgentFailed(key=event.key, reason="crashed", detail=why, role=event.role))
    trial = state.course.trial_of(event.key.part)
    once_more = trial.after(event) if isinstance(event, AgentFailed) else None
    return own.took(state, event) if once_more is None else c.with_trial(state, once_more)


def _questions(own: Machine[S, L], state: S, event: _FromAgent) -> Inquiry | None:
    """What the agent cannot go on without, if it says so."""
    if isinstance(event, AgentUnavailable):
        return _not_there(event)
    if not event.role and event.key.step not in own.asked_before:
        return None
    who = event.role or next(a.role for a in own.work(state) if isinstance(a, RunAgent) and a.key == event.key)
    if isinstance(event, AgentFailed):
        if own.trust(state).in_force and state.course.trial_of(event.key.part).is_same_crash(event):
            needs = f"The {who} crashed twice in the same way ({event.detail}). Mend it, then answer `continue`."
            return Inquiry(role=who, questions=(Question(question=needs),), because="crashed")
        if event.reason != "needs_person":
            return None
        return Inquiry(role=who, questions=(Question(question=event.detail or f"The {who} needs a person."),))
    if event.report.status is not AgentStatus.NEEDS_CLARIFICATION:
        return None
    unsaid = event.report.summary or f"The {who} asks for clarification without a question."
    return Inquiry(role=who, questions=event.report.questions or (Question(question=unsaid),))


def _not_there(event: AgentUnavailable) -> Inquiry:
    said = f": {event.detail}" if event.detail else "."
    why = f"The {event.role} was not available {c.MOST_WAITS + 1} times in a row{said}"
    question = Question(question=f"{why}\nWith your answer it is tried once more.")
    return Inquiry(role=event.role, questions=(question,), because="away")


def _held(own: Machine[S, L], state: S) -> S:
    """A person is asked once nothing else can be done."""
    if state.course.station is not None or not state.course.inquiries or _at_work(own, state):
        return state
    return c.steered(state, station=Station.CLARIFY, asked=state.course.asked + 1)


def _landed(own: Machine[S, L], state: S, event: Integrated) -> S:
    state = c.steered(accepted_without(own, state, event), landed=event.landed)
    if own.landed is not None:
        return own.landed(state, event)
    took = state.course.accepted or state.course.untested
    return ended(own, state, Ending.ACCEPTED if took else Ending.VERIFIED, event)


# --- what people say ----------------------------------------------------------------------------


def _answered(own: Machine[S, L], state: S, event: Answered) -> S:
    choices = {option.choice for option in _ask(own, state).options} - {"answer"}
    if event.choice not in choices:
        if state.course.station is Station.CLARIFY:
            return _clarified(state, event)
        return not_offered(state, event)
    match event.choice:
        case "cancel":
            return own.cancelled(c.steered(state, cancel=Cleanup.KEEP_EVERYTHING))
        case "history":
            return c.steered(state, asked=state.course.asked + 1)
        case "accept":
            told = f"accepted as it is by {one_line(event.by, 100) or 'a person'}"
            state = c.steered(state, by_word=(*state.course.by_word, told))
            return own.accepted(c.steered(state, accepted=True, merge_accepted=event.merge))
        case "continue" | "revise":
            return _gone_on(own, state, event)
        case _:
            return own.answered(state, event)


def _clarified(state: S, event: Answered) -> S:
    """Whoever asked goes on where it was. A choice that is no option is the answer itself."""
    said = event.text.strip() or (event.choice if event.choice != "answer" else "")
    if not said:
        raise refusal(state, event, "the answer is empty")
    return c.resume_asked(state, f"{_asked(state)}{ANSWERED}{said}")


def _gone_on(own: Machine[S, L], state: S, event: Answered) -> S:
    """Continue grants and never resets; revise is the one thing that starts a count anew, with new guidance."""
    if event.choice == "continue" and event.count < 0:
        raise refusal(state, event, "continue needs a positive number")
    if event.choice == "revise" and not event.text.strip():
        raise refusal(state, event, "revise needs the new guidance as text")
    told = (event.text + _let_change(event),) if event.text.strip() else ()
    released = tuple(dict.fromkeys((*state.course.released, *event.allow)))
    advised = (event.advice,) if event.advice else ()
    state = c.steered(state, answers=state.course.answers + told, released=released, advised=advised, reasons=())
    if event.choice == "revise":
        return own.revised(state, event)
    return own.continued(state, replace(event, count=event.count or CONTINUE_BY_DEFAULT))


def _let_change(event: Answered) -> str:
    """For whoever makes it, at the end of the person's words; a part hears those with it already."""
    told = f"\n\nMay be changed, although it landed before: {', '.join(event.allow)}"
    return told if event.allow and event.choice == "revise" else ""


def _decided(own: Machine[S, L], state: S, event: GateDecided) -> S:
    is_meant = {(gate.gate, gate.evidence): gate for gate in state.course.open_gates}
    before = is_meant.get((event.gate, event.evidence))
    if before is None:
        raise refusal(state, event, "it was decided for other changes than the present ones")
    ruling = Ruling.APPROVED if event.approved else Ruling.REJECTED
    part, *rest = split_gate(state, event, before)
    gate = replace(part, ruling=ruling, reason=event.reason, by=event.by)
    others = tuple(each for each in state.course.gates if each is not before)
    state = c.steered(state, gates=(*others, *rest, gate))  # in the order of the decisions
    if state.course.station in AFTER_THE_END:
        return decided_afterwards(state)
    waits_on = event.approved and bool(rest) and state.course.station is Station.GATE
    return state if waits_on else own.decided(state, gate)


def _cancelled(own: Machine[S, L], state: S, event: CancelRequested) -> S:
    if state.course.station in (Station.CLEAN_UP, Station.DONE):
        raise refusal(state, event, f"the {own.noun} has ended")
    if state.course.station in HELD:
        return still_held(state, "it was cancelled", ())
    state = c.steered(state, cancel=event.cleanup)
    # Once landing has begun exactly one of the two happens: it lands, or it is refused and then cancelled.
    return state if state.course.station is Station.LAND else own.cancelled(state)


def _reconfigured(own: Machine[S, L], state: S, event: ConfigChanged) -> S:
    if state.course.station is Station.DONE:
        raise refusal(state, event, f"the {own.noun} has ended")
    try:
        limits: L = decode(own.limits, event.limits)
    except DecodeError as error:
        raise refusal(state, event, f"limits: {error}") from error
    return own.relimited(state, limits)
