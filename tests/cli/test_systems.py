"""`loop init`, `next`, `run`, `skip`, `adopt` and `status` of systems: what is answered, and what is written."""

import asyncio
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopwright.app.choice import named_root
from loopwright.cli.changes import with_changes
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.output import confirmation
from loopwright.errors import Forbidden, NeedsPerson
from tests.cli.projects import GOOD, Done, Sample, loop, told
from tests.handwork import confirm_handwork
from tests.repository import Repository

STATE = Path(__file__).parent.parent / "samples" / "loop-state.json"
SKILLS = ("entry-portal", "requirements", "spec", "estimation", "triage")
PAPERS = ("DREAM-STATE", "REQUIREMENTS", "FEATURESPEC", "ESTIMATE", "TRIAGE")
INIT = "".join(
    f"""\
[[step]]
role = "skill"
skill = "{skill}"
edits = [{{ path = "docs/systems/sys-001/{paper}.md", content = "# {skill}\\n\\nIt is said here.\\n" }}]
result = {{ status = "done", summary = "{skill} done", references = ["README.md"] }}
"""
    for skill, paper in zip(SKILLS, PAPERS, strict=True)
)


def green(folder: Path, scenario: str = GOOD + INIT) -> Sample:
    made = Sample.create(folder, scenario=scenario)
    made.repo.write("result.txt", "good")
    made.repo.commit("What the check asks for")
    return made


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    made = green(tmp_path / "shop")
    assert made.loop("queue", "add", "Work Orders", "--capability", "take", "--capability", "list").code == 0
    return made


def answered(done: Done, code: int = 0) -> Any:  # noqa: ANN401 - JSON
    assert done.code == code, (done.out, done.err)
    return done.data


def memory(sample: Sample) -> Path:
    return sample.repo.path / "domain-memory" / "shop"


def edit(file: Path, **keys: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **keys}, indent=2, ensure_ascii=False) + "\n")


def test_a_system_is_claimed_with_a_branch_and_a_workspace(sample: Sample) -> None:
    (sample.repo.path / "mine.txt").write_text("not committed")
    done = sample.loop("init", "--next", "--json")
    assert "Uncommitted changes of 1 file are not seen by the loop: mine.txt" in done.err
    made = answered(done)
    loop_id = made.pop("loop")
    assert made == {
        "system": "sys-001",
        "branch": "feature/system-work-orders",
        "worktree": ".worktrees/system-work-orders",
        "state": "INIT",
    }
    assert sample.repo.git("rev-parse", "feature/system-work-orders") == sample.repo.git("rev-parse", "HEAD")
    assert (sample.repo.path / made["worktree"] / "loop.toml").is_file()
    none = sample.loop("init", "--next")
    assert (none.code, "no system of shop is ready (0 % complete): sys-001 in-progress" in none.err) == (3, True)
    taken = sample.loop("init", "sys-001")
    assert (taken.code, loop_id in taken.err) == (3, True)
    assert sample.loop("init").code == 2


def how(sample: Sample) -> tuple[str, str, str]:
    (shown, *_) = answered(sample.loop("status", "--json"))["loops"]
    (need,) = shown["needs"]
    return shown["status"], need["why"], need["command"]


def test_one_transition_is_made_and_handed_over(sample: Sample) -> None:
    assert sample.loop("status").out.splitlines() == [
        "1 system in the queue of shop: sys-001",
        "  loop init --next           claims the first that is ready",
        "  loop run                   drives it",
    ]
    answered(sample.loop("init", "sys-001", "--json"))
    assert how(sample) == ("paused", "it stands in INIT; nobody drives it", "loop run")
    made = answered(sample.loop("next", "--json"))
    assert how(sample) == ("paused", "it stands in SCAFFOLD; nobody drives it", "loop run")
    assert (made["action"], made["from"], made["to"]) == ("EXECUTE_SKILL", "INIT", "SCAFFOLD")
    log = sample.loop("log").out
    assert (
        log.index("session began")
        < log.index("entry-portal")
        < log.index("INIT → SCAFFOLD")
        < log.index("session ended")
    )
    state = json.loads((memory(sample) / "systems" / "sys-001" / "loop-state.json").read_text())
    assert (state["state"], state["skillsUsage"]["spec"], state["skillsUsage"]["deploy"]) == ("SCAFFOLD", 1, 0)
    assert state["skillsLog"][0]["referencesRead"] == ["README.md"]
    (handoff,) = (memory(sample) / "sessions").iterdir()
    assert "| Ended by | cap |" in handoff.read_text()
    assert sample.repo.git("log", "-1", "--format=%s", "feature/system-work-orders").startswith("docs(sys-001): ")
    assert sample.loop("status").out.splitlines()[:2] == ["System: Work Orders (sys-001)", "State: SCAFFOLD"]
    assert (
        "EXECUTE_SKILL architect of SCAFFOLD; then IMPLEMENT: SCAFFOLD still needs architect"
        in sample.loop("explain").out
    )


def test_a_session_that_the_budget_ended_is_handed_over_as_such(sample: Sample) -> None:
    settings = sample.repo.path / "loop.toml"
    settings.write_text(settings.read_text() + "[budget]\ntokens = 1\n")
    scenario = sample.repo.path / "scenario.toml"
    scenario.write_text(
        scenario.read_text().replace('summary = "spec', 'usage = { input_tokens = 5 }, summary = "spec')
    )
    assert sample.loop("run", "--unattended", "--json").code == 5
    (handoff,) = (memory(sample) / "sessions").iterdir()
    text = handoff.read_text()
    loop_id = answered(sample.loop("status", "--json"))["loops"][0]["id"]
    for line in ("| Ended by | budget |", "- Paused: 5 of 1 tokens are used", f"\nloop resume --loop {loop_id}\n"):
        assert line in text, text


def test_a_skill_is_skipped_only_with_a_reason(sample: Sample) -> None:
    answered(sample.loop("init", "sys-001", "--json"))
    assert sample.loop("skip", "deploy", "--reason", " ").code == 2
    unknown = sample.loop("skip", "dance", "--reason", "why not")
    assert (unknown.code, "there is no skill 'dance'" in unknown.err) == (3, True)
    told = answered(sample.loop("skip", "deploy", "--reason", "a library", "--json"))
    assert (told["skill"], told["phase"], told["reason"]) == ("deploy", "SHIP", "a library")
    state = json.loads((memory(sample) / "loop-state.json").read_text())
    assert state["skillExecution"]["SHIP"]["skipped"] == ["deploy"]
    assert not list(memory(sample).glob(".*"))
    journey = [json.loads(line) for line in (memory(sample) / "journey-log.jsonl").read_text().splitlines()]
    assert [(each["subject"], each["status"], each["reason"]) for each in journey if each["category"] == "skill"] == [
        ("deploy", "skipped", "a library")
    ]


def test_what_cannot_go_on_says_so_with_its_code(sample: Sample, tmp_path: Path) -> None:
    assert "no system is under way" in sample.loop("next").err
    outside = loop(tmp_path, "init", "--next")
    prompt = "No git repo configured. 'init' to create or 'skip git' to continue without"
    assert (outside.code, prompt in outside.err) == (4, True)
    other = Sample.create(tmp_path / "other")
    assert "the queue of other is empty" in other.loop("run").err
    answered(other.loop("feedback", "Make it good", "--json"))
    loops = answered(other.loop("status", "--json"))["loops"]
    assert "is no system of a queue" in other.loop("next", "--loop", loops[0]["id"]).err


def test_a_run_with_everything_complete_is_no_error(sample: Sample) -> None:
    for status in ("in-progress", "review", "complete"):
        assert sample.loop("queue", "set", "sys-001", "status", status).code == 0
    done = sample.loop("run")
    assert (done.code, done.out) == (0, "every system of shop is complete (1 of 1)\n")
    assert answered(sample.loop("run", "--json"))["outcome"] == "complete"
    assert "No loops yet" in sample.loop("status").out


# --- what has changed since it began ----------------------------------------------------------------------------------


def test_no_door_goes_on_with_another_agent_or_other_judges_without_a_person(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, script = sample.repo.path / "loop.toml", sample.repo.path / "agent.sh"
    settings.write_text(f'{settings.read_text()}[agents.own]\nkind = "command"\nargv = ["./agent.sh"]\n')
    script.write_text("exit 0\n")
    loop_id = answered(sample.loop("init", "sys-001", "--json"))["loop"]
    script.write_text("exit 1\n")
    settings.write_text(settings.read_text().replace('"check.py"]', '"-B", "check.py"]'))
    log = sample.loop("log").out
    refused = [sample.loop(command, "--unattended") for command in ("resume", "run", "next")]
    says = f"since loop {loop_id} began, what decides who works and who judges has changed: [checks] of loop.toml, "
    assert refused[0].err.startswith(f"loop: {says}{script}")
    assert {(each.code, each.err.splitlines()[-1]) for each in refused} == {(4, refused[0].err.strip())}
    assert sample.loop("log").out == log
    here = Here(cwd=sample.repo.path, environ=dict(os.environ), asks=True)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\ny\n"))
    assert told(here, "next").code == 4
    assert sample.loop("log").out == log
    with opened(here) as project:
        seen = asyncio.run(named_root(project, loop_id))
        asyncio.run(with_changes(project, here, seen, confirmation(asks=True)))
    assert "configuration taken in" in sample.loop("log").out
    assert answered(sample.loop("next", "--json"))["to"] == "SCAFFOLD"


def test_limits_that_have_changed_are_shown_and_taken_in(sample: Sample) -> None:
    answered(sample.loop("init", "sys-001", "--json"))
    settings = sample.repo.path / "loop.toml"
    settings.write_text(f"{settings.read_text()}[budget]\nusd = 7\n")
    gone_on = sample.loop("next")
    assert (gone_on.code, "loop.toml has changed since this loop began; taken in:" in gone_on.err) == (0, True)
    assert "budget" in sample.loop("log").out


# --- what another tool began ----------------------------------------------------------------------------------------


def adopted(sample: Sample) -> str:
    folder = sample.repo.path / "elsewhere" / "orders"
    folder.mkdir(parents=True)
    (folder / "loop-state.json").write_text(STATE.read_text())
    (folder / "config.json").write_text('{"defaultMode": "supervised"}')
    agents = [{"id": "a-1", "system": "sys-003"}, "?"]
    locks = [{"resource": "schema", "holder": "a-1"}]
    (folder / "coordination.json").write_text(json.dumps({"activeAgents": agents, "locks": locks}))
    done = answered(sample.loop("adopt", str(folder), "--json"))
    assert (done["kind"], done["state"]) == ("lifecycle", "IMPLEMENT")
    assert done["remarks"] == [
        "coordination.json names others at work: a-1 at sys-003",
        "coordination.json names locks: schema held by a-1",
    ]
    assert (folder / "loop-state.json").read_text() == STATE.read_text()
    return str(done["loop"])


def test_a_state_that_another_tool_wrote_is_taken_over_and_told_in_five_lines(sample: Sample) -> None:
    adopted(sample)
    assert sample.loop("status").out.splitlines()[:5] == [
        "System: Work Order Service (sys-002)",
        "State: IMPLEMENT (capability 3/5: work-order-assignment)",
        "Failures: 1 (resolved)",
        "Gates: database ✓, security pending",
        "Last activity: 2024-01-17T10:30:00Z",
    ]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("loop-state.json", '{"systemId": "sys-002", "systemId": "sys-002"}', "systemId"),
        (
            "loop-state.json",
            STATE.read_text().replace('"IMPLEMENT",', '"COMPLETE",', 1),
            "there is nothing to go on with",
        ),
        ("config.json", "{", "config.json: is not JSON"),
        ("config.json", "[]", "config.json: expected a JSON object"),
        ("config.json", '{"defaultMode": "wild"}', "config.json: defaultMode: expected one of autonomous"),
    ],
)
def test_what_is_wrong_beside_or_in_it_is_one_sentence(sample: Sample, name: str, text: str, says: str) -> None:
    folder = sample.repo.path / "orders"
    folder.mkdir()
    (folder / "loop-state.json").write_text(STATE.read_text())
    (folder / name).write_text(text)
    done = sample.loop("adopt", str(folder))
    assert (done.code, says in done.err, done.err.count("\n")) == (2, True, 1), done.err


# --- a person's edit of loop-state.json -------------------------------------------------------------------------------


def under_way(sample: Sample) -> Path:
    """In SCAFFOLD, with one transition made."""
    answered(sample.loop("init", "sys-001", "--json"))
    answered(sample.loop("next", "--json"))
    return memory(sample) / "loop-state.json"


def test_an_edit_that_is_legal_is_taken_in_and_one_that_is_not_is_refused(sample: Sample) -> None:
    file = under_way(sample)
    edit(file, state="VERIFY")
    with pytest.raises(Forbidden, match="state: VERIFY is past SCAFFOLD, whose checks have not passed"):
        confirm_handwork(sample.repo.path)
    edit(file, branch="feature/other")
    wrong = sample.loop("next")
    assert (wrong.code, "loop-state.json: branch: only `state` may be edited" in wrong.err) == (2, True)
    edit(file, branch="feature/system-work-orders", state="INIT")
    other = memory(sample) / "systems" / "sys-001" / "loop-state.json"
    edit(other, state="SCAFFOLD" if json.loads(other.read_text())["state"] == "INIT" else "IMPLEMENT")
    both = sample.loop("next")
    assert (both.code, "both were edited" in both.err) == (2, True)
    other.unlink()
    assert sample.loop("render").code == 0
    confirm_handwork(sample.repo.path)
    assert "a file says" in (log := sample.loop("log").out)
    assert 'state is "INIT"' in log


def test_an_edit_stays_until_it_is_taken_in_and_what_is_broken_is_never_overwritten(sample: Sample) -> None:
    file = under_way(sample)
    edit(file, state="INIT")
    edited = file.read_text()
    left = sample.loop("skip", "deploy", "--reason", "a library")
    assert (left.code, "take it in with `loop resume`" in left.err, file.read_text()) == (0, True, edited)
    confirm_handwork(sample.repo.path)
    assert 'state is "INIT"' in sample.loop("log").out
    assert file.read_text() == (file.parent / "systems" / "sys-001" / "loop-state.json").read_text() != edited
    file.write_text("{,,")
    for command in ("next", "run", "resume"):
        refused = sample.loop(command, "--unattended")
        assert (refused.code, f"{file.parent.name}/loop-state.json: expected JSON" in refused.err) == (2, True)
        assert ("line 1 column 2" in refused.err, "run `loop render`" in refused.err) == (True, True), refused.err
    assert file.read_text() == "{,,"
    file.unlink()
    assert sample.loop("render").code == 0
    assert json.loads(file.read_text())["systemId"] == "sys-001"


CANNOT = """\
[[step]]
role = "skill"
skill = "architect"
result = { status = "blocked", summary = "no network" }
"""


def test_an_edit_of_what_is_blocked_is_heard_before_it_goes_on(tmp_path: Path) -> None:
    sample = green(tmp_path / "shop", GOOD + INIT + CANNOT)
    assert sample.loop("queue", "add", "Work Orders").code == 0
    file = under_way(sample)
    sample.loop("resume", "--unattended")
    assert json.loads(file.read_text())["state"] == "BLOCKED"
    handoffs = {*(file.parent / "sessions").iterdir()}
    assert sample.loop("run", "--unattended").code == 4
    assert {*(file.parent / "sessions").iterdir()} == handoffs  # nothing has happened since
    edit(file, state="INIT")
    confirm_handwork(sample.repo.path)
    log = sample.loop("log").out
    assert ('state is "INIT"' in log, ": resume" in log) == (True, False), log


def test_what_is_blocked_stays_so_until_a_person_answers(tmp_path: Path) -> None:
    sample = green(tmp_path / "shop", GOOD + INIT + CANNOT)
    assert sample.loop("queue", "add", "Work Orders").code == 0
    file = under_way(sample)
    sample.loop("resume", "--unattended")
    log = sample.loop("log").out
    for words in (("resume", "--unattended"), ("resume",), ("run", "--unattended"), ("next",)):
        assert sample.loop(*words).code == 4, words
    assert [line for line in sample.loop("log").out.splitlines() if ": resume" in line] == []
    assert json.loads(file.read_text())["state"] == "BLOCKED"
    assert sample.loop("log").out.count("BLOCKED") == log.count("BLOCKED")
    assert sample.loop("answer", "resume").code == 0
    assert json.loads(file.read_text())["state"] == "SCAFFOLD"


# --- what was done by no recorded step --------------------------------------------------------------------------------


def commit_on_branch(sample: Sample, text: str) -> str:
    """As any process can that may write into the repository: a person, or a step of whatever loop."""
    own = sample.repo.path.parent / "own"
    sample.repo.git("worktree", "add", "--quiet", "--force", str(own), "feature/system-work-orders")
    there = Repository(own)
    there.write("NOTES.md", text)
    return there.commit("By whoever it was")


@pytest.mark.parametrize("words", [("run", "--unattended"), ("next", "--unattended"), ("resume",)])
def test_a_branch_that_no_recorded_step_moved_waits_for_a_person(sample: Sample, words: tuple[str, ...]) -> None:
    under_way(sample)
    made = commit_on_branch(sample, "Mine.\n")
    log = sample.loop("log").out
    refused = sample.loop(*words, "--json")
    (need,) = answered(refused, 4)["needs"]
    assert (need["kind"], need["command"]) == ("confirmation", f"loop resume --loop {need['loop']}")
    assert made[:12] in need["why"]
    assert sample.loop("log").out == log


def test_the_status_shows_a_branch_that_no_recorded_step_moved(sample: Sample) -> None:
    under_way(sample)
    kinds = [need["kind"] for need in sample.loop("status", "--json").data["loops"][0]["needs"]]
    made = commit_on_branch(sample, "Mine.\n")
    (shown,) = sample.loop("status", "--json").data["loops"]
    assert [need["kind"] for need in shown["needs"]] == ["confirmation", *kinds]
    assert (made[:12] in shown["needs"][0]["why"], made[:12] in sample.loop("status").out) == (True, True)


def test_a_branch_that_a_person_says_they_moved_is_taken_in(sample: Sample) -> None:
    under_way(sample)
    made = commit_on_branch(sample, "Mine.\n")
    with pytest.raises(NeedsPerson):
        confirm_handwork(sample.repo.path, answer=False)
    shown = "\n".join(confirm_handwork(sample.repo.path))
    assert [each in shown for each in (made[:12], "By whoever it was", "NOTES.md | 1 +")] == [True, True, True], shown
    assert confirm_handwork(sample.repo.path) == []  # once


def test_an_edit_waits_for_a_person_whoever_wrote_it(sample: Sample) -> None:
    edit(under_way(sample), state="INIT")
    log = sample.loop("log").out
    (need,) = answered(sample.loop("run", "--unattended", "--json"), 4)["needs"]
    assert "sets state to INIT" in need["why"]
    assert sample.loop("log").out == log


def test_the_status_shows_an_edit_that_no_recorded_step_made(sample: Sample) -> None:
    file = under_way(sample)
    kinds = [need["kind"] for need in sample.loop("status", "--json").data["loops"][0]["needs"]]
    edit(file, state="INIT")
    (shown,) = sample.loop("status", "--json").data["loops"]
    assert [need["kind"] for need in shown["needs"]] == ["confirmation", *kinds]
    assert "loop-state.json" in sample.loop("status").out
    file.write_text("{")
    assert [need["kind"] for need in sample.loop("status", "--json").data["loops"][0]["needs"]] == kinds


def test_the_person_at_the_terminal_is_shown_it_and_asked(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way(sample)
    commit_on_branch(sample, "Mine.\n")
    here = Here(cwd=sample.repo.path, environ=dict(os.environ), asks=True)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = told(here, "resume")
    assert (refused.code, "By whoever it was" in refused.err, "NOTES.md" in refused.err) == (4, True, True)
    assert told(here, "resume", "--unattended").code == 4


def test_what_was_adopted_in_its_own_place_is_no_edit_and_is_replaced_with_the_first_event(sample: Sample) -> None:
    file = memory(sample) / "loop-state.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(STATE.read_text())
    done = answered(sample.loop("adopt", str(file), "--json"))
    assert file.read_text() == STATE.read_text()
    assert (sample.repo.path / done["kept"] / "loop-state.json").read_text() == STATE.read_text()
    gone_on = sample.loop("next", "--loop", done["loop"], "--unattended")
    assert "may be edited" not in gone_on.err, gone_on.err
    assert json.loads(file.read_text())["branch"].startswith("feature/")
    assert file.read_text() == (file.parent / "systems" / "sys-002" / "loop-state.json").read_text()


def test_a_red_base_is_asked_about_before_an_agent_is_paid(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "shop", scenario=GOOD + INIT)
    assert sample.loop("queue", "add", "Work Orders").code == 0
    made = answered(sample.loop("run", "--unattended", "--json"), code=4)
    assert (made["outcome"], made["state"]) == ("blocked", "BLOCKED")
    assert "entry-portal" not in sample.loop("log").out
    assert answered(sample.loop("resume", "--unattended", "--json"), code=4)["state"] == "BLOCKED"
    assert sample.loop("answer", "continue").code == 0
    assert (
        answered(sample.loop("run", "--unattended", "--json", "--max-transitions", "1"), code=5)["state"] == "SCAFFOLD"
    )
