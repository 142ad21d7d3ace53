"""What workflows learn, as lines of `.loop/learnings/*.jsonl`: the keys of each kind, and how they are read back.

Other tools write these files too. A line that cannot be read is passed over and counted; it is never a reason to stop,
and never ours to remove. What is older than 90 days is neither recalled nor kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from loopwright.kernel.codec import plain
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import few_digits

LearningKind = Literal["failures", "discoveries", "constraints", "delegation"]  # the names of the files
FailurePattern = Literal[
    "shape-mismatch", "verification-gap", "scope-creep", "ambiguity", "hallucination", "context-gap"
]
DAY = 86_400.0
RETAINED = 90 * DAY
_FIELD = 500  # characters of one text in a line


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureLearned:
    """A line of `failures.jsonl`. `context` is the request and task it was learned in."""

    ts: str
    context: str
    failure: str
    root_cause: str
    prevention: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryLearned:
    """A line of `discoveries.jsonl`."""

    ts: str
    context: str
    discovery: str
    confidence: float  # 0 to 1
    applies_to: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintLearned:
    """A line of `constraints.jsonl`."""

    ts: str
    context: str
    constraint: str
    source: str
    permanent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationLearned:
    """A line of `delegation.jsonl`: how well a shape fitted a request. Without a failure there is no pattern of one."""

    ts: str
    context: str
    spec_score: int | None
    fit_score: int | None
    shape_chosen: str
    verification_type: str
    outcome: str
    failure_pattern: FailurePattern | None
    root_cause: str
    prevention: str


Learning = FailureLearned | DiscoveryLearned | ConstraintLearned | DelegationLearned
_KINDS: Mapping[type[Learning], LearningKind] = {
    FailureLearned: "failures",
    DiscoveryLearned: "discoveries",
    ConstraintLearned: "constraints",
    DelegationLearned: "delegation",
}
_TOLD: Mapping[LearningKind, tuple[str, ...]] = {
    "failures": ("failure",),
    "discoveries": ("discovery",),
    "constraints": ("constraint",),
    "delegation": ("outcome", "failure_pattern", "root_cause"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A line as it is read back. `text` is what was learned; `recurring` counts the occasions on which it was."""

    ts: str
    kind: LearningKind
    context: str
    text: str
    confidence: float
    recurring: int = 1
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningsRead:
    learned: tuple[Learned, ...]
    passed_over: int  # lines that nothing could be made of


def file_of(learning: Learning) -> LearningKind:
    """The name of its file, without the ending."""
    return _KINDS[type(learning)]


def learning_data(learning: Learning) -> dict[str, object]:
    """The keys of its line in order, each text on one line and bounded: much of it is an agent's prose."""
    return {name: _tame(value) for name, value in plain(learning).items()}


def learning_line(learning: Learning) -> str:
    return json.dumps(learning_data(learning), ensure_ascii=False, separators=(",", ":"))


def as_learned(learning: Learning) -> Learned:
    """As it will be read back."""
    return _learned(file_of(learning), learning_data(learning))


def read_learnings(texts: Mapping[str, str]) -> LearningsRead:
    """By the name of the file, without the ending; files that are called otherwise are not looked into."""
    found: list[Learned] = []
    passed_over = 0
    for kind in get_args(LearningKind):
        for line in _lines(texts.get(kind, "")):
            read = _read(kind, line)
            if read:
                found.append(read)
            else:
                passed_over += 1
    return LearningsRead(learned=tuple(found), passed_over=passed_over)


def kept(lines: Iterable[str], now: float) -> tuple[str, ...]:
    """Without those that are older than 90 days. A line without a readable date is somebody else's, and stays."""
    return tuple(line for line in lines if (at := moment_of(_object(line).get("ts"))) is None or now - at <= RETAINED)


def moment_of(ts: object) -> float | None:
    """Seconds since 1970 of an ISO-8601 date; one without a zone is in UTC."""
    if not isinstance(ts, str):
        return None
    try:
        date = datetime.fromisoformat(ts)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        return None


def _lines(text: str) -> Iterator[str]:
    return (line for line in text.split("\n") if line.strip())


def _read(kind: LearningKind, line: str) -> Learned | None:
    data = _object(line)
    if not _told(kind, data) or moment_of(data.get("ts")) is None:
        return None
    return _learned(kind, data)


def _learned(kind: LearningKind, data: Mapping[str, Any]) -> Learned:
    return Learned(
        ts=data["ts"],
        kind=kind,
        context=one_line(_as_text(data.get("context")), _FIELD),
        text=_told(kind, data),
        confidence=_sure(data) if kind == "discoveries" else 1.0,
        data=data,
    )


def _object(line: str) -> dict[str, Any]:
    """Empty where the line is no object."""
    try:
        data = json.loads(line, parse_int=few_digits)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _told(kind: LearningKind, data: Mapping[str, object]) -> str:
    parts = [one_line(_as_text(data.get(name)), _FIELD) for name in _TOLD[kind]]
    return ": ".join(part for part in parts if part)


def _sure(data: Mapping[str, object]) -> float:
    """What happened did happen; of what was only found out, somebody says how sure it is, or nobody knows."""
    said = data.get("confidence")
    if isinstance(said, bool) or not isinstance(said, int | float):
        return 0.0
    return float(said) if 0 <= said <= 1 else 0.0


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _tame(value: object) -> object:
    match value:
        case str():
            return one_line(value, _FIELD)
        case list():
            return [_tame(each) for each in value]
        case _:
            return value
