"""`docs/loops/lifecycle.md`: the lifecycle of a system as its machine has it."""

from __future__ import annotations

from loopwright.kernel.changing import replace
from loopwright.kernel.model import Commit, LoopId
from loopwright.kernel.risks import GateRule
from loopwright.loops import diagrams
from loopwright.loops.course import Ruling, Station
from loopwright.loops.diagrams import DrawnMove, Walk
from loopwright.loops.lifecycle.failures import SEVERITIES
from loopwright.loops.lifecycle.gating import WHY
from loopwright.loops.lifecycle.limits import LifecycleLimits
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.matrix import MATRIX
from loopwright.loops.lifecycle.skills import in_order
from loopwright.loops.lifecycle.state import Earlier, LifecycleParams, LifecycleState, SystemFacts
from loopwright.loops.lifecycle.states import NORMAL, Stage
from loopwright.loops.samples import BLOCKED_IT, FINDS, PASSED_IT, PASSES

_SAMPLE = LifecycleParams(
    system=SystemFacts(id="sys-001", name="sample"),
    domain="sample",
    base=Commit("b"),
    branch="feature/sample",
    workspace="sample",
    queue=LoopId("q"),
    capabilities=("one",),
    checks=("build", "test"),
    limits=LifecycleLimits(max_retries=1, max_same_error=1, max_total_failures=2),
    mode="autonomous",
    review='{"each": {}, "all": {}}',
    deploy=("true",),
    rules=(GateRule(gate="external", name="sample"),),
)
_WITH_ANOTHER = replace(_SAMPLE, earlier=Earlier(stage=Stage.VERIFY, current="one", remaining=("two",)))
_INTRO = (
    "One system from its claim to COMPLETE. A state is left in this order: its skills are done or skipped with a"
    " reason, its checks pass, its gates are open, what was made has landed on the system's branch. IMPLEMENT, TEST and"
    " VERIFY are gone through for every capability."
)
_ABOUT_FAILURES = (
    "What does not pass leads to FAILED. From there a diagnosis and a targeted fix are tried in RETRY: the check that"
    " failed runs first, then the whole suite. A security finding and what hangs are never tried again by themselves;"
    " a dependency that is away is waited for 1, 2, 4, 8 and 16 seconds and not counted."
)
_ABOUT_GATES = (
    "A gate is due before the state is left in which the change calls for it; deploy before anything is merged. An"
    " approval is bound to what called for it, that of deploy to the whole tree. A no leads back to IMPLEMENT."
)
_ABOUT_MOVES = (
    "Each line is what the machine did when it was tried with few capabilities and low limits. Moves within a state are"
    " left out, and so are those that a person makes by editing the state."
)


def page() -> str:
    walk = lifecycle_walk()
    found = diagrams.explored(walk)
    moves = tuple(move for move in found.moves if move.phase != move.to)
    parts = (
        "# The lifecycle of a system",
        diagrams.GENERATED,
        _INTRO,
        diagrams.diagram(walk, _arrows(moves)).replace("DONE -->", "COMPLETE -->"),
        diagrams.table(("state", "skills, in order", "is left with"), _stages()),
        "## Failures",
        _ABOUT_FAILURES,
        diagrams.table(("`[limits.lifecycle]`", "default", "means"), _limits()),
        diagrams.table(("sort", "severity"), [(sort, severity.value) for sort, severity in SEVERITIES.items()]),
        "## Gates",
        _ABOUT_GATES,
        diagrams.table(("gate", "for"), list(WHY.items())),
        "## Moves",
        _ABOUT_MOVES,
        diagrams.moves_table(moves),
        diagrams.cancelled_in(walk, found),
    )
    return "\n\n".join(parts) + "\n"


def _arrows(moves: tuple[DrawnMove, ...]) -> tuple[DrawnMove, ...]:
    """Of the diagram: which state follows which. The table says by what."""
    return tuple(DrawnMove(phase=move.phase, asks="", when=_kind_of_move(move), to=move.to) for move in moves)


_FAILING = {Stage.FAILED: "fails", Stage.RETRY: "tried again", Stage.BLOCKED: "needs a person"}


def _kind_of_move(move: DrawnMove) -> str:
    if move.asks == "a person" or move.when == "changes are asked for":
        return "a person"
    if move.phase in NORMAL and move.to in NORMAL:
        return "done, checked, approved"
    return _FAILING.get(Stage(move.to), "goes on")


def _stages() -> list[tuple[str, ...]]:
    return [(stage, ", ".join(in_order(stage)), ", ".join(MATRIX[stage]) or "-") for stage in NORMAL]


def _limits() -> list[tuple[str, str, str]]:
    limits = LifecycleLimits()
    return [
        ("`max_retries`", str(limits.max_retries), "retries of one failure; another one begins its own count"),
        ("`max_same_error`", str(limits.max_same_error), "retries of the very same failure"),
        ("`max_total_failures`", str(limits.max_total_failures), "failures of the system in all"),
    ]


def lifecycle_walk() -> Walk[LifecycleParams, LifecycleState]:
    return Walk(
        loop=LIFECYCLE,
        phases=(*Stage, *Station),
        starts=(LIFECYCLE.start(_SAMPLE), LIFECYCLE.start(_WITH_ANOTHER)),
        shape=_shape,
        within=lambda _state: True,  # of every shape there are few
        when=lambda _state, when: when,
        verdicts={PASSES: PASSED_IT, FINDS: BLOCKED_IT},
    )


def _shape(state: LifecycleState) -> tuple[object, ...]:
    course, trial = state.course, state.course.trial
    gates = tuple(sorted({gate.gate for gate in course.gates if gate.due and gate.ruling is Ruling.OPEN}))
    return (
        (state.phase, state.step, course.station, state.heading.to, course.outcome and course.outcome.ending),
        (len(state.skills), len(state.remaining), state.resumes_at, state.blocked is not None, gates),
        (state.checked == state.tip, state.looked == state.tip, bool(state.merged)),
        (bool(state.failure), state.maker.over, state.reviews.over),
        (trial.respawned or trial.repaired, trial.held, trial.until is None),
    )
