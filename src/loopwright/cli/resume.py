"""`loop resume`: goes on with what was interrupted, paused or answered."""

from __future__ import annotations

import click

from loopwright.app.choice import named_root, only
from loopwright.app.loops import Listed, View, listing, whole_view
from loopwright.app.project import Project
from loopwright.app.readiness import with_handwork
from loopwright.app.said import take_in
from loopwright.app.views.answers import NothingDone
from loopwright.cli.changes import NewBudget, changed_since
from loopwright.cli.drive import Manner, drive_and_tell, run_json_option
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import MONEY_OR_NONE, UNSET, confirmation, loop_option, note, put, put_json
from loopwright.cli.people_only import only_for_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import AlreadyRunning
from loopwright.kernel.quoting import one_line

_NOTHING = "Nothing to resume."


@click.command("resume")
@loop_option
@click.option("--budget", type=MONEY_OR_NONE, default=UNSET, metavar="USD|none", help="The loop's new budget.")
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@run_json_option(object, NothingDone)
@click.pass_obj
def command(here: Here, *, loop_id: str, budget: NewBudget, unattended: bool, as_json: bool) -> int:
    """Go on with what was interrupted, paused or answered.

    No agent run whose result was recorded is repeated. With nothing to do it says so. It answers no question: at a
    terminal you are asked, elsewhere it ends in exit 4 until `loop answer` has said it.
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
    confirm = confirmation(asks=here.asks and not unattended)
    news = changed_since(project, chosen, here, budget, asks=confirm is not None)
    chosen = await with_handwork(project, chosen, here.who, note, confirm)
    for said in news:
        chosen = await take_in(project, chosen, said, note) or chosen
    return chosen


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
