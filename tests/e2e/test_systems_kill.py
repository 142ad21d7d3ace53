"""A system whose controller is killed at every kind of step, one after the other: nothing is done twice."""

import signal
from pathlib import Path

import pytest

from tests.e2e.kills import Witness, notes_of, run_and_die
from tests.e2e.scene import Scene
from tests.e2e.systems import PAPERS, RUN, approve_all, check_built_once, shop

pytestmark = [pytest.mark.slow, pytest.mark.sampled("kills"), pytest.mark.timeout(400)]

# In the order in which a system comes to them; the deploy gate is before `tell`.
STEPS = (
    *("skill", "record", "examine", "look", "land", "move", "check", "implement", "reviews"),
    *("tell", "propose", "merge", "deploy", "weigh", "update-queue", "handoff", "interfaces", "clean", "next"),
)
AFTER_SHIPPING = ("deploy", "git-workflow", "retrospective", "calibration-tracker")  # whose papers are not merged
SUBJECTS = [
    "chore(sys-001): review of Part 1",
    "docs(sys-001): documentation of Part 1",
    "docs(sys-001): validation of Part 1",
    "feat(sys-001): Part 1",
    "chore(sys-001): scaffold of Part 1",
    "docs(sys-001): specification of Part 1",
    "A shop",
]


def killed_at(scene: Scene, witness: Witness, step: str, when: str) -> None:
    """On the way there a person may be asked once whether it is to be deployed."""
    for _ in range(2):
        died = run_and_die(scene, "system", f"step:{step}", when)
        witness.controller_is_gone()
        if died.returncode == -signal.SIGKILL:
            return
        assert approve_all(scene) == ["deploy"], f"{step}: it did not come so far: {died.stdout}{died.stderr}"
    raise AssertionError(f"{step}: it did not come so far")


@pytest.mark.parametrize(
    ("when", "steps"),
    [
        pytest.param("before", STEPS[::3], id="before some"),
        pytest.param("before", STEPS, id="before"),
        pytest.param("after", STEPS, id="after"),
    ],
)
def test_killed_at_every_kind_of_step_it_does_nothing_twice(tmp_path: Path, when: str, steps: tuple[str, ...]) -> None:
    scene = shop(tmp_path, {1: ()})
    witness = Witness(scene)
    for step in steps:
        killed_at(scene, witness, step, when)
    scene.loop(*RUN, env=notes_of(scene))
    witness.controller_is_gone()
    check_built_once(scene, {1: ()})
    assert scene.repo.git("log", "--format=%s", "main").splitlines()[: len(SUBJECTS)] == SUBJECTS
    papers = {f"{name}.md" for skill, name in PAPERS.items() if skill not in AFTER_SHIPPING}
    assert {path.name for path in (scene.root / "docs" / "systems" / "sys-001").iterdir()} >= papers - {"GIT.md"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_it_is_begun_a_system_is_taken_up_by_the_next_one(tmp_path: Path, when: str) -> None:
    scene = shop(tmp_path, {1: ()})
    assert run_and_die(scene, "system", "create", when).returncode == -signal.SIGKILL
    assert scene.loop(*RUN, "--max-transitions", "1", code=5, env=notes_of(scene)).json["systems"] == ["sys-001"]
    (loop,) = [each for each in scene.loop("status", "--json").json["loops"] if each["kind"] == "lifecycle"]
    (system,) = scene.loop("queue", "list", "--json").json["systems"]
    assert (system["status"], loop["state"]) == ("in-progress", "SCAFFOLD")
