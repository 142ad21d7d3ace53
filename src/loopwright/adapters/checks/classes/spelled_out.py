"""Names that a piece of shell does not write out: held by variables, listed by a pattern, read from a file. Pure.

The same text with these names written out, a pattern where several files bear one, so that whoever follows commands
need not know by how many spellings a script is run.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Values = Mapping[str, tuple[str, ...]]

INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|bun|deno|sh|bash|zsh|dash|ksh|ruby|perl|php|tsx|ts-node|lua|Rscript|pwsh|source|\.)"
    r"[\d.]*"
)
CONTENT = "$<"  # before the name of a file whose words become those of a command
_FILTERS = re.compile(r"(?:g?sed|[gmn]?awk|jq|yq)")  # with a program in a file of their own
# Of these the words are compared or shown, and never become a part of a command.
_SHOWING = frozenset({"test", "[", "[[", "echo", "printf", "case", "return", "exit", "expr", "let", ":"})
_ASSIGNED = re.compile(
    r"""(?:^|;|&&|\bdo\b|\bthen\b)[ \t]*(?:(?:export|readonly|local)[ \t]+)?(\w+)="""
    r"""(?:"([^"\n;|&<>`$]*)"|'([^'\n;|&<>`$]*)'|([\w./@*?-]+)|"?(\$\((?:cat|<)[^()\n]*\))"?)[ \t]*(?=;|&&|$)""",
    re.MULTILINE,
)
_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\s+([^\n;]+)")
_READ_BY_LOOP = re.compile(r"([^\n|;]{1,200})\|\s*while\s+(?:IFS=\S*\s+)?read\s+(?:-\w\s+)*(\w+)")
_FED = re.compile(
    r"\bread\s+(?:-\w\s+)*(\w+)\s*(?:;|\n)(?:(?!\bread\b).){0,2000}?\bdone\s*<\s*<\(([^()\n]*)\)", re.DOTALL
)
_ASKED = re.compile(r"\$\(\s*([^()$`<][^()`]*)\)|`([^`]*)`")
_HANDED = re.compile(r"<\(\s*cat\s+([^()|]+)\)")
_CONTENT = re.compile(r"""["']?(?:\$\(\s*(?:cat\s|<)([^()]*)\)|`\s*cat\s([^`]*)`)["']?""")
_OUTPUT = re.compile(r"\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`")
_WRITTEN = re.compile(r"(?<![2&])>{1,2}(?!&|\s*/dev/)\s*([\w./$-]+)")
_STDIN = re.compile(r"(?<!<)<(?![<(&])\s*([^\s<>|;&]+)")
_HEREDOC = re.compile(r"^([^\n]*?)<<-?\s*(['\"]?)(\w+)\2[^\n]*\n(.{0,20000}?)\n\s*\3\b", re.DOTALL | re.MULTILINE)
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?:\[@\])?\}|(\w+))")
_DATA = re.compile(r">\s*[\w./$-]*\.(?!(?:ba|z|k)?sh\b)\w+")
_KEEPS = re.compile(r"\s*(?:export\s+|local\s+|readonly\s+)?\w+=\S*\s*")
# A variable where a command begins: it is run.
_RUN = re.compile(r"""((?:^|[;&|]|\b(?:do|then|else)\b)[ \t]*)(?=["']?[\w./-]*\$\{?(\w+))""", re.MULTILINE)
_MOST = 40  # values of one variable
_DEEPEST = 4  # variables of variables


def spelled_out(text: str) -> tuple[str, Values]:
    """With what has one value filled in; and the values of what has several, as loops have."""
    whole = _HANDED.sub(r"\1", _without_data(text).replace("\\\n", " ").replace("\\;", " + "))
    known: dict[str, tuple[str, ...]] = {}
    for _ in range(_DEEPEST):
        whole = _ASKED.sub(lambda m: " ".join(listed(m[1] or m[2])) or m[0], whole)
        known = _values(whole)
        filled = _filled_in(whole, known)
        if filled == whole:
            break
        whole = filled
    return whole, {name: values for name, values in known.items() if len(values) > 1}


def _filled_in(text: str, known: Values) -> str:
    only = {name: values[0] for name, values in known.items() if len(values) == 1}
    text = _RUN.sub(lambda m: f"{m[1]}sh " if _is_pattern(only.get(m[2], "")) else m[0], text)
    return _VARIABLE.sub(lambda m: only.get(m[1] or m[2], m[0]), text)


def _values(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for name, *said in _ASSIGNED.findall(text):
        found.setdefault(name, {})["".join(said)] = None
    for name, said in _LOOP.findall(text):
        found.setdefault(name, {}).update(dict.fromkeys(_words(said)))
    for said, name in _READ_BY_LOOP.findall(text):
        found.setdefault(name, {}).update(dict.fromkeys(listed(said)))
    for name, said in _FED.findall(text):
        found.setdefault(name, {}).update(dict.fromkeys(listed(said)))
    return {name: tuple(itertools.islice(values, _MOST)) for name, values in found.items() if any(values)}


def _words(said: str) -> list[str]:
    try:
        return shlex.split(said, comments=True)
    except ValueError:
        return said.split()


def listed(said: str) -> tuple[str, ...]:
    """Names and patterns of what a command lists; nothing where it does something else."""
    words = [word for word in _words(said.partition("|")[0]) if not re.match(r"\d?>", word)]
    match words:
        case ["ls", *rest]:
            plain = [word for word in rest if not word.startswith("-")]
            return tuple(part for word in plain for part in ((word,) if _is_pattern(word) else (word, "*")))
        case ["find", *rest]:
            return tuple(_found(rest))
        case ["git", "ls-files", *rest]:
            named = (word for word in rest if not word.startswith("-"))
            return tuple(f"**/{word}" if word.startswith("*") else word for word in named)
        case ["echo", *rest] | ["printf", _, *rest]:
            return tuple(word for word in rest if _is_pattern(word))
        case ["wildcard", *rest]:
            return tuple(rest)
        case _:
            return ()


def _is_pattern(word: str) -> bool:
    return re.search(r"[*?\[]", word) is not None


def _found(rest: list[str]) -> Iterator[str]:
    """`find`: its folders, and the names that it is to look for."""
    starts = list(itertools.takewhile(lambda word: not word.startswith(("-", "!", "(", "\\")), rest)) or ["."]
    three = zip(("", "", *rest), ("", *rest), rest, strict=False)
    asked = [word for no, option, word in three if option in ("-name", "-iname") and no not in ("!", "-not")]
    for start in starts:
        yield from (f"{start.rstrip('/')}/**/{name}" for name in asked or ["*"])


@dataclass(slots=True)
class Stages:
    """The commands of pipes, one after another; knows what earlier ones wrote."""

    values: Values
    written: set[str] = field(default_factory=set)

    def run(self, stages: list[str]) -> Iterator[str]:
        """Of a pipe what judges, each as if its names had been written out.

        One whose output is looked at is what is tested, and is left out: the first of several, or what is kept in a
        file; unless it is given what an earlier one has left there, for then it takes part in the comparison.
        """
        for before, stage in itertools.pairwise(stages) if len(stages) > 1 else (("", stages[0]),):
            for said in self._each(stage):
                for spelled in list(_by_others(said, before)) or [said]:
                    yield from self._plain(spelled)
        self.written.update(name for stage in stages for name in _WRITTEN.findall(stage))

    def _plain(self, stage: str) -> Iterator[str]:
        if _WRITTEN.search(stage) is not None and not self._compares(stage):
            return
        said = _unwritten(stage)
        contents = [word for held in _CONTENT.findall(said) for word in "".join(held).split()]
        outer = _OUTPUT.sub("$_", said)
        if outer == said:
            yield said
        elif _first(outer) not in _SHOWING and not _KEEPS.fullmatch(outer):
            yield " ".join((outer, *(f"{CONTENT}{word}" for word in contents)))

    def _compares(self, stage: str) -> bool:
        """Whether it is given what was kept of an earlier command: one filter of it, or a script that gets two."""
        words = _words(_unwritten(stage))
        given = {word.lstrip("<") for word in words[1:]} & self.written
        return len(given) > 1 or (bool(given) and bool(words) and _FILTERS.fullmatch(words[0]) is not None)

    def _each(self, stage: str) -> Iterator[str]:
        """Once for every value of a variable that has several."""
        used = [name for m in _VARIABLE.finditer(stage) if (name := m[1] or m[2]) in self.values]
        for value in self.values[used[0]] if used else ():
            yield _filled_in(stage, {used[0]: (value,)})
        if not used:
            yield stage


def _unwritten(stage: str) -> str:
    return _WRITTEN.sub("", stage)


def _first(stage: str) -> str:
    words = [word for word in stage.split() if word not in ("if", "while", "elif", "!", "then", "do", "else", "{", "(")]
    return words[0] if words else ""


def _by_others(stage: str, before: str) -> Iterator[str]:
    """Commands that another one starts, or whose script comes by way of another."""
    words = [word for word in _words(stage) if word]
    program = words[0].rpartition("/")[2] if words else ""
    if program == "find":
        for place in (place for place, word in enumerate(words) if word in ("-exec", "-execdir", "-ok")):
            command = list(itertools.takewhile(lambda word: word not in (";", "+"), words[place + 1 :]))
            kept = "".join(f" > {name}" for name in _WRITTEN.findall(stage))
            yield from (shlex.join(_filled(command, each)) + kept for each in _found(words[1:]))
    elif program == "xargs" and (names := listed(before)):
        command = _of_xargs(words[1:])
        yield from (shlex.join(_filled(command, each)) for each in names)
    elif program == "run-parts":
        yield from (f"sh {word.rstrip('/')}/*" for word in words[1:] if not word.startswith("-"))
    elif INTERPRETER.fullmatch(program) and _reads_stdin(words[1:]):
        fed = _STDIN.findall(stage) or (_words(before)[1:] if before.split()[:1] == ["cat"] else ())
        yield from (f"{words[0]} {word}" for word in fed if not word.startswith("-"))


def _filled(command: list[str], name: str) -> list[str]:
    if any("{}" in word for word in command):
        return [word.replace("{}", name) for word in command]
    return [*command, name]


def _of_xargs(words: list[str]) -> list[str]:
    """The command that it starts, with what stands for a name as `{}`."""
    mark, waiting = "{}", list(words)
    while waiting and waiting[0].startswith("-"):
        option = waiting.pop(0)
        if option.startswith("-I"):
            mark = option[2:] or waiting.pop(0) if option[2:] or waiting else mark
        elif option in ("-n", "-P", "-L", "-d", "-s", "-a", "-E") and waiting:
            waiting.pop(0)
    return [word.replace(mark, "{}") for word in waiting]


def _reads_stdin(rest: list[str]) -> bool:
    """Whether an interpreter has no script but what comes in."""
    own = list(itertools.takewhile(lambda word: not word.startswith("<"), rest))
    first = next((word for word in own if word in ("-", "-s") or not word.startswith("-")), "-")
    return first in ("-", "-s") and not any(re.fullmatch(r"-[a-z]{0,3}[cem]|--\w.*", word) for word in own)


def _without_data(text: str) -> str:
    """Without what is only written to a file that nobody runs: lines of it may look like commands."""
    return _HEREDOC.sub(lambda m: m[1] if _DATA.search(m[0].partition("\n")[0]) else m[0], text)


def given_code(text: str) -> Iterator[tuple[int, str, str]]:
    """Code that stands in the text, for an interpreter that reads it from there: its line, the program, the code."""
    for found in _HEREDOC.finditer(text):
        program = (_words(found[1]) or [""])[0]
        if INTERPRETER.fullmatch(program):
            yield text.count("\n", 0, found.start()), program, found[4]
