"""The test runners the engine knows: how each is asked for a report, to stop early, and where its words may stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

REPORT = "{report}"  # stands in argv for a path outside the tree that only this run knows
PHASES = "{phases}"  # stands in argv for a folder that only this run knows, with the plan of its phases
UNITTEST = "{unittest}"  # stands in argv for our own script that runs unittest and counts: a path of this installation
SCRIPT = "unittest_report.py"  # that script's name

Format = Literal["junit", "jest", "rspec", "go", "output"]
Place = Literal["end", "after"]  # of its arguments, or right after the word that makes it a test run


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One of several runs of the same tests that share a collection, see `trial_phases`."""

    texts: Mapping[str, bytes] = field(default_factory=dict)  # files of the tree in which functions are stubs
    names: Mapping[str, Collection[str]] = field(default_factory=dict)  # of these functions, by file
    records: bool = False  # note which functions the tests call
    reads: tuple[str, ...] = ()  # note who opens these files
    turn: int = 1  # the same once more is another phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How much of a run is wanted, where the runner can do with less."""

    verbatim: bool = False  # no runner is asked for anything, and no word of the command stands for something else
    stops_early: bool = False  # at the first failure
    only: tuple[str, ...] = ()  # of all tests those whose ids have one of these words
    phases: tuple[Phase, ...] = ()  # in which the tests run, in the place of the run itself


WHOLE = Pace()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """`words` ask for a report on the command line; `variable` carries `carried` where that is out of reach."""

    name: str
    format: Format
    words: tuple[str, ...] = ()
    early: tuple[str, ...] = ()  # stop at the first failure
    chosen: str = ""  # the option that takes an expression over the names of tests
    phased: tuple[str, ...] = ()  # have the tests run in phases
    place: Place = "end"
    variable: str = ""
    carried: tuple[str, ...] = ()
    carried_format: Format = "output"
    env: tuple[tuple[str, str], ...] = ()


# tox and nox say in which of their environments a command runs; pytest expands variables in the path of its report.
_EACH = f"{REPORT}-$TOX_ENV_NAME-$NOX_CURRENT_SESSION"
_NODE = (
    "--test-reporter=junit",
    f"--test-reporter-destination={REPORT}",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
)
_MOCHA = ("--reporter=xunit", f"--reporter-option=output={REPORT}")
_RSPEC = ("--format=progress", "--format=json", f"--out={REPORT}")

PYTEST = Runner(
    name="pytest",
    format="junit",
    words=(f"--junitxml={REPORT}",),
    early=("-x", "--tb=native"),  # the other styles parse every file of a traceback
    chosen="-k",
    phased=("-p", "loopwright_phases", "--assert=plain"),  # rewriting takes longer than most tests, and none is read
    variable="PYTEST_ADDOPTS",
    carried=(f"--junitxml={_EACH}",),
    carried_format="junit",
)
OUR_UNITTEST = Runner(
    name="unittest", format="junit", early=("-f",), phased=("--phases", PHASES)
)  # its report is asked for by the script itself
UNITTEST_AS_IT_IS = Runner(name="unittest", format="output")  # started by something else than the check
DJANGO = Runner(name="django", format="output", words=("--verbosity=2",), early=("--failfast",))
# No early: with `--bail` it writes no report.
JEST = Runner(name="jest", format="jest", words=("--json", f"--outputFile={REPORT}", "--ci"))
VITEST = Runner(
    name="vitest",
    format="jest",
    words=("--run", "--reporter=default", "--reporter=json", f"--outputFile.json={REPORT}"),
    early=("--bail=1",),
    env=(("CI", "true"),),  # or it writes snapshots that are not there yet
)
MOCHA = Runner(
    name="mocha",
    format="junit",
    words=_MOCHA,
    early=("--bail",),
    variable="MOCHA_OPTIONS",
    carried=_MOCHA,
    carried_format="junit",
)
NODE = Runner(
    name="node",
    format="junit",
    words=_NODE,
    place="after",
    variable="NODE_OPTIONS",
    carried=_NODE,
    carried_format="junit",
)
# `-json` in GOFLAGS would reach `go vet`, which then never fails.
GO = Runner(
    name="go", format="go", words=("-json",), early=("-failfast",), place="after", variable="GOFLAGS", carried=("-v",)
)
# Without it the binaries after the first red one never run, and their tests seem gone.
CARGO = Runner(name="cargo", format="output", words=("--no-fail-fast",))
NEXTEST = Runner(name="nextest", format="output", words=("--no-fail-fast",), early=("--fail-fast",))
RSPEC = Runner(
    name="rspec",
    format="rspec",
    words=_RSPEC,
    early=("--fail-fast",),
    variable="SPEC_OPTS",
    carried=_RSPEC,
    carried_format="rspec",
)
PHPUNIT = Runner(
    name="phpunit",
    format="junit",
    words=("--log-junit", REPORT),
    early=("--stop-on-error", "--stop-on-failure"),
)

# Known by the name of the program, or of the module after `-m`.
BY_NAME: dict[str, Runner] = {
    "pytest": PYTEST,
    "py.test": PYTEST,
    "jest": JEST,
    "vitest": VITEST,
    "mocha": MOCHA,
    "_mocha": MOCHA,
    "rspec": RSPEC,
    "phpunit": PHPUNIT,
    "pest": PHPUNIT,
    "paratest": PHPUNIT,
}
# Known by a program and the first of its words that is no option.
BY_COMMAND: dict[tuple[str, str], Runner] = {
    ("go", "test"): GO,
    ("cargo", "test"): CARGO,
    ("cargo", "t"): CARGO,
    ("cargo", "nextest"): NEXTEST,
    ("manage.py", "test"): DJANGO,
    ("django-admin", "test"): DJANGO,
    ("django", "test"): DJANGO,
    ("artisan", "test"): PHPUNIT,
    ("react-scripts", "test"): JEST,
    ("craco", "test"): JEST,
    ("vue-cli-service", "test:unit"): JEST,
    ("hatch", "test"): PYTEST,
}
# Runners that are asked nothing: they close with a line that counts.
_ONLY_CLOSING = ("ava", "tape", "jasmine", "ctest", "mvn", "mvnw", "dotnet", "mix", "bats", "prove", "nose2")
BY_NAME |= {name: Runner(name=name, format="output") for name in _ONLY_CLOSING}
BY_COMMAND |= {
    (program, "test"): Runner(name=program, format="output") for program in ("rails", "bun", "deno", "swift")
}
# Of checks by these names, and of these programs, nobody expects tests: what they print counts none.
NO_TESTS = ("build", "compile", "lint", "format", "fmt", "type", "types", "typecheck", "static", "audit", "docs")
NO_TEST_TOOLS = frozenset((
    "ruff", "flake8", "pylint", "black", "isort", "bandit", "mypy", "pyright", "compileall", "py_compile", "pyflakes",
    "eslint", "prettier", "tsc", "biome", "oxlint", "stylelint", "rustfmt", "gofmt", "golangci-lint", "rubocop",
    "phpstan", "psalm", "shellcheck", "pre-commit", "clang-format", "clang-tidy",
))  # fmt: skip
