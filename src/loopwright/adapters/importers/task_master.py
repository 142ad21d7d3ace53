"""`tasks.json` of Task Master: tasks with dependencies and subtasks, in one list or in a list for each tag."""

from __future__ import annotations

from loopwright.adapters.importers.imported import Imported, Record, TaskSource, imported, joined

KEY, USUAL_TAG = "tasks", "master"
_OVER = ("done", "completed", "cancelled", "canceled", "deferred")


def fits(data: object) -> bool:
    return isinstance(data, dict) and (KEY in data or bool(_tags(data)))


def _tags(data: Record) -> dict[str, Record]:
    return {name: held for name, held in data.items() if isinstance(held, dict) and isinstance(held.get(KEY), list)}


def read(data: Record, source: TaskSource) -> tuple[Imported, ...]:
    """What is not over, each task after those it depends on. Of several tags `master` is meant, or the only one."""
    tags = _tags(data)
    if KEY in data:
        at, holder = "", data
    elif USUAL_TAG in tags or len(tags) == 1:
        at = USUAL_TAG if USUAL_TAG in tags else next(iter(tags))
        holder = tags[at]
    else:
        names = ", ".join(sorted(tags))
        raise source.fail("", f"has the tags {names} and no {USUAL_TAG!r}; leave only the one that is to be imported")
    found = [pair for pair in source.records(holder, KEY, at) if source.text(pair[1], "status", pair[0]) not in _OVER]
    return tuple(_task(source, place, task) for place, task in _in_order(source, found))


def _in_order(source: TaskSource, found: list[tuple[str, Record]]) -> list[tuple[str, Record]]:
    """Those that wait for each other stay as they stand."""
    left, ordered = list(found), list[tuple[str, Record]]()
    while left:
        waiting = {source.text(task, "id", at) for at, task in left}
        ready = [pair for pair in left if not waiting & set(source.texts(pair[1], "dependencies", pair[0]))]
        ordered += ready or left
        left = [pair for pair in left if pair not in ready] if ready else []
    return ordered


def _task(source: TaskSource, at: str, task: Record) -> Imported:
    subtasks = [pair for pair in source.records(task, "subtasks", at) if pair[1].get("status") not in _OVER]
    tests = source.text(task, "testStrategy", at)
    needed = ", ".join(source.texts(task, "dependencies", at))
    priority = source.text(task, "priority", at)
    return imported(
        name=source.text(task, "id", at, required=True),
        title=source.text(task, "title", at, required=True),
        what=joined(source.text(task, "description", at), source.text(task, "details", at)),
        criteria=(*(_part(source, place, part) for place, part in subtasks), *((tests,) if tests.strip() else ())),
        context=joined(f"Depends on: {needed}" if needed else "", f"Priority: {priority}" if priority else ""),
    )


def _part(source: TaskSource, at: str, part: Record) -> str:
    title, about = source.text(part, "title", at, required=True), source.text(part, "description", at)
    return f"{title}: {about}" if about.strip() else title
