"""How clear a request is: five dimensions from 0 to 2, the fit made of them, and how much a person takes part.

| dimension | 0 | 1 | 2 |
|---|---|---|---|
| outcome | vague | a direction | measurable |
| scope | the whole app | an area | an exact target |
| constraints | none | soft | explicit limits |
| success | none | one way to see it | tests and more |
| done | implied | "works" | a definite event |

Without a scorer the engine looks for words, and every reason quotes those it rests on. It cannot know whether what is
asked for is wise; it sees whether it is said.
"""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass
from enum import StrEnum
from typing import NamedTuple

from loopwright.kernel.model import AgentReport, Question
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Field, keyed, named, record, text, whole
from loopwright.loops.workflow.aspects import aspect_words
from loopwright.loops.workflow.reading import lines, told
from loopwright.loops.workflow.words import FORBIDS, MOST_READ, answered, bullets, prose

MIN_SPEC = 5
MOST_QUESTIONS = 5
_FULL = 2  # of a dimension
_PER_POINT, _PER_EXTRA, _PER_LEARNING, _MOST_FAMILIAR = 5, 5, 2, 10
_TOOL, _TOOL_REVIEW, _COLLEAGUE = 40, 30, 25


class ShapeChoice(StrEnum):
    """How much a person takes part."""

    TOOL = "tool"  # runs through
    TOOL_REVIEW = "tool-review"  # checks in after each wave
    COLLEAGUE = "colleague"  # checks in after each task
    BLOCKED = "blocked"  # too little is known to begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    outcome: int
    scope: int
    constraints: int
    success: int
    done: int

    @property
    def spec(self) -> int:
        return self.outcome + self.scope + self.constraints + self.success + self.done


DIMENSIONS = ("outcome", "scope", "constraints", "success", "done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    scores: Scores
    reasons: tuple[str, ...]  # a sentence for each dimension, in the order of `DIMENSIONS`
    questions: tuple[Question, ...] = ()

    @property
    def as_lines(self) -> tuple[str, ...]:
        """For people: each dimension with its points and why."""
        told_of = zip(DIMENSIONS, astuple(self.scores), self.reasons, strict=True)
        return tuple(f"{name} {points}/{_FULL}: {why}" for name, points, why in told_of)


class _Seen(NamedTuple):
    points: int
    why: str


# --- what follows from the scores ----------------------------------------------------------------


def fit(scores: Scores, confirmed: int) -> int:
    """0 to 75. `confirmed`: how many learnings a person said still hold, which is how familiar the domain is."""
    extras = (scores.constraints, scores.success, scores.done).count(_FULL)
    familiar = min(_MOST_FAMILIAR, _PER_LEARNING * max(0, confirmed))
    return scores.spec * _PER_POINT + extras * _PER_EXTRA + familiar


def shape_for(fit: int) -> ShapeChoice:
    if fit >= _TOOL:
        return ShapeChoice.TOOL
    if fit >= _TOOL_REVIEW:
        return ShapeChoice.TOOL_REVIEW
    return ShapeChoice.COLLEAGUE if fit >= _COLLEAGUE else ShapeChoice.BLOCKED


# --- what a scorer says --------------------------------------------------------------------------

_SCORES = record(
    Field(
        name="scores",
        shape=keyed("an object", *DIMENSIONS, **dict.fromkeys(DIMENSIONS, whole(0, _FULL))),
        required=True,
    ),
    Field(name="reasons", shape=named(text(), "an object with a sentence for each dimension")),
    says="an object",
)


def read_scores(report: AgentReport) -> Scored | str:
    """As a scorer gave them, or why they cannot be taken. Where it has no questions the engine has its own."""
    data = told(report, _SCORES)
    if isinstance(data, str):
        return data
    scores = Scores(**{name: data["scores"][name] for name in DIMENSIONS})
    given = data.get("reasons", {})
    reasons = tuple("".join(lines([given.get(name, "")])) or "the scorer gave no reason" for name in DIMENSIONS)
    return Scored(scores=scores, reasons=reasons, questions=report.questions or questions_for(scores))


# --- what the engine sees without one ------------------------------------------------------------

_NUMBER = r"(?<![\w.])\d+(?:[.,]\d+)?"
_UNIT = (
    r"(?:%|percent\b|ms\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b|hours?\b|days?\b|[kmg]i?b\b|bytes?\b|lines?\b|"
    r"characters?\b|items?\b|entries\b|rows?\b|requests?\b|times\b|files?\b|usd\b)"
)
_LIMIT = (
    r"\b(?:at\s+(?:most|least)|no\s+(?:more|less|fewer)\s+than|more\s+than|less\s+than|fewer\s+than|under|below|above|"
    r"within|up\s+to|max(?:imum)?(?:\s+of)?|min(?:imum)?(?:\s+of)?|limited\s+to|exactly)\s+\d+|[<>≤≥]=?\s*\d+"
)
_MEASURABLE = re.compile(
    rf"{_NUMBER}\s?{_UNIT}|{_LIMIT}|\b(?:status|http|code)\s+[1-5]\d\d\b|\ba\s+[1-5]\d\d\b"
    r"|\b(?:returns?|raises?|throws?|prints?|rejects?|accepts?|refuses?|responds?|displays?|exits?|outputs?|emits?|"
    r"equals?|contains?|redirects?)\b",
    re.IGNORECASE,
)
_DIRECTION = re.compile(  # as an order begins; words that are things as often, such as test and log, are left out
    r"\b(?:add|allow|build|change|clean|convert|create|delete|drop|enable|export|extend|extract|fix|handle|implement|"
    r"import|improve|increase|integrate|introduce|merge|migrate|move|optimi[sz]e|parse|provide|reduce|refactor|remove|"
    r"rename|replace|rewrite|show|simplify|sort|speed|split|support|update|upgrade|validate|wrap|write)\b"
    r"|\b(?:refactor|renam|migrat|replac|remov|add)ing\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:whole|entire)\s+(?:app(?:lication)?|code\s?base|project|system|program|product|site|repo(?:sitory)?)\b"
    r"|\beverything\b|\beverywhere\b|\ball\s+(?:the\s+)?(?:code|files)\b",
    re.IGNORECASE,
)
_AREA = re.compile(
    r"\b(?:modules?|packages?|class|classes|functions?|methods?|commands?|endpoints?|pages?|screens?|forms?|views?|"
    r"components?|services?|tables?|parsers?|clients?|servers?|librar(?:y|ies)|folders?|director(?:y|ies)|files?|"
    r"modals?|buttons?|menus?|jobs?|scripts?)\b",
    re.IGNORECASE,
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_PRODUCT = re.compile(  # names that look like code or like a file
    r"\b(?:(?:node|vue|next|nuxt|react|three|express|d3)\.js|github|gitlab|javascript|typescript|iphone|ipad|ios|macos|"
    r"postgresql|mysql|graphql|oauth2?|devops|youtube|linkedin)\b",
    re.IGNORECASE,
)
_EXACT = re.compile(
    r"(?<![\w./-])[\w./-]*\w\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|rb|java|kt|cs|c|h|cc|cpp|hpp|php|swift|scala|ex|exs|sh|sql|"
    r"html|css|scss|vue|svelte|md|rst|txt|json|ya?ml|toml|ini|cfg|xml|csv|proto|tf|lock)\b"
    r"|(?<![\w/])(?:\.{0,2}/)?(?:src|lib|app|tests?|docs?|pkg|cmd|internal|packages|scripts)/[\w./-]+"
    r"|(?<![\w/.])/[a-z][\w-]*(?:/[\w{}:-]+)+"
    r"|`[^`\n]{1,120}`|\b[A-Za-z]\w*\(\)"
    r"|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b|\b[a-z][a-z0-9]*[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z][a-z]\w*\b"
)
_LIMITED = re.compile(_LIMIT, re.IGNORECASE)
_NO_MORE = re.compile(r"(?:(?:and|or|in|of|the|only|just|files?|functions?)\b|[\s,.;&+])*", re.IGNORECASE)
_ONE_AREA = re.compile(rf"(?:(?:only|just|in)\s)*the\s(?:\w+\s)?{_AREA.pattern}\.?", re.IGNORECASE)
_SOFT = re.compile(
    r"\b(?:must|should|shall|prefer(?:ably)?|ideally|try\s+to|keep|stay|simple|possible|fast|quick|small|only|"
    r"compatible|avoid|careful(?:ly)?|minimal)\b",
    re.IGNORECASE,
)
_TESTS = re.compile(r"\b(?:unit[- ]?)?(?:tests?|tested|pytest|jest|vitest|specs?|test\s?suite)\b", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:coverage|lint(?:er|s)?|ruff|eslint|mypy|types?\s?check(?:s|er|ed)?|type-?checks?|benchmarks?|latency|"
    r"verif(?:y|ied|ies)|curl|exit\s+code|acceptance|criteri(?:a|on)|measured?|review(?:ed)?|documented|"
    r"build\s+(?:passes|succeeds)|checks?\s+pass|by\s+hand|screenshot)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:done|finished|complete|completed|over|ready)\s+(?:when|once|if|as\s+soon\s+as)\b"
    r"|\b(?:when|once|until|after)\s+[^.!?\n]{0,80}?\b(?:pass(?:es)?|merged|deployed|released|published|approved|"
    r"green|succeeds?|closed)\b|\bcloses?\s+#\d+|\bdefinition\s+of\s+done\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"^[.!?,;:(\n\u2013\u2014-][ \t]*(?=[A-Za-z])")
_WORKS = re.compile(r"\b(?:works?|working|finished|ready|completed?|done)\b", re.IGNORECASE)


def score(request: str, answers: tuple[str, ...] = ()) -> Scored:
    """By its words alone, and always the same. Code blocks tell where the work is, and nothing else."""
    said = [answered(answer) for answer in answers]
    told_so = "\n\n".join([request, *(text for text in said if text.strip() not in _PROMPTS)])[:MOST_READ]
    words = prose(told_so)
    seen = (_outcome(words), _scope(told_so, words), _constraints(words), _success(words), _done(words))
    scores = Scores(**{name: each.points for name, each in zip(DIMENSIONS, seen, strict=True)})
    return Scored(scores=scores, reasons=tuple(each.why for each in seen), questions=questions_for(scores))


def has_to_hold(part: str) -> bool:
    """Of an answer: more than a place, a single word, or an option that nobody filled in."""
    is_place = _NO_MORE.fullmatch(_EXACT.sub(" ", part)) or _ONE_AREA.fullmatch(part)
    return not is_place and " " in part and part not in _PROMPTS


def _outcome(words: str) -> _Seen:
    if found := _MEASURABLE.search(words):
        return _Seen(2, f"measurable by {_quote(found)}")
    if found := _DIRECTION.search(words):
        return _Seen(1, f"a direction, {_quote(found)}, and nothing that can be measured")
    return _Seen(0, "vague: no word says what is to be different afterwards")


def _scope(text: str, words: str) -> _Seen:
    exact = _EXACT.search(_PRODUCT.sub(" ", _URL.sub(" ", text)))
    everywhere = _WHOLE.search(words)
    if exact and everywhere:
        return _Seen(1, f"{_quote(exact)} is an exact target, but {_quote(everywhere)} takes in all of it")
    if exact:
        return _Seen(2, f"an exact target, {_quote(exact)}")
    if everywhere:
        return _Seen(0, f"the whole app, by {_quote(everywhere)}")
    if found := _AREA.search(words) or aspect_words(words):
        return _Seen(1, f"an area, {_quote(found)}, and no file or name in the code")
    return _Seen(0, "no part of the code is named, so it may be the whole app")


def _constraints(words: str) -> _Seen:
    if found := FORBIDS.search(words) or _LIMITED.search(words):
        return _Seen(2, f"an explicit limit, {_quote(found)}")
    if found := _SOFT.search(words):
        return _Seen(1, f"soft, by {_quote(found)}: nobody could say when it is broken")
    return _Seen(0, "none: nothing is said that must not happen")


def _success(words: str) -> _Seen:
    tests, more = _TESTS.search(words), _MORE.search(words)
    if tests and more:
        return _Seen(2, f"tests, by {_quote(tests)}, and more, by {_quote(more)}")
    if tests and len(bullets(words)) > 1:
        return _Seen(2, f"tests, by {_quote(tests)}, and a list of what has to hold")
    if found := tests or more:
        return _Seen(1, f"one way to see it, {_quote(found)}, and no other beside it")
    return _Seen(0, "none: no test and no other way to see that it succeeded")


def _done(words: str) -> _Seen:
    if found := _EVENT.search(words):
        return _Seen(2, f"a definite event, {_quote(found)}")
    if found := _WORKS.search(words):
        return _Seen(1, f"{_quote(found)}, and no event after which it is over")
    return _Seen(0, "implied: nothing says when it is over")


def _quote(found: re.Match[str]) -> str:
    """The words, without the mark that an order came after."""
    return f'"{one_line(_MARK.sub("", found[0]))}"'


# --- what is asked -------------------------------------------------------------------------------

_SAY = ": say which"
_QUESTIONS = {
    "outcome": (
        "What can be observed afterwards that cannot be observed now?",
        (f"a call or command that answers otherwise{_SAY}", f"a number that is reached{_SAY}"),
        "Without it nobody can tell a finished change from a started one.",
    ),
    "scope": (
        "Which files, functions or commands is the change about?",
        (f"one file or function{_SAY}", f"one part of the program{_SAY}"),
        "Without it agents may change code that nobody meant.",
    ),
    "constraints": (
        "What must not happen on the way?",
        ("no new dependencies", "the public interface must not change", f"something else{_SAY}"),
        "What is forbidden here stops the work at once when it is seen.",
    ),
    "success": (
        "How is it seen that it succeeded, besides the tests that exist?",
        ("all checks pass, and new tests cover it", f"something else{_SAY}"),
        "It becomes the verification of the criteria.",
    ),
    "done": (
        "After which event is it over?",
        ("it is done when all checks pass on the merged result", "it is done when the branch is merged"),
        "The loop ends there, and not when an agent says so.",
    ),
}
_PROMPTS = frozenset(option for _, options, _ in _QUESTIONS.values() for option in options if option.endswith(_SAY))


def questions_for(scores: Scores) -> tuple[Question, ...]:
    """What would make the request clear enough, the worst dimension first; nothing where it is."""
    if scores.spec >= MIN_SPEC:
        return ()
    points = dict(zip(DIMENSIONS, astuple(scores), strict=True))
    open_ones = sorted((name for name in DIMENSIONS if points[name] < _FULL), key=lambda name: points[name])
    return tuple(_question(name, points[name]) for name in open_ones[:MOST_QUESTIONS])


def _question(name: str, points: int) -> Question:
    asked, options, impact = _QUESTIONS[name]
    return Question(question=asked, options=options, impact=f"{impact} The {name} scores {points} of {_FULL}.")
