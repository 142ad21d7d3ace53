"""What people read is true and leads on: nothing is said that did not happen, and no command leads nowhere."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from loopwright.cli.signals import StoppedBySignal, complete
from tests.cli.projects import (
    CONFIG,
    GOOD,
    NAMES_THE_CHECK,
    NEVER_RIGHT,
    TOUCHES_PROTECTED,
    Done,
    Sample,
    command,
    full_pipe,
)
from tests.kept import Kept
from tests.repository import Repository

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("kills")]

STRANGERS = CONFIG.replace('kind = "rehearsal"\nscenario = "scenario.toml"', 'kind = "command"\nargv = ["false"]')
PATIENCE = 60  # seconds


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return Sample.create(tmp_path / "repo")


# --- receipts


def test_a_pass_that_was_reused_is_listed_with_the_loop_that_made_it(sample: Sample) -> None:
    first = sample.loop("feedback", "Make it good", "--json").data["loop"]
    second = sample.loop("feedback", "Make it good again", "--json").data["loop"]
    found = sample.loop("receipts", "--json").data
    assert (found["loop"], {receipt["loop"] for receipt in found["receipts"]}) == (second, {first, second})
    (reused,) = [receipt for receipt in found["receipts"] if receipt["key"] in found["reused"]]
    assert (reused["result"], reused["loop"]) == ("pass", first)
    assert [line for line in sample.loop("receipts").out.splitlines() if f"reused: loop {first} ran it" in line]
    assert sample.loop("receipts", "--loop", first, "--json").data["reused"] == []


# --- a word beforehand


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("pyproject.toml", "decides what is installed"),
        ("**/conftest.py", "says how checks run"),
        ("{setup.cfg,.github/workflows/**}", "decides what is installed"),
        ("*.lock", "fixes which versions"),
        ("check.py", "is `protected` in loop.toml"),
        ("scenario.toml", "is `protected` in loop.toml"),
    ],
)
def test_allowing_nothing_but_what_judges_is_refused(sample: Sample, pattern: str, why: str) -> None:
    for words in (("feedback", "Do it"), ("feedback", "Do it", "--dry-run"), ("review", "check.py")):
        refused = sample.loop(*words, "--allow", pattern)
        assert (refused.code, len(refused.err.splitlines()), why in refused.err) == (2, 1, True), refused.err
    assert sample.loop("status").out.startswith("No loops yet")


def test_what_a_check_runs_is_not_to_be_allowed(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", config=CONFIG.replace('"check.py", ', ""))
    assert "check.py is what a check runs" in sample.loop("feedback", "Do it", "--allow", "check.py").err


def test_what_judges_under_a_wider_pattern_is_said_to_stay_outside(sample: Sample) -> None:
    sample.repo.write("tests/conftest.py", "")
    sample.repo.commit("Settings of tests")
    said = sample.loop("feedback", "Make it good", "--allow", "tests/**", "--allow", "**").err
    told = "What decides how checks run stays outside --allow and needs your approval: "
    assert f"{told}check.py, loop.toml, scenario.toml and 1 other.\n" in said
    assert "No file" not in said
    nothing = sample.loop("feedback", "Make it good", "--allow", "docs/**", "--allow", "spec/**").err
    assert "No file that is there is under --allow docs/**, spec/**: it counts for new ones alone.\n" in nothing
    assert told not in nothing


# --- before the start


def test_what_would_stop_the_merge_is_said_before_anybody_works(sample: Sample) -> None:
    sample.repo.write("check.py", "# half done\n")
    done = sample.loop("feedback", "Make it good", "--merge")
    first = next(line for line in done.err.splitlines() if "loop make-it-good" not in line)
    assert first == (
        f"Warning: main is checked out in {sample.repo.path} with changes of your own; as long as that is so, the"
        " result is not merged and stays on a branch of its own."
    )
    branch = sample.loop("status", "--json").data["loops"][0]["result"]["branch"]
    assert (done.code, f"take the result with `git -C {sample.repo.path} merge {branch}`" in done.out) == (3, True)
    assert "Warning" not in sample.loop("feedback", "Make it good").err
    sample.repo.git("checkout", "check.py")
    assert "Warning" not in sample.loop("feedback", "Make it good", "--merge").err


def test_a_result_that_was_merged_in_objects_is_taken_by_a_name_that_git_keeps(sample: Sample) -> None:
    """The branch moved on meanwhile, so that what was verified is a merge that no ref holds."""
    sample.repo.write("scenario.toml", GOOD.replace("edits = [", 'edits = [{ path = "more.txt", content = "x" }, ', 1))
    sample.repo.commit("Another scenario")
    agent = sample.repo.path.parent / "agent.sh"
    agent.write_text(
        f'printf good > result.txt; cd {sample.repo.path}; echo "$LOOP_ROLE" >> /dev/null;'
        " git commit -q --allow-empty -m Meanwhile; echo half >> check.py\n"
        'printf \'{"status": "done", "verdict": "pass"}\' > "$LOOP_RESULT"\n'
    )
    config = CONFIG.replace(
        'kind = "rehearsal"\nscenario = "scenario.toml"', f'kind = "command"\nargv = ["sh", "{agent}"]'
    )
    sample.repo.write("loop.toml", config)
    sample.repo.commit("An agent that lets the branch move")
    done = sample.loop("feedback", "Make it good", "--merge", "--json")
    assert (done.code, done.data["command"]) == (3, f"git -C {sample.repo.path} merge {done.data['branch']}")


def test_that_there_is_no_sandbox_is_said_once_and_only_where_something_starts(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", config=STRANGERS)
    started = sample.loop("feedback", "Make it good")
    assert started.err.count("No sandbox") == 1
    for words in (("status",), ("receipts",), ("explain",), ("cancel",), ("log",)):
        done = sample.loop(*words)
        assert "No sandbox" not in done.out + done.err, words


# --- gates


def test_the_beginning_of_an_id_is_answered_with_the_whole_ones(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", TOUCHES_PROTECTED)
    ids = [sample.loop("feedback", NAMES_THE_CHECK, "--json").data["loop"] for _ in range(2)]
    gates = sample.loop("gates", "--json").data["gates"]
    refused = sample.loop("approve", f"protected@{gates[0]['id'][:6]}")
    assert refused.code == 3
    assert "is only the beginning of an id; name one of these whole: " in refused.err
    assert all(f"protected@{gate['id']} (loop {gate['loop']})" in refused.err for gate in gates)
    sample.loop("cancel", "--loop", ids[0])
    assert "name this one whole: " in sample.loop("approve", f"protected@{gates[0]['id'][:6]}").err


# --- what is advised


def test_an_attempt_that_was_red_is_shown_and_not_recommended(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    assert sample.loop("feedback", "Make it good", "--max-iterations", "1").code == 4
    said = sample.loop("cancel").out
    assert "git merge" not in said
    assert "It is not verified." in said
    shown = said.split("Look at it: `")[1].split("`")[0]
    assert "result.txt" in sample.repo.git(*shown.split()[1:])


@pytest.mark.parametrize(
    ("scenario", "task"), [(TOUCHES_PROTECTED, "x"), (TOUCHES_PROTECTED, NAMES_THE_CHECK), (NEVER_RIGHT, "x")]
)
def test_a_rehearsal_advises_no_command_for_a_clone_that_is_gone(tmp_path: Path, scenario: str, task: str) -> None:
    sample = Sample.create(tmp_path / "repo", scenario)
    done: Done = sample.loop("rehearse", "scenario.toml", task, "--max-iterations", "1")
    for words in ("loop resume", "loop approve", "loop answer", "loop log", "git merge", "git diff"):
        assert words not in done.out
    kept = sample.loop("rehearse", "scenario.toml", task, "--max-iterations", "1", "--keep")
    assert "loop " in kept.out


# --- signals


def test_a_signal_while_a_loop_is_made_stops_the_command_though_nothing_was_awaited() -> None:
    async def made() -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return "made"

    assert complete(made()) == StoppedBySignal(signal.SIGTERM)
    assert complete(made(), last=True) == "made"


# --- nobody reads


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    sample = Sample.create(tmp_path_factory.mktemp("long") / "repo", NEVER_RIGHT)
    assert sample.loop("feedback", "Make it good", "--max-iterations", "2").code == 4
    return Kept.of(sample.repo.path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("status", "--watch"), ("status", "--watch", "--json"), ("log", "--follow")], ids=" ".join
)
def test_a_command_that_stays_ends_when_it_is_told_to_though_nobody_reads(
    long_log: Kept, words: tuple[str, ...]
) -> None:
    root = Repository(long_log.restored()).path
    source, target = full_pipe()
    process = subprocess.Popen(command(*words), cwd=root, stdout=target, stderr=subprocess.PIPE, text=True)
    try:
        while not _hears_signals(process.pid):
            assert process.poll() is None
        with suppress(subprocess.TimeoutExpired):  # until it has something to say
            process.wait(timeout=0.5)
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
        os.close(source)
        os.close(target)


def _hears_signals(pid: int) -> bool:
    caught = Path(f"/proc/{pid}/status").read_text().split("SigCgt:")[1].split()[0]
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)
