"""Python that reaches into what tests it: what its syntax tree gives away."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Mapping

from loopwright.adapters.checks.reaching_signs import (
    ASKS_WHERE_IT_LIES,
    PLACE_OF_CHECKS,
    SAYS_WHAT_RUNNERS_SAY,
    SET_FOR_TESTS,
    is_said_by_runners,
)

_RUNNERS = frozenset({"unittest", "pytest", "_pytest", "nose", "nose2", "twisted.trial", "testtools", "pluggy"})
_VARIABLE = re.compile(r"PYTEST_\w*|TOX_ENV_\w+|NOSE_\w+")
_RUNNER_WORD = re.compile(r"(?<![\w-])(?:_?pytest|py\.test|unittest|nose2?)(?![\w-])")
_TEST_WORD = re.compile(r"(?:^|[^A-Za-z])[Tt]ests?(?:[^A-Za-z]|$)")
_TEST_MODULE = re.compile(r"(?:^|\.)(?:tests?(?:[._]|$)|conftest|_?pytest|unittest)")
_STARTED_BY = ("modules", "argv", "orig_argv", "import_module", "__import__", "find_spec")
_CALLERS = frozenset(
    {"stack", "currentframe", "getouterframes", "_getframe", "_current_frames", "extract_stack", "walk_stack"}
    | {"get_objects", "get_referrers", "settrace", "setprofile", "f_back"}
)
_PROCESS = re.compile(r"/proc/(?:self|\d+|\{[^}]*\}|%[sd])/(?:cmdline|environ|fd|maps|mem)")
_ARGUMENT_OF_RUNNER = re.compile(r"--junit-?xml")
_STREAMS = frozenset(f"sys.{name}" for name in ("stdin", "stdout", "stderr"))
_OWN_STREAMS = frozenset(f"sys.__{name}__" for name in ("stdin", "stdout", "stderr"))
_FINDERS = ("sys.meta_path", "sys.path_hooks")
# Their documentation tells to assign to them, or programs commonly do for what no test compares with.
_MADE_TO_BE_SET = frozenset(
    {"builtins", "ctypes", "locale", "logging", "readline", "signal", "socket", "ssl", "sys", "tempfile"}
)
_HOOKS = frozenset({"os.environ", "warnings.showwarning", "warnings.formatwarning", "threading.excepthook"})
_LONGEST_WORD = 200  # characters; longer strings are texts
_LONGEST_TEXT = 20_000

Nodes = tuple[ast.AST, ...]
Origins = Mapping[int, str]  # by the identity of a name's node, what was imported: `math` for `m`, `sys.modules` too
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def asks(what: str) -> str:
    return f"asks whether it is tested ({what})"


def reached_in_python(path: str, text: str) -> Iterator[str]:
    try:
        tree = _parsed(text)
    except (RecursionError, MemoryError):
        yield "is nested too deeply to be looked into"
        return
    if tree is None:
        yield from _told_by_lines(text)
        return
    nodes = tuple(ast.walk(tree))
    origins = _origins(nodes)
    yield from _told_by_names(nodes)
    for statement in (node for node in nodes if isinstance(node, ast.stmt)):
        yield from _asked_in_one(tuple(_own_nodes(statement)), origins)
    own, backported = frozenset(re.split(r"[/.]", path)), frozenset(_backported(nodes))
    for node in nodes:
        yield from _reading(node, origins)
        yield from _standing_in(node, origins, own)
        yield from _finding_modules(node, origins)
        yield from _equal_to_all(node)
        if id(node) not in backported:
            yield from _patching(node, origins)


def _parsed(text: str) -> ast.Module | None:
    """As bytes first, so that the encoding the file declares, and a mark of byte order, mean what they mean to Python.

    Bytes that are no UTF-8 came here as replacement characters, which stand in no name.
    """
    for source in (text.encode("utf-8", "replace"), text.removeprefix("\ufeff").replace("\ufffd", "_")):
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            continue
    return None


def _told_by_lines(text: str) -> Iterator[str]:
    """For what runs nowhere, or under a later Python than this."""
    if found := re.search(r"""['"](PYTEST_\w*|PYTHONPYCACHEPREFIX)['"]""", text):
        yield asks(found[1])
    if found := re.search(r"^[ \t]*(?:import|from)[ \t]+(unittest|_?pytest)\b", text, re.MULTILINE):
        yield f"imports the runner of tests {found[1]}"
    if re.search(r"""['"](?:tests?[._]\w+|conftest|_?pytest|unittest)['"][^\n]*\b(?:sys\.modules|argv)\b""", text):
        yield asks("by the modules that are loaded")


def _told_by_names(nodes: Nodes) -> Iterator[str]:
    names, words = frozenset(_names(nodes)), tuple(_words(nodes))
    yield from (f"imports the runner of tests {module}" for module in _runners(nodes))
    for word in words:
        if found := _VARIABLE.search(word):
            yield asks(found[0])
        if PLACE_OF_CHECKS.search(word):
            yield ASKS_WHERE_IT_LIES
        if found := _PROCESS.search(word):
            yield f"reads how its process was started ({found[0]})"
    if not names.isdisjoint(_STARTED_BY) and any(_RUNNER_WORD.search(word) for word in words):
        yield asks("by the name of a runner")
    if not names.isdisjoint(_CALLERS) and any(_TEST_WORD.search(word) for word in words):
        yield asks("by its callers")
    if any(is_said_by_runners(word) for word in _words(nodes, longest=_LONGEST_TEXT)):
        yield SAYS_WHAT_RUNNERS_SAY
    if "_exit" in names and not names & {"fork", "forkpty"}:
        yield "ends the process at once (os._exit)"
    if "atexit" in names and any(name.startswith(("execv", "execl")) for name in names):
        yield "puts another program in its place when it ends"


def _names(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case _:
                pass


def _words(nodes: Nodes, longest: int = _LONGEST_WORD) -> Iterator[str]:
    """Strings that are no documentation."""
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in told and isinstance(node.value, str | bytes):
            word = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if len(word) <= longest:
                yield word


def _runners(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        for module in modules:
            if module.split(".")[0] in _RUNNERS or module in _RUNNERS:
                yield module.split(".")[0]


def _imported_names(nodes: Nodes) -> Iterator[tuple[str, str]]:
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    first = alias.name.split(".")[0]
                    yield (alias.asname, alias.name) if alias.asname else (first, first)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((alias.asname or alias.name, f"{module}.{alias.name}") for alias in names)
            case _:
                pass


def _origins(nodes: Nodes) -> Origins:
    imported = dict(_imported_names(nodes))
    shadowed = {id(name) for node in nodes if isinstance(node, Function) for name in _shadowed(node, imported)}
    names = (node for node in nodes if isinstance(node, ast.Name) and node.id in imported)
    return {id(node): imported[node.id] for node in names if id(node) not in shadowed}


def _shadowed(function: Function, imported: Mapping[str, str]) -> Iterator[ast.Name]:
    """Names inside it that are its own, although something of that name is imported."""
    arguments = function.args
    several = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    inner = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in imported]
    own = {each.arg for each in several if each} | {node.id for node in inner if not isinstance(node.ctx, ast.Load)}
    return (node for node in inner if node.id in own)


def _dotted(node: ast.AST, origins: Origins) -> str:
    """The whole name of what was imported; empty for all else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    origin = origins.get(id(node), "")
    return origin and ".".join((origin, *reversed(names)))


# Questions


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Without the statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))


def _asked_in_one(nodes: Nodes, origins: Origins) -> Iterator[str]:
    held = {_dotted(node, origins) for node in nodes}
    words = tuple(_words(nodes)) if held else ()
    if "sys.modules" in held and any(_TEST_MODULE.search(word) for word in words):
        yield asks("by the modules that are loaded")
    if held & {"sys.argv", "sys.orig_argv"} and any(_ARGUMENT_OF_RUNNER.match(word) for word in words):
        yield asks("by what its runner was started with")


def _reading(node: ast.AST, origins: Origins) -> Iterator[str]:
    match node:
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()], comparators=[where]):
            source = _dotted(where, origins)
        case ast.Subscript(value=where, slice=ast.Constant(value=str(name)), ctx=ast.Load()):
            source = _dotted(where, origins)
        case ast.Call(func=called, args=[ast.Constant(value=str(name)), *_]):
            source = _dotted(called, origins)
        case ast.Compare(left=left, comparators=[right]):
            sides = {_dotted(left, origins), _dotted(right, origins)}
            if sides & _STREAMS and sides & _OWN_STREAMS:
                yield asks("by whether its output is caught")
            return
        case _:
            return
    if name in SET_FOR_TESTS and source in {"os.environ", "os.environ.get", "os.environ.pop", "os.getenv"}:
        yield asks(name)


# What is changed for everybody


def _standing_in(node: ast.AST, origins: Origins, own: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Subscript(value=where, slice=slice_, ctx=ast.Store()):
            keys: list[ast.expr | None] = [slice_]
        case ast.Call(func=ast.Attribute(value=where, attr="setdefault" | "__setitem__"), args=[key, *_]):
            keys = [key]
        case ast.Call(func=ast.Attribute(value=where, attr="update"), args=args, keywords=keywords):
            keys = [key for each in args if isinstance(each, ast.Dict) for key in each.keys]
            keys += [ast.Constant(each.arg) for each in keywords]
        case _:
            return
    is_known = _dotted(where, origins) == "sys.modules"
    if is_known or (isinstance(where, ast.Attribute) and where.attr == "modules"):
        names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        yield from (f"stands in for the module {name}" for name in names if _is_of_others(name, own, known=is_known))


def _is_of_others(module: str, own: frozenset[str], *, known: bool) -> bool:
    """A module of the product may stand in for itself; what it is named after stands in its path."""
    if _TEST_WORD.search(module.replace("_", " ")) or module == "conftest":
        return True
    first = module.partition(".")[0]
    if not known or first in own or first.startswith("__"):
        return False
    return "." not in module or first in sys.stdlib_module_names


def _finding_modules(node: ast.AST, origins: Origins) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(value=where, attr="insert" | "append" | "extend")):
            finders = _dotted(where, origins)
        case ast.Attribute(ctx=ast.Store()):
            finders = _dotted(node, origins)
        case ast.Subscript(value=where, ctx=ast.Store()):
            finders = _dotted(where, origins)
        case _:
            return
    if finders in _FINDERS:
        yield f"changes how everybody imports ({finders})"


def _backported(nodes: Nodes) -> Iterator[int]:
    """What stands under `if not hasattr(module, "name")` gives, and replaces nothing."""
    for node in nodes:
        match node:
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="hasattr")))):
                yield from (id(inner) for statement in node.body for inner in ast.walk(statement))
            case _:
                pass


def _patching(node: ast.AST, origins: Origins) -> Iterator[str]:
    match node:
        case ast.Attribute(value=ast.Name(id="builtins" | "__builtins__"), attr=name, ctx=ast.Store() | ast.Del()):
            if hasattr(builtins, name):
                yield f"replaces {name} for everybody"
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="builtins" | "__builtins__"), *_]):
            yield "replaces what is built in for everybody"
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            yield from _replaced(_dotted(owner, origins), name)
        case ast.Assign(targets=targets, value=value) if not isinstance(value, ast.Constant):
            yield from (mark for target in targets for mark in _targets(target, origins))
        case ast.Delete(targets=targets):
            yield from (mark for target in targets for mark in _targets(target, origins))
        case ast.AnnAssign(target=target) | ast.For(target=target):
            yield from _targets(target, origins)
        case _:
            pass


def _targets(target: ast.AST, origins: Origins) -> Iterator[str]:
    match target:
        case ast.Attribute(value=owner, attr=name):
            yield from _replaced(_dotted(owner, origins), name)
        case ast.Subscript(
            value=ast.Attribute(value=owner, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[owner]),
            slice=ast.Constant(value=str(name)),
        ):
            yield from _replaced(_dotted(owner, origins), name)
        case ast.Tuple(elts=several) | ast.List(elts=several):
            yield from (mark for each in several for mark in _targets(each, origins))
        case _:
            pass


def _replaced(owner: str, name: str) -> Iterator[str]:
    first, whole = owner.partition(".")[0], f"{owner}.{name}"
    if first not in sys.stdlib_module_names or first in _MADE_TO_BE_SET or whole in _HOOKS:
        return
    if name.isupper() or name.startswith("_") or not owner.islower():
        return  # a setting, or a class's own
    loaded = sys.modules.get(owner)
    if loaded is None or hasattr(loaded, name):
        yield f"replaces {whole} for everybody"


# Equality


def _equal_to_all(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name="__eq__", body=body):
            inner = tuple(each for statement in body for each in ast.walk(statement))
            results = [each.value for each in inner if isinstance(each, ast.Return)]
            is_strict = any(isinstance(each, ast.Assert | ast.Raise) for each in inner)
            if results and not is_strict and all(map(_is_always_so, results)):
                yield "is equal to everything"
        case ast.Assign(targets=[ast.Name(id="__eq__") | ast.Attribute(attr="__eq__")], value=ast.Lambda(body=result)):
            if _is_always_so(result):
                yield "is equal to everything"
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "__eq__" and isinstance(value, ast.Lambda):
                    yield from ["is equal to everything"] if _is_always_so(value.body) else []
        case _:
            pass


def _is_always_so(result: ast.AST | None) -> bool:
    match result:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            several = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
            return all(isinstance(kind, ast.Name) and hasattr(builtins, kind.id) for kind in several)
        case _:
            return False
