import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.app.starts.tickets.folders import next_sequence, session_folder
from loopwright.app.starts.tickets.queue import Queued, put, queue_folder, read_queued, take_out, waiting
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.model import Commit
from loopwright.loops.tickets.files import draft
from loopwright.loops.tickets.state import Criterion
from loopwright.loops.tickets.ticket_read import params

TEXT = "# Add an export\n# Requirements\n- [ ] AC-1: as CSV\n"
PAGE = draft(title="Add an export", what="For people", criteria=(Criterion(id="AC-1", text="as CSV"),))


def dropped(root: Path, name: str, text: str = TEXT, age: int = 0) -> Path:
    path = queue_folder(root) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return path


def test_the_oldest_comes_first_and_those_of_one_moment_by_name(tmp_path: Path) -> None:
    assert waiting(tmp_path) == ()
    expected = [dropped(tmp_path, "z.md", age=5), dropped(tmp_path, "a.md"), dropped(tmp_path, "b.md")]
    assert waiting(tmp_path) == tuple(expected)


def test_only_plain_files_wait_in_the_queue(tmp_path: Path) -> None:
    real = dropped(tmp_path, "a.md")
    folder = real.parent
    (folder / "link.md").symlink_to(real)
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    dropped(tmp_path, ".hidden.md")
    dropped(tmp_path, "a.txt")
    assert waiting(tmp_path) == (real,)


def test_a_queue_behind_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    queue_folder(tmp_path).parent.mkdir(parents=True)
    queue_folder(tmp_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="queue: is a link; nothing is read or written there"):
        waiting(tmp_path)
    with pytest.raises(ConfigError, match="queue: is a link"):
        put(tmp_path, "a", PAGE)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_place_of_the_queue_is_told(tmp_path: Path) -> None:
    queue_folder(tmp_path).parent.mkdir(parents=True)
    queue_folder(tmp_path).write_text("")
    with pytest.raises(ConfigError, match="queue: is not a folder"):
        waiting(tmp_path)


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("TICKET-add-export.md", "add-export"),
        ("Add the Export!.md", "add-the-export"),
        ("x" * 60 + ".md", "x" * 40),
        ("x" * 39 + "-y.md", "x" * 39),
        ("日本.md", "ticket-26b6b0bf"),
        ("TICKET-s-001.md", "s-001"),
    ],
)
def test_the_name_gives_the_session(tmp_path: Path, name: str, session: str) -> None:
    assert read_queued(tmp_path, dropped(tmp_path, name)).session == session


def test_the_frontmatter_goes_before_the_name(tmp_path: Path) -> None:
    path = dropped(tmp_path, "TICKET-other.md", f"---\nsession_id: mine\n---\n{TEXT}")
    queued = read_queued(tmp_path, path)
    assert (queued.session, queued.sequence, queued.ticket.title) == ("mine", 1, "Add an export")
    assert queued.loop == f"mine-{queued.digest[:8]}"


@pytest.mark.parametrize("name", ["TICKET-Add.md", "TICKET-.md", f"TICKET-{'x' * 41}.md", "TICKET-..md"])
def test_a_name_that_gives_no_session_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ConfigError, match=r"cannot be a session: it needs 1 to 40 lower-case letters.*; rename the file"
    ):
        read_queued(tmp_path, dropped(tmp_path, name))


def test_a_ticket_that_is_over_does_not_wait(tmp_path: Path) -> None:
    path = dropped(tmp_path, "a.md", f"---\nstatus: approved\n---\n{TEXT}")
    with pytest.raises(ConfigError, match=r"a\.md: status: is approved; a ticket that waits to be done is open"):
        read_queued(tmp_path, path)


def test_an_odd_session_has_a_loop_all_the_same(tmp_path: Path) -> None:
    queued = read_queued(tmp_path, dropped(tmp_path, "a.md", f"---\nsession_id: 'a-'\n---\n{TEXT}"))
    assert queued.loop == f"a-{queued.digest[:8]}"
    dashed = dropped(tmp_path, "b.md", f"---\nsession_id: '-rf'\n---\n{TEXT}")
    with pytest.raises(ConfigError, match=r"b\.md:2: session_id: "):
        read_queued(tmp_path, dashed)  # a command that names it would take it for options
    long = replace(queued, session="s" * 40)
    assert (len(long.loop), long.loop[:31]) == (40, "s" * 31)


# Numbers


def held(root: Path, where: str, name: str, session: str = "s") -> None:
    folder = session_folder(root, where, session)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("")


def test_the_next_sequence_is_one_more_than_any_there_is(tmp_path: Path) -> None:
    assert next_sequence(tmp_path, "s") == 1
    held(tmp_path, "active", "TICKET-s-002.md")
    held(tmp_path, "completed", "TICKET-s-004.md")
    held(tmp_path, "active", "TICKET-other-009.md")
    held(tmp_path, "active", "TICKET-s-9.md")
    held(tmp_path, "active", "TICKET-s-009.txt")
    assert next_sequence(tmp_path, "s") == 5
    assert read_queued(tmp_path, dropped(tmp_path, "TICKET-s.md")).sequence == 5
    held(tmp_path, "completed", "TICKET-s-999.md")
    with pytest.raises(UsageError, match="the session s has 999 tickets"):
        next_sequence(tmp_path, "s")


@pytest.mark.parametrize("session", ["../x", "", "A", "a/b", "x" * 41])
def test_what_is_no_session_has_no_folder(tmp_path: Path, session: str) -> None:
    with pytest.raises(UsageError, match="cannot be a session"):
        session_folder(tmp_path, "active", session)
    with pytest.raises(UsageError, match="cannot be a session"):
        put(tmp_path, session, PAGE)
    assert list(tmp_path.iterdir()) == []


# Out of the queue


def test_a_ticket_is_taken_out_once_and_what_was_written_is_kept(tmp_path: Path) -> None:
    path = dropped(tmp_path, "a.md")
    queued = read_queued(tmp_path, path)
    assert take_out(tmp_path, queued)
    assert not path.exists()
    assert (path.parent / ".activated" / f"{queued.loop}.md").read_text() == TEXT
    assert waiting(tmp_path) == ()
    assert not take_out(tmp_path, queued)


def test_whoever_dies_before_finds_the_same_ticket_and_the_same_loop(tmp_path: Path) -> None:
    path = dropped(tmp_path, "a.md")
    before = read_queued(tmp_path, path)
    held(tmp_path, "active", "TICKET-a-001.md", "a")  # its loop began, and then all went dark
    again = read_queued(tmp_path, waiting(tmp_path)[0])
    assert (again.loop, again.session, again.digest) == (before.loop, before.session, before.digest)
    assert take_out(tmp_path, again)


def test_another_ticket_in_its_place_stays(tmp_path: Path) -> None:
    path = dropped(tmp_path, "a.md")
    queued: Queued = read_queued(tmp_path, path)
    path.write_text(TEXT + "- [ ] AC-2: and quick\n")
    assert not take_out(tmp_path, queued)
    assert waiting(tmp_path) == (path,)
    assert read_queued(tmp_path, path).loop != queued.loop


# Into it


def test_a_new_ticket_is_put_whole_and_reads_back(tmp_path: Path) -> None:
    path = put(tmp_path, "add-export", PAGE)
    assert path == queue_folder(tmp_path) / "TICKET-add-export.md"
    assert list(path.parent.iterdir()) == [path]
    assert (tmp_path / ".loop" / ".gitignore").read_text() == "*\n"
    queued = read_queued(tmp_path, path)
    wanted = params(queued.ticket, session=queued.session, base=Commit("b"))
    assert (wanted.session, wanted.title, wanted.what) == ("add-export", "Add an export", "For people")
    assert wanted.criteria == (Criterion(id="AC-1", text="as CSV"),)


def test_a_ticket_that_waits_is_not_overwritten(tmp_path: Path) -> None:
    path = put(tmp_path, "a", PAGE)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"TICKET-a\.md is in the queue already; run it or choose another name"):
        put(tmp_path, "a", replace(PAGE, body="other"))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_of_many_who_put_one_ticket_one_succeeds(tmp_path: Path) -> None:
    done: list[Path] = []

    def one() -> None:
        try:
            done.append(put(tmp_path, "a", PAGE))
        except UsageError:
            return

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
