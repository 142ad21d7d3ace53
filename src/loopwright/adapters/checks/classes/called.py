"""Which files the checks call: those their commands name, and those that the named scripts and recipes run."""

from __future__ import annotations

import itertools
import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from loopwright.adapters.checks.classes.makefiles import included, read_by_shell
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import Judge, is_source, judge_by_name

Command = tuple[str, ...]

_INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|bun|deno|sh|bash|zsh|dash|ksh|ruby|perl|php|tsx|ts-node|lua|Rscript|pwsh|source|\.)"
    r"[\d.]*"
)
_PREFIXES = frozenset(
    {"env", "exec", "time", "sudo", "command", "npx", "nohup", "xvfb-run", "c8", "nyc", "cross-env", "eval", "then"}
    | {"do", "else", "if", "while", "!", "@", "-", "{", "("}
)
_RUNNING = frozenset(
    {"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "coverage", "conda", "mamba", "bundle", "dotenv"}
)
_TASKS = ("Taskfile.yml", "Taskfile.yaml", "tasks.py", "pyproject.toml", "hatch.toml")
_STEERED: Mapping[str, tuple[str, ...]] = {
    "tox": ("tox.ini", "tox.toml"),
    "nox": ("noxfile.py",),
    "just": ("justfile", ".justfile", "Justfile"),
    **dict.fromkeys(("task", "invoke", "inv", "hatch"), _TASKS),
}
_DEEPEST = 6  # calls of calls; deeper than any build people write
_MAKES = frozenset({"make", "gmake", "bmake"})
_PACKAGES = frozenset({"npm", "yarn", "pnpm", "bun"})
# Their next word is a file that takes part in the run, whatever the program.
_TAKES_FILE = re.compile(
    r"-(?:r|c|f|p)$|--(?:require|import|loader|experimental-loader|preload|config|rcfile|file|makefile|setup\w*"
    r"|settings|config-file|configuration|bootstrap|init-file|globals|test-adapter|reporter|runner|resolver|plugin)$"
)
_VALUE = re.compile(r"--?[\w-]+=(.+)")
_NEVER = ("--cov=", "--target=", "--package=", "--source=", "--include=", "--ignore=", "--exclude=", "--junit")
_HELPING = re.compile(r"test|check|harness|runner|setup|assert|expect|mock|helper|fixture|verify", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:diff|cmp|comm)\b")
_LOOP = re.compile(r"\bfor\s+\w+\s+in\s+([^\n;]+)")
_FOUND = re.compile(r"\bfind\s+([\w./$-]+)[^\n|;]*?-name\s+[\"']?([\w.*?-]+)")
_SPLIT = re.compile(r"&&|\|\||;|\n")
_TARGET = re.compile(r"^([^\s#:=][^:=#]*?)\s*::?(?!=)([^\n]*)\n?((?:(?:\t| {2,})[^\n]*\n?|[ \t]*\n)*)", re.MULTILINE)
_SCRIPTS = frozenset(
    {"scripts", "script", "tools", "tool", "ci", "hack", "dev", "build", "bin", "misc", "contrib", "etc"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """`files` by path with the reason; `folders` of scripts that checks run; names of `targets` a file would hide."""

    files: Mapping[str, str] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()  # read for doctests
    included: Mapping[str, str] = field(default_factory=dict)  # patterns of files that a build takes in
    words: frozenset[str] = frozenset()  # of everything that steers checks: a new folder must bear none of them

    def why(self, path: str) -> str:
        """Why the path is the checks' own, in words; empty when it is not."""
        if path in self.files:
            return self.files[path]
        top = path.split("/", maxsplit=1)[0]
        if "/" in path and top in self.folders:
            return f"lies in {top}/, from where checks run scripts"
        return next((why for pattern, why in self.included.items() if matches(path, pattern)), "")


@dataclass(slots=True)
class _Search:
    """A walk from the commands over the files they call; reads what a file of the base holds."""

    paths: frozenset[str]
    texts: Mapping[str, str]
    is_test: Callable[[str], bool]
    found: dict[str, str] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    included: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)


def called(
    commands: Iterable[Command], paths: frozenset[str], texts: Mapping[str, str], is_test: Callable[[str], bool]
) -> Called:
    """`texts` are the base's: what is not in it is not followed further."""
    search = _Search(paths=paths, texts=texts, is_test=is_test)
    for command in commands:
        _follow(search, command, at="", why="a check names it", depth=0)
    folders = {path.split("/")[0] for path in search.found if "/" in path and not is_test(path)}
    return Called(
        files=search.found,
        folders=frozenset(folders & _SCRIPTS),
        targets=frozenset(search.targets),
        documents=frozenset(search.documents),
        included=search.included,
        words=frozenset(search.words),
    )


def steering(commands: Iterable[Command], paths: Iterable[str]) -> tuple[str, ...]:
    """The files whose text says what the commands call: set-up of runners and builds at the top, and what is named."""
    tracked = frozenset(paths)
    words = {word.removeprefix("./").split("::")[0] for command in commands for word in command}
    steers = {p for p in tracked if "/" not in p and judge_by_name(p) in (Judge.RUNNER, Judge.BUILD, Judge.MANIFEST)}
    scripts = {p for p in tracked if p.split("/")[0] in _SCRIPTS or ("/" not in p and _is_script(p))}
    return tuple(sorted(steers | scripts | (words & tracked)))


def _is_script(path: str) -> bool:
    return path.endswith((".sh", ".bash")) or "." not in path


def _follow(search: _Search, command: Command, *, at: str, why: str, depth: int) -> None:
    """One simple command. `at` is the folder it runs in, as far as is known."""
    search.words.update(part for word in command for part in re.split(r"[/=:,\s]", word))
    words = _bare(command)
    if not words or depth > _DEEPEST:
        return
    program, rest = posixpath.basename(words[0]), words[1:]
    if "/" in words[0] or "." in program.lstrip("."):
        _take(search, words[0], at, why, depth)
    _take_options(search, rest, at, why, depth)
    if program in _MAKES:
        _follow_make(search, rest, depth)
    elif program in _PACKAGES:
        _follow_packages(search, rest, depth)
    elif program in _STEERED:
        _follow_texts(search, (path for path in _STEERED[program] if path in search.texts), depth)
    elif _INTERPRETER.fullmatch(program):
        _follow_interpreter(search, rest, at=at, why=why, depth=depth)
    else:
        _take_inputs(search, rest, at, why)


def _take_options(search: _Search, rest: list[str], at: str, why: str, depth: int) -> None:
    for word in rest:
        value = _VALUE.fullmatch(word)
        if value and not word.startswith(_NEVER):
            _take(search, value[1], at, why, depth)
    for before, word in itertools.pairwise(rest):
        if _TAKES_FILE.match(before):
            _take(search, word, at, why, depth)
        if before in ("-m", "-p"):
            _take_module(search, word, why)


def _bare(command: Command) -> list[str]:
    """The command without what only prepares it: variables, wrappers, `uv run`."""
    words = [word.strip() for word in command if word.strip()]
    while words:
        first = words[0].lstrip("@+-") or words[0]
        base = posixpath.basename(first)
        if re.match(r"\w+=", first) or first in _PREFIXES:
            words = words[1:]
        elif base == "timeout" or (base in _RUNNING and len(words) > 1 and words[1] in ("run", "exec")):
            words = words[2:]
        else:
            return [first, *words[1:]]
        while words and words[0].startswith("-") and base in ("npx", "env", "uv", "timeout", "coverage"):
            words = words[1:]
    return words


def _follow_interpreter(search: _Search, rest: list[str], *, at: str, why: str, depth: int) -> None:
    if "-c" in rest or "-e" in rest:
        place = rest.index("-c" if "-c" in rest else "-e")
        for line in _lines(" ".join(rest[place + 1 : place + 2])):
            _follow(search, line, at=at, why=why, depth=depth + 1)
        return
    if "-m" in rest:
        place = rest.index("-m")
        module, inputs = (rest[place + 1] if len(rest) > place + 1 else ""), rest[place + 2 :]
        if module == "doctest":
            search.documents.update(p for word in inputs if (p := _resolved(search, word, at)))
        elif module in ("tox", "nox", "coverage", "invoke"):
            _follow(search, (module, *inputs), at=at, why=why, depth=depth + 1)
        else:
            _take_inputs(search, inputs, at, why)
        return
    collects = "--test" in rest
    for word in rest:
        if not word.startswith("-"):
            if not (collects and search.is_test(_resolved(search, word, at) or word)):
                _take(search, word, at, why, depth)
            if not collects:
                return


def _take_inputs(search: _Search, words: list[str], at: str, why: str) -> None:
    """What a program other than an interpreter is given: its own only where it is neither code nor a test."""
    for word in words:
        path = _resolved(search, word.split("::")[0], at)
        if path and judge_by_name(path) is None and "." not in posixpath.basename(path):
            search.found.setdefault(path, why)


def _take(search: _Search, word: str, at: str, why: str, depth: int) -> None:
    """A file that is run or read as part of a check, and what it calls in its turn."""
    path = _resolved(search, word, at)
    if not path:
        if "/" in word or "." in word:
            search.found.setdefault(posixpath.normpath(posixpath.join(at, word)).removeprefix("./"), why)
        return
    search.found.setdefault(path, why)
    if path in search.seen or path not in search.texts:
        return
    search.seen.add(path)
    _follow_texts(search, (path,), depth)


def _take_module(search: _Search, module: str, why: str) -> None:
    """`-m` means the module's file, wherever the interpreter would look; also where there is none yet."""
    bare = module.replace(".", "/")
    for root in ("", "src/", "lib/"):
        for path in (f"{root}{bare}.py", f"{root}{bare}/__main__.py", f"{root}{bare}/__init__.py"):
            # A package runs by its `__main__`; only a new one would stand in front of what `-m` finds now.
            is_own_package = path.endswith("__init__.py") and path in search.paths
            if not search.is_test(path) and not is_own_package:
                search.found.setdefault(path, why)


def _follow_texts(search: _Search, paths: Iterable[str], depth: int) -> None:
    for path in tuple(paths):
        text, folder = search.texts[path], posixpath.dirname(path)
        if path.endswith((".py", ".js", ".mjs", ".cjs", ".ts")):
            _follow_imports(search, path, text, depth)
            continue
        for line in _lines(text):
            for at in dict.fromkeys(("", folder)):
                _follow(search, line, at=at, why=f"{path} runs it", depth=depth + 1)
            _take_expected(search, line, folder, f"{path} reads it")
        _take_cases(search, text, folder, f"{path} reads it")


def _take_cases(search: _Search, text: str, folder: str, why: str) -> None:
    """Data that a script goes through and compares with: all that lies beside what its loop names.."""
    if not _COMPARES.search(text):
        return
    looped = [word for words in _LOOP.findall(text) for word in words.split() if "*" in word]
    for word in (*looped, *(f"{start}/**/{name}" for start, name in _FOUND.findall(text))):
        plain = re.sub(r"^(?:\$\{?\w+\}?/|\./|\.\./)+", "", word.strip("\"'"))
        within = posixpath.dirname(plain)
        for path in search.paths if re.search(r"\w", within) else ():
            if not is_source(path) and judge_by_name(path) is None and not path.endswith((".md", ".rst")):
                places = (f"{within}/*", posixpath.normpath(posixpath.join(folder, within, "*")))
                if any(matches(path, place) for place in places):
                    search.found.setdefault(path, why)


def _follow_imports(search: _Search, path: str, text: str, depth: int) -> None:
    """Of a script that a check runs, what lies beside it and is named for helping tests; the rest is what it tests."""
    folder = posixpath.dirname(path)
    relative = re.findall(r"""(?:require\(|from|import)\s*['"](\.{1,2}/[^'"]+)['"]""", text)
    modules = re.findall(r"^\s*(?:from|import)\s+(\w+)", text, re.MULTILINE)
    strings = re.findall(r"""['"]([\w./-]+\.\w{1,5})['"]""", text)
    for word in (*relative, *modules):
        for suffix in ("", ".py", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/__init__.py"):
            found = _resolved(search, word + suffix, folder)
            if found and _HELPING.search(posixpath.basename(word)):
                _take(search, found, "", f"{path} loads it", depth + 1)
    for word in strings:
        _take_expected(search, (word,), folder, f"{path} reads it")


def _take_expected(search: _Search, words: Iterable[str], folder: str, why: str) -> None:
    """Data that a script of the checks names: what it compares with."""
    for word in words:
        path = _resolved(search, word, folder) or _resolved(search, word, "")
        if path and re.search(
            r"\.(?:txt|json|ya?ml|csv|tsv|xml|out|expected|golden|exp|ref|diff|log|html|toml)$", path
        ):
            search.found.setdefault(path, why)


def _resolved(search: _Search, word: str, at: str) -> str:
    path = posixpath.normpath(posixpath.join(at, word.strip("\"'`(){}$"))) if word else ""
    return path if path in search.paths else ""


@lru_cache(maxsize=64)
def _lines(text: str) -> tuple[Command, ...]:
    return tuple(_commands(text))


def _commands(text: str) -> Iterator[Command]:
    """Simple commands. One whose output is looked at is what is tested, and is left out."""
    for line in _SPLIT.split(text.replace("\\\n", " ")):
        stages = line.split("|")
        for stage in stages[1:] if len(stages) > 1 else stages:
            if "$(" in stage or "`" in stage or re.search(r"(?<![2&])>(?!&|\s*/dev/)", stage):
                continue
            try:
                yield tuple(shlex.split(stage.strip(), comments=True))
            except ValueError:
                yield tuple(stage.split())


def _follow_make(search: _Search, rest: list[str], depth: int) -> None:
    goals = [word for word in rest if not word.startswith("-") and "=" not in word]
    for path, text in search.texts.items():
        if judge_by_name(path) is Judge.BUILD and "make" in path.lower():
            for word in included(text):
                if "*" in word or "?" in word:
                    search.included.setdefault(word, f"{path} includes it")
                _take(search, word, "", f"{path} includes it", depth)
            _take_values(search, text, f"{path} reads it")
            rules = {name: (needs, recipe) for names, needs, recipe in _TARGET.findall(text) for name in names.split()}
            search.targets.update(name for name in rules if re.fullmatch(r"[\w.-]+", name) and name != ".PHONY")
            _follow_rules(search, path, rules, goals or list(rules)[:1], depth)
    search.targets.update(goals)


def _take_values(search: _Search, text: str, why: str) -> None:
    """Not code: a version that stands in the product's own source is read from there all the time."""
    for word in read_by_shell(text):
        found = [path for path in search.paths if path == word or matches(path, word)]
        search.found.update({path: why for path in found if path not in search.found and not is_source(path)})
        if not any(map(is_source, found)) and re.search(r"[*?]", word):
            search.included.setdefault(word, why)


def _follow_rules(
    search: _Search, path: str, rules: Mapping[str, tuple[str, str]], goals: list[str], depth: int
) -> None:
    done: set[str] = set()
    while goals:
        goal = goals.pop()
        if goal in done or goal not in rules:
            continue
        done.add(goal)
        needs, recipe = rules[goal]
        goals += needs.split()
        for line in _lines(recipe):
            _follow(search, line, at="", why=f"{path} runs it", depth=depth + 1)
            _take_expected(search, line, "", f"{path} reads it")
        _take_cases(search, recipe, "", f"{path} reads it")


def _follow_packages(search: _Search, rest: list[str], depth: int) -> None:
    name = next(
        (word for word in rest if not word.startswith("-") and word not in ("run", "run-script", "exec")), "test"
    )
    name = {"t": "test", "tst": "test"}.get(name, name)
    scripts = _scripts(search.texts.get("package.json", ""))
    for key in (f"pre{name}", name, f"post{name}"):
        if key in scripts and f"npm:{key}" not in search.seen:
            search.seen.add(f"npm:{key}")
            for line in _lines(scripts[key]):
                _follow(search, line, at="", why="package.json runs it", depth=depth + 1)


def _scripts(text: str) -> dict[str, str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}
