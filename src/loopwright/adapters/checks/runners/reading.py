"""The tests of a run, from whatever it left: the report the engine asked for, else what its output says."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.reports import Report, ReportRefused, join_reports, read_bounded
from loopwright.adapters.checks.runners.asking import Asked
from loopwright.adapters.checks.runners.formats import read_go, read_jest, read_rspec
from loopwright.adapters.checks.runners.output import read_output, with_load_errors
from loopwright.adapters.checks.runners.scripts import steering_files
from loopwright.adapters.files import read_tail
from loopwright.adapters.steps import StepEnded

_OUTPUT = 8 * 1024 * 1024  # bytes of each stream that tests are looked for in
_GO_OUTPUT = 64 * 1024 * 1024  # there the output is the report
_LARGEST_SCRIPT = 256 * 1024
_COUNT_OTHERWISE = ("node",)  # their last line counts a test and its subtests, their report the subtests
_MOST_FILES = 100  # environments of one run, each with a report of its own


def texts_in(folder: Path, commands: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """The files of a checked-out project that say which runner these commands start."""
    found = {name: folder / name for name in steering_files(commands)}
    return {
        name: read_tail(file, _LARGEST_SCRIPT).decode("utf-8", "replace")
        for name, file in found.items()
        if file.is_file()
    }


def read_asked(request: Asked, report: Path, ended: StepEnded, checkout: Path) -> Report | None:
    """None: nothing counts the tests. Raises `ReportRefused` where the runner itself was asked and did not tell."""
    if request.format == "go":
        return read_go(without_place(read_tail(ended.stdout, _GO_OUTPUT), checkout))
    if request.sure:
        return _with_load_errors(_from_file(request, report, checkout), request, ended, checkout)
    try:
        told = _from_files(request, report, checkout)
    except ReportRefused:
        told = None
    if told is not None and request.runner in _COUNT_OTHERWISE:
        return _with_load_errors(told, request, ended, checkout)
    said = _from_output(request, ended, checkout)
    if told is None or said is None or (said.tests or 0) <= (told.tests or 0):
        return told or said
    return replace(told, tests=said.tests)  # several runs, of which the last one left its report


def _from_files(request: Asked, report: Path, checkout: Path) -> Report | None:
    """Every environment of tox or nox writes one."""
    if not request.carried or request.format == "output":
        return None
    files = sorted(report.parent.glob(f"{report.name}*"))[:_MOST_FILES]
    return join_reports([_from_file(request, file, checkout) for file in files])


def _from_file(request: Asked, file: Path, checkout: Path) -> Report:
    content = without_place(read_bounded(file), checkout)
    if request.format == "jest":
        return read_jest(content)
    if request.format == "rspec":
        return read_rspec(content)
    return read_junit(content, lambda path: (checkout / path).is_file(), nodes=request.runner == "pytest")


def read_phases(request: Asked, folder: Path, checkout: Path, count: int) -> tuple[Report | None, ...]:
    """Return the reports of a run's phases; None where one left none that can be read."""
    return tuple(_phase(request, folder / f"phase-{number}", checkout) for number in range(count))


def _phase(request: Asked, file: Path, checkout: Path) -> Report | None:
    try:
        return _from_file(request, file, checkout)
    except ReportRefused:
        return None


def _from_output(request: Asked, ended: StepEnded, checkout: Path) -> Report | None:
    text, errors = _streams(ended, checkout)
    return read_output(text, request.runner, errors=errors)


def _with_load_errors(told: Report, request: Asked, ended: StepEnded, checkout: Path) -> Report:
    if request.runner != "node" or not told.failures:
        return told
    text, errors = _streams(ended, checkout)
    return with_load_errors(told, text, errors=errors)


def _streams(ended: StepEnded, checkout: Path) -> list[str]:
    streams = (without_place(read_tail(stream, _OUTPUT), checkout) for stream in (ended.stdout, ended.stderr))
    return [stream.decode("utf-8", "replace") for stream in streams]


def without_place(content: bytes, checkout: Path) -> bytes:
    """Where it ran differs from run to run, and is no business of an agent.

    A runner that takes the folder above for its root names tests after the checkout's own name, which nobody guesses.
    """
    place, name = os.fsencode(checkout), os.fsencode(checkout.name)
    content = content.replace(place + b"/", b"").replace(place, b".")
    return content.replace(name + b"/", b"").replace(name + b".", b"")
