"""What is proposed to be merged: the pull request, with the evidence in its body."""

from __future__ import annotations

from loopwright.kernel.actions import OpenPullRequest
from loopwright.kernel.model import Key
from loopwright.kernel.quoting import inline, one_line
from loopwright.loops.lifecycle import gate_rules, gating
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage

_SHOWN = 20  # lines of a list


def wanted(state: LifecycleState, key: Key) -> OpenPullRequest:
    """Where people are still to look at it, a draft that says whom it waits for."""
    waits = gating.blocking(state)
    labels = tuple(f"needs:{gate.gate}-review" for gate in waits)
    names = {gate.gate for gate in waits} or {gate_rules.DEPLOY}
    reviewers = tuple(dict.fromkeys(who for gate, who in state.plan.reviewers if gate in names))
    plan = state.plan
    return OpenPullRequest(
        key=key,
        branch=plan.branch,
        target=plan.target,
        commit=state.landed,
        title=f"{plan.system.name} ({plan.system.id})",
        body=body(state),
        draft=state.phase is not Stage.SHIP,
        labels=labels,
        reviewers=reviewers,
        comment=comment(state),
        why="where people look at it" if waits else "what was approved is proposed to be merged",
    )


def body(state: LifecycleState) -> str:
    plan = state.plan
    lines = [
        f"## {plan.system.name} ({plan.system.id})",
        "",
        inline(plan.system.description, 2_000) or "_No description._",
        "",
        "### Capabilities",
        *(f"- [{'x' if name in state.done else ' '}] {inline(name, 200)}" for name in _every(state)),
        "",
        "### Evidence",
        f"- Verified tree: `{state.tree}`; checks: {', '.join(plan.checks) or 'none'}",
        f"- Failures: {state.total}, all resolved" if state.total else "- Failures: none",
        *_tests(state),
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
    places = (f"- {one_line(each.gate)}: `{each.file}:{each.line}` ({one_line(each.rule)})" for each in state.risks)
    return ["### What calls for a gate", *list(places)[:_SHOWN], ""]


def comment(state: LifecycleState) -> str:
    """For each gate that is waited for: what needs a review, and how it is given."""
    parts = [_request(gate.gate, gate.why, gate.evidence, state) for gate in gating.blocking(state)]
    return "\n\n".join(parts)


_HOW = {
    gate_rules.ARCHITECTURE: 'Approve with a comment: "architecture approved".',
    gate_rules.SECURITY: "Approve by ticking every line of this checklist in a comment of your own, or by a review:"
    "\n- [ ] no secret in the code\n- [ ] input is checked\n- [ ] what is stored is protected",
    gate_rules.DATABASE: "Approve with a review of the migration.",
    gate_rules.EXTERNAL: "Approve with a review of the integration.",
    gate_rules.DEPLOY: "Approve the pull request.",
}


def _request(gate: str, why: str, evidence: str, state: LifecycleState) -> str:
    places = [risk for risk in state.risks if risk.gate == gate][:_SHOWN]
    lines = "".join(f"\n- `{each.file}:{each.line}` {one_line(each.text, 120)}" for each in places)
    how = _HOW.get(gate, f'Approve with a comment: "{gate} approved".')
    return f"## {gate.capitalize()} Review Requested\n\n{why}:{lines}\n\n{how}\n\nEvidence: `{gate}@{evidence}`"
