"""How a ticket session moves through its own phases, and what the common turns mean to its tickets."""

from __future__ import annotations

from dataclasses import replace

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Announced,
    Answer,
    Answered,
    Checkpointed,
    ChecksReported,
    IntegrationRefused,
)
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.ledger import record
from loopwright.kernel.model import AgentReport, AgentStatus, Question, Verdict
from loopwright.kernel.wording import name_causes
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Inquiry, Ruling, Station, Trial
from loopwright.loops.parts import describe_same_product
from loopwright.loops.tickets.accepting import checked_as_accepted, not_landed
from loopwright.loops.tickets.convergence import OTHER_AGENT, RETRY, REVISE, SPLIT, next_move
from loopwright.loops.tickets.ending import landed_or_left
from loopwright.loops.tickets.escalation import granted
from loopwright.loops.tickets.findings import (
    as_said,
    critique_of,
    is_mute,
    is_no,
    judge_is_mute,
    landing_failures,
    leaves_code_as_it_was,
)
from loopwright.loops.tickets.judgement import (
    as_before,
    heard_checks,
    heard_judge,
    judged,
    judged_before,
    sent_back,
    unheard,
)
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.state import (
    AS_IT_WAS,
    JUDGE,
    LANDING,
    Critique,
    Decision,
    TicketsPhase,
    TicketsState,
    about,
    base_of,
    best_ticket,
    criticised_by,
    heard,
    opened,
    seat_key,
    stepped,
)
from loopwright.loops.weighing import (
    Failed,
    Passed,
    ShowPolicy,
    Waits,
    Weighed,
    asks_for_witness,
    is_told_once,
    rejection,
    weighed,
)

_WHY_GATE = "protected files were changed; until a person approves, the base versions run"
_NO_RESULT = "(the creator gave no result: "
_IF_DONE = "`done` has it judged as it stands; any other answer is told to the creator, who tries again"
_MUTE_CRITIC = "there is no verdict, or it is not a pass and no finding says why"
_MUTE_JUDGE = "there is no verdict, or it is not a pass and neither a finding nor an aspect says why"


def took(state: TicketsState, event: Answer) -> TicketsState:
    match event:
        case AgentReported() | AgentFailed() if state.phase is TicketsPhase.CRITIQUE:
            return _criticised(state, event)
        case AgentReported() if state.phase is TicketsPhase.JUDGE:
            return _judge_reported(state, event.report)
        case AgentReported():
            return _created(state, event.report)
        case AgentFailed():
            return _gone_on_without(state, event)
        case Checkpointed():
            return _checkpointed(state, event)
        case ChecksReported():
            return checked_as_accepted(state, event) if state.course.accepted else _checked(state, event)
        case Announced():
            return _announced(state)
        case _:
            raise InvalidTransition(c.where(state), type(event).__name__, "a ticket never asks for it")


# --- agents -------------------------------------------------------------------------------------


def _created(state: TicketsState, report: AgentReport) -> TicketsState:
    if report.status is AgentStatus.BLOCKED:
        said = f"The creator is blocked: {report.summary or 'no reason given'}"
        if not state.plan.lands:
            return judged(replace(state, ticket=replace(state.ticket, notes=report.summary, unmade=said)))
        why = Question(question=said)
        state = c.with_trial(state, replace(state.course.trial, held=True))
        return c.steered(state, inquiries=(Inquiry(role="creator", questions=(why,)),))
    state = c.steered(
        replace(state, ticket=replace(state.ticket, notes=report.summary)),
        no_test=report.no_test or state.course.no_test,
    )
    return stepped(state, TicketsPhase.CHECKPOINT)


def _gone_on_without(state: TicketsState, event: AgentFailed) -> TicketsState:
    """The ticket goes on without a creator's or a judge's result, and whoever judges it sees that."""
    sentence = c.sentence_of(event)
    if state.phase is TicketsPhase.JUDGE:
        silence = as_said(Critique(role=JUDGE, verdict=None, summary=sentence), state.course.trial)
        return judged(replace(state, ticket=replace(state.ticket, judgement=silence)))
    unmade = "" if state.plan.lands else f"The creator gave no result: {sentence}"
    ticket = replace(state.ticket, notes=f"{_NO_RESULT}{sentence})", unmade=unmade)
    return stepped(replace(state, ticket=ticket), TicketsPhase.CHECKPOINT)


def _criticised(state: TicketsState, event: AgentReported | AgentFailed) -> TicketsState:
    """The judge waits until every seat has spoken; one that stays silent counts against the ticket."""
    at = [seat_key(each) for each in range(len(state.seats))].index(event.key.part)
    seat, trial = state.seats[at], state.course.trial_of(event.key.part)
    if isinstance(event, AgentReported):
        critique = critique_of(seat.role, event.report)
        if is_mute(critique) and (once_more := _asked_again(state, trial, event.report, _MUTE_CRITIC)) is not None:
            return c.with_trial(state, once_more)
    else:
        critique = Critique(role=seat.role, verdict=None, summary=c.sentence_of(event))
    critique = as_said(critique, trial)
    state = replace(state, seats=(*state.seats[:at], replace(seat, critique=critique), *state.seats[at + 1 :]))
    critiques = tuple(seat.critique for seat in state.seats if seat.critique is not None)
    if len(critiques) < len(state.seats):
        return state
    return stepped(replace(state, ticket=replace(state.ticket, critiques=critiques)), TicketsPhase.CHECK)


def _asked_again(state: TicketsState, trial: Trial, report: AgentReport, lack: str) -> Trial | None:
    """For the reason of a no, or for a verdict at all."""
    return trial.to_explain(lack) if state.plan.firm and report.verdict is Verdict.FAIL else trial.to_repair(lack)


def _checked(state: TicketsState, event: ChecksReported) -> TicketsState:
    """What only a person can allow is waited for before anybody judges: it uses up no ticket."""
    said: Weighed = Passed()
    words = (state.plan.title, state.plan.what, *(criterion.text for criterion in state.plan.criteria))
    if leaves_code_as_it_was(state, event, words):
        why, kind = describe_same_product(event, about(state), state.ticket.files)
        state = replace(state, ticket=replace(state.ticket, files=()))
        return _unchanged(state, checked=heard_checks(state, event, ()), why=why, kind=kind)
    if state.plan.trust.in_force:
        is_last = state.ticket.number >= state.allowance
        state, said = weighed(state, event, state.commit, words, is_last=is_last, policy=_show_policy(state))
    told = said.faults if isinstance(said, Failed) else ()
    if asks_for_witness(told) and not state.plan.lands:
        state = granted(state, 1)
    state = heard_checks(state, event, tuple(fault for fault in told if fault.category == "engine"))
    if isinstance(said, Waits) and (event.claim is not None or state.ticket.failed_with is not None):
        return c.at_the_gate(stepped(state, TicketsPhase.CHECK))
    return stepped(state, TicketsPhase.JUDGE) if state.plan.judge else judged(state)


def _show_policy(state: TicketsState) -> ShowPolicy:
    merges = state.plan.merge and bool(state.plan.target)
    asks = state.plan.trust.asks_witness and state.ticket.files != AS_IT_WAS
    is_code = state.plan.about == "code"
    return ShowPolicy(about=about(state), is_code=is_code, asks=asks, grants=not state.plan.lands, merges=merges)


def _judge_reported(state: TicketsState, report: AgentReport) -> TicketsState:
    """A no that nothing explains is asked for once more, and then stays a no."""
    trial, heard = state.course.trial, heard_judge(state, report)
    if judge_is_mute(heard.ticket) and (once_more := _asked_again(state, trial, report, _MUTE_JUDGE)) is not None:
        return c.with_trial(state, once_more)
    said = as_said(critique_of(JUDGE, report), trial)
    return judged(replace(heard, ticket=replace(heard.ticket, judgement=said, advice=said.summary)))


def _checkpointed(state: TicketsState, event: Checkpointed) -> TicketsState:
    # What is known is that files changed; which ones only as far as the event names them.
    files = event.paths or ("(not named)",) * min(event.files, 1)
    gate = GateRecord(
        gate=PROTECTED, evidence=event.evidence, because=event.protected, commit=event.commit, why=_WHY_GATE
    )
    ticket = replace(
        state.ticket,
        commit=event.commit,
        files=files,
        gated=event.protected,
        tree=event.tree,
        heard=heard(state),
        idle=False,
    )
    state = c.note_made(replace(state, commit=event.commit, ticket=ticket), base_of(state), event.commit)
    state = c.called_for(c.steered(state, put_back=event.put_back, altered_tests=event.altered_tests), gate)
    if not files and (not state.plan.lands or _is_to_be_asked(state)):
        return _unchanged(state, checked=state)
    same = judged_before(state) if state.plan.firm else None
    if same is None:
        return criticised_by(state)
    # The creator was told to leave it so if it has to be: the checks lead on to a person, unless a judge said no.
    if is_told_once(same.own) and not is_no(same.judgement):
        return stepped(replace(state, ticket=replace(ticket, critiques=same.critiques)), TicketsPhase.CHECK)
    return judged(as_before(state, same))


def _unchanged(state: TicketsState, *, checked: TicketsState, why: str = "", kind: str = "") -> TicketsState:
    """Ask a person at the first attempt; a parent decides for itself what to make of the verdict."""
    is_asked = state.plan.lands and _is_to_be_asked(state)
    return _asked_whether_it_was_done(state, why, kind) if is_asked else judged(checked)


def _is_to_be_asked(state: TicketsState) -> bool:
    return state.plan.firm and not (state.past or state.ticket.notes.startswith(_NO_RESULT))


def _asked_whether_it_was_done(state: TicketsState, why: str, kind: str) -> TicketsState:
    """At the first attempt, where nothing was changed, or files to no effect: an answer goes to the creator."""
    tests = name_causes(state.course.before)
    failing = f" Failing on the base: {tests}." if tests else ""
    told = (
        f"The creator has changed nothing{f': {why[0].lower()}{why[1:]}' if why else ''}. Was it done already?{failing}"
    )
    if kind:
        told = f"{why}. Is the task about {kind} (`--about {kind}` at the start says so)? Was it done already?{failing}"
    question = Question(question=told, impact=_IF_DONE)
    state = replace(state, ticket=replace(state.ticket, idle=True))
    state = c.entered(state, TicketsPhase.CREATE, tries=state.course.trial.tries + 1)
    state = c.with_trial(state, replace(state.course.trial, held=True))
    return c.steered(state, inquiries=(Inquiry(role="creator", questions=(question,)),))


# --- after the verdict --------------------------------------------------------------------------


def _announced(state: TicketsState) -> TicketsState:
    """An approved group of a split opens the next one; only the last of them lands."""
    match state.ticket.decision:
        case Decision.APPROVE:
            return _next_group(state) if state.groups else landed_or_left(state)
        case Decision.ESCALATE:
            why = f"ticket {state.ticket.number} of {state.allowance} was not approved"
            return c.escalated(state, (why,), state.ticket.findings)
        case _:
            return _reworked(state)


def _reworked(state: TicketsState) -> TicketsState:
    """Another try, that goes about it as the policy says."""
    move = next_move(state.past, has_others=len(state.plan.creators) > 1)
    if move == RETRY:
        return opened(state)
    cast = _with_other_creator(state) if move == OTHER_AGENT else state.cast
    return opened(_from_the_best(replace(state, cast=cast)), move=move)


def _next_group(state: TicketsState) -> TicketsState:
    """The next group of a split after an approval, with as many tickets as any session has."""
    focus, *later = state.groups
    following = opened(replace(granted(state, state.plan.limits.max), groups=tuple(later)), move=SPLIT)
    return replace(following, ticket=replace(following.ticket, focus=focus))


def _from_the_best(state: TicketsState) -> TicketsState:
    """Of those that stand on the same base. What was open at a gate is of another commit, unless that is the one."""
    best = best_ticket(tuple(ticket for ticket in state.past if ticket.onto == state.onto))
    if best is None or best.commit == state.commit:
        return state
    return c.called_for(replace(state, commit=best.commit), GateRecord(gate=PROTECTED, evidence=""))


def _with_other_creator(state: TicketsState) -> tuple[tuple[str, str], ...]:
    """The next of the creators, round and round."""
    names, chosen = state.plan.creators, dict(state.cast)
    now = chosen.get("creator", names[0])
    at = names.index(now) if now in names else -1
    return tuple({**chosen, "creator": names[(at + 1) % len(names)]}.items())


# --- landing ------------------------------------------------------------------------------------


def refused(state: TicketsState, event: IntegrationRefused) -> TicketsState:
    """Where the target stands is known: the ticket failed, and the next one begins there. Else a person decides."""
    why = event.detail or event.reason
    if state.course.accepted or not event.onto or event.reason not in ("conflict", "checks"):
        return not_landed(state, event)
    failures = landing_failures(event, state.commit)
    failed_with = state.course.approvals if event.reason == "checks" else None
    ticket = replace(state.ticket, decision=sent_back(state), refused=why, findings=failures, failed_with=failed_with)
    state = replace(
        state,
        ticket=ticket,
        past=(*state.past[:-1], ticket),
        ledger=record(state.ledger, LANDING, failures, ticket.number),
        commit=event.merged or event.onto,
        onto=event.onto,
    )
    if ticket.decision is Decision.ESCALATE:
        told = f"ticket {ticket.number} of {state.allowance} could not be landed: {why}"
        return c.escalated(state, (told,), event.findings)
    return _reworked(state)


# --- people -------------------------------------------------------------------------------------


def decided(state: TicketsState, gate: GateRecord) -> TicketsState:
    """The gate on protected files is open beside the work, and comes before the verdict that would approve."""
    return _gate_approved(state) if gate.ruling is Ruling.APPROVED else _gate_rejected(state, gate)


def _gate_approved(state: TicketsState) -> TicketsState:
    """What was checked without the approval ran the base versions: it is checked and judged once more."""
    station = state.course.station
    if state.course.accepted:
        return stepped(state, TicketsPhase.CHECK) if c.at_work(state, TicketsPhase.CHECK) else state
    if station is Station.GATE or c.at_work(state, TicketsPhase.CHECK, TicketsPhase.JUDGE):
        return stepped(unheard(state), TicketsPhase.CHECK)
    if station is Station.CLARIFY and state.phase is TicketsPhase.JUDGE:
        return replace(unheard(state), phase=TicketsPhase.CHECK)
    return state


def _gate_rejected(state: TicketsState, gate: GateRecord) -> TicketsState:
    """A person's no keeps the ticket from being approved, and the creator is told."""
    told = f"A person rejected the change to {gate.paths}: {gate.reason or 'no reason given'}"
    if gate.gate != PROTECTED:
        told = rejection(gate).issue
    state = c.steered(state, refusals=(*state.course.refusals, told))
    if state.course.station is Station.GATE and not gate.lasting:
        return judged(state)
    if not c.at_work(state, TicketsPhase.CREATE):
        return state
    # A creator at work does not know it yet, and a brief never changes under its key: a new try.
    trial = state.course.trial
    return c.with_trial(state, replace(trial, tries=trial.tries + 1))


def continued(state: TicketsState, event: Answered) -> TicketsState:
    return _reworked(granted(state, event.count))


def revised(state: TicketsState, _: Answered) -> TicketsState:
    return opened(replace(state, allowance=state.ticket.number + state.plan.limits.max), move=REVISE)


def relimited(state: TicketsState, limits: TicketLimits) -> TicketsState:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    # What has been decided stands: a ticket under way may end, and one that was routed back has a successor.
    routed_back = c.at_work(state, TicketsPhase.VERDICT) and state.ticket.decision is Decision.ROUTE_BACK
    allowance = max(state.ticket.number + routed_back, state.allowance + limits.max - state.plan.limits.max)
    return replace(state, plan=replace(state.plan, limits=limits), allowance=allowance)
