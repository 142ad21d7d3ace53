"""The result file, read strictly: JSON without duplicate keys, NaN or depth, every known key of its type.

What is unknown is kept in the report's `extras`, under its own name and named in `$unknown`.
Everything that is text comes out visible, so that no later reader is steered by it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias

from loopwright.errors import AgentGarbled
from loopwright.kernel.findings import bounded, cut, identify, told_apart
from loopwright.kernel.model import AgentReport, AgentStatus, Finding, Question, Severity, Usage, Verdict
from loopwright.kernel.visible import visible

SIZE_LIMIT = 1 << 20
DEPTH_LIMIT = 32
MOST_FINDINGS, MOST_QUESTIONS = 200, 20
_SUMMARY, _TEXT = 4000, 2000
UNKNOWN = "$unknown"

_SEVERITIES = {
    **{severity.value: severity for severity in Severity},
    "p0": Severity.CRITICAL,
    "blocker": Severity.CRITICAL,
    "p1": Severity.HIGH,
    "p2": Severity.MEDIUM,
    "warning": Severity.MEDIUM,
    "p3": Severity.LOW,
    "suggestion": Severity.LOW,
}

# A kind is a scalar's name, a list of one kind, or a table; `!` after a key makes it required, `*` is any key.
Kind: TypeAlias = "str | list[Kind] | dict[str, Kind]"
_TEXTS: Kind = ["text"]
_FINDING: Kind = {
    "severity!": "severity",
    "issue!": "text",
    **dict.fromkeys(("rule", "file", "evidence", "guidance", "requirement", "dimension", "category"), "text"),
    "expected": "text",
    "actual": "text",
    "line": "whole",
    "score": "number",
}
_VERIFICATION: Kind = {"criterion": "text", "type": "text", "command": _TEXTS}
_TASK: Kind = {
    **dict.fromkeys(("id", "subject", "description"), "text"),
    **dict.fromkeys(("verify", "blockedBy", "files"), _TEXTS),
}
_ASPECT: Kind = {
    **dict.fromkeys(("requirement", "aspect", "expected", "actual"), "text"),
    "pass": "flag",
    "score": "number",
}
_ADVICE: Kind = {"diagnosis": _TEXTS, "recommendations": _TEXTS, "consensus": "text", "fallback": "text"}
_SHIP: Kind = {
    **dict.fromkeys(("reversibility", "alternative", "risk"), "text"),
    **dict.fromkeys(("confidence", "points"), "number"),
}
_RESULT: dict[str, Kind] = {
    "status!": "status",
    "summary": "text",
    "verdict": "verdict",
    "findings": [_FINDING],
    "questions": [{"question!": "text", "options": _TEXTS, "impact": "text"}],
    "usage": {"input_tokens": "whole", "output_tokens": "whole", "usd": "amount"},
    "scores": {"*": "number"},
    "shape": {"criteria": _TEXTS, "mustNot": _TEXTS, "verification": [_VERIFICATION]},
    "tasks": [_TASK],
    "aspects": [_ASPECT],
    "estimate": {"hours": "amount"},
    "advice": _ADVICE,
    "ship": _SHIP,
    "score": "number",
    **dict.fromkeys(("capabilities", "deliverables", "references"), _TEXTS),
}
_REPORTED = ("status", "summary", "verdict", "findings", "questions", "usage")


@dataclass(frozen=True, slots=True)
class Result:
    report: AgentReport
    usage: Usage


def read_result(data: bytes) -> Result:
    """From the file's bytes. Raises `AgentGarbled` naming the place in the JSON."""
    if len(data) > SIZE_LIMIT:
        raise AgentGarbled(f"it is larger than {SIZE_LIMIT} bytes")
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_table, parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise AgentGarbled(f"it is not UTF-8 at byte {error.start}") from error
    except RecursionError:
        raise AgentGarbled(f"it is nested deeper than {DEPTH_LIMIT}") from None
    except ValueError as error:
        raise AgentGarbled(f"it is not JSON: {visible(str(error))}") from error
    return check_result(value)


def check_result(value: object) -> Result:
    """From data that is already parsed, as a Python callable hands it over."""
    notes: dict[str, object] = {}
    data = _read(_RESULT, _cleaned(value, "$", 0), "$", notes)
    if not isinstance(data, dict):
        raise AgentGarbled("$: expected an object")
    extras = {key: held for key, held in data.items() if key not in _REPORTED}
    findings = sorted((_finding(each) for each in data.get("findings", ())), key=lambda finding: finding.severity.rank)
    if len(findings) > MOST_FINDINGS:
        notes["findings"] = f"{len(findings) - MOST_FINDINGS} of {len(findings)} left out, the least severe"
    if notes:
        extras[UNKNOWN] = notes
    usage: dict[str, Any] = _known(_RESULT["usage"], data.get("usage", {}))
    report = AgentReport(
        status=data["status"],
        summary=cut(data.get("summary", "") or "(no summary)", _SUMMARY),
        verdict=data.get("verdict"),
        findings=tuple(findings[:MOST_FINDINGS]),
        questions=tuple(_question(each) for each in data.get("questions", ())[:MOST_QUESTIONS]),
        extras=json.dumps(extras, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
    )
    return Result(report, Usage(**usage))


def identified(report: AgentReport, code: Callable[[Finding], str]) -> AgentReport:
    """The report with fingerprints; `code` gives the line a finding points at."""
    found = tuple(identify(finding, code(finding)) for finding in report.findings)
    return replace(report, findings=told_apart(found))


# --- JSON ----------------------------------------------------------------------------------------


def _table(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key!r} is there twice in one object")
        table[key] = value
    return table


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large")
    return value


def _cleaned(value: object, where: str, depth: int) -> object:
    """The same data with every text made visible; refuses what JSON cannot hold or what is too deep."""
    if depth > DEPTH_LIMIT:
        raise AgentGarbled(f"{where[:200]}: nested deeper than {DEPTH_LIMIT}")
    match value:
        case str():
            return visible(value)
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [_cleaned(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
        case dict():
            return {visible(str(key)): _cleaned(held, f"{where}.{key}", depth + 1) for key, held in value.items()}
        case _:
            raise AgentGarbled(f"{where}: {type(value).__name__} cannot be part of a result")


# --- kinds ---------------------------------------------------------------------------------------


def _read(kind: Kind, value: object, where: str, notes: dict[str, object]) -> Any:  # noqa: ANN401  parsed JSON
    if isinstance(kind, str):
        return _SCALARS[kind](value, where)
    if isinstance(kind, list):
        if not isinstance(value, list):
            _refuse(where, "a list", value)
        return [_read(kind[0], item, f"{where}[{index}]", notes) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        _refuse(where, "an object", value)
    return _read_table(kind, value, where, notes)


def _read_table(
    kinds: dict[str, Kind], table: dict[str, object], where: str, notes: dict[str, object]
) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in table.items():
        kind = kinds.get(key) or kinds.get(f"{key}!") or kinds.get("*")
        if kind is None:
            notes[f"{where}.{key}".removeprefix("$.")] = value
            read[key] = value
        elif value is not None:  # a null says nothing, like a key that is not there
            read[key] = _read(kind, value, f"{where}.{key}", notes)
    for key in kinds:
        if key.endswith("!") and key[:-1] not in read:
            raise AgentGarbled(f"{where}.{key[:-1]}: missing")
    return read


def _refuse(where: str, expected: str, value: object) -> NoReturn:
    shown = cut(repr(value), 60) if isinstance(value, str | int | float) else type(value).__name__
    raise AgentGarbled(f"{where}: expected {expected}, found {shown}")


def _text(value: object, where: str) -> str:
    return value if isinstance(value, str) else _refuse(where, "text", value)


def _number(value: object, where: str) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return value if good else _refuse(where, "a number", value)  # type: ignore[return-value]


def _amount(value: object, where: str) -> float:
    amount = _number(value, where)
    return float(amount) if amount >= 0 else _refuse(where, "a number from 0", value)


def _whole(value: object, where: str) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53
    return value if good else _refuse(where, "a whole number from 0", value)  # type: ignore[return-value]


def _flag(value: object, where: str) -> bool:
    return value if isinstance(value, bool) else _refuse(where, "true or false", value)


def _one_of(names: Mapping[str, object], shown: str) -> Callable[[object, str], object]:
    def read(value: object, where: str) -> object:
        known = isinstance(value, str) and value.strip().lower() in names
        return names[str(value).strip().lower()] if known else _refuse(where, f"one of {shown}", value)

    return read


_SCALARS: dict[str, Callable[[object, str], object]] = {
    "text": _text,
    "number": _number,
    "amount": _amount,
    "whole": _whole,
    "flag": _flag,
    "severity": _one_of(_SEVERITIES, "critical, high, medium, low"),
    "status": _one_of({each.value: each for each in AgentStatus}, "done, blocked, needs_clarification"),
    "verdict": _one_of({each.value: each for each in Verdict}, "pass, fail"),
}


# --- values --------------------------------------------------------------------------------------


def _known(kind: Kind, table: dict[str, Any]) -> dict[str, Any]:
    names = {key.rstrip("!") for key in kind} if isinstance(kind, dict) else set()
    return {key: value for key, value in table.items() if key in names}


def _finding(data: dict[str, Any]) -> Finding:
    known = _known(_FINDING, data)
    if "score" in known:
        known["score"] = float(known["score"])
    for name in ("dimension", "category"):
        known[name] = cut(known.get(name, ""), 100)
    return bounded(Finding(**known))


def _question(data: dict[str, Any]) -> Question:
    options = tuple(cut(option, _TEXT) for option in data.get("options", ())[:MOST_QUESTIONS])
    return Question(question=cut(data["question"], _TEXT), options=options, impact=cut(data.get("impact", ""), _TEXT))
