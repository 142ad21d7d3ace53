"""JUnit reports to findings: one per failing test, known by the test's id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.parsers import expat

from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Skipped, TestCase

from loopwright.adapters.checks.reports import Exists, Outcome, Report, ReportRefused, short
from loopwright.adapters.checks.single_test import pytest_node
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.visible import visible

_WORST: tuple[Outcome, ...] = ("failed", "passed", "skipped")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    id: str
    outcome: Outcome
    message: str = ""
    text: str = ""
    file: str = ""
    line: int = 0


def read_junit(content: bytes, exists: Exists, *, nodes: bool = False) -> Report:
    """Raises `ReportRefused` for what is not a JUnit report, or one that could harm its reader.

    With `nodes` a test's id is pytest's node id, which is also how it is run alone.
    """
    refuse_doctype(content)
    try:
        found = [case for suite in JUnitXml.fromstring(content) for case in suite]
    except (JUnitXmlError, SyntaxError, ValueError, LookupError) as error:
        raise ReportRefused(f"its report is not JUnit XML: {error}") from error
    except RecursionError as error:
        raise ReportRefused("its report nests suites deeper than any test tool does") from error
    cases = _merged(_case(case, exists, nodes=nodes) for case in found)
    failed = tuple(_finding(case) for case in cases.values() if case.outcome == "failed")
    return Report(
        tests=sum(case.outcome != "skipped" for case in cases.values()),
        failures=failed,
        outcomes=tuple((case.id, case.outcome) for case in cases.values()),
    )


def refuse_doctype(content: bytes) -> None:
    """Entities need a DOCTYPE, which stands before the first element; no test tool writes one."""
    parser = expat.ParserCreate()

    def declared(*_: object) -> None:
        raise ReportRefused("its report declares a DOCTYPE, which no test tool writes")

    def began(*_: object) -> None:
        raise _ElementReached

    parser.StartDoctypeDeclHandler = declared
    parser.StartElementHandler = began
    try:
        parser.Parse(content)
    except _ElementReached:  # an exception is the only way out of expat
        return
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise ReportRefused(f"its report is not XML: {error}") from error


class _ElementReached(Exception):
    """The prolog is over."""


def _case(case: TestCase, exists: Exists, *, nodes: bool) -> _Case:
    results = [result for result in case if isinstance(result, Failure | Error | Skipped)]
    bad = [result for result in results if not isinstance(result, Skipped)]
    outcome: Outcome = "failed" if bad else "skipped" if results else "passed"
    classname, name = case.classname or "", case.name or ""
    message = bad[0].message or "" if bad else ""
    text = "\n".join(result.text or "" for result in bad)
    node = pytest_node(classname, name, exists)
    file = _attribute(case, "file") or (node.partition("::")[0] if node else "")
    line = _line(text, file) or int(_attribute(case, "line") or "0")
    test = node if nodes and node else f"{classname}.{name}" if classname else name
    return _Case(id=visible(test), outcome=outcome, message=message, text=text, file=file, line=line)


def _attribute(case: TestCase, name: str) -> str:
    value = str(case._elem.attrib.get(name, ""))  # noqa: SLF001 - junitparser has no reader for optional attributes
    return value if name != "line" or value.isdecimal() else ""


def _line(text: str, file: str) -> int:
    """The line of `file` that the failure's own text names last, which is where the assertion is."""
    if not file:
        return 0
    place = re.escape(file)
    found = re.findall(rf'(?:^|[/\s]){place}:(\d{{1,9}})|{place}", line (\d{{1,9}})', text, re.MULTILINE)
    return int(found[-1][0] or found[-1][1]) if found else 0


def _merged(cases: Iterator[_Case]) -> dict[str, _Case]:
    """One case per id, the worst one: a report cannot count one test twice."""
    merged: dict[str, _Case] = {}
    for case in cases:
        held = merged.get(case.id)
        if held is None or _WORST.index(case.outcome) < _WORST.index(held.outcome):
            merged[case.id] = case
    return merged


def _finding(case: _Case) -> Finding:
    lines = [line for line in (case.message or case.text).strip().splitlines() if line.strip()]
    first = visible(lines[0].strip()) if lines else "failed without a message"
    found = Finding(
        severity=Severity.HIGH,
        category="tests",
        rule=case.id,
        issue=f"{case.id} - {first}",
        evidence=visible((case.text or case.message).strip()),
        file=visible(case.file),
        line=case.line,
    )
    return identify(short(found))
