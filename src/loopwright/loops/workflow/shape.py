"""The shape of the work: what must hold, what must not happen, and how each of it is seen.

A criterion is true or false, and its verification has one of five types. What must not happen has a command that fails
when it is there, or another way to be seen; at least two such rules stand before work begins, and one that turns out
true stops the loop at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from loopwright.kernel.model import AgentReport
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Field, Problem, Shape, expected, keyed, record, several, text, text_or
from loopwright.kernel.wording import ANSWERED
from loopwright.loops.workflow.aspects import ASPECTS, aspects_of
from loopwright.loops.workflow.reading import LONGEST, LOOPBACK_ONLY, MOST, lines, some, told, urls_away
from loopwright.loops.workflow.scoring import has_to_hold
from loopwright.loops.workflow.words import MOST_READ, SENTENCE, answered, bullets, forbidden, sentences, title_of

EXECUTION, CODE_REVIEW, ASSUMPTION = "execution output", "code review", "assumption"
TYPES = (EXECUTION, "observation", "measurement", CODE_REVIEW, ASSUMPTION)
LEAST_RULES = 2
_MOST_DRAWN = 20  # criteria that are drawn from a request, and rules too: nobody checks off more
_MUST_HOLD = re.compile(
    r"\b(?:must|should|shall|has\s+to|have\s+to|needs?\s+to|so\s+that|ensures?|make\s+sure|returns?|raises?|rejects?|"
    r"accepts?|refuses?|prints?|responds?|shows?|exits?|pass(?:es)?)\b",
    re.IGNORECASE,
)
_DONE_WHEN = re.compile(
    r"(?:it(?:\sis|['\u2019]s)\s)?(?:done|finished|complete|ready|over)\s(?:when|once)\b", re.IGNORECASE
)
_ONLY_CHECKS = re.compile(
    r"(?:it(?:\sis|['\u2019]s)\sdone\s(?:when|once)\s|done\s(?:when|once)\s)?"
    r"(?:(?:all|the|every|existing|old|new|other|unit|project['\u2019]s)\s+)*(?:tests?|checks?|(?:test\s+)?suite)\s+"
    r"(?:(?:still|must|should|have\s+to|has\s+to|of\s+the\s+project)\s+)*"
    r"(?:pass(?:es)?|(?:is|are|be|stays?)\s+green)\.?",
    re.IGNORECASE,
)
_CHECKS_PASS = re.compile(r"\b(?:tests?|checks?|suite)\b[^.,;]{0,40}\b(?:pass(?:es)?|green)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MustNot:
    """`command` passes as long as it has not happened; without one `seen` says how it would be noticed."""

    text: str
    _: KW_ONLY
    command: tuple[str, ...] = ()
    seen: str = ""


@dataclass(frozen=True, slots=True)
class ShapeCriterion:
    """Without a command of its own only reviewers see it, unless it says no more than that the checks pass."""

    text: str
    _: KW_ONLY
    type: str = EXECUTION
    command: tuple[str, ...] = ()

    @property
    def is_measured(self) -> bool:
        return bool(self.command) or _ONLY_CHECKS.fullmatch(" ".join(self.text.split())) is not None

    def as_seen(self) -> ShapeCriterion:
        """Return it with a type that its verification has: nothing is executed for what nothing measures."""
        return self if self.type != EXECUTION or self.is_measured else replace(self, type=CODE_REVIEW)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkShape:
    criteria: tuple[ShapeCriterion, ...]
    must_not: tuple[MustNot, ...]
    aspects: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


# The engine sees these in every loop, whatever anybody says.
ENGINE_RULES = (
    MustNot("A test of the base fails or is gone", seen="the checks, which compare the tests by id"),
    MustNot("What judges the work is changed without approval", seen="the gate protected"),
)


def must_not_name(index: int) -> str:
    """From 1, as findings name it in `requirement`."""
    return f"mustNot-{index}"


def criterion_name(index: int) -> str:
    return f"criterion-{index}"


# --- rules ---------------------------------------------------------------------------------------


def shape_problems(shape: WorkShape) -> tuple[str, ...]:
    """Why no work can begin on it; all but the first `with_engine_rules` mends."""
    found = [] if shape.criteria else ["it has no criterion, so nothing would say when the work is done"]
    if len(shape.must_not) < LEAST_RULES:
        found.append(
            f"it has {len(shape.must_not)} mustNot, and at least {LEAST_RULES} have to stand before work begins"
        )
    found += (
        f"{must_not_name(index)} ({one_line(rule.text, SENTENCE)}) has neither a command nor another way to be seen"
        for index, rule in enumerate(shape.must_not, start=1)
        if not rule.command and not rule.seen
    )
    return tuple(found)


def commands_of(shape: WorkShape) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """All that will be run for it, each with the name of what it shows."""
    criteria = ((criterion_name(at), each.command) for at, each in enumerate(shape.criteria, start=1))
    rules = ((must_not_name(at), each.command) for at, each in enumerate(shape.must_not, start=1))
    return tuple((name, command) for name, command in (*criteria, *rules) if command)


def reaches_away(shape: WorkShape) -> str:
    """Why its commands may not be run; empty: they may."""
    away = [f"{name}: {url}" for name, command in commands_of(shape) for url in urls_away(command)]
    return f"a command of a shape {LOOPBACK_ONLY}: {some(away)}" if away else ""


def with_engine_rules(shape: WorkShape) -> WorkShape:
    """With enough rules, the engine's own where there are too few, and each with a way to be seen."""
    have = {folded(rule.text) for rule in shape.must_not}
    missing = max(0, LEAST_RULES - len(shape.must_not))
    rules = (*shape.must_not, *[rule for rule in ENGINE_RULES if folded(rule.text) not in have][:missing])
    return replace(shape, must_not=tuple(_seen(index, rule) for index, rule in enumerate(rules, start=1)))


def _seen(index: int, rule: MustNot) -> MustNot:
    if rule.command or rule.seen:
        return rule
    return replace(rule, seen=f"reviewers, as a critical finding that names {must_not_name(index)}")


def bars_completion(shape: WorkShape) -> tuple[str, ...]:
    """The criteria that nobody verifies: with one of them the work cannot be called done."""
    numbered = enumerate(shape.criteria, start=1)
    return tuple(f"{criterion_name(index)}: {each.text}" for index, each in numbered if each.type == ASSUMPTION)


# --- without a shaper ----------------------------------------------------------------------------


def shape_of(request: str, answers: tuple[str, ...]) -> WorkShape:
    """What the request itself says must hold and must not happen."""
    said = "\n\n".join([request, *map(answered, answers)])[:MOST_READ]
    all_said = sentences(said)
    rules = _once(rule for each in all_said if (rule := forbidden(each)))
    listed = frozenset(each for bullet in bullets(said) for each in sentences(bullet))
    hold = _once(each for each in all_said if _is_criterion(each, listed | _told_when_asked(answers)))
    if hold and all(map(_says_nothing_of_it, hold)):
        hold = _once((_subject(request), *hold))
    criteria = hold or (_title(request),)
    return with_engine_rules(
        WorkShape(
            criteria=tuple(ShapeCriterion(each).as_seen() for each in criteria),
            must_not=(*(MustNot(rule) for rule in rules), *ENGINE_RULES),
            aspects=aspects_of(said),
        )
    )


def _is_criterion(sentence: str, listed: frozenset[str]) -> bool:
    """Something to tick: a bullet, or a sentence that says what must hold; one that only forbids is a rule."""
    if forbidden(sentence) == sentence.strip():
        return False
    return sentence in listed or bool(_MUST_HOLD.search(sentence) or _DONE_WHEN.match(sentence))


def _told_when_asked(answers: tuple[str, ...]) -> frozenset[str]:
    """What a question of the loop was answered with binds as a bullet of the request does."""
    asked = (answered(each)[:MOST_READ] for each in answers if ANSWERED in each)
    return frozenset(part for each in asked for part in sentences(each) if has_to_hold(part))


def _says_nothing_of_it(criterion: str) -> bool:
    """It would hold for any other work as well."""
    return bool(_CHECKS_PASS.search(criterion) or _DONE_WHEN.match(criterion))


def _subject(request: str) -> str:
    """What the request is about, in its first words that say so."""
    said = sentences(request.lstrip("# \t\n")[:MOST_READ])
    orders = (each for each in said if not _says_nothing_of_it(each) and forbidden(each) != each)
    return next(orders, _title(request))


def _title(request: str) -> str:
    return title_of(request) or "The request is fulfilled"


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for each in texts:
        kept.setdefault(re.sub(r"^it(?: i|['\u2019])s (?=done )", "", folded(each)), each)
    return tuple(kept.values())[:_MOST_DRAWN]


def folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


# --- what a shaper says --------------------------------------------------------------------------

_TEXT, _LIST = text(), several(text())
_ARGV = several(text(), "a command as a list of its words")


def _type_shape() -> Shape:
    says = f"one of {', '.join(TYPES)}"

    def read(value: object) -> object:
        word = folded(value).replace("-", " ").replace("_", " ") if isinstance(value, str) else ""
        return word if word in TYPES else expected(says, value)

    return Shape(says=says, read=read, json={"enum": list(TYPES)})


_SHAPE = record(
    Field(
        name="shape",
        required=True,
        shape=keyed(
            "an object",
            "criteria",
            criteria=several(_TEXT),
            mustNot=several(text_or(keyed("an object", "text", text=_TEXT, command=_ARGV, seen=_TEXT))),
            verification=several(
                keyed("an object", "criterion", criterion=text(least=1), type=_type_shape(), command=_ARGV)
            ),
            aspects=_LIST,
            decisions=_LIST,
            conflicts=_LIST,
        ),
    ),
    says="an object",
)


def read_shape(report: AgentReport) -> WorkShape | str:
    """As a shaper gave it, or why it cannot be taken; what is missing in it `shape_problems` says."""
    data = told(report, _SHAPE)
    if isinstance(data, str):
        return data
    held: dict[str, Any] = data["shape"]
    criteria = _with_verification(lines(held["criteria"]), held.get("verification", []))
    if isinstance(criteria, Problem):
        return criteria.says
    named = {name.casefold() for name in held.get("aspects", ())}
    chosen = tuple(name for name in ASPECTS if name.casefold() in named)
    return WorkShape(
        criteria=criteria,
        must_not=tuple(rule for each in held.get("mustNot", ()) if (rule := _rule(each)).text)[:MOST],
        aspects=chosen or aspects_of("\n".join(each.text for each in criteria)),
        decisions=lines(held.get("decisions", ())),
        conflicts=lines(held.get("conflicts", ())),
    )


def _rule(said: str | Mapping[str, Any]) -> MustNot:
    data: Mapping[str, Any] = {"text": said} if isinstance(said, str) else said
    seen = one_line(data.get("seen", ""), LONGEST)
    return MustNot(one_line(data["text"], LONGEST), command=tuple(data.get("command", ())), seen=seen)


def _with_verification(texts: tuple[str, ...], rows: list[Mapping[str, Any]]) -> tuple[ShapeCriterion, ...] | Problem:
    """Every row belongs to a criterion, named by its text, `criterion-2` or `2`; else it is one that was forgotten."""
    places = {folded(each): place for place, each in reversed(tuple(enumerate(texts)))}
    for place in range(len(texts)):
        places.setdefault(criterion_name(place + 1), place)
        places.setdefault(str(place + 1), place)
    criteria = [ShapeCriterion(each) for each in texts]
    for index, row in enumerate(rows):
        place = places.get(folded(row["criterion"]), -1)
        if place < 0:
            named = one_line(row["criterion"], SENTENCE)
            return Problem(f"shape.verification[{index}].criterion: no criterion is {named!r}; use one of criteria")
        command = tuple(row.get("command", ()))
        criteria[place] = replace(criteria[place], type=row.get("type", EXECUTION), command=command)
    return tuple(each.as_seen() for each in criteria)
