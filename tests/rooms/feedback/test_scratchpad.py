import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from loopwright.kernel.findings import identify
from loopwright.kernel.model import AgentStatus, Ending, Finding, Outcome, Severity
from loopwright.loops.course import Station, steered
from loopwright.loops.feedback import progress
from loopwright.loops.feedback.files import scratchpad
from loopwright.loops.feedback.state import FeedbackState
from tests import hostile
from tests.loops import verified as v
from tests.rooms.feedback.stories import (
    ESCALATED,
    FAILED_REVIEW,
    LOOP,
    NO_DOC,
    NO_ORDER,
    STATUS,
    STORIES,
    TWICE,
    answered,
    compliant,
    implemented,
    kept,
    landed,
    not_compliant,
    passing,
    played,
    refused,
)


@pytest.mark.parametrize("name", STORIES)
def test_the_scratchpad_of_every_story(name: str, golden: Callable[[str, str], None]) -> None:
    text = scratchpad(LOOP, STORIES[name], STATUS.get(name, "running"))
    golden(f"texts/scratchpad-{name}.md", text)


def test_before_the_first_result_it_is_the_header_alone() -> None:
    text = scratchpad(LOOP, played(), "running")
    assert "## " not in text
    assert (
        "- **Completion Promise**: IMPLEMENTATION_VERIFIED\n- **Max Iterations**: 5\n- **Current Iteration**: 1\n"
        in text
    )
    assert "- **Consecutive Review Failures**: 0\n- **Consecutive Test Failures**: 0\n" in text


def test_a_failed_review_is_told_on_the_lines_of_the_seed() -> None:
    state = played(implemented("Added filter()"), kept, not_compliant(NO_ORDER))
    assert scratchpad(LOOP, state, "running").partition("## Iteration 1\n")[2] == (
        "- **Implementation**: Added filter()\n"
        "- **Review Result**: FAIL - src/filter.py:12 - The order is lost\n"
        "- **Test Result**: SKIPPED\n"
        "- **Status**: continuing\n"
    )


def test_what_failed_earlier_is_no_result_of_tests_that_did_not_run() -> None:
    state = played(*FAILED_REVIEW)
    state = replace(state, past=(*state.past[:-1], replace(state.past[-1], failures=(NO_DOC,))))
    assert f"- **Test Result**: SKIPPED - still open: {NO_DOC.issue}" in scratchpad(LOOP, state, "running")


def test_a_pause_does_not_end_it() -> None:
    text = scratchpad(LOOP, STORIES["failed-test"], "paused")
    assert "## Summary" not in text
    assert text.count("- **Status**: continuing\n") == 2


def test_an_escalated_loop_shows_the_last_iteration_it_had() -> None:
    text = scratchpad(LOOP, ESCALATED, "waiting")
    assert "- **Current Iteration**: 2\n" in text
    assert "- **Final Status**: ESCALATED\n" in text


def test_a_developer_who_is_blocked_leaves_its_iteration_current() -> None:
    state = played(*FAILED_REVIEW, implemented("no access", status=AgentStatus.BLOCKED))
    text = scratchpad(LOOP, state, "waiting")
    assert "- **Current Iteration**: 2\n" in text
    assert "- **Escalated Because**: the developer is blocked: no access\n" in text


def test_a_verified_iteration_whose_landing_was_refused_stays_verified() -> None:
    state = played(implemented("All of it"), kept, compliant, passing, refused)
    text = scratchpad(LOOP, state, "waiting")
    assert "- **Status**: IMPLEMENTATION_VERIFIED\n" in text
    assert "- **Final Status**: ESCALATED\n" in text


def test_a_loop_that_failed_counts_as_escalated() -> None:
    state = steered(STORIES["failed-test"], outcome=Outcome(ending=Ending.FAILED))
    assert "- **Final Status**: ESCALATED\n" in scratchpad(LOOP, state, "blocked")


def test_a_loop_accepted_with_issues_counts_what_was_resolved_and_what_was_not() -> None:
    state = played(
        *FAILED_REVIEW,
        implemented("Documented it"),
        kept,
        not_compliant(NO_ORDER),
        answered("accept"),
        landed,
        params=TWICE,
    )
    assert scratchpad(LOOP, state, "complete").partition("## Summary\n")[2] == (
        "- **Total Iterations**: 2\n"
        "- **Final Status**: ACCEPTED\n"
        "- **Issues Resolved**: 1\n"
        "- **Known Issues Remaining**: 1\n"
        "  - src/filter.py:12 - The order is lost\n"
    )


def test_what_was_mended_only_in_what_did_not_land_is_not_counted_as_resolved() -> None:
    verified = Outcome(ending=Ending.VERIFIED, held=v.BENT, waiting=(NO_DOC,))
    text = scratchpad(LOOP, steered(STORIES["verified"], outcome=verified), "complete")
    assert "- **Issues Resolved**: 2\n- **Known Issues Remaining**: 0\n" in text
    assert f"- **Mended only in what did not land**: {NO_DOC.issue}" in text


def test_what_a_person_took_untested_is_not_called_verified() -> None:
    outcome = Outcome(ending=Ending.ACCEPTED, findings=(NO_DOC,))
    state = steered(STORIES["verified"], outcome=outcome, untested=True)
    for text in (scratchpad(LOOP, state, "complete"), progress.render(state, "complete")):
        assert "IMPLEMENTATION_VERIFIED" not in text.replace("**Completion Promise**: IMPLEMENTATION_VERIFIED", "")
    # On its way to the branch it is not called so either.
    landing = steered(STORIES["verified"], outcome=None, station=Station.LAND, untested=True)
    assert '"IMPLEMENTATION_VERIFIED"' not in progress.render(landing, "running")


def test_very_many_issues_are_counted_worst_first() -> None:
    many = tuple(
        identify(Finding(severity=Severity.LOW, issue=f"issue {letter}")) for letter in "abcdefghijklmnopqrstuvw"
    )
    state = played(implemented("x"), kept, not_compliant(*many, NO_ORDER), params=replace(TWICE, limits=ONE))
    text = scratchpad(LOOP, state, "waiting")
    assert "FAIL - src/filter.py:12 - The order is lost; issue a; " in text
    assert "; and 4 more\n" in text
    assert text.count("  - issue ") == 19
    assert "  - and 4 others\n" in text


ONE = replace(TWICE.limits, max_feedback_iterations=1)


@given(state=hostile.states)
def test_no_text_of_an_agent_changes_the_shape(state: FeedbackState) -> None:
    text = scratchpad(LOOP, state, "running")
    assert hostile.all_harmless(text)
    text.encode()
    fence, _, body = text.partition("The task, as it was given:\n\n")[2].partition("text\n")
    after = re.split(f"^{fence}$", body, maxsplit=1, flags=re.MULTILINE)[1]
    assert [line for line in after.splitlines() if line.startswith("#")] == [
        f"## Iteration {iteration.number}" for iteration in state.past
    ]
    assert len([line for line in after.splitlines() if line]) == 5 * len(state.past)


def test_markdown_in_a_summary_is_shown_and_not_obeyed() -> None:
    state = played(
        implemented("**done** <b>[x](y)</b>\n# Heading\n`rm` __init__ snake_case"), kept, not_compliant(NO_ORDER)
    )
    assert (
        r"- **Implementation**: \*\*done\*\* \<b>[x\](y)\</b> # Heading \`rm\` \_\_init\_\_ snake_case" + "\n"
    ) in scratchpad(LOOP, state, "running")
