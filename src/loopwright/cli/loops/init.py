"""`loop init`: claim a system of the queue: its branch, its workspace, its loop."""

from __future__ import annotations

import click

from loopwright.adapters.git.repository import is_in_repository, make_repository
from loopwright.app.settings import settings_of
from loopwright.app.starts.lifecycle.creation import InitAnswer, SystemRequest, answer_of, init_system, refuse_unnamed
from loopwright.app.starts.lifecycle.domains import domain_of
from loopwright.app.starts.lifecycle.queue_edits import listed
from loopwright.cli.here import Here
from loopwright.cli.opened import note_unseen, opened
from loopwright.cli.output import allow_option, json_option, note, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import Forbidden, NeedsPerson
from loopwright.kernel.quoting import one_line


@click.command("init")
@click.argument("system", required=False, default="")
@click.option("--next", "following", is_flag=True, help="The next system that is ready.")
@click.option("--domain", default="", metavar="NAME", help="Another domain than that of loop.toml.")
@allow_option
@json_option(InitAnswer)
@click.pass_obj
def command(here: Here, *, system: str, following: bool, domain: str, allow: tuple[str, ...], as_json: bool) -> int:
    """Claim SYSTEM, or with --next the first that is ready, for a loop of its own.

    It gets a branch `feature/system-…`, a workspace in `.worktrees/`, and a loop-state.json. Of several who ask at once
    each gets another system. `loop next` and `loop run` then go on with it.
    """
    refuse_unnamed(system, following=following)
    _with_git(here)
    with opened(here, create=True) as project:
        started_by_people(project, here, "init")
        settings = settings_of(project)
        asked = SystemRequest(domain=domain_of(project, domain), system=system, allow=allow)
        seen = complete(init_system(project, settings, asked, note))
        if isinstance(seen, StoppedBySignal):
            return seen.exit_code
        if seen is None:
            raise Forbidden(nothing_ready(project, asked.domain))
        note_unseen(project)
        answer = answer_of(seen)
        if as_json:
            put_json(answer)
            return 0
        put(f"{one_line(seen.title, 200)} is yours: loop {answer.loop}")
        put(f"Branch {answer.branch}, workspace {answer.worktree}, state {answer.state}.")
        if not settings.deploy.run:
            put('No deploy target is configured: SHIP will ask. `loop skip deploy --reason "…"` goes without.')
        put("Go on with: loop next (one transition), or loop run")
        return 0


NO_GIT = "No git repo configured. 'init' to create or 'skip git' to continue without"


def _with_git(here: Here) -> None:
    """Where there is no repository, a person may have one made; what lies there they commit themselves."""
    if is_in_repository(here.cwd, here.environ):
        return
    if not here.asks:
        raise NeedsPerson(f"{NO_GIT}; run `git init` here and commit what is to be built on, then try again")
    said = click.prompt(NO_GIT, default="", show_default=False, err=True).strip()
    if said != "init":
        raise NeedsPerson("nothing was done: without git nothing can be kept safe, and `skip git` is not there yet")
    make_repository(here.cwd, here.environ)
    note("A repository was made here, with an empty first commit. Commit what the systems are to be built on.")


def all_complete(project: object, domain: str) -> bool:
    known = complete(listed(project, domain))  # type: ignore[arg-type]
    if isinstance(known, StoppedBySignal):
        return False
    return bool(known.systems) and all(each.status == "complete" for each in known.systems)


def nothing_ready(project: object, domain: str) -> str:
    known = complete(listed(project, domain))  # type: ignore[arg-type]
    if isinstance(known, StoppedBySignal) or not known.systems:
        return f"the queue of {domain} is empty; `loop queue add NAME` adds a system"
    open_ones = [each for each in known.systems if each.status != "complete"]
    if not open_ones:
        return f"every system of {domain} is complete ({len(known.systems)} of {len(known.systems)})"
    waits = ", ".join(f"{each.id} {each.status}" for each in open_ones[:10])
    return f"no system of {domain} is ready ({known.progress} % complete): {waits}; see `loop queue list`"
