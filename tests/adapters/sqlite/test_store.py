import asyncio
import os
import random
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path

import apsw
import pytest

from loopwright.adapters.sqlite.database_file import Options
from loopwright.adapters.sqlite.locks import describe_process
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.errors import AlreadyRunning, StoreConflict, StoreCorrupt, StoreFailed, StoreTooNew, UsageError
from loopwright.kernel.model import Blob, LoopId
from loopwright.ports.store import Append, NewEvent, NewNotice, Store
from loopwright.testing.clock import ManualClock
from tests.adapters.sqlite.faulty_disk import faulty_disk
from tests.adapters.sqlite.store_history import CHILD, everything, write_history
from tests.ports.conformance.store_parts import LOOP, begin, entries

PROJECT = Path(__file__).parent.parent.parent.parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".loop" / "loop.db"


def with_store(path: Path, use: Callable[[Store], Coroutine[None, None, None]], options: Options | None = None) -> None:
    async def whole() -> None:
        store = SqliteStore.open(path, ManualClock(), options)
        try:
            await use(store)
        finally:
            await store.close()

    asyncio.run(whole())


def child(what: str, path: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "tests.adapters.sqlite.store_child", what, str(path)]
    return subprocess.Popen(argv, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# Faults of the disk


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (apsw.FullError, "the disk is full"),
        (apsw.IOError, "the disk failed"),
        (apsw.ReadOnlyError, "it cannot be written"),
        (apsw.CantOpenError, "it cannot be opened"),
    ],
)
def test_after_a_failed_write_nothing_more_is_written(path: Path, fault: type[apsw.Error], sentence: str) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        disk.fail = fault
        with pytest.raises(StoreFailed, match=f"^{path}: {sentence}"):
            await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))
        disk.fail = None
        for write in (
            store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1))),
            store.post(LOOP, "Answered", "{}"),
            store.keep_receipt("k", LOOP, "{}"),
        ):
            with pytest.raises(StoreFailed, match="nothing more is written until the store is opened anew"):
                await write
        assert (await store.load(LOOP)).row.seq == 1

    async def go_on(store: Store) -> None:
        await store.verify(LOOP)
        fence = await store.claim(LOOP, "me")
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))

    with faulty_disk("faulty") as disk:
        with_store(path, use, Options(vfs=disk.name))
    with_store(path, go_on)


def test_an_event_written_beside_the_chain_names_nothing(path: Path) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))
        forged = ("ChecksReported", '{"rests_on":["forged"]}', LOOP)
        apsw.Connection(str(path)).execute("UPDATE events SET kind = ?, data = ? WHERE loop = ? AND seq = 2", forged)
        for asked in (LOOP, None):
            with pytest.raises(StoreCorrupt, match="event 2: it is not what was written"):
                await store.is_named("forged", asked)

    with_store(path, use)


def test_a_claim_that_could_not_be_recorded_leaves_no_lock(path: Path) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        await store.release(LOOP, fence)
        disk.fail = apsw.FullError
        with pytest.raises(StoreFailed):
            await store.claim(LOOP, "me")
        disk.fail = None
        assert await store.holder(LOOP) is None

    with faulty_disk("full") as disk:
        with_store(path, use, Options(vfs=disk.name))


@pytest.mark.parametrize("replacement", [b"", None])
def test_a_state_file_that_was_replaced_is_noticed(path: Path, replacement: bytes | None) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        path.rename(path.with_name("moved away"))
        if replacement is not None:
            path.write_bytes(replacement)
        with pytest.raises(StoreFailed, match="the state file was replaced"):
            await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))
        with pytest.raises(StoreFailed, match="the state file was replaced"):
            await store.load(LOOP)

    with_store(path, use)


def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore.open(path, ManualClock())
    asyncio.run(store.close())
    with pytest.raises(StoreFailed, match="the store is closed"):
        asyncio.run(store.rows())
    with pytest.raises(StoreFailed, match="the store is closed"):
        asyncio.run(store.post(LOOP, "Answered", "{}"))


# Other connections


def test_a_writer_that_waits_too_long_gives_up_and_may_try_again(path: Path) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailed, match="waiting for lock"):
            await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))
        other.close()
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))

    with_store(path, use, Options(patience=0.05))


def test_a_reader_and_a_writer_do_not_wait_for_each_other(path: Path) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        reader, writer = apsw.Connection(str(path)), apsw.Connection(str(path))
        reader.execute("BEGIN")
        count = "SELECT count(*) FROM events"
        assert reader.execute(count).get == 1
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))
        assert reader.execute(count).get == 1
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM events")
        assert [record.seq for record in (await store.load(LOOP)).tail] == [1, 2]
        writer.close()
        reader.close()

    with_store(path, use, Options(patience=0.0))


def test_the_holder_is_named_and_its_lock_dies_with_it(path: Path) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        await store.release(LOOP, fence)
        with child("hold", path) as holder:
            assert line(holder) == "held"
            named = f"pid {holder.pid} on here"
            assert await store.holder(LOOP) == named
            with pytest.raises(AlreadyRunning) as running:
                await store.claim(LOOP, "me")
            assert (running.value.holder, running.value.exit_code) == (named, 75)
            holder.kill()
        assert await store.holder(LOOP) is None
        assert await store.claim(LOOP, "me") == fence + 2

    with_store(path, use)


def test_of_processes_that_claim_at_once_one_wins(path: Path) -> None:
    async def use(store: Store) -> None:
        await store.release(LOOP, await begin(store))

    with_store(path, use)
    processes = [child("claim", path) for _ in range(4)]
    assert [line(process) for process in processes] == ["ready"] * 4
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [line(process) for process in processes]
    for process in processes:
        process.communicate("done\n")
    assert sorted(answers) == ["lost", "lost", "lost", "won 2"]


def test_a_writer_whose_lock_file_was_deleted_is_stopped_by_its_fence(path: Path) -> None:
    async def use(store: Store) -> None:
        old = await begin(store)
        (path.parent / "locks" / f"{LOOP}.lock").unlink()
        other = SqliteStore.open(path, ManualClock())
        new = await other.claim(LOOP, "the next one")
        with pytest.raises(StoreConflict, match="another controller has taken over"):
            await store.append(LOOP, fence=old, expected=1, batch=Append(entries=entries(1)))
        await other.append(LOOP, fence=new, expected=1, batch=Append(entries=entries(1)))
        await other.close()

    with_store(path, use)


def test_a_process_started_by_the_holder_does_not_inherit_the_lock(path: Path) -> None:
    async def use(store: Store) -> None:
        fence = await begin(store)
        with any_process() as other:
            await store.release(LOOP, fence)
            assert await store.holder(LOOP) is None
            other.kill()

    def any_process() -> subprocess.Popen[bytes]:
        return subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)

    with_store(path, use)


def test_a_loop_with_an_odd_name_is_held_like_any_other(path: Path) -> None:
    async def use(store: Store) -> None:
        odd = LoopId("../a b/ä")
        await begin(store, odd, who="me")
        assert await store.holder(odd) == "me"
        assert [file.name for file in (path.parent / "locks").iterdir()] == ["..%2Fa%20b%2F%C3%A4.lock"]

    with_store(path, use)


def test_a_process_is_described_by_what_a_person_can_look_up() -> None:
    assert describe_process(0.0) == f"pid {os.getpid()} on {os.uname().nodename} since 1970-01-01T00:00:00Z"


# Damage


@pytest.fixture
def written(path: Path) -> Path:
    asyncio.run(write_history(path))
    return path


@pytest.fixture
def damaged(written: Path) -> Callable[[str], None]:
    """Runs a statement on the file, past the store."""

    def run(sql: str) -> None:
        connection = sqlite3.connect(written)
        connection.execute(sql)
        connection.commit()
        connection.close()

    return run


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("UPDATE events SET data = '{}' WHERE loop = 'child' AND seq = 3", "loop child, event 3: "),
        ("UPDATE events SET at = at + 1 WHERE loop = 'child' AND seq = 4", "loop child, event 4: "),
        ("UPDATE events SET spend = 0.1 WHERE loop = 'child' AND seq = 5", "loop child, event 5: "),
        ("UPDATE events SET data = CAST(x'ff' AS TEXT) WHERE loop = 'child' AND seq = 6", "loop child, event 6: "),
        ("DELETE FROM events WHERE loop = 'child' AND seq = 6", "loop child, event 6: "),
        ("DELETE FROM events WHERE loop = 'child' AND seq = 11", "loop child, event 11: it is missing"),
        ("UPDATE loops SET params = '{\"a\":1}' WHERE id = 'child'", "loop child: its row"),
        ("UPDATE loops SET spent = 0 WHERE id = 'child'", "loop child: its row"),
        ("UPDATE loops SET fence = 9 WHERE id = 'child'", "loop child: its row"),
        ("DELETE FROM loops WHERE id = 'child'", "loop child: its row is gone"),
        ("UPDATE snapshots SET state = '{}' WHERE loop = 'child'", "loop child, snapshot at event 10: "),
        ("UPDATE snapshots SET seq = 9 WHERE loop = 'child'", "loop child, snapshot at event 9: "),
    ],
)
def test_what_was_changed_behind_our_back_is_named(
    written: Path, damaged: Callable[[str], None], sql: str, where: str
) -> None:
    async def use(store: Store) -> None:
        with pytest.raises(StoreCorrupt, match=where):
            await store.verify(CHILD)

    damaged(sql)
    with_store(written, use)


def test_going_on_checks_what_it_reads_and_nothing_before(written: Path, damaged: Callable[[str], None]) -> None:
    async def old_event(store: Store) -> None:
        assert (await store.load(CHILD)).snapshot == '{"phase":"review"}'

    async def tail(store: Store) -> None:
        with pytest.raises(StoreCorrupt, match="loop child, event 11: "):
            await store.load(CHILD)

    async def missing(store: Store) -> None:
        with pytest.raises(StoreCorrupt, match="loop child, event 11: it is missing"):
            await store.load(CHILD)

    damaged("UPDATE events SET data = '' WHERE loop = 'child' AND seq = 3")
    with_store(written, old_event)
    damaged("UPDATE events SET data = '' WHERE loop = 'child' AND seq = 11")
    with_store(written, tail)
    damaged("DELETE FROM events WHERE loop = 'child' AND seq = 11")
    with_store(written, missing)


@pytest.mark.parametrize("damage", ["UPDATE inbox SET data = ''", "UPDATE receipts SET data = ''"])
def test_changed_mail_is_not_delivered(written: Path, damaged: Callable[[str], None], damage: str) -> None:
    damaged(damage)
    with pytest.raises(StoreCorrupt, match="it is not what was written"):
        asyncio.run(everything(written))


def test_a_changed_notice_is_not_delivered(written: Path, damaged: Callable[[str], None]) -> None:
    async def told(store: Store) -> None:
        fence = await store.claim(CHILD, "me")
        notice = NewNotice(id="child/12", loop=CHILD, topic="gate", title="t", body="b")
        batch = Append(entries=(NewEvent(kind="Happened", data="{}"),), notices=(notice,))
        await store.append(CHILD, fence=fence, expected=11, batch=batch)
        assert [each.notice for each in await store.notices()] == [notice]

    async def refused(store: Store) -> None:
        with pytest.raises(StoreCorrupt, match="notice child/12: it is not what was written"):
            await store.notices()

    with_store(written, told)
    damaged("UPDATE outbox SET body = 'other'")
    with_store(written, refused)


def test_a_flipped_bit_is_refused_or_makes_no_difference(written: Path, tmp_path: Path) -> None:
    whole, truth = written.read_bytes(), asyncio.run(everything(written))
    chance = random.Random(20261)  # noqa: S311 -- places to damage, not secrets
    refusals = 0
    for number in range(200):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        copy = tmp_path / str(number) / "loop.db"
        copy.parent.mkdir()
        copy.write_bytes(damaged)
        try:
            assert asyncio.run(everything(copy)) == truth
        except (StoreCorrupt, StoreTooNew):
            refusals += 1
    assert refusals


# Blobs


def test_a_file_with_a_second_name_is_copied_so_that_nobody_can_change_it(path: Path, tmp_path: Path) -> None:
    async def use(store: Store) -> None:
        file, other = tmp_path / "output", tmp_path / "other"
        file.write_bytes(b"content")
        other.hardlink_to(file)
        blob = await store.keep_file(file)
        other.write_bytes(b"changed")
        assert await store.fetch(blob) == b"content"

    with_store(path, use)


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="needs a second file system")  # noqa: S108 -- it is one
def test_a_file_of_another_disk_is_copied_in(path: Path) -> None:
    async def use(store: Store) -> None:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            file = Path(folder) / "output"
            file.write_bytes(b"x" * (3 << 20))
            blob = await store.keep_file(file)
            assert not file.exists()
        assert len(await store.fetch(blob)) == 3 << 20

    with_store(path, use)


def test_only_a_regular_file_is_moved_in(path: Path, tmp_path: Path) -> None:
    async def use(store: Store) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "link").symlink_to("/etc/passwd")
        with pytest.raises(UsageError):
            await store.keep_file(tmp_path / "pipe")
        with pytest.raises(StoreFailed):
            await store.keep_file(tmp_path / "link")
        with pytest.raises(StoreFailed, match="missing: No such file"):
            await store.keep_file(tmp_path / "missing")

    with_store(path, use)


def test_a_changed_or_lost_blob_is_not_believed(path: Path) -> None:
    async def use(store: Store) -> None:
        blob = await store.keep(b"content")
        file = path.parent / "blobs" / blob
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.write_bytes(b"CONTENT")
        with pytest.raises(StoreCorrupt, match="it is not what was written"):
            await store.fetch(blob)
        file.unlink()
        with pytest.raises(StoreCorrupt, match="it is missing"):
            await store.fetch(blob)
        assert await store.fetch(await store.keep(b"content")) == b"content"

    with_store(path, use)


@pytest.mark.parametrize("name", ["", "../loop.db", "0" * 63])
def test_only_the_name_of_a_blob_is_fetched(path: Path, name: str) -> None:
    async def use(store: Store) -> None:
        with pytest.raises(UsageError):
            await store.fetch(Blob(name))

    with_store(path, use)
