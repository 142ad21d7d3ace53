"""What the lifecycle wants done next: one step at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopwright.kernel.actions import (
    Action,
    Announce,
    Checkpoint,
    Combine,
    ExamineChange,
    ExamineFiles,
    Integrate,
    RunAgent,
    RunChecks,
    RunLoop,
    Tell,
    WaitUntil,
)
from loopwright.kernel.changing import replace
from loopwright.kernel.events import Answered
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Commit, Tree
from loopwright.kernel.trust import Trust
from loopwright.loops.lifecycle import completing
from loopwright.loops.lifecycle.brief import for_diagnosis, for_fix, for_skill, left_behind
from loopwright.loops.lifecycle.failures import BACK_OFFS
from loopwright.loops.lifecycle.flow import queue_status, skill_now
from loopwright.loops.lifecycle.making import landed_before, maker_params, review_params
from loopwright.loops.lifecycle.matrix import checks_for
from loopwright.loops.lifecycle.shipping import SHIPPING, told
from loopwright.loops.lifecycle.skills import JUDGES, SKILLS, folder_of
from loopwright.loops.lifecycle.state import LifecycleState, Step, step_key
from loopwright.loops.lifecycle.states import NORMAL, PER_CAPABILITY, Stage
from loopwright.loops.signing import sign

SKILL_ROLE, FIXER = "skill", "developer"


def work(state: LifecycleState) -> tuple[Action, ...]:
    return (_BY_STEP[state.step](state),)


# --- skills ---------------------------------------------------------------------------------------------------------


def _skill(state: LifecycleState) -> Action:
    name = skill_now(state)
    skill = SKILLS[name]
    why = f"{state.phase} needs {name}"
    if skill.by_engine:
        return Announce(key=step_key(state), text=f"skill {name}: done by the engine", why=why)
    if name == "implement":
        return _maker(state)
    return RunAgent(
        key=step_key(state),
        role=SKILL_ROLE,
        skill=name,
        brief=for_skill(state, name),
        start=work_of(state),
        writes=True,
        needs_verdict=name in JUDGES,
        workspace=state.plan.workspace,
        why=why,
    )


def _maker(state: LifecycleState) -> RunLoop:
    """The loop that makes a capability, in place of the skill: one that is stuck goes on with what was diagnosed."""
    maker, plan = state.maker, state.plan
    said = None
    if not maker.over and maker.asking != NO_KEY:
        said = Answered(key=maker.asking, choice="continue", count=1, advice=state.diagnosis)
    return RunLoop(
        key=step_key(state, "implement"),
        kind=plan.inner.kind,
        params=maker_params(state),
        name=f"capability-{len(state.done) + 1}-{maker.number + maker.over}",
        said=said,
        takes=("escalation",),
        why=f"capability {state.current or plan.system.name}",
    )


def _reviews(state: LifecycleState) -> RunLoop:
    reviews = state.reviews
    said = None
    if not reviews.over and reviews.asking != NO_KEY:
        said = Answered(key=reviews.asking, choice="continue", count=1, advice=state.diagnosis)
    return RunLoop(
        key=step_key(state),
        kind=state.plan.reviewing,
        params=review_params(state),
        name=f"reviews-{reviews.number + reviews.over}",
        said=said,
        takes=("escalation",),
        why="every changed file is reviewed before it is proposed",
    )


def work_of(state: LifecycleState) -> Commit:
    """What skills work on: after the approval of a merge nothing that they leave goes into it any more."""
    return (state.papers or state.tip) if state.phase in (Stage.SHIP, Stage.COMPLETE) else state.tip


def _record(state: LifecycleState) -> Checkpoint:
    return Checkpoint(
        key=step_key(state),
        label=f"{state.turn}-{skill_now(state)}",
        parent=work_of(state),
        base=state.ground,
        workspace=state.plan.workspace,
        only=() if SKILLS[skill_now(state)].free else (f"{folder_of(state.plan.system.id)}/",),
        puts_back=SKILLS[skill_now(state)].puts_back,
        trust=trust_of(state),
        why=f"what {skill_now(state)} left",
    )


def _examine(state: LifecycleState) -> ExamineFiles:
    name = skill_now(state)
    return ExamineFiles(
        key=step_key(state), commit=work_of(state), wanted=left_behind(state, name), why=f"the deliverables of {name}"
    )


# --- verification ---------------------------------------------------------------------------------------------------


def trust_of(state: LifecycleState) -> Trust:
    """What is made before tests are written need not be tested yet."""
    early = state.resumes_at in (Stage.INIT, Stage.SCAFFOLD, Stage.IMPLEMENT)
    return replace(state.plan.trust.on(state.ground), new_ground=True, tests_to_come=early)


def _checks(state: LifecycleState, names: tuple[str, ...], why: str) -> RunChecks:
    return RunChecks(
        key=step_key(state),
        commit=state.tip,
        base=state.ground,
        names=names,
        approved=state.course.approved,
        may_drop=(*state.course.may_drop, *state.may_drop),
        trust=trust_of(state),
        after=landed_before(state),
        red=state.course.tests_to_pass,
        why=why,
    )


def _check(state: LifecycleState) -> RunChecks:
    stage = Stage.REVIEW if state.phase is Stage.SHIP else state.phase
    return _checks(state, checks_for(stage, state.plan.checks), f"{state.phase} is left only when they pass")


def _recheck(state: LifecycleState) -> RunChecks:
    """Whether a test notices the change is for the whole suite to say, which comes next."""
    failed = state.failure.checks if state.failure else ()
    asked = _checks(state, failed, "first the check that failed")
    return replace(asked, trust=replace(asked.trust, tests_to_come=True))


def _suite(state: LifecycleState) -> RunChecks:
    """Everything that is configured; before there are tests, what the state asks for."""
    stage = state.resumes_at
    early = stage in (Stage.SCAFFOLD, Stage.IMPLEMENT)
    names = checks_for(stage, state.plan.checks) if early else ()
    return _checks(state, names, "a fix breaks nothing else: the full suite")


def _ground(state: LifecycleState) -> Combine:
    """What judges, with what a person approved of the scaffold: nothing else of it judges anything."""
    return Combine(
        key=step_key(state),
        base=state.onto or state.plan.base,
        commits=(),
        keep=state.grounded,
        label=f"{state.turn}-ground",
        why="what a person approved of the scaffold, or made, judges from here on",
    )


def _look(state: LifecycleState) -> ExamineChange:
    return ExamineChange(
        key=step_key(state),
        base=state.onto or state.plan.base,
        commit=state.tip,
        rules=state.plan.rules,
        since=state.landed,
        built_on=state.built_on if state.phase in PER_CAPABILITY else NO_COMMIT,
        trust=trust_of(state),
        why=f"which gates the change calls for before {state.phase} is left",
    )


def _land(state: LifecycleState) -> Integrate:
    whole, piece = sign(landing(state, completing.message(state)), state.course, state.plan.trust), state.piece
    return whole if piece is None or piece.commit == state.tip else replace(whole, commit=piece.commit, tree=Tree(""))


def landing(state: LifecycleState, message: str) -> Integrate:
    held = bool(state.course.held)
    return Integrate(
        key=step_key(state, "land"),
        commit=state.tip,
        base=state.landed,
        branch=state.plan.branch,
        message=message,
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=trust_of(state),
        tree=state.course.lands if state.course.candidate == state.tip else Tree(""),
        holds_back=held,
        merges=state.onto if state.phase is Stage.SHIP else NO_COMMIT,
        why=f"on {state.plan.branch}",
    )


# --- transitions ----------------------------------------------------------------------------------------------------


def _tell(state: LifecycleState) -> Tell:
    if state.course.cancel is not None:
        return told(state, "blocked", "a person may begin it again")
    return told(state, queue_status(state.heading.to), f"the queue has {state.plan.system.id} as it is")


def _move(state: LifecycleState) -> Announce:
    to = state.heading
    return Announce(key=step_key(state), text=f"{state.phase} → {to.to}", why=to.why)


def _back_off(state: LifecycleState) -> WaitUntil:
    return WaitUntil(
        key=step_key(state),
        delay=BACK_OFFS[min(state.back_offs, len(BACK_OFFS)) - 1],
        why="what it depends on is not there; it is not counted as a failure",
    )


# --- retries --------------------------------------------------------------------------------------------------------


def _diagnose(state: LifecycleState) -> RunAgent:
    return RunAgent(
        key=step_key(state),
        role=SKILL_ROLE,
        skill="debug-assist",
        brief=for_diagnosis(state),
        start=state.failing,
        writes=False,
        why=state.failure.error if state.failure else "",
    )


def _fix(state: LifecycleState) -> RunAgent:
    return RunAgent(
        key=step_key(state),
        role=FIXER,
        skill="implement",
        brief=for_fix(state, related(state)),
        start=state.failing,
        writes=True,
        workspace=state.plan.workspace,
        why=f"retry {state.retries} of {state.allowance.retries}",
    )


def _record_fix(state: LifecycleState) -> Checkpoint:
    """Nothing unrelated: the files of the failure, those of the capability, and tests that are new."""
    return Checkpoint(
        key=step_key(state),
        label=f"{state.turn}-fix",
        parent=state.failing,
        base=state.ground,
        workspace=state.plan.workspace,
        only=related(state),
        new_files=True,  # what was missing, and tests
        trust=trust_of(state),
        why="the fix is a commit of its own",
    )


def related(state: LifecycleState) -> tuple[str, ...]:
    """Where nobody knows yet what the work touches, it may be anything."""
    found = state.failure.findings if state.failure else ()
    named = (each.file for each in found if each.file)
    is_whole = NORMAL.index(state.resumes_at) > NORMAL.index(Stage.VERIFY)
    known = state.paths if is_whole else state.files
    return tuple(sorted({*named, *known})) if known else ()


_BY_STEP: Mapping[Step, Callable[[LifecycleState], Action]] = {
    Step.SKILL: _skill,
    Step.RECORD: _record,
    Step.EXAMINE: _examine,
    Step.REVIEWS: _reviews,
    Step.CHECK: _check,
    Step.GROUND: _ground,
    Step.LOOK: _look,
    Step.LAND: _land,
    Step.TELL: _tell,
    Step.MOVE: _move,
    Step.BACK_OFF: _back_off,
    Step.DIAGNOSE: _diagnose,
    Step.FIX: _fix,
    Step.RECORD_FIX: _record_fix,
    Step.RECHECK: _recheck,
    Step.SUITE: _suite,
    **SHIPPING,
}
