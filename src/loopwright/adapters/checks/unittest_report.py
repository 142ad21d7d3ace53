"""Runs `unittest` tests of the current folder and writes a JUnit report, so that tests can be counted.

    python3 unittest_report.py --report FILE discover [-s DIR] [-t DIR] [-p PATTERN]
    python3 unittest_report.py --report FILE run [-s DIR] [-t DIR] ID…
    python3 unittest_report.py --report FILE unittest WHATEVER `python3 -m unittest` TAKES

Standard library only, and started by its path: everything it needs is imported before the folder
under test comes onto `sys.path`, so that a `unittest.py` lying there replaces nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import time
import unittest
import unittest.runner
from types import TracebackType

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]
_NOT_XML = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# As `xml.sax.saxutils` does it, which brings urllib and ssl with it: half of the start of this program.
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_LARGEST_TEXT = 20_000
_Case = tuple[str, str, str, str]  # how, message, text, file
# What a test judges with and a result is told by, as it was before any code of the project ran.
_JUDGING = re.compile(
    r"assert\w+|fail\w*|add(?:Success|Failure|Error|Skip|SubTest|ExpectedFailure|UnexpectedSuccess)|__exit__"
)
_AS_IT_WAS = {
    (kind, name): held
    for kind in (unittest.TestCase, unittest.TestResult, unittest.case._AssertRaisesContext)  # noqa: SLF001 - it is replaced by name, too
    for name, held in vars(kind).items()
    if _JUDGING.fullmatch(name)
}


class CountingResult(unittest.TextTestResult):
    """What happened to each test. A test is counted once it has ended; two tests may have one id."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.cases: dict[tuple[str, int], _Case] = {}
        self._runs: dict[str, int] = {}

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's own name
        super().startTest(test)
        self._runs[test.id()] = self._runs.get(test.id(), 0) + 1

    def _note(self, test: unittest.TestCase, how: str, message: str = "", text: str = "") -> None:
        key = (test.id(), self._runs.get(test.id(), 0))
        held = self.cases.get(key)
        if held is None or held[0] == "passed":
            self.cases[key] = (how, message, text, _file(test))

    def _told(self, err: _ExcInfo, test: unittest.TestCase) -> str:
        """The traceback as unittest prints it: without its own frames."""
        return self._exc_info_to_string(err, test)[-_LARGEST_TEXT:]  # type: ignore[attr-defined,no-any-return]

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - as above
        super().addSuccess(test)
        self._note(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: _ExcInfo) -> None:  # noqa: N802 - as above
        super().addFailure(test, err)
        self._note(test, "failure", _said(err), self._told(err, test))

    def addError(self, test: unittest.TestCase, err: _ExcInfo) -> None:  # noqa: N802 - as above
        super().addError(test, err)
        self._note(test, "error", _said(err), self._told(err, test))

    def addSubTest(  # noqa: N802 - as above
        self, test: unittest.TestCase, subtest: unittest.TestCase, err: _ExcInfo | None
    ) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note(test, "failure", _said(err), self._told(err, test))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802 - as above
        super().addSkip(test, reason)
        self._note(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: _ExcInfo) -> None:  # noqa: N802 - as above
        super().addExpectedFailure(test, err)
        self._note(test, "skipped", "failed as expected")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - as above
        super().addUnexpectedSuccess(test)
        self._note(test, "failure", "passed, but was expected to fail")


def _file(test: unittest.TestCase) -> str:
    """The test's file, relative to the folder under test; empty when it is not below it."""
    path = getattr(sys.modules.get(type(test).__module__), "__file__", None) or ""
    near = os.path.relpath(path, os.getcwd()) if path else ""  # noqa: PTH109 - as in `_write`
    return "" if near.startswith("..") else near


def _said(err: _ExcInfo) -> str:
    return f"{err[0].__name__}: {err[1]}" if err[0] else "failed"


def _xml(text: str) -> str:
    """`text` as an attribute's value with its quotes; what XML cannot carry becomes `?`."""
    return f'"{_NOT_XML.sub("?", text).translate(_ESCAPES)}"'


def _xml_case(test: str, case: _Case) -> str:
    how, message, text, file = case
    classname, _, name = test.rpartition(".")
    head = f"<testcase classname={_xml(classname)} name={_xml(name)}" + (f" file={_xml(file)}" if file else "")
    if how == "passed":
        return f"{head}/>"
    body = _xml(text)[1:-1]
    return f"{head}><{how} message={_xml(message)}>{body}</{how}></testcase>"


def _write(path: str, result: CountingResult, seconds: float) -> None:
    cases = "\n".join(_xml_case(test, case) for (test, _), case in result.cases.items())
    suite = f'<testsuite name="unittest" tests="{len(result.cases)}" time="{seconds:.3f}">\n{cases}\n</testsuite>\n'
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would be one more import to shadow
        file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{suite}')


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="unittest with a JUnit report")
    parser.add_argument("--report", required=True)
    parser.add_argument("what", choices=("discover", "run"))
    parser.add_argument("-s", dest="start", default=".")
    parser.add_argument("-t", dest="top", default=None)
    parser.add_argument("-p", dest="pattern", default="test*.py")
    parser.add_argument("-f", dest="failfast", action="store_true")
    parser.add_argument("--phases", default="")
    parser.add_argument("tests", nargs="*")
    return parser.parse_intermixed_args(words)


def _note_bent(result: CountingResult) -> None:
    """Code that replaces what it is judged with has shown nothing, however green it is."""
    for (kind, name), held in _AS_IT_WAS.items():
        if vars(kind).get(name) is not held:
            told = f"{kind.__name__}.{name} was replaced while the tests ran"
            result.cases[f"unittest.{kind.__name__}.{name}", 0] = ("error", told, told, "")
            result.errors.append((unittest.FunctionTestCase(print, description=told), told))


class CountingRunner(unittest.runner.TextTestRunner):
    """Writes the report as soon as the tests have ended."""

    resultclass = CountingResult
    report = ""

    def run(self, test: unittest.TestSuite | unittest.TestCase) -> unittest.TextTestResult:
        began = time.monotonic()
        result = super().run(test)
        if isinstance(result, CountingResult):
            _note_bent(result)
            _write(self.report, result, time.monotonic() - began)
        return result


def _as_unittest(report: str, words: list[str]) -> None:
    """What `python -m unittest` with these words does, down to its exit code."""
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        folder = []
    else:
        sys.path[:] = sys.path[1:]
        folder = [os.getcwd()]  # noqa: PTH109 - as in `_write`
    sys.path[:0] = folder
    CountingRunner.report = report
    unittest.main(module=None, argv=["python -m unittest", *words], testRunner=CountingRunner)


def _phases(folder: str):  # type: ignore[no-untyped-def] # noqa: ANN202 - of a file beside this one, which no path names
    """Return the phases that the tests are run in, where a folder with their plan is given."""
    if not folder:
        return None
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trial_phases.py")  # noqa: PTH100, PTH118, PTH120 - as in `_write`
    spec = importlib.util.spec_from_file_location("trial_phases", place)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module.Phases(folder)


def main(words: list[str]) -> int:
    if words[1:2] == ["unittest"]:
        _as_unittest(words[0].removeprefix("--report="), words[2:])
    given = _arguments(words)
    phases = _phases(given.phases)
    sys.path[:] = sys.path[1:]  # our own folder: its modules are nothing to the tests of a project
    sys.path.insert(0, os.path.abspath(given.top or given.start))  # noqa: PTH100 - as in `_write`
    if given.top is None and given.start != ".":
        sys.path.insert(1, os.getcwd())  # noqa: PTH109 - as in `_write`
    loader = unittest.TestLoader()
    if given.what == "discover":
        suite = loader.discover(given.start, given.pattern, given.top)
    else:
        suite = loader.loadTestsFromNames(given.tests)
    CountingRunner.report = given.report
    if phases is not None:
        CountingRunner.report = phases.enter()
        if not CountingRunner.report:
            return 0
        phases.watch(is_testing=True)
    result = CountingRunner(failfast=given.failfast).run(suite)
    if phases is not None:
        phases.leave()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    # `SystemExit` from a test must not look like success: only our own verdict ends the process.
    sys.exit(main(sys.argv[1:]))
