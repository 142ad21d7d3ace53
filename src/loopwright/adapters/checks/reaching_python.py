"""Python that reaches into what tests it: what its syntax tree gives away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loopwright.adapters.checks.python_patches import Own, patched_in_python, root_of
from loopwright.adapters.checks.python_places import looked_into
from loopwright.adapters.checks.python_tree import (
    COMMAND_OF_DJANGO,
    NamesGiven,
    Nodes,
    PythonTree,
    imports_of,
    is_hidden_by_encoding,
    names_of,
    own_nodes,
    parsed,
    takes_runner_of_django,
    words_of,
)
from loopwright.adapters.checks.python_values import lies_in_python
from loopwright.adapters.checks.reaching_signs import (
    ASKS_WHERE_IT_LIES,
    PLACE_OF_CHECKS,
    SAYS_WHAT_RUNNERS_SAY,
    SET_FOR_TESTS,
    is_said_by_runners,
)

_RUNNERS = frozenset(
    {"unittest", "pytest", "_pytest", "nose", "nose2", "twisted.trial", "testtools", "pluggy", "hypothesis"}
)
_NAMES_RUNNER = "TEST_RUNNER"  # a setting of Django
_LOADS_TESTS = "load_tests"  # what unittest calls
_VARIABLE = re.compile(
    r"PYTEST_\w*|^PYTEST$|TOX_ENV_\w+|NOSE_\w+|^_pytest\b"
    r"|^(?:DontReadFromInput|LogCaptureHandler|WarningsRecorder|EncodedFile|CaptureIO|AssertionRewritingHook)$"
    r"|^@py(?:_builtins|test_ar)$|^pytest_(?:current_test|version)$"
)
_CATCHES = re.compile(r"capture|caplog|pytest", re.IGNORECASE)
_RUNNER_WORD = re.compile(r"(?<![\w-])(?:_?pytest|py\.test|unittest|nose2?)(?![\w-])")
_TEST_WORD = re.compile(r"(?:^|[^A-Za-z])[Tt]ests?(?:[^A-Za-z]|$)|Test(?:Case|Result|Suite|Loader|Report)")
_JUDGES = re.compile(r"^(?:assert[A-Z]\w*|TestCase|TestResult|test_.*|raises|approx)$")
_TEST_MODULE = re.compile(r"(?:^|\.)(?:tests?(?:[._]|$)|conftest|_?pytest|unittest)")
_STARTED_BY = ("modules", "argv", "orig_argv", "import_module", "__import__", "find_spec", "__main__", "psutil")
_STARTS = frozenset({"subprocess", "popen", "system", "check_output", "create_subprocess_exec"})
_LISTS_PROCESSES = re.compile(r"ps(?: .*)?|.*/ps")
# What belongs to the interpreter, not to the product; what of it a runner bears its name in.
_STATE = ("sys.", "threading.", "warnings.", "logging.", "os.environ", "gc.", "linecache.", "__main__.")
_CALLERS = frozenset(
    {"stack", "currentframe", "getouterframes", "_getframe", "_current_frames", "extract_stack", "walk_stack"}
    | {"format_stack", "print_stack", "dump_traceback", "findCaller"}
    | {"get_objects", "get_referrers", "settrace", "setprofile", "f_back", "tb_frame", "__subclasses__"}
)
_FRAMES = _CALLERS - {"settrace", "setprofile", "__subclasses__"}
_CODE_OF_OTHERS = frozenset({"co_consts", "co_code", "getsource", "getsourcelines", "findsource", "linecache"})
_PROCESS = re.compile(r"/proc/(?:self|thread-self|\d+|\{[^}]*\}|%[sd])/(?:cmdline|environ|fd|maps|mem)")
_SET_IN_TESTS = ("sys.pycache_prefix", "sys.dont_write_bytecode")
_SET_BY_RUNNERS = SET_FOR_TESTS | {"MAKELEVEL", "MAKEFLAGS", "npm_lifecycle_event", "npm_execpath", "INIT_CWD"}
_ARGUMENT_OF_RUNNER = re.compile(r"--junit-?xml")
_STREAMS = frozenset(f"sys.{name}" for name in ("stdin", "stdout", "stderr", "unraisablehook"))
_OWN_STREAMS = frozenset(f"sys.__{name}__" for name in ("stdin", "stdout", "stderr", "unraisablehook"))
_RUNS_TEXT = frozenset({"exec", "eval", "compile"})
_RUN_TEXT_TOO = frozenset({"builtins", "timeit", "code", "codeop", "cProfile", "profile", "pdb", "bdb", "trace"})
_LIKE_CODE = re.compile(r"\w[\s(.\[]+\w|[=:;]")
_LOADS_FILES = frozenset({"run_path", "spec_from_file_location", "SourceFileLoader", "load_source", "exec_module"})
_DECODES = frozenset(
    {"b64decode", "b32decode", "b85decode", "a85decode", "unhexlify", "fromhex", "decompress", "decodebytes"}
)
_ASKED_IN_ONE = frozenset(
    {"sys.modules", "sys.argv", "sys.orig_argv", "os.environ", "os.environb"}
)  # with a word of tests in one statement
_LONGEST_TEXT = 20_000  # characters
_SHOWN = 120  # characters of a statement
_NAMING = (ast.keyword, ast.alias)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NESTED = 3  # texts of code inside texts of code


def asks(what: str) -> str:
    return f"asks whether it is tested ({what})"


def reached_in_python(path: str, text: str, roots: frozenset[str] = frozenset()) -> Iterator[str]:
    """`roots` are names of the project's own modules, beside that of the file."""
    if is_hidden_by_encoding(text):
        yield "has an encoding that hides what it says"
    if path.endswith(COMMAND_OF_DJANGO):
        yield "stands in for the command that runs its tests"
    try:
        tree = parsed(text)
        own = Own(frozenset(re.split(r"[/.]", path)), roots | {root_of(path)})
        yield from _told_by_lines(text) if tree is None else _told_by_tree(own, tree)
    except (RecursionError, MemoryError):
        yield "is nested too deeply to be looked into"


def runs_files(text: str) -> bool:
    """Whether it runs as code what it finds in a file."""
    if not any(name in text for name in (*_RUNS_TEXT, *_LOADS_FILES)):
        return False
    nodes = _nodes(text)
    return _runs_text(nodes) or not _LOADS_FILES.isdisjoint(names_of(nodes))


def is_python(text: str) -> bool:
    return bool(_nodes(text))


def imported_in_python(text: str) -> frozenset[str]:
    return frozenset(imports_of(_nodes(text)))


def _nodes(text: str) -> Nodes:
    try:
        tree = parsed(text)
    except (RecursionError, MemoryError):
        return ()
    return tuple(ast.walk(tree)) if tree is not None else ()


def _told_by_tree(own: Own, tree: ast.AST, depth: int = 0) -> Iterator[str]:
    seen = PythonTree.of(tree)
    yield from _told_by_names(seen)
    if not _said_in(seen.nodes).isdisjoint((_NAMES_RUNNER, _LOADS_TESTS)):
        yield from (told for node in seen.nodes for told in _taking_part(node))
    if not _ASKED_IN_ONE.isdisjoint(map(seen.dotted, seen.nodes)):
        names = NamesGiven.of(seen, "sys.modules")
        for statement in (node for node in seen.nodes if isinstance(node, ast.stmt)):
            yield from _asked_in_one(tuple(own_nodes(statement)), seen, names)
    for node in seen.nodes:
        yield from _reading(node, seen)
        yield from _asking_the_interpreter(node, seen)
    for code in _code_in_text(seen) if depth < _NESTED else ():
        yield from _told_by_tree(own, code, depth + 1)
    yield from looked_into(seen)
    yield from patched_in_python(seen, own)
    yield from lies_in_python(seen.nodes)


def _told_by_lines(text: str) -> Iterator[str]:
    """For what runs nowhere, or under a later Python than this."""
    if found := re.search(r"""['"](PYTEST_\w*|PYTHONPYCACHEPREFIX)['"]""", text):
        yield asks(found[1])
    if found := re.search(r"^[ \t]*(?:import|from)[ \t]+(unittest|_?pytest|django\.test)\b", text, re.MULTILINE):
        yield f"imports the runner of tests {found[1]}"
    if found := re.search(rf"^.*\b{_NAMES_RUNNER}\b.*$", text, re.MULTILINE):
        yield f"says what runs its tests ({found[0].strip()[:_SHOWN]})"
    if re.search(r"""['"](?:tests?[._]\w+|conftest|_?pytest|unittest)['"][^\n]*\b(?:sys\.modules|argv)\b""", text):
        yield asks("by the modules that are loaded")


def _told_by_names(seen: PythonTree) -> Iterator[str]:
    names, words = frozenset(names_of(seen.nodes)), tuple(words_of(seen.nodes))
    yield from (f"imports the runner of tests {module}" for module in _runners(seen.nodes))
    for word in words:
        if found := _VARIABLE.search(word):
            yield asks(found[0])
        if found := _PROCESS.search(word):
            yield f"reads how its process was started ({found[0]})"
        if PLACE_OF_CHECKS.search(word):
            yield ASKS_WHERE_IT_LIES
    if not names.isdisjoint(_STARTED_BY) and any(_RUNNER_WORD.search(word) for word in words):
        yield asks("by the name of a runner")
    yield from _asking_for_its_process(names, words)
    says_who = not names.isdisjoint(_CALLERS) or {"catch_warnings", "filename"} <= names
    if (says_who or _reads_sources(seen)) and any(_TEST_WORD.search(word) for word in words):
        yield asks("by its callers")
    if any(seen.dotted(node) == "sys.modules" for node in seen.nodes) and names & {"values", "items"}:
        yield from (asks("by the modules that are loaded") for each in (*names, *words) if _JUDGES.search(each))
    if any(is_said_by_runners(word) for word in words_of(seen.nodes, longest=_LONGEST_TEXT)):
        yield SAYS_WHAT_RUNNERS_SAY
    yield from _by_names(names)
    yield from _code_of_elsewhere(seen.nodes, names)


def _asking_for_its_process(names: frozenset[str], words: tuple[str, ...]) -> Iterator[str]:
    if {"/proc", "cmdline"} <= set(words):
        yield "reads how its process was started (/proc)"
    if names & _STARTS and any(map(_LISTS_PROCESSES.fullmatch, words)) and any(map(_RUNNER_WORD.search, words)):
        yield asks("by how its process was started")


def _code_of_elsewhere(nodes: Nodes, names: frozenset[str]) -> Iterator[str]:
    if (_runs_text(nodes) and names & _DECODES) or {"marshal", "loads"} <= names or "zipimporter" in names:
        yield "runs code that it decodes first"


def _runs_text(nodes: Nodes) -> bool:
    return any(_is_running(node) for node in nodes)


def _is_running(node: ast.AST) -> bool:
    """By what is built in: `re.compile` is another."""
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="builtins" | "__builtins__"), attr=name):
            return name in _RUNS_TEXT
        case ast.ImportFrom(module="builtins", names=names):
            return any(each.name in _RUNS_TEXT for each in names)
        case _:
            return False


def _by_names(names: frozenset[str]) -> Iterator[str]:
    if not names.isdisjoint(_FRAMES) and not names.isdisjoint(_CODE_OF_OTHERS):
        yield "reads the code of its callers"
    if "_exit" in names and not names & {"fork", "forkpty"}:
        yield "ends the process at once (os._exit)"
    if "atexit" in names and any(name.startswith(("execv", "execl")) for name in names):
        yield "puts another program in its place when it ends"
    if names & {"settrace", "setprofile", "settrace_all_threads", "setprofile_all_threads"}:
        yield "watches everything that runs (sys.settrace)"
    if {"get_referents", "__dict__"} <= names or {"from_address", "id"} <= names:
        yield "changes what Python keeps from being changed"


def _runners(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        for module in modules:
            if module.split(".")[0] in _RUNNERS or module in _RUNNERS:
                yield module.split(".")[0]
        if takes_runner_of_django(node):
            yield "django.test"


def _taking_part(node: ast.AST) -> Iterator[str]:
    """In which class runs the tests, or which of them there are: with what it says, so that another is another."""
    if not isinstance(node, ast.stmt):
        return
    named = _said_in(tuple(own_nodes(node)))
    if _NAMES_RUNNER in named:
        yield f"says what runs its tests ({ast.unparse(node)[:_SHOWN]})"
    if _LOADS_TESTS in named:
        yield "takes part in loading its tests (load_tests)"


def _said_in(nodes: Nodes) -> set[str | None]:
    named = {each.arg if isinstance(each, ast.keyword) else each.asname for each in nodes if isinstance(each, _NAMING)}
    defined = {each.name for each in nodes if isinstance(each, _FUNCTIONS)}
    return {*names_of(nodes), *words_of(nodes), *named, *defined}


# Questions


def _asked_in_one(nodes: Nodes, seen: PythonTree, names: NamesGiven) -> Iterator[str]:
    held = {seen.dotted(node) for node in nodes}
    words = tuple(words_of(nodes)) if held else ()
    used = {each.id for each in nodes if isinstance(each, ast.Name)} if names.words else set()
    if ("sys.modules" in held or used & names.keys) and any(
        _TEST_MODULE.search(word) for word in (*words, *(word for name in used for word in names.words.get(name, ())))
    ):
        yield asks("by the modules that are loaded")
    iterated = (each.iter for each in nodes if isinstance(each, ast.comprehension | ast.For))
    if any(_is_environment(each, seen) for each in iterated) and any(_RUNNER_WORD.search(word) for word in words):
        yield asks("by what is set")
    if held & {"sys.argv", "sys.orig_argv"} and any(_ARGUMENT_OF_RUNNER.match(word) for word in words):
        yield asks("by what its runner was started with")


def _reads_sources(seen: PythonTree) -> bool:
    return any(seen.dotted(node) == "linecache.cache" for node in seen.nodes)


def _asking_the_interpreter(node: ast.AST, seen: PythonTree) -> Iterator[str]:
    """A runner's name, looked for in what is not the product's own; or the name of a class that catches output."""
    match node:
        case ast.Compare() | ast.Call(func=ast.Attribute(attr="startswith" | "endswith" | "find" | "search" | "match")):
            inner = tuple(ast.walk(node))
        case _:
            return
    words = tuple(words_of(inner))
    if any(map(_RUNNER_WORD.search, words)) and any(seen.dotted(each).startswith(_STATE) for each in inner):
        yield asks("by the name of a runner")
    if any(map(_CATCHES.search, words)) and "__name__" in names_of(inner) and "handlers" in names_of(seen.nodes):
        yield asks("by whether its output is caught")


def _is_environment(node: ast.expr, seen: PythonTree) -> bool:
    return seen.dotted(node.func if isinstance(node, ast.Call) else node).startswith("os.environ")


def _reading(node: ast.AST, seen: PythonTree) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[where]):
            name, source = seen.text(left), seen.dotted(where)
        case ast.Subscript(value=where, slice=key, ctx=ast.Load()):
            name, source = seen.text(key), seen.dotted(where)
        case ast.Call(func=called, args=[key, *_]):
            name, source = seen.text(key), seen.dotted(called)
        case ast.Compare(left=left, comparators=[right]):
            sides = {seen.dotted(left), seen.dotted(right)}
            if sides & _STREAMS and sides & _OWN_STREAMS:
                yield asks("by whether its output is caught")
            return
        case ast.Attribute(ctx=ast.Load()) if seen.dotted(node) in _SET_IN_TESTS:
            yield asks(seen.dotted(node))
            return
        case _:
            return
    if name in _SET_BY_RUNNERS and source in {"os.environ", "os.environ.get", "os.environ.pop", "os.getenv"}:
        yield asks(name)
    if name and source.startswith("importlib.metadata.") and _RUNNER_WORD.fullmatch(name):
        yield asks("by what is installed")


# Code that is made of text


def _code_in_text(seen: PythonTree) -> Iterator[ast.Module]:
    """All texts that could be code, where there is anything that could run them: which one it gets is not followed."""
    modules = {seen.dotted(node).partition(".")[0] for node in seen.nodes if isinstance(node, ast.Name)}
    if not (_runs_text(seen.nodes) or modules & _RUN_TEXT_TOO):
        return
    for text in dict.fromkeys(words_of(seen.nodes, longest=_LONGEST_TEXT)):
        code = parsed(text) if _LIKE_CODE.search(text) else None
        if code is not None:
            yield code
