"""Killed at random moments, again and again: 8 cases of 25 kills, each run of a case resumed until it ends."""

import os
import random
import subprocess
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest

from tests.e2e.kills import (
    FEEDBACK,
    RESUME,
    Witness,
    check_nothing_is_lost,
    end_state,
    killable,
    notes_of,
    recorded,
)
from tests.e2e.scene import Scene
from tests.forks import forks

CASES, KILLS = 8, 25
MOST_PER_RUN = 12  # a run that is killed more often than this is let go, so that a case sees several runs


def survives(scene: Scene, words: Sequence[str], patience: float) -> bool:
    """Whether the command ended by itself, and well, before it was killed."""
    env = {**os.environ, **notes_of(scene)}
    try:
        done = forks().run("loopwright.cli.main", words, cwd=scene.root, env=env, timeout=patience)
    except subprocess.TimeoutExpired:
        return False
    assert done.returncode == 0, f"loop {' '.join(words)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return True


def kill_until_it_ends(scene: Scene, chance: random.Random, span: float) -> int:
    """How often it was killed before it ended."""
    witness, kills = Witness(scene), 0
    while True:
        words = RESUME if recorded(scene) else FEEDBACK
        ended = survives(scene, words, chance.uniform(0, span) if kills < MOST_PER_RUN else 100)
        witness.controller_is_gone()
        if ended:
            return kills
        kills += 1


@pytest.mark.kills
@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", range(CASES))
def test_killed_at_random_it_ends_as_if_nothing_had_happened(
    tmp_path: Path, uninterrupted: dict[str, object], span: float, case: int
) -> None:
    assert CASES * KILLS >= 200
    seed = int(os.environ.get("KILL_SEED") or time.time_ns() % 10**9) + case
    print(f"seed {seed - case}: run it again with KILL_SEED={seed - case}")  # noqa: T201  pytest shows it on failure
    chance, kills = random.Random(seed), 0  # noqa: S311  not a secret
    for number in count():
        scene = killable(tmp_path / f"run-{number}")
        kills += kill_until_it_ends(scene, chance, span)
        check_nothing_is_lost(scene)
        assert end_state(scene) == uninterrupted
        if kills >= KILLS:
            return


@pytest.fixture(scope="module")
def span(tmp_path_factory: pytest.TempPathFactory) -> float:
    """The longest that a controller is left alone: a third of a whole run, so that each meets many kills."""
    scene = killable(tmp_path_factory.mktemp("whole"))
    began = time.monotonic()
    scene.loop(*FEEDBACK, env=notes_of(scene))
    return (time.monotonic() - began) / 3
