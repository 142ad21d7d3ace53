"""Sessions that begin: what is refused before anything is made, and what is safe to repeat."""

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from loopwright.app.project import Project, open_project
from loopwright.app.settings import settings_of
from loopwright.app.starts.tickets.choice import oldest
from loopwright.app.starts.tickets.queue import Queued, read_queued, waiting
from loopwright.app.starts.tickets.sessions import TicketRequest, activate, sessions
from loopwright.app.worlds import ready_agents
from loopwright.errors import ConfigError, Forbidden
from loopwright.kernel.codec import decode
from loopwright.kernel.events import Answered
from loopwright.kernel.model import Key
from loopwright.loops.tickets.kind import KIND
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import TicketParams
from tests.cli.projects import CONFIG
from tests.cli.tickets import creates, ticketed

T = TypeVar("T")
TEXT = "# Make it good\n# Requirements\n- [ ] it is good\n- [ ] CSV-2: it is a table\n"
REWORK = """\
---
session_id: s
sequence: "003"
ticket_id: TICKET-s-003
iteration: {{index: 3, max: {most}}}
---
# Make it good
# Requirements
- [ ] it is good
# Attempt History
## Attempt 1: TICKET-s-001
- **Outcome**: ROUTE_BACK
- **Accuracy**: 0.25
## Attempt 2: TICKET-s-002
- **Outcome**: ROUTE_BACK
- **Accuracy**: 0.50
"""


def within(tmp_path: Path, work: Callable[[Project], Coroutine[Any, Any, T]], config: str = CONFIG) -> T:
    sample = ticketed(tmp_path / "repo", creates(), config=config)
    return asyncio.run(_opened(sample.repo.path, work))


async def _opened(root: Path, work: Callable[[Project], Coroutine[Any, Any, T]]) -> T:
    project = open_project(root, dict(os.environ))
    try:
        return await work(project)
    finally:
        await project.store.close()


def drop(project: Project, text: str = TEXT) -> Path:
    file = project.root / ".loop" / "tickets" / "queue" / "TICKET-s.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


async def begun(project: Project, text: str = TEXT, **request: Any) -> TicketParams:  # noqa: ANN401 - the options
    queued = read_queued(project.root, drop(project, text))
    await activate(project, settings_of(project), queued, TicketRequest(**request))
    (session,) = await sessions(project)
    plan: TicketParams = session.now.state.plan
    return plan


def test_a_session_has_what_the_ticket_says_and_what_the_configuration_adds(tmp_path: Path) -> None:
    async def work(project: Project) -> tuple[TicketParams, Project]:
        return await begun(project, max=3, merge=True), project

    config = CONFIG.replace("[workspace]", '[tickets]\ncritics = ["reviewer"]\n[workspace]')
    plan, project = within(tmp_path, work, config.replace("[roles]", '[roles]\njudge = "script"'))
    assert (plan.session, plan.title, plan.what) == ("s", "Make it good", "")
    assert [(each.id, each.text) for each in plan.criteria] == [("AC-1", "it is good"), ("CSV-2", "it is a table")]
    assert (plan.base, plan.target, plan.merge, plan.limits.max) == (project.head, "refs/heads/main", True, 3)
    assert (plan.creators, plan.critics, plan.judge) == (("script",), ("reviewer",), True)


def test_it_leaves_the_queue_only_when_it_is_in_the_log_and_repeating_changes_nothing(tmp_path: Path) -> None:
    async def work(project: Project) -> tuple[int, int]:
        file = drop(project)
        queued = read_queued(project.root, file)
        kept = tmp_path / "kept.md"
        shutil.copy(file, kept)
        first = await activate(project, settings_of(project), queued, TicketRequest())
        assert waiting(project.root) == ()
        shutil.copy(kept, file)  # as if nobody had come to remove it
        again = await activate(project, settings_of(project), read_queued(project.root, file), TicketRequest())
        assert (again.row.id, waiting(project.root)) == (first.row.id, ())
        return len(await sessions(project)), len(await project.store.read(first.row.id))

    assert within(tmp_path, work) == (1, 1)


def test_another_ticket_of_a_session_under_way_is_refused(tmp_path: Path) -> None:
    async def work(project: Project) -> None:
        await begun(project)
        with pytest.raises(Forbidden, match="session s is under way as loop s-"):
            await begun(project, TEXT + "\nmore\n")
        assert len(waiting(project.root)) == 1

    within(tmp_path, work)


@pytest.mark.parametrize(("most", "given", "limit"), [(7, {}, 7), (7, {"max": 4}, 4)])
def test_a_rework_ticket_goes_on_after_the_attempts_it_tells_of(
    tmp_path: Path, most: int, given: dict[str, int], limit: int
) -> None:
    plan = within(tmp_path, lambda project: begun(project, REWORK.format(most=most), **given))
    assert [(each.number, each.accuracy, each.decision) for each in plan.adopted] == [
        (1, 0.25, "ROUTE_BACK"),
        (2, 0.5, "ROUTE_BACK"),
        (3, 0.0, None),
    ]
    assert plan.limits.max == limit


def test_only_agents_that_are_ready_can_be_given_a_role(tmp_path: Path) -> None:
    extra = '[agents.spare]\nkind = "rehearsal"\nscenario = "scenario.toml"\n[agents.later]\nkind = "claude"\n'

    async def work(project: Project) -> list[str]:
        texts = ("creator=spare", "critic+script", "creator=later", "creator=nobody", "nonsense", "")
        said = [Answered(key=Key.parse("k"), choice="reassign", text=text) for text in texts]
        other = Answered(key=Key.parse("k"), choice="examples", text="creator=nobody")
        lets = Answered(key=Key.parse("k"), choice="revise", text="in blue", allow=("tests/a.py",))
        agents = ready_agents(project, settings_of(project))
        return [KIND.objection(each, agents) for each in (*said, other, lets)]

    known = "is ready here; there are script, spare"
    found = within(tmp_path, work, CONFIG.replace("[roles]", f"{extra}[roles]"))
    *found, lets = found
    assert found == ["", "", f"no agent called 'later' {known}", f"no agent called 'nobody' {known}", "", "", ""]
    assert lets.startswith("--allow is for tests that landed with an earlier task")


async def first_in_queue(project: Project) -> Queued:
    found = await oldest(project)
    assert isinstance(found, Queued)
    return found


@pytest.mark.parametrize("status", ["claimed", "blocked"])
def test_what_somebody_has_or_something_keeps_is_left_in_the_queue(tmp_path: Path, status: str) -> None:
    async def work(project: Project) -> None:
        first = drop(project, f"---\nstatus: {status}\nclaimed_by: ann\n---\n{TEXT}")
        with pytest.raises(ConfigError, match=f"status: is {status} by ann; set it to open to have the ticket done"):
            await activate(project, settings_of(project), await first_in_queue(project), TicketRequest())
        other = first.with_name("TICKET-other.md")
        other.write_text(TEXT)
        assert (await first_in_queue(project)).session == "other"

    within(tmp_path, work)


@pytest.mark.parametrize(
    ("status", "phase"), [("critic_review", "CRITIQUE"), ("open", "CREATE"), ("pending", "CREATE")]
)
def test_a_ticket_of_the_queue_begins_with_whose_turn_it_is(tmp_path: Path, status: str, phase: str) -> None:
    async def work(project: Project) -> str:
        queued = read_queued(project.root, drop(project, f"---\nstatus: {status}\n---\n{TEXT}"))
        loop = await activate(project, settings_of(project), queued, TicketRequest())
        assert loop.opened.standpoint.state == "PREFLIGHT"  # before anybody's turn
        return TICKETS.start(decode(TicketParams, loop.row.params)).phase

    assert within(tmp_path, work) == phase
