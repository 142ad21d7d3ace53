"""What a batch wants done next: a pure function of its state."""

from __future__ import annotations

from typing import assert_never

from loopwright.kernel.actions import Action, Ask, CleanUp, Combine, Integrate, Option, RunLoop, Stop
from loopwright.kernel.model import Cleanup, Ending, Key, Outcome, Point
from loopwright.loops.batch.state import (
    AT_FIX,
    AT_REVIEW,
    CHILD,
    Batch,
    Item,
    Order,
    Phase,
    Standing,
    can_go_on,
    child_params,
    is_landed,
    landable,
    of_standing,
    stuck,
)

CONTINUE_BY_DEFAULT = 3
_NAMED = 10  # artifacts named in a question


def decide(state: Batch) -> tuple[Action, ...]:
    match state.phase:
        case Phase.REVIEW | Phase.FIX | Phase.CANCEL:
            return tuple(_child(state, index) for index in state.todo[: max(1, state.plan.width)])
        case Phase.COMBINE:
            return (_combine(state),)
        case Phase.LAND:
            return (_land(state),)
        case Phase.ESCALATED:
            return (_ask(state),)
        case Phase.CLEAN_UP:
            choice = state.cancel or Cleanup.KEEP_EVERYTHING
            return (CleanUp(key=Key("clean-up"), choice=choice, base=state.plan.base, why="the batch was cancelled"),)
        case Phase.DONE:
            outcome = state.outcome or Outcome(ending=Ending.FAILED, note="there is nothing to review")
            return (Stop(outcome=outcome, why=summary(state)),)
        case _:
            assert_never(state.phase)


def _child(state: Batch, index: int) -> RunLoop:
    item = state.items[index]
    order = _told(state, item)
    return RunLoop(
        key=Key(state.phase.value.lower(), state.round, part=str(index + 1), tries=state.asked),
        kind=CHILD,
        params=child_params(state.plan, index),
        name=item.path,
        say=order.say,
        answers=item.asking,
        grant=order.grant,
        text=order.text,
        takes=("escalation",),
        upto=_points(state.phase, item),
        why=f"round {state.round}: {item.line or 'not yet reviewed'}",
    )


def _told(state: Batch, item: Item) -> Order:
    """A person's word goes to those that are stuck, and the word to end to all."""
    order = state.order
    return order if order and (item.standing is Standing.STUCK or order.say == "cancel") else Order()


def _points(phase: Phase, item: Item) -> tuple[Point, ...]:
    """Where the child waits for the others: after its review, after its fix."""
    number = item.at.attempt
    match phase:
        case Phase.REVIEW:
            return (Point(AT_FIX, number), Point(AT_REVIEW, number + 1))
        case Phase.FIX:
            return (Point(AT_REVIEW, number + 1),)
        case _:
            return ()


def _combine(state: Batch) -> Combine:
    fixed = landable(state)
    return Combine(
        key=Key("combine", state.round, tries=state.asked),
        base=state.plan.base,
        commits=tuple(state.items[index].commit for index in fixed),
        label=f"combined-{state.round}-{state.asked}",
        why=f"{len(fixed)} artifacts were fixed",
    )


def _land(state: Batch) -> Integrate:
    plan = state.plan
    whole = not stuck(state)
    merge = state.merge_accepted if state.accepted else plan.merge
    return Integrate(
        key=Key("land", state.round, tries=state.asked),
        commit=state.combined,
        base=plan.base,
        message=f"Fix what reviews found in {_artifacts(len(landable(state)))}",
        branch=plan.branch,
        target=plan.target if merge and whole else "",
        verified=plan.checked and not state.accepted,
        why=summary(state),
    )


def _ask(state: Batch) -> Ask:
    able = can_go_on(state)
    go_on = (Option(choice="continue", label="Continue with the blocked ones"),) if able else ()
    land = (Option(choice="continue", label="Try again to land the fixes"),)
    revise = (Option(choice="revise", label="Revise: give new guidance"),) if able else ()
    return Ask(
        key=Key("escalation", state.asked),
        question=f"{summary(state)}.{_what_is_left(state)} How should it go on?",
        options=(
            *(go_on if is_landed(state) else go_on or land),
            Option(choice="accept", label="Accept them with what is known"),
            Option(choice="history", label="Show the reviews so far"),
            *revise,
            Option(choice="cancel", label="Cancel"),
        ),
        why=summary(state),
    )


def _what_is_left(state: Batch) -> str:
    left = [state.items[index] for index in stuck(state)]
    named = ", ".join(item.path for item in left[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    blocked = f" Blocked: {named}{more}." if left else ""
    refused = "" if is_landed(state) else f" {state.note}."
    return blocked + refused


def summary(state: Batch) -> str:
    passed, accepted = of_standing(state, Standing.PASSED), of_standing(state, Standing.ACCEPTED)
    taken = f", {len(accepted)} accepted" if accepted else ""
    waiting = of_standing(state, Standing.PENDING, Standing.BLOCKED)
    under_way = f", {len(waiting)} under way" if waiting else ""
    return f"{len(passed)} passed{taken}, {len(stuck(state))} blocked{under_way} of {_artifacts(len(state.items))}"


def _artifacts(number: int) -> str:
    return "1 artifact" if number == 1 else f"{number} artifacts"
