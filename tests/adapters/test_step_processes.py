import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.ancestry import inside_step
from loopwright.adapters.processes import MARKER, end_all, started_at
from loopwright.adapters.steps import run_step
from tests.adapters.step_parts import ENV, FOR_EVER, Stage, ended_within, supervisors_of

# Each leaves a process behind and then ends well. READY is written by the stray when it is as free as it gets.
STRAYS = {
    "double fork": "if os.fork() == 0:\n    if os.fork() == 0: stay()\n    os._exit(0)\nos.wait()",
    "session of its own": "if os.fork() == 0:\n    os.setsid()\n    stay()",
    "closed files": "if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, READY[1])\n    stay()",
    "cleared environment": "if os.fork() == 0:\n    os.setsid()\n    again({})",
    "ignores what it can": (
        "if os.fork() == 0:\n    [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\n    os.setsid()\n    stay()"
    ),
    "another group": "if os.fork() == 0:\n    os.setpgid(0, 0)\n    stay()",
    "all at once": (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        os.closerange(0, READY[1])\n        again({})\n    os._exit(0)\nos.wait()"
    ),
    "a subreaper of its own": (
        "import ctypes\nif os.fork() == 0:\n    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n"
        "    if os.fork() == 0: stay()\n    stay()"
    ),
    "stopped": "if os.fork() == 0:\n    os.write(READY[1], b'.')\n    os.kill(os.getpid(), signal.SIGSTOP)\n    stay()",
}
PRELUDE = """
import os, signal, sys
READY = os.pipe()
def stay():
    os.write(READY[1], b'.')
    while True: signal.pause()
def again(env):
    os.set_inheritable(READY[1], True)
    code = f"import os, signal; os.write({READY[1]}, b'.'); [signal.pause() for _ in iter(int, 1)]"
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code, sys.argv[-1]], env)
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.mark.parametrize("recipe", STRAYS)
def test_nothing_outlives_a_step(stage: Stage, recipe: str) -> None:
    ended = stage.run(f"{PRELUDE}\n{STRAYS[recipe]}\nos.read(READY[0], 1)\nprint('done')")
    assert stage.alive() == []
    assert (ended.reason, ended.exit_code) == ("exited", 0)
    assert ended.strays in (1, 2)
    assert ended.stdout.read_text() == "done\n"


def test_nohup_does_not_help(stage: Stage) -> None:
    code = f"import subprocess, sys\nsubprocess.Popen(['nohup', sys.executable, '-c', {FOR_EVER!r}, sys.argv[-1]])"
    ended = stage.run(code)
    assert (stage.alive(), ended.strays) == ([], 1)


def test_a_grandchild_that_keeps_stdout_open_does_not_hold_the_step_up(stage: Stage) -> None:
    ended = stage.run(f"{PRELUDE}\nif os.fork() == 0: stay()\nos.read(READY[0], 1)\nprint('done')", wall=60.0)
    assert (ended.reason, ended.strays, ended.stdout.read_text()) == ("exited", 1, "done\n")


def test_a_family_that_forks_while_it_is_killed_dies_too(stage: Stage) -> None:
    code = f"{PRELUDE}\nfor _ in range(4):\n    if os.fork() == 0:\n        os.write(READY[1], b'.')\n"
    code += "        while True:\n            if os.fork() == 0: os.setsid(); os.fork(); os._exit(0)\n"
    code += "            os.wait()\n"
    stage.run(code + "os.read(READY[0], 1)")
    assert stage.alive() == []


def test_the_tree_is_asked_before_it_is_killed(stage: Stage) -> None:
    child = "signal.signal(15, lambda *_: (print('child asked', flush=True), os._exit(0)))"
    code = f"{PRELUDE}\nif os.fork() == 0:\n    {child}\n    stay()\nos.read(READY[0], 1)\n"
    code += "signal.signal(15, lambda *_: (os.wait(), os._exit(0)))\nprint('up', flush=True)\n" + FOR_EVER
    ended = stage.cancelled(code)
    assert (ended.reason, ended.exit_code, ended.strays) == ("cancelled", 0, 0)
    assert ended.stdout.read_text() == "up\nchild asked\n"


@pytest.mark.parametrize(("count", "stray"), [(1, "again({})"), (2, "stay()")])
def test_a_step_that_kills_its_supervisor_is_noticed_and_swept(stage: Stage, count: int, stray: str) -> None:
    parents = "p = os.getppid()\nq = int(open(f'/proc/{p}/stat').read().rpartition(')')[2].split()[1])\n"
    victims = ["p", "q"][:count]
    code = f"{PRELUDE}\n{parents}if os.fork() == 0:\n    os.setsid()\n    {stray}\nos.read(READY[0], 1)\n"
    code += "".join(f"os.kill({victim}, 9)\n" for victim in reversed(victims)) + FOR_EVER
    ended = stage.run(code)
    assert (ended.reason, ended.exit_code, ended.signal) == ("exited", None, 9)
    assert "supervisor" in ended.detail
    assert stage.alive() == []
    assert supervisors_of(stage.root) == []


CONTROLLER = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from loopwright.adapters.steps import StepSpec, run_step
from tests.adapters.step_parts import Stage
stage = Stage(Path(sys.argv[1]), sys.argv[2][::-1])  # backwards: the controller is no process of the step
spec = replace(stage.spec(sys.argv[3], wall=3600.0, grace=3600.0), lock=stage.root / "lock")
asyncio.run(run_step(spec, lambda *_: print("up", flush=True)))
"""


def test_when_the_controller_is_killed_everything_of_the_step_dies(stage: Stage) -> None:
    code = f"{PRELUDE}\n{STRAYS['all at once']}\nos.read(READY[0], 1)\nsignal.signal(15, signal.SIG_IGN)\n"
    code += f"print('up', flush=True)\n{FOR_EVER}"
    argv = [sys.executable, "-c", CONTROLLER, str(stage.root), stage.token[::-1], code]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], env=_with_path()) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == b"up\n"
        doomed = [*stage.alive(), *supervisors_of(stage.root)]
        assert len(stage.alive()) == 2
        controller.kill()
    assert ended_within(doomed, 10)
    assert (stage.alive(), supervisors_of(stage.root)) == ([], [])
    assert json.loads((stage.folder / "ended.json").read_text())["reason"] == "controller_gone"


def _with_path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


# --- the workspace lock --------------------------------------------------------------------------


def test_two_steps_of_one_controller_take_turns_in_a_workspace(tmp_path: Path) -> None:
    """The second starts only when the first has ended: each would fail if it found the other's file."""
    code = "import os\nos.close(os.open('busy', os.O_CREAT | os.O_EXCL))\nos.unlink('busy')"

    async def both() -> list[int | None]:
        specs = [replace(Stage(tmp_path).spec(code), folder=tmp_path / n, lock=tmp_path / "lock") for n in "abcd"]
        return [ended.exit_code for ended in await asyncio.gather(*map(run_step, specs))]

    assert asyncio.run(both()) == [0, 0, 0, 0]


def test_a_step_of_the_same_controller_is_waited_for_however_long_it_takes(tmp_path: Path) -> None:
    async def both() -> list[int | None]:
        first = replace(
            Stage(tmp_path).spec("import time; print('up', flush=True); time.sleep(0.5)"), folder=tmp_path / "a"
        )
        second = replace(Stage(tmp_path).spec("print('second')"), folder=tmp_path / "b", patience=0.0)
        up = asyncio.Event()
        running = asyncio.create_task(run_step(replace(first, lock=tmp_path / "lock"), lambda *_: up.set()))
        await up.wait()
        ended = await run_step(replace(second, lock=tmp_path / "lock"))
        return [(await running).exit_code, ended.exit_code]

    assert asyncio.run(both()) == [0, 0]


def test_a_step_of_another_controller_is_ended_when_the_patience_is_over(stage: Stage) -> None:
    other = [sys.executable, "-c", CONTROLLER, str(stage.root), stage.token[::-1], f"print(1, flush=True)\n{FOR_EVER}"]
    with subprocess.Popen(other, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], env=_with_path()) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == b"up\n"
        old = stage.alive()
        mine = replace(stage.spec("print('mine')"), folder=stage.root / "mine", lock=stage.root / "lock", patience=0.1)
        ended = asyncio.run(run_step(mine))
        assert controller.wait(10) == 0
    assert (ended.reason, ended.stdout.read_text()) == ("exited", "mine\n")
    assert len(old) == 1
    assert stage.alive() == []


def test_what_a_dead_owner_left_is_ended_before_the_next_step_starts(stage: Stage) -> None:
    argv = stage.argv("import signal; print('up', flush=True); signal.pause()")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env={**ENV, MARKER: "of-the-dead-one"}) as left:
        assert left.stdout is not None
        assert left.stdout.readline() == b"up\n"
        lock = stage.root / "lock"
        lock.write_text("1 1 1 of-the-dead-one\n")  # pid, start time, controller, step
        ended = asyncio.run(run_step(replace(stage.spec("print('mine')"), lock=lock)))
        assert left.wait(timeout=30) == -signal.SIGKILL
    assert ended.stdout.read_text() == "mine\n"
    assert lock.read_text() == ""


def test_a_recorded_pid_that_is_somebody_else_by_now_is_left_alone(stage: Stage) -> None:
    lock = stage.root / "lock"
    lock.write_text(f"{os.getpid()} {started_at(os.getpid()) - 1} 1 x\n")
    ended = asyncio.run(run_step(replace(stage.spec("print('mine')"), lock=lock)))
    assert ended.exit_code == 0


def test_a_lock_file_with_nonsense_in_it_is_taken_over(stage: Stage) -> None:
    lock = stage.root / "lock"
    lock.write_bytes(b"\xff[]")
    assert asyncio.run(run_step(replace(stage.spec("print('mine')"), lock=lock))).exit_code == 0


def test_cancelling_while_waiting_for_the_lock_starts_nothing(stage: Stage) -> None:
    lock = stage.root / "lock"
    second = replace(stage.spec("open('started', 'w')"), folder=stage.root / "second", lock=lock)

    async def cancelled() -> None:
        up = asyncio.Event()
        first = replace(stage.spec(f"print('up', flush=True)\n{FOR_EVER}"), lock=lock)
        running = asyncio.create_task(run_step(first, lambda *_: up.set()))
        await up.wait()
        waiting = asyncio.create_task(run_step(second))
        await asyncio.to_thread(_until_there, second.folder / "supervisor.err")
        for task in (waiting, running):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())
    assert not (stage.root / "started").exists()
    assert stage.alive() == []


def _until_there(path: Path) -> None:
    while not path.exists():
        os.sched_yield()


def test_sweeping_a_step_nobody_has_started_finds_nothing() -> None:
    assert end_all("no-such-step") == set()


# --- being inside --------------------------------------------------------------------------------

ASK = textwrap.dedent("""
    import os, sys
    sys.path[:0] = sys.argv[1].split(os.pathsep)
    from pathlib import Path
    from loopwright.adapters.ancestry import inside_step
    print(inside_step(Path(sys.argv[2]), os.getpid()))
""")


def _asked(stage: Stage, root: Path, prefix: tuple[str, ...] = ()) -> str:
    argv = (*prefix, sys.executable, "-c", ASK, os.pathsep.join(sys.path), str(root))
    ended = asyncio.run(run_step(replace(stage.spec(""), argv=argv)))
    assert ended.exit_code == 0, ended.stderr.read_text()
    return ended.stdout.read_text().strip()


def test_a_process_in_a_step_knows_that_it_is(stage: Stage) -> None:
    assert _asked(stage, stage.root) == "True"


def test_a_process_that_cleared_its_environment_is_still_inside(stage: Stage) -> None:
    assert _asked(stage, stage.root, ("env", "-i")) == "True"


def test_a_link_to_the_repository_is_the_repository(stage: Stage) -> None:
    link = stage.root / "link"
    link.symlink_to(stage.root, target_is_directory=True)
    assert _asked(stage, link) == "True"


def test_a_step_of_another_repository_does_not_count(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert _asked(stage, tmp_path / "other") == "False"


def test_a_process_outside_is_outside(tmp_path: Path) -> None:
    assert not inside_step(tmp_path, os.getpid())
    assert inside_step(tmp_path, os.getpid(), {"LOOP_STEP": "x", "LOOP_ROOT": str(tmp_path)})
    assert not inside_step(tmp_path, os.getpid(), {"LOOP_STEP": "x", "LOOP_ROOT": "/elsewhere"})


def test_waiting_for_a_process_sees_whether_it_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", FOR_EVER]) as process:
        assert not ended_within([process.pid], 0)
        process.kill()
        assert ended_within([process.pid], 10)
