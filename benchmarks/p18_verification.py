"""P18: processor time of one verification on a fresh tree, over the bare check, on public projects.

`python -m benchmarks.p18_verification [NAME ...]` prints a line for each project; NAME is one on PyPI, or `npm:NAME`.
Each is fetched once, with an environment of its own, into the folder of `benchmarks.real_projects`. Two changes are
made of its newest release: one statement in a function that tests call, and the same with a new function, a new test
and a changed one. The bare command of the checks runs on the same files in turn. `--fetch` only fetches.
"""

from __future__ import annotations

import ast
import asyncio
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from benchmarks.honest_changes import History, check_out, git
from benchmarks.made_project import make_project
from benchmarks.measuring import ROUNDS, Figure, Pairs, in_turn, processor_seconds, processor_time
from benchmarks.real_projects import cache_folder, prepare_project, project_named
from loopwright.errors import EngineError
from loopwright.kernel.gates import matches
from loopwright.kernel.model import Commit
from loopwright.testing.memory_store import Memory

# None of them was looked at while verification was written or made faster.
PROJECTS = (
    "tabulate",
    "pathspec",
    "mistune",
    "webcolors",
    "parso",
    "boltons",
    "humanize",
    "tinydb",
    "toolz",
    "iniconfig",
    "python-slugify",
    "parse",
    "npm:minimist",
)
PRODUCT_ONLY, WITH_TESTS, FIXED_S = 1.6, 2.2, 0.5
_LONG_S = 1.0
_STATEMENT = "bench_touched = True\n"
_PROBE = "\n\ndef bench_probe(value):\n    return value * 2\n"
_PROBE_TEST = (
    "\n\ndef test_bench_probe():\n    import importlib\n\n"
    "    assert importlib.import_module({module!r}).bench_probe(2) == 4\n"
)
_PROBE_JS = "\nmodule.exports.benchProbe = function (value) { return value * 2; };\n"
_PROBE_TEST_JS = "\nrequire('assert').strictEqual(require('{root}').benchProbe(2), 4);\n"


@dataclass(frozen=True, slots=True)
class Edits:
    """The new texts of files, by path."""

    product: dict[str, str]
    tests: dict[str, str]  # with those of product that they need


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Processor seconds of the verification and of the bare check, for both changes of a project."""

    project: str
    product: Pairs
    tests: Pairs

    @property
    def is_long(self) -> bool:
        """Return whether its checks take longer than the starts of Python and pytest that a verification adds."""
        return statistics.median(self.tests.theirs) >= _LONG_S

    @staticmethod
    def times(pairs: Pairs) -> float:
        """Return how often the bare check fits, the fixed part left out."""
        return statistics.median((mine - FIXED_S) / bare for mine, bare in zip(pairs.ours, pairs.theirs, strict=True))


def edits_of(history: History) -> Edits:
    """Return the two changes. Raises `LookupError` if no test calls a function of the product."""
    root, workspace = history.folder, history.settings.workspace
    paths = git(root, "ls-files").splitlines()
    tests = [path for path in paths if any(matches(path, each) for each in workspace.tests)]
    product = [path for path in paths if path not in tests and any(matches(path, each) for each in workspace.product)]
    if (root / "package.json").exists():
        return _node_edits(root, [path for path in tests if path.endswith(".js")])
    known = [
        (path, test)
        for path in tests
        if PurePosixPath(path).match("test*.py")
        for test in _functions((root / path).read_text())
        if test.name.startswith("test")
    ]
    for path in (each for each in product if each.endswith(".py")):
        for function in sorted(_functions((root / path).read_text()), key=_size, reverse=True):
            for test_path, test in known:
                if _calls(test, function.name):
                    return _python_edits(root, path, function, test_path, test)
    raise LookupError("no test calls a function of the product")


def _python_edits(root: Path, path: str, function: ast.FunctionDef, test_path: str, test: ast.FunctionDef) -> Edits:
    touched = _with_statement((root / path).read_text(), function)
    tests = _with_statement((root / test_path).read_text(), test) + _PROBE_TEST.format(module=_module_name(path))
    return Edits({path: touched}, {path: touched + _PROBE, test_path: tests})


def _node_edits(root: Path, tests: list[str]) -> Edits:
    main = PurePosixPath(json.loads((root / "package.json").read_text()).get("main") or "index.js")
    main = main if main.suffix else main.with_suffix(".js")
    if not tests:
        raise LookupError("no test files in the package")
    source, text = (root / main).read_text() + _PROBE_JS, (root / tests[0]).read_text()
    above = "/".join([".."] * tests[0].count("/")) or "."
    return Edits({str(main): source}, {str(main): source, tests[0]: text + _PROBE_TEST_JS.format(root=above)})


def _functions(source: str) -> list[ast.FunctionDef]:
    """Return the functions that a statement can be put into, on a line of its own."""
    return [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and node.body[-1].lineno > node.lineno
        and not isinstance(node.body[-1], ast.FunctionDef | ast.ClassDef)
    ]


def _size(function: ast.FunctionDef) -> int:
    return (function.end_lineno or 0) - function.lineno


def _calls(test: ast.FunctionDef, name: str) -> bool:
    called = (node.func for node in ast.walk(test) if isinstance(node, ast.Call))
    return any(getattr(each, "id", getattr(each, "attr", "")) == name for each in called)


def _with_statement(source: str, function: ast.FunctionDef) -> str:
    lines = source.splitlines(keepends=True)
    last = function.body[-1]
    indent = lines[last.lineno - 1][: last.col_offset]
    lines.insert(last.lineno - 1, indent + _STATEMENT)
    return "".join(lines)


def _module_name(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[1:] if parts[0] in ("src", "lib") else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def commit_edits(folder: Path, base: Commit, texts: dict[str, str]) -> Commit:
    check_out(folder, base)
    for path, text in texts.items():
        (folder / path).write_text(text)
    git(folder, "-c", "user.name=Bench", "-c", "user.email=bench@localhost", "commit", "-qam", "A change")
    commit = Commit(git(folder, "rev-parse", "HEAD"))
    check_out(folder, base)
    return commit


def compare(folder: Path, environ: dict[str, str], rounds: int) -> Compared:
    """Raises `LookupError` where the change cannot be made, or is not green here."""
    base = Commit(git(folder, "rev-parse", "HEAD"))
    memory = Memory()
    history = History(folder, environ=environ, memory=memory, parallel=2)
    edits = edits_of(history)
    before = asyncio.run(history.verify(base, base, "preflight"))
    if before.unable or not before.results or not all(result.passed for result in before.results):
        raise LookupError(f"its checks are not green here: {before.unable or before.results}")

    def verify(commit: Commit) -> float:
        fresh = History(folder, environ=environ, memory=copy.deepcopy(memory), parallel=2)
        asyncio.run(fresh.verify(base, base, "preflight"))  # as in the loop that asks for the verification
        check_out(folder, base)
        began = processor_time()
        report = asyncio.run(fresh.verify(commit, base, "checks"))
        spent = processor_time() - began
        if not all(result.passed for result in (*report.results, *report.landing)):
            raise LookupError("the change fails its checks, so that less was done than for one that lands")
        return spent

    def run_bare(commit: Commit) -> float:
        check_out(folder, commit)
        return processor_seconds(history.run_bare)

    commits = [commit_edits(folder, base, texts) for texts in (edits.product, edits.tests)]
    product, tests = (in_turn(partial(verify, each), partial(run_bare, each), rounds) for each in commits)
    check_out(folder, base)
    return Compared(project=folder.name, product=product, tests=tests)


def compare_all(names: tuple[str, ...], rounds: int = ROUNDS) -> list[Compared]:
    found = []
    for name in names:
        project = project_named(name)
        folder = cache_folder() / "repositories" / project.name
        try:
            found.append(compare(folder, prepare_project(project, cache_folder(), folder), rounds))
        except (LookupError, OSError, EngineError, subprocess.CalledProcessError) as error:
            print(f"{name}: left out: {error}", flush=True)
            continue
        each = found[-1]
        print(
            f"{name}: product only {each.times(each.product):.2f}, with tests {each.times(each.tests):.2f},"
            f" bare {statistics.median(each.product.theirs):.1f} s; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    return found


def measure(*, smoke: bool = False) -> Figure:
    if smoke:
        with tempfile.TemporaryDirectory() as folder:
            found = [compare(make_project(Path(folder)), dict(os.environ), rounds=1)]
    else:
        found = compare_all(PROJECTS)
    return figure(found)


def figure(found: list[Compared]) -> Figure:
    product = {each.project: each.times(each.product) for each in found}
    tests = {each.project: each.times(each.tests) for each in found}
    long = [tests[each.project] for each in found if each.is_long]
    value, with_tests = statistics.median(product.values()), statistics.median(tests.values())
    return Figure(
        name="P18",
        what=f"processor time of one verification on a fresh tree, less {FIXED_S:g} s; a change of product only",
        against="the bare check",
        value=value,
        low=min(product.values()),
        high=max(product.values()),
        goal=f"<= {PRODUCT_ONLY}, with changed tests <= {WITH_TESTS}",
        met=value <= PRODUCT_ONLY and with_tests <= WITH_TESTS,
        details={
            "with_tests": with_tests,
            **({"with_tests_of_suites_of_1_s": statistics.median(long)} if long else {}),
            **{f"{name}_product": number for name, number in product.items()},
            **{f"{name}_tests": number for name, number in tests.items()},
        },
        notes=(f"Load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",),
    )


def is_fetched(name: str) -> bool:
    return (cache_folder() / "repositories" / project_named(name).name).exists()


def main(words: list[str]) -> None:
    names = tuple(word for word in words if not word.startswith("--")) or PROJECTS
    if "--fetch" not in words:
        print(figure(compare_all(names)))
        return
    for project in map(project_named, names):
        try:
            prepare_project(project, cache_folder(), cache_folder() / "repositories" / project.name)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{project.name}: not fetched: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
