"""The words every loop shares: ids, severities, findings, reports, results, outcomes.

Everything here is a frozen value. Nothing here knows a clock, a path or a process.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NewType

LoopId = NewType("LoopId", str)
Key = NewType("Key", str)  # one try of one action, unique within its loop: `implement-2.1`
Commit = NewType("Commit", str)
Tree = NewType("Tree", str)
Blob = NewType("Blob", str)  # sha256 of what was too big for an event

NO_COMMIT = Commit("")


class Severity(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is worst, so that sorting puts what matters first."""
        return list(Severity).index(self)

    def raised(self) -> Severity:
        return list(Severity)[max(0, self.rank - 1)]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run took. `usd` is None when the agent was silent about it, which never means zero."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    question: str
    options: tuple[str, ...] = ()
    impact: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """An agent's own words, checked for form only. Data for the machine, never a verdict on the work."""

    status: AgentStatus = AgentStatus.DONE
    summary: str = ""
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    questions: tuple[Question, ...] = ()
    extras: str = "{}"  # the result's other keys (scores, shape, tasks …) as JSON text
    transcript: Blob = Blob("")
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one command the engine ran had to say about one tree."""

    name: str
    passed: bool
    failures: tuple[Finding, ...] = ()
    tests: int | None = None  # None: the check gives no report that counts
    flaky: tuple[str, ...] = ()
    known: tuple[str, ...] = ()  # failures the base has too, forgiven by `baseline = true`
    note: str = ""
    receipt: str = ""
    reused: bool = False
    seconds: float = 0.0
    output: Blob = Blob("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One path a candidate changed against its base."""

    path: str
    how: Literal["added", "changed", "removed"]
    blob: str = ""  # object id of the new content, empty when removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """Everything an agent is told, as data; `projections.briefs` turns it into Markdown."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a loop ended, for its parent, for the screen and for `--json`."""

    ending: Ending
    attempts: int = 0
    commit: Commit = NO_COMMIT
    branch: str = ""
    merged_into: str = ""
    note: str = ""
    findings: tuple[Finding, ...] = ()
    cleanup: Cleanup | None = None
    loop: LoopId = LoopId("")
