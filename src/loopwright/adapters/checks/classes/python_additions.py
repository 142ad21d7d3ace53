"""Whether a Python test file was only added to: every statement of the base is there, and means what it meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_STEERING = re.compile(
    r"""__\w+__ | pytest_\w+ | pytestmark | collect_ignore\w* | load_tests | runTest
      | (?:async)?(?:set_?up|tear_?down)(?:_?(?:module|class|method|function|all|package))? | addCleanup | id
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What a value at the top of a module does to more than itself.
_REACHING = frozenset(
    {"skip", "skip_module", "importorskip", "exit", "_exit", "abort", "setattr", "delattr", "exec", "eval"}
    | {"__import__", "xfail", "kill", "system", "popen", "run", "call", "update", "pop", "popitem", "clear", "append"}
    | {"insert", "extend", "setdefault", "__setattr__", "__setitem__", "__delattr__", "register", "settrace", "start"}
    | {"setprofile", "setitem", "delitem", "globals", "locals", "vars", "seed", "chdir", "putenv", "fail", "reload"}
    | {"import_module", "addModuleCleanup", "simplefilter", "filterwarnings", "install", "monkeypatch", "MonkeyPatch"}
)
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF8 = ("", "utf-8", "utf8", "ascii", "us-ascii")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class _Known:
    """Names that the base's code binds or uses, and the attributes it asks for."""

    names: frozenset[str]
    attributes: frozenset[str]
    modules: frozenset[str]  # bound by plain imports: importing a part of one binds the same


def python_change(before: str, after: str) -> str:
    """What of the base is no longer as it was, in words; empty when it was only added to."""
    if any(_cookie(text) not in _UTF8 for text in (before, after)):
        return "its encoding hides what it says"
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it cannot be parsed"
    return _changed(old.body, new.body, _known(old), inside="")


def _cookie(text: str) -> str:
    found = (_COOKIE.match(line) for line in text.splitlines()[:2])
    return next((match[1].lower() for match in found if match), "")


def _known(tree: ast.Module) -> _Known:
    names: set[str] = set()
    attributes: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                names.add(name)
            case ast.Attribute(attr=name):
                attributes.add(name)
            case ast.Constant(value=str(text)) if text.isidentifier():
                names.add(text)
            case ast.Import(names=aliases):
                modules |= {a.name.split(".")[0] for a in aliases if a.asname is None}
            case _:
                pass
    names |= {name for statement in ast.walk(tree) if isinstance(statement, ast.stmt) for name in _binds(statement)}
    return _Known(frozenset(names), frozenset(attributes), frozenset(modules))


def _binds(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases):
            yield from (alias.asname or alias.name.split(".")[0] for alias in aliases)
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases)
        case ast.Assign() | ast.AnnAssign():
            yield from (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        case _:
            return


def _changed(old: Sequence[ast.stmt], new: Sequence[ast.stmt], known: _Known, *, inside: str) -> str:
    """The base's statements in their order, with nothing between them but what adds."""
    rest = list(new)
    for statement in old:
        place = next((place for place, other in enumerate(rest) if not _differs(statement, other, known)), None)
        if place is None:
            return _what_became(statement, rest, known)
        if problem := _first_problem(rest[:place], known, inside):
            return problem
        del rest[: place + 1]
    return _first_problem(rest, known, inside)


def _first_problem(added: Sequence[ast.stmt], known: _Known, inside: str) -> str:
    return next((problem for each in added if (problem := _problem(each, known, inside))), "")


def _what_became(old: ast.stmt, rest: Sequence[ast.stmt], known: _Known) -> str:
    alike = (other for other in rest if type(other) is type(old) and _called(other) == _called(old))
    found = next(alike, None) if isinstance(old, _DEFINITIONS) else None
    return _differs(old, found, known) if found is not None else f"{_called(old)} is gone or was changed"


def _differs(old: ast.stmt, new: ast.stmt, known: _Known) -> str:
    if type(old) is not type(new) or _called_or_none(old) != _called_or_none(new):
        return f"{_called(old)} was changed"
    if ast.dump(old) == ast.dump(new):
        return ""
    match old, new:
        case ast.ImportFrom(), ast.ImportFrom():
            same = (old.module, old.level) == (new.module, new.level)
            held, now = ({(a.name, a.asname) for a in each.names} for each in (old, new))
            added = {alias or name for name, alias in now - held}
            return "" if same and held <= now and not added & known.names else "an import was changed"
        case ast.ClassDef(), ast.ClassDef() if _head(old) == _head(new):
            return _changed(old.body, new.body, known, inside=old.name)
        case ((ast.FunctionDef() | ast.AsyncFunctionDef()), (ast.FunctionDef() | ast.AsyncFunctionDef())):
            return "" if _has_more_cases(old, new) else f"{_called(old)} was changed"
        case _:
            return f"{_called(old)} was changed"


def _head(node: ast.ClassDef) -> tuple[str, ...]:
    return (node.name, *(ast.dump(each) for each in (*node.bases, *node.keywords, *node.decorator_list)))


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _has_more_cases(old: _Function, new: _Function) -> bool:
    """The same test, given more parameters to run with."""
    if type(old) is not type(new) or len(old.decorator_list) != len(new.decorator_list):
        return False
    plain = [ast.dump(_undecorated(node)) for node in (old, new)]
    return plain[0] == plain[1] and all(map(_is_more, old.decorator_list, new.decorator_list))


def _undecorated(node: _Function) -> ast.AST:
    fields = {name: value for name, value in ast.iter_fields(node) if name != "decorator_list"}
    return type(node)(**fields, decorator_list=[])


def _is_more(old: ast.expr, new: ast.expr) -> bool:
    if ast.dump(old) == ast.dump(new):
        return True
    match old, new:
        case (
            ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, ast.List(elts=held) | ast.Tuple(elts=held)]),
            ast.Call(args=[others, ast.List(elts=now) | ast.Tuple(elts=now)]),
        ):
            same = [ast.dump(node) for node in (old.func, names, *old.keywords)]
            alike = same == [ast.dump(node) for node in (new.func, others, *new.keywords)]
            return alike and _is_among([ast.dump(node) for node in held], [ast.dump(node) for node in now])
        case _:
            return False


def _is_among(held: list[str], now: list[str]) -> bool:
    """Whether all are there, in their order."""
    rest = iter(now)
    return all(each in rest for each in held)


def _called_or_none(statement: ast.stmt) -> str | None:
    return statement.name if isinstance(statement, _DEFINITIONS) else None


def _called(statement: ast.stmt) -> str:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case _:
            return f"line {statement.lineno} of the base"


def _problem(added: ast.stmt, known: _Known, inside: str) -> str:
    """Why a new statement is more than an addition; empty when it is one."""
    bound = _fresh(added, known) if isinstance(added, ast.Import) else frozenset(_binds(added))
    if steers := sorted(name for name in bound if _STEERING.fullmatch(name)):
        return f"{steers[0]} is new and steers tests of the base"
    if taken := sorted(bound & (known.names | (known.attributes if inside else frozenset()))):
        return f"{taken[0]} is bound anew, which the base uses"
    return _side_effect(added, known, inside)


def _side_effect(added: ast.stmt, known: _Known, inside: str) -> str:
    """What it does, besides binding names, while tests are collected."""
    match added:
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import():
            return ""
        case ast.ImportFrom(names=aliases):
            return "everything of a module is imported" if any(alias.name == "*" for alias in aliases) else ""
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _reaching_out(*added.decorator_list, *_defaults(added)) or _rebinds(added, known)
        case ast.ClassDef():
            return _effect_of_class(added, known)
        case ast.Assign() | ast.AnnAssign() if _only_names(added):
            return _reaching_out(added.value)
        case ast.If() | ast.Try():
            inner = (problem for each in _nested(added) if (problem := _problem(each, known, inside)))
            return next(inner, "") or _reaching_out(added.test if isinstance(added, ast.If) else None)
        case _:
            return f"line {added.lineno} is new and runs when the tests are collected"


def _fresh(added: ast.Import, known: _Known) -> frozenset[str]:
    """Names it binds; a part of a module that the base imports too binds nothing new."""
    pairs = ((alias.asname, alias.name.split(".")[0]) for alias in added.names)
    return frozenset(name or top for name, top in pairs if name or top not in known.modules)


def _effect_of_class(added: ast.ClassDef, known: _Known) -> str:
    """A new class may have set-up of its own: it steers nobody else."""
    evaluated: list[ast.expr | None] = [*added.decorator_list, *added.bases, *(word.value for word in added.keywords)]
    for each in added.body:
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if problem := _reaching_out(*each.decorator_list) or _rebinds(each, known):
                    return problem
            case ast.ClassDef():
                if problem := _effect_of_class(each, known):
                    return problem
            case ast.Assign() | ast.AnnAssign() if _only_names(each):
                evaluated.append(each.value)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                return f"line {each.lineno} is new and runs when the tests are collected"
    return _reaching_out(*evaluated)


def _nested(added: ast.If | ast.Try) -> Iterator[ast.stmt]:
    yield from (*added.body, *added.orelse)
    if isinstance(added, ast.Try):
        yield from (*added.finalbody, *(each for handler in added.handlers for each in handler.body))


def _only_names(added: ast.Assign | ast.AnnAssign) -> bool:
    targets = added.targets if isinstance(added, ast.Assign) else [added.target]
    flat = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return all(isinstance(target, ast.Name) for target in flat)


def _defaults(added: _Function) -> list[ast.expr]:
    return [*added.args.defaults, *(each for each in added.args.kw_defaults if each is not None)]


def _reaching_out(*values: ast.expr | None) -> str:
    """Calls, evaluated while tests are collected, that do something to others."""
    for node in (part for value in values if value is not None for part in ast.walk(value)):
        match node:
            # `mark.skip(...)` decorates what is new and nothing else.
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _REACHING and not _is_mark(
                node
            ):
                return f"{name} is called while tests are collected"
            case ast.NamedExpr() | ast.Await() | ast.Yield():
                return "a value with a side effect is new"
            case ast.keyword(arg="autouse", value=value) if not _is_false(value):
                return "a fixture is new that every test uses"
            case _:
                pass
    return ""


def _is_mark(node: ast.Call) -> bool:
    match node.func:
        case ast.Attribute(value=ast.Attribute(attr="mark") | ast.Name(id="unittest" | "mark")):
            return True
        case _:
            return False


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _rebinds(added: _Function, known: _Known) -> str:
    """A new function that writes into names of its module which the base uses."""
    declared = {n for node in ast.walk(added) if isinstance(node, ast.Global) for n in node.names}
    if taken := sorted(declared & known.names):
        return f"{taken[0]} is bound anew by {added.name}"
    return ""
