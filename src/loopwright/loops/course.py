"""What every loop remembers beside its own phases: the tries of its steps, its gates, what people were asked and said,
and how it ends. Pure moves on any state that has a `course`.

A state's `phase` is the machine's own. While `course.station` is set, the loop stands outside of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from loopwright.kernel.changing import replace
from loopwright.kernel.events import AgentFailed, AgentUnavailable, ChecksReported, IntegrationRefused
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.findings import normalise
from loopwright.kernel.gates import PROTECTED, UNSHOWN, UNTESTED
from loopwright.kernel.model import NO_COMMIT, Change, Cleanup, Commit, Finding, Outcome, Question, Tree
from loopwright.kernel.quoting import one_line
from loopwright.kernel.risks import Risk
from loopwright.kernel.trust import RedTests, Trust, evidence_with, tests_of
from loopwright.kernel.wording import guided, join_names, name_causes, told_with_cause

LEAST_WAIT, LONGEST_WAIT = 5.0, 600.0  # seconds, where the agent asks for no more
WHY_HELD = "what takes part in judging was changed; until a person approves, the base's versions stand"
WHY_STILL_HELD = "it was approved and could not land: "
MOST_WAITS = 10  # in a row, then a person is asked
IN_PART = "a person, in the task's own loop"
_NAMED = 3  # files in a sentence
_REFACTORING = "a refactoring needs no such test: approve it, and start the next one with `--keeps-behaviour`"
_MOST_NOTES = 5  # in an explanation
_BY_TREE = (UNTESTED, UNSHOWN)  # gates that are decided for one tree


class Station(StrEnum):
    """Where a loop can stand outside of its own phases."""

    PREFLIGHT = "PREFLIGHT"
    GATE = "GATE"
    LAND = "LAND"
    CLARIFY = "CLARIFY"
    ESCALATED = "ESCALATED"
    CLEAN_UP = "CLEAN_UP"
    DONE = "DONE"
    HELD_CHECK = "HELD_CHECK"
    HELD_LAND = "HELD_LAND"


class Ruling(StrEnum):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


_FIRST = (Ruling.REJECTED, Ruling.OPEN, Ruling.APPROVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a step that an agent does is going. What side steps are told apart by is the `part` of their keys.

    A result that cannot be read is asked for once more, a crash is respawned once, and an agent that is not available
    is waited for; none of these uses up an attempt.
    """

    part: str = ""
    tries: int = 1
    respawned: bool = False
    repaired: bool = False
    repair: str = ""  # why the last result could not be used
    said_no: bool = False  # the last result was a no that did not say why: what is asked for is the reason
    until: float | None = None  # nobody can do the step before then
    waits: int = 0  # how often in a row the agent was not available
    held: bool = False  # it has asked, and goes on with the answer
    crash: str = ""  # how it went wrong when it was respawned

    def again(self) -> Trial:
        """The same step once more, under a new key."""
        return replace(self, tries=self.tries + 1, until=None)

    def rested(self) -> Trial:
        """Once more with every chance a new step has; a no that is not explained is one all the same."""
        return Trial(part=self.part, tries=self.tries + 1, said_no=self.said_no)

    def to_explain(self, why: str) -> Trial | None:
        """As `to_repair`, of a no: whatever comes next, a pass it is not."""
        once_more = self.to_repair(why)
        return None if once_more is None else replace(once_more, said_no=True)

    def to_repair(self, why: str) -> Trial | None:
        """Asked for its result once more; None: it was asked already."""
        return None if self.repaired else replace(self.again(), repaired=True, repair=why, waits=0)

    def after(self, event: AgentFailed) -> Trial | None:
        """The step after a failure that is not counted; None: now it is."""
        if event.reason == "garbled":
            return self.to_repair(event.detail or "the result could not be read")
        return None if self.respawned else replace(self.again(), respawned=True, crash=_crash(event), waits=0)

    def is_same_crash(self, event: AgentFailed) -> bool:
        """The same thing went wrong twice in a row: a third run would only cost."""
        return event.reason == "crashed" and bool(event.detail) and self.crash == _crash(event)

    def waiting(self, event: AgentUnavailable) -> Trial:
        """Until the agent says that it is there, and each time in a row for longer: some say at once, for ever."""
        if not event.role:
            return replace(self, until=event.until)  # as it was when the log was written
        least = min(LEAST_WAIT * 2**self.waits, LONGEST_WAIT)
        return replace(self, until=max(event.until, event.at + least), waits=self.waits + 1)


def _crash(event: AgentFailed) -> str:
    return normalise(f"{event.reason} {event.detail}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNote:
    """What is to be known about one changed file, as long as a person is asked about that file."""

    file: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRecord:
    """What a person decided, or has still to decide, on exactly one piece of evidence."""

    gate: str
    evidence: str
    because: tuple[Change, ...] = ()
    commit: Commit = NO_COMMIT  # where it can be seen now
    tree: Tree = Tree("")  # of that commit
    why: str = ""
    ruling: Ruling = Ruling.OPEN
    reason: str = ""
    by: str = ""
    failing: tuple[str, ...] = ()  # tests that fail without the changes
    dropped: tuple[str, ...] = ()  # tests of the base that an approval lets go
    due: bool = True  # the present candidate calls for it
    lasting: bool = False  # may still be decided when the loop has ended
    reasons: tuple[Risk, ...] = ()  # where rules found what called for it
    red_at: Commit = NO_COMMIT  # where a test failed when a fix was requested: what is decided on was changed since
    covers: tuple[str, ...] = ()  # of `untested`: the code that nobody notices, as it is
    notes: tuple[FileNote, ...] = ()  # a decision on one file takes its notes along

    @property
    def explanation(self) -> str:
        """Return why it is asked for, with what is to be known about the files that it is still about."""
        files = {path for change in self.because for path in (change.path, change.moved)}
        told = tuple(each.text for each in self.notes if each.file in files)
        more = (f"and {len(told) - _MOST_NOTES} more",) if len(told) > _MOST_NOTES else ()
        way = (_REFACTORING,) if self.gate == UNSHOWN else ()
        return "; ".join((self.why, *told[:_MOST_NOTES], *more, *way))

    @property
    def decision(self) -> str:
        """The approval in one short sentence."""
        files = join_names(tuple(dict.fromkeys(change.place for change in self.because)), _NAMED)
        if self.gate == PROTECTED:
            told = f"change to {files}" if files else f"loss of {join_names(self.dropped, _NAMED)}"
        else:
            told = f"{self.gate} change" + (f" to {files}" if files else "")
        reason = f" ({one_line(self.reason, 200)})" if self.reason else ""
        return f"{one_line(told, 500)} approved by {one_line(self.by, 100) or 'a person'}{reason}"

    @property
    def paths(self) -> str:
        places = (*(change.place for change in self.because), *(risk.file for risk in self.reasons))
        return ", ".join(dict.fromkeys(places))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What a role has to know before it goes on, or that has to be mended before it can."""

    role: str
    questions: tuple[Question, ...]
    because: Literal["asks", "crashed", "away"] = "asks"


class Judged(Protocol):
    @property
    def gated(self) -> tuple[Change, ...]:
        """What it changes of protected files."""


A = TypeVar("A", bound=Judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    station: Station | None = None
    trials: tuple[Trial, ...] = (Trial(),)  # of the step under way, and of those beside it
    gates: tuple[GateRecord, ...] = ()
    inquiries: tuple[Inquiry, ...] = ()
    answers: tuple[str, ...] = ()  # what people said about the work, for every role
    released: tuple[str, ...] = ()  # patterns under which people let tests that landed before be changed
    advised: tuple[str, ...] = ()  # what agents advise the next attempt
    refusals: tuple[str, ...] = ()  # changes that a person rejected, for whoever makes them
    asked: int = 0
    reasons: tuple[str, ...] = ()  # why it is escalated
    accepted: bool = False
    merge_accepted: bool = False
    preflighted: bool = False  # the checks were tried on the base
    before: tuple[Finding, ...] = ()  # what was wrong before the loop began
    forgiven: tuple[str, ...] = ()  # tests that were red then, where `baseline = true` forgives them
    red: tuple[str, ...] = ()  # the checks that said so here, before anybody was paid
    red_tests: tuple[RedTests, ...] = ()  # tests of its own attempts that failed, the oldest first
    made: tuple[Commit, ...] = ()  # where the new tests ran last, and what the maker has left since
    told: tuple[str, ...] = ()  # what the maker heard of the last claim: another attempt with it waits for a person
    told_untested: bool = False  # the maker heard that no check looks at the change
    told_unshown: bool = False  # the maker heard that no test tells the change from the base
    no_test: str = ""  # why no test can, as the maker says
    evidence: Evidence | None = None  # how much the checks show of the candidate
    by_word: tuple[str, ...] = ()  # what people decided apart from gates, in sentences
    lands: Tree = Tree("")  # what of the candidate lands; empty: all of it
    held: tuple[Change, ...] = ()  # what does not, unless a person approves
    put_back: tuple[str, ...] = ()  # nor these, and nobody is asked: locks without their manifest
    altered_tests: tuple[str, ...] = ()  # files of tests of the base that the candidate changes
    candidate: Commit = NO_COMMIT  # with all of it
    landed: Commit = NO_COMMIT  # where its own branch stands
    held_tries: int = 0  # how often what was held back was to be landed after all
    held_again: tuple[Change, ...] = ()  # what the last of these tries does without
    written: tuple[str, ...] = ()  # tests of the candidate that agents wrote
    tests_of_agents: int = 0  # that its verdict rests on, where the base has none
    unnoticed: str = ""  # that no test notices it, where that is only said
    untested: bool = False  # a person took it although nothing shows that the checks look at it
    cancel: Cleanup | None = None
    outcome: Outcome | None = None

    @property
    def trial(self) -> Trial:
        return self.trials[0]

    def trial_of(self, part: str) -> Trial:
        return next((trial for trial in self.trials if trial.part == part), self.trial)

    @property
    def unapproved(self) -> tuple[str, ...]:
        """Places of the present candidate that land only if a person approves, whatever was decided: a brief is one."""
        return tuple(change.place for gate in self.parts(PROTECTED) for change in gate.because)

    def due(self, gate: str) -> GateRecord | None:
        """Return the part of this gate that decides what happens next: a rejected one, else an open one."""
        return min(self.parts(gate), key=lambda each: _FIRST.index(each.ruling), default=None)

    def parts(self, gate: str) -> tuple[GateRecord, ...]:
        """Return all that the present candidate calls for at this gate, decided or not."""
        return tuple(each for each in self.gates if each.gate == gate and each.due)

    @property
    def decisions(self) -> tuple[str, ...]:
        """Return what people decided of what checks cannot. Of a part, its own loop says who approved it."""
        approved = (each for each in self.gates if each.ruling is Ruling.APPROVED and each.by != IN_PART)
        of_candidate = (each for each in approved if each.gate == PROTECTED or (each.due and each.gate in _BY_TREE))
        told = (each.decision for each in of_candidate)
        return tuple(dict.fromkeys((*self.by_word, *told)))

    @property
    def shown(self) -> Evidence | None:
        """Return the evidence with the decisions that the candidate rests on."""
        return with_decisions(self.evidence, self.decisions) if self.evidence else None

    @property
    def tests_to_pass(self) -> tuple[RedTests, ...]:
        """Tests that judge the next candidate in the version in which they failed: on the base, then since."""
        on_base = (RedTests(tests=ids_of_tests(self.before)), RedTests(tests=self.forgiven, forgiven=True))
        return (*(each for each in on_base if each.tests), *self.red_tests)

    @property
    def unlanded(self) -> frozenset[str]:
        """Paths of the candidate that are as in the base where it landed: held back, or rejected afterwards."""
        return frozenset(change.path for change in (*self.held, *self.left_out))

    @property
    def left_out(self) -> tuple[Change, ...]:
        """Changes that were held back and then rejected."""
        parts = (each for each in self.parts(PROTECTED) if each.lasting and each.ruling is Ruling.REJECTED)
        return tuple(change for each in parts for change in each.because)

    @property
    def open_gates(self) -> tuple[GateRecord, ...]:
        return tuple(each for each in self.gates if each.due and each.ruling is Ruling.OPEN)

    @property
    def approvals(self) -> tuple[str, ...]:
        """Return the ids of all approved gates: another one makes for other checks."""
        return tuple(each.evidence for each in self.gates if each.ruling is Ruling.APPROVED)

    @property
    def approved(self) -> tuple[Change, ...]:
        """Return every change that a person has approved."""
        return tuple(dict.fromkeys(c for each in self.gates if each.ruling is Ruling.APPROVED for c in each.because))

    @property
    def may_drop(self) -> tuple[str, ...]:
        """Every test of the base that a person lets go."""
        held = (test for each in self.gates if each.ruling is Ruling.APPROVED for test in each.dropped)
        return tuple(dict.fromkeys(held))

    def not_rejected(self, past: tuple[A, ...]) -> tuple[A, ...]:
        """Return the attempts without a change that a person said no to."""
        rejected = [set(each.because) for each in self.gates if each.ruling is Ruling.REJECTED and each.because]
        return tuple(each for each in past if not any(changes <= set(each.gated) for changes in rejected))


def with_decisions(evidence: Evidence | None, decisions: tuple[str, ...]) -> Evidence | None:
    """Return the evidence of what ends; where no check has tried it, people may have decided on it all the same."""
    if not decisions:
        return evidence
    evidence = evidence or Evidence(level=Level.NOT_SHOWN)
    return replace(evidence, decisions=tuple(dict.fromkeys((*evidence.decisions, *decisions))))


def ids_of_tests(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.rule for each in findings if each.category == "tests"))


class OnCourse(Protocol):
    """A machine's state: frozen, with phases of its own and a course."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def phase(self) -> StrEnum: ...
    @property
    def course(self) -> Course: ...


S = TypeVar("S", bound=OnCourse)


def where(state: OnCourse) -> str:
    return (state.course.station or state.phase).value


def at_work(state: OnCourse, *phases: StrEnum) -> bool:
    """Whether it stands in one of these phases of its own."""
    return state.course.station is None and state.phase in phases


def steered(state: S, **changes: Any) -> S:  # noqa: ANN401 - the fields of a course
    return replace(state, course=replace(state.course, **changes))


def entered(state: S, phase: StrEnum, *, tries: int = 1) -> S:
    """At work in a phase of its own. `tries` goes on where keys of one attempt would else be used twice."""
    return steered(replace(state, phase=phase), station=None, trials=(Trial(tries=tries),), inquiries=())


def stationed(state: S, station: Station) -> S:
    """Outside of its own phases. The step that led here keeps its tries: no key is ever used twice."""
    return steered(state, station=station, inquiries=())


def landing(state: S, *, tries: int = 1) -> S:
    """What was judged good is landed."""
    return stationed(entered(state, state.phase, tries=tries), Station.LAND)


def taking(state: S) -> S:
    """What a person accepted is landed."""
    return stationed(state, Station.LAND)


def tried_on_the_base(state: S, trust: Trust) -> S:
    """Before anybody is paid, once in a root: can the checks run here, and what was wrong before?"""
    if not trust.in_force or trust.base or state.course.preflighted or state.course.station is not None:
        return state
    return stationed(state, Station.PREFLIGHT)


def told_apart(course: Course, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What was wrong before the loop began says so: whoever reads it did not break it."""
    known = {_known_by(each) for each in course.before} - {""}
    return tuple(
        replace(each, issue=f"(was so before you) {each.issue}") if _known_by(each) in known else each
        for each in findings
    )


def _known_by(finding: Finding) -> str:
    """A test by its id, a check by its name. The rule of a linter is broken in more than one place."""
    return finding.rule if finding.category in ("tests", "checks") else finding.fingerprint


def was_so_before(course: Course, failing: tuple[Finding, ...]) -> tuple[str, ...]:
    """For whoever is asked: that no attempt broke this, and what can be done. Only where the base was tried."""
    fails = {_known_by(each) for each in failing} - {""}
    known = tuple(each for each in course.before if _known_by(each) in fails)
    if not known or not course.red:
        return ()
    tables = ", ".join(f"[checks.{name}]" for name in course.red)
    # An exit code alone cannot tell old from new: forgiven, it would judge nothing.
    # Nor is a test forgiven that the candidate changes: the work is about it.
    is_forgivable = any(each.category != "checks" for each in known)
    is_forgivable = is_forgivable and not any(each.file in course.written for each in known)
    forgive = f", or forgive it with `baseline = true` in {tables} of loop.toml" if is_forgivable else ""
    advice = guided(known) or f"mend it{forgive}"
    named = join_names(tuple(told_with_cause(each) for each in known), _NAMED)
    return (f"what fails was so before, on the base: {named}; {advice}",)


def cleaning_up(state: S) -> S:
    return stationed(state, Station.CLEAN_UP)


def at_the_gate(state: S) -> S:
    """Nothing but a person's decision is missing."""
    return stationed(state, Station.GATE)


def escalated(state: S, reasons: tuple[str, ...], failing: tuple[Finding, ...] = ()) -> S:
    """With a question to a person; `failing` is what fails, of which some may have failed before."""
    before = was_so_before(state.course, failing)
    known = {_known_by(each) for each in state.course.before} if before else set[str]()
    fresh = tuple(
        each for each in failing if _known_by(each) not in known and not each.issue.startswith(reasons or "\n")
    )
    causes = (f"failing: {told}",) if (told := name_causes(fresh)) else ()
    # What the engine has to say comes after the tests that fail.
    why = (*reasons, *causes, *before) if ids_of_tests(fresh) else (*reasons, *before, *causes)
    return steered(stationed(state, Station.ESCALATED), reasons=why, asked=state.course.asked + 1)


def done(state: S, outcome: Outcome) -> S:
    return steered(stationed(state, Station.DONE), outcome=outcome)


def not_landed(state: S, event: IntegrationRefused) -> S:
    """A person hears why, and nothing is accepted."""
    why = f"the result could not be landed: {event.detail or event.reason}"
    return escalated(steered(state, accepted=False), (why,), event.findings)


def resume_asked(state: S, said: str) -> S:
    """Whoever asked a person goes on where it was, with what they said."""
    course = state.course
    return steered(
        state,
        station=None,
        trials=tuple(trial.rested() if trial.held else trial for trial in course.trials),
        inquiries=(),
        answers=(*course.answers, said),
    )


def with_trial(state: S, trial: Trial) -> S:
    trials = tuple(trial if each.part == trial.part else each for each in state.course.trials)
    return steered(state, trials=trials)


def called_for(state: S, gate: GateRecord) -> S:
    """Call for this gate on behalf of the newest candidate; without evidence, for nothing.

    Decisions stand: the gate is opened for the changes that nobody has decided on.
    """
    others = tuple(replace(each, due=False) if each.gate == gate.gate else each for each in state.course.gates)
    if not gate.evidence:
        return steered(state, gates=others)
    if (same := _find(others, gate)) is None and gate.gate == PROTECTED:
        parts = tuple(each for each in others if each.gate == gate.gate and _holds_for(each, set(gate.because)))
        now = {"due": True, "commit": gate.commit, "tree": gate.tree, "lasting": gate.lasting}
        others = tuple(replace(each, **now) if each in parts else each for each in others)
        rest = _undecided(state.course, gate, parts)
        if rest is None:
            return steered(state, gates=others)
        gate, same = rest, _find(others, rest)
    if same is None:
        return steered(state, gates=(*others, gate))
    again = replace(gate, ruling=same.ruling, reason=same.reason, by=same.by)
    return steered(state, gates=tuple(again if each is same else each for each in others))


def _find(gates: tuple[GateRecord, ...], gate: GateRecord) -> GateRecord | None:
    return next((each for each in gates if (each.gate, each.evidence) == (gate.gate, gate.evidence)), None)


def _holds_for(decided: GateRecord, changes: set[Change]) -> bool:
    """Return whether the decision holds here: an approval for each change by itself, a rejection for all together."""
    if decided.ruling is Ruling.APPROVED:
        return not changes.isdisjoint(decided.because)
    return decided.ruling is Ruling.REJECTED and bool(decided.because) and changes.issuperset(decided.because)


def _undecided(course: Course, gate: GateRecord, parts: tuple[GateRecord, ...]) -> GateRecord | None:
    """Return what of the gate is left to decide beside these parts."""
    decided = {change for each in parts for change in each.because}
    rest = tuple(change for change in gate.because if change not in decided)
    rejected = tuple(change for each in parts if each.ruling is Ruling.REJECTED for change in each.because)
    gone = {*course.may_drop, *tests_of(gate.dropped, rejected, rest)}
    dropped = tuple(test for test in gate.dropped if test not in gone)
    if rest and parts:
        return replace(gate, because=rest, dropped=dropped, evidence=evidence_with(rest, dropped))
    is_rejected = any(each.ruling is Ruling.REJECTED for each in parts)
    return gate if not parts or (dropped and not is_rejected) else None


def note_red_tests(state: S, report: ChecksReported, commit: Commit) -> S:
    """Note the tests that the candidate brings and that fail at this commit; the version that failed first counts.

    Tests of the base, and those that landed before, judge every candidate in their own version anyhow. What the maker
    wrote since the new tests ran last has never been green, and nobody asked for it: the maker may mend it.
    """
    if any(each.rule == "needs-its-own-tests" for each in report.findings):
        return state
    known = {test for each in state.course.red_tests for test in each.tests}
    failures = (each for result in report.landing for each in result.failures)
    fresh = tuple(test for test in ids_of_tests(failures) if test not in known)
    made = state.course.made
    noted = (RedTests(commit=commit, tests=fresh, own=made if len(made) > 1 else ()),) if fresh else ()
    return steered(state, red_tests=(*state.course.red_tests, *noted), made=(commit,) if report.landing else made)


def note_made(state: S, base: Commit, commit: Commit) -> S:
    """Note what the maker left. `base`: where it began, if no new test ran yet."""
    return steered(state, made=(*(state.course.made[:1] or (base,)), commit))


def sentence_of(event: AgentFailed) -> str:
    return f"{event.reason}: {event.detail}" if event.detail else event.reason
