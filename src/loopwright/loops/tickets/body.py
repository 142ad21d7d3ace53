"""The Markdown of a ticket read back, strictly: its title, its sections, and what each of them says.

Headings and checkboxes count only where Markdown would see them, so never inside a code block or a quote. The text is
data: it is handed on as it stands and nothing in it is acted upon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, takewhile

from loopwright.errors import ConfigError
from loopwright.kernel.lines import MarkdownLine
from loopwright.loops.tickets.markdown import unescaped, unquoted

SECTIONS = (
    *("Requirements", "Acceptance Criteria", "Context", "Attempt History", "Structured Feedback", "Accumulated Issues"),
    *("Creator Section", "Critic Section", "Expediter Section", "Changelog"),
)
MOST_CRITERIA = 200  # each goes into every brief
TOP = 2  # sections are headings of the first two levels
_BY_NAME = {name.casefold(): name for name in SECTIONS}
_BOX = re.compile(r" {0,3}[-*+] \[([ xX])\][ \t]+(.+)")
_CRITERION = re.compile(r"\**([A-Za-z][A-Za-z0-9]*-[0-9]+)\**[ \t]*:\**[ \t]*(.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    number: int  # the line of its heading
    lines: tuple[MarkdownLine, ...]

    def under(self, title: str) -> str:
        """The text below a heading of the section, up to the next one; without a title, all of the section."""
        if not title:
            return unquoted(tuple(line.text for line in self.lines))
        begins = next((at for at, line in enumerate(self.lines, start=1) if line.title == title), 0)
        return self._up_to_heading(begins) if begins else ""

    @property
    def lead(self) -> str:
        """The text before its first heading."""
        return self._up_to_heading(0)

    def _up_to_heading(self, begin: int) -> str:
        return unquoted(tuple(line.text for line in takewhile(lambda line: not line.level, self.lines[begin:])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """An acceptance criterion."""

    id: str
    text: str
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """`file` is how messages name it."""

    file: str
    title: str
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    def text(self, name: str) -> str:
        section = self.section(name)
        return section.under("") if section else ""


def read_body(lines: tuple[MarkdownLine, ...], file: str) -> Body:
    """Raises `ConfigError` for a section that is there twice."""
    title, sections, opened = "", list[Section](), list[MarkdownLine]()
    for line in lines:
        name = _BY_NAME.get(line.title.casefold()) if 0 < line.level <= TOP else None
        if name and not _is_within(name, sections):
            sections = _closed(sections, opened)
            sections.append(Section(name=_once(name, line, sections, file), number=line.number, lines=()))
            opened = []
        else:
            title = title or (unescaped(line.title) if line.level and not sections else "")
            opened.append(line)
    return Body(file=file, title=title, sections=tuple(_closed(sections, opened)))


def _is_within(name: str, sections: list[Section]) -> bool:
    """The criteria are a part of the requirements, unless somebody has only them."""
    return name == "Acceptance Criteria" and any(section.name == "Requirements" for section in sections)


def _closed(sections: list[Section], lines: list[MarkdownLine]) -> list[Section]:
    if not sections:
        return []
    last = sections[-1]
    return [*sections[:-1], Section(name=last.name, number=last.number, lines=tuple(lines))]


def _once(name: str, line: MarkdownLine, sections: list[Section], file: str) -> str:
    for section in sections:
        if section.name == name:
            says = f"is there twice, first on line {section.number}; keep one"
            raise ConfigError(file, name, says, line=line.number)
    return name


# Requirements


def what_of(body: Body) -> str:
    """The requirements without headings and checkboxes."""
    section = body.section("Requirements")
    if section is None:
        return ""
    return unquoted(tuple(line.text for line, is_box in _with_boxes(section) if not is_box and not line.level))


def boxes_of(body: Body) -> tuple[Box, ...]:
    """The acceptance criteria. Raises `ConfigError` if there are none, or two have one id."""
    found = [section for name in ("Requirements", "Acceptance Criteria") if (section := body.section(name))]
    if not found:
        says = "there is no section `# Requirements`; add one with the acceptance criteria as `- [ ] AC-1: …`"
        raise ConfigError(body.file, "", says, line=1)
    written = [each for section in found for each in _boxes(section)]
    if not written:
        says = "has no acceptance criterion; write each as a checkbox, such as `- [ ] AC-1: …`"
        raise ConfigError(body.file, found[0].name, says, line=found[0].number)
    if len(written) > MOST_CRITERIA:
        says = f"has {len(written)} acceptance criteria, and {MOST_CRITERIA} are the most; make several tickets of it"
        raise ConfigError(body.file, found[0].name, says, line=found[0].number)
    return tuple(_identified(written, body.file))


def _identified(written: list[tuple[int, str, bool]], file: str) -> Iterator[Box]:
    """A criterion without an id gets the first that none of the others has."""
    named = [_CRITERION.fullmatch(text) for _, text, _ in written]
    given = {found[1].casefold() for found in named if found}
    free = (f"AC-{number}" for number in count(1) if f"ac-{number}" not in given)
    seen: set[str] = set()
    for (number, text, done), found in zip(written, named, strict=True):
        box = Box(id=found[1] if found else next(free), text=unescaped(found[2] if found else text), done=done)
        if box.id.casefold() in seen:
            raise ConfigError(file, "", f"the criterion {box.id} is there twice; keep one", line=number)
        seen.add(box.id.casefold())
        yield box


def _boxes(section: Section) -> list[tuple[int, str, bool]]:
    found: list[tuple[int, list[str], bool]] = []
    for line, is_box in _with_boxes(section):
        if is_box and (box := _BOX.fullmatch(line.text)):
            found.append((line.number, [box[2].strip()], box[1] != " "))
        elif is_box:
            found[-1][1].append(line.text.strip())
    return [(number, " ".join(texts), done) for number, texts, done in found]


def _with_boxes(section: Section) -> Iterator[tuple[MarkdownLine, bool]]:
    """Each line with whether it belongs to a checkbox: an indented line below one goes on with it."""
    in_box = False
    for line in section.lines:
        is_first = not line.block and _BOX.fullmatch(line.text) is not None
        goes_on = in_box and not line.block and line.text.startswith(("  ", "\t")) and bool(line.text.strip())
        in_box = is_first or goes_on
        yield line, in_box
