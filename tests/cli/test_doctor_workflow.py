"""What `loop doctor` says of the roles of a workflow, and of a task list that is shared."""

from pathlib import Path

from tests.cli.projects import Sample
from tests.cli.workflows import BOTH, sample


def lines(made: Sample, what: str, **environ: str) -> list[tuple[str, str]]:
    told = made.loop("doctor", "--json", **environ).data["lines"]
    return [(line["status"], line["text"]) for line in told if line["what"] == what]


def test_roles_that_are_named_and_what_stands_in_for_the_others(tmp_path: Path) -> None:
    made = sample(tmp_path, BOTH, "planner", "panel")
    said = (
        'for `loop start "REQUEST"`: planner, panel played; no scorer: the request is scored by rule; no shaper: it is'
        " shaped by rule; no gate: it ships when reviews and commands pass"
    )
    assert lines(made, "roles") == [("ok", said)]


def test_a_task_list_that_is_named_and_not_there_is_told(tmp_path: Path) -> None:
    made = sample(tmp_path)
    home = tmp_path / "home"
    given = {"HOME": str(home), "CLAUDE_CODE_TASK_LIST_ID": "my-loop"}
    ((word, text),) = lines(made, "task list", **given)
    assert (word, "there is no task file in" in text) == ("warn", True)
    ((word, text),) = lines(made, "stop hook", **given)
    assert (word, "no settings of Claude Code run `loop hook stop`" in text) == ("warn", True)
    assert lines(made, "task list", HOME=str(home)) == []


def test_a_task_list_with_tasks_and_a_hook_is_well(tmp_path: Path) -> None:
    made = sample(tmp_path)
    tasks = tmp_path / "home" / ".claude" / "tasks" / "my-loop"
    tasks.mkdir(parents=True)
    (tasks / "1.json").write_text("{}")
    settings = made.repo.path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "loop hook stop"}]}]}}')
    given = {"HOME": str(tmp_path / "home"), "CLAUDE_CODE_TASK_LIST_ID": "my-loop"}
    assert lines(made, "task list", **given) == [("ok", f"my-loop: 1 task files in {tasks.parent}")]
    assert lines(made, "stop hook", **given) == []
    outside = {**given, "CLAUDE_CODE_TASK_LIST_ID": "../tasks/my-loop"}
    assert lines(made, "task list", **outside)[0][0] == "warn"
