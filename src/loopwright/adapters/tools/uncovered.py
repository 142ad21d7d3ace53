"""Lines that no test runs, as findings: one for each function, or one for a file that nothing runs at all."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.checks.coverage_report import FileCoverage, ranges, read_coverage
from loopwright.adapters.checks.python_roots import python_path
from loopwright.adapters.checks.reports import ReportRefused, read_bounded
from loopwright.adapters.tools.artifacts import ArtifactFiles, is_test, language, line_of, text_of
from loopwright.adapters.tools.configured import reported
from loopwright.adapters.tools.opinions import ToolOpinion, crashed
from loopwright.adapters.tools.plan import ToolPlan
from loopwright.adapters.tools.python_project import Interpreter, interpreter
from loopwright.adapters.tools.severities import HIGH, MEDIUM
from loopwright.adapters.tools.workshop import ToolRan, Workshop
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Finding, Severity

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
    env = {"COVERAGE_FILE": str(data), **python_path(shop.folder)}
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
        found = replace(found, files=await _measured_lines(shop, python, env))
    if {each.file for each in found.files}.issuperset(files):
        return found
    said = await shop.run(python.path, "-m", "coverage", "debug", "config", env=env)
    return replace(found, omitted=_omitted(said.stdout.decode("utf-8", "replace")))


async def _measured_lines(shop: Workshop, python: Interpreter, env: dict[str, str]) -> tuple[FileCoverage, ...]:
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


FLOOR = 80.0  # percent of a file's lines, unless the check says another
_Function = tuple[str, int, int]  # its name, first and last line


async def covered(shop: Workshop, plan: ToolPlan, artifact: ArtifactFiles) -> ToolOpinion:
    check = plan.check("coverage")
    if check is not None:
        return await _by_check(shop, check, artifact)
    files = tuple(file for file in artifact.of("python") if _counts(shop.folder, file))
    if not files:
        return ToolOpinion(tool="coverage", note="no code to measure")
    python = await interpreter(shop, plan)
    if python is None or not python.coverage:
        return ToolOpinion(
            tool="coverage", missing=f"coverage in {python.path}" if python else "a Python with coverage"
        )
    measured = await measure(shop, python, files)
    if not measured.ran:
        return ToolOpinion(tool="coverage", files=files, findings=measured.findings)
    lacking = _lacking(shop.folder, files, measured)
    return ToolOpinion(tool="coverage", files=files, findings=(*measured.findings, *lacking))


async def _by_check(shop: Workshop, check: CheckSettings, artifact: ArtifactFiles) -> ToolOpinion:
    ran, content = await reported(shop, check)
    try:
        if isinstance(content, ReportRefused):
            raise content
        found = read_coverage(content, str(shop.folder), lambda path: (shop.folder / path).is_file())
    except ReportRefused as refused:
        return crashed("check coverage", artifact.files, ran, f"{refused} ({ran.ending})")
    floor = FLOOR if check.floor is None else check.floor
    lacking = _lacking(shop.folder, artifact.files, Measured(files=found), floor)
    return ToolOpinion(tool="check coverage", files=artifact.files, findings=lacking)


def _lacking(folder: Path, files: tuple[str, ...], measured: Measured, floor: float = FLOOR) -> tuple[Finding, ...]:
    known = {each.file: each for each in measured.files}
    return tuple(
        finding
        for file in files
        if not is_test(file)
        for finding in _of_file(folder, file, known.get(file), measured, floor)
    )


def _of_file(
    folder: Path, file: str, lines: FileCoverage | None, measured: Measured, floor: float
) -> Iterator[Finding]:
    if lines is None:
        if _counts(folder, file) and not measured.leaves_out(folder, file):
            yield _whole(folder, file)
    elif lines.missed and not lines.covered:
        yield _whole(folder, file)
    elif lines.missed:
        yield from _partly(folder, lines, HIGH if lines.percent < floor else MEDIUM)


def _counts(folder: Path, file: str) -> bool:
    """Whether a Python file outside the tests has anything to run besides its own description."""
    if language(file) != "python" or file.endswith(".pyi") or is_test(file):
        return False
    try:
        body = ast.parse(text_of(folder, file)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # another tool says what is wrong with it
    return any(not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)) for each in body)


def _whole(folder: Path, file: str) -> Finding:
    first = next((line.strip() for line in text_of(folder, file).splitlines() if line.strip()), file)
    return Finding(
        severity=HIGH,
        category="coverage",
        rule="uncovered-file",
        file=file,
        issue=f"No test runs any line of {file}",
        evidence=f"the coverage report has no line of it that ran; it begins: {first}",
        guidance=f"Write tests that import and exercise {file}.",
    )


def _partly(folder: Path, lines: FileCoverage, severity: Severity) -> Iterator[Finding]:
    functions = _functions(text_of(folder, lines.file)) if language(lines.file) == "python" else ()
    by_place: dict[_Function | None, list[int]] = {}
    for line in lines.missed:
        by_place.setdefault(_around(line, functions), []).append(line)
    for place, missed in by_place.items():
        name = f"`{place[0]}`" if place else "code outside functions" if functions else "code"
        yield Finding(
            severity=severity,
            category="coverage",
            rule=f"uncovered {place[0]}" if place else "uncovered-lines",
            file=lines.file,
            line=place[1] if place else 0,
            issue=f"No test runs {name} at {_lines(missed)} ({lines.percent:.0f} % of the file is covered)",
            evidence=_shown(folder, lines.file, missed),
            guidance=f"Write a test that makes {_lines(missed)} run and checks what comes of it.",
        )


def _lines(missed: list[int]) -> str:
    return f"line{'s' if len(missed) > 1 else ''} {ranges(missed)}"


def _shown(folder: Path, file: str, missed: list[int]) -> str:
    first = line_of(folder, file, missed[0])
    return f"line {missed[0]} never ran: {first}" if first else f"never ran: {ranges(missed)}"


def _around(line: int, functions: tuple[_Function, ...]) -> _Function | None:
    """The innermost function the line is in."""
    inside = [each for each in functions if each[1] <= line <= each[2]]
    return max(inside, key=lambda each: each[1], default=None)


def _functions(source: str) -> tuple[_Function, ...]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(_named(tree, ""))


def _named(tree: ast.AST, prefix: str) -> Iterator[_Function]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node.lineno, node.end_lineno or node.lineno
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _named(node, f"{prefix}{node.name}." if named else prefix)  # type: ignore[attr-defined]
