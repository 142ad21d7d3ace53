"""`loop ticket new`, `list` and `show`, imports, and tickets that are none."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopwright.app.starts.tickets.ticket_text import read_ticket
from tests.cli.projects import Done, Sample
from tests.cli.tickets import creates, escalated, folder, ticketed
from tests.test_schemas import mistakes

pytestmark = pytest.mark.unmeasured

STORIES: dict[str, Any] = {
    "project": "MyApp",
    "userStories": [
        {"id": "US-002", "title": "Show it", "acceptanceCriteria": ["It is shown"], "priority": 2, "passes": False},
        {"id": "US-001", "title": "Keep it", "acceptanceCriteria": ["It is kept"], "priority": 1, "passes": False},
    ],
}


def ticket(sample: Sample, *words: str, code: int = 0) -> Done:
    done = sample.loop("ticket", *words, "--json")
    assert done.code == code, done.err
    assert mistakes(f"ticket-{words[0]}" if code == 0 else "error", done.data) == []
    return done


def queued(sample: Sample) -> list[Any]:
    rows: list[Any] = ticket(sample, "list").data["queue"]
    return rows


def dropped(sample: Sample, name: str, text: str) -> Path:
    path = sample.repo.path / ".loop" / "tickets" / "queue" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_new_ticket_is_in_the_queue_with_its_criteria(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    words = (
        "--accept",
        "CSV has a header",
        "--accept",
        "PERF-1: quick",
        "--context",
        "for people",
        "--cycle",
        "design",
    )
    data = ticket(sample, "new", "Export as CSV", *words).data
    assert data == {
        "session": "export-as-csv",
        "ticket": "TICKET-export-as-csv-001",
        "file": ".loop/tickets/queue/TICKET-export-as-csv.md",
    }
    read = read_ticket(sample.repo.path / data["file"])
    assert (read.title, read.context, read.cycle, read.status) == ("Export as CSV", "for people", "design", "open")
    assert [(box.id, box.text) for box in read.criteria] == [("AC-1", "CSV has a header"), ("PERF-1", "quick")]


def test_without_criteria_the_title_is_what_must_hold(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    file = ticket(sample, "new", "Export as CSV").data["file"]
    assert [(box.id, box.text) for box in read_ticket(sample.repo.path / file).criteria] == [("AC-1", "Export as CSV")]


def test_two_of_one_title_are_two_sessions(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    names = [ticket(sample, "new", "Export as CSV").data["session"] for _ in range(2)]
    assert names == ["export-as-csv", "export-as-csv-2"]
    assert "is in the queue already" in ticket(sample, "new", "x", "--session", names[0], code=2).data["error"]


def test_a_file_is_a_ticket_or_says_what_is_to_be_built(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    sample.repo.write("plain.md", "Rows are orders.\n\n# Not a ticket\n")
    sample.repo.write("whole.md", "# Export\n\n# Requirements\n\nAs a table.\n\n- [ ] AC-3: one row each\n")
    first = read_ticket(sample.repo.path / ticket(sample, "new", "Plain", "--file", "plain.md").data["file"])
    assert (first.title, first.what) == ("Plain", "Rows are orders.\n\n# Not a ticket")
    words = ("--file", "whole.md", "--accept", "more")
    second = read_ticket(sample.repo.path / ticket(sample, "new", *words).data["file"])
    assert (second.title, second.what) == ("Export", "As a table.")
    assert [(box.id, box.text) for box in second.criteria] == [("AC-3", "one row each"), ("AC-1", "more")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "the ticket has no title"),
        (("x", "--accept", " "), "a criterion is empty"),
        (("x", "--accept", "A-1: one", "--accept", "a-1: two"), "the criterion A-1 is there twice"),
        (("x", "--session", "../x"), "'../x' cannot be a session"),
        (("x", "--file", "missing.md"), "missing.md: cannot be opened"),
        (("x", "--format", "ralph"), "--format goes with --import"),
        (("x", "--import", "prd.json"), "--import makes its tickets from the list alone"),
        (("--import", "prd.json"), "prd.json: cannot be opened: No such file or directory"),
    ],
)
def test_what_cannot_be_a_ticket_is_refused_and_the_queue_stays_empty(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    sample = ticketed(tmp_path / "repo")
    assert says in ticket(sample, "new", *words, code=2).data["error"]
    assert queued(sample) == []


def test_hostile_words_are_data(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    title = "../../etc\x1b[2J: {yaml: [bomb\u202e"
    data = ticket(sample, "new", title, "--accept", "# Requirements\n- [ ] AC-1: mine").data
    read = read_ticket(sample.repo.path / data["file"])
    assert (data["session"], read.title) == ("etc-2j-yaml-bomb", "../../etc\\x1b[2J: {yaml: [bomb\\u202e")
    assert [(box.id, box.text) for box in read.criteria] == [("AC-1", "# Requirements - [ ] AC-1: mine")]


def test_a_ticket_larger_than_can_be_read_is_refused(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    sample.repo.write("big.md", "x\n" * 600_000)
    assert "is larger than 1024 KiB" in ticket(sample, "new", "Big", "--file", "big.md", code=2).data["error"]


def test_a_ticket_that_a_person_drops_is_done(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    dropped(sample, "Make it good.md", "# Make it good\n# Requirements\n- [ ] it is good\n")
    assert sample.loop("ticket", "run", "--json").data["tickets"] == ["TICKET-make-it-good-001"]


def test_a_bad_ticket_gets_a_sentence_with_file_and_line_and_others_can_be_run(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    bad = dropped(sample, "bad.md", "---\ntitle: x\nstatus: maybe\n---\n# Requirements\n- [ ] it is good\n")
    os.utime(bad, (1, 1))
    ticket(sample, "new", "Make it good", "--session", "s")
    row, other = queued(sample)
    assert (row["ticket"], other["session"]) == ("bad", "s")
    assert f"{bad}:3: status: " in row["error"]
    assert sample.loop("ticket", "run", "--json").data["error"] == row["error"]
    assert sample.loop("ticket", "run", "s").code == 0
    assert f"bad  cannot be read: {bad}:3" in sample.loop("ticket", "list").out


def test_a_list_says_where_every_session_stands(tmp_path: Path) -> None:
    sample = escalated(tmp_path / "repo", creates("bad", attempt=1), creates("good", attempt=1))
    ticket(sample, "new", "Next one", "--session", "next")
    data = ticket(sample, "list").data
    loop = data["active"][0].pop("loop")
    assert data == {
        "queue": [
            {
                "session": "next",
                "ticket": "TICKET-next-001",
                "title": "Next one",
                "status": "open",
                "file": ".loop/tickets/queue/TICKET-next.md",
            }
        ],
        "active": [
            {
                "session": "s",
                "ticket": "TICKET-s-001",
                "title": "Make it good",
                "status": "escalated",
                "iteration": {"index": 1, "max": 1},
                "accuracy": 0.6667,
                "file": ".loop/tickets/active/s/TICKET-s-001.md",
            }
        ],
        "completed": [],
        "cancelled": [],
    }
    assert sample.loop("ticket", "list").out == (
        "Queue:\n  TICKET-next-001  open  Next one\n\n"
        "Active:\n  TICKET-s-001  escalated, iteration 1/1, accuracy 0.67  Make it good\n"
    )
    assert loop.startswith("s-")


def test_a_repository_without_tickets_says_so_and_nothing_is_made(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    assert ticket(sample, "list").data == {"queue": [], "active": [], "completed": [], "cancelled": []}
    assert sample.loop("ticket", "list").out == "No tickets yet; `loop ticket new TITLE` makes one.\n"
    assert "there is no ticket or session 'x'" in ticket(sample, "show", "x", code=2).data["error"]
    assert not (sample.repo.path / ".loop").exists()


def test_show_gives_the_file_as_it_should_be(tmp_path: Path) -> None:
    sample = escalated(tmp_path / "repo", max=2)
    file = folder(sample, "active") / "TICKET-s-001.md"
    text = file.read_text()
    file.write_text("torn")
    data = ticket(sample, "show", "TICKET-s-001").data
    assert (data["text"], data["decision"], data["front"]["status"]) == (text, "ROUTE_BACK", "route_back")
    assert ticket(sample, "show", "s").data["ticket"] == "TICKET-s-002"
    assert sample.loop("ticket", "show", "TICKET-s-001").out == text
    assert ticket(sample, "show", "TICKET-s-007", code=2).data["error"] == (
        "TICKET-s-007 is not there; the newest of the session is TICKET-s-002"
    )
    waits = ticket(sample, "new", "Next one", "--session", "next").data["file"]
    assert ticket(sample, "show", "next").data["text"] == (sample.repo.path / waits).read_text()


# Imports


def test_a_list_of_another_tool_becomes_a_ticket_for_each_task_in_its_order(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    sample.repo.write("prd.json", json.dumps(STORIES))
    data = ticket(sample, "new", "--import", "prd.json").data
    sessions = ["us-001-keep-it", "us-002-show-it"]
    assert ([each["session"] for each in data["tickets"]], data["skipped"]) == (sessions, [])
    assert (data["session"], data["ticket"]) == ("us-001-keep-it", "TICKET-us-001-keep-it-001")
    assert [each["session"] for each in queued(sample)] == sessions
    assert sample.loop("ticket", "run", "--json").data["session"] == "us-001-keep-it"


def test_importing_again_skips_what_is_known(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    sample.repo.write("prd.json", json.dumps(STORIES))
    ticket(sample, "new", "--import", "prd.json")
    sample.loop("ticket", "run")
    again = ticket(sample, "new", "--import", "prd.json", "--format", "ralph").data
    assert again == {
        "session": None,
        "ticket": None,
        "file": None,
        "tickets": [],
        "skipped": ["us-001-keep-it", "us-002-show-it"],
    }
    said = sample.loop("ticket", "new", "--import", "prd.json").out
    assert said == "0 tickets put into the queue; known here already: us-001-keep-it, us-002-show-it.\n"


def test_tasks_of_one_name_do_not_share_a_session(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    story = {"id": "!", "title": "?"}
    sample.repo.write("prd.json", json.dumps({"userStories": [story, story]}))
    out = sample.loop("ticket", "new", "--import", "prd.json").out
    assert out.splitlines()[-1] == "2 tickets put into the queue."
    assert [each["session"] for each in queued(sample)] == ["ticket", "ticket-2"]


def test_a_list_with_a_mistake_makes_no_ticket_at_all(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    wrong = {**STORIES, "userStories": [*STORIES["userStories"], {"id": "US-003"}]}
    sample.repo.write("prd.json", json.dumps(wrong))
    error = ticket(sample, "new", "--import", "prd.json", code=2).data["error"]
    assert error.endswith("prd.json: userStories[2]: title is missing; give it text that is not empty")
    assert queued(sample) == []


def test_a_line_break_in_the_name_of_a_queued_file_makes_no_second_line(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    dropped(sample, "TICKET-a\n  TICKET-forged-001  approved  all is well.md", "x")
    head, line = sample.loop("ticket", "list").out.splitlines()
    assert head == "Queue:"
    assert line.startswith("  TICKET-a\\n TICKET-forged-001 approved all is well  cannot be read: ")
