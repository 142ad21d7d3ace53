"""The change is broken on purpose, and the real tests of a small project notice or not."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.canary.hollow import digest
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Tree
from loopwright.kernel.trust import Canary, Trust
from tests.adapters.checks.projects import PYTEST, project
from tests.interpreter import WARM_PYTHON

pytestmark = pytest.mark.unmeasured

UNITTEST = (*WARM_PYTHON, unittest_report.__file__, "--report={report}", "discover", "-s", "tests", "-t", ".")
CHECK = CheckSettings(name="test", run=UNITTEST, report="junit")
A = "LIMIT = 3\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
WRONG = A.replace("return a + b", "return 0")
CHANGED = A.replace("return a + b", "return b + a")
OTHER_SUB = A.replace("return a - b", "return a + -b")
MUL = f"{A}\n\ndef mul(a, b):\n    return a * b\n"
ADD = "self.assertEqual(pkg.a.add(1, 2), 3)"


def module_of_tests(*calls: str) -> str:
    """A test module; each call is a test of its own."""
    tests = "".join(f"    def test_{n}(self):\n        {call}\n" for n, call in enumerate(calls))
    return f"import unittest\nimport pkg.a\n\n\nclass T(unittest.TestCase):\n{tests}"


BASE = {
    "pkg/__init__.py": "",
    "pkg/a.py": A,
    "pkg/old.py": "X = 1\n",
    "tests/__init__.py": "",
    "tests/test_a.py": module_of_tests(ADD),
}
TEST_OF_MUL = {"tests/test_new.py": module_of_tests("self.assertEqual(pkg.a.mul(2, 3), 6)")}


class Looked(NamedTuple):
    canary: Canary
    tries: list[tuple[str, tuple[str, ...]]]  # the tree, and the files that were broken in it


def look(
    tmp_path: Path,
    changed: Mapping[str, str | None],
    *,
    base: Mapping[str, str | None] = BASE,
    specs: tuple[CheckSettings, ...] = (CHECK,),
    **run: Any,  # noqa: ANN401 - fields of a run
) -> Looked:
    made = project(tmp_path, base, specs)
    report = asyncio.run(made.report(made.candidate(changed), **run))
    assert report.canary is not None
    names = {report.lands: "landing", report.tree: "judging", asyncio.run(made.checkouts.tree(made.base)): "base"}
    return Looked(report.canary, [(names[Tree(tree)], paths) for tree, paths in made.checkouts.edited])


def test_a_touched_function_that_a_test_calls_is_noticed_by_one_try(tmp_path: Path) -> None:
    said, tries = look(tmp_path, {"pkg/a.py": CHANGED})
    assert said == Canary(
        said="noticed",
        how="exercises",
        where="judging",
        noticed_by=("test",),
        sentence="Broken on purpose (made to raise: pkg/a.py: add), it is noticed by test.",
    )
    assert tries == [("judging", ("pkg/a.py",))]


def test_a_test_that_swallows_exceptions_notices_all_the_same(tmp_path: Path) -> None:
    swallowing = "try:\n            pkg.a.add(1, 2)\n        except Exception:\n            pass"
    base = {**BASE, "tests/test_a.py": module_of_tests(swallowing)}
    assert look(tmp_path, {"pkg/a.py": CHANGED}, base=base).canary.said == "noticed"


def test_pytest_counts_it_as_a_failure_of_the_test(tmp_path: Path) -> None:
    text = "import pytest, pkg.a\n\n\ndef test_a():\n    with pytest.raises(Exception):\n        pkg.a.add(1, None)\n"
    said = look(tmp_path, {"pkg/a.py": CHANGED}, base={**BASE, "tests/test_a.py": text}, specs=(PYTEST,)).canary
    assert (said.said, said.how) == ("noticed", "exercises")


def test_a_test_that_is_skipped_in_part_cannot_answer_and_that_is_said(tmp_path: Path) -> None:
    """pytest reports it as it reports one that is skipped: it may as well not have run."""
    part = "with self.subTest():\n            self.skipTest('no')\n        self.assertEqual(pkg.a.add(1, 2), 3)"
    tests = module_of_tests(part, "self.assertEqual(pkg.a.sub(2, 1), 1)")
    said = look(tmp_path, {"pkg/a.py": CHANGED}, base={**BASE, "tests/test_a.py": tests}, specs=(PYTEST,)).canary
    assert said.said == "untested-change"
    told = "No test that passed before (1 test that fails then was skipped, in whole or in part, or failing) notices"
    assert said.sentence.startswith(told)


def test_a_function_that_no_test_calls_is_an_untested_change_though_its_file_is_read(tmp_path: Path) -> None:
    said, tries = look(tmp_path, {"pkg/a.py": OTHER_SUB})
    assert (said.said, said.missed, said.blind) == ("untested-change", ("pkg/a.py: sub",), ("test",))
    assert "write a test that fails without it" in said.sentence
    assert [where for where, _ in tries] == ["judging", "base", "judging"]
    assert said.code == (("pkg/a.py: sub", digest({"pkg/a.py": OTHER_SUB.encode()}, "pkg/a.py: sub")),)


def test_a_new_function_is_noticed_by_a_new_test_alone_and_that_is_said(tmp_path: Path) -> None:
    """It is no witness: it passes without the change, too."""
    test = "self.assertTrue(not hasattr(pkg.a, 'mul') or pkg.a.mul(2, 3) == 6)"
    said, tries = look(tmp_path, {"pkg/a.py": MUL, "tests/test_new.py": module_of_tests(test)})
    assert (said.said, said.how, said.where) == ("noticed", "exercises", "landing")
    assert "by new tests alone" in said.sentence
    assert [where for where, _ in tries] == ["judging", "landing"]  # nothing of it is on the base


def test_a_witness_answers_for_new_functions_without_a_try(tmp_path: Path) -> None:
    said, tries = look(tmp_path, {"pkg/a.py": MUL, **TEST_OF_MUL})
    assert (said.said, said.how, said.where, said.noticed_by) == ("noticed", "exercises", "landing", ("test",))
    assert tries == []


def test_functions_of_the_base_are_tried_whatever_a_witness_says(tmp_path: Path) -> None:
    new = {"pkg/a.py": MUL.replace("return a + b", "return b + a"), **TEST_OF_MUL}
    said, tries = look(tmp_path, new)
    assert (said.where, tries) == ("judging", [("judging", ("pkg/a.py",))])


OFF = """
import unittest


def _run(self, result=None):
    result.startTest(self)
    result.addSuccess(self)


unittest.TestCase.run = _run
"""


@pytest.mark.parametrize(
    ("product", "missed"),
    [
        ({"pkg/a.py": OFF + WRONG}, ("pkg/a.py: add",)),
        ({"pkg/a.py": OFF + "from pkg.b import *\n", "pkg/b.py": WRONG}, ("pkg/a.py: add", "pkg/a.py: sub")),
    ],
)
def test_a_product_that_keeps_its_tests_from_running_is_found_out_whatever_new_tests_say(
    tmp_path: Path, product: dict[str, str], missed: tuple[str, ...]
) -> None:
    tests = {"tests/test_new.py": "import pkg.a\npkg.a.add(0, 0)\n" + module_of_tests(ADD)}
    said = look(tmp_path, {**product, **tests}).canary
    assert (said.said, said.missed) == ("disarmed", missed)


@pytest.mark.parametrize("path", ["pkg/new.py", "pkg/sub/new.py"])
def test_a_new_file_that_nothing_imports_is_an_untested_change(tmp_path: Path, path: str) -> None:
    said = look(tmp_path, {path: "TABLE = [1, 2]\n"}).canary
    assert (said.said, said.missed) == ("untested-change", (path,))


def test_code_outside_of_functions_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    said = look(tmp_path, {"pkg/a.py": A.replace("LIMIT = 3", "LIMIT = 4")}).canary
    assert (said.said, said.how, said.where) == ("noticed", "reads", "judging")


def test_a_file_that_only_a_new_test_reads(tmp_path: Path) -> None:
    tests = {"tests/test_new.py": "import pkg.new\n" + module_of_tests("self.assertTrue(pkg.new.TABLE)")}
    said = look(tmp_path, {"pkg/new.py": "TABLE = [1]\n", **tests}).canary
    assert (said.said, said.how, said.where) == ("noticed", "reads", "landing")


def test_a_package_that_no_check_looks_at_is_no_tree_that_none_reads(tmp_path: Path) -> None:
    base = {**BASE, "tools/x.py": "X = 1\n", "tools/y.py": "Y = 1\n"}
    said, tries = look(tmp_path, {"tools/x.py": "X = 2\n"}, base=base)
    assert (said.said, said.missed) == ("untested-change", ("tools/x.py",))
    assert tries[-1] == ("judging", ("pkg/__init__.py", "pkg/a.py", "pkg/old.py", "tools/x.py", "tools/y.py"))


def test_where_nothing_is_left_to_break_what_stands_beside_it_is_broken(tmp_path: Path) -> None:
    said, tries = look(tmp_path, {"pkg/old.py": None})
    assert (said.said, said.how) == ("noticed", "reads")
    assert tries == [("judging", ("pkg/__init__.py", "pkg/a.py"))]


@pytest.mark.parametrize(
    ("words", "said"),
    [({"tools/x.py": "# Why it is one\nX = 1\n"}, "not-shown"), ({"pkg/a.py": f"# Sums\n{A}"}, "noticed")],
)
def test_words_about_the_code_ask_for_no_test(tmp_path: Path, words: dict[str, str], said: str) -> None:
    base = {**BASE, "tools/x.py": "X = 1\n", "tools/y.py": "Y = 1\n"}
    assert look(tmp_path, words, base=base).canary.said == said


def test_data_alone_is_not_tried(tmp_path: Path) -> None:
    said, tries = look(tmp_path, {"pkg/words.json": "{}", "pkg/a.pyi": "X: int\n"})
    assert (said.said, tries) == ("not-shown", [])


def test_a_check_that_runs_no_tests_cannot_answer(tmp_path: Path) -> None:
    lint = CheckSettings(name="lint", run=(sys.executable, "-c", ""), trust="exit-code")
    said = look(tmp_path, {"pkg/a.py": CHANGED}, specs=(lint,)).canary
    assert (said.said, said.blind, said.missed) == ("not-shown", (), ())


def test_a_check_that_stays_green_is_named(tmp_path: Path) -> None:
    other = CheckSettings(name="other", run=(*UNITTEST[:-5], "discover", "-s", "spec"), report="junit")
    test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_b(self):\n        pass\n"
    said = look(tmp_path, {"pkg/a.py": CHANGED}, base={**BASE, "spec/test_b.py": test}, specs=(CHECK, other)).canary
    assert (said.noticed_by, said.blind) == (("test",), ("other",))
    assert "not by other, which does not look at this change" in said.sentence


@pytest.mark.parametrize(("module", "how", "said"), [("pkg.a", "reads", "noticed"), ("json", "", "unread")])
def test_where_no_check_counts_its_exit_code_says_whether_files_are_read(
    tmp_path: Path, module: str, how: str, said: str
) -> None:
    script = CheckSettings(name="check", run=(sys.executable, "-c", f"import {module}"), trust="exit-code")
    found = look(tmp_path, {"pkg/a.py": CHANGED}, specs=(script,)).canary
    assert (found.how, found.said) == (how, said)


def test_the_same_candidate_asks_for_the_same_tries(tmp_path: Path) -> None:
    first, second = [look(tmp_path / name, {"pkg/a.py": OTHER_SUB}).tries for name in ("x", "y")]
    assert first == second


# --- what tests judge with, and was named to be mended ---------------------------------------------------------------

JUDGING_WITH = {
    **BASE,
    "pkg/testing.py": "def same(a, b):\n    assert a == b\n",
    "tests/test_a.py": f"from pkg.testing import same\n{module_of_tests('same(pkg.a.add(1, 2), 3)')}",
}
NAMED = Trust(artifacts=("pkg/testing.py",))
MENDED = {"pkg/testing.py": "def same(a, b):\n    assert b == a\n"}


def test_what_tests_judge_with_and_was_named_is_never_what_is_broken(tmp_path: Path) -> None:
    said, tries = look(tmp_path, {**MENDED, "pkg/a.py": CHANGED}, base=JUDGING_WITH, trust=NAMED)
    assert (said.said, said.how, tries) == ("noticed", "exercises", [("judging", ("pkg/a.py",))])
    assert said.sentence == (
        "Broken on purpose (made to raise: pkg/a.py: add), it is noticed by test."
        " What was named for this review judged as it is now: pkg/testing.py."
    )


def test_where_nothing_but_that_changed_there_is_nothing_to_break(tmp_path: Path) -> None:
    said, tries = look(tmp_path, MENDED, base=JUDGING_WITH, trust=NAMED)
    sentence = "Only tests, data and text changed: nothing that could be broken on purpose."
    assert (said, tries) == (Canary(said="not-shown", sentence=sentence), [])


def test_what_tests_judge_with_and_was_named_is_no_witness(tmp_path: Path) -> None:
    said, tries = look(tmp_path, {**MENDED, "pkg/a.py": OTHER_SUB}, base=JUDGING_WITH, trust=NAMED)
    assert said.said == "untested-change"
    assert not any("pkg/testing.py" in paths for _, paths in tries)
