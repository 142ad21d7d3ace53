"""The message of a system that is blocked, in its one form: on the screen, in a file, and in what is sent."""

from __future__ import annotations

from loopwright.kernel.quoting import one_line
from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.state import LifecycleState

_TRIED = 5  # attempts that are told


def blocked_message(state: LifecycleState) -> str:
    told = state.blocked
    if told is None:
        return ""
    last = state.failure.error if state.failure else told.reason
    tried = _tried(state.history) or ("Nothing: no retry can help.",)
    return "\n".join(
        (
            f"## 🚫 BLOCKED: {one_line(state.plan.system.name, 120)}",
            "",
            f"**Reason:** {one_line(told.reason, 500)}",
            f"**Last Failure:** {one_line(last, 500)}",
            f"**Retry Attempts:** {state.retries} / {state.allowance.retries}",
            "",
            "**What was tried:**",
            *(f"{number}. {line}" for number, line in enumerate(tried, start=1)),
            "",
            "**Human action needed:**",
            one_line(told.ask, 500),
            "",
            "**To resume:**",
            "1. Resolve the issue",
            f"2. Update loop-state.json: set state to {told.stage}",  # noqa: S608 - no query
            "3. Run loop controller",
        )
    )


def _tried(history: tuple[Failure, ...]) -> tuple[str, ...]:
    """Each attempt: what was done about which failure, and what came of it."""
    found = [each for each in history if not each.resolved and each.fix]
    return tuple(f"{one_line(each.fix, 200)} ({each.stage}: {one_line(each.error, 120)})" for each in found[-_TRIED:])


def escalation_record(state: LifecycleState) -> dict[str, object]:
    """Beside the message: attempt, error, fix and outcome of each try, and the hypothesis."""
    told = state.blocked
    return {
        "system": state.plan.system.id,
        "reason": told.reason if told else "",
        "cause": told.cause if told else "",
        "escalatedTo": told.target if told else "",
        "attempts": [
            {
                "attempt": each.number,
                "stage": each.stage.value,
                "error": each.error,
                "fix": each.fix,
                "outcome": each.outcome or ("resolved" if each.resolved else "open"),
                "hypothesis": each.hypothesis,
            }
            for each in state.history[-20:]
        ],
        "hypothesis": state.diagnosis,
        "ask": told.ask if told else "",
        "resumeAt": told.stage.value if told else "",
        "branch": state.plan.branch,
        "commit": state.tip,
        "worktree": f".worktrees/{state.plan.workspace}",
        "issue": state.plan.system.issue,
    }
