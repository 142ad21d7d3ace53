import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright import hook
from tests.cli.sessions import EARLIER, LATER, LIST, NOW, PROLONGED, SEEN, STATE, Session

HELD = "pending tasks: Task 2, Task 3"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """One task of three is done, and the loop is known."""
    begun = Session.begin(tmp_path)
    begun.has_tasks("completed", "in_progress", "pending")
    begun.has_state()
    return begun


# The end of a turn


def test_a_turn_is_held_while_tasks_of_its_list_are_unfinished(session: Session) -> None:
    assert session.stop() == HELD


def test_a_turn_that_was_held_before_may_end(session: Session) -> None:
    assert session.stop(stop_hook_active=True) == ""


def test_a_turn_may_end_when_no_task_is_unfinished(session: Session) -> None:
    session.has_tasks("completed", "completed", "completed")
    assert session.stop() == ""


def test_a_turn_may_end_without_a_list(session: Session) -> None:
    assert replace(session, environ={"HOME": str(session.home)}).stop() == ""
    assert replace(session, environ={**session.environ, hook.LIST_ID: "another"}).stop() == ""


def test_a_turn_is_held_where_no_loop_of_ours_is_known(session: Session) -> None:
    session.state_file.unlink()
    assert session.stop() == HELD
    assert session.stop(cwd=str(session.home)) == HELD


def test_at_most_three_subjects_are_named_and_each_is_cut(session: Session) -> None:
    session.has_tasks(*["pending"] * 5)
    (session.tasks / "2.json").write_text(json.dumps({"subject": "long " * 40, "status": "pending"}))
    assert session.stop() == f"pending tasks: Task 1, {('long ' * 40)[:99]}…, Task 3 and 2 more"


@pytest.mark.parametrize(
    ("blockers", "said"),
    [
        (["1"], ""),
        (["1", "2", "9"], " (blocked by 2)"),
        (["2", "4", "5", "6"], " (blocked by 2, 4, 5)"),
        ("2", ""),
        ([{}], ""),
    ],
)
def test_a_task_that_waits_for_others_says_so(session: Session, blockers: object, said: str) -> None:
    session.has_tasks("completed", *["pending"] * 5)
    (session.tasks / "3.json").write_text(
        json.dumps({"id": "3", "subject": "S", "status": "pending", "blockedBy": blockers})
    )
    assert session.stop() == f"pending tasks: Task 2, S{said}, Task 4 and 2 more"


def test_tasks_are_named_in_the_order_of_their_numbers(session: Session) -> None:
    session.has_tasks(*["completed"] * 8, *["pending"] * 3)
    assert session.stop() == "pending tasks: Task 9, Task 10, Task 11"


def test_a_task_without_a_subject_is_named_by_its_number(session: Session) -> None:
    (session.tasks / "3.json").write_text('{"id": "3", "status": "pending"}')
    assert session.stop() == "pending tasks: Task 2, task 3"


@pytest.mark.parametrize("key", ["version", "stage", "task"])
def test_a_state_file_that_lacks_something_lets_go(
    session: Session, key: str, capfd: pytest.CaptureFixture[str]
) -> None:
    session.state_file.write_text(json.dumps({name: value for name, value in STATE.items() if name != key}))
    assert session.stop() == ""
    assert capfd.readouterr().err == f"loop hook: workflow-state.json lacks {key}, so the session is let go\n"


def test_an_agent_in_a_step_of_ours_is_neither_held_nor_told(session: Session) -> None:
    session.has_lease()
    agent = replace(session, environ={**session.environ, "LOOP_STEP": "s1"})
    assert (agent.stop(), agent.start()) == ("", "")
    assert session.lease["session"] == ""


def test_the_folder_of_a_list_is_the_one_claude_code_makes_of_its_id(tmp_path: Path) -> None:
    known = {hook.LIST_ID: "a b/é😀_-9", "HOME": "/home/me"}  # seen on Claude Code 2.1.325
    assert hook.list_folder(known) == "/home/me/.claude/tasks/a-b----_-9"
    assert hook.list_folder({**known, hook.CONFIG_FOLDER: "/config"}) == "/config/tasks/a-b----_-9"


# Doubt


@pytest.mark.parametrize(
    "said", [b"", b"no json", b"[]", b"3", b"null", b'{"a": ', b"\xff\xfe\x00", b"[" * 100_000, b'{"a": ' * 100_000]
)
def test_what_cannot_be_read_lets_go(session: Session, said: bytes) -> None:
    assert hook.respond("stop", said, session.environ, NOW) == ""
    assert hook.respond("session-start", said, session.environ, NOW) == ""


@pytest.mark.parametrize("cwd", [None, 3, "", "relative", "/gone", "/\0", "/" * 5000, ["/"]])
def test_a_folder_that_is_none_is_no_project(session: Session, cwd: object) -> None:
    assert session.stop(cwd=cwd) == HELD
    assert session.start(cwd=cwd) == ""


def test_the_folder_of_the_project_helps_where_the_session_names_none(session: Session) -> None:
    known = replace(session, environ={**session.environ, hook.PROJECT_FOLDER: str(session.project / "src")})
    assert known.start(cwd=None) == SEEN


@pytest.mark.parametrize("text", ["", "{", "[]", '"pending"', "[" * 100_000, '{"status": ["pending"]}', "\x00"])
def test_a_task_file_that_is_torn_or_odd_counts_as_none(session: Session, text: str) -> None:
    (session.tasks / "2.json").write_text(text)
    assert session.stop() == "pending tasks: Task 3"


def test_links_pipes_and_folders_are_no_tasks_and_are_not_waited_for(session: Session) -> None:
    (session.tasks / "2.json").unlink()
    os.mkfifo(session.tasks / "2.json")
    (session.tasks / "4.json").symlink_to(session.tasks / "3.json")
    (session.tasks / "5.json").mkdir()
    (session.tasks / ".lock").write_text("")
    (session.tasks / "007.json").write_text('{"status": "pending", "subject": "no number"}')
    (session.tasks / "6.json").symlink_to("/dev/zero")
    assert session.stop() == "pending tasks: Task 3"


def test_a_task_file_that_is_too_long_is_not_read(session: Session) -> None:
    with (session.tasks / "2.json").open("a") as file:
        file.write(" " * hook.MOST_IN_A_FILE)
    assert session.stop() == "pending tasks: Task 3"


def test_of_thousands_of_tasks_only_the_first_are_read(session: Session) -> None:
    for number in range(1, 1200):
        (session.tasks / f"{number}.json").write_text(f'{{"status": "pending", "subject": "S{number}"}}')
    assert session.stop() == "pending tasks: S1, S2, S3 and at least 997 more"
    assert "Progress: ?/? tasks | Wave: ?" in session.start()


def test_of_too_much_text_only_the_first_is_read(session: Session) -> None:
    for number in range(1, 30):
        text = json.dumps({"status": "pending", "subject": f"S{number}", "description": "x" * 1_000_000})
        (session.tasks / f"{number}.json").write_text(text)
    assert session.stop() == "pending tasks: S1, S2, S3 and at least 14 more"


@pytest.mark.parametrize("how", ["torn", "pipe", "link", "folder"])
def test_a_state_file_that_cannot_be_read_lets_go_and_announces_nothing(session: Session, how: str) -> None:
    session.state_file.rename(session.project / "other")
    match how:
        case "torn":
            session.state_file.write_text('{"version": 1, "stage": ')
        case "pipe":
            os.mkfifo(session.state_file)
        case "link":
            session.state_file.symlink_to(session.project / "other")
        case _:
            session.state_file.mkdir()
    assert (session.stop(), session.start()) == ("", "")


# The lease


def test_the_session_of_the_lease_is_held_and_the_lease_prolonged(session: Session) -> None:
    session.has_lease("one", holds=3)
    assert session.stop() == HELD
    assert session.lease == {
        "version": 1,
        "loop": "auth-1",
        "list": LIST,
        "session": "one",
        "expires": PROLONGED,
        "holds": 4,
    }


def test_another_session_than_that_of_the_lease_may_stop(session: Session) -> None:
    session.has_lease("two")
    before = session.lease_file.read_bytes()
    assert session.stop() == ""
    assert session.stop(session_id=None) == ""
    assert session.lease_file.read_bytes() == before


def test_a_lease_that_has_expired_holds_nobody(session: Session) -> None:
    session.has_lease("one", expires=EARLIER)
    assert session.stop() == ""
    assert session.lease["expires"] == EARLIER


def test_a_lease_of_another_list_changes_nothing(session: Session) -> None:
    session.has_lease("two", list_id="another")
    assert session.stop() == HELD


def test_the_first_session_that_is_held_takes_a_lease_that_is_nobodys(session: Session) -> None:
    session.has_lease()
    assert session.stop() == HELD
    assert replace(session, name="two").stop() == ""
    assert (session.lease["session"], session.lease["holds"]) == ("one", 1)


def test_after_fifty_holds_the_session_is_let_go_and_told_so(
    session: Session, capfd: pytest.CaptureFixture[str]
) -> None:
    session.has_lease("one", holds=49)
    assert (session.stop(), session.stop()) == (HELD, "")
    assert session.lease["holds"] == 50
    assert "held 50 times for loop auth-1, which is enough" in capfd.readouterr().err


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"session": None},
        {"session": ["one"]},
        {"expires": "tomorrow"},
        {"expires": 3},
        {"expires": "9999"},
        {"expires": "9999-99-99T99:99:99Z"},
        {"expires": "2027-01-15T08:99:00Z"},
        {"expires": "2027-01-15T09:00:01Z"},
        {"holds": "no"},
        {"holds": True},
        {"holds": -1},
    ],
)
def test_a_lease_that_says_something_odd_lets_go(session: Session, changes: dict[str, object]) -> None:
    session.has_lease("one")
    session.lease_file.write_text(json.dumps({**session.lease, **changes}))
    assert session.stop() == ""


def test_a_lease_that_cannot_be_read_lets_go(session: Session) -> None:
    session.lease_file.write_text("{")
    assert (session.stop(), session.start()) == ("", SEEN)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_lease_that_cannot_be_counted_lets_go(session: Session) -> None:
    session.has_lease("one")
    session.lease_file.parent.chmod(0o500)
    assert session.stop() == ""
    session.lease_file.parent.chmod(0o700)


def test_a_lease_whose_new_text_has_no_place_lets_go(session: Session) -> None:
    session.has_lease("one")
    (session.lease_file.parent / f".lease.json.{os.getpid()}.new").mkdir()
    assert session.stop() == ""
    assert session.lease["holds"] == 0


def test_nothing_is_left_beside_the_lease(session: Session) -> None:
    session.has_lease("one")
    session.stop()
    assert sorted(file.name for file in session.lease_file.parent.iterdir()) == ["lease.json", "workflow-state.json"]


def test_a_session_that_begins_takes_a_lease_that_is_nobodys(session: Session) -> None:
    session.has_lease()
    assert session.start() == SEEN
    assert (session.lease["session"], session.lease["expires"], session.lease["holds"]) == ("one", PROLONGED, 0)


@pytest.mark.parametrize("source", ["startup", "resume", "compact", "fork"])
def test_a_session_that_begins_takes_no_lease_of_another_one(session: Session, source: str) -> None:
    session.has_lease("two")
    session.start(source)
    assert (session.lease["session"], session.lease["expires"]) == ("two", LATER)


def test_a_cleared_session_has_a_new_id_and_keeps_its_lease(session: Session) -> None:
    session.has_lease("two")
    session.start("clear")
    assert (session.lease["session"], session.stop()) == ("one", HELD)


def test_a_lease_that_has_expired_is_bound_to_nobody(session: Session) -> None:
    session.has_lease(expires=EARLIER)
    session.start()
    assert session.lease["session"] == ""


def test_many_sessions_that_begin_at_once_leave_a_whole_lease(session: Session) -> None:
    session.has_lease(expires=hook.expiry(time.time()))
    argv = [sys.executable, "-m", "loopwright", "hook", "session-start"]
    environ = {**os.environ, **session.environ}
    starts = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) for _ in range(8)]
    for number, each in enumerate(starts):
        assert each.stdin
        each.stdin.write(session.said(session_id=str(number), source="startup"))
        each.stdin.flush()
    told = [json.loads(each.communicate()[0])["hookSpecificOutput"]["additionalContext"] for each in starts]
    assert told == [SEEN] * 8
    assert session.lease["session"] in map(str, range(8))
    assert sorted(file.name for file in session.lease_file.parent.iterdir()) == ["lease.json", "workflow-state.json"]
