"""A system that is stopped in mid-step by a signal, and one that a person cancels."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.lifecycle.creation import SystemRequest, init_system
from loopwright.app.starts.lifecycle.telling import claim_next
from loopwright.kernel.events import SessionMarked
from loopwright.kernel.model import LoopId
from tests.e2e.kills import key_of, notes_of, of_steps
from tests.e2e.scene import Scene, until
from tests.e2e.systems import RUN, logs_of, shop

PATIENCE = 60.0
WELL_ENDED = 10.0  # seconds: the step has two, the rest is for a machine that has much else to do


def loop_of(scene: Scene) -> LoopId:
    (loop,) = [each for each in logs_of(scene) if each.startswith("system-") and each.count("-") == 1]
    return loop


def _run(line: str) -> tuple[str, str]:
    """Loop and key: that of the attempt, however often it was begun."""
    return line.partition(" ")[0], key_of(line)


@pytest.mark.slow
@pytest.mark.sampled("kills")
@pytest.mark.parametrize("who", ["entry-portal", "developer"])
def test_what_was_under_way_when_a_signal_came_is_kept_and_done_again_as_the_same_attempt(
    tmp_path: Path, who: str
) -> None:
    scene = shop(tmp_path, {1: ()})
    (scene.notes / "slow").write_text(who)
    with scene.begin("run", "--unattended", env=notes_of(scene)) as process:
        until((scene.notes / "at-it").exists, f"{who} is at it")
        sent = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, time.monotonic() - sent < WELL_ENDED) == (143, True), err
    assert of_steps(scene.root) == []
    loop = loop_of(scene)
    assert f"loop run --loop {loop}" in err
    marked = [event for event in logs_of(scene)[loop] if isinstance(event, SessionMarked)][-1]
    assert (marked.mark, marked.why) == ("ended", "interrupted")
    assert scene.file_at(marked.commit, "half.txt") == "half done"
    held = scene.repo.git("for-each-ref", "--format=%(refname)", "--points-at", marked.commit, "refs/loopwright")
    assert held.startswith(f"refs/loopwright/{loop}")
    assert f"is kept as {marked.commit[:12]}" in scene.loop("log", "--loop", loop).out
    cut_off = _run(scene.noted("started")[-1])
    (scene.notes / "slow").unlink()
    scene.loop(*RUN, "--max-transitions", "1", code=5, env=notes_of(scene))
    assert [*map(_run, scene.noted("started"))].count(cut_off) == 2
    assert "half.txt" not in scene.repo.git("ls-tree", "--name-only", "feature/system-part-1").splitlines()


def test_a_cancelled_system_is_blocked_until_a_person_frees_it(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: (), 2: (1,)})
    first = scene.loop("init", "--next", "--json", env=notes_of(scene)).json
    scene.loop("cancel", "--loop", first["loop"], env=notes_of(scene))
    system = scene.loop("queue", "show", "sys-001", "--json").json
    assert (system["status"], system["blockedReason"]) == ("blocked", "cancelled by a person")
    scene.loop("init", "--next", code=3)
    scene.loop("queue", "set", "sys-001", "status", "ready")
    second = scene.loop("init", "--next", "--json").json
    assert (second["system"], second["branch"]) == ("sys-001", "feature/system-part-1-sys-001")
    assert second["loop"] != first["loop"]


def test_of_systems_that_nobody_drives_any_is_taken_up_and_else_one_has_to_be_named(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: (), 2: ()})
    for _ in range(2):
        scene.loop("init", "--next")
    assert "several loops fit" in scene.loop("run", "--unattended", code=2).err
    said = scene.loop(*RUN, "--max-transitions", "1", code=5, env=notes_of(scene)).json
    assert (said["systems"], said["outcome"]) == (["sys-001"], "limit")
    assert "say --any, or name a loop" in scene.loop("run", "--any", "--loop", "x", code=2).err


def test_of_two_who_take_up_one_claim_one_has_the_system_and_the_other_looks_on(tmp_path: Path) -> None:
    """Its claimer was killed before the loop was made, or is only slow: then it is one of the two."""
    scene = shop(tmp_path, {1: ()})

    async def story(project: Project) -> list[str]:
        asked, settings = SystemRequest(domain="repo"), settings_of(project)
        claimed = await claim_next(project, "repo", LoopId("system-lost"), pytest.fail)
        assert claimed is not None
        found = await asyncio.gather(*(init_system(project, settings, asked, pytest.fail) for _ in range(3)))
        return [str(each.row.id) for each in found if each]

    assert scene.project(story) == ["system-lost"]


def test_systems_of_one_name_have_a_branch_each(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: ()})
    scene.loop("queue", "add", "part 1!")
    branches = [scene.loop("init", "--next", "--json").json["branch"] for _ in range(2)]
    assert branches == ["feature/system-part-1-sys-001", "feature/system-part-1-sys-002"]
