"""What a project is made with, and the checks that follow from it. Reads a listing and a few small files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopwright.adapters.checks.order import REPORT, UNITTEST
from loopwright.config.settings import CheckSettings

Stack = Literal["python", "django", "node", "rust", "go", "make", "unknown"]
Find = Callable[[str], bool]  # whether a program is on PATH

# The commands of each stack as people know them: (check, argv).
PLAIN: Mapping[Stack, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "node": (("build", ("npm", "run", "build")), ("test", ("npm", "test")), ("lint", ("npm", "run", "lint"))),
    "python": (
        ("test", ("python", "-m", "pytest")),
        ("lint", ("python", "-m", "flake8")),
        ("typecheck", ("python", "-m", "mypy", ".")),
    ),
    "django": (("build", ("python", "manage.py", "check")), ("test", ("python", "manage.py", "test"))),
    "rust": (("build", ("cargo", "build")), ("test", ("cargo", "test")), ("lint", ("cargo", "clippy"))),
    "go": (
        ("build", ("go", "build", "./...")),
        ("test", ("go", "test", "./...")),
        ("lint", ("go", "vet", "./...")),
    ),
    "make": (
        ("build", ("make", "build")),
        ("test", ("make", "test")),
        ("lint", ("make", "lint")),
        ("check", ("make", "check")),
    ),
    "unknown": (),
}
_LARGEST = 256 * 1024
_TEST_FILES = ("test*.py", "tests/**/test*.py", "test/**/test*.py", "*_test.py", "src/**/test*.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    stack: Stack
    checks: tuple[CheckSettings, ...] = ()
    notes: tuple[str, ...] = ()


def detect(root: Path, *, found: Find) -> Detected:
    """`found` says whether a program can be started; nothing is started here."""
    stack = stack_of(root)
    match stack:
        case "python":
            return _python(root, found)
        case "django":
            return _django(found)
        case "node":
            return _node(root)
        case "make":
            return _make(root)
        case "rust" | "go":
            return _as_known(stack, found)
        case "unknown":
            return Detected(stack=stack, notes=("no build or test command was recognised; write [checks] by hand",))


def stack_of(root: Path) -> Stack:
    marks: tuple[tuple[Stack, tuple[str, ...]], ...] = (
        ("django", ("manage.py",)),
        ("node", ("package.json",)),
        ("rust", ("Cargo.toml",)),
        ("go", ("go.mod",)),
        ("python", ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "tox.ini")),
        ("make", ("Makefile", "makefile", "GNUmakefile")),
    )
    for stack, names in marks:
        if any((root / name).is_file() for name in names):
            return stack
    return "python" if _has_python_tests(root) else "unknown"


def _as_known(stack: Stack, found: Find) -> Detected:
    checks = tuple(CheckSettings(name=name, run=argv) for name, argv in PLAIN[stack])
    missing = sorted({spec.run[0] for spec in checks if not found(spec.run[0])})
    notes = tuple(f"{program} is not installed here" for program in missing)
    return Detected(stack=stack, checks=checks, notes=(*notes, _weak("test")))


def _weak(name: str) -> str:
    return f'check {name!r} has no report, so tests are not counted; add one with `report = "junit"`'


def _interpreter(found: Find) -> str:
    return "python" if found("python") else "python3"


def _django(found: Find) -> Detected:
    python = _interpreter(found)
    checks = tuple(CheckSettings(name=name, run=(python, *argv[1:])) for name, argv in PLAIN["django"])
    return Detected(stack="django", checks=checks, notes=(_weak("test"),))


def _python(root: Path, found: Find) -> Detected:
    python = _interpreter(found)
    checks, notes = [_python_tests(root, python)], []
    for name, argv in PLAIN["python"][1:]:
        tool = argv[2]
        if _configures(root, tool) or found(tool):
            checks.append(CheckSettings(name=name, run=(python, *argv[1:])))
        else:
            notes.append(f"{tool} is neither configured nor installed: no check {name!r}")
    return Detected(stack="python", checks=tuple(checks), notes=tuple(notes))


def _python_tests(root: Path, python: str) -> CheckSettings:
    if _uses_pytest(root) or not _has_python_tests(root):
        return CheckSettings(name="test", run=(python, "-m", "pytest", f"--junitxml={REPORT}"), report="junit")
    folder = next((name for name in ("tests", "test") if (root / name).is_dir()), ".")
    top = ("-t", ".") if (root / folder / "__init__.py").is_file() else ()
    return CheckSettings(
        name="test", run=(python, UNITTEST, f"--report={REPORT}", "discover", "-s", folder, *top), report="junit"
    )


def _uses_pytest(root: Path) -> bool:
    if any((root / name).is_file() for name in ("pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py")):
        return True
    named = ("pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt", "setup.py")
    if any(re.search(r"\bpytest\b", _text(root / name)) for name in named):
        return True
    return any(re.search(r"^\s*(?:import|from) pytest\b", _text(f), re.MULTILINE) for f in _tests(root))


def _tests(root: Path) -> list[Path]:
    return [file for pattern in _TEST_FILES for file in sorted(root.glob(pattern))][:200]


def _has_python_tests(root: Path) -> bool:
    return bool(_tests(root))


def _configures(root: Path, tool: str) -> bool:
    if any((root / name).is_file() for name in (f".{tool}", f"{tool}.ini", f".{tool}.ini")):
        return True
    section = re.compile(rf"^\[(?:tool[.:])?{tool}\b", re.MULTILINE)
    return any(section.search(_text(root / name)) for name in ("pyproject.toml", "setup.cfg", "tox.ini"))


def _node(root: Path) -> Detected:
    try:
        package = json.loads(_text(root / "package.json"))
    except ValueError:
        return Detected(stack="node", notes=("package.json is not JSON",))
    scripts = package.get("scripts") if isinstance(package, dict) else None
    scripts = scripts if isinstance(scripts, dict) else {}
    known = {name: argv for name, argv in PLAIN["node"] if name in scripts}
    if "no test specified" in str(scripts.get("test", "")):
        del known["test"]
    missing = [f"package.json has no script {name!r}" for name, _ in PLAIN["node"] if name not in known]
    weak = [_weak("test")] if "test" in known else []
    checks = tuple(CheckSettings(name=name, run=argv) for name, argv in known.items())
    return Detected(stack="node", checks=checks, notes=(*missing, *weak))


def _make(root: Path) -> Detected:
    text = next((_text(root / n) for n in ("GNUmakefile", "makefile", "Makefile") if (root / n).is_file()), "")
    targets = set(re.findall(r"^([\w-]+)\s*:(?!=)", text, re.MULTILINE))
    checks = tuple(CheckSettings(name=name, run=argv) for name, argv in PLAIN["make"] if name in targets)
    return Detected(stack="make", checks=checks, notes=(_weak("test"),) if "test" in targets else ())


def _text(file: Path) -> str:
    """A small file's text; empty when there is none."""
    if not file.is_file():
        return ""
    with file.open("rb") as content:
        return content.read(_LARGEST).decode("utf-8", "replace")
