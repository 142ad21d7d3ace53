"""What a ticket's Markdown says of the attempts before it: history, structured feedback, changelog. Read strictly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.errors import ConfigError
from loopwright.kernel.lines import MarkdownLine
from loopwright.kernel.shapes import expected
from loopwright.loops.tickets.body import TOP, Body
from loopwright.loops.tickets.markdown import plain_cells, unescaped, unquoted
from loopwright.loops.tickets.shape import OUTCOMES, SCORE, ticket_parts

ROLES = ("Creator", "Critic", "Expediter", "Coordinator")
_ATTEMPT = re.compile(r"Attempt ([0-9]{1,4}): (.+)")
_FIELD = re.compile(r"[ \t]*[-*+] \*\*([^*]+)\*\*: ?(.*)")
_GUIDANCE = re.compile(r"\*\*Guidance\*\*: ?(.*)")
_ENTRY = re.compile(r"\[([^\]]{1,40})\] - ([A-Za-z]+)(?:: (.*))?")
_SCORE = re.compile(r"0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?")
_RULE = re.compile(r"[ \t|:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    ticket: str
    outcome: str
    accuracy: float | None = None
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRow:
    """One line of the structured feedback."""

    requirement: str
    expected: str = ""
    actual: str = ""
    score: float | None = None
    guidance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldEntry:
    """An entry of the changelog."""

    at: str
    role: str
    what: str = ""
    text: str = ""


def attempts_of(body: Body) -> tuple[Attempt, ...]:
    section = body.section("Attempt History")
    parts = _parts(section.lines, TOP) if section else ()
    return tuple(_attempt(head, lines, body.file) for head, lines in parts)


def _parts(lines: tuple[MarkdownLine, ...], deepest: int) -> tuple[tuple[MarkdownLine, tuple[MarkdownLine, ...]], ...]:
    """A section cut at its headings."""
    parts: list[tuple[MarkdownLine, list[MarkdownLine]]] = []
    for line in lines:
        if 0 < line.level <= deepest:
            parts.append((line, []))
        elif parts:
            parts[-1][1].append(line)
    return tuple((head, tuple(inner)) for head, inner in parts)


def _attempt(head: MarkdownLine, lines: tuple[MarkdownLine, ...], file: str) -> Attempt:
    named = _ATTEMPT.fullmatch(head.title)
    if named is None or ticket_parts(named[2]) is None:
        problem = expected("`Attempt N: TICKET-<session>-NNN`", head.title)
        raise ConfigError(file, "Attempt History", problem.says, line=head.number)
    fields = {found[1]: (found[2], line.number) for line in lines if (found := _FIELD.fullmatch(line.text))}
    outcome, at = fields.get("Outcome", ("", head.number))
    if outcome not in OUTCOMES:
        problem = expected(f"an Outcome that is one of {', '.join(OUTCOMES)}", outcome)
        raise ConfigError(file, "Attempt History", problem.says, line=at)
    accuracy, gaps = fields.get("Accuracy"), fields.get("Key Gaps")
    return Attempt(
        ticket=named[2],
        outcome=outcome,
        accuracy=_score(*accuracy, file=file, key="Attempt History") if accuracy else None,
        gaps=_gaps(*gaps, file=file) if gaps else (),
    )


def _score(text: str, number: int, *, file: str, key: str) -> float:
    if not _SCORE.fullmatch(text.strip()):
        raise ConfigError(file, key, expected(SCORE.says, text).says, line=number)
    return float(text)


def _gaps(text: str, number: int, *, file: str) -> tuple[str, ...]:
    try:
        said = json.loads(unescaped(text))
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, list) or not all(isinstance(gap, str) for gap in said):
        raise ConfigError(file, "Key Gaps", 'expected a list of texts, such as ["no tests"]', line=number)
    return tuple(said)


def feedback_of(body: Body) -> tuple[FeedbackRow, ...]:
    """Every row of every requirement, each with the requirement's guidance."""
    section = body.section("Structured Feedback")
    parts = _parts(section.lines, 3) if section else ()
    return tuple(row for head, lines in parts for row in _rows(head, lines, body.file))


def _rows(head: MarkdownLine, lines: tuple[MarkdownLine, ...], file: str) -> Iterator[FeedbackRow]:
    requirement = unescaped(head.title.removeprefix("Requirement:").strip())
    guidance = next((found[1] for line in lines if (found := _GUIDANCE.fullmatch(line.text))), "")
    cells = [(line.number, plain_cells(line.text)) for line in lines if line.text.strip().startswith("|")]
    if not cells:
        yield FeedbackRow(requirement=requirement, guidance=unescaped(guidance))
        return
    columns = _columns(*cells[0], file=file)
    for number, row in cells[1:]:
        if all(_RULE.fullmatch(text) for text in row):
            continue
        if len(row) != len(cells[0][1]):
            raise ConfigError(file, "Structured Feedback", f"the row has {len(row)} cells", line=number)
        score = row[columns["score"]] if "score" in columns else ""
        yield FeedbackRow(
            requirement=requirement,
            expected=row[columns["expected"]],
            actual=row[columns["actual"]],
            score=_score(score, number, file=file, key="Structured Feedback") if score else None,
            guidance=unescaped(guidance),
        )


def _columns(number: int, head: tuple[str, ...], *, file: str) -> dict[str, int]:
    columns = {name.casefold(): index for index, name in enumerate(head)}
    if "expected" not in columns or "actual" not in columns:
        says = "the table needs the columns Expected and Actual"
        raise ConfigError(file, "Structured Feedback", says, line=number)
    return columns


def changelog_of(body: Body) -> tuple[ToldEntry, ...]:
    """In the order of the file."""
    section = body.section("Changelog")
    parts = _parts(section.lines, TOP) if section else ()
    return tuple(_noted(head, lines, body.file) for head, lines in parts)


def _noted(head: MarkdownLine, lines: tuple[MarkdownLine, ...], file: str) -> ToldEntry:
    found = _ENTRY.fullmatch(head.title)
    if found is None or found[2] not in ROLES:
        says = f"`[date time] - Role: entry` with a role of {', '.join(ROLES)}"
        raise ConfigError(file, "Changelog", expected(says, head.title).says, line=head.number)
    text = unquoted(tuple(line.text for line in lines)).removeprefix("- ")
    return ToldEntry(at=found[1], role=found[2], what=unescaped(found[3] or ""), text=unescaped(text))


def told_accuracy(body: Body) -> float | None:
    """The ticket's own accuracy, where its expediter tells it."""
    section = body.section("Expediter Section")
    for line in section.lines if section else ():
        found = _FIELD.fullmatch(line.text)
        if found and found[1] == "Accuracy" and (score := _SCORE.match(found[2])):
            return float(score[0])
    return None
