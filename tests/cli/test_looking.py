import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.projects import CONFIG, NEVER_RIGHT, Sample, loop

Golden = Callable[[str, str], None]


def normal(text: str, root: Path) -> str:
    """The text without what differs from run to run."""
    text = text.replace(str(root), "ROOT")
    for pattern, stands_for in (
        (r"\b\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?", "TIME"),
        (r"\b\d\d:\d\d:\d\dZ", "TIME"),
        (r"(make-it-good)[a-z-]*-[0-9a-f]{6}", r"\1-ID"),
        (r"\b[0-9a-f]{64}\b", "DIGEST"),
        (r"\b[0-9a-f]{12,40}\b", "COMMIT"),
        (r"\b\d+\.\d s\b", "N s"),
        (r"(created by) \S+@\S+", r"\1 WHO"),
        (r"\S*/bin/python[\d.]*", "python"),
    ):
        text = re.sub(pattern, stands_for, text)
    return text


@pytest.fixture(scope="module")
def escalated(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return Sample.create(tmp_path_factory.mktemp("looking") / "repo", NEVER_RIGHT)


def ready(sample: Sample) -> Sample:
    """Driven to its escalation once; the tests here only look."""
    if not (sample.repo.path / ".loop").exists():
        assert sample.loop("feedback", "Make it good", "--max-iterations", "1").code == 4
    return sample


@pytest.mark.parametrize("command", ["status", "log", "explain", "receipts", "gates", "render"])
def test_a_screen(escalated: Sample, golden: Golden, command: str) -> None:
    done = ready(escalated).loop(command)
    assert done.code == 0
    golden(f"cli/{command}.txt", normal(done.out, escalated.repo.path))


def test_the_status_of_one_loop(escalated: Sample) -> None:
    every = ready(escalated).loop("status", "--json").data
    name = every["loops"][0]["id"]
    assert escalated.loop("status", "--loop", name, "--json").data == every
    assert escalated.loop("status", "--loop", name).out == escalated.loop("status").out
    refused = escalated.loop("status", "--loop", f"{name}x")
    assert (refused.code, f"did you mean {name}" in refused.err) == (2, True)


def test_the_screen_that_a_stopped_loop_leaves(escalated: Sample, golden: Golden) -> None:
    done = ready(escalated).loop("resume", "--unattended")
    assert done.code == 4
    golden("cli/stopped.txt", normal(done.out, escalated.repo.path))


def test_the_log_as_data_is_one_object_per_line(escalated: Sample) -> None:
    lines = ready(escalated).loop("log", "--json").out.splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["kind"] == "Created"


def test_what_a_step_printed(escalated: Sample) -> None:
    assert ready(escalated).loop("log", "--agent", "checks-1.1").out == "result.txt says bad\n"
    data = escalated.loop("log", "--agent", "implement-1.1", "--json").data
    assert data["output"] == {"implement-1.1": "rehearsal: developer begins\n"}


def test_what_the_tests_of_a_candidate_printed_is_shown_beside_what_those_of_the_base_did(tmp_path: Path) -> None:
    """The base's tests pass, and only those that came are red."""
    config = CONFIG.replace('product = ["**"]', 'product = ["*.txt"]\ntests = ["tests/**"]')
    check = "import pathlib; [exec(each.read_text()) for each in sorted(pathlib.Path('tests').iterdir())]"
    config = config.replace('"check.py"]', f'"-c", "{check}"]')
    scenario = NEVER_RIGHT.replace(
        'content = "bad" }', 'content = "bad" }, { path = "tests/b.py", content = "print(2); exit(1)" }'
    )
    sample = Sample.create(tmp_path / "repo", scenario, config)
    sample.repo.write("tests/a.py", "print(1)")
    sample.repo.commit("A test")
    assert sample.loop("feedback", "Make it good", "--max-iterations", "1").code == 4
    output = sample.loop("log", "--agent", "checks-1.1", "--json").data["output"]
    assert output == {"checks-1.1/test": "1\n", "checks-1.1/test/landing": "1\n2\n"}


def test_what_a_step_printed_steers_no_terminal_that_it_is_piped_to(tmp_path: Path) -> None:
    says = [sys.executable, "-c", "print(chr(27) + '[2Jdone')"]
    config = CONFIG.replace(
        'kind = "rehearsal"\nscenario = "scenario.toml"', f'kind = "command"\nargv = {json.dumps(says)}'
    )
    sample = Sample.create(tmp_path / "repo", config=config)
    assert sample.loop("feedback", "Make it good", "--max-iterations", "1").code == 4
    assert sample.loop("log", "--agent", "implement-1.1").out == "\\x1b[2Jdone\n"


def test_what_is_explained_is_there_as_data(escalated: Sample) -> None:
    data = ready(escalated).loop("explain", "--json").data
    assert (data["state"], data["status"], data["next"]["action"]) == ("ESCALATED", "waiting", "ask")
    assert data["lines"][0] == "iterations used: 1 of 1"
    assert [finding["severity"] for finding in data["findings"]] == ["high"]


def test_receipts_name_the_tree_and_the_command(escalated: Sample) -> None:
    receipts = ready(escalated).loop("receipts", "--json").data["receipts"]
    assert {receipt["result"] for receipt in receipts} == {"fail"}
    assert all(receipt["tree"] and receipt["command"][1:] == ["check.py"] for receipt in receipts)


def test_a_repository_without_loops_says_so(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    assert sample.loop("status", "--json").data == {"loops": []}
    said = sample.loop("status").out
    assert said.startswith("No loops yet.")
    begins = [line.split()[:2] for line in said.splitlines() if line.startswith("  loop")]
    assert begins == [["loop", each] for each in ("start", "feedback", "review", "ticket")]
    assert sample.loop("gates", "--json").data == {"gates": []}
    assert sample.loop("resume").out == "Nothing to resume: no loop was ever started here.\n"
    assert not (sample.repo.path / ".loop").exists()


def test_files_are_made_anew_from_the_log(escalated: Sample) -> None:
    folder = next((ready(escalated).repo.path / ".loop" / "feedback").iterdir())
    before = {file.name: file.read_text() for file in folder.iterdir()}
    for file in folder.iterdir():
        file.unlink()
    assert escalated.loop("render", "--json").code == 0
    assert {file.name: file.read_text() for file in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -o nosort"), ("zsh", "#compdef loop"), ("fish", "complete")]
)
def test_completion_scripts(tmp_path: Path, shell: str, mark: str) -> None:
    done = loop(tmp_path, "completion", shell)
    assert (done.code, mark in done.out) == (0, True)
