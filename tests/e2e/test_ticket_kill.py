"""Ticket sessions killed at an append, just before and just after it: `loop resume` reaches the same end.

One is routed back, approved and merged. One is escalated, and a person's word goes on with it. Everything they leave is
the same as if nothing had happened: every ticket file and the observer's, byte for byte except times.
"""

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.kills import RESUME, Witness, check_nothing_is_lost, key_of, moments, notes_of, run_and_die, some_of
from tests.e2e.scene import Said, Scene
from tests.e2e.ticket_kills import (
    check_the_observer,
    end_of_session,
    killable_tickets,
    landings,
    made_files,
)
from tests.e2e.ticketing import QUEUE
from tests.kept import Kept

pytestmark = pytest.mark.sampled("kills")

APPENDS = 16  # of the session that is merged
UNTIL_ASKED, ON_APPENDS = 8, 10  # of the one that is escalated; the answer is the first of the second part
RUNS = [
    f"{step}" for number in (1, 2) for step in (f"create-{number}.1", f"critique-{number}-1.1", f"judge-{number}.5")
]
EDGES = pytest.mark.parametrize("when", ["before", "after"])
RUN = ("ticket", "run", "--unattended", "--json", "--merge")
Ends = dict[str, Any]


def uninterrupted(scene: Scene, what: str, appends: int) -> Ends:
    done = run_and_die(scene, what, 0, "never")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, appends), done.stderr
    check_the_observer(scene)
    return end_of_session(scene)


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    scene = killable_tickets(tmp_path_factory.mktemp("whole"))
    end = uninterrupted(scene, "tickets", APPENDS)
    assert (sorted(end["tickets"]["completed"]), landings(scene)) == (["001", "002"], ["main"])
    return end


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, Kept, Ends]:
    """The session that asks a person, and how it stands then."""
    folder = tmp_path_factory.mktemp("asking") / "scene"
    scene = killable_tickets(folder)
    asked = uninterrupted(scene, "last ticket", UNTIL_ASKED)
    assert (sorted(asked["tickets"]["active"]), asked["state"]["course"]["station"]) == (["001"], "ESCALATED")
    return scene, Kept.of(folder), asked


@pytest.fixture(scope="module")
def continued(asking: tuple[Scene, Kept, Ends]) -> Ends:
    """How it ends after the answer."""
    scene, kept, _ = asking
    kept.restored()
    return uninterrupted(scene, "continued", ON_APPENDS)


def killed(scene: Scene, what: str, at: int | str, when: str) -> Witness:
    witness = Witness(scene)
    died = run_and_die(scene, what, at, when)
    assert died.returncode == -signal.SIGKILL, died.stderr
    witness.controller_is_gone()
    return witness


def resumed(scene: Scene, witness: Witness, *, code: int = 0) -> Said:
    said = scene.loop(*RESUME, env=notes_of(scene), code=code)
    witness.controller_is_gone()
    check_nothing_is_lost(scene)
    check_the_observer(scene)
    return said


def runs_of(scene: Scene) -> list[str]:
    return [key_of(line) for line in scene.noted("started")]


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of(moments(APPENDS)))
def test_a_session_killed_at_an_append_ends_as_if_nothing_had_happened(
    tmp_path: Path, merged: Ends, at: int, when: str
) -> None:
    scene = killable_tickets(tmp_path)
    witness = killed(scene, "tickets", at, when)
    said = resumed(scene, witness)
    # Just after the last append there is nothing left to do.
    assert said.json["outcome"] == ("verified" if (at, when) != (APPENDS, "after") else None)
    assert runs_of(scene) == RUNS  # no agent was at work at any of these moments, so that none was started twice
    assert landings(scene) == ["main"]
    assert end_of_session(scene) == merged


def until_asked() -> list[tuple[int, str]]:
    """The first ticket is killed above at everything; here the escalation, and each append once."""
    once = [(at, "after" if at % 2 else "before") for at in range(1, UNTIL_ASKED)]
    return [*once, (UNTIL_ASKED, "before"), (UNTIL_ASKED, "after")]


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of(until_asked()))
def test_a_session_killed_before_it_asks_stops_at_the_same_question(
    tmp_path: Path, asking: tuple[Scene, Kept, Ends], at: int, when: str
) -> None:
    scene = killable_tickets(tmp_path)
    said = resumed(scene, killed(scene, "last ticket", at, when), code=4)
    assert (said.json["outcome"], said.json["verdict"]) == ("escalated", "ESCALATE")
    assert runs_of(scene) == RUNS[:3]
    assert end_of_session(scene) == asking[2]


def after_the_answer() -> list[tuple[int, str]]:
    """Both sides of the answer, of the new ticket's first step and of the end; all else once."""
    both = {1, 2, ON_APPENDS}
    sides = {at: ("before", "after") if at in both else ("before",) if at % 2 else ("after",) for at in ON}
    return [(at, when) for at, chosen in sides.items() for when in chosen]


ON = range(1, ON_APPENDS + 1)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of(after_the_answer()))
def test_a_session_killed_after_the_answer_ends_as_if_nothing_had_happened(
    asking: tuple[Scene, Kept, Ends], continued: Ends, at: int, when: str
) -> None:
    scene, kept, _ = asking
    kept.restored()
    witness = killed(scene, "continued", at, when)
    if (at, when) == (1, "before"):  # nothing was heard, so it is said again
        assert run_and_die(scene, "continued", 1, "after").returncode == -signal.SIGKILL
    resumed(scene, witness)
    assert runs_of(scene) == RUNS
    assert landings(scene) == ["main"]
    assert end_of_session(scene) == continued


@pytest.mark.slow
@pytest.mark.parametrize(("when", "goes_on"), [("before", RUN), ("after", RUN[:-1]), ("after", RESUME)])
def test_a_ticket_that_is_taken_out_of_the_queue_is_neither_lost_nor_done_twice(
    tmp_path: Path, merged: Ends, when: str, goes_on: tuple[str, ...]
) -> None:
    """Killed around the moment in which its loop is put on record: the file is still in the queue."""
    scene = killable_tickets(tmp_path)
    witness = killed(scene, "tickets", "create", when)
    assert [path.name for path in (scene.root / QUEUE).glob("*.md")] == ["TICKET-s.md"]
    scene.loop(*goes_on, env=notes_of(scene))
    witness.controller_is_gone()
    check_nothing_is_lost(scene)
    assert runs_of(scene) == RUNS
    assert scene.loop("ticket", "run", code=2).err.startswith("loop: there is no ticket to be done")
    assert end_of_session(scene) == merged


PAIR = '[tickets]\ncritics = ["critic", "reviewer"]\n'


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    scene = killable_tickets(tmp_path_factory.mktemp("whole"), PAIR)
    return unordered(uninterrupted(scene, "tickets", APPENDS + 2))


def unordered(end: Ends) -> Ends:
    """Which of two critics is done first is nobody's to say; and one that was cut off is started twice."""
    files = {number: sorted(text.splitlines()) for number, text in end["tickets"]["completed"].items()}
    lines = {name: set(map(str, each)) for name, each in end["observer"].items()}
    return end | {"tickets": files, "observer": lines}


@pytest.mark.slow
@EDGES
@pytest.mark.parametrize(
    "at", ["tickets:AgentReported#1", pytest.param("tickets:AgentReported+Started#2", marks=pytest.mark.kills)]
)
def test_one_critic_that_has_spoken_is_not_asked_again_when_the_other_is_cut_off(
    tmp_path: Path, paired: Ends, at: str, when: str
) -> None:
    scene = killable_tickets(tmp_path, PAIR)
    resumed(scene, killed(scene, "tickets", at, when))
    assert landings(scene) == ["main"]
    assert unordered(end_of_session(scene)) == paired


@pytest.mark.slow
def test_files_of_a_session_that_was_killed_again_and_again_are_those_that_the_log_gives(
    tmp_path: Path, merged: Ends
) -> None:
    scene = killable_tickets(tmp_path)
    witness = killed(scene, "tickets", 4, "after")
    for at, when in ((2, "before"), (3, "after"), (2, "after"), (3, "before")):
        assert run_and_die(scene, "resume", at, when).returncode == -signal.SIGKILL
        witness.controller_is_gone()
    resumed(scene, witness)
    assert end_of_session(scene) == merged
    before = made_files(scene.root / ".loop")
    scene.loop("render")
    assert made_files(scene.root / ".loop") == before
