"""What a batch wants done next in its own phases, what it lands, and what it asks when nothing goes on by itself."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.actions import Action, Combine, Integrate, Option, RunChecks, RunLoop
from loopwright.kernel.events import Answered, CancelRequested
from loopwright.kernel.model import NO_KEY, Cleanup, Key, Point, Tree
from loopwright.kernel.wording import counted
from loopwright.loops.accepting import known_on
from loopwright.loops.batch.state import (
    CHILD,
    ArtifactStanding,
    BatchItem,
    BatchPhase,
    BatchState,
    aboard,
    before_fix,
    before_review,
    can_go_on,
    child_key,
    child_name,
    child_params,
    goes_to,
    is_accepted,
    is_landed,
    landable,
    made_on,
    of_standing,
    stuck,
    to_land,
)
from loopwright.loops.hooks import Escalation

_NAMED = 10  # artifacts named in a question


def work(state: BatchState) -> tuple[Action, ...]:
    if state.phase is BatchPhase.COMBINE:
        return (_combine(state),)
    if state.phase is BatchPhase.CHECK:
        return (_check(state),)
    if state.phase is BatchPhase.VERIFY:
        return (_verify(state),)
    return tuple(_child(state, index) for index in state.todo)


def _child(state: BatchState, index: int) -> RunLoop:
    item = state.items[index]
    return RunLoop(
        key=child_key(state, index),
        kind=CHILD,
        params=child_params(state, index),
        name=child_name(item),
        said=_said(state, item),
        takes=("escalation",),
        upto=_points(state.phase, item),
        abreast=max(1, state.plan.width),
        why=f"round {state.round}: {item.line or 'not yet reviewed'}",
    )


def _said(state: BatchState, item: BatchItem) -> Answered | CancelRequested | None:
    """A person's word goes to those that are stuck with a question, and the word to end to all."""
    if state.phase is BatchPhase.CANCEL:
        # Without a cancel a person accepted what there is: what could not be accepted has something to look at.
        return CancelRequested(cleanup=state.course.cancel or Cleanup.KEEP_ARTIFACTS)
    if state.order is None or item.standing is not ArtifactStanding.STUCK or item.asking == NO_KEY:
        return None
    return replace(state.order, key=item.asking)


def _points(phase: BatchPhase, item: BatchItem) -> tuple[Point, ...]:
    """Where the child waits for the others."""
    number = item.at.attempt
    if phase is BatchPhase.CANCEL:
        return ()
    fixed = before_review(number + 1)
    return (before_fix(number), fixed) if phase is BatchPhase.REVIEW else (fixed, before_fix(number + 1))


def _combine(state: BatchState) -> Combine:
    """What the target has by now counts as one of the changes, and goes first."""
    fixed = aboard(state)
    now = (state.onto,) if state.onto else ()
    mark = _landing_mark(state)
    return Combine(
        key=_landing_key(state, "combine"),
        base=state.plan.base,
        commits=(*now, *(state.items[index].commit for index in fixed)),
        made_on=(*(state.plan.base for _ in now), *(made_on(state, index) for index in fixed)),
        label=f"combined-{state.round}-{state.course.asked}{f'-{mark}' if mark else ''}",
        why=f"{counted(len(fixed), 'artifact was', 'artifacts were')} fixed",
    )


def _check(state: BatchState) -> RunChecks:
    return RunChecks(
        key=_landing_key(state, "check"),
        commit=state.combined,
        base=state.onto,
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=state.plan.trust,
        why=f"all fixes together fail the checks; whether {state.items[state.adding[0]].path} does",
    )


def _verify(state: BatchState) -> RunChecks:
    return RunChecks(
        key=_landing_key(state, "verify"),
        commit=state.combined,
        base=state.onto or state.plan.base,
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=state.plan.trust,
        why="what lands has run the checks",
    )


def _landing_key(state: BatchState, step: str) -> Key:
    return Key(step, state.round, part=_landing_mark(state), tries=state.course.asked)


def _landing_mark(state: BatchState) -> str:
    return f"{'tip' if state.onto else ''}{state.again or ''}"


def land(state: BatchState) -> Integrate:
    plan, as_known = state.plan, is_accepted(state) and not state.verified
    return Integrate(
        key=_landing_key(state, "land"),
        commit=state.combined,
        base=state.onto or plan.base,
        message=f"Fix what reviews found in {counted(len(landable(state)), 'artifact')}",
        branch=plan.branch,
        target=goes_to(state),
        verified=plan.checked and not as_known,
        known_on=known_on(state.red, to_land(state)) if as_known and plan.checked and plan.accepts_checked else None,
        unseen=not state.verified,
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=plan.trust,
        tree=Tree("") if as_known else state.course.lands,
        holds_back=bool(state.course.held) or (plan.trust.in_force and (as_known or not plan.checked)),
        why=summary(state),
    )


def escalation(state: BatchState) -> Escalation:
    able = can_go_on(state)
    go_on = (Option(choice="continue", label="Continue with the blocked ones"),) if able else ()
    again = (Option(choice="continue", label="Try again to land the fixes"),)
    revise = (Option(choice="revise", label="Revise: give new guidance"),) if able else ()
    return Escalation(
        question=f"{summary(state)}.{_what_is_left(state)} How should it go on?",
        options=(
            *(go_on if is_landed(state) else go_on or again),
            Option(choice="accept", label="Accept them with what is known"),
            Option(choice="history", label="Show the reviews so far"),
            *revise,
            Option(choice="cancel", label="Cancel"),
        ),
        findings=state.failures,
        why=summary(state),
    )


def _what_is_left(state: BatchState) -> str:
    left = [state.items[index] for index in stuck(state)]
    named = ", ".join(_named(item) for item in left[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    blocked = f" Blocked: {named}{more}." if left else ""
    return blocked + "".join(f" {reason}." for reason in state.course.reasons)


def _named(item: BatchItem) -> str:
    return f"{item.path} (in conflict)" if item.standing is ArtifactStanding.CONFLICT else item.path


def summary(state: BatchState) -> str:
    passed, accepted = of_standing(state, ArtifactStanding.PASSED), of_standing(state, ArtifactStanding.ACCEPTED)
    taken = f", {len(accepted)} accepted" if accepted else ""
    waiting = of_standing(state, ArtifactStanding.PENDING, ArtifactStanding.BLOCKED)
    under_way = f", {len(waiting)} under way" if waiting else ""
    all_of_them = counted(len(state.items), "artifact")
    return f"{len(passed)} passed{taken}, {len(stuck(state))} blocked{under_way} of {all_of_them}"
