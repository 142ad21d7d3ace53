"""The files of a workflow: where it stands, for people, for hooks and for other programs.

Each one whole under `.loop/workflow/<loop>/`; of a root also where hooks and people look first, in `.loop/` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.kernel.model import Ending, LoopId
from loopwright.kernel.wording import counted, moment, way_on
from loopwright.loops.course import Station
from loopwright.loops.kind import Files, Noted, Scene
from loopwright.loops.workflow.completion import ShipCard, render_complete
from loopwright.loops.workflow.evidence import (
    GREEN_BEFORE,
    UNCOMMANDED,
    CriterionEvidence,
    CriterionStatus,
    criteria_status,
    evidence_files,
    is_only_the_merge,
)
from loopwright.loops.workflow.past import WorkflowPast
from loopwright.loops.workflow.plan import mermaid
from loopwright.loops.workflow.progress import ProgressPicture, TaskLine, TaskStatus, render_progress, wave_shown
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.shape import ShapeCriterion, criterion_name
from loopwright.loops.workflow.shape_page import ShapeFacts, render_shape
from loopwright.loops.workflow.state import (
    TaskStanding,
    WorkflowPhase,
    WorkflowState,
    WorkTask,
    choice_of,
    fit_known,
    spec_of,
    verified_by,
)
from loopwright.loops.workflow.state_file import (
    ShapeChosen,
    StateFile,
    ThoroughReview,
    WaveReview,
    WorkflowStage,
    render_state,
)
from loopwright.loops.workflow.stops import escalation

_TOP = ".loop"
_PLACES = {"SHAPE.md": "shape/SHAPE.md"}  # of those that do not lie in the folder itself
_STAGES: dict[WorkflowPhase, WorkflowStage] = {
    WorkflowPhase.SCORE: "intent",
    WorkflowPhase.SHAPE: "shape",
    WorkflowPhase.PLAN: "decompose",
    WorkflowPhase.EXECUTE: "executing",
    WorkflowPhase.REVIEW: "review",
    WorkflowPhase.DISCUSS: "review",
    WorkflowPhase.VERIFY: "review",
    WorkflowPhase.SHIP: "review",
    WorkflowPhase.CANCEL: "cancelled",
}
_CHOSEN: dict[ShapeChoice, ShapeChosen | None] = {
    ShapeChoice.TOOL: "tool",
    ShapeChoice.TOOL_REVIEW: "tool-review",
    ShapeChoice.COLLEAGUE: "colleague",
    ShapeChoice.BLOCKED: None,
}
_SHOWN: dict[TaskStanding, TaskStatus] = {TaskStanding.PENDING: "pending", TaskStanding.DONE: "completed"}


def folder(loop: LoopId) -> str:
    return f"{_TOP}/workflow/{loop}"


def render(scene: Scene[WorkflowState]) -> Files:
    """All of them, each time: most of it is the same, and then nothing is written."""
    state, past = scene.state, scene.past
    files = {
        "workflow-state.json": render_state(state_file(scene)),
        "PROGRESS.md": render_progress(picture(scene)),
    }
    if state.shape is not None:
        files["SHAPE.md"] = render_shape(_facts(state), state.shape, _met(state))
    if past.runs:
        made = evidence_files(state.plan.request, evidence(state), past.runs)
        files |= {f"evidence/{name}": text for name, text in made.items()}
    own = {f"{folder(scene.loop)}/{name}": text for name, text in files.items()}
    if not state.plan.is_root:
        return own
    return own | {f"{_TOP}/{_PLACES.get(name, name)}": text for name, text in files.items()}


def notes(scene: Scene[WorkflowState]) -> Mapping[str, tuple[Noted, ...]]:
    """What was learned by the event."""
    past: WorkflowPast = scene.past
    if scene.event is None:
        return past.learned
    fresh = {name: tuple(each for each in lines if each.seq == past.newest) for name, lines in past.learned.items()}
    return {name: lines for name, lines in fresh.items() if lines and past.newest == past.seq}


def stage_of(state: WorkflowState, status: str) -> WorkflowStage:
    course = state.course
    if course.station is Station.DONE:
        ending = course.outcome.ending if course.outcome else Ending.FAILED
        return "cancelled" if ending in (Ending.CANCELLED, Ending.FAILED) else "complete"
    if status == "paused":
        return "paused"
    if course.station is Station.CLEAN_UP:
        return "cancelled"
    return _STAGES[state.phase]


def state_file(scene: Scene[WorkflowState]) -> StateFile:
    state, past = scene.state, scene.past
    spec, fit, taken = spec_of(state), fit_known(state), state.plan.taken_over
    chosen = ShapeChoice.BLOCKED if spec is None and fit is None else choice_of(state)
    return StateFile(
        stage=stage_of(state, scene.status),
        task=state.plan.request,
        spec_score=spec,
        fit_score=fit,
        shape_chosen=_CHOSEN[chosen],
        started_at=(taken and taken.started_at) or moment(past.started),
        last_updated=moment(past.updated),
        recall_surfaced=tuple(each.title for each in state.plan.recalled),
        waves=_waves(state, past),
        thorough=_thorough(state, past),
        loop=scene.loop,
        needs=_needs(scene),
        criteria=criteria_status(evidence(state)) if past.runs or _is_accepted(state) else {},
    )


def _waves(state: WorkflowState, past: WorkflowPast) -> dict[int, WaveReview]:
    """What another tool said of a wave stands until it is looked at here."""
    taken = state.plan.taken_over
    before = {each.wave: each.review for each in taken.waves} if taken else {}
    return before | {
        seen.wave: WaveReview(
            score=seen.score,
            issues=seen.issues,
            blockers=seen.blockers,
            experts=seen.views,
            timestamp=past.waves.get(seen.wave, ""),
        )
        for seen in state.waves
    }


def _thorough(state: WorkflowState, past: WorkflowPast) -> ThoroughReview | None:
    """What another tool passed is not passed here: whoever reads that word alone must not take it for ours."""
    seen, taken = state.thorough, state.plan.taken_over
    if seen is None:
        return replace(taken.thorough, passed=False) if taken and taken.thorough else None
    return ThoroughReview(
        passed=seen.passed,
        blockers_remaining=len(seen.blockers),
        findings_total=len(seen.blockers) + len(seen.warnings) + len(seen.suggestions),
        experts=seen.views,
        timestamp=past.thorough,
    )


def picture(scene: Scene[WorkflowState]) -> ProgressPicture:
    state, past = scene.state, scene.past
    lines = task_lines(state, past.begun)
    shown = {task.id: task.status for task in lines}
    return ProgressPicture(
        title=_title(state),
        wave=wave_shown(lines),
        waves=max((task.wave for task in lines), default=0),
        iteration=state.iterations + (scene.status == "running" and bool(state.running)),
        spent=scene.spent,
        estimated=scene.estimated,
        budget=scene.budget,
        tasks=lines,
        stuck=sum(task.stuck for task in state.tasks),
        counsel=state.counselled > 0,
        stage=_stage_shown(state, scene.status),
        graph=mermaid(tuple(task.plan for task in state.tasks), shown) if lines else "",
        complete=complete(state) if is_complete(state) else "",
        remarks=(*_standing_still(state), *state.remarks),
    )


def _stage_shown(state: WorkflowState, status: str) -> str:
    """A person who took what there was has completed nothing."""
    if not _is_accepted(state):
        return stage_of(state, status)
    left = len(state.tasks) - state.done
    return f"accepted with {counted(left, 'open task')}" if left else "accepted"


def _is_accepted(state: WorkflowState) -> bool:
    return state.course.outcome is not None and state.course.outcome.ending is Ending.ACCEPTED


def _standing_still(state: WorkflowState) -> tuple[str, ...]:
    """Why nothing goes on, where a person is asked."""
    if state.course.station is Station.ESCALATED:
        return (f"Stopped: {'; '.join(state.course.reasons) or 'a person is asked'}",)
    outcome = state.course.outcome
    if outcome is not None and _is_accepted(state):
        return (f"Accepted by a person with {counted(len(outcome.findings), 'known issue')}, see .loop/debt.md",)
    return ()


def _needs(scene: Scene[WorkflowState]) -> str:
    """What a person is to do, how first: whoever has room for a line only cuts the rest."""
    state, paused = scene.state, scene.past.paused
    if paused is not None:
        return f"{way_on(paused.reason, scene.budget)}: {paused.detail}"
    match state.course.station:
        case Station.ESCALATED:
            asked = escalation(state)
            hows = [each.how or each.choice for each in asked.options if each.choice != "cancel"]
            return f"answer it, with `{' '.join(('loop answer', *hows[:1]))}` for example: {asked.why}"
        case Station.CLARIFY:
            return f"answer what is unclear with `loop answer`: {_unclear(state)}"
        case Station.GATE:
            return "decide what waits at a gate, `loop gates` shows it"
        case _:
            return ""


def _unclear(state: WorkflowState) -> str:
    return " ".join(each.question for inquiry in state.course.inquiries for each in inquiry.questions)


def _title(state: WorkflowState) -> str:
    return state.plan.request.strip().splitlines()[0]


def task_lines(state: WorkflowState, begun: frozenset[int] = frozenset()) -> tuple[TaskLine, ...]:
    return tuple(
        TaskLine(
            id=task.id,
            subject=task.plan.subject,
            wave=task.wave,
            status=_status(state, task),
            blocked_by=_blocked_by(state, task),
            assigned=index in begun,
            note=_note(state, task),
        )
        for index, task in enumerate(state.tasks)
    )


def _status(state: WorkflowState, task: WorkTask) -> TaskStatus:
    """When it has ended nothing is in progress any more."""
    is_left = state.course.outcome is not None and task.standing is not TaskStanding.DONE
    return "pending" if is_left else task_status(task)


def task_status(task: WorkTask) -> TaskStatus:
    return _SHOWN.get(task.standing, "in_progress")


def _blocked_by(state: WorkflowState, task: WorkTask) -> tuple[str, ...]:
    open_ones = (state.tasks[index] for index in task.after)
    return tuple(other.id for other in open_ones if other.standing is not TaskStanding.DONE)


def _note(state: WorkflowState, task: WorkTask) -> str:
    if state.course.outcome is not None:
        return ""
    if task.standing is TaskStanding.MERGING and task.instead is not None:
        return f"{state.tasks[task.instead].id} brings it in"
    if task.standing is TaskStanding.COUNSEL:
        return "stuck, the panel is asked before the next attempt"
    return "nothing shows that it is done, a person is asked" if task.standing is TaskStanding.IDLE else ""


def _facts(state: WorkflowState) -> ShapeFacts:
    return ShapeFacts(
        title=_title(state),
        spec=spec_of(state),
        fit=fit_known(state),
        reasons=state.scored.as_lines if state.scored else (),
        chosen=choice_of(state),
    )


def _met(state: WorkflowState) -> dict[str, CriterionStatus]:
    found = (CriterionStatus(met=each.met, verification=each.verification) for each in evidence(state))
    return {criterion_name(index): status for index, status in enumerate(found, start=1)}


def evidence(state: WorkflowState) -> tuple[CriterionEvidence, ...]:
    """A criterion is met when its own command passed; without one when it says no more than that the checks pass, or
    that the work is merged. Anything else is not shown."""
    return tuple(
        _of_command(state, each, criterion_name(index)) if each.command else _without_command(state, each)
        for index, each in enumerate(state.shape.criteria if state.shape else (), start=1)
    )


def _of_command(state: WorkflowState, criterion: ShapeCriterion, name: str) -> CriterionEvidence:
    met = name in state.met
    said = criterion.type if name in state.shown else f"{criterion.type}: {GREEN_BEFORE}"
    return CriterionEvidence(
        criterion=criterion.text,
        type=criterion.type,
        command=criterion.command,
        met=met,
        verification=said if met else "",
    )


def _without_command(state: WorkflowState, criterion: ShapeCriterion) -> CriterionEvidence:
    """A merge is the only thing after the work that is done, and seen, here."""
    into = _merged_into(state)
    judged = bool(state.shipped) and state.shipped != "RESEARCH"
    is_merged = bool(into) and is_only_the_merge(criterion.text)
    met = is_merged or (judged and criterion.is_measured)
    if is_merged:
        said = f"{UNCOMMANDED}: merged into {into}"
    elif not judged:
        said = ""
    elif met:
        said = f"{UNCOMMANDED}: all checks ({', '.join(state.plan.checks) or 'none'}) passed"
    else:
        said = f"{UNCOMMANDED}: not shown"
    return CriterionEvidence(criterion=criterion.text, type=criterion.type, met=met, verification=said)


def _merged_into(state: WorkflowState) -> str:
    return state.course.outcome.merged_into.removeprefix("refs/heads/") if state.course.outcome else ""


def is_complete(state: WorkflowState) -> bool:
    """By its own verdict, and not by a person's who took what there was."""
    outcome = state.course.outcome
    return outcome is not None and outcome.ending is Ending.VERIFIED and bool(state.shipped)


def complete(state: WorkflowState) -> str:
    ship = state.ship
    card = ShipCard(
        verdict=state.shipped or "SHIP",  # type: ignore[arg-type]  # one of the three words
        verified=verified_by(state),
        done=state.done,
        total=len(state.tasks),
        confidence=ship.confidence if ship else None,
        reversibility=ship.reversibility if ship else "",
        points=ship.points if ship else None,
        alternative=ship.alternative if ship else "",
        risk=ship.risk if ship else "",
    )
    return render_complete(task_lines(state), card)
