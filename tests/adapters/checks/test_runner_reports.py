"""What runners wrote, recorded from real ones, and what is read from it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.reports import Report, ReportRefused
from loopwright.adapters.checks.runners.formats import read_go, read_jest, read_rspec, words_of_go
from loopwright.adapters.checks.runners.output import read_output

RECORDED = Path(__file__).parent / "reports"


def recorded(name: str) -> bytes:
    """As it is read: without the place of the checkout."""
    return (RECORDED / name).read_bytes().replace(b"/checkout/", b"")


def outcomes(report: Report | None) -> dict[str, str]:
    assert report is not None
    return dict(report.outcomes)


def said(report: Report | None) -> list[str]:
    assert report is not None
    return [failure.issue for failure in report.failures]


def test_jest() -> None:
    report = read_jest(recorded("jest.json"))
    assert outcomes(report) == {
        "j/a.test.js > sums > adds": "passed",
        "j/a.test.js > sums > fails": "failed",
        "j/a.test.js > sums > later": "skipped",
        "j/a.test.js > sums > x": "skipped",
        "j/a.test.js > snap": "failed",
        "j/b.test.js": "failed",
    }
    assert said(report)[0].startswith("j/a.test.js > sums > fails - Error: expect(received).toBe(expected)")
    assert report.failures[0].file == "j/a.test.js"


def test_the_nameless_file_among_the_titles_of_vitest_names_nothing() -> None:
    case = {"ancestorTitles": ["", "add"], "title": "adds", "status": "passed"}
    suite = {"name": "src/add.test.js", "assertionResults": [case]}
    report = read_jest(json.dumps({"testResults": [suite]}).encode())
    assert report.outcomes == (("src/add.test.js > add > adds", "passed"),)


def test_vitest() -> None:
    report = read_jest(recorded("vitest.json"))
    assert outcomes(report) == {
        "v/a.test.js > sums > adds": "passed",
        "v/a.test.js > sums > fails": "failed",
        "v/a.test.js > sums > later": "skipped",
        "v/a.test.js > snap": "passed",
        "v/b.test.js": "failed",
    }
    assert said(report)[1] == "v/b.test.js - boom"


def test_rspec() -> None:
    report = read_rspec(recorded("rspec.json"))
    assert outcomes(report) == {
        "spec/a_spec.rb > sums adds": "passed",
        "spec/a_spec.rb > sums fails": "failed",
        "spec/a_spec.rb > sums later": "skipped",
    }
    assert said(report) == ["spec/a_spec.rb > sums fails - expected: 2"]


def test_mocha() -> None:
    report = read_junit(recorded("mocha.xml"), lambda _: False)
    assert outcomes(report) == {
        "top": "passed",
        "sums.adds": "passed",
        "sums.fails": "failed",
        "sums.later": "skipped",
        "sums deep.x": "passed",
    }
    assert report.failures[0].file == "m/a.js"


def test_a_test_of_node_is_named_by_its_suites() -> None:
    report = read_junit(recorded("node.xml"), lambda _: False)
    assert outcomes(report) == {
        "sums > adds": "passed",
        "sums > fails": "failed",
        "sums > later": "skipped",
        "sums > deep > x": "passed",
        "top > sub": "passed",
        "todo": "skipped",
    }
    assert said(report) == ["sums > fails - 1 == 2"]


def test_go() -> None:
    content = recorded("go.jsonl")
    report = read_go(content)
    wanted = {
        "example.com/gp > TestA": "passed",
        "example.com/gp > TestA/sub_one": "passed",
        "example.com/gp > TestB": "failed",
        "example.com/gp > TestC": "skipped",
    }
    assert outcomes(report) == wanted == outcomes(read_output(recorded("go-v.txt").decode(), "go"))
    assert said(report) == ["example.com/gp > TestB - a_test.go:4: no good"]
    assert "--- FAIL: TestB" in words_of_go(content)
    assert "Action" not in words_of_go(content)


def test_a_package_of_go_that_does_not_build_is_a_failure() -> None:
    content = (
        b'{"Action":"output","Package":"p","Output":"a.go:1: no\\n"}\n{"Action":"fail","Package":"p","Elapsed":0}\n'
    )
    assert said(read_go(content)) == ["p - a.go:1: no"]


def test_cargo() -> None:
    report = read_output(recorded("cargo.txt").decode(), "cargo")
    assert outcomes(report) == {
        "tests::adds": "passed",
        "tests::later": "skipped",
        "tests::fails": "failed",
        "tests::panics": "passed",
        "outer": "passed",
        "src/lib.rs - add (line)": "passed",
    }
    assert said(report) == ["tests::fails - assertion `left == right` failed"]


def test_django() -> None:
    report = read_output(recorded("django.txt").decode(), "django")
    assert outcomes(report) == {
        "app.tests.A.test_bad": "failed",
        "app.tests.A.test_later": "skipped",
        "app.tests.A.test_ok": "passed",
    }
    assert said(report) == ["app.tests.A.test_bad - AssertionError: 1 != 2"]


@pytest.mark.parametrize("read", [read_jest, read_rspec, read_go])
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"\xff", b'{"testResults": 1}', b'{"examples": [1]}', b"[" * 100_000]
)
def test_what_is_no_report_is_refused(read: object, content: bytes) -> None:
    assert callable(read)
    with pytest.raises(ReportRefused):
        read(content)


@given(
    st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda s: st.lists(s) | st.dictionaries(st.text(), s))
)
def test_odd_values_are_read_or_refused(value: object) -> None:
    for content in ({"testResults": [{"assertionResults": [{"title": value, "status": value}], "name": value}]},):
        assert isinstance(read_jest(json.dumps(content).encode()), Report)
    assert isinstance(read_rspec(json.dumps({"examples": [{"exception": value, "status": value}]}).encode()), Report)


# Lines that close


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        ("----\nRan 12 tests in 0.1s\n\nOK (skipped=2)", 10),
        ("Ran 1 test in 0.1s\n\nFAILED (failures=1)", 1),
        ("===== 2 failed, 10 passed, 3 skipped, 1 error in 0.12s =====", 13),
        ("12 passed, 1 warning in 61.02s (0:01:01)", 12),
        ("no tests ran in 0.01s", 0),
        ("1..3\n# tests 12\n# suites 2\n# pass 11\n# skipped 1\n# todo 0", 11),
        ("\u2139 tests 12\n\u2139 skipped 0", 12),
        ("  12 passing (34ms)\n  1 pending\n  2 failing\n", 14),
        ("Tests:       2 failed, 1 skipped, 1 todo, 1 passed, 5 total", 3),
        ("\x1b[2m      Tests \x1b[22m \x1b[31m1 failed\x1b[39m | \x1b[32m2 passed\x1b[39m\x1b[90m (4)\x1b[39m", 3),
        ("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out", 12),
        ("     Summary [   0.004s] 12 tests run: 12 passed, 3 skipped", 12),
        ("12 examples, 0 failures, 2 pending", 10),
        ("OK (12 tests, 30 assertions)", 12),
        ("Tests: 12, Assertions: 30, Failures: 1, Skipped: 2.", 10),
        ("[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 2, Time elapsed: 1 s", None),
        ("[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 2", 10),
        ("Passed!  - Failed:     0, Passed:    12, Skipped:     1, Total:    13, Duration: 9 ms", 12),
        ("100% tests passed, 0 tests failed out of 12", 12),
        ("12 runs, 20 assertions, 0 failures, 0 errors, 2 skips", 10),
        ("2 doctests, 12 tests, 0 failures", 12),
        ("1..2\nok 1 adds\nnot ok 2 - fails\nok 3 later # skip no", 2),
        ("Files=2, Tests=12,  0 wallclock secs", 12),
        ("ok | 12 passed | 0 failed (3ms)", 12),
        ("Ran 3 tests in 0.1s\n\nOK\n  4 passing (1ms)", 7),
        ("all is well", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_line_a_run_closes_with_counts_its_tests(line: str, tests: int | None) -> None:
    report = read_output(line)
    assert (report.tests if report else None) == tests


def test_ids_are_taken_from_output_only_where_the_list_is_whole() -> None:
    listed = "test a ... ok\ntest b ... {}ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured"
    assert outcomes(read_output(listed.format(""))) == {"a": "passed", "b": "passed"}
    noisy = read_output(listed.format("noise\n"))
    assert (noisy.tests if noisy else 0, outcomes(noisy)) == (2, {})


def test_pytest_lists_with_and_without_workers() -> None:
    plain = "t/test_a.py::test_a PASSED [ 50%]\nt/test_a.py::test_b[x y] SKIPPED (no) [100%]\n== 1 passed in 0.1s =="
    spread = (
        "[gw0] [ 50%] PASSED t/test_a.py::test_a \n[gw1] [100%] SKIPPED t/test_a.py::test_b[x y] \n1 passed in 0.1s"
    )
    wanted = {"t/test_a.py::test_a": "passed", "t/test_a.py::test_b[x y]": "skipped"}
    assert outcomes(read_output(plain)) == outcomes(read_output(spread)) == wanted


@given(st.text(max_size=200))
def test_no_output_makes_it_raise(text: str) -> None:
    read_output(text)
