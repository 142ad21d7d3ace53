"""What fails in a system: which sort it is, what is tried again and how often, and when a person is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Checkpoint, Integrate, RunAgent, RunChecks, Tell, WaitUntil
from loopwright.kernel.events import AgentFailed, Announced, Checkpointed, ChecksReported, ConfigChanged, StateEdited
from loopwright.kernel.model import NO_KEY, CheckResult, Commit, Key, Severity, Tree, Verdict
from loopwright.loops.lifecycle.blocked_message import blocked_message, escalation_record
from loopwright.loops.lifecycle.failures import SEVERITIES, captured
from loopwright.loops.lifecycle.kind import KIND
from loopwright.loops.lifecycle.limits import LifecycleLimits
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.proposing import body
from loopwright.loops.lifecycle.states import Stage
from tests.loops import lifecycle as lc

# The check that fails, the sort and severity of that, and whether it is tried again by itself.
TABLE = [
    ("build", "build", Severity.HIGH, True),
    ("typecheck", "types", Severity.HIGH, True),
    ("test", "tests", Severity.HIGH, True),
    ("integration", "integration", Severity.HIGH, True),
    ("lint", "lint", Severity.MEDIUM, True),
    ("complexity", "lint", Severity.MEDIUM, True),
    ("perf", "performance", Severity.MEDIUM, True),
    ("security", "security", Severity.HIGH, False),
]


@pytest.mark.parametrize(("name", "sort", "severity", "again"), TABLE)
def test_a_failing_check_is_of_its_sort(name: str, sort: str, severity: Severity, again: bool) -> None:  # noqa: FBT001
    played = lc.at("REVIEW", lc.on(RunAgent, None, step="diagnose")).play(lc.on(RunChecks, lc.red(name)))
    (failure,) = played.state.history
    assert (failure.sort, SEVERITIES[failure.sort], failure.checks) == (sort, severity, (name,))
    assert (failure.stage, failure.file, failure.line, failure.trace) == ("REVIEW", "src/a.py", 3, "seen")
    assert played.state.phase == ("RETRY" if again else "BLOCKED")


def test_of_several_the_gravest_names_it() -> None:
    both = tuple(CheckResult(name=name, passed=False) for name in ("lint", "build"))
    played = lc.at("REVIEW", lc.on(RunAgent, None, step="diagnose")).play(lc.on(RunChecks, lc.results(*both)))
    assert played.state.failure is not None
    assert (played.state.failure.sort, played.state.failure.checks) == ("build", ("lint", "build"))


def test_a_security_finding_is_never_tried_again_by_itself() -> None:
    hole = lc.reports(lc.finding("hole", Severity.CRITICAL, file="src/a.py", line=7), verdict=Verdict.FAIL)
    played = lc.world(lc.skill("security-audit", hole))
    assert played.moves[-2:] == ["VALIDATE>FAILED", "FAILED>BLOCKED"]
    assert played.reason == "A security finding requires a human decision"
    assert played.state.blocked is not None
    assert (played.state.blocked.target, played.state.blocked.ask) == (
        "security team",
        "Decide on the security finding (src/a.py:7): mend it, or take the code out.",
    )


@pytest.mark.parametrize(("skill", "sort"), [("perf-analysis", "performance"), ("integration-test", "integration")])
def test_what_a_skill_finds_is_of_its_sort(skill: str, sort: str) -> None:
    played = lc.world(lc.skill(skill, lc.reports(lc.finding("slow"), verdict=Verdict.FAIL)))
    assert ([each.sort for each in played.state.history], played.stage) == ([sort], "COMPLETE")


def test_what_hangs_is_never_tried_again_by_itself() -> None:
    played = lc.world(lc.check("test", lc.red("test", "it did not end", rule="not-finished", file="")))
    assert played.reason == "Something hangs or waits for itself, which is never retried by itself"
    assert played.state.failure is not None
    assert played.state.failure.sort == "logic"
    assert played.state.blocked is not None
    assert played.state.blocked.ask == "Find what hangs and mend it."
    assert SEVERITIES["logic"] is Severity.CRITICAL


@pytest.mark.parametrize(
    "away", ["connect ECONNREFUSED 127.0.0.1", "Could not resolve host: x", "503 Service Unavailable"]
)
def test_what_it_depends_on_is_waited_for_five_times_each_time_longer(away: str) -> None:
    played = lc.world(lc.check("test", lc.red("test", away), times=None))
    assert [each.delay for each in played.asked(WaitUntil)] == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert played.reason == "An external dependency is unavailable after 5 back-offs"
    assert played.state.blocked is not None
    assert (played.state.blocked.target, played.state.total) == ("operations", 1)


def test_what_is_back_in_time_is_no_failure() -> None:
    away = lc.results(CheckResult(name="build", passed=False, note="getaddrinfo failed"))
    played = lc.world(lc.on(RunChecks, away, times=3))
    assert (played.stage, played.state.total, played.state.back_offs) == ("COMPLETE", 0, 0)


def test_a_test_that_speaks_of_the_network_is_a_test() -> None:
    told = lc.red("test", "connection refused", category="tests")
    assert lc.world(lc.check("test", told)).state.history[0].sort == "tests"


def test_a_fix_may_have_to_wait_too() -> None:
    played = lc.world(lc.check("lint", lc.red("lint")), lc.on(RunChecks, lc.red("lint", "ETIMEDOUT"), step="recheck"))
    assert ([each.delay for each in played.asked(WaitUntil)], played.stage) == ([1.0], "COMPLETE")
    steps = [each.key.step for each in played.asked(RunChecks) if each.key.step in ("recheck", "suite")]
    assert steps == ["recheck", "recheck", "suite"]


# --- a retry --------------------------------------------------------------------------------------------------------


def test_a_retry_diagnoses_fixes_and_runs_the_failed_check_and_then_the_whole_suite() -> None:
    played = lc.World(
        lc.check("lint", lc.red("lint", "unused name")),
        lc.skill("debug-assist", lc.reports(summary="a name is not used")),
        lc.on(RunAgent, lc.reports(summary="took it out"), step="fix"),
    )
    played.until(RunAgent, step="diagnose")
    before = len(played.actions)
    played.play()
    made = played.actions[before:]
    steps = [each.key.step for each in made]
    assert steps[:6] == ["diagnose", "fix", "record-fix", "recheck", "suite", "move"]
    diagnose, fix, record, recheck, suite = made[:5]
    assert isinstance(diagnose, RunAgent)
    assert (diagnose.skill, diagnose.writes) == ("debug-assist", False)
    assert isinstance(fix, RunAgent)
    assert (fix.role, fix.writes, fix.brief.own.diagnosis) == ("developer", True, "a name is not used")
    assert isinstance(record, Checkpoint)
    assert (record.only, record.new_files) == (("src/a.py",), True)
    assert isinstance(recheck, RunChecks)
    assert isinstance(suite, RunChecks)
    assert (recheck.names, suite.names) == (("lint",), ())
    assert [each for each in played.moves if "RETRY" in each] == ["FAILED>RETRY", "RETRY>VERIFY"]
    assert played.stage == "COMPLETE"


def test_a_fix_of_the_whole_may_touch_what_the_system_touches() -> None:
    played = lc.at("VALIDATE", lc.check("perf", lc.red("perf", file="src/z.py")))
    assert played.until(Checkpoint, step="record-fix").only == ("src/a.py", "src/z.py")
    early = lc.at("SCAFFOLD", lc.check("build", lc.red("build")))
    assert early.until(Checkpoint, step="record-fix").only == ()


def test_the_commit_of_a_fix_says_what_it_was() -> None:
    played = lc.world(
        lc.check("lint", lc.red("lint", "unused name")),
        lc.skill("debug-assist", lc.reports(summary="a name is not used")),
        lc.on(RunAgent, lc.reports(summary="took it out"), step="fix"),
    )
    (found,) = (each.message for each in played.asked(Integrate) if each.message.startswith("fix("))
    assert found == (
        "fix(sys-001): took it out\n\n"
        "Error: src/a.py:3 - unused name\n"
        "Cause: a name is not used\n"
        "Fix: took it out\n\n"
        "Attempt: 1/3"
    )


def test_a_fix_without_a_word_or_a_diagnosis_is_a_fix_all_the_same() -> None:
    played = lc.world(
        lc.check("build", lc.red("build")),
        lc.skill("debug-assist", lc.crashes(1)),
        lc.skill("debug-assist", lc.crashes(2)),
        lc.on(RunAgent, lc.reports(), step="fix"),
    )
    assert played.stage == "COMPLETE"
    (found,) = (each.message for each in played.asked(Integrate) if each.message.startswith("fix("))
    assert "Cause: not known\nFix: a fix without a word" in found


def test_before_there_are_tests_the_suite_is_what_the_state_asks_for() -> None:
    played = lc.world(lc.check("build", lc.red("build")))
    assert [each.names for each in played.asked(RunChecks, step="suite")] == [("build",)]


def test_a_fix_that_changes_nothing_or_only_what_is_unrelated_is_a_failure() -> None:
    stray = Checkpointed(key=NO_KEY, commit=Commit("c1"), tree=Tree("t"), unchanged=True, dropped=("src/z.py",))
    played = lc.world(
        lc.check("lint", lc.red("lint")),
        lc.on(Checkpoint, stray, step="record-fix"),
    )
    assert [(each.error, each.fix) for each in played.state.history] == [
        ("src/a.py:3 - boom", "The fix changed nothing but src/z.py"),
        ("src/a.py:3 - boom", "implement is done"),
    ]
    assert played.stage == "COMPLETE"
    told = played.asked(RunAgent, step="fix")[1].brief.findings
    assert [each.issue for each in told] == ["boom", "The fix changed nothing but src/z.py"]
    bare = lc.world(lc.check("lint", lc.red("lint")), lc.on(Checkpoint, replace(stray, dropped=()), step="record-fix"))
    assert bare.state.history[0].fix == "The fix changed nothing"
    never = lc.world(lc.check("lint", lc.red("lint")), lc.on(Checkpoint, stray, step="record-fix", times=None))
    assert never.reason == "The same failure came up 3 times in a row"


def test_a_fix_that_does_not_end_well_is_a_failure() -> None:
    played = lc.world(
        lc.check("lint", lc.red("lint")),
        lc.on(RunAgent, lc.crashes(1), step="fix"),
        lc.on(RunAgent, lc.crashes(2), step="fix"),
    )
    assert played.state.history[0].fix == "The fix did not end well: crashed: segfault c"
    assert played.stage == "COMPLETE"


def test_a_fix_that_breaks_something_else_is_another_failure() -> None:
    played = lc.world(lc.check("lint", lc.red("lint")), lc.on(RunChecks, lc.red("test", "broken"), step="suite"))
    assert [(each.sort, each.attempt, each.fix) for each in played.state.history] == [
        ("lint", 0, "implement is done"),
        ("tests", 0, "implement is done"),
    ]
    assert (played.stage, played.state.total) == ("COMPLETE", 2)


# --- limits ---------------------------------------------------------------------------------------------------------


def always(name: str = "lint", *issues: str) -> lc.Rule:
    """Fails in the state and after each fix, in turn with these."""
    texts = iter(issues)

    def fails(_: RunChecks) -> ChecksReported:
        issue = next(texts, issues[-1] if issues else "boom")
        return lc.red(name, issue, rule=issue)

    return lc.Rule(lambda action: isinstance(action, RunChecks) and name in action.names, fails, None)


def test_the_third_time_the_same_failure_needs_a_person() -> None:
    played = lc.world(always())
    assert played.reason == "The same failure came up 3 times in a row"
    assert (played.state.retries, played.state.total) == (2, 3)
    assert played.state.history[-1].escalated


def test_after_the_last_retry_a_person_is_needed() -> None:
    played = lc.world(always(), max_same_error=9)
    assert (played.reason, played.state.retries, played.state.total) == ("Max retries exceeded", 3, 4)
    assert played.moves.count("FAILED>RETRY") == 3


def test_another_failure_begins_its_own_count() -> None:
    words = ("one", "two", "three", "four", "five")
    played = lc.world(always("lint", *words), max_total_failures=5)
    assert (played.reason, played.state.retries) == ("5 failures in all (at most 5)", 0)


def test_ten_failures_in_all_need_a_person() -> None:
    words = ("ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st", "uv")
    played = lc.world(always("lint", *words))
    assert (played.reason, played.state.total) == ("10 failures in all (at most 10)", 10)


def test_a_failure_that_is_back_after_another_fix_is_circular() -> None:
    played = lc.world(always("lint", "aa", "bb", "aa"))
    assert played.reason == "Circular failure: what was fixed before is back after another fix"
    assert played.state.blocked is not None
    assert "two fixes undo each other" in played.state.blocked.ask


def test_who_has_it_go_on_has_seen_that_it_is_back_and_it_is_tried_again() -> None:
    played = lc.world(always("lint", "aa", "bb", "aa"))
    played.say(lc.says("continue", count=1)).play(always("lint", "aa"))
    assert (played.state.total, played.reason) == (5, "The same failure came up 3 times in a row")


def test_a_state_that_is_left_begins_the_counts_anew_but_that_of_all() -> None:
    played = lc.world(lc.check("build", lc.red("build"), times=1), lc.check("lint", lc.red("lint"), times=1))
    assert (played.stage, played.state.total, played.state.retries, played.state.episode) == ("COMPLETE", 2, 0, ())
    assert all(each.resolved for each in played.state.history)


def test_continue_grants_and_never_resets() -> None:
    played = lc.world(always())
    played.say(lc.says("continue", count=2))
    assert (played.state.phase, played.state.allowance.same, played.state.total) == ("RETRY", 4, 3)
    played.play()
    assert (played.state.total, played.state.retries, played.state.allowance.retries) == (5, 4, 4)  # two more were made
    assert played.reason == "The same failure came up 5 times in a row"
    played.say(lc.says("continue", count=1)).play()
    assert (played.state.total, played.state.allowance.retries) == (6, 5)


def test_who_resumes_grants_what_is_used_up_and_of_what_is_counted_in_each_state_only_for_that() -> None:
    played = lc.world(always(), limits=LifecycleLimits(max_total_failures=3))
    played.say(lc.says("resume"))
    allowance = played.state.allowance
    assert (allowance.failures, allowance.retries, allowance.same) == (6, 3, 2)
    played.play().say(lc.says("continue", count=3))
    allowance = played.state.allowance
    assert (allowance.failures, allowance.retries > 3, allowance.same > 2) == (6, True, True)
    played.rules.clear()
    allowance = played.play().state.allowance
    assert (allowance.failures, allowance.retries, allowance.same) == (6, 3, 2)


def test_a_skill_that_said_no_is_not_asked_again_before_something_was_mended() -> None:
    no = lc.reports(lc.finding("it is wrong", Severity.CRITICAL), verdict=Verdict.FAIL)
    same = Checkpointed(key=NO_KEY, commit=Commit("c"), tree=Tree("t"), unchanged=True)
    played = lc.world(
        lc.skill("code-validation", no),
        lc.on(Checkpoint, lambda a: replace(same, key=a.key), times=3, step="record-fix"),
    )
    assert (played.stage, len(played.asked(RunAgent, skill="code-validation"))) == ("BLOCKED", 1)
    assert played.state.failure is not None
    assert played.state.failure.judged


def test_revise_begins_the_counts_anew_with_new_guidance() -> None:
    played = lc.world(always())
    with pytest.raises(InvalidTransition, match="needs the new guidance"):
        played.say(lc.says("revise"))
    played.say(lc.says("revise", text="leave the name, say why"))
    assert (played.state.phase, played.state.retries, played.state.episode) == ("RETRY", 1, ())
    assert played.state.allowance.failures == 13
    played.play()
    assert played.state.total == 6
    assert played.state.course.answers == ("leave the name, say why",)


def test_revise_without_a_failure_goes_on_where_it_was() -> None:
    played = lc.world(lc.skill("architect", lc.CANNOT))
    assert "continue" not in {each.choice for each in played.question.options}
    assert played.say(lc.says("revise", text="do without")).play().stage == "COMPLETE"


def test_resume_runs_again_what_blocked_and_is_blocked_again_at_once_where_it_still_fails() -> None:
    played = lc.world(always())
    before = len(played.actions)
    played.say(lc.says("resume")).play()
    steps = [each.key.step for each in played.actions[before:]]
    assert steps == ["tell", "check", "move", "tell", "move"]
    assert played.reason == "It still fails as it did before"
    assert played.moves[-3:] == ["BLOCKED>VERIFY", "VERIFY>FAILED", "FAILED>BLOCKED"]
    played.rules.clear()
    assert played.say(lc.says("resume")).play().stage == "COMPLETE"


def test_what_fails_anew_after_resume_has_all_its_retries() -> None:
    played = lc.world(always())
    played.rules.clear()
    played.say(lc.says("resume")).play(always("lint", "other"))
    assert played.reason == "The same failure came up 3 times in a row"


def test_what_fails_anew_after_resume_is_tried_again() -> None:
    played = lc.world(always())
    played.rules.clear()
    played.say(lc.says("resume")).play(lc.check("lint", lc.red("lint", "something else", rule="other")))
    assert played.stage == "COMPLETE"


def test_new_limits_move_what_was_granted() -> None:
    played = lc.world(always())
    played.say(lc.says("continue", count=2))
    played.say(ConfigChanged(digest="d", settings="{}", limits='{"max_retries": 5}'))
    assert (played.state.allowance.retries, played.state.allowance.same) == (6, 4)


def test_only_what_is_offered_is_answered() -> None:
    played = lc.world(always())
    assert [each.choice for each in played.question.options] == ["resume", "continue", "revise", "history", "cancel"]
    with pytest.raises(InvalidTransition, match="not one of the options"):
        played.say(lc.says("accept"))
    assert played.say(lc.says("history")).stage == "BLOCKED"
    played.say(lc.says("cancel")).play()
    assert (played.outcome.ending.value, played.outcome.note) == (
        "cancelled",
        "The same failure came up 3 times in a row",
    )
    assert [each.issue for each in played.outcome.findings] == ["boom"]


# --- the message ----------------------------------------------------------------------------------------------------


def test_the_message_of_what_is_blocked_tells_all_that_a_person_needs() -> None:
    played = lc.world(always(), lc.skill("debug-assist", lc.reports(summary="a name"), times=None))
    assert blocked_message(played.state) == (
        "## 🚫 BLOCKED: Orders\n\n"
        "**Reason:** The same failure came up 3 times in a row\n"
        "**Last Failure:** src/a.py:3 - boom\n"
        "**Retry Attempts:** 2 / 3\n\n"
        "**What was tried:**\n"
        "1. implement is done (VERIFY: src/a.py:3 - boom)\n"
        "2. implement is done (VERIFY: src/a.py:3 - boom)\n\n"
        "**Human action needed:**\n"
        "Mend what fails (src/a.py:3) and commit it on the branch feature/system-orders"
        " (first `git merge c016` there: what was made so far is not on it yet), or say how it is to be mended.\n\n"
        "**To resume:**\n"
        "1. Resolve the issue\n"
        "2. Update loop-state.json: set state to VERIFY\n"
        "3. Run loop controller"
    )
    record = escalation_record(played.state)
    assert (record["cause"], record["escalatedTo"], record["resumeAt"]) == ("same-error", "human engineer", "VERIFY")
    attempts = record["attempts"]
    assert isinstance(attempts, list)
    assert [(each["fix"], each["outcome"], each["hypothesis"]) for each in attempts] == [
        ("implement is done", "still failing", "a name"),
        ("implement is done", "still failing", "a name"),
        ("", "open", ""),
    ]


def test_what_was_never_tried_is_told_so() -> None:
    played = lc.world(lc.skill("architect", lc.CANNOT))
    assert "1. Nothing: no retry can help." in blocked_message(played.state)
    fine = lc.at("TEST").state
    assert blocked_message(fine) == ""
    assert (escalation_record(fine)["reason"], escalation_record(fine)["attempts"]) == ("", [])


def test_a_retry_that_nobody_put_into_words_is_a_try_all_the_same() -> None:
    played = lc.world(lc.skill("architect", lc.crashes(), times=None))
    told = blocked_message(played.state).partition("**What was tried:**\n")[2].split("\n\n")[0].splitlines()
    again = [f"{number}. It was done again with what was found (SCAFFOLD: " for number in (1, 2)]
    assert [line[: len(again[0])] for line in told] == again
    assert "**Retry Attempts:** 2 / 3" in blocked_message(played.state)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"checks": ("test",)}, "A fix was tried, and did not end"),
        ({}, "Its loop went on with the diagnosis"),
        ({"fix": "renamed it"}, "renamed it"),
    ],
)
def test_what_was_tried_is_told_by_what_failed(facts: dict[str, Any], said: str) -> None:
    state = lc.world(always()).state
    first, *rest = state.history
    state = replace(state, history=(replace(first, **{"fix": "", "checks": (), **facts}), *rest))
    assert f"1. {said} (VERIFY: " in blocked_message(state)


def test_what_a_person_rejected_is_counted_alike_everywhere() -> None:
    played = lc.world(lc.gate("security", lc.rejects()), mode="hybrid", forge="github")
    state = played.state
    assert (state.total, state.failures, len(state.history)) == (0, 1, 1)
    assert KIND.status(state).failures == (0, 1, 1)
    assert LIFECYCLE.stand(state).failures == 1
    assert "failures in all: 0 of 10, and 1 rejection, which no limit counts" in LIFECYCLE.stand(state).lines
    assert "- Failures: 1, all resolved" in body(state)


def test_the_queue_hears_why() -> None:
    played = lc.world(always())
    told = [each.said.value for each in played.asked(Tell) if isinstance(each.said, StateEdited)]
    assert told == ['{"loop": "lc-1", "reason": "The same failure came up 3 times in a row", "status": "blocked"}']


def test_a_failure_without_a_finding_has_the_name_of_its_sort() -> None:
    assert captured(1, Stage.TEST, "tests", ()).error == "tests"


def test_of_many_failures_the_oldest_are_told_by_their_errors_alone() -> None:
    words = ("ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st", "uv")
    played = lc.world(always("lint", *words))
    assert [bool(each.findings) for each in played.state.history] == [False] * 9 + [True]


def test_what_answers_another_step_is_refused() -> None:
    odd = lc.at("SCAFFOLD")
    with pytest.raises(InvalidTransition):
        odd.say(AgentFailed(key=Key("nobody"), reason="crashed"))
    with pytest.raises(InvalidTransition):
        odd.say(Announced(key=NO_KEY))
