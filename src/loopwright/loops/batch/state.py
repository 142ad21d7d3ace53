"""What a batch remembers: for each artifact one line, where its own loop stands, and nothing of its findings."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, Integrated
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Commit, Ending, Finding, Key, LoopId, Outcome, Part, Point
from loopwright.kernel.trust import Trust
from loopwright.loops.accepting import ShownRed
from loopwright.loops.course import Course, done, with_decisions
from loopwright.loops.kind import LandedPart
from loopwright.loops.reviewed import EarlierPass, QualityLimits

CHILD = "quality"
NOT_LANDED = Integrated(key=NO_KEY, branch="", commit=NO_COMMIT)


def before_review(number: int) -> Point:
    """Where a child waits for the others after its fix."""
    return Point("LOAD_ARTIFACTS", number)


def before_fix(number: int) -> Point:
    """Where a child waits for the others after its review."""
    return Point("FIX", number)


class BatchPhase(StrEnum):
    REVIEW = "REVIEW"
    FIX = "FIX"
    COMBINE = "COMBINE"
    CHECK = "CHECK"
    VERIFY = "VERIFY"
    CANCEL = "CANCEL"


class ArtifactStanding(StrEnum):
    PENDING = "pending"  # to be reviewed
    BLOCKED = "blocked"  # to be fixed
    PASSED = "passed"
    STUCK = "stuck"  # only a person can help
    CONFLICT = "conflict"  # its fix does not go together with the others, and nobody can make it anew
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchArtifact:
    """One artifact and what its loop is given besides what all are given, as JSON."""

    path: str
    own: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchParams:
    artifacts: tuple[BatchArtifact, ...]
    shared: str  # JSON: what every child is given
    base: Commit
    limits: QualityLimits = QualityLimits()
    width: int = 8  # children under way at once; how many agents work at once is the engine's to bound
    target: str = ""
    branch: str = ""
    merge: bool = False
    checked: bool = False
    trust: Trust = Trust()
    firm: bool = False  # what lands is checked, merged or not; a batch that began before that lands as it did
    accepts_checked: bool = False  # so is what a person accepts; the same


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchItem:
    path: str
    standing: ArtifactStanding = ArtifactStanding.PENDING
    at: Point = before_review(1)
    line: str = ""  # `TOKEN: artifact`, or why it is stuck
    attempts: int = 0
    commit: Commit = NO_COMMIT  # the result, once it passed or was accepted
    asking: Key = NO_KEY
    loop: LoopId = LoopId("")
    over: bool = False  # its loop has ended
    before: tuple[LoopId, ...] = ()  # the loops that passed it in vain: what they passed could not be landed
    earlier: EarlierPass | None = None  # the last of them
    deferred: int = 0  # findings that did not keep it from passing
    mended: tuple[Finding, ...] = ()  # found beside the artifact, and gone if all of its fixes land


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    plan: BatchParams
    items: tuple[BatchItem, ...]
    phase: BatchPhase = BatchPhase.REVIEW
    course: Course = Course()
    round: int = 1
    todo: tuple[int, ...] = ()  # what the present phase has not heard of yet, by index
    order: Answered | None = None  # what a person said, to be told to the children that are stuck
    combined: Commit = NO_COMMIT
    onto: Commit = NO_COMMIT  # where the target stands, if the fixes did not go together with it
    ground: Commit = NO_COMMIT  # what the next fix is added to, where they are added one by one
    failures: tuple[Finding, ...] = ()  # why the fixes could not be landed
    landed: tuple[int, ...] = ()  # whose fixes are on the branch
    adding: tuple[int, ...] = ()  # whose fixes are still to be added one by one, since all together fail the checks
    good: tuple[int, ...] = ()  # whose fixes have been added so and pass together
    blameless: bool = False  # added one by one none failed, and yet all together did
    again: int = 0  # how often a landing was begun anew
    result: Integrated = NOT_LANDED
    aimed: str = ""  # where that landing went besides the branch
    verified: bool = False  # the checks have passed on what all fixes come to
    red: ShownRed | None = None  # what of that a person saw fail, where they would accept it
    unable: str = ""  # why the checks cannot run here: it ends with that

    @property
    def commit(self) -> Commit:
        return self.result.commit


def start(params: BatchParams) -> BatchState:
    """An artifact that is named twice is reviewed once, since its path names its loop."""
    artifacts = tuple({artifact.path: artifact for artifact in params.artifacts}.values())
    items = tuple(BatchItem(path=artifact.path) for artifact in artifacts)
    state = BatchState(plan=replace(params, artifacts=artifacts), items=items, todo=tuple(range(len(items))))
    return state if items else done(state, Outcome(ending=Ending.FAILED, note="there is nothing to review"))


def child_name(item: BatchItem) -> str:
    """Of its loop by now. No path has two slashes in a row, so that it is never another's."""
    return f"{item.path}//{len(item.before) + 1}" if item.before else item.path


def child_key(state: BatchState, index: int) -> Key:
    return Key(state.phase.value.lower(), state.round, part=str(index + 1), tries=state.course.asked)


def child_params(state: BatchState, index: int) -> str:
    plan = state.plan
    return _given(plan.shared, plan.artifacts[index], plan.limits, state.items[index].earlier)


@lru_cache(maxsize=4096)  # a batch says over and over what it wants
def _given(shared: str, artifact: BatchArtifact, limits: QualityLimits, earlier: EarlierPass | None) -> str:
    given = {**json.loads(shared), **json.loads(artifact.own), "artifact": artifact.path, "lands": False}
    given["limits"] = {"max_attempts": limits.max_attempts, "p1_threshold": limits.p1_threshold}
    if earlier is not None:
        given["earlier"] = json.loads(encode(earlier))
    return json.dumps(given, sort_keys=True)


def of_standing(state: BatchState, *standings: ArtifactStanding) -> tuple[int, ...]:
    return tuple(index for index, item in enumerate(state.items) if item.standing in standings)


def with_item(state: BatchState, index: int, item: BatchItem) -> BatchState:
    return replace(state, items=(*state.items[:index], item, *state.items[index + 1 :]))


def landable(state: BatchState) -> tuple[int, ...]:
    """Whose fixes belong on the branch: a review that passed at once has none."""
    good = of_standing(state, ArtifactStanding.PASSED, ArtifactStanding.ACCEPTED)
    return tuple(index for index in good if state.items[index].commit not in (NO_COMMIT, state.plan.base))


def aboard(state: BatchState) -> tuple[int, ...]:
    """Whose fixes are brought together now."""
    return (*state.good, state.adding[0]) if state.adding else landable(state)


def made_on(state: BatchState, index: int) -> Commit:
    """What the fix is a change to. A person may have accepted the very one that could not be landed before."""
    item = state.items[index]
    if item.earlier is None:
        return state.plan.base
    return item.earlier.made_on if item.commit == item.earlier.commit else item.earlier.landing.onto


def stuck(state: BatchState) -> tuple[int, ...]:
    return of_standing(state, ArtifactStanding.STUCK, ArtifactStanding.CONFLICT)


def can_go_on(state: BatchState) -> tuple[int, ...]:
    """The stuck ones whose loop has not ended."""
    return tuple(index for index in of_standing(state, ArtifactStanding.STUCK) if not state.items[index].over)


def goes_to(state: BatchState) -> str:
    """Where a landing goes besides the branch: nowhere while a person may still say how to go on with the rest."""
    course, plan = state.course, state.plan
    merge = course.merge_accepted if is_accepted(state) else plan.merge
    return plan.target if merge and (course.accepted or not stuck(state)) else ""


def is_landed(state: BatchState) -> bool:
    """On the branch and, where that is asked for by now, on the target too, or told why not."""
    is_short_of_it = bool(state.result.commit) and goes_to(state) not in ("", state.aimed)
    return landable(state) == state.landed and not is_short_of_it


def is_accepted(state: BatchState) -> bool:
    """Whether a person has taken any of it with what is known to be wrong."""
    return state.course.accepted or bool(of_standing(state, ArtifactStanding.ACCEPTED))


def to_land(state: BatchState) -> str:
    """By which it is known again: what is brought together, and with what."""
    return "+".join((state.onto, *(state.items[index].commit for index in landable(state))))


def failing(state: BatchState) -> tuple[Finding, ...]:
    """What a person saw fail of what they would accept."""
    return state.red.faults if state.red else ()


def ended(state: BatchState, ending: Ending) -> Outcome:
    result, course = state.result, state.course
    return Outcome(
        ending=ending,
        attempts=state.round,
        commit=result.commit,
        branch=result.branch,
        merged_into=result.merged_into,
        not_merged=result.not_merged,
        take=result.take,
        note=result.note,
        findings=state.failures,
        parts=tuple(_part(state, item) for item in state.items),
        held=course.held if result.commit else (),
        held_on=result.held_on,
        written=course.written if result.commit else (),
        allowed=state.plan.trust.allow if result.commit else (),
        unnoticed=course.unnoticed if result.commit else "",
        evidence=with_decisions(course.evidence, course.decisions) if result.commit else None,
        waiting=waiting(state),
    )


def waiting(state: BatchState) -> tuple[Finding, ...]:
    """What fixes on the branch have mended only in files that did not land with them."""
    unlanded = state.course.unlanded if state.result.commit else frozenset()
    return tuple(each for index in state.landed for each in state.items[index].mended if each.file in unlanded)


def landed_parts(state: BatchState) -> tuple[LandedPart, ...]:
    """A part alone cannot say what of its work landed: it ended before."""
    outcome = state.course.outcome
    commit = outcome.commit if outcome is not None and outcome.commit else state.result.commit
    unlanded = state.course.unlanded
    return tuple(
        LandedPart(
            kind=CHILD,
            params=child_params(state, index),
            passed=item.standing is ArtifactStanding.PASSED,
            commit=commit,
            made=item.commit,
            mended=tuple(each for each in item.mended if each.file not in unlanded),
            waiting=tuple(each for each in item.mended if each.file in unlanded),
        )
        for index, item in ((index, state.items[index]) for index in state.landed if state.result.commit)
    )


_ENDINGS = {
    ArtifactStanding.PASSED: Ending.VERIFIED,
    ArtifactStanding.ACCEPTED: Ending.ACCEPTED,
    ArtifactStanding.STUCK: Ending.ESCALATED,
    ArtifactStanding.CONFLICT: Ending.ESCALATED,
    ArtifactStanding.PENDING: Ending.CANCELLED,
    ArtifactStanding.BLOCKED: Ending.CANCELLED,
}


def _part(state: BatchState, item: BatchItem) -> Part:
    """Of one alone nothing but a review is known: what the checks see is all of them together."""
    reviewed = state.plan.firm and item.standing is ArtifactStanding.PASSED
    ending = Ending.REVIEWED if reviewed else _ENDINGS[item.standing]
    return Part(name=item.path, ending=ending, note=item.line, attempts=item.attempts, loop=item.loop)
