"""Which files the checks call: those their commands name, and those that the named scripts and recipes run."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping

from loopwright.adapters.checks.classes.called_files import Called
from loopwright.adapters.checks.classes.command_lines import (
    LOOKING,
    Command,
    bare,
    joined,
    only_reads,
    placed,
    reads_by,
    sent,
)
from loopwright.adapters.checks.classes.makefiles import Rules, asked_of_make, exported, included, rules_of, with_values
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
from loopwright.adapters.checks.classes.spelled_out import CONTENT, INTERPRETER
from loopwright.adapters.checks.classes.steering_files import configures_tests
from loopwright.adapters.checks.classes.walk import CODE, HELPING, VALUE, CallWalk
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import Judge, is_example, judge_by_name

_TAKES_TEXT = re.compile(r"-[a-z]{0,3}c")  # `bash -lc`
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
_GIVES_OPTIONS = re.compile(
    r"(\w*(?:OPTIONS|OPTS?|STARTUP|PRELOAD|WRAPPER|RUNNER|PLUGINS|RCFILE|PROCESS_START)|BASH_ENV|ENV|MAKEFILES)=(.*)",
    re.IGNORECASE | re.DOTALL,
)
# Of these, what is loaded as modules are.
_LOADS = re.compile(
    r"--(?:require|import|loader|experimental-loader|preload|setup\w*|globals|reporter|runner|resolver)$"
)
_LOADING = frozenset(
    {"node", "nodejs", "mocha", "_mocha", "ts-node", "tsx", "nyc", "c8", "tap", "tape", "ava", "jasmine"}
)
_NEVER = ("--cov=", "--target=", "--package=", "--source=", "--include=", "--ignore=", "--exclude=", "--junit")
_PROJECTS = re.compile(r"""["']?(?:projects|workspace)["']?\s*:\s*\[([^\]]*)\]""")
_RELATIVE = re.compile(r"""(?:require\(|from|import\(?)\s*['"](\.{1,2}/[^'"]*)['"]""")


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
    return Called(
        files=search.found,
        targets=frozenset(search.targets),
        documents=frozenset(search.documents),
        included={**search.included, **vendored(path for path in paths if not is_test(path))},
        words=frozenset(search.words),
        places=frozenset(search.places),
        ran=tuple(search.ran),
        loaded=frozenset(search.loaded),
        alone=search.alone,
    )


def _is_waiting(search: CallWalk, path: str) -> bool:
    is_near = posixpath.dirname(path) in search.places
    return is_near and configures_tests(path) and f"configuration:{path}" not in search.seen


def _follow(search: CallWalk, command: Command, *, at: str, why: str, depth: int) -> None:
    """One simple command. `at` is the folder it works in."""
    search.words.update(part for word in command for part in re.split(r"[/=:,\s]", word))
    if depth > _DEEPEST:
        return
    for word in command:
        _take_setting(search, word, at, why, depth)
    words = bare(command)
    if not words:
        return
    search.ran[at, tuple(words)] = None
    search.enter_with(words, at)
    if "/" in words[0] or "." in words[0].lstrip("."):
        _take(search, words[0], at, why, depth)
    if why == _NAMED:
        search.take_named(words, at, why)
    _take_options(search, words, at, why, depth)
    _follow_program(search, words, at=at, why=why, depth=depth)


def _follow_program(search: CallWalk, words: list[str], *, at: str, why: str, depth: int) -> None:
    program, rest = posixpath.basename(words[0]), words[1:]
    if program in _MAKES:
        _follow_make(search, rest, at, depth)
    elif program in MANAGERS:
        _follow_packages(search, asked_of(program, rest, at), depth)
    elif program in ORCHESTRATORS:
        _follow_everywhere(search, rest, at, depth)
    elif program in _STEERED:
        for path in _STEERED[program]:
            _follow_script(search, joined(at, path), at, depth)
    elif INTERPRETER.fullmatch(program):
        if not only_reads(program, rest):
            _follow_interpreter(search, rest, at=at, why=why, depth=depth)
    elif program not in LOOKING:
        search.take_inputs(rest, at, why)


def _take_options(search: CallWalk, words: list[str], at: str, why: str, depth: int) -> None:
    program, rest = posixpath.basename(words[0]), words[1:]
    for word in rest:
        value = VALUE.fullmatch(word)
        if value and not word.startswith(_NEVER):
            load = _run if _LOADS.match(word.partition("=")[0]) else _take
            load(search, value[1], at, why, depth)
        if word.startswith("@") and search.resolved(word[1:], at):
            _take(search, word[1:], at, why, depth)  # further words stand in it
        if word.startswith(CONTENT):
            _take_each(search, word.removeprefix(CONTENT), at, why, depth)
    reading = reads_by(program, rest)
    for before, word in itertools.pairwise(rest):
        if before in reading:
            continue
        if _LOADS.match(before) or (before == "-r" and program in _LOADING):
            _run(search, word, at, why, depth)
        elif _TAKES_FILE.match(before):
            _take(search, word, at, why, depth)
        if before in ("-m", "-p"):
            search.take_module(word, at, why)


def _take_setting(search: CallWalk, word: str, at: str, why: str, depth: int) -> None:
    """A variable by which interpreters and runners are given options or a file to begin with."""
    said = _GIVES_OPTIONS.fullmatch(word)
    if said is None:
        return
    name, options = said[1].upper(), [part.strip("\"'") for part in said[2].split()]
    _take_options(search, ["node" if "NODE" in name else "", *options], at, why, depth)
    for option in options:
        if "PLUGINS" in name:
            search.take_module(option, at, why)
        elif search.as_loaded(path := re.sub(r"^-r(?=\.)", "", option), at):
            _run(search, path, at, why, depth)


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
        text = " ".join(rest[place + 1 : place + 2])
        search.take_imported(text, at, why)
        for here, line in placed(text, at):
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
        _take_each(search, word, at, why, depth)


def _take_each(search: CallWalk, word: str, at: str, why: str, depth: int) -> None:
    """A file that is run, or all that a pattern names."""
    if search.resolved(word, at) or not re.search(r"[*?\[]", word):
        _take(search, word, at, why, depth)
        return
    for path in search.matching(word, at, why):
        if not search.is_test(path):
            search.found.setdefault(path, why)
        _follow_script(search, path, at, depth)


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
        if found and HELPING.search(posixpath.basename(word)):
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
        for name, value in exported(text):
            _take_setting(search, f"{name}={value}", asked.at, f"{path} runs it", depth)
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
