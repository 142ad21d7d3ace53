import json
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.shared_lines import read_lines
from loopwright.app.kinds import KINDS
from loopwright.app.publisher import Publisher
from loopwright.engine.world import Seen
from loopwright.kernel.events import Answered, Ended, Logged, Started
from loopwright.kernel.model import Commit, Ending, Finding, Key, LoopId, Outcome, Severity, Verdict
from loopwright.kernel.record import read_event
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchArtifact, BatchParams
from loopwright.loops.course import steered
from loopwright.loops.feedback.files import scratchpad_path
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState, Iteration, start
from loopwright.loops.kind import Scene
from loopwright.ports.agent import Update
from loopwright.ports.store import Status
from tests.rooms.tickets import stories as ticket_stories
from tests.rooms.tickets.stories import Story

LOOP = LoopId("make-it-good-1")
STATE = start(FeedbackParams(task="Make it good", base=Commit("b1")))
TRIED = replace(STATE, past=(Iteration(number=1, commit=Commit("c1"), review=Verdict.PASS, tests=Verdict.FAIL),))
ACCEPTED = Outcome(ending=Ending.ACCEPTED, attempts=1, commit=Commit("c2"), branch="loop/make-it-good-1")


def seen(event: Logged, state: FeedbackState = STATE, status: Status = "running") -> Seen:
    return Seen(loop=LOOP, kind="feedback", state=state, event=event, seq=2, status=status)


def publisher(root: Path, failures: list[str] | None = None) -> Publisher:
    heard: list[str] = [] if failures is None else failures
    return Publisher(root, KINDS, heard.append)


def scratchpad(root: Path) -> Path:
    return root / scratchpad_path(LOOP)


def test_the_files_are_there_when_the_first_developer_starts(tmp_path: Path) -> None:
    publisher(tmp_path).recorded(seen(Started(key=Key.parse("implement-1.1"), action="RunAgent", what="developer")))
    assert scratchpad(tmp_path).read_text().startswith("# Feedback Scratchpad\n")
    progress = json.loads((scratchpad(tmp_path).parent / "progress.json").read_text())
    assert progress["feedback_loop"]["current_iteration"] == 1
    assert [(tmp_path / name / ".gitignore").read_text() for name in (".loop", ".worktrees")] == ["*\n", "*\n"]


def test_a_file_that_did_not_change_is_not_written_again(tmp_path: Path) -> None:
    files = publisher(tmp_path)
    files.recorded(seen(Started(key=Key.parse("a"), action="RunAgent")))
    before = scratchpad(tmp_path).stat().st_ino
    files.recorded(seen(Started(key=Key.parse("b"), action="RunAgent")))
    assert scratchpad(tmp_path).stat().st_ino == before
    scratchpad(tmp_path).unlink()
    files.recorded(seen(Started(key=Key.parse("c"), action="RunAgent")))
    assert scratchpad(tmp_path).exists()


def test_debt_is_added_for_each_acceptance(tmp_path: Path) -> None:
    files = publisher(tmp_path)
    files.recorded(seen(Answered(key=Key.parse("escalation-1"), choice="accept", by="ann"), TRIED))
    files.recorded(seen(Ended(outcome=ACCEPTED), steered(TRIED, outcome=ACCEPTED), "complete"))
    files.recorded(seen(Ended(outcome=ACCEPTED), steered(TRIED, outcome=ACCEPTED), "complete"))
    debt = (tmp_path / ".loop" / "debt.md").read_text()
    assert debt.startswith("# Accepted with known issues\n\n## make-it-good-1: accepted 1970-01-01T00:00:00Z\n")
    assert debt.count("- **Accepted by**: ann\n") == 2


def test_what_was_deferred_by_a_loop_that_passed_is_debt_too(tmp_path: Path) -> None:
    left = (Finding(severity=Severity.HIGH, issue="x says nothing", file="a.py", line=3),)
    passed = Outcome(ending=Ending.VERIFIED, commit=Commit("c2"), branch="loop/1", note="APPROVE: T-1", findings=left)
    files = publisher(tmp_path)
    files.recorded(seen(Ended(outcome=passed), steered(TRIED, outcome=passed), "complete"))
    files.recorded(seen(Ended(outcome=replace(passed, findings=())), steered(TRIED, outcome=passed), "complete"))
    assert (tmp_path / ".loop" / "debt.md").read_text().split("\n\n", 1)[1] == (
        "## make-it-good-1: passed 1970-01-01T00:00:00Z, with what was deferred\n\n"
        "- **Verdict**: APPROVE: T-1\n- **Commit**: c2\n- **Branch**: loop/1\n"
        "- **Deferred**:\n  - [high] a.py:3 - x says nothing\n"
    )


@pytest.mark.parametrize("ending", [Ending.VERIFIED, Ending.ACCEPTED])
def test_what_was_mended_only_in_what_did_not_land_is_debt(tmp_path: Path, ending: Ending) -> None:
    left = (Finding(severity=Severity.HIGH, issue="x says nothing", file="tests/t.py", line=3),)
    passed = Outcome(ending=ending, commit=Commit("c2"), branch="loop/1", waiting=left)
    publisher(tmp_path).recorded(seen(Ended(outcome=passed), steered(TRIED, outcome=passed), "complete"))
    debt = (tmp_path / ".loop" / "debt.md").read_text()
    assert debt.endswith("- **Mended only in what did not land**:\n  - [high] tests/t.py:3 - x says nothing\n")
    assert "**Deferred**" not in debt


def test_a_disk_that_does_not_take_it_is_told_and_nothing_else_happens(tmp_path: Path) -> None:
    (tmp_path / ".loop").write_text("in the way")
    failures: list[str] = []
    files = publisher(tmp_path, failures)
    files.recorded(seen(Started(key=Key.parse("a"), action="RunAgent")))
    files.progressed(Update(loop=LOOP, key=Key.parse("a"), text="alive"))
    assert len(failures) == 1
    assert "could not be written" in failures[0]


def test_a_loop_of_another_kind_has_no_feedback_files(tmp_path: Path) -> None:
    batch = BATCH.start(BatchParams(artifacts=(BatchArtifact(path="a.md"),), shared="{}", base=Commit("base")))
    publisher(tmp_path).recorded(replace(seen(Ended(outcome=ACCEPTED)), kind="batch", state=batch))
    assert [file.name for file in (tmp_path / ".loop").iterdir()] == [".gitignore"]


# --- tickets ------------------------------------------------------------------------------------------


def of_tickets(story: Story, begin: int = 0) -> list[Seen]:
    """What the engine tells of these records."""
    return [
        Seen(
            loop=record.loop,
            kind="tickets",
            state=state,
            event=read_event(record),
            seq=record.seq,
            status="running",
            at=record.at,
        )
        for record, state in zip(story.records[begin:], story.states[begin:], strict=True)
    ]


def ticket_texts(root: Path) -> list[str]:
    return [file.read_text() for file in sorted((root / ".loop" / "tickets").rglob("*.md"))]


def test_ticket_files_written_event_by_event_are_those_of_the_whole_log(tmp_path: Path) -> None:
    story = ticket_stories.played(ticket_stories.made("wrote it"), ticket_stories.kept("a.py"))
    one = Publisher(tmp_path / "one", KINDS, pytest.fail, {story.records[0].loop: story.pasts[1]})
    for seen in of_tickets(story, 2):
        one.recorded(seen)
    scene = Scene(loop=story.records[0].loop, state=story.state, status="running", past=story.past)
    files = Publisher(tmp_path / "other", KINDS, pytest.fail).files(scene, KINDS["tickets"])
    assert [file.suffix for file in files] == [".md", ".jsonl"]
    assert ticket_texts(tmp_path / "one") == ticket_texts(tmp_path / "other")


def test_without_the_beginning_of_its_log_a_session_is_left_to_a_later_rendering(tmp_path: Path) -> None:
    story = ticket_stories.played(ticket_stories.made("wrote it"))
    files = publisher(tmp_path)
    for seen in of_tickets(story, 1):
        files.recorded(seen)
    assert ticket_texts(tmp_path) == []


def test_whoever_goes_on_with_a_session_writes_all_of_it_at_the_first_event(tmp_path: Path) -> None:
    """Whoever drove it before may have died between an event and its files."""
    story = ticket_stories.played(*ticket_stories.ROUTED_BACK, ticket_stories.made("again"))
    told = Publisher(tmp_path, KINDS, pytest.fail, {story.records[0].loop: story.pasts[-2]})
    told.recorded(of_tickets(story)[-1])
    assert ticket_texts(tmp_path) == [page.text for page in story.pages]
    assert len(read_lines(tmp_path / ".loop/observer/iterations.jsonl")) == len(story.past.watch.dispatches)


def test_what_could_not_be_written_is_made_good_by_the_next_event(tmp_path: Path) -> None:
    story = ticket_stories.played(*ticket_stories.ROUTED_BACK, ticket_stories.made("again"))
    failures: list[str] = []
    files = publisher(tmp_path, failures)
    tickets, observer = tmp_path / ".loop" / "tickets", tmp_path / ".loop" / "observer"
    *before, opens, begins, last = of_tickets(story)
    for seen in before:
        files.recorded(seen)
    tickets.rename(tmp_path / "away")
    tickets.write_text("in the way")
    files.recorded(opens)
    assert len(failures) == 1
    tickets.unlink()
    (tmp_path / "away").rename(tickets)
    observer.rename(tmp_path / "watched")
    observer.write_text("in the way")
    files.recorded(begins)
    observer.unlink()
    (tmp_path / "watched").rename(observer)
    files.recorded(last)
    assert ticket_texts(tmp_path) == [page.text for page in story.pages]
    assert len(read_lines(observer / "iterations.jsonl")) == len(story.past.watch.dispatches)
