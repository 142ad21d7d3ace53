"""What a coordinator's answers do to a session that escalated, through `loop answer` and `loop resume`."""

from pathlib import Path

import pytest

from loopwright.app.starts.tickets.ticket_text import read_ticket
from tests.cli.projects import CONFIG, Done, Sample
from tests.cli.tickets import creates, escalated, finding, finds, folder
from tests.kept import Kept
from tests.repository import Repository
from tests.test_schemas import mistakes

pytestmark = pytest.mark.unmeasured

PAIR = CONFIG.replace("[roles]", '[agents.other]\nkind = "rehearsal"\nscenario = "scenario.toml"\n[roles]')


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept.of(escalated(tmp_path_factory.mktemp("escalated") / "repo").repo.path)


@pytest.fixture
def sample(once: Kept) -> Sample:
    """A session that has used up its only ticket."""
    return Sample(Repository(once.restored()))


def answer(sample: Sample, *words: str, code: int = 0) -> Done:
    done = sample.loop("answer", *words, "--json")
    assert done.code == code, done.err
    return done


def resumed(sample: Sample, code: int = 0) -> Done:
    done = sample.loop("resume", "--json")
    assert done.code == code, done.err
    assert mistakes("resume", done.data) == []
    return done


def test_continue_grants_tickets_and_the_numbers_go_on(sample: Sample) -> None:
    data = answer(sample, "continue", "1").data
    assert data["command"].startswith("loop resume --loop ")
    assert resumed(sample, 4).data["tickets"] == ["TICKET-s-001", "TICKET-s-002"]


def test_split_makes_a_ticket_of_the_named_criteria_and_then_one_of_the_rest(tmp_path: Path) -> None:
    sample = escalated(tmp_path / "repo", creates("bad", attempt=1), creates())
    assert answer(sample, "split", "--text", "AC-2; AC-1").data["answered"] == "split"
    assert resumed(sample).data["tickets"] == ["TICKET-s-001", "TICKET-s-002", "TICKET-s-003"]
    reads = [read_ticket(folder(sample, "completed") / f"TICKET-s-00{number}.md") for number in (2, 3)]
    assert [[box.id for box in read.criteria] for read in reads] == [["AC-2"], ["AC-1"]]


def test_examples_are_told_to_the_next_creator(tmp_path: Path) -> None:
    sample = escalated(tmp_path / "repo", creates("bad", attempt=1), creates())
    answer(sample, "examples", "--text", "Like this: good")
    assert resumed(sample).data["verdict"] == "APPROVE"
    assert "Like this: good" in (folder(sample, "completed") / "TICKET-s-002.md").read_text()


def test_reassign_gives_the_role_to_somebody_else(tmp_path: Path) -> None:
    sample = escalated(tmp_path / "repo", creates("bad", attempt=1), creates(), config=PAIR)
    answer(sample, "reassign", "--text", "creator=other")
    assert resumed(sample).data["verdict"] == "APPROVE"
    assert read_ticket(folder(sample, "completed") / "TICKET-s-002.md").claimed_by == "other"


def test_reassign_sets_a_second_critic_beside_the_first(tmp_path: Path) -> None:
    steps = (creates("bad", attempt=1), creates(), finds(finding("only one saw it", "critical"), attempt=2))
    sample = escalated(tmp_path / "repo", *steps, config=PAIR)
    answer(sample, "reassign", "--text", "critic+other")
    assert resumed(sample).data["tickets"] == ["TICKET-s-001", "TICKET-s-002", "TICKET-s-003"]
    log = sample.loop("log").out
    assert "critique-2-1.1" in log
    assert "critique-2-2.1" in log


@pytest.mark.parametrize("word", ["creator=nobody", "critic+nobody"])
def test_reassign_to_an_unknown_agent_names_those_there_are(tmp_path: Path, word: str) -> None:
    sample = escalated(tmp_path / "repo", config=PAIR)
    said = answer(sample, "reassign", "--text", word, code=2).data["error"]
    assert said == "no agent called 'nobody' is ready here; there are other, script"


def test_accept_takes_the_best_ticket_with_its_debt(sample: Sample) -> None:
    answer(sample, "accept")
    data = resumed(sample).data
    assert (data["outcome"], data["verdict"], data["branch"][:5]) == ("accepted", "ESCALATE", "loop/")
    assert sample.repo.git("show", f"{data['commit']}:result.txt") == "bad"
    debt = (sample.repo.path / ".loop" / "debt.md").read_text()
    assert "- **Ticket**: TICKET-s-001, Make it good\n" in debt
    assert "- **Not met**: automatic reject: tests fail or do not run;" in debt
    assert sample.loop("render").code == 0
    assert (sample.repo.path / ".loop" / "debt.md").read_text() == debt


def criticised(path: Path) -> Sample:
    """Its check passes, and its critic says no."""
    return escalated(path, creates(), finds(finding("it is not kept")))


def test_what_a_critic_alone_speaks_against_is_accepted_and_verified(tmp_path: Path) -> None:
    sample = criticised(tmp_path / "repo")
    answer(sample, "accept", "--merge")
    assert (resumed(sample).data["merged_into"], sample.repo.git("show", "main:result.txt")) == ("main", "good")
    debt = (sample.repo.path / ".loop" / "debt.md").read_text()
    assert "- **Checks**: passed\n" in debt
    assert "it is not kept" in debt
    page = (folder(sample, "completed") / "TICKET-s-001.md").read_text()
    assert page.count("Expediter: validated\n- test passed") == 2


def test_accepted_it_is_merged_onto_a_target_that_moved_only_if_the_checks_pass_there_or_knowing_what_fails(
    tmp_path: Path,
) -> None:
    sample = criticised(tmp_path / "repo")
    stricter = (sample.repo.path / "check.py").read_text().replace('said == "good"', 'said == "better"')
    (sample.repo.path / "check.py").write_text(stricter)
    sample.repo.git("commit", "-qam", "More is wanted")
    moved = sample.repo.git("rev-parse", "main")
    answer(sample, "accept", "--merge")
    asked = resumed(sample, 4).data
    assert (asked["outcome"], sample.repo.git("rev-parse", "main")) == ("escalated", moved)
    assert "could not be landed" in asked["needs"][0]["what"]
    answer(sample, "accept", "--merge")
    done = resumed(sample).data
    assert (done["outcome"], done["merged_into"]) == ("accepted", "main")
    assert "check 'test' failed" in (sample.repo.path / ".loop" / "debt.md").read_text()


def test_what_is_known_to_fail_is_merged_onto_a_target_that_moved_only_knowing_what_fails_there(sample: Sample) -> None:
    sample.repo.write("beside.txt", "of the person")
    sample.repo.commit("Meanwhile")
    moved = sample.repo.git("rev-parse", "main")
    answer(sample, "accept", "--merge")
    asked = resumed(sample, 4).data
    assert "main has moved on, and merged with it these fail: test" in asked["needs"][0]["what"]
    assert sample.repo.git("rev-parse", "main") == moved
    answer(sample, "accept", "--merge")
    assert (resumed(sample).data["merged_into"], sample.repo.git("show", "main:result.txt")) == ("main", "bad")


def test_what_is_approved_while_a_session_is_escalated_runs_the_checks_before_it_is_accepted(tmp_path: Path) -> None:
    loosened = '{ path = "check.py", find = "said == \\"good\\"", replace = "said == \\"bad\\" and broken" }'
    makes = f"""\
[[step]]
role = "creator"
repeat = true
edits = [{{ path = "result.txt", content = "bad" }}, {loosened}]
result = {{ status = "done", summary = "wrote it" }}
"""
    sample = escalated(tmp_path / "repo", makes)
    before = sample.repo.git("rev-parse", "main")
    (gate,) = (each["id"] for each in sample.loop("gates", "--json").data["gates"])
    assert sample.loop("approve", f"protected@{gate}").code == 0
    answer(sample, "accept", "--merge")
    asked = resumed(sample, 4).data
    assert (asked["outcome"], sample.repo.git("rev-parse", "main")) == ("escalated", before)
    assert "what was accepted is not landed: these fail: test" in asked["needs"][0]["what"]


def test_history_shows_every_ticket_and_asks_again(tmp_path: Path) -> None:
    sample = escalated(tmp_path / "repo", max=2)
    data = answer(sample, "history").data
    assert data["history"].splitlines()[:2] == [
        "TICKET-s-001: ROUTE_BACK, accuracy 0.67, first; gaps: Tests; tried: wrote the result",
        "TICKET-s-002: ESCALATE, accuracy 0.67, stalled; gaps: Tests; tried: wrote the result",
    ]
    assert data["command"] == ""
    assert sample.loop("ticket", "run", "--json").code == 4


def test_revise_starts_the_count_anew(sample: Sample) -> None:
    answer(sample, "revise", "--text", "Write good")
    data = resumed(sample, 4).data
    assert data["tickets"] == ["TICKET-s-001", "TICKET-s-002"]
    brief = [file.read_text() for file in (sample.repo.path / ".loop" / "runs").rglob("brief.md")]
    assert [text for text in brief if text.startswith("# Brief for the creator: TICKET-s-002") and "Write good" in text]


def test_cancel_ends_the_session_and_its_files_stay(sample: Sample) -> None:
    answer(sample, "cancel")
    assert sample.loop("resume", "--json").data["outcome"] == "cancelled"
    assert read_ticket(folder(sample, "active") / "TICKET-s-001.md").status == "blocked"


@pytest.mark.parametrize(
    ("choice", "needs"),
    [
        ("split", "the criteria to do first (AC-1; AC-2)"),
        ("examples", "the guidance"),
        ("reassign", "ROLE=AGENT (or ROLE+AGENT, for a pair)"),
    ],
)
def test_an_answer_that_lacks_its_text_says_what_it_needs(sample: Sample, choice: str, needs: str) -> None:
    said = answer(sample, choice, code=2).data["error"]
    assert said == f'{choice} needs {needs} as text; write `loop answer {choice} --text "…"`'


def test_what_the_session_cannot_do_is_refused_and_it_still_waits(sample: Sample) -> None:
    assert (
        "no criterion is called 'AC-9'; there are AC-1, AC-2"
        in answer(sample, "split", "--text", "AC-9", code=3).data["error"]
    )
    assert "roles are creator, critic" in answer(sample, "reassign", "--text", "tester=script", code=3).data["error"]
    assert sample.loop("ticket", "list", "--json").data["active"][0]["status"] == "escalated"
