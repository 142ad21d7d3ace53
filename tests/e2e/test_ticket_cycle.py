"""The ticket cycle from the command line to the files: the seed's two tickets, played by processes, word for word."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scene import CHECK, PASSES, Scene, adding
from tests.e2e.ticketing import (
    CRITERIA,
    PAY,
    TEST_PAY,
    TITLE,
    Moment,
    changelog,
    coverage_check,
    creates,
    files_of,
    first_loop,
    from_queue,
    front,
    headings,
    new,
    played,
    run,
    section,
    seed_example,
    watched,
)

FEEDBACK = """\
| Expected | Actual | Score |
|----------|--------|-------|
| >= 80% line coverage | 45% line coverage | 0.56 |
| new lines are covered | 9 of 20 new lines covered | 1.00 |
| Error paths tested | 2 of 6 tested | 0.33 |

**Guidance**: Add tests for handleTimeout() and processEmpty()
**Priority**: fix first, 0.33 is below 0.5"""
HISTORY = """\
- **Outcome**: ROUTE_BACK
- **Accuracy**: 0.60
- **Key Gaps**: ["Nothing else is paid", "Test Coverage", "Every error path is tested"]
- **Approach**: paid straight away"""
SECTIONS = ["Creator Section", "Critic Section", "Expediter Section"]
WAITING = ["Waiting for the creator.", "Waiting for the critics.", "Waiting for the expediter."]


# --- the seed's example -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, dict[str, Any]]:
    scene = seed_example(tmp_path_factory.mktemp("seed"))
    assert new(scene, TITLE, *CRITERIA)["file"] == ".loop/tickets/queue/TICKET-s.md"
    return scene, run(scene, "--merge").json


def test_the_second_ticket_is_approved_and_lands(seed: tuple[Scene, dict[str, Any]]) -> None:
    scene, said = seed
    told = {key: said[key] for key in ("outcome", "session", "tickets", "verdict", "accuracy", "merged_into")}
    assert told == {
        "outcome": "verified",
        "session": "s",
        "tickets": ["TICKET-s-001", "TICKET-s-002"],
        "verdict": "APPROVE",
        "accuracy": 1.0,
        "merged_into": "main",
    }
    assert (scene.root / "tests" / "test_errors.py").exists()
    assert scene.repo.git("status", "--porcelain") == ""


def test_the_files_are_in_completed_and_nowhere_else(seed: tuple[Scene, dict[str, Any]]) -> None:
    scene, _ = seed
    folder = scene.root / ".loop" / "tickets"
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("TICKET-*"))
    assert found == ["completed/s/TICKET-s-001.md", "completed/s/TICKET-s-002.md"]
    assert not (folder / "active" / "s").exists()


def test_the_frontmatter_counts_the_iterations_and_carries_the_parents_accuracy(
    seed: tuple[Scene, dict[str, Any]],
) -> None:
    first, second = (front(text) for text in files_of(seed[0]).values())
    nothing = {"parent_ticket": None, "accuracy_score": None, "score": None}
    assert first["iteration"] == {"index": 1, "max": 5, **nothing}
    # Six of ten aspects; the score is the mean of 1 six times and 0, 0.5, 2/6, 45/80.
    graded = round((6 + 0 + 0.5 + 2 / 6 + 45 / 80) / 10, 4)
    parent = {"parent_ticket": "TICKET-s-001", "accuracy_score": 0.6, "score": graded}
    assert second["iteration"] == {"index": 2, "max": 5, **parent}
    names = ("ticket_id", "session_id", "sequence", "parent_ticket", "title", "cycle_type", "status")
    assert [tuple(each[name] for name in names) for each in (first, second)] == [
        ("TICKET-s-001", "s", "001", None, TITLE, "development", "route_back"),
        ("TICKET-s-002", "s", "002", "TICKET-s-001", f"[Iteration 2/5] {TITLE}", "development", "approved"),
    ]


def test_the_first_ticket_ends_in_a_route_back_by_the_thresholds(seed: tuple[Scene, dict[str, Any]]) -> None:
    first = files_of(seed[0])["001"]
    decided = section(first, "Expediter Section")
    assert "- **Accuracy**: 0.60 (6 of 10 aspects passing)" in decided
    assert section(decided, "Quality Gate Decision", 2).startswith("CREATE_REWORK_TICKET")
    assert re.findall(r"\| (strong reject) \| .* \| (yes) \|", decided) == [("strong reject", "yes")]
    assert changelog(first).endswith("Expediter: decided\n- ROUTE_BACK: TICKET-s-001")


def test_the_second_ticket_carries_history_and_graded_feedback(seed: tuple[Scene, dict[str, Any]]) -> None:
    second = files_of(seed[0])["002"]
    assert headings(section(second, "Attempt History"), 2) == ["Attempt 1: TICKET-s-001"]
    assert section(second, "Attempt 1: TICKET-s-001", 2) == HISTORY
    assert section(second, "Requirement: Test Coverage", 3) == FEEDBACK
    blocks = section(second, "Structured Feedback").split("### Requirement: ")[1:]
    assert len(blocks) == 8  # build, tests, coverage and five criteria
    assert [block.count("| Expected | Actual | Score |") for block in blocks] == [1] * 8
    assert [block.count("**Guidance**: ") for block in blocks] == [1] * 8
    scores = [float(score) for score in re.findall(r"\| ([01]\.\d\d) \|", "".join(blocks))]
    assert (len(scores), min(scores), scores[0]) == (10, 0.0, 0.0)


def test_every_box_is_ticked_only_in_the_ticket_that_was_approved(seed: tuple[Scene, dict[str, Any]]) -> None:
    boxes = [re.findall(r"^- \[(.)\] AC-(\d): ", text, re.MULTILINE) for text in files_of(seed[0]).values()]
    numbers = [str(number) for number in range(1, 6)]
    assert boxes == [[(" ", number) for number in numbers], [("x", number) for number in numbers]]


# --- over time --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> list[Moment]:
    """The seed's example with its files after every event, a second person's word in the middle of it."""
    scene = seed_example(tmp_path_factory.mktemp("watched"))
    new(scene, TITLE, *CRITERIA)
    halt, before = watched(scene, lambda project: from_queue(project, max=1))
    assert halt.why == "waiting"
    scene.loop("answer", "continue", "4")
    halt, after = watched(scene, first_loop)
    assert halt.outcome is not None
    return before + after


def test_no_entry_of_a_changelog_is_ever_changed_or_taken_away(moments: list[Moment]) -> None:
    seen = 0
    for before, after in pairwise(moments):
        assert before.files.keys() <= after.files.keys()
        for number, text in before.files.items():
            assert changelog(after.files[number]).startswith(changelog(text)), (after.event, number)
            seen += changelog(after.files[number]) != changelog(text)
    assert seen == 13  # at each of these moments one of them grew: once by two entries, once by the command in between
    assert set(moments[-1].files) == {"001", "002"}


def test_the_entries_tell_what_happened_in_order(moments: list[Moment]) -> None:
    entries = {number: headings(changelog(text), 2) for number, text in moments[-1].files.items()}
    told = {number: [line.partition("] - ")[2] for line in lines] for number, lines in entries.items()}
    cycle = ["Creator: claimed", "Coordinator: activated", "Creator: work_done", "Critic: reviewed"]
    judged = ["Expediter: validated", "Expediter: validated", "Expediter: decided"]
    assert told == {
        "001": ["Coordinator: created", *cycle, *judged, "Coordinator: answered"],
        "002": ["Coordinator: created", *cycle, *judged, "Expediter: completed"],
    }
    times = [[line.partition("]")[0] for line in lines] for lines in entries.values()]
    assert [sorted(each) for each in times] == times


@pytest.mark.parametrize("number", ["001", "002"])
def test_each_section_is_filled_before_the_next_role_starts(moments: list[Moment], number: str) -> None:
    """Creator, critic and judge each find what those before them left, and nothing of those after."""
    short, filled = int(number), []
    for role in (f"create-{short}.1", f"critique-{short}-1.1", f"judge-{short}."):
        (text,) = [each.files[number] for each in moments if each.event.startswith(f"Started {role}")]
        filled.append([gap not in section(text, name) for name, gap in zip(SECTIONS, WAITING, strict=True)])
    assert filled == [[False, False, False], [True, False, False], [True, True, False]]
    text = moments[-1].files[number]
    assert not any(gap in text for gap in WAITING)


def test_processes_find_the_sections_of_those_before_them(tmp_path: Path) -> None:
    """As above, seen by the agents themselves: the file is there before they start."""
    looks = "(seen,) = (root / '.loop/tickets/active/s').glob('*.md')\nnote(role, json.dumps(seen.read_text()))\n"
    scene = adding(tmp_path)
    creator = "Path('calc.py').write_text('def add(a, b):\\n    return a + b\\n')\nreport(summary='added')\n"
    tables = [scene.agent("creator", looks + creator), *(scene.agent(each, looks + PASSES) for each in SEATS)]
    scene.configure(*tables, more='[tickets]\ncritics = ["critic", "tester"]\n')
    scene.repo.commit("A task")
    new(scene, "Add add()")
    assert run(scene).json["outcome"] == "verified"
    seen = {role: scene.noted(role)[0].encode().decode("unicode_escape") for role in ("creator", *SEATS)}
    told = {role: [gap in text for gap in WAITING] for role, text in seen.items()}
    assert told == {
        "creator": [True, True, True],
        "critic": [False, True, True],
        "tester": [False, True, True],
        "judge": [False, False, True],
    }


SEATS = ("critic", "tester", "judge")


# --- coverage of new code ---------------------------------------------------------------------------------------


def test_new_code_that_no_test_reaches_is_routed_back_and_approved_once_it_is_tested(tmp_path: Path) -> None:
    """Every test passes and the critic is content: that the new lines never ran is what decides."""
    old = {"old.py": "def old():\n    return 1\n", "tests/test_old.py": TEST_OLD}
    steps = [creates(1, {"pay.py": f"import old\n{PAY}"}), creates(2, {"tests/test_pay.py": TEST_PAY})]
    scene = played(tmp_path, steps, more=CHECK + coverage_check(tmp_path), files=old)
    new(scene, TITLE)
    said = run(scene, "--merge").json
    assert (said["verdict"], said["tickets"]) == ("APPROVE", ["TICKET-s-001", "TICKET-s-002"])
    first, second = files_of(scene).values()
    held = "| automatic reject | new code has no test coverage | yes | none of 21 new lines is covered |"
    assert held in section(first, "Expediter Section")
    assert changelog(first).endswith("ROUTE_BACK: TICKET-s-001")
    assert "| new lines are covered | 0 of 21 new lines covered | 0.00 |" in section(second, "Structured Feedback")
    assert "new code has no test coverage | no |" in section(second, "Expediter Section")
    assert section(second, "Expediter Section").count("| PASS |") == 2


TEST_OLD = """\
import unittest
from old import old

class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(old(), 1)
"""
