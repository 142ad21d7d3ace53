"""A file of every version is kept in `tests/golden/stores/` for ever, and each can be opened by the newest code.

`./run golden` adds the file of a new version; it never touches one that is there.
"""

import asyncio
import json
import shutil
from pathlib import Path

import apsw
import pytest

from loopwright.adapters.sqlite import heads
from loopwright.adapters.sqlite.migrations import MIGRATIONS, build, upgrade, version_of
from loopwright.errors import StoreCorrupt, StoreTooNew
from loopwright.kernel.model import LoopId
from loopwright.ports import hashes
from tests.adapters.sqlite.store_history import everything, write_history

NOW = len(MIGRATIONS)
KEPT = Path(__file__).parent.parent.parent / "golden" / "stores"


def m_for_this_test(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE extra (name TEXT)")


def m_that_fails(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM events")
    connection.execute("INSERT INTO nowhere VALUES (1)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / ".loop" / "loop.db"
    asyncio.run(write_history(path))
    return path


def test_every_version_has_a_kept_file(request: pytest.FixtureRequest, path: Path) -> None:
    newest = KEPT / f"v{NOW}.db"
    if request.config.getoption("--update-golden") and not newest.exists():
        shutil.copy(path, newest)
    assert sorted(file.name for file in KEPT.glob("*.db")) == [f"v{n}.db" for n in range(1, NOW + 1)]


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*.db")), ids=lambda kept: kept.stem)
def test_a_store_of_every_version_is_upgraded_and_nothing_is_lost(kept: Path, path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "old" / "loop.db"
    copy.parent.mkdir()
    shutil.copy(kept, copy)
    assert asyncio.run(everything(copy)) == asyncio.run(everything(path))


def test_an_upgrade_keeps_a_copy_of_the_old_version(path: Path) -> None:
    before = path.read_bytes()
    connection = apsw.Connection(str(path))
    upgrade(connection, path, (*MIGRATIONS, m_for_this_test))
    upgrade(connection, path, (*MIGRATIONS, m_for_this_test))
    assert version_of(connection) == NOW + 1
    assert connection.execute("SELECT count(*) FROM extra").get == 0
    connection.close()
    kept = path.with_name(f"loop.db.backup-v{NOW}")
    old = apsw.Connection(str(kept))
    assert (version_of(old), old.execute("SELECT count(*) FROM events").get) == (NOW, 12)
    old.close()
    assert sorted(file.name for file in path.parent.glob("loop.db*")) == ["loop.db", f"loop.db.backup-v{NOW}"]
    assert path.read_bytes() != before


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    before = asyncio.run(everything(path))
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.SQLError, match="nowhere"):
        upgrade(connection, path, (*MIGRATIONS, m_for_this_test, m_that_fails))
    assert version_of(connection) == NOW
    connection.close()
    assert asyncio.run(everything(path)) == before


def test_the_upgraded_version_is_seen_without_the_write_ahead_log(path: Path) -> None:
    """So that an older program refuses the file without touching it, even after a crash of the newer one."""
    connection = apsw.Connection(str(path))
    upgrade(connection, path, (*MIGRATIONS, m_for_this_test))
    with pytest.raises(StoreTooNew):
        asyncio.run(everything(path))
    copy = path.parent.parent / "crashed" / "loop.db"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    connection.close()
    with pytest.raises(StoreTooNew):
        asyncio.run(everything(copy))
    assert [file.name for file in copy.parent.iterdir()] == ["loop.db"]


def test_an_upgrade_tells_what_was_said_from_what_was_guessed_and_mends_no_damage(tmp_path: Path) -> None:
    """Of a root, all that one of its parts spent counts; a row that was damaged before is still found."""
    path = tmp_path / "loop.db"
    connection = apsw.Connection(str(path))
    build(connection, MIGRATIONS[:1])
    said, silent = '{"usage":{"usd":0.5}}', '{"usage":{"usd":null}}'
    charged = {
        "said": ("AgentReported", said),
        "silent": ("AgentFailed", silent),
        "late": ("ReportedLate", json.dumps({"data": said})),
        "late-silent": ("ReportedLate", json.dumps({"data": silent})),
        "stopped": ("Cancelled", "{}"),
        "damaged": ("AgentReported", said),
    }
    for loop, (kind, data) in charged.items():
        for name, parent in ((f"root-of-{loop}", None), (loop, f"root-of-{loop}")):
            row = (name, "toy", "{}", parent, "running", 1, 0, 1.0, 1.0, None, 500_000, 0, "", "h", "")
            connection.execute(
                "INSERT INTO loops (id, kind, params, parent, status, seq, fence, created, updated, budget, spent,"
                " reserved, outcome, hash, holder, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, hashes.digest(*row)),
            )
        connection.execute("INSERT INTO events VALUES (?, 1, 1.0, ?, ?, 0.0, 0.0, 0.5, 'h')", (loop, kind, data))
    connection.execute("UPDATE loops SET spent = 1 WHERE id = 'damaged'")
    upgrade(connection, path, MIGRATIONS[:2])
    with pytest.raises(StoreCorrupt, match="loop damaged"):
        heads.get(connection, LoopId("damaged"))
    connection.execute("DELETE FROM loops WHERE id = 'damaged'")
    found = {head.id for head in heads.every(connection) if head.row().estimated}
    guessed = ("silent", "late-silent", "stopped")
    assert found == {*guessed, *(f"root-of-{loop}" for loop in guessed)}
    connection.close()
