"""`loop adopt workflow-state.json`: where another tool had got to is not done again."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.projects import Sample
from tests.cli.test_bad_input import one_sentence
from tests.cli.workflows import BOTH, CLEAR, sample
from tests.test_schemas import mistakes

pytestmark = pytest.mark.unmeasured

# The seed's own sample, with one of its alternatives each.
SEED: dict[str, Any] = {
    "version": 1,
    "stage": "executing",
    "task": CLEAR,
    "spec_score": 7,
    "fit_score": 35,
    "shape_chosen": "tool",
    "started_at": "2026-02-05T10:00:00Z",
    "last_updated": "2026-02-05T10:15:00Z",
    "recall_surfaced": ["auth edge cases", "validation patterns"],
    "reviews": {
        "wave_1": {"score": 8, "issues": 2, "blockers": 0},
        "wave_2": {"score": 7, "issues": 3, "blockers": 1},
        "thorough": {"passed": False, "blockers_remaining": 1},
    },
}
OTHER_STAGES = ("intent", "decompose", "review")  # beside the check


def adopted(made: Sample, folder: Path, **changed: object) -> tuple[dict[str, Any], Path]:
    file = folder / "workflow-state.json"
    file.write_text(json.dumps({**SEED, **changed}))
    done = made.loop("adopt", str(file), "--json")
    assert done.code == 0, done.err
    return done.data, file


@pytest.mark.parametrize(
    "stage", ["shape", "executing", *(pytest.param(each, marks=pytest.mark.kills) for each in OTHER_STAGES)]
)
def test_what_another_tool_began_goes_on_with_its_scores(tmp_path: Path, stage: str) -> None:
    made = sample(tmp_path)
    told, file = adopted(made, tmp_path, stage=stage)
    assert (told["kind"], told["state"]) == ("workflow", "PREFLIGHT")
    assert json.loads(file.read_text()) == {**SEED, "stage": stage}
    ours = json.loads((made.repo.path / ".loop" / "workflow-state.json").read_text())
    assert (ours["loop"], ours["spec_score"], ours["fit_score"]) == (told["loop"], 7, 35)
    assert made.repo.git("status", "--porcelain") == ""
    assert "(iteration 0/25, " in made.loop("status").out
    done = made.loop("resume", "--unattended", "--json")
    assert (done.code, done.data["spec_score"], done.data["fit_score"], done.data["shape"]) == (0, 7, 35, "tool")
    log = made.loop("log").out
    assert "scored by rule" not in log
    written = json.loads((made.repo.path / ".loop" / "workflow-state.json").read_text())
    assert written["recall_surfaced"] == SEED["recall_surfaced"]
    assert written["stage"] == "complete"


@pytest.mark.parametrize("choice", ["colleague", "tool-review", "tool"])
def test_each_way_of_working_is_kept(tmp_path: Path, choice: str) -> None:
    made = sample(tmp_path)
    adopted(made, tmp_path, shape_chosen=choice)
    done = made.loop("resume", "--unattended", "--json")
    assert (done.data["shape"], done.code) == (choice, 0 if choice == "tool" else 4)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (json.dumps({**SEED, "stage": "complete"}), "is of a loop that has ended (complete)"),
        (json.dumps({**SEED, "stage": "cancelled"}), "is of a loop that has ended (cancelled)"),
        (json.dumps({**SEED, "stage": "later"}), "stage"),
        (json.dumps({**SEED, "spec_score": 70}), "spec_score"),
        ("{", "workflow-state.json"),
        ("[]", "workflow-state.json"),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused_in_one_sentence(tmp_path: Path, text: str, part: str) -> None:
    made = sample(tmp_path, BOTH)
    file = tmp_path / "workflow-state.json"
    file.write_text(text)
    one_sentence(made.loop("adopt", str(file)), 2, part)
    assert made.loop("status", "--json").data == {"loops": []}


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    made = sample(tmp_path)
    file = tmp_path / "workflow-state.json"
    file.write_bytes(b"\xff\xfe{}")
    one_sentence(made.loop("adopt", str(file)), 2, "is not UTF-8 text")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    made = sample(tmp_path)
    file = tmp_path / "workflow-state.json"
    file.write_text(json.dumps({**SEED, "task": "a" * 2**20}))
    one_sentence(made.loop("adopt", str(file)), 2, "is larger than 1024 KiB")


SHAPE = """\
# Shape
## Criteria
- [ ] Both files are there
## Must not
- check.py is changed
## Verification
| criterion | type | command |
|---|---|---|
| Both files are there | execution output | `test -f one.txt` |
"""


def lay(home: Path, number: int, **facts: object) -> Path:
    folder = home / ".claude" / "tasks" / "my-list"
    folder.mkdir(parents=True, exist_ok=True)
    task = {"id": str(number), "subject": f"Do {number}", "description": "", "status": "pending"}
    file = folder / f"{number}.json"
    file.write_text(json.dumps({**task, "blocks": [], "blockedBy": [], **facts}))
    return file


def beside(made: Sample) -> Path:
    """Where the tool that began it keeps its files: where ours are, too."""
    folder = made.repo.path / ".loop"
    (folder / "shape").mkdir(parents=True)
    (folder / "shape" / "SHAPE.md").write_bytes(SHAPE.replace("\n", "\r\n").encode())
    (folder / "workflow-state.json").write_bytes(json.dumps({**SEED, "stage": "review"}, indent=1).encode() + b"\r\n")
    return folder


def test_its_shape_its_tasks_and_its_reviews_are_taken_over(tmp_path: Path) -> None:
    made = sample(tmp_path)
    made.repo.write("one.txt", "good one")
    made.repo.commit("What the other tool made")
    folder, home = beside(made), tmp_path / "home"
    read = [folder / "workflow-state.json", folder / "shape" / "SHAPE.md"]
    read.append(lay(home, 1, status="completed", description="Verify: test -f one.txt", metadata={"loopId": "theirs"}))
    read.append(lay(home, 2, description="Verify: test -f two.txt", blockedBy=["1"]))
    before = [file.read_bytes() for file in read]
    named = {"HOME": str(home), "CLAUDE_CODE_TASK_LIST_ID": "my-list"}
    done = made.loop("adopt", ".loop", "--json", **named)
    assert (done.code, mistakes("adopt", done.data)) == (0, []), done.err
    assert done.data["commands"] == [
        {"of": "T-001", "argv": ["test", "-f", "one.txt"]},
        {"of": "T-002", "argv": ["test", "-f", "two.txt"]},
        {"of": "criterion-1", "argv": ["test", "-f", "one.txt"]},
    ]
    assert "verify: test -f two.txt" in made.loop("plan").out
    assert [file.read_bytes() for file in read] == before
    ours = read[0].parent / "workflow" / done.data["loop"] / "workflow-state.json"
    assert json.loads(ours.read_text())["loop"] == done.data["loop"]
    kept = made.repo.path / done.data["kept"]
    assert done.data["kept"] == f".loop/workflow/{done.data['loop']}/adopted"
    done = made.loop("resume", "--unattended", "--json", **named)
    assert (done.code, done.data["tasks"]) == (4, {"done": 0, "total": 2})  # its word on the first is no evidence
    assert made.loop("answer", "done", **named).code == 0
    done = made.loop("resume", "--unattended", "--json", **named)
    assert (done.code, done.data["tasks"]) == (0, {"done": 2, "total": 2})
    assert {file.name: file.read_bytes() for file in kept.iterdir()} == {
        "workflow-state.json": before[0],
        "SHAPE.md": before[1],
    }
    assert "**Spec:** 7/10 | **Fit:** 35 | **Shape:** tool\n\n## Criteria" in read[1].read_text()
    written = json.loads(read[0].read_text())
    assert written["started_at"] == SEED["started_at"]
    assert written["reviews"]["wave_1"] == {**SEED["reviews"]["wave_1"], "taken_over": True}
    assert (written["reviews"]["thorough"]["passed"], "taken_over" in written["reviews"]["thorough"]) == (True, False)
    said = "execution output: it passed before the work started, too"
    assert written["criteriaStatus"] == {"Both files are there": {"met": True, "verification": said}}
    assert [json.loads(file.read_text())["status"] for file in read[2:]] == ["completed", "completed"]


@pytest.mark.parametrize(("torn", "part"), [("SHAPE.md", "no criterion was found"), ("1.json", "1.json: ")])
def test_where_a_file_beside_it_cannot_be_read_nothing_is_begun(tmp_path: Path, torn: str, part: str) -> None:
    made = sample(tmp_path)
    folder = beside(made)
    task = lay(tmp_path / "home", 1)
    (task if torn == "1.json" else folder / "shape" / torn).write_text("{")
    named = {"HOME": str(tmp_path / "home"), "CLAUDE_CODE_TASK_LIST_ID": "my-list"}
    one_sentence(made.loop("adopt", ".loop", **named), 2, part)
    assert made.loop("status", "--json").data == {"loops": []}


def test_what_is_not_taken_as_it_was_meant_is_said_at_once(tmp_path: Path) -> None:
    made = sample(tmp_path)
    beside(made)
    lay(tmp_path / "home", 1, status="completed", description="**Verify:** `test -f one.txt` | cat\nIt is small.")
    named = {"HOME": str(tmp_path / "home"), "CLAUDE_CODE_TASK_LIST_ID": "my-list"}
    done = made.loop("adopt", ".loop", **named)
    assert done.code == 0, done.err
    *notes, kept, adopted, command, last = done.out.splitlines()
    assert adopted.startswith("Adopted as loop ")
    assert (command, last[:10]) == ("  criterion-1: test -f one.txt", "Read what ")
    assert "1 of which it calls done, on which nothing rests here" in done.out
    assert "T-001 is not verified by ``test -f one.txt` | cat`" in done.out
    assert len(notes) == 4
    assert kept.startswith("The files that were read are kept in .loop/workflow/")


def test_while_a_workflow_is_unfinished_no_other_is_taken_over(tmp_path: Path) -> None:
    made = sample(tmp_path)
    told, file = adopted(made, tmp_path)
    done = made.loop("adopt", str(file))
    one_sentence(done, 4, f"loop {told['loop']} is not finished")
    assert f"`loop resume --loop {told['loop']}`" in done.err
    assert f"`loop cancel --loop {told['loop']}`" in done.err
    assert [each["id"] for each in made.loop("status", "--json").data["loops"]] == [told["loop"]]
    assert [each.name for each in (made.repo.path / ".loop" / "workflow").iterdir()] == [told["loop"]]


def test_tasks_that_wait_for_each_other_are_not_taken_over(tmp_path: Path) -> None:
    made = sample(tmp_path)
    beside(made)
    lay(tmp_path / "home", 1, blockedBy=["2"])
    lay(tmp_path / "home", 2, blockedBy=["1"])
    named = {"HOME": str(tmp_path / "home"), "CLAUDE_CODE_TASK_LIST_ID": "my-list"}
    one_sentence(made.loop("adopt", ".loop", **named), 2, "T-001 → T-002 → T-001")


def test_what_will_be_run_is_shown_whole_before_it_is(tmp_path: Path) -> None:
    made = sample(tmp_path)
    beside(made)
    long = "x" * 500
    lay(tmp_path / "home", 1, description=f"Verify: touch {long} 'a\x1b  b'")
    done = made.loop("adopt", ".loop", HOME=str(tmp_path / "home"), CLAUDE_CODE_TASK_LIST_ID="my-list")
    *_, adopted, first, second, go_on = done.out.splitlines()
    commands = [first, second]
    assert (done.code, adopted.endswith(" in PREFLIGHT. It brings 2 commands that will be run:")) == (0, True)
    assert commands == [f"  T-001: touch {long} 'a\\x1b  b'", "  criterion-1: test -f one.txt"]
    assert go_on.startswith("Read what will be run. Go on with: loop resume --loop ")


CURLS = SHAPE.replace("test -f one.txt", "curl http://0.0.0.0/x")


@pytest.mark.parametrize(
    ("shape", "part"),
    [
        (CURLS, "criterion-1: http://0.0.0.0"),
        (SHAPE + "x\n" * 2**17, "is larger than 256 KiB"),
        (None, "is a link; put the file itself there"),
    ],
)
def test_a_shape_that_may_not_be_worked_by_is_refused(tmp_path: Path, shape: str | None, part: str) -> None:
    made = sample(tmp_path)
    file = beside(made) / "shape" / "SHAPE.md"
    if shape is None:
        file.rename(tmp_path / "elsewhere.md")
        file.symlink_to(tmp_path / "elsewhere.md")
    else:
        file.write_text(shape)
    one_sentence(made.loop("adopt", ".loop"), 2, part)
    assert made.loop("status", "--json").data == {"loops": []}


@pytest.mark.parametrize(
    ("tasks", "verify", "part"),
    [
        (26, "true", "the plan has 26 tasks and a loop takes at most 25"),
        (1, "curl http://0.0.0.0/x", "a verify command may reach HTTP on loopback only"),
    ],
)
def test_tasks_obey_the_rules_of_a_plan(tmp_path: Path, tasks: int, verify: str, part: str) -> None:
    made = sample(tmp_path)
    beside(made)
    for number in range(1, tasks + 1):
        lay(tmp_path / "home", number, description=f"Verify: {verify}")
    named = {"HOME": str(tmp_path / "home"), "CLAUDE_CODE_TASK_LIST_ID": "my-list"}
    one_sentence(made.loop("adopt", ".loop", **named), 2, part)
    assert made.loop("status", "--json").data == {"loops": []}
