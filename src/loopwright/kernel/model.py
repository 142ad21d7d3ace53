"""The words every loop shares: ids, severities, findings, reports, results, outcomes.

Everything here is a frozen value. Nothing here knows a clock, a path or a process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, NewType

from loopwright.kernel.evidence import Evidence

LoopId = NewType("LoopId", str)
Commit = NewType("Commit", str)
Tree = NewType("Tree", str)
Blob = NewType("Blob", str)  # sha256 of what was too big for an event
Topic = Literal["gate", "question", "blocked", "complete", "budget"]  # of what people are sent

NO_COMMIT = Commit("")

_NUMBER = r"(?:0|[1-9][0-9]{0,17})"
_KEY = re.compile(
    r"(?P<waits>wait-)?(?P<step>[a-z]+(?:-[a-z]+)*)"
    rf"(?:-(?P<attempt>{_NUMBER})(?:-(?P<part>[a-z0-9]+(?:-[a-z0-9]+)*))?)?(?:\.(?P<tries>{_NUMBER}))?"
)
_PART_LAST = re.compile(rf"(?P<step>[a-z]+)-(?P<attempt>{_NUMBER})\.(?P<tries>{_NUMBER})-(?P<part>{_NUMBER})")


@dataclass(frozen=True, slots=True)
class Key:
    """One try of one action, unique within its loop. Logs and folders have its text: `implement-2.1`."""

    step: str
    attempt: int | None = None
    part: str = field(default="", kw_only=True)  # which of several things the step does in one attempt
    tries: int | None = field(default=None, kw_only=True)
    waits: bool = field(default=False, kw_only=True)  # until the step can be done, instead of doing it

    def __str__(self) -> str:
        attempt = "" if self.attempt is None else f"-{self.attempt}"
        part = f"-{self.part}" if self.part else ""
        tries = "" if self.tries is None else f".{self.tries}"
        return f"{'wait-' if self.waits else ''}{self.step}{attempt}{part}{tries}"

    @staticmethod
    def parse(text: str) -> Key:
        """Never refuses: what has no known form is a step of that name."""
        if text.startswith("gate-"):
            return Key("gate", part=text.removeprefix("gate-"))
        found = _KEY.fullmatch(text) or _PART_LAST.fullmatch(text)
        if found is None:
            return Key(text)
        said = found.groupdict()
        return Key(
            said["step"],
            _whole(said["attempt"]),
            part=said["part"] or "",
            tries=_whole(said["tries"]),
            waits=bool(said.get("waits")),
        )

    def waiting(self) -> Key:
        return replace(self, waits=True)


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)


NO_KEY = Key("")


@dataclass(frozen=True, slots=True)
class Point:
    """Where a loop stands: a state of its machine in one attempt. Its text is `FIX@2`."""

    state: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.state}@{self.attempt}" if self.state else ""

    @staticmethod
    def parse(text: str) -> Point:
        """Raises `ValueError` for what is no point."""
        state, _, attempt = text.rpartition("@")
        return Point(state, int(attempt)) if text else NO_POINT


NO_POINT = Point("", 0)


class Severity(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is worst, so that sorting puts what matters first."""
        return _RANKS[self]

    def raised(self) -> Severity:
        return list(Severity)[max(0, self.rank - 1)]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}  # every sort of findings asks for each


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"


class AgentStatus(StrEnum):
    DONE = "done"
    BLOCKED = "blocked"
    NEEDS_CLARIFICATION = "needs_clarification"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong, with an identity that outlives line numbers and wording.

    A failing test is a finding too: `rule` is its id and `category` is `tests`.
    """

    severity: Severity
    issue: str
    rule: str = ""
    file: str = ""
    line: int = 0
    evidence: str = ""
    guidance: str = ""
    requirement: str = ""
    dimension: str = ""
    category: str = ""
    expected: str = ""
    actual: str = ""
    score: float | None = None
    fingerprint: str = ""
    came_back: bool = False  # after it was gone, and weighs one step more than its judge says


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run took. `usd` is None when the agent was silent about it, which never means zero."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0
    guessed_tokens: int = 0  # of a run that did not say how many it used
    estimated: bool = False  # `usd` rests on a price list or on what was reserved


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    question: str
    options: tuple[str, ...] = ()
    impact: str = ""


KINDS_OF_TASK = ("code", "text", "tests", "cleanup")  # what a task is about, as a plan or a reviewer says it


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """An agent's own words, checked for form only. Data for the machine, never a verdict on the work."""

    status: AgentStatus = AgentStatus.DONE
    summary: str = ""
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    questions: tuple[Question, ...] = ()
    no_test: str = ""  # a maker's word why no test can show its change
    interface: str = ""  # an examiner's page: the names, signatures and files that its tests assume
    about: str = ""  # a reviewer's word on what the work is about: code, text, tests or cleanup
    extras: str = "{}"  # the result's other keys (scores, shape, tasks …) as JSON text
    transcript: Blob = Blob("")
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the code the tests reach, in lines; new code is what the candidate changed against its base."""

    covered: int
    total: int
    new_covered: int = 0
    new_total: int = 0
    floor: float | None = None  # percent that is asked for
    new_code_floor: float | None = None

    @property
    def percent(self) -> float:
        return round(100 * self.covered / self.total, 2) if self.total else 100.0

    @property
    def new_percent(self) -> float:
        return round(100 * self.new_covered / self.new_total, 2) if self.new_total else 100.0


NOT_TOUCHED = "not touched"  # the note of a check that was left out
NOTHING_YET = "nothing to run yet"  # in the note of one that found no test, where none has to be there
NOT_RUN = "not run: nothing in its paths changed"  # how it is told


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one command the engine ran had to say about one tree."""

    name: str
    passed: bool
    failures: tuple[Finding, ...] = ()
    tests: int | None = None  # None: the check gives no report that counts
    flaky: tuple[str, ...] = ()
    known: tuple[str, ...] = ()  # failures the base has too, forgiven by `baseline = true`
    coverage: Coverage | None = None  # of a check that reports it
    gone: tuple[str, ...] = ()  # tests of the base that are not there, or do not run any more
    unable: str = ""  # why it cannot run here, in a sentence
    note: str = ""
    receipt: str = ""
    reused: bool = False
    seconds: float = 0.0
    output: Blob = Blob("")
    red_before: bool | None = None  # of a demand that passed: it failed where its work started; None: nobody asked

    @property
    def ran(self) -> bool:
        """Otherwise it says nothing of this tree, and nobody may read a pass into it."""
        return not (self.passed and self.note == NOT_TOUCHED)

    @property
    def was_empty(self) -> bool:
        """It passed because there was nothing that could fail."""
        return self.passed and NOTHING_YET in self.note.split("; ")


@dataclass(frozen=True, slots=True)
class Demand:
    """A command of a task, a criterion or a mustNot: run besides the checks, it can only fail."""

    name: str  # what asks for it: `T-001`, `criterion-2`, `mustNot-1`
    argv: tuple[str, ...]
    own: tuple[str, ...] = ()  # files that whoever asks for it is to change: of a script among them the new one runs
    landed: Commit = NO_COMMIT  # where what it starts has landed, and runs from for all that comes later
    start: Commit = NO_COMMIT  # where its work starts: only a command that fails there shows anything by passing

    @property
    def rule(self) -> str:
        return demand_rule(self.name)


def demand_rule(name: str) -> str:
    """How a demand of this name is told apart from checks: what must not be is its own name."""
    return name if is_forbidden(name) else f"verify {name}"


def is_forbidden(name: str) -> bool:
    """Whether a demand of this name fails where something is there that must not be."""
    return name.startswith("mustNot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One path a candidate changed against its base."""

    path: str
    how: Literal["added", "changed", "removed"]
    blob: str = ""  # object id of the new content, empty when removed
    mode: str = ""  # as git writes it: 100644, 100755, 120000 a link, 160000 a submodule; empty when removed
    old: str = ""  # object id of the content before, empty when added
    old_mode: str = ""
    moved: str = ""  # the other path, where the same content is removed here and added there

    @property
    def words(self) -> str:
        """How it was changed, for people: a move is shown as one, though it is a removal and an addition."""
        if not self.moved:
            return self.how
        return f"moved {'to' if self.how == 'removed' else 'from'} {self.moved}"

    @property
    def place(self) -> str:
        """Its path, and where that went or came from."""
        return f"{self.path} ({self.words})" if self.moved else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a tree holds at a path: the object id of a file or folder, empty when there is nothing."""

    path: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """Everything an agent is told, as data; each room turns it into Markdown."""

    task: str
    attempt: int
    limit: int
    findings: tuple[Finding, ...] = ()
    failures: tuple[Finding, ...] = ()
    history: tuple[str, ...] = ()  # one line per earlier attempt
    criteria: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()  # what a person answered or advised
    artifacts: tuple[str, ...] = ()
    repair: str = ""  # why the last result could not be read
    base: Commit = NO_COMMIT  # what the change is measured against
    candidate: Commit = NO_COMMIT  # what is to be judged
    before: tuple[Finding, ...] = ()  # what was wrong before the loop began
    unapproved: tuple[str, ...] = ()  # places of the candidate that do not land unless a person approves
    put_back: tuple[str, ...] = ()  # locks that changed without their manifest: the base's land
    altered_tests: tuple[str, ...] = ()  # files of tests that the base has and the candidate changes
    own: Any = None  # what only this kind of loop tells: a frozen value of its room, whose fields agents find as data


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A commit that does not go together with others, and where."""

    commit: Commit
    paths: tuple[str, ...] = ()


class Cleanup(StrEnum):
    """What a cancelled loop leaves behind. No choice ever makes a commit unreachable."""

    KEEP_EVERYTHING = "keep_everything"
    KEEP_ARTIFACTS = "keep_artifacts"
    ROLLBACK = "rollback"
    FULL = "full_cleanup"


class Ending(StrEnum):
    VERIFIED = "verified"
    ACCEPTED = "accepted"
    CANCELLED = "cancelled"
    ESCALATED = "escalated"  # a child that would have asked a person
    FAILED = "failed"
    HELD = "held"  # a child that stands where its parent wanted it to wait
    REVIEWED = "reviewed"  # judged good, and no check has run on it

    @property
    def is_passed(self) -> bool:
        """Nothing that was looked at speaks against it. A parent takes both alike."""
        return self in (Ending.VERIFIED, Ending.REVIEWED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What came of one of several things a loop had to do, in a line."""

    name: str
    ending: Ending
    note: str = ""
    attempts: int = 0
    loop: LoopId = LoopId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a loop ended, for its parent, for the screen and for `--json`."""

    ending: Ending
    attempts: int = 0
    commit: Commit = NO_COMMIT
    branch: str = ""
    merged_into: str = ""
    not_merged: str = ""  # why it was not, although a merge was asked for
    take: str = ""  # the command that takes it then
    note: str = ""
    findings: tuple[Finding, ...] = ()
    cleanup: Cleanup | None = None
    parts: tuple[Part, ...] = ()
    held: tuple[Change, ...] = ()  # what it did without, and nobody has approved
    held_on: str = ""  # the branch that keeps it
    written: tuple[str, ...] = ()  # tests in it that agents wrote, and that no person has seen
    tests_of_agents: int = 0  # that the verdict rests on, where the base has none
    allowed: tuple[str, ...] = ()  # where tests might be changed without asking
    unnoticed: str = ""  # that no test notices the change, where that is only said
    evidence: Evidence | None = None  # how much the checks show of what landed
    no_test: str = ""  # of a part: why no test can show it, as its maker says
    still_held: str = ""  # why what was approved afterwards did not land
    waiting: tuple[Finding, ...] = ()  # mended only in what did not land
    mended: tuple[Finding, ...] = ()  # of a part: found beside its artifact, and resolved if all of it lands
    approved: tuple[Change, ...] = ()  # of a part: what of its commit a person approved
    may_drop: tuple[str, ...] = ()  # of a part: tests of the base that they let go with it
    hidden: tuple[str, ...] = ()  # of a part: files of tests that an examiner wrote
    stay: tuple[str, ...] = ()  # folders of its workspaces that could not be removed
    at: Point = NO_POINT  # where a child that has not ended stands
    asking: Key = NO_KEY  # the question it waits with
    loop: LoopId = LoopId("")
