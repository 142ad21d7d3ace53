"""`workflow-state.json`: where a workflow stands, for hooks and other programs, in the seed's keys and their order.

Keys of ours and what was unknown when a file was read stand after the seed's. `read_state` takes over a file that the
seed's own tools wrote: only version, stage and task have to be there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from loopwright.errors import ConfigError
from loopwright.kernel.codec import plain
from loopwright.kernel.shapes import (
    Path,
    Problem,
    Shape,
    choice,
    each_key_once,
    expected,
    few_digits,
    fitted,
    fitting,
    flag,
    keyed,
    named,
    number,
    ruled,
    several,
    shown,
    text,
    whole,
    within,
)
from loopwright.kernel.visible import is_all_harmless
from loopwright.loops.workflow.evidence import CriterionStatus

VERSION = 1
SPEC_MOST, FIT_MOST = 10, 75
WorkflowStage = Literal[
    "intent", "shape", "decompose", "planning", "executing", "review", "complete", "cancelled", "paused"
]
ShapeChosen = Literal["colleague", "tool-review", "tool"]
_WAVE_NAME = re.compile(r"wave_([1-9][0-9]{0,5})")
_THOROUGH_NAME = "thorough"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveReview:
    """A light review: it informs and holds nothing up."""

    score: float  # 0 to 10
    issues: int
    blockers: int
    experts: tuple[str, ...] = ()
    timestamp: str = ""
    taken_over: bool = False  # another tool's word: it is shown, and nothing rests on it


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoroughReview:
    """The review before the gate. It is passed only when no blocker remains."""

    passed: bool
    blockers_remaining: int
    findings_total: int | None = None
    experts: tuple[str, ...] = ()
    timestamp: str = ""
    taken_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFile:
    """`others` are keys that are none of ours, as they were read."""

    stage: WorkflowStage
    task: str
    spec_score: int | None = None
    fit_score: int | None = None
    shape_chosen: ShapeChosen | None = None
    started_at: str = ""
    last_updated: str = ""
    recall_surfaced: tuple[str, ...] = ()
    waves: Mapping[int, WaveReview] = field(default_factory=dict)
    thorough: ThoroughReview | None = None
    loop: str = ""
    needs: str = ""
    criteria: Mapping[str, CriterionStatus] = field(default_factory=dict)
    others: Mapping[str, object] = field(default_factory=dict)


# Writing


def render_state(file: StateFile) -> str:
    """As the seed lays it out: a line for each key, and inside of reviews and criteria one for each of them."""
    return _block(dict(_entries(file)), "") + "\n"


def _entries(file: StateFile) -> Iterator[tuple[str, str]]:
    seeds: Mapping[str, object] = {
        "version": VERSION,
        "stage": file.stage,
        "task": file.task,
        "spec_score": file.spec_score,
        "fit_score": file.fit_score,
        "shape_chosen": file.shape_chosen,
        "started_at": file.started_at,
        "last_updated": file.last_updated,
        "recall_surfaced": list(file.recall_surfaced),
    }
    yield from ((name, _text(value)) for name, value in seeds.items())
    yield "reviews", _block(dict(_reviews(file)), "  ")
    if file.loop:
        yield "loop", _text(file.loop)
    if file.needs:
        yield "needs", _text(file.needs)
    if file.criteria:
        yield "criteriaStatus", _block({name: _row(plain(each)) for name, each in file.criteria.items()}, "  ")
    yield from ((name, _text(value)) for name, value in file.others.items() if name not in _KNOWN)


def _reviews(file: StateFile) -> Iterator[tuple[str, str]]:
    for number_of_wave, review in sorted(file.waves.items()):
        score = int(review.score) if review.score == int(review.score) else review.score
        row = {"score": score, "issues": review.issues, "blockers": review.blockers}
        yield f"wave_{number_of_wave}", _row(row | _seen_by(review))
    if review_of_all := file.thorough:
        row = {"passed": review_of_all.passed, "blockers_remaining": review_of_all.blockers_remaining}
        found = {} if review_of_all.findings_total is None else {"findings_total": review_of_all.findings_total}
        yield _THOROUGH_NAME, _row(row | found | _seen_by(review_of_all))


def _seen_by(review: WaveReview | ThoroughReview) -> dict[str, Any]:
    """What the seed's sample leaves out, where it is known."""
    known = {"experts": list(review.experts), "timestamp": review.timestamp, "taken_over": review.taken_over}
    return {name: value for name, value in known.items() if value}


def _block(entries: Mapping[str, str], indent: str) -> str:
    lines = ",\n".join(f"{indent}  {_text(name)}: {value}" for name, value in entries.items())
    return f"{{\n{lines}\n{indent}}}" if entries else "{}"


def _row(data: Mapping[str, object]) -> str:
    return "{ " + ", ".join(f"{_text(name)}: {_text(value)}" for name, value in data.items()) + " }"


def _text(value: object) -> str:
    """JSON on one line. What would steer a terminal is escaped as JSON has it, so that nothing is lost."""
    told = json.dumps(value, ensure_ascii=False)
    return told if is_all_harmless(told) else json.dumps(value)


# What it holds


def _review_shape(*required: str, **keys: Shape | tuple[Shape, str]) -> Shape:
    seen_by: dict[str, Shape | tuple[Shape, str]] = {
        "experts": (several(text(), "a list of texts"), "Who looked, by view."),
        "timestamp": (text(), "When, in UTC."),
        "taken_over": (flag(), "True: by the tool that began the workflow. Nothing rests on it here."),
    }
    return keyed("an object", *required, **{**keys, **seen_by})


def _unresolved(review: Mapping[str, Any]) -> Problem | None:
    if review["passed"] and review.get("blockers_remaining", 0):
        return Problem("expected false: blockers remain", ("passed",))
    return None


_COUNT = whole(0)
_WAVE = _review_shape(
    "score",
    score=(number(0, SPEC_MOST, "a number from 0 to 10"), "0 to 10; informs, and blocks nothing."),
    issues=(_COUNT, "What was found."),
    blockers=(_COUNT, "How many of them were BLOCKERs."),
)
_THOROUGH = ruled(
    _review_shape(
        "passed",
        passed=(flag(), "Only where no blocker remains."),
        blockers_remaining=(_COUNT, "BLOCKERs that nothing has resolved."),
        findings_total=(_COUNT, "All findings, whatever their weight."),
    ),
    _unresolved,
    {
        "if": {"properties": {"passed": {"const": True}}, "required": ["passed"]},
        "then": {"properties": {"blockers_remaining": {"enum": [0, None]}}},
    },
)


def _read_reviews(value: object) -> object:
    """`wave_N` and `thorough`; what is called otherwise is left out."""
    if not isinstance(value, dict):
        return expected("an object", value)
    held: dict[str, object] = {}
    for name, inner in value.items():
        shape = _THOROUGH if name == _THOROUGH_NAME else _WAVE if _WAVE_NAME.fullmatch(name) else None
        if shape is None or inner is None:
            continue
        read = shape.read(inner)
        if isinstance(read, Problem):
            return within(name, read)
        held[name] = read
    return held


def _or_null(shape: Shape) -> Mapping[str, object]:
    return {"anyOf": [shape.json, {"type": "null"}]}


_REVIEWS = Shape(
    says="an object",
    read=_read_reviews,
    json={
        "type": "object",
        "properties": {_THOROUGH_NAME: _or_null(_THOROUGH)},
        "patternProperties": {f"^{_WAVE_NAME.pattern}$": _or_null(_WAVE)},
    },
)
_CRITERION = keyed("an object", "met", met=flag(), verification=(text(), "By what it was seen."))
STATE = keyed(
    "a JSON object with version, stage and task",
    *("version", "stage", "task"),
    version=(fitting(str(VERSION), lambda value: value == VERSION and type(value) is int, {"const": VERSION}), ""),
    stage=(choice(*get_args(WorkflowStage)), "How far the workflow is."),
    task=(text(1), "The request as it was given."),
    spec_score=(whole(0, SPEC_MOST), "Five dimensions of 0 to 2. Null until it is scored."),
    fit_score=(whole(0, FIT_MOST), "What the shape is chosen by. Null until it is scored."),
    shape_chosen=(choice(*get_args(ShapeChosen)), "Null until it is chosen."),
    started_at=(text(), "In UTC."),
    last_updated=(text(), "In UTC."),
    recall_surfaced=(several(text(), "a list of texts"), "Titles of learnings that were shown, taken up or not."),
    reviews=(_REVIEWS, "Light reviews by wave, and the thorough one."),
    loop=(text(), "The id of the loop that writes the file."),
    needs=(text(), "What a person is to do before it goes on; not there where nothing is."),
    criteriaStatus=(named(_CRITERION, "an object"), "Which criteria of the shape are met, and by what it was seen."),
)
_KNOWN = frozenset(each.name for each in STATE.fields)


# Reading


def read_state(content: str, name: str = "workflow-state.json") -> StateFile:
    """Raises `ConfigError` with the key that is wrong. Unknown keys are kept aside."""

    def error(at: Path, says: str) -> ConfigError:
        return ConfigError(name, shown(at), says)

    try:
        data = json.loads(content, parse_int=few_digits, object_pairs_hook=each_key_once)
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()  # what no log can hold: half a character
    except (ValueError, RecursionError) as failure:
        raise ConfigError(name, "", f"expected JSON: {failure}") from failure
    held = fitted(STATE, data, error)
    reviews = held.get("reviews", {})
    return StateFile(
        stage=held["stage"],
        task=held["task"],
        spec_score=held.get("spec_score"),
        fit_score=held.get("fit_score"),
        shape_chosen=held.get("shape_chosen"),
        started_at=held.get("started_at", ""),
        last_updated=held.get("last_updated", ""),
        recall_surfaced=tuple(held.get("recall_surfaced", ())),
        waves=dict(sorted(_waves(reviews))),
        thorough=_thorough(reviews.get(_THOROUGH_NAME)),
        loop=held.get("loop", ""),
        needs=held.get("needs", ""),
        criteria={
            criterion: CriterionStatus(met=each["met"], verification=each.get("verification", ""))
            for criterion, each in held.get("criteriaStatus", {}).items()
        },
        others={key: value for key, value in held.items() if key not in _KNOWN},
    )


def _waves(reviews: Mapping[str, dict[str, Any]]) -> Iterator[tuple[int, WaveReview]]:
    for name, held in reviews.items():
        if found := _WAVE_NAME.fullmatch(name):
            yield (
                int(found[1]),
                WaveReview(
                    score=held["score"],
                    issues=held.get("issues", 0),
                    blockers=held.get("blockers", 0),
                    experts=tuple(held.get("experts", ())),
                    timestamp=held.get("timestamp", ""),
                    taken_over=held.get("taken_over", False),
                ),
            )


def _thorough(held: dict[str, Any] | None) -> ThoroughReview | None:
    if held is None:
        return None
    return ThoroughReview(
        passed=held["passed"],
        blockers_remaining=held.get("blockers_remaining", 0),
        findings_total=held.get("findings_total"),
        experts=tuple(held.get("experts", ())),
        timestamp=held.get("timestamp", ""),
        taken_over=held.get("taken_over", False),
    )
