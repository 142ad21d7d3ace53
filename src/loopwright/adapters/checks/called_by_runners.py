"""Names that a runner calls by itself, or that tests use: given by a change to product that tests of the base take in.

A package around tests, a module of which tests import all names, and a class that a test class inherits are a part of
the tests as far as such names go, though nothing in them speaks of a runner.
"""

from __future__ import annotations

import builtins
import posixpath
import re
import unittest
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.classes.modules import imported_names, is_module
from loopwright.adapters.checks.python_given import Given

_HOOK = re.compile(
    r"""set[uU]p_?[mM]odule | tear[dD]own_?[mM]odule | (?:setup|teardown)_(?:function|package) | set[uU]pPackage
      | tear[dD]ownPackage | load_tests | pytest_\w+ | pytestmark | __test__ | collect_ignore(?:_glob)?
    """,
    re.VERBOSE,
)
_HOOKS_OF_CLASSES = frozenset(
    {"setup_method", "teardown_method", "setup_class", "teardown_class", "pytestmark", "pytest_generate_tests"}
    | {"__test__", "__getattribute__", "__init_subclass__"}
)
# Whatever a case of unittest is asked to do; what every object does is nothing of its own.
_OF_CASES = (frozenset(dir(unittest.IsolatedAsyncioTestCase)) - frozenset(dir(object))) | {"__call__", "runTest"}
_USED_BY_TESTS = frozenset(dir(builtins)) | {"pytest", "unittest", "mock", "raises", "approx", "fixture", "TestCase"}
_RUNNER = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:unittest|_?pytest|nose2?|testtools|twisted\.trial|hypothesis|django\.test)\b",
    re.MULTILINE,
)

Texts = Mapping[str, str]


def may_be_called(before: Texts, after: Texts) -> bool:
    """Whether the change gives any such name: where it does not, nothing else has to be read."""
    for path, text in after.items():
        old, new = Given.by(before.get(path, "")), Given.by(text)
        names = new.names.keys() - old.names.keys() | (new.exported - old.exported)
        members = {name for _, name in new.members - old.members}
        is_called = any(_HOOK.fullmatch(name) for name in names) or members & (_OF_CASES | _HOOKS_OF_CLASSES)
        if is_called or names & _USED_BY_TESTS or set(new.stars) - set(old.stars):
            return True
    return False


def called_by_runners(before: Texts, after: Texts, *, product: Texts, tests: Texts) -> dict[str, frozenset[str]]:
    """By path, in words that complete "This code …". `product` and `tests` are of the base, the others what changed."""
    if _is_for_testing(product):
        return {}
    old = {path: Given.by(text) for path, text in {**product, **before}.items()}
    now = old | {path: Given.by(text) for path, text in after.items()}
    ground = _Ground(old=old, now=now, tests={path: Given.by(text) for path, text in tests.items()})
    told = (*ground.by_modules(), *ground.by_classes())
    may_be = [path for path in after if not _RUNNER.search(before.get(path, ""))]
    found = {path: frozenset(mark for where, mark in told if where == path) for path in may_be}
    return {path: marks for path, marks in found.items() if marks}


def _is_for_testing(product: Texts) -> bool:
    """Such names are the product of a library for tests: one in which more than tests take a runner in."""
    runners = [path for path, text in product.items() if _RUNNER.search(text)]
    if not runners:
        return False
    taken = [(path, name) for path, text in product.items() for name in imported_names(path, text)]
    tracked = frozenset(product)
    return any(path != runner and is_module(runner, name, tracked) for runner in runners for path, name in taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """Product before and after the change, and tests of the base, by path."""

    old: Mapping[str, Given]
    now: Mapping[str, Given]
    tests: Mapping[str, Given]

    def by_modules(self) -> Iterator[tuple[str, str]]:
        for path in self.now:
            folder, name = posixpath.split(path)
            if name == "__init__.py" and any(test.startswith(f"{folder}/") for test in self.tests):
                # A runner asks the package itself, whatever a star would take of it.
                own = {(path, each) for each in self.now[path].names if each not in self.old.get(path, Given()).names}
                yield from ((where, _calls(name)) for where, name in own | self._new((path,)) if _HOOK.fullmatch(name))
        for test, given in self.tests.items():
            for star in given.stars:
                for where, name in self._new(tuple(self._meant(star.name_in(test)))):
                    if _HOOK.fullmatch(name):
                        yield where, _calls(name)
                    elif _is_replaced(name, given, star.line):
                        yield where, f"takes the place of a name that its tests use ({name})"

    def _new(self, roots: tuple[str, ...]) -> set[tuple[str, str]]:
        """What these modules, and those whose names they pass on, export now and did not export."""
        before = {name for path in self._passing_on(roots, self.old) for name in self.old[path].exported}
        found = {(path, name) for path in self._passing_on(roots, self.now) for name in self.now[path].exported}
        return {(path, name) for path, name in found if name not in before}

    def _passing_on(self, roots: tuple[str, ...], side: Mapping[str, Given]) -> frozenset[str]:
        waiting, done = list(roots), set[str]()
        while waiting:
            path = waiting.pop()
            if path not in done and path in side:
                done.add(path)
                waiting += [each for star in side[path].stars for each in self._meant(star.name_in(path))]
        return frozenset(done)

    def _meant(self, name: str) -> Iterator[str]:
        return (path for path in self.now if is_module(path, name, self.now))

    def by_classes(self) -> Iterator[tuple[str, str]]:
        tested = {pair for given in self.tests.values() for pair in given.tested}
        cases = self._with_kin({name for name, is_case in tested if is_case})
        plain = self._with_kin({name for name, _ in tested})
        for path, given in self.now.items():
            before = self.old.get(path, Given()).members
            for owner, name in given.members - before:
                if (owner in plain and name in _HOOKS_OF_CLASSES) or (owner in cases and name in _OF_CASES):
                    yield path, f"{_calls(name)} in a class that its tests inherit"

    def _with_kin(self, names: set[str]) -> set[str]:
        """And what product has its members from, under whatever name."""
        kin = {pair for given in self.now.values() for pair in given.kin}
        found = set(names)
        while more := {other for name, other in kin if name in found} - found - {""}:
            found |= more
        return found


def _calls(name: str) -> str:
    return f"has what a runner of tests calls by itself ({name})"


def _is_replaced(name: str, test: Given, line: int) -> bool:
    """What is built in, or was imported before, and is no longer what the test means by it."""
    return name in test.used and name in _USED_BY_TESTS and test.names.get(name, 0) <= line
