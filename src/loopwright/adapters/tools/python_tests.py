"""What reading Python tests shows for certain: that one checks nothing, or is skipped without a word why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from loopwright.adapters.tools.artifacts import is_test, line_of, text_of
from loopwright.adapters.tools.opinions import ToolOpinion
from loopwright.adapters.tools.severities import HIGH, MEDIUM
from loopwright.kernel.model import Finding, Severity

_CHECKING = ("assert", "check", "expect", "verify", "should", "fail", "raises", "warns")
_Test = ast.FunctionDef | ast.AsyncFunctionDef


def read_tests(folder: Path, files: tuple[str, ...]) -> ToolOpinion:
    tests = tuple(file for file in files if is_test(file))
    found = tuple(finding for file in tests for finding in _of_file(folder, file))
    return ToolOpinion(tool="test reading", files=tests, findings=found)


def _of_file(folder: Path, file: str) -> Iterator[Finding]:
    try:
        tree = ast.parse(text_of(folder, file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # ruff says what is wrong with it
    checking = {each.name for each in ast.walk(tree) if isinstance(each, _Test) and _checks(each, frozenset())}
    for test in _tests(tree):
        helpers = checking - {test.name}
        if not _checks(test, frozenset(helpers)) and not _abstract(test):
            yield _finding(folder, file, test, "test-without-assertion")
        if _skipped_unexplained(test):
            yield _finding(folder, file, test, "skip-without-reason")


_WORDS: dict[str, tuple[Severity, str, str]] = {
    "test-without-assertion": (
        HIGH,
        "`{0}` checks nothing: it has no assertion",
        "Assert what `{0}` is there to show, or expect the error it should raise.",
    ),
    "skip-without-reason": (
        MEDIUM,
        "`{0}` is skipped without a reason",
        "Give the reason for which `{0}` is skipped, or let it run.",
    ),
}


def _finding(folder: Path, file: str, test: _Test, rule: str) -> Finding:
    severity, issue, guidance = _WORDS[rule]
    return Finding(
        severity=severity,
        category="test",
        rule=rule,
        file=file,
        line=test.lineno,
        issue=issue.format(test.name),
        evidence=line_of(folder, file, test.lineno) or f"def {test.name}",
        guidance=guidance.format(test.name),
    )


def _tests(tree: ast.Module) -> Iterator[_Test]:
    """Test functions of the module and of its classes, however deep; functions inside functions are none."""
    ahead: list[ast.stmt] = list(tree.body)
    while ahead:
        node = ahead.pop(0)
        if isinstance(node, ast.ClassDef):
            ahead = [*node.body, *ahead]
        elif isinstance(node, _Test) and node.name.startswith("test"):
            yield node


def _checks(test: _Test, helpers: frozenset[str]) -> bool:
    """An assertion, or a call that may well be one: by its name, of a helper that asserts, or of a fixture."""
    fixtures = {each.arg for each in (*test.args.args, *test.args.kwonlyargs)} - {"self", "cls"}
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            if name.lstrip("_").lower().startswith(_CHECKING) or name in helpers:
                return True
            if isinstance(node.func, ast.Name) and name in fixtures:
                return True
    return False


def _abstract(test: _Test) -> bool:
    """A test that raises by itself says something: not written yet, or left to a subclass."""
    return any(isinstance(node, ast.Raise) for node in ast.walk(test))


def _last_name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _skipped_unexplained(test: _Test) -> bool:
    decorators = [each for each in test.decorator_list if _is_skip(each)]
    if any(not _has_reason(each) for each in decorators):
        return True
    calls = (node for node in ast.walk(test) if isinstance(node, ast.Call) and node not in decorators)
    return any(_last_name(call.func) in ("skip", "skipTest") and not _has_reason(call) for call in calls)


def _is_skip(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return _last_name(function) in ("skip", "skipif", "skipIf", "skipUnless")


def _has_reason(skip: ast.expr) -> bool:
    if not isinstance(skip, ast.Call):
        return False
    conditional = _last_name(skip.func) in ("skipif", "skipIf", "skipUnless")
    words = [
        *skip.args[1 if conditional else 0 :],
        *(key.value for key in skip.keywords if key.arg in ("reason", "msg")),
    ]
    return any(not (isinstance(word, ast.Constant) and not word.value) for word in words)
