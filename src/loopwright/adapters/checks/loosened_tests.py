"""A test file before and after: were tests skipped, narrowed, emptied?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from loopwright.adapters.checks.shadows import Sign
from loopwright.kernel.model import Severity

_SKIPS = re.compile(
    r"""@(?:\w+\.)*(?:skip|skipIf|skipUnless|skipif|xfail|expectedFailure|Disabled|Ignore)\b
      | \bpytestmark\b.*\b(?:skip|xfail)
      | \bpytest\.(?:skip|xfail|importorskip)\s*\(
      | \bself\.skipTest\s*\(
      | \braise\s+(?:\w+\.)*SkipTest\b
      | \b(?:it|test|describe|context|suite)\.(?:skip|only|todo|failing)\b
      | \b(?:xit|xdescribe|xtest|fit|fdescribe)\s*\(
      | \#\[\s*ignore\b
      | \bt\.Skip(?:Now|f)?\s*\(
      | \bcollect_ignore(?:_glob)?\b
    """,
    re.VERBOSE,
)
_ASSERTS = re.compile(
    r"""^\s*assert\b
      | \bself\.assert\w+\s*\(
      | \bself\.fail\s*\(
      | \bpytest\.(?:raises|warns|fail)\s*\(
      | \bexpect\s*\(
      | \bassert(?:_eq|_ne|_matches)?!\s*\(
      | \bassert\.\w+\s*\(
      | \bassert[A-Z]\w*\s*\(
      | \bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(
      | \b(?:require|assert)\.\w+\(\s*t\b
    """,
    re.VERBOSE | re.MULTILINE,
)
_VACUOUS = re.compile(
    r"""^\s*assert\s+(?:True|1|not\s+False|not\s+None)\s*(?:,.*)?(?:\#.*)?$
      | \bassertTrue\(\s*True\s*\)
      | \bexpect\(\s*true\s*\)\.toBe\(\s*true\s*\)
      | \bassert!\(\s*true\s*\)
    """,
    re.VERBOSE | re.MULTILINE,
)
_TESTS = re.compile(
    r"""^\s*(?:async\s+)?def\s+test\w*\s*\(
      | \b(?:it|test)(?:\.each\(.*?\))?\s*\(\s*['"`]
      | ^\s*\#\[(?:\w+::)?test\b
      | ^func\s+Test\w+\s*\(
      | ^\s*@Test\b
    """,
    re.VERBOSE | re.MULTILINE,
)
_NAMES = re.compile(r"(?:^|[._-])(?:tests?|spec)(?:[._-]|$)", re.IGNORECASE)
_CODE = (
    *(".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".rs"),
    *(".go", ".java", ".kt", ".rb", ".php", ".cs", ".c", ".cc", ".cpp"),
)


def is_test(path: str) -> bool:
    """Test code, by name or by folder. `conftest.py` is configuration, not a test."""
    file = PurePosixPath(path)
    if file.suffix not in _CODE or file.name in ("conftest.py", "__init__.py"):
        return False
    in_folder = any(part in ("tests", "test", "__tests__", "spec", "specs") for part in file.parts[:-1])
    return in_folder or bool(_NAMES.search(file.stem))


def loosened(before: str, after: str) -> Iterator[Sign]:
    skips = _added(_SKIPS, before, after)
    if skips:
        yield Sign("test-skipped", Severity.HIGH, f"Skips or narrows {skips} more tests than the base")
    if _VACUOUS.search(after) and _added(_VACUOUS, before, after):
        yield Sign("test-emptied", Severity.HIGH, "Asserts what is always true")
    gone = -_added(_TESTS, before, after)
    if gone > 0:
        yield Sign("test-removed", Severity.HIGH, f"Has {gone} fewer tests than on the base")
    fewer = -_added(_ASSERTS, before, after)
    if fewer > 0:
        yield Sign("test-loosened", Severity.HIGH, f"Has {fewer} fewer assertions than on the base")


def _added(pattern: re.Pattern[str], before: str, after: str) -> int:
    return sum(1 for _ in pattern.finditer(after)) - sum(1 for _ in pattern.finditer(before))
