import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.capture import KeptStream
from loopwright.adapters.steps import MIB, SUPERVISOR, StepEnded, finished_step, run_step
from tests.adapters.step_parts import ENV, FOR_EVER, Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def facts(ended: StepEnded) -> tuple[str, int | None, int | None]:
    return ended.reason, ended.exit_code, ended.signal


def test_a_step_that_ends_tells_its_exit_code_and_its_output(stage: Stage) -> None:
    ended = stage.run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert ended == StepEnded(
        reason="exited",
        exit_code=3,
        signal=None,
        seconds=ended.seconds,
        strays=0,
        stdout=stage.folder / "stdout",
        stderr=stage.folder / "stderr",
        stdout_bytes=4,
        stderr_bytes=4,
        dropped=0,
    )
    assert (ended.stdout.read_text(), ended.stderr.read_text()) == ("out\n", "err\n")
    assert 0 < ended.seconds < 60


def test_a_supervisor_loads_little_before_it_starts_the_step() -> None:
    names = f"__file__, __name__ = {str(SUPERVISOR)!r}, 'supervisor'"
    code = f"{names}\nexec(open(__file__).read())\nprint(*sys.modules)"
    said = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    heavy = {"typing", "re", "enum", "json", "signal", "pathlib", "contextlib", "collections", "importlib"}
    assert heavy & set(said.stdout.split()) == set()


def test_a_step_killed_by_a_signal_tells_the_signal(stage: Stage) -> None:
    assert facts(stage.run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")) == ("exited", None, 11)


def test_a_missing_program_is_said_to_be_missing(stage: Stage) -> None:
    spec = replace(stage.spec(""), argv=("no-such-program-anywhere",))
    ended = asyncio.run(run_step(spec))
    assert facts(ended) == ("not_found", None, None)
    assert "no-such-program-anywhere" in ended.detail


def test_a_step_gets_exactly_the_given_environment_and_the_marker(stage: Stage) -> None:
    ended = stage.run("import os, json; print(json.dumps(dict(os.environ)))")
    seen = json.loads(ended.stdout.read_text())
    step = seen.pop("LOOP_STEP")
    seen.pop("LC_CTYPE", None)  # Python itself sets it when the locale is C
    assert seen == {**ENV, "LOOP_ROOT": str(stage.root.resolve())}
    assert len(step) == 16


def test_two_steps_have_different_markers(stage: Stage) -> None:
    code = "import os; print(os.environ['LOOP_STEP'])"
    assert stage.run(code).stdout.read_text() != stage.run(code).stdout.read_text()


def test_a_step_reads_its_stdin_from_the_file(stage: Stage) -> None:
    brief = stage.root / "brief"
    brief.write_text("do it")
    spec = replace(stage.spec("import sys; print(sys.stdin.read())"), stdin=brief)
    assert asyncio.run(run_step(spec)).stdout.read_text() == "do it\n"


def test_a_step_without_stdin_sees_an_empty_one(stage: Stage) -> None:
    assert stage.run("import sys; print(repr(sys.stdin.read()))").stdout.read_text() == "''\n"


def test_a_step_starts_with_default_signal_handling(stage: Stage) -> None:
    code = "import signal; print([signal.getsignal(n) for n in (15, 1)]); signal.raise_signal(signal.SIGHUP)"
    ended = stage.run(code)
    assert facts(ended) == ("exited", None, signal.SIGHUP)


def test_the_wall_limit_ends_a_step_that_hangs(stage: Stage) -> None:
    assert facts(stage.run(FOR_EVER, wall=0.2)) == ("wall", None, signal.SIGTERM)
    assert stage.alive() == []


def test_the_idle_limit_ends_a_silent_step(stage: Stage) -> None:
    assert facts(stage.run(f"print('hello', flush=True)\n{FOR_EVER}", idle=0.2)) == ("idle", None, signal.SIGTERM)


def test_output_keeps_a_step_from_being_idle(stage: Stage) -> None:
    code = "import time\nfor _ in range(10): print('.', flush=True); time.sleep(0.1)"
    assert facts(stage.run(code, idle=0.9)) == ("exited", 0, None)


def test_a_step_that_ignores_being_asked_is_killed(stage: Stage) -> None:
    code = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\n{FOR_EVER}"
    assert facts(stage.cancelled(code, grace=0.2)) == ("cancelled", None, signal.SIGKILL)
    assert stage.alive() == []


def test_whoever_cancels_does_not_wait_for_the_grace_of_a_step_that_ran_out_of_time(stage: Stage) -> None:
    code = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\n{FOR_EVER}"
    assert facts(stage.cancelled(code, grace=3600.0, hurry=0.2)) == ("cancelled", None, signal.SIGKILL)
    assert stage.alive() == []


def test_a_step_may_tidy_up_when_it_is_asked_to_end(stage: Stage) -> None:
    code = (
        "import signal, sys\nsignal.signal(15, lambda *_: (print('tidy'), sys.exit(4)))\nprint('ready', flush=True)\n"
    )
    ended = stage.cancelled(code + FOR_EVER)
    assert facts(ended) == ("cancelled", 4, None)
    assert ended.stdout.read_text() == "ready\ntidy\n"


def test_cancelling_ends_the_step_before_the_cancellation_comes_through(stage: Stage) -> None:
    ended = stage.cancelled(f"print('up', flush=True)\n{FOR_EVER}")
    assert stage.alive() == []
    assert facts(ended) == ("cancelled", None, signal.SIGTERM)


def test_a_second_cancellation_does_not_wait_for_the_grace(stage: Stage) -> None:
    # Not `print`: the signal may come while it still writes what is before it, and it cannot be entered twice.
    no = "lambda *_: os.write(1, b'no\\n')"
    code = f"import os, signal\nsignal.signal(15, {no})\nprint('up', flush=True)\n{FOR_EVER}"

    async def cancelled_twice() -> None:
        lines: asyncio.Queue[str] = asyncio.Queue()
        task = asyncio.create_task(run_step(stage.spec(code, grace=3600.0), lambda text, _: lines.put_nowait(text)))
        assert await lines.get() == "up"
        task.cancel()
        assert await lines.get() == "no"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled_twice())
    assert stage.alive() == []


def test_a_watch_that_fails_does_not_leave_the_step_running(stage: Stage) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stage.run(f"print('up', flush=True)\n{FOR_EVER}", fail)
    assert stage.alive() == []


def test_many_steps_run_at_once(tmp_path: Path) -> None:
    async def all_of_them() -> list[str]:
        stages = [Stage(tmp_path / str(number)) for number in range(12)]
        for stage in stages:
            stage.root.mkdir()
        ended = await asyncio.gather(*(run_step(s.spec(f"print({n})")) for n, s in enumerate(stages)))
        return [each.stdout.read_text() for each in ended]

    assert asyncio.run(all_of_them()) == [f"{number}\n" for number in range(12)]


def test_the_ending_of_a_step_can_be_read_again(stage: Stage) -> None:
    assert finished_step(stage.folder) is None
    ended = stage.run("print('x')")
    assert finished_step(stage.folder) == ended


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"reason": "made up"}', '{"reason": "exited"}', "\x00"])
def test_half_a_record_of_an_ending_is_no_ending(tmp_path: Path, text: str) -> None:
    (tmp_path / "ended.json").write_text(text)
    assert finished_step(tmp_path) is None


def test_a_new_run_in_an_old_folder_forgets_the_old_ending(stage: Stage) -> None:
    stage.run("print('x')")
    code = f"import os; print(os.path.exists({str(stage.folder / 'ended.json')!r}))"
    assert stage.run(code).stdout.read_text() == "False\n"


# --- output --------------------------------------------------------------------------------------


def test_head_and_tail_of_long_output_are_kept_and_the_middle_is_counted(stage: Stage) -> None:
    spec = replace(stage.spec("import os; os.write(1, b'a' * 10 + b'b' * 5_000_000 + b'c' * 10)"), head=10, tail=10)
    ended = asyncio.run(run_step(spec))
    assert ended.stdout.read_text() == "aaaaaaaaaa\n… 5.0 MB omitted …\ncccccccccc"
    assert (ended.stdout_bytes, ended.dropped) == (5_000_020, 5_000_000)


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 19, 20])
def test_output_that_fits_head_and_tail_is_kept_whole(stage: Stage, size: int) -> None:
    text = "0123456789abcdefghij"[:size]
    ended = asyncio.run(run_step(replace(stage.spec(f"print({text!r}, end='')"), head=10, tail=10)))
    assert (ended.stdout.read_text(), ended.dropped) == (text, 0)


def test_one_endless_line_and_invalid_bytes_are_kept_as_they_are(stage: Stage) -> None:
    code = "import os\nfor _ in range(64): os.write(1, b'\\xff\\x00\\xed\\xa0\\x80' * 13107)"
    ended = stage.run(code)
    assert ended.stdout.read_bytes() == b"\xff\x00\xed\xa0\x80" * 13107 * 64


def test_signs_of_life_show_the_last_line_harmlessly(stage: Stage) -> None:
    seen: list[tuple[str, int]] = []
    stage.run("print('first\\n\\x1b]0;last\\u202e', flush=True)", lambda text, count: seen.append((text, count)))
    assert seen == [("\\x1b]0;last\\u202e", 18)]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[1;31mF\x1b[0m", "..F"),
        ("a.py \x1b[38;5;2m[ 50%]\x1b[0m\x1b[K", "a.py [ 50%]"),
        ("1 passed\n\x1b[0m", "1 passed"),
        ("\x1b[32m.\x1b[0m" * 40, "." * 40),
        ("cut off \x1b[3", "cut off"),
    ],
)
def test_the_last_line_has_no_colour_codes(tmp_path: Path, printed: str, shown: str) -> None:
    source, output = os.pipe()
    os.write(output, printed.encode())
    os.close(output)
    stream = KeptStream(source, str(tmp_path / "stdout"), head=1024, tail=1024)
    assert stream.take() == len(printed)
    assert stream.last_line() == shown
    stream.finish()
    os.close(source)


def test_signs_of_life_are_few_however_much_is_printed(stage: Stage) -> None:
    seen: list[int] = []
    ended = stage.run("for n in range(200_000): print(n)", lambda _, count: seen.append(count))
    assert len(seen) <= ended.seconds * 5 + 2
    assert seen == sorted(seen)


def test_a_flood_of_output_is_read_in_flat_memory(stage: Stage) -> None:
    flood = (
        "import os\nblock = b'x' * (1 << 20)\nfor _ in range(200): os.write(1, block)\n"
        "parent = open(f'/proc/{os.getppid()}/status').read()\n"
        "os.write(2, parent.split('VmHWM:')[1].split()[0].encode())"
    )
    ended = stage.run(flood)
    assert facts(ended) == ("exited", 0, None)
    assert ended.stdout_bytes == 200 * MIB
    assert ended.stdout.stat().st_size <= 10 * MIB
    assert int(ended.stderr.read_text()) <= 64 * 1024  # KiB


# --- what a step writes into its supervisor's pipe -------------------------------------------------


def into_the_pipe(data: str) -> str:
    """A step that finds the pipe of its supervisor and writes there."""
    return f"import os\npipe = os.open(f'/proc/{{os.getppid()}}/fd/1', os.O_WRONLY)\nos.write(pipe, {data})\n"


@pytest.mark.parametrize(
    "data",
    [
        "b'\\xff\\x00 garbage\\n'",
        "b'x' * 300_000 + b'\\n'",
        "b'no end of line'",
        "b'[' * 50_000 + b'\\n'",
        'b\'[]\\n7\\nnull\\n{"text": 3}\\n{"ended": 3}\\n\'',
        "b'{\"text\": \"x\", \"bytes\": ' + b'9' * 5000 + b'}\\n'",
        'b\'{"text": "x", "bytes": NaN}\\n\'',
        'b\'{"ended": {"step": "%s", "reason": "made up"}}\\n\' % os.environ[\'LOOP_STEP\'].encode()',
        'b\'{"ended": {"step": "%s", "reason": "exited", "seconds": NaN}}\\n\' % os.environ[\'LOOP_STEP\'].encode()',
    ],
)
def test_what_a_step_writes_into_the_pipe_of_its_supervisor_is_dropped(stage: Stage, data: str) -> None:
    ended = stage.run(into_the_pipe(data) + "print('done')\nraise SystemExit(3)", lambda *_: None)
    assert facts(ended) == ("exited", 3, None)


def test_a_step_that_floods_the_pipe_of_its_supervisor_can_still_be_cancelled(stage: Stage) -> None:
    flood = into_the_pipe('b\'{"text": "flood", "bytes": 1}\\n\'') + "while True: os.write(pipe, b'x' * 4096)"
    assert stage.cancelled(flood).reason == "cancelled"
    assert stage.alive() == []


def test_a_process_that_holds_the_pipes_of_a_supervisor_open_is_not_waited_for(stage: Stage) -> None:
    holds = "import os; [os.open(f'/proc/{os.getppid()}/fd/{n}', os.O_RDWR) for n in (0, 1)]\n"
    assert facts(stage.run(holds + "os.kill(os.getppid(), 9)\n" + FOR_EVER)) == ("exited", None, 9)
    assert stage.alive() == []
