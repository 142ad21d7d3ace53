"""`loop start` before anything is made: what would be done, and words that make no sense."""

from pathlib import Path

import pytest

from tests.cli.projects import loop
from tests.cli.test_bad_input import one_sentence
from tests.cli.workflows import BOTH, CLEAR, sample
from tests.repository import Repository

pytestmark = pytest.mark.unmeasured


def test_what_would_be_done_is_said_and_nothing_is_created(tmp_path: Path) -> None:
    made = sample(tmp_path)
    told = made.loop("start", CLEAR, "--dry-run", "--max-iterations", "unlimited", "--budget", "none")
    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    assert lines[:7] == [
        "Would start a workflow: Write one.txt and two.txt within 1 day",
        '  outcome      2/2  measurable by "within 1"',
        '  scope        2/2  an exact target, "one.txt"',
        '  constraints  2/2  an explicit limit, "must not"',
        '  success      2/2  tests, by "tests", and a list of what has to hold',
        '  done         2/2  a definite event, "Done when"',
        "  spec         10/10, fit 65: tool",
    ]
    assert lines[-4:] == [
        "  roles        planner: asked instead of these rules",
        "  limits       unlimited iterations, budget none",
        "  cost         ~$0.00, if every task passes at once",
        "Nothing was created.",
    ]
    assert not (made.repo.path / ".loop").exists()


def test_what_would_be_asked_is_said_as_data(tmp_path: Path) -> None:
    made = sample(tmp_path, BOTH, "critic")
    told = made.loop("start", "Make it better", "--dry-run", "--json").data
    assert (told["spec_score"], told["fit_score"], told["shape"], told["dry_run"]) == (0, 0, "blocked", True)
    assert [each["score"] for each in told["scores"]] == [0, 0, 0, 0, 0]
    assert (len(told["questions"]), told["waves"], told["roles"]) == (5, [["T-001"]], [])
    assert not (made.repo.path / ".loop").exists()


# --- mistakes


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["--unattended"], 2, 'the request is empty; write `loop start "what is to be done"`'),
        (["  "], 2, "the request is empty"),
        (["make", "it", "better"], 2, "the request belongs in quotes: `loop start 'make it better'`"),
        (["x" * 70_000], 2, "the request is larger than 64 KiB"),
        (["x", "--request-file", "y"], 2, "give the request as an argument or with --request-file, not both"),
        (["--request-file", "gone.md"], 2, "--request-file gone.md: No such file"),
        (["x", "--shape", "round"], 2, "'round' is not one of 'tool', 'tool-review', 'colleague'"),
        (["--resume", "--fresh"], 2, "--resume goes on with what is there and --fresh begins anew; give one of them"),
        (["x", "--resume"], 2, "leave the request out, or give --fresh"),
        (["--resume"], 2, "there is no workflow to go on with"),
        (["x", "--max-iterations", "0"], 2, "is not a whole number from 1 to 100000, or `unlimited`; see"),
        (["x", "--budget", "-1"], 2, "is not an amount of money from 0 to 1000000, or `none`; see"),
        (["x", "--task-list", "old"], 2, "'old' is not one of 'new', 'resume', 'session-only'"),
        (["x", "--allow", "../y"], 2, "--allow"),
    ],
)
def test_words_that_make_no_sense_are_one_sentence(tmp_path: Path, words: list[str], code: int, part: str) -> None:
    made = sample(tmp_path)
    one_sentence(made.loop("start", *words), code, part)
    assert not (made.repo.path / ".loop").exists()


def test_without_a_configuration_nothing_begins(repo: Repository) -> None:
    one_sentence(loop(repo.path, "start", "x"), 2, "loop.toml: not found", "loop setup")
