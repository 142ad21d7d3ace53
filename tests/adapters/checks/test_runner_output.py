"""What is read from the output of runs whose runner could not be asked for a report: workspaces, scripts of scripts."""

import pytest

from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.reports import Report
from loopwright.adapters.checks.runners.output import read_output, with_load_errors
from tests.adapters.checks.test_runner_reports import outcomes, recorded, said

TAP = """\
TAP version 13
# Subtest: adds
{adds} 1 - adds
  ---
  duration_ms: 1.2
{error}  ...
# Subtest: adds zero
ok 2 - adds zero
  ---
  duration_ms: 0.1
  ...
1..2
# tests 2
# suites 0
# pass {passed}
# fail {failed}
# cancelled 0
# skipped 0
# todo 0
# duration_ms 102.1
"""
GREEN = TAP.format(adds="ok", error="", passed=2, failed=0)
RED = TAP.format(adds="not ok", error="  error: 'no sum'\n", passed=1, failed=1)


def each(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def interleaved(one: str, other: str) -> str:
    pairs = zip(one.splitlines(), other.splitlines(), strict=False)
    return "".join(f"{first}\n{second}\n" for first, second in pairs) + "\n".join(
        one.splitlines()[len(other.splitlines()) :] or other.splitlines()[len(one.splitlines()) :]
    )


PNPM = (
    "Scope: 2 of 3 workspace projects\npackages/a test$ node --test\npackages/b test$ node --test\n"
    + interleaved(each("packages/a test: ", GREEN), each("packages/b test: ", RED))
    + "\npackages/a test: Done\npackages/b test: Failed\n"
)
YARN = interleaved(each("[packages/a]: ", GREEN), each("[packages/b]: ", RED))
TURBO = each("packages/a:test: ", f"cache miss, executing 1\n{GREEN}") + each(
    "packages/b:test: ", f"cache hit, replaying logs\n{RED}"
)
LERNA = each("packages/a: ", f"> packages/a@1.0.0 test\n{GREEN}") + each(
    "packages/b: ", f"> packages/b@1.0.0 test\n{RED}"
)
NPM = (
    f"> test\n> npm test --workspaces\n\n\n> packages/a@1.0.0 test\n> node --test\n\n{GREEN}\n"
    f"> packages/b@1.0.0 test\n> node --test\n\n{RED}"
)
FIRST_YARN = (
    "yarn run v1.22.22\n$ yarn workspaces run test\n\n"
    f"> packages/a\n$ node --test\n{GREEN}\n> packages/b\nwarning no licence\n$ node --test\n{RED}"
)


@pytest.mark.parametrize("text", [PNPM, YARN, TURBO, LERNA, NPM, FIRST_YARN])
def test_tests_of_a_workspace_are_named_by_their_packages(text: str) -> None:
    report = read_output(text)
    assert outcomes(report) == {
        "packages/a > adds": "passed",
        "packages/a > adds zero": "passed",
        "packages/b > adds": "failed",
        "packages/b > adds zero": "passed",
    }
    assert (report.tests if report else None, said(report)) == (4, ["packages/b > adds - no sum"])


def test_a_package_that_counts_no_test_takes_nothing_from_the_others() -> None:
    text = f"a lint$ eslint .\na lint: fine\nb test$ node --test\n{each('b test: ', GREEN)}"
    assert outcomes(read_output(text)) == {"b > adds": "passed", "b > adds zero": "passed"}


def test_the_headline_of_one_package_names_nothing() -> None:
    assert outcomes(read_output(f"\n> p@1.0.0 test\n> node --test\n\n{GREEN}")) == {
        "adds": "passed",
        "adds zero": "passed",
    }


def test_what_stands_in_the_other_stream_belongs_to_the_same_package() -> None:
    out = f"a test$ node --test\nb test$ node --test\n{each('a test: ', GREEN)}"
    report = read_output(out, errors=each("b test: ", RED))
    assert (report.tests if report else None, said(report)) == (4, ["b > adds - no sum"])


def test_tests_of_node_are_listed_as_it_prints_them_for_programs() -> None:
    report = read_output(recorded("node-tap.txt").decode())
    assert outcomes(report) == {
        "m.test.js": "failed",
        "adds": "passed",
        "top > sub": "passed",
        "top > bad sub": "failed",
        "top": "failed",
        "suite > in suite": "passed",
        "suite > fails # here": "failed",
        "suite > later": "skipped",
        "suite > deep > x": "passed",
        "one day": "skipped",
    }
    assert said(report) == [
        "m.test.js - Error: boom",
        "top > bad sub - 1 == 2",
        "top - 1 subtest failed",
        "suite > fails # here - no",
    ]


# What the report of node's runner says of a file that it cannot load.
NOT_LOADED = b"""<testsuites><testcase name="m.test.js" classname="test"><failure message="test failed">
[Error: test failed] { code: 'ERR_TEST_FAILURE', cause: 'test failed', exitCode: 1, signal: null }
</failure></testcase><testcase name="adds" classname="test"><failure message="no"/></testcase></testsuites>"""


@pytest.mark.parametrize(
    ("printed", "issue", "evidence"),
    [
        (
            recorded("node-spec.txt").decode(),
            "Error: boom",
            'm.test.js:1\nthrow new Error("boom")\n^\n\nError: boom\n\nNode.js v20.20.2',
        ),
        ("✖ adds (1ms)\n  Error: no\n\nno key\n✖ m.test.js (1ms)\n  'test failed'\n", "no key", "no key"),
    ],
    ids=["an error", "its last words"],
)
def test_a_file_that_node_cannot_load_fails_by_what_it_printed(printed: str, issue: str, evidence: str) -> None:
    report = read_junit(NOT_LOADED, lambda _: False)
    failed, other = with_load_errors(report, "", errors=printed).failures
    assert (failed.issue, failed.evidence) == (f"m.test.js - {issue}", evidence)
    assert other == report.failures[1]


@pytest.mark.parametrize("printed", ["", "m.test.js", "✖ m.test.js (1ms)\n  'test failed'\n"])
def test_a_file_that_printed_nothing_fails_by_the_report_of_node(printed: str) -> None:
    report = read_junit(NOT_LOADED, lambda _: False)
    assert with_load_errors(report, printed) == report


MARKS = """\
▶ sums
  ✔ adds (0.3ms)
  ▶ deep
    ✖ x (2ms)
      Error: no
  ✖ deep (2.1ms)
  ﹣ later (0.2ms) # SKIP
✖ sums (3.1ms)
✔ top (1ms)
\u2139 tests 4
\u2139 suites 2
\u2139 pass 2
\u2139 fail 1
\u2139 cancelled 0
\u2139 skipped 1
\u2139 todo 0

✖ failing tests:

✖ x (2ms)
  Error: no
"""


def test_tests_of_node_are_listed_as_it_prints_them_for_people() -> None:
    report = read_output(MARKS)
    wanted = {"sums > adds": "passed", "sums > deep > x": "failed", "sums > later": "skipped", "top": "passed"}
    assert outcomes(report) == wanted
    assert said(report) == ["sums > deep > x - Error: no"]


def test_where_not_every_test_can_be_told_those_that_fail_are_named() -> None:
    """A suite and a test with tests look alike there."""
    report = read_output(recorded("node-spec.txt").decode())
    assert report is not None
    assert (report.tests, report.outcomes) == (8, ())
    assert {failure.rule for failure in report.failures} >= {"m.test.js", "top > bad sub", "suite > fails # here"}


SUBTESTS = """\
TAP version 13
# Subtest: test/sum.js
    # Subtest: table
        ok 1 - 1 + 1
        ok 2 - 1 + 2
            ok 3 - printed by a test
        1..2
    ok 1 - table # time=4.2ms
    ok 2 - later # SKIP
    1..2
    # time=6.1ms
ok 1 - test/sum.js # time=9.93ms
not ok 2 - test/more.js # time=12ms {
    not ok 1 - two
      ---
      found: 3
      ...
    1..1
}
1..2
# time=30ms
"""


def test_points_of_subtests_are_listed_without_the_time_they_took() -> None:
    report = read_output(SUBTESTS)
    assert report is not None
    assert ["found: 3" in failure.evidence for failure in report.failures] == [True, True]
    assert outcomes(report) == {
        "test/sum.js > table > 1 + 1": "passed",
        "test/sum.js > table > 1 + 2": "passed",
        "test/sum.js > table": "passed",
        "test/sum.js > later": "skipped",
        "test/sum.js": "passed",
        "test/more.js": "failed",
        "test/more.js > two": "failed",
    }


TAPE = """\
TAP version 13
# adds
not ok 1 one and two
  ---
    operator: equal
    stack: |-
      Error: one and two
  ...
ok 2 should be equal
ok 3 later # SKIP
1..3
# tests 3
# pass  2
# fail  1
"""
MOCHA = """\
  sum
    deep
      1) adds
      ✔ adds zero

  1 passing (4ms)
  1 failing

  1) sum
       deep
         adds:
     AssertionError: -1 != 3
      at Context.<anonymous> (test/add.test.js:3:51)
"""
JEST = """\
FAIL test/add.test.js
  ● Console

    console.log
  ● sum \u203a adds

    expect(received).toBe(expected) // Object.is equality

FAIL test/bad.test.js
  ● Test suite failed to run

    Cannot find module 'x'

Test Suites: 2 failed, 2 total
Tests:       1 failed, 1 passed, 2 total
"""
VITEST = """\
 FAIL  test/add.test.js > sum > adds
AssertionError: expected -1 to be 3 // Object.is equality

 FAIL  test/bad.test.js [ test/bad.test.js ]
Error: boom

 Test Files  2 failed (2)
      Tests  1 failed | 1 passed (2)
"""
PYTEST = """\
FAILED tests/test_a.py::test_x[a b] - AssertionError: assert 1 == 2
ERROR tests/test_b.py
=================== 1 failed, 1 passed, 1 error in 0.11s ====================
"""
LINE = "=" * 70
UNITTEST = f"""\
.FEF
{LINE}
ERROR: tests.test_b (unittest.loader._FailedTest.tests.test_b)
----------------------------------------------------------------------
ImportError: Failed to import test module: tests.test_b

{LINE}
ERROR: setUpClass (test_s.Late)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_s.py", line 12, in setUpClass
OSError: no port

{LINE}
FAIL: test_up (test_s.T.test_up) (word='a')
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_s.py", line 7, in test_up
AssertionError: 'a' != 'A'
- a
+ A


{LINE}
FAIL: test_down (test_s.T)
It goes down.
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: down

----------------------------------------------------------------------
Ran 4 tests in 0.001s

FAILED (failures=2, errors=2)
make: *** [Makefile:2: test] Error 1
"""
CARGO = """\
test sums::adds ... FAILED
test noisy ... said something between
ok

failures:

---- sums::adds stdout ----
thread 'sums::adds' panicked at src/lib.rs:5:9:
no sum

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        (
            UNITTEST,
            [
                "unittest.loader._FailedTest.tests.test_b - ImportError: Failed to import test module: tests.test_b",
                "setUpClass (test_s.Late) - OSError: no port",
                "test_s.T.test_up - AssertionError: 'a' != 'A'",
                "test_s.T.test_down - AssertionError: down",
            ],
        ),
        (CARGO, ["sums::adds - no sum"]),
        (TAPE, ["adds > one and two - Error: one and two"]),
        (MOCHA, ["sum deep.adds - AssertionError: -1 != 3"]),
        (
            JEST,
            [
                "test/add.test.js > sum > adds - expect(received).toBe(expected) // Object.is equality",
                "test/bad.test.js - failed without a message",
            ],
        ),
        (
            VITEST,
            [
                "test/add.test.js > sum > adds - AssertionError: expected -1 to be 3 // Object.is equality",
                "test/bad.test.js - failed without a message",
            ],
        ),
        (
            PYTEST,
            ["tests/test_a.py::test_x[a b] - failed without a message", "tests/test_b.py - failed without a message"],
        ),
    ],
)
def test_a_red_run_names_the_tests_that_fail(text: str, failing: list[str]) -> None:
    assert said(read_output(text)) == failing


@pytest.mark.parametrize(
    "heads",
    [
        "yarn run v1.22.22\n$ yarn workspaces run test\n\n> a\n$ jest\n\n> b\n$ jest\nDone in 1s.\n",
        "> w@1.0.0 test\n> npm test --workspaces\n\n\n> a@1.0.0 test\n> jest\n\n\n> b@1.0.0 test\n> jest\n",
    ],
    ids=["yarn", "npm"],
)
def test_what_stands_in_the_other_stream_without_a_headline_belongs_to_the_packages_in_turn(heads: str) -> None:
    one = f"{JEST}Ran all test suites.\n"
    report = read_output(heads, "jest", errors=f"warning no licence\n{one}warning no licence\n{one}")
    assert report is not None
    assert [failure.rule for failure in report.failures] == [
        f"{package} > {test}" for package in "ab" for test in ("test/add.test.js > sum > adds", "test/bad.test.js")
    ]
    assert report.tests == 4
    odd = read_output(heads, "jest", errors=one)
    assert odd is not None
    assert [failure.rule for failure in odd.failures] == ["test/add.test.js > sum > adds", "test/bad.test.js"]


@pytest.mark.parametrize(
    "text",
    [
        JEST.replace("2 failed, 2 total", "2 passed, 2 total").replace("1 failed, 1", "1"),
        VITEST.replace("2 failed (2)", "2 passed (2)").replace("1 failed | 1", "1"),
        MOCHA.replace("1 failing", "0 failing"),
        UNITTEST.replace("FAILED (failures=2, errors=2)", "OK"),
        PYTEST.replace("1 failed, ", "").replace(", 1 error", ""),
    ],
)
def test_where_the_run_closes_without_a_failure_such_lines_are_somebodys_output(text: str) -> None:
    report = read_output(text)
    assert isinstance(report, Report)
    assert not report.failures
