"""The change is broken on purpose, and the real tests of a small project notice or not."""

import sys
from pathlib import Path

import pytest

from loopwright.kernel.trust import Canary
from tests.adapters.checks.canary.laboratory import UNITTEST, ToyLaboratory, module_of_tests
from tests.interpreter import WARM_PYTHON

pytestmark = pytest.mark.unmeasured

A = "LIMIT = 3\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
WRONG = A.replace("return a + b", "return 0")
CHANGED = A.replace("return a + b", "return b + a")
ADD = "self.assertEqual(pkg.a.add(1, 2), 3)"
BASE = {
    "pkg/__init__.py": "",
    "pkg/a.py": A,
    "pkg/old.py": "X = 1\n",
    "tests/__init__.py": "",
    "tests/test_a.py": module_of_tests(ADD),
}
ELSEWHERE = "import os\nimport sys\n\nsys.path.insert(0, os.path.abspath('../installed'))\n"


def laboratory(place: Path, **changed: object) -> ToyLaboratory:
    return ToyLaboratory(place=place, **{"base": BASE, "product_of_candidate": {"pkg/a.py": CHANGED}, **changed})  # type: ignore[arg-type]


def test_a_touched_function_that_a_test_calls_is_noticed_by_one_try(tmp_path: Path) -> None:
    toy = laboratory(tmp_path)
    said = toy.look()
    assert said == Canary(
        said="noticed",
        how="exercises",
        where="judging",
        noticed_by=("test",),
        sentence="Broken on purpose (made to raise: pkg/a.py: add), it is noticed by test.",
        seconds=1.0,
    )
    assert toy.tries == [("judging", ("pkg/a.py",))]


def test_a_test_that_swallows_exceptions_notices_all_the_same(tmp_path: Path) -> None:
    swallowing = "try:\n            pkg.a.add(1, 2)\n        except Exception:\n            pass"
    assert laboratory(tmp_path, base={**BASE, "tests/test_a.py": module_of_tests(swallowing)}).look().said == "noticed"


def test_pytest_counts_it_as_a_failure_of_the_test(tmp_path: Path) -> None:
    text = "import pytest, pkg.a\n\n\ndef test_a():\n    with pytest.raises(Exception):\n        pkg.a.add(1, None)\n"
    command = (*WARM_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={report}")
    said = laboratory(tmp_path, base={**BASE, "tests/test_a.py": text}, specs={"test": command}).look()
    assert (said.said, said.how) == ("noticed", "exercises")


def test_a_test_that_is_skipped_in_part_cannot_answer_and_that_is_said(tmp_path: Path) -> None:
    """pytest reports it as it reports one that is skipped: it may as well not have run."""
    part = "with self.subTest():\n            self.skipTest('no')\n        self.assertEqual(pkg.a.add(1, 2), 3)"
    command = (*WARM_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={report}")
    tests = module_of_tests(part, "self.assertEqual(pkg.a.sub(2, 1), 1)")
    said = laboratory(tmp_path, base={**BASE, "tests/test_a.py": tests}, specs={"test": command}).look()
    assert said.said == "untested-change"
    told = "No test that passed before (1 test that fails then was skipped, in whole or in part, or failing) notices"
    assert said.sentence.startswith(told)


def test_a_function_that_no_test_calls_is_an_untested_change_though_its_file_is_read(tmp_path: Path) -> None:
    toy = laboratory(tmp_path, product_of_candidate={"pkg/a.py": A.replace("return a - b", "return a + -b")})
    said = toy.look()
    assert (said.said, said.missed, said.blind) == ("untested-change", ("pkg/a.py: sub",), ("test",))
    assert "write a test that fails without it" in said.sentence
    assert [where for where, _ in toy.tries] == ["judging", "base", "judging"]


def test_a_new_function_is_noticed_by_a_new_test_alone_and_that_is_said(tmp_path: Path) -> None:
    new = {"pkg/a.py": A + "\n\ndef mul(a, b):\n    return a * b\n"}
    tests = {"tests/test_new.py": module_of_tests("self.assertEqual(pkg.a.mul(2, 3), 6)")}
    toy = laboratory(tmp_path, product_of_candidate=new, tests_of_candidate=tests)
    said = toy.look()
    assert (said.said, said.how, said.where) == ("noticed", "exercises", "landing")
    assert "by new tests alone" in said.sentence
    assert [where for where, _ in toy.tries] == ["judging", "landing"]  # nothing of it is on the base


def test_a_witness_answers_for_new_functions_without_a_try(tmp_path: Path) -> None:
    new = {"pkg/a.py": f"{A}\n\ndef mul(a, b):\n    return a * b\n"}
    tests = {"tests/test_new.py": module_of_tests("self.assertEqual(pkg.a.mul(2, 3), 6)")}
    toy = laboratory(tmp_path, product_of_candidate=new, tests_of_candidate=tests, exercised=("test",))
    said = toy.look()
    assert (said.said, said.how, said.where, said.noticed_by) == ("noticed", "exercises", "landing", ("test",))
    assert toy.tries == []


def test_functions_of_the_base_are_tried_whatever_a_witness_says(tmp_path: Path) -> None:
    toy = laboratory(tmp_path, exercised=("test",))
    assert (toy.look().where, toy.tries) == ("judging", [("judging", ("pkg/a.py",))])


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
    changed = {"product_of_candidate": product, "tests_of_candidate": tests, "exercised": ("test",)}
    said = laboratory(tmp_path, **changed).look()
    assert (said.said, said.missed) == ("disarmed", missed)


@pytest.mark.parametrize("path", ["pkg/new.py", "pkg/sub/new.py"])
def test_a_new_file_that_nothing_imports_is_an_untested_change(tmp_path: Path, path: str) -> None:
    said = laboratory(tmp_path, product_of_candidate={path: "TABLE = [1, 2]\n"}).look()
    assert (said.said, said.missed) == ("untested-change", (path,))


def test_code_outside_of_functions_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    said = laboratory(tmp_path, product_of_candidate={"pkg/a.py": A.replace("LIMIT = 3", "LIMIT = 4")}).look()
    assert (said.said, said.how, said.where) == ("noticed", "reads", "judging")


def test_a_file_that_only_a_new_test_reads(tmp_path: Path) -> None:
    tests = {"tests/test_new.py": "import pkg.new\n" + module_of_tests("self.assertTrue(pkg.new.TABLE)")}
    toy = laboratory(tmp_path, product_of_candidate={"pkg/new.py": "TABLE = [1]\n"}, tests_of_candidate=tests)
    assert (toy.look().where, [where for where, _ in toy.tries]) == ("landing", ["judging", "landing"])


def test_tests_that_run_another_tree_are_found_out_and_the_place_is_named(tmp_path: Path) -> None:
    for path, text in BASE.items():
        (tmp_path / "installed" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "installed" / path).write_text(text)
    base = {**BASE, "tests/__init__.py": ELSEWHERE}
    wrong = {"pkg/a.py": WRONG}
    toy = laboratory(tmp_path, base=base, product_of_candidate=wrong, installed="/home/me/tree")
    said = toy.look()
    assert said.said == "unread"
    assert said.sentence.endswith("pkg is imported from /home/me/tree/pkg.")
    assert laboratory(tmp_path, base=base, product_of_candidate=wrong).look().said == "unread"


def test_a_package_that_no_check_looks_at_is_no_tree_that_none_reads(tmp_path: Path) -> None:
    base = {**BASE, "tools/x.py": "X = 1\n", "tools/y.py": "Y = 1\n"}
    toy = laboratory(tmp_path, base=base, product_of_candidate={"tools/x.py": "X = 2\n"})
    said = toy.look()
    assert (said.said, said.missed) == ("untested-change", ("tools/x.py",))
    assert toy.tries[-1] == ("judging", ("pkg/__init__.py", "pkg/a.py", "pkg/old.py", "tools/x.py", "tools/y.py"))


def test_where_nothing_is_left_to_break_what_stands_beside_it_is_broken(tmp_path: Path) -> None:
    toy = laboratory(tmp_path, product_of_candidate={}, gone=("pkg/old.py",))
    said = toy.look()
    assert (said.said, said.how) == ("noticed", "reads")
    assert toy.tries == [("judging", ("pkg/__init__.py", "pkg/a.py"))]


def test_words_about_the_code_ask_for_no_test(tmp_path: Path) -> None:
    base = {**BASE, "tools/x.py": "X = 1\n", "tools/y.py": "Y = 1\n"}
    words = {"tools/x.py": "# Why it is one\nX = 1\n"}
    assert laboratory(tmp_path, base=base, product_of_candidate=words).look().said == "not-shown"
    assert laboratory(tmp_path, product_of_candidate={"pkg/a.py": f"# Sums\n{A}"}).look().said == "noticed"


def test_data_alone_is_not_tried(tmp_path: Path) -> None:
    toy = laboratory(tmp_path, product_of_candidate={"pkg/words.json": "{}", "pkg/a.pyi": "X: int\n"})
    assert (toy.look().said, toy.tries) == ("not-shown", [])


def test_without_a_check_that_may_answer_nothing_is_tried(tmp_path: Path) -> None:
    toy = laboratory(tmp_path, specs={})
    assert (toy.look().said, toy.tries) == ("not-shown", [])


def test_a_check_that_stays_green_is_named(tmp_path: Path) -> None:
    other = {"test": UNITTEST, "other": (*UNITTEST[:-5], "discover", "-s", "spec")}
    base = {
        **BASE,
        "spec/test_b.py": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_b(self):\n        pass\n",
    }
    said = laboratory(tmp_path, base=base, specs=other).look()
    assert (said.noticed_by, said.blind) == (("test",), ("other",))
    assert "not by other, which does not look at this change" in said.sentence


def test_where_no_check_counts_its_exit_code_says_whether_files_are_read(tmp_path: Path) -> None:
    script = {"check": (sys.executable, "-c", "import pkg.a")}
    toy = laboratory(tmp_path, specs=script)
    assert (toy.look(counts=False).how, toy.tries) == ("reads", [("judging", ("pkg/a.py",))])
    blind = laboratory(tmp_path, specs={"check": (sys.executable, "-c", "import json")})
    assert blind.look(counts=False).said == "unread"


def test_the_same_candidate_asks_for_the_same_tries(tmp_path: Path) -> None:
    tries = []
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        toy = laboratory(tmp_path / name, product_of_candidate={"pkg/a.py": A.replace("a - b", "-b + a")})
        toy.look()
        tries.append(toy.tries)
    assert tries[0] == tries[1]


TWO = {
    **BASE,
    "libs/bb/one.py": A,
    "libs/bb/two.py": A,
    "tests/test_a.py": module_of_tests(ADD, "self.assertTrue(True)"),
}
BOTH = {"pkg/a.py": CHANGED, "libs/bb/one.py": WRONG}
PLACE = {"libs/bb/one.py": "bb is imported from /home/me/bb", "libs/bb/two.py": "bb is imported from /home/me/bb"}


def test_a_package_from_elsewhere_is_not_read_though_the_rest_of_the_change_is(tmp_path: Path) -> None:
    toy = laboratory(tmp_path, base=TWO, product_of_candidate=BOTH, places=PLACE)
    said = toy.look()
    assert (said.said, said.missed) == ("unread", ("libs/bb/one.py",))
    assert "No check reads libs/bb/one.py" in said.sentence
    assert "bb is imported from /home/me/bb" in said.sentence
    assert toy.tries[-1] == ("judging", ("libs/bb/one.py",))
    assert laboratory(tmp_path, base=TWO, product_of_candidate=BOTH).look().said == "noticed"
    rest = laboratory(tmp_path, base=TWO, places=PLACE)
    assert (rest.look().said, len(rest.tries)) == ("noticed", 1)


@pytest.mark.parametrize("whose", ["base", "candidate"])
def test_what_tests_load_by_its_path_is_read_wherever_its_name_leads(tmp_path: Path, whose: str) -> None:
    loading = "import sys\nsys.path.insert(0, 'libs')\nimport bb.one\n" + module_of_tests("self.assertTrue(bb.one.add)")
    base = {**TWO, "tests/test_b.py": loading} if whose == "base" else TWO
    new = {"tests/test_b.py": loading} if whose == "candidate" else {}
    toy = laboratory(tmp_path, base=base, product_of_candidate=BOTH, tests_of_candidate=new, places=PLACE)
    assert toy.look().said == "noticed"


# --- tests that are themselves what was to be mended -------------------------------------------------------------

TESTS = "tests/test_a.py"


def test_a_test_that_was_named_is_never_what_is_broken(tmp_path: Path) -> None:
    mended = {"pkg/a.py": CHANGED, TESTS: module_of_tests(ADD, ADD)}
    toy = laboratory(tmp_path, product_of_candidate=mended, spared=(TESTS,))
    said = toy.look()
    assert (said.said, said.how, toy.tries) == ("noticed", "exercises", [("judging", ("pkg/a.py",))])
    assert said.sentence == (
        "Broken on purpose (made to raise: pkg/a.py: add), it is noticed by test."
        " What was named for this review judged as it is now: tests/test_a.py."
    )


def test_a_test_that_was_named_and_looks_no_more_does_not_hide_it(tmp_path: Path) -> None:
    mended = {"pkg/a.py": WRONG, TESTS: module_of_tests("self.assertTrue(callable(pkg.a.add))")}
    said = laboratory(tmp_path, product_of_candidate=mended, spared=(TESTS,)).look()
    assert (said.said, said.missed) == ("disarmed", ("pkg/a.py: add",))
    assert said.sentence.endswith(" What was named for this review judged as it is now: tests/test_a.py.")


@pytest.mark.parametrize("path", [TESTS, "pkg/testing.py"])
def test_where_nothing_but_such_tests_changed_there_is_nothing_to_break(tmp_path: Path, path: str) -> None:
    toy = laboratory(tmp_path, product_of_candidate={path: module_of_tests(ADD, ADD)}, spared=(path,))
    sentence = "Only tests, data and text changed: nothing that could be broken on purpose."
    assert (toy.look(), toy.tries) == (Canary(said="not-shown", sentence=sentence), [])


def test_what_tests_judge_with_and_was_named_is_no_witness(tmp_path: Path) -> None:
    base = {**BASE, "pkg/testing.py": "X = 1\n"}
    mended = {"pkg/a.py": A.replace("return a - b", "return a + -b"), "pkg/testing.py": "X = 2\n"}
    toy = laboratory(tmp_path, base=base, product_of_candidate=mended, spared=("pkg/testing.py",))
    assert toy.look().said == "untested-change"
    assert not any("pkg/testing.py" in paths for _, paths in toy.tries)
