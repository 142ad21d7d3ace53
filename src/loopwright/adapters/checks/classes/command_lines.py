"""The simple commands of a piece of shell, each with the folder it works in. A guess, never run. Pure."""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from loopwright.adapters.checks.classes.spelled_out import INTERPRETER, Stages, given_code, spelled_out

Command = tuple[str, ...]

_PREFIXES = frozenset(
    {"env", "exec", "time", "sudo", "command", "npx", "nohup", "xvfb-run", "c8", "nyc", "cross-env", "eval", "then"}
    | {"do", "else", "if", "while", "!", "@", "-", "{", "("}
)
_RUNNING = frozenset(
    {"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "coverage", "conda", "mamba", "bundle", "dotenv"}
)
# Options by which these only read what they are given, whatever the letter means to others.
_READING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("node", "nodejs"), ("--check", "-c")),
    **dict.fromkeys(("ruby", "perl"), ("-c", "-wc", "-cw")),
    **dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh"), ("-n",)),
    "php": ("-l", "--syntax-check"),
    "isort": ("-c",),
    "black": ("-c",),
    "bandit": ("-r",),
    **dict.fromkeys(
        ("cc", "gcc", "clang", "c++", "g++", "clang++", "rustc", "javac", "as", "nvcc"), ("-c", "-r", "-p")
    ),
    **dict.fromkeys(
        ("cp", "rm", "mv", "ln", "rsync", "install", "mkdir", "rmdir", "chmod", "tar"), ("-r", "-f", "-p", "-c")
    ),
    "grep": ("-r", "-c", "-p"),
}
# What they are given they look at, count or move, and nothing of it takes part in what follows.
LOOKING = frozenset(
    {"ruff", "flake8", "pylint", "mypy", "pyright", "basedpyright", "black", "isort", "bandit", "pycodestyle"}
    | {"pydocstyle", "vulture", "pyflakes", "codespell", "py_compile", "compileall", "json.tool", "yamllint"}
    | {"check-jsonschema", "taplo", "pre-commit", "eslint", "prettier", "stylelint", "tsc", "biome", "oxlint"}
    | {"standard", "xo", "jsonlint", "ajv", "markdownlint", "markdownlint-cli2", "shellcheck", "checkbashisms"}
    | {"shfmt", "hadolint", "actionlint", "djlint", "sqlfluff", "rubocop", "phpcs", "phpstan", "gofmt", "rustfmt"}
    | {"clang-format", "clang-tidy", "cppcheck", "javac", "rustc", "cc", "gcc", "g++", "clang", "c++", "clang++"}
    | {"grep", "cat", "test", "[", "wc", "ls", "file", "stat", "chmod", "chown", "touch", "cp", "mv", "rm", "ln"}
    | {"install", "tar", "gzip", "md5sum", "sha256sum", "git", "du", "head", "tail", "strip", "for"}
)
_SENDING = ("-C", "--directory", "--chdir", "--cwd", "--project")  # the last one only says where to look
_PIECE = re.compile(r"""&&|\|\||;|((?:"[^"]*"|'[^']*'|(?!&&|\|\||;).)+)""")
# What is worked out when it runs, in front of a path: mostly where the script lies, or the top of the repository.
WORKED_OUT = re.compile(r"""["']?\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)["']?(?=/)""")
_IN_FRONT = re.compile(r"""["']?\$\{?\w+\}?["']?/""")
_VARIABLE = re.compile(r"\$[({]?(\w+)(?::?-([^})]*))?[)}]?")


def joined(at: str, word: str) -> str:
    """The path that a word names to a command that works in `at`; one above the repository is its top."""
    path = posixpath.normpath(posixpath.join(at, _IN_FRONT.sub("", word, count=1).strip("\"'`(){}$")))
    return re.sub(r"^(?:\.\./?)+|^\.$", "", path)


def placed(text: str, at: str, *, anew: bool = False) -> Iterator[tuple[str, Command]]:
    """The commands with their folders. `anew`: every line starts in `at`, as in a recipe of make."""
    here, number, around = at, 0, list[str]()
    for line, command in _lines(text):
        here, number = (at if anew and line != number else here), line
        opened, words, closed = _unwrapped(command)
        around += [here] * opened
        if words[:1] in (["cd"], ["pushd"]):
            here = _entered(at, here, words[1] if len(words) > 1 else "")
        elif words[:1] == ["popd"]:
            here = at
        elif words:
            yield sent(here, tuple(words))
        for _ in range(min(closed, len(around))):
            here = around.pop()


def _entered(at: str, here: str, word: str) -> str:
    if word == "-":
        return at
    return here if not word or word.startswith(("/", "~")) or re.fullmatch(r"\$\W*\w+\W*", word) else joined(here, word)


def sent(at: str, command: Command) -> tuple[str, Command]:
    """Where what starts another command sends it: `uv run --directory part`, `env -C part`."""
    if not any(posixpath.basename(word) in _RUNNING | {"env"} for word in command[:3]):
        return at, command
    for place, word in enumerate(command):
        option, is_joined, value = word.partition("=")
        if option in _SENDING:
            after = place + 1 if is_joined else place + 2
            folder = value if is_joined else "".join(command[place + 1 : after])
            rest = (*command[:place], *command[after:])
            return sent(at if option == "--project" else joined(at, folder), rest)
    return at, command


def _unwrapped(command: Command) -> tuple[int, list[str], int]:
    """Without the brackets of a shell of its own; with how many open before it, and close after it."""
    if not command:
        return 0, [], 0
    said = " ".join(command)
    opened, closed = len(command[0]) - len(command[0].lstrip("(")), 0
    if said.count(")") > said.count("(") - opened:
        closed = len(command[-1]) - len(command[-1].rstrip(")"))
    words = [command[0][opened:], *command[1:]]
    words[-1] = words[-1][: len(words[-1]) - closed] if closed else words[-1]
    return opened, [word for word in words if word], closed


@lru_cache(maxsize=256)
def _lines(text: str) -> tuple[tuple[int, Command], ...]:
    return tuple(_commands(text))


def _commands(text: str) -> Iterator[tuple[int, Command]]:
    """Each with the number of its line."""
    whole, values = spelled_out(text)
    stages = Stages(values)
    for number, line in enumerate(WORKED_OUT.sub("$_", whole).split("\n")):
        for piece in _PIECE.findall(line):
            for stage in stages.run(piece.split("|")):
                try:
                    yield number, tuple(shlex.split(stage.strip(), comments=True))
                except ValueError:
                    yield number, tuple(stage.split())
    yield from ((number, (program, "-c", code)) for number, program, code in given_code(text))


def bare(command: Command) -> list[str]:
    """The command without what only prepares it: variables, wrappers, `uv run`."""
    words = [word.strip() for word in command if word.strip()]
    while words:
        first = words[0].lstrip("@+-") or words[0]
        base = posixpath.basename(first)
        if re.match(r"\w+=", first) or first in _PREFIXES:
            words = words[1:]
        elif words[1:2] == ["="]:
            words = words[2:]  # `commands = …` of tox
        elif base == "timeout" or (base in _RUNNING and len(words) > 1 and words[1] in ("run", "exec")):
            words = words[2:]
        else:
            return [_program(first), *words[1:]]
        while words and words[0].startswith("-") and base in ("npx", "env", "uv", "timeout", "coverage"):
            words = words[1:]
    return words


def _program(word: str) -> str:
    """A program that stands in a variable is what the variable's name says, or its usual value."""
    found = _VARIABLE.fullmatch(word) or re.fullmatch(r"\{(?:\[.*\])?(\w+)()\}", word)
    return word if found is None else found[2] or program_named(found[1])


def program_named(variable: str) -> str:
    """`PYTHON`, `python_bin` and `envpython` are python."""
    name = variable.lower()
    known = next((each for each in ("python", "node", "ruby", "perl", "bash") if each in name), name)
    return {"py": "python", "shell": "sh", "cc": "cc", "cxx": "c++"}.get(known, known)


def reads_by(program: str, rest: list[str]) -> frozenset[str]:
    """The options by which programs among the words only read. Those of a script are its own."""
    is_script = bool(INTERPRETER.fullmatch(program)) and "-m" not in rest and not only_reads(program, rest)
    return frozenset() if is_script else _reading((program, *rest))


def _reading(words: Iterable[str]) -> frozenset[str]:
    return frozenset(option for word in words for option in _READING.get(word.rstrip("0123456789."), ()))


def only_reads(program: str, rest: list[str]) -> bool:
    """Whether an interpreter is asked to look at its script, and not to run it."""
    own = itertools.takewhile(lambda word: word.startswith("-"), rest)  # what comes later is the script's
    return not _reading((program,)).isdisjoint(own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A word that a command is given to work with."""

    word: str
    is_value: bool  # of the option before it
    is_own: bool  # by a script of the repository, and not by a known runner, whose options may be mere switches


def handed(words: list[str]) -> Iterator[Handed]:
    """What the command does not only look at."""
    program, rest = posixpath.basename(words[0]), words[1:]
    module = rest[rest.index("-m") + 1 :] if "-m" in rest else []
    if only_reads(program, rest) or {program, *module[:1]} & LOOKING:
        return
    is_own = not module and "." in posixpath.basename(next((w for w in rest if not w.startswith("-")), words[0]))
    for before, word in itertools.pairwise(("", *(module[1:] if module else rest))):
        if not word.startswith("-"):
            yield Handed(word=word, is_value=before.startswith("--") and "=" not in before, is_own=is_own)
