"""What the review of one artifact and a batch of them share: the limits, and how what came of them is told.

An artifact has passed, is blocked with everything unresolved, or is not decided yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from loopwright.kernel.events import IntegrationRefused
from loopwright.kernel.model import Commit, Finding, LoopId, Severity
from loopwright.kernel.wording import counted, told

_SHOWN = 20
REVIEWING = (
    "An attempt is one review. No fix is asked for that no review would see: when the last review blocks, a person is"
    " asked. Continuing grants more reviews; only revising starts the count anew."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityLimits:
    max_attempts: int = 3  # an attempt is one review
    # More high findings than this block; any critical one does.
    p1_threshold: int = field(default=2, metadata={"least": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierPass:
    """Another loop passed the artifact, and what it passed could not be landed: the reviews go on from there."""

    attempts: int  # reviews made by then; they count
    commit: Commit
    made_on: Commit  # what that commit is a change to
    landing: IntegrationRefused
    mended: tuple[Finding, ...] = ()  # found beside the artifact and gone by then, in short


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """As an agent's result has it, with the identity it keeps from review to review."""

    severity: Severity
    rule: str
    file: str
    line: int
    issue: str
    evidence: str
    guidance: str
    id: str
    text: str = ""  # in one line, for people
    requirement: str = ""
    category: str = ""
    expected: str = ""
    actual: str = ""
    dimension: str = ""
    score: float | None = None


def show(finding: Finding) -> ShownFinding:
    return ShownFinding(
        severity=finding.severity,
        rule=finding.rule,
        file=finding.file,
        line=finding.line,
        issue=finding.issue,
        evidence=finding.evidence,
        guidance=finding.guidance,
        id=finding.fingerprint,
        text=told(finding),
        requirement=finding.requirement,
        category=finding.category,
        expected=finding.expected,
        actual=finding.actual,
        dimension=finding.dimension,
        score=finding.score,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedArtifact:
    """An artifact that only a person can help, or was not helped: accepted and cancelled ones too."""

    artifact: str
    reason: str  # MAX_LOOPS_REACHED, CONFLICT (its fix does not go together with another), or a sentence
    attempts: int  # reviews made
    unresolved: tuple[ShownFinding, ...]  # the worst first
    file: str | None  # where the findings are handed over; null: inline, or it is gone again
    fixes: int = 0
    recommendation: str = ""
    loop: LoopId = LoopId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewResult:
    """What `loop review --json` adds to what every loop answers."""

    passed: tuple[str, ...] = ()
    blocked: tuple[BlockedArtifact, ...] = ()
    pending: tuple[str, ...] = ()  # no last word on them yet
    rounds: int = 0  # begun; of a single artifact, reviews made
    fixes: int = 0  # asked for, in all
    unresolved: tuple[ShownFinding, ...] = ()  # of a single artifact, what is open now; of a batch, what did not land


def unresolved_lines(result: ReviewResult) -> tuple[str, ...]:
    """Every artifact that is blocked with what is wrong with it, the worst first, within bounds."""
    lines: list[str] = []
    room = _SHOWN
    alone = len(result.blocked) == 1 and not result.passed and not result.pending  # then the question itself advises
    for number, each in enumerate(result.blocked):
        if room <= 0:
            return (*lines, f"and {counted(len(result.blocked) - number, 'more artifact')}; --json tells all")
        lines += _block(each, room, advises=not alone)
        room -= max(1, len(each.unresolved))
    return tuple(lines)


def _block(each: BlockedArtifact, room: int, *, advises: bool) -> Iterator[str]:
    did = f"{counted(each.attempts, 'review')}, {counted(each.fixes, 'fix', 'fixes')}"
    left = f", {len(each.unresolved)} unresolved" if each.unresolved else ""
    yield f"{each.artifact}: {each.reason} ({did}{left})"
    worst = sorted(each.unresolved, key=lambda finding: finding.severity.rank)
    for finding in worst[:room]:
        yield f"  [{finding.severity.value}] {finding.text}"
    if len(worst) > room:
        yield f"  and {len(worst) - room} more"
    if each.file:
        yield f"  all of it in {each.file}"
    if each.recommendation and advises:
        yield f"  {each.recommendation}"
