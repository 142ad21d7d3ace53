"""Delivering what people are sent: until it has arrived, a bounded number of times, and beside the loop."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path

import pytest

from loopwright.adapters.notices import one_at_a_time, send
from loopwright.app.notices import ATTEMPTS, PAUSES, Delivery, take_up
from loopwright.app.project import Project, open_project
from loopwright.kernel.model import Commit
from loopwright.ports.store import Append, NewNotice, PendingNotice
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.cli.projects import CONFIG, Sample
from tests.forks import forks
from tests.notice_server import NoticeServer, notice_server
from tests.ports.conformance.store_parts import LOOP, begin, entries

NOTICE = NewNotice(
    id="l-1/2", loop=LOOP, topic="gate", title="shop: a gate [loopwright notice l-1/2]", body="a\n**b** ✓"
)
NOBODY = "json://127.0.0.1:1/"  # refuses at once
BOGUS = "nonesuch://password@host"


@pytest.fixture
def server() -> Iterator[NoticeServer]:
    with notice_server() as running:
        yield running


def with_notice(path: Path, play: Callable[[Project], Coroutine[None, None, None]]) -> None:
    async def whole() -> None:
        (path / ".loop").mkdir(parents=True)
        clock = ManualClock()
        store = MemoryStore(Memory(), clock)
        project = Project(root=path, head=Commit("c"), branch="", environ=dict(os.environ), store=store, clock=clock)
        fence = await begin(store)
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1), notices=(NOTICE,)))
        await play(project)

    asyncio.run(whole())


def test_a_notice_arrives_as_it_is(server: NoticeServer) -> None:
    assert send(server.url, NOTICE.title, NOTICE.body, {}) == ""
    (got,) = server.all()
    assert (got["title"], got["message"]) == (NOTICE.title, NOTICE.body)


def test_an_address_may_lie_in_a_variable(server: NoticeServer) -> None:
    assert send("env://WHERE", "t", "b", {"WHERE": server.url}) == ""
    assert send("env://WHERE", "t", "b", {}) == "env://WHERE: there is no such variable here"
    assert len(server.all()) == 1


def test_why_it_failed_says_the_service_and_nothing_of_the_address(server: NoticeServer) -> None:
    server.code = 500
    assert send(server.url, "t", "b", {}) == "json: the service did not take it"
    assert "password" not in send(BOGUS, "t", "b", {})


def test_what_fails_is_tried_again_after_growing_pauses_and_then_given_up(tmp_path: Path) -> None:
    async def play(project: Project) -> None:
        began = project.clock.now()
        await Delivery(project, (NOBODY,)).until_done()
        why = "json: the service did not take it"
        at = began + sum(PAUSES)
        assert await project.store.notices() == (
            PendingNotice(notice=NOTICE, at=began, attempts=ATTEMPTS, tried=at, why=why),
        )
        said: list[str] = []
        await take_up(project, said.append)
        assert said == [f"1 notice could not be delivered ({why}); `loop notify` tries again."]

    with_notice(tmp_path / "repo", play)


def test_who_has_it_is_not_sent_it_again_because_another_has_not(tmp_path: Path, server: NoticeServer) -> None:
    async def play(project: Project) -> None:
        await Delivery(project, (server.url, NOBODY)).until_done()
        assert [got["title"] for got in server.all()] == [NOTICE.title]

    with_notice(tmp_path / "repo", play)


def test_what_was_given_up_is_tried_when_a_person_asks_for_it(tmp_path: Path, server: NoticeServer) -> None:
    async def play(project: Project) -> None:
        await Delivery(project, (NOBODY,)).until_done()
        (tried,) = await Delivery(project, (server.url,)).once()
        assert (tried.id, tried.why, await project.store.notices()) == (NOTICE.id, "", ())

    with_notice(tmp_path / "repo", play)


def test_a_clock_that_was_set_back_does_not_make_it_wait(tmp_path: Path, server: NoticeServer) -> None:
    async def play(project: Project) -> None:
        await project.store.notice_failed(NOTICE.id, "no")
        now = project.clock.now()
        assert isinstance(project.clock, ManualClock)
        project.clock.advance(-3600.0)
        await Delivery(project, (server.url,)).until_done()
        assert (await project.store.notices(), project.clock.now()) == ((), now - 3600.0)

    with_notice(tmp_path / "repo", play)


# Beside a loop, as processes


def sample(path: Path, server: NoticeServer) -> Sample:
    return Sample.create(path / "shop", config=f"{CONFIG}[notify]\nurls = [{json.dumps(server.url)}]\n")


def undelivered(root: Path) -> list[str]:
    async def asked() -> list[str]:
        project = open_project(root, os.environ)
        try:
            return [each.notice.id for each in await project.store.notices()]
        finally:
            await project.store.close()

    with one_at_a_time(root / ".loop"):  # whoever delivers just now comes to an end first
        return asyncio.run(asked())


def test_a_loop_never_waits_for_a_service_that_does_not_answer(tmp_path: Path, server: NoticeServer) -> None:
    server.answers.clear()
    shop = sample(tmp_path, server)
    began = time.monotonic()
    done = shop.loop("feedback", "Make it good")
    took = time.monotonic() - began
    got = server.next()
    assert (done.code, took < 25.0, server.answers.is_set()) == (0, True, False)
    assert got["title"].startswith("shop: complete: Make it good [loopwright notice ")
    server.answers.set()
    assert (undelivered(shop.repo.path), server.all()) == ([], [])


def test_what_a_killed_controller_left_is_delivered_by_the_next_with_the_same_id(
    tmp_path: Path, server: NoticeServer
) -> None:
    shop = sample(tmp_path, server)
    root = shop.repo.path
    words = [str(root), "feedback", "feedback:Ended#1", "after"]
    killed = forks().run("tests.e2e.dying", words, cwd=root, env=os.environ, timeout=100)
    (left,) = undelivered(root)
    assert (killed.returncode, server.all()) == (-9, [])
    shop.loop("feedback", "Make it good", "--unattended")
    titles = [server.next()["title"] for _ in range(2)]  # that one, and what the next loop has to say
    assert [title.endswith(f"[loopwright notice {left}]") for title in titles].count(True) == 1
    assert (undelivered(root), server.all()) == ([], [])


def test_loop_notify_tells_of_every_attempt(tmp_path: Path, server: NoticeServer) -> None:
    shop = sample(tmp_path, server)
    root = shop.repo.path
    assert shop.loop("notify", "--test").out == "delivered: a test through json\n"
    assert server.next()["title"] == "shop: a test [loopwright notice test]"
    words = [str(root), "feedback", "feedback:Ended#1", "after"]
    forks().run("tests.e2e.dying", words, cwd=root, env=os.environ, timeout=100)
    server.code = 500
    failed = shop.loop("notify")
    assert (failed.code, failed.out.startswith("not delivered: shop: complete: ")) == (1, True)
    server.code = 200
    (tried,) = shop.loop("notify", "--json").data["notices"]
    assert (tried["why"], len(server.all())) == ("", 2)
    assert shop.loop("notify").out == "Nothing is waiting to be delivered.\n"
