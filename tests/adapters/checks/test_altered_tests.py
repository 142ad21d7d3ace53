"""Tests of the base that a candidate changes: they land when the old ones pass, unless they look less than before."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import WeakenedTest
from loopwright.kernel.faults import faults_of
from loopwright.kernel.trust import RedTests, Trust
from tests.adapters.checks.projects import PYTEST, UNITTEST, project

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

CALC = "def add(a, b):\n    return a + b\n"
SWAPPED = CALC.replace("a + b", "b + a")
HEAD = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n"
TEST_ADD = "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
TEST_ZERO = "\n    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n"
FILE = "tests/test_calc.py"
OLD = HEAD + TEST_ADD + TEST_ZERO
BASE = {"calc.py": CALC, FILE: OLD}
CASES = """\
import pytest

import calc


@pytest.mark.parametrize("n", [1, 2, 3])
def test_add(n):
    assert calc.add(n, 1) == n + 1
"""


def reported(
    tmp_path: Path,
    changed: dict[str, str | None],
    *,
    base: dict[str, str] = BASE,
    spec: CheckSettings = UNITTEST,
    allow: tuple[str, ...] = (),
) -> ChecksReported:
    made = project(tmp_path, base, [spec])
    trust = Trust(base=made.base, in_force=True, allow=allow)
    return asyncio.run(made.report(made.candidate({"calc.py": SWAPPED, **changed}), trust=trust))


def held(report: ChecksReported) -> list[str]:
    assert faults_of(report) == ()
    return [change.path for change in report.held]


def rows(report: ChecksReported) -> list[tuple[str, str]]:
    assert report.evidence is not None
    return [(row.id.rpartition(".")[2].rpartition("::")[2], row.how) for row in report.evidence.altered_tests]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("an assertion more", OLD + "        self.assertEqual(calc.add(1, -1), 0)\n", [("test_zero", "altered")]),
        ("another expectation", OLD.replace("calc.add(2, 3), 5", "calc.add(2, 4), 6"), [("test_add", "altered")]),
        ("an import more", OLD.replace("import calc\n", "import calc\nimport os\n"), []),
        ("only formatting", OLD.replace("(2, 3), 5)", "(2, 3),  5)  # five"), []),
        ("a test more", OLD + TEST_ADD.replace("test_add", "test_sum"), []),
        ("a renamed test", OLD.replace("test_zero", "test_nothing"), [("test_zero", "moved")]),
        (
            "a renamed class",
            OLD.replace("class Calc", "class Sums").replace("(2, 3), 5", "(2, 4), 6"),
            [("test_zero", "moved"), ("test_add", "altered")],
        ),
    ],
)
def test_a_changed_test_that_still_looks_lands(
    tmp_path: Path, name: str, text: str, expected: list[tuple[str, str]]
) -> None:
    report = reported(tmp_path, {FILE: text})
    assert (held(report), rows(report)) == ([], expected)


WEAKENED = pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("an assertion less", OLD.replace("self.assertEqual(calc.add(0, 0), 0)", "calc.add(0, 0)"), "blind"),
        ("a test less", HEAD + TEST_ADD, "gone"),
        ("a weaker assertion", OLD.replace("Equal(calc.add(0, 0), 0)", "IsNotNone(calc.add(0, 0))"), "blind"),
        ("skipped", OLD.replace("    def test_zero", "    @unittest.skip('later')\n    def test_zero"), "skipped"),
        ("hidden", OLD.replace("self.assertEqual(calc.add(0, 0), 0)", "self.assertEqual(0, 0)"), "blind"),
        (
            "in a renamed class",
            OLD.replace("class Calc", "class Sums").replace("Equal(calc.add(0, 0), 0)", "IsNotNone(calc.add(0, 0))"),
            "blind",
        ),
    ],
)


@WEAKENED
def test_a_weakened_test_is_held_back_and_not_listed_among_what_lands(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    report = reported(tmp_path, {FILE: text, "tests/test_new.py": HEAD + TEST_ADD})
    assert (held(report), rows(report), report.written) == ([FILE], [], ("tests/test_new.py",))
    stubbed = "calc.py: add" if why == "blind" else ""
    assert report.weakened == (
        WeakenedTest(file=FILE, id="test_calc.Calc.test_zero", how=why, stubbed=stubbed),  # type: ignore[arg-type]
    )
    assert report.lands != ""


@WEAKENED
def test_a_weakened_test_that_a_person_allowed_is_listed_as_confirmed(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    report = reported(tmp_path, {FILE: text}, allow=(FILE,))
    how = "gone" if why == "gone" else "weakened"
    still = [row for row in rows(report) if row[1] != "moved"]
    assert (held(report), still, report.written) == ([], [("test_zero", how)], ())
    assert report.evidence is not None
    assert all(row.confirmed for row in report.evidence.altered_tests)


@pytest.mark.trust
def test_a_test_that_is_expected_to_fail_now_fails_the_attempt(tmp_path: Path) -> None:
    text = OLD.replace("    def test_zero", "    @unittest.expectedFailure\n    def test_zero")
    assert [fault.rule for fault in faults_of(reported(tmp_path, {FILE: text}))] == ["test_calc.Calc.test_zero"]


MORE = "tests/test_more.py"
TEST_STRING = "    def test_string(self):\n        self.assertEqual(calc.add('a', 'b'), 'ab')\n"
TEST_TYPE = "\n    def test_type(self):\n        self.assertEqual(type(calc.add(1, 1)), int)\n"
MORE_TESTS = OLD.replace("class Calc", "class More")


@pytest.mark.parametrize(
    ("added", "expected", "dropped"),
    [
        ({}, [MORE], ("test_more.More.test_add", "test_more.More.test_zero")),
        ({"tests/test_else.py": MORE_TESTS}, [], ()),
        (
            {"tests/test_else.py": MORE_TESTS.replace("class", "@unittest.skip('later')\nclass")},
            [MORE],
            ("test_more.More.test_add", "test_more.More.test_zero"),
        ),
        (
            {"tests/test_else.py": MORE_TESTS.replace("import calc\n", "class calc:\n    add = int.__add__\n")},
            [MORE],
            ("test_more.More.test_add", "test_more.More.test_zero"),
        ),
    ],
    ids=["removed", "moved", "moved and skipped", "moved and looking at something else"],
)
def test_a_removed_file_of_tests_is_held_back_and_a_moved_one_lands(
    tmp_path: Path, added: dict[str, str], expected: list[str], dropped: tuple[str, ...]
) -> None:
    report = reported(tmp_path, {MORE: None, **added}, base={**BASE, MORE: MORE_TESTS})
    assert (held(report), report.would_drop) == (expected, dropped)


@pytest.mark.trust
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CASES.replace("[1, 2, 3]", "[1, 2]"), [FILE]),
        (CASES.replace("[1, 2, 3]", "[0, 1, 2, 5]"), []),
        (CASES.replace("[1, 2, 3]", "[4, 5, 6]"), []),
        (CASES.replace("[1, 2, 3]", "[4, 5, 6]").replace("assert calc.add(n, 1) == n + 1", "calc.add(n, 1)"), [FILE]),
    ],
    ids=["fewer", "others", "only others", "only others that look at nothing"],
)
def test_fewer_or_idle_cases_are_held_back_and_other_cases_land(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert held(reported(tmp_path, {FILE: text}, base={"calc.py": CALC, FILE: CASES}, spec=PYTEST)) == expected


HELPER = "def same(case, a, b):\n    case.assertEqual(a, b)\n"


@pytest.mark.parametrize("helper", ["helper", "test_helper"])
@pytest.mark.parametrize(
    ("text", "is_held"),
    [("def same(case, a, b):\n    pass\n", True), (HELPER.replace("(a, b)", "(b, a)"), False)],
    ids=["compares nothing", "compares"],
)
def test_a_helper_that_no_longer_compares_is_held_back(
    tmp_path: Path, helper: str, text: str, *, is_held: bool
) -> None:
    tests = f"from {helper} import same\n" + OLD.replace("self.assertEqual(", "same(self, ")
    path, own = f"tests/{helper}.py", "\n\nclass Own(__import__('unittest').TestCase):\n    def test_own(self): pass\n"
    base = {**BASE, path: HELPER + own, FILE: tests}
    assert held(reported(tmp_path, {path: text + own}, base=base)) == ([path] if is_held else [])


@pytest.mark.parametrize(
    ("imported", "expected"), [("same", []), ("*", ["tests/helper.py"])], ids=["by name", "all names"]
)
def test_a_helper_that_gains_a_name_changes_nothing_for_those_who_import_others(
    tmp_path: Path, imported: str, expected: list[str]
) -> None:
    many = "".join(TEST_ADD.replace("test_add", f"test_add_{number}") for number in range(51))
    base = {**BASE, "tests/helper.py": HELPER, FILE: f"from helper import {imported}\n{HEAD}{many}"}
    gained: dict[str, str | None] = {
        "tests/helper.py": HELPER + "\n\ndef near(case, a, b):\n    case.assertAlmostEqual(a, b)\n"
    }
    assert held(reported(tmp_path, gained, base=base)) == expected


def test_a_persons_word_beforehand_lets_a_weakened_test_land(tmp_path: Path) -> None:
    report = reported(tmp_path, {FILE: HEAD + TEST_ADD}, allow=("tests/**",))
    assert held(report) == []


def test_a_test_that_contradicts_the_base_waits_for_a_person(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    changed = {
        "calc.py": CALC.replace("a + b", "a + b + 1"),
        FILE: OLD.replace("3), 5", "3), 6").replace("0), 0", "0), 1"),
    }
    commit, trust = made.candidate(changed), Trust(base=made.base, in_force=True)
    report = asyncio.run(made.report(commit, trust=trust))
    assert report.claim is not None
    assert [change.path for change in report.claim.changes] == [FILE]
    assert report.claim.failing == ("test_calc.Calc.test_add", "test_calc.Calc.test_zero")
    assert "AssertionError: 6 != 5" in report.claim.messages[0]
    after = asyncio.run(made.report(commit, trust=trust, step="s2", approved=report.claim.changes))
    assert (faults_of(after), after.held, after.claim) == ((), (), None)


def test_a_contradiction_does_not_drop_the_tests_of_other_files(tmp_path: Path) -> None:
    made = project(tmp_path, {**BASE, MORE: HEAD.replace("Calc(", "More(") + TEST_STRING + TEST_TYPE}, [UNITTEST])
    changed = {
        "calc.py": CALC.replace("a + b", "a + b if a != 2 else 6"),
        FILE: OLD.replace("3), 5", "3), 6"),
        MORE: HEAD.replace("Calc(", "More(") + TEST_STRING,
    }
    commit, trust = made.candidate(changed), Trust(base=made.base, in_force=True)
    report = asyncio.run(made.report(commit, trust=trust))
    assert report.claim is not None
    assert ([change.path for change in report.claim.changes], report.claim.dropped) == ([FILE], ())
    after = asyncio.run(made.report(commit, trust=trust, step="s2", approved=report.claim.changes))
    assert (held(after), after.would_drop) == ([MORE], ("test_more.More.test_type",))


DOCTESTS = replace(PYTEST, run=(*PYTEST.run, "--doctest-modules"))
EXAMPLE = 'def add(a, b):\n    """Add.\n\n    >>> add(2, 3)\n    5\n    """\n    return a + b\n'
OTHER_EXAMPLE = EXAMPLE.replace("    5\n", "    6\n").replace("a + b", "a + b + 1")
DOCTEST = "calc.calc.add"


@pytest.mark.parametrize("test", ["def test_add():\n    assert add(2, 3) == 6\n", ""], ids=["with a test", "alone"])
def test_an_example_that_contradicts_the_base_waits_for_a_person_and_judges_from_then_on(
    tmp_path: Path, test: str
) -> None:
    head = "from calc import add\n\n\n"
    other = head + "def test_zero():\n    assert add(0, 0) < 2\n"
    mine = {FILE: head + test} if test else {}
    before = {path: text.replace("6", "5") for path, text in mine.items()}
    made = project(tmp_path, {"calc.py": EXAMPLE, "tests/test_other.py": other, **before}, [DOCTESTS])
    trust = Trust(base=made.base, in_force=True)
    mine["tests/test_other.py"] = other + "    assert add(1, 1) > 1\n"
    commit = made.candidate({"calc.py": OTHER_EXAMPLE, **mine})
    report = asyncio.run(made.report(commit, trust=trust))
    assert report.claim is not None
    assert {change.path for change in report.claim.changes} == {"calc.py", *before}
    assert report.claim.failing == (DOCTEST, *(f"{path}::test_add" for path in before))
    assert report.claim.messages[0] == f"{DOCTEST} - Expected: 5 Got: 6"
    after = asyncio.run(made.report(commit, trust=trust, step="s2", approved=report.claim.changes))
    assert (faults_of(after), after.held, after.claim) == ((), (), None)
    assert after.evidence is not None
    assert [each.id for each in after.evidence.witnesses] == list(report.claim.failing)
    wrong = made.candidate({"calc.py": OTHER_EXAMPLE.replace("+ 1", "+ 2"), **mine})
    assert faults_of(asyncio.run(made.report(wrong, trust=trust, step="s3", approved=report.claim.changes)))


def test_a_word_beforehand_covers_the_examples_of_a_file(tmp_path: Path) -> None:
    base = {"calc.py": EXAMPLE, "tests/test_other.py": "def test_other():\n    assert [1]\n"}
    report = reported(tmp_path, {"calc.py": OTHER_EXAMPLE}, base=base, spec=DOCTESTS, allow=("calc.py",))
    assert (held(report), report.claim) == ([], None)


def test_a_word_beforehand_does_not_cover_an_example_that_was_red(tmp_path: Path) -> None:
    red = EXAMPLE.replace("a + b", "a + b + 1")
    made = project(tmp_path, {"calc.py": red, "tests/test_other.py": "def test_other():\n    assert [1]\n"}, [DOCTESTS])
    commit, trust = made.candidate({"calc.py": OTHER_EXAMPLE}), Trust(base=made.base, in_force=True, allow=("calc.py",))
    report = asyncio.run(made.report(commit, trust=trust, red=(RedTests(tests=(DOCTEST,)),)))
    assert report.claim is not None
    assert ([change.path for change in report.claim.changes], report.claim.new) == (["calc.py"], (DOCTEST,))
