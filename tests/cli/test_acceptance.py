"""`[trust] acceptance = "independent"` on the command line: where nobody writes acceptance tests, nothing starts."""

from pathlib import Path

import pytest

from tests.cli.projects import CONFIG, GOOD, Sample
from tests.cli.test_bad_input import one_sentence
from tests.cli.tickets import creates, ticketed
from tests.cli.workflows import sample, started

INDEPENDENT = '\n[trust]\nacceptance = "independent"\n'


def test_a_ticket_session_is_refused(tmp_path: Path) -> None:
    made = ticketed(tmp_path / "repo", creates(), config=CONFIG + INDEPENDENT)
    made.loop("ticket", "new", "Make it good", "--session", "s", "--accept", "it is good")
    one_sentence(made.loop("ticket", "run"), 2, "trust.acceptance", "a ticket session has no examiner")


def test_a_lifecycle_is_refused(tmp_path: Path) -> None:
    made = Sample.create(tmp_path / "repo", GOOD, CONFIG + INDEPENDENT)
    made.loop("queue", "add", "Work Orders", "--capability", "take")
    one_sentence(made.loop("init", "--next"), 2, "trust.acceptance", "a lifecycle has no examiner")


def test_a_workflow_of_ticket_sessions_is_refused(tmp_path: Path) -> None:
    made = sample(tmp_path, limits='[workflow]\ninner = "tickets"\n[trust]\nacceptance = "independent"\n')
    refused = started(made)
    assert (refused.code, "has no examiner" in refused.err) == (2, True)


def test_a_dry_run_names_who_plays_the_examiner(tmp_path: Path) -> None:
    config = CONFIG.replace('default = "script"\n', 'default = "script"\nexaminer = "script"\n')
    made = Sample.create(tmp_path / "repo", GOOD, config + INDEPENDENT)
    assert made.loop("feedback", "x", "--dry-run", "--json").data["agents"]["examiner"] == ["script"]


@pytest.mark.parametrize("word", [("--keeps-behaviour",), ("--about", "text")])
def test_work_that_changes_no_behaviour_is_not_examined_and_the_start_says_so(
    tmp_path: Path, word: tuple[str, ...]
) -> None:
    made = Sample.create(tmp_path / "repo", GOOD, CONFIG + INDEPENDENT)
    done = made.loop("feedback", "Make it good", *word, "--unattended")
    assert ("No acceptance tests are written" in done.err, "no agent plays the examiner" in done.err) == (True, False)
