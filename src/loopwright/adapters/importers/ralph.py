"""`prd.json` of Ralph: user stories with acceptance criteria, a priority, and whether they pass already."""

from __future__ import annotations

from loopwright.adapters.importers.imported import Imported, Record, TaskSource, imported, joined

KEY = "userStories"


def fits(data: object) -> bool:
    return isinstance(data, dict) and KEY in data


def read(data: Record, source: TaskSource) -> tuple[Imported, ...]:
    """The stories that do not pass yet, by priority; those of one priority, and those without, as they stand."""
    goal = joined(source.text(data, "project", "prd"), source.text(data, "description", "prd"))
    found = [(at, story) for at, story in source.records(data, KEY) if story.get("passes") is not True]
    found.sort(key=lambda pair: _priority(pair[1]))
    return tuple(_story(source, at, story, goal) for at, story in found)


def _priority(story: Record) -> float:
    value = story.get("priority")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")


def _story(source: TaskSource, at: str, story: Record, goal: str) -> Imported:
    notes = source.text(story, "notes", at)
    return imported(
        name=source.text(story, "id", at, required=True),
        title=source.text(story, "title", at, required=True),
        what=source.text(story, "description", at),
        criteria=source.texts(story, "acceptanceCriteria", at),
        context=joined(goal, f"Notes: {notes}" if notes.strip() else ""),
    )
