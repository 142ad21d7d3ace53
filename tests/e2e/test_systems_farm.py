"""Several controllers that share a queue, as real processes that are killed at random moments: every system is built
once, in a legal order, although the target moves under each of them."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.kills import gone, notes_of
from tests.e2e.scene import LOOP, Scene
from tests.e2e.systems import RUN, approve_all, check_built_once, shop, statuses

NEEDS = {1: (), 2: (), 3: (1,), 4: (1, 2), 5: (), 6: (3,)}
CONTROLLERS, KILLS = 3, 12
PATIENCE = 420.0  # seconds
MAY_END_SO = (0, 3, 4)  # nothing left to do, nothing that is ready, a gate


@pytest.mark.kills
@pytest.mark.slow
@pytest.mark.timeout(500)
@pytest.mark.parametrize("seed", range(1, 6))
def test_controllers_that_are_killed_build_every_system_once(tmp_path: Path, seed: int) -> None:
    scene, chance = shop(tmp_path, NEEDS), random.Random(seed)  # noqa: S311 - chance, not secrecy
    at_work: list[subprocess.Popen[bytes]] = []
    until, kills, next_kill = time.monotonic() + PATIENCE, 0, time.monotonic() + chance.uniform(0.5, 4)
    try:
        while set(statuses(scene).values()) != {"complete"}:
            assert time.monotonic() < until, statuses(scene)
            at_work = _still_there(scene, at_work)
            while len(at_work) < CONTROLLERS:
                at_work.append(_begun(scene))
            approve_all(scene)
            if kills < KILLS and time.monotonic() > next_kill:
                chance.choice(at_work).kill()
                kills, next_kill = kills + 1, time.monotonic() + chance.uniform(0.5, 6)
            time.sleep(0.3)
    finally:
        for each in at_work:
            each.kill()
            each.wait()
    gone(scene)
    check_built_once(scene, NEEDS)


def _begun(scene: Scene) -> "subprocess.Popen[bytes]":
    """What it says goes to files: it may say more than a pipe holds."""
    out, err = (scene.notes / name for name in ("out", "err"))
    with out.open("ab") as said, err.open("ab") as noted:
        env = {**os.environ, **notes_of(scene)}
        return subprocess.Popen([LOOP, *RUN], cwd=scene.root, env=env, stdout=said, stderr=noted)


def _still_there(scene: Scene, at_work: list["subprocess.Popen[bytes]"]) -> list["subprocess.Popen[bytes]"]:
    codes = [each.returncode for each in at_work if each.poll() is not None]
    assert set(codes) <= {*MAY_END_SO, -signal.SIGKILL}, f"{codes}\n{(scene.notes / 'err').read_text()[-3000:]}"
    return [each for each in at_work if each.returncode is None]
