"""What a run left behind, read: the report a person configured, the one the engine asked for, its last words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from loopwright.adapters.checks.coverage_report import read_coverage
from loopwright.adapters.checks.judgement import Ran, clipped
from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.reports import Report, ReportRefused, read_bounded
from loopwright.adapters.checks.runners.asking import Asked
from loopwright.adapters.checks.runners.formats import words_of_go
from loopwright.adapters.checks.runners.reading import read_asked, without_place
from loopwright.adapters.checks.sarif import read_sarif
from loopwright.adapters.files import read_tail
from loopwright.adapters.steps import StepEnded
from loopwright.config.settings import CheckSettings
from loopwright.kernel.visible import visible_bytes

_COLOUR = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_TAIL = 16 * 1024  # bytes of each stream that the last lines are taken from
_LONGEST_LINE = 4096
_DEEPEST_LINE = 200_000


def with_report(ran: Ran, spec: CheckSettings, request: Asked, report: Path, ended: StepEnded, checkout: Path) -> Ran:
    """The run with its report, or in words why there is none. Where none was asked for its output may do."""
    try:
        if spec.report == "none":
            return replace(ran, report=read_asked(request, report, ended, checkout))
        return _read(ran, spec, read_bounded(report), checkout)
    except ReportRefused as refused:
        return replace(ran, refused=clipped(str(refused)))


def _read(ran: Ran, spec: CheckSettings, content: bytes, checkout: Path) -> Ran:
    def exists(path: str) -> bool:
        return (checkout / path).is_file()

    if spec.report == "junit":
        content = without_place(content, checkout)
        return replace(ran, report=read_junit(content, exists, nodes=ran.runner == "pytest"))
    if spec.report == "coverage":
        return replace(ran, report=Report(tests=None), lines=read_coverage(content, str(checkout), exists))
    return replace(ran, report=read_sarif(content, _line_in(checkout), str(checkout)))


def _line_in(checkout: Path) -> Callable[[str, int], str]:
    def line(path: str, number: int) -> str:
        file = checkout / path
        inside = file.resolve().is_relative_to(checkout.resolve())
        if not inside or not file.is_file() or not 0 < number < _DEEPEST_LINE:
            return ""
        with file.open(encoding="utf-8", errors="replace") as lines:
            return next(islice(lines, number - 1, number), "")[:_LONGEST_LINE].strip()

    return line


def end_of(stream: Path, request: Asked) -> str:
    """The last words of a stream, for a person."""
    end = read_tail(stream, _TAIL)
    if request.format == "go":
        end = words_of_go(end.partition(b"\n")[2] if len(end) == _TAIL else end).encode()
    return visible_bytes(_COLOUR.sub(b"", end)).rstrip()
