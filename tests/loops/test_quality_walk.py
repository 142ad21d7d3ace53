"""All reachable states of the quality loop, four alphabets at a time, and random walks through all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    Checkpoint,
    CleanUp,
    Integrate,
    LoadArtifacts,
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
    ArtifactsLoaded,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    ConfigChanged,
    Event,
    IntegrationRefused,
)
from loopwright.kernel.ledger import Standing
from loopwright.kernel.model import AgentStatus, Severity, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import Depth, Known, QualityPhase, QualityState, counted, failing, open_findings
from tests.loops import quality as q
from tests.loops.harness import (
    Step,
    Walk,
    answers_from,
    check_decisions,
    check_keys,
    check_last_no_stands,
    check_refusals,
    check_round_trip,
    table,
    walk,
)

# Much of the same: the tests of single rules run every line, and a walk finds where they do not hold.
pytestmark = pytest.mark.unmeasured

CRITICAL = q.critical("C")
BACK = q.renamed(q.ALPHA, "B7")
EVERY_FAULT = (q.CRASHED, q.TIMED_OUT, q.IDLE, q.GARBLED, q.NEEDS_PERSON, q.UNAVAILABLE)
ASKS = (q.of("reviewer", q.UNCLEAR), q.of("reviewer", q.NEEDS_PERSON))
LANDINGS = (q.LANDED, q.REFUSED, q.CONFLICT, q.RED_MERGE)
DECIDED = (q.says("continue", count=1), q.says("accept"), q.says("cancel"))
EVERY_REVIEW = (
    q.passes(),
    q.passes(q.ALPHA),
    q.passes(CRITICAL),
    q.passes(q.medium("M"), q.UNSHOWN),
    q.passes(*q.THREE),
    q.passes(BACK),
    q.fails(),
    q.fails(q.ALPHA),
    q.fails(*q.THREE),
    q.fails(q.UNSHOWN),
    q.fails(q.medium("M"), q.AIMLESS),
    q.review(None, q.ALPHA),
    q.review(Verdict.PASS, status=AgentStatus.BLOCKED),
    q.review(Verdict.FAIL, q.ALPHA, status=AgentStatus.BLOCKED),
)


@dataclass(frozen=True, kw_only=True)
class Alphabet:
    """What may answer each action."""

    artifact: tuple[Event, ...] = (q.LOADED,)
    reviewer: tuple[Event, ...] = (q.passes(), q.fails(*q.THREE))
    creator: tuple[Event, ...] = (q.FIXED,)
    checkpoint: tuple[Event, ...] = (q.saved(),)
    land: tuple[Event, ...] = (q.LANDED,)
    escalated: tuple[Answered, ...] = DECIDED
    clarified: tuple[Answered, ...] = (q.says("answer", text="this"), q.says("cancel"))

    def letters(self, action: Action) -> Iterable[Event]:
        match action:
            case RunAgent():
                return {"reviewer": self.reviewer, "creator": self.creator}[action.role]
            case Ask():
                offered = {option.choice for option in action.options}
                said = self.clarified if action.free_text else self.escalated
                return (each for each in said if each.choice in offered)
            case _:
                return self.by_kind[type(action)]

    @property
    def by_kind(self) -> dict[type[Action], tuple[Event, ...]]:
        return {
            LoadArtifacts: self.artifact,
            Announce: (q.SAID,),
            Checkpoint: self.checkpoint,
            RunChecks: (q.GREEN, q.RED),
            Integrate: self.land,
            CleanUp: (q.CLEANED,),
            WaitUntil: (q.LATER,),
            Stop: (),
        }


WHOLE = Alphabet(
    artifact=(q.LOADED, q.loaded("o2"), q.GONE),
    reviewer=(*EVERY_REVIEW, *EVERY_FAULT, *ASKS),
    creator=(q.FIXED, q.BLOCKED, q.UNCLEAR, *EVERY_FAULT),
    checkpoint=(q.saved("c1"), q.saved("c2", dropped=("x.py",)), q.saved("c3", files=0)),
    land=LANDINGS,
    escalated=(*DECIDED, q.says("history"), q.says("revise", text="otherwise"), q.says("accept", merge=True)),
    clarified=(q.says("answer", text="this"), q.says("accept"), q.says("cancel")),
)


@cache
def reachable(alphabet: Alphabet, **given: Any) -> Walk[QualityState]:  # noqa: ANN401 - the plan's fields
    """Everything `alphabet` can lead to; any time a cancel; people and patience bounded."""
    answers = answers_from(QUALITY, alphabet.letters)

    def bounded(state: QualityState) -> Iterator[Event]:
        yield from (event for event in answers(state) if not _too_much(state, event))
        if where(state) not in (Station.CLEAN_UP, Station.DONE):
            yield CancelRequested()

    return walk(QUALITY, q.loop(**given), bounded)


def _too_much(state: QualityState, event: Event) -> bool:
    """Without these bounds a patient person and an unlucky agent could go on for ever."""
    match event:
        case Answered(choice="cancel") | Answered(choice="accept"):
            return False
        case Answered() | IntegrationRefused():
            return state.course.asked >= 2
        case AgentUnavailable():
            return state.course.trial.tries >= 4
        case AgentFailed(reason="needs_person"):
            return state.course.asked >= 1
        case AgentReported(report=report):
            return report.status is not AgentStatus.DONE and report.verdict is None and state.course.asked >= 1
        case _:
            return False


lazily = partial(partial, reachable)  # each is walked by whoever asks for it


def walks() -> dict[str, partial[Walk[QualityState]]]:
    return {
        "judgements": lazily(
            Alphabet(
                reviewer=(q.passes(), q.fails(q.ALPHA, q.medium("M")), q.passes(CRITICAL), q.passes(BACK)),
                checkpoint=(q.saved("c1"), q.saved("c2")),
                escalated=(q.says("continue", count=1), q.says("accept")),
            ),
            max_attempts=3,
        ),
        "faults": lazily(
            Alphabet(
                reviewer=(q.passes(), q.fails(q.ALPHA), q.fails(), q.review(None, q.ALPHA), *EVERY_FAULT, *ASKS),
                creator=(q.FIXED, q.BLOCKED, q.UNCLEAR, *EVERY_FAULT),
                escalated=(q.says("accept"),),
            ),
            max_attempts=2,
        ),
        **more_walks(),
    }


def more_walks() -> dict[str, partial[Walk[QualityState]]]:
    return {
        "files": lazily(
            Alphabet(
                artifact=(q.LOADED, q.loaded("o2"), q.GONE),
                checkpoint=(q.saved("c1"), q.saved("c2", dropped=("x.py",)), q.saved("c3", files=0)),
                land=LANDINGS,
                escalated=(q.says("accept"), q.says("continue", count=1)),
            ),
            max_attempts=2,
        ),
        "checks": lazily(
            Alphabet(
                reviewer=(q.passes(), q.fails(q.ALPHA), q.fails(q.medium("M"))),
                checkpoint=(q.saved("c1"), q.saved("c2"), q.saved("c3", same=True)),
                land=(q.LANDED, q.RED_MERGE),
                escalated=(q.says("accept"), q.says("continue", count=1)),
            ),
            max_attempts=3,
            checked=True,
        ),
        "people": lazily(
            Alphabet(
                creator=(q.FIXED, q.BLOCKED, q.UNCLEAR),
                land=LANDINGS,
                escalated=WHOLE.escalated,
                clarified=WHOLE.clarified,
            ),
            max_attempts=2,
        ),
        "a child with a past": lazily(
            Alphabet(reviewer=(q.passes(), q.passes(q.ALPHA), q.fails(q.BETA), q.CRASHED)),
            max_attempts=3,
            lands=False,
            file=q.FILE,
            depth=Depth.COMPREHENSIVE,
            known=(
                Known(finding=q.ALPHA, gate="code", resolved=True),
                Known(finding=q.BETA, gate="plan"),
                Known(finding=q.GAMMA, gate="code", accepted=True),
            ),
        ),
    }


@pytest.fixture(scope="module", params=walks())
def walked(request: pytest.FixtureRequest) -> Walk[QualityState]:
    return walks()[request.param]()


# --- what holds for every loop ---------------------------------------------------------------------------------


def test_decide_is_total_and_only_stop_is_the_end(walked: Walk[QualityState]) -> None:
    check_decisions(QUALITY, walked)


def test_a_key_names_one_try_for_ever(walked: Walk[QualityState]) -> None:
    check_keys(QUALITY, walked)


def test_what_answers_nothing_is_refused(walked: Walk[QualityState]) -> None:
    check_refusals(QUALITY, walked.states)


def test_every_state_can_be_stored(walked: Walk[QualityState]) -> None:
    check_round_trip(QualityState, walked.states[::20])


def says_no_at_last(step: Step[QualityState]) -> bool:
    """A reviewer that is not asked once more, or the checks, when no review is left."""
    before, event = step.before, step.event
    if before.number < before.allowance:
        return False
    if isinstance(event, ChecksReported):
        return event == replace(q.RED, key=event.key)
    no = isinstance(event, AgentReported) and event.report.verdict is Verdict.FAIL
    return no and where(before) == QualityPhase.RUN_CHECKS != where(step.after)


def test_no_path_leads_from_a_no_at_the_last_review_to_a_pass(walked: Walk[QualityState]) -> None:
    check_last_no_stands(QUALITY, walked, says_no_at_last)


# --- what holds for this one -----------------------------------------------------------------------------------


def check_state(state: QualityState) -> None:
    """What must hold wherever it stands, limits unchanged."""
    assert len(state.rounds) <= state.allowance, state
    assert state.fixes <= len(state.rounds), state
    assert [each.number for each in state.rounds] == list(range(1, len(state.rounds) + 1)), state
    if where(state) in (QualityPhase.FIX, QualityPhase.CHECKPOINT, Station.CLARIFY):
        assert len(state.rounds) < state.allowance, "a fix that no review would see"
    if where(state) == QualityPhase.FIX:
        assert state.course.trial.until is not None or q.creator(state).brief.findings, "a fix of nothing"
    for each in state.rounds:
        held = counted(each.findings, Severity.CRITICAL), counted(each.findings, Severity.HIGH)
        if each.verdict is Verdict.PASS:
            assert held[0] == 0, "a pass with a critical finding"
            assert held[1] <= state.plan.limits.p1_threshold, "a pass with too many high ones"
            assert each.reviewed, "a pass that nobody gave"
    assert {entry.source for entry in state.ledger} <= {state.plan.gate, "engine", "landing"}, state
    assert not {e.finding.fingerprint for e in state.ledger if e.standing is not Standing.RESOLVED} & {
        each.finding.fingerprint for each in state.deferred if each.round == state.number
    }, "open and put off at once"


def check_step(step: Step[QualityState]) -> None:
    """Counts never go down, and what is on record stays as it is but for the fix that follows."""
    before, after = step.before, step.after
    assert before.course.asked <= after.course.asked, step
    for name in ("fixes", "number", "allowance"):
        assert getattr(before, name) <= getattr(after, name), (name, step)
    for old, new in zip(before.rounds, after.rounds, strict=False):
        assert (old.number, old.commit, old.line) == (new.number, new.commit, new.line), step
        assert not old.fix or old.fix == new.fix, step
        if new.refused and not old.refused:
            assert isinstance(step.event, IntegrationRefused | ChecksReported), step
            assert (old.verdict, new.verdict) == (Verdict.PASS, Verdict.FAIL), step
        else:
            assert (old.verdict, old.why, old.findings) == (new.verdict, new.why, new.findings), step
    assert len(after.rounds) - len(before.rounds) in (0, 1), step
    # What was put off stays so until a review weighs it anew: then the ledger has it.
    told = {entry.finding.fingerprint for entry in after.ledger}
    left = {each.finding.fingerprint for each in before.deferred} - {e.finding.fingerprint for e in after.deferred}
    assert left <= told, step
    assert {e.finding.fingerprint for e in before.ledger} <= {e.finding.fingerprint for e in after.ledger}, step
    if before.course.cancel is not None:
        assert where(after) in (Station.LAND, Station.CLEAN_UP, Station.DONE), step
    granted = isinstance(step.event, Answered) and step.event.choice in ("continue", "revise")
    assert granted or isinstance(step.event, ConfigChanged) or before.allowance == after.allowance, step


def test_every_state_keeps_the_rules(walked: Walk[QualityState]) -> None:
    for state in walked.states:
        check_state(state)


def test_every_step_keeps_what_is_on_record(walked: Walk[QualityState]) -> None:
    for step in walked.steps:
        check_step(step)


def test_without_a_grant_there_are_no_more_reviews_and_fixes_than_allowed(walked: Walk[QualityState]) -> None:
    for state in (state for state in walked.states if not state.course.asked):
        most = state.plan.limits.max_attempts
        assert len(state.rounds) <= most, state
        assert state.fixes <= most - 1, state


def test_every_fix_is_reviewed_before_it_ends_unless_it_is_cancelled(walked: Walk[QualityState]) -> None:
    for state in (state for state in walked.states if where(state) == Station.LAND):
        assert q.wanted(state, Integrate).commit in {each.commit for each in state.rounds if each.judged}, state


def test_what_lands_passed_or_was_accepted(walked: Walk[QualityState]) -> None:
    for state in (state for state in walked.states if where(state) == Station.LAND):
        assert state.plan.lands, state
        assert state.course.accepted or state.rounds[-1].verdict is Verdict.PASS, state
        assert state.verified or failing(state) or not state.plan.checked, "what no check has seen"


def test_every_question_names_all_that_is_wrong_or_the_file_that_does(walked: Walk[QualityState]) -> None:
    for state in (state for state in walked.states if where(state) == Station.ESCALATED):
        ask = q.question(state)
        assert ask.findings == (() if state.plan.file else open_findings(state)), state
        assert state.plan.file in ask.question, state


def test_the_table_of_transitions(golden: Callable[[str, str], None]) -> None:
    first, *others = (each() for each in walks().values())
    golden("loops/quality-table.txt", table(sum(others, first), where, said))


def said(event: Event) -> str:
    """The event in a few words: its kind and what sets it apart."""
    match event:
        case AgentReported(report=report):
            return f"AgentReported {report.verdict or report.status}"
        case AgentFailed():
            return f"AgentFailed {event.reason}"
        case Answered():
            return f"Answered {event.choice}"
        case ArtifactsLoaded():
            return f"ArtifactsLoaded {'there' if event.contents[0].object else 'gone'}"
        case Checkpointed():
            return f"Checkpointed {'files' if event.files else 'nothing'}"
        case _:
            return type(event).__name__


# --- everything at once ------------------------------------------------------------------------------------------

PLANS = st.fixed_dictionaries(
    {},
    optional={
        "lands": st.booleans(),
        "file": st.sampled_from(["", q.FILE]),
        "depth": st.sampled_from(list(Depth)),
        "max_attempts": st.integers(1, 4),
        "p1_threshold": st.integers(0, 3),
        "known": st.lists(
            st.builds(
                Known,
                finding=st.sampled_from([q.ALPHA, q.BETA, CRITICAL]),
                gate=st.sampled_from(["code", "plan"]),
                resolved=st.booleans(),
                accepted=st.booleans(),
            ),
            max_size=3,
        ).map(tuple),
    },
)


@settings(max_examples=150)
@given(st.data())
def test_a_random_walk_keeps_the_rules_and_uses_no_key_twice(data: st.DataObject) -> None:
    state = q.loop(**data.draw(PLANS))
    used: set[str] = set()
    for _ in range(60):
        (action,) = QUALITY.decide(state)
        letters = [*WHOLE.letters(action)]
        if not letters:
            return
        letter = data.draw(st.sampled_from(letters))
        after = q.play(state, letter)
        used.add(str(action.key))
        assert not used & set(q.keys(after))
        check_step(Step(state, letter, after))
        check_state(after)
        assert decode(QualityState, encode(after)) == after
        state = after


@settings(max_examples=100)
@given(st.data())
def test_a_cancel_and_new_limits_are_taken_anywhere_and_end_it_in_order(data: st.DataObject) -> None:
    state = q.loop()
    for _ in range(data.draw(st.integers(0, 25))):
        (action,) = QUALITY.decide(state)
        letters = [*WHOLE.letters(action)]
        if not letters:
            return
        state = q.play(state, data.draw(st.sampled_from(letters)))
        if where(state) != Station.DONE and data.draw(st.booleans()):
            changed = q.play(state, q.configured(max_attempts=data.draw(st.integers(1, 5)), p1_threshold=2))
            assert (where(changed), changed.rounds, q.keys(changed)) == (where(state), state.rounds, q.keys(state))
            state = changed
    if where(state) in (Station.DONE, Station.CLEAN_UP):
        return
    landing = where(state) == Station.LAND
    state = q.play(state, q.CANCEL)
    state = q.play(state, *([q.REFUSED] if landing else []), q.CLEANED)
    assert q.outcome(state).ending == "cancelled"
