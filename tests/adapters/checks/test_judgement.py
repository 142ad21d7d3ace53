from dataclasses import replace

from loopwright.adapters.checks.judgement import Ran, Standard, clipped, failures, judge, mark, needs_base, suspects
from loopwright.adapters.checks.receipts import outcome_on_base, standard, stands_for_base
from loopwright.adapters.checks.reports import Report
from loopwright.config.settings import CheckSettings
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding, LoopId, Severity
from tests.adapters.checks.test_receipts import PASSED

PYTEST = CheckSettings(name="test", run=("pytest",), report="junit", baseline=True)
PLAIN = CheckSettings(name="build", run=("make",), baseline=True)


def failing(*names: str) -> Report:
    found = (Finding(severity=Severity.HIGH, category="tests", rule=name, issue=f"{name} - no") for name in names)
    return Report(tests=9, failures=tuple(identify(finding) for finding in found))


def ended(exit_code: int | None, report: Report | None = None, refused: str = "", tail: str = "") -> Ran:
    return Ran(how="exited", exit_code=exit_code, report=report, refused=refused, tail=tail)


def test_a_known_failure_is_forgiven_and_a_new_one_is_not() -> None:
    judged = judge(PYTEST, ended(1, failing("a", "b")), Standard(tests=9, failing=frozenset({"a"})))
    assert (judged.passed, judged.known, [mark(f) for f in judged.failures]) == (False, ("a",), ["b"])
    assert judge(PYTEST, ended(1, failing("a")), Standard(tests=9, failing=frozenset({"a"}))).forgiven


def test_a_base_without_a_report_does_not_excuse_a_candidate_without_one() -> None:
    silent = ended(0, refused="it wrote no report")
    on_base = frozenset(mark(finding) for finding in failures(PYTEST, silent))
    assert not judge(PYTEST, silent, Standard(failing=on_base)).passed


def test_a_plain_command_that_fails_alike_on_the_base_is_known() -> None:
    before, after = ended(2, tail="a.c:10: error"), ended(2, tail="a.c:99: error")
    on_base = Standard(failing=frozenset(mark(finding) for finding in failures(PLAIN, before)))
    assert judge(PLAIN, after, on_base).passed
    assert not judge(PLAIN, ended(2, tail="b.c:10: something else"), on_base).passed


def test_forgiven_tests_do_not_excuse_an_ending_that_they_do_not_explain() -> None:
    on_base = Standard(tests=9, failing=frozenset({"a"}))
    for exit_code in (2, 3, None):
        assert not judge(PYTEST, ended(exit_code, failing("a")), on_base).passed


def test_a_run_that_stopped_before_its_tests_is_not_forgiven_where_the_base_stops_alike() -> None:
    """Else the base, which is as itself, reads as green, and every attempt after it fails."""
    broken = ended(2, failing("a"), tail="E   AttributeError: module 'py' has no attribute 'test'")
    judged = judge(PYTEST, broken, Standard(tests=9, failing=frozenset(map(mark, failures(PYTEST, broken)))))
    assert (judged.passed, judged.known, [each.rule for each in judged.failures]) == (False, (), ["a", "test"])
    assert judged.failures[-1].guidance == (
        "its tests did not all run, which `baseline = true` does not forgive: mend what stops them, or leave that file"
        " out in `run` of [checks.test] (`--ignore=FILE`)"
    )


def test_a_report_full_of_failures_fails_whatever_the_exit_code() -> None:
    assert not judge(PYTEST, ended(0, failing("a")), Standard()).passed


def test_only_a_few_failing_tests_and_nothing_else_can_be_flaky() -> None:
    assert suspects(PYTEST, ended(1, failing("a", "b")), Standard()) == ("a", "b")
    assert suspects(PYTEST, ended(1, failing(*"abcdef")), Standard()) == ()
    assert suspects(PYTEST, ended(None, failing("a")), Standard()) == ()
    assert suspects(PYTEST, ended(1, failing("a")), Standard(tests=10)) == ()


def test_the_base_is_needed_to_count_and_to_forgive() -> None:
    assert needs_base(PYTEST, ended(0, failing()))
    assert not needs_base(PLAIN, ended(0))
    assert needs_base(PLAIN, ended(1))
    assert not needs_base(replace(PLAIN, baseline=False), ended(1))


def test_a_base_that_gave_no_report_is_tried_again_by_another_loop() -> None:
    silent, told = replace(PASSED, reported=False), replace(PASSED, reported=True)
    assert stands_for_base(told, PYTEST, LoopId("other"))
    assert stands_for_base(silent, PYTEST, LoopId("l"))
    assert not stands_for_base(silent, PYTEST, LoopId("other"))
    assert stands_for_base(silent, PLAIN, LoopId("other"))


def test_what_the_base_says_of_one_test() -> None:
    told = replace(PASSED, reported=True, failing=("a",))
    assert [outcome_on_base(told, test) for test in ("a", "b")] == ["failed", "passed"]
    assert outcome_on_base(replace(told, reported=False), "a") is None
    assert standard(None) == Standard()
    assert standard(told) == Standard(tests=2, failing=frozenset({"a"}))


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = "command\n" + "é" * 10_000 + "\nthe end"
    assert clipped(text).startswith("command")
    assert clipped(text).endswith("the end")
    assert len(clipped(text).encode()) <= 4096
