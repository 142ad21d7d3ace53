import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.projects import CONFIG, HANGS, NEVER_RIGHT, Sample, full_pipe

pytestmark = [pytest.mark.slow, pytest.mark.sampled("kills")]  # real programs that are stopped by real signals
_PATIENCE = 60.0


def running(sample: Sample, *words: str, stderr: int = subprocess.PIPE) -> "subprocess.Popen[str]":
    """A loop whose developer hangs, once it does."""
    process = sample.start("feedback", "Make it good", *words, stderr=stderr)
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if (sample.repo.path / ".loop" / "loop.db").exists() and "developer starts" in sample.loop("log").out:
            return process
        time.sleep(0.05)
    raise AssertionError(process.communicate())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_step_and_says_how_to_go_on(tmp_path: Path, number: int, code: int) -> None:
    sample = Sample.create(tmp_path / "repo", HANGS)
    process = running(sample, "--json")
    process.send_signal(number)
    out, err = process.communicate(timeout=_PATIENCE)
    (shown,) = sample.loop("status", "--json").data["loops"]
    assert process.returncode == code
    assert f"Go on with: loop resume --loop {shown['id']}" in err
    assert '"interrupted": true' in out
    assert (shown["status"], shown["needs"][0]["command"]) == ("interrupted", "loop resume")


@pytest.mark.parametrize("how", ["signal", "cancel"])
def test_nobody_reads_what_it_says_and_it_stops_all_the_same(tmp_path: Path, how: str) -> None:
    sample = Sample.create(tmp_path / "repo", HANGS)
    source, target = full_pipe()
    process = running(sample, stderr=target)
    if how == "signal":
        process.terminate()
    else:
        assert sample.loop("cancel").code == 0
    assert process.wait(timeout=_PATIENCE) == (143 if how == "signal" else 3)
    process.communicate()
    os.close(source)
    os.close(target)


def test_a_second_controller_is_turned_away_and_the_running_one_can_be_cancelled(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", HANGS)
    process = running(sample)
    (shown,) = sample.loop("status", "--json").data["loops"]
    assert shown["status"] == "running"
    for words in (["resume"], ["resume", "--loop", shown["id"]]):
        second = sample.loop(*words)
        assert (second.code, f"loop {shown['id']} is already running (pid {process.pid}" in second.err) == (75, True)
    cancelled = sample.loop("cancel", "--json")
    assert (cancelled.code, cancelled.data["outcome"]) == (0, "cancelled")
    process.communicate(timeout=_PATIENCE)
    assert process.returncode == 3  # cancelled, but not by that command


def test_a_killed_controller_is_resumed_by_the_next(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", HANGS)
    process = running(sample)
    process.kill()
    process.communicate()
    sample.repo.write(
        "scenario.toml", '[[step]]\nrole = "developer"\nresult = { status = "blocked", summary = "why" }\n'
    )
    resumed = sample.loop("resume", "--json")
    assert (resumed.code, resumed.data["outcome"]) == (4, "escalated")


def test_cancelling_what_nobody_runs(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", "")
    assert sample.loop("cancel").out == "Nothing to cancel.\n"
    assert sample.loop("feedback", "Make it good", "--max-iterations", "1").code == 4
    cancelled = sample.loop("cancel", "--cleanup", "full_cleanup", "--json")
    assert (cancelled.code, cancelled.data["outcome"]) == (0, "cancelled")
    again = sample.loop("cancel", "--loop", cancelled.data["loop"])
    assert (again.code, "has ended (cancelled); there is nothing to cancel" in again.err) == (3, True)


# The step leaves its workspace for the person's repository and tries there.
CHEAT = """\
#!/bin/sh
cd {root}
{python} -m loopwright.cli.main {command} > {said} 2>&1
echo "exit $?" >> {said}
"""


@pytest.mark.parametrize(
    "command", ["approve protected", "answer accept", "resume", "cancel", "reject protected --reason x"]
)
def test_a_step_cannot_decide_anything(tmp_path: Path, command: str) -> None:
    said, script = tmp_path / "said.txt", tmp_path / "cheat.sh"
    root = tmp_path / "repo"
    script.write_text(CHEAT.format(root=root, python=sys.executable, command=command, said=said))
    config = CONFIG.replace("[roles]\n", f'[agents.cheat]\nkind = "command"\nargv = ["sh", "{script}"]\n[roles]\n')
    sample = Sample.create(root, config=config.replace('"script"\n[checks', '"script"\ndeveloper = "cheat"\n[checks'))
    done = sample.loop("feedback", "Make it good", "--max-iterations", "1", "--json")
    assert done.data["outcome"] == "escalated", done.err
    name = command.split(maxsplit=1)[0]
    assert said.read_text() == (
        f"loop: loop {name} is for people and was run inside a step of this repository; nothing was done\nexit 3\n"
    )
    events = [json.loads(line) for line in sample.loop("log", "--json").out.splitlines()]
    assert [e["data"]["what"] for e in events if e["kind"] == "Refused"] == [f"loop {name}"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("adopt", "their/workflow-state.json"), "adopt"),
        (("adopt", "their/progress.json"), "adopt"),
        (("adopt", "their/handoff.yml"), "adopt"),
        (("adopt", "their/tickets"), "adopt"),
        (("ticket", "new", "Make it good"), "ticket new"),
        (("ticket", "new", "--import", "their/tasks.json"), "ticket new"),
        (("setup", "--force"), "setup"),
    ],
)
def test_a_step_brings_nothing_in(tmp_path: Path, words: tuple[str, ...], name: str) -> None:
    sample = Sample.create(tmp_path / "repo")
    for file in ("workflow-state.json", "progress.json", "handoff.yml", "tickets/TICKET-a-001.md", "tasks.json"):
        sample.repo.write(f"their/{file}", "{}")
    before = (sample.repo.path / "loop.toml").read_text()
    refused = sample.loop(*words, LOOP_STEP="x", LOOP_ROOT=str(sample.repo.path))
    said = f"loop: loop {name} is for people and was run inside a step of this repository; nothing was done\n"
    assert (refused.code, refused.err) == (3, said)
    assert (sample.repo.path / "loop.toml").read_text() == before
    assert not (sample.repo.path / ".loop" / "tickets").exists()


def test_following_a_log_and_watching_the_status_show_what_happens(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", HANGS)
    process = running(sample)
    following, watching = sample.start("log", "--follow"), sample.start("status", "--watch", "--json")
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline())["loops"][0]["status"] == "running"
    assert sample.loop("cancel").code == 0
    process.communicate(timeout=_PATIENCE)
    out, _ = following.communicate(timeout=_PATIENCE)
    assert (following.returncode, "loop cancelled after" in out.splitlines()[-1]) == (0, True)
    while json.loads(watching.stdout.readline())["loops"][0]["status"] != "cancelled":
        pass
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=_PATIENCE)
    assert watching.returncode == 130


def test_the_commands_name_the_loop_when_others_are_open(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    assert sample.loop("feedback", "Make it bad", "--max-iterations", "1").code == 4
    done = sample.loop("feedback", "Make it good", "--max-iterations", "1", "--json")
    assert done.data["needs"][0]["command"] == f"loop answer continue 3 --loop {done.data['loop']}"
