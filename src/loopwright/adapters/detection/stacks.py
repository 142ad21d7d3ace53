"""What a project is made with, and the checks that follow from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.checks.managed import answer
from loopwright.adapters.detection.node_checks import node_checks, read_package
from loopwright.adapters.detection.parts import part_checks, project_folders
from loopwright.adapters.detection.python_checks import django_checks, has_python_tests, python_checks, python_tests
from loopwright.adapters.detection.python_interpreters import FOLDERS, interpreters
from loopwright.adapters.detection.ways import Detected, Look, Prospect, Stack, Way, single
from loopwright.adapters.project_environment import of_the_project

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
_PYTHON = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    "Pipfile",
)
_MARKS: tuple[tuple[Stack, tuple[str, ...]], ...] = (
    ("django", ("manage.py",)),
    ("node", ("package.json",)),
    ("rust", ("Cargo.toml",)),
    ("go", ("go.mod",)),
    ("python", _PYTHON),
    ("make", ("Makefile", "makefile", "GNUmakefile")),
)


def look_at(root: Path, environ: Mapping[str, str]) -> Look:
    """A look that may ask the package managers of the person where their environments are."""
    environ = of_the_project(environ, root)
    return Look(root=root, environ=environ, ask=lambda argv: answer(argv, root, environ))


def detect(look: Look) -> Detected:
    stack = stack_of(look)
    match stack:
        case "python":
            return python_checks(look)
        case "django":
            return django_checks(look)
        case "node":
            return node_checks(look)
        case "make":
            return Detected(stack=stack, prospects=_make(look))
        case "rust":
            return Detected(stack=stack, prospects=_rust(look))
        case "go":
            advice = "" if look.where("go") else "install Go"
            return Detected(stack=stack, prospects=tuple(single(n, argv, advice=advice) for n, argv in PLAIN[stack]))
        case "unknown":
            return part_checks(look)


def stack_of(look: Look) -> Stack:
    for stack, names in _MARKS:
        if look.has(*names) and not (stack == "node" and _is_aside(look)):
            return stack
    return "python" if has_python_tests(look.root, *project_folders(look)) else "unknown"


def _is_aside(look: Look) -> bool:
    """A `package.json` without tests beside a Python project is there for its pages, not for its code."""
    package = read_package(look)
    return package is not None and not package.tests and look.has(*_PYTHON)


def _make(look: Look) -> tuple[Prospect, ...]:
    found = {name: argv for name, argv in PLAIN["make"] if name in look.make_targets}
    if _stands_for(look, "check") & found.keys() or "check" in _stands_for(look, "test"):
        del found["check"]
    return tuple(_by_make(look, single(name, argv)) for name, argv in found.items())


def _stands_for(look: Look, target: str) -> set[str]:
    """The targets that this one is another name for; none, where it does something itself."""
    rule = re.search(rf"^{target}[ \t]*:(?!=)([^\n#;]*)(?:#.*)?\n((?:\t.*\n?)*)", f"{look.makefile}\n", re.MULTILINE)
    if rule is None:
        return set()
    recipe = [re.fullmatch(r"\t[@+-]*(?:\$[({]MAKE[)}]|make) ([\w-]+)", line) for line in rule[2].splitlines()]
    called = {line[1] for line in recipe if line}
    return called | set(rule[1].split()) if all(recipe) else set()


def _by_make(look: Look, plain: Prospect) -> Prospect:
    """A recipe may name an environment that git does not carry: else its Python is started, or it is brought along."""
    named = tuple(
        folder
        for folder in FOLDERS
        if look.has(f"{folder}/pyvenv.cfg") and re.search(rf"(?<![\w/-]){re.escape(folder)}\b", look.makefile)
    )
    if not named:
        return plain
    is_tested = plain.name == "test" and has_python_tests(look.root)
    tests = python_tests(look, interpreters(look)) if is_tested else Prospect(name=plain.name, ways=())
    carried = tuple(Way(check=way.check, copy=named) for way in plain.ways)
    own = tuple(way for way in tests.ways if way.check.run != plain.ways[0].check.run)
    return Prospect(name=plain.name, ways=(*plain.ways, *own, *carried), advice=tests.advice)


def _rust(look: Look) -> tuple[Prospect, ...]:
    """Clippy only where the project speaks of it; a vendored or filled registry is all the network there is."""
    manifest = look.text("Cargo.toml")
    lints = look.has("clippy.toml", ".clippy.toml") or re.search(r"^\[(?:workspace\.)?lints", manifest, re.MULTILINE)
    advice = "cargo fetch" if look.where("cargo") else "install Rust (https://rustup.rs)"
    names = {"build", "test"} | ({"lint"} if lints else set())
    whole = ("--workspace",) if re.search(r"^\[workspace\]", manifest, re.MULTILINE) else ()
    return tuple(single(name, (*argv, *whole), advice=advice) for name, argv in PLAIN["rust"] if name in names)
