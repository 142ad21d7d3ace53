"""A file of every version is kept in `tests/golden/stores/` for ever, and each can be opened by the newest code.

`./run golden` adds the file of a new version; it never touches one that is there.
"""

import asyncio
import shutil
from pathlib import Path

import apsw
import pytest

from loopwright.adapters.sqlite.migrations import MIGRATIONS, upgrade, version_of
from loopwright.errors import StoreTooNew
from tests.adapters.sqlite.store_history import everything, write_history

KEPT = Path(__file__).parent.parent.parent / "golden" / "stores"


def m002_for_this_test(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE extra (name TEXT)")


def m003_that_fails(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM events")
    connection.execute("INSERT INTO nowhere VALUES (1)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / ".loop" / "loop.db"
    asyncio.run(write_history(path))
    return path


def test_every_version_has_a_kept_file(request: pytest.FixtureRequest, path: Path) -> None:
    newest = KEPT / f"v{len(MIGRATIONS)}.db"
    if request.config.getoption("--update-golden") and not newest.exists():
        shutil.copy(path, newest)
    assert sorted(file.name for file in KEPT.glob("*.db")) == [f"v{n}.db" for n in range(1, len(MIGRATIONS) + 1)]


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*.db")), ids=lambda kept: kept.stem)
def test_a_store_of_every_version_is_upgraded_and_nothing_is_lost(kept: Path, path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "old" / "loop.db"
    copy.parent.mkdir()
    shutil.copy(kept, copy)
    assert asyncio.run(everything(copy)) == asyncio.run(everything(path))


def test_an_upgrade_keeps_a_copy_of_the_old_version(path: Path) -> None:
    before = path.read_bytes()
    connection = apsw.Connection(str(path))
    upgrade(connection, path, (*MIGRATIONS, m002_for_this_test))
    upgrade(connection, path, (*MIGRATIONS, m002_for_this_test))
    assert version_of(connection) == 2
    assert connection.execute("SELECT count(*) FROM extra").get == 0
    connection.close()
    kept = path.with_name("loop.db.backup-v1")
    old = apsw.Connection(str(kept))
    assert (version_of(old), old.execute("SELECT count(*) FROM events").get) == (1, 12)
    old.close()
    assert sorted(file.name for file in path.parent.glob("loop.db*")) == ["loop.db", "loop.db.backup-v1"]
    assert path.read_bytes() != before


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    before = asyncio.run(everything(path))
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.SQLError, match="nowhere"):
        upgrade(connection, path, (*MIGRATIONS, m002_for_this_test, m003_that_fails))
    assert version_of(connection) == 1
    connection.close()
    assert asyncio.run(everything(path)) == before


def test_the_upgraded_version_is_seen_without_the_write_ahead_log(path: Path) -> None:
    """So that an older program refuses the file without touching it, even after a crash of the newer one."""
    connection = apsw.Connection(str(path))
    upgrade(connection, path, (*MIGRATIONS, m002_for_this_test))
    with pytest.raises(StoreTooNew):
        asyncio.run(everything(path))
    copy = path.parent.parent / "crashed" / "loop.db"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    connection.close()
    with pytest.raises(StoreTooNew):
        asyncio.run(everything(copy))
    assert [file.name for file in copy.parent.iterdir()] == ["loop.db"]
