"""Twenty workflows of random plans with real git and real processes: tasks that conflict, fail their checks and poison
each other, and a controller that is killed at random moments. Whatever happens, every task is on the branch, verified.

The check has some of them; the others are for `./run kills`.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.kills import RESUME, Witness, notes_of, recorded
from tests.e2e.scene import Scene
from tests.e2e.workflow_worlds import START, check_history, check_work, plot_of, workflow_scene
from tests.forks import forks

SEEDS, CHECKED = 20, (15,)  # those in the check
PAUSED = 5  # the exit code
UNHURRIED = (100.0,) * 4  # seconds for each life after the kills
CASES = [pytest.param(seed, marks=() if seed in CHECKED else pytest.mark.kills) for seed in range(1, SEEDS + 1)]


def driven(scene: Scene, patience: float) -> bool:
    """Whether it ended by itself before it was killed."""
    words = RESUME if recorded(scene) else START
    env = {**os.environ, **notes_of(scene)}
    try:
        done = forks().run("loopwright.cli.main", words, cwd=scene.root, env=env, timeout=patience)
    except subprocess.TimeoutExpired:
        return False
    if done.returncode == PAUSED:  # files that many change, undeclared, may conflict until a limit is reached
        scene.loop("answer", "continue", "5", env=notes_of(scene))
        return False
    assert done.returncode == 0, f"loop {' '.join(words)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return True


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", CASES)
def test_killed_at_random_every_task_is_on_the_branch_and_verified(tmp_path: Path, seed: int) -> None:
    plot = plot_of(seed)
    scene = workflow_scene(tmp_path, plot)
    witness = Witness(scene)
    for patience in (*plot["kill"], *UNHURRIED):
        ended = driven(scene, patience)
        witness.controller_is_gone()
        if ended:
            break
    else:
        raise AssertionError("it goes on and on")
    check_history(scene)
    check_work(scene, plot, scene.repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/loop"))
