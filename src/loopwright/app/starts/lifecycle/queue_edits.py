"""What people do with a queue, and what they are answered: add, change, remove, take in, hand out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from loopwright.adapters.files import write_whole
from loopwright.app.loops import OVER
from loopwright.app.project import Project
from loopwright.app.starts.lifecycle.queue import known_system, made_queue, place_of, queue_of, state_of
from loopwright.app.starts.lifecycle.telling import Failed, edit_of, tell
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.changing import replace
from loopwright.kernel.quoting import one_line
from loopwright.loops.queue import edges
from loopwright.loops.queue.files import SystemEntry, entry, queue_text, read_queue
from loopwright.loops.queue.machine import ITSELF
from loopwright.loops.queue.state import (
    AutonomyMode,
    NewSystem,
    QueueEdit,
    QueueParams,
    QueueState,
    System,
    SystemAutonomy,
    SystemStatus,
)

_LARGEST = 16 << 20  # bytes
MOST = 1_000_000_000
SETTABLE = ("status", "priority", "depends", "description", "notes", "mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNamed:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueListing:
    domain: str
    systems: tuple[SystemEntry, ...]
    progress: int  # per cent
    nextReady: str | None  # noqa: N815 - as the format has it


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTakenIn:
    added: tuple[str, ...]
    known: tuple[str, ...]  # of which only what differed was taken in


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueExported:
    file: str | None
    queue: Mapping[str, object]  # as the file has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who says it, to the queue of which domain, and who hears of a file that cannot be written."""

    project: Project
    domain: str
    by: str
    failed: Failed

    @property
    def params(self) -> QueueParams:
        return QueueParams(domain=self.domain, repository=self.project.root.name, dream_state="dream-state.md")

    async def say(self, subject: str, edit: QueueEdit) -> QueueState:
        seen = await made_queue(self.project, self.params, self.by)
        return await tell(self.project, seen, edit_of(self.project, subject, edit, self.by), self.failed)


async def listed(project: Project, domain: str) -> QueueListing:
    state = await state_of(project, domain)
    following = edges.next_ready(state)
    return QueueListing(
        domain=domain,
        systems=tuple(map(entry, state.systems)),
        progress=edges.progress(state),
        nextReady=following.id if following else None,
    )


async def shown(project: Project, domain: str, name: str) -> SystemEntry:
    return entry(known_system(await state_of(project, domain), name))


async def add(speaker: Speaker, new: NewSystem) -> SystemNamed:
    state = await speaker.say(ITSELF, QueueEdit(add=new))
    return SystemNamed(id=state.systems[-1].id)


async def remove(speaker: Speaker, name: str) -> SystemNamed:
    await _known(speaker, name)
    await speaker.say(name, QueueEdit(remove=True))
    return SystemNamed(id=name)


async def change(speaker: Speaker, name: str, field: str, values: tuple[str, ...], reason: str) -> SystemEntry:
    """Raises `UsageError` for a value that the field cannot have, `Forbidden` for what the queue does not take."""
    system = await _known(speaker, name)
    edit = _edit(system, field, values, reason)
    if edit.status is not None and system.loop:
        await _refuse_under_way(speaker.project, system)
    return entry(known_system(await speaker.say(name, edit), name))


async def _known(speaker: Speaker, name: str) -> System:
    return known_system(await state_of(speaker.project, speaker.domain), name)


async def _refuse_under_way(project: Project, system: System) -> None:
    """Whoever builds it says how far it is; a person may once that loop is over."""
    if any(row.id == system.loop and row.status not in OVER for row in await project.store.rows()):
        raise Forbidden(
            f"loop {system.loop} has claimed {system.id} and says itself how far it is; end it first with"
            f" `loop cancel --loop {system.loop}`"
        )


def _edit(system: System, field: str, values: tuple[str, ...], reason: str) -> QueueEdit:
    if field == "depends":
        return QueueEdit(dependencies=values)
    if len(values) != 1:
        raise UsageError(f"{field} takes one value, and {len(values)} are given")
    (value,) = values
    match field:
        case "status":
            return QueueEdit(status=_chosen(SystemStatus, field, value), reason=reason)
        case "priority":
            return QueueEdit(priority=_priority(value))
        case "mode":
            mode = _chosen(AutonomyMode, field, value)
            before = system.autonomy or SystemAutonomy(mode=mode)
            return QueueEdit(autonomy=replace(before, mode=mode))
        case "notes":
            return QueueEdit(notes=value)
        case _:
            return QueueEdit(description=value)


def _chosen(words: Any, field: str, value: str) -> Any:  # noqa: ANN401 - one of the words of a literal type
    if value not in get_args(words):
        raise UsageError(f"{one_line(value, 60)!r} is no {field}; choose from {', '.join(get_args(words))}")
    return value


def _priority(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= len(str(MOST)) and 1 <= int(value) <= MOST):
        raise UsageError(f"{one_line(value, 60)!r} is no priority; give a whole number from 1 to {MOST}")
    return int(value)


# --- files of others ----------------------------------------------------------------------------------


async def take_in(speaker: Speaker, path: Path, *, merge: bool) -> QueueTakenIn:
    """Raises `ConfigError` with file and key, `Forbidden` where there are systems already and `merge` is not said."""
    project, name = speaker.project, one_line(str(path), 500)
    try:
        text = read_plain_file(path, name, _LARGEST)
    except FileNotFoundError:
        raise UsageError(f"{name} is not there") from None
    file = read_queue(text, name)
    known = {each.id for each in (await state_of(project, speaker.domain)).systems}
    if known and not merge:
        raise Forbidden(
            f"the queue of {speaker.domain} has {len(known)} systems already; --merge adds what is new and takes over"
            " what differs"
        )
    told = tuple(each.id for each in file.systems)
    if told:
        own = speaker.params
        params = replace(
            own,
            repository=file.repository or own.repository,
            dream_state=file.dream_state or own.dream_state,
            created_at=file.created_at,
        )
        seen = await made_queue(project, params, speaker.by)
        said = edit_of(project, ITSELF, QueueEdit(take_in=file.systems), speaker.by)
        is_its_own = path.resolve() == place_of(project, speaker.domain).path.resolve()
        await tell(project, seen, said, speaker.failed, text.encode() if is_its_own else None)
    added = tuple(each for each in told if each not in known)
    return QueueTakenIn(added=added, known=tuple(each for each in told if each in known))


async def export(project: Project, domain: str, path: Path | None) -> tuple[QueueExported, str]:
    """The queue as its file has it, and that text; written to `path` where one is given, if nothing is there."""
    if await queue_of(project, domain) is None:
        raise UsageError(f"domain {domain!r} has no queue; `loop queue add NAME` begins one")
    text = queue_text(await state_of(project, domain))
    if path is not None:
        if os.path.lexists(path):
            raise Forbidden(f"{path} is there already and was left as it is; move it away, or name another file")
        try:
            write_whole(path, text)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}; nothing was written") from error
    return QueueExported(file=None if path is None else str(path), queue=json.loads(text)), text
