"""What a machine makes of a verification: a failed attempt, a wait for a person, or something that may land.

Changes that the verdict does not need are held back and not waited for. What only a person can allow is told to the
maker once; another attempt that still needs it waits at the gate and uses up nothing.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from loopwright.kernel.changing import replace
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import (
    ONLY_MAKER,
    Evidence,
    Level,
    describe_weakened,
    describe_weakened_by_file,
    has_idle_examiner,
)
from loopwright.kernel.faults import engine_finding, faults_of, is_only_unmet, names_of_faults
from loopwright.kernel.gates import PROTECTED, UNSHOWN, UNTESTED
from loopwright.kernel.model import Change, Commit, Finding
from loopwright.kernel.quoting import one_line
from loopwright.kernel.trust import Canary, Claim, evidence_with, is_named
from loopwright.kernel.wording import counted, name_causes
from loopwright.loops import course as c
from loopwright.loops.course import FileNote, GateRecord, OnCourse, Ruling

S = TypeVar("S", bound=OnCourse)
_NEEDS_APPROVAL = "needs-approval"
NO_WITNESS = "no-witness"
NOT_TEXT = "not-text"
_TOLD_ONCE = (_NEEDS_APPROVAL, "untested-change", "disarmed", NO_WITNESS)
_SHOWN = ("noticed", "not-shown")  # nothing that a canary could still say
_OF_CHANGES = ("tampering", "engine")  # findings about a path that was changed
_ADVICE = re.compile(r"[:.;] write (a test|one) that .*$", re.IGNORECASE)
_SAY_WHY = "say in `no_test` of your result why none can"
_NAMED = 5  # tests in a sentence; the gate shows them all


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    faults: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """It cannot do without what a person said no to."""

    gate: GateRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    gate: GateRecord


@dataclass(frozen=True, slots=True)
class Passed:
    """What `course.lands` names may land."""


Weighed = Failed | Rejected | Waits | Passed


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPolicy:
    """What the work is about, and what is asked of a change that no test tells from the base."""

    about: str = ""  # code, text, tests or cleanup; empty: nobody says so
    is_code: bool = False  # said beforehand, so that new data or types alone are not what was asked for
    asks: bool = False  # the maker is asked for a test once, where the work has to be shown
    grants: bool = False  # the question brings an attempt of its own, where the maker has none left
    merges: bool = False  # it is on its way into the person's branch, where a person is asked
    parts: tuple[str, ...] = ()  # of a whole made of parts: those that no test shows


NOT_ASKED = ShowPolicy()


def _tests_of_agents(report: ChecksReported) -> int:
    """How many the verdict rests on where the base has none."""
    if any(result.tests for result in report.results):
        return 0
    return sum(result.tests or 0 for result in report.landing)


def weighed(
    state: S,
    report: ChecksReported,
    commit: Commit,
    words: tuple[str, ...],
    *,
    is_last: bool = False,
    policy: ShowPolicy = NOT_ASKED,
) -> tuple[S, Weighed]:
    """`words` are what the work was asked for in: a path named there is needed.

    `is_last`: the maker has no attempt left in which it could do without.
    """
    state = _noted(state, report, commit)
    if policy.about == "text" and (beyond := _beyond_text(report)):
        return state, Failed(faults=(*faults_of(report), *beyond))
    # What a clean-up removes is what the work is about: its maker cannot do without.
    removes = policy.about == "cleanup" and report.claim is not None and bool(report.claim.dropped)
    state, said = _with_claim(state, report, commit, is_last=is_last or removes)
    if said is not None:
        return state, said
    if faults_of(report):
        return _failed(state, report, commit, words)
    state, without = _with_held(state, report, commit, words, policy) if report.held else (state, None)
    if (canary := _complaint(report)) is not None:
        state, said = _unnoticed(state, report, canary, commit)
    said = said or without
    level = report.evidence.level if report.evidence else Level.NOT_SHOWN
    is_unshown = level in unshown_levels(report) or (policy.is_code and _shows_nothing(report))
    if said is None and is_unshown and not state.course.untested:
        # Of an untested change the maker has heard already, and no test of its own mends those of an examiner.
        idle = report.evidence is not None and has_idle_examiner(report.evidence)
        is_told = state.course.told_unshown or level is Level.UNTESTED or idle
        state, said = _unshown(state, report, commit, policy, may_ask=not is_told and (policy.grants or not is_last))
    if said is not None:
        return state, said
    return (state, Passed()) if report.lands else _as_before(state)


def _noted(state: S, report: ChecksReported, commit: Commit) -> S:
    state = c.steered(
        c.note_red_tests(state, report, commit),
        lands=report.lands,
        held=report.held,
        candidate=commit,
        written=report.written,
        tests_of_agents=_tests_of_agents(report),
        untested=False,
        unnoticed="",
        evidence=with_reason(report.evidence, state.course.no_test),
    )
    return _without_older_gates(state, commit)


def with_reason(evidence: Evidence | None, no_test: str) -> Evidence | None:
    """Return the evidence with the maker's reason why no test can show the change, where none does."""
    if evidence is None or evidence.level is Level.SHOWN or not no_test:
        return evidence
    return replace(evidence, no_test=(one_line(no_test, 300).rstrip("."),))


def weighed_as_accepted(state: S, report: ChecksReported, commit: Commit) -> tuple[S, tuple[Finding, ...]]:
    """What fails of what a person has accepted. Nothing is waited for: what is not approved is held back.

    Red, it is as it was before, but that what would turn it green may be approved.
    """
    seen, blind = _looked_at(_noted(state, report, commit), report, commit)
    if faults := (*faults_of(report), *blind):
        return (state if report.claim is None else _with_open_claim(state, report, report.claim, commit)), faults
    return (c.called_for(seen, _lasting(seen, report, commit)) if report.held else seen), ()


def _looked_at(state: S, report: ChecksReported, commit: Commit) -> tuple[S, tuple[Finding, ...]]:
    """That no test notices the change is said; that the checks do not look at all makes them worth nothing."""
    canary = _complaint(report)
    if canary is None:
        return state, ()
    gate = _untested_gate(state, report, canary, commit)
    if gate.ruling is Ruling.APPROVED:
        return c.steered(c.called_for(state, gate), untested=True), ()
    if canary.said == "untested-change":
        return c.steered(state, unnoticed=canary.sentence), ()
    return state, (engine_finding(canary.said, canary.sentence),)


def _with_open_claim(state: S, report: ChecksReported, claim: Claim, commit: Commit) -> S:
    due = state.course.due(PROTECTED)
    return c.called_for(state, replace(_claim_gate(report, claim, commit), lasting=due is not None and due.lasting))


def _lasting(state: OnCourse, report: ChecksReported, commit: Commit) -> GateRecord:
    """What is held back may be decided when the loop has ended. Why it did not land stays to be read."""
    gate = replace(_held_gate(state, report, commit), lasting=True)
    same = (each for each in state.course.gates if each.evidence == gate.evidence)
    still = next((each for each in same if each.why.startswith(c.WHY_STILL_HELD)), gate)
    return replace(gate, why=still.why, notes=still.notes)


def is_told_once(faults: tuple[Finding, ...]) -> bool:
    """Whether the maker may leave it as it is, and a person is asked then: the same tree is worth another look."""
    return any(each.category == "engine" and each.rule in _TOLD_ONCE for each in faults)


def rejection(gate: GateRecord) -> Finding:
    """A person's no, for whoever made the change: what, why, and what has to be done without it."""
    why = gate.reason or "no reason given"
    if gate.gate != PROTECTED:
        what = gate.paths or "the change"
        return engine_finding("gate-rejected", f"A person rejected {what} as it is ({why}): {gate.why}")
    what = f"the change to {gate.paths}" if gate.paths else f"that {_some(gate.dropped)} would not run any more"
    red = f"; these tests have to pass without it: {_some(gate.failing)}" if gate.failing else ""
    told = f"A person rejected {what}: {why}. {_left_alone(gate)} and do the work without it{red}"
    return engine_finding("gate-rejected", told)


def _left_alone(gate: GateRecord) -> str:
    if gate.red_at:
        return f"Bring the tests back as they were in commit {gate.red_at[:12]}, when the fix was requested,"
    is_new = bool(gate.because) and all(change.how == "added" for change in gate.because)
    return "Leave that out" if is_new else "Leave that as the base has it"


def _without_older_gates(state: S, commit: Commit) -> S:
    """What an earlier candidate called for, this one may not; and what was held back, this report says anew."""
    gates = tuple(
        replace(each, due=each.due and each.gate == PROTECTED and each.commit == commit, lasting=False)
        if each.gate in (PROTECTED, UNTESTED, UNSHOWN)
        else each
        for each in state.course.gates
    )
    return c.steered(state, gates=gates)


def _as_before(state: S) -> tuple[S, Weighed]:
    """A report of an older log does not say what was held back: what is open then waits, whatever it is."""
    gate = state.course.due(PROTECTED)
    if gate is None or gate.ruling is Ruling.APPROVED:
        return state, Passed()
    return state, Rejected(gate=gate) if gate.ruling is Ruling.REJECTED else Waits(gate=gate)


def _beyond_text(report: ChecksReported) -> tuple[Finding, ...]:
    """Changed code in work about texts. What would not land without a person's approval is asked about as always."""
    held = {change.path for change in report.held}
    paths = tuple(path for path in report.changed_code if path not in held)
    told = f"The task is about texts, and this is no text: {_some(paths)}. Change texts, comments and docstrings only."
    return (engine_finding(NOT_TEXT, told),) if paths else ()


def _with_claim(state: S, report: ChecksReported, commit: Commit, *, is_last: bool) -> tuple[S, Weighed | None]:
    """A person decides; but first the maker hears what stands in the way, unless no attempt could do without."""
    claim, faults = report.claim, faults_of(report)
    if claim is None:
        return c.steered(state, told=()), None
    if not (claim.at_once or is_last) and not claim.marks & set(state.course.told):
        return c.steered(state, told=tuple(sorted(claim.marks))), Failed(faults=(*faults, _to_maker(claim)))
    return _at(state, _claim_gate(report, claim, commit))


def _claim_gate(report: ChecksReported, claim: Claim, commit: Commit) -> GateRecord:
    return GateRecord(
        gate=PROTECTED,
        evidence=evidence_with(claim.changes, claim.dropped),
        because=claim.changes,
        commit=commit,
        tree=report.tree,
        why=_why(claim, name_causes(faults_of(report))),
        notes=(*_weakened(report), *_since(claim, commit), *_signs(report, claim.changes)),
        failing=(*claim.failing, *claim.new),
        dropped=claim.dropped,
        red_at=claim.red_at,
    )


def _since(claim: Claim, commit: Commit) -> tuple[FileNote, ...]:
    """How to see what is decided on: a diff against the base also shows what was there when the test failed."""
    diff = f"see git diff {claim.red_at[:12]} {commit[:12]} --"
    paths = (change.path for change in claim.changes[:_NAMED] if claim.red_at)
    return tuple(FileNote(file=path, text=f"{diff} {shlex.quote(path)}") for path in paths)


def _at(state: S, gate: GateRecord) -> tuple[S, Weighed | None]:
    """Waiting at the gate, unless a person has decided on exactly this; approved, it may be red all the same."""
    state = c.called_for(state, gate)
    due = state.course.due(gate.gate) or gate
    if due.ruling is Ruling.REJECTED:
        return state, Rejected(gate=due)
    return state, None if due.ruling is Ruling.APPROVED else Waits(gate=due)


def _to_maker(claim: Claim) -> Finding:
    if claim.changes:
        told = (
            _apart(claim, _paths(claim.changes))
            if claim.untried
            else f"without the changes to {_paths(claim.changes)} {_red(claim)}"
        )
        ways = "Make it pass without them, or leave the changes as they are: a person is asked then."
        return engine_finding(_NEEDS_APPROVAL, f"{told[0].upper()}{told[1:]}. {ways}")
    if claim.by_number:
        told = f"Tests of the base are not run any more: {_some(claim.dropped)}"
        return engine_finding(_NEEDS_APPROVAL, f"{told}. Bring them back, or leave it so: a person is asked then.")
    told = f"{_some(claim.dropped)} of the base {'is' if len(claim.dropped) == 1 else 'are'} not run any more"
    return engine_finding(_NEEDS_APPROVAL, f"{told}. Bring them back, or leave it so: a person is asked then.")


def _why(claim: Claim, causes: str) -> str:
    """`causes`: what checks say, for where no test is known to fail."""
    if claim.before and not (claim.failing or claim.new):
        red = f"what is red was so on the base before: {_some(claim.before)}"
        return f"{red}; whether it is mended by them shows when a person has approved, for nothing is installed before"
    if claim.by_number:
        return f"tests of the base would not run any more: {_some(claim.dropped)}"
    if claim.at_once:
        red = f"without the changed files {_red(claim)}"
        if not (claim.failing or claim.new):
            red = ": ".join(filter(None, ("the change cannot be verified without them", causes)))
        return f"{red}; none of them is taken before a person approves"
    if claim.untried:
        apart = _apart(claim, "what is asked about")
        return f"{apart}; whether the changes cure that is known once they are approved and installed"
    gone = f"{counted(len(claim.dropped), 'test')} of the base would not run any more: {_some(claim.dropped)}"
    if not claim.changes:
        return gone
    return f"{_against_base(claim)}; {gone}" if claim.dropped else _against_base(claim)


def _against_base(claim: Claim) -> str:
    """Say what passes with the changes and what fails without: of changed tests, in the words of whoever reads them."""
    paths = {change.path for change in claim.changes}
    if (
        claim.failing
        and not (claim.new or claim.red_at)
        and {each.partition("::")[0] for each in claim.failing} <= paths
    ):
        return (
            f"with the changed tests all checks pass; with the tests of the base these fail: {_some(_messages(claim))}"
        )
    return f"with the changed files all checks pass; without these changes {_red(claim)}"


def _messages(claim: Claim) -> tuple[str, ...]:
    said = tuple(each for each in claim.messages if each.partition(" - ")[0] in claim.failing)
    return said or claim.failing


def _apart(claim: Claim, what: str) -> str:
    """What fails and what was not tried are two facts: one need not be the cause of the other."""
    return f"{_red(claim)}; the base's version of {what} is used until a person approves the change"


def _red(claim: Claim) -> str:
    """A test that came with the change is no promise of the base. What a test says is the shortest reason."""
    base = (f"these tests of the base fail: {_some(_messages(claim))}",) if claim.failing else ()
    new = (f"these new tests fail: {_some(claim.new)}",) if claim.new else ()
    if claim.red_at:
        new = (f"these tests fail, as they did when the fix was requested: {_some(claim.messages or claim.new)}",)
    return " and ".join((*base, *new)) or "the checks fail"


def _signs(report: ChecksReported, changes: tuple[Change, ...]) -> tuple[FileNote, ...]:
    """What these changes give away by themselves: they fail no attempt, so whoever decides has to hear it."""
    paths = {change.path for change in changes}
    signs = (each for each in report.findings if each.category in _OF_CHANGES and each.file in paths)
    return tuple(FileNote(file=each.file, text=each.issue) for each in signs)


def _weakened(report: ChecksReported) -> tuple[FileNote, ...]:
    return tuple(FileNote(file=file, text=told) for file, told in describe_weakened_by_file(report.weakened).items())


def _complaint(report: ChecksReported) -> Canary | None:
    """Return the mutation check if it speaks against the change. Switched off, it does so only of the checks."""
    canary = report.canary
    if canary is None or canary.said in _SHOWN or (canary.said, canary.rule) == ("untested-change", "off"):
        return None
    return canary


def _unnoticed(state: S, report: ChecksReported, canary: Canary, commit: Commit) -> tuple[S, Weighed | None]:
    """No check looks at the change: first the maker is told, then it is as configured."""
    gate = _untested_gate(state, report, canary, commit)
    if gate.ruling is Ruling.APPROVED:
        return c.steered(c.called_for(state, gate), untested=True), None
    if canary.said != "unread" and not state.course.told_untested:
        told = _bring_back(report, "no test notices when the change is broken")
        told = (
            told
            or f"{_without_advice(canary.sentence)}. Write a test that fails when this code is broken{_or_say(canary)}."
        )
        return c.steered(state, told_untested=True), Failed(faults=(engine_finding(canary.said, told),))
    if canary.said == "untested-change" and canary.rule != "gate":
        return c.steered(state, unnoticed=canary.sentence), None
    return _at_held_tests(state, report, gate, "no test notices when the change is broken")


def _without_advice(sentence: str) -> str:
    """Leave out what whoever makes the change should do: a person at a gate decides, and writes no test."""
    return _ADVICE.sub("", sentence).rstrip(".")


def _or_say(canary: Canary) -> str:
    return f", or {_SAY_WHY}" if canary.said == "untested-change" else ""


def _bring_back(report: ChecksReported, blind: str) -> str:
    """Tell the maker that the tests which may look at its change are held back; nothing where none are."""
    if not report.weakened:
        return ""
    told = f"{describe_weakened(report.weakened)}. Without what is held back {blind}"
    return f"{told}. Bring the tests back, or put new tests into another file, or leave it so: a person is asked then."


def _at_held_tests(state: S, report: ChecksReported, gate: GateRecord, blind: str) -> tuple[S, Weighed | None]:
    """Wait at the gate; but where tests that may look at the change are held back, a person is asked about those."""
    if report.weakened:
        held = _held_gate(state, report, gate.commit)
        seen, said = _at(state, replace(held, why=f"{held.why}; without it {blind}"))
        if said is not None:
            return seen, said
    return _at(state, gate)


def unshown_levels(report: ChecksReported) -> tuple[Level, ...]:
    """Return the levels at which a merge waits: an untested change has a gate of its own, unless it is only told."""
    warns = report.canary is not None and report.canary.rule == "warn"
    return (Level.GUARDED, Level.UNTESTED) if warns else (Level.GUARDED,)


def _shows_nothing(report: ChecksReported) -> bool:
    """Whether the change is of a kind that no test tells from the base; not where nobody was to look for one."""
    is_off = report.canary is not None and report.canary.rule == "off"
    return report.evidence is not None and report.evidence.level is Level.NOT_SHOWN and not is_off


def has_to_be_shown(about: str, *, same_product: bool, alters_code: bool) -> bool:
    """Whether a test has to fail without the change.

    Of work about tests, where it changes the product as well; of a clean-up, where it does more than remove.
    """
    is_beyond = (about == "tests" and not same_product) or (about == "cleanup" and alters_code)
    return about in ("", "code") or is_beyond


def asks_for_witness(faults: tuple[Finding, ...]) -> bool:
    """Whether nothing is wrong but that no test shows the change: no failure that any limit counts."""
    return bool(faults) and all(each.category == "engine" and each.rule == NO_WITNESS for each in faults)


def _unshown(
    state: S, report: ChecksReported, commit: Commit, policy: ShowPolicy, *, may_ask: bool
) -> tuple[S, Weighed | None]:
    """The maker is asked for a test once; then a merge waits for a person, and a branch of its own is left as it is."""
    same, alters = report.same_product, report.alters_code
    if not (policy.asks and has_to_be_shown(policy.about, same_product=same, alters_code=alters)):
        return state, None
    if may_ask:
        return c.steered(state, told_unshown=True), Failed(
            faults=(engine_finding(NO_WITNESS, _ask_for_witness(report)),)
        )
    if not (policy.merges and report.unshown == "gate"):
        return state, None
    gate = _unshown_gate(state, report, commit, policy.parts)
    return _at_held_tests(state, report, gate, "no test tells the change from the base")


def _ask_for_witness(report: ChecksReported) -> str:
    if told := _bring_back(report, "no test fails without your change"):
        return told
    idle = report.evidence.idle_tests if report.evidence else ()
    told = f" These new tests pass whatever the changed code returns: {_some(idle)}." if idle else ""
    return (
        "No test fails without your change: the same tests pass on the base."
        f"{told} Write a test that fails without your change, or {_SAY_WHY}."
    )


def _unshown_gate(state: OnCourse, report: ChecksReported, commit: Commit, of_parts: tuple[str, ...]) -> GateRecord:
    """Bound to the tree, as `untested` is."""
    what = f"these changes from the base: {', '.join(of_parts)}" if of_parts else "this change from the base"
    tells = ONLY_MAKER if report.evidence and has_idle_examiner(report.evidence) else "no test tells"
    parts = "\0".join((UNSHOWN, report.lands or report.tree))
    return GateRecord(
        gate=UNSHOWN,
        evidence=hashlib.sha256(parts.encode(errors="surrogateescape")).hexdigest()[:24],
        commit=commit,
        tree=report.tree,
        why=f"{tells} {what}{_no_test(state)}",
    )


def _no_test(state: OnCourse) -> str:
    return f'; the maker says: "{state.course.no_test}"' if state.course.no_test else ""


def _untested_gate(state: OnCourse, report: ChecksReported, canary: Canary, commit: Commit) -> GateRecord:
    """Bound to the code that nobody notices: what a person has approved of it is not asked about until it changes."""
    marks = {f"{canary.said} {mark} {name}": name for name, mark in canary.code}
    known = [each for each in state.course.gates if each.gate == UNTESTED and each.ruling is Ruling.APPROVED]
    covered = {mark for each in known for mark in each.covers}
    asked = {mark: name for mark, name in marks.items() if mark not in covered} or marks
    # Of what has no code, and in older logs, the whole tree is asked about.
    parts = (canary.said, *(asked or (report.lands or report.tree, *canary.missed)))
    gate = GateRecord(
        gate=UNTESTED,
        evidence=hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:24],
        because=tuple(Change(path=path, how="changed") for path in _files(asked.values() or canary.missed)),
        commit=commit,
        tree=report.tree,
        why=_without_advice(canary.sentence) + _no_test(state),
        covers=tuple(asked),
    )
    taken = next((each for each in known if each.evidence == gate.evidence or {*each.covers} & {*gate.covers}), None)
    return replace(gate, ruling=taken.ruling, by=taken.by, reason=taken.reason) if taken else gate


def _files(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.partition(": ")[0] for each in names))


def _failed(state: S, report: ChecksReported, commit: Commit, words: tuple[str, ...]) -> tuple[S, Weighed]:
    """A failed attempt; but where demands alone fail, and what is held back would be waited for anyhow, they may fail
    for want of just that, which no attempt could mend. What must not be there is not asked for by anybody.
    """
    failed = Failed(faults=faults_of(report))
    if not report.held or not is_only_unmet(report):
        return state, failed
    needed = _needed(_held_gate(state, report, commit), report, words)
    if needed is None:
        return state, failed
    why = f"{needed.why}; without it these fail: {names_of_faults(report)}"
    state, said = _at(state, replace(needed, why=why))
    return state, said or failed


def _needed(gate: GateRecord, report: ChecksReported, words: tuple[str, ...]) -> GateRecord | None:
    """The gate with why it is waited for; None where the loop does without."""
    if report.nothing_else:
        return replace(gate, why=f"{gate.why}; {_left_over(report)}")
    if any(is_named(change.path, words) for change in report.held):
        return replace(gate, why=f"{gate.why}; what was asked for names it")
    if report.shared_versions:
        shared = ", ".join(report.shared_versions)
        return replace(gate, why=f"{gate.why}; the version in {shared} also changed in what would land")
    return None


def _with_held(
    state: S, report: ChecksReported, commit: Commit, words: tuple[str, ...], policy: ShowPolicy
) -> tuple[S, Weighed | None]:
    gate = _held_gate(state, report, commit)
    needed = _needed(gate, report, words)
    if needed is None and policy.about == "cleanup" and report.would_drop:
        needed = replace(gate, why=f"the work is a clean-up, and removes tests: {_some(report.would_drop)}")
    if needed is not None:
        return _at(state, needed)
    # What is not needed lands later, or never: it may be decided when the loop has ended.
    return c.called_for(state, replace(gate, lasting=True)), None


def _held_gate(state: OnCourse, report: ChecksReported, commit: Commit) -> GateRecord:
    known = None if report.would_drop else state.course.due(PROTECTED)
    return GateRecord(
        gate=PROTECTED,
        evidence=evidence_with(report.held, report.would_drop),
        because=report.held,
        commit=commit,
        tree=known.tree if known else report.tree,
        why=c.WHY_HELD,
        notes=(*_weakened(report), *_signs(report, report.held)),
        dropped=report.would_drop,
    )


def _left_over(report: ChecksReported) -> str:
    if not report.written:
        return "nothing else would land"
    return f"besides it no code would land that could be verified, only tests ({_some(report.written)})"


def _paths(changes: tuple[Change, ...]) -> str:
    more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    return ", ".join(change.place for change in changes[:_NAMED]) + more


def _some(tests: tuple[str, ...]) -> str:
    more = f" and {len(tests) - _NAMED} more" if len(tests) > _NAMED else ""
    return ", ".join(tests[:_NAMED]) + more
