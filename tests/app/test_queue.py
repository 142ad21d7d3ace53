"""The queue of a domain as many processes meet it: made, told, claimed from, and its file."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loopwright.app.loops import View
from loopwright.app.project import Project, begin_log, open_project
from loopwright.app.publisher import Publisher
from loopwright.app.rebuilding import rebuild
from loopwright.app.starts.lifecycle.domains import domain_of, queue_id
from loopwright.app.starts.lifecycle.queue import is_edited, made_queue, queue_of, state_of
from loopwright.app.starts.lifecycle.queue_edits import Speaker, add, change, take_in
from loopwright.app.starts.lifecycle.telling import claim, claim_next, edit_of, tell
from loopwright.engine.hearing import end_unread, hear
from loopwright.errors import AlreadyRunning, Forbidden, UsageError
from loopwright.kernel.codec import encode
from loopwright.kernel.events import CancelRequested, Created
from loopwright.kernel.model import LoopId
from loopwright.loops.queue.state import NewSystem, QueueEdit, QueueParams
from loopwright.ports.store import NewEvent, NewLoop
from tests.repository import Repository

ROOT = Path(__file__).parents[2]
ANN, BOB = LoopId("loop-ann"), LoopId("loop-bob")
SHOP = QueueParams(domain="shop")
Story = Callable[[Project], Awaitable[None]]


def on(root: Path, story: Story) -> None:
    """In a repository, which is made where there is none yet."""
    if not root.exists():
        Repository.create(root).commit("Begin")

    async def whole() -> None:
        project = open_project(root, dict(os.environ))
        try:
            await story(project)
        finally:
            await project.store.close()

    asyncio.run(whole())


def speaker(project: Project, failed: Callable[[str], None] = pytest.fail) -> Speaker:
    return Speaker(project=project, domain="shop", by="ann", failed=failed)


async def filled(project: Project, count: int) -> None:
    for number in range(1, count + 1):
        await add(speaker(project), NewSystem(name=f"System {number}"))


def file_of(project: Project) -> Path:
    return project.root / "domain-memory" / "shop" / "system-queue.json"


def names(path: Path) -> list[str]:
    data: dict[str, Any] = json.loads(path.read_text())
    return [each["name"] for each in data["systems"]]


# --- which one it is ----------------------------------------------------------------------------------


def test_a_domain_is_named_or_set_or_the_folder(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        assert domain_of(project, "bank") == "bank"
        assert domain_of(project) == "repo"
        assert domain_of(replace(project, root=Path("/"))) == "domain"
        with pytest.raises(UsageError, match="--domain: expected the name of one folder"):
            domain_of(project, "../bank")
        (project.root / "loop.toml").write_text('[lifecycle]\ndomain = "shop"\n')
        assert domain_of(project) == "shop"

    on(tmp_path / "repo", story)
    assert (queue_id("Web Shop"), queue_id("日本")) == ("queue-web-shop", "queue-domain")


def test_two_who_make_it_at_once_get_the_same(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        assert await queue_of(project, "shop") is None
        assert (await state_of(project, "shop")).systems == ()
        one, other = await asyncio.gather(*(made_queue(project, SHOP, by) for by in ("ann", "bob")))
        assert one.row.id == other.row.id == "queue-shop"
        assert one.now.state.plan.created_at
        assert (await made_queue(project, SHOP, "cy")).row.seq == 1
        with pytest.raises(Forbidden, match="is not the queue of 'Shop' but of 'shop'"):
            await queue_of(project, "Shop")

    on(tmp_path / "repo", story)


# --- claiming -----------------------------------------------------------------------------------------


def test_ten_processes_that_claim_at_once_get_ten_different_systems(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    on(root, lambda project: filled(project, 10))
    claiming = [sys.executable, "-m", "tests.app.claiming", str(root), "shop", "10"]
    done = subprocess.run(claiming, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == [f"sys-{number:03d}" for number in range(1, 11)]

    async def story(project: Project) -> None:
        state = await state_of(project, "shop")
        assert {each.status for each in state.systems} == {"in-progress"}
        assert len({each.loop for each in state.systems}) == 10
        held = json.loads(file_of(project).read_text())  # whoever wrote last wrote the newest
        assert [each["loop"] for each in held["systems"]] == [each.loop for each in state.systems]
        assert await project.store.inbox(queue_id("shop")) == ()

    on(root, story)


def test_who_asks_again_has_the_same_until_it_is_complete(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        assert await claim_next(project, "shop", ANN, pytest.fail) is None
        with pytest.raises(Forbidden, match="domain 'shop' has no queue"):
            await claim(project, "shop", "sys-001", ANN, pytest.fail)
        await filled(project, 2)
        first = await claim_next(project, "shop", ANN, pytest.fail)
        assert first is not None
        assert first == await claim_next(project, "shop", ANN, pytest.fail)
        assert (await claim(project, "shop", "sys-002", BOB, pytest.fail)).loop == BOB
        with pytest.raises(Forbidden, match="loop loop-bob has claimed sys-002"):
            await claim(project, "shop", "sys-002", ANN, pytest.fail)
        assert await claim_next(project, "shop", LoopId("loop-cy"), pytest.fail) is None

    on(tmp_path / "repo", story)


def test_who_was_not_quick_enough_looks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(project: Project) -> None:
        await filled(project, 1)
        before = await queue_of(project, "shop")
        await claim_next(project, "shop", ANN, pytest.fail)

        async def as_it_was(_project: Project, _domain: str) -> View | None:
            return before

        monkeypatch.setattr("loopwright.app.starts.lifecycle.telling.queue_of", as_it_was)
        assert await claim_next(project, "shop", BOB, pytest.fail) is None

    on(tmp_path / "repo", story)


def test_a_refusal_that_nobody_else_caused_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(project: Project) -> None:
        await filled(project, 1)

        async def refuses(*_given: object) -> None:
            raise Forbidden("no")

        monkeypatch.setattr("loopwright.app.starts.lifecycle.telling.tell", refuses)
        with pytest.raises(Forbidden, match="no"):
            await claim_next(project, "shop", ANN, pytest.fail)

    on(tmp_path / "repo", story)


def test_what_is_said_is_never_posted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwright.app.starts.lifecycle.telling._PATIENCE", 1)
    monkeypatch.setattr("loopwright.engine.hearing._PAUSE", 0.0)

    async def story(project: Project) -> None:
        seen = await made_queue(project, SHOP, "ann")
        other = open_project(project.root, dict(os.environ))
        await other.store.claim(seen.row.id, "bob")
        said = edit_of(project, "queue", QueueEdit(add=NewSystem(name="A")), "ann")
        with pytest.raises(AlreadyRunning):
            await tell(project, seen, said, pytest.fail)
        assert await project.store.inbox(seen.row.id) == ()
        await other.store.close()

    on(tmp_path / "repo", story)


def test_a_person_says_how_far_a_system_is_once_nobody_builds_it(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        await filled(project, 1)
        first = NewEvent(kind="Created", data=encode(Created(kind="feedback", params="{}")))
        await project.store.create(NewLoop(id=ANN, kind="feedback", params="{}"), first)
        await claim(project, "shop", "sys-001", ANN, pytest.fail)
        blocks = ("sys-001", "status", ("blocked",), "")
        with pytest.raises(Forbidden, match="`loop cancel --loop loop-ann`"):
            await change(speaker(project), *blocks)
        await end_unread(project.store, ANN, CancelRequested(by="ann"))
        assert (await change(speaker(project), *blocks)).status == "blocked"

    on(tmp_path / "repo", story)


# --- its file -----------------------------------------------------------------------------------------


def test_a_person_s_edit_stays_until_it_is_taken_in(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        heard: list[str] = []
        await filled(project, 1)
        path = file_of(project)
        path.write_text(path.read_text().replace("System 1", "Mine"))
        assert is_edited(project, "shop")
        await add(speaker(project, heard.append), NewSystem(name="System 2"))
        assert names(path) == ["Mine"]
        assert await rebuild(project, heard.append) == ()
        command = "`loop queue import domain-memory/shop/system-queue.json --merge`"
        assert [command in sentence for sentence in heard] == [True, True]
        await take_in(speaker(project), path, merge=True)
        assert names(path) == ["Mine", "System 2"]
        assert not is_edited(project, "shop")

    on(tmp_path / "repo", story)


def test_a_loop_that_tells_the_queue_something_writes_its_file_too(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        heard: list[str] = []
        seen = await made_queue(project, SHOP, "ann")
        publisher = Publisher(project.root, project.kinds, heard.append)
        said = edit_of(project, "queue", QueueEdit(add=NewSystem(name="A")), "ann")
        await hear(project.store, project.loops, seen.opened, said, publisher, patience=1)
        assert names(file_of(project)) == ["A"]
        file_of(project).write_text("mine")
        for _ in range(2):
            await hear(project.store, project.loops, seen.opened, said, publisher, patience=1)
        assert (file_of(project).read_text(), len(heard)) == ("mine", 1)

    on(tmp_path / "repo", story)


def test_what_is_gone_is_made_anew(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        await filled(project, 1)
        file_of(project).unlink()
        assert await rebuild(project, pytest.fail) == (file_of(project),)
        assert names(file_of(project)) == ["System 1"]

    on(tmp_path / "repo", story)


def test_with_a_new_log_the_file_is_somebody_else_s(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    on(root, lambda project: filled(project, 3))
    (root / ".loop" / "loop.db").unlink()
    asyncio.run(begin_log(root, dict(os.environ)).store.close())

    async def story(project: Project) -> None:
        heard: list[str] = []
        await add(speaker(project, heard.append), NewSystem(name="Other"))
        assert len(heard) == 1
        assert names(file_of(project)) == ["System 1", "System 2", "System 3"]

    on(root, story)


def test_a_file_that_cannot_be_written_is_told_and_the_queue_goes_on(tmp_path: Path) -> None:
    async def story(project: Project) -> None:
        heard: list[str] = []
        (project.root / "domain-memory").write_text("in the way")
        await add(speaker(project, heard.append), NewSystem(name="A"))
        (project.root / "domain-memory").unlink()
        (project.root / "domain-memory").symlink_to(tmp_path)
        await add(speaker(project, heard.append), NewSystem(name="B"))
        assert ["could not be written" in heard[0], "is a link" in heard[1], len(heard)] == [True, True, 2]
        assert len((await state_of(project, "shop")).systems) == 2

    on(tmp_path / "repo", story)
