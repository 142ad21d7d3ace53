"""Design documents: the checks D1 to D4 as far as they need no judgement, and the placeholder check of plans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from loopwright.adapters.markdown import markdown_lines
from loopwright.adapters.tools.artifacts import text_of
from loopwright.adapters.tools.opinions import ToolOpinion
from loopwright.adapters.tools.severities import CHECKLIST
from loopwright.kernel.lines import MarkdownLine
from loopwright.kernel.model import Finding

_CODE = re.compile(r"`[^`\n]*`")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ANYWHERE = re.compile(
    r"\b(?:TBD|TBC|TBA|FIXME|TKTK|XXX)\b|\bTODO\b(?!\s+(?:app|list|item|comment)s?\b)|\?\?\?"
    r"|\bto be (?:determined|decided|defined|confirmed|written|filled in|completed)\b|\blorem ipsum\b|\bcoming soon\b"
    r"|[<\[{](?:your |insert |add |describe |fill |placeholder)[^>\]}\n]*[>\]}]|\bplaceholder (?:text|value|content)\b",
    re.IGNORECASE,
)
_UPPER_ONLY = re.compile(r"(?:todo|fixme|tbc|tba|xxx)", re.IGNORECASE)
# Alone on its line, in its list item or in its table cell these stand for an answer; in a sentence they are words.
_ALONE = re.compile(
    r"(?:^|\|)\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\*\*[^*]+\*\*:?\s*)?(?:N/?A|\.{3}|…)\s*\.?\s*(?:\||$)", re.IGNORECASE
)


def prose(text: str) -> tuple[MarkdownLine, ...]:
    """The lines with code and comments blanked: as many lines as before."""
    bare = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return tuple(
        replace(line, text="" if line.block == "code" else _CODE.sub("`code`", line.text))
        for line in markdown_lines(bare)
    )


def placeholders(lines: tuple[MarkdownLine, ...]) -> Iterator[tuple[int, str]]:
    """The lines of prose that has not been written, each with the words that show it."""
    for line in lines:
        if found := _found(line.text):
            yield line.number, found


def _found(line: str) -> str:
    for match in _ANYWHERE.finditer(line):
        word = match[0]
        if not _UPPER_ONLY.fullmatch(word) or word.isupper():
            return word
    alone = _ALONE.search(line)
    return alone[0].strip(" |") if alone else ""


CORE = (
    *("Problem Statement", "Goals & Non-Goals", "Proposed Solution", "API / Interface"),
    *("Data Model", "Testing Strategy", "Open Questions"),
)
EXTENDED = ("Alternatives Considered", "Migration Plan", "Security Considerations", "Observability Plan")
ADVANCED = ("Performance Budget", "Failure Modes & Recovery", "Rollback Plan", "Dependencies & Risks")
_JUSTIFICATION = "Pattern Justification"  # a part of the proposed solution
_SECTION = 2
_TIER = re.compile(r"^(?:[-*]\s*)?\**tier\**\s*:\**\s*(\w+)", re.IGNORECASE | re.MULTILINE)
_VAGUE = re.compile(
    r"\b(?:reasonabl[ey]|appropriate|suitable|sufficient|acceptable|adequate)\s+(?:\w+\s+)?"
    r"(?:timeouts?|limits?|time|latency|size|delay|intervals?|number|amount|performance|throughput|retries|thresholds?)\b"
    r"|\bshould be (?:fast|quick|scalable|performant|responsive|efficient|small|low|high)\b"
    r"|\b(?:as fast as possible|as needed|if necessary|some time|several seconds|a few (?:seconds|minutes|retries))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    title: str
    level: int
    line: int
    last: int  # line before the next heading of its level or above

    @property
    def name(self) -> str:
        return plain_name(self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """`lines` are its prose, `words` the text as it is."""

    file: str
    lines: tuple[MarkdownLine, ...]
    words: tuple[str, ...]
    sections: tuple[_Section, ...]
    category: str = "design"

    def finding(self, check: str, line: int, issue: str, guidance: str, evidence: str = "") -> Finding:
        shown = self.words[line - 1].strip() if 0 < line <= len(self.words) else ""
        headings = ", ".join(section.title for section in self.sections) or "none"
        return Finding(
            severity=CHECKLIST[check],
            category=self.category,
            rule=check,
            file=self.file,
            line=line,
            issue=issue,
            evidence=evidence or shown or f"its sections: {headings}",
            guidance=guidance,
        )

    def around(self, line: int) -> _Section | None:
        """The innermost section a line is in."""
        inside = [section for section in self.sections if section.line <= line <= section.last]
        return max(inside, key=lambda section: section.line, default=None)


def judge_designs(folder: Path, files: tuple[str, ...]) -> ToolOpinion:
    found = tuple(
        finding for file in files for finding in judge_design(file, text_of(folder, file), _story_tier(folder, file))
    )
    return ToolOpinion(tool="design checks", files=files, findings=found)


def judge_plans(folder: Path, files: tuple[str, ...]) -> ToolOpinion:
    found = tuple(finding for file in files for finding in judge_plan(file, text_of(folder, file)))
    return ToolOpinion(tool="placeholder check", files=files, findings=found)


def judge_design(file: str, text: str, tier: str = "") -> tuple[Finding, ...]:
    """`tier` is the story's; without one what the document says of itself counts, else `medium`."""
    document = _read(file, text, "design")
    said = _TIER.search("\n".join(line.text for line in document.lines))
    large = (tier or (said[1].lower() if said else "")) == "large"
    wanted = (*CORE, *EXTENDED) if large else CORE
    return (
        *_structure(document),
        *_complete(document, wanted),
        *_written(document, "D3"),
        *_empty(document),
        *_concrete(document),
    )


def judge_plan(file: str, text: str) -> tuple[Finding, ...]:
    document = _read(file, text, "plan")
    if not any(line.strip() for line in document.words):
        guidance = "Write the plan: what is to be done, in which order, and how it is checked."
        return (document.finding("placeholder", 0, "The plan is empty", guidance),)
    return tuple(_written(document, "placeholder"))


def _read(file: str, text: str, category: str) -> _Document:
    lines = prose(text)
    return _Document(
        file=file, lines=lines, words=tuple(text.splitlines()), sections=_sections(lines), category=category
    )


def _sections(lines: tuple[MarkdownLine, ...]) -> tuple[_Section, ...]:
    heads = [line for line in lines if line.level]
    found = []
    for index, head in enumerate(heads):
        ends = (later.number for later in heads[index + 1 :] if later.level <= head.level)
        last = next(ends, len(lines) + 1) - 1
        found.append(_Section(title=head.title, level=head.level, line=head.number, last=last))
    return tuple(found)


def plain_name(title: str) -> str:
    """A heading's name without number, case and signs: `4. API / Interface` is `apiinterface`."""
    return re.sub(r"[^a-z]", "", re.sub(r"^[\d.\s)]+", "", title.lower()).replace("&", "and"))


_KNOWN = {plain_name(title): title for title in (*CORE, *EXTENDED, *ADVANCED)}


def _structure(document: _Document) -> Iterator[Finding]:
    """D1: each section once, as a heading of the second level; the solution justifies its patterns."""
    known = [section for section in document.sections if section.name in _KNOWN]
    proper = [section for section in known if section.level == _SECTION]
    seen: set[str] = set()
    for section in proper:
        if section.name in seen:
            issue = f"The section {section.title} is there twice"
            yield document.finding("D1", section.line, issue, "Make one section of the two.")
        seen.add(section.name)
    for section in known:
        if section.level != _SECTION and section.name not in seen:
            issue = f"{section.title} is a heading of level {section.level}, not a section"
            yield document.finding("D1", section.line, issue, f"Make it `## {section.title}`.")
    solution = next((section for section in proper if section.name == plain_name("Proposed Solution")), None)
    if solution is not None and not _justified(document, solution):
        issue = f"Proposed Solution has no part {_JUSTIFICATION}"
        guidance = f"Add `### {_JUSTIFICATION}`: which patterns are used, by which component, and why they fit."
        yield document.finding("D1", solution.line, issue, guidance)


def _justified(document: _Document, solution: _Section) -> bool:
    inside = document.lines[solution.line : solution.last]
    return any(plain_name(_JUSTIFICATION) in plain_name(line.text) for line in inside)


def _complete(document: _Document, wanted: tuple[str, ...]) -> Iterator[Finding]:
    """D2: in one finding, so that it stays the same one while sections are added."""
    present = {section.name for section in document.sections}
    lacking = [title for title in wanted if plain_name(title) not in present]
    if lacking:
        guidance = f"Add and write: {', '.join(f'`## {title}`' for title in lacking)}."
        yield document.finding("D2", 0, f"Required sections are missing: {', '.join(lacking)}", guidance)


def _written(document: _Document, check: str) -> Iterator[Finding]:
    """One finding for each section that holds placeholders; its heading tells it from the others."""
    by_section: dict[_Section | None, list[tuple[int, str]]] = {}
    for line, words in placeholders(document.lines):
        by_section.setdefault(document.around(line), []).append((line, words))
    for section, found in by_section.items():
        line, words = found[0]
        name = section.title if section else "the text before the first heading"
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield document.finding(
            check,
            section.line if section else line,
            f"{name} holds placeholder text: {words!r} at line {line}{more}",
            "Write what is meant in its place.",
            f"line {line}: {document.words[line - 1].strip()}",
        )


def _empty(document: _Document) -> Iterator[Finding]:
    """D3 too: a section of the second level without a word."""
    for section in document.sections:
        inside = document.words[section.line : section.last]
        if section.level == _SECTION and not any(line.strip() for line in inside):
            guidance = "Write the section, or say in a sentence why there is nothing to say."
            yield document.finding("D3", section.line, f"The section {section.title} is empty", guidance)


def _concrete(document: _Document) -> Iterator[Finding]:
    """D4, as far as a list of words goes."""
    for line in document.lines:
        if match := _VAGUE.search(line.text):
            guidance = "Give the number and its unit, or the condition that can be tested."
            yield document.finding("D4", line.number, f"{match[0]!r} is no value", guidance)


def _story_tier(folder: Path, file: str) -> str:
    """Of the story that `<id>-design.md` belongs to, where its file is found beside it or in `stories`."""
    path = PurePosixPath(file)
    name = path.stem.removesuffix("-design")
    for place in (path.parent, path.parent.parent / "stories", PurePosixPath("stories")):
        for suffix in (".yml", ".yaml"):
            said = _TIER.search(text_of(folder, str(place / f"{name}{suffix}")))
            if said:
                return said[1].lower()
    return ""
