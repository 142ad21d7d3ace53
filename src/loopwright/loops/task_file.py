"""A task in a file as Claude Code keeps it, `N.json` in the folder of a list: what it holds, and what of it is others'.

The layout was seen with Claude Code 2.1.197 and 2.1.325: two spaces, no line end after the last brace, text as it is,
keys in the order of `TASK_FILE`; what is not set is left out. It drops keys that it does not know whenever it updates a
task, but keeps all metadata, so that everything of ours is there. `metadata.loopStatus` is what the loop itself said
last: where `status` differs, somebody else has a part in the file. It is no evidence of anything.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from loopwright.kernel.model import KINDS_OF_TASK
from loopwright.kernel.shapes import Problem, Shape, choice, few_digits, keyed, matching, several, shown, text, whole

TaskStatus = Literal["pending", "in_progress", "completed"]
LARGEST_NUMBER = 999_999_999

_STATUSES = ("pending", "in_progress", "completed")
_NAME = re.compile(r"T-(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2,8})")
_NUMBER = matching("the number of a task as text", r"[1-9][0-9]{0,8}")
_METADATA = keyed(
    "a table of keys",
    wave=(whole(0), "The wave of the plan it belongs to."),
    loopId=(text(), "The loop whose task it is."),
    verification=(text(), "How it is or was verified."),
    about=(choice(*KINDS_OF_TASK), "What it is about."),
    stuckCount=(whole(0), "How often its verification failed."),
    loopStatus=(
        choice(*_STATUSES),
        "What the loop itself said last; a `status` that differs is another program's word.",
    ),
)
TASK_FILE: Shape = keyed(
    "a task as a table of keys",
    *("id", "subject", "description", "status", "blocks", "blockedBy"),
    id=(_NUMBER, "The name of the file without `.json`."),
    subject=(text(), "The task in a line."),
    description=(text(), "What is to be done, and how it is verified."),
    activeForm=(text(), "What is shown while it is worked on."),
    owner=(text(), "Who has taken it; no business of the loop."),
    status=choice(*_STATUSES),
    blocks=(several(_NUMBER), "The tasks that wait for this one."),
    blockedBy=(several(_NUMBER), "The tasks that this one waits for."),
    metadata=(_METADATA, "Keys that are not named here are other programs' own."),
)
_KNOWN, _KNOWN_METADATA = ({each.name for each in shape.fields} for shape in (TASK_FILE, _METADATA))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMetadata:
    """Empty and None stand for what is not set."""

    wave: int | None = None
    loop_id: str = ""
    verification: str = ""
    about: str = ""
    stuck_count: int | None = None
    loop_status: TaskStatus | None = None  # written by `merged`; whoever makes a task need not say it
    rest: str = "{}"  # JSON: what other programs put there


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    number: int
    subject: str
    description: str
    status: TaskStatus = "pending"
    active_form: str = ""
    owner: str = ""
    blocks: tuple[int, ...] = ()
    blocked_by: tuple[int, ...] = ()
    metadata: TaskMetadata = field(default_factory=TaskMetadata)
    rest: str = "{}"  # JSON: keys that nobody here knows


def number_of(name: str) -> int:
    """Of a task by its name in a plan. Raises `ValueError` for what is no such name."""
    fits = _NAME.fullmatch(name)
    if fits is None:
        raise ValueError(f"{name!r} is no task's name, which is T- and a number of three digits or more")
    return int(fits[1])


def name_of(number: int) -> str:
    return f"T-{number:03}"


# The text


def task_file_text(task: TaskFile) -> str:
    noted = task.metadata
    metadata = _set(
        wave=noted.wave,
        loopId=noted.loop_id,
        verification=noted.verification,
        about=noted.about,
        stuckCount=noted.stuck_count,
        loopStatus=noted.loop_status,
    )
    data = {
        "id": str(task.number),
        "subject": task.subject,
        "description": task.description,
        **_set(activeForm=task.active_form, owner=task.owner),
        "status": task.status,
        "blocks": [str(number) for number in task.blocks],
        "blockedBy": [str(number) for number in task.blocked_by],
        **_set(metadata={**metadata, **json.loads(noted.rest)}),
        **json.loads(task.rest),
    }
    return json.dumps(data, ensure_ascii=False, indent=2)


def _set(**values: object) -> dict[str, object]:
    return {name: value for name, value in values.items() if value not in (None, "", {})}


def read_task_file(content: str) -> TaskFile | str:
    """The task, or a sentence that says why it cannot be taken."""
    try:
        data = json.loads(content, parse_int=few_digits, parse_float=_finite, parse_constant=_finite)
    except ValueError as error:
        return f"is not JSON that can be read: {error}"
    except RecursionError:
        return "is nested too deeply"
    held = TASK_FILE.read(data)
    if isinstance(held, Problem):
        return f"{shown(held.at)}: {held.says}" if held.at else held.says
    assert isinstance(held, dict)  # noqa: S101 - a record
    return _built(held)


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise ValueError(f"{literal[:20]} is no number of JSON")
    return value


def _built(data: dict[str, Any]) -> TaskFile:
    noted = data.get("metadata", {})
    return TaskFile(
        number=int(data["id"]),
        subject=data["subject"],
        description=data["description"],
        status=data["status"],
        active_form=data.get("activeForm", ""),
        owner=data.get("owner", ""),
        blocks=tuple(int(number) for number in data["blocks"]),
        blocked_by=tuple(int(number) for number in data["blockedBy"]),
        metadata=TaskMetadata(
            wave=noted.get("wave"),
            loop_id=noted.get("loopId", ""),
            verification=noted.get("verification", ""),
            about=noted.get("about", ""),
            stuck_count=noted.get("stuckCount"),
            loop_status=noted.get("loopStatus"),
            rest=_others(noted, _KNOWN_METADATA),
        ),
        rest=_others(data, _KNOWN),
    )


def _others(data: dict[str, Any], known: set[str]) -> str:
    return json.dumps({name: value for name, value in data.items() if name not in known}, ensure_ascii=False)


# What others write


def is_same_task(found: TaskFile, ours: TaskFile) -> bool:
    """Whether the file is that of our task, and not of another who took the number."""
    is_known = bool(ours.metadata.loop_id) or found.metadata.loop_status is not None
    return is_known and found.metadata.loop_id == ours.metadata.loop_id


def is_untouched(found: TaskFile, ours: TaskFile) -> bool:
    """Whether nobody but the loop has said anything in its file, as far as the file tells."""
    return (
        found.status == found.metadata.loop_status
        and (found.owner, found.rest, found.metadata.rest) == ("", "{}", "{}")
        and (found.subject, found.description) == (ours.subject, ours.description)
        and {*found.blocks} <= {*ours.blocks}
        and {*found.blocked_by} <= {*ours.blocked_by}
    )


def released(found: TaskFile, gone: frozenset[int]) -> TaskFile:
    """A task that its loop has left to whoever has a part in it: to be done, unless that one said more, by anybody."""
    return replace(
        found,
        status="pending" if found.status == found.metadata.loop_status else found.status,
        blocks=tuple(number for number in found.blocks if number not in gone),
        blocked_by=tuple(number for number in found.blocked_by if number not in gone),
        metadata=replace(found.metadata, loop_id="", loop_status=None),
    )


def merged(found: TaskFile | None, ours: TaskFile, before: TaskFile | None = None) -> TaskFile:
    """What is to be written: ours, with keys and metadata of others that are not ours to say.

    `before` is what we wrote last. Of the tasks that wait for each other, those that another added stay.
    """
    noted = replace(ours.metadata, loop_status=ours.status)
    if found is None:
        return replace(ours, metadata=noted)
    blocks, blocked_by = (before.blocks, before.blocked_by) if before else ((), ())
    return replace(
        ours,
        owner=found.owner,
        blocks=_joined(found.blocks, ours.blocks, blocks),
        blocked_by=_joined(found.blocked_by, ours.blocked_by, blocked_by),
        metadata=replace(noted, rest=found.metadata.rest),
        rest=found.rest,
    )


def _joined(found: tuple[int, ...], ours: tuple[int, ...], left: tuple[int, ...]) -> tuple[int, ...]:
    kept = tuple(number for number in found if number in ours or number not in left)
    return kept + tuple(number for number in ours if number not in found)
