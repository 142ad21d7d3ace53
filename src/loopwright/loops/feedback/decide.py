"""What the feedback loop wants done next: a pure function of its state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.actions import (
    Action,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Integrate,
    Option,
    RunAgent,
    RunChecks,
    Stop,
    WaitUntil,
)
from loopwright.kernel.gates import PROTECTED, gate_key
from loopwright.kernel.ledger import unresolved
from loopwright.kernel.model import Brief, Cleanup, Ending, Key, Outcome, Verdict
from loopwright.loops.feedback.state import REVIEW, Feedback, Iteration, Phase, best_iteration, gate_is_open

CONTINUE_BY_DEFAULT = 3


def decide(state: Feedback) -> tuple[Action, ...]:
    """All that may be in flight now: the phase's own action, and an open gate beside it."""
    main = _BY_PHASE[state.phase](state)
    if state.until is not None:
        main = WaitUntil(key=main.key.waiting(), when=state.until, why="the agent is not available before then")
    if gate_is_open(state) and not isinstance(main, AwaitGate | Stop | CleanUp | Integrate):
        return (main, _gate(state))
    return (main,)


def _key(state: Feedback, verb: str) -> Key:
    return Key(verb, state.current.number, tries=state.tries)


def _brief(state: Feedback) -> Brief:
    return Brief(
        task=state.plan.task,
        attempt=state.current.number,
        limit=state.allowance.iterations,
        criteria=state.plan.criteria,
        repair=state.repair,
        base=state.plan.base,
        candidate=state.commit,
    )


def _implement(state: Feedback) -> RunAgent:
    last = state.past[-1] if state.past else Iteration(number=0)
    # Where the developer gave no result nobody judged anything: what was wrong before still is.
    judged = next((iteration for iteration in reversed(state.past) if iteration.review), last)
    marks = {finding.fingerprint for finding in judged.issues}
    still_open = tuple(f for f in unresolved(state.ledger, REVIEW) if f.fingerprint not in marks)
    brief = replace(
        _brief(state),
        findings=judged.issues + still_open,
        failures=judged.failures,
        history=tuple(_one_line(iteration) for iteration in state.past),
        answers=state.answers,
    )
    why = "the task is new" if not state.past else f"iteration {last.number} failed: {_what_failed(last)}"
    return RunAgent(
        key=_key(state, "implement"), role="developer", brief=brief, start=state.commit, writes=True, why=why
    )


def _review(state: Feedback) -> RunAgent:
    return RunAgent(
        key=_key(state, "review"),
        role="reviewer",
        brief=replace(_brief(state), findings=unresolved(state.ledger, REVIEW)),
        start=state.commit,
        writes=False,
        needs_verdict=True,
        why="spec compliance comes before the tests",
    )


def _add_tests(state: Feedback) -> RunAgent:
    return RunAgent(
        key=_key(state, "test"),
        role="tester",
        brief=_brief(state),
        start=state.commit,
        writes=True,
        why="the review passed (SPEC_COMPLIANT) and a tester is configured",
    )


def _checkpoint(state: Feedback) -> Checkpoint:
    number = state.current.number
    tests = state.phase is Phase.CHECKPOINT_TESTS
    return Checkpoint(
        key=Key("checkpoint", number, part="tests" if tests else ""),
        label=f"{number}-tests" if tests else str(number),
        parent=state.commit,
        base=state.plan.base,
        why="every attempt is kept",
    )


def _checks(state: Feedback) -> RunChecks:
    return RunChecks(
        key=_key(state, "checks"),
        commit=state.commit,
        base=state.plan.base,
        approved=state.approved,
        why="the review passed (SPEC_COMPLIANT); only the checks decide",
    )


def _gate(state: Feedback) -> AwaitGate:
    return AwaitGate(
        key=gate_key(PROTECTED, state.evidence),
        gate=PROTECTED,
        commit=state.commit,
        evidence=state.evidence,
        because=state.protected,
        why="protected files were changed; until a person approves, the base versions run",
    )


def _land(state: Feedback) -> Integrate:
    best = best_iteration(state.past)
    commit = best.commit if state.accepted and best else state.commit
    merge = state.merge_accepted if state.accepted else state.plan.merge
    return Integrate(
        key=Key("land-accepted", state.asked) if state.accepted else _key(state, "land"),
        commit=commit,
        base=state.plan.base,
        message=state.plan.task,
        branch=state.plan.branch,
        target=state.plan.target if merge else "",
        verified=not state.accepted,
        approved=state.approved,
        why="accepted by a person" if state.accepted else "IMPLEMENTATION_VERIFIED",
    )


def _clarify(state: Feedback) -> Ask:
    return Ask(
        key=Key("clarify", state.asked),
        question=state.question,
        free_text=True,
        options=(Option(choice="answer", label="Answer the question"), Option(choice="cancel", label="Cancel feature")),
        why="the developer cannot go on without a person",
    )


def _escalate(state: Feedback) -> Ask:
    """The four options of the seed, in its words; `revise` is for those who know what to change."""
    best = best_iteration(state.past)
    accept = (Option(choice="accept", label="Accept current state"),) if best else ()
    return Ask(
        key=Key("escalation", state.asked),
        question=f"The feedback loop stopped: {'; '.join(state.reasons)}. How should it go on?",
        options=(
            Option(choice="continue", label="Continue"),
            *accept,
            Option(choice="history", label="Review iteration history"),
            Option(choice="cancel", label="Cancel feature"),
            Option(choice="revise", label="Revise the approach"),
        ),
        why="; ".join(state.reasons),
    )


def _clean_up(state: Feedback) -> CleanUp:
    choice = state.cancel or Cleanup.KEEP_EVERYTHING
    return CleanUp(key=Key("clean-up"), choice=choice, base=state.plan.base, why="the loop was cancelled")


def _stop(state: Feedback) -> Stop:
    outcome = state.outcome or Outcome(ending=Ending.FAILED)
    return Stop(outcome=outcome, why=outcome.ending.value)


_BY_PHASE: dict[Phase, Callable[[Feedback], Action]] = {
    Phase.IMPLEMENT: _implement,
    Phase.CHECKPOINT: _checkpoint,
    Phase.REVIEW: _review,
    Phase.ADD_TESTS: _add_tests,
    Phase.CHECKPOINT_TESTS: _checkpoint,
    Phase.TEST: _checks,
    Phase.GATE: _gate,
    Phase.LAND: _land,
    Phase.CLARIFY: _clarify,
    Phase.ESCALATED: _escalate,
    Phase.CLEAN_UP: _clean_up,
    Phase.DONE: _stop,
}


def _one_line(iteration: Iteration) -> str:
    return f"Iteration {iteration.number}: {_what_failed(iteration)}"


def _what_failed(iteration: Iteration) -> str:
    if iteration.review is None:
        return "the developer gave no result"
    if iteration.refused:
        return f"it passed but could not be landed: {iteration.refused}"
    if iteration.review is Verdict.FAIL:
        return f"review failed with {_count(len(iteration.issues), 'issue')}"
    return f"review passed, tests failed with {_count(len(iteration.failures), 'failure')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
