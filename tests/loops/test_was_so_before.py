"""What failed before anybody was paid is told as such to whoever is asked, with what can be done about it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.actions import Ask
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Commit, Finding, Severity
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.machine import FEEDBACK
from tests.loops import feedback as f
from tests.loops import tickets as t
from tests.loops import verified as v
from tests.loops import workflow as w

FORGIVE = "mend it, or forgive it with `baseline = true` in [checks.test] of loop.toml"
LINT = identify(Finding(severity=Severity.HIGH, issue="long", rule="E501", category="lint", file="a.py"))
NOT_RUN = w.finding("exit code 2", rule="test", category="checks", guidance="its tests did not all run: mend it")


def asked(base: ChecksReported, attempt: ChecksReported, trust: Trust = v.NOW) -> Ask:
    """Of a feedback loop with one iteration."""
    state = FEEDBACK.start(replace(f.params(max_feedback_iterations=1), trust=trust))
    state = state if trust.base else f.play(state, base)
    return f.wanted(f.play(state, f.DONE, f.saved("c1"), f.passes(), attempt), Ask)


def test_the_question_says_that_it_was_so_and_what_forgives_it() -> None:
    ask = asked(f.red(f.FAILURE, f.ANOTHER), f.red(f.FAILURE))
    before = f"; what fails was so before, on the base: t::one - assert 1 == 2; {FORGIVE}"
    assert ask.why.endswith(before)
    assert before in ask.question
    both = f.red(f.FAILURE, f.ANOTHER)
    assert "t::one - assert 1 == 2, t::two - assert 3 < 2; mend it" in asked(both, both).why


def test_a_test_that_the_candidate_changes_is_not_to_be_forgiven() -> None:
    red = f.red(replace(f.FAILURE, file="tests/t.py"))
    assert "baseline" in asked(red, replace(red, written=("tests/other.py",))).why
    assert "baseline" not in asked(red, replace(red, written=("tests/t.py",))).why


def test_the_tests_that_fail_are_named_before_what_the_engine_says() -> None:
    state = FEEDBACK.start(replace(f.params(max_feedback_iterations=2), trust=v.NOW))
    state = f.play(state, f.red(f.FAILURE), f.DONE, f.saved("c1"), f.passes(), f.red(f.FAILURE), f.DONE, f.saved("c2"))
    why = f.wanted(state, Ask).why
    assert 0 < why.index(f.FAILURE.rule) < why.index("changed nothing")


def test_a_check_of_which_the_exit_code_is_all_that_is_known_is_to_be_mended() -> None:
    ended = f.red(replace(NOT_RUN, guidance=""))
    assert asked(ended, ended).why.endswith("; what fails was so before, on the base: exit code 2; mend it")


def test_what_only_this_loop_broke_was_not_so_before() -> None:
    """A linter's rule may be broken in another place."""
    elsewhere = identify(replace(LINT, file="b.py", fingerprint=""))
    assert "before" in asked(f.red(LINT), f.red(LINT)).why
    assert "before" not in asked(f.red(LINT), f.red(elsewhere)).why
    assert "before" not in asked(f.GREEN, f.red(LINT)).why


def test_a_part_leaves_it_to_the_loop_that_tried_the_base() -> None:
    assert "before" not in asked(f.GREEN, f.red(f.FAILURE), Trust(in_force=True, base=Commit("root"))).why


def test_a_workflow_says_it_of_its_tasks_and_what_cannot_be_forgiven() -> None:
    state = w.play(w.workflow(trust=v.NOW, max_iterations=1), w.checked(red=(w.NOT_COLLECTED, NOT_RUN)))
    failed = w.stuck(1, w.NOT_COLLECTED, NOT_RUN)
    state = w.play(state, w.scores(w.TOOL), w.SAID, w.plans(w.task(1)), failed)
    why = (
        "1 of 1 iterations are used; what fails was so before, on the base: t - collection failure: AttributeError:"
        " no py.test, exit code 2; its tests did not all run: mend it"
    )
    assert w.wanted(state, Ask).why == why
    assert w.wanted(state, Ask).question.startswith(f"Paused: {why}. 0 of 1 task done")


def test_a_session_of_tickets_says_it_too() -> None:
    state = t.play(t.session(trust=v.NOW, max=1), v.RED)
    ask = t.wanted(t.play(state, t.MADE, t.saved("c1"), t.passes(), v.RED, t.SAID), Ask)
    assert ask.why.endswith(f"what fails was so before, on the base: t::old - assert 1 == 2; {FORGIVE}")


# --- tests that fail now


def failing(count: int) -> tuple[Finding, ...]:
    return tuple(w.finding(f"assert {n} == 0\nmore of it", rule=f"t::{n}", category="tests") for n in range(count))


def test_the_question_after_repeated_failures_names_the_first_tests_with_their_messages() -> None:
    named = "; failing: t::0 - assert 0 == 0, t::1 - assert 1 == 0, t::2 - assert 2 == 0 and 1 more"
    assert asked(f.GREEN, f.red(*failing(4))).why.endswith(named)
    assert "failing" not in asked(f.GREEN, f.red(LINT)).why
    session = t.play(t.session(trust=v.NOW, max=1), v.LANDS)
    ask = t.wanted(t.play(session, t.MADE, t.saved("c1"), t.passes(), v.RED, t.SAID), Ask)
    assert "; failing: t::old - assert 1 == 2" in ask.question
    state = w.play(w.workflow(trust=v.NOW, max_iterations=1), w.checked())
    state = w.play(state, w.scores(w.TOOL), w.SAID, w.plans(w.task(1)), w.stuck(1, *failing(1)))
    assert "; failing: t::0 - assert 0 == 0." in w.wanted(state, Ask).question


def test_the_question_whether_it_was_done_names_the_tests_that_fail_on_the_base() -> None:
    state = f.play(FEEDBACK.start(replace(f.params(), trust=v.NOW)), f.red(*failing(1)), f.DONE, f.saved("c1", files=0))
    assert "failing on the base: t::0 - assert 0 == 0." in f.wanted(state, Ask).question
    session = t.play(t.session(trust=v.NOW), v.RED, *t.made("c1", files=0))
    assert t.wanted(session, Ask).question.endswith("Failing on the base: t::old - assert 1 == 2.")
