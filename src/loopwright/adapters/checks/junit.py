"""JUnit reports to findings: one per failing test, known by the test's id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from xml.etree.ElementTree import Element
from xml.parsers import expat

from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Skipped, TestCase

from loopwright.adapters.checks.ids import steady_id
from loopwright.adapters.checks.reports import WORST, Exists, Outcome, Report, ReportRefused, counted, failed_test
from loopwright.adapters.checks.single_test import pytest_node
from loopwright.kernel.visible import visible

_DEEPEST = 200  # suites within suites
_SAYS_NOTHING = "test"  # the class that node's runner gives to every test; its suites name it
_LINE_NUMBER = re.compile("[0-9]{1,9}")


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

    With `nodes` it is pytest's: a test's id is its node id, which is also how it is run alone, and no two tests
    have one id. Other runners have such tests, and each of them counts.
    """
    refuse_doctype(content)
    exists = cache(exists)  # tests are many, their files few
    try:
        root = JUnitXml.fromstring(content)._elem  # noqa: SLF001 - as in `_attribute`
        found = tuple(_case(_wrapped(e), suites, exists, nodes=nodes) for e, suites in _walk(root, ()))
    except (JUnitXmlError, SyntaxError, ValueError, LookupError) as error:
        if isinstance(error, ReportRefused):
            raise
        raise ReportRefused(f"its report is not JUnit XML: {error}") from error
    cases = _merged(found) if nodes else found
    outcomes = tuple((case.id, case.outcome) for case in cases)
    failed = tuple(
        failed_test(case.id, message=case.message, text=case.text, file=case.file, line=case.line)
        for case in cases
        if case.outcome == "failed"
    )
    return Report(tests=counted(outcomes), failures=failed, outcomes=outcomes)


def _wrapped(element: Element) -> TestCase:
    case: TestCase = TestCase.fromelem(element)  # type: ignore[no-untyped-call]
    return case


def _walk(element: Element, suites: tuple[str, ...]) -> Iterator[tuple[Element, tuple[str, ...]]]:
    """Every test case with the names of the suites around it. Some runners put cases beside suites."""
    if len(suites) > _DEEPEST:
        raise ReportRefused("its report nests suites deeper than any test tool does")
    for child in element:
        if child.tag == "testcase":
            yield child, suites
        elif child.tag == "testsuite":
            yield from _walk(child, (*suites, str(child.attrib.get("name", ""))))


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


def _case(case: TestCase, suites: tuple[str, ...], exists: Exists, *, nodes: bool) -> _Case:
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
    if classname == _SAYS_NOTHING:
        test = " > ".join((*filter(None, suites), name))
    return _Case(id=steady_id(visible(test)), outcome=outcome, message=message, text=text, file=file, line=line)


def _attribute(case: TestCase, name: str) -> str:
    value = str(case._elem.attrib.get(name, ""))  # noqa: SLF001 - junitparser has no reader for optional attributes
    return value if name != "line" or _LINE_NUMBER.fullmatch(value) else ""


def _line(text: str, file: str) -> int:
    """The line of `file` that the failure's own text names last, which is where the assertion is."""
    if not file:
        return 0
    place = re.escape(file)
    found = re.findall(rf'(?:^|[/\s]){place}:(\d{{1,9}})|{place}", line (\d{{1,9}})', text, re.MULTILINE)
    return int(found[-1][0] or found[-1][1]) if found else 0


def _merged(cases: tuple[_Case, ...]) -> tuple[_Case, ...]:
    """One case per id, the worst one."""
    merged: dict[str, _Case] = {}
    for case in cases:
        held = merged.get(case.id)
        if held is None or WORST.index(case.outcome) < WORST.index(held.outcome):
            merged[case.id] = case
    return tuple(merged.values())
