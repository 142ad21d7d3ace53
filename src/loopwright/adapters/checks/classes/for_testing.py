"""Modules outside of tests that are there for testing: what tests import to judge with, and plug-ins of the runner."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.beside_tests import beside_tests
from loopwright.adapters.checks.classes.command_lines import Command
from loopwright.adapters.checks.classes.doctested import Doctested, doctested
from loopwright.adapters.checks.classes.examples import may_matter
from loopwright.adapters.checks.classes.found_first import FoundFirst
from loopwright.adapters.checks.classes.if_there import taken_if_there
from loopwright.adapters.checks.classes.in_front import hidden
from loopwright.adapters.checks.classes.judged_with import judged_with
from loopwright.adapters.checks.classes.modules import (
    bare,
    imported_names,
    is_module,
    names_taken_in,
    parsed_or_nothing,
)
from loopwright.adapters.checks.classes.named_by_tests import named_by_tests
from loopwright.adapters.checks.classes.steering_search import Steering
from loopwright.adapters.checks.python_tree import COMMAND_OF_DJANGO, takes_runner_of_django
from loopwright.kernel.judges import judge_by_name
from loopwright.kernel.model import Change, Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
_MOST_SETUPS = 50

_NAMED = re.compile(
    r"""_*(?:testing | asserts? | assertions? | conftest
      | test(?:ing)?_?(?:utils? | utilities | helpers? | support | tools? | lib | kit | cases? | case_?base | base
        | mixins? | fixtures? | factories | doubles | asserts? | assertions?))
    """,
    re.VERBOSE,
)
_PERHAPS = re.compile(r"_*(?:fixtures?|factories|mocks?|fakes?|stubs?|doubles|matchers?)")  # only tests import it?
_RUNNERS = frozenset({"pytest", "_pytest", "unittest", "hypothesis", "doctest", "nose", "nose2", "testtools", "mock"})
_HOOK = re.compile(r"^(?:async )?def pytest_\w+\(", re.MULTILINE)
_SET_FOR_DJANGO = re.compile(r"""\bTEST_RUNNER\b["']?\s*[\])]?\s*[=:,]\s*\(?\s*["']([\w.]+)\.\w+["']""")
_PLUGGED = re.compile(r"(?:^|[\s\"'=\[,])-p[\s=\"',]*([A-Za-z_][\w.]*)", re.MULTILINE)
_ASKS_PYTEST = re.compile(
    r"""^[^\n]*py\.?test[^\n]*|addopts\s*=\s*(?:\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]+)*)""", re.IGNORECASE | re.MULTILINE
)
_PLUGGED_BY_VARIABLE = re.compile(r"""\bPYTEST_PLUGINS["']?\]?\s*[:?]?[=:,]\s*["']?([\w.,]+)""")
_PLUGGED_BY_CALL = re.compile(r"""\bimport_plugin\(\s*["']([\w.]+)""")
_ENTRY_POINTS = re.compile(
    r"""\[[^\]\n]*entry-points\.["']?pytest11["']?\](?P<toml>(?:\n(?!\[)[^\n]*)*)
      | pytest11["']?\s*[=:]\s*(?P<list>\[[^\]]*\] | \{[^}]*\} | (?:\s*\n[ \t]+[^\n]+)+)
    """,
    re.VERBOSE,
)
_POINTS_TO = re.compile(r"""=\s*["']?([A-Za-z_][\w.]*)""")
_IS_PLUGIN = re.compile(r"""^\s*name\s*=\s*["']?pytest[-_]""", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForTesting:
    """`helping` names for each such file one that judges with it; `plugged` are loaded by the runner itself."""

    helping: Mapping[str, str] = field(default_factory=dict)
    plugged: frozenset[str] = frozenset()
    first: Mapping[str, str] = field(default_factory=dict)  # what checks would find instead of what they mean, and why
    doctested: Doctested = field(default_factory=Doctested)

    def why_first(self, path: str, *, is_new: bool) -> str:
        """In words; empty when it stands in front of nothing."""
        if path in self.first or not path.endswith(".py") or not is_new:
            return self.first.get(path, "")
        others = (held for held in (*self.helping, *self.plugged) if held != path)
        return next((_in_front(held) for held in others if bare(held) == bare(path)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """In the base, and only where a change could be of such a module: most are not, and cost nothing."""

    source: TreeReader
    base: Commit
    steering: Steering
    commands: tuple[Command, ...]

    async def found(
        self, before: Mapping[str, str], after: Mapping[str, str], changes: tuple[Change, ...]
    ) -> ForTesting:
        """`before` and `after` are the texts of what changed."""
        known = self.steering
        added = [change.path for change in changes if change.how == "added"]
        found = await self._in_python(before, added, steering_text(self.commands, known.texts))
        elsewhere = await judged_with(self.source, self.base, known.layout, before)
        data = await named_by_tests(self.source, self.base, known.layout, before)
        beside = await beside_tests(self.source, self.base, known.layout, before, added)
        in_front = await hidden(self.source, self.base, changes)
        search = FoundFirst(source=self.source, base=self.base, layout=known.layout, called=known.called)
        instead = await search.found(changes, self.commands, known.texts)
        first = {path: _in_front(held) for path, held in in_front.items()}
        joining = await taken_if_there(self.source, self.base, known.layout, added)
        tried = {path: f"is what a test takes where it is there: {test}" for path, test in joining.items()}
        return replace(
            found,
            helping={**data, **beside, **elsewhere, **found.helping},
            first=tried | instead | first,
            doctested=await self._doctested(before, after, changes),
        )

    async def _doctested(
        self, before: Mapping[str, str], after: Mapping[str, str], changes: tuple[Change, ...]
    ) -> Doctested:
        changed = (change.path for change in changes if change.path.endswith(".py"))
        if not any(may_matter(before.get(path, ""), after.get(path, "")) for path in changed):
            return Doctested()
        is_test = self.steering.layout.is_test
        python = [path for path in await self.source.paths(self.base) if path.endswith((".py", ".sh"))]
        judging = tuple(path for path in python if is_test(path) or path.endswith("conftest.py"))[:_MOST]
        held = frozenset(judging)
        others = tuple(path for path in python if path.endswith(".py") and path not in held)[:_MOST]
        tests, beside = [await self.source.texts(self.base, each, limit=_LARGEST) for each in (judging, others)]
        return doctested(tests, beside, steering_text(self.commands, self.steering.texts))

    async def _in_python(self, before: Mapping[str, str], added: Collection[str], steering: str) -> ForTesting:
        paths = tuple(path for path in await self.source.paths(self.base) if path.endswith(".py"))
        layout = self.steering.layout
        plain = [path for path in paths if not layout.is_test(path) and judge_by_name(path) is None]
        fresh = {bare(path) for path in added if path.endswith(".py")}
        beside = {path for path in plain if bare(path) in fresh} if fresh else set()
        touched = {p for p in plain if p in before and _may_be(p, before[p])}
        touched |= await self._plugged([path for path in plain if path in before], paths, steering)
        if not touched | beside:
            return ForTesting()
        wanted = touched | beside | {path for path in plain if _is_named(path) or _is_perhaps(path)}
        tests = tuple(path for path in paths if layout.is_test(path) or path.endswith("conftest.py"))
        others = tuple(path for path in plain if path not in wanted)
        texts = await self.source.texts(self.base, (*wanted, *tests[:_MOST], *others[:_MOST]), limit=_LARGEST)
        files, judging, rest = ({p: texts[p] for p in part if p in texts} for part in (wanted, tests, others))
        files = {path: text for path, text in files.items() if path not in beside or _may_be(path, text)}
        return modules_for_testing(files, judging, rest, steering)

    async def _plugged(self, changed: list[str], paths: tuple[str, ...], steering: str) -> set[str]:
        """What is loaded by its name is the runner's, whatever stands in it."""
        if not changed:
            return set()
        setups = tuple(path for path in paths if path.endswith("conftest.py"))[:_MOST_SETUPS]
        texts = await self.source.texts(self.base, setups, limit=_LARGEST)
        names = {name for text in texts.values() for name in _plugins_of(text)}
        names |= set(_plugins_told("\n".join(_ASKS_PYTEST.findall(steering))))
        tracked = frozenset(paths)
        return {path for path in changed if any(is_module(path, name, tracked) for name in names)}


def _may_be(path: str, text: str) -> bool:
    return _is_perhaps(path) or _is_judging(path, text)


def modules_for_testing(
    files: Mapping[str, str], judging: Mapping[str, str], others: Mapping[str, str], steering: str
) -> ForTesting:
    """`files` may be for testing, `judging` are tests and set-ups, `others` the rest of the product; all of the base.

    `steering` is what configures the runner: commands, settings, the manifest.
    """
    tracked = frozenset((*files, *judging, *others))
    named = {name for text in judging.values() for name in _plugins_of(text)} | set(_plugins_named(steering))
    named |= {name for part in (files, judging, others) for text in part.values() for name in _runners_set(text)}
    plugged = {path for path in files for name in named if is_module(path, name, tracked)}
    plugged |= {path for path in files if path.endswith(COMMAND_OF_DJANGO)}
    by_product = {name for path, text in others.items() for name in imported_names(path, text)}
    helping: dict[str, str] = {}
    waiting = [*judging.items(), *((path, files[path]) for path in plugged)]
    while waiting:
        importer, text = waiting.pop()
        names = imported_names(importer, text)
        for path in files:
            if path in helping or path in plugged or not any(is_module(path, name, tracked) for name in names):
                continue
            if not _is_judging(path, files[path]) and any(is_module(path, name, tracked) for name in by_product):
                continue
            helping[path] = importer
            waiting.append((path, files[path]))
    return ForTesting(helping=helping, plugged=frozenset(plugged))


def steering_text(commands: Iterable[Command], texts: Mapping[str, str]) -> str:
    return "\n".join([*(" ".join(command) for command in commands), *texts.values()])


def _in_front(held: str) -> str:
    return f"would be found in front of {held}"


def _is_named(path: str) -> bool:
    return any(_NAMED.fullmatch(part) for part in path.removesuffix(".py").split("/"))


def _is_perhaps(path: str) -> bool:
    return any(_PERHAPS.fullmatch(part) for part in path.removesuffix(".py").split("/"))


def _is_judging(path: str, text: str) -> bool:
    return path.endswith(COMMAND_OF_DJANGO) or _is_named(path) or _imports_runner(text) or bool(_HOOK.search(text))


def _imports_runner(text: str) -> bool:
    """When it is loaded: what a function imports may never be."""
    if not any(runner in text for runner in (*_RUNNERS, "django")):
        return False
    top = (each for node in parsed_or_nothing(text).body for each in (node, *_guarded(node)))
    names = ((node, {name.split(".", maxsplit=1)[0] for name, _ in names_taken_in(node)}) for node in top)
    return any(takes_runner_of_django(node) or not _RUNNERS.isdisjoint(taken) for node, taken in names)


def _guarded(node: ast.stmt) -> Iterator[ast.stmt]:
    if isinstance(node, ast.Try):
        yield from node.body


def _plugins_of(text: str) -> Iterator[str]:
    """What a test or a set-up names, by `pytest_plugins` or one by one; what is worked out by pieces of it."""
    yield from _PLUGGED_BY_CALL.findall(text)
    yield from _plugged_by_variable(text)
    for node in parsed_or_nothing(text).body if "pytest_plugins" in text else ():
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and "pytest_plugins" in ast.unparse(node):
            inside = tuple(ast.walk(node))
            words = [each.value for each in inside if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            yield from words
            if any(isinstance(each, ast.JoinedStr | ast.BinOp | ast.Call) for each in inside):
                yield from (f"**/{word.rpartition('.')[2]}.py" for word in words if re.fullmatch(r"[\w.]*\w", word))
                yield from (f"**/{word}" for word in words if re.search(r"/.*\*.*\.py$", word))


def _plugged_by_variable(text: str) -> Iterator[str]:
    for value in _PLUGGED_BY_VARIABLE.findall(text) if "PYTEST_PLUGINS" in text else ():
        yield from value.split(",")


def _runners_set(text: str) -> Iterable[str]:
    """Modules of the classes that settings of Django run tests with."""
    return _SET_FOR_DJANGO.findall(text) if "TEST_RUNNER" in text else ()


def _plugins_told(steering: str) -> Iterator[str]:
    yield from _PLUGGED.findall(steering)
    yield from _plugged_by_variable(steering)


def _plugins_named(steering: str) -> Iterator[str]:
    yield from _plugins_told(steering)
    if _IS_PLUGIN.search(steering):
        return  # a project that is a plug-in itself: that is its product
    for found in _ENTRY_POINTS.finditer(steering):
        yield from _POINTS_TO.findall(found["toml"] or found["list"])
