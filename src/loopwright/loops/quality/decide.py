"""What the quality loop wants done next: a pure function of its state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    Checkpoint,
    CleanUp,
    Integrate,
    LoadArtifacts,
    Option,
    RunAgent,
    Stop,
    WaitUntil,
)
from loopwright.kernel.ledger import unresolved
from loopwright.kernel.model import Brief, Cleanup, Ending, Key, Outcome
from loopwright.loops.quality.escalation import recommendation
from loopwright.loops.quality.judging import tally
from loopwright.loops.quality.state import Phase, Quality, Round, best_round, open_findings, taken, to_fix

CONTINUE_BY_DEFAULT = 3


def decide(state: Quality) -> tuple[Action, ...]:
    action = _BY_PHASE[state.phase](state)
    if state.until is not None:
        why = "the agent is not available before then"
        return (WaitUntil(key=action.key.waiting(), when=state.until, why=why),)
    return (action,)


def _key(state: Quality, verb: str) -> Key:
    return Key(verb, state.number, tries=state.tries)


def _brief(state: Quality) -> Brief:
    plan = state.plan
    return Brief(
        task=plan.task,
        attempt=state.number,
        limit=state.allowance,
        criteria=plan.criteria,
        artifacts=(plan.artifact,),
        repair=state.repair,
        gate=plan.gate,
        depth=plan.depth,
        story=plan.story,
        candidate=state.commit,
        history=tuple(in_a_line(each) for each in state.rounds),
    )


def _load(state: Quality) -> LoadArtifacts:
    again = in_a_line(state.rounds[-1]) if state.rounds else "the review is new"
    return LoadArtifacts(key=Key("load", state.number), commit=state.commit, paths=(state.plan.artifact,), why=again)


def _review(state: Quality) -> RunAgent:
    """What was wrong before comes first, with what has changed since the last look; never what the creator says."""
    plan = state.plan
    seen = [each.commit for each in state.rounds if each.reviewed] or [plan.against or plan.base]
    brief = replace(_brief(state), findings=unresolved(state.ledger, plan.gate), base=seen[-1])
    return RunAgent(
        key=_key(state, "review"),
        role=plan.reviewer,
        brief=brief,
        start=state.commit,
        writes=False,
        needs_verdict=True,
        why=f"{plan.gate} gate, {plan.depth} depth, review {state.number} of {state.allowance}",
    )


def _emit(state: Quality) -> Announce:
    return Announce(key=_key(state, "verdict"), text=state.rounds[-1].line, why=state.rounds[-1].why)


def _fix(state: Quality) -> RunAgent:
    plan = state.plan
    brief = replace(
        _brief(state), findings=to_fix(state), findings_file=plan.file, base=plan.base, answers=state.answers
    )
    return RunAgent(
        key=_key(state, "fix"),
        role=plan.creator,
        brief=brief,
        start=state.commit,
        writes=True,
        why=f"{state.rounds[-1].line}; {state.rounds[-1].why}",
    )


def _checkpoint(state: Quality) -> Checkpoint:
    plan = state.plan
    named = tuple(sorted({finding.file for finding in to_fix(state)} - {"", plan.artifact}))
    return Checkpoint(
        key=Key("checkpoint", state.number),
        label=str(state.number),
        parent=state.commit,
        base=plan.base,
        only=(plan.artifact,),
        also=named,
        why="of a fix only the artifact and the files its findings name are taken",
    )


def _land(state: Quality) -> Integrate:
    plan = state.plan
    merge = state.merge_accepted if state.accepted else plan.merge
    return Integrate(
        key=Key("land", state.number, part=str(state.asked)),
        commit=taken(state).commit,
        base=plan.base,
        message=f"Fix what the {plan.gate} review of {plan.artifact} found",
        branch=plan.branch,
        target=plan.target if merge else "",
        verified=plan.checked and not state.accepted,
        why="accepted by a person" if state.accepted else state.rounds[-1].line,
    )


def _clarify(state: Quality) -> Ask:
    return Ask(
        key=Key("clarify", state.asked),
        question=state.question,
        free_text=True,
        options=(
            Option(choice="answer", label="Answer the question"),
            Option(choice="accept", label="Accept with what is known"),
            Option(choice="cancel", label="Cancel"),
        ),
        findings=() if state.plan.file else open_findings(state),
        why=f"the {state.plan.creator} cannot go on without a person: {state.question}",
    )


def _escalate(state: Quality) -> Ask:
    plan = state.plan
    where = f" They are in {plan.file}." if plan.file else ""
    accept = (Option(choice="accept", label="Accept with what is known"),) if best_round(state.rounds) else ()
    return Ask(
        key=Key("escalation", state.asked),
        question=(
            f"The review of {plan.artifact} stopped: {'; '.join(state.reasons)}."
            f" Unresolved: {tally(open_findings(state))}.{where} {recommendation(state)} How should it go on?"
        ),
        options=(
            Option(choice="continue", label="Continue"),
            *accept,
            Option(choice="history", label="Show the reviews so far"),
            Option(choice="revise", label="Revise: give new guidance"),
            Option(choice="cancel", label="Cancel"),
        ),
        findings=() if plan.file else open_findings(state),
        why="; ".join((*state.reasons, *((f"findings in {plan.file}",) if plan.file else ()))),
    )


def _clean_up(state: Quality) -> CleanUp:
    choice = state.cancel or Cleanup.KEEP_EVERYTHING
    return CleanUp(key=Key("clean-up"), choice=choice, base=state.plan.base, why="the loop was cancelled")


def _stop(state: Quality) -> Stop:
    outcome = state.outcome or Outcome(ending=Ending.FAILED)
    return Stop(outcome=outcome, why=outcome.note or outcome.ending.value)


_BY_PHASE: dict[Phase, Callable[[Quality], Action]] = {
    Phase.LOAD_ARTIFACTS: _load,
    Phase.RUN_CHECKS: _review,
    Phase.EMIT_VERDICT: _emit,
    Phase.FIX: _fix,
    Phase.CHECKPOINT: _checkpoint,
    Phase.LAND: _land,
    Phase.CLARIFY: _clarify,
    Phase.ESCALATED: _escalate,
    Phase.CLEAN_UP: _clean_up,
    Phase.DONE: _stop,
}


def in_a_line(each: Round) -> str:
    return f"Review {each.number}: {each.line} ({each.why})"
