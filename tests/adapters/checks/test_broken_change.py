"""What of a change can be broken on purpose, why a test fails without it, and which tests may show it."""

from itertools import pairwise

import pytest

from loopwright.adapters.checks.canary.breaking import unparsable
from loopwright.adapters.checks.canary.hollow import touched
from loopwright.adapters.checks.canary.plan import BrokenChange, broken_change
from loopwright.adapters.checks.reports import Outcome
from loopwright.adapters.checks.runners.table import Phase
from loopwright.adapters.checks.witnesses import WitnessCandidates, candidates_of, reason_of
from loopwright.kernel.model import Finding, Severity

ADD = b"def add(a, b):\n    return a + b\n"
MUL = ADD + b"\n\ndef mul(a, b):\n    return a * b\n"


def test_functions_that_a_change_touched_become_stubs() -> None:
    broken = broken_change({"calc.py": ADD}, {"calc.py": MUL})
    assert (broken.names, broken.files) == ({"calc.py": ("mul",)}, {})
    assert broken.functions("none") == {"calc.py": MUL.replace(b"return a * b", b"return None\n    return a * b")}
    assert touched(MUL, broken.functions("object")["calc.py"]) == ("mul",)
    assert b"raise BaseException" in broken.functions("raise")["calc.py"]


@pytest.mark.parametrize(("path", "before"), [("lib/calc.js", b"a"), ("lib/calc.js", None)])
def test_other_languages_become_unparsable(path: str, before: bytes | None) -> None:
    broken = broken_change({} if before is None else {path: before}, {path: b"b"})
    assert broken.files != {}
    assert broken == BrokenChange(texts={path: b"b"}, files=unparsable((path,)), values=unparsable((path,)))


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (b"N = 1\n" + ADD, b"N = 2\n" + ADD, ["N"]),
        (None, b"N = 1\n", ["N"]),
        (b"", b"class A:\n    x = 1\n", ["A"]),
        (b"class A:\n    x = 1\n", b"class A:\n    x = 2\n", ["A"]),
        (b"", b"import a.b\nfrom c import d as e, f\n", ["a", "e", "f"]),
        (b"from c import f\n", b"from c import d, f\n", ["d"]),
        (b"", b"if 1:\n    from a import b\nelse:\n    (b, *c), d.e = [x for x in d], 1\n", ["b", "c"]),
        (b"", b'N = 1\n"""A number."""\n__all__ = ["N"]\n', ["N"]),
    ],
)
def test_names_of_module_level_code_stand_for_something_wrong(
    before: bytes | None, after: bytes, names: list[str]
) -> None:
    broken = broken_change({} if before is None else {"calc.py": before}, {"calc.py": after})
    assert not broken.names
    assert set(broken.files) == set(broken.values) == {"calc.py"}
    for made in (broken.files["calc.py"], broken.values["calc.py"]):
        kept, added = made[: len(after)], made[len(after) :].decode().split()
        assert (kept, [name for name, sign in pairwise(added) if sign == "="]) == (after, names)
    assert broken.wrong_values() == (Phase(texts=broken.values),)


@pytest.mark.parametrize(
    ("before", "after", "given"),
    [
        (b"", b"N = 1\nN.append(2)\n", ["calc.py"]),
        (b"", b"globals()['N'] = 1\n", []),
        (b"", b"from a import *\n", []),
        (b"__all__ = []\n", b"__all__ = ['N']\n", []),
        (b"N = 1\n", b"", []),
        (b"", b"N = (\n", []),
        (b"", b"N = " + b" + ".join([b"1"] * 900), []),
        (b"def f():\n    return 1", b"def f():\n    return " + b" + ".join([b"1"] * 900), []),
    ],
)
def test_where_not_all_of_it_binds_names_the_file_becomes_unparsable(
    before: bytes, after: bytes, given: list[str]
) -> None:
    broken = broken_change({"calc.py": before}, {"calc.py": after})
    assert (broken.files, [*broken.values]) == (unparsable(("calc.py",)), given)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("calc.py", ADD, b"# sums\n" + ADD),
        ("calc.py", ADD, ADD.replace(b"    return", b'    """Add."""\n    return')),
        ("calc.py", ADD, ADD.replace(b"(a, b)", b"(a: int, b: int) -> int")),
        ("lib/calc.js", b"a", b"a"),
        ("data.json", b"1", b"2"),
    ],
)
def test_what_runs_as_before_or_is_no_code_cannot_be_broken(path: str, before: bytes, after: bytes) -> None:
    assert broken_change({path: before}, {path: after}) == BrokenChange(texts={path: after})


def failed(said: str, evidence: str = "") -> Finding:
    return Finding(severity=Severity.HIGH, issue=said, evidence=evidence)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("AttributeError: module 'calc' has no attribute 'mul'", "missing-name"),
        ("ImportError: cannot import name 'mul'", "missing-name"),
        ("NameError: name 'mul' is not defined", "missing-name"),
        ("TypeError: add() got an unexpected keyword argument 'c'", "missing-name"),
        ("TypeError: add() takes 2 positional arguments but 3 were given", "missing-name"),
        ("NotImplementedError", "missing-name"),
        ("TypeError: unsupported operand", "assertion"),
        ("AssertionError: 5 != 6", "assertion"),
    ],
)
def test_a_failure_says_whether_only_a_name_was_missing(said: str, reason: str) -> None:
    assert reason_of(failed(said)) == reason
    assert reason_of(failed("test_mul failed", evidence=said)) == reason


def test_one_failure_for_another_reason_is_enough() -> None:
    assert reason_of(failed("NameError: x"), failed("AssertionError")) == "assertion"


def test_red_new_and_altered_tests_that_pass_may_be_witnesses() -> None:
    before: dict[str, Outcome] = {"old": "passed", "altered": "passed", "red": "failed", "still": "failed"}
    now: dict[str, Outcome] = {
        **before,
        "red": "passed",
        "new": "passed",
        "newer": "passed",
        "bad": "failed",
        "later": "skipped",
    }
    found = candidates_of(before, now, frozenset({"altered", "red"}), frozenset({"red", "still"}))
    written, altered = frozenset({"altered", "new", "newer"}), frozenset({"altered"})
    assert found == WitnessCandidates(red=frozenset({"red"}), written=written, altered=altered)
    assert found.first(2, ()) == {"red", "new"}
