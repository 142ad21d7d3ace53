"""Which files the checks call: those their commands name, and those that the named scripts and recipes run."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.classes.command_lines import Command, bare, joined, only_reads, placed, reads_by, sent
from loopwright.adapters.checks.classes.makefiles import Rules, asked_of_make, included, rules_of, with_values
from loopwright.adapters.checks.classes.packages import (
    MANAGERS,
    MANIFEST,
    ORCHESTRATORS,
    ScriptRequest,
    asked_of,
    name_of_package,
    scripts_of,
    vendored,
)
from loopwright.adapters.checks.classes.walk import CODE, VALUE, CallWalk
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import Judge, is_example, judge_by_name

_TAKES_TEXT = re.compile(r"-[a-z]{0,3}c")  # `bash -lc`
_INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|bun|deno|sh|bash|zsh|dash|ksh|ruby|perl|php|tsx|ts-node|lua|Rscript|pwsh|source|\.)"
    r"[\d.]*"
)
_TASKS = ("Taskfile.yml", "Taskfile.yaml", "tasks.py", "pyproject.toml", "hatch.toml")
_STEERED: Mapping[str, tuple[str, ...]] = {
    "tox": ("tox.ini", "tox.toml"),
    "nox": ("noxfile.py",),
    "just": ("justfile", ".justfile", "Justfile"),
    **dict.fromkeys(("task", "invoke", "inv", "hatch"), _TASKS),
}
_NAMED = "a check names it"
_DEEPEST = 6  # calls of calls; deeper than any build people write
_MAKES = frozenset({"make", "gmake", "bmake"})
# Their next word is a file that takes part in the run, whatever the program.
_TAKES_FILE = re.compile(
    r"-(?:r|c|f|p)$|--(?:require|import|loader|experimental-loader|preload|config|rcfile|file|makefile|setup\w*"
    r"|settings|config-file|configuration|bootstrap|init-file|globals|test-adapter|reporter|runner|resolver|plugin)$"
)
# Of these, what is loaded as modules are.
_LOADS = re.compile(
    r"--(?:require|import|loader|experimental-loader|preload|setup\w*|globals|reporter|runner|resolver)$"
)
_LOADING = frozenset(
    {"node", "nodejs", "mocha", "_mocha", "ts-node", "tsx", "nyc", "c8", "tap", "tape", "ava", "jasmine"}
)
_NEVER = ("--cov=", "--target=", "--package=", "--source=", "--include=", "--ignore=", "--exclude=", "--junit")
_HELPING = re.compile(r"test|check|harness|runner|setup|assert|expect|mock|helper|fixture|verify", re.IGNORECASE)
# Files that configure what runs tests: others of their kind, for linters and builds, include plain product.
_OF_TESTS = re.compile(
    r"\.?(?:pytest|tox|setup|pyproject|package|jest|vite|vitest|mocharc|tap|taprc|ava|jasmine|deno|playwright|cypress|karma"
    r"|wdio|web-test-runner)\b.*"
)
_PROJECTS = re.compile(r"""["']?(?:projects|workspace)["']?\s*:\s*\[([^\]]*)\]""")
_RELATIVE = re.compile(r"""(?:require\(|from|import\(?)\s*['"](\.{1,2}/[^'"]*)['"]""")
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
    places: frozenset[str] = frozenset()  # folders that commands work in, or are given: what lies there steers them
    ran: tuple[tuple[str, Command], ...] = ()  # every command, with the folder it works in
    loaded: frozenset[str] = frozenset()  # what lies beside scripts that checks run, and is loaded by them

    def why(self, path: str) -> str:
        """Why the path is the checks' own, in words; empty when it is not."""
        if path in self.files:
            return self.files[path]
        if folder := next((each for each in self.folders if path.startswith(f"{each}/")), ""):
            return f"lies in {folder}/, from where checks run scripts"
        return next((why for pattern, why in self.included.items() if matches(path, pattern)), "")

    def target_at(self, path: str) -> str:
        """The target that the path, or a folder it lies in, has the name of."""
        return next((each for each in self.targets if f"{path}/".startswith(f"{each}/")), "")


def called(
    commands: Iterable[Command], paths: frozenset[str], texts: Mapping[str, str], is_test: Callable[[str], bool]
) -> Called:
    """`texts` are the base's: what is not in it is not followed further."""
    search = CallWalk(paths=paths, texts=texts, is_test=is_test)
    for command in commands:
        at, words = sent("", command)
        _follow(search, words, at=at, why=_NAMED, depth=0)
    while waiting := [path for path in texts if _is_waiting(search, path)]:
        for path in waiting:  # each may name projects in further folders
            search.seen.add(f"configuration:{path}")
            _follow_configuration(search, path)
    folders = {f for path in search.found if not is_test(path) for f in _folders_of_scripts(path, search.places)}
    return Called(
        files=search.found,
        folders=frozenset(folders),
        targets=frozenset(search.targets),
        documents=frozenset(search.documents),
        included={**search.included, **vendored(path for path in paths if not is_test(path))},
        words=frozenset(search.words),
        places=frozenset(search.places),
        ran=tuple(search.ran),
        loaded=frozenset(search.loaded),
    )


def _is_waiting(search: CallWalk, path: str) -> bool:
    is_near = posixpath.dirname(path) in search.places
    return is_near and configures_tests(path) and f"configuration:{path}" not in search.seen


def _folders_of_scripts(path: str, places: Collection[str]) -> Iterable[str]:
    """Folders that are named for scripts and lie where commands work."""
    *folders, _ = path.split("/")
    for depth, name in enumerate(folders):
        if name in _SCRIPTS and "/".join(folders[:depth]) in places:
            yield "/".join(folders[: depth + 1])
            return


def steering(commands: Iterable[Command], paths: Iterable[str], places: Collection[str] = ("",)) -> tuple[str, ...]:
    """The files whose text says what the commands call: what is named, and set-up of runners and builds in `places`."""
    tracked = frozenset(paths)
    words = {word.removeprefix("./").split("::")[0] for command in commands for word in command}
    near = (path for path in tracked if posixpath.dirname(path) in places)
    steers = {path for path in near if judge_by_name(path) in (Judge.RUNNER, Judge.BUILD, Judge.MANIFEST)}
    scripts = {p for p in tracked if p.split("/")[0] in _SCRIPTS or ("/" not in p and _is_script(p))}
    return tuple(sorted(steers | scripts | (words & tracked)))


def configures_tests(path: str) -> bool:
    """Whether a file of this name configures what runs tests, and not a linter or a build."""
    is_configuration = judge_by_name(path) in (Judge.RUNNER, Judge.MANIFEST)
    return is_configuration and _OF_TESTS.fullmatch(posixpath.basename(path)) is not None


def _is_script(path: str) -> bool:
    return path.endswith((".sh", ".bash")) or "." not in path


def _follow(search: CallWalk, command: Command, *, at: str, why: str, depth: int) -> None:
    """One simple command. `at` is the folder it works in."""
    search.words.update(part for word in command for part in re.split(r"[/=:,\s]", word))
    words = bare(command)
    if not words or depth > _DEEPEST:
        return
    search.ran[at, tuple(words)] = None
    program, rest = posixpath.basename(words[0]), words[1:]
    search.enter_with(words, at)
    if "/" in words[0] or "." in program.lstrip("."):
        _take(search, words[0], at, why, depth)
    _take_options(search, words, at, why, depth)
    if program in _MAKES:
        _follow_make(search, rest, at, depth)
    elif program in MANAGERS:
        _follow_packages(search, asked_of(program, rest, at), depth)
    elif program in ORCHESTRATORS:
        _follow_everywhere(search, rest, at, depth)
    elif program in _STEERED:
        for path in _STEERED[program]:
            _follow_script(search, joined(at, path), at, depth)
    elif _INTERPRETER.fullmatch(program):
        if not only_reads(program, rest):
            _follow_interpreter(search, rest, at=at, why=why, depth=depth)
    else:
        search.take_inputs(rest, at, why)


def _take_options(search: CallWalk, words: list[str], at: str, why: str, depth: int) -> None:
    program, rest = posixpath.basename(words[0]), words[1:]
    if why == _NAMED:
        search.take_named(words, at, why)
    for word in rest:
        value = VALUE.fullmatch(word)
        if value and not word.startswith(_NEVER):
            load = _run if _LOADS.match(word.partition("=")[0]) else _take
            load(search, value[1], at, why, depth)
        if word.startswith("@") and search.resolved(word[1:], at):
            _take(search, word[1:], at, why, depth)  # further words stand in it
    is_script = bool(_INTERPRETER.fullmatch(program)) and "-m" not in rest and not only_reads(program, rest)
    reading = frozenset() if is_script else reads_by((program, *rest))  # a script's options are its own
    for before, word in itertools.pairwise(rest):
        if before in reading:
            continue
        if _LOADS.match(before) or (before == "-r" and program in _LOADING):
            _run(search, word, at, why, depth)
        elif _TAKES_FILE.match(before):
            _take(search, word, at, why, depth)
        if before in ("-m", "-p"):
            search.take_module(word, at, why)


def _follow_module(search: CallWalk, words: list[str], *, at: str, why: str, depth: int) -> None:
    module, inputs = (words[0] if words else ""), words[1:]
    if module == "doctest":
        search.documents.update(path for word in inputs if (path := search.resolved(word, at)))
    elif module in ("tox", "nox", "coverage", "invoke"):
        _follow(search, (module, *inputs), at=at, why=why, depth=depth + 1)
    else:
        search.take_inputs(inputs, at, why)


def _follow_interpreter(search: CallWalk, rest: list[str], *, at: str, why: str, depth: int) -> None:
    own = rest[: rest.index("-m")] if "-m" in rest else rest  # what comes later is the module's
    said = [at for at, word in enumerate(own) if _TAKES_TEXT.fullmatch(word)]
    if said or "-e" in rest:
        place = said[0] if said else rest.index("-e")
        for here, line in placed(" ".join(rest[place + 1 : place + 2]), at):
            _follow(search, line, at=here, why=why, depth=depth + 1)
        return
    if "--run" in rest:
        _follow_packages(search, asked_of("npm", rest[rest.index("--run") + 1 :], at), depth)
        return
    if "-m" in rest:
        _follow_module(search, rest[rest.index("-m") + 1 :], at=at, why=why, depth=depth)
        return
    collects = "--test" in rest
    for word in rest:
        if not word.startswith("-"):
            if not (collects and search.is_test(search.resolved(word, at) or word)):
                _run(search, word, at, why, depth)
            if not collects:
                return


def _run(search: CallWalk, word: str, at: str, why: str, depth: int) -> None:
    """A script that an interpreter is given: as it is named, without its suffix, or the folder it lies in."""
    found = search.as_loaded(word, at)
    if found and found != search.resolved(word, at):
        if not search.is_test(found):
            search.found.setdefault(found, why)
        _follow_script(search, found, at, depth)
    else:
        _take(search, word, at, why, depth)


def _take(search: CallWalk, word: str, at: str, why: str, depth: int) -> None:
    """A file that is run or read as part of a check, and what it calls in its turn."""
    path = search.resolved(word, at)
    if not path:
        if ("/" in word or "." in word) and "$" not in word:
            search.found.setdefault(joined(at, word), why)
        return
    search.found.setdefault(path, why)
    _follow_script(search, path, at, depth)


def _follow_script(search: CallWalk, path: str, at: str, depth: int) -> None:
    """What a script runs that works in `at`; many enter their own folder first."""
    if path not in search.texts or not search.is_first(f"{at}:{path}"):
        return
    text, folder = search.texts[path], posixpath.dirname(path)
    if path.endswith(CODE):
        _follow_imports(search, path, text, depth)
        _follow_sessions(search, path, at, depth)
        return
    for start in dict.fromkeys((at, folder)):
        for here, line in placed(text, start, anew=judge_by_name(path) is not None):
            _follow(search, line, at=here, why=f"{path} runs it", depth=depth + 1)
            search.take_expected(line, here, f"{path} reads it")
    search.take_cases(text, folder, f"{path} reads it")


def _follow_sessions(search: CallWalk, path: str, at: str, depth: int) -> None:
    """What a file of nox or invoke runs."""
    text = search.texts[path]
    if not re.search(r"^\s*(?:import|from)\s+(?:nox|invoke)\b", text, re.MULTILINE):
        return
    places = [at, *(joined(at, word) for word in re.findall(r"""\.(?:chdir|cd)\(\s*['"]([^'"]+)""", text))]
    for said in re.findall(r"""\.run\w*\(\s*((?:[fr]?['"][^'"\n]*['"]\s*,?\s*)+)""", text):
        words = tuple(re.findall(r"""['"]([^'"\n]*)['"]""", said))
        for start in places:
            for here, line in placed(words[0], start) if " " in words[0] else [(start, words)]:
                _follow(search, line, at=here, why=f"{path} runs it", depth=depth + 1)


def _follow_imports(search: CallWalk, path: str, text: str, depth: int) -> None:
    """Of a script that a check runs, what lies beside it and is named for helping tests; the rest is what it tests."""
    folder = posixpath.dirname(path)
    modules = re.findall(r"^\s*(?:from|import)\s+(\w+)", text, re.MULTILINE)
    strings = re.findall(r"""['"]([\w./-]+\.\w{1,5})['"]""", text)
    for word in (*_RELATIVE.findall(text), *modules):
        found = search.as_loaded(word, folder)
        if found and _HELPING.search(posixpath.basename(word)):
            _take(search, found, "", f"{path} loads it", depth + 1)
        elif found and folder and found.startswith(f"{folder}/"):
            search.loaded.add(found)
    for word in strings:
        search.take_expected((word,), folder, f"{path} reads it")


def _follow_configuration(search: CallWalk, path: str) -> None:
    """Of a file that configures a runner, what it loads, and the projects that it is made of."""
    text, folder = search.texts[path], posixpath.dirname(path)
    if path.endswith(CODE):
        for word in _RELATIVE.findall(text):
            found = search.as_loaded(word, folder)
            if found and found not in search.found:
                search.found[found] = f"{path} loads it"
                if found in search.texts:
                    _follow_configuration(search, found)
    said = [text] if "workspace" in posixpath.basename(path) else _PROJECTS.findall(text)
    for word in (word for part in said for word in re.findall(r"""['"]([^'"\s]+)['"]""", part)):
        pattern = joined(folder, word.replace("<rootDir>/", ""))
        for each in search.paths:
            if configures_tests(each) and (matches(each, pattern) or matches(posixpath.dirname(each), pattern)):
                search.enter(posixpath.dirname(each))


def _follow_make(search: CallWalk, rest: list[str], at: str, depth: int) -> None:
    asked = asked_of_make(rest, at)
    search.enter(asked.at)
    if not search.is_first(f"make:{asked}"):
        return
    makefiles = [path for path in search.texts if path in asked.files or _is_makefile(path, asked.at)]
    for path in makefiles:  # which grows
        text = search.texts[path]
        for word in included(text):
            known = search.included if "*" in word or "?" in word else search.found
            known.setdefault(joined(asked.at, word), f"{path} includes it")
            _take(search, word, asked.at, f"{path} includes it", depth)
            found = search.resolved(word, asked.at)
            makefiles += [found] if found in search.texts and found not in makefiles else []
        search.take_values(text, asked.at, f"{path} reads it")
    rules = rules_of(with_values("\n".join(search.texts[path] for path in makefiles)))
    named = {name for name in rules if re.fullmatch(r"[\w.-]+", name) and name != ".PHONY"}
    search.targets.update(joined(asked.at, name) for name in named.union(asked.goals))
    if makefiles:
        goals = list(asked.goals) or [name for name in rules if not name.startswith(".")][:1]
        _follow_rules(search, makefiles[0], asked.at, rules, goals, depth)


def _is_makefile(path: str, folder: str) -> bool:
    is_here = posixpath.dirname(path) == folder and judge_by_name(path) is Judge.BUILD
    return is_here and "make" in posixpath.basename(path).lower()


def _follow_rules(search: CallWalk, path: str, at: str, rules: Rules, goals: list[str], depth: int) -> None:
    done: set[str] = set()
    while goals:
        goal = goals.pop()
        if goal in done or goal not in rules:
            continue
        done.add(goal)
        needs, recipe = rules[goal]
        goals += needs.split()
        for here, line in placed(recipe, at, anew=True):
            _follow(search, line, at=here, why=f"{path} runs it", depth=depth + 1)
            search.take_expected(line, here, f"{path} reads it")
        search.take_cases(recipe, at, f"{path} reads it")


def _follow_packages(search: CallWalk, asked: ScriptRequest, depth: int) -> None:
    for folder in asked.folders(_packages(search)):
        search.enter(folder)
        if not _follow_scripts(search, folder, asked.scripts, depth):
            _follow(search, asked.words, at=folder, why="a check names it", depth=depth + 1)


def _follow_everywhere(search: CallWalk, rest: list[str], at: str, depth: int) -> None:
    """A script of this name runs wherever there is one."""
    names = [word.rpartition("=")[2] for word in rest]
    for folder in ScriptRequest(at=at, words=(), every=True).folders(_packages(search)):
        search.enter(folder)
        _follow_scripts(search, folder, [name for word in names for name in word.split(",")], depth)


def _packages(search: CallWalk) -> Mapping[str, str]:
    """Folders with a manifest, and the names of the packages."""
    found = (path for path in search.paths if posixpath.basename(path) == MANIFEST and not search.is_test(path))
    plain = (path for path in found if judge_by_name(path) is Judge.MANIFEST and not is_example(path))
    return {posixpath.dirname(path): name_of_package(search.texts.get(path, "")) for path in sorted(plain)}


def _follow_scripts(search: CallWalk, folder: str, names: Iterable[str], depth: int) -> bool:
    """Whether there is any of them."""
    manifest = joined(folder, MANIFEST)
    scripts = scripts_of(search.texts.get(manifest, ""))
    known = [name for name in names if name in scripts]
    for name in known:
        if search.is_first(f"script:{folder}:{name}"):
            for here, line in placed(scripts[name], folder):
                _follow(search, line, at=here, why=f"{manifest} runs it", depth=depth + 1)
    return bool(known)
