"""Reports that runners write in formats of their own, to ours: jest's JSON (vitest's too), rspec's, go's stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypedDict

from loopwright.adapters.checks.ids import steady_id
from loopwright.adapters.checks.reports import Outcome, Report, ReportRefused, counted, failed_test
from loopwright.kernel.visible import visible

_LARGEST_TEXT = 20_000
_HOW: Mapping[str, Outcome] = {"passed": "passed", "failed": "failed", "pass": "passed", "fail": "failed"}


class _Told(TypedDict):
    test: str
    how: Outcome
    text: str
    file: str


def read_jest(content: bytes) -> Report:
    """Raises `ReportRefused` for what is no such report."""
    whole = _object(content)
    return _report(tuple(told for suite in _list(whole, "testResults") for told in _suite(suite)))


def _suite(suite: Mapping[str, object]) -> Iterator[_Told]:
    file = _text(suite, "name")
    cases = _list(suite, "assertionResults")
    for case in cases:
        text = "\n".join(_strings(case.get("failureMessages")))
        named = filter(None, _strings(case.get("ancestorTitles")))  # older vitest has the nameless file among them
        titles = " > ".join((*named, _text(case, "title")))
        yield _Told(test=f"{file} > {titles}", how=_HOW.get(_text(case, "status"), "skipped"), text=text, file=file)
    if not cases and _text(suite, "status") == "failed":  # the file itself could not be run
        yield _Told(test=file, how="failed", text=_text(suite, "message"), file=file)


def read_rspec(content: bytes) -> Report:
    """Raises `ReportRefused` for what is no such report."""
    whole = _object(content)
    return _report(tuple(_example(example) for example in _list(whole, "examples")))


def _example(example: Mapping[str, object]) -> _Told:
    file = _text(example, "file_path").removeprefix("./")
    thrown = example.get("exception")
    said = _text(thrown, "message").strip() if isinstance(thrown, dict) else ""
    how = _HOW.get(_text(example, "status"), "skipped")
    return _Told(test=f"{file} > {_text(example, 'full_description')}", how=how, text=said, file=file)


def read_go(content: bytes) -> Report:
    """From what `go test -json` prints; lines of the tools it starts stand between. Raises `ReportRefused`."""
    said: dict[tuple[str, str], str] = {}
    ended: dict[tuple[str, str], str] = {}
    for event in filter(None, map(_event, content.splitlines())):
        key = (_text(event, "Package") or _text(event, "ImportPath"), _text(event, "Test"))
        action = _text(event, "Action")
        if action in ("output", "build-output"):
            said[key] = (said.get(key, "") + _text(event, "Output"))[-_LARGEST_TEXT:]
        elif action in ("pass", "fail", "skip"):
            ended[key] = action
    if not ended:
        raise ReportRefused("it printed no result of any package")
    return _report(tuple(_go_tests(said, ended)))


def _go_tests(said: Mapping[tuple[str, str], str], ended: Mapping[tuple[str, str], str]) -> Iterator[_Told]:
    red = {package for (package, test), how in ended.items() if test and how == "fail"}
    for (package, test), action in ended.items():
        text = re.sub(r"^ *(?:=== |--- FAIL: ).*\n", "", said.get((package, test), ""), flags=re.MULTILINE)
        if test:
            yield _Told(test=f"{package} > {test}", how=_HOW.get(action, "skipped"), text=text, file="")
        elif action == "fail" and package not in red:  # it did not build, or ended without a word
            yield _Told(test=package, how="failed", text=text, file="")


def words_of_go(content: bytes) -> str:
    """What a person would have read without `-json`."""
    lines = []
    for line in content.splitlines(keepends=True):
        event = _event(line)
        lines.append(line.decode("utf-8", "replace") if event is None else _text(event, "Output"))
    return "".join(lines)


def _event(line: bytes) -> Mapping[str, object] | None:
    if not line.startswith(b'{"'):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "Action" in event else None


def _report(told: tuple[_Told, ...]) -> Report:
    tests = tuple((steady_id(visible(one["test"])), one) for one in told)
    outcomes = tuple((test, one["how"]) for test, one in tests)
    red = ((test, one) for test, one in tests if one["how"] == "failed")
    failures = tuple(failed_test(test, text=one["text"][-_LARGEST_TEXT:], file=one["file"]) for test, one in red)
    return Report(tests=counted(outcomes), failures=failures, outcomes=outcomes)


def _object(content: bytes) -> Mapping[str, object]:
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ReportRefused(f"its report is not JSON: {error}") from error
    if not isinstance(whole, dict):
        raise ReportRefused("its report is not the JSON of a test run")
    return whole


def _list(table: Mapping[str, object], name: str) -> tuple[Mapping[str, object], ...]:
    entries = table.get(name)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ReportRefused(f"its report has no list {name!r}")
    return tuple(entries)


def _text(table: Mapping[str, object], name: str) -> str:
    value = table.get(name)
    return value if isinstance(value, str) else ""


def _strings(value: object) -> tuple[str, ...]:
    return tuple(entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else ()
