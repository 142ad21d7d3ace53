from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given

from loopwright.app.views import journey
from loopwright.kernel.codec import encode, plain
from loopwright.kernel.deliverables import FileFault
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    ArtifactsLoaded,
    BudgetChanged,
    Cancelled,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    ConfigChanged,
    Created,
    Ended,
    GateDecided,
    Integrated,
    IntegrationRefused,
    Interrupted,
    Logged,
    LoopEnded,
    Paused,
    Refused,
    ReportedLate,
    SessionMarked,
    SkillSkipped,
    Started,
    StateEdited,
    TimeReached,
)
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Cleanup,
    Commit,
    Content,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Point,
    Severity,
    Tree,
    Usage,
    Verdict,
)
from loopwright.kernel.proposals import Opinion, PullRequest
from loopwright.kernel.record import Record
from loopwright.kernel.risks import Risk
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.kernel.trust import Claim, FailedHiddenTest
from loopwright.loops.batch.kind import KIND as BATCH
from loopwright.loops.feedback.kind import KIND as FEEDBACK
from loopwright.loops.quality.kind import KIND as QUALITY
from tests import hostile
from tests.rooms.feedback.stories import AT, FAILING, LOOP, NO_DOC, NO_ORDER

RED = Finding(severity=Severity.HIGH, issue="one is wrong")
KEY, REVIEW, IMPLEMENT = Key.parse("checks-1.1"), Key.parse("review-2.1"), Key.parse("implement-1.1")
EXAMINED = Key("checks", 1, part="examination")
GREEN = Finding(severity=Severity.HIGH, issue="a::b does not fail")
GOOD = CheckResult(name="test", passed=True, tests=12, flaky=("a",), reused=True)
BAD = CheckResult(name="test", passed=False, failures=(FAILING,), tests=1)
BUILD = CheckResult(name="build", passed=True)


def record(event: Logged, *, spend: float = 0.0, reserve: float = 0.0) -> Record:
    return Record(
        loop=LOOP, seq=3, at=AT, kind=type(event).__name__, data=encode(event), spend=spend, reserve=reserve, hash="h"
    )


def reviewed(verdict: Verdict | None, *findings: Finding) -> AgentReported:
    return AgentReported(key=REVIEW, report=AgentReport(verdict=verdict, findings=findings))


def checked(*results: CheckResult, findings: tuple[Finding, ...] = ()) -> ChecksReported:
    return ChecksReported(key=KEY, tree=Tree("t"), results=results, findings=findings)


def ended(ending: Ending, attempts: int, *findings: Finding) -> Outcome:
    return Outcome(ending=ending, attempts=attempts, findings=findings, loop=LoopId("q-1"))


RISK = Risk(gate="security", rule="token", file="src/a.py", line=3)
LOOK = Key.parse("look-1.1")
SIGHTINGS: list[tuple[Logged, str]] = [
    (Heard(key=LOOK, loop=LoopId("queue-shop")), "queue-shop has it on record"),
    (
        Heard(key=LOOK, loop=LoopId("queue-shop"), reply=("unblocked sys-002", "next sys-002")),
        "queue-shop has it on record: unblocked sys-002; next sys-002",
    ),
    (Heard(key=LOOK, loop=LoopId("queue-shop"), refused="no such system"), "queue-shop refused it: no such system"),
    (FilesExamined(key=LOOK), "all that had to be left is there"),
    (FilesExamined(key=LOOK, faults=(FileFault(path="docs/A.md", why="it is empty"),)), "docs/A.md: it is empty"),
    (ChangeExamined(key=LOOK, tree=Tree("t")), "the change calls for no gate"),
    (
        ChangeExamined(key=LOOK, tree=Tree("t"), risks=(RISK, replace(RISK, gate="database", line=0))),
        "the change calls for security, database: src/a.py:3 (token) and 1 other place",
    ),
    (
        ChangeExamined(key=LOOK, tree=Tree("t"), risks=(replace(RISK, line=0),)),
        "the change calls for security: src/a.py (token)",
    ),
    (PullRequestSeen(key=LOOK), "pull request: none"),
    (PullRequestSeen(key=LOOK, failed="it is away"), "the forge: it is away"),
    (
        PullRequestSeen(
            key=LOOK,
            seen=PullRequest(number=7, state="open", red=("ci",), opinions=(Opinion(by="ann", said="approved"),)),
        ),
        "pull request #7 is open, red there: ci, ann approved",
    ),
    (RanOnce(key=LOOK, code=0), "ended with 0"),
    (RanOnce(key=LOOK, code=None, detail="it was killed"), "nobody knows how it ended: it was killed"),
]
SENTENCES: list[tuple[Logged, str]] = [
    (
        replace(checked(BUILD), also=(CheckResult(name="T-001", passed=True, reused=True),)),
        "checks: ALL_TESTS_PASSING (build passed; verify T-001 passed, from its receipt)",
    ),
    (
        replace(checked(BUILD), also=(CheckResult(name="mustNot-1", passed=False, failures=(NO_ORDER,)),)),
        "checks: FAIL (build passed; mustNot-1 failed, 1 failure)",
    ),
    (
        checked(BUILD, CheckResult(name="web", passed=True, note="not touched")),
        "checks: ALL_TESTS_PASSING (build passed; web not run: nothing in its paths changed)",
    ),
    (
        checked(BUILD, CheckResult(name="test", passed=True, note="nothing to run yet")),
        "checks: ALL_TESTS_PASSING (build passed; test: nothing to run yet)",
    ),
    (
        checked(CheckResult(name="test", passed=True, note="odd; nothing to run yet", reused=True)),
        "checks: nothing was tested (test: nothing to run yet, from its receipt)",
    ),
    (AgentReported(key=IMPLEMENT, report=AgentReport(summary="Added\nfilter()")), "developer: Added filter()"),
    (AgentReported(key=IMPLEMENT, report=AgentReport()), "developer: done"),
    (
        AgentReported(key=Key.parse("test-1.1"), report=AgentReport(status=AgentStatus.BLOCKED, summary="no runner")),
        "tester: blocked: no runner",
    ),
    (reviewed(Verdict.PASS), "reviewer: pass, 0 findings (SPEC_COMPLIANT)"),
    (reviewed(Verdict.PASS, NO_DOC), "reviewer: pass, 1 finding (SPEC_COMPLIANT)"),
    (reviewed(Verdict.PASS, NO_ORDER, NO_DOC), "reviewer: pass, 2 findings (NOT_COMPLIANT)"),
    (reviewed(Verdict.FAIL, NO_DOC), "reviewer: fail, 1 finding (NOT_COMPLIANT)"),
    (reviewed(None), "reviewer: no verdict, 0 findings (NOT_COMPLIANT)"),
    (AgentReported(key=Key.parse("critic-1.1"), report=AgentReport(verdict=Verdict.PASS)), "critic: pass, 0 findings"),
    (AgentFailed(key=IMPLEMENT, reason="timed_out"), "developer: no result (timed_out)"),
    (AgentFailed(key=IMPLEMENT, reason="crashed", detail="exit 1"), "developer: no result (crashed): exit 1"),
    (AgentUnavailable(key=REVIEW, until=AT), "reviewer: not available before 2026-01-17T10:30:00Z"),
    (
        checked(GOOD, BUILD),
        "checks: ALL_TESTS_PASSING (test passed, 12 tests, 1 flaky, from its receipt; build passed)",
    ),
    (checked(BAD), "checks: FAIL (test failed, 1 failure, 1 test)"),
    (checked(), "checks: FAIL (no check gave a result)"),
    (checked(BUILD, findings=(NO_ORDER,)), "checks: FAIL (build passed; 1 finding about the change itself)"),
    (
        checked(BUILD, findings=(NO_DOC,)),
        "checks: ALL_TESTS_PASSING (build passed; 1 finding about the change itself)",
    ),
    (
        Checkpointed(key=KEY, commit=Commit("c" * 40), tree=Tree("t"), files=2),
        "kept as cccccccccccc, 2 files changed",
    ),
    (
        Checkpointed(
            key=KEY, commit=Commit("c" * 40), tree=Tree("t"), files=1, protected=(Change(path="t", how="changed"),)
        ),
        "kept as cccccccccccc, 1 file changed, 1 protected file changed or removed",
    ),
    (
        Integrated(key=KEY, branch="loop/fb-1", commit=Commit("c" * 40), note="main is dirty"),
        "landed on loop/fb-1 at cccccccccccc: main is dirty",
    ),
    (
        Integrated(key=KEY, branch="loop/fb-1", commit=Commit("c" * 40), merged_into="main"),
        "landed on loop/fb-1 at cccccccccccc and merged into main",
    ),
    (
        Integrated(key=KEY, branch="loop/fb-1", commit=Commit("c" * 40), merged_into="main", landed=Commit("a" * 40)),
        "landed on loop/fb-1 at aaaaaaaaaaaa and merged into main at cccccccccccc",
    ),
    (IntegrationRefused(key=KEY, reason="conflict", detail="a.py"), "could not be landed: conflict: a.py"),
    (
        Checkpointed(key=KEY, commit=Commit("c" * 40), tree=Tree("t"), files=1, dropped=("README.md", "b.py")),
        "kept as cccccccccccc, 1 file changed, not taken: README.md, b.py",
    ),
    (
        LoopEnded(key=KEY, outcome=ended(Ending.ESCALATED, 3, NO_DOC)),
        "child loop q-1 escalated after 3 attempts, 1 finding left",
    ),
    (
        LoopEnded(key=KEY, outcome=replace(ended(Ending.VERIFIED, 2), note="QUALITY_PASS: b.yml")),
        "QUALITY_PASS: b.yml",
    ),
    (
        LoopEnded(key=KEY, outcome=replace(ended(Ending.HELD, 1), note="QUALITY_BLOCKED: b.yml", at=Point("FIX", 1))),
        "QUALITY_BLOCKED: b.yml, waits at FIX@1",
    ),
    (ArtifactsLoaded(key=KEY, contents=(Content(path="src/a.py", object="1"),)), "loaded src/a.py"),
    (ArtifactsLoaded(key=KEY, contents=(Content(path="src/a.py", object=""),)), "not there: src/a.py"),
    (
        ArtifactsLoaded(key=KEY, contents=(Content(path="a", object="1"), Content(path="b", object=""))),
        "loaded a; not there: b",
    ),
    (Announced(key=KEY), "on record"),
    (Combined(key=KEY, commit=Commit("c" * 40), files=2), "combined as cccccccccccc, 2 files changed"),
    (
        Combined(key=KEY, commit=Commit("c" * 40), files=1, left_out=(Commit("d"),)),
        "combined as cccccccccccc, 1 file changed, 1 conflicting change left out",
    ),
    (CleanedUp(key=KEY), "cleaned up; every commit is kept"),
    (CleanedUp(key=KEY, stay=("a", "b")), "cleaned up; every commit is kept; could not be removed: a, b"),
    (TimeReached(key=KEY), "the wait is over"),
    (Answered(key=KEY, choice="continue", count=3, by="ann"), "answered by ann: continue 3"),
    (Answered(key=KEY, choice="revise", allow=("tests/a.py",)), "answered: revise, may change tests/a.py"),
    (Answered(key=KEY, choice="accept", merge=True), "answered: accept and merge"),
    (Answered(key=KEY, choice="revise", text="Use a list"), "answered: revise: Use a list"),
    (GateDecided(key=KEY, gate="protected", approved=True, evidence="e", by="ann"), "gate protected approved by ann"),
    (
        GateDecided(key=KEY, gate="protected", approved=False, evidence="e", reason="no"),
        "gate protected rejected: no",
    ),
    (CancelRequested(cleanup=Cleanup.FULL), "cancel asked for (full_cleanup)"),
    (StateEdited(subject="T-001", value="completed", by="ann"), "a file says by ann: T-001 is completed"),
    (SkillSkipped(skill="deploy", reason="a library", by="ann"), "skill deploy skipped by ann: a library"),
    (SessionMarked(mark="began", why="cold boot", by="ann"), "session began by ann: cold boot"),
    *((event, sentence) for event, sentence in SIGHTINGS),
    (BudgetChanged(usd=30, by="ann"), "budget set by ann: $30.00"),
    (BudgetChanged(usd=None, by="ann"), "budget set by ann: none"),
    (ConfigChanged(digest="d1", settings="{}"), "configuration taken in: d1"),
    (Created(kind="feedback", params="{}"), "feedback loop created"),
    (Created(kind="feedback", params="{}", by="ann"), "feedback loop created by ann"),
    (
        Started(key=REVIEW, action="RunAgent", what="reviewer", why="spec first"),
        "reviewer starts: spec first",
    ),
    (Started(key=KEY, action="RunChecks"), "checks start"),
    (
        Started(key=KEY, action="Ask", what="Stopped: a limit. And now?", why="a limit"),
        "a person is asked: Stopped: a limit. And now?",
    ),
    (Started(key=KEY, action="Later", what="x"), "Later x"),
    (
        ChecksReported(
            key=Key("start", 1),
            tree=Tree("t"),
            results=(),
            also=(
                CheckResult(name="T-001", passed=False),
                CheckResult(name="T-002", passed=True, red_before=True),
                CheckResult(name="T-003", passed=True, red_before=False),
                CheckResult(name="T-004", passed=False, unable="no such program"),
            ),
        ),
        (
            "before the work: verify T-001 fails; verify T-002 passes, and failed where the whole work started: an"
            " earlier task has done it; verify T-003 passes: it shows nothing afterwards; verify T-004 cannot start: it"
            " shows nothing"
        ),
    ),
    (
        ChecksReported(
            key=EXAMINED, tree=Tree("t"), results=(), hidden=(FailedHiddenTest(id="a::b", file="tests/a.py"),)
        ),
        "acceptance tests: 1 test red on the base, as it has to be",
    ),
    (
        ChecksReported(key=EXAMINED, tree=Tree("t"), results=(), findings=(GREEN,)),
        f"acceptance tests: cannot be used: {GREEN.issue}",
    ),
    (
        ChecksReported(key=EXAMINED, tree=Tree("t"), results=(), findings=(GREEN, GREEN)),
        f"acceptance tests: cannot be used: {GREEN.issue} and 1 other",
    ),
    (
        ChecksReported(key=KEY, tree=Tree("t"), results=(), claim=Claim(dropped=("a::b",))),
        "checks: FAIL (no check gave a result); tests of the base are gone, which only a person can allow",
    ),
    (
        ChecksReported(key=KEY, tree=Tree("t"), results=(), claim=Claim(changes=(Change(path="a", how="added"),))),
        "checks: FAIL (no check gave a result); with what is held back all would pass",
    ),
    (
        ChecksReported(key=KEY, tree=Tree("t"), results=(), claim=Claim(at_once=True)),
        "checks: FAIL (no check gave a result); it cannot be verified without what only a person can approve",
    ),
    (
        ChecksReported(key=Key("preflight"), tree=Tree("t"), results=(), unable=("no runner",)),
        "checks cannot run: no runner",
    ),
    (
        ChecksReported(key=Key("preflight"), tree=Tree("t"), results=(CheckResult(name="test", passed=True, tests=2),)),
        "checks on the base, before anybody worked: test passed, 2 tests",
    ),
    (
        ChecksReported(
            key=Key("preflight"),
            tree=Tree("t"),
            results=(CheckResult(name="test", passed=False, note="it names a.csv, which git ignores"),),
        ),
        "checks on the base, before anybody worked: RED: test failed, 0 failures: it names a.csv, which git ignores",
    ),
    (
        ChecksReported(
            key=Key("preflight"),
            tree=Tree("t"),
            results=(
                CheckResult(name="lint", passed=False, failures=(RED, RED)),
                CheckResult(
                    name="test",
                    passed=False,
                    failures=(replace(RED, evidence="E   ModuleNotFoundError: No module named 'yaml'\nmore"),),
                ),
            ),
        ),
        (
            "checks on the base, before anybody worked: RED: lint failed, 2 failures: one is wrong;"
            " test failed, 1 failure: ModuleNotFoundError: No module named 'yaml'"
        ),
    ),
    (
        ChecksReported(
            key=Key("preflight"),
            tree=Tree("t"),
            results=(
                CheckResult(
                    name="test",
                    passed=False,
                    tests=1,
                    note="2 more failures are not shown",
                    failures=(
                        Finding(
                            severity=Severity.HIGH,
                            category="tests",
                            rule="t.a",
                            issue="t.a - collection failure",
                            evidence="t/a.py:2: in <module>\nE   AttributeError: module 'py' has no attribute 'test'",
                        ),
                        Finding(severity=Severity.HIGH, category="checks", issue="exit code 2", guidance="mend it"),
                    ),
                ),
            ),
        ),
        (
            "checks on the base, before anybody worked: RED: test failed, 2 failures, 1 test: t.a - collection failure:"
            " AttributeError: module 'py' has no attribute 'test'; 2 more failures are not shown; mend it"
        ),
    ),
    (
        Started(
            key=KEY, action="Announce", what="CHECK_BLOCKED: src/a.py", why="1 critical; any critical finding blocks"
        ),
        "CHECK_BLOCKED: src/a.py (1 critical; any critical finding blocks)",
    ),
    (Cancelled(key=KEY), "stopped: no longer wanted"),
    (Interrupted(key=KEY), "interrupted with its controller; it is done again as the same try"),
    (ReportedLate(key=KEY, kind="AgentReported", data="{}"), "came too late, kept with its cost: AgentReported"),
    (Paused(reason="budget", detail="25.00 of 25.00"), "paused: budget: 25.00 of 25.00"),
    (Refused(what="approve", why="run from inside a step"), "refused approve: run from inside a step"),
    (Ended(outcome=ended(Ending.VERIFIED, 1)), "loop verified (IMPLEMENTATION_VERIFIED) after 1 iteration"),
]


IN_A_REVIEW: list[tuple[Logged, str]] = [
    (reviewed(Verdict.FAIL, NO_ORDER, NO_DOC), "reviewer: fail, 2 findings"),
    (reviewed(Verdict.PASS), "reviewer: pass, 0 findings"),
    (reviewed(None), "reviewer: no verdict, 0 findings"),
    (AgentReported(key=Key.parse("fix-1.4"), report=AgentReport(summary="Bounded it")), "creator: Bounded it"),
    (Ended(outcome=ended(Ending.VERIFIED, 2)), "loop verified after 2 reviews"),
]


@pytest.mark.parametrize(("event", "sentence"), IN_A_REVIEW)
def test_a_quality_loop_has_words_of_its_own(event: Logged, sentence: str) -> None:
    assert journey.show(record(event), QUALITY.words).text == sentence


def test_a_batch_counts_rounds() -> None:
    assert journey.show(record(Ended(outcome=ended(Ending.ACCEPTED, 3))), BATCH.words).text == (
        "loop accepted after 3 rounds"
    )


def test_what_was_announced_is_told_once() -> None:
    started = Started(key=Key.parse("verdict-1.3"), action="Announce", what="CHECK_PASSED: src/a.py", why="no findings")
    lines = [journey.line(record(event), QUALITY.words) for event in (started, Announced(key=Key.parse("verdict-1.3")))]
    assert lines == ["10:30:00Z  verdict-1.3     CHECK_PASSED: src/a.py (no findings)", ""]


@pytest.mark.parametrize(("event", "sentence"), SENTENCES)
def test_every_event_has_its_sentence(event: Logged, sentence: str) -> None:
    assert journey.show(record(event), FEEDBACK.words).text == sentence


def test_no_kind_of_event_is_without_a_sentence() -> None:
    assert {type(event) for event, _ in SENTENCES} == set(get_args(Logged))


def test_a_line_has_time_key_sentence_and_money() -> None:
    said = replace(reviewed(Verdict.FAIL, NO_ORDER, NO_DOC), usage=Usage(usd=0.25))
    told = "10:30:00Z  review-2.1      reviewer: fail, 2 findings (NOT_COMPLIANT), "
    assert journey.line(record(said, spend=0.25), FEEDBACK.words) == f"{told}$0.25"
    assert journey.line(record(replace(said, usage=Usage()), spend=1.0), FEEDBACK.words) == f"{told}~$1.00"
    started = Started(key=IMPLEMENT, action="RunAgent", what="developer")
    assert journey.line(record(started, reserve=1.0), FEEDBACK.words) == (
        "10:30:00Z  implement-1.1   developer starts, $1.00 reserved"
    )
    assert (
        journey.line(record(CancelRequested()), FEEDBACK.words)
        == "10:30:00Z                  cancel asked for (keep_everything)"
    )


def test_as_data_it_has_the_whole_record() -> None:
    assert plain(journey.show(record(TimeReached(key=KEY), spend=0.5), FEEDBACK.words)) == {
        "loop": "fb-1",
        "seq": 3,
        "at": "2026-01-17T10:30:00Z",
        "kind": "TimeReached",
        "key": "checks-1.1",
        "text": "the wait is over",
        "cost": {"reserved": 0.0, "released": 0.0, "usd": 0.5, "estimated": True},
        "data": {"key": "checks-1.1"},
        "hash": "h",
    }


@pytest.mark.parametrize(
    ("kind", "data"), [("FromTheFuture", '{"a": 1}'), ("TimeReached", '{"other": 1}'), ("TimeReached", "{")]
)
def test_an_event_of_another_version_is_shown_all_the_same(kind: str, data: str) -> None:
    one = Record(loop=LOOP, seq=1, at=AT, kind=kind, data=data)
    assert journey.line(one, FEEDBACK.words) == f"10:30:00Z                  {kind}: cannot be read by this version"
    shown = journey.show(one, FEEDBACK.words)
    assert (shown.key, shown.data) == (None, data)


@given(text=hostile.texts)
def test_a_line_stays_one_line_with_nothing_invisible(text: str) -> None:
    events: tuple[Logged, ...] = (
        AgentReported(key=Key.parse(text), report=AgentReport(summary=text)),
        checked(CheckResult(name=text, passed=False)),
        Integrated(key=KEY, branch=text, commit=Commit(text), note=text),
        Answered(key=KEY, choice=text, text=text, by=text),
        Started(key=KEY, action=text, what=text, why=text),
        Refused(what=text, why=text, by=text),
        Started(key=KEY, action="Announce", what=text, why=text),
        ArtifactsLoaded(key=KEY, contents=(Content(path=text, object=""), Content(path=text, object="1"))),
        LoopEnded(key=KEY, outcome=Outcome(ending=Ending.HELD, note=text, at=Point(text, 1))),
        Checkpointed(key=KEY, commit=Commit(text), tree=Tree("t"), dropped=(text, text)),
    )
    for event in events:
        line = journey.line(record(event), FEEDBACK.words)
        assert hostile.all_harmless(line)
        assert "\n" not in line
        assert len(line) < 1_000


def test_severities_that_block_are_those_of_the_machine() -> None:
    sentences = {
        severity: journey.show(
            record(reviewed(Verdict.PASS, Finding(severity=severity, issue="x"))), FEEDBACK.words
        ).text
        for severity in Severity
    }
    assert [severity for severity, text in sentences.items() if "NOT_COMPLIANT" in str(text)] == [
        Severity.CRITICAL,
        Severity.HIGH,
    ]
