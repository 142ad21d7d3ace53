"""What has changed since a loop began, looked at alike by every command that goes on with one.

It is shown; what decides who works and who judges is taken in only with a person's word.
"""

from __future__ import annotations

from typing import Literal

import click

from loopwright.app.loops import View
from loopwright.app.project import Confirm, Project
from loopwright.app.readiness import with_handwork
from loopwright.app.said import take_in
from loopwright.app.settings import Changed, changed_settings
from loopwright.cli.here import Here
from loopwright.cli.output import UNSET, note
from loopwright.errors import AlreadyRunning, NeedsPerson
from loopwright.kernel.events import BudgetChanged, ConfigChanged
from loopwright.kernel.quoting import one_line

NewBudget = float | Literal["settings"] | None  # None: no limit
_NAMED = 5


async def with_changes(project: Project, here: Here, seen: View, confirm: Confirm | None) -> View:
    """The loop with what has changed taken in, after what people did by hand."""
    if seen.is_over:
        return seen
    if seen.alive is not None:
        raise AlreadyRunning(seen.row.id, seen.alive)
    news = changed_since(project, seen, here, UNSET, asks=confirm is not None)
    if news:
        seen = await with_handwork(project, seen, here.who, note, confirm)
    for said in news:
        seen = await take_in(project, seen, said, note) or seen
    return seen


def changed_since(
    project: Project, seen: View, here: Here, budget: NewBudget, *, asks: bool
) -> tuple[BudgetChanged | ConfigChanged, ...]:
    """What the loop is to be told; raises `NeedsPerson` where only somebody at a terminal may let it in."""
    changed = _changed_settings(project, seen, here, asks=asks)
    news = tuple(BudgetChanged(usd=usd, by=here.who) for usd in _new_budget(budget, changed))
    return (*news, changed.event) if changed else news


def _new_budget(said: NewBudget, changed: Changed | None) -> tuple[float | None, ...]:
    """The one there is to be from now on, if it is another; None: no limit."""
    if said != UNSET:
        return (said,)
    return (changed.budget,) if changed and changed.budget is not None else ()


def _changed_settings(project: Project, seen: View, here: Here, *, asks: bool) -> Changed | None:
    """A changed loop.toml is shown and becomes part of the log; running steps keep theirs."""
    changed = changed_settings(project, seen, here.who, note)
    if changed is None:
        return None
    if changed.guarded and not asks:
        raise NeedsPerson(
            f"since loop {seen.row.id} began, what decides who works and who judges has changed:"
            f" {', '.join(map(_shown, changed.guarded[:_NAMED]))}; nothing was taken in, look at it and run"
            f" `loop resume --loop {seen.row.id}` at a terminal, or put it back",
            loop=seen.row.id,
            command=f"loop resume --loop {seen.row.id}",
        )
    what = "loop.toml" if changed.is_of_settings else "what this loop relies on"
    note(f"{what} has changed since this loop began; taken in:")
    for line in changed.lines:
        note(f"  {line}")
    if changed.guarded and not click.confirm("Did you change this, and go on with it?", default=False, err=True):
        raise NeedsPerson("nothing was taken in and nothing was done; put back what you did not change")
    return changed


def _shown(name: str) -> str:
    return one_line(name, 200) if name.startswith("/") else f"[{name}] of loop.toml"
