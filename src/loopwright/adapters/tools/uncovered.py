"""Lines that no test runs, as findings: one for each function, or one for a file that nothing runs at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from loopwright.adapters.checks.coverage_report import FileCoverage, ranges, read_coverage
from loopwright.adapters.checks.reports import ReportRefused
from loopwright.adapters.tools.artifacts import ArtifactFiles, is_test, language, line_of, text_of
from loopwright.adapters.tools.configured import reported
from loopwright.adapters.tools.opinions import Opinion, crashed
from loopwright.adapters.tools.plan import ToolPlan
from loopwright.adapters.tools.python_coverage import Measured, measure
from loopwright.adapters.tools.python_project import interpreter
from loopwright.adapters.tools.severities import HIGH, MEDIUM
from loopwright.adapters.tools.workshop import Workshop
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Finding, Severity

FLOOR = 80.0  # percent of a file's lines, unless the check says another
_Function = tuple[str, int, int]  # its name, first and last line


async def covered(shop: Workshop, plan: ToolPlan, artifact: ArtifactFiles) -> Opinion:
    check = plan.check("coverage")
    if check is not None:
        return await _by_check(shop, check, artifact)
    files = tuple(file for file in artifact.of("python") if _counts(shop.folder, file))
    if not files:
        return Opinion(tool="coverage", note="no code to measure")
    python = await interpreter(shop, plan)
    if python is None or not python.coverage:
        return Opinion(tool="coverage", missing=f"coverage in {python.path}" if python else "a Python with coverage")
    measured = await measure(shop, python, files)
    if not measured.ran:
        return Opinion(tool="coverage", files=files, findings=measured.findings)
    lacking = _lacking(shop.folder, files, measured)
    return Opinion(tool="coverage", files=files, findings=(*measured.findings, *lacking))


async def _by_check(shop: Workshop, check: CheckSettings, artifact: ArtifactFiles) -> Opinion:
    ran, content = await reported(shop, check)
    try:
        if isinstance(content, ReportRefused):
            raise content
        found = read_coverage(content, str(shop.folder), lambda path: (shop.folder / path).is_file())
    except ReportRefused as refused:
        return crashed("check coverage", artifact.files, ran, f"{refused} ({ran.ending})")
    floor = FLOOR if check.floor is None else check.floor
    lacking = _lacking(shop.folder, artifact.files, Measured(files=found), floor)
    return Opinion(tool="check coverage", files=artifact.files, findings=lacking)


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
