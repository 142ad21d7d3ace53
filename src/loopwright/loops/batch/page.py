"""The section about a batch in `docs/loops/quality.md`, as its machine has it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.model import Commit
from loopwright.loops import diagrams
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchArtifact, BatchParams, BatchPhase, BatchState
from loopwright.loops.course import Station, where
from loopwright.loops.diagrams import Walk
from loopwright.loops.reviewed import QualityLimits

_MOST = 2  # rounds after which nothing new can happen under the limits used here
_STATIONS = (Station.LAND, Station.ESCALATED, Station.CLEAN_UP, Station.DONE)
_ABOUT_BATCH = (
    "Several artifacts are reviewed at once, each in a quality loop of its own. A round reviews all that are pending,"
    " then fixes all that are blocked; those that passed leave it. The batch itself knows one line of each. What passed"
    " is landed together before a person is asked about the rest."
)
_ABOUT_BATCH_LANDING = "In LAND what has passed is still landed, and then the rest is cancelled."
_ABOUT_BATCH_MOVES = "Several states are named where it depends on the other artifacts."


def section() -> str:
    batch = batch_walk()
    together = diagrams.explored(batch)
    parts = (
        "## A batch",
        _ABOUT_BATCH,
        diagrams.diagram(batch, together.moves),
        _ABOUT_BATCH_MOVES,
        diagrams.moves_table(together.moves),
        f"{diagrams.cancelled_in(batch, together)} {_ABOUT_BATCH_LANDING}",
    )
    return "\n\n".join(parts)


def batch_walk() -> Walk[BatchParams, BatchState]:
    artifacts = tuple(BatchArtifact(path=path) for path in ("one", "other"))
    limits = QualityLimits(max_attempts=_MOST)
    params = BatchParams(artifacts=artifacts, shared="{}", base=Commit("b"), limits=limits, checked=True)
    params = replace(params, firm=True, accepts_checked=True)
    return Walk(
        loop=BATCH,
        phases=(
            BatchPhase.REVIEW,
            BatchPhase.FIX,
            BatchPhase.COMBINE,
            BatchPhase.CHECK,
            BatchPhase.VERIFY,
            *_STATIONS[:2],
            BatchPhase.CANCEL,
            *_STATIONS[2:],
        ),
        starts=(BATCH.start(params),),
        shape=_shape,
        within=lambda state: state.round <= _MOST,
        when=lambda _state, when: when,
    )


def _shape(state: BatchState) -> tuple[object, ...]:
    course = state.course
    return (
        where(state),
        (state.round, state.todo, state.landed, state.adding, state.good, state.blameless),
        tuple((item.standing, item.at, item.over) for item in state.items),
        state.order.choice if state.order else "",
        bool(state.onto),
        (course.accepted, course.cancel is None, state.red is None),
    )
