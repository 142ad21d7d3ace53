"""Whether a check cannot run at all, rather than being red: nobody could turn it green by changing the code. Pure."""

from __future__ import annotations

import re

from loopwright.adapters.checks.judgement import Ran, ended_how, is_empty
from loopwright.adapters.checks.single_test import is_pytest
from loopwright.config.settings import CheckSettings

FOUND_NO_TEST = "it found no test"
_LINES = 5  # of the output; more is in `loop doctor --run`
_PYTEST_USAGE = 4
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
RUNNER_MISSING = re.compile(r"No module named '?(?:pytest|py\.test|unittest|django|coverage|tox|nox|nose2|trial)\b")
_MISSING = re.compile(
    rf"{RUNNER_MISSING.pattern}"
    r"|command not found|: not found$|: No such file or directory\nmake|could not determine executable to run"
    r"|no such command: |[Uu]nknown command: |is not recognized as an|Cannot find (?:module|package) '(?![./])"
    r"|can't open file|could not find `Cargo\.toml`|error: failed to get `|go\.mod file not found|npm error 404",
    re.MULTILINE,
)
_CONFTEST = "ImportError while loading conftest "
_USAGE = re.compile(
    r"Missing script: |No rule to make target|[Uu]nrecognized (?:arguments|option)|[Uu]nknown option|bad option: "
    r"|Unrecognized CLI Parameter|flag provided but not defined|unexpected argument|does not contain recipe"
    r"|Sessions not found: ",
)


def cannot_run(spec: CheckSettings, ran: Ran) -> str:
    """Why the check cannot run here, with its last lines and what to do; empty when it runs, red or green."""
    why, remedy = _why(spec, ran)
    if not why:
        return ""
    lines = "".join(f"\n  {line}" for line in _last(ran.tail))
    return f"check {spec.name!r} cannot run: {ended_how(spec, ran)}: {why}; {remedy}{lines}"


def _last(tail: str) -> list[str]:
    """With the line that tells what is wrong, which npm for one has further up."""
    lines = tail.splitlines()
    telling = [line for line in lines[:-_LINES] if _MISSING.search(line) or _USAGE.search(line)]
    return [*telling[-1:], *lines[-_LINES:][len(telling[-1:]) :]]


def _why(spec: CheckSettings, ran: Ran) -> tuple[str, str]:
    if ran.how == "gone":
        return "that file is not in the tree", "correct `run`"
    if ran.how == "wall":
        return "it did not come to its end", f"raise `timeout` in [checks.{spec.name}]"
    if ran.tests or ran.ids:
        return "", ""
    if is_empty(spec, ran) and (spec.may_be_empty or spec.report != "coverage"):
        return _empty(spec, ran)
    if ran.report is not None and ran.report.failures:
        return "", ""  # it told of something it could not collect: red
    return _without_a_word(spec, ran)


def _empty(spec: CheckSettings, ran: Ran) -> tuple[str, str]:
    if spec.may_be_empty:
        return "", ""
    later = f"where tests are still to be written, set `may_be_empty = true` in [checks.{spec.name}]"
    if ran.tests is None and not is_pytest(spec.run):
        return "what it works on is not there", f"correct `run`; {later}"
    return FOUND_NO_TEST, f"say in `run` where the tests are; {later}"


def _without_a_word(spec: CheckSettings, ran: Ran) -> tuple[str, str]:
    """It ended, and no test is known of."""
    if is_pytest(spec.run) and ran.exit_code == _PYTEST_USAGE and (why := _conftest_problem(ran.tail)):
        return why, "install it where the check looks for it, or correct that file"
    if ran.exit_code and (ran.exit_code in (_NOT_EXECUTABLE, _NOT_FOUND) or _is_missing(spec, ran.tail)):
        return "what it starts is not installed here", "install it where the check looks for it, or correct `run`"
    if ran.exit_code and (_USAGE.search(ran.tail) or (is_pytest(spec.run) and ran.exit_code == _PYTEST_USAGE)):
        return "it does not understand its command line", "correct `run`"
    if ran.refused:
        return ran.refused, "look at its output, and correct `run`, or what it needs"
    return "", ""


def _conftest_problem(tail: str) -> str:
    """Return why a `conftest.py` could not be loaded; empty where pytest loaded it."""
    _, is_told, traceback = tail.partition(_CONFTEST)
    if not is_told:
        return ""
    said = (re.findall(r"^E +(.+)$", traceback, re.MULTILINE) or ["it raised"])[-1]
    module = re.search(r"No module named '?([\w.]+)", said)
    return f"it cannot import {module[1]} (conftest.py)" if module else f"it cannot load conftest.py: {said}"


def _is_missing(spec: CheckSettings, tail: str) -> bool:
    modules = [spec.run[index + 1] for index, word in enumerate(spec.run[:-1]) if word == "-m"]
    return bool(_MISSING.search(tail)) or any(f"No module named {module}" in tail for module in modules)
