"""A workspace is touched only when nothing of an earlier controller is at work in it."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.adapters.processes import LINUX
from loopwright.adapters.steps import lock_of
from tests.adapters.git.scene import Scene
from tests.repository import Repository

HOLDS_THE_LOCK_THEN_WRITES = """\
import fcntl, sys, time
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(0.3)
open("late.txt", "w").write("late")
"""


def test_a_step_that_is_still_ending_is_waited_for(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    argv = [sys.executable, "-c", HOLDS_THE_LOCK_THEN_WRITES, str(lock_of(repo.path, folder))]
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE) as step:
        assert step.stdout is not None
        assert step.stdout.readline() == b"held\n"
        scene.prepare(step="s-2")
        assert not (folder / "late.txt").exists()
        assert "refs/loopwright/l-1/evidence-1" in scene.refs()


@pytest.mark.skipif(not LINUX, reason="processes are found through /proc")
def test_what_a_dead_supervisor_left_is_ended_first(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    lock_of(repo.path, folder).write_text("1 0 1 orphan-1\n")  # pid, start time, controller, step
    argv = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
    with subprocess.Popen(
        argv, cwd=folder, env={**os.environ, "LOOP_STEP": "orphan-1"}, stdout=subprocess.PIPE
    ) as orphan:
        assert orphan.stdout is not None
        assert orphan.stdout.readline() == b"up\n"
        scene.snapshot()
        assert orphan.wait() == -9


def test_a_lock_file_with_rubbish_in_it_is_no_obstacle(repo: Repository) -> None:
    scene = Scene(repo)
    lock_of(repo.path, scene.prepare()).write_bytes(b"\xff{")
    scene.prepare(step="s-2")


LOOKS_FOR_THE_LOCK = """\
#!{python}
import os, sys
if "add" in sys.argv:
    wanted = os.stat({lock!r}).st_ino
    places = ["/proc/self/fd/" + name for name in os.listdir("/proc/self/fd")]
    held = [os.stat(place).st_ino for place in places if os.path.exists(place)]
    open({report!r}, "w").write(str(wanted in held))
os.execv({git!r}, [{git!r}, *sys.argv[1:]])
"""


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_git_itself_holds_the_lock_while_it_works(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git that outlives its killed controller keeps others out of the index until it is done."""
    lock = repo.path / ".loop" / "git" / "workspaces" / "l-1-work" / "lock"
    report, program = tmp_path / "report", tmp_path / "bin" / "git"
    program.parent.mkdir()
    text = LOOKS_FOR_THE_LOCK.format(
        python=sys.executable, lock=str(lock), report=str(report), git=str(shutil.which("git"))
    )
    program.write_text(text)
    program.chmod(0o755)
    scene = Scene(repo)
    scene.prepare()
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    scene.snapshot()
    assert report.read_text() == "True"
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
