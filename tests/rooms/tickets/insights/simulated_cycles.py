"""Ticket cycles as a world of our own making would give them, with or without patterns planted in it.

Everything is drawn from one seeded generator: the same seed gives the same cycles.
"""

from dataclasses import dataclass, field, replace
from random import Random

from loopwright.loops.tickets.insights.categories import EXAMPLE, GENERAL, NO_GUIDANCE, PLACE
from loopwright.loops.tickets.insights.cycle import Cycle, Gap, Try
from loopwright.loops.tickets.state import Decision

KINDS = ("data", "interface", "performance", "security")
TYPES = ("development", "documentation")
GAPS = ("build", "documentation", "error handling", "interface", "performance", "security", "tests", "types")
FORMS = (EXAMPLE, GENERAL, NO_GUIDANCE, PLACE)
PAIRS = (("alpha", "judy"), ("alpha", "kim"), ("beta", "judy"), ("beta", "kim"))
LIMIT = 5
DAY = 86_400.0
BEGINNING = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How things are. As it stands nothing is any different from anything else."""

    approval: float = 0.35  # of each ticket
    slow_kind: str = ""  # a kind of requirement with half the chance of approval
    weak_pair: tuple[str, str] = ("", "")  # agents with half the chance of approval
    stubborn_gap: str = ""  # persists in `stubborn` of the escalations, whatever is done
    stubborn: float = 0.4
    goes: float = 0.5  # the chance that a gap is gone with the next ticket
    guided: dict[str, float] = field(default_factory=dict)  # by the sort of guidance, where that matters
    defects: float = 0.05  # of approvals
    defects_of_low_scores: float = 0.05
    defects_of_low_coverage: float = 0.05
    defects_with_high_open: float = 0.05
    rescued: float = 0.0  # share of the escalated that a person lets go on; most of them are approved
    late_approval: float | None = None  # of tickets after the second, where that differs


PLAIN = World()
LOW_SCORE, LOW_COVERAGE = 0.8, 70.0


def simulate(world: World, count: int, seed: int) -> tuple[Cycle, ...]:
    draw = Random(seed)  # noqa: S311 - a simulation, no secret
    cycles = [_cycle(world, draw, number) for number in range(count)]
    return (*cycles, *_repairs(world, draw, cycles))


def _cycle(world: World, draw: Random, number: int) -> Cycle:
    kinds = tuple(sorted(draw.sample(KINDS, draw.choice((1, 2)))))
    pair = draw.choice(PAIRS)
    chance = world.approval * (0.4 if world.slow_kind in kinds else 1) * (0.4 if pair == world.weak_pair else 1)
    session = f"s{number:04}"
    stuck = world.stubborn_gap if draw.random() < world.stubborn else ""
    tries = _tries(world, draw, chance, session, stuck)
    answers: tuple[str, ...] = ()
    if not tries[-1].approved and draw.random() < world.rescued:
        answers, tries = ("continue",), _gone_on(draw, tries)
    return Cycle(
        session=session,
        cycle_type=draw.choice(TYPES),
        kinds=kinds,
        tries=tuple(replace(each, creator=pair[0], critics=pair[1:]) for each in tries),
        close="approved" if tries[-1].approved else "escalated",
        limit=LIMIT,
        cost=round(0.5 * len(tries) + draw.random(), 2),
        at=BEGINNING + number * DAY / 4,
        answers=answers,
    )


def _tries(world: World, draw: Random, chance: float, session: str, stuck: str) -> list[Try]:
    tries: list[Try] = []
    while len(tries) < LIMIT and not (tries and tries[-1].approved):
        late = world.late_approval if len(tries) > 1 else None
        approved = draw.random() < (chance if late is None else late)
        gaps = () if approved else _gaps(world, draw, tries[-1].gaps if tries else ())
        tries.append(_try(draw, session, len(tries) + 1, gaps, approved=approved))
    if stuck and not tries[-1].approved:
        tries = [
            replace(each, gaps=_with(each.gaps, Gap(category=stuck, guidance=draw.choice(FORMS)))) for each in tries
        ]
    return tries


def _with(gaps: tuple[Gap, ...], gap: Gap) -> tuple[Gap, ...]:
    return (*(each for each in gaps if each.category != gap.category), gap)


def _gaps(world: World, draw: Random, before: tuple[Gap, ...]) -> tuple[Gap, ...]:
    """What is left of the gaps before, and a new one now and then."""
    left = [gap.category for gap in before if draw.random() > world.guided.get(gap.guidance, world.goes)]
    usual = [name for name in GAPS if name not in (world.stubborn_gap, *(gap.category for gap in before))]
    new = [name for name in usual if draw.random() < 0.1]
    return tuple(Gap(category=name, guidance=draw.choice(FORMS)) for name in sorted({*left, *new}))


def _try(draw: Random, session: str, number: int, gaps: tuple[Gap, ...], *, approved: bool) -> Try:
    last = Decision.ESCALATE if number >= LIMIT else Decision.ROUTE_BACK
    return Try(
        ticket=f"TICKET-{session}-{number:03}",
        number=number,
        decision=Decision.APPROVE if approved else last,
        accuracy=round(draw.uniform(0.6, 1.0) if approved else draw.uniform(0.0, 0.9), 2),
        score=round(draw.uniform(0.6, 1.0) if approved else draw.uniform(0.0, 0.9), 2),
        gaps=gaps,
        new_coverage=round(draw.uniform(40, 100), 1),
        open_high=approved and draw.random() < 0.3,
    )


def _gone_on(draw: Random, tries: list[Try]) -> list[Try]:
    number = len(tries) + 1
    return [*tries, _try(draw, tries[0].ticket[7:-4], number, (), approved=draw.random() < 0.9)]


def _repairs(world: World, draw: Random, cycles: list[Cycle]) -> list[Cycle]:
    """For each approved ticket with a defect, a later session that names it and is approved at once."""
    good = [cycle for cycle in cycles if cycle.approved]
    faulty = [cycle.tries[-1] for cycle in good if draw.random() < _defects(world, cycle.tries[-1])]
    later = BEGINNING + len(cycles) * DAY / 4
    return [
        Cycle(session=f"repair-{number}", close="under way", at=later, defect_of=(ticket.ticket,))
        for number, ticket in enumerate(faulty)
    ]


def _defects(world: World, ticket: Try) -> float:
    chances = [world.defects]
    if ticket.score < LOW_SCORE:
        chances.append(world.defects_of_low_scores)
    if ticket.new_coverage is not None and ticket.new_coverage < LOW_COVERAGE:
        chances.append(world.defects_of_low_coverage)
    if ticket.open_high:
        chances.append(world.defects_with_high_open)
    return max(chances)
