"""The checks of a Python project: its tests by whatever runs them here, and only the linters it configures itself."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from loopwright.adapters.checks.order import REPORT
from loopwright.adapters.detection.project_commands import arguments_of, has_tox, pytest_options, session_of_tests
from loopwright.adapters.detection.python_interpreters import Launcher, add_advice, install_advice, interpreters
from loopwright.adapters.detection.ways import Detected, Look, Prospect, Way, single
from loopwright.config.settings import CheckSettings, ReportKind

_TEST_FILES = (
    *("test*.py", "*_test.py", "tests/**/*.py", "test/**/*.py", "src/**/test*.py"),
    *("*/test*.py", "*/tests/**/test*.py", "*/test/**/test*.py"),
)
_NOT_OURS = re.compile(r"(?:^|/)(?:\.[^/]+|node_modules|venv|env|build|dist|site-packages)/")
_GENERATED = re.compile(r"(?:^|/)(?:_*version_*\.py|\w+_pb2(?:_grpc)?\.pyi?|[^/]+\.mo)$")
_KEPT_OPTIONS = ("--doctest-modules", "--doctest-glob", "--ignore", "--import-mode", "--pyargs")
_WITH_VALUE = ("-k", "-m", "-c", "--ignore", "--ignore-glob", "--doctest-glob", "--import-mode")
_FLAGS = ("-v", "-vv", "-q", "-s", "-x", "-l", "-ra", "-rA", "--verbose", "--quiet", "--doctest-modules", "--pyargs")
# Of pytest itself; others are a plug-in's, which may be missing.
_OWN_OPTIONS = (
    *(
        "--strict",
        "--tb",
        "--color",
        "--durations",
        "--import-mode",
        "--doctest",
        "--ignore",
        "--showlocals",
        "--maxfail",
    ),
    *("--verbose", "--quiet", "--no-header", "--no-summary", "--pyargs", "--capture", "--junit", "--disable", "--show"),
    *("--log", "--assert", "--deselect", "--failed-first", "--ff", "--new-first", "--nf", "--override-ini", "--pdbcls"),
)
_NAMING = (
    *("pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", "setup.py", "Makefile"),
    *("requirements.txt", "requirements-dev.txt", "dev.requirements.txt"),
)
# Tool: the check it makes, what it is called with, and the kind of its report.
_TOOLS: tuple[tuple[str, str, tuple[str, ...], ReportKind], ...] = (
    ("ruff", "lint", ("check", "--output-format=sarif", f"--output-file={REPORT}"), "sarif"),
    ("flake8", "lint", (), "none"),
    ("ruff-format", "format", ("format", "--check"), "none"),
    ("black", "format", ("--check",), "none"),
    ("mypy", "typecheck", (), "none"),
    ("pyright", "typecheck", (), "none"),
)


def python_checks(look: Look) -> Detected:
    known = interpreters(look)
    prospects = (python_tests(look, known), *_linters(look, known))
    return Detected(stack="python", prospects=_with_copies(prospects, generated_files(look)))


def django_checks(look: Look) -> Detected:
    known, advice = interpreters(look), install_advice(look)
    build = _each("build", known, ("manage.py", "check"), advice)
    tests = _each("test", known, ("manage.py", "test"), advice)
    if re.search(
        r"DJANGO_SETTINGS_MODULE", look.text("pytest.ini") + look.text("pyproject.toml") + look.text("setup.cfg")
    ):
        tests = Prospect(name="test", ways=(*_pytest(look, known), *tests.ways), advice=advice)
    prospects = (build, tests, *_linters(look, known))
    return Detected(stack="django", prospects=_with_copies(prospects, generated_files(look)))


def generated_files(look: Look) -> tuple[str, ...]:
    """What an installation made inside the packages and git ignores: a checkout that is imported needs it as well.

    Only what is known to be generated: an ignored file may as well be somebody's secret.
    """
    said = look.ask(("git", "ls-files", "--others", "--ignored", "--exclude-standard", "--directory"))
    found = [path for path in said.splitlines() if "/" in path and _GENERATED.search(path)]
    many = {path.split("/locale/")[0] for path in found if path.endswith(".mo") and "/locale/" in path}
    catalogues = tuple(f"{folder}/locale/**/*.mo" for folder in sorted(many))
    return (*(path for path in found if not path.endswith(".mo")), *catalogues)


def _with_copies(prospects: tuple[Prospect, ...], copy: tuple[str, ...]) -> tuple[Prospect, ...]:
    return tuple(
        replace(each, ways=tuple(replace(way, copy=(*way.copy, *copy)) for way in each.ways)) for each in prospects
    )


def has_python_tests(root: Path, *apart: str) -> bool:
    """Without those in folders that stand apart."""
    below = tuple(f"{folder}/" for folder in apart)
    return any(not file.relative_to(root).as_posix().startswith(below) for file in _test_files(root))


def _each(name: str, known: tuple[Launcher, ...], argv: tuple[str, ...], advice: str) -> Prospect:
    ways = tuple(Way(check=CheckSettings(name=name, run=(*i.argv, *argv)), setup=i.setup) for i in known)
    return Prospect(name=name, ways=ways, advice=advice)


def python_tests(look: Look, known: tuple[Launcher, ...]) -> Prospect:
    pytest, unittest = tuple(_pytest(look, known)), tuple(_unittest(look, known))
    ways = (*pytest, *unittest) if _uses_pytest(look) or not has_python_tests(look.root) else (*unittest, *pytest)
    below = tuple(_below(look, known))
    return Prospect(name="test", ways=(*ways, *below, *_runners(look)), advice=install_advice(look))


def _below(look: Look, known: tuple[Launcher, ...]) -> Iterator[Way]:
    """Where all tests lie in `NAME/tests` and `NAME` is no package, they may import what lies beside them."""
    parts = [file.relative_to(look.root).parts for file in _test_files(look.root)]
    folders = {part[0] if len(part) > 2 and part[1] in ("tests", "test") else "" for part in parts}  # noqa: PLR2004
    if len(folders) == 1 and (folder := folders.pop()) and not look.has(f"{folder}/__init__.py"):
        for each in known:
            check = CheckSettings(name="test", run=inside(folder, *each.argv, "-m", "pytest"))
            yield Way(check=check, setup=each.setup)


def inside(folder: str, program: str, *rest: str) -> tuple[str, ...]:
    """A command that is started in a folder: what is imported there is not found from the top."""
    if "/" in program and not Path(program).is_absolute():
        program = os.path.relpath(program, folder)
    return ("sh", "-c", f"cd {shlex.quote(folder)} && exec {shlex.join((program, *rest))}")


def _pytest(look: Look, known: tuple[Launcher, ...]) -> Iterator[Way]:
    """As the project calls it; where its own options ask for a plug-in that may be missing, without them at last."""
    named = _kept(look, arguments_of(look, "pytest") or ())
    options = [named]
    configured = pytest_options(look)
    if any(word.startswith(("--", "-n")) and not word.startswith(_OWN_OPTIONS) for word in configured):
        options.append((*named, "-o", f"addopts={shlex.join(_kept(look, configured))}"))
    if named:
        options.append(())  # its own words may be meant for another place than a checkout
    for extra in options:
        for each in known:
            check = CheckSettings(name="test", run=(*each.argv, "-m", "pytest", *extra))
            yield Way(check=check, setup=each.setup)


def _kept(look: Look, words: tuple[str, ...]) -> tuple[str, ...]:
    """Of a command's words those that say what is tested; coverage and the like are none of our business."""
    kept: list[str] = []
    before = ""
    for word in words:
        is_value = before.startswith("-") and "=" not in before and before not in _FLAGS
        is_path = not word.startswith("-") and not is_value and (look.root / word).exists()
        if before in _WITH_VALUE or word in _WITH_VALUE or word.startswith(_KEPT_OPTIONS) or is_path:
            kept.append(word)
        before = word
    return () if any("{" in word for word in kept) else tuple(kept)


def _unittest(look: Look, known: tuple[Launcher, ...]) -> Iterator[Way]:
    folder = next((name for name in ("tests", "test") if (look.root / name).is_dir()), ".")
    top = ("-t", ".") if (look.root / folder / "__init__.py").is_file() else ()
    for each in known:
        run = (*each.argv, "-m", "unittest", "discover", "-s", folder, *top)
        yield Way(check=CheckSettings(name="test", run=run), setup=each.setup)


def _runners(look: Look) -> Iterator[Way]:
    """Programs that make their own environment, once in every checkout: slow, so they come last."""
    if has_tox(look) and look.where("tox"):
        yield Way(check=CheckSettings(name="test", run=("tox", "-q", "-e", "py")))
    if (session := session_of_tests(look)) and look.where("nox"):
        yield Way(check=CheckSettings(name="test", run=("nox", "-s", session)))
    if look.in_pyproject("tool", "hatch", "envs", "hatch-test") is not None and look.where("hatch"):
        yield Way(check=CheckSettings(name="test", run=("hatch", "test")))
    if "test" in look.make_targets:
        yield Way(check=CheckSettings(name="test", run=("make", "test")))


def _uses_pytest(look: Look) -> bool:
    if look.has("pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"):
        return True
    if any(re.search(r"\bpytest\b", look.text(name)) for name in _NAMING):
        return True
    return any(
        re.search(r"^\s*(?:import|from) pytest\b", _beginning(file), re.MULTILINE) for file in _test_files(look.root)
    )


@cache
def _test_files(root: Path) -> tuple[Path, ...]:
    found = (file for pattern in _TEST_FILES for file in sorted(root.glob(pattern)))
    return tuple(file for file in found if not _NOT_OURS.search(file.relative_to(root).as_posix()))[:200]


def _beginning(file: Path) -> str:
    with file.open("rb") as content:
        return content.read(16 * 1024).decode("utf-8", "replace")


def _linters(look: Look, known: tuple[Launcher, ...]) -> tuple[Prospect, ...]:
    """Two tools for the same thing are two checks; the second is named after itself."""
    found: dict[str, Prospect] = {}
    for tool, usual, options, report in _TOOLS:
        if _configures(look, tool):
            name = tool if usual in found else usual
            found[name] = _linter(look, known, CheckSettings(name=name, run=(tool, *options), report=report))
    if "lint" not in found and look.has(".pre-commit-config.yaml"):
        ways = [(*each.argv, "-m", "pre_commit") for each in known] + [("pre-commit",)] * bool(look.where("pre-commit"))
        found["lint"] = single(
            "lint", *((*way, "run", "--all-files") for way in ways), advice=add_advice(look, "pre-commit")
        )
    if "lint" not in found and "lint" in look.make_targets:
        found["lint"] = single("lint", ("make", "lint"))
    return tuple(found.values())


def _linter(look: Look, known: tuple[Launcher, ...], check: CheckSettings) -> Prospect:
    tool = check.run[0].removesuffix("-format")
    options = (*check.run[1:], *_targets(look, tool))
    commands = [((*each.argv, "-m", tool, *options), each.setup) for each in known]
    commands += [((tool, *options), ())] * bool(look.where(tool))
    ways = tuple(
        Way(check=CheckSettings(name=check.name, run=run, report=check.report), setup=setup) for run, setup in commands
    )
    return Prospect(name=check.name, ways=ways, advice=add_advice(look, tool))


def _targets(look: Look, tool: str) -> tuple[str, ...]:
    """What it looks at: all there is, but for mypy, which looks at what the project names."""
    if tool != "mypy":
        return () if tool == "pyright" else (".",)
    settings = look.text("mypy.ini") + look.text(".mypy.ini") + look.text("setup.cfg")
    own = look.in_pyproject("tool", "mypy") or {}
    if {"files", "packages", "modules"} & set(own) or re.search(
        r"^(?:files|packages|modules)\s*=", settings, re.MULTILINE
    ):
        return ()
    said = tuple(word for word in arguments_of(look, "mypy") or () if (look.root / word).exists())
    if said:
        return said
    packages = sorted(file.parent.name for file in look.root.glob("*/__init__.py") if file.parent.name[:4] != "test")
    return ("src",) if (look.root / "src").is_dir() else tuple(packages) or (".",)


def _configures(look: Look, tool: str) -> bool:
    """Whether the project says so itself: a tool that is merely installed is no check of the project."""
    hooks = look.text(".pre-commit-config.yaml")
    if re.search(rf"^\s*-?\s*id:\s*[\"']?{tool}[\"']?\s*$", hooks, re.MULTILINE):
        return True
    if tool == "ruff-format":
        return look.in_pyproject("tool", "ruff", "format") is not None or "[format]" in look.text("ruff.toml")
    names = (f".{tool}", f"{tool}.ini", f".{tool}.ini", f"{tool}.toml", f".{tool}.toml", f"{tool}config.json")
    if look.has(*names) or look.in_pyproject("tool", tool) is not None:
        return True
    section = re.compile(rf"^\[(?:tool:)?{tool}\b", re.MULTILINE)
    return any(section.search(look.text(name)) for name in ("setup.cfg", "tox.ini"))
