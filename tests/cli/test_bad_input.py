"""Every mistake a person can make: one sentence with what, where and what to do, the right code, no traceback."""

import json
import subprocess
from pathlib import Path

import pytest

from loopwright.app.settings import settings_of
from loopwright.app.starts.feedback import FeedbackRequest, create_feedback
from loopwright.cli.here import Here
from loopwright.cli.main import COMMANDS
from loopwright.cli.opened import opened
from loopwright.cli.signals import complete
from loopwright.errors import UsageError
from tests.cli import projects
from tests.cli.projects import CONFIG, Done, Sample, loop, program
from tests.repository import Repository


def one_sentence(done: Done, code: int, *parts: str) -> None:
    assert done.code == code, done.err
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("loop: ")
    assert [part for part in parts if part not in line] == []


def configured(path: Path, config: str) -> Done:
    return Sample.create(path / "repo", config=config).loop("feedback", "Make it good")


def test_no_repository(tmp_path: Path) -> None:
    for words in (["feedback", "x"], ["status"], ["resume"], ["log"], ["setup"], ["cancel"], ["gates"]):
        one_sentence(loop(tmp_path, *words), 2, f"{tmp_path} is not in a git repository", "git init")


def test_an_empty_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    one_sentence(loop(tmp_path, "feedback", "x"), 2, "has no commit yet", "git commit")


def test_no_configuration(repo: Repository) -> None:
    one_sentence(loop(repo.path, "feedback", "x"), 2, "loop.toml: not found in", "run `loop setup`")


def test_configuration_that_is_not_toml(tmp_path: Path) -> None:
    one_sentence(configured(tmp_path, "version = \n"), 2, "loop.toml:1: not valid TOML")


def test_an_unknown_key(tmp_path: Path) -> None:
    one_sentence(configured(tmp_path, CONFIG + "protectd = []\n"), 2, "workspace.protectd", "protected")


def test_no_checks(tmp_path: Path) -> None:
    config = CONFIG.split("[checks.test]")[0]
    one_sentence(configured(tmp_path, config), 2, "loop.toml has no check", "loop setup")


def test_a_check_whose_program_is_missing(tmp_path: Path) -> None:
    config = CONFIG.split("[checks.test]")[0] + '[checks.test]\nrun = ["no-such-tool", "test"]\n'
    one_sentence(configured(tmp_path, config), 2, "'no-such-tool' was not found", "[checks.test]")


def test_an_agent_whose_program_is_missing(tmp_path: Path) -> None:
    config = CONFIG.replace(
        'kind = "rehearsal"\nscenario = "scenario.toml"', 'kind = "command"\nargv = ["no-such-agent"]'
    )
    one_sentence(configured(tmp_path, config), 2, "'no-such-agent' was not found", "[agents.script]")


def test_a_scenario_that_is_missing_or_wrong(tmp_path: Path) -> None:
    one_sentence(configured(tmp_path, CONFIG.replace('"scenario.toml"\n[roles', '"gone.toml"\n[roles')), 2, "gone.toml")
    sample = Sample.create(tmp_path / "other", "[[step]]\nrole = 3\n")
    one_sentence(sample.loop("feedback", "x"), 2, "scenario.toml:2: step[0].role", "expected text")


def test_not_enough_disk(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    with opened(Here(cwd=sample.repo.path, environ={"PATH": "/usr/bin:/bin"}), create=True) as project:
        work = create_feedback(project, settings_of(project), FeedbackRequest(task="x"), free=lambda _: 5 * 2**20)
        with pytest.raises(UsageError, match=r"only 5 MB of disk are free and 200 MB are needed; free some first"):
            complete(work)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["feedback"], "the task is empty"),
        (["feedback", "   "], "the task is empty"),
        (["feedback", "make", "it", "better"], "the task belongs in quotes: `loop feedback 'make it better'`"),
        (["feedback", "x" * 70_000], "larger than 64 KiB"),
        (["feedback", "x", "--task-file", "y"], "not both"),
        (["feedback", "--task-file", "gone.md"], "gone.md: No such file or directory"),
        (["feedback", "x", "--max-iterations", "0"], "--max-iterations"),
        (["feedback", "x", "--qqq"], "; see `loop feedback --help`"),
        (["nonsense"], "'nonsense'"),
        (["answer"], "CHOICE"),
        (["cancel", "--cleanup", "everything"], "keep_everything"),
        (["adopt", "gone.json"], "gone.json: there is no such file"),
        (["feedbak"], "No such command 'feedbak'; did you mean 'feedback'? See `loop --help`"),
        (["status", "--jsno"], "No such option '--jsno'; did you mean '--json'? See `loop status --help`"),
        (["rehearse", "gone.toml"], "gone.toml: No such file or directory"),
        (["completion", "tcsh"], "tcsh"),
        (["log", "--loop", "x"], "has no loops yet"),
    ],
)
def test_words_that_make_no_sense(repo: Repository, words: list[str], part: str) -> None:
    one_sentence(loop(repo.path, *words), 2, part)


@pytest.mark.parametrize("number", ["-1", "nan", "inf", "1e400", "true", "9" * 400, "9" * 5000, "", "0x10"])
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["feedback", "x", "--max-iterations"], "a whole number from 1 to 1000"),
        (["feedback", "x", "--budget"], "an amount of money from 0 to 1000000"),
        (["review", "x", "--max-attempts"], "a whole number from 1 to 1000"),
        (["review", "x", "--budget"], "an amount of money from 0 to 1000000"),
        (["ticket", "run", "--max"], "a whole number from 1 to 900"),
        (["ticket", "run", "--budget"], "an amount of money from 0 to 1000000"),
        (["rehearse", "x", "--max-iterations"], "a whole number from 1 to 1000"),
        (["resume", "--budget"], "an amount of money from 0 to 1000000"),
    ],
)
def test_every_number_has_bounds_that_one_sentence_names(
    words: list[str], says: str, number: str, tmp_path: Path
) -> None:
    answered = loop(tmp_path, *words, number)
    one_sentence(answered, 2, says)
    assert len(answered.err) < 300


def test_an_unknown_loop_names_the_nearest(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    assert sample.loop("feedback", "Make it good").code == 0
    for command in ("resume", "cancel", "explain", "log", "receipts", "gates"):
        done = sample.loop(command, "--loop", "make-it-goof")
        one_sentence(done, 2, "there is no loop 'make-it-goof' here; did you mean make-it-good-")
    one_sentence(sample.loop("log", "--agent", "implement-9.9"), 2, "'implement-9.9'", "implement-1.1")


def test_with_json_the_error_is_an_object_too(tmp_path: Path) -> None:
    done = loop(tmp_path, "status", "--json")
    assert done.data == {"error": done.err.removeprefix("loop: ").rstrip("\n"), "exit_code": 2, "needs": []}


def test_a_log_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    file = sample.repo.write(".loop/loop.db", "this is no database, and long enough to be looked at" * 100)
    before = file.read_bytes()
    one_sentence(sample.loop("status"), 1, "loop.db")
    assert file.read_bytes() == before


def test_a_defect_is_one_sentence_and_leaves_its_traceback_in_a_file(tmp_path: Path) -> None:
    (tmp_path / ".loop").mkdir()
    impossible = tmp_path / "a\0b"  # no system call takes such a name, and no command looks for it
    done = loop(impossible, "status")
    (file,) = (tmp_path / ".loop").iterdir()
    one_sentence(done, 1, "unexpected ValueError", "this is a defect of Loopwright", f"the traceback is in {file}")
    assert file.read_text().startswith("Traceback (most recent call last):")
    assert "Traceback" in loop(impossible, "status", LOOP_DEBUG="1").err


def test_the_program_itself_exits_with_the_code(tmp_path: Path) -> None:
    done = program(tmp_path, "status")
    one_sentence(done, 2, "is not in a git repository")


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    assert sample.loop("feedback", "Make it good").code == 0
    shown = sample.start("log")
    assert shown.stdout is not None
    shown.stdout.close()
    assert shown.stderr is not None
    with shown.stderr:
        said = shown.stderr.read()
    assert (shown.wait(), "Traceback" in said) == (141, False)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_changes_no_exit_code(tmp_path: Path, closed: str) -> None:
    sample = Sample.create(tmp_path / "repo")
    argv = ["sh", "-c", f'"$@" {closed}', "sh", *projects.command("status")]
    done = subprocess.run(argv, cwd=sample.repo.path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert list((sample.repo.path / ".loop").glob("crash-*")) == []


def test_every_command_outside_of_a_repository_answers_in_one_sentence_or_works(tmp_path: Path) -> None:
    words = {"answer": ["continue"], "approve": ["x"], "reject": ["x", "--reason", "y"], "adopt": ["x"]}
    for name in COMMANDS.keys() - {"demo", "completion", "rehearse"}:
        done = loop(tmp_path, name, *words.get(name, []), "--json")
        assert done.code in (1, 2)
        assert "Traceback" not in done.err
        assert isinstance(json.loads(done.out), dict)
