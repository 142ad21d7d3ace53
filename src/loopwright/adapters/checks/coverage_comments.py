"""New lines that a comment of the change itself keeps out of a coverage report: nobody measured them, and they count.

What is left out for another reason (`if TYPE_CHECKING:`, by the project's configuration) is as the project wants it,
and so is what a comment of the base leaves out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loopwright.adapters.checks.canary.hollow import parse

_COMMENT = re.compile(
    r"""(?:pragma\W{0,3})?\bno\W?cov(?:er(?:age)?)?\b   # coverage.py, simplecov, and what people configure
      | \b(?:istanbul|c8|v8)\s+ignore\b | node:coverage\s+(?:disable|ignore)
      | \b(?:LCOV|GCOV|GCOVR|GRCOV)_EXCL\w* | \bcoverage:ignore\b | @?codeCoverageIgnore
      | \bcoverage\(\s*off\s*\) | \btarpaulin | \bExcludeFromCodeCoverage\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CODE = re.compile(r"^(?!\s*(?://|/\*|\*|\#(?!\[)|--)).*\w")  # more than brackets, and no comment
_SUITES = ("body", "handlers", "orelse", "finalbody", "cases")


def left_out_by_comments(path: str, text: str, new: frozenset[int], measured: frozenset[int]) -> frozenset[int]:
    """Of the `new` lines those of code that are not `measured` because of a comment on a new line."""
    lines = text.split("\n")
    comments = frozenset(n for n in new if n <= len(lines) and _COMMENT.search(lines[n - 1]))
    if not comments:
        return frozenset()
    found = _of_python(text, comments) if path.endswith((".py", ".pyw")) else None
    return (_below(lines, comments, measured) if found is None else found) & new - measured


def _below(lines: list[str], comments: frozenset[int], measured: frozenset[int]) -> frozenset[int]:
    """Whatever the language: from the comment to the next line that was measured."""
    found: set[int] = set()
    for first in comments:
        end = min((n for n in measured if n > first), default=len(lines) + 1)
        found |= {n for n in range(first, end) if _CODE.search(lines[n - 1])}
    return frozenset(found)


def _of_python(text: str, comments: frozenset[int]) -> frozenset[int] | None:
    """The lines on which statements begin that a comment is on, or on the head of what they are in; None: no Python."""
    try:
        tree = parse(text)
        return None if tree is None else frozenset(_within(tree.body, comments, is_out=False))
    except RecursionError:
        return None


def _within(suite: list[ast.stmt], comments: frozenset[int], *, is_out: bool) -> Iterator[int]:
    for each in suite:
        first, inner = _first(each), list(_suites(each))
        if not inner and (is_out or _has(comments, first, each.end_lineno or first)) and not _is_text(each):
            yield first
        head = first
        for line, below in inner:
            # A suite has a head of its own (`if`, `else`), from where the one before ends.
            is_left_out = is_out or _has(comments, head, max(head, _first(below[0]) - 1))
            if is_left_out and line:
                yield from (first, line) if head == first else (line,)
            yield from _within(below, comments, is_out=is_left_out)
            head = (below[-1].end_lineno or head) + 1


def _suites(statement: ast.stmt) -> Iterator[tuple[int, list[ast.stmt]]]:
    """Each with the line of its head; 0: nobody knows it, as of an `else`."""
    for name in _SUITES:
        held = getattr(statement, name, None) or []
        if name in ("handlers", "cases"):
            yield from ((each.lineno if name == "handlers" else each.pattern.lineno, each.body) for each in held)
        elif held:
            yield (statement.lineno if name == "body" else 0), held


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min((statement.lineno, *(each.lineno for each in decorators)))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _has(comments: frozenset[int], first: int, last: int) -> bool:
    return any(first <= line <= last for line in comments)
