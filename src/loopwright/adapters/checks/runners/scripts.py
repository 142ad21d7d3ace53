"""Which runner a script, a target or a task starts, from the texts of the files that say so. Pure."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from configparser import Error, RawConfigParser
from types import MappingProxyType

from loopwright.adapters.checks.runners.commands import FoundRunner, find_runner, is_starter, name_of, passing_on
from loopwright.adapters.checks.runners.table import NO_TEST_TOOLS

Texts = Mapping[str, str]  # of files of the base, by path
NO_FILES: Texts = MappingProxyType({})
_Command = tuple[str, ...]

# Read at the root. Where several of a row are there, the first counts.
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_OTHERS = ("package.json", "composer.json", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py")
_MORE = ("hatch.toml", "pixi.toml")
_DEEPEST = 6  # scripts that call scripts
_ELSEWHERE = ("-C", "-f", "-w", "-r", "--prefix", "--workspace", "--workspaces", "--filter", "--cwd", "--directory")
_RUNS_TASKS = (
    *("npm", "pnpm", "yarn", "composer", "rake", "invoke", "inv", "nx", "turbo", "lerna", "bazel", "gradle"),
    *("gradlew", "ant", "sbt", "lein", "ninja", "meson", "docker"),
)
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")
_BUILDING = ("build", "check", "clippy", "doc", "fmt", "format", "vet")
_NOTHING = frozenset(("true", "false", ":", "cd", "set", "export", "exit"))


def steering_files(commands: Iterable[_Command]) -> tuple[str, ...]:
    """The files that may say which runner these commands start: those of known tools, and scripts that are named."""
    words = (word for argv in commands for each in (argv, *commands_of(_shell_text(argv))) for word in each)
    named = {word.removeprefix("./") for word in words if re.fullmatch(r"(?:\./)?[\w][\w./-]*", word)}
    known = (*_MAKEFILES, *_JUSTFILES, *_OTHERS, *_MORE)
    return (*known, *sorted(name for name in named - set(known) if ".." not in name and not name.endswith("/")))


def find_through_files(argv: _Command, texts: Texts = NO_FILES) -> FoundRunner | None:
    """The runner this command starts, by itself or through a file of `texts`."""
    return _find(argv, texts, _DEEPEST)


def starts_what_it_says_elsewhere(argv: _Command) -> bool:
    """Whether the command is a script or a target, so that its words alone do not say what it runs."""
    name = name_of(argv[0])
    if text := _shell_text(argv):
        return any(starts_what_it_says_elsewhere(command) for command in commands_of(text) if command)
    if "/" in argv[0] and not argv[0].startswith("/"):
        return True
    if name in _SHELLS or re.fullmatch(r"(?:python|pypy)[\d.]*|node|ruby|perl|php|deno|bun", name):
        return len(argv) > 1 and not argv[1].startswith("-")
    return name in _TASKS or name in _RUNS_TASKS or is_starter(argv)


def may_count(argv: _Command) -> bool:
    """Whether tests may be counted in what it prints. What builds, lints or infers types has none to count."""
    if text := _shell_text(argv):
        return any(may_count(command) for command in commands_of(text) if command)
    words = [name_of(word) for word in argv]
    if words[0] in ("cargo", "go", "dotnet"):
        return words[1:2] not in ([verb] for verb in _BUILDING)
    program = words[words.index("-m") + 1 :][:1] if "-m" in words else words[:1]
    return not (NO_TEST_TOOLS | _NOTHING).intersection(words if is_starter(argv) else program)


def _shell_text(argv: _Command) -> str:
    """What a shell is told to run: `sh -c TEXT`, `bash -lc TEXT`."""
    if not argv or name_of(argv[0]) not in _SHELLS:
        return ""
    at = next((at for at, word in enumerate(argv[:-1]) if re.fullmatch(r"-[a-z]*c", word)), None)
    return "" if at is None else argv[at + 1]


def _find(argv: _Command, texts: Texts, depth: int) -> FoundRunner | None:
    if not argv or depth == 0:
        return None
    if (found := find_runner(argv)) is not None:
        return found
    places = range(len(argv)) if is_starter(argv) else range(1)
    for place in places:
        found = _through(argv[place:], texts, depth - 1)
        if found is not None:
            return FoundRunner(runner=found.runner, argv=(*argv[:place], *found.argv), env=found.env)
    return None


def _through(argv: _Command, texts: Texts, depth: int) -> FoundRunner | None:
    name = name_of(argv[0])
    if name in ("npm", "pnpm", "yarn", "bun", "composer"):
        return _package_script(argv, texts, depth)
    if text := _shell_text(argv):
        return _in(commands_of(text), argv, texts, depth)
    if name in _SHELLS:
        return _shell_script(argv, next((word for word in argv[1:] if not word.startswith("-")), ""), texts, depth)
    if argv[0].removeprefix("./") in texts:
        return _shell_script(argv, argv[0], texts, depth)
    look = _TASKS.get(name)
    return None if look is None else _in(look(argv, texts), argv, texts, depth)


def _in(commands: Iterable[_Command], argv: _Command, texts: Texts, depth: int) -> FoundRunner | None:
    """The first of them that is known, out of reach but for its environment."""
    for command in commands:
        if (found := _find(command, texts, depth)) is not None:
            found = found.out_of_reach(argv)
            return _let_through(found) if name_of(argv[0]) == "tox" else found
    return None


def _let_through(found: FoundRunner) -> FoundRunner:
    """tox hides the environment from what it runs, unless it is told."""
    variable = found.runner.variable
    override = ";".join(f"{section}.pass_env+={variable}" for section in ("testenv", "env_run_base"))
    return FoundRunner(runner=found.runner, argv=found.argv, env=(("TOX_OVERRIDE", override),) if variable else ())


def commands_of(text: str) -> Iterator[_Command]:
    """The simple commands of a piece of shell, without the variables set in front of them. A guess, never run."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();&|")
        lexer.whitespace_split = True
        command: list[str] = []
        try:
            for word in (*lexer, ";"):
                if set(word) <= set("();&|"):
                    yield tuple(command)
                    command = []
                elif command or not re.fullmatch(r"\w+=.*|[!{]|then|do|else|if|exec", word, re.DOTALL):
                    command.append(word)
        except ValueError:  # a quote that does not end on its line
            continue


# Scripts of a package


def _package_script(argv: _Command, texts: Texts, depth: int) -> FoundRunner | None:
    manager = name_of(argv[0])
    if any(word.partition("=")[0] in _ELSEWHERE or word == "-ws" for word in argv):
        return None
    words = [word for word in argv[1:] if not word.startswith("-")]
    words = words[1:] if words[:1] in (["run"], ["run-script"]) else words
    name = {"t": "test", "tst": "test"}.get(words[0], words[0]) if words else ""
    scripts = _scripts(texts.get("composer.json" if manager == "composer" else "package.json", ""))
    commands = [command for command in commands_of(scripts.get(name, "")) if command]
    if not commands:
        return None
    last = _find(commands[-1], texts, depth)
    if last is not None and last.argv[:-1][: len(commands[-1])] == commands[-1] and last.takes_words_at_its_end:
        # What the last command takes at its end is taken by the whole script: that is how words are passed on.
        argv = passing_on(argv, separator=manager in ("npm", "composer"))
        return FoundRunner(runner=last.runner, argv=(*argv[:-1], *last.argv[len(commands[-1]) :]), env=last.env)
    return _in(commands, argv, texts, depth)


def _scripts(text: str) -> Mapping[str, str]:
    try:
        scripts = json.loads(text).get("scripts", {})
    except (ValueError, AttributeError):
        return {}
    if not isinstance(scripts, dict):
        return {}
    return {name: "\n".join(script) if isinstance(script, list) else str(script) for name, script in scripts.items()}


# Scripts of a shell


def _shell_script(argv: _Command, name: str, texts: Texts, depth: int) -> FoundRunner | None:
    text = texts.get(name.removeprefix("./"), "")
    first = text.partition("\n")[0]
    if first.startswith("#!") and not re.search(r"\b(?:ba|da|z|k)?sh\b", first):
        return None
    return _in(commands_of(text), argv, texts, depth)


# Tasks of other files


def _make(argv: _Command, texts: Texts) -> Iterator[_Command]:
    if any(word in _ELSEWHERE for word in argv):
        return
    text = next((texts[name] for name in _MAKEFILES if name in texts), "")
    values = {"MAKE": "make"} | dict(re.findall(r"^(?:export\s+)?(\w+)\s*[:?]{0,2}=[ \t]*(.*)$", text, re.MULTILINE))
    values |= dict(word.split("=", 1) for word in argv[1:] if "=" in word)
    for _ in range(3):
        text = re.sub(r"\$[({](\w+)[)}]", lambda m: values.get(m[1], ""), text)
    goals = [word for word in argv[1:] if not word.startswith("-") and "=" not in word]
    yield from _recipes(text.replace("$$", "$"), goals)


def _just(argv: _Command, texts: Texts) -> Iterator[_Command]:
    text = next((texts[name] for name in _JUSTFILES if name in texts), "")
    values = dict(re.findall(r"^(\w+)\s*:=\s*[\"']?(.*?)[\"']?\s*$", text, re.MULTILINE))
    text = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda m: values.get(m[1], ""), text)
    yield from _recipes(text, [word for word in argv[1:] if not word.startswith("-")])


def _recipes(text: str, goals: list[str]) -> Iterator[_Command]:
    """What the recipes of the goals run, and of what they depend on. Without a goal the first one counts."""
    rules: dict[str, tuple[list[str], list[str]]] = {}
    recipe: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        head = re.match(r"@?([\w./%-]+(?:[ \t]+[\w./%-]+)*)[^:=\n]*::?(?!=)(.*)", line)
        if line[:1] in (" ", "\t"):
            recipe.append(line.strip().lstrip("@-+ "))
        elif head:
            after, _, same_line = head[2].partition(";")
            recipe = [same_line]
            rules |= {name: (after.split(), recipe) for name in head[1].split()}
    wanted = goals or [name for name in rules if not name.startswith(".")][:1]
    for goal in wanted:  # which grows: a rule is taken once
        needs, lines = rules.pop(goal, ([], []))
        wanted += needs
        yield from commands_of("\n".join(lines))


def _tox(argv: _Command, texts: Texts) -> Iterator[_Command]:
    wanted = _chosen(argv, ("-e", "--env"))
    tables = _toml(texts.get("pyproject.toml", ""), "tool", "tox")
    for text in (texts.get("tox.ini", ""), str(tables.get("legacy_tox_ini", "")), texts.get("setup.cfg", "")):
        yield from _tox_ini(text, wanted)
    for table in (_toml(texts.get("tox.toml", "")), tables):
        inner = table.get("env")
        known = dict(inner) if isinstance(inner, dict) else {}
        for name in wanted or (*known, ""):
            yield from (tuple(map(str, command)) for command in _lists(known.get(name, table.get("env_run_base"))))


def _chosen(argv: _Command, options: tuple[str, ...]) -> frozenset[str]:
    """The environments or sessions a command names; none: all of them."""
    after = (argv[at + 1] for at in range(len(argv) - 1) if argv[at] in options)
    joined = (word.partition("=")[2] for word in argv if word.partition("=")[0] in options)
    return frozenset(name for words in (*after, *joined) for name in words.split(",") if name)


def _tox_ini(text: str, wanted: frozenset[str]) -> Iterator[_Command]:
    parser = RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except Error:
        return
    named = {
        section.rpartition("testenv")[2].removeprefix(":"): section
        for section in parser.sections()
        if re.fullmatch(r"(?:tox:)?testenv(?::.*)?", section)
    }
    chosen = named if not wanted else {name: named.get(name, named.get("", "")) for name in wanted}
    for section in filter(None, chosen.values()):
        usual = parser.get(named.get("", section), "commands", fallback="")
        said = re.sub(r"\{[^{}\s]*python\}", "python", parser.get(section, "commands", fallback=usual))
        said = re.sub(r"\{[^{}]*\}", "", said)
        yield from commands_of(re.sub(r"^(?:[\w,!.-]+:\s+)?-?\s*", "", said, flags=re.MULTILINE))


def _lists(value: object) -> Iterator[list[object]]:
    """Every command of a table of tox: a list of words within a list named `commands`."""
    if not isinstance(value, dict):
        return
    commands = value.get("commands")
    yield from (command for command in commands if isinstance(command, list)) if isinstance(commands, list) else ()


def _nox(argv: _Command, texts: Texts) -> Iterator[_Command]:
    wanted = _chosen(argv, ("-s", "--session", "--sessions"))
    try:
        tree = ast.parse(texts.get("noxfile.py", ""))
    except (SyntaxError, ValueError):
        return
    sessions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in (node for session in sessions if not wanted or session.name in wanted for node in ast.walk(session)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
            yield tuple(arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def _toml_tasks(*places: tuple[str, ...]) -> Callable[[_Command, Texts], Iterator[_Command]]:
    """Tasks of a table of pyproject.toml or a file of the tool's own; `*` in a place stands for any key."""

    def look(argv: _Command, texts: Texts) -> Iterator[_Command]:
        wanted = {word.rpartition(":")[2] for word in argv[1:] if not word.startswith("-")} | set(argv[1:])
        for file, *path in places:
            for table in _tables(_toml(texts.get(file, "")), path):
                for name in wanted & set(table):
                    yield from commands_of("\n".join(_told(table[name])))

    return look


def _told(task: object) -> Iterator[str]:
    if isinstance(task, str):
        yield task
    for inner in task if isinstance(task, list) else task.values() if isinstance(task, dict) else ():
        yield from _told(inner)


def _tables(table: Mapping[str, object], path: list[str]) -> Iterator[Mapping[str, object]]:
    if not path:
        yield table
        return
    for key in table if path[0] == "*" else [path[0]]:
        inner = table.get(key)
        if isinstance(inner, dict):
            yield from _tables(inner, path[1:])


def _toml(text: str, *path: str) -> Mapping[str, object]:
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
    return next(_tables(whole, list(path)), {})


_PYPROJECT = "pyproject.toml"
_TASKS: Mapping[str, Callable[[_Command, Texts], Iterator[_Command]]] = {
    "make": _make,
    "gmake": _make,
    "just": _just,
    "tox": _tox,
    "nox": _nox,
    "hatch": _toml_tasks((_PYPROJECT, "tool", "hatch", "envs", "*", "scripts"), ("hatch.toml", "envs", "*", "scripts")),
    "pdm": _toml_tasks((_PYPROJECT, "tool", "pdm", "scripts")),
    "poe": _toml_tasks((_PYPROJECT, "tool", "poe", "tasks")),
    "rye": _toml_tasks((_PYPROJECT, "tool", "rye", "scripts")),
    "pixi": _toml_tasks(("pixi.toml", "tasks"), (_PYPROJECT, "tool", "pixi", "tasks")),
    "task": _toml_tasks((_PYPROJECT, "tool", "taskipy", "tasks")),
}
