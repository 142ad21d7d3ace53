"""A thousand simulated cycles: what was planted is found, and nothing else; where nothing was planted, nothing is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.loops.tickets.insights.categories import EXAMPLE, PLACE
from loopwright.loops.tickets.insights.cycle import Cycle, Gap, Try
from loopwright.loops.tickets.insights.data import CycleCost, document
from loopwright.loops.tickets.insights.learned import Insights, learned
from loopwright.loops.tickets.insights.patterns import LEVEL, Pattern
from loopwright.loops.tickets.insights.statistics import Count
from loopwright.loops.tickets.insights.text import summary
from loopwright.loops.tickets.state import Decision
from tests.rooms.tickets.insights.simulated_cycles import LOW_COVERAGE, LOW_SCORE, PLAIN, World, simulate

SEEDS = (1, 2)
CYCLES = 1000
EVERYTHING = World(
    slow_kind="security",
    weak_pair=("beta", "kim"),
    stubborn_gap="error handling",
    guided={EXAMPLE: 0.9, PLACE: 0.15},
    defects_of_low_scores=0.3,
    rescued=0.5,
)
ALL_FOUND = [
    ("kind", "security", "more"),
    ("gap", "error handling", "more"),
    ("guidance", EXAMPLE, "more"),
    ("guidance", PLACE, "less"),
    ("agents", "beta + kim", "more"),
    ("score", "score", "more"),
    ("limit", "more tickets", "more"),
]
PLANTED = {
    "a kind of requirement that needs more tickets": (World(slow_kind="security"), [("kind", "security", "more")]),
    "agents that do worse together": (World(weak_pair=("beta", "kim")), [("agents", "beta + kim", "more")]),
    "a gap in 40 % of the escalations": (World(stubborn_gap="types"), [("gap", "types", "more")]),
    "guidance that works": (World(guided={EXAMPLE: 0.9}), [("guidance", EXAMPLE, "more")]),
    "guidance that does not": (World(guided={PLACE: 0.1}), [("guidance", PLACE, "less")]),
    "low scores with 30 % later defects": (World(defects_of_low_scores=0.3), [("score", "score", "more")]),
    "new code that is hardly covered": (
        World(defects_of_low_coverage=0.3),
        [("coverage", "coverage of new code", "more")],
    ),
    "a high finding left open": (World(defects_with_high_open=0.3), [("severity", "an open high finding", "more")]),
    "a limit that is too low": (World(rescued=0.8), [("limit", "more tickets", "more")]),
    "a limit that is too high": (World(late_approval=0.01), [("limit", "fewer tickets", "less")]),
    "everything at once": (EVERYTHING, ALL_FOUND),
}


def named(found: Insights) -> list[tuple[str, str, str]]:
    return [(pattern.family, pattern.subject, pattern.side) for pattern in found.patterns]


@pytest.mark.unmeasured
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("what", PLANTED)
def test_what_was_planted_is_found_and_nothing_else(what: str, seed: int) -> None:
    world, expected = PLANTED[what]
    found = learned(simulate(world, CYCLES, seed))
    assert named(found) == expected
    assert len(found.proposals) == len(expected)


def test_a_limit_that_is_too_high_is_found() -> None:
    world, expected = PLANTED["a limit that is too high"]
    assert named(learned(simulate(world, CYCLES, SEEDS[0]))) == expected


@pytest.mark.unmeasured
@pytest.mark.parametrize("seed", range(10))
def test_where_nothing_was_planted_nothing_is_found(seed: int) -> None:
    found = learned(simulate(PLAIN, CYCLES, seed))
    assert (found.patterns, found.proposals) == ((), ())


@pytest.mark.parametrize("count", [3, 10, 30, 100])
def test_a_handful_of_cycles_does_not_lie(count: int) -> None:
    assert [named(learned(simulate(PLAIN, count, seed))) for seed in range(20)] == [[]] * 20


def test_the_figures_of_a_thousand_cycles_are_those_of_the_world() -> None:
    found = learned(simulate(replace(PLAIN, defects_of_low_scores=0.3), CYCLES, 1))
    assert found.cycles == CYCLES
    assert found.approved + found.escalated == Count(CYCLES, 2 * CYCLES)
    assert abs(found.escalated.share - 0.65**5) < 0.03
    chances = [0.35 * 0.65**at for at in range(5)]
    expected = sum(at * chance for at, chance in enumerate(chances, start=1)) / sum(chances)
    assert abs(found.spread.mean - expected) < 0.15
    assert found.spread.count == found.approved.hits == len(found.approvals)
    low, high = (
        sum((each.count for each in found.by_score if (each.low < LOW_SCORE) is below), Count(0, 0))
        for below in (True, False)
    )
    assert abs(low.share - 0.3) < 0.05
    assert abs(high.share - 0.05) < 0.03
    assert low + high == found.defects


def only(found: Insights) -> Pattern:
    (pattern,) = found.patterns
    return pattern


def test_a_persistent_gap_is_told_with_its_share_and_the_tickets_that_show_it() -> None:
    cycles = simulate(World(stubborn_gap="types"), CYCLES, 1)
    pattern = only(learned(cycles))
    shown = {ticket for cycle in cycles for ticket in (each.ticket for each in cycle.tries if not each.approved)}
    assert abs(pattern.own.share - 0.4) < 0.06
    assert len(pattern.evidence) == pattern.own.hits
    assert set(pattern.evidence) <= {ticket for ticket in shown if ticket.endswith("-005")}
    assert pattern.p <= LEVEL


def test_the_thresholds_that_were_planted_are_the_ones_proposed() -> None:
    score = learned(simulate(World(defects_of_low_scores=0.3), CYCLES, 1))
    assert (only(score).at, score.proposals[0].setting) == (LOW_SCORE, "roles.judge")
    coverage = learned(simulate(World(defects_of_low_coverage=0.3), CYCLES, 1))
    assert (only(coverage).at, coverage.proposals[0].setting) == (LOW_COVERAGE, "checks.coverage.new_code_floor")
    assert coverage.proposals[0].change == "set it to 70"


def test_where_chance_is_out_of_the_question_the_threshold_that_tells_most_is_taken() -> None:
    cycles = [
        replace(
            approved(f"s{at}-{number}", at=float(number)), tries=(tried(f"s{at}-{number}", 1, "APPROVE", score=score),)
        )
        for number, score in enumerate((0.65, 0.75, 0.85, 0.95))
        for at in range(1000)
    ]
    faulty = [each for cycle in cycles for each in cycle.tries if each.score < LOW_SCORE]
    mending = [Cycle(session=f"m{at}", at=9.0, defect_of=(each.ticket,)) for at, each in enumerate(faulty)]
    assert only(learned((*cycles, *mending))).at == LOW_SCORE


def test_guidance_is_compared_only_among_gaps_of_the_same_category() -> None:
    """Places are mostly named for gaps that stay anyway, examples mostly given for those that go anyway."""
    cycles = []
    for gap, form, left, count in (
        ("hard", PLACE, 9, 100),
        ("hard", EXAMPLE, 9, 10),
        ("easy", PLACE, 1, 10),
        ("easy", EXAMPLE, 1, 100),
    ):
        cycles += [_followed(f"{gap}-{form}-{at}", gap, form, stays=at % 10 < left) for at in range(count)]
    found = learned(tuple(cycles))
    assert named(found) == []
    shares = dict(found.guidance)
    assert shares[EXAMPLE].share > shares[PLACE].share + 0.5


def _followed(session: str, gap: str, form: str, *, stays: bool) -> Cycle:
    first = replace(tried(session, 1, "ROUTE_BACK"), gaps=(Gap(category=gap, guidance=form),))
    second = tried(session, 2, "ROUTE_BACK", *((gap,) if stays else ()))
    return Cycle(session=session, tries=(first, second), close="cancelled")


def test_what_a_person_helped_along_says_nothing_about_the_limit() -> None:
    helped = [replace(cycle, answers=("continue", "examples")) for cycle in simulate(World(rescued=0.8), CYCLES, 1)]
    assert named(learned(tuple(helped))) == []


def test_every_proposal_says_what_why_and_what_to_expect() -> None:
    found = learned(simulate(EVERYTHING, CYCLES, 1))
    assert [each.setting for each in found.proposals] == [
        "",
        "",
        "",
        "",
        "roles.creator",
        "roles.judge",
        "limits.tickets.max",
    ]
    assert found.proposals[-1].change == "set it to 6, from 5"
    assert all(each.change and each.because and each.expected and len(each.evidence) >= 3 for each in found.proposals)


# Small logs, by hand


def tried(session: str, number: int, decision: str, *gaps: str, **facts: float) -> Try:
    return Try(
        ticket=f"TICKET-{session}-{number:03}",
        number=number,
        decision=Decision(decision),
        accuracy=facts.get("accuracy", 0.5),
        score=facts.get("score", 0.5),
        gaps=tuple(Gap(category=gap) for gap in gaps),
    )


def stuck(session: str, *gaps: str, limit: int = 2) -> Cycle:
    sent_back = tuple(tried(session, at, "ROUTE_BACK", *gaps) for at in range(1, limit))
    tries = (*sent_back, tried(session, limit, "ESCALATE", *gaps))
    return Cycle(session=session, tries=tries, close="escalated", limit=limit, cost=1.0)


def approved(session: str, count: int = 1, **facts: object) -> Cycle:
    sent_back = tuple(tried(session, at, "ROUTE_BACK", "tests") for at in range(1, count))
    tries = (*sent_back, tried(session, count, "APPROVE", score=1.0))
    return replace(Cycle(session=session, tries=tries, close="approved", cost=0.5), **facts)  # type: ignore[arg-type]


def test_nothing_is_learned_from_nothing() -> None:
    found = learned(())
    assert (found.cycles, found.approved, found.cost_per_approved, found.over_time) == (0, Count(0, 0), None, ())
    assert found.patterns == ()


def test_sessions_under_way_and_those_without_a_ticket_are_not_counted() -> None:
    running = Cycle(session="r", tries=(tried("r", 1, "ROUTE_BACK"),))
    dropped = Cycle(session="d", close="cancelled")
    found = learned((running, dropped, approved("a")))
    assert (found.cycles, found.under_way, found.tickets) == (1, 1, 1)


def test_the_same_gap_in_every_one_of_a_few_escalations_stands_out() -> None:
    found = learned(tuple(stuck(f"s{at}", "tests") for at in range(5)))
    assert (only(found).subject, only(found).own) == ("tests", Count(5, 5))
    assert learned(tuple(stuck(f"s{at}", "tests") for at in range(2))).patterns == ()


def test_sessions_that_were_cancelled_on_the_way_do_not_make_their_kind_slow_nor_the_limit_high() -> None:
    dropped = [replace(stuck(f"d{at}"), kinds=("data",)) for at in range(200)]
    dropped = [replace(cycle, tries=cycle.tries[:1] * 3, close="cancelled") for cycle in dropped]
    good = [approved(f"a{at}", kinds=("security",)) for at in range(200)]
    assert named(learned((*dropped, *good))) == []


def test_a_gap_that_a_check_could_find_speaks_for_that_check() -> None:
    (proposal,) = learned(tuple(stuck(f"s{at}", "types") for at in range(6))).proposals
    assert proposal.setting == "checks.typecheck"


def test_a_gap_persists_where_it_is_open_in_half_of_the_tickets_and_twice() -> None:
    tries = (
        tried("s", 1, "ROUTE_BACK", "tests", "types"),
        tried("s", 2, "ROUTE_BACK", "tests", "lint"),
        tried("s", 3, "ROUTE_BACK"),
        tried("s", 4, "ESCALATE", "lint", "build"),
    )
    found = learned((Cycle(session="s", tries=tries, close="escalated"),))
    rows = {row.category: (row.tickets, row.gone, row.escalations) for row in found.gaps}
    assert rows == {
        "build": (1, Count(0, 0), Count(0, 1)),
        "lint": (2, Count(1, 1), Count(1, 1)),
        "tests": (2, Count(1, 2), Count(1, 1)),
        "types": (1, Count(1, 1), Count(0, 1)),
    }


def test_with_a_limit_of_one_ticket_its_gaps_are_those_that_persist() -> None:
    found = learned((stuck("s", "tests", limit=1),))
    assert found.gaps[0].escalations == Count(1, 1)


def test_a_session_that_was_split_has_an_approval_for_each_part() -> None:
    tries = tuple(
        tried("s", at, decision)
        for at, decision in enumerate(("ROUTE_BACK", "APPROVE", "ROUTE_BACK", "ROUTE_BACK", "APPROVE"), start=1)
    )
    found = learned((Cycle(session="s", tries=tries, close="approved", cost=4.0),))
    assert found.spread.distribution == ((2, 1), (3, 1))
    assert (found.cost_per_approved, found.approved) == (2.0, Count(1, 1))


def test_what_failed_is_paid_for_by_what_was_approved() -> None:
    found = learned((approved("a"), stuck("b"), stuck("c")))
    assert (found.cost, found.cost_per_approved, found.estimated) == (2.5, 2.5, False)


def test_a_guess_in_one_cycle_makes_guesses_of_the_figures() -> None:
    found = learned((approved("a"), approved("b", estimated=True)))
    assert summary(found) == "2 cycles with 2 tickets; ~$1.00 spent, ~$0.50 for each approved ticket."
    assert document(found).cost == CycleCost(usd=1.0, estimated=True, usd_per_approved_ticket=0.5)


def test_an_escalated_session_that_was_approved_in_the_end_is_both() -> None:
    tries = (*stuck("s", "tests").tries, tried("s", 3, "APPROVE"))
    found = learned((Cycle(session="s", tries=tries, close="approved", limit=2, answers=("continue",)),))
    assert (found.approved, found.escalated, found.mended) == (Count(1, 1), Count(1, 1), Count(1, 1))


def test_a_later_session_that_names_a_ticket_as_its_origin_is_a_defect_of_it() -> None:
    old = approved("old", 2, at=1.0)
    later = (
        Cycle(session="fix", at=2.0, defect_of=("TICKET-old-002",)),
        Cycle(session="again", at=3.0, defect_of=("TICKET-old-001", "TICKET-old-002")),  # both mean the approved one
        Cycle(session="earlier", at=0.5, defect_of=("TICKET-old-002",)),
        Cycle(session="elsewhere", at=2.0, defect_of=("TICKET-unknown-001",)),
        Cycle(session="of-none", at=2.0, defect_of=("TICKET-failed-002",)),
    )
    found = learned((old, stuck("failed"), *later))
    assert [(each.ticket.ticket, each.defects) for each in found.approvals] == [("TICKET-old-002", ("fix", "again"))]
    assert found.defects == Count(1, 1)


def test_scores_are_binned_with_the_perfect_ones_apart() -> None:
    cycles = [
        replace(approved(f"s{at}"), tries=(tried(f"s{at}", 1, "APPROVE", score=score),))
        for at, score in enumerate((0.0, 0.49, 0.5, 0.95, 1.0, 1.0))
    ]
    assert [(each.label, each.count.total) for each in learned(tuple(cycles)).by_score] == [
        ("0.0-0.5", 2),
        ("0.5-0.6", 1),
        ("0.9-1.0", 1),
        ("1.0", 2),
    ]


def test_over_time_each_block_has_about_as_many_cycles() -> None:
    found = learned(tuple(approved(f"s{at}", at=float(at)) for at in range(61)))
    assert [count.total for _, count in found.over_time] == [5, 5, 5, 5, 5, 5, 6, 5, 5, 5, 5, 5]
    assert found.over_time[-1][0] == 60.0
    assert len(learned(tuple(approved(f"s{at}") for at in range(4))).over_time) == 1


def test_the_columns_have_no_holes_and_very_long_sessions_share_one() -> None:
    assert learned((approved("a"), approved("b", 3))).spread.columns == (("1", 1), ("2", 0), ("3", 1))
    found = learned((approved("a"), approved("b", 10), approved("c", 30)))
    assert found.spread.columns == (("1", 1), *((str(at), 0) for at in range(2, 10)), ("10 or more", 2))


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_the_same_cycles_in_another_order_teach_the_same(seed: int, count: int) -> None:
    cycles = simulate(EVERYTHING, count, seed)
    one, other = learned(cycles), learned(tuple(reversed(cycles)))
    assert (one.approved, one.spread, one.kinds, one.guidance, one.by_score) == (
        (other.approved, other.spread, other.kinds, other.guidance, other.by_score)
    )
    assert named(one) == named(other)
