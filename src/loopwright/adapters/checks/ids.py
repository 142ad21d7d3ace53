"""Ids of tests: what they are known by from one run to the next, and how two runs are compared by them. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass

from loopwright.adapters.checks.reports import Outcome

MOST_NAMED = 20  # of the ids that a finding is about; the rest is counted
# What differs from run to run though the test is the same: a worker, a line, an address.
_PASSING = (
    (re.compile(r"^\[gw\d+\]\s*(?:\[\s*\d+%\]\s*)?"), ""),
    (re.compile(r"\(line \d+\)"), "(line)"),
    (re.compile(r"\bline:\d+,column:\d+"), "line"),
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x"),
)

# How unittest names what is no test: a module that does not load, a fixture of a class or module that fails.
_FAILED_TO_LOAD = re.compile(r"^unittest\.loader\.(?:_FailedTest|ModuleImportFailure|LoadTestsFailure)\.(.+)$")
_FIXTURE = re.compile(r"^(?:setUp|tearDown)(?:Class|Module) \((.+)\)$")

ANY_CASE = "[…]"  # pytest writes no such letter in an id

Outcomes = tuple[tuple[str, Outcome], ...]


def steady_id(test: str) -> str:
    for pattern, kept in _PASSING:
        test = pattern.sub(kept, test)
    return test


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Tests of the base that the candidate did not run: not there any more, or skipped now. Each id once."""

    gone: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tests)

    @property
    def tests(self) -> tuple[str, ...]:
        return (*self.gone, *self.skipped)


def lost(base: Outcomes, candidate: Outcomes, may_drop: frozenset[str] = frozenset()) -> Lost:
    """What the base collected and ran, and the candidate did not. One id may stand for several tests."""
    numbered = {function_of(test) for test, _ in base if test.endswith(ANY_CASE)}
    (there, ran), (wanted, wanted_ran) = _tally(any_case(candidate, numbered)), _tally(base)
    spared = may_drop | loads_now(base, candidate)
    gone = tuple(test for test, count in wanted.items() if there[test] < count and test not in spared)
    excused = may_drop.union(gone)
    skipped = tuple(
        test for test, count in wanted_ran.items() if ran[test] < count <= there[test] and test not in excused
    )
    return Lost(gone=gone, skipped=skipped)


def any_case(outcomes: Outcomes, functions: Container[str]) -> Outcomes:
    """Name the cases of these parametrized functions alike, so that only their number counts."""
    names = ((function_of(test), test, how) for test, how in outcomes)
    return tuple((name + ANY_CASE if name in functions and name != test else test, how) for name, test, how in names)


def function_of(test: str) -> str:
    """Return an id without its parameters: what a test function is known by."""
    return re.sub(r"\[.*", "", test, flags=re.DOTALL)


def loads_now(base: Outcomes, candidate: Outcomes) -> frozenset[str]:
    """What failed on the base as a whole, a module that could not be loaded, and has tests that run now."""
    red = {test for test, how in base if how == "failed"} - {test for test, _ in candidate}
    around = surroundings(frozenset(test for test, _ in candidate)) if red else set()
    return frozenset(test for test in red if place_of(test) in around)


def place_of(test: str) -> str:
    """The dotted name of a test; of what is none, of the module or class that it stands for."""
    match = _FAILED_TO_LOAD.match(test) or _FIXTURE.match(test)
    return _dotted(match[1] if match else test)


def surroundings(tests: frozenset[str]) -> set[str]:
    """The classes, modules and packages that these tests are in."""
    parts = [_dotted(each).split(".") for each in tests]
    return {".".join(words[:length]) for words in parts for length in range(1, len(words))}


def _dotted(test: str) -> str:
    return test.replace(".py::", ".").removesuffix(".py").replace("::", ".").replace("/", ".")


def unsteady(one: Outcomes, other: Outcomes) -> frozenset[str]:
    """Ids that two collections of one tree do not have alike: they measure nothing."""
    (there, ran), (there_too, ran_too) = _tally(one), _tally(other)
    return frozenset(
        test for test in {*there, *there_too} if there[test] != there_too[test] or ran[test] != ran_too[test]
    )


def _tally(outcomes: Outcomes) -> tuple[Counter[str], Counter[str]]:
    return Counter(test for test, _ in outcomes), Counter(test for test, how in outcomes if how != "skipped")


def file_of(test: str) -> str:
    """The file a test's id names; for a dotted id the path its module would have, as far as that is one."""
    if "::" in test:
        return test.partition("::")[0]
    if " > " in test:
        return test.partition(" > ")[0]
    parts = test.partition("[")[0].split(".")
    module = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return "/".join(parts[:module]) + ".py" if module > 0 and all(p.isidentifier() for p in parts[:module]) else ""


def find_file(test: str, files: tuple[str, ...]) -> str:
    """Return the one of these files that a test is in; empty where it is in none of them.

    An id may start below the top, as of a command that changes folder. In a dotted one the module ends where classes
    begin: `tests.test_a.T.test_b` is in no `tests.py`.
    """
    if "::" in test or " > " in test or test.endswith(".py"):
        place = test if test.endswith(".py") else file_of(test)
        return place if place in files else next((path for path in files if path.endswith(f"/{place}")), "")
    words = place_of(test).split(".")
    inside = next((at for at, word in enumerate(words[:-1]) if not word[:1].islower()), len(words) - 1)
    modules = {".".join(words[:inside]), ".".join(words)} - {""}
    for path in files:
        dotted = f".{path.removesuffix('.py').replace('/', '.')}"
        if path == test or any(dotted.endswith(f".{module}") for module in modules):
            return path
    return ""


def named(tests: tuple[str, ...]) -> str:
    """The ids for a finding, one a line."""
    more = len(tests) - MOST_NAMED
    return "\n".join((*tests[:MOST_NAMED], *((f"and {more} more",) if more > 0 else ())))


def written(outcomes: Outcomes) -> bytes:
    return json.dumps(outcomes, ensure_ascii=False, separators=(",", ":")).encode()


def read_back(content: bytes) -> Outcomes | None:
    """What `written` wrote; None for anything else."""
    try:
        pairs = json.loads(content)
    except ValueError:
        return None
    is_ours = isinstance(pairs, list) and all(_is_pair(pair) for pair in pairs)
    return tuple((test, how) for test, how in pairs) if is_ours else None


def _is_pair(pair: object) -> bool:
    match pair:
        case [str(), "passed" | "failed" | "skipped"]:
            return True
        case _:
            return False
