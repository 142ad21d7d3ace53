"""What becomes of the skills of a state: each is done, what it left is a commit, and that is looked at."""

from __future__ import annotations

import json

from loopwright.errors import InvalidTransition
from loopwright.kernel.changing import replace
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Announced,
    Answer,
    Checkpointed,
    LoopEnded,
)
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import AgentReport, AgentStatus, Ending, Finding, Severity, Verdict
from loopwright.kernel.sightings import FilesExamined
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord
from loopwright.loops.lifecycle.failures import Sort, sort_of_findings
from loopwright.loops.lifecycle.flow import blocked, failed, onward, skill_now
from loopwright.loops.lifecycle.skills import JUDGES, SKILLS
from loopwright.loops.lifecycle.state import FILES, Child, LifecycleState, Step, begun
from loopwright.loops.lifecycle.states import PER_CAPABILITY, Stage
from loopwright.loops.parts import changed_nothing

_GRAVE = (Severity.CRITICAL, Severity.HIGH)
_SORTS: dict[str, Sort] = {
    "security-audit": "security",
    "perf-analysis": "performance",
    "integration-test": "integration",
}
NOT_INVOKED = "⚠️ Cannot proceed: {skill} not invoked"


def skilled(state: LifecycleState, event: Answer) -> LifecycleState:
    match event:
        case Announced():
            return onward(_done(state))  # the engine's own
        case LoopEnded() if state.step is Step.REVIEWS:
            return _reviewed(state, event)
        case LoopEnded():
            return _made(state, event)
        case AgentReported():
            return _reported(state, event.report)
        case AgentFailed():
            return _not_done(state, f"{skill_now(state)} did not end well: {c.sentence_of(event)}")
        case Checkpointed():
            return _recorded(state, event)
        case FilesExamined():
            return _examined(state, event)
        case _:
            raise InvalidTransition(c.where(state), type(event).__name__, f"{state.step} is under way")


def _done(state: LifecycleState) -> LifecycleState:
    name = skill_now(state)
    finished = state.finished if name in state.finished else (*state.finished, name)
    return replace(state, skills=(*state.skills, name), finished=finished, findings=())


# --- by an agent ----------------------------------------------------------------------------------------------------


def _reported(state: LifecycleState, report: AgentReport) -> LifecycleState:
    """What it says of itself decides nothing; what it says against the work does."""
    name = skill_now(state)
    if report.status is AgentStatus.BLOCKED:
        told = NOT_INVOKED.format(skill=name)
        return blocked(state, "skill", told, _options(name, report.summary))
    extras = json.loads(report.extras)
    if name == "test-generation":
        state = c.steered(state, no_test=report.no_test or state.course.no_test)
    state = _with_extras(state, name, extras)
    against = _against(name, report)
    if against:
        state = failed(state, _SORTS.get(name, "skill"), against)
        return replace(state, failure=replace(state.failure, judged=True) if state.failure else None)
    return begun(state, Step.RECORD)


def _options(name: str, why: str) -> str:
    said = f" It said: {why}" if why else ""
    return f'Invoke the skill now, or skip with reason: skip {name} --reason "explanation".{said}'


def _with_extras(state: LifecycleState, name: str, extras: object) -> LifecycleState:
    if not isinstance(extras, dict):
        return state
    if name == "spec" and not state.plan.capabilities and not (state.done or state.current or state.remaining):
        named = [each for each in extras.get("capabilities") or () if isinstance(each, str) and each.strip()]
        return replace(state, remaining=tuple(dict.fromkeys(named)))
    if name == "estimation":
        estimate = extras.get("estimate")
        hours = estimate.get("hours") if isinstance(estimate, dict) else None
        return replace(state, hours=float(hours) if isinstance(hours, int | float) and hours > 0 else state.hours)
    return state


def _against(name: str, report: AgentReport) -> tuple[Finding, ...]:
    """A no, or what is grave whatever the verdict says; of a skill that judges, no verdict is no pass."""
    grave = tuple(identify(each) for each in report.findings if each.severity in _GRAVE)
    if report.verdict is Verdict.FAIL:
        unsaid = engine_finding("verdict", report.summary or "It says no, and not why")
        return tuple(map(identify, report.findings)) or (unsaid,)
    if name in JUDGES and report.verdict is None and not grave:
        return (engine_finding("no-verdict", f"{name} gave no verdict: it has to say pass or fail"),)
    return grave


def _not_done(state: LifecycleState, why: str) -> LifecycleState:
    return failed(state, "skill", (engine_finding(f"skill-{skill_now(state)}", why),))


def _recorded(state: LifecycleState, event: Checkpointed) -> LifecycleState:
    if state.phase in (Stage.SHIP, Stage.COMPLETE):
        state = replace(state, papers=event.commit)
    elif not event.unchanged:
        touched = tuple(dict.fromkeys((*state.files, *event.paths)))[:FILES]
        files = touched if state.phase in PER_CAPABILITY else state.files
        state = replace(state, tip=event.commit, files=files)
    name = skill_now(state)
    if SKILLS[name].puts_back and event.dropped:
        told = f"{name} may not change {', '.join(event.dropped[:5])}: put back"
        state = replace(state, remarks=(*state.remarks, told))
    if state.phase is Stage.SCAFFOLD:
        state = _scaffold_gate(state, event)
    return begun(state, Step.EXAMINE) if _leaves(state) else onward(_done(state))


def _leaves(state: LifecycleState) -> bool:
    name = skill_now(state)
    return bool(SKILLS[name].leaves or dict(state.plan.leaves).get(name))


def _scaffold_gate(state: LifecycleState, event: Checkpointed) -> LifecycleState:
    gate = GateRecord(
        gate=PROTECTED,
        evidence=event.evidence if event.protected else "",
        because=event.protected,
        commit=event.commit,
        tree=event.tree,
        why="the scaffold brings files that judge: manifests, settings of runners. Approved, they are part of the base",
    )
    return c.called_for(state, gate)


def _examined(state: LifecycleState, event: FilesExamined) -> LifecycleState:
    if not event.faults:
        return onward(_done(state))
    name = skill_now(state)
    found = tuple(engine_finding(f"deliverable-{name}", each.why, file=each.path) for each in event.faults)
    return failed(state, "skill", found)


# --- by a loop within -----------------------------------------------------------------------------------------------


def _made(state: LifecycleState, event: LoopEnded) -> LifecycleState:
    outcome = event.outcome
    maker = state.maker
    child = Child(
        loop=outcome.loop or maker.loop,
        asking=outcome.asking,
        over=outcome.ending is not Ending.ESCALATED,
        number=maker.number + maker.over,
        commit=outcome.commit,
    )
    state = replace(state, maker=child)
    # Where nothing was to do, no other maker is paid: a person is asked when IMPLEMENT is to be left.
    if outcome.ending in (Ending.VERIFIED, Ending.REVIEWED, Ending.ACCEPTED) or changed_nothing(outcome):
        state = replace(
            state,
            tip=outcome.commit or state.tip,
            untested=state.untested or outcome.ending is Ending.ACCEPTED,
            approved=(*state.approved, *outcome.approved),
            may_drop=(*state.may_drop, *outcome.may_drop),
        )
        return onward(_done(state))
    why = outcome.note or outcome.ending.value
    found = tuple(map(identify, outcome.findings)) or (engine_finding("capability", f"It was not made: {why}"),)
    return failed(state, sort_of_findings(found, state.plan.checks), found)


def _reviewed(state: LifecycleState, event: LoopEnded) -> LifecycleState:
    outcome, before = event.outcome, state.reviews
    child = Child(
        loop=outcome.loop or before.loop,
        asking=outcome.asking,
        over=outcome.ending is not Ending.ESCALATED,
        number=before.number + before.over,
    )
    state = replace(state, reviews=child)
    if outcome.ending in (Ending.VERIFIED, Ending.REVIEWED, Ending.ACCEPTED):
        tip = outcome.commit or state.tip
        return onward(replace(state, tip=tip, reviewed=tip))
    unsaid = engine_finding("review", f"The review did not pass: {outcome.note or outcome.ending.value}")
    return failed(state, "review", tuple(map(identify, outcome.findings)) or (unsaid,))
