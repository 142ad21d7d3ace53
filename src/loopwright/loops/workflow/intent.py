"""From the request to its plan: scored, asked about where it is unclear, shaped, taken apart into tasks."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import AgentFailed, AgentReported, Announced
from loopwright.loops import course as c
from loopwright.loops.course import Inquiry, Station
from loopwright.loops.workflow.plan import (
    PlannedTask,
    plan_problems,
    plan_remarks,
    read_tasks,
    single_task,
    waves_of,
)
from loopwright.loops.workflow.schedule import laid_out
from loopwright.loops.workflow.scoring import MIN_SPEC, Scored, read_scores, score
from loopwright.loops.workflow.shape import (
    LEAST_RULES,
    WorkShape,
    bars_completion,
    reaches_away,
    read_shape,
    shape_of,
    shape_problems,
    with_engine_rules,
)
from loopwright.loops.workflow.state import Stopped, WorkflowPhase, WorkflowState, fit_of
from loopwright.loops.workflow.stops import stopped
from loopwright.loops.workflow.tasks import advanced

FromRole = AgentReported | AgentFailed | Announced
TOOL_FIT = 40


def once_more(state: WorkflowState, why: str) -> WorkflowState | None:
    """The role is asked for its result once more; None: it was asked already."""
    trial = state.course.trial.to_repair(why)
    return None if trial is None else c.with_trial(state, trial)


def remarked(state: WorkflowState, *remarks: str) -> WorkflowState:
    return replace(state, remarks=(*state.remarks, *remarks))


# --- the score ------------------------------------------------------------------------------------------------------


def scored(state: WorkflowState, event: FromRole) -> WorkflowState:
    found = read_scores(event.report) if isinstance(event, AgentReported) else _unscored(event)
    if isinstance(found, Scored):
        return _with_scores(state, found)
    if isinstance(event, AgentReported) and (again := once_more(state, found)) is not None:
        return again
    if found:
        state = remarked(state, f"The scorer gave no usable scores ({found}): they were taken by rule.")
    return _with_scores(state, score(state.plan.request, state.course.answers))


def _unscored(event: AgentFailed | Announced) -> str:
    return c.sentence_of(event) if isinstance(event, AgentFailed) else ""


def _with_scores(state: WorkflowState, found: Scored) -> WorkflowState:
    """What is unclear is asked about before anybody is set to work; then the scores are taken once more."""
    state = replace(state, scored=found)
    if found.scores.spec >= MIN_SPEC:
        return c.entered(state, WorkflowPhase.SHAPE)
    asked = Inquiry(role="scorer", questions=found.questions or score(state.plan.request).questions)
    held = replace(state.course.trial, held=True)
    return c.steered(state, station=Station.CLARIFY, inquiries=(asked,), trials=(held,), asked=state.course.asked + 1)


# --- the shape ------------------------------------------------------------------------------------------------------


def shaped(state: WorkflowState, event: FromRole) -> WorkflowState:
    found = _shape_of(state, event)
    problems = _too_little(found) if isinstance(found, WorkShape) else (found,)
    told = "; ".join(filter(None, problems))
    if isinstance(event, AgentReported) and told and (again := once_more(state, told)) is not None:
        return again
    if isinstance(found, WorkShape) and found.criteria:
        return _with_shape(state, with_engine_rules(found))
    if told:
        state = remarked(state, f"The shaper gave no usable shape ({told}): it was made by rule.")
    return _with_shape(state, shape_of(state.plan.request, state.course.answers))


def _shape_of(state: WorkflowState, event: FromRole) -> WorkShape | str:
    """As the shaper gave it, or why it cannot be taken."""
    if not isinstance(event, AgentReported):
        return _unscored(event)
    found = read_shape(event.report)
    if isinstance(found, str) or not state.plan.shape_stays_near:
        return found
    return reaches_away(found) or found


def _too_little(shape: WorkShape) -> tuple[str, ...]:
    """A mustNot in plain words is one: reviewers see it. Too few are asked for."""
    is_enough = shape.criteria and len(shape.must_not) >= LEAST_RULES and not bars_completion(shape)
    assumed = tuple(f"it is only assumed: {each}" for each in bars_completion(shape))
    return () if is_enough else (*shape_problems(shape), *assumed)


def _with_shape(state: WorkflowState, shape: WorkShape) -> WorkflowState:
    state = replace(state, shape=shape)
    if unseen := bars_completion(shape):
        why = f"nothing would show that these hold, they are assumed: {', '.join(unseen)}"
        return stopped(state, Stopped.SHAPE, why)
    if fit_of(state) >= TOOL_FIT:
        return c.entered(state, WorkflowPhase.PLAN)
    if state.plan.attended:
        return stopped(
            state, Stopped.CONFIRM, f"the fit is {fit_of(state)}, below {TOOL_FIT}: the shape is shown first"
        )
    state = remarked(
        state, f"The shape was taken without asking (fit {fit_of(state)}, nobody was there to confirm it)."
    )
    return c.entered(state, WorkflowPhase.PLAN)


# --- the plan -------------------------------------------------------------------------------------------------------


def planned(state: WorkflowState, event: FromRole) -> WorkflowState:
    """A plan that is wrong is asked for once more with what is wrong; then no task starts."""
    if isinstance(event, Announced):
        criteria = state.shape.criteria if state.shape else ()
        return _with_tasks(state, (single_task(state.plan.request, tuple(each.text for each in criteria)),))
    found = read_tasks(event.report) if isinstance(event, AgentReported) else c.sentence_of(event)
    problems = (found,) if isinstance(found, str) else plan_problems(found)
    remarks = () if isinstance(found, str) or problems else plan_remarks(found)
    told = "; ".join((*problems, *remarks))
    if isinstance(event, AgentReported) and told and (again := once_more(state, told)) is not None:
        return again
    if isinstance(found, str) or problems:
        return stopped(state, Stopped.PLAN, f"the plan cannot be worked by: {'; '.join(problems)}")
    return _with_tasks(remarked(state, *remarks), found)


def _with_tasks(state: WorkflowState, tasks: tuple[PlannedTask, ...]) -> WorkflowState:
    state = laid_out(state, tasks, waves_of(tasks))
    return advanced(c.entered(state, WorkflowPhase.EXECUTE))
