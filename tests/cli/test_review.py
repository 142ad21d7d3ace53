import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.projects import CONFIG, Done, Sample
from tests.cli.reviews import PASSES, blocks, finding, fixes, reviewable, unresolved
from tests.kept import Kept
from tests.repository import Repository
from tests.test_schemas import mistakes

pytestmark = pytest.mark.unmeasured

ABOUT = ("artifact", "gate", "mode", "file", "agents")


def told(done: Done) -> dict[str, Any]:
    """The answer, once it fits its schema; findings without the identities that are made from their words."""
    assert mistakes("review", done.data) == []
    for each in done.data["blocked"]:
        assert all(found["id"] for found in each["unresolved"])
    return {
        **done.data,
        "blocked": [
            {
                **each,
                "unresolved": [{key: value for key, value in f.items() if key != "id"} for f in each["unresolved"]],
            }
            for each in done.data["blocked"]
        ],
    }


def verdicts(done: Done) -> list[str]:
    """The verdict lines on the screen, without when and which."""
    return re.findall(r"verdict-\S+ +(\w+: \S+) \(", done.err)


def test_what_passes_at_once_is_left_as_it_is(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo")
    before = sample.repo.git("rev-parse", "main")
    done = sample.loop("review", "a.py", "--json")
    assert done.code == 0, done.err
    assert told(done) == {
        "loop": done.data["loop"],
        "outcome": "reviewed",
        "passed": ["a.py"],
        "blocked": [],
        "pending": [],
        "rounds": 1,
        "fixes": 0,
        "commit": before,
        "branch": "",
        "merged": False,
        "merged_into": "",
        "not_merged": "",
        "interrupted": False,
        "command": "",
        "folder": "",
        "held_back": [],
        "unresolved": [],
        "note": "CHECK_PASSED: a.py",
        "cost": {"usd": 0.0, "estimated": False, "reserved": 0.0, "budget": 25.0},
        "evidence": None,
        "needs": [],
    }
    assert verdicts(done) == ["CHECK_PASSED: a.py"]
    assert sample.repo.git("status", "--porcelain") == ""


def test_three_blocked_reviews_ask_a_person_with_everything_that_is_unresolved(tmp_path: Path) -> None:
    found = (finding("a.py", "also bad", "high"), finding("a.py", "it is bad"))
    sample = reviewable(tmp_path / "repo", blocks("a.py", *found), fixes("a.py"))
    done = sample.loop("review", "a.py", "--json")
    assert (done.code, done.data["outcome"], done.data["rounds"], done.data["fixes"]) == (4, "escalated", 3, 2)
    assert told(done)["blocked"] == [
        {
            "artifact": "a.py",
            "reason": "MAX_LOOPS_REACHED",
            "attempts": 3,
            "fixes": 2,
            "unresolved": [unresolved("a.py", "it is bad"), unresolved("a.py", "also bad", "high")],
            "file": None,
            "recommendation": "Recommended: manual review; 2 findings outlasted every fix.",
            "loop": done.data["loop"],
        }
    ]
    (need,) = done.data["needs"]
    assert need["command"] == "loop answer continue 3"
    assert verdicts(done) == ["CHECK_BLOCKED: a.py"] * 3


def test_the_screen_of_a_stopped_review_has_every_finding_and_every_command(tmp_path: Path) -> None:
    many = tuple(finding("a.py", f"wrong {number}") for number in range(23))
    sample = reviewable(tmp_path / "repo", blocks("a.py", *many), fixes("a.py"))
    done = sample.loop("review", "a.py", "--max-attempts", "1")
    assert done.code == 4
    lines = done.out.splitlines()
    assert lines[:4] == [
        "Stopped: a person is needed.",
        "",
        "a.py: MAX_LOOPS_REACHED (1 review, 0 fixes, 23 unresolved)",
        "  [critical] a.py:1 - wrong 0",
    ]
    assert lines[22:24] == ["  [critical] a.py:1 - wrong 19", "  and 3 more"]
    assert "Recommended: manual review of what is left." in done.out
    for command in ("loop answer continue 3", "loop answer accept", 'loop answer revise --text "new guidance"'):
        assert f"  {command} " in done.out


def test_a_story_is_handed_over_in_a_file_beside_it(tmp_path: Path) -> None:
    story = "stories/ST-1.yml"
    sample = reviewable(tmp_path / "repo", blocks(story), fixes(story, "id: ST-1\\n"), files=(story,))
    done = sample.loop("review", story, "--json")
    assert (done.code, verdicts(done)) == (4, [f"QUALITY_BLOCKED: {story}"] * 3)
    (blocked,) = done.data["blocked"]
    assert blocked["file"] == ".loop/quality/stories/ST-1.quality.yml"
    assert (sample.repo.path / blocked["file"]).read_text().splitlines()[1].startswith("story_id: ")
    assert "all of it in .loop/quality/stories/ST-1.quality.yml" in sample.loop("resume", "--unattended").out


# --- a person's answers -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    steps = tuple(blocks("a.py", attempt=attempt) for attempt in (1, 2, 3))
    sample = reviewable(tmp_path_factory.mktemp("stopped") / "repo", *steps, fixes("a.py"))
    assert sample.loop("review", "a.py").code == 4
    return Kept.of(sample.repo.path)


@pytest.fixture
def stopped(once: Kept) -> Sample:
    """Blocked in its first three reviews."""
    return Sample(Repository(once.restored()))


def test_continuing_grants_more_reviews(stopped: Sample) -> None:
    assert stopped.loop("answer", "continue", "1").code == 0
    done = stopped.loop("resume", "--json")
    assert (done.code, done.data["passed"], done.data["rounds"], done.data["fixes"]) == (0, ["a.py"], 4, 3)
    assert mistakes("resume", done.data) == []


def test_accepting_keeps_what_is_known_as_debt(stopped: Sample) -> None:
    assert stopped.loop("answer", "accept").code == 0
    done = stopped.loop("resume", "--json")
    assert (done.code, done.data["outcome"], done.data["passed"]) == (0, "accepted", [])
    assert [(each["artifact"], each["reason"]) for each in told(done)["blocked"]] == [
        ("a.py", "a person accepted it with what is known")
    ]
    assert [each["issue"] for each in done.data["blocked"][0]["unresolved"]] == ["it is bad"]
    assert "it is bad" in (stopped.repo.path / ".loop" / "debt.md").read_text()


def test_what_fails_the_checks_is_merged_only_if_it_is_accepted_knowing_that(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo", blocks("a.py"), fixes("a.py", "x = (\\n"))
    assert sample.loop("review", "a.py", "--max-attempts", "2").code == 4
    before = sample.repo.git("rev-parse", "main")
    assert sample.loop("answer", "accept", "--merge").code == 0
    asked = sample.loop("resume", "--json")
    assert (asked.code, asked.data["outcome"], asked.data["merged"]) == (4, "escalated", False)
    assert sample.repo.git("rev-parse", "main") == before
    (need,) = asked.data["needs"]
    assert "what was accepted is not landed: these fail: test" in need["what"]
    assert sample.loop("answer", "accept", "--merge").code == 0
    done = sample.loop("resume", "--json")
    assert (done.code, done.data["outcome"], done.data["merged"]) == (0, "accepted", True)
    issues = [each["issue"] for each in done.data["blocked"][0]["unresolved"]]
    assert (issues[0], len(issues)) == ("it is bad", 2)
    debt = (sample.repo.path / ".loop" / "debt.md").read_text()
    assert "- **Failing checks**:\n  - [high] check 'test' failed:" in debt
    assert issues[1].startswith("check 'test' failed:")


def test_cancelling_leaves_it_blocked(stopped: Sample) -> None:
    done = stopped.loop("cancel", "--json")
    assert mistakes("cancel", done.data) == []
    assert (done.code, done.data["outcome"]) == (0, "cancelled")
    assert [each["reason"] for each in done.data["blocked"]] == ["the review was cancelled"]


def test_the_history_is_that_of_the_reviews(stopped: Sample) -> None:
    shown = stopped.loop("answer", "history", "--json").data["history"]
    assert [line.split(" (")[0] for line in shown.splitlines() if line.startswith("Review")] == [
        f"Review {number}: CHECK_BLOCKED: a.py" for number in (1, 2, 3)
    ]


def test_what_is_looked_at_afterwards(stopped: Sample) -> None:
    explained = stopped.loop("explain", "--json").data
    assert (explained["kind"], explained["state"]) == ("quality", "ESCALATED")
    assert [each["severity"] for each in explained["findings"]] == ["critical"]
    assert stopped.loop("gates", "--json").data == {"gates": []}
    (receipt,) = stopped.loop("receipts", "--json").data["receipts"]
    assert receipt["check"] == "test", "of the base, before the first fix"
    shown = stopped.loop("status").out
    assert "State: ESCALATED (review 3/3, waiting)" in shown
    assert "Parts:" not in shown


# --- before it starts ---------------------------------------------------------------------------------


def test_a_budget_that_is_too_small_pauses_and_leaves_it_pending(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo")
    config = CONFIG.replace('"scenario.toml"\n', '"scenario.toml"\n[agents.script.limits]\nusd = 2.0\n', 1)
    sample.repo.write("loop.toml", config)
    done = sample.loop("review", "a.py", "--budget", "1", "--json")
    assert (done.code, done.data["outcome"], done.data["pending"]) == (5, "paused", ["a.py"])
    assert (done.data["passed"], done.data["blocked"], done.data["rounds"]) == ([], [], 0)


def test_a_dry_run_says_what_would_be_reviewed_and_makes_nothing(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo", files=("a.py", "docs/b-design.md"))
    done = sample.loop("review", "a.py", "docs/b-design.md", "--mode", "comprehensive", "--dry-run", "--json")
    assert (done.code, mistakes("review", done.data)) == (0, [])
    agents = {"reviewer": ["script"], "creator": ["script"]}
    assert [{key: each[key] for key in ABOUT} for each in done.data["artifacts"]] == [
        {"artifact": "a.py", "gate": "code", "mode": "comprehensive", "file": None, "agents": agents},
        {
            "artifact": "docs/b-design.md",
            "gate": "design",
            "mode": "comprehensive",
            "file": ".loop/quality/docs/b-design.quality.yml",
            "agents": agents,
        },
    ]
    assert (done.data["kind"], done.data["max_attempts"], done.data["budget"]) == ("batch", 3, 25.0)
    limits = "3 reviews of each; any critical finding blocks, and more than 2 high ones; 4 agents at once"
    assert sample.loop("review", "a.py", "--dry-run").out.splitlines() == [
        "Would review 1 artifact:",
        "  a.py: code gate, quick",
        "    reviewer: script; creator: script; findings in the brief",
        f"Limits: {limits}; budget $25.00",
        "Result: a branch of its own",
        "Nothing was created.",
    ]
    assert not (sample.repo.path / ".loop").exists()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ((), "Missing argument 'PATH…'"),
        (("gone.py",), "gone.py: there is no such file or folder"),
        (("../outside.py",), "../outside.py is outside of "),
        (("link.py",), "link.py is, or lies behind, a symbolic link; name the file itself"),
        (("a.quality.yml",), "a.quality.yml holds findings, it is nothing to review"),
        ((".",), ". is the whole repository; name files or folders in it"),
        ((".git/config",), ".git/config is git's own"),
        (("a.py", "--gate", "taste"), "'taste' is not one of"),
        (("a.py", "--mode", "deep"), "'deep' is not one of"),
        (("a.py", "--max-attempts", "0"), "'0' is not a whole number from 1 to 1000"),
        (("empty", "--batch"), "empty has no file to review"),
    ],
)
def test_what_cannot_be_reviewed_is_refused_in_a_sentence(tmp_path: Path, words: tuple[str, ...], part: str) -> None:
    sample = reviewable(tmp_path / "repo")
    (tmp_path / "outside.py").write_text("")
    (sample.repo.path / "link.py").symlink_to("a.py")
    (sample.repo.path / "a.quality.yml").write_text("verdict: BLOCKED\n")
    (sample.repo.path / "empty").mkdir()
    done = sample.loop("review", *words, "--json")
    assert (done.code, mistakes("error", done.data)) == (2, [])
    assert part in done.data["error"]
    assert sample.repo.git("for-each-ref", "refs/loopwright") == ""


def test_a_review_needs_no_checks(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", PASSES, CONFIG.split("[checks.test]")[0])
    assert sample.loop("review", "check.py").code == 0


def test_nobody_to_fix_it_is_said_before_anything_is_made(tmp_path: Path) -> None:
    config = CONFIG.replace('default = "script"', 'reviewer = "script"')
    done = Sample.create(tmp_path / "repo", PASSES, config).loop("review", "check.py")
    assert done.code == 2
    assert "roles.creator: names no agent" in done.err


def test_what_is_not_committed_is_reviewed_as_it_is(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo", blocks("new.py", attempt=1), fixes("new.py"))
    sample.repo.write("new.py", "not yet committed\n")
    done = sample.loop("review", "new.py", "--json")
    assert (done.code, done.data["passed"]) == (0, ["new.py"])
    assert sample.repo.git("status", "--porcelain") == "?? new.py"
    assert sample.repo.git("show", f"{done.data['branch']}:new.py") == "better"


# --- a no stays a no --------------------------------------------------------------------------------------------


def test_a_review_that_the_reviewer_failed_at_its_last_attempt_is_never_passed(tmp_path: Path) -> None:
    broken = tuple(finding("a.py", f"broken {letter}", "high").replace("x = 1", letter) for letter in "abcd")
    steps = (
        blocks("a.py", attempt=1),
        blocks("a.py", finding("a.py", "worse").replace("x = 1", "better"), attempt=2),
        blocks("a.py", *broken, attempt=3),
    )
    sample = reviewable(tmp_path / "repo", *steps, fixes("a.py"))
    done = sample.loop("review", "a.py", "--merge", "--json")
    assert (done.code, done.data["outcome"], done.data["passed"], done.data["merged"]) == (4, "escalated", [], False)
    assert [each["issue"] for each in done.data["unresolved"]] == [f"broken {letter}" for letter in "abcd"]
    assert verdicts(done) == ["CHECK_BLOCKED: a.py"] * 3


def test_a_fix_that_changed_nothing_is_not_reviewed_again(tmp_path: Path) -> None:
    idle = '[[step]]\nrole = "creator"\nrepeat = true\nresult = { status = "done", summary = "fixed it" }\n'
    sample = reviewable(tmp_path / "repo", blocks("a.py", attempt=1), idle)
    done = sample.loop("review", "a.py", "--json")
    assert (done.code, done.data["rounds"], done.data["fixes"]) == (4, 3, 2)
    assert [each["issue"] for each in done.data["unresolved"]] == ["it is bad"]
    assert done.err.count("reviewer starts") == 1
    assert "nothing changed: what review 1 said of this tree stands" in done.err


def test_a_fix_that_breaks_the_checks_is_not_landed_though_the_reviewer_passes_it(tmp_path: Path) -> None:
    sample = reviewable(tmp_path / "repo", blocks("a.py", attempt=1), fixes("a.py", "broken(\\n"))
    done = sample.loop("review", "a.py", "--max-attempts", "2", "--json")
    assert (done.code, done.data["outcome"], done.data["passed"], done.data["branch"]) == (4, "escalated", [], "")
    assert "these fail: test" in done.err


# --- tests below a folder, and tests that are named themselves ---------------------------------------------------

CORE = "def add(a, b):\\n    return {}\\n"
SUMS = (
    "import unittest\\nfrom calc.core import add\\n\\n\\nclass T(unittest.TestCase):\\n"
    "    def test_add(self):\\n        self.assertEqual(add(2, 3), {})\\n"
)
INSIDE = "calc/tests/test_core.py"


def with_tests_inside(path: Path, core: str, expected: str) -> Sample:
    """A package with its tests below it; whoever fixes it changes both."""
    edits = [("calc/core.py", CORE.format(core)), (INSIDE, SUMS.format(expected))]
    both = ", ".join(f'{{ path = "{file}", content = "{text}" }}' for file, text in edits)
    made = f'[[step]]\nrole = "creator"\nrepeat = true\nedits = [{both}]\nresult = {{ status = "done" }}\n'
    found = [
        blocks(artifact, finding(artifact, "it is bad"), attempt=1) for artifact in ("calc", "calc/core.py", INSIDE)
    ]
    run = f'run = [{json.dumps(sys.executable)}, "-m", "unittest"]\n'
    config = CONFIG[: CONFIG.index("run = ")] + run
    sample = Sample.create(path, "".join((*found, made, PASSES)), config)
    files = {"calc/core.py": CORE.format("a + b"), INSIDE: SUMS.format("5")}
    for file, text in {**files, "calc/__init__.py": "", "calc/tests/__init__.py": ""}.items():
        sample.repo.write(file, text.replace("\\n", "\n"))
    sample.repo.commit("Add what is reviewed")
    return sample


@pytest.mark.parametrize(
    "words", [pytest.param(("calc",), marks=pytest.mark.trust), ("calc", "--batch")], ids=["whole", "by file"]
)
def test_tests_below_a_folder_that_is_reviewed_judge_its_code_as_they_were(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    sample = with_tests_inside(tmp_path / "repo", "a - b", "-1")
    done = sample.loop("review", *words, "--merge", "--json")
    assert (done.code, done.data["merged"]) == (4, False), done.err
    assert any(need["command"].startswith("loop approve protected") for need in done.data["needs"])
    assert "without these changes these tests of the base fail: calc.tests.test_core.T.test_add" in done.err


@pytest.mark.parametrize(
    "words", [("calc",), pytest.param(("calc", "--batch"), marks=pytest.mark.trust)], ids=["whole", "by file"]
)
def test_a_test_below_it_that_still_notices_lands_with_the_fix(tmp_path: Path, words: tuple[str, ...]) -> None:
    sample = with_tests_inside(tmp_path / "repo", "b + a", "4 + 1")
    done = sample.loop("review", *words, "--merge", "--json")
    assert (done.code, done.data["merged"], done.data["outcome"], done.data["held_back"]) == (0, True, "verified", [])
    assert "Broken on purpose (made to raise: calc/core.py: add), it is noticed by test." in done.err
    assert (done.data["merged_into"], "b + a" in (sample.repo.path / "calc/core.py").read_text()) == ("main", True)
    assert "4 + 1" in (sample.repo.path / INSIDE).read_text()


@pytest.mark.trust
def test_a_test_that_is_named_itself_is_mended_and_never_broken_on_purpose(tmp_path: Path) -> None:
    sample = with_tests_inside(tmp_path / "repo", "b + a", "4 + 1")
    done = sample.loop("review", INSIDE, "--merge", "--json")
    assert (done.code, done.data["merged"], done.data["held_back"]) == (0, True, []), done.err
    assert done.data["evidence"]["level"] == "not shown"
    assert "4 + 1" in (sample.repo.path / INSIDE).read_text()


# --- over and over again ----------------------------------------------------------------------------------------


def persisted(sample: Sample) -> list[tuple[str, bool]]:
    """Severity of each finding on file, and whether it is resolved."""
    (handoff,) = (sample.repo.path / ".loop" / "stories").glob("*/handoff.yml")
    found = yaml.safe_load(handoff.read_text())["quality_findings"]
    return [(each["severity"], each["resolved"]) for each in found]


@pytest.mark.parametrize(
    ("mode", "severity", "word", "verdict"),
    [
        ("quick", "medium", "P2", ("CHECK_BLOCKED", "CHECK_PASSED")),
        ("comprehensive", "high", "P1", ("QUALITY_BLOCKED", "QUALITY_PASS")),
    ],
    ids=["quick", "comprehensive"],
)
def test_what_is_blocked_is_fixed_on_a_branch_and_run_again_nothing_is_raised_that_was_resolved_only_there(
    tmp_path: Path, mode: str, severity: str, word: str, verdict: tuple[str, str]
) -> None:
    sample = reviewable(
        tmp_path / "repo", blocks("a.py", finding("a.py", "no docstring", severity), attempt=1), fixes("a.py")
    )
    for _ in range(3):
        done = sample.loop("review", "a.py", "--mode", mode, "--json")
        assert (done.code, done.data["rounds"]) == (0, 2), done.err
        assert persisted(sample) == [(word, True)]
        assert (done.data["passed"], done.data["fixes"], done.data["outcome"]) == (["a.py"], 1, "verified")
        assert verdicts(done) == [f"{each}: a.py" for each in verdict]
        assert sample.repo.git("show", f"{done.data['branch']}:a.py") == "better"
        assert sample.repo.git("rev-parse", done.data["branch"]) == done.data["commit"]
        assert (sample.repo.path / "a.py").read_text() == "x = 1  # a.py\n"


def test_what_an_escalated_and_cancelled_review_had_fixed_is_resolved_for_nobody_else(tmp_path: Path) -> None:
    steps = (
        blocks("a.py", finding("a.py", "no docstring", "medium"), attempt=1),
        blocks("a.py", finding("a.py", "it is bad").replace("x = 1", "better"), attempt=2),
    )
    sample = reviewable(tmp_path / "repo", *steps, fixes("a.py"))
    for _ in range(2):
        assert sample.loop("review", "a.py", "--max-attempts", "2").code == 4
        sample.loop("cancel")
        assert persisted(sample) == [("P2", False), ("P0", False)]


def test_a_second_review_of_the_same_artifact_is_warned_of_the_first(stopped: Sample) -> None:
    (first,) = (each["id"] for each in stopped.loop("status", "--json").data["loops"])
    done = stopped.loop("review", "a.py", "--max-attempts", "1")
    assert f"warning: a.py is under review in loop {first} too" in done.err
