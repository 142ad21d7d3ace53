"""The plan: atomic tasks with what each waits for, as a planner gave them, and the rules they have to keep.

A task is one sentence that does one thing. Hard rules make a plan wrong, and it is asked for once more with what is
wrong; soft ones are said to the planner once, then the plan is taken and they are said to the person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from loopwright.kernel.findings import cut
from loopwright.kernel.model import KINDS_OF_TASK, AgentReport
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Field, choice, keyed, record, several, text
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import counted
from loopwright.loops.task_file import name_of
from loopwright.loops.workflow.graph import cycles, depths, evenly, waves
from loopwright.loops.workflow.reading import LONGEST, LOOPBACK_ONLY, MOST, paragraph, some, told, urls_away
from loopwright.loops.workflow.words import title_of

MOST_TASKS = 25
LIGHT_REVIEWERS, THOROUGH_REVIEWERS = 3, 4  # at most
SUBJECT = 200  # characters of one
_NUMBERED = re.compile(r"(?:T-?|#)?0*([1-9][0-9]{0,5})", re.IGNORECASE | re.ASCII)
_DRIVE = re.compile(r"[A-Za-z]:")
_JOINS = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """`id` is `T-001`; `called` is what the planner called it where that was no number."""

    id: str
    subject: str
    description: str = ""
    verify: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    active_form: str = ""
    called: str = ""
    about: str = ""  # code, text, tests or cleanup; empty: whoever reviews it says so


# --- what a planner says -------------------------------------------------------------------------

_TEXT, _LIST = text(), several(text())
_TASKS = record(
    Field(
        name="tasks",
        required=True,
        shape=several(
            keyed(
                "an object",
                "subject",
                **dict.fromkeys(("id", "subject", "description", "activeForm"), _TEXT),
                verify=several(_TEXT, "a command as a list of its words"),
                **dict.fromkeys(("blockedBy", "files"), _LIST),
                about=choice(*KINDS_OF_TASK),
            )
        ),
    ),
    says="an object",
)


def read_tasks(report: AgentReport) -> tuple[PlannedTask, ...] | str:
    """As a planner gave them, or why they cannot be taken. `1`, `T-1` and `T-001` are one id.

    A name that is no number gets the next free one, for branches and task files are named by it.
    """
    data = told(report, _TASKS)
    if isinstance(data, str):
        return data
    rows: list[Mapping[str, Any]] = data["tasks"]
    ids = _ids(tuple(row.get("id", "") for row in rows))
    by_name = {_folded(row["id"]): own for row, own in zip(rows, ids, strict=True) if row.get("id", "").strip()}
    return tuple(_task(row, own, by_name) for row, own in zip(rows, ids, strict=True))


def _ids(given: tuple[str, ...]) -> tuple[str, ...]:
    taken = {number for name in given if (number := _number(name))}
    free = (number for number in range(1, len(given) + len(taken) + 1) if number not in taken)
    named: dict[str, int] = {}
    found: list[int] = []
    for name in given:
        number = _number(name) or named.get(_folded(name)) or next(free)
        if _folded(name):
            named[_folded(name)] = number
        found.append(number)
    return tuple(map(name_of, found))


def _number(name: str) -> int:
    found = _NUMBERED.fullmatch(name.strip())
    return int(found[1]) if found else 0


def _folded(name: str) -> str:
    return name.strip().casefold()


def _task(row: Mapping[str, Any], own: str, by_name: Mapping[str, str]) -> PlannedTask:
    subject, name, verify = one_line(row["subject"], SUBJECT), row.get("id", "").strip(), row.get("verify", ())
    blockers = (by_name.get(_folded(each)) or _blocker(each) for each in row.get("blockedBy", ()) if each.strip())
    return PlannedTask(
        id=own,
        subject=subject,
        description=paragraph(row.get("description", "")),
        verify=tuple(verify) if verify and verify[0].strip() else (),
        blocked_by=tuple(dict.fromkeys(blockers)),
        files=tuple(cut(visible(path), LONGEST) for path in row.get("files", ()) if path.strip())[:MOST],
        active_form=one_line(row.get("activeForm", ""), SUBJECT) or active_form_of(subject),
        called="" if _number(name) else one_line(name, SUBJECT),
        about=row.get("about", ""),
    )


def _blocker(name: str) -> str:
    """The id of a task that may not be there: `plan_problems` names it as it was written."""
    number = _number(name)
    return name_of(number) if number else one_line(name, SUBJECT)


# --- hard rules ----------------------------------------------------------------------------------


def plan_problems(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    """Why no task of it may start; each sentence names the tasks."""
    if not tasks:
        return ("the plan has no task; give at least one",)
    return (*_too_many(tasks), *order_problems(tasks), *_bad_tasks(tasks))


def order_problems(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    """Why nobody can tell what comes after what."""
    return (*_double(tasks), *_dangling(tasks), *_circles(tasks))


def _too_many(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    if len(tasks) <= MOST_TASKS:
        return ()
    loops = split_of(tasks)
    parts = [f"loop {number}: {_ranges(part)}" for number, part in enumerate(loops, start=1)]
    many = f"the plan has {len(tasks)} tasks and a loop takes at most {MOST_TASKS}"
    return (f"{many}; split it into {len(loops)} loops that follow each other: {some(parts, '; ')}",)


def split_of(tasks: tuple[PlannedTask, ...]) -> tuple[tuple[str, ...], ...]:
    """Loops of at most `MOST_TASKS` that follow each other: no task waits for one of a later loop.

    As many whole depths go together as there is room for; a depth that is too large for one loop is split evenly.
    """
    levels: dict[int, list[str]] = {}
    for name, depth in depths(_graph(tasks)).items():
        levels.setdefault(depth, []).append(name)
    loops: list[tuple[str, ...]] = []
    for depth in sorted(levels):
        for part in evenly(levels[depth], MOST_TASKS):
            if loops and len(loops[-1]) + len(part) <= MOST_TASKS:
                loops[-1] += part
            else:
                loops.append(part)
    return tuple(loops)


def _ranges(ids: tuple[str, ...]) -> str:
    """`T-001 to T-007, T-009`."""
    runs: list[list[str]] = []
    for each in sorted(ids, key=lambda name: (_number(name), name)):
        if runs and _number(each) and _number(each) == _number(runs[-1][-1]) + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _double(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    often = [f"{name} ({count} times)" for name, count in Counter(task.id for task in tasks).items() if count > 1]
    return (f"an id stands for one task only: {some(often)}",) if often else ()


def _dangling(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    known = {task.id for task in tasks}
    lost = [f"{_named(task)} waits for {each}" for task in tasks for each in task.blocked_by if each not in known]
    return (f"blockedBy names tasks that are not in the plan: {some(lost)}",) if lost else ()


def _circles(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    return tuple(f"a cycle, in which each task waits for the next: {_around(each)}" for each in cycles(_graph(tasks)))


def _around(cycle: tuple[str, ...]) -> str:
    """In full, but for one that is longer than any plan that can be mended."""
    if len(cycle) <= MOST_TASKS + 1:
        return " → ".join(cycle)
    return f"{' → '.join(cycle[:MOST_TASKS])} → … → {cycle[-1]}, {len(cycle) - 1} tasks in all"


def _bad_tasks(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    silent = [_named(task) for task in tasks if not task.subject.strip()]
    away = [f"{_named(task)}: {url}" for task in tasks for url in urls_away(task.verify)]
    outside = [f"{_named(task)}: {path}" for task in tasks for path in task.files if _is_outside(path)]
    rules = (
        ("a task needs a subject, in one sentence", silent),
        (f"a verify command {LOOPBACK_ONLY}", away),
        ("files are paths inside the repository, from its root", outside),
    )
    return tuple(f"{rule}: {some(found)}" for rule, found in rules if found)


def _is_outside(path: str) -> bool:
    plain = path.strip().replace("\\", "/")
    if plain.startswith(("/", "~")) or _DRIVE.match(plain) or "\0" in plain:
        return True
    depth = 0
    for part in plain.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0 or part.casefold() == ".git":
            return True
    return False


def _named(task: PlannedTask) -> str:
    return f"{task.id} ({task.called})" if task.called else task.id


# --- soft rules ----------------------------------------------------------------------------------


def plan_remarks(tasks: tuple[PlannedTask, ...]) -> tuple[str, ...]:
    joined = [f"{_named(task)} ({task.subject})" for task in tasks if _JOINS.search(task.subject)]
    unverified = [_named(task) for task in tasks if not task.verify]
    rules = (
        ('a task does one thing, so its subject has no "and"', joined),
        ("a task without a verify command is seen by the checks only", unverified),
    )
    return tuple(f"{rule}: {some(found)}" for rule, found in rules if found)


# --- what follows from a plan --------------------------------------------------------------------


def waves_of(tasks: tuple[PlannedTask, ...]) -> tuple[int, ...]:
    """The wave of each task, from 1: after all it waits for, and at most six tasks together."""
    found = waves(_graph(tasks))
    return tuple(found[task.id] for task in tasks)


def _graph(tasks: Iterable[PlannedTask]) -> dict[str, tuple[str, ...]]:
    graph: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        graph[task.id] = (*graph.get(task.id, ()), *task.blocked_by)
    return graph


def estimate(tasks: tuple[PlannedTask, ...], usd_per_run: float, runs_per_attempt: int) -> float:
    """What a plan may cost, roughly: one attempt per task, all reviewers of every wave and of the end, a run each.

    Failed attempts and advice come on top, so it is neither a promise nor a bound.
    """
    waves_there = max(waves_of(tasks), default=0)
    runs = len(tasks) * runs_per_attempt + waves_there * LIGHT_REVIEWERS + (THOROUGH_REVIEWERS if tasks else 0)
    return round(runs * usd_per_run, 2)


def single_task(request: str, criteria: tuple[str, ...] = ()) -> PlannedTask:
    """The whole request as one task, where no planner is named."""
    subject = one_line(title_of(request) or "Do what is asked for", SUBJECT)
    hold = "".join(f"\n- {one_line(each)}" for each in criteria)
    description = paragraph(request) + (f"\n\n{counted(len(criteria), 'criterion', 'criteria')}:{hold}" if hold else "")
    return PlannedTask(
        id=name_of(1), subject=subject, description=description.strip(), active_form=active_form_of(subject)
    )


_VERB = re.compile(
    r"add|adjust|allow|apply|ask|build|bump|call|change|check|clean|close|collect|compare|configure|connect|convert|"
    r"copy|cover|create|cut|debug|declare|define|delete|deploy|detect|disable|document|drop|enable|ensure|escape|"
    r"export|expose|extend|extract|fetch|fill|find|fix|format|generate|give|group|guard|handle|harden|hide|implement|"
    r"import|improve|increase|index|inject|inline|install|integrate|introduce|keep|limit|list|load|log|make|map|mark|"
    r"measure|merge|migrate|move|normalise|normalize|open|optimise|optimize|parse|pass|pin|port|prepare|prevent|print|"
    r"provide|publish|put|raise|read|reduce|refactor|register|reject|release|remove|rename|render|replace|report|"
    r"reset|resolve|restore|return|reuse|review|revert|rewrite|run|save|send|separate|set|show|simplify|skip|sort|"
    r"specify|split|start|stop|store|support|switch|test|tidy|tie|track|translate|try|turn|unify|update|upgrade|use|"
    r"validate|verify|wire|wrap|write"
)
_ONE_SYLLABLE = re.compile(r"[^aeiou]*[aeiou][bdgklmnprt]")


def active_form_of(subject: str) -> str:
    """`Add a test` is `Adding a test`; where it begins with no verb that is known, `Working on` it."""
    first, space, rest = subject.partition(" ")
    verb = first.lower()
    if not _VERB.fullmatch(verb):
        return f"Working on: {subject}"
    if verb.endswith("ie"):
        stem = verb[:-2] + "y"
    elif verb.endswith("e"):
        stem = verb[:-1]
    elif _ONE_SYLLABLE.fullmatch(verb) or verb in ("debug", "format", "reset"):
        stem = verb + verb[-1]
    else:
        stem = verb
    return f"{stem}ing".capitalize() + space + rest


# --- drawn ---------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[^\w .,:/()+=-]")
_STATUS_STYLES = {
    "completed": "fill:#d3f9d8,stroke:#2b8a3e,color:#000",
    "in_progress": "fill:#fff3bf,stroke:#e67700,color:#000",
    "failed": "fill:#ffe3e3,stroke:#c92a2a,color:#000",
}


def mermaid(tasks: tuple[PlannedTask, ...], status_by_id: Mapping[str, str]) -> str:
    """The plan as a graph, from what comes first to what waits for it; every subject is text and cannot be more."""
    nodes = {task.id: f"t{place}" for place, task in enumerate(tasks, start=1)}
    drawn = ["graph TD"]
    for task in tasks:
        style = status_by_id.get(task.id, "")
        mark = f":::{style}" if style in _STATUS_STYLES else ""
        drawn.append(f'    {nodes[task.id]}["{_label(task)}"]{mark}')
    for task in tasks:
        drawn += (f"    {nodes[each]} --> {nodes[task.id]}" for each in task.blocked_by if each in nodes)
    used = [name for name in _STATUS_STYLES if name in status_by_id.values()]
    return "\n".join([*drawn, *(f"    classDef {name} {_STATUS_STYLES[name]}" for name in used), ""])


def _label(task: PlannedTask) -> str:
    return _PLAIN.sub(lambda found: f"#{ord(found[0])};", one_line(f"{task.id}: {task.subject}", 100))
