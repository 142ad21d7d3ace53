"""Test functions of a file by name: which of them a change altered, removed or moved."""

import pytest

from loopwright.adapters.checks.sources_of_tests import (
    FileAlteration,
    compare_tests,
    function_of,
    imported_names,
    name_in_file,
    new_bodies,
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


def is_test(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_")


def compared(after: str) -> FileAlteration:
    return compare_tests(OLD, after, is_test)


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
    ],
)
def test_imports_documentation_layout_and_new_tests_alter_nothing(after: str) -> None:
    assert compared(after) == FileAlteration()


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
    assert compared(after) == FileAlteration(altered=frozenset(altered))


@pytest.mark.parametrize(
    "after",
    [
        OLD.replace("N = 2", "N = 3"),
        OLD.replace("return a == b", "return True"),
        OLD.replace("limit = 1", "limit = 2"),
        OLD.replace("class TestMore:", "class TestMore(Base):"),
        OLD.replace("class TestMore:", "@skip\nclass TestMore:"),
        OLD.replace("import calc", "import fake as calc"),
        OLD.replace("import calc", "from fake import calc"),
        OLD + "\n\nclass Helper:\n    pass\n",
        OLD + "\n\ntest_add = None\n",
        "def (\n",
    ],
)
def test_what_all_tests_of_a_file_may_use_alters_everything(after: str) -> None:
    assert compared(after).everything


def test_a_test_that_is_gone_is_known_by_its_body() -> None:
    renamed = OLD.replace("def test_add", "def test_sum")
    found = compared(renamed)
    assert (frozenset(found.bodies), found.altered, found.everything) == (frozenset({"test_add"}), frozenset(), False)
    body = found.bodies["test_add"]
    assert new_bodies(OLD, renamed, is_test) == {body}
    assert body in new_bodies("def (\n", renamed, is_test)
    assert new_bodies(renamed, renamed, is_test) == new_bodies(OLD, "def (\n", is_test) == frozenset()
    assert body not in new_bodies(OLD, renamed.replace("3), 5", "3), 6"), is_test)


def test_a_test_that_is_gone_did_not_move_to_one_that_stood_there_before() -> None:
    one = "class A:\n    def test_a(self):\n        self.check()\n"
    twice = one + one.replace("class A", "class B").replace("test_a", "test_b")
    left = twice.partition("class B")[0]
    found = compare_tests(twice, left, is_test)
    assert (frozenset(found.bodies), new_bodies(twice, left, is_test)) == (frozenset({"B.test_b"}), frozenset())


def test_a_class_of_helpers_that_is_gone_alters_everything_and_one_of_tests_does_not() -> None:
    helper = "\n\nclass Helper:\n    def help(self):\n        return 1\n"
    assert compare_tests(OLD + helper, OLD, is_test).everything
    left = OLD.partition("class TestMore")[0]
    assert (frozenset(compared(left).bodies), compared(left).everything) == (frozenset({"TestMore.test_zero"}), False)


def test_a_test_in_a_nested_class_has_the_names_around_it() -> None:
    nested = "class A:\n    class B:\n        def test_c(self):\n            assert 1\n"
    found = compare_tests(nested, nested.replace("assert 1", "assert 2"), is_test)
    assert found == FileAlteration(altered=frozenset({"A.B.test_c"}))


def test_every_word_of_an_import_is_named() -> None:
    text = "import os.path as p, json\nfrom tests.helper import same as s\nfrom . import near\n"
    assert imported_names(text) == {"os", "path", "json", "tests", "helper", "same", "", "near"}
    assert imported_names("import (") == frozenset()


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
