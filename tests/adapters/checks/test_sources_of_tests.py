"""Test functions of a file by name: which of them a change altered, removed or moved."""

import pytest

from loopwright.adapters.checks.ids import function_of
from loopwright.adapters.checks.sources_of_tests import (
    FileAlteration,
    compare_tests,
    imported_names,
    name_in_file,
)

OLD = '''\
"""Sums."""
import calc

N = 2


def near(a, b):
    return a == b


def test_add():
    """Adds."""
    assert near(calc.add(N, 3), 5)


class TestMore:
    limit = 1

    def test_zero(self):
        assert calc.add(0, 0) == 0
'''


TESTS = frozenset({"test_add", "test_sum", "test_new", "TestMore.test_zero", "TestMore.test_new", "TestNew.test_new"})


def compared(after: str) -> FileAlteration:
    return compare_tests(OLD, after, TESTS)


def is_altered(found: FileAlteration) -> bool:
    return bool(found.altered) or found.everything


@pytest.mark.parametrize(
    "after",
    [
        OLD,
        OLD.replace("import calc", "import os\n\nimport calc"),
        OLD.replace("import calc", "import calc\nimport calc.more"),
        OLD.replace("import calc", "from . import calc as other"),
        OLD.replace("Sums.", "All sums.").replace("Adds.", "Adds two numbers."),
        OLD.replace("calc.add(N, 3), 5)", "calc.add(N,  3),  5)  # five"),
        OLD + "\n\ndef test_new():\n    pass\n",
        OLD + "\n    def test_new(self):\n        pass\n",
        OLD + "\n\nclass TestNew:\n    size = 2\n\n    def test_new(self):\n        pass\n",
        OLD + "\n\nclass Helper:\n    pass\n",
        OLD.replace("N = 2", "N = M = 2"),
        OLD.replace("N = 2", "N = 2\nM = calc.add(1, 2)"),
        OLD.replace("def near", "def far(a, b):\n    return a != b\n\n\ndef near"),
        OLD.replace("def near", "@pytest.fixture()\ndef numbers():\n    return (1, 2)\n\n\ndef near"),
    ],
)
def test_imports_documentation_layout_new_tests_and_new_names_alter_nothing(after: str) -> None:
    assert not is_altered(compared(after))


@pytest.mark.parametrize(
    ("after", "altered"),
    [
        (OLD.replace("3), 5", "3), 6"), {"test_add"}),
        (OLD.replace("def test_add", "@skip\ndef test_add"), {"test_add"}),
        (OLD.replace("def test_add()", "def test_add(n=1)"), {"test_add"}),
        (OLD.replace("def test_add", "async def test_add"), {"test_add"}),
        (OLD.replace("0) == 0", "0) is not None"), {"TestMore.test_zero"}),
    ],
)
def test_a_test_whose_own_source_differs_is_altered(after: str, altered: set[str]) -> None:
    found = compared(after)
    assert (set(found.altered), found.everything) == (altered, False)


@pytest.mark.parametrize(
    "after",
    [
        OLD.replace("limit = 1", "limit = 2"),
        OLD.replace("class TestMore:", "class TestMore(Base):"),
        OLD.replace("class TestMore:", "@skip\nclass TestMore:"),
        OLD + "\n\ntest_add = None\n",
        OLD + "\n\npytestmark = pytest.mark.skip\n",
        OLD + "\n\ndef setup_module():\n    calc.add = max\n",
        OLD + "\n\n@pytest.fixture(autouse=True)\ndef patched():\n    calc.add = max\n",
        OLD + "\n\ncalc.add = max\n",
        OLD + "\n\nTestMore = object\n",
        "def (\n",
    ],
)
def test_what_all_tests_of_a_file_may_use_alters_everything(after: str) -> None:
    assert compared(after).everything


@pytest.mark.parametrize(
    ("after", "altered"),
    [
        (OLD.replace("N = 2", "N = 3"), {"test_add"}),
        (OLD + "\n\ndef len(x):\n    return 0\n", set()),
        (OLD.replace("return a == b", "return True"), {"test_add"}),
        (OLD.replace("import calc", "import fake as calc"), {"test_add", "TestMore.test_zero"}),
        (OLD.replace("import calc", "from fake import calc"), {"test_add", "TestMore.test_zero"}),
    ],
)
def test_a_helper_alters_the_tests_that_name_it(after: str, altered: set[str]) -> None:
    found = compared(after)
    assert (set(found.altered), found.everything) == (altered, False)


HELPED = """\
DATA = [1, 2]


def load():
    return DATA


def first():
    return load()[0]


def test_first():
    assert first() == 1


def test_other():
    assert 1
"""
FIXTURE = HELPED.replace("def load", "@pytest.fixture(name='loaded')\ndef load")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HELPED, HELPED.replace("[1, 2]", "[1]")),
        (HELPED, HELPED.replace("    return DATA", "    return [1]")),
        (FIXTURE, FIXTURE.replace("[1, 2]", "[1]")),
        (FIXTURE, FIXTURE.replace("    return DATA", "    return [1]")),
        (f"{HELPED}\n\npytestmark = skip(DATA)\n", HELPED.replace("[1, 2]", "[1]") + "\n\npytestmark = skip(DATA)\n"),
        (
            f"{HELPED}\n\nif DATA:\n    del test_other\n",
            HELPED.replace("[1, 2]", "[1]") + "\n\nif DATA:\n    del test_other\n",
        ),
        (
            f"{HELPED}\n\nclass TestMore:\n    data = DATA\n",
            HELPED.replace("[1, 2]", "[1]") + "\n\nclass TestMore:\n    data = DATA\n",
        ),
        (HELPED, HELPED.replace("def load", "def first():\n    return 1\n\n\ndef load")),
    ],
    ids=["data", "helper", "data-of-fixture", "fixture", "mark", "statement", "class", "twice"],
)
def test_a_helper_alters_the_tests_that_it_reaches_through_others(before: str, after: str) -> None:
    found = compare_tests(before, after, frozenset({"test_first", "test_other"}))
    assert found.everything or found.altered == {"test_first"}
    assert found.everything is (before is not HELPED)


def test_a_test_that_is_gone_is_known_by_its_body() -> None:
    renamed = OLD.replace("def test_add", "def test_sum")
    found = compared(renamed)
    assert not is_altered(found)
    assert found.fresh == {"test_sum": found.bodies["test_add"]}
    assert compared(renamed.replace("3), 5", "3), 6")).fresh != found.fresh
    assert compare_tests("", renamed, TESTS).fresh.keys() == {"test_sum", "TestMore.test_zero"}


def test_a_test_that_is_gone_did_not_move_to_one_that_stood_there_before() -> None:
    one = "class A:\n    def test_a(self):\n        self.check()\n"
    twice = one + one.replace("class A", "class B").replace("test_a", "test_b")
    left = twice.partition("class B")[0]
    assert compare_tests(twice, left, frozenset({"A.test_a", "B.test_b"})).fresh == {}


def test_a_class_of_helpers_that_is_gone_alters_everything_and_one_of_tests_does_not() -> None:
    helper = "\n\nclass Helper:\n    def help(self):\n        return 1\n"
    assert compare_tests(OLD + helper, OLD, TESTS).everything
    assert not is_altered(compared(OLD.partition("class TestMore")[0]))


def test_a_test_in_a_nested_class_has_the_names_around_it() -> None:
    nested = "class A:\n    class B:\n        def test_c(self):\n            assert 1\n"
    found = compare_tests(nested, nested.replace("assert 1", "assert 2"), frozenset({"A.B.test_c"}))
    assert (set(found.altered), found.everything) == ({"A.B.test_c"}, False)


INHERITED = "class Both:\n    def test_a(self):\n        assert 1\n\n\nclass One(Both):\n    kind = 1\n"


@pytest.mark.parametrize(
    ("after", "altered"),
    [
        (INHERITED.replace("assert 1", "assert 2"), {"One.test_a"}),
        (INHERITED + "\n    def test_a(self):\n        pass\n", {"One.test_a"}),
        (INHERITED.replace("assert 1\n", "assert 1\n\n    def test_b(self):\n        assert 2\n"), set()),
    ],
)
def test_a_test_that_its_class_inherits_is_altered_with_the_function(after: str, altered: set[str]) -> None:
    found = compare_tests(INHERITED, after, frozenset({"One.test_a", "One.test_b"}))
    assert (set(found.altered), found.everything) == (altered, False)


def test_every_word_of_an_import_is_named() -> None:
    text = "import os.path, json\nfrom tests.helper import (\n    same,\n)\nfrom . import *\nx = 2 * 3\n"
    assert imported_names(text) == {"import", "from", "os", "path", "json", "tests", "helper", "same", "*"}


@pytest.mark.parametrize(
    ("test", "function", "name"),
    [
        ("tests/test_a.py::test_b", "tests/test_a.py::test_b", "test_b"),
        ("tests/test_a.py::TestA::test_b[x::y]", "tests/test_a.py::TestA::test_b", "TestA.test_b"),
        ("tests/test_a.py::test_b[1\n2]", "tests/test_a.py::test_b", "test_b"),
        ("tests.test_a.TestA.test_b", "tests.test_a.TestA.test_b", "TestA.test_b"),
    ],
)
def test_an_id_says_the_function_and_its_name_in_the_file(test: str, function: str, name: str) -> None:
    assert (function_of(test), name_in_file(test)) == (function, name)
