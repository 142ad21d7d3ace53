"""SARIF 2.1.0 logs to findings. Reads the few fields that make a finding, strictly, and ignores the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from loopwright.adapters.checks.reports import ReadLine, Report, ReportRefused, short
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.shapes import few_digits
from loopwright.kernel.visible import visible

_SEVERITIES = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "note": Severity.LOW}
_NOT_A_FINDING = ("none",)  # a level
_DEEPEST_LINE = 10_000_000
_PASSING = ("pass", "notApplicable", "informational")  # kinds

Json = object


def read_sarif(content: bytes, line_of: ReadLine, root: str) -> Report:
    """Raises `ReportRefused` for what is not SARIF 2.1.0. `root` is the folder the tool ran in."""
    try:
        log = json.loads(content, parse_constant=_no_constant, parse_int=few_digits)
    except (ValueError, RecursionError) as error:
        raise ReportRefused(f"its report is not JSON: {error}") from error
    if not isinstance(log, dict) or log.get("version") != "2.1.0" or not isinstance(log.get("runs"), list):
        raise ReportRefused("its report is not a SARIF 2.1.0 log")
    found = (finding for run in log["runs"] for finding in _findings(_object(run, "run"), line_of, root))
    return Report(tests=None, failures=tuple(found))


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _findings(run: Mapping[str, Json], line_of: ReadLine, root: str) -> Iterator[Finding]:
    levels = _default_levels(run)
    for entry in _list(run, "results"):
        result = _object(entry, "result")
        rule = _text(result, "ruleId") or _text(_object(result.get("rule", {}), "rule"), "id")
        level = _text(result, "level") or levels.get(rule, "warning")
        if level in _NOT_A_FINDING or _text(result, "kind") in _PASSING or _list(result, "suppressions"):
            continue
        if level not in _SEVERITIES:
            raise ReportRefused(f"its report has a result of level {visible(level)!r}")
        yield _finding(result, rule, _SEVERITIES[level], line_of, root)


def _default_levels(run: Mapping[str, Json]) -> dict[str, str]:
    driver = _object(_object(run.get("tool", {}), "tool").get("driver", {}), "driver")
    rules = [_object(rule, "rule") for rule in _list(driver, "rules")]
    configured = ((_text(r, "id"), _object(r.get("defaultConfiguration", {}), "configuration")) for r in rules)
    return {name: level for name, settings in configured if (level := _text(settings, "level"))}


def _finding(result: Mapping[str, Json], rule: str, severity: Severity, line_of: ReadLine, root: str) -> Finding:
    file, line = _place(result, root)
    message = _object(result.get("message", {}), "message")
    found = Finding(
        severity=severity,
        category="static",
        rule=visible(rule),
        issue=visible(_text(message, "text") or _text(message, "markdown") or rule),
        file=visible(file),
        line=line,
    )
    return identify(short(found), line_of(file, line) if file and line else "")


def _place(result: Mapping[str, Json], root: str) -> tuple[str, int]:
    """File and line of the first location; a file outside the checkout has none."""
    places = _list(result, "locations")
    physical = _object(_object(places[0], "location").get("physicalLocation", {}), "place") if places else {}
    artifact = _object(physical.get("artifactLocation", {}), "artifact")
    start = _object(physical.get("region", {}), "region").get("startLine", 0)
    uri = unquote(_text(artifact, "uri")).removeprefix("file://")
    file = uri.removeprefix(root.rstrip("/") + "/").removeprefix("./")
    inside = file and not file.startswith("/") and ".." not in file.split("/")
    return file if inside else "", start if type(start) is int and 0 < start < _DEEPEST_LINE else 0


def _object(value: Json, what: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise ReportRefused(f"its report has a {what} that is not an object")
    return value


def _list(holder: Mapping[str, Json], name: str) -> list[Json]:
    value = holder.get(name, [])
    if not isinstance(value, list):
        raise ReportRefused(f"its report has {name} that are not a list")
    return value


def _text(holder: Mapping[str, Json], name: str) -> str:
    value = holder.get(name, "")
    if not isinstance(value, str):
        raise ReportRefused(f"its report has a {name} that is not text")
    return value
