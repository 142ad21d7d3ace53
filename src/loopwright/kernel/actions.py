"""What a machine may ask of the world. Every action has a key that names one try of it.

`why` is the reason in plain words; `loop explain` and the log show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeGuard

from loopwright.kernel.deliverables import FileDemand
from loopwright.kernel.events import Said
from loopwright.kernel.model import (
    NO_COMMIT,
    Brief,
    Change,
    Cleanup,
    Commit,
    Demand,
    Finding,
    Key,
    LoopId,
    Outcome,
    Point,
    Question,
    Tree,
)
from loopwright.kernel.risks import GateRule, Risk
from loopwright.kernel.trust import HiddenTests, LandedBefore, RedTests, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgent:
    """A maker works in the loop's workspace, brought to `start` first; a judge in a throw-away checkout of it."""

    key: Key
    role: str
    brief: Brief
    start: Commit
    writes: bool  # makers write; what a judge writes is thrown away
    needs_verdict: bool = False
    skill: str = ""
    agent: str = ""  # the one of the role's agents that is to do it; empty: in their order
    workspace: str = ""  # empty: the loop's own
    beside: str = ""  # work in another one beside it, with this ending
    alone: bool = False  # what the loop's other agents left in folders is removed first: it holds hidden tests
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChecks:
    """`names` empty means all configured ones. `approved` are the gated changes that a person let in."""

    key: Key
    commit: Commit
    base: Commit
    names: tuple[str, ...] = ()
    approved: tuple[Change, ...] = ()
    may_drop: tuple[str, ...] = ()  # tests that an approval lets go
    trust: Trust = Trust()  # without a base: `base` judges
    preflight: bool = False  # before anybody is paid: can they run here, and what do they say of the base?
    also: tuple[Demand, ...] = ()  # run besides the checks where these pass; not in a preflight
    demands_only: bool = False  # run no check, and the demands on the commit as it is: before the work on it starts
    abreast: int = 0  # as in `RunLoop`: it takes the place of the child that begins after it; 0: it takes none
    after: LandedBefore = LandedBefore()  # what landed before it in the same work
    red: tuple[RedTests, ...] = ()  # the oldest first
    tries_new_tests: bool = False  # the work is about tests: each new one has to notice a stubbed product function
    hidden: HiddenTests = HiddenTests()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLoop:
    """Start a child or go on with it, after telling it what a person said to its parent.

    With `upto` the child is driven until it stands at one of these points and held there.
    """

    key: Key
    kind: str
    params: str  # JSON
    name: str = ""  # the same name is the same child; empty: the key names it
    said: Said | None = None  # an answer is bound to the child's question by its key: none is ever given twice
    takes: tuple[
        Literal["escalation", "question", "gate"], ...
    ] = ()  # what the child waits for comes here, not to people
    upto: tuple[Point, ...] = ()
    abreast: int = 0  # begins only while fewer children than this are at work, not counting those that wait for people
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    choice: str
    label: str
    how: str = ""  # what follows `loop answer`, where the word alone does not do
    prompt: str = ""  # what is typed at a prompt, and what it does
    needs: str = ""  # which text must come with it


ACCEPT_MERGE = "accept --merge"  # how to accept with a merge, where that is an option of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """What a person looks at before they answer: files as a commit has them, and a change."""

    task: str
    commit: Commit
    paths: tuple[str, ...]
    base: Commit
    candidate: Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """`questions` are those of agents, each with what it offers; `question` says all of it in one text.

    The first option of a check-in is what happens when a person simply goes on.
    """

    key: Key
    question: str
    kind: Literal["question", "escalation", "check-in"] = "question"
    questions: tuple[Question, ...] = ()
    options: tuple[Option, ...] = ()
    free_text: bool = False
    findings: tuple[Finding, ...] = ()  # what it is about; a parent hears them instead of a person
    paused: bool = False  # a limit is reached: the loop is paused, and goes on once a person has raised it
    exhibit: Exhibit | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitGate:
    """Open until a person decides. It does not hold up other actions in flight."""

    key: Key
    gate: str
    commit: Commit
    evidence: str
    because: tuple[Change, ...]
    failing: tuple[str, ...] = ()  # tests that fail without it
    dropped: tuple[str, ...] = ()  # tests of the base that an approval lets go
    why: str = ""
    reasons: tuple[Risk, ...] = ()  # where rules found what called for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Record the workspace's files as a commit that stays reachable for ever."""

    key: Key
    label: str
    parent: Commit
    base: Commit
    workspace: str = ""
    beside: str = ""  # as in `RunAgent`
    only: tuple[str, ...] = ()  # take nothing but these files and folders; empty: everything
    also: tuple[str, ...] = ()  # and these, unless they are protected
    new_tests: bool = False  # and files of tests that the base does not have
    new_tests_only: bool = False  # take nothing but these
    new_files: bool = False  # and every file that the parent does not have
    # What of the rest is as in the parent: the product, or everything but text, comments and docstrings.
    puts_back: Literal["", "product", "code"] = ""
    trust: Trust = Trust()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadArtifacts:
    """See what a commit holds at these paths."""

    key: Key
    commit: Commit
    paths: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announce:
    """Put a line on record and on the screen."""

    key: Key
    text: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combine:
    """Bring the changes of several commits together in one commit on `base`, in objects."""

    key: Key
    base: Commit
    commits: tuple[Commit, ...]
    made_on: tuple[Commit, ...] = ()  # what each is a change to; empty: all to `base`
    keep: tuple[tuple[Commit, str], ...] = ()  # files that are as this commit has them, whatever is done to them
    marks: bool = False  # what conflicts is in it all the same, both sides with git's marks around them
    label: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrate:
    """Land a commit's tree on the loop's branch and then, if there is a `target`, on that branch too."""

    key: Key
    commit: Commit
    base: Commit
    message: str
    branch: str = ""  # empty: the loop's own
    target: str = ""  # a full ref; empty: leave the result on its branch
    verified: bool = True  # false: accepted by a person with known faults, so nothing is checked again
    known_on: Commit | None = None  # ... but with a tip of the target other than this one; None: not even then
    unseen: bool = False  # no check has seen this tree: it is checked even where the target has not moved
    approved: tuple[Change, ...] = ()
    may_drop: tuple[str, ...] = ()
    trust: Trust = Trust()
    tree: Tree = Tree("")  # what lands instead of the commit's own tree
    holds_back: bool = False  # what of the commit does not land is kept on a branch of its own
    on_top: bool = False  # of what has landed: its branch moves only with the target
    merges: Commit = NO_COMMIT  # what it was brought together with: a second parent of what lands
    also: tuple[Demand, ...] = ()  # as in `RunChecks`, where a merged tree is checked
    hidden: HiddenTests = HiddenTests()  # likewise
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanUp:
    key: Key
    choice: Cleanup
    base: Commit = NO_COMMIT
    branch: str = ""  # goes as well
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitUntil:
    key: Key
    when: float = 0.0  # seconds since the epoch
    delay: float = 0.0  # without that: seconds from when it is begun
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Say something to a loop that nobody drives: a record that several loops write."""

    key: Key
    loop: LoopId
    said: Said
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineFiles:
    """Whether a commit holds these files, and each is what it has to be."""

    key: Key
    commit: Commit
    wanted: tuple[FileDemand, ...]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineChange:
    """Which gates a change calls for, by these rules, and by what in it."""

    key: Key
    base: Commit
    commit: Commit
    rules: tuple[GateRule, ...]
    since: Commit = NO_COMMIT  # the part of it that is told apart begins here; empty: there is none
    built_on: Commit = NO_COMMIT  # whether product code differs from here; empty: nobody asks
    trust: Trust = Trust()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPullRequest:
    """Open it, or bring the one of this branch up to date. What is empty stays as it is."""

    key: Key
    branch: str
    target: str
    commit: Commit
    title: str
    body: str
    draft: bool = False
    labels: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()  # labels that no longer hold
    reviewers: tuple[str, ...] = ()
    comment: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPullRequest:
    key: Key
    branch: str
    target: str
    number: int
    commit: Commit  # what was proposed
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePullRequest:
    """Merge exactly this commit into the target, where it is still what the pull request proposes."""

    key: Key
    branch: str
    target: str
    number: int
    commit: Commit
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOnce:
    """Run the person's own command on a commit's files, never a second time: nobody knows what half of it did."""

    key: Key
    argv: tuple[str, ...]
    commit: Commit
    limit: float = 3600.0  # seconds
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    outcome: Outcome
    key: Key = Key("stop")
    why: str = ""


Action = (
    RunAgent
    | RunChecks
    | RunLoop
    | Ask
    | AwaitGate
    | Checkpoint
    | LoadArtifacts
    | Announce
    | Combine
    | Integrate
    | CleanUp
    | WaitUntil
    | Tell
    | ExamineFiles
    | ExamineChange
    | OpenPullRequest
    | ReadPullRequest
    | MergePullRequest
    | RunOnce
    | Stop
)
ForPeople = Ask | AwaitGate


def stop_of(wanted: tuple[Action, ...]) -> Stop | None:
    """The end, if it is that which is wanted. Of a record that nobody drives nothing is."""
    return wanted[0] if wanted and isinstance(wanted[0], Stop) else None


def takes_a_place(action: Action) -> TypeGuard[RunChecks | RunLoop]:
    """Whether it counts among the children at work: a child, or a run of checks that comes before one."""
    return isinstance(action, RunLoop) or (isinstance(action, RunChecks) and action.abreast > 0)
