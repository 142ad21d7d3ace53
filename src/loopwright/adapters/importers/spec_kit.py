"""`tasks.md` of spec-kit: checkboxes such as `- [ ] T012 [P] [US1] Create …`, below the headings of phases."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from loopwright.adapters.importers.imported import MOST_TASKS, Imported, imported, joined
from loopwright.adapters.markdown import markdown_lines
from loopwright.kernel.lines import MarkdownLine
from loopwright.kernel.shapes import Path

_TASK = re.compile(r"\s*[-*] \[([ xX])\] \**(T\d{1,6})\**:?\s+((?:\[[^\]]{1,20}\]\s*)*)(.+)")
_FACT = re.compile(r"\*\*(Purpose|Goal|Independent Test)\*\*:\s*(.+)")
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
    tasks, place = list[Imported](), _Place()
    for line in markdown_lines(text):
        if not line.block:
            tasks += _taken(line, place)
        if len(tasks) > MOST_TASKS:
            raise fail((), f"has more than {MOST_TASKS} open tasks; import them in parts")
    return tuple(tasks)


def _taken(line: MarkdownLine, place: _Place) -> list[Imported]:
    if line.level == 1:
        place.feature = line.title.removeprefix("Tasks:").strip()
    elif line.level == _PHASE:
        place.phase, place.facts = line.title, {}
    elif fact := _FACT.fullmatch(line.text.strip()):
        place.facts[fact[1]] = fact[2]
    elif (task := _TASK.fullmatch(line.text)) and task[1] == " ":
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
