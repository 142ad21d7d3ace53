"""What is proposed to be merged: the pull request, with the evidence in its body."""

from __future__ import annotations

from loopwright.kernel.actions import OpenPullRequest, ReadPullRequest
from loopwright.kernel.evidence import describe_decisions
from loopwright.kernel.model import Key
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.risks import Risk
from loopwright.loops.lifecycle import gate_rules, gating
from loopwright.loops.lifecycle.evidence import describe_capabilities
from loopwright.loops.lifecycle.opinions import AT_THE_TERMINAL, CHECKLIST
from loopwright.loops.lifecycle.people import is_waiting
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage

_SHOWN = 20  # lines of a list


def wanted(state: LifecycleState, key: Key) -> OpenPullRequest:
    """Where people are still to look at it, a draft that says whom it waits for."""
    waits = gating.blocking(state)
    labels = tuple(_label(gate.gate) for gate in waits)
    decided = dict.fromkeys(_label(gate.gate) for gate in state.course.gates)
    names = {gate.gate for gate in waits} or {gate_rules.DEPLOY}
    approvers = dict.fromkeys(who for gate, who in state.plan.reviewers if gate in names)
    plan = state.plan
    return OpenPullRequest(
        key=key,
        branch=plan.branch,
        target=plan.target,
        commit=state.landed,
        title=f"{plan.system.name} ({plan.system.id})",
        body=body(state),
        draft=bool(waits) or state.phase is not Stage.SHIP,
        labels=labels,
        settled=tuple(label for label in decided if label not in labels),
        reviewers=tuple(name for name in approvers if _is_login(name)),
        comment=comment(state),
        why="where people look at it" if waits else "what was approved is proposed to be merged",
    )


def _label(gate: str) -> str:
    return f"needs:{gate}-review"


def _is_login(name: str) -> bool:
    """Others, as addresses, decide at the terminal: no forge can ask them."""
    return "@" not in name and not any(map(str.isspace, name))


def reading(state: LifecycleState, key: Key) -> ReadPullRequest:
    return ReadPullRequest(
        key=key,
        branch=state.plan.branch,
        target=state.plan.target,
        number=state.proposal.number,
        commit=state.landed,
        why="what people and checks say of it, and whether it is merged",
    )


def elsewhere(state: LifecycleState) -> ReadPullRequest | None:
    """Where people may have decided what is waited for."""
    is_there = state.plan.forge != "local" and bool(state.proposal.number)
    return reading(state, Key("read", state.turn)) if is_there and is_waiting(state) else None


def body(state: LifecycleState) -> str:
    plan = state.plan
    lines = [
        f"## {plan.system.name} ({plan.system.id})",
        "",
        inline(plan.system.description, 2_000) or "_No description._",
        "",
        "### Capabilities",
        *(f"- [{'x' if name in state.built else ' '}] {inline(name, 200)}" for name in _every(state)),
        "",
        "### Evidence",
        f"- Verified tree: `{state.tree}`; checks: {', '.join(plan.checks) or 'none'}",
        f"- Failures: {state.failures}, all resolved" if state.failures else "- Failures: none",
        *(f"- {inline(each, 900)}" for each in describe_capabilities(state)),
        *_tests(state),
        *(f"- {inline(each, 1_000)}" for each in describe_decisions(state.course.decisions)),
        "",
        "### Gates",
        *(_gate(gate.gate, gate.ruling.value, gate.by) for gate in state.course.gates if gate.due),
        "",
        *_risks(state),
    ]
    issue = [f"Closes #{plan.system.issue}"] if plan.system.issue else []
    return "\n".join((*lines, *issue)) + "\n"


def _every(state: LifecycleState) -> tuple[str, ...]:
    return (*state.done, *((state.current,) if state.current else ()), *state.remaining)


def _gate(name: str, ruling: str, by: str) -> str:
    return f"- {inline(name, 60)}: {ruling}{f' by {inline(by, 60)}' if by else ''}"


def _tests(state: LifecycleState) -> list[str]:
    written = state.course.written
    return (
        [f"- Tests written by agents: {', '.join(inline(each, 200) for each in written[:_SHOWN])}"] if written else []
    )


def _risks(state: LifecycleState) -> list[str]:
    if not state.risks:
        return []
    places = (f"- {one_line(each.gate)}: `{_place(each)}` ({one_line(each.rule)})" for each in state.risks)
    return ["### What calls for a gate", *list(places)[:_SHOWN], ""]


def _place(risk: Risk) -> str:
    return f"{risk.file}:{risk.line}" if risk.line else risk.file


def comment(state: LifecycleState) -> str:
    """For each gate that is waited for: what needs a review, and how it is given."""
    parts = [_request(gate.gate, gate.explanation, gate.evidence, state) for gate in gating.blocking(state)]
    return "\n\n".join(parts)


_HOW = {
    gate_rules.ARCHITECTURE: 'Approve with a comment: "architecture approved".',
    gate_rules.SECURITY: "Approve by ticking every line of this checklist in a comment of your own, or by a review:"
    + "".join(f"\n- [ ] {line}" for line in CHECKLIST),
    gate_rules.DATABASE: 'Approve with a review of the migration, or with a comment: "database approved".',
    gate_rules.EXTERNAL: 'Approve with a review of the integration, or with a comment: "external approved".',
    gate_rules.DEPLOY: "Approve the pull request.",
}


def _request(gate: str, why: str, evidence: str, state: LifecycleState) -> str:
    places = [risk for risk in state.risks if risk.gate == gate][:_SHOWN]
    lines = "".join(f"\n- `{_place(each)}`: {one_line(each.text or each.rule, 120)}" for each in places)
    how = _HOW.get(gate, f'Approve with a comment: "{gate} approved".')
    if gate in AT_THE_TERMINAL:
        how = f"This one is decided where the loop runs: `loop approve {gate}@{evidence}`."
    told = f"{why}{':' if lines else '.'}{lines}\n\n{how}\n\n{_by(gate, state)} A review that requests changes rejects."
    return f"## {gate.capitalize()} Review Requested\n\n{told}\n\nEvidence: `{gate}@{evidence}`"


def _by(gate: str, state: LifecycleState) -> str:
    listed = [who for each, who in state.plan.reviewers if each == gate]
    if not listed:
        return "Whoever belongs to the repository may decide, but for the author of the pull request."
    return f"Needed: {', '.join(inline(name, 100) for name in listed)}."
