"""The last lines of a loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loopwright.app.project import Project
from loopwright.app.views.ending import ended_lines
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import Ending, Outcome
from loopwright.kernel.trust import Trust
from tests.app.views.seen import seen
from tests.rooms.feedback.stories import ESCALATED, row

GUARDED = Evidence(level=Level.GUARDED)
ON_BRANCH = Outcome(ending=Ending.ACCEPTED, branch="loop/1", evidence=GUARDED)


def told(tmp_path: Path, outcome: Outcome, **plan: Any) -> str:  # noqa: ANN401 - the fields of a plan
    state = replace(ESCALATED, plan=replace(ESCALATED.plan, **plan))
    project = cast("Project", SimpleNamespace(root=tmp_path))
    return "\n".join(ended_lines(project, seen(state, row("complete")), outcome))


def test_what_is_accepted_says_that_it_was_not_merged_although_that_was_asked_for(tmp_path: Path) -> None:
    assert "not merged although --merge was given (`git merge loop/1` merges)" in told(tmp_path, ON_BRANCH, merge=True)
    assert "not merged" not in told(tmp_path, ON_BRANCH, merge=False)


@pytest.mark.parametrize(
    "outcome",
    [
        replace(ON_BRANCH, merged_into="main"),
        replace(ON_BRANCH, not_merged="dirty"),
        replace(ON_BRANCH, ending=Ending.VERIFIED),
        replace(ON_BRANCH, branch=""),
    ],
)
def test_a_merge_that_was_made_or_refused_is_told_once(tmp_path: Path, outcome: Outcome) -> None:
    assert "although --merge was given" not in told(tmp_path, outcome, merge=True)


def test_a_guarded_result_names_each_way_on(tmp_path: Path) -> None:
    text = told(tmp_path, ON_BRANCH)
    assert all(each in text for each in ("git merge loop/1", "git switch loop/1", "--about tests", "--keeps-behaviour"))


def test_behaviour_that_was_declared_unchanged_is_part_of_the_evidence(tmp_path: Path) -> None:
    text = told(tmp_path, ON_BRANCH, trust=Trust(keeps_behaviour=True))
    assert "the behaviour was declared unchanged" in text
    assert "Go on:" not in text
