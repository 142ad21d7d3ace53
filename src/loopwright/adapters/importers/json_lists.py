"""Lists of tasks that are JSON: `prd.json` of Ralph, `tasks.json` of Task Master, issues from `gh issue list --json`.

What is over already is not looked into; of what is open, each list gives the order in which it is to be done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from loopwright.adapters.importers.imported import MOST_TASKS, Imported, imported, joined
from loopwright.kernel.shapes import Path, Shape, fitted, keyed, several, text, whole

Data = dict[str, Any]
Fail = Callable[[Path, str], Exception]
Placed = tuple[Path, Data]

STORIES, TASKS, USUAL_TAG = "userStories", "tasks", "master"
_OVER = ("done", "completed", "cancelled", "canceled", "deferred")
_BOX = re.compile(r"\s*[-*+] \[[ xX]\]\s+(.+)")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _or_number(shape: Shape) -> Shape:
    """A number stands for the text that shows it, and blanks for no text."""

    def read(value: object) -> object:
        if isinstance(value, str):
            return shape.read(value if value.strip() else "")
        return str(value) if _is_number(value) else shape.read(value)

    return replace(shape, read=read)


_TEXT, _FILLED = _or_number(text()), _or_number(text(least=1))
_LISTED = several(_TEXT, "a list of texts")


def _lines(value: object) -> object:
    """One text is its lines, without their bullets."""
    if isinstance(value, str):
        return [line.strip().removeprefix("- ").strip() for line in value.splitlines() if line.strip()]
    return _LISTED.read(value)


_TEXTS = replace(_LISTED, read=_lines)


def _object(**shapes: Shape) -> Shape:
    """Keys with other shapes are none of ours. What has to be filled in has to be there."""
    return keyed("an object", *(name for name, shape in shapes.items() if shape is _FILLED), **shapes)


_OBJECTS = several(_object(), most=MOST_TASKS)
_STORY = _object(id=_FILLED, title=_FILLED, description=_TEXT, notes=_TEXT, acceptanceCriteria=_TEXTS)
_PART = _object(title=_FILLED, description=_TEXT)
_STATE = _object(id=_TEXT, status=_TEXT, dependencies=_TEXTS)
_TASK = _object(
    id=_FILLED,
    title=_FILLED,
    **dict.fromkeys(("description", "details", "testStrategy", "priority"), _TEXT),
    dependencies=_TEXTS,
    subtasks=_OBJECTS,
)
_NUMBERED = keyed("an object", "number", number=whole(0))
_ISSUE = _object(title=_FILLED, body=_TEXT, labels=several(_object(name=_TEXT)))


def _placed(value: object, at: Path, fail: Fail) -> list[Placed]:
    """The objects of a list, each with its place. Null is none."""
    return [((*at, index), each) for index, each in enumerate(_at(_OBJECTS, [] if value is None else value, at, fail))]


def _at(shape: Shape, value: object, at: Path, fail: Fail) -> Any:  # noqa: ANN401 - whatever the shape gives
    return fitted(shape, value, lambda inner, says: fail((*at, *inner), says))


# Ralph


def is_ralph(data: object) -> bool:
    return isinstance(data, dict) and STORIES in data


def read_ralph(data: Data, fail: Fail) -> Iterator[Imported]:
    """The stories that do not pass yet, by priority; those of one priority, and those without, as they stand."""
    prd = _at(_object(project=_TEXT, description=_TEXT), data, (), fail)
    goal = joined(prd.get("project", ""), prd.get("description", ""))
    stories = _placed(data[STORIES], (STORIES,), fail)
    for at, each in sorted(stories, key=lambda pair: _priority(pair[1])):
        if each.get("passes") is not True:
            story = _at(_STORY, each, at, fail)
            notes = story.get("notes", "")
            yield imported(
                name=story["id"],
                title=story["title"],
                what=story.get("description", ""),
                criteria=tuple(story.get("acceptanceCriteria", ())),
                context=joined(goal, f"Notes: {notes}" if notes else ""),
            )


def _priority(story: Data) -> float:
    return float(story["priority"]) if _is_number(story.get("priority")) else float("inf")


# Task Master


def is_task_master(data: object) -> bool:
    return isinstance(data, dict) and (TASKS in data or bool(_tags(data)))


def _tags(data: Data) -> dict[str, Data]:
    return {name: held for name, held in data.items() if isinstance(held, dict) and isinstance(held.get(TASKS), list)}


def read_task_master(data: Data, fail: Fail) -> Iterator[Imported]:
    """What is not over, each task after those it depends on. Of several tags `master` is meant, or the only one."""
    tags = _tags(data)
    tag = USUAL_TAG if USUAL_TAG in tags else next(iter(tags), "")
    if TASKS in data:
        found = _placed(data[TASKS], (TASKS,), fail)
    elif tag == USUAL_TAG or len(tags) == 1:
        found = _placed(tags[tag][TASKS], (tag, TASKS), fail)
    else:
        names = ", ".join(sorted(tags))
        raise fail((), f"has the tags {names} and no {USUAL_TAG!r}; leave only the one that is to be imported")
    states = [(at, _at(_STATE, each, at, fail)) for at, each in found]
    for at, each in _in_order([pair for pair in states if pair[1].get("status") not in _OVER]):
        yield _task(at, _at(_TASK, each, at, fail), fail)


def _in_order(found: list[Placed]) -> list[Placed]:
    """Those that wait for each other stay as they stand."""
    left, ordered = list(found), list[Placed]()
    while left:
        waiting = {task.get("id", "") for _, task in left}
        ready = [pair for pair in left if not waiting & set(pair[1].get("dependencies", ()))]
        ordered += ready or left
        left = [pair for pair in left if pair not in ready] if ready else []
    return ordered


def _task(at: Path, task: Data, fail: Fail) -> Imported:
    parts = [
        _at(_PART, each, (*at, "subtasks", index), fail)
        for index, each in enumerate(task.get("subtasks", ()))
        if each.get("status") not in _OVER
    ]
    tests, needed = task.get("testStrategy", ""), ", ".join(task.get("dependencies", ()))
    return imported(
        name=task["id"],
        title=task["title"],
        what=joined(task.get("description", ""), task.get("details", "")),
        criteria=(*map(_part, parts), *((tests,) if tests else ())),
        context=joined(
            f"Depends on: {needed}" if needed else "", f"Priority: {task['priority']}" if task.get("priority") else ""
        ),
    )


def _part(part: Data) -> str:
    return f"{part['title']}: {part['description']}" if part.get("description") else str(part["title"])


# GitHub


def is_github(data: object) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(each, dict) and "number" in each for each in data)


def read_github(data: list[object], fail: Fail) -> Iterator[Imported]:
    """The open ones, oldest first. Checkboxes in the body are the criteria."""
    found = [(at, each) for at, each in _placed(data, ("issues",), fail) if _is_open(each)]
    numbered = [(_at(_NUMBERED, each, at, fail)["number"], at, each) for at, each in found]
    for issue_number, at, each in sorted(numbered, key=lambda issue: issue[0]):
        issue = _at(_ISSUE, each, at, fail)
        labels, body = ", ".join(label.get("name", "") for label in issue.get("labels", ())), issue.get("body", "")
        yield imported(
            name=f"issue-{issue_number}",
            title=issue["title"],
            what=body,
            criteria=tuple(box[1] for line in body.splitlines() if (box := _BOX.fullmatch(line))),
            context=joined(f"GitHub issue #{issue_number}", f"Labels: {labels}" if labels else ""),
        )


def _is_open(issue: Data) -> bool:
    state = issue.get("state")
    return not isinstance(state, str) or state.upper() == "OPEN"
