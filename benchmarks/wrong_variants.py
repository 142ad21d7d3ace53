"""Wrong variants of a fix, made mechanically: a hunk left out, a condition negated, an operator swapped."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_Texts = Mapping[str, str]  # by path; a file that is not there is not named
_OPERATORS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
    ast.And: (r"\band\b", "or"),
    ast.Or: (r"\bor\b", "and"),
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
}
_SIGNS = {"===": "!==", "!==": "===", "&&": "||", "||": "&&", ">=": ">", "<=": "<", " > ": " >= ", " < ": " <= "}
_SIGN = re.compile("|".join(map(re.escape, sorted(_SIGNS, key=len, reverse=True))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    kind: str  # partial, inverted, swapped
    place: str  # the path and the line of the fix
    texts: _Texts  # the product's files that differ from the fix


def variants_of(before: _Texts, after: _Texts) -> Iterator[Variant]:
    """Yield the variants of the change of these files, one edit each."""
    hunks = [(path, hunk) for path in after for hunk in _hunks(before.get(path, ""), after[path])]
    for path, hunk in hunks:
        lines = range(hunk[3], hunk[4])
        if len(hunks) > 1:
            yield _made("partial", path, hunk[3], _without(before.get(path, ""), after[path], hunk))
        edits = _python_edits(after[path], lines) if path.endswith(".py") else _sign_edits(after[path], lines)
        for kind, line, text in edits:
            yield _made(kind, path, line, text)


def _made(kind: str, path: str, line: int, text: str) -> Variant:
    return Variant(kind=kind, place=f"{path}:{line + 1}", texts={path: text})


_Hunk = tuple[str, int, int, int, int]


def _hunks(before: str, after: str) -> list[_Hunk]:
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return [hunk for hunk in matcher.get_opcodes() if hunk[0] != "equal"]


def _without(before: str, after: str, hunk: _Hunk) -> str:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    _, i1, i2, j1, j2 = hunk
    return "".join((*new[:j1], *old[i1:i2], *new[j2:]))


def _python_edits(text: str, lines: range) -> Iterator[tuple[str, int, str]]:
    try:
        nodes = tuple(ast.walk(ast.parse(text)))
    except SyntaxError:
        return
    source = _Source(text)
    for node in nodes:
        line = getattr(node, "lineno", 0) - 1
        if line not in lines:
            continue
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield "inverted", line, source.inverted(test)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
                yield "swapped", line, source.swapped(left, right, op)
            case ast.BoolOp(op=op, values=[left, right, *_]):
                yield "swapped", line, source.swapped(left, right, op)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPERATORS:
                yield "swapped", line, source.swapped(left, right, op)
            case _:
                pass


class _Source:
    """A text that is edited where nodes of its tree stand."""

    def __init__(self, text: str) -> None:
        self.text = text.encode()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: ast.expr) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr) -> int:
        return self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def inverted(self, node: ast.expr) -> str:
        start, end = self.start(node), self.end(node)
        return (self.text[:start] + b"(not (" + self.text[start:end] + b"))" + self.text[end:]).decode()

    def swapped(self, left: ast.expr, right: ast.expr, op: ast.AST) -> str:
        old, new = _OPERATORS[type(op)]
        between = self.text[self.end(left) : self.start(right)].decode()
        made = re.sub(old, new, between, count=1)
        return (self.text[: self.end(left)] + made.encode() + self.text[self.start(right) :]).decode()


def _sign_edits(text: str, lines: range) -> Iterator[tuple[str, int, str]]:
    """Swap one operator of a line; for languages that nothing here can parse."""
    whole = text.splitlines(keepends=True)
    for number in lines:
        if found := _SIGN.search(whole[number]):
            line = whole[number][: found.start()] + _SIGNS[found[0]] + whole[number][found.end() :]
            yield "swapped", number, "".join((*whole[:number], line, *whole[number + 1 :]))
