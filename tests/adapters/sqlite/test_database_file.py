import asyncio
import shutil
import stat
from pathlib import Path

import apsw
import pytest

from loopwright.adapters.sqlite.database_file import ROLLBACK, WRITE_AHEAD, Options, Pragma, durability_of
from loopwright.adapters.sqlite.migrations import MIGRATIONS
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.errors import StoreCorrupt, StoreFailed, StoreTooNew
from loopwright.testing.clock import ManualClock
from tests.adapters.sqlite.faulty_disk import faulty_disk
from tests.adapters.sqlite.store_history import everything, write_history


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".loop" / "loop.db"


@pytest.fixture
def written(path: Path) -> Path:
    asyncio.run(write_history(path))
    return path


def open_and_close(path: Path, options: Options | None = None) -> None:
    asyncio.run(SqliteStore.open(path, ManualClock(), options).close())


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def refused(path: Path, kind: type[Exception] = StoreCorrupt) -> str:
    """The sentence of the refusal, after a look that nothing was changed."""
    before = files(path.parent)
    with pytest.raises(kind) as refusal:
        open_and_close(path)
    assert files(path.parent) == before
    return str(refusal.value)


def test_a_new_store_is_for_its_owner_alone(path: Path) -> None:
    path.parent.parent.chmod(0o755)
    store = SqliteStore.open(path, ManualClock())
    asyncio.run(store.keep(b"content"))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (path.parent, *path.parent.rglob("*"))}
    asyncio.run(store.close())
    assert {mode for name, mode in modes.items() if name in (".loop", "blobs")} == {0o700}
    assert {mode for name, mode in modes.items() if name not in (".loop", "blobs")} == {0o600}
    assert {"loop.db", "loop.db-wal", "loop.db-shm"} < modes.keys()


def test_a_file_that_others_could_read_is_closed_to_them(written: Path) -> None:
    written.chmod(0o644)
    open_and_close(written)
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_opening_and_closing_leaves_the_file_as_it_was(written: Path) -> None:
    before = files(written.parent)
    open_and_close(written)
    assert files(written.parent) == before


def test_a_path_with_odd_characters_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a ?b#c%41" / "loop.db"
    open_and_close(path)
    open_and_close(path)
    assert [file.name for file in path.parent.iterdir()] == ["loop.db"]


def test_a_newer_store_is_left_untouched(written: Path) -> None:
    newer = apsw.Connection(str(written))
    newer.pragma("user_version", len(MIGRATIONS) + 1)
    newer.close()
    message = refused(written, StoreTooNew)
    known = len(MIGRATIONS)
    assert message.startswith(
        f"{written} was written by a newer Loopwright (format {known + 1}, this one knows {known})"
    )


def test_a_newer_store_is_refused_even_when_only_its_write_ahead_log_says_so(written: Path) -> None:
    newer = apsw.Connection(str(written))
    newer.pragma("user_version", len(MIGRATIONS) + 1)
    with pytest.raises(StoreTooNew):
        open_and_close(written)
    newer.close()


def test_an_empty_file_is_not_a_fresh_start(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert "it is empty" in refused(path)


@pytest.mark.parametrize("trace", ["blobs", "loop.db-wal", "loop.db-journal", "loop.db.backup-v1"])
def test_a_missing_file_beside_its_traces_is_not_a_fresh_start(path: Path, trace: str) -> None:
    (path.parent / trace).mkdir(parents=True)
    assert f"{trace} is still beside it" in refused(path)


def test_a_missing_file_beside_other_things_is_made(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / ".gitignore").write_text("*")
    open_and_close(path)
    assert sorted(file.name for file in path.parent.iterdir()) == [".gitignore", "loop.db"]


@pytest.mark.parametrize("content", [b"x", b"not a database at all" * 1000, b"SQLite format 3\x00"])
def test_something_else_is_refused(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert " is not a " in refused(path)


def test_the_database_of_another_program_is_refused(path: Path) -> None:
    path.parent.mkdir()
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE things (name)")
    other.close()
    assert "it is not a store of Loopwright" in refused(path)


def test_a_folder_in_its_place_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    assert "it is not a regular file" in refused(path)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_truncated_file_is_refused(written: Path, kept: float) -> None:
    content = written.read_bytes()
    written.write_bytes(content[: int(len(content) * kept)])
    assert "database" in refused(written)


def test_versions_of_sqlite_that_can_corrupt_a_write_ahead_log_get_none() -> None:
    assert durability_of(3_051_003) == WRITE_AHEAD
    assert durability_of(3_051_002) == durability_of(3_040_001) == ROLLBACK


@pytest.mark.parametrize(("durability", "mode"), [(WRITE_AHEAD, 2), (ROLLBACK, 1)])
def test_the_journal_is_the_one_that_was_chosen(written: Path, durability: tuple[Pragma, ...], mode: int) -> None:
    open_and_close(written, Options(durability=durability))
    assert list(written.read_bytes()[18:20]) == [mode, mode]
    assert asyncio.run(everything(written))


def test_a_setting_that_has_no_effect_is_a_refusal(written: Path) -> None:
    ignored = Pragma("PRAGMA synchronous=NORMAL", "PRAGMA synchronous", 2)
    with pytest.raises(StoreFailed, match="`PRAGMA synchronous=NORMAL` had no effect"):
        open_and_close(written, Options(durability=(ignored,)))


def test_a_disk_that_fails_while_the_file_is_made_leaves_no_file(path: Path) -> None:
    with faulty_disk("fails-at-once") as disk:
        disk.fail = apsw.IOError
        with pytest.raises(StoreFailed, match="the disk failed"):
            open_and_close(path, Options(vfs=disk.name))
    assert list(path.parent.iterdir()) == []
    open_and_close(path)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreFailed, match=r"file[^:]*: (Not a directory|File exists)"):
        open_and_close(tmp_path / "file" / ".loop" / "loop.db")


def test_a_copy_taken_after_a_crash_is_whole(written: Path, tmp_path: Path) -> None:
    """The file and its write-ahead log together, as a crash leaves them."""
    before = asyncio.run(everything(written))
    store = SqliteStore.open(written, ManualClock())
    asyncio.run(store.keep_receipt("k", before[0][0].id, "late"))  # type: ignore[index]
    copy = tmp_path / "copy" / "loop.db"
    shutil.copytree(written.parent, copy.parent)
    asyncio.run(store.close())
    again = SqliteStore.open(copy, ManualClock())
    assert asyncio.run(again.receipt("k")) == "late"
    asyncio.run(again.close())
