"""What the workflow loop remembers: the request as it was scored and shaped, its tasks, and what has landed of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Literal

from loopwright.kernel.changing import replace
from loopwright.kernel.evidence import Evidence
from loopwright.kernel.ledger import Ledger
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Change, Commit, Demand, Finding, Key, LoopId, Verdict
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Course
from loopwright.loops.parts import Inner
from loopwright.loops.workflow.evidence import is_only_the_merge
from loopwright.loops.workflow.limits import WorkflowAllowance, WorkflowCounts, WorkflowLimits
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.scoring import Scored, ShapeChoice, fit, shape_for
from loopwright.loops.workflow.shape import CODE_REVIEW, EXECUTION, WorkShape, criterion_name
from loopwright.loops.workflow.ship import Ship
from loopwright.loops.workflow.state_file import ThoroughReview, WaveReview


class WorkflowPhase(StrEnum):
    SCORE = "SCORE"
    SHAPE = "SHAPE"
    PLAN = "PLAN"
    EXECUTE = "EXECUTE"
    REVIEW = "REVIEW"
    DISCUSS = "DISCUSS"
    VERIFY = "VERIFY"
    SHIP = "SHIP"
    CANCEL = "CANCEL"


class TaskStanding(StrEnum):
    PENDING = "pending"
    RUNNING = "running"  # its loop is to be driven
    COUNSEL = "counsel"  # stuck, and the panel is asked before the next attempt
    MADE = "made"  # verified by itself; the merge train has it
    MERGING = "merging"  # another task brings its change together with what landed
    IDLE = "idle"  # its maker changed nothing, and nothing shows that it is done: a person is asked
    DONE = "done"


class Stopped(StrEnum):
    """Why the loop stands with a question."""

    CONFIRM = "confirm"  # the shape is shown
    CHECK_IN = "check-in"  # after a wave, or after a task
    FINDING = "finding"  # of the thorough review, to be resolved
    LIMIT = "limit"  # paused: a person may raise it
    MUST_NOT = "mustNot"  # it became true
    SHAPE = "shape"  # it cannot be worked by
    PLAN = "plan"  # it is wrong
    IDLE = "idle"  # makers changed nothing, and the commands of their tasks passed before
    COMMAND = "command"  # that of a task cannot start
    STUCK = "stuck"  # nothing goes on, for another reason
    LANDING = "landing"  # the result could not be landed


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A learning that was shown before the work began; `confirmed` by the person it was shown to."""

    title: str
    text: str
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenWave:
    wave: int
    review: WaveReview


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOver:
    """What another tool had got to; no stage of it is done again. Its reviews are shown, and nothing rests on them."""

    stage: str
    spec: int | None = None
    fit: int | None = None
    choice: str = ""
    started_at: str = ""
    waves: tuple[TakenWave, ...] = ()
    thorough: ThoroughReview | None = None
    shape: WorkShape | None = None
    tasks: tuple[PlannedTask, ...] = ()
    done: tuple[str, ...] = ()  # ids of those it says are done, which is no evidence: they are worked on
    scores_stand: bool = False  # it went on with them, however low; older logs took low ones again


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowParams:
    request: str
    base: Commit
    target: str = ""
    branch: str = ""
    merge: bool = False
    limits: WorkflowLimits = WorkflowLimits()
    parallel: int = 4
    cast: tuple[str, ...] = ()  # roles that somebody plays; for the others the engine's own rule stands in
    checks: tuple[str, ...] = ()  # names of those that are configured
    recalled: tuple[Recalled, ...] = ()
    shape: str = ""  # the person's own word on how it is worked, whatever the score says
    attended: bool = False  # somebody is there to be shown the shape, and to resolve what reviews find
    inner: Inner = Inner()
    child: str = "{}"  # JSON: what every task's loop is given besides its task
    list_id: str = ""  # of the task list others read and write too
    list_shift: int = 0  # how many numbers of that list were given before its tasks came
    session_only: bool = False  # its task files are gone when its controller is
    trust: Trust = Trust()
    taken_over: TakenOver | None = None
    shape_stays_near: bool = False  # no command of its shape reaches beyond loopback; older logs had no such rule
    keeps_grants: bool = False  # new guidance takes back nothing that was granted; in older logs it did
    counsel_within_limits: bool = False  # the panel is not asked right before a pause; in older logs it was
    is_root: bool = True  # its files also lie where hooks and people look first


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTask:
    plan: PlannedTask
    wave: int
    after: tuple[int, ...] = ()  # the tasks that must be done before, by index
    standing: TaskStanding = TaskStanding.PENDING
    origin: Literal["plan", "conflict", "red", "finding", "gate"] = "plan"
    asked: PlannedTask | None = None  # where the engine made it: what the plan, or a person, asked for in their words
    attempts: int = 0  # that ended
    stuck: int = 0  # verifications that failed
    same: int = 0  # how often in a row in the same way
    marks: tuple[str, ...] = ()  # by which that is known
    failures: tuple[Finding, ...] = ()  # of the last attempt
    why: str = ""  # how that ended
    advice: str = ""  # of the panel, for the next attempt
    refusals: int = 0  # how many of what people rejected its loop was told when it was begun
    told: int = 0  # how many of what people said about the work it has heard
    guidance: str = ""  # what they have said since, for the next attempt
    allow: tuple[str, ...] = ()  # patterns under which they let it change tests that landed before it
    start: Commit = NO_COMMIT  # where its maker begins
    began: Commit = NO_COMMIT  # where the work began that it brings in, if that is another task's
    tried: Commit = NO_COMMIT  # the start at which its command was run before the work
    is_red: bool = False  # it failed there
    unable: str = ""  # why it could not start there
    done_before: bool = False  # it passed there and failed where the workflow started: an earlier task did it
    made_on: Commit = NO_COMMIT  # what its commit is a change to
    commit: Commit = NO_COMMIT  # what its loop made, or has come to
    landed: Commit = NO_COMMIT
    loop: LoopId = LoopId("")
    over: bool = True  # its loop has ended, or there is none yet
    before: int = 0  # loops that ended without it being done
    asking: Key = NO_KEY  # what its loop escalated with
    as_it_is: bool = False  # nothing was made for it: what is there is checked
    untested: bool = False  # a person took it although no test notices it
    written: tuple[str, ...] = ()  # tests of its commit that agents wrote
    decisions: tuple[str, ...] = ()  # of people, on the examiner and its tests
    evidence: Evidence | None = None  # how much the checks show of what landed for it
    same_product: bool = False  # the product that landed for it is equal after parsing
    alters_code: bool = False  # code was added or changed for it, not only removed
    no_test: str = ""  # why no test can show it, as its maker says
    instead: int | None = None  # the task that brings its change in

    @property
    def id(self) -> str:
        return self.plan.id


_PIECE = 64


@dataclass(frozen=True, slots=True)
class TaskRow:
    """The tasks in their order, kept in pieces: where one of very many changes, its piece is copied and not all."""

    pieces: tuple[tuple[WorkTask, ...], ...] = ()

    @classmethod
    def of(cls, tasks: Iterable[WorkTask]) -> TaskRow:
        every = tuple(tasks)
        return cls(tuple(every[at : at + _PIECE] for at in range(0, len(every), _PIECE)))

    def __len__(self) -> int:
        return len(self.pieces[-1]) + _PIECE * (len(self.pieces) - 1) if self.pieces else 0

    def __iter__(self) -> Iterator[WorkTask]:
        return chain.from_iterable(self.pieces)

    def __getitem__(self, index: int) -> WorkTask:
        return self.pieces[index // _PIECE][index % _PIECE]

    def changed(self, index: int, task: WorkTask) -> TaskRow:
        at, place = divmod(index, _PIECE)
        piece = self.pieces[at]
        return TaskRow((*self.pieces[:at], (*piece[:place], task, *piece[place + 1 :]), *self.pieces[at + 1 :]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSaid:
    """What one view of a review said; without a verdict, `failed` says why."""

    view: str
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    score: float | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewing:
    """A review under way: of a wave, or thorough."""

    number: int  # the wave, or the round of the thorough review
    base: Commit
    commit: Commit
    views: tuple[str, ...]
    said: tuple[ViewSaid, ...] = ()

    @property
    def open(self) -> tuple[str, ...]:
        known = {each.view for each in self.said}
        return tuple(view for view in self.views if view not in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveSeen:
    """What a light review came to."""

    wave: int
    score: int
    issues: int
    blockers: int
    views: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()  # views that gave none, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoroughSeen:
    round: int
    commit: Commit
    passed: bool
    blockers: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    suggestions: tuple[Finding, ...] = ()
    views: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolving:
    """The findings of a thorough review, one by one before a person."""

    left: tuple[Finding, ...]
    tasks: tuple[tuple[Finding, str], ...] = ()  # to be made of these, each with what the person said to it
    acknowledged: tuple[Finding, ...] = ()
    advice: str = ""  # of the panel on the first one left


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """What follows from the plan alone."""

    dependents: tuple[tuple[int, ...], ...] = ()
    rank: tuple[int, ...] = ()  # how many tasks the longest way from here to an end has
    members: tuple[tuple[int, ...], ...] = ()  # of each wave


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowState:
    plan: WorkflowParams
    allowance: WorkflowAllowance
    tip: Commit  # what has landed
    whole: Commit  # with what is held back of it
    ground: Commit  # what judges, and what all of it is measured against
    phase: WorkflowPhase = WorkflowPhase.SCORE
    course: Course = Course()
    scored: Scored | None = None
    shape: WorkShape | None = None
    tasks: TaskRow = TaskRow()
    graph: Graph = Graph()
    ready: tuple[int, ...] = ()  # that could begin, the one with the longest way ahead first
    running: tuple[int, ...] = ()
    counsel: tuple[int, ...] = ()
    unadvised: tuple[int, ...] = ()  # stuck as a limit was reached: the panel is asked when the loop goes on
    idle: tuple[int, ...] = ()  # that a person is asked about when nothing else goes on
    train: tuple[int, ...] = ()  # made, to be landed one after the other
    open_in_wave: tuple[int, ...] = ()
    wave_base: tuple[Commit, ...] = ()  # what had landed before each wave's first; none: nothing of it has landed
    done: int = 0
    promised: tuple[Demand, ...] = ()  # the commands of tasks that are done: they run on every merged tree
    hidden: tuple[str, ...] = ()  # files of examiners in what was made for any task
    merged: Commit = NO_COMMIT  # the first of the train together with what landed
    passed: bool = False  # and it passed
    gated: bool = False  # and a person has to decide before it can
    calm: Course | None = None  # as it was before that one was weighed: what has landed stays as it is if it does not
    turn: int = 1  # of the train, for its keys
    looks: tuple[Viewing, ...] = ()  # light reviews under way
    waves: tuple[WaveSeen, ...] = ()
    look: Viewing | None = None  # the thorough review under way
    rounds: int = 0  # of thorough reviews that were begun
    thorough: ThoroughSeen | None = None
    resolving: Resolving | None = None
    ledger: Ledger = ()  # of thorough reviews
    acknowledged: tuple[str, ...] = ()  # fingerprints of warnings that a person has seen
    ship: Ship | None = None
    shipped: str = ""  # SHIP, MONITOR or RESEARCH
    met: tuple[str, ...] = ()  # names of the commands that passed at the end
    shown: tuple[str, ...] = ()  # and of those among them that failed where the work started
    stopped: Stopped | None = None
    iterations: int = 0
    failures: int = 0
    worst: int = 0  # how often in a row one task failed in the same way
    worst_task: str = ""
    counselled: int = 0  # how often the panel advised
    checked_in: int = 0  # how many tasks were done when a person last said to go on
    approved: tuple[Change, ...] = ()  # what a person let a task change
    may_drop: tuple[str, ...] = ()  # and which tests of the base they let go with it
    remarks: tuple[str, ...] = ()  # what was done without asking, for people to read

    @property
    def commit(self) -> Commit:
        return self.tip


def with_task(state: WorkflowState, index: int, task: WorkTask) -> WorkflowState:
    return replace(state, tasks=state.tasks.changed(index, task))


def of_wave(state: WorkflowState, wave: int) -> tuple[WorkTask, ...]:
    """Without a look at all the others."""
    return tuple(state.tasks[index] for index in state.graph.members[wave - 1])


def choice_of(state: WorkflowState) -> ShapeChoice:
    """How it is worked: by the person's own word, else by the score."""
    taken = state.plan.taken_over
    if state.plan.shape:
        return ShapeChoice(state.plan.shape)
    if taken is not None and taken.choice:
        return ShapeChoice(taken.choice)
    return shape_for(fit_of(state))


def spec_of(state: WorkflowState) -> int | None:
    taken = state.plan.taken_over
    return state.scored.scores.spec if state.scored else taken.spec if taken else None


def fit_of(state: WorkflowState) -> int:
    taken = state.plan.taken_over
    if taken is not None and taken.fit is not None and state.scored is None:
        return taken.fit
    confirmed = sum(each.confirmed for each in state.plan.recalled)
    return fit(state.scored.scores, confirmed) if state.scored else 0


def fit_known(state: WorkflowState) -> int | None:
    taken = state.plan.taken_over
    return fit_of(state) if state.scored or (taken and taken.fit is not None) else None


def counts(state: WorkflowState) -> WorkflowCounts:
    return WorkflowCounts(
        iterations=state.iterations,
        same=state.worst,
        failures=state.failures,
    )


def verified_by(state: WorkflowState) -> str:
    """Return the weakest type of verification that a criterion rests on. What nothing measured only reviewers saw."""
    criteria = state.shape.criteria if state.shape else ()
    for index, each in enumerate(criteria, start=1):
        is_shown = criterion_name(index) in state.shown if each.command else each.is_measured
        if not is_shown and not is_only_the_merge(each.text):
            return CODE_REVIEW
    return EXECUTION


def child_name(task: WorkTask) -> str:
    """Of its loop by now."""
    return f"{task.id}//{task.before + 1}" if task.before else task.id
