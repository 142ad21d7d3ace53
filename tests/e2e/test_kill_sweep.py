"""Killed at every append of a real run, just before and just after it: `loop resume` reaches the same end."""

import signal
from pathlib import Path

import pytest

from tests.e2e.kills import (
    RESUME,
    Witness,
    check_nothing_is_lost,
    end_state,
    key_of,
    killable,
    moments,
    notes_of,
    run_and_die,
    some_of,
)

pytestmark = pytest.mark.sampled("kills")

APPENDS = 12  # of the whole run, after the creation of the loop; an answer and what follows from it are one
RUNS = ["implement-1.1", "implement-2.1", "review-1.1", "review-2.1"]


@pytest.mark.slow
def test_the_sweep_covers_every_append_of_the_run(tmp_path: Path) -> None:
    done = run_and_die(killable(tmp_path), "feedback", 0, "never")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, APPENDS), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of(moments(APPENDS)))
def test_killed_at_an_append_it_ends_as_if_nothing_had_happened(
    tmp_path: Path, uninterrupted: dict[str, object], at: int, when: str
) -> None:
    scene = killable(tmp_path)
    witness = Witness(scene)
    died = run_and_die(scene, "feedback", at, when)
    assert died.returncode == -signal.SIGKILL, died.stderr
    witness.controller_is_gone()
    said = scene.loop(*RESUME, env=notes_of(scene), code=None)
    # Just after the last append there is nothing left to do.
    assert (said.code, said.json["outcome"]) == (0, "verified" if (at, when) != (APPENDS, "after") else None), said
    witness.controller_is_gone()
    check_nothing_is_lost(scene)
    # No agent was at work at any of these moments, so that none had to be started twice.
    assert sorted(key_of(line) for line in scene.noted("started")) == RUNS
    assert end_state(scene) == uninterrupted
