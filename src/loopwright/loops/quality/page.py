"""`docs/loops/quality.md`: the quality loop as its machine has it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.model import Commit, Verdict
from loopwright.loops import diagrams
from loopwright.loops.course import Station, where
from loopwright.loops.diagrams import Walk
from loopwright.loops.quality import seed_states, verdict
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.seed_states import VERDICTS
from loopwright.loops.quality.state import Depth, Gate, QualityParams, QualityPhase, QualityState, Round, tokens
from loopwright.loops.reviewed import QualityLimits
from loopwright.loops.samples import RECORDED

_MOST = 3  # reviews after which nothing new can happen under the limits used here
_LIMITS = QualityLimits(max_attempts=_MOST)
_SAMPLE = QualityParams(
    artifact="sample", base=Commit("b"), story="sample", limits=_LIMITS, firm=True, accepts_checked=True
)
_INTRO = (
    "A reviewer judges one artifact at a gate. What blocks goes to a creator, who fixes it, and the reviewer looks"
    " again. An attempt is one review: with three attempts there are at most three reviews and two fixes. The loop ends"
    " with the artifact passed, or asks a person when the attempts are used up."
)
_ABOUT_SEED = (
    "The same machine in the states it was built after, found by walking it with ordinary answers. There is one"
    " difference to the original: there the attempt is counted after the fix, so that the fix after the last review"
    " is seen by nobody. Here the review counts it: at the last attempt Review goes to Blocked, and no fix is asked"
    " for that no review would see. Findings are persisted on the way to the person as well."
)
_ABOUT_MOVES = (
    "Each line is what the machine did when it was tried. Several states are named where it depends on the reviews"
    " used, on whether the step was tried before, or on whether there is anything to land."
)
_ABOUT_HAND_OVER = (
    "At the gates plan, test, code and quality the findings are in the creator's brief. At design and story, and in"
    " every batch, they are in the file `X.quality.yml` beside the artifact, in the creator's workspace, and nowhere"
    " else. You find the same under `.loop/quality` while the artifact is blocked, or beside it with `[quality] beside"
    " = true`. A file of that name that is not ours is neither replaced nor removed. Of a fix only the artifact, the"
    " files that findings name and test files it adds are taken. All findings, the resolved ones too, are in"
    " `.loop/stories/<id>/handoff.yml`."
)


def page(batch: str) -> str:
    """With the section about its batch."""
    walk = quality_walk()
    found = diagrams.explored(walk)
    parts = (
        "# The quality loop",
        diagrams.GENERATED,
        _INTRO,
        diagrams.diagram(walk, found.moves),
        "## Limits",
        _limits_table(QualityLimits()),
        "## The verdict",
        "\n".join(f"{number}. {rule}" for number, rule in enumerate(verdict.RULES, start=1)),
        _floors(),
        _tokens_table(),
        _ABOUT_HAND_OVER,
        "## The state machine",
        _ABOUT_SEED,
        _seed_table(),
        _phases(),
        "## Moves",
        _ABOUT_MOVES,
        diagrams.moves_table(found.moves),
        f"{diagrams.cancelled_in(walk, found)} {diagrams.ONE_OF_BOTH}",
        batch,
    )
    return "\n\n".join(parts) + "\n"


# --- walks --------------------------------------------------------------------------------------


def quality_walk() -> Walk[QualityParams, QualityState]:
    return Walk(
        loop=QUALITY,
        phases=(*QualityPhase, *(each for each in Station if each is not Station.GATE)),
        starts=tuple(
            QUALITY.start(replace(_SAMPLE, lands=lands, checked=checked))
            for lands, checked in ((True, False), (True, True), (False, False))
        ),
        shape=_shape,
        within=lambda state: len(state.rounds) <= _MOST,
        when=_when,
        verdicts=VERDICTS,
    )


def _when(state: QualityState, when: str) -> str:
    """What is put on record is the verdict."""
    if when != RECORDED:
        return when
    side = 0 if state.rounds[-1].verdict is Verdict.PASS else 1
    return f"{_both_tokens(side)} {RECORDED}"


def _shape(state: QualityState) -> tuple[object, ...]:
    last = state.rounds[-1] if state.rounds else None
    course, trial = state.course, state.course.trial
    return (
        where(state),
        (state.plan.lands, state.plan.checked, state.verified),
        (len(state.rounds), state.allowance > len(state.rounds)),
        (last.verdict, last.judged, bool(last.findings), last.unchanged) if last else (),
        (trial.respawned, trial.repaired, trial.until is None),
        state.changed,
        (course.accepted, course.cancel is None, state.red is None),
    )


# --- tables -------------------------------------------------------------------------------------


def _seed_table() -> str:
    rows = [(row.begin, row.when, row.end) for row in seed_states.rows()]
    return diagrams.table(("from", "event or guard", "to"), rows)


def _limits_table(limits: QualityLimits) -> str:
    rows = [
        ("`max_attempts`", str(limits.max_attempts), "reviews of one artifact; then a person is asked"),
        ("`p1_threshold`", str(limits.p1_threshold), "high findings that do not block; one more does"),
    ]
    return diagrams.table(("`[limits.quality]`", "default", "means"), rows)


def _floors() -> str:
    first, second, third = (verdict.counts_from(_after(count)).value for count in (0, 1, 2))
    said = f"{first} up in the first review, from {second} up in the second, and {third} from the third on"
    return (
        f"New findings count from {said}. What does not count is recorded as deferred and shown. New guidance by a"
        " person (`revise`) starts this anew."
    )


def _after(count: int) -> QualityState:
    """A loop that has seen so many reviews."""
    made = (
        Round(number=number, commit=_SAMPLE.base, verdict=Verdict.FAIL, line="", why="")
        for number in range(1, count + 1)
    )
    return replace(QUALITY.start(_SAMPLE), number=count + 1, rounds=tuple(made))


def _tokens_table() -> str:
    rows = [(gate.value, *(_pair(gate, depth) for depth in Depth)) for gate in Gate]
    return diagrams.table(("gate", *(f"{depth.value} depth" for depth in Depth)), rows)


def _pair(gate: Gate, depth: Depth) -> str:
    passed, blocked = tokens(replace(_SAMPLE, gate=gate, depth=depth))
    return f"{passed} / {blocked}"


def _both_tokens(side: int) -> str:
    return " or ".join(tokens(replace(_SAMPLE, depth=depth))[side] for depth in Depth)


def _phases() -> str:
    said = "; ".join(f"{state} is {', then '.join(phases)}" for state, phases in seed_states.phases().items())
    return f"{said}."
