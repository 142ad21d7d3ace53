"""Rehearsal scenarios: TOML to steps, and which step fits a run. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from loopwright.config.toml_text import TomlText
from loopwright.kernel.shapes import (
    Field,
    Problem,
    choice,
    duration,
    fitted,
    flag,
    matching,
    record,
    ruled,
    several,
    text,
    whole,
)
from loopwright.ports.agent import AgentRun

FAULTS = (
    "hang",
    "crash",
    "garbage",
    "flood",
    "rate-limit",
    "lie",
    "daemon",
    "touch-protected",
    "no-result",
    "slow-output",
)
Table = dict[str, Any]


def _edit_problem(edit: Table) -> Problem | None:
    if ("find" in edit) != ("replace" in edit) or edit.get("find") == "":
        return Problem("`find` (not empty) and `replace` go together")
    if sum(("content" in edit, "find" in edit, edit.get("delete", False))) != 1:
        return Problem("expected exactly one of `content`, `find` with `replace`, `delete = true`")
    return None


# A rehearsal touches nothing else.
_INSIDE = matching("a path inside the workspace", r"(?!/)(?!(?:[\s\S]*/)?\.\.(?:/|$))[\s\S]+")
_EDIT = ruled(
    record(
        Field(name="path", shape=_INSIDE, required=True),
        Field(name="content", shape=text()),
        Field(name="find", shape=text()),
        Field(name="replace", shape=text()),
        Field(name="delete", shape=flag()),
        closed=True,
    ),
    _edit_problem,
    {
        "oneOf": [
            {"required": ["content"]},
            {"required": ["find", "replace"], "properties": {"find": {"minLength": 1}}},
            {"required": ["delete"], "properties": {"delete": {"const": True}}},
        ],
        "dependentRequired": {"find": ["replace"], "replace": ["find"]},
    },
)
_STEP = record(
    Field(name="role", shape=text(least=1), required=True, means="Which role plays it."),
    Field(name="attempt", shape=whole(1), means="Only in this attempt of the loop."),
    Field(name="task", shape=text(), means="Only where the task names this."),
    Field(name="artifact", shape=text(), means="Only in a review of this artifact."),
    Field(name="skill", shape=text(), means="Only for this skill."),
    Field(
        name="edits",
        shape=several(_EDIT, "a list of tables"),
        means="New `content`, `find` with `replace`, or `delete = true`.",
    ),
    Field(name="result", shape=record(), means="What the agent reports."),
    Field(name="sleep", shape=duration()),
    Field(name="fault", shape=choice(*FAULTS)),
    Field(name="path", shape=_INSIDE, means="Which file `touch-protected` touches."),
    Field(name="retry_after", shape=duration(), means="What `rate-limit` asks for."),
    Field(name="repeat", shape=flag(), means="Keeps the step for the next run that fits."),
    closed=True,
)
SCENARIO = record(
    Field(name="step", shape=several(_STEP, "[[step]] tables"), means="The first unused one that fits is played."),
    Field(
        name="default",
        shape=record(Field(name="lenient", shape=flag()), closed=True),
        means="What happens when no step fits: `lenient` reports done, or a pass.",
    ),
    closed=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Exactly one of: new `content`, `find` and `replace`, or `delete`."""

    path: str
    content: str | None = None
    find: str | None = None
    replace: str | None = None
    delete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioStep:
    role: str
    attempt: int | None = None
    task: str = ""
    artifact: str = ""
    skill: str = ""
    edits: tuple[Edit, ...] = ()
    result: Table | None = None
    sleep: float = 0.0
    fault: str = ""
    path: str = ""  # which file `touch-protected` touches
    retry_after: float = 1.0  # what `rate-limit` asks for
    repeat: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    file: str
    steps: tuple[ScenarioStep, ...]
    lenient: bool = False


def read_scenario(text: str, file: str) -> Scenario:
    """Raises `ConfigError` with file, line and key."""
    source = TomlText(text=text, file=file)
    data = fitted(SCENARIO, source.parse(), source.error)
    lenient = data.get("default", {}).get("lenient", False)
    return Scenario(file=file, steps=tuple(map(_step, data.get("step", []))), lenient=lenient)


def _step(step: Table) -> ScenarioStep:
    return ScenarioStep(**{**step, "edits": tuple(Edit(**edit) for edit in step.get("edits", []))})


def choose(scenario: Scenario, run: AgentRun, used: frozenset[int]) -> int | None:
    """The first step that fits and is not used up."""
    return next((i for i, step in enumerate(scenario.steps) if i not in used and fits(step, run)), None)


def fits(step: ScenarioStep, run: AgentRun) -> bool:
    return (
        step.role == run.role
        and step.attempt in (None, run.brief.attempt)
        and step.skill in ("", run.skill)
        and (not step.artifact or step.artifact in run.brief.artifacts)
        and (not step.task or _is_of(step.task, run))
    )


def _is_of(task: str, run: AgentRun) -> bool:
    """A task with an id is that one and no other, whomever its text speaks of."""
    known: str = getattr(run.brief.own, "task_id", "")
    if known and re.fullmatch(r"T-\d+", task):
        return known == task
    return re.search(rf"(?<!\w){re.escape(task)}(?!\w)", run.brief.task) is not None
