"""What a coordinator answers to an escalation, by the real commands: what the next ticket says, and what lands."""

from pathlib import Path

import pytest

from loopwright.kernel.events import Answered, Checkpointed
from tests.e2e.scene import CHECK, Scene
from tests.e2e.ticketing import (
    Step,
    against,
    answer,
    brief,
    changelog,
    creates,
    files_of,
    front,
    new,
    played,
    run,
    says,
    section,
    told,
)

pytestmark = pytest.mark.kills  # as processes; tests/cli has the same answers

WANTED = ("Sums are right", "Errors are told", "Receipts are sent")
ALL_WRONG = [against(f"AC-{number}", f"fault {number}") for number in (1, 2, 3)]


def stuck(folder: Path, *more: Step, settings: str = CHECK) -> Scene:
    """A session of one ticket, in which all three criteria fail; it asks a person."""
    first = [creates(1, {"a.txt": "first\n"}, summary="tried one"), says("critic", 1, "fail", ALL_WRONG, summary="no")]
    scene = played(folder, [*first, *more], more=settings)
    new(scene, "Sell things", *WANTED)
    said = run(scene, "--max", "1", code=4).json
    (need,) = said["needs"]
    assert (said["outcome"], said["verdict"], need["kind"]) == ("escalated", "ESCALATE", "escalation")
    assert [choice["command"].split()[2] for choice in need["choices"]] == [
        *("continue", "split", "examples", "reassign", "accept", "history", "revise", "cancel")
    ]
    return scene


def boxes(text: str) -> list[str]:
    return [line[:12] for line in section(text, "Acceptance Criteria", 2).splitlines()]


# --- split ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_split_makes_a_ticket_of_each_group_and_lands_only_the_last(tmp_path: Path) -> None:
    steps = [creates(number, {f"{number}.txt": "done\n"}) for number in (2, 3, 4)]
    scene = stuck(tmp_path, *steps)
    said = answer(scene, "split", "AC-2; AC-1").json
    assert (said["outcome"], len(said["tickets"])) == ("verified", 4)
    files = files_of(scene)
    assert {number: boxes(text) for number, text in files.items()} == {
        "001": ["- [ ] AC-1: ", "- [ ] AC-2: ", "- [ ] AC-3: "],
        "002": ["- [x] AC-2: "],
        "003": ["- [x] AC-1: "],
        "004": ["- [x] AC-3: "],
    }
    assert [front(text)["parent_ticket"] for text in files.values()] == [
        None,
        *(f"TICKET-s-00{number}" for number in (1, 2, 3)),
    ]
    assert [changelog(text).count("completed") for text in files.values()] == [0, 0, 0, 1]
    # The critic answers for what is done and not for what was put off; the creator for its own alone.
    assert [told(scene, f"create-{n}.1")["criteria"] for n in (2, 3)] == [
        [f"AC-2: {WANTED[1]}"],
        [f"AC-1: {WANTED[0]}"],
    ]
    assert [len(told(scene, f"critique-{n}-1.1")["criteria"]) for n in (1, 2, 3, 4)] == [3, 1, 2, 3]
    assert scene.repo.git("ls-tree", "--name-only", said["branch"], "1.txt", "2.txt", "3.txt", "4.txt", "a.txt") == (
        "2.txt\n3.txt\n4.txt\na.txt"
    )


@pytest.mark.parametrize("text", ["AC-9", "AC-1, AC-1", ";"])
def test_a_split_that_cannot_be_is_refused_and_the_question_stays(tmp_path: Path, text: str) -> None:
    scene = stuck(tmp_path)
    said = scene.loop("answer", "split", "--text", text, code=None)
    assert (said.code in (2, 3), said.out) == (True, ""), said
    assert len(said.err.splitlines()) == 1, said
    assert scene.events(Answered) == []
    assert scene.loop("resume", "--unattended", "--json", code=4).json["outcome"] == "escalated"


# --- examples, revise, reassign -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_examples_are_attached_to_a_new_ticket_and_its_brief(tmp_path: Path) -> None:
    scene = stuck(tmp_path, creates(2, {"a.txt": "second\n"}))
    example = "Write it so:\n# Changelog\ntotal = Decimal('0.10')"
    said = answer(scene, "examples", example).json
    assert (said["outcome"], said["tickets"]) == ("verified", ["TICKET-s-001", "TICKET-s-002"])
    first, second = files_of(scene).values()
    assert section(second, "Guidance from the coordinator", 2) == (
        "> Write it so:\n> # Changelog\n> total = Decimal('0.10')"
    )
    assert section(second, "Move", 2) == "- examples"
    assert "Guidance from the coordinator" not in first
    assert example in told(scene, "create-2.1")["advice"]
    assert "> total = Decimal('0.10')" in brief(scene, "create-2.1")


@pytest.mark.slow
def test_revise_starts_the_count_anew_with_new_guidance_for_everybody(tmp_path: Path) -> None:
    again = says("critic", 2, "fail", ALL_WRONG)
    scene = stuck(tmp_path, creates(2, {"a.txt": "second\n"}), again, creates(3, {"a.txt": "third\n"}))
    assert scene.loop("answer", "revise", code=2).err.count("\n") == 1  # guidance is the whole point
    said = answer(scene, "revise", "Only the sums matter", code=4).json
    assert (said["outcome"], said["tickets"]) == ("escalated", ["TICKET-s-001", "TICKET-s-002"])
    assert front(files_of(scene, "active")["002"])["iteration"]["max"] == 2  # one more, as many as the session had
    assert [told(scene, key)["advice"] for key in ("create-2.1", "critique-2-1.1")] == [["Only the sums matter"]] * 2
    assert answer(scene, "continue", "", "2").json["outcome"] == "verified"
    assert front(files_of(scene)["003"])["iteration"]["max"] == 4


OTHER = '[agents.other]\nkind = "rehearsal"\nscenario = "other.toml"\n'
OTHERS_STEP = """\
[default]
lenient = true
[[step]]
role = "creator"
edits = [{path = "b.txt", content = "other\\n"}]
"""


def with_another(folder: Path) -> Scene:
    """As `stuck`, with a second agent that plays no role yet."""
    scene = stuck(folder, creates(2, {"a.txt": "second\n"}), settings=CHECK + OTHER)
    scene.repo.write("other.toml", OTHERS_STEP)
    return scene


@pytest.mark.slow
def test_reassign_gives_the_role_to_another_agent(tmp_path: Path) -> None:
    scene = with_another(tmp_path)
    refused = scene.loop("answer", "reassign", "--text", "creator=nobody", code=2)
    assert "no agent called 'nobody' is ready here; there are other, play" in refused.err
    assert scene.events(Answered) == []
    assert answer(scene, "reassign", "creator=other").json["outcome"] == "verified"
    first, second = files_of(scene).values()
    assert [front(text)["claimed_by"] for text in (first, second)] == ["play", "other"]
    assert "- b.txt" in section(second, "Changes Made", 2)


@pytest.mark.slow
def test_reassign_sets_a_second_critic_beside_the_first(tmp_path: Path) -> None:
    scene = with_another(tmp_path)
    assert answer(scene, "reassign", "critic+other").json["outcome"] == "verified"
    first, second = files_of(scene).values()
    verdicts = [
        [line for line in section(text, "Rationale", 2).splitlines() if "critic" in line] for text in (first, second)
    ]
    assert verdicts == [["- critic, fail:"], ["- critic, pass:", "- critic, pass:"]]
    assert [changelog(text).count("Critic: reviewed") for text in (first, second)] == [1, 2]
    assert {told(scene, f"critique-2-{seat}.1")["role"] for seat in (1, 2)} == {"critic"}


# --- accept, history, cancel ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("merge", [False, True])
def test_accept_lands_the_best_ticket_and_not_the_last(tmp_path: Path, *, merge: bool) -> None:
    worse = [*ALL_WRONG, against("AC-1", "fault 4")]
    steps = [
        creates(1, {"a.txt": "best\n"}),
        says("critic", 1, "fail", ALL_WRONG[:2]),
        creates(2, {"a.txt": "worse\n"}),
        says("critic", 2, "fail", worse),
    ]
    scene = played(tmp_path, steps)
    new(scene, "Sell things", *WANTED)
    (need,) = run(scene, "--max", "2", code=4).json["needs"]
    offered = [choice["label"] for choice in need["choices"] if choice["command"] == "loop answer accept"]
    assert offered == ["Accept the best ticket with what is known"]
    said = answer(scene, "accept", "", *(("--merge",) if merge else ())).json
    assert (said["outcome"], said["merged_into"]) == ("accepted", "main" if merge else "")
    assert scene.file_at(said["branch"], "a.txt") == "best"
    assert (scene.root / "a.txt").exists() == merge
    assert [front(text)["status"] for text in files_of(scene).values()] == ["route_back", "escalated"]
    owed = (scene.root / ".loop" / "debt.md").read_text()
    assert [owed.count(f"fault {number} is not") for number in (1, 2, 3, 4)] == [1, 1, 1, 1]


@pytest.mark.slow
def test_cancel_keeps_every_commit_and_the_files(tmp_path: Path) -> None:
    scene = stuck(tmp_path)
    (kept,) = [event.commit for event in scene.events(Checkpointed)]
    assert answer(scene, "cancel", code=3).json["outcome"] == "cancelled"
    assert kept in scene.repo.git("rev-list", "--all").splitlines()
    assert scene.file_at(kept, "a.txt") == "first"
    assert not (scene.root / "a.txt").exists()
    (first,) = files_of(scene, "active").values()
    assert (front(first)["status"], files_of(scene)) == ("blocked", {})
    listed = scene.loop("ticket", "list", "--json").json
    assert {name: len(rows) for name, rows in listed.items()} == {
        "queue": 0,
        "active": 0,
        "completed": 0,
        "cancelled": 1,
    }
    assert scene.loop("ticket", "run", "s", "--unattended", code=3).err.startswith("loop: session s is over (cancelled")


@pytest.mark.slow
def test_history_shows_every_attempt_and_asks_again(tmp_path: Path) -> None:
    scene = stuck(tmp_path)
    said = scene.loop("answer", "history")
    assert "TICKET-s-001" in said.out
    (need,) = scene.loop("resume", "--unattended", "--json", code=4).json["needs"]
    assert "TICKET-s-001: ESCALATE, accuracy 0.25" in need["what"]


@pytest.mark.slow
def test_a_question_of_the_creators_holds_the_ticket_and_the_answer_goes_on_with_it(tmp_path: Path) -> None:
    asks = {"status": "needs_clarification", "questions": [{"question": "Which currency?"}]}
    steps = [{"role": "creator", "attempt": 1, "result": asks}, creates(1, {"a.txt": "EUR\n"})]
    scene = played(tmp_path, steps)
    new(scene, "Sell things", *WANTED)
    (need,) = run(scene, code=4).json["needs"]
    assert "Which currency?" in need["what"]
    (held,) = files_of(scene, "active").values()
    assert (front(held)["status"], section(held, "Concerns", 2)) == ("blocked", "> Which currency?")
    said = answer(scene, "Euros").json
    assert (said["outcome"], said["tickets"]) == ("verified", ["TICKET-s-001"])
    assert told(scene, "create-1.2")["advice"] == ["Which currency?\n→ Euros"]
