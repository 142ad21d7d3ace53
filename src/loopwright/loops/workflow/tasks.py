"""What becomes of the tasks: each made in a loop of its own, brought together one after the other, tried again when
stuck."""

from __future__ import annotations

from typing import assert_never

from loopwright.kernel.changing import replace
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    ChecksReported,
    Combined,
    Integrated,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.kernel.evidence import Evidence, Level, combine
from loopwright.kernel.faults import conflict_finding, engine_finding, faults_of, names_of_faults
from loopwright.kernel.model import NO_COMMIT, NO_KEY, CheckResult, Commit, Ending, Finding, Outcome
from loopwright.loops import course as c
from loopwright.loops.course import Trial
from loopwright.loops.parts import changed_nothing
from loopwright.loops.weighing import Failed, Passed, Rejected, Waits, Weighed, rejection, weighed, with_reason
from loopwright.loops.workflow.advice import advice_text, read_advice
from loopwright.loops.workflow.calm import calmed, covered, turned
from loopwright.loops.workflow.limits import reasons
from loopwright.loops.workflow.looking import looked_at, review_begun, since_last_look
from loopwright.loops.workflow.making import panel_part, promised, task_key
from loopwright.loops.workflow.remedies import MUST_NOT, Origin, became_true, both_sides, forbidden_in, why_of
from loopwright.loops.workflow.schedule import (
    added,
    admitted,
    check_in_due,
    diagnosis,
    finished,
    given_up,
    made_ready,
)
from loopwright.loops.workflow.state import (
    Stopped,
    TaskStanding,
    WorkflowState,
    WorkTask,
    counts,
    with_task,
)
from loopwright.loops.workflow.stops import stopped

_PASSED = (Ending.VERIFIED, Ending.REVIEWED, Ending.ACCEPTED)


def advanced(state: WorkflowState) -> WorkflowState:
    """Begin what may begin; with nothing under way, go on to the review, or say why nothing goes on."""
    if state.course.station is not None:  # a person is asked first
        return state
    over = reasons(counts(state), state.allowance, state.worst_task)
    if not over:
        state = admitted(_counsel_due(state))
    if state.running or state.counsel or state.train or state.looks:
        return state
    if state.idle:
        return stopped(state, Stopped.IDLE, *(_why_idle(state.tasks[index]) for index in state.idle))
    if state.done == len(state.tasks):
        return review_begun(state)
    if over:
        return stopped(state, Stopped.LIMIT, *over)
    if check_in_due(state):
        return stopped(state, Stopped.CHECK_IN, since_last_look(state))
    return stopped(state, Stopped.STUCK, diagnosis(state))


def _why_idle(task: WorkTask) -> str:
    return f"the maker of {task.id} changed nothing, and its command passed before the task started"


# --- a task's own loop ----------------------------------------------------------------------------------------------


def tried(state: WorkflowState, event: ChecksReported) -> WorkflowState:
    """What the command of a task says before anybody works on it. One that passes there shows nothing afterwards."""
    index = int(event.key.part) - 1
    task = state.tasks[index]
    passed = all(each.passed for each in event.also)
    unable = "; ".join(each.unable for each in event.also if each.unable)
    done_before = passed and any(each.red_before for each in event.also)
    task = replace(task, tried=task.start, is_red=not (passed or unable), unable=unable, done_before=done_before)
    state = with_task(state, index, task)
    if not unable:
        return state
    found = (f"the command of {each.id} shows nothing: {each.unable}" for each in state.tasks if each.unable)
    return stopped(state, Stopped.COMMAND, *found)


def heard(state: WorkflowState, event: LoopEnded) -> WorkflowState:
    """One attempt of a task has ended, whichever way."""
    index = next(each for each in state.running if task_key(state, each) == event.key)
    outcome = event.outcome
    task = state.tasks[index]
    if outcome.ending is Ending.CANCELLED:
        return _taken_away(state, index)
    task = replace(
        task,
        attempts=task.attempts + 1,
        loop=outcome.loop or task.loop,
        commit=outcome.commit,
        asking=outcome.asking,
        over=outcome.ending is not Ending.ESCALATED,
        why="" if outcome.ending is Ending.VERIFIED else why_of(outcome),
        advice="",
    )
    state = replace(
        state,
        running=tuple(each for each in state.running if each != index),
        iterations=state.iterations + 1,
    )
    if outcome.ending in _PASSED:
        return advanced(_made(state, index, task, outcome))
    if changed_nothing(outcome) and task.origin == "plan" and task.plan.verify and not task.is_red:
        state = with_task(state, index, replace(task, standing=TaskStanding.IDLE))
        return advanced(replace(state, idle=(*state.idle, index)))
    if task.over:
        task = replace(task, before=task.before + 1)
    state = with_task(state, index, task)
    found = outcome.findings or (engine_finding(f"task-{outcome.ending.value}", task.why or "its loop gave no reason"),)
    state = _failed(state, index, found)
    if forbidden := forbidden_in(found):
        return stopped(state, Stopped.MUST_NOT, *became_true(forbidden))
    return advanced(state)


def _taken_away(state: WorkflowState, index: int) -> WorkflowState:
    """A person ended the task's own loop: that uses up nothing, and nobody begins it again behind their back."""
    task = state.tasks[index]
    fresh = replace(task, over=True, before=task.before + 1, asking=NO_KEY, start=NO_COMMIT)
    state = replace(state, running=tuple(each for each in state.running if each != index))
    state = made_ready(with_task(state, index, fresh), index)
    return stopped(state, Stopped.STUCK, f"{task.id} was cancelled by a person; to go on is to begin it once more")


def _made(state: WorkflowState, index: int, task: WorkTask, outcome: Outcome) -> WorkflowState:
    task = replace(
        task,
        failures=(),
        untested=outcome.ending is Ending.ACCEPTED,
        written=outcome.written,
        no_test=outcome.no_test,
        decisions=outcome.evidence.decisions if outcome.evidence else (),
        as_it_is=outcome.commit == task.start,
    )
    state = replace(
        state,
        approved=tuple(dict.fromkeys((*state.approved, *outcome.approved))),
        may_drop=tuple(dict.fromkeys((*state.may_drop, *outcome.may_drop))),
        hidden=tuple(dict.fromkeys((*state.hidden, *outcome.hidden))),
    )
    return _aboard(state, index, task)


def _aboard(state: WorkflowState, index: int, task: WorkTask) -> WorkflowState:
    state = with_task(state, index, replace(task, standing=TaskStanding.MADE))
    return replace(state, train=(*state.train, index))


def _failed(state: WorkflowState, index: int, found: tuple[Finding, ...]) -> WorkflowState:
    """Stuck at the first failed verification: the panel is asked at once, if there is one, and it is tried again.

    Advice that a pause follows is asked for after it: nobody may ever go on.
    """
    task = state.tasks[index]
    marks = tuple(sorted({each.fingerprint for each in found}))
    task = replace(
        task,
        stuck=task.stuck + 1,
        same=task.same + 1 if marks == task.marks else 1,
        marks=marks,
        failures=found,
        as_it_is=False,
    )
    state = replace(with_task(state, index, task), failures=state.failures + 1)
    if task.same > state.worst or task.id == state.worst_task:
        worst = max(state.tasks, key=lambda each: each.same)
        state = replace(state, worst=worst.same, worst_task=worst.id)
    if "panel" not in state.plan.cast:
        return made_ready(state, index)
    state = with_task(state, index, replace(task, standing=TaskStanding.COUNSEL))
    if state.plan.counsel_within_limits and reasons(counts(state), state.allowance, state.worst_task):
        return replace(state, unadvised=(*state.unadvised, index))
    return _counselled(state, index)


def _counsel_due(state: WorkflowState) -> WorkflowState:
    return _counselled(replace(state, unadvised=()), *state.unadvised) if state.unadvised else state


def _counselled(state: WorkflowState, *stuck: int) -> WorkflowState:
    trials = tuple(Trial(part=panel_part(index)) for index in stuck)
    state = c.steered(state, trials=(*state.course.trials, *trials))
    return replace(state, counsel=(*state.counsel, *stuck))


def advised(state: WorkflowState, event: AgentReported | AgentFailed) -> WorkflowState:
    """A panel that does not know holds nobody up: the task is tried again without."""
    index = next(each for each in state.counsel if panel_part(each) == event.key.part)
    found = read_advice(event.report) if isinstance(event, AgentReported) else c.sentence_of(event)
    trial = state.course.trial_of(event.key.part)
    if isinstance(found, str) and isinstance(event, AgentReported) and (again := trial.to_repair(found)) is not None:
        return c.with_trial(state, again)
    state = _without_trial(replace(state, counsel=tuple(each for each in state.counsel if each != index)), trial.part)
    if isinstance(found, str):
        remark = f"The panel gave no advice on {state.tasks[index].id}: {found}."
        remarks = tuple(dict.fromkeys((*state.remarks, remark)))
        return advanced(made_ready(replace(state, remarks=remarks), index))
    state = with_task(state, index, replace(state.tasks[index], advice=advice_text(found)))
    return advanced(made_ready(replace(state, counselled=state.counselled + 1), index))


def _without_trial(state: WorkflowState, part: str) -> WorkflowState:
    return c.steered(state, trials=tuple(trial for trial in state.course.trials if trial.part != part))


# --- the merge train ------------------------------------------------------------------------------------------------


def combined(state: WorkflowState, event: Combined) -> WorkflowState:
    task = state.tasks[state.train[0]]
    if not event.left_out:
        return replace(state, merged=event.commit)
    paths = next((each.paths for each in event.conflicts if each.commit == task.commit), ())
    found = tuple(conflict_finding(path, "what has landed meanwhile") for path in paths)
    why = f"it conflicts with what has landed in {', '.join(paths) or 'some files'}"
    return sent_back(state, found, why, "conflict")


def checked(state: WorkflowState, event: ChecksReported) -> WorkflowState:
    """Only what passes together with all that has landed lands."""
    index = state.train[0]
    task = state.tasks[index]
    if broken := broken_rules(state, event):
        why, found = "; ".join(broken), faults_of(event)
        state = _not_so(state, found, why) if task.as_it_is else _reworked(state, found, why)
        return stopped(state, Stopped.MUST_NOT, *broken, failing=found)
    if event.held and event.lands == state.course.lands:  # all that would land has landed
        event = replace(event, nothing_else=True)
    # Its own loop has told its maker already: what is left is a person's to decide.
    before = c.steered(replace(state, calm=state.course), told_untested=True)
    words = (state.plan.request, task.plan.subject, task.plan.description, *task.plan.files)
    state, said = weighed(before, event, state.merged, words, is_last=True)
    shown = c.with_decisions(event.evidence, (*task.decisions, *state.course.decisions))
    shown = with_reason(shown, task.no_test)
    if task.as_it_is and shown is not None:  # an empty change: what the mutation check says is about earlier tasks
        shown = replace(shown, level=Level.NOT_SHOWN)
    state = c.steered(state, evidence=_with_task_evidence(before, task, shown))
    return _after_checks(state, event, said, shown)


def _with_task_evidence(state: WorkflowState, task: WorkTask, shown: Evidence | None) -> Evidence | None:
    """Return the evidence of all that has landed and of this task; a task without any is not shown.

    What shows a task that an earlier one has done is the evidence of that one.
    """
    landed = state.course.evidence
    if landed is None and shown is None:
        return None
    if landed is not None and task.as_it_is and task.done_before:
        return combine({"": landed}, *filter(None, (shown,)))
    parts = {task.id: shown or Evidence(level=Level.NOT_SHOWN)}
    if landed is None:
        done = (task.id for task in state.tasks if task.standing is TaskStanding.DONE)
        return combine({**dict.fromkeys(done, Evidence(level=Level.NOT_SHOWN)), **parts})
    return combine({"": landed, **parts})


def _after_checks(state: WorkflowState, event: ChecksReported, said: Weighed, shown: Evidence | None) -> WorkflowState:
    index = state.train[0]
    task = state.tasks[index]
    match said:
        case Passed() if task.as_it_is:
            state = with_task(state, index, replace(task, evidence=shown, same_product=True))
            return _done(_done_as_it_is(state, index), index)
        case Passed():
            same, alters = event.same_product, event.alters_code
            task = replace(task, evidence=shown, same_product=same, alters_code=alters)
            return replace(with_task(state, index, task), passed=True)
        case Waits() if (approved := covered(state, task)) is not None:
            return turned(approved)
        case Waits():
            return replace(state, gated=True)
        case Rejected() | Failed():
            state = calmed(state)
            found = (rejection(said.gate),) if isinstance(said, Rejected) else said.faults
            why = f"on the merged tree these fail: {names_of_faults(event, found)}"
            return advanced(_not_so(state, found, why)) if task.as_it_is else sent_back(state, found, why)
        case _:
            assert_never(said)


def _not_so(state: WorkflowState, found: tuple[Finding, ...], why: str) -> WorkflowState:
    """It is not done as it is: its maker works on it next."""
    index = state.train[0]
    state = _next(with_task(state, index, replace(state.tasks[index], why=why, done_before=False)))
    return _failed(given_up(state, index) if state.tasks[index].over else state, index, found)


def _done_as_it_is(state: WorkflowState, index: int) -> WorkflowState:
    task = state.tasks[index]
    how = (
        "was done by an earlier task: its command failed where the workflow started and passes now"
        if task.done_before
        else "counts as done by a person's word: nothing was changed for it"
    )
    return replace(_promised(state, index), remarks=(*state.remarks, f"{task.id} {how}."))


def _promised(state: WorkflowState, index: int) -> WorkflowState:
    return replace(state, promised=promised(state, state.tasks[index]))


def _next(state: WorkflowState) -> WorkflowState:
    return turned(replace(state, train=state.train[1:]))


def landed(state: WorkflowState, event: Integrated) -> WorkflowState:
    index = state.train[0]
    bases, wave = state.wave_base, state.tasks[index].wave
    if not bases[wave - 1]:
        state = replace(state, wave_base=(*bases[: wave - 1], state.tip, *bases[wave:]))
    state = replace(state, tip=event.landed or event.commit, whole=state.merged)
    state = c.steered(state, landed=event.landed or event.commit)
    return _done(_promised(state, index), index, state.tip)


def _done(state: WorkflowState, index: int, landed_as: Commit = NO_COMMIT) -> WorkflowState:
    wave = state.tasks[index].wave
    return advanced(looked_at(_next(finished(replace(state, calm=None), index, landed_as)), wave))


def not_landed(state: WorkflowState, event: IntegrationRefused) -> WorkflowState:
    """Its own branch could not be moved, which nobody else moves: a person has to see why."""
    why = f"{state.tasks[state.train[0]].id} did not land: {event.detail or event.reason}"
    return stopped(state, Stopped.STUCK, why, failing=event.findings)


def sent_back(state: WorkflowState, found: tuple[Finding, ...], why: str, origin: Origin = "red") -> WorkflowState:
    return advanced(_reworked(state, found, why, origin))


def _reworked(state: WorkflowState, found: tuple[Finding, ...], why: str, origin: Origin = "red") -> WorkflowState:
    """What was right by itself and is not together with the rest becomes a task, with both sides in its brief."""
    index = state.train[0]
    task = state.tasks[index]
    marks = tuple(sorted({each.fingerprint for each in found}))
    task = replace(
        task,
        standing=TaskStanding.MERGING,
        instead=len(state.tasks),
        stuck=task.stuck + 1,
        why=why,
        failures=found,
        marks=marks,
    )
    merged = state.merged if origin == "red" else NO_COMMIT
    fresh = WorkTask(
        plan=both_sides(state, task, origin),
        asked=task.asked or task.plan,
        wave=task.wave,
        origin=origin,
        start=merged,
        began=task.began or task.start,
        made_on=state.whole if merged else NO_COMMIT,
        same=task.same + 1 if marks == task.marks and task.origin == origin else 1,
        marks=marks,
    )
    state = replace(with_task(state, index, task), failures=state.failures + 1)
    if fresh.same > state.worst:
        state = replace(state, worst=fresh.same, worst_task=fresh.id)
    return added(_next(state), (fresh,))


# --- what must not be -----------------------------------------------------------------------------------------------


def broken_rules(state: WorkflowState, event: ChecksReported) -> tuple[str, ...]:
    """A mustNot whose command fails has become true."""
    return tuple(_became_true(state, each) for each in event.also if each.name.startswith(MUST_NOT) and not each.passed)


def _became_true(state: WorkflowState, result: CheckResult) -> str:
    number = int(result.name.removeprefix(MUST_NOT)) - 1
    text = state.shape.must_not[number].text if state.shape else result.name
    return f"{result.name} became true: {text}"
