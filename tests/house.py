"""The walls of the house, as functions over source text. `test_house.py` holds the project to them."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath

BANNED_NAMES = frozenset({"utils", "helpers", "common", "manager", "service", "base", "impl"})
BROAD = frozenset({"Exception", "BaseException"})
ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb"})
SQL_CALLS = frozenset({"execute", "executemany", "executescript"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _parsed(source: str) -> ast.Module:
    """Every wall looks at every file: each is parsed once."""
    return ast.parse(source)


def function_lengths(source: str) -> dict[str, int]:
    """Lines of each function, decorators not counted, by `name:line`."""
    functions = (node for node in ast.walk(_parsed(source)) if isinstance(node, Function))
    return {f"{node.name}:{node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}


def share_within(lengths: Iterable[int], limit: int) -> float:
    """The share of functions that are no longer than `limit`; 1 when there are none."""
    all_lengths = list(lengths)
    return sum(length <= limit for length in all_lengths) / len(all_lengths) if all_lengths else 1.0


def banned_names(path: str) -> list[str]:
    """Parts of a module's path that name no concept, alone or as a word of the name."""
    words = (word for part in PurePosixPath(path).with_suffix("").parts for word in part.split("_"))
    return [word for word in words if word in BANNED_NAMES]


def module_name(path: str) -> str:
    """`loopwright/kernel/model.py` is `loopwright.kernel.model`; an `__init__.py` is its package."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(source: str) -> Iterator[str]:
    """Every absolute name imported anywhere: at the top, in a function, under TYPE_CHECKING."""
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Which module imports which, among `sources` (path to text). `from a import b` is `a.b` if that is a module."""
    modules = {module_name(path): text for path, text in sources.items()}
    graph: dict[str, set[str]] = {}
    for module, text in modules.items():
        found = {name if name in modules else name.rpartition(".")[0] for name in imported_names(text)}
        graph[module] = (found & modules.keys()) - {module}
    return graph


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """One cycle as the list of its modules, or nothing. Modules that import nothing go first, until none is left."""
    left = {module: set(targets) for module, targets in graph.items()}
    while leaves := {module for module, targets in left.items() if not targets}:
        left = {module: targets - leaves for module, targets in left.items() if module not in leaves}
    if not left:
        return []
    path = [min(left)]
    while (following := min(left[path[-1]])) not in path:
        path.append(following)
    return [*path[path.index(following) :], following]


def outside_stdlib(source: str, allowed: frozenset[str] = frozenset()) -> list[str]:
    """Top-level packages imported that are neither of the standard library nor allowed."""
    tops = {name.partition(".")[0] for name in imported_names(source)}
    return sorted(tops - sys.stdlib_module_names - allowed)


def _names(node: ast.expr | None) -> set[str]:
    """The names an expression mentions: `except (A, b.C)` mentions A, b, C."""
    walked = list(ast.walk(node)) if node else []
    return {n.id for n in walked if isinstance(n, ast.Name)} | {n.attr for n in walked if isinstance(n, ast.Attribute)}


def broad_excepts(source: str) -> list[int]:
    """Lines that catch everything: `except:`, `except Exception`, `suppress(Exception)`."""
    lines = []
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.ExceptHandler) and (node.type is None or _names(node.type) & BROAD):
            lines.append(node.lineno)
        elif isinstance(node, ast.Call) and "suppress" in _names(node.func):
            lines.extend(node.lineno for argument in node.args if _names(argument) & BROAD)
    return sorted(lines)


def environment_reads(source: str) -> list[int]:
    """Lines that reach for the environment of the process."""
    lines = []
    for node in ast.walk(_parsed(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in ENVIRONMENT:
                lines.append(node.lineno)
            case ast.ImportFrom(module="os", names=names) if {alias.name for alias in names} & ENVIRONMENT:
                lines.append(node.lineno)
    return sorted(lines)


def shell_lines(source: str) -> list[int]:
    """Lines that hand a string to a shell."""
    calls = [node for node in ast.walk(_parsed(source)) if isinstance(node, ast.Call)]
    by_keyword = [
        call.lineno
        for call in calls
        for word in call.keywords
        if word.arg == "shell" and not (isinstance(word.value, ast.Constant) and word.value.value is False)
    ]
    by_function = [c.lineno for c in calls if _names(c.func) & {"create_subprocess_shell", "system", "popen"}]
    return sorted(by_keyword + by_function)


def json_writers(source: str) -> list[int]:
    """Lines that turn data into JSON text themselves."""
    calls = (node for node in ast.walk(_parsed(source)) if isinstance(node, ast.Call))
    return sorted(c.lineno for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in ("dump", "dumps"))


def made_up_sql(source: str) -> list[int]:
    """Lines whose SQL is put together from values: an f-string with a value, `%`, `+`, `.format`."""
    return sorted(
        node.lineno
        for node in ast.walk(_parsed(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in SQL_CALLS
        and node.args
        and _is_put_together(node.args[0])
    )


def _is_put_together(sql: ast.expr) -> bool:
    match sql:
        case ast.JoinedStr(values=values):
            return any(isinstance(value, ast.FormattedValue) for value in values)
        case ast.BinOp(op=ast.Add() | ast.Mod()):
            return True
        case ast.Call(func=ast.Attribute(attr="format")):
            return True
        case _:
            return False


def recipes(justfile: str) -> set[str]:
    return set(re.findall(r"^@?([a-z][\w-]*)(?: [^:\n]*)?:(?!=)", justfile, re.MULTILINE))


def run_commands(page: str) -> list[str]:
    """The recipes that a page's `./run …` commands name, in order; `./run --list` and `./run <recipe>` name none."""
    return re.findall(r"(?:^|`)[ \t]*(?:\$ )?\./run ([a-z][\w-]*)", page, re.MULTILINE)


def places_on(page: str) -> list[str]:
    """Files and folders that a map names: those of a row, then what the row says is in its first one."""
    found = []
    for row in re.findall(r"^\| (`.*) \| (.*) \|$", page, re.MULTILINE):
        own, inside = (re.findall(r"`([\w/]+(?:/|\.py))`", cell) for cell in row)
        folder = own[0] if own[0].endswith("/") else ""
        found += own + [name if name.startswith(folder) else folder + name for name in inside]
    return found


def dependency_name(requirement: str) -> str:
    """`Apsw >=3.51` is `apsw`."""
    return re.split(r"[\s\[<>=!~;(@]", requirement.strip(), maxsplit=1)[0].lower().replace("_", "-")


# --- rooms ------------------------------------------------------------------------------------------------------------


def too_long(sources: Mapping[str, str], wall: int, wall_of_tests: int) -> dict[str, int]:
    """Files of more lines than they may have."""
    lengths = {path: len(text.splitlines()) for path, text in sources.items()}
    return {
        path: length
        for path, length in lengths.items()
        if length > (wall_of_tests if path.startswith("tests/") else wall)
    }


def orphans(sources: Mapping[str, str]) -> list[str]:
    """Modules that no other imports; an empty one only makes a folder a package."""
    texts = {module_name(path): text for path, text in sources.items()}
    return sorted(module for module, by in _importers(sources).items() if texts[module] and not by and "." in module)


def _importers(sources: Mapping[str, str]) -> dict[str, list[str]]:
    graph = import_graph(sources)
    return {module: [other for other, imported in graph.items() if module in imported] for module in graph}


def rooms_named(text: str, rooms: frozenset[str]) -> set[str]:
    """The rooms whose names stand in a module: imported, or as a text of their own, or in that of a module or file."""
    texts = [node.value for node in ast.walk(_parsed(text)) if isinstance(node, ast.Constant)]
    words = {word for said in texts if isinstance(said, str) for word in (*said.split("/"), *_parts(said))}
    return (words | {part for name in imported_names(text) for part in _parts(name)}) & rooms


def _parts(name: str) -> list[str]:
    """Of a module of ours: its packages and, next to rooms, itself. Else it may be a function of that name."""
    *packages, last = name.split(".")
    if packages[:1] != ["loopwright"]:
        return []
    return [*packages, last] if packages[1:] in (["loops"], ["app", "starts"], ["cli", "loops"]) else packages


def porches_named(text: str) -> set[str]:
    """The modules imported that start loops of one kind; `door` is that of all."""
    start = "loopwright.app.starts."
    return {
        module
        for name in imported_names(text)
        if name.startswith(start) and (module := name.removeprefix(start).split(".")[0]) != "door"
    }
