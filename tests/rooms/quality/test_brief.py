from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.kernel.actions import RunAgent
from loopwright.kernel.model import Brief, Commit, Finding, Severity
from loopwright.loops.quality import brief as briefs
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import Depth, Gate, QualityState, ReviewFacts
from loopwright.ports.agent import AgentRun
from tests import hostile
from tests.rooms.feedback.stories import LOOP
from tests.rooms.quality.reviews import (
    BLOCKED,
    BY_FILE,
    FIXED,
    NAMELESS,
    PARAMS,
    UNBOUND,
    USED_UP,
    answered,
    fixed,
    loaded,
    played,
)

Golden = Callable[[str, str], None]
DIFF = "diff --git a/src/a.py b/src/a.py\n+data = file.read()\n+```\n"


def run_of(state: QualityState, diff: str = "") -> AgentRun:
    (action,) = QUALITY.decide(state)
    assert isinstance(action, RunAgent)
    return AgentRun(
        loop=LOOP,
        kind="quality",
        key=action.key,
        step="s",
        role=action.role,
        brief=action.brief,
        folder=Path("/repo"),
        needs_verdict=action.needs_verdict,
        diff=diff,
    )


def told(state: QualityState, diff: str = "") -> str:
    return briefs.render(run_of(state, diff))


def test_the_first_reviewers_brief(golden: Golden) -> None:
    golden("texts/brief-quality-reviewer-1.md", told(played(loaded), DIFF))


def test_the_second_reviewer_checks_the_prior_findings_first(golden: Golden) -> None:
    said = played(*BLOCKED, fixed("I am certain that it is right now"), FIXED[1], loaded)
    text = told(said, DIFF)
    golden("texts/brief-quality-reviewer-2.md", text)
    assert "certain" not in text
    assert text.index("## Prior findings") < text.index("## Change since the last review")


def test_the_creators_brief_has_the_findings(golden: Golden) -> None:
    golden("texts/brief-quality-creator-1.md", told(played(*BLOCKED)))


def test_findings_in_a_file_are_not_in_the_brief(golden: Golden) -> None:
    text = told(played(*BLOCKED, params=BY_FILE))
    golden("texts/brief-quality-creator-file.md", text)
    assert UNBOUND.issue not in text
    assert UNBOUND.guidance not in text


def test_a_fixer_and_a_reviewer_of_any_name_have_the_duty_of_their_part() -> None:
    params = replace(PARAMS, creator="developer", reviewer="critic")
    review, fix = told(played(loaded, params=params)), told(played(*BLOCKED, params=params))
    assert review.startswith("# Brief for the critic: review 1 of 3 of a quality loop\n\nJudge the artifact")
    assert fix.startswith(
        "# Brief for the developer: fix after review 1 of 3 of a quality loop\n\nA review at the code"
    )
    assert '"verdict": "pass | fail"' in review
    assert '"verdict"' not in fix


def test_one_artifact_is_named_and_its_change_is_shown() -> None:
    text = told(played(loaded), DIFF)
    assert "## Artifact\n\n- src/a.py\n\n" in text
    assert "data = file.read()" in text


@pytest.mark.parametrize("gate", list(Gate))
def test_every_gate_says_what_is_looked_at(gate: Gate) -> None:
    text = told(played(loaded, params=replace(PARAMS, gate=gate)))
    assert f"at the {gate} gate. Look at " in text


def test_every_depth_says_how_deep() -> None:
    quick, whole = (told(played(loaded, params=replace(PARAMS, depth=depth))) for depth in Depth)
    assert "The depth is quick: look for what is grave" in quick
    assert "The depth is comprehensive: everything" in whole


def test_without_a_change_the_artifact_is_judged_as_it_stands() -> None:
    assert "There is nothing to compare with: judge the artifact as it stands." in told(played(loaded))
    again = told(played(*BLOCKED, *FIXED, loaded))
    assert "Nothing of the artifact has changed since then." in again


def test_without_a_task_there_is_no_heading_for_it() -> None:
    assert "## Task" in told(played(loaded))
    assert "## Task" not in told(played(loaded, params=replace(PARAMS, task=" ")))


def test_what_a_person_said_and_what_could_not_be_read_are_told() -> None:
    guided = told(played(*USED_UP, answered("revise", "Bound it in the caller")))
    assert "## From a person, newest first\n\n> Bound it in the caller\n" in guided
    run = run_of(played(loaded))
    unread = briefs.render(replace(run, brief=replace(run.brief, repair="no finding says why")))
    assert "Your last result could not be read:\n\n> no finding says why\n" in unread


def test_the_worst_are_kept_when_there_is_no_room_for_all() -> None:
    minor = tuple(replace(NAMELESS, issue=f"minor {n} {'x' * 200}") for n in range(200))
    run = run_of(played(*BLOCKED))
    text = briefs.render(replace(run, brief=replace(run.brief, findings=(*minor, UNBOUND))))
    listed = text.partition("## Findings to fix (data)")[2].partition("\n## ")[0]
    assert listed.index("[critical]") < listed.index("minor 0")
    assert "findings left out here; LOOP_CONTEXT has them all)" in listed
    assert len(listed.encode()) <= briefs.FINDINGS


@settings(max_examples=60)
@given(
    text=hostile.texts,
    listed=st.lists(hostile.findings, max_size=6),
    times=st.sampled_from([1, 400]),
    judges=st.booleans(),
    file=st.sampled_from(["", "docs/x.quality.yml"]),
)
def test_every_brief_is_bounded_and_shows_what_is_invisible(
    *, text: str, listed: list[Finding], times: int, judges: bool, file: str
) -> None:
    brief = Brief(
        task=text * times,
        attempt=2,
        limit=3,
        findings=tuple(listed) * times,
        criteria=(text,) * times,
        answers=(text,) * times,
        artifacts=(text,),
        repair=text * times,
        base=Commit(text),
        own=ReviewFacts(gate=text, depth=text, findings_file=file),
    )
    run = replace(run_of(played(loaded), f"diff --git a/{text} b/{text}\n{text * times}"), needs_verdict=judges)
    shown = briefs.render(replace(run, role=text, brief=brief))
    assert hostile.all_harmless(shown)
    assert len(shown.encode()) <= 120 * 1024


def test_every_severity_has_its_meaning() -> None:
    text = told(played(loaded))
    assert [f"- {severity.value} (P{severity.rank}): " in text for severity in Severity] == [True] * 4
