"""`SHAPE.md`: what must hold, what must not happen, and how each of it is verified, for people and for agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.kernel.quoting import inline
from loopwright.loops.workflow.evidence import CriterionStatus
from loopwright.loops.workflow.reading import LONGEST
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.shape import (
    MustNot,
    ShapeCriterion,
    WorkShape,
    bars_completion,
    criterion_name,
    must_not_name,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFacts:
    """What the page says of the request besides its shape."""

    title: str
    spec: int | None  # None: nobody scored it, or the tool that it was taken over from did not say
    fit: int | None
    reasons: tuple[str, ...]  # of the score, where it is ours
    chosen: ShapeChoice


def render_shape(facts: ShapeFacts, shape: WorkShape, status: Mapping[str, CriterionStatus]) -> str:
    """`status` by `criterion_name`; a criterion of which nobody knows anything is not ticked."""
    head = [
        f"# Shape: {_said(facts.title)}",
        f"**Spec:** {_score(facts.spec, '/10')} | **Fit:** {_score(facts.fit)} | **Shape:** {facts.chosen}",
        "\n".join(f"- {_said(reason)}" for reason in facts.reasons),
    ]
    parts = [*head, *_criteria(shape, status), *_rules(shape), *_verification(shape)]
    for name, texts in (("aspect", shape.aspects), ("decision", shape.decisions), ("conflict", shape.conflicts)):
        parts += [f"## {name.capitalize()}s", "\n".join(f"- {name}: {_said(each)}" for each in texts) or "None."]
    return "\n\n".join(part for part in parts if part) + "\n"


def _score(points: int | None, of: str = "") -> str:
    return "not scored" if points is None else f"{points}{of}"


def _criteria(shape: WorkShape, status: Mapping[str, CriterionStatus]) -> tuple[str, ...]:
    rows = [
        _criterion(criterion_name(index), each, status.get(criterion_name(index)))
        for index, each in enumerate(shape.criteria, start=1)
    ]
    return ("## Criteria", "\n".join(rows) or "None.")


def _criterion(name: str, criterion: ShapeCriterion, status: CriterionStatus | None) -> str:
    ticked = "x" if status and status.met else " "
    seen = f" ({_said(status.verification)})" if status and status.verification else ""
    return f"- [{ticked}] {name}: {_said(criterion.text)}{seen}"


def _rules(shape: WorkShape) -> tuple[str, ...]:
    rows = [
        f"- {must_not_name(index)}: {_said(rule.text)} (seen by {_seen_by(rule)})"
        for index, rule in enumerate(shape.must_not, start=1)
    ]
    return ("## Must not", "One of these that turns out true stops the loop at once.", "\n".join(rows) or "None.")


def _seen_by(rule: MustNot) -> str:
    return f"its command, which fails then: {_command(rule.command)}" if rule.command else _said(rule.seen or "nothing")


def _verification(shape: WorkShape) -> tuple[str, ...]:
    rows = [
        f"| {criterion_name(index)} | {_cell(each.type)} | {_verified_by(each)} |"
        for index, each in enumerate(shape.criteria, start=1)
    ]
    table = "\n".join(["| criterion | type | command |", "|---|---|---|", *rows])
    bars = [f"- {_said(each)}" for each in bars_completion(shape)]
    warned = "\n".join(["An assumption bars completion until it is verified:", "", *bars]) if bars else ""
    return ("## Verification", table, warned)


def _verified_by(criterion: ShapeCriterion) -> str:
    if criterion.command:
        return _command(criterion.command).replace("|", "\\|")
    return "all checks" if criterion.is_measured else "none"


def _command(argv: tuple[str, ...]) -> str:
    """As the list it is: joined words would hide where one ends."""
    return _said(json.dumps(argv, ensure_ascii=False))


def _cell(text: str) -> str:
    return _said(text).replace("|", "\\|")


def _said(text: str) -> str:
    return inline(text, LONGEST)
