import pytest

from loopwright.adapters.checks.ids import (
    Lost,
    Outcomes,
    any_case,
    file_of,
    lost,
    named,
    read_back,
    steady_id,
    unsteady,
    written,
)

BASE: Outcomes = (("a", "passed"), ("b", "skipped"), ("c", "failed"), ("d", "passed"), ("d", "passed"))


@pytest.mark.parametrize(
    ("candidate", "wanted"),
    [
        (BASE, Lost()),
        ((*BASE, ("new", "passed")), Lost()),
        (BASE[1:], Lost(gone=("a",))),
        (BASE[:-1], Lost(gone=("d",))),  # one of two tests with this id
        ((("a", "skipped"), *BASE[1:]), Lost(skipped=("a",))),
        ((*BASE[:2], ("c", "skipped"), *BASE[3:]), Lost(skipped=("c",))),
        ((BASE[0], ("b", "passed"), *BASE[2:]), Lost()),
        ((*BASE[:-1], ("d", "skipped")), Lost(skipped=("d",))),
        ((), Lost(gone=("a", "b", "c", "d"))),
    ],
)
def test_every_test_of_the_base_is_there_and_ran(candidate: Outcomes, wanted: Lost) -> None:
    assert lost(BASE, candidate) == wanted
    assert bool(wanted) is (wanted != Lost())


def test_new_tests_do_not_make_up_for_those_that_are_gone() -> None:
    assert lost((("a", "passed"), ("b", "passed")), (("x", "passed"), ("y", "passed"))).gone == ("a", "b")


def test_a_case_that_vanishes_is_missed_whatever_comes_in_its_place() -> None:
    base: Outcomes = (("t.py::f[a]", "passed"), ("t.py::f[b]", "passed"))
    assert lost(base, (("t.py::f[a]", "passed"), ("t.py::f[c]", "passed"))).gone == ("t.py::f[b]",)


@pytest.mark.parametrize(
    ("candidate", "wanted"),
    [
        ((("t.py::f[x]", "passed"), ("t.py::f[y]", "failed"), ("t.py::g[a]", "passed")), Lost()),
        (
            (("t.py::f[x]", "passed"), ("t.py::f[y]", "skipped"), ("t.py::g[a]", "passed")),
            Lost(skipped=("t.py::f[…]",)),
        ),
        ((("t.py::f[x]", "passed"), ("t.py::g[a]", "passed")), Lost(gone=("t.py::f[…]",))),
        ((("t.py::f[x]", "passed"), ("t.py::f[y]", "passed")), Lost(gone=("t.py::g[a]",))),
    ],
)
def test_cases_without_steady_names_are_compared_by_number(candidate: Outcomes, wanted: Lost) -> None:
    base: Outcomes = (("t.py::f[a]", "passed"), ("t.py::f[b]", "passed"), ("t.py::g[a]", "passed"))
    assert lost(any_case(base, {"t.py::f"}), candidate) == wanted


def test_what_a_person_let_go_is_not_missed() -> None:
    assert lost(BASE, BASE[1:], frozenset({"a"})) == Lost()
    assert lost(BASE, (("a", "skipped"), *BASE[1:]), frozenset({"a"})) == Lost()


def test_ids_that_differ_between_two_collections_are_unsteady() -> None:
    assert unsteady(BASE, (("a", "skipped"), *BASE[1:-1], ("e1", "passed"))) == {"a", "d", "e1"}
    assert unsteady(BASE, BASE) == frozenset()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/lib.rs - add (line 3)", "src/lib.rs - add (line 30)"),
        ("[gw0] tests/test_a.py::test_b", "[gw11] tests/test_a.py::test_b"),
        ("t::x[<object at 0x7f3a2b10>]", "t::x[<object at 0x7fffab>]"),
        ("README.md::line:3,column:1", "README.md::line:5,column:1"),
    ],
)
def test_what_differs_from_run_to_run_is_no_part_of_an_id(one: str, other: str) -> None:
    assert steady_id(one) == steady_id(other)


def test_the_file_of_a_test() -> None:
    assert [
        file_of(test) for test in ("tests/test_a.py::B::c", "j/a.test.js > x", "tests.test_a.B.test_c", "outer")
    ] == [
        "tests/test_a.py",
        "j/a.test.js",
        "tests/test_a.py",
        "",
    ]


def test_a_few_are_named_and_the_rest_is_counted() -> None:
    assert named(("a", "b")) == "a\nb"
    assert named(tuple(str(n) for n in range(30))).endswith("\n19\nand 10 more")


def test_ids_are_read_back_as_written_and_nothing_else_is() -> None:
    assert read_back(written(BASE)) == BASE
    assert [read_back(text) for text in (b"", b"1", b'[["a"]]', b'[["a", "well"]]', b'[[1, "passed"]]')] == [None] * 5


@pytest.mark.parametrize(
    ("red", "now"),
    [
        ("tests.test_bad", "tests/test_bad.py::test_a"),
        ("unittest.loader._FailedTest.tests.test_bad", "tests.test_bad.T.test_a"),
    ],
)
def test_a_module_that_loads_at_last_is_not_gone(red: str, now: str) -> None:
    assert not lost(((red, "failed"),), ((now, "passed"),))
    assert lost(((red, "failed"),), (("tests.test_other.T.test_a", "passed"),)).gone == (red,)
    assert lost(((red, "passed"),), ((now, "passed"),)).gone == (red,)
