"""What of a change can be broken on purpose, why a test fails without it, and which tests may show it."""

import pytest

from loopwright.adapters.checks.canary.breaking import unparsable
from loopwright.adapters.checks.canary.plan import BrokenChange, broken_change
from loopwright.adapters.checks.witnesses import WitnessCandidates, candidates_of, reason_of
from loopwright.kernel.model import Finding, Severity

ADD = b"def add(a, b):\n    return a + b\n"
MUL = ADD + b"\n\ndef mul(a, b):\n    return a * b\n"


def test_functions_that_a_change_touched_become_stubs() -> None:
    broken = broken_change({"calc.py": ADD}, {"calc.py": MUL})
    assert (broken.names, broken.files) == ({"calc.py": ("mul",)}, {})
    assert broken.functions("none") == {"calc.py": MUL.replace(b"return a * b", b"return None\n    return a * b")}
    assert broken.functions("object") == {"calc.py": MUL.replace(b"return a * b", b"return object()\n    return a * b")}
    assert b"raise BaseException" in broken.functions("raise")["calc.py"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("calc.py", b"N = 1\n" + ADD, b"N = 2\n" + ADD),  # no function was touched
        ("calc.py", None, b"N = 1\n"),
        ("lib/calc.js", b"a", b"b"),
        ("lib/calc.js", None, b"b"),
    ],
)
def test_other_code_becomes_unparsable(path: str, before: bytes | None, after: bytes) -> None:
    broken = broken_change({} if before is None else {path: before}, {path: after})
    assert broken == BrokenChange(texts={path: after}, files=unparsable((path,)))
    assert broken.files != {}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("calc.py", ADD, b"# sums\n" + ADD),
        ("calc.py", ADD, ADD.replace(b"    return", b'    """Add."""\n    return')),
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
    before = {"old": "passed", "altered": "passed", "red": "failed", "still": "failed"}
    now = {**before, "red": "passed", "new": "passed", "newer": "passed", "bad": "failed", "later": "skipped"}
    found = candidates_of(before, now, frozenset({"altered", "red"}), frozenset({"red", "still"}))
    assert found == WitnessCandidates(red=frozenset({"red"}), written=frozenset({"altered", "new", "newer"}))
    assert found.first(2) == {"red", "altered"}
