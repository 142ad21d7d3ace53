import asyncio
import io
import os
from pathlib import Path

import pytest

from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.resume import prepare
from tests.cli.projects import CONFIG, NAMES_THE_CHECK, NEVER_RIGHT, TOUCHES_PROTECTED, Sample, told
from tests.kept import Kept
from tests.repository import Repository

ASKS = """\
[[step]]
role = "developer"
attempt = 1
result = { status = "needs_clarification", questions = [{ question = "Good or bad?" }] }
[[step]]
role = "developer"
edits = [{ path = "result.txt", content = "good" }]
result = { status = "done" }
[[step]]
role = "reviewer"
result = { status = "done", verdict = "pass" }
"""


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kept]:
    """What each of the two below comes to, driven there once."""
    kept = {}
    for scenario, task, most in ((NEVER_RIGHT, "Make it good", "1"), (TOUCHES_PROTECTED, NAMES_THE_CHECK, "2")):
        sample = Sample.create(tmp_path_factory.mktemp("waiting") / "repo", scenario)
        assert sample.loop("feedback", task, "--max-iterations", most).code == 4
        kept[scenario] = Kept.of(sample.repo.path)
    return kept


@pytest.fixture
def escalated(once: dict[str, Kept]) -> Sample:
    """A loop that has used up its only iteration."""
    return Sample(Repository(once[NEVER_RIGHT].restored()))


@pytest.fixture
def gated(once: dict[str, Kept]) -> Sample:
    """A loop whose change is right but touches a protected file, as its task asked for."""
    return Sample(Repository(once[TOUCHES_PROTECTED].restored()))


def test_continuing_grants_more_and_resume_uses_it(escalated: Sample) -> None:
    answered = escalated.loop("answer", "continue", "1", "--json")
    loop = answered.data["loop"]
    assert (answered.code, answered.data) == (
        0,
        {
            "loop": loop,
            "path": [loop],
            "answered": "continue",
            "state": "recorded",
            "command": f"loop resume --loop {loop}",
            "asks": "",
            "history": "",
            "allow": [],
        },
    )
    resumed = escalated.loop("resume", "--json")
    assert (resumed.code, resumed.data["iterations"], resumed.data["outcome"]) == (4, 2, "escalated")


def test_where_no_task_lands_before_another_nothing_can_be_allowed(escalated: Sample) -> None:
    refused = escalated.loop("answer", "revise", "in blue", "--allow", "tests/test_a.py")
    assert (refused.code, "this loop has no tasks that land one by one" in refused.err) == (2, True)
    wrong = escalated.loop("answer", "revise", "in blue", "--allow", "/etc/passwd")
    assert (wrong.code, "'/etc/passwd'" in wrong.err) == (2, True)


def test_a_loop_that_was_answered_and_not_gone_on_with_says_so(escalated: Sample) -> None:
    assert escalated.loop("answer", "continue", "1").code == 0
    (loop,) = escalated.loop("status", "--json").data["loops"]
    (need,) = loop["needs"]
    assert (loop["status"], need["kind"], need["what"], need["command"]) == (
        "interrupted",
        "fix",
        "answered",
        "loop resume",
    )
    assert need["why"] == "what a person said is recorded, and nobody has gone on with the loop since"


def test_accepting_lands_the_best_attempt_and_writes_the_debt(escalated: Sample) -> None:
    assert escalated.loop("answer", "accept").code == 0
    resumed = escalated.loop("resume", "--json")
    assert (resumed.code, resumed.data["outcome"], resumed.data["merged_into"]) == (0, "accepted", "")
    debt = (escalated.repo.path / ".loop" / "debt.md").read_text()
    assert debt.startswith(f"# Accepted with known issues\n\n## {resumed.data['loop']}: accepted ")
    assert "- **Accepted by**: (not said)" not in debt
    (escalated.repo.path / ".loop" / "debt.md").unlink()
    assert escalated.loop("render").code == 0
    assert (escalated.repo.path / ".loop" / "debt.md").read_text() == debt


def test_accepting_merges_only_by_a_persons_word(escalated: Sample) -> None:
    assert escalated.loop("answer", "accept", "--merge").code == 0
    assert escalated.loop("resume", "--json").data["merged_into"] == "main"
    assert (escalated.repo.path / "result.txt").read_text() == "bad"


def test_what_no_check_has_seen_is_merged_only_if_it_passes_or_is_accepted_knowing_what_fails(tmp_path: Path) -> None:
    finding = '{ severity = "high", issue = "it is bad", evidence = "bad" }'
    scenario = NEVER_RIGHT.replace('verdict = "pass"', f'verdict = "fail", findings = [{finding}]')
    sample = Sample.create(tmp_path / "repo", scenario)
    assert sample.loop("feedback", "Make it good", "--max-iterations", "1").code == 4
    before = sample.repo.git("rev-parse", "main")
    assert sample.loop("answer", "accept", "--merge").code == 0
    asked = sample.loop("resume", "--json")
    assert (asked.code, asked.data["outcome"], sample.repo.git("rev-parse", "main")) == (4, "escalated", before)
    (need,), (failing,) = asked.data["needs"], asked.data["failing"]
    assert "what was accepted is not landed: these fail: test" in need["what"]
    assert sample.loop("answer", "accept", "--merge").code == 0
    done = sample.loop("resume", "--json")
    assert (done.code, done.data["outcome"], done.data["merged_into"]) == (0, "accepted", "main")
    assert done.data["failing"] == [failing]
    debt = (sample.repo.path / ".loop" / "debt.md").read_text()
    assert "- **Failing tests**:\n  - [high] check 'test' failed: " in debt


def test_the_history_is_shown_and_the_question_stays(escalated: Sample) -> None:
    shown = escalated.loop("answer", "history")
    assert shown.code == 0
    assert "## Iteration 1" in shown.out
    assert escalated.loop("resume").code == 4


def test_cancelling_by_answer_ends_the_loop(escalated: Sample) -> None:
    assert escalated.loop("answer", "cancel").code == 0
    (folder,) = (each for each in (escalated.repo.path / ".worktrees").iterdir() if each.is_dir())
    closing = escalated.loop("resume").out
    assert f"Workspace: .worktrees/{folder.name} is left; `rm -rf {folder}` removes it" in closing
    late = escalated.loop("answer", "continue", "--loop", escalated.loop("status", "--json").data["loops"][0]["id"])
    assert late.code == 3
    assert "has ended (cancelled), its last question was answered by " in late.err
    assert late.err.endswith(": cancel; the answer was not recorded\n")


def test_a_workspace_that_is_cleaned_up_is_not_spoken_of(escalated: Sample) -> None:
    closing = escalated.loop("cancel", "--cleanup", "keep_artifacts").out
    assert "Workspace: " not in closing
    assert "the workspace is removed" in closing


def test_an_answer_that_fits_nothing_is_refused(escalated: Sample) -> None:
    refusals = {
        ("maybe",): "'maybe' is not one of the options: continue, accept, history, cancel, revise",
        ("continue", "0"): "continue needs a whole number from 1 to 1000, not '0'",
        ("accept", "foo", "bar"): "accept takes no more words, and 'foo bar' came after it",
        ("revise",): 'revise needs the new guidance as text; write `loop answer revise --text "…"`',
        ("accept", "--loop", "nothing"): "there is no loop 'nothing' here; `loop status` lists them",
    }
    for words, sentence in refusals.items():
        refused = escalated.loop("answer", *words)
        assert (refused.code, refused.err) == (2, f"loop: {sentence}\n")


def test_with_several_loops_the_one_must_be_named(escalated: Sample) -> None:
    assert escalated.loop("feedback", "Make it better", "--max-iterations", "1").code == 4
    refused = escalated.loop("answer", "continue")
    assert refused.code == 2
    assert refused.err.startswith("loop: several questions are open, name one with --loop ID: make-it-better-")
    assert "make-it-good-" in refused.err
    needs = [loop["needs"][0]["command"] for loop in escalated.loop("status", "--json").data["loops"]]
    assert all("--loop make-it-" in command for command in needs)


def test_a_question_of_the_developer_is_answered_in_words(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", ASKS)
    assert sample.loop("feedback", "Make it so").code == 4
    assert sample.loop("answer", "continue", "2").code == 0
    assert '"text":"continue 2"' in sample.loop("log", "--json").out
    assert sample.loop("resume", "--json").data["outcome"] == "verified"


def test_nothing_is_asked(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    assert sample.loop("feedback", "Make it good").code == 0
    refused = sample.loop("answer", "continue")
    assert (refused.code, refused.err) == (3, "loop: no loop asks anything now; `loop status` shows what they do\n")


# --- gates -------------------------------------------------------------------------------------------


def meant(sample: Sample) -> str:
    """The one gate that is open, as a decision on it names it."""
    (gate,) = [gate for gate in sample.loop("gates", "--json").data["gates"] if gate["status"] == "pending"]
    return f"{gate['name']}@{gate['id']}"


def test_a_gate_names_what_called_for_it(gated: Sample) -> None:
    (gate,) = gated.loop("gates", "--json").data["gates"]
    assert (gate["name"], gate["status"]) == ("protected", "pending")
    assert gate["because"] == [
        {"file": "check.py", "line": 0, "rule": "protected file changed", "how": "changed", "moved": "", "text": ""}
    ]
    assert (gate["path"], gate["id"]) == ([gate["loop"]], gate["evidence"])
    assert gate["tree"] == gated.repo.git("rev-parse", f"{gate['commit']}^{{tree}}")


def test_an_approved_gate_lets_the_change_through(gated: Sample) -> None:
    gate = meant(gated)
    approved = gated.loop("approve", gate, "--json")
    assert (approved.code, approved.data["status"]) == (0, "approved")
    for again in (gated.loop("approve", gate), gated.loop("approve", "protected")):
        assert (again.code, again.out) == (0, f"Gate protected was already approved by {approved.data['by']}.\n")
    assert gated.loop("reject", gate, "--reason", "no").code == 3
    assert gated.loop("resume", "--json").data["outcome"] == "verified"
    assert gated.loop("gates", "--json").data["gates"][0]["status"] == "approved"


def test_a_rejected_gate_goes_back_to_the_developer(gated: Sample) -> None:
    assert gated.loop("reject", meant(gated), "--reason", "leave it").code == 0
    resumed = gated.loop("resume", "--json")
    assert (resumed.data["outcome"], resumed.data["iterations"]) == ("verified", 2)


def test_a_decision_on_nothing_is_refused_and_what_is_open_is_told(gated: Sample) -> None:
    is_open = f"open are: {meant(gated)} (loop {gated.loop('status', '--json').data['loops'][0]['id']})"
    refusals = {
        ("approve", "security"): f"no gate 'security' is open; {is_open}",
        ("approve", "protectd"): f"no gate 'protectd' is open; did you mean protected; {is_open}",
        ("reject", "protected"): 'reject needs a reason: `loop reject protected --reason "why"`; it is told to the'
        " developer",
    }
    for words, sentence in refusals.items():
        refused = gated.loop(*words)
        assert (refused.code, refused.err) == (2, f"loop: {sentence}\n")


def test_without_a_terminal_a_decision_has_to_name_the_changes_it_is_about(gated: Sample) -> None:
    gate = meant(gated)
    for verb, more in (("approve", ()), ("reject", ("--reason", "no"))):
        refused = gated.loop(verb, "protected", *more)
        says = f"loop: say which changes you have seen: loop {verb} {gate} (`loop gates`)\n"
        assert (refused.code, refused.err) == (3, says)
    assert meant(gated) == gate


def test_a_decision_on_other_changes_than_those_that_are_open_is_refused(gated: Sample) -> None:
    gate, loop = meant(gated), gated.loop("status", "--json").data["loops"][0]["id"]
    refused = gated.loop("approve", "protected@0123")
    says = f"no gate 'protected@0123' is open: its changes are others by now; open: {gate} (loop {loop})"
    assert (refused.code, refused.err) == (3, f"loop: {says}\n")


def test_a_changed_configuration_is_shown_and_taken_in(escalated: Sample) -> None:
    config = CONFIG.replace("version = 1\n", "version = 1\n[limits.feedback]\nmax_feedback_iterations = 6\n")
    escalated.repo.write("loop.toml", config)
    assert escalated.loop("answer", "continue", "1").code == 0
    resumed = escalated.loop("resume")
    assert "loop.toml has changed since this loop began; taken in:" in resumed.err
    assert "  limits.feedback.max_feedback_iterations: 5 -> 6" in resumed.err
    assert "configuration taken in" in escalated.loop("log").out


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"check.py"]', '"-c", "pass"]', "[checks]"),
        ('protected = ["check.py"', 'protected = ["nothing.py"', "[workspace]"),
        ('default = "script"', 'default = ["script"]\ntester = "script"', "[roles]"),
    ],
)
def test_what_decides_who_judges_is_not_taken_in_without_a_person(
    escalated: Sample, old: str, new: str, named: str
) -> None:
    assert old in CONFIG
    escalated.repo.write("loop.toml", CONFIG.replace(old, new))
    assert escalated.loop("answer", "continue", "1").code == 0
    for more in ((), ("--unattended",)):
        refused = escalated.loop("resume", *more)
        assert (refused.code, f"has changed: {named} of loop.toml; nothing was taken in" in refused.err) == (4, True)
    assert "configuration taken in" not in escalated.loop("log").out


def test_at_a_terminal_it_is_shown_and_confirmed(escalated: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    escalated.repo.write("loop.toml", CONFIG.replace('"check.py"]', '"-B", "check.py"]'))
    here = Here(cwd=escalated.repo.path, environ=dict(os.environ), asks=True)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\ny\n"))
    refused = told(here, "resume")
    assert "checks.test.run" in refused.err
    assert (refused.code, "nothing was taken in and nothing was done" in refused.err) == (4, True)
    assert "configuration taken in" not in escalated.loop("log").out
    with opened(here) as project:
        asyncio.run(prepare(project, here, "", None))
    assert "configuration taken in" in escalated.loop("log").out


def test_a_key_that_nothing_obeys_is_refused_at_a_start_and_only_warned_about_in_flight(escalated: Sample) -> None:
    escalated.repo.write("loop.toml", f'{CONFIG}\n[sandbox]\nnetwork = ["model"]\n')
    sentence = "sandbox.network: is not obeyed by this version yet; remove it\n"
    refused = escalated.loop("feedback", "Another")
    assert (refused.code, refused.err.endswith(sentence)) == (2, True)
    assert escalated.loop("answer", "continue", "1").code == 0
    resumed = escalated.loop("resume")
    assert sentence in resumed.err
    assert "sandbox.network: " in resumed.err
