import asyncio
import json
import os
import pty
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.kernel.codec import encode
from loopwright.kernel.model import LoopId
from loopwright.loops.tickets.insights import text as insight_text
from loopwright.ports.store import Append, NewEvent, NewLoop
from tests.cli.projects import command, loop
from tests.repository import Repository
from tests.rooms.tickets.stories import APPROVED, PARAMS, ROUTED_BACK, TWICE, Story, landed, played
from tests.test_schemas import mistakes

Golden = Callable[[str, str], None]
PAY = replace(PARAMS, session="pay")
MENDS = replace(PARAMS, session="mend", context="Defect of TICKET-pay-002: the time-out is ignored.")
STUCK = replace(TWICE, session="stuck")


async def _record(repo: Path, stories: dict[str, Story]) -> None:
    """The log as the engine would have left it, each session with a dollar spent, beside a loop of another kind."""
    store = SqliteStore.open(repo / ".loop" / "loop.db", SystemClock())
    for name, story in stories.items():
        created, *rest = (NewEvent(kind=each.kind, data=each.data) for each in story.records)
        new = NewLoop(id=LoopId(name), kind="tickets", params=encode(story.state.plan))
        await store.create(new, created)
        fence = await store.claim(new.id, "a test")
        spent = (replace(rest[0], spend=1.0), *rest[1:])
        await store.append(new.id, fence=fence, expected=1, batch=Append(entries=spent))
        await store.release(new.id, fence)
    other = NewLoop(id=LoopId("other-1"), kind="feedback", params="{}")
    await store.create(other, NewEvent(kind="Created", data="{}"))
    await store.close()


@pytest.fixture
def told(repo: Repository) -> Repository:
    """Two sessions that were approved, the second for a defect of the first, and one that waits for a person."""
    (repo.path / ".loop").mkdir()
    stories = {
        "pay-1": played(*ROUTED_BACK, *APPROVED, landed, params=PAY),
        "stuck-1": played(*ROUTED_BACK, *ROUTED_BACK, params=STUCK),
        "mend-1": played(*APPROVED, landed, params=MENDS),
        "begun-1": played(params=replace(PARAMS, session="begun")),
    }
    asyncio.run(_record(repo.path, stories))
    return repo


def test_a_repository_without_a_log_says_so_and_makes_none(repo: Repository) -> None:
    done = loop(repo.path, "insights")
    assert (done.code, done.err) == (0, "")
    assert " ".join(done.out.split()) == insight_text.NOTHING_YET
    assert not (repo.path / ".loop").exists()


def test_without_a_log_the_data_are_there_and_empty(repo: Repository) -> None:
    data = loop(repo.path, "insights", "--json").data
    assert mistakes("insights", data) == []
    assert (data["cycles"], data["gaps"], data["proposals"]) == (0, [], [])


def test_outside_of_a_repository_it_is_a_sentence(tmp_path: Path) -> None:
    done = loop(tmp_path, "insights", "--json")
    assert done.code == 2
    assert done.data["exit_code"] == 2


def test_the_sessions_of_the_log_as_data(told: Repository) -> None:
    data = loop(told.path, "insights", "--json").data
    assert mistakes("insights", data) == []
    assert (data["cycles"], data["approved"], data["escalated"], data["under_way"]) == (3, 0.6667, 0.3333, 1)
    assert data["cost"] == {"usd": 3.0, "estimated": False, "usd_per_approved_ticket": 1.5}
    assert data["later_defects"]["tickets"] == [{"ticket": "TICKET-pay-002", "sessions": ["mend"]}]
    assert data["iterations_to_approval"]["distribution"] == {"1": 1, "2": 1}
    assert (data["proposals"], data["html"]) == ([], None)


def test_a_pipe_gets_plain_text(told: Repository, golden: Golden) -> None:
    done = loop(told.path, "insights")
    assert (done.code, done.err) == (0, "")
    golden("cli/insights.txt", done.out)


def test_the_page_is_written_where_it_was_asked_for(told: Repository) -> None:
    done = loop(told.path, "insights", "--json", "--html", "out/insights.html")
    file = told.path / "out" / "insights.html"
    assert (done.code, done.data["html"]) == (0, str(file))
    assert done.err == f"The page is in {file}\n"
    assert file.read_text().startswith("<!DOCTYPE html>")


def test_a_page_that_cannot_be_written_is_a_sentence(told: Repository) -> None:
    (told.path / "taken").mkdir()
    done = loop(told.path, "insights", "--html", "taken")
    assert (done.code, done.out) == (2, "")
    assert "taken cannot be written" in done.err


def test_no_setting_is_ever_changed(told: Repository) -> None:
    before = {file: file.read_bytes() for file in told.path.iterdir() if file.is_file()}
    loop(told.path, "insights")
    assert {file: file.read_bytes() for file in told.path.iterdir() if file.is_file()} == before


def test_a_terminal_gets_coloured_bars(told: Repository) -> None:
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    with subprocess.Popen(
        command("insights"), cwd=told.path, env=environ, stdout=theirs, stdin=subprocess.DEVNULL
    ) as started:
        os.close(theirs)
        said = _all_of(ours).decode()
    os.close(ours)
    assert started.returncode == 0
    assert "█" in said
    assert "\x1b[1m" in said


def _all_of(handle: int) -> bytes:
    """A terminal that nobody writes to any more ends with an error on Linux."""
    said = b""
    while True:
        try:
            said += os.read(handle, 65536)
        except OSError:
            return said


def test_the_sample_of_the_format_is_one_answer(told: Repository) -> None:
    data = loop(told.path, "insights", "--json").data
    sample = json.loads((Path(__file__).parents[1] / "samples" / "insights.json").read_text())
    assert set(sample) <= set(data)
