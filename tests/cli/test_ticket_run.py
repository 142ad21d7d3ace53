import re
import shutil
import sys
from pathlib import Path

import pytest

from loopwright.app.starts.tickets.ticket_text import read_ticket
from loopwright.loops.tickets.earlier import Attempt, FeedbackRow
from tests.cli.projects import CONFIG, Done, Sample
from tests.cli.tickets import creates, escalated, finding, finds, folder, texts, ticketed
from tests.kept import Kept
from tests.repository import Repository
from tests.test_schemas import mistakes

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("kills")]


def began(sample: Sample, *accept: str) -> None:
    options = [word for text in accept for word in ("--accept", text)]
    assert sample.loop("ticket", "new", "Make it good", "--session", "s", *options).code == 0


def run(sample: Sample, *words: str, code: int = 0) -> Done:
    done = sample.loop("ticket", "run", *words, "--json")
    assert done.code == code, done.err
    assert mistakes("ticket-run" if code in (0, 4, 5) else "error", done.data) == []
    return done


def test_a_good_ticket_is_approved_at_once_on_a_branch_of_its_own_and_not_run_again(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    began(sample)
    data = run(sample).data
    head = sample.repo.git("rev-parse", f"refs/heads/loop/{data['loop']}")
    assert {name: data[name] for name in ("outcome", "session", "tickets", "verdict", "accuracy", "score")} == {
        "outcome": "verified",
        "session": "s",
        "tickets": ["TICKET-s-001"],
        "verdict": "APPROVE",
        "accuracy": 1.0,
        "score": 1.0,
    }
    assert (data["commit"], data["merged_into"], data["needs"]) == (head, "", [])
    assert sample.repo.git("show", f"{head}:result.txt") == "good"
    assert list(texts(folder(sample, "completed"))) == ["TICKET-s-001.md"]
    assert not folder(sample, "active").exists()
    assert not (sample.repo.path / "result.txt").exists()
    check_it_is_over(sample, data["loop"])


def check_it_is_over(sample: Sample, loop: str) -> None:
    kept = sample.repo.path / ".loop" / "tickets" / "queue"
    assert run(sample, "s", code=3).data["error"] == (
        f"session s is over (complete, loop {loop}); make a new ticket with `loop ticket new`"
    )
    shutil.copy(kept / ".activated" / f"{loop}.md", kept / "TICKET-s.md")
    again = run(sample, ".loop/tickets/queue/TICKET-s.md", code=3)
    assert "this very ticket was done before" in again.data["error"]
    assert run(sample, "nothing", code=2).data["error"] == (
        "there is no ticket or session 'nothing'; `loop ticket list` shows them"
    )


SEED = (
    finding(
        "coverage is low",
        expected=">= 80% line coverage",
        actual="45% coverage",
        guidance="Add tests for handleTimeout() and processEmpty()",
    ),
    finding("error paths are missing", expected="Error paths tested", actual="2 of 6 tested"),
    finding("no name is checked", requirement="AC-2"),
    finding("no page is written", requirement="AC-3"),
)
CRITERIA = ("Test Coverage", "Names", "Pages", "Four", "Five", "Six", "Seven", "Eight")


def test_the_two_tickets_of_the_seed_and_their_files_as_they_stand(tmp_path: Path) -> None:
    """Six of ten aspects: one check and five criteria pass, two aspects of coverage and two criteria do not."""
    sample = ticketed(tmp_path / "repo", creates(summary="a first go"), finds(*SEED, attempt=1))
    began(sample, *CRITERIA)
    data = run(sample).data
    assert (data["tickets"], data["verdict"]) == (["TICKET-s-001", "TICKET-s-002"], "APPROVE")
    first, second = (read_ticket(folder(sample, "completed") / f"TICKET-s-00{number}.md") for number in (1, 2))
    assert (first.status, first.index, first.max, first.parent, first.accuracy) == ("route_back", 1, 5, "", None)
    assert (second.status, second.index, second.max, second.parent) == ("approved", 2, 5, "TICKET-s-001")
    assert second.accuracy == 0.6
    gaps = ("Names", "Pages", "Test Coverage")
    assert second.history == (Attempt(ticket="TICKET-s-001", outcome="ROUTE_BACK", accuracy=0.6, gaps=gaps),)
    assert [row for row in second.feedback if row.requirement == "Test Coverage"] == [
        FeedbackRow(
            requirement="Test Coverage",
            expected=expected,
            actual=actual,
            score=score,
            guidance="Add tests for handleTimeout() and processEmpty()",
        )
        for expected, actual, score in (
            (">= 80% line coverage", "45% coverage", 0.56),
            ("Error paths tested", "2 of 6 tested", 0.33),
        )
    ]
    text = texts(folder(sample, "completed"))["TICKET-s-002.md"]
    for part in (
        'title: "[Iteration 2/5] Make it good"\n',
        "iteration:\n  index: 2\n  max: 5\n  parent_ticket: TICKET-s-001\n  accuracy_score: 0.6\n",
        "## Attempt 1: TICKET-s-001\n- **Outcome**: ROUTE_BACK\n- **Accuracy**: 0.60\n- **Key Gaps**: [",
        (
            "### Requirement: Test Coverage\n| Expected | Actual | Score |\n|----------|--------|-------|\n"
            "| >= 80% line coverage | 45% coverage | 0.56 |\n| Error paths tested | 2 of 6 tested | 0.33 |\n"
        ),
        "**Guidance**: Add tests for handleTimeout() and processEmpty()\n",
    ):
        assert part in text


def test_an_approved_session_is_told_with_every_ticket_and_rendered_later_as_it_was_then(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates("bad", attempt=1), creates())
    began(sample, "it is good")
    loop = run(sample).data["loop"]
    lines = sample.loop("log", "--json").out
    assert "ROUTE_BACK: TICKET-s-001" in lines
    shown = sample.loop("cancel", "--loop", loop)
    assert shown.code == 3
    status = sample.loop("status", "--json").data["loops"][0]
    assert (status["kind"], status["task"], status["attempt"], status["limit"]) == ("tickets", "Make it good", 2, 5)
    before = texts(folder(sample, "completed"))
    observed = {file.name: file.read_text() for file in (sample.repo.path / ".loop" / "observer").glob("*.jsonl")}
    assert (len(before), sorted(observed)) == (2, ["iterations.jsonl", "violations.jsonl"])
    for name in ("tickets", "observer"):
        shutil.rmtree(sample.repo.path / ".loop" / name)
    written = sample.loop("render", "--json").data["files"]
    assert texts(folder(sample, "completed")) == before
    assert {Path(name).name: (sample.repo.path / name).read_text() for name in written[2:]} == observed


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    steps = (creates("bad", attempt=1), creates("good"))
    return Kept.of(escalated(tmp_path_factory.mktemp("stopped") / "repo", *steps).repo.path)


@pytest.fixture
def stopped(once: Kept) -> Sample:
    """A session that waits for a person after its first ticket; the next one is good."""
    return Sample(Repository(once.restored()))


def test_answers_and_resumes_write_the_same_files_as_the_log(stopped: Sample) -> None:
    """Each command knows only a part of the log at first hand."""
    stopped.loop("answer", "history")
    stopped.loop("answer", "continue")
    assert stopped.loop("resume").code == 0
    before = texts(folder(stopped, "completed"))
    shutil.rmtree(folder(stopped, "completed"))
    stopped.loop("render")
    assert texts(folder(stopped, "completed")) == before


def test_a_session_that_is_never_right_escalates_at_its_last_ticket(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates("bad"))
    began(sample, "it is good")
    data = run(sample, "--max", "2", code=4).data
    assert (data["tickets"], data["verdict"], data["outcome"]) == (
        ["TICKET-s-001", "TICKET-s-002"],
        "ESCALATE",
        "escalated",
    )
    (need,) = data["needs"]
    commands = [choice["command"] for choice in need["choices"]]
    assert commands == [
        "loop answer continue 3",
        'loop answer examples --text "what it should look like"',
        'loop answer reassign --text "creator=AGENT"',
        "loop answer accept",
        "loop answer history",
        'loop answer revise --text "new guidance"',
        "loop answer cancel",
    ]
    second = read_ticket(folder(sample, "active") / "TICKET-s-002.md")
    assert (second.status, [attempt.outcome for attempt in second.history]) == ("escalated", ["ROUTE_BACK"])


def test_a_person_reads_why_it_stopped(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates("bad"))
    began(sample, "it is good", "it is kept")
    out = sample.loop("ticket", "run", "--max", "1").out
    assert out.startswith(
        "Stopped: a person is needed.\n\nTICKET-s-001: ESCALATE, accuracy 0.67, first; gaps: Tests; tried: wrote the"
        " result\nPattern: first; persistent gaps: none\nRecommended: continue (too little was tried to tell)\n"
        "Not met by TICKET-s-001:\n  automatic reject: tests fail or do not run (test: failed)\n"
    )
    assert 'loop answer split --text "AC-1; AC-2"' in out


def test_the_oldest_that_is_under_way_goes_on_before_the_queue(stopped: Sample) -> None:
    assert stopped.loop("ticket", "new", "Another", "--session", "other").code == 0
    stopped.loop("answer", "continue")
    assert run(stopped).data["session"] == "s"
    assert run(stopped).data["session"] == "other"
    done = run(stopped, code=2)
    assert done.data["error"] == "there is no ticket to be done; make one with `loop ticket new TITLE`"


@pytest.mark.parametrize("name", ["b", "TICKET-b-001", "TICKET-b", ".loop/tickets/queue/TICKET-b.md"])
def test_a_ticket_is_run_by_its_session_its_id_or_its_file_and_merged_it_is_in_the_persons_tree(
    tmp_path: Path, name: str
) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    for session in ("a", "b"):
        sample.loop("ticket", "new", "Make it good", "--session", session)
    data = run(sample, name, "--merge").data
    assert (data["session"], data["merged_into"]) == ("b", "main")
    assert (sample.repo.path / "result.txt").read_text() == "good"
    assert [each["session"] for each in sample.loop("ticket", "list", "--json").data["queue"]] == ["a"]


def test_a_new_ticket_of_a_session_that_is_over_goes_on_with_its_numbers(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates(), finds(finding("not yet", "critical"), attempt=2))
    began(sample)
    run(sample)
    assert sample.loop("ticket", "new", "Make it better", "--session", "s", "--json").data["ticket"] == "TICKET-s-002"
    shutil.rmtree(folder(sample, "completed"))  # the log knows the number too
    data = run(sample, "--max", "2").data
    assert (data["tickets"], data["verdict"]) == (["TICKET-s-002", "TICKET-s-003"], "APPROVE")
    assert read_ticket(folder(sample, "completed") / "TICKET-s-003.md").max == 3


def test_a_session_that_is_under_way_takes_no_second_ticket_and_no_new_limits(stopped: Sample) -> None:
    stopped.loop("ticket", "new", "Another", "--session", "s")
    again = run(stopped, ".loop/tickets/queue/TICKET-s.md", code=3)
    assert "session s is under way as loop" in again.data["error"]
    assert "--max, --merge and --allow are for a new one" in run(stopped, "s", "--max", "9", code=2).data["error"]


def test_a_dry_run_says_who_would_do_it_and_makes_nothing(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    began(sample, "it is good")
    data = run(sample, "--dry-run", "--max", "3").data
    assert (data["ticket"], data["where"], data["max"], data["criteria"]) == (
        "TICKET-s-001",
        "queue",
        3,
        ["AC-1: it is good"],
    )
    assert data["agents"] == {"creator": ["script"], "critic": ["script"]}
    assert sample.loop("ticket", "run", "--dry-run").out.startswith("Would begin TICKET-s-001: Make it good\n")
    assert sample.loop("status", "--json").data == {"loops": []}
    assert sample.loop("ticket", "list", "--json").data["queue"][0]["session"] == "s"


def test_work_that_is_not_committed_is_said_to_be_unseen_by_a_new_session(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    began(sample, "it is good")
    sample.repo.write("mine.txt", "half done")
    said = "Uncommitted changes of 1 file are not seen by the loop: mine.txt; commit what it needs first.\n"
    assert [sample.loop("ticket", "run", *words).err.count(said) for words in (["--dry-run"], ["--unattended"])] == [
        1,
        1,
    ]


def test_a_dry_run_of_what_is_under_way(stopped: Sample) -> None:
    data = run(stopped, "--dry-run").data
    assert (data["where"], data["ticket"], data["max"]) == ("active", "TICKET-s-001", 1)


def test_without_checks_or_without_a_critic_nothing_is_begun(tmp_path: Path) -> None:
    bare = CONFIG.split("[checks.test]")[0] + f"[checks.lint]\nrun = [{sys.executable!r}, '-c', '']\n"
    sample = ticketed(tmp_path / "one", creates(), config=bare)
    began(sample)
    assert run(sample, code=2).data["error"].startswith("loop.toml has no check that counts tests")
    alone = CONFIG.replace('default = "script"', 'creator = "script"')
    sample = ticketed(tmp_path / "other", creates(), config=alone)
    began(sample)
    assert run(sample, code=2).data["error"].startswith("loop.toml: roles.critic: names no agent")
    assert [each["session"] for each in sample.loop("ticket", "list", "--json").data["queue"]] == ["s"]


def test_every_configured_critic_is_heard_and_a_judge_only_when_named(tmp_path: Path) -> None:
    config = CONFIG.replace("[workspace]", '[tickets]\ncritics = ["critic", "reviewer"]\n[workspace]')
    reviewer = finds(finding("wrong", "critical"), attempt=1, role="reviewer")
    good = '[[step]]\nrole = "reviewer"\nresult = { status = "done", verdict = "pass" }\n'
    sample = ticketed(tmp_path / "repo", creates(), reviewer, good, config=config)
    began(sample)
    assert run(sample).data["tickets"] == ["TICKET-s-001", "TICKET-s-002"]
    roles = re.findall(r"(\w+) starts\b", sample.loop("log").out)
    assert roles == ["creator", "critic", "reviewer"] * 2


def test_a_judge_that_says_no_routes_back_with_its_guidance(tmp_path: Path) -> None:
    judge = """\
[[step]]
role = "judge"
attempt = 1
result = { status = "done", verdict = "fail", summary = "name it well", aspects = [
    { requirement = "AC-1", aspect = "names", expected = "good", actual = "bad", pass = false } ] }
[[step]]
role = "judge"
result = { status = "done", verdict = "pass" }
"""
    config = CONFIG.replace('default = "script"', 'default = "script"\njudge = "script"')
    sample = ticketed(tmp_path / "repo", creates(), judge, config=config)
    began(sample)
    assert run(sample).data["verdict"] == "APPROVE"
    second = read_ticket(folder(sample, "completed") / "TICKET-s-002.md")
    assert [row.score for row in second.feedback if row.requirement == "AC-1"] == [0.0]
    briefs = [file.read_text() for file in (sample.repo.path / ".loop" / "runs").rglob("brief.md")]
    (rework,) = [text for text in briefs if text.startswith("# Brief for the creator: TICKET-s-002")]
    assert "The judge says: name it well" in rework


def test_full_clean_up_leaves_no_ticket_of_the_session(stopped: Sample) -> None:
    assert stopped.loop("cancel", "--cleanup", "full_cleanup").code == 0
    assert not folder(stopped, "active").exists()
    assert [each["status"] for each in stopped.loop("ticket", "list", "--json").data["cancelled"]] == ["blocked"]


def test_a_criterion_that_is_shown_to_be_unmet_is_never_approved(tmp_path: Path) -> None:
    header = finding("There is no header row at all", category="functionality")
    sample = ticketed(tmp_path / "repo", creates(), finds(header))
    began(sample, "There is a header")
    done = sample.loop("ticket", "run", "--max", "1", "--merge", "--json")
    assert (done.code, done.data["verdict"], done.data["merged"]) == (4, "ESCALATE", False)
    assert "- [ ] AC-1: There is a header" in (folder(sample, "active") / "TICKET-s-001.md").read_text()


def test_what_an_approved_ticket_deferred_is_in_its_file_its_last_lines_and_the_debt(tmp_path: Path) -> None:
    minor = finds(finding("x says nothing", requirement="")).replace('"fail"', '"pass"')
    sample = ticketed(tmp_path / "repo", creates(), minor)
    began(sample, "it is good")
    done = sample.loop("ticket", "run")
    assert "with 1 deferred issue, recorded in .loop/debt.md" in done.err + done.out
    debt = (sample.repo.path / ".loop" / "debt.md").read_text()
    assert "[high] x says nothing" in debt
    assert "x says nothing" in (folder(sample, "completed") / "TICKET-s-001.md").read_text()
    sample.loop("render")
    assert (sample.repo.path / ".loop" / "debt.md").read_text() == debt


def test_a_creator_that_changed_nothing_asks_a_person_whether_it_was_done(tmp_path: Path) -> None:
    idle = '[[step]]\nrole = "creator"\nrepeat = true\nresult = { status = "done", summary = "it is there" }\n'
    sample = ticketed(tmp_path / "repo", idle)
    sample.repo.write("result.txt", "good")
    sample.repo.commit("Do it by hand")
    began(sample, "it is good")
    done = run(sample, code=4)
    (need,) = done.data["needs"]
    assert need["what"] == "The creator has changed nothing. Was it done already?"
    assert sample.loop("answer", "done").code == 0
    assert run(sample).data["verdict"] == "APPROVE"
