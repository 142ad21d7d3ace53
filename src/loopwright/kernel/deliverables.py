"""Files that a step has to leave behind, and whether each is what it has to be.

What stands in code, be it a fenced block or a word between backticks, is quoted and no placeholder; what stands in the
frontmatter or in a comment is no text, but may be a placeholder all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from loopwright.kernel.lines import MarkdownLine
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import each_key_once, few_digits

# "merged": any file that two sides changed, of which nothing is asked but that it is decided what becomes of both.
Format = Literal["markdown", "json", "yaml", "text", "merged"]
LARGEST_FILE = 1 << 20  # bytes that are looked at
NO_TEXT = "\0"  # whatever holds it is no text; by itself: what is there is no file

_FENCE = re.compile(r"[ \t]*(?:(`{3,})[^`]*|(~{3,}).*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).{1,500}?(?<!`)\1(?!`)")
_FILL_IN = "insert|placeholder|fill|your|todo|tbd|describe|enter"
_PLACEHOLDERS = re.compile(
    r"\b(?:TODO|FIXME|XXX)\b|(?i:\btbd\b|\b(?:todo|fixme):|\blorem ipsum\b"
    rf"|<[ ]?(?:{_FILL_IN})\b[^<>]*>|\[[ ]?(?:{_FILL_IN})\b[^\[\]]*\](?![(\[]))"
)
_PUT_OFF = re.compile(r"(?i)\bto be (?:written|filled(?: in| out)?|determined|decided|defined|completed|added)\b")
# What may stand around the words of `_PUT_OFF` where they are all that a line, or what follows a colon, says.
_SAYS_NO_MORE = frozenset(["this", "that", "section", "part", "text", "content", "is", "are", "still", "yet", "here"])
_MARK = re.compile(r"(?:<{7}|>{7})(?: |$)")
_MARK_BETWEEN = re.compile(r"={7}")
_UNDERLINED = (".md", ".rst")  # where seven "=" may be the line below a heading
_ENDING_LABELS = re.compile(r"[:|]")
_YAML_ENTRY = re.compile(r"\s*(?:- |-$|[^\s#:][^:]*:(?:\s|$))")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDemand:
    """A file that has to be there, not empty, without placeholders, and of its format."""

    path: str
    format: Format = "markdown"
    section: str = ""  # the heading below which it has to say something; empty: the whole file


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    path: str
    why: str
    section: str = ""  # as the demand has it: several may be about one file


def fault_of(demand: FileDemand, text: str | None) -> str:
    """Why the file is not what it has to be; empty: it is. Of a file with a section only that is looked into."""
    if demand.format == "merged":
        return _undecided(demand.path, text or "")
    if text is None:
        return "it is not there"
    lines = tuple(_markdown(text) if demand.format == "markdown" else _plain(text))
    if not any(each.text.strip() for each in lines):
        return "it is empty"
    if fault := _fault_of_format(demand.format, text, lines):
        return fault
    if demand.section:
        return _fault_of_section(demand.section, lines)
    return _placeholder(lines)


def faults_in(demands: Iterable[tuple[FileDemand, str | None]]) -> tuple[FileFault, ...]:
    """What is wrong with each file, of those with which something is."""
    found = ((demand, fault_of(demand, text)) for demand, text in demands)
    return tuple(FileFault(path=each.path, why=why, section=each.section) for each, why in found if why)


def _undecided(path: str, text: str) -> str:
    """A file that is gone is decided. Git puts no mark into what is no text, and one may be left in what is cut off."""
    marked = next((each for each in _plain(text) if _is_mark(path, each.text)), None)
    if marked:
        return f"line {marked.number} still has git's mark of a conflict"
    whole = len(text.encode(errors="surrogatepass")) <= LARGEST_FILE
    if whole and NO_TEXT not in text and "\ufffd" not in text:
        return ""
    return "it cannot be looked at for what is undecided (it is no text, or too large): a person decides it"


def _is_mark(path: str, line: str) -> bool:
    between = _MARK_BETWEEN.fullmatch(line) and not path.lower().endswith(_UNDERLINED)
    return bool(between or _MARK.match(line))


def placeholder_in(text: str) -> str:
    """Where a Markdown text is not written yet, in words; empty: nowhere."""
    return _placeholder(_markdown(text))


def _fault_of_format(form: Format, text: str, lines: tuple[MarkdownLine, ...]) -> str:
    match form:
        case "markdown":
            return _fault_of_markdown(lines)
        case "json":
            return _fault_of_json(text)
        case "yaml":
            return _fault_of_yaml(lines)
        case "text" | "merged":
            return ""
        case _:
            assert_never(form)


# Markdown


def _plain(text: str) -> Iterator[MarkdownLine]:
    for number, line in enumerate(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"), start=1):
        yield MarkdownLine(number=number, text=line)


def _markdown(text: str) -> Iterator[MarkdownLine]:
    """Without the fences themselves. Frontmatter and comments are what Markdown does not look into either."""
    lines = [each.text for each in _plain(text)]
    begin = _end_of_front(lines)
    fence, comment = "", False
    for number, line in enumerate(lines, start=1):
        opened = _FENCE.fullmatch(line)
        if number <= begin:
            yield MarkdownLine(number=number, text=line, block="html")
        elif fence:
            if _closes(fence, line):
                fence = ""
            else:
                yield MarkdownLine(number=number, text=line, block="code")
        elif comment or line.lstrip().startswith("<!--"):
            comment = "-->" not in line
            yield MarkdownLine(number=number, text=line, block="html")
        elif opened:
            fence = opened[1] or opened[2]
        else:
            yield _line(number, line)


def _closes(fence: str, line: str) -> bool:
    return line.strip().startswith(fence) and not line.strip().strip(fence[0])


def _end_of_front(lines: list[str]) -> int:
    """How many lines the frontmatter has, with those around it."""
    if lines[0].rstrip() != "---":
        return 0
    return next((at for at, line in enumerate(lines[1:], start=2) if line.rstrip() == "---"), 0)


def _line(number: int, line: str) -> MarkdownLine:
    heading = _HEADING.fullmatch(line)
    if not heading:
        return MarkdownLine(number=number, text=line)
    title = (heading[2] or "").rstrip().rstrip("#").strip(" \t*_`")
    return MarkdownLine(number=number, text=line, level=len(heading[1]), title=title)


def _says_something(lines: Iterable[MarkdownLine]) -> bool:
    return any(not each.level and each.block != "html" and any(sign.isalnum() for sign in each.text) for each in lines)


def _fault_of_markdown(lines: tuple[MarkdownLine, ...]) -> str:
    first = next((at for at, each in enumerate(lines) if each.level), None)
    if not _says_something(lines):
        return "it is empty: it has only headings, frontmatter or comments"
    if first is None:
        return "it is no Markdown document: it has no heading"
    return "" if _says_something(lines[first:]) else "it has no text below a heading"


def _fault_of_section(section: str, lines: tuple[MarkdownLine, ...]) -> str:
    """Where it is there more than once, the one that says something is meant."""
    found = [_below(at, lines) for at, each in enumerate(lines) if each.title.casefold() == section.casefold()]
    if not found:
        return f'it has no section "{section}"'
    said = next((below for below in found if _says_something(below)), None)
    return f'its section "{section}" is empty' if said is None else _placeholder(said)


def _below(at: int, lines: tuple[MarkdownLine, ...]) -> tuple[MarkdownLine, ...]:
    """What stands below a heading, up to the next one that is no part of it."""
    level, rest = lines[at].level, lines[at + 1 :]
    end = next((place for place, each in enumerate(rest) if 0 < each.level <= level), len(rest))
    return rest[:end]


# Placeholders


def _placeholder(lines: Iterable[MarkdownLine]) -> str:
    for line in lines:
        said = "" if line.block == "code" else _CODE_SPAN.sub(" code ", line.text)
        found = _PLACEHOLDERS.search(said)
        word = found[0] if found else _put_off(said)
        if word:
            return f'line {line.number} is not written yet: "{one_line(word, 60)}"'
    return ""


def _put_off(line: str) -> str:
    """Where that is all that is said, or that it will come later: bytes to be written to a disk are no placeholder."""
    found = _PUT_OFF.search(line)
    if not found:
        return ""
    before, after = _ENDING_LABELS.split(line[: found.start()])[-1], _ENDING_LABELS.split(line[found.end() :])[0]
    words, more = re.findall(r"\w+", before.lower()), re.findall(r"\w+", after.lower())
    return found[0] if more[:1] in (["later"], ["soon"]) or _SAYS_NO_MORE.issuperset(words + more) else ""


# Other formats


def _fault_of_json(text: str) -> str:
    try:
        held = json.loads(text, object_pairs_hook=each_key_once, parse_constant=_no_number, parse_int=few_digits)
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return f"it is no JSON: {one_line(said)}"
    return "it is empty: it holds nothing" if held in (None, "", [], {}) else ""


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _fault_of_yaml(lines: tuple[MarkdownLine, ...]) -> str:
    """What can be said without reading it: whoever reads it does so strictly."""
    said = [each for each in lines if each.text.strip() and not each.text.lstrip().startswith("#")]
    if not said:
        return "it is empty: it has only comments"
    for each in said:
        indent = each.text[: len(each.text) - len(each.text.lstrip())]
        if "\t" in indent:
            return f"it is no YAML: line {each.number} is indented with a tab"
    return (
        "" if any(_YAML_ENTRY.match(each.text) for each in said) else "it is no YAML: it has neither a key nor a list"
    )
