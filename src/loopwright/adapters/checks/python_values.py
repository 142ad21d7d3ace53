"""Python whose values lie about themselves: equal to everything, or shown as what they are not."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping

from loopwright.adapters.checks.python_tree import Nodes

_Body = ast.FunctionDef | ast.Lambda
# Where a value gets what it says.
_MAKING = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Dict, ast.Call)
# Where nobody who is honest says how a value compares.
_HIDING = (ast.For, ast.withitem, ast.NamedExpr, ast.MatchAs, ast.alias, ast.AsyncFunctionDef, ast.comprehension)
_VALUES = frozenset(
    {"int", "float", "complex", "bool", "str", "bytes", "tuple", "list", "dict", "set", "frozenset"}
    | {"Decimal", "Fraction", "date", "datetime", "timedelta", "UserString", "UserList", "UserDict"}
    | {"Number", "Complex", "Real", "Rational", "Integral"}
)
_MARK = re.compile(r"<[A-Za-z_. ]+>|[A-Z][A-Z_]+")
_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
}
_OPERANDS = 2  # itself, and what it is asked about
_SAME = "is equal to everything"
_COMPARES = {"__eq__": True, "__ne__": False}  # what it always says who lies
_ORDERS = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__contains__", "startswith", "endswith"})
_SAYS_YES = _ORDERS | {"__instancecheck__"}
_DIFFERS = frozenset({"__sub__", "__rsub__"})  # what is asked of what is nearly equal
_CONVERTS = frozenset({"__abs__", "__round__", "__float__", "__int__", "__index__", "__complex__", "__trunc__"})
_SHOWS = frozenset({"__repr__", "__str__", "__format__", "__len__", "__iter__"})
_TESTS_ONLY = frozenset({"isinstance", "issubclass", "type", "hasattr", "callable", "bool"})


def lies_in_python(nodes: Nodes) -> Iterator[str]:
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    if any(_compares_hidden(node) for node in nodes if isinstance(node, _HIDING)):
        yield _SAME
    for node in (each for each in nodes if isinstance(each, _MAKING)):
        found = tuple(_comparing(node, functions))
        given = _is_given(node)
        if any(_lies(name, body, given=given) for name, body in found) or _takes_another(node):
            yield _SAME
        answers = tuple(_answering(node))
        if any(name in _COMPARES and _ignores_itself(body) for name, body in answers):
            yield _SAME
        if any(name in _SHOWS and _ignores_itself(body) and not _is_mark(name, body) for name, body in answers):
            yield "has a value that always shows the same"
        if any(name in _CONVERTS and _ignores_itself(body) for name, body in answers):
            yield "has a value that is always the same number"
        if any(name in _DIFFERS and _ignores_other(body) for name, body in answers):
            yield "has a value that is near to everything"
        if any(name in _SAYS_YES and is_blind(body) for name, body in answers):
            yield "has a value that says yes to everything"


def _comparing(node: ast.AST, functions: Mapping[str, ast.FunctionDef]) -> Iterator[tuple[str, _Body]]:
    """Functions that compare, however they came to be that."""
    pairs: list[tuple[str | None, ast.AST | None]] = []
    match node:
        case ast.FunctionDef(name=name):
            pairs = [(name, node)]
        case ast.Assign(targets=targets, value=value):
            pairs = [pair for target in targets for pair in _set_to(target, value)]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            pairs = list(_set_to(target, value))
        case ast.Dict(keys=keys, values=values):
            named = (key.value if isinstance(key, ast.Constant) else None for key in keys)
            pairs = [(str(name), value) for name, value in zip(named, values, strict=True)]
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), value]):
            pairs = [(name, value)]
        case ast.Call(keywords=keywords):
            pairs = [(each.arg, each.value) for each in keywords]
        case _:
            return
    for called, given in pairs:
        made = given.args[0] if isinstance(given, ast.Call) and given.args else given  # a part of it, or decorated
        found = functions.get(made.id) if isinstance(made, ast.Name) else made
        if called in _COMPARES and isinstance(found, _Body):
            yield called, found


def _set_to(target: ast.expr, value: ast.expr) -> Iterator[tuple[str | None, ast.AST | None]]:
    match target, value:
        case ((ast.Tuple(elts=several) | ast.List(elts=several)), (ast.Tuple(elts=values) | ast.List(elts=values))):
            yield from (pair for each, given in zip(several, values, strict=False) for pair in _set_to(each, given))
        case ((ast.Name(id=name) | ast.Attribute(attr=name)), _):
            yield name, value
        case ast.Subscript(slice=ast.Constant(value=str(name))), _:
            yield name, value
        case _:
            pass


def _compares_hidden(node: ast.AST) -> bool:
    match node:
        case ast.For(target=target) | ast.comprehension(target=target) | ast.NamedExpr(target=target):
            bound = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
        case ast.withitem(optional_vars=ast.expr() as target):
            bound = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
        case ast.MatchAs(name=str(name)) | ast.alias(asname=str(name)) | ast.AsyncFunctionDef(name=name):
            bound = {name}
        case _:
            return False
    return not bound.isdisjoint(_COMPARES)


def _is_given(node: ast.AST) -> bool:
    """Whether a class that stands elsewhere gets it: what that one holds is not seen."""
    match node:
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Call(func=ast.Name(id="setattr")):
            return True
        case _:
            return False


def _lies(name: str, body: _Body, *, given: bool) -> bool:
    return _is_always(name, body) or (is_blind(body) and (given or not _is_of_own_kind(body)))


def _takes_another(node: ast.AST) -> bool:
    """`__eq__ = int.__le__`"""
    match node:
        case ast.Assign(targets=[ast.Name(id="__eq__" | "__ne__" as name)], value=ast.Attribute(attr=taken)):
            return taken in _ORDERS or (taken in _COMPARES and taken != name)
        case _:
            return False


def _answering(node: ast.AST) -> Iterator[tuple[str, _Body]]:
    """What values of their own kind say of themselves and of others: for what else there is, other classes are made."""
    match node:
        case ast.ClassDef(bases=bases, body=body):
            is_value = any(_name_of(base) in _VALUES for base in bases)
            pairs = [pair for each in body for pair in _named_in(each)]
        case ast.Call(func=ast.Name(id="type"), args=[_, ast.Tuple(elts=[ast.Name(id=base), *_]), ast.Dict() as names]):
            is_value = base in _VALUES
            pairs = list(zip(map(_constant, names.keys), names.values, strict=True))
        case _:
            return
    for name, given in pairs:
        if not isinstance(given, _Body):
            continue
        # What has no number to it gives itself, or refuses; nobody else has a difference that is always the same.
        if is_value or name == "__instancecheck__" or (name in _DIFFERS and _ignores_itself(given)):
            yield name, given


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _named_in(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match statement:
        case ast.FunctionDef(name=name):
            yield name, statement
        case ast.Assign(targets=targets, value=value):
            yield from ((name, given) for each in targets for name, given in _set_to(each, value) if name and given)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case _:
            pass


def _constant(node: ast.AST | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _ignores_itself(body: _Body) -> bool:
    """Whether what it gives has nothing to do with what it is."""
    given = (*body.args.posonlyargs, *body.args.args)
    return bool(given) and _answers_without(given[0].arg, body)


def _is_mark(name: str, body: _Body) -> bool:
    """What stands for nothing shows as a word, and no value that somebody expects does."""
    given = (
        [body.body] if isinstance(body, ast.Lambda) else [e.value for e in ast.walk(body) if isinstance(e, ast.Return)]
    )
    words = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return name == "__repr__" and len(words) == len(given) and all(map(_MARK.fullmatch, words))


def _ignores_other(body: _Body) -> bool:
    given = (*body.args.posonlyargs, *body.args.args)
    return len(given) == _OPERANDS and _answers_without(given[1].arg, body)


def _answers_without(name: str, body: _Body) -> bool:
    inner = tuple(ast.walk(body))
    if any(isinstance(each, ast.Raise | ast.Yield | ast.YieldFrom) or _is_refusal(each) for each in inner):
        return False
    used = {each.id for each in inner if isinstance(each, ast.Name)}
    gives = isinstance(body, ast.Lambda) or any(isinstance(each, ast.Return) and each.value for each in inner)
    return gives and used.isdisjoint((name, "super", "locals"))


def is_blind(body: _Body) -> bool:
    """Whether it answers without having looked at what it is asked about, and at itself."""
    given = body.args
    named = [*given.posonlyargs, *given.args, *([given.vararg] if given.vararg else [])]
    if len(named) < _OPERANDS:
        return False
    statements = [body.body] if isinstance(body, ast.Lambda) else body.body
    inner = tuple(each for statement in statements for each in ast.walk(statement))
    if any(isinstance(each, ast.Assert | ast.Raise) or _is_refusal(each) for each in inner):
        return False
    results = [body.body] if isinstance(body, ast.Lambda) else [e.value for e in inner if isinstance(e, ast.Return)]
    if not results or all(isinstance(each, ast.Constant) and not each.value for each in results):
        return False
    aside = {id(name) for each in inner for name in _only_tested(each)}
    used = {each.id for each in inner if isinstance(each, ast.Name) and id(each) not in aside}
    return named[1].arg not in used and "super" not in used and "locals" not in used


def _is_refusal(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("NotImplemented", "NotImplementedError")


def _only_tested(node: ast.AST) -> Iterator[ast.AST]:
    """What takes part only by its kind, or by being there at all."""
    match node:
        case ast.Call(func=ast.Name(id=called), args=args) if called in _TESTS_ONLY:
            yield from (inner for each in args for inner in ast.walk(each))
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
            yield left
        case _:
            pass


def _is_of_own_kind(body: _Body) -> bool:
    """What has no content is equal to its like: its own class, by whatever name, and none of another library."""
    results = (
        [body.body] if isinstance(body, ast.Lambda) else [e.value for e in ast.walk(body) if isinstance(e, ast.Return)]
    )
    return all(_is_kind_of(each) for each in results)


def _is_kind_of(result: ast.AST | None) -> bool:
    match result:
        case ast.Constant(value=False):
            return True
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id=kind)]):
            return not hasattr(builtins, kind)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Call(func=ast.Name(id="type"))]):
            return True
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Attribute(attr="__class__")]):
            return True
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return _is_class_of(left) and (_is_class_of(right) or isinstance(right, ast.Name))
        case _:
            return False


def _is_class_of(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def _is_always(name: str, body: _Body) -> bool:
    says = _COMPARES[name]
    if isinstance(body, ast.Lambda):
        return _is_so(body.body, says=says)
    inner = tuple(each for statement in body.body for each in ast.walk(statement))
    ends = (end for each in inner if isinstance(each, ast.Try) for end in each.finalbody)
    if any(isinstance(end, ast.Return) and _is_so(end.value, says=says) for end in ends):
        return True
    results = [each.value for each in inner if isinstance(each, ast.Return)]
    is_strict = any(isinstance(each, ast.Assert | ast.Raise) for each in inner)
    return bool(results) and not is_strict and all(_is_so(each, says=says) for each in results)


def _is_so(result: ast.AST | None, *, says: bool) -> bool:
    """Whether the result is always this, whatever is compared."""
    match result:
        case ast.Constant(value=value):
            return bool(value) is says
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_so(operand, says=not says)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.Or) is says:
            return any(_is_so(each, says=says) for each in values) or _cover_all(values)
        case ast.IfExp(body=one, orelse=other):
            return _is_so(one, says=says) and _is_so(other, says=says)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            several = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
            return says and all(isinstance(kind, ast.Name) and hasattr(builtins, kind.id) for kind in several)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return says and ast.dump(left) == ast.dump(right)
        case _:
            return False


def _cover_all(values: list[ast.expr]) -> bool:
    """`a == b or a != b`"""
    asked = [each for each in values if isinstance(each, ast.Compare) and len(each.ops) == 1]
    pairs = [(type(each.ops[0]), ast.dump(each.left), ast.dump(each.comparators[0])) for each in asked]
    return any((_OPPOSITE.get(how), left, right) in pairs for how, left, right in pairs)
