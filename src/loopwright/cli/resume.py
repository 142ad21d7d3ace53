"""`loop resume`: goes on with what was interrupted, paused or answered."""

from __future__ import annotations

from typing import Literal

import click

from loopwright.app.check_ins import gone_on
from loopwright.app.choice import named_root, only
from loopwright.app.loops import Listed, View, listing, whole_view
from loopwright.app.project import Project
from loopwright.app.settings import Changed, changed_settings
from loopwright.app.views.answers import NothingDone
from loopwright.cli.drive import Manner, drive_and_tell, run_json_option
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import MONEY_OR_NONE, UNSET, loop_option, note, put, put_json
from loopwright.cli.people_only import only_for_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import AlreadyRunning, NeedsPerson
from loopwright.kernel.events import BudgetChanged
from loopwright.kernel.quoting import one_line

NewBudget = float | Literal["settings"] | None  # None: no limit
_NAMED = 5
_NOTHING = "Nothing to resume."


@click.command("resume")
@loop_option
@click.option("--budget", type=MONEY_OR_NONE, default=UNSET, metavar="USD|none", help="The loop's new budget.")
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@run_json_option(object, NothingDone)
@click.pass_obj
def command(here: Here, *, loop_id: str, budget: NewBudget, unattended: bool, as_json: bool) -> int:
    """Go on with what was interrupted, paused or answered.

    No agent run whose result was recorded is repeated. With nothing to do it says so.
    """
    if not has_log(here):
        return _nothing(loop_id, "Nothing to resume: no loop was ever started here.", as_json=as_json)
    with opened(here) as project:
        ready = complete(prepare(project, here, loop_id, budget, unattended=unattended))
        if isinstance(ready, StoppedBySignal):
            return ready.exit_code
        if isinstance(ready, str):
            return _nothing(loop_id, ready, as_json=as_json)
        note(f"loop {ready.row.id} goes on: {one_line(ready.title, 200)}")
        return drive_and_tell(project, here, ready, Manner(unattended=unattended, as_json=as_json))


def _nothing(loop_id: str, why: str, *, as_json: bool) -> int:
    put_json(NothingDone(loop=loop_id or None, note=why)) if as_json else put(why)
    return 0


async def prepare(
    project: Project, here: Here, loop: str | Listed, budget: NewBudget, *, unattended: bool = False
) -> View | str:
    """The loop to go on with, with what changed taken in; or why there is nothing to do."""
    await only_for_people(project, here, "resume")
    chosen = await _choose(project, loop)
    if isinstance(chosen, str):
        return chosen
    if chosen.alive is not None:
        raise AlreadyRunning(chosen.row.id, chosen.alive)
    asks = here.asks and not unattended
    changed = _changed_settings(project, chosen, here, asks=asks)
    news = [BudgetChanged(usd=usd, by=here.who) for usd in _new_budget(budget, changed)]
    # What comes up by the news, nobody has seen yet: it is asked.
    return await gone_on(project, chosen, here.who, (*news, *([changed.event] if changed else ())), note, asks=asks)


def _new_budget(said: NewBudget, changed: Changed | None) -> tuple[float | None, ...]:
    """The one there is to be from now on, if it is another; None: no limit."""
    if said != UNSET:
        return (said,)
    return (changed.budget,) if changed and changed.budget is not None else ()


async def _choose(project: Project, loop: str | Listed) -> View | str:
    """What can go on by itself comes before what waits for an answer."""
    if loop:
        named = await (whole_view(project, loop) if isinstance(loop, Listed) else named_root(project, loop))
        return f"Loop {named.row.id} has ended ({named.row.status}); nothing to do." if named.is_over else named
    found = await listing(project)
    running = [each for each in found if each.alive is not None]
    alone = running[0] if len(running) == 1 else None
    if chosen := only(found, _can_go_on) or only(found, lambda each: each.status == "waiting") or alone:
        return await whole_view(project, chosen)
    return f"Nothing to resume; running: {', '.join(each.row.id for each in running)}." if running else _NOTHING


def _can_go_on(loop: Listed) -> bool:
    return loop.alive is None and loop.status in ("interrupted", "paused", "blocked")


def _changed_settings(project: Project, seen: View, here: Here, *, asks: bool) -> Changed | None:
    """A changed loop.toml is shown and becomes part of the log; running steps keep theirs."""
    changed = changed_settings(project, seen, here.who, note)
    if changed is None:
        return None
    if changed.guarded and not asks:
        raise NeedsPerson(
            f"since loop {seen.row.id} began, what decides who works and who judges has changed:"
            f" {', '.join(map(_shown, changed.guarded[:_NAMED]))}; nothing was taken in, look at it and run"
            f" `loop resume --loop {seen.row.id}` at a terminal, or put it back"
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
