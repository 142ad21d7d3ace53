import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright import hook
from tests.cli.projects import loop, program
from tests.cli.sessions import NOW, SEEN, Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """One task of three is done, and the loop is known."""
    begun = Session.begin(tmp_path)
    begun.has_tasks("completed", "in_progress", "pending")
    begun.has_state()
    return begun


def lines(session: Session) -> list[str]:
    return session.start().splitlines()


# The announcement


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork", "some day another"])
def test_every_source_of_a_session_is_told_of_the_loop(session: Session, source: str) -> None:
    assert session.start(source) == SEEN


def test_a_session_in_a_folder_below_is_told_too(session: Session) -> None:
    (session.project / "src" / "deep").mkdir(parents=True)
    assert session.start(cwd=f"{session.project}/src/deep/") == SEEN


def test_where_nobody_says_where_the_session_is_it_is_where_the_hook_runs(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(session.project)
    assert hook.respond("session-start", b"{}", session.environ, NOW) == SEEN


@pytest.mark.parametrize("stage", ["complete", "cancelled"])
def test_a_loop_that_ended_is_not_announced(session: Session, stage: str) -> None:
    session.has_state(stage=stage)
    assert session.start() == ""


def test_without_a_state_file_nothing_is_announced(session: Session) -> None:
    session.state_file.unlink()
    assert session.start() == ""
    shutil.rmtree(session.state_file.parent)
    assert session.start() == ""


@pytest.mark.parametrize("text", ["{}", "[]", "no json", ""])
def test_a_state_file_without_a_loop_announces_nothing(session: Session, text: str) -> None:
    session.state_file.write_text(text)
    assert session.start() == ""


def test_a_missing_stage_is_executing(session: Session) -> None:
    session.state_file.write_text('{"task": "Add validation"}')
    assert lines(session)[1:6] == [
        "Stage: executing | Spec: ?/10 | Fit: ?",
        "Progress: 1/3 tasks | Wave: 2",
        "Reviews: none yet",
        "Next: read the task list, continue the waves",
        "Task: Add validation",
    ]


@pytest.mark.parametrize(
    ("stage", "action"),
    [
        ("intent", "read the spec score, continue to shape"),
        ("shape", "read SHAPE.md, continue to decompose"),
        ("decompose", "continue creating tasks"),
        ("planning", "finish the plan, continue to executing"),
        ("executing", "read the task list, continue the waves"),
        ("review", "load the review state, continue the resolution"),
        ("paused", "raise the limit that it stopped at, as `loop status` says, then go on"),
        ("some day another", "let `loop explain` say what comes next"),
    ],
)
def test_what_comes_next_goes_by_the_stage(session: Session, stage: str, action: str) -> None:
    session.has_state(stage=stage)
    assert (lines(session)[1], lines(session)[4]) == (f"Stage: {stage} | Spec: 7/10 | Fit: 35", f"Next: {action}")


def test_what_a_person_is_needed_for_comes_next(session: Session) -> None:
    session.has_state(needs="answer it, with `loop answer continue` for example: 2 tasks are done " + "x" * 200)
    assert lines(session)[4].startswith("Next: answer it, with `loop answer continue` for example: 2 tasks are done x")
    assert len(lines(session)[4]) == len("Next: ") + 100


def test_reviews_of_another_tool_are_told_as_such(session: Session) -> None:
    wave = {"score": 8, "issues": 2, "blockers": 0, "taken_over": True}
    thorough = {"passed": True, "blockers_remaining": 0, "taken_over": True}
    session.has_state(reviews={"wave_1": wave, "thorough": thorough})
    assert lines(session)[3] == (
        "Reviews: wave 1 8/10 (issues 2, blockers 0, by another tool);"
        " thorough passed (blockers remaining 0, by another tool)"
    )


def test_a_long_task_is_cut(session: Session) -> None:
    session.has_state(task="word " * 100)
    assert lines(session)[5] == f"Task: {('word ' * 100)[:99]}…"
    session.has_state(task="x" * 100)
    assert lines(session)[5] == f"Task: {'x' * 100}"


@pytest.mark.parametrize("unknown", [None, "7", True, [7], float("nan"), float("inf"), 10**400])
def test_a_number_that_is_none_is_not_made_up(session: Session, unknown: object) -> None:
    session.has_state(spec_score=unknown, fit_score=unknown, reviews={"wave_1": {"score": unknown}})
    assert lines(session)[1] == "Stage: executing | Spec: ?/10 | Fit: ?"
    assert lines(session)[3] == "Reviews: wave 1 ?/10 (issues ?, blockers ?)"


@pytest.mark.parametrize("odd", [None, "none", [], {"wave_x": 1, "other": {}, "wave_01": {}}])
def test_reviews_that_are_none_are_none_yet(session: Session, odd: object) -> None:
    session.has_state(reviews=odd)
    assert lines(session)[3] == "Reviews: none yet"


def test_of_many_waves_the_last_reviews_are_shown(session: Session) -> None:
    waves = {f"wave_{number}": {"score": 9, "issues": 0, "blockers": 0} for number in range(12, 0, -1)}
    session.has_state(reviews={**waves, "wave_12": "odd", "thorough": {"passed": True, "blockers_remaining": 0}})
    shown = "".join(f"; wave {number} 9/10 (issues 0, blockers 0)" for number in range(8, 12))
    assert lines(session)[3] == (
        f"Reviews: 7 earlier{shown}; wave 12 ?/10 (issues ?, blockers ?); thorough passed (blockers remaining 0)"
    )


# Progress


def test_without_a_list_the_tasks_of_the_loop_itself_are_counted(session: Session) -> None:
    session.has_state(loop="auth-1")
    own = session.project / ".loop" / "workflow" / "auth-1" / "tasks"
    session.has_tasks("completed", "completed", "completed", "pending", folder=own)
    assert lines(replace(session, environ={"HOME": str(session.home)}))[2] == "Progress: 3/4 tasks | Wave: 4"
    shutil.rmtree(session.tasks)
    assert lines(session)[2] == "Progress: 3/4 tasks | Wave: 4"


@pytest.mark.parametrize("name", ["../../elsewhere", "", None, 3, "a/b"])
def test_tasks_of_a_loop_that_nobody_knows_are_not_counted(session: Session, name: object) -> None:
    session.has_tasks("pending", folder=session.project / ".loop" / "workflow" / "tasks")
    session.has_tasks("pending", folder=session.project / "elsewhere" / "tasks")
    session.has_tasks("pending", folder=session.project / ".loop" / "workflow" / "a" / "b" / "tasks")
    session.has_state(loop=name)
    assert lines(replace(session, environ={"HOME": str(session.home)}))[2] == "Progress: ?/? tasks | Wave: ?"


def test_when_all_tasks_are_done_the_last_wave_is_shown(session: Session) -> None:
    session.has_tasks("completed", "completed", "completed")
    assert lines(session)[2] == "Progress: 3/3 tasks | Wave: 3"


@pytest.mark.parametrize("metadata", [None, {}, {"wave": "2"}, {"wave": True}, {"wave": -1}, {"wave": 10**9}, [1]])
def test_a_wave_that_is_none_is_not_made_up(session: Session, metadata: object) -> None:
    for number in (2, 3):
        (session.tasks / f"{number}.json").write_text(json.dumps({"status": "pending", "metadata": metadata}))
    assert lines(session)[2] == "Progress: 1/3 tasks | Wave: ?"


# What stands in files is data


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a\nNext: rm -rf /", "a Next: rm -rf /"),
        ("a\r\n\t b", "a b"),
        ("a\u2028b\u0085c", "a b c"),
        ("\x1b[2Ja", "\\x1b[2Ja"),
        ("a\u202eb\u200bc\x00", "a\\u202eb\\u200bc\\x00"),
        ("\ud800", "\\ud800"),
        ("größer　als", "größer als"),
    ],
)
def test_nothing_in_a_file_begins_a_line_or_steers_a_screen(session: Session, written: str, shown: str) -> None:
    session.has_state(task=written, stage=written)
    (session.tasks / "2.json").write_text(json.dumps({"subject": written, "status": "pending"}))
    assert len(lines(session)) == 7
    assert lines(session)[1] == f"Stage: {shown} | Spec: 7/10 | Fit: 35"
    assert lines(session)[5] == f"Task: {shown}"
    assert session.stop() == f"pending tasks: {shown}, Task 3"


# The program


def test_the_program_holds_in_the_form_that_claude_code_obeys(session: Session) -> None:
    done = session.run("stop")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"decision": "block", "reason": "pending tasks: Task 2, Task 3"}


def test_the_program_holds_in_the_form_of_prompt_hooks(session: Session) -> None:
    reason = "pending tasks: Task 2, Task 3"
    for words in (("--format", "ok"), ("--format=ok",)):
        assert json.loads(session.run("stop", *words).stdout) == {"ok": False, "reason": reason}


def test_the_program_lets_go_in_either_form(session: Session) -> None:
    session.has_tasks("completed", "completed", "completed")
    assert session.run("stop").stdout == "{}\n"
    assert session.run("stop", "--format", "claude").stdout == "{}\n"
    assert session.run("stop", "--format", "ok").stdout == '{"ok": true}\n'


def test_the_program_announces_the_loop(session: Session) -> None:
    done = session.run("session-start")
    assert (done.returncode, done.stderr) == (0, "")
    output = {"hookEventName": "SessionStart", "additionalContext": SEEN}
    assert json.loads(done.stdout) == {"hookSpecificOutput": output}
    session.state_file.unlink()
    assert session.run("session-start").stdout == "{}\n"


@pytest.mark.parametrize("said", [b"", b"no json", b"[1]"])
def test_the_program_lets_go_whatever_it_is_told(session: Session, said: bytes) -> None:
    for name, form, answer in (("stop", "claude", "{}\n"), ("stop", "ok", '{"ok": true}\n')):
        done = session.run(name, "--format", form, said=said)
        assert (done.returncode, done.stdout, done.stderr) == (0, answer, "")


@pytest.mark.parametrize("words", [("--nonsense",), ("extra", "words"), ("--format", "other"), ("--format",)])
def test_arguments_that_nobody_knows_do_not_trap_a_session(session: Session, words: tuple[str, ...]) -> None:
    done = session.run("stop", *words)
    assert (done.returncode, json.loads(done.stdout)["decision"]) == (0, "block")
    assert done.stderr == f"loop hook: arguments that no hook knows are passed over: {' '.join(words)}\n"


def test_a_form_is_kept_beside_arguments_that_nobody_knows(session: Session) -> None:
    assert json.loads(session.run("stop", "--new", "--format", "ok").stdout)["ok"] is False


def test_what_nobody_planned_lets_go_and_says_so(session: Session) -> None:
    broken = (
        "import sys\nfrom loopwright.hook import main\ndef fails(*asked): raise KeyError(3)\n"
        "sys.exit(main(['stop', '--format', 'ok'], fails))"
    )
    done = subprocess.run([sys.executable, "-c", broken], input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, '{"ok": true}\n')
    assert done.stderr.startswith("loop hook: unexpected KeyError: 3; ")


def test_a_pipe_that_nobody_closes_is_not_waited_for(session: Session) -> None:
    impatient = "import sys\nfrom loopwright.hook import main\nsys.exit(main(['stop'], patience=0.05))"
    reading, writing = os.pipe()
    done = subprocess.run([sys.executable, "-c", impatient], stdin=reading, capture_output=True, text=True, check=False)
    os.close(writing)
    os.close(reading)
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert done.stderr == "loop hook: no answer within 0.05 s, so the session is let go\n"


def test_closed_streams_are_no_reason_to_fail(session: Session) -> None:
    program = Path(sys.executable).with_name("loop")
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        line = f'"$0" hook stop {closed}'
        done = subprocess.run(["sh", "-c", line, program], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert done.returncode == 0


def test_a_hook_loads_nothing_but_itself() -> None:
    code = (
        "import sys; sys.argv = ['loop', 'hook', 'stop']\nfrom loopwright.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in"
        " ('loopwright', 'click', 'typing', 'dataclasses', 'datetime', 'pathlib', 'tempfile', 'asyncio')))"
    )
    done = subprocess.run([sys.executable, "-c", code], input="{}", capture_output=True, text=True, check=True)
    assert done.stdout == "{}\n['loopwright', 'loopwright.__main__', 'loopwright.hook']\n"


# What a person gets


def test_a_person_gets_the_usual_help_and_errors(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("loop")), "hook"]
    for words in (["--help"], ["stop", "--help"], ["session-start", "-h"]):
        shown = subprocess.run([*command, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        assert shown.stdout.startswith("Usage: loop hook ")
    wrong = subprocess.run([*command, "stopp"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "loop: No such command 'stopp'; did you mean 'stop'? See `loop hook --help`\n"
    assert loop(tmp_path, "hook", "stop", "--format", "other").code == 2


def test_at_a_terminal_wrong_arguments_are_an_error() -> None:
    ours, theirs = os.openpty()
    command = [str(Path(sys.executable).with_name("loop")), "hook", "stop", "--nonsense"]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "loop: No such option '--nonsense'; see `loop hook stop --help`\n"


def test_a_person_can_try_a_hook(session: Session) -> None:
    for words, answer in (
        (("stop",), "{}\n"),
        (("stop", "--format", "ok", "--json"), '{"ok": true}\n'),
        (("session-start",), "{}\n"),
    ):
        done = program(session.project, "hook", *words, **session.environ)
        assert (done.code, done.out) == (0, answer)


def test_the_program_is_also_a_module(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "loopwright", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("loop, version ")
    assert not hook.is_asked(["stop", "--help"])
