"""What the quality loop remembers of one artifact, and the questions its rules ask of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from loopwright.kernel.findings import identify
from loopwright.kernel.ledger import Entry, Ledger, Standing, mended_in, unresolved
from loopwright.kernel.model import NO_COMMIT, Commit, Content, Finding, Severity, Tree, Verdict
from loopwright.kernel.touched import Touched
from loopwright.kernel.trust import Trust
from loopwright.loops.accepting import ShownRed, with_shown
from loopwright.loops.course import Course, Station, entered
from loopwright.loops.reviewed import EarlierPass, QualityLimits

ENGINE = "engine"  # what no reviewer said: no verdict, the artifact is gone
LANDING = "landing"  # why what passed could not be landed


class Gate(StrEnum):
    PLAN = "plan"
    TEST = "test"
    CODE = "code"
    QUALITY = "quality"
    DESIGN = "design"
    STORY = "story"


class Depth(StrEnum):
    QUICK = "quick"
    COMPREHENSIVE = "comprehensive"


class QualityPhase(StrEnum):
    LOAD_ARTIFACTS = "LOAD_ARTIFACTS"
    RUN_CHECKS = "RUN_CHECKS"
    EMIT_VERDICT = "EMIT_VERDICT"
    FIX = "FIX"
    CHECKPOINT = "CHECKPOINT"
    VERIFY = "VERIFY"  # the project's own checks; RUN_CHECKS is the reviewer's look, as it was first called


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A finding of an earlier review of the same story, of this gate or another."""

    finding: Finding
    gate: str
    resolved: bool = False
    accepted: bool = False  # a person has taken it as debt
    elsewhere: bool = False  # what resolved it has not landed here


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferred:
    """A finding that does not count, and the rule that says so."""

    finding: Finding
    round: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One review, and what the fix after it said."""

    number: int
    commit: Commit
    verdict: Verdict
    line: str  # `TOKEN: artifact`
    why: str
    findings: tuple[Finding, ...] = ()
    judged: bool = True  # false: nobody gave a verdict
    gone: bool = False  # there was nothing to review
    unchanged: bool = False  # the tree was judged before, and nobody was asked again
    changed: bool = False  # the candidate differed from the base
    fix: str = ""
    refused: str = ""  # why it passed and yet could not be landed
    onto: Commit = NO_COMMIT  # what it is measured against, if that is not the base the loop began with
    tree: Tree = Tree("")  # of the commit, where a fix made it
    answers: int = 0  # what people had said by then

    @property
    def reviewed(self) -> bool:
        """A reviewer has seen it and said so."""
        return self.judged and not self.gone and not self.unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityParams:
    """What a quality loop is started with. A child (`lands` false) leaves its result to its parent."""

    artifact: str
    base: Commit  # the tree that is reviewed first
    story: str  # whose handoff the findings go to
    against: Commit = NO_COMMIT  # what the base is compared with for the first review
    gate: Gate = Gate.CODE
    depth: Depth = Depth.QUICK
    file: str = ""  # where findings are handed over, in the workspace; empty: inline
    task: str = ""
    criteria: tuple[str, ...] = ()
    reviewer: str = "reviewer"
    creator: str = "creator"
    tier: str = "small"
    limits: QualityLimits = QualityLimits()
    known: tuple[Known, ...] = ()
    lands: bool = True
    target: str = ""
    branch: str = ""
    merge: bool = False
    checked: bool = False  # the project has checks that a merged tree must pass
    adopted: str = ""  # JSON: the handoff of another tool that the story's own begins with
    earlier: EarlierPass | None = None
    trust: Trust = Trust()
    firm: bool = False  # a no stays a no; a review that began before that rule is told by those it began with
    shown: str = ""  # where a person finds what is in `file`; empty: in their tree, at the same place
    accepts_checked: bool = False  # what is accepted runs the checks, too; one that began before lands it as it did

    @property
    def shown_file(self) -> str:
        return self.shown or self.file

    @property
    def asked_in(self) -> tuple[str, ...]:
        """The words that say what is needed. A folder names what is product in it: a test below is held back as
        anywhere, unless the person's own words name it."""
        if f"{self.artifact}/" not in self.trust.artifacts:
            return (self.artifact, self.task)
        return (self.task,) if self.task != usual_task(self.artifact, self.gate) else ()


def usual_task(artifact: str, gate: str) -> str:
    """Where the person said no more than what is to be reviewed."""
    return f"Review {artifact} at the {gate} gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFacts:
    """What both parts are told besides what the roles of every loop are."""

    gate: str
    depth: str = ""
    story: str = ""  # whose findings they are: the id in the file that hands them over
    findings_file: str = ""  # the findings are handed over in this file beside the artifact, and nowhere else
    observations: tuple[Finding, ...] = ()  # what need not be fixed, for a creator that mends all it can


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityState:
    plan: QualityParams
    allowance: int  # reviews that may be made in all
    commit: Commit  # the newest candidate
    phase: QualityPhase = QualityPhase.LOAD_ARTIFACTS
    course: Course = Course()
    ledger: Ledger = ()
    number: int = 1  # of the present review
    since: int = 1  # the review from which the floor rises: a person's new guidance starts it anew
    rounds: tuple[Round, ...] = ()
    fixes: int = 0
    changed: bool = False  # the candidate differs from the base
    onto: Commit = NO_COMMIT  # the base by now: a landing that was refused moves it to where the target stands
    contents: tuple[Content, ...] = ()
    untouched: bool = False  # the last fix left the artifact as it was
    ignored: tuple[str, ...] = ()  # files the last fix changed that no finding names
    touched: tuple[Touched, ...] = ()  # lines that fixes have changed
    tree: Tree = Tree("")  # of the newest candidate, where a fix made it
    verified: bool = False  # the project's checks have passed on it
    red: ShownRed | None = None  # what of the last review's candidate, or of the accepted one, a person saw fail
    deferred: tuple[Deferred, ...] = ()
    dropped: tuple[str, ...] = ()  # findings of the present review that lacked evidence or guidance


def start(params: QualityParams) -> QualityState:
    params = replace(params, known=_once(params.known))
    return QualityState(
        plan=params,
        allowance=params.limits.max_attempts,
        commit=params.base,
        ledger=tuple(_entry(known) for known in params.known if known.gate == params.gate and not known.accepted),
    )


def _once(known: tuple[Known, ...]) -> tuple[Known, ...]:
    """Each with its identity, and each of a gate once: a handoff that others wrote may tell one again and again."""
    named = (replace(each, finding=identify(each.finding)) for each in known)
    return tuple({(each.gate, each.finding.fingerprint): each for each in named}.values())


def _entry(known: Known) -> Entry:
    standing = Standing.RESOLVED if known.resolved else Standing.OPEN
    return Entry(finding=known.finding, source=known.gate, standing=standing, first=0, last=0, streak=0)


def with_mended(ledger: Ledger, gate: str, earlier: EarlierPass) -> Ledger:
    """With what the loop that this one goes on from has mended beside the artifact: it may land only now."""
    last = earlier.attempts
    gone = {
        finding.fingerprint: Entry(
            finding=finding, source=gate, standing=Standing.RESOLVED, first=last, last=last, streak=0
        )
        for finding in earlier.mended
    }
    others = (each for each in ledger if each.source != gate or each.finding.fingerprint not in gone)
    return (*others, *gone.values())


def reviews_made(state: QualityState) -> int:
    """With those of the loop that this one goes on from."""
    return state.rounds[-1].number if state.rounds else 0


def base_of(state: QualityState) -> Commit:
    return state.onto or state.plan.base


def tokens(plan: QualityParams) -> tuple[str, str]:
    """The words for passed and blocked: a quick look checks, everything else judges quality."""
    whole = plan.depth is Depth.COMPREHENSIVE or plan.gate in (Gate.DESIGN, Gate.STORY)
    return ("QUALITY_PASS", "QUALITY_BLOCKED") if whole else ("CHECK_PASSED", "CHECK_BLOCKED")


def verdict_line(state: QualityState) -> str:
    """The newest verdict, as it stands now: what passed and could not be landed is blocked after all."""
    if not state.rounds:
        return ""
    last = state.rounds[-1]
    return f"{tokens(state.plan)[1]}: {state.plan.artifact}" if last.refused else last.line


def open_findings(state: QualityState) -> tuple[Finding, ...]:
    """Everything that is wrong and counts, worst first."""
    held = tuple(f for source in (state.plan.gate, ENGINE, LANDING) for f in unresolved(state.ledger, source))
    return tuple(sorted(with_shown(held, state.red), key=lambda finding: finding.severity.rank))


def left_in_taken(state: QualityState) -> tuple[Finding, ...]:
    """What is wrong with what a person has accepted."""
    return with_shown(taken(state).findings, state.red)


def failing(state: QualityState) -> tuple[Finding, ...]:
    """What a person saw fail of what they would accept."""
    return state.red.faults if state.red else ()


def waiting(state: QualityState) -> tuple[Finding, ...]:
    """What is gone only where the files that did not land are as the candidate has them."""
    outcome = state.course.outcome
    if outcome is not None:
        return outcome.waiting
    return mended_unlanded(state) if state.course.station is Station.LAND else ()


def mended_unlanded(state: QualityState) -> tuple[Finding, ...]:
    """Of what a person accepted, which is not always the last, all that was found in these files and is not in it."""
    return mended_among(state, state.course.unlanded)


def mended_among(state: QualityState, files: frozenset[str]) -> tuple[Finding, ...]:
    if not state.course.accepted:
        return mended_in(state.ledger, files, state.plan.gate)
    left = {finding.fingerprint for finding in taken(state).findings}
    own = (entry.finding for entry in state.ledger if entry.source == state.plan.gate and entry.last)
    return tuple(each for each in own if each.file in files and each.fingerprint not in left)


def counted(findings: tuple[Finding, ...], severity: Severity) -> int:
    return sum(finding.severity is severity for finding in findings)


def to_fix(state: QualityState) -> tuple[Finding, ...]:
    """What the creator is told. In quick depth medium and low are observations, told only when nothing else is;
    a file beside the artifact has them all, for it is the person's too.
    """
    held = unresolved(state.ledger, LANDING) + unresolved(state.ledger, state.plan.gate)
    held = with_shown(held, state.red) if state.red and state.red.of == state.commit else held
    if state.plan.depth is not Depth.QUICK or state.plan.file:
        return held
    return tuple(f for f in held if f.severity in (Severity.CRITICAL, Severity.HIGH)) or held


def observed(state: QualityState) -> tuple[Finding, ...]:
    """What the creator is not told to fix."""
    asked = to_fix(state)
    return tuple(f for f in unresolved(state.ledger, state.plan.gate) if f not in asked) if not state.plan.file else ()


def best_round(rounds: tuple[Round, ...]) -> Round | None:
    """The review with least left wrong; of equals, the later one."""
    return min((each for each in rounds if each.judged), key=_distance_from_pass, default=None)


def _distance_from_pass(each: Round) -> tuple[bool, int, int, int, int]:
    found = each.findings
    critical, high = counted(found, Severity.CRITICAL), counted(found, Severity.HIGH)
    return (each.verdict is not Verdict.PASS, critical, high, len(found), -each.number)


def taken(state: QualityState) -> Round:
    """The review whose candidate is the result: the best one once a person has accepted, else the last."""
    best = best_round(state.rounds) if state.course.accepted else None
    return best or state.rounds[-1]


def next_review(state: QualityState) -> QualityState:
    return entered(replace(state, number=state.number + 1, dropped=()), QualityPhase.LOAD_ARTIFACTS)


def next_step(state: QualityState, phase: QualityPhase) -> QualityState:
    """Of the same round. Its tries go on, so that no key is ever used twice."""
    return entered(state, phase, tries=state.course.trial.tries + 1)
