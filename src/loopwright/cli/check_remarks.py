"""The looks of `loop doctor` at the checks: their programs, what the project is tested with, their first runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from loopwright.adapters.checks.environment import program
from loopwright.adapters.checks.first_run import FirstRun, describe_failure, describe_plain_run, said_of
from loopwright.adapters.checks.order import strength
from loopwright.adapters.checks.runners.reading import texts_in
from loopwright.adapters.checks.started import runnable_checks
from loopwright.adapters.detection.node_checks import install_command, module_folders, node_advice, read_package
from loopwright.adapters.detection.python_interpreters import install_advice, interpreters
from loopwright.adapters.detection.stacks import look_at, stack_of
from loopwright.adapters.detection.ways import Stack
from loopwright.adapters.project_environment import of_the_project
from loopwright.app.preconditions import can_verify, no_verdict
from loopwright.cli.checkup import Remark, Word
from loopwright.cli.class_lines import class_lines
from loopwright.config.settings import CheckSettings, Settings
from loopwright.errors import EngineError

# By what a command begins with: what is missing for it is installed as that stack installs, whatever else is there.
_PROGRAMS: Mapping[Stack, re.Pattern[str]] = {
    "python": re.compile(r"(?:python|pypy)[\d.]*$|(?:py\.?test|uv|poetry|pdm|pipenv|hatch|tox|nox|ruff|mypy|flake8)$"),
    "node": re.compile(r"(?:npm|npx|pnpm|yarn|bunx?|node|jest|vitest|mocha|eslint|tsc|biome)$"),
    "rust": re.compile(r"cargo$"),
    "go": re.compile(r"go$"),
}


def check_lines(
    settings: Settings, root: Path, environ: Mapping[str, str], known: Mapping[str, bool | None]
) -> Iterator[Remark]:
    """As they are started: the engine looks for programs in the same places. `known`: which count tests, by runs."""
    texts = texts_in(root, (check.run for check in settings.checks))
    if not settings.checks:
        said = f"{no_verdict(settings)}, so that only `loop review` starts"
        yield Remark("warn", "checks", f"{said}; add [checks.test], or run `loop setup --force`")
    elif not can_verify(root, settings, known):
        yield Remark("fix", "checks", f"{no_verdict(settings)}; give that word, or run `loop setup --force`")
    for check, spec in zip(settings.checks, runnable_checks(settings, root=root, environ=environ), strict=True):
        about = f"{check.name}: {' '.join(check.run)}"
        if problem := _start_problem(spec, root, of_the_project(environ, root)):
            yield Remark("fix", "check", f"{about}: {problem}")
            continue
        weight = strength(spec, texts, counted=known.get(check.name))
        if weight == "weak" and check.name == "test" and not check.trust:
            unless = " as far as is known before it ran" * (known.get(check.name) is None)
            told = f'weak{unless}: only the exit code counts; report = "junit" counts tests'
            yield Remark("warn", "check", f"{about} ({told})")
        else:
            yield Remark("ok", "check", f"{about} ({_weight(check, weight)})")
    yield from class_lines(settings, root, environ)


def _weight(check: CheckSettings, strength: str) -> str:
    return "its exit code alone counts, on your word" if check.trust and strength == "weak" else strength


def _start_problem(spec: CheckSettings, root: Path, environ: Mapping[str, str]) -> str:
    """Why the command cannot be started; empty where its program is there."""
    try:
        where = program(spec.name, spec.run, environ)
    except EngineError as error:
        return str(error)
    if where is None and not (root / spec.run[0]).is_file():
        return f"{spec.run[0]!r} is neither in the repository nor in your tree; make it, or run `loop setup --force`"
    return ""


def environment_lines(root: Path, environ: Mapping[str, str]) -> Iterator[Remark]:
    """What the project is tested with here, as far as files tell."""
    look = look_at(root, environ)
    stack = stack_of(look)
    if stack in ("python", "django"):
        known = interpreters(look)
        if known:
            yield Remark("ok", "python", f"{known[0].about} ({' '.join(known[0].argv)})")
        else:
            yield Remark("warn", "python", f"no interpreter was found; {install_advice(look)}")
    package = read_package(look) if stack == "node" else None
    if package is not None and package.needs:
        folders = module_folders(look) or ((".pnp.cjs",) if look.has(".pnp.cjs") else ())
        missing = f"no node_modules; run `{' '.join(install_command(look, package))}`"
        yield Remark("ok" if folders else "warn", package.manager, ", ".join(folders) or missing)


def advice_for(root: Path, environ: Mapping[str, str]) -> Callable[[CheckSettings], str]:
    """How what a check needs is installed here; empty where nobody can say, or where all of it is there."""
    look = look_at(root, environ)
    package = read_package(look)

    def install(check: CheckSettings) -> str:
        name = Path(check.run[0]).name
        stack = next((stack for stack, names in _PROGRAMS.items() if names.match(name)), stack_of(look))
        if stack in ("python", "django"):
            return install_advice(look)
        if stack == "node":
            return node_advice(look, package, check.run) if package else ""
        return "cargo fetch" if stack == "rust" else ""

    return install


def run_lines(runs: tuple[FirstRun, ...]) -> Iterator[Remark]:
    """What came of running the checks."""
    for run in runs:
        word: Word = "fix" if run.word == "cannot run" else "ok" if run.word == "ok" else "warn"
        said = describe_failure(run) if run.word == "cannot run" else f"{run.check.name}: {said_of(run)}"
        if run.word == "red":
            unless = f", unless `baseline = true` in [checks.{run.check.name}] forgives it" if run.is_forgivable else ""
            said += f". A loop has to mend that{unless}"
        yield Remark(word, "run", said)
        yield from (Remark(word, "", f"| {line}") for line in run.last)
        if narrow := describe_plain_run(run):
            yield Remark("warn", "run", f"{run.check.name}: {narrow}")
