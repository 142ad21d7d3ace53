import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from loopwright.loops.workflow.evidence import (
    CommandRun,
    CriterionEvidence,
    CriterionStatus,
    code,
    criteria_status,
    evidence_files,
    is_only_the_merge,
)
from tests.hostile import all_harmless, texts

EXPIRED = CriterionEvidence(
    criterion="An expired token is refused",
    type="execution output",
    command=("pytest", "-q", "tests/test_auth.py", "-k", "not slow"),
    met=True,
    verification="exit code 0",
)
LOGGED = CriterionEvidence(criterion="Nobody logs a token", type="", met=False, verification="")
RUNS = (
    CommandRun(name="test", command=("pytest", "-q"), passed=True, result="42 tests passed", receipt="r-0a1b2c"),
    CommandRun(name="T-003", command=("grep", "-q", "Schema", "src/schema.ts"), passed=False),
)


def test_the_evidence_of_a_workflow(golden: Callable[[str, str], None]) -> None:
    files = evidence_files("Add validation to auth", (EXPIRED, LOGGED), RUNS)
    assert list(files) == ["criteria.json", "verification.md"]
    golden("texts/workflow-criteria.json", files["criteria.json"])
    golden("texts/workflow-verification.md", files["verification.md"])


def test_without_criteria_and_commands_the_page_says_so() -> None:
    assert evidence_files("x", (), ()) == {
        "criteria.json": '{\n  "criteriaStatus": {}\n}\n',
        "verification.md": (
            "# Verification: x\n\n**Criteria:** 0 of 0 met | **Commands:** 0 runs, none failed\n\n"
            "## Criteria\nNo criteria were set.\n\n## Commands\nNo command was run.\n"
        ),
    }


def test_a_criterion_that_is_listed_twice_is_met_when_it_is_met_each_time() -> None:
    again = replace(EXPIRED, met=False, verification="exit code 1")
    assert criteria_status((EXPIRED, again, EXPIRED)) == {
        EXPIRED.criterion: CriterionStatus(met=False, verification="exit code 0; exit code 1; exit code 0")
    }
    assert criteria_status((EXPIRED, EXPIRED)) == {
        EXPIRED.criterion: CriterionStatus(met=True, verification="exit code 0")
    }


@pytest.mark.parametrize(
    ("criterion", "alone"),
    [
        ("Done when merged.", True),
        ("It is done when the branch is merged", True),
        ("Done when PR #12 is merged", True),
        ("It's merged into the main branch", True),
        ("The tests pass and it is merged", False),
        ("Both lists are merged", False),
        ("The list is merged into one", False),
    ],
)
def test_a_criterion_that_says_only_that_the_work_is_merged_is_told_from_one_that_says_more(
    criterion: str, *, alone: bool
) -> None:
    assert is_only_the_merge(criterion) is alone


def test_code_is_not_ended_by_what_is_in_it() -> None:
    assert code("ls -l") == "`ls -l`"
    assert code(" ") == "n/a"
    assert code("echo ``a` b") == "``` echo ``a` b ```"


@given(said=texts)
def test_words_of_others_stay_on_their_lines(said: str) -> None:
    hostile = CriterionEvidence(criterion=said, type=said, command=(said,), met=True, verification=said)
    run = CommandRun(name=said, command=(said,), passed=False, result=said, receipt=said)
    files = evidence_files(said, (hostile,), (run,))
    assert all(map(all_harmless, files.values()))
    assert list(json.loads(files["criteria.json"].encode())) == ["criteriaStatus"]
    page = files["verification.md"].split("\n")
    begun = [
        re.match(r"(?:# Verification:|## \w+$|- \[x\]|- \*\*Failed:\*\*|  - [A-Z]\w+: |\*\*Criteria:\*\* )", each)
        for each in page
    ]
    assert [each[0] if each else line for each, line in zip(begun, page, strict=True)] == [
        *("# Verification:", "", "**Criteria:** ", ""),
        *("## Criteria", "- [x]", "  - Type: ", "  - Command: ", "  - Verification: ", ""),
        *("## Commands", "- **Failed:**", "  - Command: ", "  - Receipt: ", ""),
    ]
