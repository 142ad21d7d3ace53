"""Rehearsal scenarios: TOML to steps, and which step fits a run. Pure."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import NoReturn

from loopwright.config.position import line_of
from loopwright.errors import ConfigError
from loopwright.kernel.durations import parse_duration
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
_NARROWING = ("task", "artifact", "skill")
_STEP_KEYS = ("role", "attempt", *_NARROWING, "edits", "result", "sleep", "fault", "path", "retry_after", "repeat")
_EDIT_KEYS = ("path", "content", "find", "replace", "delete")

Where = tuple[str | int, ...]
Table = dict[str, object]


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
    source = _Source(text=text, file=file)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(file, "", f"not TOML: {error}") from error
    source.known((), data, ("step", "default"))
    default = source.table(("default",), data.get("default", {}))
    source.known(("default",), default, ("lenient",))
    steps = data.get("step", [])
    if not isinstance(steps, list):
        source.fail(("step",), "expected [[step]] tables")
    return Scenario(
        file=file,
        steps=tuple(_step(source, ("step", index), step) for index, step in enumerate(steps)),
        lenient=source.flag(("default",), default, "lenient"),
    )


def choose(scenario: Scenario, run: AgentRun, used: frozenset[int]) -> int | None:
    """The first step that fits and is not used up."""
    return next((i for i, step in enumerate(scenario.steps) if i not in used and fits(step, run)), None)


def fits(step: ScenarioStep, run: AgentRun) -> bool:
    return (
        step.role == run.role
        and step.attempt in (None, run.brief.attempt)
        and step.skill in ("", run.skill)
        and (not step.artifact or step.artifact in run.brief.artifacts)
        and (not step.task or re.search(rf"(?<!\w){re.escape(step.task)}(?!\w)", run.brief.task) is not None)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    text: str
    file: str

    def fail(self, where: Where, expected: str) -> NoReturn:
        shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).removeprefix(".")
        raise ConfigError(self.file, shown, expected, line=line_of(self.text, where))

    def known(self, where: Where, table: Table, keys: tuple[str, ...]) -> None:
        for key in table.keys() - set(keys):
            self.fail((*where, key), f"unknown; known here are {', '.join(keys)}")

    def table(self, where: Where, value: object) -> Table:
        return value if isinstance(value, dict) else self.fail(where, "expected a table")

    def text_at(self, where: Where, table: Table, key: str) -> str | None:
        value = table.get(key)
        return value if value is None or isinstance(value, str) else self.fail((*where, key), "expected text")

    def flag(self, where: Where, table: Table, key: str) -> bool:
        value = table.get(key, False)
        return value if isinstance(value, bool) else self.fail((*where, key), "expected true or false")

    def seconds(self, where: Where, table: Table, key: str, default: float) -> float:
        if key not in table:
            return default
        seconds = parse_duration(table[key])
        return seconds if seconds is not None else self.fail((*where, key), 'expected a time like "2s" or "1m30s"')

    def inside(self, where: Where, path: str) -> str:
        """A path that stays in the workspace: a rehearsal touches nothing else."""
        if not path or path.startswith("/") or ".." in path.split("/"):
            self.fail(where, "expected a path inside the workspace")
        return path


def _step(source: _Source, where: Where, value: object) -> ScenarioStep:
    table = source.table(where, value)
    source.known(where, table, _STEP_KEYS)
    attempt, fault = table.get("attempt"), source.text_at(where, table, "fault") or ""
    if attempt is not None and (not isinstance(attempt, int) or isinstance(attempt, bool) or attempt < 1):
        source.fail((*where, "attempt"), "expected a whole number from 1")
    if fault and fault not in FAULTS:
        source.fail((*where, "fault"), f"expected one of {', '.join(FAULTS)}")
    edits = table.get("edits", [])
    if not isinstance(edits, list):
        source.fail((*where, "edits"), "expected a list of tables")
    narrow = {key: source.text_at(where, table, key) or "" for key in _NARROWING}
    path = source.text_at(where, table, "path")
    return ScenarioStep(
        role=source.text_at(where, table, "role") or source.fail((*where, "role"), "missing: which role plays it"),
        attempt=attempt,
        edits=tuple(_edit(source, (*where, "edits", index), edit) for index, edit in enumerate(edits)),
        result=source.table((*where, "result"), table["result"]) if "result" in table else None,
        sleep=source.seconds(where, table, "sleep", 0.0),
        fault=fault,
        path=source.inside((*where, "path"), path) if path is not None else "",
        retry_after=source.seconds(where, table, "retry_after", 1.0),
        repeat=source.flag(where, table, "repeat"),
        **narrow,
    )


def _edit(source: _Source, where: Where, value: object) -> Edit:
    table = source.table(where, value)
    source.known(where, table, _EDIT_KEYS)
    edit = Edit(
        path=source.inside((*where, "path"), source.text_at(where, table, "path") or ""),
        content=source.text_at(where, table, "content"),
        find=source.text_at(where, table, "find"),
        replace=source.text_at(where, table, "replace"),
        delete=source.flag(where, table, "delete"),
    )
    if (edit.find is None) != (edit.replace is None) or edit.find == "":
        source.fail(where, "`find` (not empty) and `replace` go together")
    if sum((edit.content is not None, edit.find is not None, edit.delete)) != 1:
        source.fail(where, "expected exactly one of `content`, `find` with `replace`, `delete = true`")
    return edit
