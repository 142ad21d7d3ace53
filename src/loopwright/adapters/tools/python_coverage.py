"""coverage.py around the project's own tests: which lines they run. This runs the candidate's code, as a check does."""

from __future__ import annotations

import fnmatch
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.checks.coverage_report import FileCoverage, read_coverage
from loopwright.adapters.checks.reports import ReportRefused, read_bounded
from loopwright.adapters.tools.python_project import Interpreter
from loopwright.adapters.tools.severities import HIGH
from loopwright.adapters.tools.workshop import ToolRan, Workshop
from loopwright.kernel.model import Finding

_PASSED, _FAILED, _NONE_FOUND = 0, 1, 5
_OMITTED = re.compile(r"^ *(?:run|report)_omit: (.*(?:\n {20,}\S.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """`omitted` are patterns of files that the project keeps out of its coverage."""

    files: tuple[FileCoverage, ...] = ()
    findings: tuple[Finding, ...] = ()
    omitted: tuple[str, ...] = ()
    ran: bool = True  # tests ran, whatever came of them

    def leaves_out(self, folder: Path, file: str) -> bool:
        return any(fnmatch.fnmatch(name, each) for each in self.omitted for name in (file, str(folder / file)))


async def measure(shop: Workshop, python: Interpreter, files: tuple[str, ...]) -> Measured:
    """`files` are those it is about: only if one of them was not measured is it asked which are left out."""
    data = shop.scratch / "coverage"
    env = {"COVERAGE_FILE": str(data), "PYTHONPATH": _roots(shop.folder)}
    runner = ("pytest", "-q", "-p", "no:cacheprovider") if python.pytest else ("unittest", "discover")
    command = ("-m", "coverage", "run", "-m", *runner)
    ran = await shop.run(python.path, *command, env=env)
    if (broken := _broken(ran, runner[0])) is not None:
        return Measured(findings=(broken,), ran=False)
    findings = (_failing(ran, runner[0]),) if ran.code == _FAILED else ()
    parts = [part for part in shop.scratch.glob("coverage.*") if part.is_file()]
    if parts:  # `parallel` in the project's configuration
        await shop.run(python.path, "-m", "coverage", "combine", env=env)
    found = Measured(findings=findings)
    if data.is_file():
        found = replace(found, files=await _lines(shop, python, env))
    if {each.file for each in found.files}.issuperset(files):
        return found
    said = await shop.run(python.path, "-m", "coverage", "debug", "config", env=env)
    return replace(found, omitted=_omitted(said.stdout.decode("utf-8", "replace")))


def _roots(folder: Path) -> str:
    """The candidate's own modules go before those of an editable installation, which are the person's."""
    inner = folder / "src"
    return os.pathsep.join(str(each) for each in (inner, folder) if each.is_dir())


async def _lines(shop: Workshop, python: Interpreter, env: dict[str, str]) -> tuple[FileCoverage, ...]:
    report = shop.scratch / "coverage-report"
    await shop.run(
        *(python.path, "-m", "coverage", "xml", "--ignore-errors", "--fail-under=0", "-o", str(report)), env=env
    )
    try:
        return read_coverage(read_bounded(report), str(shop.folder), lambda path: (shop.folder / path).is_file())
    except ReportRefused:  # nothing was measured, so nothing was covered
        return ()


def _omitted(configuration: str) -> tuple[str, ...]:
    words = " ".join(_OMITTED.findall(configuration)).split()
    return tuple(word for word in words if word not in ("None", "-none-"))


def _broken(ran: ToolRan, runner: str) -> Finding | None:
    """Tests that could not run at all. Nobody collected is no breakage: then nothing is covered, and that is said."""
    if runner == "pytest":
        if ran.code in (_PASSED, _FAILED, _NONE_FOUND):
            return None
    elif ran.code in (_PASSED, _NONE_FOUND) or b"\nRan " in b"\n" + ran.stderr:
        return None
    return _about(ran, runner, "tests-broken", f"The tests cannot run: {runner}, {ran.ending}", "they run")


def _failing(ran: ToolRan, runner: str) -> Finding:
    return _about(ran, runner, "tests-failing", f"The tests fail under {runner}", "they pass")


def _about(ran: ToolRan, runner: str, rule: str, issue: str, goal: str) -> Finding:
    return Finding(
        severity=HIGH,
        category="coverage",
        rule=rule,
        issue=issue,
        evidence=ran.tail,
        guidance=f"Run `python -m {runner}` in the repository and mend what it shows until {goal}.",
    )
