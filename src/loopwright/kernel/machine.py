"""What a loop is: a frozen state, `decide`, `apply`. The engine knows loops only by this value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Combine,
    ExamineChange,
    ExamineFiles,
    Integrate,
    LoadArtifacts,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
    RunOnce,
    Stop,
    Tell,
    WaitUntil,
)
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    ArtifactsLoaded,
    BudgetChanged,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    ConfigChanged,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    LoopEnded,
    SessionMarked,
    SkillSkipped,
    StateEdited,
    TimeReached,
    key_of,
)
from loopwright.kernel.model import NO_COMMIT, Commit, Finding, Point
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce

S = TypeVar("S")
P = TypeVar("P")


ANSWERED_BY: Mapping[type[Action], tuple[type[Event], ...]] = MappingProxyType(
    {
        RunAgent: (AgentReported, AgentFailed, AgentUnavailable),
        RunChecks: (ChecksReported,),
        RunLoop: (LoopEnded,),
        Ask: (Answered,),
        AwaitGate: (GateDecided,),
        Checkpoint: (Checkpointed,),
        LoadArtifacts: (ArtifactsLoaded,),
        Announce: (Announced,),
        Combine: (Combined,),
        Integrate: (Integrated, IntegrationRefused),
        CleanUp: (CleanedUp,),
        WaitUntil: (TimeReached,),
        Tell: (Heard,),
        ExamineFiles: (FilesExamined,),
        ExamineChange: (ChangeExamined,),
        OpenPullRequest: (PullRequestSeen,),
        ReadPullRequest: (PullRequestSeen,),
        MergePullRequest: (PullRequestSeen,),
        RunOnce: (RanOnce,),
        Stop: (),
    }
)


ANY_TIME = (CancelRequested, BudgetChanged, ConfigChanged, StateEdited, SkillSkipped, SessionMarked)


def answers_one_of(actions: tuple[Action, ...], event: Event) -> bool:
    """Whether `event` carries the key of one of `actions` and is of a kind that can answer it."""
    return any(action.key == key_of(event) and isinstance(event, ANSWERED_BY[type(action)]) for action in actions)


def asked_for(loop: Loop[P, S], state: S, event: Event) -> None:
    """Raises `InvalidTransition` unless `event` answers what the loop wants now, or may be said at any time."""
    if isinstance(event, ANY_TIME):
        return
    if answers_one_of(loop.decide(state), event):
        return
    why = f"{key_of(event)} is not asked for"
    raise InvalidTransition(loop.stand(state).state, type(event).__name__, why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standpoint:
    """Where a loop is, in the words of `loop status` and `loop explain`."""

    state: str
    attempt: int
    limit: int
    ended: int | None = None  # attempts, of a loop that counts those and has none under way while it stands still
    failures: int = 0
    findings: tuple[Finding, ...] = ()
    headline: str = ""  # the newest verdict, in one line
    lines: tuple[str, ...] = ()  # counters and rules in force, one sentence each
    commit: Commit = NO_COMMIT  # the newest of its work, which a parent may look at; none where there is none yet

    @property
    def point(self) -> Point:
        """Where a parent may have its child wait."""
        return Point(self.state, self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Generic[P, S]):
    """A machine as data.

    `decide` is total and returns everything that may be in flight now; `apply` returns the next
    state or raises `InvalidTransition`, and then nothing happened. Both are pure.
    """

    name: str
    params: type[P]
    state: type[S]
    start: Callable[[P], S]
    decide: Callable[[S], tuple[Action, ...]]
    apply: Callable[[S, Event], S]
    stand: Callable[[S], Standpoint]
    # What another loop that tells it something hears back: how it was, how it is, and what was said.
    reply: Callable[[S, S, Event], tuple[str, ...]] = lambda _before, _after, _said: ()
