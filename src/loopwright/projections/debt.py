"""`.loop/debt.md`: what a person accepted although it was known to be wrong. One block per acceptance."""

from __future__ import annotations

from loopwright.kernel.ledger import unresolved
from loopwright.kernel.model import Finding
from loopwright.loops.feedback.state import Feedback, Iteration, best_iteration
from loopwright.projections.quoting import inline
from loopwright.projections.wording import counted, moment, told


def entry(loop_id: str, state: Feedback, at: float, by: str) -> str:
    """The faults are those of the attempt that was taken; those other attempts left open are named apart."""
    taken = best_iteration(state.past) or Iteration(number=state.current.number)
    known = {finding.fingerprint for finding in taken.issues + taken.failures}
    others = tuple(f for f in unresolved(state.ledger) if f.fingerprint not in known)
    branch = state.outcome.branch if state.outcome else state.plan.branch
    commit = (state.outcome.commit if state.outcome else "") or taken.commit
    lines = (
        f"## {inline(loop_id)}: accepted {moment(at)}",
        "",
        f"- **Task**: {inline(state.plan.task)}",
        f"- **Accepted by**: {inline(by) or '(not said)'}",
        f"- **Accepted**: iteration {taken.number} of {counted(len(state.past), 'iteration')}",
        f"- **Commit**: {inline(commit) or '(none)'}",
        f"- **Branch**: {inline(branch) or '(none)'}",
        *_listed("Open findings", taken.issues),
        *_listed("Failing tests", taken.failures),
        *(_listed("Seen in other iterations and not resolved", others) if others else ()),
    )
    return "\n".join(lines) + "\n"


def _listed(heading: str, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """All of them: a debt that is not written down is lost."""
    if not findings:
        return (f"- **{heading}**: none",)
    ordered = sorted(findings, key=lambda finding: finding.severity.rank)
    return (f"- **{heading}**:", *(f"  - [{f.severity.value}] {inline(told(f, 500), 600)}" for f in ordered))
