"""What the verdict does not need is held back and not waited for: told at the end, and landed by a person's word."""

import asyncio
import json
import os
import pty
import re
import select
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.adapters.terminal.replies import Afterwards, Unclear, afterwards
from loopwright.app.views.gates import GateReason, ShownGate
from loopwright.cli.afterwards import list_diffs, question_text
from loopwright.kernel.model import Commit, LoopId, Tree
from loopwright.loops.course import WHY_HELD
from tests.cli.projects import CHECK, CONFIG, GOOD, TOUCHES_PROTECTED, Sample, command, loop
from tests.kept import Kept
from tests.repository import Repository

pytestmark = pytest.mark.unmeasured

# As a change of the check that is right for nothing but itself.
BREAKS_THE_CHECK = TOUCHES_PROTECTED.replace("print('checking:', ", "exit(3); print(")
MINE = "# mine\n" + CHECK.replace("print", "exit")
PATIENCE = 60  # seconds


def drive(path: Path, scenario: str, *options: str) -> Sample:
    sample = Sample.create(path, scenario)
    done = sample.loop("feedback", "Make it good", *options)
    assert done.code == 0, done.err
    return sample


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept.of(drive(tmp_path_factory.mktemp("held") / "repo", TOUCHES_PROTECTED, "--merge").repo.path)


@pytest.fixture
def merged(once: Kept) -> Sample:
    """A loop that was verified and merged without its change of the check."""
    return Sample(Repository(once.restored()))


def gate_of(sample: Sample) -> str:
    (gate,) = [gate for gate in sample.loop("gates", "--json").data["gates"] if gate["status"] == "pending"]
    return f"{gate['name']}@{gate['id']}"


def test_what_is_not_needed_is_held_back_and_told(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", TOUCHES_PROTECTED)
    done = sample.loop("feedback", "Make it good", "--json")
    loop, gate = done.data["loop"], gate_of(sample)
    assert (done.code, done.data["outcome"]) == (0, "verified")
    assert done.data["held_back"] == [{"path": "check.py", "how": "changed", "gate": gate, "moved": ""}]
    assert [need["command"] for need in done.data["needs"]] == [f"loop approve {gate}"]
    assert sample.repo.git("diff", "--name-only", "main", f"loop/{loop}") == "result.txt"
    assert "check.py" in sample.repo.git("diff", "--name-only", "main", f"loop/{loop}-held")


def test_a_move_is_shown_as_one_wherever_it_is_read(tmp_path: Path) -> None:
    moves = f"""path = "old.txt", content = {json.dumps(CHECK)} }}, {{ path = "check.py", delete = true }}"""
    changes = """path = "check.py", find = "print(", replace = "print('checking:', " }"""
    sample = Sample.create(tmp_path / "repo", TOUCHES_PROTECTED.replace(changes, moves, 1))
    done = sample.loop("feedback", "Make it good")
    assert "stand: check.py (moved to old.txt), kept on branch" in done.out
    assert "  check.py: protected file moved to old.txt" in sample.loop("gates").out
    (gate,) = sample.loop("gates", "--json").data["gates"]
    assert [(each["how"], each["moved"]) for each in gate["because"]] == [("removed", "old.txt")]
    (need,) = sample.loop("status", "--json").data["loops"][0]["needs"]
    assert "(check.py moved to old.txt)" in need["why"]
    assert "held back: check.py (moved to old.txt)" in sample.loop("log").out


def test_the_closing_lines_name_it_with_the_commands_that_land_it(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", TOUCHES_PROTECTED)
    said = sample.loop("feedback", "Make it good").out
    gate, loop = gate_of(sample), sample.loop("status", "--json").data["loops"][0]["id"]
    assert f"Held back, the base's versions stand: check.py (changed), kept on branch loop/{loop}-held.\n" in said
    assert f"Land it: `loop approve {gate}`, then `loop resume --loop {loop}`\n" in said


TOUCHES_TWO = TOUCHES_PROTECTED.replace("edits = [", 'edits = [{ path = "setup.cfg", content = "[x]\\n" }, ', 1)


@pytest.fixture(scope="module")
def once_of_two(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept.of(drive(tmp_path_factory.mktemp("two") / "repo", TOUCHES_TWO, "--merge").repo.path)


@pytest.fixture
def of_two(once_of_two: Kept) -> Sample:
    """A loop that was merged without its changes of the check and of setup.cfg."""
    return Sample(Repository(once_of_two.restored()))


def test_one_file_of_a_gate_is_approved_and_the_rest_gets_a_new_id(of_two: Sample) -> None:
    gate = gate_of(of_two)
    said = of_two.loop("approve", gate, "--only", "check.py", "--json").data
    assert [each["file"] for each in said["because"]] == ["check.py"]
    assert gate_of(of_two) == f"protected@{said['rest']}" != gate
    assert of_two.loop("resume").code == 0
    assert "checking:" in (of_two.repo.path / "check.py").read_text()
    assert not (of_two.repo.path / "setup.cfg").exists()
    assert of_two.loop("reject", gate_of(of_two), "--reason", "keep it as it is").code == 0
    assert of_two.loop("status", "--json").data["loops"][0]["needs"] == []


@pytest.mark.parametrize(
    ("folder", "path"), [(".", "./check.py"), ("pkg", "../check.py"), ("pkg", "check.py"), ("pkg", "{root}/check.py")]
)
def test_a_file_of_a_gate_is_named_from_the_folder_of_the_command(of_two: Sample, folder: str, path: str) -> None:
    root = of_two.repo.path
    (root / "pkg").mkdir()
    only = path.format(root=root)
    said = loop(root / folder, "approve", gate_of(of_two), "--only", only, "--json").data
    assert [each["file"] for each in said["because"]] == ["check.py"]


@pytest.mark.parametrize("path", ["../check.py", "pkg/check.py"])
def test_a_path_that_leads_to_another_file_is_an_error(of_two: Sample, path: str) -> None:
    assert of_two.loop("approve", gate_of(of_two), "--only", path).code == 2


def test_the_sentence_names_the_file_and_the_new_id(of_two: Sample) -> None:
    said = of_two.loop("reject", gate_of(of_two), "--only", "setup.cfg", "--reason", "keep it").out
    assert "exactly these changes: setup.cfg." in said
    assert f"stays open as {gate_of(of_two)}" in said


def test_a_file_that_the_gate_is_not_about_is_an_error(of_two: Sample) -> None:
    gate = gate_of(of_two)
    done = of_two.loop("approve", gate, "--only", "result.txt")
    assert (done.code, "result.txt" in done.err, gate_of(of_two)) == (2, True, gate)


def test_what_is_approved_after_the_end_lands_where_the_rest_did(merged: Sample) -> None:
    approved = merged.loop("approve", gate_of(merged), "--json").data
    assert approved["command"] == f"loop resume --loop {approved['loop']}"
    assert "checking:" not in (merged.repo.path / "check.py").read_text()
    done = merged.loop("resume")
    held = f"loop/{approved['loop']}-held"
    assert done.code == 0
    assert f"Branch {held} still has what was held back; remove it: `git branch -D {held}`\n" in done.out
    assert merged.repo.git("rev-parse", f"{held}^{{tree}}") == merged.repo.git("rev-parse", "main^{tree}")
    (loop,) = merged.loop("status", "--json").data["loops"]
    assert (loop["outcome"], loop["needs"]) == ("verified", [])
    assert "checking:" in (merged.repo.path / "check.py").read_text()
    assert merged.repo.git("status", "--porcelain") == ""


def test_what_is_rejected_after_the_end_is_out_of_the_way_and_kept(merged: Sample) -> None:
    rejected = merged.loop("reject", gate_of(merged), "--reason", "leave it", "--json").data
    assert (rejected["status"], rejected["command"]) == ("rejected", "")
    (loop,) = merged.loop("status", "--json").data["loops"]
    assert (loop["needs"], loop["status"]) == ([], "complete")
    assert "has ended" in merged.loop("resume", "--loop", loop["id"]).out
    assert "check.py" in merged.repo.git("diff", "--name-only", "main", f"loop/{loop['id']}-held")


def test_whoever_rejects_what_was_held_back_hears_how_to_remove_its_branch(merged: Sample) -> None:
    said = merged.loop("reject", gate_of(merged), "--reason", "leave it").out
    (loop,) = merged.loop("status", "--json").data["loops"]
    assert f"remove it: `git branch -D loop/{loop['id']}-held`" in said


def test_what_is_red_after_its_approval_stays_held_back(tmp_path: Path) -> None:
    sample = drive(tmp_path / "repo", BREAKS_THE_CHECK)
    gate = gate_of(sample)
    sample.loop("approve", gate)
    done = sample.loop("resume", "--json")
    assert (done.code, done.data["held_back"][0]["path"], gate_of(sample)) == (4, "check.py", gate)
    assert "it was approved and could not land: these fail with it: test" in sample.loop("gates").out


def test_what_conflicts_after_its_approval_moves_nothing(merged: Sample) -> None:
    gate, git = gate_of(merged), merged.repo.git
    merged.repo.write("check.py", MINE)
    merged.repo.commit("A change of the person's")
    before = git("for-each-ref", "refs/heads")
    merged.loop("approve", gate)
    done = merged.loop("resume", "--json")
    assert (done.code, done.data["held_back"][0]["path"], gate_of(merged)) == (4, "check.py", gate)
    assert git("for-each-ref", "refs/heads") == before


def test_what_is_approved_waits_on_the_branch_of_the_loop_where_the_person_has_changes_of_their_own(
    merged: Sample,
) -> None:
    git, main = merged.repo.git, merged.repo.git("rev-parse", "main")
    merged.repo.write("check.py", MINE)
    merged.loop("approve", gate_of(merged))
    ended = merged.loop("resume", "--json")
    done = ended.data
    assert ended.code == 3
    assert (done["outcome"], done["merged"], done["held_back"], done["needs"]) == ("verified", False, [], [])
    assert "with changes of your own; take the result with `" in done["not_merged"]
    assert git("diff", "--name-only", "main", done["branch"]) == "check.py"
    assert (git("rev-parse", "main"), (merged.repo.path / "check.py").read_text()) == (main, MINE)
    merged.repo.git("checkout", "--", "check.py")
    subprocess.run(shlex.split(done["command"]), cwd=merged.repo.path, check=True, capture_output=True)
    assert git("rev-parse", "main") == git("rev-parse", done["branch"])


# --- a word beforehand, and what is known before anybody is paid


@pytest.mark.parametrize("words", [("feedback", "Do it"), ("review", "check.py"), ("ticket", "run")], ids=" ".join)
def test_a_pattern_that_can_match_nothing_is_refused_in_a_sentence(merged: Sample, words: tuple[str, ...]) -> None:
    refused = merged.loop(*words, "--allow", "../tests/**")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "--allow" in refused.err
    assert "../tests/**" in refused.err


def test_a_check_that_cannot_run_is_told_before_an_agent_is_paid(tmp_path: Path) -> None:
    config = CONFIG.replace('"check.py"]', '"-m", "unittest"]').replace('trust = "exit-code"\n', "")
    sample = Sample.create(tmp_path / "repo", GOOD, config)
    done = sample.loop("feedback", "Make it good", "--json")
    assert (done.code, done.data["commit"]) == (2, "")
    assert "check 'test' cannot run: " in done.data["note"]
    assert "it found no test" in done.data["note"]
    assert "developer starts" not in sample.loop("log").out


def test_what_is_red_before_the_work_is_in_the_brief(merged: Sample) -> None:
    (brief,) = (merged.repo.path / ".loop" / "runs").rglob("*-implement-1.1/brief.md")
    assert "## Was so before you\n" in brief.read_text()


# --- whoever is at the terminal


def test_what_may_be_typed_at_the_end() -> None:
    files = ("setup.py", "a file.cfg")
    both = Afterwards(choice="approve")
    no = Afterwards(choice="reject", reason="too loose")
    meant = {
        **dict.fromkeys(["1", "Approve"], both),
        "2": Afterwards(choice="reject"),
        "reject too loose": no,
        "approve setup.py": replace(both, only=("setup.py",)),
        "approve a file.cfg setup.py": replace(both, only=("a file.cfg", "setup.py")),
        "reject setup.py": Afterwards(choice="reject", only=("setup.py",)),
        "2 setup.py too loose": replace(no, only=("setup.py",)),
        **dict.fromkeys(["", "3", "later", "cancel"], Afterwards(choice="later")),
    }
    assert {line: afterwards(line, files) for line in meant} == meant
    unclear = [afterwards(line, files) for line in ("yes", "approve other.py", "approve setup.py please")]
    assert [isinstance(each, Unclear) for each in unclear] == [True] * 3


def test_the_diff_of_each_file_is_cut_after_sixty_lines_and_after_two_hundred_in_all(repo: Repository) -> None:
    files = [f"tests/t{number}.py" for number in range(5)]
    for name in files:
        repo.write(name, "")
    base = repo.commit("files")
    for name in files:
        repo.write(name, "\x1b\n" * 100)
    commit = repo.commit("candidate")
    reasons = tuple(GateReason(file=name) for name in files)
    names: dict[str, Any] = {"loop": LoopId("l"), "path": (), "status": "pending", "evidence": "", "tree": Tree("")}
    gate = ShownGate(name="protected", id="i", base=Commit(base), commit=Commit(commit), because=reasons, **names)
    lines = asyncio.run(list_diffs(GitWorkspace(repo.path, env=os.environ), gate))
    cut = [line for line in lines if line.startswith("…")]
    whole = 100 + 5  # and the header of a diff
    assert [int(line.split()[1]) for line in cut] == [whole - 60] * 3 + [whole - 20, whole]
    assert [line.endswith(f"{name}'`") for line, name in zip(cut, files, strict=True)] == [True] * 5
    assert (len(lines) - len(cut), "\x1b" in "".join(lines)) == (200, False)
    assert "approve PATH" in question_text(gate, lines)
    why = f"{WHY_HELD}; tests/test_a.py is held back: test_a is skipped now, or expected to fail"
    assert f"  why           {why}\n" in question_text(replace(gate, why=why), lines)
    assert WHY_HELD not in question_text(replace(gate, why=WHY_HELD), lines)


class AtTerminal:
    """The command with a terminal for stdin and stderr, and a person who types when they are asked."""

    def __init__(self, sample: Sample, *argv: str) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command(*argv),
            cwd=sample.repo.path,
            env={**os.environ, "TERM": "dumb"},
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
            text=True,
        )
        os.close(theirs)
        self.screen = ""

    def until(self, words: str) -> None:
        while words not in self.screen:
            self._read()

    def asks(self, words: str) -> None:
        """A question with these words has been put, and it is waited for an answer."""
        self.until(words)
        while "\r\n> " not in self.screen.partition(words)[2]:
            self._read()

    def _read(self) -> None:
        assert select.select([self._ours], [], [], PATIENCE)[0], self.screen
        self.screen += os.read(self._ours, 4096).decode()

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        self._process.send_signal(2)

    def ends(self) -> tuple[int, str]:
        out, _ = self._process.communicate(timeout=PATIENCE)
        os.close(self._ours)
        return self._process.returncode, out


def test_a_terminal_asks_once_and_what_is_approved_lands_at_once(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", TOUCHES_PROTECTED)
    person = AtTerminal(sample, "feedback", "Make it good", "--merge")
    person.until("(Enter or Ctrl-D means later.)\r\n> ")
    assert "check.py: protected file changed" in person.screen
    assert re.search(r"\r\n\+.*print\('checking:', ", person.screen)
    person.types("approve\n")
    code, out = person.ends()
    assert (code, "checking:" in (sample.repo.path / "check.py").read_text()) == (0, True)
    assert out.count("IMPLEMENTATION_VERIFIED after 1 iteration.") == 2


def test_of_two_files_one_is_rejected_and_the_other_approved_at_the_terminal(tmp_path: Path) -> None:
    more = '{ path = "setup.cfg", content = "[tool]\\n" },\n    { path = "check.py"'
    scenario = TOUCHES_PROTECTED.replace('{ path = "check.py"', more, 1)
    sample = Sample.create(tmp_path / "repo", scenario)
    person = AtTerminal(sample, "feedback", "Make it good", "--merge")
    person.asks("without 2 changes")
    person.types("reject setup.cfg not wanted\n")
    person.asks("without 1 change")
    person.types("approve check.py\n")
    code, _ = person.ends()
    names = sample.repo.git("ls-tree", "--name-only", "main").splitlines()
    assert (code, "setup.cfg" in names, "checking:" in sample.repo.git("show", "main:check.py")) == (0, False, True)
    decided = {gate["because"][0]["file"]: gate["status"] for gate in sample.loop("gates", "--json").data["gates"]}
    assert decided == {"setup.cfg": "rejected", "check.py": "approved"}


def test_a_signal_at_the_question_loses_nothing(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", TOUCHES_PROTECTED)
    person = AtTerminal(sample, "feedback", "Make it good", "--merge")
    person.until("(Enter or Ctrl-D means later.)\r\n> ")
    person.interrupt()
    person.until("Nothing is decided; it stays held back.")
    assert person.ends()[0] == 130
    assert sample.loop("approve", gate_of(sample)).code == 0
    assert sample.loop("resume").code == 0
