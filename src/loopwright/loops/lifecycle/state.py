"""What the lifecycle of one system remembers: where it stands, what is done of that, what failed, what is gated."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from loopwright.kernel.changing import replace
from loopwright.kernel.evidence import Evidence
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Change, Commit, Finding, Key, LoopId, Tree
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.risks import GateRule, Risk
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Course
from loopwright.loops.lifecycle.failures import Blocked, Failure
from loopwright.loops.lifecycle.limits import LifecycleAllowance, LifecycleLimits
from loopwright.loops.lifecycle.states import Stage
from loopwright.loops.parts import Inner

Mode = Literal["autonomous", "supervised", "hybrid"]


class Step(StrEnum):
    """What is under way within a state."""

    SKILL = "skill"
    RECORD = "record"  # what a skill left becomes a commit
    EXAMINE = "examine"  # and is looked at
    REVIEWS = "reviews"  # the loop over the changed files
    CHECK = "check"
    GROUND = "ground"  # what a person approved of the scaffold becomes part of the base
    LOOK = "look"  # for what calls for a gate
    PROPOSE = "propose"  # where people look at it, before they are waited for
    LAND = "land"
    TELL = "tell"  # the queue
    MOVE = "move"
    BACK_OFF = "back-off"
    DIAGNOSE = "diagnose"
    FIX = "fix"
    RECORD_FIX = "record-fix"
    RECHECK = "recheck"
    SUITE = "suite"
    MERGE = "merge"
    POLL = "poll"
    READ = "read"
    JOIN = "join"  # bring the work together with what a person committed on its branch
    DECIDED = "conflicts"  # whether it is decided what becomes of each
    UPDATE = "update"  # bring the work together with what the target has by now
    DEPLOY = "deploy"
    WEIGH = "weigh"  # whether all that makes a system complete is so
    QUEUE = "update-queue"
    HANDOFF = "handoff"
    INTERFACES = "interfaces"
    CLEAN = "clean"
    NEXT = "next"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFacts:
    id: str
    name: str
    description: str = ""
    issue: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What another tool had got to. Its approvals are history, and are asked for again when they are due."""

    stage: Stage
    done: tuple[str, ...] = ()
    current: str = ""
    remaining: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    retries: int = 0
    total: int = 0
    approvals: tuple[tuple[str, str], ...] = ()  # gate, and who
    pending: tuple[str, ...] = ()  # gates that were required, and not decided
    activity: str = ""  # when it last did something
    blocked: str = ""
    remarks: tuple[str, ...] = ()  # what else lay beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleParams:
    system: SystemFacts
    domain: str
    base: Commit
    branch: str
    workspace: str
    loop: LoopId = LoopId("")  # its own
    queue: LoopId = LoopId("")  # the record that says what becomes of it; empty: there is none
    target: str = ""
    capabilities: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()  # names of those that are configured
    limits: LifecycleLimits = LifecycleLimits()
    mode: Mode = "hybrid"
    always: tuple[str, ...] = ()  # gates that are asked at their points whatever the mode is
    inner: Inner = Inner()
    child: str = "{}"  # JSON: what the loop of every capability is given besides
    reviewing: str = ""  # the kind of loop over the changed files
    review: str = "{}"  # JSON: what it is given
    rules: tuple[GateRule, ...] = ()
    tests: tuple[str, ...] = ()  # patterns of files that are no artifacts of the review
    reviewers: tuple[tuple[str, str], ...] = ()  # a gate, and who looks at it
    deploy: tuple[str, ...] = ()  # the command
    forge: str = "local"
    merges: bool = True  # the engine does, once deploy is approved; else a person
    poll: float = 60.0
    trusts_scaffold: bool = False
    delete_branch: bool = False
    leaves: tuple[tuple[str, str], ...] = ()  # what a person's own version of a skill leaves instead
    trust: Trust = Trust()
    earlier: Earlier | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    stage: Stage
    skill: str
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbuilt:
    """A capability that went through its states without a change to product code."""

    capability: str
    why: str  # skipped, or taken as it is by a person


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityEvidence:
    """How much the checks show of a capability."""

    capability: str
    evidence: Evidence
    no_test: str = ""  # why no test can show it, as the agent that writes the tests says


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A transition that is decided on and not yet made."""

    to: Stage
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """The loop that makes a capability, or reviews the changed files."""

    loop: LoopId = LoopId("")
    asking: Key = NO_KEY  # what it escalated with
    over: bool = True  # it has ended, or there is none yet
    number: int = 0  # of those that were begun
    commit: Commit = NO_COMMIT  # the newest of its work


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What lands as a commit of its own, before all that was made after it."""

    commit: Commit
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleState:
    plan: LifecycleParams
    allowance: LifecycleAllowance
    ground: Commit  # what judges
    tip: Commit  # all that was made so far
    landed: Commit  # where its branch stands
    landed_tip: Commit  # and what that was made of
    theirs: Commit = NO_COMMIT  # what a person committed, which what has not landed is to be brought together with
    theirs_on: Commit = NO_COMMIT  # where the branch stood before they did
    phase: Stage = Stage.INIT
    step: Step = Step.SKILL
    course: Course = Course()
    turn: int = 1  # of its steps, for their keys
    transitions: int = 0
    going: Transition | None = None
    # --- capabilities
    done: tuple[str, ...] = ()
    current: str = ""
    remaining: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # that the present capability has touched
    made: tuple[tuple[str, str], ...] = ()  # one that is done, and a file that it touched first
    reopened: str = ""  # why the present one is done again
    built_on: Commit = NO_COMMIT  # where the branch stood when the present one began
    builds: bool = False  # it changes product code since then
    unbuilt: tuple[Unbuilt, ...] = ()
    evidence: tuple[CapabilityEvidence, ...] = ()
    accepted: tuple[str, ...] = ()  # capabilities that a person takes as they are, although they build nothing
    # --- the present phase
    skills: tuple[str, ...] = ()  # that are done in it
    skips: tuple[Skip, ...] = ()  # of all phases
    checked: Commit = NO_COMMIT  # the tip with which what has to pass did
    listed: Commit = NO_COMMIT  # the tip of which it is known what it touches
    looked: Commit = NO_COMMIT  # the tip that was looked at for gates
    reviewed: Commit = NO_COMMIT  # the tip that the reviews passed
    findings: tuple[Finding, ...] = ()  # for whoever does the next step
    maker: Child = Child()
    reviews: Child = Child()
    # --- what went wrong
    failure: Failure | None = None  # the open one
    history: tuple[Failure, ...] = ()  # with the open one
    retries: int = 0  # of the open one
    episode: tuple[str, ...] = ()  # signatures since something last passed
    total: int = 0
    back_offs: int = 0
    diagnosis: str = ""
    fixed: str = ""  # what the last fix says it did
    strayed: tuple[str, ...] = ()  # files that it touched without need
    pieces: tuple[Piece, ...] = ()  # fixes and what each mended, which have not landed yet
    blocked: Blocked | None = None
    rechecking: bool = False  # a person says that it is resolved: still failing, it is blocked again
    # --- gates
    risks: tuple[Risk, ...] = ()
    tree: Tree = Tree("")  # that was looked at
    paths: tuple[str, ...] = ()  # that the change touches
    gone: tuple[str, ...] = ()  # of these, what it removes
    approved: tuple[Change, ...] = ()  # in a part's own loop
    may_drop: tuple[str, ...] = ()
    # --- shipping
    proposal: PullRequest = PullRequest()
    requested: tuple[str, ...] = ()  # evidence of the gates that people were asked to decide there
    asked: str = ""  # when, by the clock of the forge
    papers: Commit = NO_COMMIT  # what skills left after the approval: it is kept, and not merged
    conflicted: Commit = NO_COMMIT  # the work with what others made meanwhile, and git's marks where they conflict
    onto: Commit = NO_COMMIT  # where the target stood when the work was last brought together with it
    grounded: tuple[tuple[Commit, str], ...] = ()  # what a person approved, or made, of what judges: where, and which
    regrounds: bool = False  # what judges is to be made anew
    held_on: str = ""  # the branch with what was held back
    merged: Commit = NO_COMMIT
    deployed: bool = False  # the command was begun
    deploy_failed: str = ""  # why, until a person says that it is deployed
    resolved_by: tuple[tuple[str, str], ...] = ()  # what a person resolved by their word: cause, name
    deployments: int = 0  # that were begun for what was proposed before
    deploy: str = ""  # a target that a person named
    # --- the rest
    queued: str = "in-progress"  # as the queue has it
    unblocked: tuple[str, ...] = ()  # systems that can begin now
    next: str = ""  # the one that is to
    hours: float | None = None  # as it was estimated
    untested: bool = False  # a person took something that no test notices
    finished: tuple[str, ...] = ()  # every skill that was done, of all phases
    remarks: tuple[str, ...] = ()
    memory: str = ""  # what was known when the session began

    @property
    def commit(self) -> Commit:
        return self.landed

    @property
    def built(self) -> tuple[str, ...]:
        """The capabilities that are done and changed product code."""
        without = {each.capability for each in self.unbuilt}
        return tuple(name for name in self.done if name not in without)

    @property
    def piece(self) -> Piece | None:
        """What lands next by itself. What is held back is told apart in the whole, and lands as one."""
        return self.pieces[0] if self.pieces and not self.course.held else None

    @property
    def failures(self) -> int:
        """All that went wrong, with what a person said no to, which no limit counts."""
        return max(self.total, len(self.history))

    @property
    def heading(self) -> Transition:
        """Where it goes; nowhere else where nothing is decided on."""
        return self.going or Transition(to=self.phase, why="")

    @property
    def failing(self) -> Commit:
        """What is diagnosed and fixed: of a conflict, the work and the target put together, with marks between them."""
        of_conflict = self.failure is not None and self.failure.sort == "merge"
        return self.conflicted if of_conflict and self.conflicted != NO_COMMIT else self.tip

    @property
    def takes_commits(self) -> bool:
        """Whether a person may go on with its branch: not once it is merged, and where it is proposed elsewhere, only
        if that is what they are asked."""
        if self.merged != NO_COMMIT or self.resumes_at is Stage.COMPLETE:
            return False
        asked = self.blocked is not None and self.failure is not None
        return self.resumes_at is not Stage.SHIP or self.plan.forge == "local" or asked

    @property
    def handed_over(self) -> Commit:
        """What a person who mends it by hand begins with: all that was made, also by a loop within that is stuck."""
        of_maker = self.resumes_at is Stage.IMPLEMENT and self.tip == self.landed_tip and self.maker.commit != NO_COMMIT
        return self.maker.commit if of_maker else self.tip

    @property
    def resumes_at(self) -> Stage:
        """The stage whose work is to go on: the one it failed in, or the present one."""
        if self.blocked is not None:
            return self.blocked.stage
        return self.failure.stage if self.failure is not None and self.phase in _FAILING else self.phase


FILES = 200  # of a capability that are remembered
_FAILING = (Stage.FAILED, Stage.RETRY, Stage.BLOCKED)


def begun(state: LifecycleState, step: Step) -> LifecycleState:
    """The next step, under a key of its own."""
    return replace(state, step=step, turn=state.turn + 1)


def step_key(state: LifecycleState, step: str = "") -> Key:
    return Key(step or state.step.value, state.turn, tries=state.course.trial.tries)


def skipped_in(state: LifecycleState, stage: Stage) -> tuple[str, ...]:
    return tuple(each.skill for each in state.skips if each.stage is stage)
