"""`tasks.md` of spec-kit: checkboxes such as `- [ ] T012 [P] [US1] Create …`, below the headings of phases."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from loopwright.adapters.importers.imported import MOST_TASKS, Imported, imported, joined
from loopwright.kernel.shapes import Path

_TASK = re.compile(r"\s*[-*] \[([ xX])\] \**(T\d{1,6})\**:?\s+((?:\[[^\]]{1,20}\]\s*)*)(.+)")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*")
_FACT = re.compile(r"\*\*(Purpose|Goal|Independent Test)\*\*:\s*(.+)")
_FENCE = re.compile(r"\s*(```|~~~)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PHASE = 2  # the level of a phase's heading


@dataclass(slots=True)
class _Place:
    """Where in the list a line stands."""

    feature: str = ""
    phase: str = ""
    facts: dict[str, str] = field(default_factory=dict)


def fits(text: str) -> bool:
    return any(_TASK.fullmatch(line) for line in text.splitlines())


def read(text: str, fail: Callable[[Path, str], Exception]) -> tuple[Imported, ...]:
    """The tasks whose box is not ticked, in the order of the file. Code blocks and comments have none."""
    tasks, place, is_code = list[Imported](), _Place(), False
    for line in _COMMENT.sub("", text).splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            tasks += _taken(line, place)
        if len(tasks) > MOST_TASKS:
            raise fail((), f"has more than {MOST_TASKS} open tasks; import them in parts")
    return tuple(tasks)


def _taken(line: str, place: _Place) -> list[Imported]:
    if heading := _HEADING.fullmatch(line):
        level, title = len(heading[1]), heading[2]
        if level == 1:
            place.feature = title.removeprefix("Tasks:").strip()
        elif level == _PHASE:
            place.phase, place.facts = title, {}
    elif fact := _FACT.fullmatch(line.strip()):
        place.facts[fact[1]] = fact[2]
    elif (task := _TASK.fullmatch(line)) and task[1] == " ":
        return [_task(task, place)]
    return []


def _task(found: re.Match[str], place: _Place) -> Imported:
    labels = [label for label in re.findall(r"\[([^\]]+)\]", found[3]) if label != "P"]
    known = (("Feature", place.feature), ("Phase", place.phase), *place.facts.items(), ("Story", ", ".join(labels)))
    return imported(
        name=found[2],
        title=found[4],
        what=found[4],
        context=joined("\n".join(f"{name}: {text}" for name, text in known if text)),
    )
