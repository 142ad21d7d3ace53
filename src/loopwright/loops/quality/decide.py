"""What the quality loop wants done next in its own phases, what it lands, and what it asks when it is stuck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.actions import (
    Action,
    Announce,
    Checkpoint,
    Integrate,
    LoadArtifacts,
    Option,
    RunAgent,
    RunChecks,
)
from loopwright.kernel.ledger import Standing, unresolved
from loopwright.kernel.model import Brief, Commit, Key, Tree
from loopwright.kernel.wording import counted
from loopwright.loops.accepting import known_on
from loopwright.loops.hooks import Escalation
from loopwright.loops.quality.state import (
    QualityPhase,
    QualityState,
    ReviewFacts,
    Round,
    base_of,
    best_round,
    observed,
    open_findings,
    reviews_made,
    taken,
    to_fix,
)
from loopwright.loops.quality.verdict import tally

MAX_LOOPS_REACHED = "MAX_LOOPS_REACHED"


def work(state: QualityState) -> tuple[Action, ...]:
    return (_BY_PHASE[state.phase](state),)


def _key(state: QualityState, verb: str) -> Key:
    return Key(verb, state.number, tries=state.course.trial.tries)


def _brief(state: QualityState) -> Brief:
    plan = state.plan
    return Brief(
        task=plan.task,
        attempt=state.number,
        limit=state.allowance,
        criteria=plan.criteria,
        artifacts=(plan.artifact,),
        repair=state.course.trial.repair,
        answers=state.course.answers,
        candidate=state.commit,
        unapproved=state.course.unapproved,
        history=tuple(in_a_line(each) for each in state.rounds),
        own=ReviewFacts(gate=plan.gate, depth=plan.depth, story=plan.story),
    )


def _load(state: QualityState) -> LoadArtifacts:
    again = in_a_line(state.rounds[-1]) if state.rounds else "the review is new"
    tries = state.course.trial.tries
    key = Key("load", state.number, tries=tries if tries > 1 else None)  # logs of before have no other
    return LoadArtifacts(key=key, commit=state.commit, paths=(state.plan.artifact,), why=again)


def _review(state: QualityState) -> RunAgent:
    """What was wrong before comes first, with what has changed since the last look; never what the creator says."""
    plan = state.plan
    brief = replace(_brief(state), findings=unresolved(state.ledger, plan.gate), base=_last_seen(state))
    return RunAgent(
        key=_key(state, "review"),
        role=plan.reviewer,
        brief=brief,
        start=state.commit,
        writes=False,
        needs_verdict=True,
        why=f"{plan.gate} gate, {plan.depth} depth, review {state.number} of {state.allowance}",
    )


def _last_seen(state: QualityState) -> Commit:
    """What the last review that was made has seen. Of a candidate that has a new base, nothing was."""
    for each in reversed(state.rounds):
        if each.refused:
            return base_of(state)
        if each.reviewed:
            return each.commit
    return state.plan.against or state.plan.base


def _emit(state: QualityState) -> Announce:
    return Announce(key=_key(state, "verdict"), text=state.rounds[-1].line, why=state.rounds[-1].why)


def _fix(state: QualityState) -> RunAgent:
    plan = state.plan
    brief = _brief(state)
    own = replace(brief.own, findings_file=plan.file, observations=observed(state))
    return RunAgent(
        key=_key(state, "fix"),
        role=plan.creator,
        brief=replace(brief, findings=to_fix(state), base=base_of(state), own=own),
        start=state.commit,
        writes=True,
        why=f"{state.rounds[-1].line}; {state.rounds[-1].why}",
    )


def _checkpoint(state: QualityState) -> Checkpoint:
    plan = state.plan
    named = tuple(sorted({finding.file for finding in to_fix(state)} - {"", plan.artifact}))
    return Checkpoint(
        key=Key("checkpoint", state.number),
        label=str(state.number),
        parent=state.commit,
        base=base_of(state),
        only=(plan.artifact,),
        also=named,
        new_tests=plan.trust.in_force,
        trust=plan.trust,
        why="of a fix only the artifact, the files its findings name and new tests are taken",
    )


def _verify(state: QualityState) -> RunChecks:
    accepted = state.course.accepted
    return RunChecks(
        key=_key(state, "verify"),
        commit=taken(state).commit if accepted else state.commit,
        base=(taken(state).onto or state.plan.base) if accepted else base_of(state),
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=state.plan.trust,
        red=() if accepted else state.course.tests_to_pass,
        why="what lands has run the checks",
    )


_BY_PHASE: dict[QualityPhase, Callable[[QualityState], Action]] = {
    QualityPhase.LOAD_ARTIFACTS: _load,
    QualityPhase.RUN_CHECKS: _review,
    QualityPhase.EMIT_VERDICT: _emit,
    QualityPhase.FIX: _fix,
    QualityPhase.CHECKPOINT: _checkpoint,
    QualityPhase.VERIFY: _verify,
}


def land(state: QualityState) -> Integrate:
    plan, landed, accepted = state.plan, taken(state), state.course.accepted
    merge = state.course.merge_accepted if accepted else plan.merge
    as_known = accepted and not state.verified
    return Integrate(
        key=Key("land", state.number, part=str(state.course.asked)),
        commit=landed.commit,
        base=landed.onto or plan.base,
        message=f"Fix what the {plan.gate} review of {plan.artifact} found",
        branch=plan.branch,
        target=plan.target if merge else "",
        verified=plan.checked and not as_known,
        known_on=known_on(state.red, landed.commit) if as_known and plan.checked and plan.accepts_checked else None,
        unseen=not state.verified,
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=plan.trust,
        tree=Tree("") if as_known else state.course.lands,
        # Where no check runs, nobody has said yet what of it is judge or test.
        holds_back=bool(state.course.held) or (plan.trust.in_force and (as_known or not plan.checked)),
        why="accepted by a person" if accepted else landed.line,
    )


def escalation(state: QualityState) -> Escalation:
    plan, reasons = state.plan, state.course.reasons
    where = f" They are in {plan.shown_file}." if plan.file else ""
    accept = (Option(choice="accept", label="Accept with what is known"),) if best_round(state.rounds) else ()
    return Escalation(
        question=(
            f"The review of {plan.artifact} stopped: {'; '.join(reasons)}."
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
        why="; ".join((*reasons, *((f"findings in {plan.shown_file}",) if plan.file else ()))),
    )


def limit_reached(state: QualityState) -> str:
    """The seed's token, with reviews and fixes told apart. Those of the loop before are its own to tell."""
    since = " since a landing was refused" if state.plan.earlier else ""
    fixes = counted(state.fixes, "fix", "fixes")
    return f"{MAX_LOOPS_REACHED}: {counted(reviews_made(state), 'review')} and {fixes}{since}"


def recommendation(state: QualityState) -> str:
    """What would most likely help: the first rule that fits; without any, a person should look at what is left."""
    own = [entry for entry in state.ledger if entry.source == state.plan.gate]
    back = [entry for entry in own if entry.standing is Standing.REOPENED]
    lasting = [e for e in own if e.standing is not Standing.RESOLVED and e.streak > 1 and e.streak >= len(state.rounds)]
    if not any(each.judged for each in state.rounds):
        return "Recommended: look at the reviewer, which gave no verdict."
    if state.fixes and state.untouched:
        return "Recommended: manual review or another creator; the last fix did not change the artifact."
    if back:
        return f"Recommended: manual review; {counted(len(back), 'finding')} came back after being fixed."
    if lasting:
        return f"Recommended: manual review; {counted(len(lasting), 'finding')} outlasted every fix."
    return "Recommended: manual review of what is left."


def in_a_line(each: Round) -> str:
    return f"Review {each.number}: {each.line} ({each.why})"
