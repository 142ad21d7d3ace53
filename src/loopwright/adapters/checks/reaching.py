"""Product code that reaches into what tests it: asks whether it is tested, patches the runner, ends it, or reads the
answers. Told by its text, so that it is a sign and no proof: code that hides what it names is not seen here."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_source
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.trust import Classed, FileClass
from loopwright.ports.checks import ChecksRun

_RUNNERS = frozenset({"unittest", "pytest", "_pytest", "nose", "nose2", "twisted.trial", "testtools", "pluggy"})
_VARIABLE = re.compile(r"PYTEST_\w+|TOX_ENV_\w+|NOSE_\w+")
_RUNNER_WORD = re.compile(r"(?<![\w-])(?:_?pytest|py\.test|unittest|nose2?)(?![\w-])")
_TEST_WORD = re.compile(r"(?:^|[^A-Za-z])[Tt]ests?(?:[^A-Za-z]|$)")
_STARTED_BY = ("modules", "argv", "orig_argv", "import_module", "__import__", "find_spec")
_CALLERS = frozenset(
    {"stack", "currentframe", "getouterframes", "_getframe", "_current_frames", "extract_stack", "walk_stack"}
    | {"get_objects", "get_referrers", "settrace", "setprofile", "f_back"}
)
_PROCESS = re.compile(r"/proc/(?:self|\d+|\{[^}]*\}|%[sd])/(?:cmdline|environ|fd|maps|mem)")
_LARGEST, _MOST_FILES = 512 * 1024, 4000
_LONGEST_WORD = 200  # characters; longer strings are texts


def _asks(what: str) -> str:
    return f"asks whether it is tested ({what})"


def reached(path: str, text: str) -> frozenset[str]:
    """What of its tests the code reaches for, in words that complete "This code …"."""
    look = _LOOKS.get(PurePosixPath(path).suffix)
    return frozenset(look(text)) if look else frozenset()


def is_looked_into(path: str) -> bool:
    return PurePosixPath(path).suffix in _LOOKS


# Python


def _python(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return  # it runs nowhere
    nodes = tuple(ast.walk(tree))
    names, words = frozenset(_names(nodes)), tuple(_words(nodes))
    yield from (f"imports the runner of tests {module}" for module in _imported(nodes))
    yield from _told_by_words(words)
    if not names.isdisjoint(_STARTED_BY) and any(_RUNNER_WORD.search(word) for word in words):
        yield _asks("by the name of a runner")
    if not names.isdisjoint(_CALLERS) and any(_TEST_WORD.search(word) for word in words):
        yield _asks("by its callers")
    if "_exit" in names and not names & {"fork", "forkpty"}:
        yield "ends the process at once (os._exit)"
    if "atexit" in names and any(name.startswith(("execv", "execl")) for name in names):
        yield "puts another program in its place when it ends"
    for node in nodes:
        yield from _patching(node)


def _told_by_words(words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        if found := _VARIABLE.search(word):
            yield _asks(found[0])
        if found := _PROCESS.search(word):
            yield f"reads how its process was started ({found[0]})"


def _names(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case _:
                pass


def _words(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Strings that are no documentation."""
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in told and isinstance(node.value, str | bytes):
            word = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if len(word) <= _LONGEST_WORD:
                yield word


def _imported(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        for module in modules:
            if module.split(".")[0] in _RUNNERS or module in _RUNNERS:
                yield module.split(".")[0]


def _patching(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(value=ast.Name(id="builtins" | "__builtins__"), attr=name, ctx=ast.Store() | ast.Del()):
            if hasattr(builtins, name):
                yield f"replaces {name} for everybody"
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="builtins" | "__builtins__"), *_]):
            yield "replaces what is built in for everybody"
        case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Constant(value=str(name)), ctx=ast.Store()):
            if _TEST_WORD.search(name.replace("_", " ")) or name == "conftest":
                yield f"stands in for the module {name}"
        case ast.FunctionDef(name="__eq__", body=[*_, ast.Return(value=ast.Constant(value=True))]) if (
            len(node.body) == 1
        ):
            yield "is equal to everything"
        case _:
            pass


# Languages of which only words are known


def _by_words(*signs: tuple[str, str]) -> Callable[[str], Iterator[str]]:
    """Each sign is a pattern and what it means; where the meaning is empty, what was found says it."""
    compiled = [(re.compile(pattern, re.MULTILINE), meaning) for pattern, meaning in signs]

    def look(text: str) -> Iterator[str]:
        bare = re.sub(r"^\s*(?://|#(?!\[)|\*).*$", "", text, flags=re.MULTILINE)
        for pattern, meaning in compiled:
            if found := pattern.search(bare):
                yield meaning or _asks(found[0])

    return look


_JS_RUNNERS = r"(?:node:test(?:/\w+)?|@jest/globals|jest|vitest|mocha|ava|tap|jasmine)"
_JAVASCRIPT = _by_words(
    (rf"""(?:require\(|from|import)\s*['"]{_JS_RUNNERS}['"]""", "loads a runner of tests"),
    (r"NODE_TEST_CONTEXT|JEST_WORKER_ID|\bVITEST\w*|\bMOCHA_\w+|npm_lifecycle_event|npm_command", ""),
    (r"""NODE_ENV\b['"\])\s]*[!=]==?\s*['"`]test|['"`]test['"`]\s*[!=]==?\s*process\.env\.NODE_ENV""", ""),
    (
        r"(?<![\w.])(?:assert|expect|test|it|describe|jest)(?:\.\w+)+\s*=(?!=)|\bexpect\.extend\(",
        "changes what tests judge with",
    ),
    (r"Object\.(?:assign|definePropert\w+)\(\s*(?:assert|expect)\b", "changes what tests judge with"),
    (
        r"(?:\.stack\b|require\.main|module\.parent|argv\[1\])[^\n]*test|test[^\n]*(?:\.stack\b|require\.main|argv\[1\])",
        "",
    ),
    (
        r"reallyExit|process\.exitCode\s*=\s*0|process\.on\(\s*['\"]exit['\"][^\n]*exit\(0",
        "decides itself how the run ends",
    ),
)
_RUST = _by_words(
    (r"\bcfg!\(\s*(?:(?:any|all|not)\(\s*)*test\b|#!?\[cfg(?:_attr)?\(\s*(?:(?:any|all)\(\s*)?not\(\s*test\b", ""),
    (r"RUST_TEST_\w+|NEXTEST\w*", ""),
    (r"""(?:env::args|current_exe)[^;]*"[^"]*(?:deps|test)[^"]*\"""", _asks("by the name of its program")),
)
_GO = _by_words(
    (r"""^\s*(?:import\s+)?(?:\w+\s+)?"testing(?:/\w+)?\"""", "imports the runner of tests testing"),
    (r"""\bLookup\(\s*"test\.""", ""),
    (r"""os\.Args\[0\][^\n]*test|test[^\n]*os\.Args\[0\]""", ""),
)
_SHELL = _by_words((r"\$\{?PPID\b", _asks("by whoever started it")), (r"/proc/\S*(?:cmdline|environ)", ""))
_LOOKS: dict[str, Callable[[str], Iterator[str]]] = {
    ".py": _python,
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"), _JAVASCRIPT),
    ".rs": _RUST,
    ".go": _GO,
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), _SHELL),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The ground on which a candidate is looked at: `judges` are files of the base whose content decides."""

    source: TreeReader
    layout: Layout
    judges: frozenset[str] = frozenset()

    async def findings(self, classed: tuple[Classed, ...], run: ChecksRun) -> tuple[Finding, ...]:
        """Only what is new in this product: one that reached for its tests before, anywhere, may go on doing so.

        A person who allows the path beforehand allows this, too.
        """
        paths = tuple(each.change.path for each in classed if _is_looked_at(each, run.trust.allow))
        after = await self.source.texts(run.commit, paths, limit=_LARGEST)
        before = await self.source.texts(run.base, paths, limit=_LARGEST)
        found = {
            path: self._reached(path, text) - self._reached(path, before.get(path, "")) for path, text in after.items()
        }
        if not any(found.values()):
            return ()
        known = await self._known(run)
        return tuple(_finding(path, marks - known) for path, marks in sorted(found.items()) if marks - known)

    async def _known(self, run: ChecksRun) -> frozenset[str]:
        paths = await self.source.paths(run.base)
        product = tuple(p for p in paths if is_looked_into(p) and self.layout.is_product(p) and p not in self.judges)
        texts: Mapping[str, str] = await self.source.texts(run.base, product[:_MOST_FILES], limit=_LARGEST)
        return frozenset[str]().union(*(self._reached(path, text) for path, text in texts.items()))

    def _reached(self, path: str, text: str) -> frozenset[str]:
        # A script that checks run may well be run by the product, too; what they compare with may not.
        answers = frozenset(each for each in self.judges if self.layout.is_test(each) or not is_source(each))
        return reached(path, text) | {f"names a file that judges it ({each})" for each in _named(text, answers)}


def _is_looked_at(classed: Classed, allow: tuple[str, ...]) -> bool:
    path = classed.change.path
    if classed.kind is not FileClass.PRODUCT or classed.change.how == "removed" or not is_looked_into(path):
        return False
    return not any(matches(path, pattern) for pattern in allow)


def _finding(path: str, marks: frozenset[str]) -> Finding:
    return identify(
        Finding(
            severity=Severity.HIGH,
            category="tampering",
            rule="reaches-into-tests",
            file=path,
            issue=f"Product code {' and '.join(sorted(marks))}: {path}",
            guidance="Code must do the same whether it is tested or not. What helps tests belongs among the tests;"
            " where the product needs it all the same, a person says so with `--allow`.",
        )
    )


def _named(text: str, answers: frozenset[str]) -> frozenset[str]:
    """Who knows where the answers are need not work them out."""
    return answers.intersection(word.strip("./") for word in re.findall(r"[\w./-]+", text))
