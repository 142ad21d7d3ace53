"""Tests bent to wrong code: an assertion that fails expects what the code returns now, or goes."""

from __future__ import annotations

import ast
import re
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path

_ROUNDS = 20
_FRAME = re.compile(r"^(\S+?\.py):(\d+): in ", re.MULTILINE)
_SECTION = re.compile(r"^_{3,} .+ _{3,}$", re.MULTILINE)
_VALUES = "bent-values.txt"


def bend(folder: Path, paths: tuple[str, ...], environ: Mapping[str, str]) -> dict[str, str] | None:
    """Edit these tests of a checkout until they pass; None where that is not reached, or changes nothing."""
    before = {path: (folder / path).read_text() for path in paths}
    for _ in range(_ROUNDS):
        ran = _run(folder, paths, environ)
        if ran.returncode == 0:
            texts = {path: (folder / path).read_text() for path in paths}
            return texts if texts != before else None
        frames = (_first_frame(section, paths) for section in _SECTION.split(ran.stdout)[1:])
        if not any(_bend_at(folder, frame, paths, environ) for frame in frames if frame):  # one: lines move then
            return None
    return None


def _run(folder: Path, paths: tuple[str, ...], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    python = folder / ".venv" / "bin" / "python"
    words = [str(python), "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "--no-cov", *paths]
    if subprocess.run([python, "-c", "import pytest_cov"], env=environ, check=False, capture_output=True).returncode:
        words.remove("--no-cov")
    return subprocess.run(words, cwd=folder, env=environ, check=False, capture_output=True, text=True)


def _first_frame(section: str, paths: tuple[str, ...]) -> tuple[str, int] | None:
    return next(((path, int(line)) for path, line in _FRAME.findall(section) if path in paths), None)


def _bend_at(folder: Path, place: tuple[str, int], paths: tuple[str, ...], environ: Mapping[str, str]) -> bool:
    path, line = place
    text = (folder / path).read_text()
    found = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.stmt) and _holds(each, line)]
    if not found:
        return False
    node = max(found, key=lambda each: each.lineno)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    made = _with_value(folder, path, text, node, paths, environ) or _without(text, node)
    (folder / path).write_text(made)
    return True


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _without(text: str, node: ast.stmt) -> str:
    """Of `with raises(...)` the body is left; anything else goes."""
    lines = text.splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno or node.lineno
    indent = " " * node.col_offset
    body = f"{indent}pass\n"
    if isinstance(node, ast.With):
        inside = "".join(lines[node.body[0].lineno - 1 : last])
        body = textwrap.indent(textwrap.dedent(inside), indent)
    return "".join((*lines[:first], body, *lines[last:]))


def _with_value(
    folder: Path, path: str, text: str, node: ast.stmt, paths: tuple[str, ...], environ: Mapping[str, str]
) -> str | None:
    """Return the text where the assertion expects what was found; None where that is no literal, or several."""
    sides = _sides(node)
    if sides is None:
        return None
    looked_at = ast.unparse(sides[0])
    values = folder / _VALUES
    values.write_text("")
    noted = f"open({str(values)!r}, 'a').write(repr({looked_at}) + chr(10))"
    (folder / path).write_text(_replaced(text, node, noted))
    _run(folder, paths, environ)
    found = set(values.read_text().splitlines())
    values.unlink()
    (folder / path).write_text(text)
    if len(found) != 1 or not _is_literal(value := found.pop()):
        return None
    made = f"self.assertEqual({looked_at}, {value})" if isinstance(node, ast.Expr) else f"assert {looked_at} == {value}"
    return _replaced(text, node, made)


def _sides(node: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    match node:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            sides = left, right
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="assertEqual"), args=[left, right])):
            sides = left, right
        case _:
            return None
    return sides if not isinstance(sides[0], ast.Constant) else (sides[1], sides[0])


def _replaced(text: str, node: ast.stmt, statement: str) -> str:
    lines = text.splitlines(keepends=True)
    indent = " " * node.col_offset
    return "".join((*lines[: node.lineno - 1], f"{indent}{statement}\n", *lines[node.end_lineno :]))


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True
