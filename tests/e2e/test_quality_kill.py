"""Reviews killed at an append, just before and just after it: `loop resume` reaches the same end.

One review is killed at every append. A batch, whose parts go on side by side, is killed at every kind of append; it
stops at a person, and what follows from the answer is killed too.
"""

import signal
from pathlib import Path

import pytest

from tests.e2e.kills import RESUME, Witness, key_of, moments, notes_of, run_and_die, some_of
from tests.e2e.review_kills import check_no_review_is_lost, end_of_reviews, killable_stories, landings
from tests.e2e.scene import Scene
from tests.kept import Kept

pytestmark = pytest.mark.sampled("kills")

APPENDS = 11  # of the one review
RUNS = ["fix-1.4", "review-1.2", "review-2.2"]
BATCH_APPENDS, ON_APPENDS = 40, 15
SIGNATURES = [
    "batch:Combined+Started",
    "batch:Integrated+Started",
    "batch:LoopEnded",
    "batch:LoopEnded+Started",
    "batch:LoopEnded+Started+Started",
    "batch:Started",
    "quality:AgentReported+Started",
    "quality:Announced",
    "quality:Announced+Started",
    "quality:ArtifactsLoaded+Started",
    "quality:Checkpointed",
    "quality:Ended",
    "quality:Started",
]
# Where several parts go the same way, also the last that does.
LATER = ["batch:LoopEnded#4", "quality:AgentReported+Started#5", "quality:Checkpointed#2", "quality:Ended#2"]
ON_SIGNATURES = ["batch:Ended", "batch:Integrated", "quality:Answered"]  # of what follows, and not seen before


@pytest.fixture(scope="module")
def one_review(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    scene = killable_stories(tmp_path_factory.mktemp("whole"))
    done = run_and_die(scene, "review", 0, "never")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, APPENDS), done.stderr
    assert landings(scene) == [("stories/b.yml", "main")]
    return end_of_reviews(scene)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], dict[str, object]]:
    """How it stands when it waits for a person, and how it ends after the answer."""
    scene = killable_stories(tmp_path_factory.mktemp("whole"))
    done = run_and_die(scene, "batch", 0, "never")
    passed = done.stdout.splitlines()
    assert (done.returncode, len(passed), sorted(set(passed))) == (0, BATCH_APPENDS, SIGNATURES), done.stderr
    waiting = end_of_reviews(scene)
    scene.loop("answer", "continue", "1")
    done = run_and_die(scene, "resume", 0, "never")
    passed = done.stdout.splitlines()
    assert (done.returncode, len(passed)) == (0, ON_APPENDS), done.stderr
    assert sorted(set(passed) - set(SIGNATURES)) == ON_SIGNATURES
    assert landings(scene) == [("batch", ""), ("batch", "main")]
    return waiting, end_of_reviews(scene)


def killed(scene: Scene, what: str, at: int | str, when: str) -> Witness:
    witness = Witness(scene)
    died = run_and_die(scene, what, at, when)
    assert died.returncode == -signal.SIGKILL, died.stderr
    witness.controller_is_gone()
    return witness


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of(moments(APPENDS)))
def test_a_review_killed_at_an_append_ends_as_if_nothing_had_happened(
    tmp_path: Path, one_review: dict[str, object], at: int, when: str
) -> None:
    scene = killable_stories(tmp_path)
    witness = killed(scene, "review", at, when)
    said = scene.loop(*RESUME, env=notes_of(scene), code=None)
    # Just after the last append there is nothing left to do.
    assert (said.code, said.json["outcome"]) == (0, "reviewed" if (at, when) != (APPENDS, "after") else None), said
    witness.controller_is_gone()
    check_no_review_is_lost(scene)
    # No agent was at work at any of these moments, so that none had to be started twice.
    assert sorted(key_of(line) for line in scene.noted("started")) == RUNS
    assert landings(scene) == [("stories/b.yml", "main")]
    assert end_of_reviews(scene) == one_review


def until_asked() -> list[tuple[str, str]]:
    """Both sides of what only a batch appends; one side of what its reviews do, each of which is killed above."""
    own = [(f"{signature}#1", when) for signature in SIGNATURES if is_own(signature) for when in ("before", "after")]
    others = [f"{signature}#1" for signature in SIGNATURES if not is_own(signature)] + LATER
    return own + [(at, "after" if number % 2 else "before") for number, at in enumerate(others)]


def is_own(signature: str) -> bool:
    return signature.startswith("batch:")


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of(until_asked()))
def test_a_batch_killed_at_an_append_stops_at_the_same_question(
    tmp_path: Path, batch: tuple[dict[str, object], dict[str, object]], at: str, when: str
) -> None:
    scene = killable_stories(tmp_path)
    witness = killed(scene, "batch", at, when)
    said = scene.loop(*RESUME, env=notes_of(scene), code=4)
    assert said.json["outcome"] == "escalated"
    witness.controller_is_gone()
    check_no_review_is_lost(scene)
    assert landings(scene) == [("batch", "")]
    assert end_of_reviews(scene) == batch[0]


def on_from_here() -> list[tuple[int | str, str]]:
    """Every append once, on one side of it or the other; both sides of what is only here."""
    every: list[tuple[int | str, str]] = [(at, "before" if at % 2 else "after") for at in range(1, ON_APPENDS + 1)]
    return every + [(f"{signature}#1", when) for signature in ON_SIGNATURES for when in ("before", "after")]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, Kept]:
    """The batch that has stopped at a person, and was told to go on."""
    folder = tmp_path_factory.mktemp("answered") / "scene"
    scene = killable_stories(folder)
    whole = run_and_die(scene, "batch", 0, "never")
    assert whole.returncode == 0, whole.stderr
    scene.loop("answer", "continue", "1")
    return scene, Kept.of(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of(on_from_here()))
def test_a_batch_killed_after_the_answer_ends_as_if_nothing_had_happened(
    answered: tuple[Scene, Kept], batch: tuple[dict[str, object], dict[str, object]], at: int | str, when: str
) -> None:
    scene, kept = answered
    kept.restored()
    witness = killed(scene, "resume", at, when)
    scene.loop(*RESUME, env=notes_of(scene))
    witness.controller_is_gone()
    check_no_review_is_lost(scene)
    assert landings(scene) == [("batch", ""), ("batch", "main")]
    assert end_of_reviews(scene) == batch[1]
