"""Many artifacts at once, through the command line."""

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from loopwright.app.loops import view
from loopwright.app.project import open_project
from loopwright.app.views.ending import unresolved_text
from tests.cli.projects import CONFIG, Sample
from tests.cli.reviews import blocks, finding, fixes, reviewable
from tests.kept import Kept
from tests.repository import Repository
from tests.test_schemas import mistakes

FILES = ("docs/a.md", "docs/b.md", "docs/c.md")
STEPS = (
    blocks("docs/b.md", attempt=1),
    *(blocks("docs/c.md", attempt=attempt) for attempt in (1, 2, 3)),
    fixes("docs/b.md"),
    fixes("docs/c.md"),
)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    sample = reviewable(tmp_path_factory.mktemp("stopped") / "repo", *STEPS, files=FILES)
    assert sample.loop("review", "docs", "--batch").code == 4
    return Kept.of(sample.repo.path)


@pytest.fixture
def stopped(once: Kept) -> Sample:
    """One passed, one was fixed, one is still blocked after its third review."""
    return Sample(Repository(once.restored()))


def loops(sample: Sample) -> list[dict[str, Any]]:
    data = sample.loop("status", "--json").data
    assert mistakes("status", data) == []
    return list(data["loops"])


def child(sample: Sample, artifact: str) -> str:
    return next(str(loop["id"]) for loop in loops(sample) if loop["task"] == artifact)


def test_what_passed_is_landed_and_what_is_blocked_waits_with_its_findings(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo", *STEPS, files=FILES)
    done = sample.loop("review", "docs", "--batch", "--json")
    assert (done.code, mistakes("review", done.data)) == (4, [])
    answer = done.data
    assert (answer["passed"], answer["pending"], answer["rounds"], answer["fixes"]) == (list(FILES[:2]), [], 3, 3)
    (blocked,) = answer["blocked"]
    assert (blocked["artifact"], blocked["reason"], blocked["attempts"], blocked["file"]) == (
        "docs/c.md",
        "MAX_LOOPS_REACHED",
        3,
        ".loop/quality/docs/c.quality.yml",
    )
    assert [each["issue"] for each in blocked["unresolved"]] == ["it is bad"]
    assert sample.repo.git("diff", "--name-only", "main", answer["branch"]) == "docs/b.md"
    assert sample.repo.git("status", "--porcelain") == ""


def test_what_the_landed_part_did_without_is_told_while_the_rest_waits(tmp_path: Path) -> None:
    found = blocks("docs/b.md", finding("docs/b.md", "bad"), finding("tests/test_b.py", "weak"), attempt=1)
    mended = fixes("docs/b.md").replace("edits = [", 'edits = [{ path = "tests/test_b.py", content = "x = 2\\n" }, ', 1)
    files = (*FILES[1:], "tests/test_b.py")
    sample = reviewable(tmp_path / "repo", found, *STEPS[1:4], mended, fixes("docs/c.md"), files=files)
    sample.repo.write("loop.toml", CONFIG + '[trust]\nchanged_tests = "ask"\n')
    sample.repo.commit("Ask about every altered test")
    done = sample.loop("review", "docs", "--batch", "--json")
    (held,) = done.data["held_back"]
    assert (done.code, held["path"], held["how"]) == (4, "tests/test_b.py", "changed")
    assert f"loop approve {held['gate']}" in [need["command"] for need in done.data["needs"]]


def test_nothing_is_left_open_below_a_batch_whose_checks_cannot_run(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo", *STEPS, files=FILES)
    config = CONFIG.replace('"check.py"]', '"-m", "unittest"]').replace('trust = "exit-code"\n', "")
    sample.repo.write("loop.toml", config)
    done = sample.loop("review", "docs", "--batch", "--json")
    assert (done.code, "cannot run" in done.data["note"]) == (2, True)
    assert {loop["status"] for loop in loops(sample)} & {"running", "waiting", "interrupted", "paused"} == set()
    assert sample.loop("resume").out == "Nothing to resume.\n"


def test_a_pipe_hears_verdicts_and_what_the_batch_itself_does(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo", *STEPS, files=FILES)
    lines = sample.loop("review", "docs", "--batch").err.splitlines()
    keys = [re.sub(r"-\d.*", "", line.split()[1]) for line in lines[1:]]
    assert keys == [
        *["verdict"] * 3,
        *["preflight"] * 2,
        *["verdict"] * 3,
        "review",
        *["combine"] * 2,
        *["verify"] * 2,
        *["land"] * 2,
        "escalation",
    ]
    assert (
        "docs/c.md (MAX_LOOPS_REACHED: 3 reviews and 2 fixes; findings in .loop/quality/docs/c.quality.yml)" in lines[9]
    )


def test_the_screen_names_what_is_blocked_and_where_the_rest_is(stopped: Sample) -> None:
    lines = stopped.loop("resume", "--unattended").out.splitlines()
    assert re.fullmatch(r"The fixes of what passed are on branch loop/review-docs-a-\S+ \([0-9a-f]{12}\)\.", lines[1])
    assert lines[3:7] == [
        "docs/c.md: MAX_LOOPS_REACHED (3 reviews, 2 fixes, 1 unresolved)",
        "  [critical] docs/c.md:1 - it is bad",
        "  all of it in .loop/quality/docs/c.quality.yml",
        "  Recommended: manual review; 1 finding outlasted every fix.",
    ]


def test_continuing_goes_on_with_what_is_blocked_alone(stopped: Sample) -> None:
    assert stopped.loop("answer", "continue", "1").code == 0
    done = stopped.loop("resume", "--json")
    assert (done.code, done.data["passed"], done.data["blocked"]) == (0, list(FILES), [])
    assert mistakes("resume", done.data) == []
    assert len(re.findall("verdict-", done.err)) == 1
    assert stopped.repo.git("diff", "--name-only", "main", done.data["branch"]).split() == list(FILES[1:])


def test_accepting_takes_what_is_blocked_with_what_is_known(stopped: Sample) -> None:
    assert (stopped.repo.path / ".loop" / "quality" / "docs" / "c.quality.yml").exists()
    assert stopped.loop("answer", "accept").code == 0
    done = stopped.loop("resume", "--json")
    assert (done.code, done.data["outcome"], done.data["passed"]) == (0, "accepted", list(FILES[:2]))
    assert [(each["reason"], each["file"]) for each in done.data["blocked"]] == [
        ("a person accepted it with what is known", None)
    ]
    assert not (stopped.repo.path / ".loop" / "quality" / "docs" / "c.quality.yml").exists()
    assert "docs/c.md" in (stopped.repo.path / ".loop" / "debt.md").read_text()


def test_the_history_is_that_of_what_is_blocked(stopped: Sample) -> None:
    shown = stopped.loop("answer", "history").out
    assert re.findall(r"Review \d: \w+: \S+", shown) == [f"Review {n}: CHECK_BLOCKED: docs/c.md" for n in (1, 2, 3)]


def test_what_is_unresolved_is_told_before_a_person_decides(stopped: Sample) -> None:
    async def told() -> str:
        project = open_project(stopped.repo.path, os.environ)
        (batch,) = (row.id for row in await project.store.rows() if row.parent is None)
        return await unresolved_text(project, await view(project, batch))

    assert asyncio.run(told()).startswith("docs/c.md: MAX_LOOPS_REACHED (3 reviews, 2 fixes, 1 unresolved)\n")


def test_status_counts_the_parts_and_names_those_that_are_stuck(stopped: Sample) -> None:
    root, *parts = loops(stopped)
    assert (root["kind"], root["parent"], root["status"], len(root["needs"])) == ("batch", None, "waiting", 1)
    assert [(part["kind"], part["parent"], part["needs"]) for part in parts] == [("quality", root["id"], [])] * 3
    assert stopped.loop("status").out.splitlines()[-2:] == [
        "Parts: 2 passed, 1 blocked",
        "  docs/c.md: ESCALATED, review 3/3",
    ]


def test_a_part_can_be_looked_at(stopped: Sample) -> None:
    part = child(stopped, "docs/b.md")
    assert "CHECK_BLOCKED: docs/b.md" in stopped.loop("log", "--loop", part).out
    assert stopped.loop("explain", "--loop", part, "--json").data["state"] == "DONE"
    assert stopped.loop("log", "--agent", "fix-1.4", "--loop", part).code == 0


@pytest.mark.parametrize("words", [("answer", "accept"), ("resume",), ("cancel",), ("approve", "protected")])
def test_only_the_whole_can_be_told_what_to_do(stopped: Sample, words: tuple[str, ...]) -> None:
    part, root = child(stopped, "docs/c.md"), loops(stopped)[0]["id"]
    done = stopped.loop(*words, "--loop", part)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"loop: loop {part} is a part of loop {root}, which decides for it; use --loop {root}\n"


def test_who_answers_a_part_too_late_hears_what_became_of_it(stopped: Sample) -> None:
    part = child(stopped, "docs/b.md")
    done = stopped.loop("answer", "accept", "--loop", part)
    assert (done.code, done.err) == (3, f"loop: loop {part} has ended (complete); the answer was not recorded\n")


def test_cancelling_ends_every_part(stopped: Sample) -> None:
    done = stopped.loop("cancel", "--json")
    assert (done.code, done.data["outcome"], mistakes("cancel", done.data)) == (0, "cancelled", [])
    assert [each["reason"] for each in done.data["blocked"]] == ["the review was cancelled"]
    assert {loop["status"] for loop in loops(stopped)} == {"complete", "cancelled"}
    assert "Parts: 2 passed, 1 cancelled" in stopped.loop("status").out


def test_of_fixes_that_do_not_go_together_the_later_is_made_again(tmp_path: Path) -> None:
    shared = "docs/shared.md"
    steps = [
        step.replace(f'"{name}", content', f'"{shared}", content')
        for name in ("docs/a.md", "docs/b.md")
        for step in (blocks(name, finding(shared, f"{name} says so"), attempt=1), fixes(name, f"as {name} has it\\n"))
    ]
    sample = reviewable(tmp_path / "repo", *steps, files=("docs/a.md", "docs/b.md", shared))
    done = sample.loop("review", "docs/a.md", "docs/b.md", "--batch", "--json")
    assert (done.code, done.data["passed"], done.data["blocked"]) == (0, ["docs/a.md", "docs/b.md"], [])
    assert (done.data["fixes"], done.data["rounds"]) == (3, 3)
    assert sample.loop("status").out.splitlines()[-1] == "Parts: 2 passed"
    assert len(loops(sample)) == 4
    # What was found beside the artifacts is gone where all of it has landed, and is told so when it is told anew.
    for _ in range(2):
        stories = list(sample.repo.path.glob(".loop/stories/*/handoff.yml"))
        assert [story.read_text().count("resolved: true") for story in stories] == [1, 1]
        assert [done.data["commit"] in story.read_text() for story in stories] == [True, True]
        shutil.rmtree(sample.repo.path / ".loop" / "stories")
        assert sample.loop("render").code == 0


def test_a_creator_that_gives_up_is_told_in_its_own_words(tmp_path: Path) -> None:
    gives_up = '[[step]]\nrole = "creator"\nresult = { status = "blocked", summary = "no access" }\n'
    sample = reviewable(tmp_path / "repo", blocks("docs/a.md"), gives_up, files=FILES)
    done = sample.loop("review", "docs", "--batch", "--json")
    assert (done.code, done.data["passed"]) == (4, list(FILES[1:]))
    assert [each["reason"] for each in done.data["blocked"]] == ["the creator is blocked: no access"]
