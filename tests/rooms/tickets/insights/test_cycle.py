from dataclasses import replace

import pytest

from loopwright.kernel.model import CheckResult, Coverage, LoopId
from loopwright.kernel.record import Record
from loopwright.loops.tickets.insights.categories import category, guidance_form
from loopwright.loops.tickets.insights.cycle import Cycle, Gap, Try, cycle_of, session_of
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.state import Criterion, Decision, TicketParams
from tests.rooms.tickets.stories import (
    APPROVED,
    AT,
    GREEN,
    PARAMS,
    ROUTED_BACK,
    SEED,
    STORIES,
    TWICE,
    Step,
    Story,
    announced,
    answered,
    cancelled,
    checked,
    cleaned_up,
    criticised,
    kept,
    landed,
    made,
    played,
)


def reduced(story: Story, *, spent: float = 0.0, created: float = AT) -> Cycle:
    return cycle_of(story.state, story.records, cost=spent, at=created)


def test_a_session_is_reduced_to_what_can_be_learned_from_it() -> None:
    first = Try(
        ticket="TICKET-session-001",
        number=1,
        decision=Decision.ROUTE_BACK,
        accuracy=STORIES["approved"].state.past[0].accuracy,
        score=STORIES["approved"].state.past[0].score,
        trend="first",
        gaps=(
            Gap(category="correctness", guidance="place"),
            Gap(category="security", guidance="none"),
            Gap(category="test coverage", guidance="none"),
            Gap(category="tests", guidance="failing checks"),
        ),
        creator="alpha",
        critics=("gamma",),
        new_coverage=25.0,
        open_high=True,
    )
    second = Try(
        ticket="TICKET-session-002",
        number=2,
        decision=Decision.APPROVE,
        accuracy=1.0,
        score=1.0,
        trend="improving",
        creator="beta",
        critics=("gamma",),
    )
    assert reduced(STORIES["approved"], spent=1.5) == Cycle(
        session="session",
        kinds=("error handling", "other"),
        tries=(first, second),
        close="approved",
        limit=5,
        cost=1.5,
        at=AT,
    )


ENDINGS: dict[str, tuple[tuple[Step, ...], TicketParams]] = {
    "under way": (ROUTED_BACK, PARAMS),
    "approved": ((*APPROVED, landed), PARAMS),
    "escalated": ((*ROUTED_BACK, *ROUTED_BACK), TWICE),
    "accepted": ((*ROUTED_BACK, *ROUTED_BACK, answered("accept"), landed), TWICE),
    "cancelled": ((*ROUTED_BACK, cancelled, cleaned_up), PARAMS),
}


@pytest.mark.parametrize("close", ENDINGS)
def test_how_a_session_closed(close: str) -> None:
    steps, params = ENDINGS[close]
    assert reduced(played(*steps, params=params)).close == close


def test_what_a_coordinator_answered_and_the_examples_they_gave() -> None:
    cycle = reduced(
        played(*ROUTED_BACK, *ROUTED_BACK, answered("examples", "do it like this"), *ROUTED_BACK, params=TWICE)
    )
    assert cycle.answers == ("examples",)
    assert [{gap.guidance for gap in each.gaps} for each in cycle.tries[1:]] == [
        {"a person's examples"},
        {"failing checks", "none", "place"},
    ]
    assert cycle.escalated


def test_an_agent_without_a_name_is_nobody() -> None:
    anonymous = (made("wrote it", ""), kept("a.py"), criticised(), checked(*GREEN), announced)
    (only,) = reduced(played(*anonymous)).tries
    assert (only.creator, only.critics, only.pair) == ("", ("gamma",), "")
    assert reduced(STORIES["approved"]).tries[0].pair == "alpha + gamma"


def test_a_record_that_cannot_be_read_teaches_nothing_and_hides_nothing() -> None:
    story = STORIES["approved"]
    broken = Record(loop=LoopId("x"), seq=99, at=AT, kind="AgentReported", data='{"key": 3}')
    assert cycle_of(story.state, (broken, *story.records), cost=0.0, at=AT) == reduced(story)


def test_coverage_of_new_code_is_known_only_where_new_lines_were_counted() -> None:
    counted = CheckResult(name="coverage", passed=True, coverage=Coverage(covered=9, total=10))
    none_new = (made("a"), kept("a.py"), criticised(), checked(*GREEN, counted), announced)
    assert reduced(played(*none_new)).tries[0].new_coverage is None


def test_the_seeds_own_example_has_its_gaps_by_requirement() -> None:
    (first,) = cycle_of(SEED, (), cost=0.0, at=AT).tries
    assert first.gaps == (
        Gap(category="error handling", guidance="none"),
        Gap(category="lint", guidance="none"),
        Gap(category="test coverage", guidance="place"),
    )


def test_a_session_without_criteria_is_of_the_kind_of_its_title() -> None:
    story = played(params=replace(PARAMS, criteria=(), title="Speed up the latency of reads"))
    assert reduced(story).kinds == ("performance",)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("defect of TICKET-pay-002", ("TICKET-pay-002",)),
        ("defect_of: TICKET-pay-orders-002, regression from `TICKET-a-001`", ("TICKET-pay-orders-002", "TICKET-a-001")),
        ("Bug in TICKET-pay-002. Defect of TICKET-pay-002.", ("TICKET-pay-002",)),
        ("builds on TICKET-pay-002", ()),
        ("defect of TICKET-session-001", ()),
        ("defect of ticket 7", ()),
    ],
)
def test_a_session_names_the_ticket_whose_defect_it_mends(text: str, named: tuple[str, ...]) -> None:
    for field in ("title", "what", "context"):
        params = replace(PARAMS, **{field: text})  # type: ignore[arg-type]
        assert reduced(played(params=params)).defect_of == named


def test_the_session_of_a_ticket() -> None:
    assert session_of("TICKET-pay-orders-002") == "pay-orders"


@pytest.mark.parametrize(
    ("said", "text", "expected"),
    [
        ("Error_Handling", "x", "error handling"),
        ("", "Passwords are hashed", "security"),
        ("", "80% line coverage", "test coverage"),
        ("", "unit tests for parse()", "tests"),
        ("", "Build", "build"),
        ("", "The latest news", "other"),
        ("\x1b[31m" + "x" * 50, "", "\\x1b[31m" + "x" * 32),
    ],
)
def test_the_category_of_a_gap(said: str, text: str, expected: str) -> None:
    assert category(said, text) == expected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (" ", "none"),
        ("make these pass: test_a", "failing checks"),
        ("Name it well, for example `total`", "example"),
        ("See src/a.py:12", "place"),
        ("Add tests for handleTimeout()", "place"),
        ("Try harder", "general"),
    ],
)
def test_the_sort_of_guidance(text: str, form: str) -> None:
    assert guidance_form(text) == form


def test_the_limit_is_the_one_the_session_began_with() -> None:
    params = replace(PARAMS, limits=TicketLimits(max=3), criteria=(Criterion(id="AC-1", text="works"),))
    story = played(params=params)
    assert reduced(story).limit == 3
