"""What may have happened. The log is a list of these, and the log is the truth.

Three families: answers to an action (they carry its key), what people say (from the inbox),
and the engine's own bookkeeping, which is never shown to `apply`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.evidence import Evidence, WeakenedTest
from loopwright.kernel.model import (
    NO_COMMIT,
    NO_KEY,
    AgentReport,
    Blob,
    Change,
    CheckResult,
    Cleanup,
    Commit,
    Conflict,
    Content,
    Finding,
    Key,
    Outcome,
    Tree,
    Usage,
)
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.kernel.touched import Touched
from loopwright.kernel.trust import Canary, Claim, FailedHiddenTest

# --- answers to actions ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReported:
    key: Key
    report: AgentReport
    usage: Usage = Usage()
    role: str = ""  # whose step it was


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFailed:
    """No usable report. `garbled` gets one request to repair, `crashed` one free respawn."""

    key: Key
    reason: Literal["crashed", "timed_out", "idle", "garbled", "needs_person"]
    detail: str = ""
    usage: Usage = Usage()
    transcript: Blob = Blob("")
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUnavailable:
    """A rate limit, an overload, a lost network: try again then. Not an attempt."""

    key: Key
    until: float
    detail: str = ""
    usage: Usage = Usage()
    role: str = ""  # whose step it was; logs of before do not have it
    at: float = 0.0  # when it was heard


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksReported:
    """`results` are of the judging run; `findings` are what the change itself gives away: cheating, shadowing."""

    key: Key
    tree: Tree
    results: tuple[CheckResult, ...]
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    rests_on: tuple[str, ...] = ()  # names of the receipts and of the lists of what setup made: only these count later
    landing: tuple[CheckResult, ...] = ()  # of the run of all that would land, where that is another tree
    lands: Tree = Tree("")  # what would land; empty: the candidate as it is
    held: tuple[Change, ...] = ()  # unapproved changes that both runs did without
    nothing_else: bool = False  # without them nothing is left to land
    shared_versions: tuple[str, ...] = ()  # of them: a version in each was changed alike in what would land
    claim: Claim | None = None
    canary: Canary | None = None
    evidence: Evidence | None = None  # how much the checks show of the change, where everything passed
    unshown: Literal["gate", "land"] = "gate"  # what is configured for a merge of a change that no test shows
    unable: tuple[str, ...] = ()  # checks that cannot run here, each in a sentence
    written: tuple[str, ...] = ()  # files of tests that agents wrote, and that no person has seen
    would_drop: tuple[str, ...] = ()  # tests of the base that are gone with what was held back
    weakened: tuple[WeakenedTest, ...] = ()  # those for which files of tests are held back
    kept: tuple[str, ...] = ()  # tests that landed before, and that stay as they landed
    also: tuple[CheckResult, ...] = ()  # of the demands, where every check passed: each can only fail
    hidden: tuple[FailedHiddenTest, ...] = ()  # tests of an examiner that fail; the findings do not quote them
    same_product: bool = False  # the product that would land is equal after parsing; other files may differ
    alters_code: bool = False  # it has code that was added or changed, not only removed
    changed_code: tuple[str, ...] = ()  # changed files that are neither texts nor equal after parsing


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpointed:
    key: Key
    commit: Commit
    tree: Tree
    files: int = 0  # paths changed against the base
    paths: tuple[str, ...] = ()  # the first of them
    protected: tuple[Change, ...] = ()
    evidence: str = ""  # digest of `protected`: what an approval is bound to
    dropped: tuple[str, ...] = ()  # changed, but not among what the checkpoint was to take
    unchanged: bool = False  # against its parent; logs of before do not say so
    touched: tuple[Touched, ...] = ()  # lines changed against the base, where only a part was taken
    put_back: tuple[str, ...] = ()  # locks that changed without their manifest: the base's land
    altered_tests: tuple[str, ...] = ()  # files of tests that the base has


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactsLoaded:
    key: Key
    contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """`left_out` are the commits whose changes do not go together with those before them."""

    key: Key
    commit: Commit
    files: int = 0  # paths changed against the base
    left_out: tuple[Commit, ...] = ()
    conflicts: tuple[Conflict, ...] = ()  # the same, each with where; logs of before do not have it
    kept: tuple[str, ...] = ()  # files that a change was made to, and that stay as they were


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrated:
    key: Key
    branch: str
    commit: Commit
    merged_into: str = ""
    note: str = ""  # why it was left on its branch, and the command that takes it
    not_merged: str = ""  # why, where a merge was asked for and the target could not be moved
    take: str = ""  # the command that takes it then
    landed: Commit = NO_COMMIT  # where its own branch stands
    held_on: str = ""  # the branch that keeps what did not land
    held: tuple[Change, ...] = ()  # that, where it was found out only by landing: a person took the rest unverified


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrationRefused:
    """The merged tree did not pass, or could not be made. With `onto` it may be tried again from there."""

    key: Key
    reason: Literal["conflict", "checks", "moved", "dirty"]
    detail: str = ""
    findings: tuple[Finding, ...] = ()
    onto: Commit = NO_COMMIT  # where the target stands, and the next attempt begins
    merged: Commit = NO_COMMIT  # the merge that did not pass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopEnded:
    key: Key
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedUp:
    key: Key
    stay: tuple[str, ...] = ()  # folders that cannot be removed


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeReached:
    key: Key


# --- what people say --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    key: Key
    choice: str
    count: int = 0
    text: str = ""
    advice: str = ""  # of agents, for whoever goes on: no person's words
    merge: bool = False
    allow: tuple[str, ...] = ()  # patterns under which tests that landed with an earlier task may be changed
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecided:
    key: Key
    gate: str
    approved: bool
    evidence: str
    reason: str = ""
    by: str = ""
    only: tuple[str, ...] = ()  # paths that the decision covers; empty: all of the gate


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRequested:
    cleanup: Cleanup = Cleanup.KEEP_EVERYTHING
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChanged:
    usd: float | None  # None: no limit any more
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChanged:
    """The person's loop.toml, taken in on resume. `limits` is the loop's own table as JSON."""

    digest: str
    settings: str
    limits: str = "{}"
    by: str = ""
    pins: str = ""  # as in `Created`, taken in with it


@dataclass(frozen=True, slots=True, kw_only=True)
class StateEdited:
    """Somebody changed a file that others may write too: what it says of a subject now. The machine decides on it."""

    subject: str
    value: str
    at: str = ""  # when, in ISO-8601, where nobody else says so
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSkipped:
    skill: str
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMarked:
    """Somebody began to drive the loop, or stopped. `text` is what they knew then, or left for the next one."""

    mark: Literal["began", "ended"]
    why: str = ""
    text: str = ""
    commit: Commit = NO_COMMIT  # what was under way and is kept
    by: str = ""


# --- the engine's own bookkeeping ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """The first event of every loop. `settings` is the configuration the run is pinned to; a child has its root's."""

    kind: str
    params: str
    settings: str = ""
    by: str = ""
    pins: str = ""  # JSON: digests of what the run relies on beside commits and settings, by path
    rules: str = ""  # how the person's git converts files, as JSON; a child has its root's


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The intent, durable before anything happens."""

    key: Key
    action: str
    what: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Was in flight, is no longer wanted: killed and settled."""

    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """Was in flight when its controller went away or the time of the budget was up; it will be done again as the same
    try.
    """

    key: Key
    detail: str = ""
    seconds: float = 0.0  # that it took, where somebody knows


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedLate:
    """An effect that was performed but came too late for the machine. Kept with its cost."""

    key: Key
    kind: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    reason: Literal["budget", "time", "tokens", "resources"]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Somebody asked for what the state does not allow; kept so that attempts to cheat are seen."""

    what: str
    why: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    outcome: Outcome


Answer = (
    AgentReported
    | AgentFailed
    | AgentUnavailable
    | ChecksReported
    | Checkpointed
    | ArtifactsLoaded
    | Announced
    | Combined
    | Integrated
    | IntegrationRefused
    | LoopEnded
    | CleanedUp
    | TimeReached
    | Heard
    | FilesExamined
    | ChangeExamined
    | PullRequestSeen
    | RanOnce
)
Said = (
    Answered
    | GateDecided
    | CancelRequested
    | BudgetChanged
    | ConfigChanged
    | StateEdited
    | SkillSkipped
    | SessionMarked
)
Event = Answer | Said
Bookkeeping = Created | Started | Cancelled | Interrupted | ReportedLate | Paused | Refused | Ended
Logged = Event | Bookkeeping


def key_of(event: Logged) -> Key:
    """The key of the action that `event` is about; `NO_KEY` for what is about none."""
    key: Key = getattr(event, "key", NO_KEY)
    return key
