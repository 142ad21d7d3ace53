from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest

from loopwright.app.views import explanation
from loopwright.kernel.actions import Action, Ask, AwaitGate, LoadArtifacts, RunLoop, Stop, WaitUntil
from loopwright.kernel.evidence import Evidence, Level, Witness
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Commit, Ending, Finding, Key, Outcome, Severity
from loopwright.loops.feedback.state import FeedbackState
from tests.app.views.seen import Still, seen
from tests.rooms.feedback.stories import (
    AT,
    ESCALATED,
    FAILED_REVIEW,
    FAILED_TEST,
    NO_ORDER,
    implemented,
    kept,
    not_compliant,
    played,
    row,
)


def explained(state: FeedbackState) -> str:
    return explanation.render(seen(replace(state, plan=replace(state.plan, task="Add a filter")), row()), "running")


def test_why_the_next_iteration_begins(golden: Callable[[str, str], None]) -> None:
    golden("texts/explain-implement.txt", explained(played(*FAILED_REVIEW)))


def test_why_a_person_is_asked(golden: Callable[[str, str], None]) -> None:
    golden("texts/explain-escalated.txt", explained(ESCALATED))


def test_what_shows_the_change_is_said_and_whose_word_it_rests_on() -> None:
    witness = Witness(id="t::mul", check="test", fails_on_base="assertion")
    state = played(*FAILED_REVIEW)
    shown = Evidence(level=Level.SHOWN, witnesses=(witness,), decisions=("unshown change approved by ann",))
    text = explained(replace(state, course=replace(state.course, evidence=shown)))
    assert all(each in text for each in ("Evidence:", "t::mul", "approved by ann"))


def test_findings_say_whether_they_are_new_open_or_back() -> None:
    again = (implemented("x"), kept, not_compliant(NO_ORDER))
    assert "[high new since iteration 1] src/filter.py:12 - The order is lost" in explained(played(*again))
    assert "[high open since iteration 1, 2 in a row] src/filter.py:12" in explained(played(*again, *again))
    back = explained(played(*again, *FAILED_TEST, *again))
    assert "[critical reopened since iteration 1] src/filter.py:12 - The order is lost" in back


def test_a_wait_tells_until_when() -> None:
    wait = WaitUntil(key=Key.parse("wait-1.1"), when=AT)
    text = explanation.render(
        seen(Still(here=Standpoint(state="IMPLEMENT", attempt=1, limit=5), wants=(wait,)), row()), "running"
    )
    assert "Next:\n  waiting until 2026-01-17T10:30:00Z (wait-1.1)\n" in text


def test_every_action_is_told_in_words_and_with_what_it_is_about() -> None:
    key = Key.parse("a-1.1")
    actions: dict[str, Action] = {
        "loop of a.md goes on": RunLoop(key=key, kind="quality", params="{}", name="a.md"),
        "loop of quality goes on": RunLoop(key=key, kind="quality", params="{}"),
        "loading a.md, b.md": LoadArtifacts(key=key, paths=("a.md", "b.md"), commit=Commit("c")),
    }
    for words, action in actions.items():
        text = explanation.render(
            seen(Still(here=Standpoint(state="X", attempt=1, limit=3), wants=(action,)), row()), "running"
        )
        assert f"Next:\n  {words} (a-1.1)\n" in text


def test_a_gate_is_told_with_its_command_and_a_question_with_its_text() -> None:
    key = Key.parse("a-1.1")
    gate = AwaitGate(key=key, gate="protected", evidence="e", because=(), commit=Commit("c"), why="it is held back")
    ask = Ask(key=key, question="Which colour?", options=(), free_text=True, why="on hold")
    still = Still(here=Standpoint(state="X", attempt=1, limit=3), wants=(gate, ask))
    text = explanation.render(seen(still, row()), "running")
    assert "gate protected is open (a-1.1): it is held back; decide with `loop approve protected@e`" in text
    assert "on hold; the question: Which colour?" in text


@pytest.mark.parametrize(("status", "is_named"), [("complete", True), ("cancelled", False)])
def test_of_a_loop_that_has_ended_the_open_gate_is_next(
    status: Literal["complete", "cancelled"], *, is_named: bool
) -> None:
    gate = AwaitGate(key=Key.parse("a-1.1"), gate="protected", evidence="e", because=(), commit=Commit("c"))
    stop = Stop(outcome=Outcome(ending=Ending.VERIFIED), why="")
    still = Still(here=Standpoint(state="DONE", attempt=1, limit=3), wants=(stop, gate))
    text = explanation.render(seen(still, row(status)), status)
    assert ("loop approve protected@e" in text, "Next:\n  nothing\n" in text) == (is_named, not is_named)


def test_a_loop_of_another_kind_with_nothing_to_tell() -> None:
    other = replace(row(params="{}"), kind="other", budget=None)
    assert explanation.render(seen(Still(here=Standpoint(state="DONE", attempt=1, limit=3)), other), "running") == (
        "other loop fb-1\n"
        "  DONE, attempt 1 of 3, running\n"
        "Next:\n"
        "  nothing\n"
        "Open findings:\n"
        "  none\n"
        "Budget:\n"
        "  $2.50 spent, $0.50 reserved, no limit of its own\n"
    )


def test_a_cost_that_is_a_guess_is_marked() -> None:
    guessed = replace(row(), estimated=True)
    text = explanation.render(seen(Still(here=Standpoint(state="DONE", attempt=1, limit=3)), guessed), "running")
    assert "  ~$2.50 spent, $0.50 reserved, $22.00 free of $25.00\n" in text


def test_very_many_findings_are_counted() -> None:
    findings = tuple(Finding(severity=Severity.LOW, issue=f"issue {n}") for n in range(60))
    here = Standpoint(state="REVIEW", attempt=1, limit=5, findings=findings)
    text = explanation.render(seen(Still(here=here), row()), "running")
    assert "Open findings:\n  [low] issue 0\n" in text
    assert "  [low] issue 49\n  and 10 others\n" in text
