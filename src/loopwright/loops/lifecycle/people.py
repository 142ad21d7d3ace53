"""What the lifecycle makes of what people say: answers, gates, skipped skills, edits of its file, new limits."""

from __future__ import annotations

import json
import shlex

from loopwright.kernel.actions import Option
from loopwright.kernel.changing import replace
from loopwright.kernel.events import Answered, SessionMarked, SkillSkipped, StateEdited
from loopwright.kernel.gates import PROTECTED, UNTESTED
from loopwright.kernel.model import NO_COMMIT, Outcome
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import name_causes
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Ruling, Station
from loopwright.loops.hooks import Escalation, refusal
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.backwards import sent_back, set_back, taken_in
from loopwright.loops.lifecycle.failures import seen_before, told_at_place
from loopwright.loops.lifecycle.flow import NO_TARGET, blocked, missing_skills, moved, onward
from loopwright.loops.lifecycle.limits import LifecycleAllowance, LifecycleLimits, grant
from loopwright.loops.lifecycle.limits import moved as limits_moved
from loopwright.loops.lifecycle.skills import PRIMARY, REQUIRED, SKILLS
from loopwright.loops.lifecycle.state import LifecycleState, Skip, Step, begun, skipped_in
from loopwright.loops.lifecycle.states import NORMAL, Stage

_RESUME = Option(choice="resume", label="It is resolved: run again what blocked", prompt="resume: run it again")
_DEPLOYED = Option(choice="deployed", label="It is deployed: complete the system without running the command again")
_CONTINUE = Option(choice="continue", label="Grant more retries")
_BEGIN = Option(choice="continue", label="Begin all the same: what fails is fixed on the way")
_HISTORY = Option(choice="history", label="Show what was tried")
_REVISE = Option(choice="revise", label="Go on with new guidance")
PUT_BACK = "Put the pull request back as it was, then `loop answer resume`; or cancel the system."
_ACCEPT = Option(choice="accept", label="Take it as it is, recorded as accepted")
_CANCEL = Option(choice="cancel", label="Cancel the system")
_TARGET = Option(
    choice="target", label="Name the deploy target", how='target --text "npm publish"', needs="the deploy target"
)
_SKIP = Option(choice="skip", label="Skip deploy", how='skip --text "why"', needs="why")


_NAMED = 5  # failures in a sentence
_BY_RESUMING = 3  # of what is used up; what a person says is resolved is run once more all the same


def escalation(state: LifecycleState) -> Escalation:
    told = state.blocked
    extra = (_TARGET, _SKIP) if told is not None and told.reason == NO_TARGET else ()
    extra = (*extra, _ACCEPT) if told is not None and told.cause == "unbuilt" else extra
    granting = (_CONTINUE,) if state.failure is not None else ()
    granting = (_BEGIN,) if told is not None and told.cause == "base" else granting
    ways = (_DEPLOYED,) if state.deploy_failed else (*extra, _RESUME, *granting, _REVISE)
    causes = name_causes(state.failure.findings if state.failure else ())
    failing = f" Failing: {causes}." if causes else ""
    return Escalation(
        question=f"{state.plan.system.name} is BLOCKED: {told.reason}.{failing} {told.ask}" if told else "",
        options=(*ways, _HISTORY, _CANCEL),
        why=told.reason if told else "; ".join(state.course.reasons),
        findings=state.failure.findings if state.failure else (),
    )


def _resumed(state: LifecycleState, *, rechecking: bool) -> LifecycleState:
    """Back in the state that it could not leave. What a person says is resolved is run once more."""
    stage = state.resumes_at
    state = replace(state, blocked=None, rechecking=rechecking, back_offs=0)
    state = moved(c.steered(state, reasons=()), stage)
    state = onward(replace(state, checked=NO_COMMIT, looked=NO_COMMIT))
    return c.tried_on_the_base(state, state.plan.trust)


def answered(state: LifecycleState, event: Answered) -> LifecycleState:
    match event.choice:
        case "target":
            if not event.text.strip():
                raise refusal(state, event, "the deploy target is missing")
            try:
                shlex.split(event.text)
            except ValueError as error:
                raise refusal(state, event, f"the deploy target is no command: {error}") from error
            return _resumed(replace(state, deploy=event.text.strip()), rechecking=False)
        case "skip":
            skip = SkillSkipped(skill="deploy", reason=event.text.strip(), by=event.by)
            return skipped(state, skip)
        case "deployed":
            return _resumed(replace(_by_word(state, event), deploy_failed=""), rechecking=False)
        case _:
            if state.blocked is not None and state.blocked.cause == "base":  # it is tried again, and asked again if red
                state = c.steered(state, preflighted=False)
            return _resumed(_with_room(_by_word(state, event)), rechecking=state.failure is not None)


def _by_word(state: LifecycleState, event: Answered) -> LifecycleState:
    """Return the state that remembers whose word it rests on."""
    cause = state.blocked.cause if state.blocked else ""
    who = event.by or "a person"
    told = f"{cause or 'what blocked it'} resolved by {one_line(who, 100)}"
    state = c.steered(state, by_word=(*state.course.by_word, told))
    return replace(state, resolved_by=(*state.resolved_by, (cause, who)))


def accepted(state: LifecycleState) -> LifecycleState:
    """Go on without what was not built; it ends as accepted."""
    state = replace(c.steered(state, accepted=False), accepted=(*state.accepted, state.current))
    return _resumed(state, rechecking=False)


def continued(state: LifecycleState, event: Answered) -> LifecycleState:
    """Grants, never resets: agents try again."""
    return _retried_again(_granted(state, event.count))


def _with_room(state: LifecycleState) -> LifecycleState:
    """For what may fail later: of the retries of what is resolved, none is needed any more."""
    has = grant(state.allowance, state.retries, 0, state.total, _BY_RESUMING)
    return replace(state, allowance=replace(state.allowance, failures=has.failures))


def _granted(state: LifecycleState, more: int) -> LifecycleState:
    mark = state.failure.mark if state.failure else ""
    seen = seen_before(state.episode, mark)
    allowance = grant(state.allowance, state.retries, seen, state.total, more)
    return replace(state, allowance=allowance, episode=state.episode[-seen:] if seen else ())


def revised(state: LifecycleState, _: Answered) -> LifecycleState:
    """New guidance: the counts begin anew, with a reason on record."""
    skills = tuple(name for name in state.skills if name != PRIMARY[Stage.IMPLEMENT])  # whoever makes it is to hear it
    return _retried_again(replace(state, retries=0, episode=(), allowance=_full(state), skills=skills))


def _full(state: LifecycleState) -> LifecycleAllowance:
    limits = state.plan.limits
    return replace(
        state.allowance,
        retries=max(state.allowance.retries, limits.max_retries),
        failures=max(state.allowance.failures, state.total + limits.max_total_failures),
    )


def _retried_again(state: LifecycleState) -> LifecycleState:
    """With something that failed: a retry. Else it goes on where it was, and so where a person has mended it."""
    if state.failure is None or state.regrounds:
        return _resumed(state, rechecking=False)
    state = replace(state, blocked=None, back_offs=0, retries=state.retries + 1)
    state = moved(c.steered(state, reasons=()), Stage.RETRY)
    return begun(state, Step.DIAGNOSE)


def cancelled(state: LifecycleState) -> LifecycleState:
    """Whoever keeps the queue hears of it before anything is cleared away: else it would be in progress for ever."""
    if not state.plan.queue or state.queued == "complete":
        return c.cleaning_up(state)
    return begun(c.entered(replace(state, going=None), state.phase, tries=state.course.trial.tries), Step.TELL)


# --- gates ----------------------------------------------------------------------------------------------------------


def decided(state: LifecycleState, gate: GateRecord) -> LifecycleState:
    waits = is_waiting(state)
    if gate.ruling is Ruling.REJECTED:
        if gate.lasting:
            told = f"A person rejected the change to {gate.paths}: {gate.reason or 'no reason given'}"
            return c.steered(state, refusals=(*state.course.refusals, told))
        return sent_back(state, gate)
    if gate.gate in (PROTECTED, UNTESTED) and not (state.phase is Stage.SCAFFOLD and gate.gate == PROTECTED):
        state = replace(state, checked=NO_COMMIT)
    if not waits or gating.blocking(state):
        return state
    if state.phase is Stage.BLOCKED:
        stage = state.resumes_at
        state = moved(replace(state, blocked=None), stage)
        return onward(state)
    return onward(c.entered(state, state.phase, tries=state.course.trial.tries))


def is_waiting(state: LifecycleState) -> bool:
    """Whether a decision on a gate makes it go on, also one that came too late."""
    return state.course.station is Station.GATE or _timed_out(state)


def _timed_out(state: LifecycleState) -> bool:
    return state.phase is Stage.BLOCKED and state.blocked is not None and state.blocked.cause == "gate-timeout"


def unable(state: LifecycleState, outcome: Outcome) -> LifecycleState:
    """The checks cannot run here: nobody is paid before they can."""
    ask = "Mend the checks in loop.toml, or what they need, then `loop answer resume`."
    state = c.steered(state, station=None)
    return blocked(state, "checks", outcome.note, ask)


def red_base(state: LifecycleState) -> LifecycleState:
    """A later state is not left before these checks pass: a person decides before anybody is paid."""
    found = [told_at_place(each) for each in state.course.before[:_NAMED]]
    more = len(state.course.before) - len(found)
    told = "; ".join((*found, *((f"{more} more",) if more > 0 else ())))
    why = f"{', '.join(state.course.red)} failed on the base, before anything was made: {told}"
    return blocked(
        state, "base", why, "Fix it on the base and start again, or answer `continue` to begin all the same."
    )


# --- skips, edits, limits -------------------------------------------------------------------------------------------


def skipped(state: LifecycleState, event: SkillSkipped) -> LifecycleState:
    """For the present state where it needs the skill, else for the next that does. Gates cannot be skipped."""
    _refuse_ended(state, event)
    if event.skill not in SKILLS:
        raise refusal(state, event, f"there is no skill {event.skill!r}; `loop skill list` names them")
    if not event.reason.strip():
        raise refusal(state, event, "a skip needs a reason")
    here = NORMAL.index(state.resumes_at)
    needing = (each for each in NORMAL[here:] if event.skill in REQUIRED[each])
    stage = next((each for each in needing if event.skill not in skipped_in(state, each)), None)
    if stage is None:
        raise refusal(state, event, f"{event.skill} is not needed from here on, or skipped already")
    if stage is state.resumes_at and event.skill in state.skills:
        raise refusal(state, event, f"{event.skill} is done already")
    skip = Skip(stage=stage, skill=event.skill, reason=event.reason.strip(), by=event.by)
    is_next = event.skill in missing_skills(replace(state, phase=state.resumes_at))[:1]
    told = f"skill {skip.skill} skipped by {one_line(skip.by, 100) or 'a person'} ({one_line(skip.reason, 200)})"
    state = c.steered(replace(state, skips=(*state.skips, skip)), by_word=(*state.course.by_word, told))
    if is_next and state.phase is Stage.BLOCKED:
        return _resumed(state, rechecking=False)
    is_now = is_next and state.phase in NORMAL and state.step in (Step.SKILL, Step.RECORD, Step.EXAMINE)
    if is_now and state.course.station in (None, Station.CLARIFY):
        return onward(c.entered(state, state.phase))
    return state


_OVER = (Station.CLEAN_UP, Station.DONE)


def _refuse_ended(state: LifecycleState, event: SkillSkipped | StateEdited) -> None:
    if state.course.station in _OVER:
        raise refusal(state, event, "the system has ended")
    if state.course.cancel is not None:
        raise refusal(state, event, "the system is cancelled")


def edited(state: LifecycleState, event: StateEdited) -> LifecycleState:
    _refuse_ended(state, event)
    match event.subject:
        case "state":
            return _state_edited(state, event)
        case "gate-timeout":
            if state.course.station is not Station.GATE:
                raise refusal(state, event, "no gate is waited for")
            names = ", ".join(gate.gate for gate in gating.blocking(state))
            why = f"The gate {names} was not decided in time"
            return blocked(c.steered(state, station=None), "gate-timeout", why, f"Decide on {names}.")
        case "branch":
            return _committed(state, event)
        case "proposal":
            if state.course.station is not Station.GATE:
                raise refusal(state, event, "nothing is waited for there")
            return blocked(c.steered(state, station=None), "proposal", event.value, PUT_BACK)
        case _:
            raise refusal(state, event, f"{event.subject!r} cannot be changed from outside")


def _committed(state: LifecycleState, event: StateEdited) -> LifecycleState:
    """What a person put on the branch. What is under way is begun again with it."""
    if not state.takes_commits:
        raise refusal(state, event, "the branch is proposed to be merged; what comes to it now is told by the forge")
    state = taken_in(state, event.value)
    if state.course.station in (Station.ESCALATED, Station.CLARIFY):
        return state
    if state.phase in (Stage.FAILED, Stage.RETRY):  # whether it still fails is seen where it failed
        state = moved(state, state.resumes_at)
    return onward(c.entered(replace(state, going=None), state.phase))


def _state_edited(state: LifecycleState, event: StateEdited) -> LifecycleState:
    try:
        to = Stage(json.loads(event.value))
    except ValueError as error:
        raise refusal(state, event, f"state: {event.value} is no state") from error
    if to not in NORMAL or NORMAL.index(to) > NORMAL.index(state.resumes_at):
        why = f"state: {to} is past {state.resumes_at}, whose checks have not passed"
        raise refusal(state, event, why if to in NORMAL else f"state: a system cannot be set to {to}")
    if to is state.phase and state.course.station is None:
        return state  # what is under way goes on
    return onward(set_back(c.entered(state, state.phase), to, f"{event.by or 'a person'} set it back to {to}"))


def marked(state: LifecycleState, event: SessionMarked) -> LifecycleState:
    """Whoever works in this session is told what was known when it began."""
    return replace(state, memory=event.text) if event.mark == "began" else state


def relimited(state: LifecycleState, limits: LifecycleLimits) -> LifecycleState:
    return replace(
        state,
        plan=replace(state.plan, limits=limits),
        allowance=limits_moved(state.allowance, state.plan.limits, limits),
    )
