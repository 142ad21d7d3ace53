"""What the feedback loop wants done next in its own phases, what it lands, and what it asks when it is stuck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.actions import (
    ACCEPT_MERGE,
    Action,
    Checkpoint,
    Integrate,
    Option,
    RunAgent,
    RunChecks,
)
from loopwright.kernel.ledger import unresolved
from loopwright.kernel.model import Brief, Key, Tree, Verdict
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted, join_names
from loopwright.loops.accepting import known_on, with_shown
from loopwright.loops.course import Station, told_apart
from loopwright.loops.examination import DROP, KEEP
from loopwright.loops.feedback.examining import (
    exhibit,
    keep_tests,
    lay_tests,
    question,
    run_examiner,
    take_tests_away,
    try_on_base,
)
from loopwright.loops.feedback.state import (
    REVIEW,
    FeedbackPhase,
    FeedbackState,
    Iteration,
    base_of,
    best_to_take,
    tests_in_words,
)
from loopwright.loops.hooks import Escalation
from loopwright.loops.parts import NO_CHANGE, TaskFacts

_NAMED = 3  # files in an option


def work(state: FeedbackState) -> tuple[Action, ...]:
    return (_BY_PHASE[state.phase](state),)


def _key(state: FeedbackState, step: str) -> Key:
    return Key(step, state.current.number, tries=state.course.trial.tries)


def _brief(state: FeedbackState) -> Brief:
    return Brief(
        task=state.plan.task,
        attempt=state.current.number,
        limit=state.allowance.iterations,
        criteria=state.plan.criteria,
        repair=state.course.trial.repair,
        answers=state.course.answers,
        base=base_of(state),
        candidate=state.commit,
        unapproved=state.course.unapproved,
        put_back=state.course.put_back,
        altered_tests=state.course.altered_tests,
        own=_facts(state),
    )


def _facts(state: FeedbackState) -> TaskFacts | None:
    part, commands, held = state.plan.part, state.plan.also, state.examination
    seen_by_judge = held.files if state.phase is FeedbackPhase.REVIEW else ()
    page = held.interface if held.settled and held.files else ""
    if part is None:
        facts = TaskFacts(commands=commands, interface=page, hidden_tests=seen_by_judge)
        return facts if commands or page else None
    return replace(
        part,
        commands=commands,
        advised=state.course.advised or part.advised,
        interface=page,
        hidden_tests=seen_by_judge,
    )


def _examine(state: FeedbackState) -> RunAgent:
    return run_examiner(state, _brief(state))


def _implement(state: FeedbackState) -> RunAgent:
    last = state.past[-1] if state.past else Iteration(number=0)
    # Where the developer gave no result nobody judged anything: what was wrong before still is.
    judged = next((iteration for iteration in reversed(state.past) if iteration.review), last)
    newest = last.commit if state.examination.files else state.commit
    failures = with_shown(judged.failures, state.red if state.red and state.red.of == newest else None)
    marks = {finding.fingerprint for finding in judged.issues}
    still_open = tuple(f for f in unresolved(state.ledger, REVIEW) if f.fingerprint not in marks)
    brief = replace(
        _brief(state),
        findings=judged.issues + still_open,
        failures=told_apart(state.course, failures),
        before=state.course.before,
        history=tuple(_one_line(iteration) for iteration in state.past),
        answers=state.course.answers + state.course.refusals,
    )
    why = "the task is new" if not state.past else f"iteration {last.number} failed: {_what_failed(last)}"
    return RunAgent(
        key=_key(state, "implement"),
        role="developer",
        brief=brief,
        start=state.commit,
        writes=True,
        alone=bool(state.examination.files),
        why=why,
    )


def _review(state: FeedbackState) -> RunAgent:
    return RunAgent(
        key=_key(state, "review"),
        role="reviewer",
        brief=replace(_brief(state), findings=unresolved(state.ledger, REVIEW)),
        start=state.commit,
        writes=False,
        needs_verdict=True,
        why="spec compliance comes before the tests",
    )


def _add_tests(state: FeedbackState) -> RunAgent:
    return RunAgent(
        key=_key(state, "test"),
        role="tester",
        brief=_brief(state),
        start=state.commit,
        writes=True,
        alone=bool(state.examination.files),
        why="the review passed (SPEC_COMPLIANT) and a tester is configured",
    )


def _checkpoint(state: FeedbackState) -> Checkpoint:
    number = state.current.number
    tests = state.phase is FeedbackPhase.CHECKPOINT_TESTS
    return Checkpoint(
        key=Key("checkpoint", number, part="tests" if tests else ""),
        label=f"{number}-tests" if tests else str(number),
        parent=state.commit,
        base=base_of(state),
        trust=state.plan.trust,
        why="every attempt is kept",
    )


def _checks(state: FeedbackState) -> RunChecks:
    checks = RunChecks(
        key=_key(state, "checks"),
        commit=state.current.commit,
        base=base_of(state),
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=state.plan.trust,
        also=state.plan.also,
        after=state.plan.after.also_allowed(state.course.released),
        red=state.course.tests_to_pass,
        tries_new_tests=(state.plan.about or state.current.about) == "tests",
        hidden=state.examination.hidden,
        why="the review passed (SPEC_COMPLIANT); only the checks decide",
    )
    taken = best_to_take(state) if state.course.accepted else None
    return checks if taken is None else _as_accepted(state, checks, taken)


def _as_accepted(state: FeedbackState, checks: RunChecks, taken: Iteration) -> RunChecks:
    return replace(
        checks,
        key=Key("checks-accepted", state.course.asked, tries=state.course.trial.tries),
        commit=taken.commit,
        base=taken.onto or state.plan.base,
        red=(),
        why="what a person accepts has run the checks before it lands",
    )


_BY_PHASE: dict[FeedbackPhase, Callable[[FeedbackState], Action]] = {
    FeedbackPhase.EXAMINE: _examine,
    FeedbackPhase.KEEP_TESTS: keep_tests,
    FeedbackPhase.TRY_TESTS: try_on_base,
    FeedbackPhase.TAKE_TESTS_AWAY: take_tests_away,
    FeedbackPhase.IMPLEMENT: _implement,
    FeedbackPhase.CHECKPOINT: _checkpoint,
    FeedbackPhase.REVIEW: _review,
    FeedbackPhase.ADD_TESTS: _add_tests,
    FeedbackPhase.CHECKPOINT_TESTS: _checkpoint,
    FeedbackPhase.LAY_TESTS: lay_tests,
    FeedbackPhase.TEST: _checks,
}


def land(state: FeedbackState) -> Integrate:
    accepted, best = state.course.accepted, best_to_take(state)
    landed = best if accepted and best else state.current
    merge = state.course.merge_accepted if accepted else state.plan.merge
    as_known = accepted and not state.verified
    return Integrate(
        key=Key("land-accepted", state.course.asked) if accepted else _key(state, "land"),
        commit=landed.commit,
        base=landed.onto or state.plan.base,
        trust=state.plan.trust,
        tree=Tree("") if as_known else state.course.lands,
        holds_back=bool(state.course.held) or (as_known and state.plan.trust.in_force),
        may_drop=state.course.may_drop,
        message=state.plan.task,
        branch=state.plan.branch,
        target=state.plan.target if merge else "",
        verified=not as_known,
        known_on=known_on(state.red, landed.commit) if as_known and state.plan.accepts_checked else None,
        approved=state.course.approved,
        also=state.plan.also,
        hidden=state.examination.hidden,
        why="accepted by a person" if accepted or state.course.untested else "IMPLEMENTATION_VERIFIED",
    )


def escalation(state: FeedbackState) -> Escalation:
    """The four options of the seed, in its words; `revise` is for those who know what to change."""
    if (asked := question(state)) is not None:
        return asked
    why = "; ".join(state.course.reasons)
    asked_by = {each.role for each in state.course.inquiries if each.because == "asks"}
    may_decide = state.course.station is Station.ESCALATED or "developer" in asked_by
    is_disputed = may_decide and bool(state.examination.failing)
    best = best_to_take(state)
    is_no_code = best is not None and any(each.rule == NO_CHANGE for each in best.issues)
    changed = join_names(best.paths, _NAMED) if best and is_no_code else ""
    label = f"Accept what changed: {changed}" if changed else "Accept current state"
    accept = _accept(state, label) if best else ()
    return Escalation(
        question=f"The feedback loop stopped: {why}. How should it go on?",
        options=(
            Option(choice="continue", label="Continue"),
            *accept,
            Option(choice="history", label="Review iteration history"),
            Option(choice="cancel", label="Cancel feature"),
            Option(choice="revise", label="Revise the approach"),
            *((KEEP, DROP) if is_disputed else ()),
        ),
        why=why,
        findings=unresolved(state.ledger),
        exhibit=exhibit(state) if is_disputed else None,
    )


def _accept(state: FeedbackState, label: str) -> tuple[Option, ...]:
    """Offer to accept; where a merge was asked for at the start, that as well: else it is easily lost."""
    if not (state.plan.merge and state.plan.target):
        return (Option(choice="accept", label=label),)
    into = one_line(state.plan.target.removeprefix("refs/heads/"), 120)
    return (
        Option(choice="accept", label=f"{label} and leave it on a branch"),
        Option(
            choice="accept",
            label=f"{label} and merge it into {into}",
            how=ACCEPT_MERGE,
            prompt=f"{ACCEPT_MERGE}: the same, and merge it into {into}",
        ),
    )


def _one_line(iteration: Iteration) -> str:
    return f"Iteration {iteration.number}: {_what_failed(iteration)}"


def _what_failed(iteration: Iteration) -> str:
    if iteration.review is None:
        return "the developer gave no result"
    if iteration.refused:
        return f"it passed but could not be landed: {iteration.refused}"
    if iteration.rejected:
        if iteration.failures:
            return "a person rejected a change in it, without which its tests fail"
        return "it passed but a person rejected a change in it"
    if iteration.without_review:
        return f"it {iteration.without_review}"
    if iteration.review is Verdict.FAIL:
        return f"review failed with {counted(len(iteration.issues), 'issue')}"
    return f"review passed, {tests_in_words(iteration)}"
