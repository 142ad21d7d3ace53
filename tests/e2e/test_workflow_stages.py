"""A workflow killed in each of its stages and resumed: nothing of an earlier stage is done again, and it completes."""

import signal
from collections import Counter
from pathlib import Path

import pytest

from loopwright.kernel.events import AgentReported
from loopwright.kernel.record import read_event
from tests.e2e.kills import RESUME, Witness, key_of, notes_of, run_and_die
from tests.e2e.scene import Scene
from tests.e2e.workflow_worlds import ROLES, check_history, check_work, task_of, workflow_scene

# The stages of the table of resuming, each by the step that it begins with, and the roles of those before it.
STAGES = {
    "intent": "score",
    "shape": "shape",
    "decompose": "plan",
    "executing": "task",
    "executing, a task's own loop": "implement",
    "executing, the merge train": "combine",
    "review": "thorough",
    "complete": "ship",
    "complete, landing": "land",
}
PLOT = {
    "works": [task_of(1, ["src/f1.txt"]), task_of(2, ["src/f2.txt"], waits_for=["1"])],
    "poison": [],
    "pause": 0.0,
    "parallel": 2,
    "roles": list(ROLES),
}
ONCE = ("score", "shape", "plan", "ship")


def check_complete(scene: Scene, witness: Witness) -> None:
    said = scene.loop(*RESUME, env=notes_of(scene))
    witness.controller_is_gone()
    assert (said.json["outcome"], said.json["tasks"]) == ("complete", {"done": 2, "total": 2})
    steps = Counter(key_of(line).partition("-")[0] for line in scene.noted("started"))
    assert {step: steps[step] for step in ONCE} == dict.fromkeys(ONCE, 1), "a stage was done again"
    events = [read_event(record) for record in scene.records(said.json["loop"])]
    reports = Counter(event.key.step for event in events if isinstance(event, AgentReported))
    assert {step: reports[step] for step in ONCE} == dict.fromkeys(ONCE, 1)
    assert said.json["spec_score"] == 10, "the scores are those that the scorer gave"
    check_history(scene)
    check_work(scene, PLOT, said.json["branch"])


def killed(scene: Scene, witness: Witness, what: str, step: str, when: str) -> None:
    died = run_and_die(scene, what, f"step:{step}", when)
    assert died.returncode == -signal.SIGKILL, f"{step}: it did not come so far: {died.stderr}"
    witness.controller_is_gone()


@pytest.mark.slow
def test_killed_in_every_stage_one_after_the_other_it_goes_on_where_it_was(tmp_path: Path) -> None:
    scene = workflow_scene(tmp_path, PLOT)
    witness = Witness(scene)
    for number, step in enumerate(STAGES.values()):
        killed(scene, witness, "resume" if number else "workflow", step, "after")
    check_complete(scene, witness)


@pytest.mark.kills
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("stage", STAGES)
def test_killed_in_a_stage_it_resumes_there(tmp_path: Path, stage: str, when: str) -> None:
    scene = workflow_scene(tmp_path, PLOT)
    witness = Witness(scene)
    killed(scene, witness, "workflow", STAGES[stage], when)
    check_complete(scene, witness)
