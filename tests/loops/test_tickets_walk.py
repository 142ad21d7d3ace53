"""All reachable states of the ticket cycle, some alphabets at a time, and random walks through all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Integrate,
    RunAgent,
    RunChecks,
    Stop,
    WaitUntil,
)
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    ConfigChanged,
    Event,
    GateDecided,
    IntegrationRefused,
)
from loopwright.kernel.model import AgentStatus, Severity, Verdict
from loopwright.loops.course import Ruling, Station, where
from loopwright.loops.tickets.findings import is_mute
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Decision, Ticket, TicketsPhase, TicketsState, in_focus
from tests.loops import tickets as t
from tests.loops.harness import (
    Step,
    Walk,
    answers_from,
    check_keys,
    check_last_no_stands,
    check_refusals,
    check_round_trip,
    table,
    taken,
    walk,
    with_key,
)

# Much of the same: the tests of single rules run every line, and a walk finds where they do not hold.
pytestmark = pytest.mark.unmeasured

EVERY_FAULT = (t.CRASHED, t.TIMED_OUT, t.IDLE, t.GARBLED, t.NEEDS_PERSON, t.UNAVAILABLE)
ASKING_CRITIC = t.of("critic", t.UNCLEAR)
WORSE = t.critical("one", requirement="AC-1")
LANDING = (t.says("continue", count=1), t.says("accept"), t.says("cancel"))


@dataclass(frozen=True, kw_only=True)
class Alphabet:
    """What may answer each action."""

    creator: tuple[Event, ...] = (t.MADE,)
    checkpoint: tuple[Event, ...] = (t.saved(),)
    critic: tuple[Event, ...] = (t.passes(), t.fails(t.GRAVE))
    checks: tuple[Event, ...] = (t.GREEN,)
    judge: tuple[Event, ...] = (t.passes(),)
    land: tuple[Event, ...] = (t.LANDED,)
    escalated: tuple[Answered, ...] = LANDING
    clarified: tuple[Answered, ...] = (t.says("answer", text="this"), t.says("cancel"))

    def letters(self, action: Action) -> Iterable[Event]:
        match action:
            case RunAgent():
                return {"creator": self.creator, "judge": self.judge}.get(action.role, self.critic)
            case Ask():
                offered = {option.choice for option in action.options}
                said = self.clarified if action.free_text else self.escalated
                return (each for each in said if each.choice in offered)
            case AwaitGate():
                return (t.approves(action.evidence), t.rejects(action.evidence))
            case _:
                return self.by_kind[type(action)]

    @property
    def by_kind(self) -> dict[type[Action], tuple[Event, ...]]:
        return {
            Checkpoint: self.checkpoint,
            RunChecks: self.checks,
            Announce: (t.SAID,),
            Integrate: self.land,
            CleanUp: (t.CLEANED,),
            WaitUntil: (t.LATER,),
            Stop: (),
        }


WHOLE = Alphabet(
    creator=(t.MADE, t.BLOCKED, t.UNCLEAR, *EVERY_FAULT),
    checkpoint=(t.saved("c1"), t.saved("c2", evidence="e1"), t.saved("c3", evidence="e2"), t.saved("c4", files=0)),
    critic=(
        *(t.passes(), t.passes(t.ALPHA), t.passes(t.GRAVE), t.fails(), t.fails(t.ALPHA, t.BETA), t.verdict(None)),
        *(t.fails(WORSE), t.fails(t.medium("m")), t.verdict(Verdict.PASS, status=AgentStatus.BLOCKED), *EVERY_FAULT),
        *(ASKING_CRITIC, t.of("critic", t.NEEDS_PERSON)),
    ),
    checks=(
        *(t.GREEN, t.RED, t.NOTHING_RAN, t.checked(t.RED_BUILD), t.checked(t.TESTS, t.covered(45, floor=80.0))),
        t.checked(t.BUILD, findings=(t.flaw("bent", category="tampering"),)),
    ),
    judge=(
        *(t.passes(), t.fails(t.GRAVE), t.fails(), t.passes(t.GRAVE), t.UNCLEAR, *EVERY_FAULT),
        t.fails(aspects=[{"requirement": "Docs", "pass": False, "score": 0.5}]),
    ),
    land=(t.LANDED, t.REFUSED, t.CONFLICT, t.RED_MERGE, t.LEFT),
    escalated=(
        *(*LANDING, t.says("accept", merge=True), t.says("history"), t.says("revise", text="otherwise")),
        *(t.says("split", text="AC-2"), t.says("split", text="AC-3; AC-1"), t.says("examples", text="so")),
        *(t.says("reassign", text="creator=x"), t.says("reassign", text="critic+y")),
    ),
)


@cache
def reachable(alphabet: Alphabet, **given: Any) -> Walk[TicketsState]:  # noqa: ANN401 - the plan's fields
    """Everything `alphabet` can lead to; any time a cancel; people and patience bounded."""
    answers = answers_from(TICKETS, alphabet.letters)

    def bounded(state: TicketsState) -> Iterator[Event]:
        yield from (event for event in answers(state) if not _too_much(state, event))
        if where(state) not in (Station.CLEAN_UP, Station.DONE):
            yield CancelRequested()

    return walk(TICKETS, t.session(**given), bounded)


def _too_much(state: TicketsState, event: Event) -> bool:
    """Without these bounds a patient person and an unlucky agent could go on for ever."""
    match event:
        case Answered(choice="cancel") | Answered(choice="accept"):
            return False
        case Answered() | IntegrationRefused():
            return state.course.asked >= 2
        case AgentUnavailable():
            if where(state) == TicketsPhase.CRITIQUE:
                return any(trial.tries > 1 or trial.until for trial in state.course.trials[1:])
            return state.course.trial.tries > (5 if where(state) == TicketsPhase.JUDGE else 1)
        case AgentFailed(reason="needs_person"):
            return state.course.asked >= 1
        case AgentReported(report=report):
            return report.status is not AgentStatus.DONE and report.verdict is None and state.course.asked >= 1
        case _:
            return False


GATED = Alphabet(
    checkpoint=(t.saved("c1"), t.saved("c2", evidence="e1")),
    checks=(t.GREEN, t.RED),
    critic=(t.passes(),),
    judge=(t.passes(), t.UNCLEAR),
    escalated=(t.says("accept"),),
)
CRITICS = (t.passes(), t.fails(t.GRAVE), t.fails(), t.CRASHED, t.UNAVAILABLE, ASKING_CRITIC)
lazily = partial(partial, reachable)  # each is walked by whoever asks for it


def walks() -> dict[str, partial[Walk[TicketsState]]]:
    return {
        "judgements": lazily(
            Alphabet(
                checkpoint=(t.saved("c1"), t.saved("c2")),
                critic=(t.passes(), t.fails(t.GRAVE), t.fails(t.ALPHA, WORSE)),
                checks=(t.GREEN, t.RED),
                escalated=(t.says("accept"), t.says("continue", count=1)),
            ),
            max=2,
        ),
        "critics": lazily(
            Alphabet(critic=CRITICS, escalated=(t.says("accept"),)),
            max=1,
            critics=("critic", "security-critic"),
        ),
        "creator": lazily(
            Alphabet(
                creator=(t.MADE, t.BLOCKED, t.UNCLEAR, *EVERY_FAULT),
                checkpoint=(t.saved(), t.saved("c2", files=0)),
                critic=(t.passes(),),
                escalated=(t.says("accept"),),
            ),
            max=1,
        ),
        "judge": lazily(
            Alphabet(
                critic=(t.passes(), t.fails(t.GRAVE)),
                judge=(t.passes(), t.fails(t.GRAVE), t.fails(), t.UNCLEAR, *EVERY_FAULT),
                escalated=(t.says("accept"),),
            ),
            max=1,
            judge=True,
        ),
        "gates": lazily(GATED, max=2),
        "gates and a judge": lazily(GATED, max=1, judge=True),
        "people": lazily(
            Alphabet(
                critic=(t.passes(), t.fails(WORSE)),
                land=(t.LANDED, t.REFUSED, t.CONFLICT, t.LEFT),
                escalated=WHOLE.escalated,
            ),
            max=1,
        ),
    }


@pytest.fixture(
    scope="module", params=["judgements", "critics", "creator", "judge", "gates", "gates and a judge", "people"]
)
def walked(request: pytest.FixtureRequest) -> Walk[TicketsState]:
    return walks()[request.param]()


# --- what holds for every loop ---------------------------------------------------------------------------------


def test_decide_is_total_and_only_stop_is_the_end(walked: Walk[TicketsState]) -> None:
    """And one thing is done at a time, unless critics are at work."""
    leaves = set(map(id, walked.states)) - {id(step.before) for step in walked.steps if step.after != step.before}
    for state in walked.states:
        actions = TICKETS.decide(state)
        assert len({action.key for action in actions}) == len(actions) > 0, state
        work = [action for action in actions if not isinstance(action, AwaitGate)]
        assert len(work) <= 1 or where(state) == TicketsPhase.CRITIQUE, state
        assert ([type(action) for action in actions] == [Stop]) == (id(state) in leaves), state


def test_a_key_names_one_try_for_ever(walked: Walk[TicketsState]) -> None:
    check_keys(TICKETS, walked)


def test_what_answers_nothing_is_refused(walked: Walk[TicketsState]) -> None:
    check_refusals(TICKETS, walked.states)


def test_every_state_can_be_stored(walked: Walk[TicketsState]) -> None:
    check_round_trip(TicketsState, walked.states[::20])


def says_no_at_last(step: Step[TicketsState]) -> bool:
    before, event = step.before, step.event
    if before.ticket.number < before.allowance or before.groups:  # of what a split put off, the next ticket is judged
        return False
    if isinstance(event, ChecksReported):
        return any(not result.passed for result in event.results)
    said = isinstance(event, AgentReported) and event.report.verdict is Verdict.FAIL
    asked_again = any(trial.repaired for trial in step.after.course.trials) and where(step.after) == where(before)
    return said and t.keys(step.after) != t.keys(before) and not asked_again


def test_no_path_leads_from_a_no_in_the_last_ticket_to_a_pass() -> None:
    for name in ("judgements", "critics", "judge", "gates", "people"):
        check_last_no_stands(TICKETS, walks()[name](), says_no_at_last)


# --- what holds for this one -----------------------------------------------------------------------------------


def check_state(state: TicketsState) -> None:
    """What must hold wherever it stands."""
    numbers = [ticket.number for ticket in state.past]
    assert numbers == list(range(1, len(numbers) + 1)), "numbers rise by one"
    assert state.ticket.number in (len(numbers), len(numbers) + 1), state
    assert [ticket.parent for ticket in state.past] == [number - 1 for number in numbers], state
    for ticket in state.past:
        check_closed(state, ticket)
    if where(state) in (TicketsPhase.CHECK, TicketsPhase.JUDGE, Station.GATE, TicketsPhase.VERDICT):
        assert all(seat.critique is not None for seat in state.seats), "judged before every critic has spoken"
    if where(state) in (TicketsPhase.JUDGE, Station.GATE, TicketsPhase.VERDICT):
        assert state.ticket.checks is not None, "judged before the checks have run"
    if where(state) == Station.LAND:
        check_landing(state)


def check_closed(state: TicketsState, ticket: Ticket) -> None:
    shares = (ticket.accuracy, ticket.score, *(aspect.score for aspect in ticket.aspects))
    assert all(0.0 <= share <= 1.0 for share in shares), ticket
    assert ticket.aspects, "nothing was judged"
    assert len(ticket.critiques) >= len(state.plan.critics) > 0, "a critic is missing"
    assert ticket.checks is not None, "the engine's judge did not look"
    assert (ticket.judgement is not None) == state.plan.judge, ticket
    assert len(ticket.rules) == (14 if state.plan.judge else 13), ticket
    if ticket.decision is Decision.APPROVE:
        assert ticket.checks, "approved without a check"
        assert all(check.passed for check in ticket.checks), "approved with a failing check"
        assert not any(rule.is_against for rule in ticket.rules), ticket
        assert ticket.judgement is None or ticket.judgement.verdict is Verdict.PASS, "approved against the judge"
        assert not any(map(is_mute, ticket.critiques)), "approved with a silent critic"
        assert ticket.files, "approved without a change"
        assert all(aspect.passed for aspect in ticket.aspects), "approved with an aspect that fails"
        agreed = all(each.verdict is Verdict.PASS for each in ticket.critiques)
        assert ticket.focus or agreed, "a critic's no became a yes"


def check_landing(state: TicketsState) -> None:
    land = t.wanted(state, Integrate)
    assert land.commit in {ticket.commit for ticket in state.past}, "something lands that nobody judged"
    if state.course.accepted:
        failed = state.past[state.taken - 1].failed_with is not None or state.red
        assert land.verified or failed, "lands though no check has seen it"
    else:
        last = state.past[-1]
        assert (last.decision, last.commit) == (Decision.APPROVE, land.commit), state
        assert not state.groups, "a group of a split lands"
        gate = state.course.due("protected")
        assert gate is None or gate.ruling is Ruling.APPROVED, state
        assert not any(each.severity is Severity.CRITICAL for each in last.findings), "lands with a critical finding"


def check_step(step: Step[TicketsState]) -> None:
    """What is on record stays as it is; a decision follows from the thresholds and the allowance."""
    before, after = step.before, step.after
    kept = len(before.past)
    refused = isinstance(step.event, IntegrationRefused) and bool(step.event.onto)
    settled = kept - 1 if refused else kept  # a landing that was refused is told of the ticket that was to land
    assert after.past[:settled] == before.past[:settled], "history changed"
    assert len(after.past) - kept in (0, 1), step
    for old, new in (
        (before.course.answers, after.course.answers),
        (before.course.refusals, after.course.refusals),
        (before.course.approvals, after.course.approvals),
        (before.extra_critics, after.extra_critics),
    ):
        assert new[: len(old)] == old, step
    assert (before.ticket.number, before.course.asked) <= (after.ticket.number, after.course.asked), step
    assert isinstance(step.event, ConfigChanged) or before.allowance <= after.allowance, step
    assert {(e.source, e.finding.fingerprint) for e in before.ledger} <= {
        (e.source, e.finding.fingerprint) for e in after.ledger
    }, step
    if len(after.past) > kept:
        check_decision(after)
    if before.course.cancel is not None:
        assert where(after) in (Station.LAND, Station.CLEAN_UP, Station.DONE), step


def check_decision(state: TicketsState) -> None:
    ticket = state.past[-1]
    assert (where(state), state.ticket) == (TicketsPhase.VERDICT, ticket), "closed without its line on record"
    grave = [each for each in in_focus(state, ticket.findings) if each.severity is Severity.CRITICAL]
    if ticket.decision is Decision.APPROVE:
        assert not grave, "approved with a critical finding"
        assert not state.course.open_gates, "approved with an open gate"
    else:
        full = ticket.number >= state.allowance
        assert ticket.decision is (Decision.ESCALATE if full else Decision.ROUTE_BACK), ticket


def test_every_state_keeps_the_rules(walked: Walk[TicketsState]) -> None:
    for state in walked.states:
        check_state(state)


def test_every_step_keeps_what_is_on_record(walked: Walk[TicketsState]) -> None:
    for step in walked.steps:
        check_step(step)


def test_without_a_person_there_are_no_more_tickets_than_allowed(walked: Walk[TicketsState]) -> None:
    for state in (state for state in walked.states if not state.course.asked):
        assert state.ticket.number <= state.plan.limits.max == state.allowance, state


def test_the_ledger_moves_only_when_a_ticket_closes(walked: Walk[TicketsState]) -> None:
    for step in walked.steps:
        if step.before.ledger != step.after.ledger and not isinstance(step.event, IntegrationRefused):
            assert len(step.after.past) == len(step.before.past) + 1, step


def test_an_agent_that_was_asked_for_a_verdict_is_never_told_the_creators_words(walked: Walk[TicketsState]) -> None:
    for state in walked.states[::3]:
        for action in TICKETS.decide(state):
            if isinstance(action, RunAgent) and action.needs_verdict:
                assert "wrote it" not in encode(action.brief), state


def test_the_table_of_transitions(golden: Callable[[str, str], None]) -> None:
    first, *others = (each() for each in walks().values())
    golden("loops/tickets-table.txt", table(sum(others, first), where, said))


def said(event: Event) -> str:
    """The event in a few words: its kind and what sets it apart."""
    match event:
        case AgentReported(report=report):
            return f"AgentReported {report.verdict or report.status}"
        case AgentFailed():
            return f"AgentFailed {event.reason}"
        case Answered():
            return f"Answered {event.choice}"
        case Checkpointed():
            return f"Checkpointed {'protected' if event.evidence else 'files' if event.files else 'nothing'}"
        case ChecksReported():
            return f"ChecksReported {'green' if all(each.passed for each in event.results) else 'red'}"
        case GateDecided():
            return f"GateDecided {'approved' if event.approved else 'rejected'}"
        case _:
            return type(event).__name__


# --- everything at once ------------------------------------------------------------------------------------------

PLANS = st.fixed_dictionaries(
    {},
    optional={
        "judge": st.booleans(),
        "max": st.integers(1, 4),
        "critics": st.sampled_from([("critic",), ("critic", "security-critic")]),
        "creators": st.sampled_from([(), ("a",), ("a", "b")]),
        "criteria": st.sampled_from([(), t.CRITERIA[:1], t.CRITERIA]),
    },
)


def drawn(data: st.DataObject, state: TicketsState) -> Event | None:
    """Some answer to something that is wanted, or nothing more. Half of the time the work goes well."""
    good = data.draw(st.booleans())
    alphabet = Alphabet() if good else WHOLE
    letters = [with_key(letter, each.key) for each in TICKETS.decide(state) for letter in alphabet.letters(each)]
    return data.draw(st.sampled_from(letters)) if letters else None


@settings(max_examples=80)
@given(st.data())
def test_a_random_walk_keeps_the_rules_and_uses_no_key_twice(data: st.DataObject) -> None:
    state = t.session(**data.draw(PLANS))
    gone: set[str] = set()
    for _ in range(70):
        event = drawn(data, state)
        if event is None:
            return
        try:
            after = taken(TICKETS, state, event)
        except InvalidTransition:
            assert isinstance(event, Answered), event
            continue
        work = [str(action.key) for action in TICKETS.decide(state) if not isinstance(action, AwaitGate)]
        gone |= set(work) - set(t.keys(after))
        assert not gone & set(t.keys(after))
        check_step(Step(state, event, after))
        check_state(after)
        if len(after.past) > len(state.past):
            assert decode(TicketsState, encode(after)) == after
        state = after


@settings(max_examples=100)
@given(st.data())
def test_a_cancel_and_new_limits_are_taken_anywhere_and_end_it_in_order(data: st.DataObject) -> None:
    state = t.session(judge=data.draw(st.booleans()))
    for _ in range(data.draw(st.integers(0, 30))):
        event = drawn(data, state)
        if event is None:
            return
        try:
            state = taken(TICKETS, state, event)
        except InvalidTransition:
            continue
        if where(state) != Station.DONE and data.draw(st.booleans()):
            changed = t.play(state, t.configured(max=data.draw(st.integers(1, 7))))
            assert (where(changed), changed.past, t.keys(changed)) == (where(state), state.past, t.keys(state))
            assert changed.ticket.number <= changed.allowance
            state = changed
    if where(state) in (Station.DONE, Station.CLEAN_UP):
        return
    landing = where(state) == Station.LAND
    state = t.play(state, t.CANCEL, *([t.REFUSED] if landing else []), t.CLEANED)
    assert t.outcome(state).ending == "cancelled"


@settings(max_examples=100)
@given(st.data())
def test_every_answer_that_is_offered_is_taken_or_refused_and_then_nothing_happened(data: st.DataObject) -> None:
    state = t.told(*t.bad("c1", WORSE), max=1)
    choice = data.draw(st.sampled_from(t.options(state)))
    answer = t.says(choice, text=data.draw(st.text(max_size=12)), count=data.draw(st.integers(-2, 4)))
    with suppress(InvalidTransition):
        after = t.play(state, answer)
        check_step(Step(state, answer, after))
        check_state(after)
        assert decode(TicketsState, encode(after)) == after
