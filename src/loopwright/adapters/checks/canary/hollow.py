"""Functions and names of Python that a change touched, and texts in which they are stubs. Pure, through `ast`.

A stub that raises raises `BaseException`: no `except Exception` of product or tests hides it, and pytest (with xdist,
asyncio, hypothesis) and unittest count it as a failure of the test and go on. Raised while a `conftest` is imported or
in unittest's `setUpClass` it ends the run without a report, which is noticed as well.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import symtable
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from loopwright.adapters.checks.canary.breaking import ON_PURPOSE

StubForm = Literal["raise", "none", "object"]  # what a stubbed function does: raise, or return a wrong value

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# What no text of a candidate may raise here.
_UNUSUAL = (SyntaxError, ValueError, LookupError, RecursionError, MemoryError)
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")  # a line as the compiler counts; `splitlines` knows more ends
_FOR_CHECKERS = ("annotation", "returns", "type_comment", "type_params", "ctx", "kind")
_WRONG = ('type("", (), {"__bool__": None})()', "lambda *_, **__: object()")
# What the interpreter takes from these is of one type; anything else is noticed by whoever makes an instance.
_OF_ONE_TYPE = {
    **dict.fromkeys(("__init__", "__init_subclass__", "__set_name__", "__del__", "__setattr__", "__delattr__"), "None"),
    **dict.fromkeys(("__repr__", "__str__", "__format__"), "''"),
    **dict.fromkeys(("__len__", "__length_hint__", "__hash__", "__index__", "__int__"), "0"),
    "__bool__": "False",
    "__iter__": "iter(())",
}
# An object for each function and its plain arguments, the same in every call: `f(1) == f(1)` says nothing of `f`,
# `f("a") == f("A")` does. Through the builtins alone, whose names an argument may have.
_OBJECT = (
    '__import__("sys").__dict__.setdefault("_loopwright_stubs", {{}}).setdefault(({name!r}, __import__("json").dumps('
    '__import__("builtins").locals(), skipkeys=True, default=lambda each: each.hex() if each.__class__ is b"".__class__'
    ' else each.__class__.__name__)), __import__("builtins").object())'
)
_NEVER_RUN = ("overload", "abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    name: str  # with those around it: `Table.search`, `cached.inner`
    node: _Function
    shape: str  # all it does, without what only people and type checkers read


def touched(before: bytes, after: bytes) -> tuple[str, ...]:
    """The functions of `after` that do not stand in `before` as they are, in the order of the file.

    Where only a function inside a function differs, it is the inner one.
    """
    old = {(each.name, each.shape) for each in _functions(before)}
    names = tuple(dict.fromkeys(each.name for each in _functions(after) if (each.name, each.shape) not in old))
    return tuple(name for name in names if not name.startswith(tuple(f"{outer}." for outer in names)))


def same_code(before: bytes, after: bytes) -> bool:
    """Whether only comments, docstrings and layout differ."""
    if touched(before, after):
        return False
    trees = [tree for tree in (parse(before), parse(after)) if tree is not None]
    try:
        return len(trees) > 1 and len({ast.dump(_Undocumented().visit(tree)) for tree in trees}) == 1
    except RecursionError:
        return False


def same_values(before: bytes, after: bytes) -> bool:
    """Whether only annotations differ besides: nothing that a test could notice."""
    if touched(before, after):
        return False
    trees = [tree for tree in (parse(before), parse(after)) if tree is not None]
    try:
        functions = [[(each.name, each.shape) for each in _within(tree, "")] for tree in trees]
        rest = [[_dumped(each) for each in _statements(text)] for text in (before, after)]
    except RecursionError:
        return False
    return len(trees) > 1 and functions[0] == functions[1] and rest[0] == rest[1]


def only_removes(before: bytes, after: bytes) -> bool:
    """Whether `after` has nothing but functions, classes and statements of `before`, in the same order."""
    old, new = (None, None) if touched(before, after) else (parse(before), parse(after))
    if old is None or new is None:
        return False
    try:
        left = iter([*_pieces(old, "")])
        return all(each in left for each in _pieces(new, ""))
    except RecursionError:
        return False


def _pieces(node: ast.Module | ast.ClassDef, around: str) -> Iterator[str]:
    """Yield what can be taken away by itself: imports name by name, classes piece by piece, functions as a whole."""
    for each in behind_docstring(node):
        match each:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (f"{around} {_dumped(type(each)(**{**vars(each), 'names': [name]}))}" for name in names)
            case ast.ClassDef(name=name):
                yield f"{around} {_dumped([name, each.bases, each.keywords, each.decorator_list])}"
                yield from _pieces(each, f"{around}.{name}")
            case ast.Pass() | ast.Assign(targets=[ast.Name(id="__all__")]):
                pass  # what is left of a class, and of the list of names
            case _:
                yield f"{around} {ast.dump(_Undocumented().visit(each))}"


def misled(before: bytes, after: bytes) -> tuple[bytes | None, bytes | None]:
    """Return two texts in which the names that module-level code of `after` binds anew stand for something wrong.

    In the first one whoever asks whether they are true fails; None where something that differs binds no name. In the
    second one nobody fails who only calls them; None where there are no such names.
    """
    try:
        old = {_dumped(each) for each in _statements(before)}
        bound = [_bound(each) for each in _statements(after) if _dumped(each) not in old]
    except _UNUSUAL:
        bound = []
    names = sorted(frozenset[str]().union(*bound) - {"__all__"})
    made = [b"\n".join((after, *(f"{name} = {value}".encode() for name in names), b"")) for value in _WRONG]
    return made[0] if names and all(bound) else None, made[1] if names else None


def _bound(statement: ast.stmt) -> frozenset[str]:
    symbols = symtable.symtable(ast.unparse(statement), "", "exec").get_symbols()
    return frozenset(each.get_name() for each in symbols if each.is_assigned() or each.is_imported())


def digest(texts: Mapping[str, bytes], name: str) -> str:
    """Return a digest of a function as `src/a.py: name`, docstrings and layout apart, or of a whole file."""
    path, _, function = name.partition(": ")
    shapes = "\0".join(sorted({each.shape for each in _functions(texts.get(path, b"")) if each.name == function}))
    return hashlib.sha256(shapes.encode(errors="replace") or texts.get(path, b"")).hexdigest()[:24]


def names_in(text: bytes) -> frozenset[str]:
    return frozenset(each.name for each in _functions(text))


@lru_cache(maxsize=256)  # what is asked of the judging tree is mostly asked of the landing one
def hollowed(text: bytes, names: frozenset[str], label: str, form: StubForm = "raise") -> bytes | None:
    """The text, where the functions of these names are stubs; None where there is none, or none can be replaced."""
    outer = _outermost([each for each in _functions(text) if each.name in names])
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text).readline)
        lines = _LINES.findall(text.decode(encoding))
        for each in reversed(outer):
            lines = _replaced(lines, each, label, form)
        made = "".join(lines).encode(encoding)
    except _UNUSUAL:
        return None
    if form != "raise":  # one of the forms shows that there is room for a statement
        return made if hollowed(text, names, label) is not None else None
    return made if outer and parse(made) is not None else None


def _replaced(lines: list[str], each: _Named, label: str, form: StubForm) -> list[str]:
    """A statement in front of the first after the docstring: what follows never runs.

    It stays all the same, so that the function is of the same kind and has the same free variables.
    """
    line, column = _start(lines, (behind_docstring(each.node) or each.node.body)[0])
    begin, rest = lines[line][:column], lines[line][column:]
    stub = _stub(form, each, f"{ON_PURPOSE}: {label}: {each.name}")
    between = f"\n{begin}" if not begin.strip() else "; "
    return [*lines[:line], f"{begin}{stub}{between}{rest}", *lines[line + 1 :]]


def _stub(form: StubForm, function: _Named, words: str) -> str:
    """A generator ends without a value."""
    if form == "raise":
        return f"raise BaseException({words!r})"
    if _is_generator(function.node):
        return "return"
    value = "None" if form == "none" else _OBJECT.format(name=function.name)
    return f"return {_OF_ONE_TYPE.get(function.node.name, value)}"


def _start(lines: list[str], statement: ast.stmt) -> tuple[int, int]:
    """Line and column; of a decorated function it is its first `@`, which stands in the column of the `def`."""
    line, column = statement.lineno, statement.col_offset
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and statement.decorator_list:
        line = statement.decorator_list[0].lineno
    return line - 1, _column(lines[line - 1], column)


def _column(line: str, column: int) -> int:
    """The parser counts bytes of UTF-8."""
    return len(line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))


def parse(text: str | bytes) -> ast.Module | None:
    """Return the parsed text; None for what is no Python, or none that could be read here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler thinks of the person's escapes is no business of ours
            return ast.parse(text)
    except _UNUSUAL:
        return None


@lru_cache(maxsize=16)  # a plan asks for the texts of its files, before and after, again and again
def _functions(text: bytes) -> tuple[_Named, ...]:
    """Return the functions that may run, also those that do nothing yet."""
    tree = parse(text)
    try:
        return tuple(each for each in _within(tree, "") if not _never_runs(each.node)) if tree else ()
    except RecursionError:
        return ()


def _statements(text: bytes) -> Iterator[ast.stmt]:
    """Yield the module-level statements but functions and texts; imports name by name."""
    for each in _Undocumented().visit(parse(text) or ast.Module(body=[], type_ignores=[])).body:
        match each:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (type(each)(**{**vars(each), "names": [name]}) for name in names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                yield each


def _within(node: ast.AST, around: str) -> Iterator[_Named]:
    """Yield the functions, those inside a function after it."""
    if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
        children: Iterator[ast.AST] = iter(node.orelse)
    elif isinstance(node, ast.ClassDef) and any(_name(base) == "Protocol" for base in node.bases):
        children = (child for child in node.body if not (isinstance(child, _Function) and _does_nothing(child)))
    else:
        children = ast.iter_child_nodes(node)
    for child in children:
        inner = around
        if isinstance(child, _Function | ast.ClassDef):
            inner = f"{around}.{child.name}" if around else child.name
        if isinstance(child, _Function):
            yield _Named(name=inner, node=child, shape=_shape(child))
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _within(child, inner)


def _does_nothing(function: _Function) -> bool:
    return all(ast.unparse(each) in ("pass", "...") for each in behind_docstring(function))


def _never_runs(function: _Function) -> bool:
    return any(_name(decorator) in _NEVER_RUN for decorator in function.decorator_list)


def _name(node: ast.expr) -> str:
    """The last name of `abc.abstractmethod`, `Protocol[T]`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return _name(inner)
        case _:
            return ""


def behind_docstring(what: _Function | ast.ClassDef | ast.Module) -> list[ast.stmt]:
    return what.body[1:] if ast.get_docstring(what, clean=False) is not None else what.body


def _shape(function: _Function) -> str:
    """What it does, with inner functions as their names alone: they have shapes of their own."""
    body = (each for each in behind_docstring(function) if not isinstance(each, ast.Pass))
    parts = (*_signature(function.args), *function.decorator_list, *body)
    return "\n".join((type(function).__name__, *(_dumped(each) for each in parts)))


def _signature(arguments: ast.arguments) -> Iterator[ast.AST]:
    """Names, kinds and defaults."""
    for each in (*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg):
        yield ast.Name(id=each.arg if each else "*")
    yield from (*arguments.defaults, *(each for each in arguments.kw_defaults if each))


def _dumped(value: object) -> str:
    """As `ast.dump`, without annotations and the bodies of functions that may run."""
    if isinstance(value, list):
        return f"[{', '.join(_dumped(each) for each in value)}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    if isinstance(value, _Function) and not _never_runs(value):
        return f"def {value.name}"
    fields = (getattr(value, field, None) for field in value._fields if field not in _FOR_CHECKERS)
    return f"{type(value).__name__}({', '.join(_dumped(each) for each in fields)})"


class _Undocumented(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, _Function | ast.ClassDef | ast.Module) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return super().generic_visit(node)


def _is_generator(function: _Function) -> bool:
    ahead: list[ast.AST] = list(function.body)
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            ahead.extend(ast.iter_child_nodes(node))
    return False


def _outermost(found: list[_Named]) -> list[_Named]:
    """In the order of the file, where an inner function comes behind the one that holds it."""
    kept: list[_Named] = []
    for each in found:
        if not kept or each.node.lineno > (kept[-1].node.end_lineno or 0):
            kept.append(each)
    return kept


def names_at(text: bytes, lines: frozenset[int]) -> frozenset[str]:
    """Return the names of the functions that begin on these lines, decorators included."""
    return frozenset(each.name for each in _functions(text) if _first_line(each.node) in lines)


def _first_line(node: _Function) -> int:
    return min(each.lineno for each in (node, *node.decorator_list))
