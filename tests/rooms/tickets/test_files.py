import os
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.shared_lines import read_lines
from loopwright.app.kinds import KINDS
from loopwright.app.publisher import Publisher
from loopwright.app.starts.tickets.adoption import ticket_files
from loopwright.app.starts.tickets.ticket_text import read_ticket
from loopwright.errors import ConfigError
from loopwright.kernel.model import Verdict
from loopwright.kernel.record import read_event
from loopwright.loops.kind import Noted, Scene
from loopwright.loops.tickets.files import notes, render
from loopwright.loops.tickets.kind import KIND
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.past import folded
from loopwright.loops.tickets.ticket_read import adopted
from tests.rooms.tickets.stories import (
    APPROVED,
    GREEN,
    LOOP,
    LOOSE,
    NO_TESTS,
    PARAMS,
    PROTECTED,
    RED,
    ROUTED_BACK,
    SEED,
    STORIES,
    TWICE,
    Step,
    Story,
    announced,
    answered,
    asks,
    cancelled,
    checked,
    cleaned_up,
    conflicted,
    criticised,
    gate,
    kept,
    landed,
    made,
    not_landed,
    played,
)


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text() for path in sorted((root / ".loop").rglob("*")) if path.is_file()
    }


def published(root: Path, story: Story) -> tuple[Path, ...]:
    scene = Scene(loop=LOOP, state=story.state, status="running", past=story.past)
    return Publisher(root, KINDS, pytest.fail).files(scene, KIND)


def tickets(root: Path) -> list[str]:
    return [name for name in tree(root) if "tickets" in name]


def test_a_session_under_way_is_active(tmp_path: Path) -> None:
    story = STORIES["routed-back"]
    active, observer = tmp_path / ".loop/tickets/active/session", tmp_path / ".loop/observer"
    assert published(tmp_path, story) == (
        active / "TICKET-session-001.md",
        active / "TICKET-session-002.md",
        observer / "iterations.jsonl",
        observer / "violations.jsonl",
    )
    assert [(active / f"{page.name}.md").read_text() for page in story.pages] == [page.text for page in story.pages]


def test_an_approved_session_moves_to_completed(tmp_path: Path) -> None:
    published(tmp_path, played(*ROUTED_BACK, *APPROVED))
    assert tickets(tmp_path) == [f".loop/tickets/active/session/TICKET-session-00{n}.md" for n in (1, 2)]
    published(tmp_path, STORIES["approved"])
    assert tickets(tmp_path) == [f".loop/tickets/completed/session/TICKET-session-00{n}.md" for n in (1, 2)]
    assert not (tmp_path / ".loop/tickets/active/session").exists()
    assert "worktree_path: null\n" in (tmp_path / tickets(tmp_path)[1]).read_text()


@pytest.mark.parametrize(
    ("story", "where"),
    [
        (played(*APPROVED, not_landed), "active"),
        (STORIES["escalated"], "active"),
        (played(cancelled, cleaned_up), "active"),
        (played(*ROUTED_BACK, *ROUTED_BACK, answered("accept"), landed, params=TWICE), "completed"),
    ],
)
def test_only_what_was_taken_is_completed(tmp_path: Path, story: Story, where: str) -> None:
    published(tmp_path, story)
    assert {Path(name).parts[2] for name in tickets(tmp_path)} == {where}


def many(tickets: int) -> Story:
    """A session of so many tickets, none of them approved, each with a finding of its own."""
    steps: list[Step] = []
    for number in range(tickets):
        found = replace(NO_TESTS, rule=f"T{number}", issue=f"{number} is never called in a test")
        steps += (made(f"try {number}"), kept("src/client.py"), criticised(found, LOOSE, verdict=Verdict.FAIL))
        steps += (checked(*(RED if number % 3 else GREEN)), announced)
    return played(*steps, params=replace(PARAMS, limits=TicketLimits(max=tickets)))


CHANGED = tuple(replace(each, blob="2") for each in PROTECTED)
GUARDED, AGAIN = (
    (made("x"), kept("a", protected=changes), criticised(LOOSE), checked(*GREEN)) for changes in (PROTECTED, CHANGED)
)
TOLD = {
    **STORIES,
    "asked": played(asks("Which?"), answered("answer", "this"), *ROUTED_BACK[:3]),
    "not landed": played(*APPROVED, not_landed, answered("continue"), *APPROVED, landed),
    "not merged": played(*APPROVED, conflicted, *APPROVED, landed),
    "granted": played(*ROUTED_BACK, *ROUTED_BACK, answered("continue"), *ROUTED_BACK, params=TWICE),
    "split": played(*ROUTED_BACK, *ROUTED_BACK, answered("split", "AC-2"), *APPROVED, *APPROVED, landed, params=TWICE),
    "accepted": played(*ROUTED_BACK, *ROUTED_BACK, answered("accept"), landed, params=TWICE),
    "gate": played(*GUARDED, gate(approved=False, reason="no"), announced, *AGAIN, gate(approved=True)),
    "cancelled": played(*ROUTED_BACK, cancelled, cleaned_up),
    "adopted": played(*ROUTED_BACK, params=replace(PARAMS, adopted=SEED.past)),
    "64 tickets": many(64),
}


@pytest.mark.parametrize("story", TOLD.values(), ids=TOLD.keys())
def test_what_is_written_event_by_event_is_what_the_whole_log_gives(story: Story) -> None:
    """Each event gives only what it changed, and after every one of them nothing is left out."""
    files: dict[str, str | None] = {}
    lines: dict[str, list[Noted]] = {}
    past, checked_at = None, set(range(0, len(story.records), max(1, len(story.records) // 20)))
    for at, (record, state) in enumerate(zip(story.records, story.states, strict=True)):
        past = folded(past, record, state)
        scene = Scene(loop=LOOP, state=state, status="running", past=past, event=read_event(record))
        files |= render(scene)
        for name, noted in notes(scene).items():
            lines.setdefault(name, []).extend(noted)
        if at in checked_at or at == len(story.records) - 1:
            whole = replace(scene, event=None)
            assert {name: text for name, text in files.items() if text} == {
                name: text for name, text in render(whole).items() if text
            }
            assert {name: tuple(told) for name, told in lines.items()} == notes(whole)


def test_an_event_of_a_late_ticket_gives_that_ticket_only() -> None:
    story = TOLD["64 tickets"]
    made_by = [
        len([text for text in render(scene).values() if text])
        for scene in (
            Scene(loop=LOOP, state=state, status="running", past=past, event=read_event(record))
            for record, state, past in zip(story.records, story.states, story.pasts, strict=True)
        )
    ]
    assert (max(made_by[1:-1]), sum(made_by[1:-1])) == (2, len(story.records) - 2 + 63)


def test_files_that_were_lost_or_changed_are_made_anew_with_the_same_bytes(tmp_path: Path) -> None:
    story = STORIES["approved"]
    steps = (*ROUTED_BACK, *APPROVED, landed)
    for size in range(len(steps) + 1):
        published(tmp_path, played(*steps[:size]))
    before = tree(tmp_path)
    for name in before:
        (tmp_path / name).unlink()
    published(tmp_path, story)
    assert tree(tmp_path) == before
    (tmp_path / tickets(tmp_path)[0]).write_text("scribbled")
    published(tmp_path, story)
    assert tree(tmp_path) == before


def test_what_is_as_it_should_be_is_not_written_again(tmp_path: Path) -> None:
    paths = published(tmp_path, STORIES["approved"])
    before = [path.stat().st_ino for path in paths]
    assert published(tmp_path, STORIES["approved"]) == paths
    assert [path.stat().st_ino for path in paths] == before


def test_what_others_keep_beside_the_tickets_stays(tmp_path: Path) -> None:
    published(tmp_path, played(*APPROVED))
    note = tmp_path / ".loop/tickets/active/session/notes.txt"
    note.write_text("mine")
    published(tmp_path, played(*APPROVED, landed))
    assert note.read_text() == "mine"


def test_a_ticket_is_whole_in_one_place_at_every_moment(tmp_path: Path) -> None:
    """Died between writing it there and removing it here: the next event puts it right."""
    published(tmp_path, played(*APPROVED))
    old = tmp_path / tickets(tmp_path)[0]
    text = old.read_text()
    published(tmp_path, played(*APPROVED, landed))
    old.parent.mkdir()
    old.write_text(text)
    published(tmp_path, played(*APPROVED, landed))
    assert tickets(tmp_path) == [".loop/tickets/completed/session/TICKET-session-001.md"]


@pytest.mark.parametrize("link", [".loop/tickets", ".loop/tickets/active", ".loop/tickets/active/session"])
def test_nothing_is_written_behind_a_link(tmp_path: Path, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / link).parent.mkdir(parents=True)
    (tmp_path / link).symlink_to(elsewhere)
    with pytest.raises(ConfigError, match=rf"{link}: is a link; nothing is read or written there"):
        published(tmp_path, STORIES["start"])
    assert list(elsewhere.iterdir()) == []


def test_nothing_is_removed_behind_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "TICKET-session-001.md").write_text("mine")
    completed = tmp_path / ".loop/tickets/completed"
    completed.mkdir(parents=True)
    (completed / "session").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="is a link"):
        published(tmp_path, STORIES["start"])
    assert (elsewhere / "TICKET-session-001.md").read_text() == "mine"


def test_a_link_or_a_pipe_in_place_of_a_ticket_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / ".loop/tickets/active/session"
    folder.mkdir(parents=True)
    (folder / "TICKET-session-001.md").symlink_to(victim)
    os.mkfifo(folder / "TICKET-session-002.md")
    published(tmp_path, STORIES["routed-back"])
    assert victim.read_text() == "mine"
    assert all(path.is_file() and not path.is_symlink() for path in folder.iterdir())


def test_a_session_that_is_none_is_not_written(tmp_path: Path) -> None:
    story = STORIES["start"]
    plan = replace(story.state.plan, session="../../up")
    with pytest.raises(ConfigError, match=r"is not in .*; nothing is written there"):
        published(tmp_path, replace(story, state=replace(story.state, plan=plan)))
    assert list(tmp_path.iterdir()) == []


def test_an_observer_that_cannot_write_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / ".loop").mkdir()
    (tmp_path / ".loop/observer").write_text("in the way")
    assert [path.name for path in published(tmp_path, STORIES["start"])] == ["TICKET-session-001.md"]
    assert read_lines(tmp_path / ".loop/observer") == ()


def test_the_folder_we_write_can_be_taken_over(tmp_path: Path) -> None:
    published(tmp_path, STORIES["routed-back"])
    folder = tmp_path / ".loop/tickets/active/session"
    first, second = adopted(tuple(read_ticket(path) for path in ticket_files(folder)["session"]))
    assert (first.accuracy, first.decision, second.decision) == (0.5, "ROUTE_BACK", None)
