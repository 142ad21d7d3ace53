"""What the workflow loop wants done next in its own phases, and what it lands."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.kernel.actions import Action, Announce, Combine, Integrate, RunAgent, RunChecks, RunLoop
from loopwright.kernel.changing import replace
from loopwright.kernel.events import Answered, CancelRequested
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Cleanup, Commit, Demand, Key
from loopwright.kernel.quoting import one_line
from loopwright.kernel.trust import HiddenTests, LandedBefore, is_named
from loopwright.kernel.wording import counted
from loopwright.loops.signing import sign
from loopwright.loops.workflow.brief import for_discussion, for_gate, for_intent, for_panel, for_review, shown_of
from loopwright.loops.workflow.making import (
    child_params,
    is_to_be_tried,
    panel_part,
    task_key,
    verifies,
    words_of,
)
from loopwright.loops.workflow.scoring import DIMENSIONS, score
from loopwright.loops.workflow.shape import criterion_name, must_not_name
from loopwright.loops.workflow.ship import Ship, verdict_of
from loopwright.loops.workflow.state import (
    Viewing,
    WorkflowPhase,
    WorkflowState,
    WorkTask,
    child_name,
    verified_by,
)


def work(state: WorkflowState) -> tuple[Action, ...]:
    return _BY_PHASE[state.phase](state)


def _asked(state: WorkflowState, step: str) -> Key:
    """Of a step that is done once, or once more after a person was asked."""
    return Key(step, state.course.asked + 1, tries=state.course.trial.tries)


def _role_or_rule(state: WorkflowState, role: str, run: RunAgent, rule: str) -> tuple[Action, ...]:
    if role in state.plan.cast:
        return (run,)
    return (Announce(key=run.key, text=rule, why=f"no {role} is named: the engine's own rule stands in"),)


def _score(state: WorkflowState) -> tuple[Action, ...]:
    run = RunAgent(
        key=_asked(state, "score"),
        role="scorer",
        brief=for_intent(state),
        start=state.ground,
        writes=False,
        why="how clear the request is decides whether anything is asked first",
    )
    return _role_or_rule(state, "scorer", run, _scores(state))


def _scores(state: WorkflowState) -> str:
    scores = score(state.plan.request, state.course.answers).scores
    each = ", ".join(f"{name} {getattr(scores, name)}" for name in DIMENSIONS)
    return f"scored by rule: {each}; spec {scores.spec} of 10"


def _shape(state: WorkflowState) -> tuple[Action, ...]:
    run = RunAgent(
        key=_asked(state, "shape"),
        role="shaper",
        brief=for_intent(state),
        start=state.ground,
        writes=False,
        why="criteria, what must not happen and how both are seen come before any task",
    )
    return _role_or_rule(state, "shaper", run, "shaped by rule, from the request and the checks")


def _plan(state: WorkflowState) -> tuple[Action, ...]:
    run = RunAgent(
        key=_asked(state, "plan"),
        role="planner",
        brief=for_intent(state),
        start=state.ground,
        writes=False,
        why="the request is taken apart into tasks that depend on each other",
    )
    return _role_or_rule(state, "planner", run, "without a planner the request is one task")


# --- tasks ----------------------------------------------------------------------------------------------------------


def _execute(state: WorkflowState) -> tuple[Action, ...]:
    return (
        *(_begin(state, index) for index in by_way_ahead(state)),
        *(_panel(state, index) for index in state.counsel),
        *_train(state),
        *(run for look in state.looks for run in _views(state, look, "light")),
    )


def by_way_ahead(state: WorkflowState) -> list[int]:
    """Of those to be driven, the one with the longest way ahead: more of them are named than there are places."""
    return sorted(state.running, key=lambda index: (-state.graph.rank[index], index))


def _begin(state: WorkflowState, index: int) -> RunChecks | RunLoop:
    """Its command before its maker: what passes then shows nothing, or that an earlier task has done it."""
    task = state.tasks[index]
    if not is_to_be_tried(task):
        return _task(state, index)
    return RunChecks(
        key=replace(task_key(state, index), step="start"),
        commit=task.start,
        base=state.ground,
        trust=state.plan.trust,
        also=tuple(replace(each, start=state.plan.base) for each in verifies(task)),
        demands_only=True,
        abreast=max(1, state.plan.parallel),
        why=f"the command of {task.id}, before anybody works on it",
    )


def _task(state: WorkflowState, index: int) -> RunLoop:
    task = state.tasks[index]
    subject = one_line(task.plan.subject, 120)
    begun = f"{subject}; attempt {task.attempts + 1}: {task.why}" if task.attempts else subject
    return RunLoop(
        key=task_key(state, index),
        kind=state.plan.inner.kind,
        params=child_params(state, task),
        name=child_name(task),
        said=_retry(task),
        takes=("escalation",),
        abreast=max(1, state.plan.parallel),
        why=begun,
    )


def _retry(task: WorkTask) -> Answered | None:
    """One attempt more, with what the panel advises and what people have said since its loop heard of them."""
    if task.over or task.asking == NO_KEY:
        return None
    return Answered(
        key=task.asking, choice="continue", count=1, text=task.guidance, allow=task.allow, advice=task.advice
    )


def must_nots(state: WorkflowState) -> tuple[Demand, ...]:
    found = state.shape.must_not if state.shape else ()
    return tuple(
        Demand(name=must_not_name(index), argv=each.command)
        for index, each in enumerate(found, start=1)
        if each.command
    )


def _panel(state: WorkflowState, index: int) -> RunAgent:
    task = state.tasks[index]
    part = panel_part(index)
    return RunAgent(
        key=Key("panel", task.stuck, part=part, tries=state.course.trial_of(part).tries),
        role="panel",
        brief=for_panel(state, task, part),
        start=shown_of(state, task),
        writes=False,
        why=f"{task.id} is stuck ({task.stuck}): {task.why}",
    )


def view_part(look: Viewing, view: str, step: str) -> str:
    """Two reviews may be under way at once, and their steps are told apart by it."""
    return f"{view}-{step[0]}{look.number}"


def _views(state: WorkflowState, look: Viewing, step: str) -> tuple[RunAgent, ...]:
    return tuple(
        RunAgent(
            key=Key(step, look.number, part=part, tries=state.course.trial_of(part).tries),
            role="reviewer",
            brief=for_review(state, look, view, part),
            start=look.commit,
            writes=False,
            needs_verdict=True,
            why=_why_looked(look, view, step),
        )
        for view, part in ((view, view_part(look, view, step)) for view in look.open)
    )


def _why_looked(look: Viewing, view: str, step: str) -> str:
    if step == "light":
        return f"wave {look.number} is complete; {view} looks, and holds up nothing"
    return f"all tasks are done; {view} looks before the completion gate"


# --- the merge train ------------------------------------------------------------------------------------------------


def _train(state: WorkflowState) -> tuple[Action, ...]:
    """One after the other: together with what landed, checked as that, landed."""
    if not state.train or state.gated:
        return ()
    task = state.tasks[state.train[0]]
    if not state.merged:
        return (_combine(state, task),)
    if not state.passed:
        return (_check(state, task),)
    weighed = state.calm or state.course  # what a person decides while it lands is for the next
    landing = replace(
        _landing(state),
        key=Key("land-task", state.turn),
        approved=weighed.approved,
        may_drop=weighed.may_drop,
        message=f"{task.id}: {task.plan.subject}",
        why=f"{task.id} passes together with what has landed",
    )
    course = replace(state.course, gates=weighed.gates, by_word=weighed.by_word)
    return (sign(landing, course, state.plan.trust),)


def _combine(state: WorkflowState, task: WorkTask) -> Combine:
    return Combine(
        key=Key("combine", state.turn),
        base=state.whole,
        commits=() if task.as_it_is else (task.commit,),
        made_on=() if task.as_it_is else (task.made_on,),
        keep=() if task.as_it_is else _tests_of_both(state, task),
        label=f"merge-{state.turn}",
        why=f"{task.id} is brought together with what has landed",
    )


def _tests_of_both(state: WorkflowState, task: WorkTask) -> tuple[tuple[Commit, str], ...]:
    """Whoever brings a change in brings its tests: those that it was verified with, as they were."""
    index = state.train[0]
    others = (other for other in state.tasks if other.instead == index) if task.origin in ("conflict", "red") else ()
    known = set(state.course.written)
    return tuple(
        (other.commit, path)
        for other in others
        for path in other.written
        if path not in known and not is_named(path, (*words_of(task), *task.plan.files))
    )


def _check(state: WorkflowState, task: WorkTask) -> RunChecks:
    earlier = tuple(each for each in state.promised if each.name != task.id)
    why = f"{task.id} on the merged tree, with {counted(len(earlier), 'command')} of what is done"
    checks = _checks(state, Key("checks", state.turn), (*must_nots(state), *earlier, *verifies(task)), why)
    landed = LandedBefore(commit=state.tip, allow=state.course.released, alone=True)
    return replace(checks, after=landed)


def _checks(state: WorkflowState, key: Key, also: tuple[Demand, ...], why: str) -> RunChecks:
    return RunChecks(
        key=key,
        commit=state.merged or state.whole,
        base=state.ground,
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=state.plan.trust,
        also=also,
        hidden=HiddenTests(files=state.hidden),
        why=why,
    )


def land(state: WorkflowState) -> Integrate:
    """All that has landed of the tasks, on its own branch, which it is on already, and on the target."""
    merge = state.course.merge_accepted if state.course.accepted else state.plan.merge
    return replace(_landing(state), target=state.plan.target if merge else "", also=_promises(state))


def _promises(state: WorkflowState) -> tuple[Demand, ...]:
    """What must pass with the target as it stands then; of what a person accepted, what has landed promises."""
    every = (*must_nots(state), *state.promised) if state.course.accepted else every_command(state)
    return tuple(replace(each, start=NO_COMMIT) for each in every)


def _landing(state: WorkflowState) -> Integrate:
    plan, course = state.plan, state.course
    return Integrate(
        key=Key("land", course.asked + 1, tries=state.turn),
        commit=state.merged or state.whole,
        base=state.tip,
        trust=plan.trust.on(state.ground),
        tree=course.lands,
        holds_back=bool(course.held),
        approved=course.approved,
        may_drop=course.may_drop,
        message=plan.request,
        branch=plan.branch,
        hidden=HiddenTests(files=state.hidden),
        why="accepted by a person" if course.accepted else "every task is verified and the review has passed",
    )


# --- the end --------------------------------------------------------------------------------------------------------


def _review(state: WorkflowState) -> tuple[Action, ...]:
    return _views(state, state.look, "thorough") if state.look else ()


def _discuss(state: WorkflowState) -> tuple[Action, ...]:
    return (
        RunAgent(
            key=_asked(state, "discuss"),
            role="panel",
            brief=for_discussion(state),
            start=state.tip,
            writes=False,
            why="a person wants to hear the panel on a finding",
        ),
    )


def every_command(state: WorkflowState) -> tuple[Demand, ...]:
    """What must not be, what the criteria ask for, and what every task promised."""
    criteria = state.shape.criteria if state.shape else ()
    asked = tuple(
        Demand(name=criterion_name(index), argv=each.command, start=state.plan.base)
        for index, each in enumerate(criteria, start=1)
        if each.command
    )
    return (*must_nots(state), *asked, *(each for task in state.tasks for each in verifies(task)))


def _verify(state: WorkflowState) -> tuple[Action, ...]:
    why = "all checks, and every command of a criterion, a task or a mustNot, on what was reviewed"
    return (_checks(state, Key("verify", state.turn), every_command(state), why),)


def _ship(state: WorkflowState) -> tuple[Action, ...]:
    run = RunAgent(
        key=Key("ship", state.turn, tries=state.course.trial.tries),
        role="gate",
        brief=for_gate(state),
        start=state.tip,
        writes=False,
        needs_verdict=True,
        why="the thorough review and every command have passed",
    )
    word = verdict_of(Ship(), verified_by(state))
    return _role_or_rule(state, "gate", run, f"the thorough review and every command have passed: {word}")


def _cancel(state: WorkflowState) -> tuple[Action, ...]:
    """Every loop of a task that has not ended is told, so that none is left open."""
    said = CancelRequested(cleanup=state.course.cancel or Cleanup.KEEP_ARTIFACTS)
    return tuple(
        RunLoop(
            key=Key("cancel", state.tasks[index].attempts + 1, part=str(index + 1), tries=state.course.asked),
            kind=state.plan.inner.kind,
            params=child_params(state, state.tasks[index]),
            name=child_name(state.tasks[index]),
            said=said,
            takes=("escalation",),
            why="the workflow ends",
        )
        for index in state.running
    )


_BY_PHASE: dict[WorkflowPhase, Callable[[WorkflowState], tuple[Action, ...]]] = {
    WorkflowPhase.SCORE: _score,
    WorkflowPhase.SHAPE: _shape,
    WorkflowPhase.PLAN: _plan,
    WorkflowPhase.EXECUTE: _execute,
    WorkflowPhase.REVIEW: _review,
    WorkflowPhase.DISCUSS: _discuss,
    WorkflowPhase.VERIFY: _verify,
    WorkflowPhase.SHIP: _ship,
    WorkflowPhase.CANCEL: _cancel,
}
