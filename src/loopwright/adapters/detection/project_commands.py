"""The commands that a project's own files name: tox, nox, hatch, pdm, poe, the recipes of make. Runs none of them."""

from __future__ import annotations

import ast
import configparser
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from loopwright.adapters.detection.ways import Look

Command = tuple[str, ...]
_WRAPPERS = ("uv", "poetry", "pdm", "hatch", "run", "env")  # `uv run pytest` is pytest
_INSTALLED = re.compile(r"\{env_?site_?packages_?dir\}/(\S+)")  # what is installed there is the project itself
_RECIPE = re.compile(r"^\t[@-]*(.+)$", re.MULTILINE)
_FACTORS = re.compile(r"^\s*[\w.,!{}-]+:\s+", re.MULTILINE)  # `py3{8,9}-tests: pytest`: for such environments alone


def arguments_of(look: Look, tool: str) -> Command | None:
    """What the project calls the tool with; None where it never does."""
    for command in _commands(look):
        found = _after(command, tool)
        if found is not None:
            return found
    return None


def has_tox(look: Look) -> bool:
    """Its configuration may stand in four files."""
    within = look.in_pyproject("tool", "tox") is not None or "[tox:tox]" in look.text("setup.cfg")
    return within or look.has("tox.ini", "tox.toml")


def pytest_options(look: Look) -> Command:
    """Return the words of `addopts`, from the first file that pytest reads."""
    for name, section in (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest")):
        if said := _ini(look.text(name)).get(section, {}).get("addopts"):
            return _split(said)
    said = look.in_pyproject("tool", "pytest", "ini_options", "addopts") or look.in_pyproject(
        "tool", "pytest", "addopts"
    )
    if isinstance(said, list):
        return tuple(word for word in said if isinstance(word, str))
    return _split(
        said if isinstance(said, str) else _ini(look.text("setup.cfg")).get("tool:pytest", {}).get("addopts", "")
    )


def tox_dependencies(look: Look) -> tuple[Command, Command]:
    """The extras and the packages that tox installs before it runs the tests."""
    section = _tox_ini(look).get("testenv", {})
    extras = tuple(re.split(r"[\s,]+", section.get("extras", "").strip())) if section.get("extras") else ()
    lines = (line.strip() for line in section.get("deps", "").splitlines())
    return extras, tuple(line for line in lines if line and ":" not in line and "{" not in line)


def _commands(look: Look) -> Iterator[Command]:
    for line in (*_tox(look), *_scripts(look), *_RECIPE.findall(look.text("Makefile"))):
        yield _words(line)
    yield from _runs(_noxfile(look))


def _split(line: str) -> Command:
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return ()


def _words(line: str) -> Command:
    words = _split(line)
    at = next((index for index, word in enumerate(words) if not _leads(word)), len(words))
    return words[at:]


def _leads(word: str) -> bool:
    return word in _WRAPPERS or re.fullmatch(r"[A-Z_]+=.*", word) is not None


def _after(command: Command, tool: str) -> Command | None:
    """What follows `tool`, `python -m tool` or `coverage run -m tool`."""
    if not command:
        return None
    if PurePosixPath(command[0]).name == tool:
        return command[1:]
    starts = "python" in command[0] or PurePosixPath(command[0]).name == "coverage"
    if starts and "-m" in command and command[command.index("-m") + 1 :][:1] == (tool,):
        return command[command.index("-m") + 2 :]
    return None


def _tox_ini(look: Look) -> dict[str, dict[str, str]]:
    embedded = look.in_pyproject("tool", "tox", "legacy_tox_ini")
    return _ini(look.text("tox.ini") or (embedded if isinstance(embedded, str) else ""))


def _ini(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _tox(look: Look) -> Iterator[str]:
    """The commands of `[testenv]` first: other environments are for benchmarks, documentation and the like."""
    sections = _tox_ini(look)
    for name in sorted(sections, key=lambda name: name != "testenv"):
        if name.startswith("testenv"):
            commands = sections[name].get("commands", "").replace("\\\n", " ")
            yield from _FACTORS.sub("", _filled(look, commands)).splitlines()
    for table in (_toml(look.text("tox.toml")), look.in_pyproject("tool", "tox")):
        yield from _of_table(table)


def _filled(look: Look, commands: str) -> str:
    """What tox would put in place of its variables, as far as it names files of the project."""
    commands = re.sub(r"\{env:\w+(?::([^{}]*))?\}", lambda found: found[1] or "", commands)
    commands = re.sub(r"\{posargs(?::([^{}]*))?\}", lambda found: found[1] or "", commands)
    commands = re.sub(r"\{(?:tox_root|toxinidir)\}/", "", commands)
    return _INSTALLED.sub(lambda found: f"src/{found[1]}" if look.has_folder(f"src/{found[1]}") else found[1], commands)


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _of_table(table: object) -> Iterator[str]:
    """tox in TOML: `env_run_base` and each of `env` may have `commands`, a list of lists of words."""
    if not isinstance(table, dict):
        return
    environments = table.get("env")
    every = [table.get("env_run_base"), *(environments.values() if isinstance(environments, dict) else ())]
    for each in every:
        commands = each.get("commands") if isinstance(each, dict) else None
        for words in commands if isinstance(commands, list) else ():
            if isinstance(words, list):
                yield shlex.join(word for word in words if isinstance(word, str))


def _scripts(look: Look) -> Iterator[str]:
    """hatch, pdm and poe: a name stands for a line, a list of lines, or a table with a line."""
    environments = look.in_pyproject("tool", "hatch", "envs")
    for each in environments.values() if isinstance(environments, dict) else ():
        yield from _lines(each.get("scripts") if isinstance(each, dict) else None)
    yield from _lines(look.in_pyproject("tool", "pdm", "scripts"))
    yield from _lines(look.in_pyproject("tool", "poe", "tasks"))


def _lines(scripts: object) -> Iterator[str]:
    for said in scripts.values() if isinstance(scripts, dict) else ():
        value = said.get("cmd") if isinstance(said, dict) else said
        for line in value if isinstance(value, list) else (value,):
            if isinstance(line, str):
                yield line


def session_of_tests(look: Look) -> str:
    """The name of nox's session that runs the tests: the first one that does; empty where none is seen to."""
    for node in ast.walk(_noxfile(look)):
        if isinstance(node, ast.FunctionDef) and (name := _session(node)) and any(map(_tests, _runs(node))):
            return name
    return ""


def _session(function: ast.FunctionDef) -> str:
    """The name of a session is that of its function, unless it is given another one."""
    for each in function.decorator_list:
        named = each.keywords if isinstance(each, ast.Call) else []
        decorator = each.func if isinstance(each, ast.Call) else each
        if "session" in ast.unparse(decorator).split("."):
            given = _constants(keyword.value for keyword in named if keyword.arg == "name")
            return next(given, function.name)
    return ""


def _tests(command: Command) -> bool:
    return any(_after(command, tool) is not None for tool in ("pytest", "unittest"))


def _noxfile(look: Look) -> ast.Module:
    try:
        return ast.parse(look.text("noxfile.py"))
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def _runs(tree: ast.AST) -> Iterator[Command]:
    """`session.run("pytest", "tests")`, where all words are written out, in the order of the file."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    for call in sorted(calls, key=lambda node: node.lineno):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "run":
            yield tuple(_constants(call.args))


def _constants(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return
        yield node.value
