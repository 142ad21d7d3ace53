"""Everything that loops have written, made anew from the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.shared_lines import rebuild_lines
from loopwright.app.debt import DEBT_HEAD, debt_entry, deferred_entry, owes
from loopwright.app.layout import DEBT, STATE_FOLDER
from loopwright.app.loops import View, view, views
from loopwright.app.project import Project
from loopwright.app.publication import scene_of
from loopwright.app.publisher import Publisher
from loopwright.kernel.events import Answered
from loopwright.kernel.model import Ending, LoopId
from loopwright.kernel.record import read_event
from loopwright.loops.kind import Noted
from loopwright.ports.store import LoopRow


async def rebuild(project: Project, failed: Callable[[str], None]) -> tuple[Path, ...]:
    """Every file made from the log. Raises `OSError` and `ConfigError`.

    Oldest first: later reviews of a story add to what earlier ones put on file. What a loop has landed of its parts
    it says after them.
    """
    publisher = Publisher(project.root, project.kinds, failed)
    written: list[Path] = []
    lines: dict[str, list[Noted]] = {}
    for seen in _parts_first(tuple(reversed(await views(project)))):
        scene = await scene_of(project, seen)
        written += publisher.files(scene, seen.kind)
        for name, noted in seen.kind.notes(scene).items():
            lines.setdefault(name, []).extend(noted)
    rebuilt = [rebuild_lines(project.root, name, noted) for name, noted in lines.items()]
    debt = await rebuild_debt(project)
    return tuple(dict.fromkeys([*written, *(path for path in (*rebuilt, debt) if path is not None)]))


def _parts_first(found: tuple[View, ...]) -> Iterator[View]:
    """In the order they have, but each after its parts."""
    known = {seen.row.id for seen in found}
    below: dict[LoopId | None, list[View]] = {}
    for seen in found:
        below.setdefault(seen.row.parent if seen.row.parent in known else None, []).append(seen)

    def told(parent: LoopId | None) -> Iterator[View]:
        for seen in below.get(parent, ()):
            yield from told(seen.row.id)
            yield seen

    return told(None)


async def rebuild_debt(project: Project) -> Path | None:
    """`debt.md` from the log alone, oldest acceptance first; None when nothing was ever accepted."""
    entries = [await _debt_of(project, row) for row in await project.store.rows()]
    found = sorted(entry for entry in entries if entry is not None)
    if not found:
        return None
    path = project.root / STATE_FOLDER / DEBT
    write_whole(path, "\n".join([DEBT_HEAD, *(text for _, text in found)]))
    return path


async def _debt_of(project: Project, row: LoopRow) -> tuple[float, str] | None:
    """When the loop was accepted, or passed with something put off, and what is owed since."""
    if not any(said in row.outcome for said in ('"accepted"', '"findings":[{', '"waiting":[{')):
        return None
    seen = await view(project, row.id)
    if seen.outcome is None or not owes(seen.kind, seen.outcome):
        return None
    at = (await project.store.read(row.id))[-1].at
    if seen.outcome.ending is not Ending.ACCEPTED:
        return at, deferred_entry(row.id, seen.outcome, at)
    return at, debt_entry(seen.kind, row.id, seen.now.state, at, await _who_accepted(project, row))


async def _who_accepted(project: Project, row: LoopRow) -> str:
    """The person who answered the root: a child hears it from its parent."""
    while row.parent is not None:
        row = (await project.store.load(row.parent)).row
    said = [read_event(record) for record in await project.store.read(row.id) if record.kind == "Answered"]
    return next((event.by for event in reversed(said) if isinstance(event, Answered)), "")
