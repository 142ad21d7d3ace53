"""Where tests list folders: what is said there, with what was said before of the names that stand there."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from loopwright.kernel.gates import matches

_WHOLLY = re.compile(
    r"\b(?:iterdir|listdir|scandir|walk|readdir(?:Sync)?|read_dir|ReadDir|WalkDir|resource_listdir)\b|\bcontents\("
)
LISTING = re.compile(rf"{_WHOLLY.pattern}|\b(?:r?glob|iglob|Glob|globSync)\b")
_GIVEN = re.compile(r"^\s*(?:const |let |var |static )?(\w+)\s*(?::[^=\n]*)?:?=(?!=)")
_HELD = re.compile(r"\bwith\b.*\bas\s+(\w+)\s*\)?:")
_IMPORTED = re.compile(r"^\s*(?:from\s+([\w.]+)\s+)?import\s+([^\n#(]+)")
_NAME = re.compile(r"\w+")
# A package by its name as code has it, or by where it lies.
_PACKAGE = re.compile(r"\b(?:files|contents)\(\s*([A-Za-z_][\w.]*)\s*\)|\b([A-Za-z_][\w.]*)\.__(?:file|path)__")
_PLACE = re.compile(r"(?!\.)[\w./-]+")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
# Whatever stands between two quotes, for an apostrophe in a comment must hide nothing.
LITERAL = re.compile(r"""(?<=["'`])[^"'`\n]{2,200}(?=["'`])""")
FILLED_IN = re.compile(r"\$?\{[^{}]*\}|%[sdv]|%\(\w+\)s")
_DEFINED = re.compile(
    r"""(?:^[ \t]*@[^\n]*\n)* [^\n]*? \b(?:
          (?:def|function\*?|func|fn|sub)\s+(?P<said>\w+)\s*\(
        | (?:const|let|var)\s+(?P<given>\w+)\s*=\s*(?:async\s*)?(?:function\b|\([^)\n]*\)\s*=>|\w+\s*=>))
    """,
    re.VERBOSE | re.MULTILINE,
)


def told_by_callers(tests: Mapping[str, str]) -> Iterator[str]:
    """The same where a function lists what it is told to: with what its callers, or what stands above it, tell it."""
    for text in tests.values():
        for found, following in itertools.pairwise((*_DEFINED.finditer(text), None)) if LISTING.search(text) else ():
            name = found and (found["said"] or found["given"])
            body = text[found.start() : following.start() if following else len(text)] if found else ""
            if not name or not LISTING.search(body):
                continue
            call = re.compile(rf"(?<!\w){name}\s*\(([^()\n]*[\"'`][^()\n]*)\)")
            told = [said for other in tests.values() if name in other for said in call.findall(other)]
            told += re.findall(r"^[ \t]*@([^\n]*)", body, re.MULTILINE)
            for line in lines_meant(body, lambda line: bool(LISTING.search(line)), text) if told else ():
                yield from (f"{said} {line}" for said in told)


def lines_meant(text: str, wanted: Callable[[str], bool] = bool, around: str = "") -> Iterator[str]:
    """Lines, with those before them that gave the names in them a meaning."""
    lines, all_lines = (
        re.sub(r"(?<=[(\[,.])\s*\n\s*|\s*\n\s*(?=[.)/])", "", each).splitlines() for each in (text, around or text)
    )
    given = {name: line for line in all_lines for name in (*_GIVEN.findall(line), *_HELD.findall(line))}
    modules = dict(pair for line in all_lines for pair in _imported(line))
    for line in filter(wanted, lines):
        said = (given[name] for name in dict.fromkeys(_NAME.findall(line)) if name in given)
        whole = " ".join((FILLED_IN.sub("*", line), *said))
        yield _PACKAGE.sub(lambda found: _with_whole_name(found, modules), whole)


def _imported(line: str) -> Iterator[tuple[str, str]]:
    """Names of one word, with the whole name of what they stand for."""
    found = _IMPORTED.match(line)
    for word in found[2].split(",") if found else ():
        name, _, other = (part.strip() for part in word.partition(" as "))
        if found and (found[1] or other):
            yield other or name, f"{found[1]}.{name}" if found[1] else name


def _with_whole_name(found: re.Match[str], modules: Mapping[str, str]) -> str:
    name = found[1] or found[2]
    return found[0].replace(name, modules.get(name, name))


def in_folder_gone_to(text: str, listing: tuple[str, ...]) -> Iterator[str]:
    """What is listed without a name is the folder that was gone to."""
    gone = tuple(lines_meant(text, lambda line: "chdir(" in line)) if "chdir(" in text else ()
    yield from (f"{there} {line}" for there in gone for line in listing if not _names_a_file(line))


def _names_a_file(line: str) -> bool:
    return any(_PLACE.fullmatch(word) for word in LITERAL.findall(line))


def lists(path: str, line: str) -> bool:
    """In product, folders have common names: the very one is named, or one above all of which is listed."""
    folder, suffix = posixpath.dirname(path), posixpath.splitext(path)[1]
    folders = folder.split("/")
    patterns = [word for word in LITERAL.findall(line) if "*" in word]
    if any(_is_of_pattern(path, word) for word in patterns):
        return True
    if patterns and not any(posixpath.basename(word) in ("*", "*.*", f"*{suffix}") for word in patterns):
        return False
    if "rglob" in line or any("**" in word for word in patterns):
        return not frozenset(_NAME.findall(line)).isdisjoint(folders)
    named = frozenset(part for word in LITERAL.findall(line) for part in word.split("/"))
    is_named = folders[-1] in named or _is_package(folder, line)
    return is_named and (bool(patterns) or _WHOLLY.search(line) is not None)


def _is_of_pattern(path: str, word: str) -> bool:
    """A pattern that says a part of the folder's name, too."""
    pattern = re.sub(r"^(?:\.{0,2}/)+", "", word)
    is_told = re.search(r"\w", posixpath.dirname(pattern)) is not None
    return is_told and (matches(path, pattern) or matches(path, f"**/{pattern}"))


def _is_package(folder: str, line: str) -> bool:
    """By its name with dots; by that of a module in it where nothing more is said of the way."""
    quoted = [word for word in LITERAL.findall(line) if _DOTTED.fullmatch(word)]
    if any(_is_at(folder, word) for word in quoted):
        return True
    meant = [name or lies for name, lies in _PACKAGE.findall(line)] if not _names_a_file(line) else []
    beside = [word.rpartition(".")[0] for word in meant if f"{word}.__file__" in line]
    return any(_is_at(folder, word) for word in (*meant, *beside) if word)


def _is_at(place: str, name: str) -> bool:
    return f"/{place}".endswith(f"/{name.replace('.', '/')}")


def is_beside_module(path: str, text: str) -> bool:
    """Whether a test takes what lies where a module lies, under the module's own name: `core.csv` beside `core.py`."""
    bare, suffix = posixpath.splitext(path)
    if "__file__" not in text or not suffix or suffix not in text:
        return False
    for line in lines_meant(text, lambda line: suffix in line):
        modules = [lies for _, lies in _PACKAGE.findall(line) if f"{lies}.__file__" in line]
        if suffix in LITERAL.findall(line) and any(_is_at(bare.removesuffix("/__init__"), each) for each in modules):
            return True
    return False


def lists_top(suffix: str, line: str) -> bool:
    words = LITERAL.findall(line)
    return any(posixpath.basename(word) == f"*{suffix}" for word in words) and all(
        "*" in word or not re.search(r"\w", word) for word in words
    )
