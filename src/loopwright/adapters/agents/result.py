"""The result file, read strictly: JSON without duplicate keys, NaN or depth, every known key of its type.

What is unknown is kept in the report's `extras`, under its own name and named in `$unknown`.
Everything that is text comes out visible, so that no later reader is steered by it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Any, NoReturn

from loopwright.errors import AgentGarbled
from loopwright.kernel.codec import build
from loopwright.kernel.findings import bounded, cut, identify, told_apart
from loopwright.kernel.model import KINDS_OF_TASK, AgentReport, AgentStatus, Finding, Question, Severity, Usage, Verdict
from loopwright.kernel.shapes import (
    Path,
    Shape,
    choice,
    each_key_once,
    expected,
    fitted,
    flag,
    given,
    keyed,
    named,
    number,
    several,
    shown,
    text,
    text_or,
    whole,
)
from loopwright.kernel.visible import visible

SIZE_LIMIT = 1 << 20
DEPTH_LIMIT = 32
MOST_FINDINGS, MOST_QUESTIONS = 200, 20
_SUMMARY, _LONGEST, _PAGE = 4000, 2000, 8000
UNKNOWN = "$unknown"
_MOST = 1_000_000  # what no score, point or hour comes near to
_LONGEST_NUMBER = 10**20  # Python itself refuses to print the longest, and nobody reads them
_MANY_TOKENS, _LEAST_PRICE = 100_000, 1e-9  # a run of so many tokens that cost less per token was not counted

_WORDS = {
    **dict.fromkeys(("p0", "blocker"), "critical"),
    "p1": "high",
    **dict.fromkeys(("p2", "warning"), "medium"),
    **dict.fromkeys(("p3", "suggestion"), "low"),
}


def _word(kind: type[Enum], aliases: Mapping[str, str] = MappingProxyType({})) -> Shape:
    """One of the words of `kind`, however it is spelled, or another name for one."""
    known = [str(each.value) for each in kind]
    plain = choice(*known)

    def read(value: object) -> object:
        word = value.strip().lower() if isinstance(value, str) else value
        word = aliases.get(word, word) if isinstance(word, str) else word
        return word if word in known else expected(plain.says, value)

    return replace(plain, read=read)


_object = partial(keyed, "an object")  # what other keys a result has there is kept
_TEXT, _LINE, _TOKENS = text(), whole(0), whole(0, 10**12)
_NUMBER = number(-_MOST, _MOST, says=f"a number, {-_MOST} to {_MOST}")
_AMOUNT = number(0, _MOST, says=f"a number, 0 to {_MOST}")
_USD = number(0, 1_000_000, says="an amount in US dollars, 0 to 1000000")
_TEXTS = several(_TEXT)


def _texts(*names: str) -> dict[str, Shape]:
    return dict.fromkeys(names, _TEXT)


_FINDING = _object(
    "severity",
    "issue",
    severity=_word(Severity, _WORDS),
    **_texts("rule", "file"),
    line=_LINE,
    **_texts("issue", "evidence", "guidance", "requirement", "dimension", "category", "expected", "actual"),
    score=_NUMBER,
)
_QUESTION = _object("question", question=_TEXT, options=_TEXTS, impact=_TEXT)
_USAGE = _object(input_tokens=_TOKENS, output_tokens=_TOKENS, usd=_USD, estimated=flag())
_ABOUT = choice(*KINDS_OF_TASK)
_TASK = _object(**_texts("id", "subject", "description"), verify=_TEXTS, blockedBy=_TEXTS, files=_TEXTS, about=_ABOUT)
_ASPECT = _object(**_texts("requirement", "aspect", "expected", "actual"), **{"pass": flag()}, score=_NUMBER)
RESULT = _object(
    "status",
    status=_word(AgentStatus),
    summary=_TEXT,
    verdict=_word(Verdict),
    no_test=_TEXT,
    interface=_TEXT,
    findings=several(_FINDING),
    about=_ABOUT,
    scores=named(_NUMBER, "an object"),
    shape=_object(
        criteria=_TEXTS,
        mustNot=several(text_or(_object("text", text=_TEXT, command=_TEXTS))),
        verification=several(_object(criterion=_TEXT, type=_TEXT, command=_TEXTS)),
    ),
    tasks=several(_TASK),
    capabilities=_TEXTS,
    estimate=_object(hours=_AMOUNT),
    aspects=several(_ASPECT),
    questions=several(_QUESTION),
    deliverables=_TEXTS,
    references=_TEXTS,
    score=_NUMBER,
    advice=_object(diagnosis=_TEXTS, recommendations=_TEXTS, consensus=_TEXT, fallback=_TEXT),
    ship=_object(confidence=_NUMBER, **_texts("reversibility"), points=_NUMBER, **_texts("alternative", "risk")),
    usage=_USAGE,
)
_REPORTED = ("status", "summary", "verdict", "no_test", "interface", "about", "findings", "questions", "usage")


@dataclass(frozen=True, slots=True)
class Result:
    report: AgentReport
    usage: Usage
    counted: bool = False  # it says how many tokens it used, be it none


def read_result(data: bytes) -> Result:
    """From the file's bytes. Raises `AgentGarbled` naming the place in the JSON."""
    if len(data) > SIZE_LIMIT:
        raise AgentGarbled(f"it is larger than {SIZE_LIMIT} bytes")
    try:
        value = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=each_key_once,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole_number,
        )
    except UnicodeDecodeError as error:
        raise AgentGarbled(f"it is not UTF-8 at byte {error.start}") from error
    except RecursionError:
        raise AgentGarbled(f"it is nested deeper than {DEPTH_LIMIT}") from None
    except ValueError as error:
        raise AgentGarbled(f"it is not JSON: {visible(str(error))}") from error
    return check_result(value)


def check_result(value: object) -> Result:
    """From data that is already parsed, as a Python callable hands it over."""
    clean = _cleaned(value, "$", 0)
    data = fitted(RESULT, clean, lambda at, says: AgentGarbled(f"{_place(at)}: {says}", _cost_in(clean)))
    notes = {shown(at): held for at, field, held in given(RESULT, clean) if field is None}
    extras = {key: held for key, held in data.items() if key not in _REPORTED}
    findings = sorted((_finding(each) for each in data.get("findings", ())), key=lambda finding: finding.severity.rank)
    if len(findings) > MOST_FINDINGS:
        notes["findings"] = f"{len(findings) - MOST_FINDINGS} of {len(findings)} left out, the least severe"
    usage = build(Usage, _known(_USAGE, data.get("usage", {})))
    if not _is_believed(usage):
        notes["usage.usd"] = "too little for so many tokens: taken for not said"
        usage = replace(usage, usd=None)
    if notes:
        extras[UNKNOWN] = notes
    report = AgentReport(
        status=AgentStatus(data["status"]),
        summary=cut(data.get("summary", "") or "(no summary)", _SUMMARY),
        verdict=Verdict(data["verdict"]) if "verdict" in data else None,
        no_test=cut(data.get("no_test", ""), _SUMMARY),
        interface=cut(data.get("interface", ""), _PAGE),
        about=data.get("about", ""),
        findings=tuple(findings[:MOST_FINDINGS]),
        questions=tuple(_question(each) for each in data.get("questions", ())[:MOST_QUESTIONS]),
        extras=json.dumps(extras, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
    )
    return Result(report, usage, counted=not {"input_tokens", "output_tokens"}.isdisjoint(data.get("usage", {})))


def _cost_in(value: object) -> float | None:
    """Of a result that is wrong elsewhere: the money is gone, whatever else it says."""
    usage = value.get("usage") if isinstance(value, dict) else None
    usd = usage.get("usd") if isinstance(usage, dict) else None
    if not isinstance(usd, int | float) or isinstance(usd, bool):
        return None
    return float(usd) if 0 <= usd < math.inf else None


def _is_believed(usage: Usage) -> bool:
    """Nothing for very many tokens is a counter that does not work, or a lie about the budget."""
    tokens = usage.input_tokens + usage.output_tokens
    return usage.usd is None or tokens < _MANY_TOKENS or usage.usd >= tokens * _LEAST_PRICE


def _place(at: Path) -> str:
    return f"$.{shown(at)}" if at else "$"


def identified(report: AgentReport, code: Callable[[Finding], str]) -> AgentReport:
    """The report with fingerprints; `code` gives the line a finding points at."""
    found = tuple(identify(finding, code(finding)) for finding in report.findings)
    return replace(report, findings=told_apart(found))


# --- JSON ----------------------------------------------------------------------------------------


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large")
    return value


def _whole_number(text: str) -> int:
    if len(text) > len(str(_LONGEST_NUMBER)):
        raise ValueError(f"{text[:20]}… is too large")
    return int(text)


def _cleaned(value: object, where: str, depth: int) -> object:
    """The same data with every text made visible; refuses what JSON cannot hold or what is too deep."""
    if depth > DEPTH_LIMIT:
        raise AgentGarbled(f"{where[:200]}: nested deeper than {DEPTH_LIMIT}")
    match value:
        case str():
            return visible(value)
        case None | bool():
            return value
        case int() if abs(value) < _LONGEST_NUMBER:
            return value
        case int():
            raise AgentGarbled(f"{where[:200]}: the number is too large")
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [_cleaned(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
        case dict():
            named = {str(_cleaned(key, where, depth)): held for key, held in value.items()}
            return {key: _cleaned(held, f"{where}.{key}", depth + 1) for key, held in named.items()}
        case _:
            raise AgentGarbled(f"{where}: {type(value).__name__} cannot be part of a result")


# --- values --------------------------------------------------------------------------------------


def _known(shape: Shape, data: dict[str, Any]) -> dict[str, Any]:
    return {field.name: data[field.name] for field in shape.fields if field.name in data}


def _finding(data: dict[str, Any]) -> Finding:
    finding = build(Finding, _known(_FINDING, data))
    return bounded(replace(finding, dimension=cut(finding.dimension, 100), category=cut(finding.category, 100)))


def _question(data: dict[str, Any]) -> Question:
    options = tuple(cut(option, _LONGEST) for option in data.get("options", ())[:MOST_QUESTIONS])
    return Question(
        question=cut(data["question"], _LONGEST), options=options, impact=cut(data.get("impact", ""), _LONGEST)
    )
