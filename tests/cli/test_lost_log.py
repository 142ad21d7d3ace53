import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from loopwright.adapters.sqlite import heads
from loopwright.kernel.model import LoopId
from tests.adapters.sqlite.store_history import CHILD, write_history
from tests.cli.projects import NEVER_RIGHT, Sample
from tests.repository import Repository
from tests.test_schemas import mistakes

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("kills")]

GONE = "is gone, but earlier loops have left their refs here (refs/loopwright…); restore it from a backup, or begin"


def used(folder: Path) -> Sample:
    sample = Sample.create(folder)
    assert sample.loop("feedback", "Make it good").code == 0
    return sample


def lose(sample: Sample) -> None:
    for name in (".loop", ".worktrees"):
        shutil.rmtree(sample.repo.path / name, ignore_errors=True)


def written(folder: Path) -> Sample:
    """With a log in which one loop has ended and the other is open."""
    sample = Sample.create(folder)
    (folder / ".loop").mkdir()
    asyncio.run(write_history(folder / ".loop" / "loop.db"))
    return sample


def linked(sample: Sample, folder: Path) -> Sample:
    sample.repo.git("worktree", "add", "-q", "-b", folder.name, str(folder))
    return Sample(Repository(folder))


@pytest.mark.parametrize("command", ["status", "resume", "gates", "log", "receipts", "explain", "cancel"])
def test_every_command_that_reads_the_log_says_that_it_is_gone(tmp_path: Path, command: str) -> None:
    sample = Sample.create(tmp_path / "repo")
    sample.repo.git("update-ref", "refs/loopwright/old-1/iteration-1", "HEAD")
    refused = sample.loop(command)
    assert (refused.code, GONE in refused.err, len(refused.err.splitlines())) == (3, True, 1)
    assert not (sample.repo.path / ".loop").exists()


def test_the_doctor_finds_a_lost_log(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    sample.repo.git("update-ref", "refs/loopwright/old-1/iteration-1", "HEAD")
    done = sample.loop("doctor", "--json")
    (line,) = [line for line in done.data["lines"] if line["what"] == "log"]
    assert (done.code, line["status"], GONE in line["text"]) == (1, "fix", True)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE events SET data = replace(data, 'x', 'y') WHERE seq = 3", ", event 3: it is not what was written"),
        ("DELETE FROM events WHERE seq = 2", ", event 2: it is missing"),
        ("DELETE FROM events WHERE seq > 4", ", event 5: it is missing"),
        ("UPDATE loops SET seq = 9 WHERE seq > 9", ": its row is not what was written"),
    ],
)
def test_the_doctor_finds_the_event_that_does_not_fit(tmp_path: Path, damage: str, found: str) -> None:
    """Not only in what is open: a loop that has ended is history too."""
    sample = written(tmp_path / "repo")
    with closing(sqlite3.connect(sample.repo.path / ".loop" / "loop.db")) as connection, connection:
        connection.execute(damage)
    done = sample.loop("doctor", "--json")
    lines = [line for line in done.data["lines"] if line["what"] == "log"]
    assert (done.code, {line["status"] for line in lines}) == (1, {"fix"})
    (text,) = [line["text"] for line in lines if f"loop {CHILD}{found}" in line["text"]]
    assert "from a backup" in text
    assert mistakes("doctor", done.data) == []


def test_the_doctor_finds_a_log_as_it_was_written(tmp_path: Path) -> None:
    data = written(tmp_path / "repo").loop("doctor", "--json").data
    (line,) = [line for line in data["lines"] if line["what"] == "log"]
    assert (line["status"], line["text"]) == ("ok", "2 loops, every event as it was written")


def test_the_doctor_says_that_a_snapshot_is_passed_over_and_the_loop_is_not_lost(tmp_path: Path) -> None:
    sample = written(tmp_path / "repo")
    with closing(sqlite3.connect(sample.repo.path / ".loop" / "loop.db")) as connection, connection:
        connection.execute("UPDATE snapshots SET state = '{}'")
    lines = [line for line in sample.loop("doctor", "--json").data["lines"] if line["what"] == "log"]
    assert [line["status"] for line in lines] == ["ok", "warn"]
    assert "its snapshot is passed over (it is not what was written); all its events are read" in lines[1]["text"]


# --- a log that somebody has changed and sealed anew -----------------------------------------------------------------


def sealed_anew(sample: Sample, loop: str, **changes: Any) -> None:  # noqa: ANN401 - the columns of a row
    """The loop's row as somebody would write it who knows how it is sealed; with another id, a further row."""
    path = str(sample.repo.path / ".loop" / "loop.db")
    with closing(apsw.Connection(path)) as connection, connection:
        head = heads.get(connection, LoopId(loop))
        connection.execute("DELETE FROM loops WHERE id = ?", (changes.get("id", loop),))
        heads.insert(connection, head._replace(**changes))


@pytest.fixture
def waiting(tmp_path: Path) -> tuple[Sample, str]:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    done = sample.loop("feedback", "Make it good", "--max-iterations", "1", "--json")
    assert done.code == 4
    return sample, done.data["loop"]


@pytest.mark.parametrize("argv", [("cancel",), ("answer", "accept"), ("approve", "protected"), ("resume",)])
def test_a_loop_that_is_below_itself_or_below_nothing_is_told_in_a_sentence(
    waiting: tuple[Sample, str], argv: tuple[str, ...]
) -> None:
    sample, loop = waiting
    for parent, why in ((loop, "it is below itself"), ("gone", "its parent, loop gone, is not there")):
        sealed_anew(sample, loop, parent=parent)
        done = sample.loop(*argv, "--loop", loop)
        assert (done.code, done.err.splitlines()) == (
            1,
            [f"loop: the event log: loop {loop}: {why}; nothing was changed, restore the file from a backup"],
        )


def test_a_part_of_a_kind_that_only_another_version_knows_is_left_when_its_root_is_cancelled(
    waiting: tuple[Sample, str],
) -> None:
    sample, loop = waiting
    sealed_anew(sample, loop, id="part-1", kind="nonesuch", parent=loop)
    done = sample.loop("cancel", "--loop", loop, "--json")
    assert (done.code, done.data["outcome"]) == (0, "cancelled")


def test_an_outcome_that_cannot_be_read_is_told_in_a_sentence(waiting: tuple[Sample, str]) -> None:
    sample, loop = waiting
    sealed_anew(sample, loop, status="complete", outcome="{broken")
    done = sample.loop("status")
    assert (done.code, len(done.err.splitlines())) == (1, 1)
    assert done.err.startswith(f"loop: the event log: outcome of loop {loop}: ")


@pytest.mark.parametrize(
    "argv", [("feedback", "x"), ("feedback", "x", "--dry-run"), ("status",), ("setup", "--new-log")]
)
def test_a_folder_of_the_log_that_is_a_link_is_refused_before_anything_begins(
    tmp_path: Path, argv: tuple[str, ...]
) -> None:
    sample = Sample.create(tmp_path / "repo")
    (tmp_path / "elsewhere").mkdir()
    (sample.repo.path / ".loop").symlink_to(tmp_path / "elsewhere")
    refused = sample.loop(*argv)
    assert (refused.code, refused.out) == (3, "")
    assert f"{sample.repo.path}/.loop is a link, and nothing is written through one" in refused.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_new_log_is_empty_and_nothing_else_is_made(tmp_path: Path) -> None:
    sample = used(tmp_path / "repo")
    config = (sample.repo.path / "loop.toml").read_bytes()
    attempts = sample.repo.git("for-each-ref", "refs/loopwright")
    lose(sample)
    begun, file = sample.loop("setup", "--new-log"), f"{sample.repo.path}/.loop/loop.db"
    said = f"Began a new, empty log: {file}. Commits of earlier loops stay under refs/loopwright/.\n"
    assert (begun.code, begun.out) == (0, said)
    assert sample.loop("status", "--json").data == {"loops": []}
    assert (sample.repo.path / "loop.toml").read_bytes() == config
    assert sample.repo.git("for-each-ref", "refs/loopwright") == attempts
    assert sample.loop("feedback", "Make it good").code == 0


def test_a_new_log_is_told_as_data(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    data = sample.loop("setup", "--new-log", "--json").data
    assert data == {"log": f"{sample.repo.path}/.loop/loop.db", "created": True}
    assert mistakes("setup", data) == []


def test_a_log_that_is_there_is_not_begun_anew(tmp_path: Path) -> None:
    sample = used(tmp_path / "repo")
    before = sample.loop("status", "--json").data
    refused = sample.loop("setup", "--new-log")
    assert (refused.code, "is there already and was left as it is" in refused.err) == (3, True)
    assert sample.loop("status", "--json").data == before


def test_a_new_log_is_for_people_to_begin(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    refused = sample.loop("setup", "--new-log", LOOP_STEP="x", LOOP_ROOT=str(sample.repo.path))
    assert (refused.code, "is for people and was run inside a step" in refused.err) == (3, True)
    assert not (sample.repo.path / ".loop").exists()


@pytest.mark.parametrize("other", ["--force", "--dry-run", "--no-run"])
def test_a_new_log_goes_with_no_other_option(tmp_path: Path, other: str) -> None:
    refused = Sample.create(tmp_path / "repo").loop("setup", "--new-log", other)
    assert (refused.code, "--new-log goes with no other option" in refused.err) == (2, True)


def test_another_worktree_has_a_log_of_its_own(tmp_path: Path) -> None:
    second = linked(used(tmp_path / "repo"), tmp_path / "linked")
    assert second.loop("status", "--json").data == {"loops": []}
    assert second.loop("feedback", "Make it good").code == 0
    (second.repo.path / ".loop" / "loop.db").unlink()
    refused = second.loop("feedback", "Make it good")
    assert (refused.code, f"{second.repo.path}/.loop/loop.db {GONE}" in refused.err) == (3, True)


def test_a_lost_log_is_missed_in_its_own_worktree_alone(tmp_path: Path) -> None:
    first = used(tmp_path / "repo")
    lose(first)
    assert linked(first, tmp_path / "linked").loop("feedback", "Make it good").code == 0
    refused = first.loop("status")
    assert (refused.code, GONE in refused.err) == (3, True)
    assert first.loop("setup", "--new-log").code == 0
    assert first.loop("status", "--json").data == {"loops": []}
    lose(first)  # none of its loops has made a commit since it was begun
    assert first.loop("status", "--json").data == {"loops": []}


def test_a_worktree_that_is_removed_takes_its_log_along_and_harms_no_other(tmp_path: Path) -> None:
    first = Sample.create(tmp_path / "repo")
    second = linked(first, tmp_path / "linked")
    assert second.loop("feedback", "Make it good").code == 0
    first.repo.git("worktree", "remove", "--force", str(tmp_path / "linked"))
    again = linked(first, tmp_path / "linked-again")
    first.repo.git("branch", "-D", "linked")
    for each in (first, again, linked(first, tmp_path / "linked")):
        assert each.loop("status", "--json").data == {"loops": []}
        assert {
            line["what"] for line in each.loop("doctor", "--json").data["lines"] if line["status"] == "fix"
        } == set()
    assert first.loop("feedback", "Make it good").code == 0


@pytest.mark.parametrize("name", [".loop", ".worktrees"])
@pytest.mark.parametrize(("kind", "said"), [("file", "is a file"), ("link", "is a link")])
def test_what_is_in_the_way_of_our_folders_is_said_before_anything_is_made(
    tmp_path: Path, name: str, kind: str, said: str
) -> None:
    sample, place = Sample.create(tmp_path / "repo"), tmp_path / "repo" / name
    (tmp_path / "elsewhere").mkdir()
    if kind == "file":
        place.write_text("mine\n")
    else:
        place.symlink_to(tmp_path / "elsewhere")
    refused = sample.loop("feedback", "Make it good")
    assert (refused.code, f"{place} {said}" in refused.err, len(refused.err.splitlines())) == (3, True, 1)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert "fix" in {line["status"] for line in sample.loop("doctor", "--json").data["lines"]}


def put_back(sample: Sample, older: Path) -> None:
    for side in ("-wal", "-shm"):
        (sample.repo.path / ".loop" / f"loop.db{side}").unlink(missing_ok=True)
    shutil.copyfile(older, sample.repo.path / ".loop" / "loop.db")


@pytest.mark.parametrize("command", ["status", "resume", "log"])
def test_an_older_log_in_its_place_is_refused(tmp_path: Path, command: str) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    loop = sample.loop("feedback", "Make it good", "--max-iterations", "1", "--json").data["loop"]
    older = shutil.copyfile(sample.repo.path / ".loop" / "loop.db", tmp_path / "older.db")
    assert sample.loop("answer", "continue", "1").code == 0
    assert sample.loop("resume").code == 4
    put_back(sample, older)
    refused = sample.loop(command)
    assert (refused.code, len(refused.err.splitlines())) == (3, 1)
    assert f"loop.db is not the newest log of loop {loop}: it has " in refused.err


def test_a_loop_that_has_commits_and_no_row_is_missed(tmp_path: Path) -> None:
    """As after a crash, when the side file of the log was deleted: what is left is a log without loops."""
    sample, empty = Sample.create(tmp_path / "repo"), Sample.create(tmp_path / "empty")
    assert empty.loop("setup", "--new-log").code == 0
    loop = sample.loop("feedback", "Make it good", "--json").data["loop"]
    put_back(sample, empty.repo.path / ".loop" / "loop.db")
    refused = sample.loop("status")
    assert (refused.code, f"is not the newest log of loop {loop}: it is not there" in refused.err) == (3, True)
    (sample.repo.path / ".loop" / "loop.db").unlink()
    shutil.rmtree(sample.repo.path / ".loop" / "blobs")
    assert sample.loop("setup", "--new-log").code == 0
    assert sample.loop("status").code == 0
    assert sample.repo.git("for-each-ref", f"refs/loopwright/{loop}") != ""


def test_a_worktree_asks_only_its_own_log(tmp_path: Path) -> None:
    sample = used(tmp_path / "repo")
    other = linked(sample, tmp_path / "other")
    assert other.loop("feedback", "Make it good").code == 0
    shutil.rmtree(other.repo.path / ".loop")
    assert (sample.loop("status").code, other.loop("status").code) == (0, 3)
