"""What a person reads before they decide or believe: open gates with the commands to look and to decide, receipts."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.projects import CONFIG, GOOD, NAMES_THE_CHECK, TOUCHES_PROTECTED, Sample, loop
from tests.cli.test_looking import normal

Golden = Callable[[str, str], None]

# Right, with a changed protected file whose name asks for quotes, and a new file that decides how tests run.
TOUCHES_TWO = TOUCHES_PROTECTED.replace(
    """    { path = "check.py",""",
    """    { path = "a spec [1].txt", content = "changed" },
    { path = "conftest.py", content = "x = 1\\n" },
    { path = "check.py",""",
    1,
)
COUNTS = CONFIG.replace(
    f'run = [{json.dumps(sys.executable)}, "check.py"]',
    f'run = [{json.dumps(sys.executable)}, "{{unittest}}", "--report={{report}}", "discover"]\nreport = "junit"',
)


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    config = CONFIG.replace("protected = [", 'protected = ["*spec*", ')
    return Sample.create(tmp_path_factory.mktemp("gated") / "repo", TOUCHES_TWO, config)


def waiting(sample: Sample) -> Sample:
    """Driven to its gate once; the tests here only look."""
    if not (sample.repo.path / ".loop").exists():
        sample.repo.write("a spec [1].txt", "as it was")
        sample.repo.commit("A file with a name of its own")
        assert sample.loop("feedback", NAMES_THE_CHECK, "--max-iterations", "2").code == 4
    return sample


def test_an_open_gate_shows_what_changed_and_what_to_type(gated: Sample, golden: Golden) -> None:
    golden("cli/gates-open.txt", normal(waiting(gated).loop("gates").out, gated.repo.path))


@pytest.mark.parametrize("folder", ["", "deep/er"])
def test_the_command_to_look_at_it_shows_exactly_these_files(gated: Sample, folder: str) -> None:
    where = waiting(gated).repo.path / folder
    where.mkdir(parents=True, exist_ok=True)
    (line,) = [line for line in loop(where, "gates").out.splitlines() if "git diff" in line]
    words = shlex.split(line.partition("look at it")[2])
    shown = subprocess.check_output([*words[:2], "--name-only", *words[2:]], cwd=where, text=True)
    assert shown.splitlines() == ["a spec [1].txt", "check.py", "conftest.py"]


def test_a_gate_as_data_has_the_commits_between_which_to_look(gated: Sample) -> None:
    (gate,) = waiting(gated).loop("gates", "--json").data["gates"]
    assert gate["base"] == gated.repo.git("rev-parse", "HEAD")
    assert [reason["file"] for reason in gate["because"]] == ["conftest.py", "a spec [1].txt", "check.py"]


def test_with_two_open_gates_the_commands_name_the_loop(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", TOUCHES_PROTECTED)
    ids = [sample.loop("feedback", NAMES_THE_CHECK, "--json").data["loop"] for _ in range(2)]
    said = sample.loop("gates").out
    (gate,) = {f"protected@{gate['id']}" for gate in sample.loop("gates", "--json").data["gates"]}
    assert all(f"loop approve {gate} --loop {each}\n" in said for each in ids)
    assert f"approve {gate}\n" not in said
    refused = sample.loop("approve", gate)
    named = ", ".join(f"{gate} (loop {each})" for each in reversed(ids))
    assert (refused.code, refused.err) == (2, f"loop: several gates fit, name one: {named}\n")
    assert sample.loop("approve", "protected").code == 3
    assert sample.loop("cancel", "--loop", ids[0]).code == 0
    assert f"loop approve {gate}\n" in sample.loop("gates").out


def test_names_that_cannot_be_typed_are_left_out_of_the_command(tmp_path: Path) -> None:
    added = '{ path = "a\\u202e\\n/conftest.py", content = "x" },'
    scenario = TOUCHES_PROTECTED.replace("edits = [\n", f"edits = [\n    {added}\n", 1)
    sample = Sample.create(tmp_path / "repo", scenario)
    assert sample.loop("feedback", NAMES_THE_CHECK, "--max-iterations", "2").code == 4
    said = sample.loop("gates").out
    assert "a\\u202e /conftest.py: protected file added  <- decides what is executed\n" in said
    (line,) = [line for line in said.splitlines() if "git diff" in line]
    assert len(line.split("git diff")[1].split()) == 2


def test_receipts_of_the_base_are_marked_and_commands_are_as_configured(tmp_path: Path, golden: Golden) -> None:
    sample = Sample.create(tmp_path / "repo", GOOD, COUNTS)
    test = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        open('loop.toml').close()\n"
    sample.repo.write("test_it.py", test)
    sample.repo.commit("A test")
    assert sample.loop("feedback", "Make it good").code == 0
    golden("cli/receipts-of-two-trees.txt", normal(sample.loop("receipts").out, sample.repo.path))
