"""The message of a system that is blocked, in its one form: on the screen, in a file, and in what is sent."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.quoting import inline, one_line
from loopwright.loops.course import Station
from loopwright.loops.lifecycle.failures import Blocked, Cause, Failure
from loopwright.loops.lifecycle.state import LifecycleState

_TRIED = 5  # attempts that are told
_RECORDED = 20  # and that stay on record


@dataclass(frozen=True, slots=True)
class _Stopped:
    """What it means that an agent does not go on without a person."""

    cause: Cause
    ask: str
    reason: str = "{asked}"


_STOPPED = {
    "asks": _Stopped(
        "ambiguous",
        'Answer it: `loop answer "your answer"`, then `loop resume`.',
        "Ambiguous requirement discovered: {asked}",
    ),
    "crashed": _Stopped("crash", "Mend it, then: `loop answer continue`, then `loop resume`."),
    "away": _Stopped("external", "Once it is there again: `loop answer continue`, then `loop resume`."),
}


def held_up(state: LifecycleState) -> Blocked | None:
    """Why a person is needed; what an agent cannot go on without is such a reason."""
    if state.blocked is not None or state.course.station is not Station.CLARIFY:
        return state.blocked
    inquiries = state.course.inquiries
    asked = "; ".join(each.question for inquiry in inquiries for each in inquiry.questions)
    means = _STOPPED[inquiries[0].because]
    reason = means.reason.replace("{asked}", asked)
    return Blocked(cause=means.cause, reason=reason, ask=means.ask, stage=state.resumes_at)


def blocked_message(state: LifecycleState) -> str:
    told = held_up(state)
    if told is None:
        return ""
    last = state.failure.error if state.failure else told.reason
    tried = _tried(state) or ("Nothing: no retry can help.",)
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


def _tried(state: LifecycleState) -> tuple[str, ...]:
    """Each attempt: what was done about which failure, also where nobody said what."""
    found = [each for each in state.history if not each.resolved and _is_tried(state, each)]
    return tuple(f"{_done(each)} ({each.stage}: {one_line(each.error, 120)})" for each in found[-_TRIED:])


def _is_tried(state: LifecycleState, failure: Failure) -> bool:
    """Whether a retry followed it: the newest may be blocked before one is made."""
    is_newest = failure.number == state.history[-1].number
    return bool(failure.fix) or (state.retries > failure.attempt if is_newest else not failure.escalated)


def _done(failure: Failure) -> str:
    if failure.fix:
        return one_line(failure.fix, 200)
    if failure.sort in ("skill", "review", "gate-rejection"):
        return "It was done again with what was found"
    return "A fix was tried, and did not end" if failure.checks else "Its loop went on with the diagnosis"


def blocked_page(state: LifecycleState) -> str:
    """The message as a file, with each try below it; empty where nothing is blocked."""
    told = blocked_message(state)
    if not told:
        return ""
    record = escalation_record(state)
    tried = [each for each in state.history[-_RECORDED:] if not each.resolved]
    rows = (_row(str(each.number), each.error, each.fix, _outcome(each), each.hypothesis) for each in tried)
    table = ("", "| attempt | error | fix | outcome | hypothesis |", "|---|---|---|---|---|", *rows) if tried else ()
    facts = {
        "Escalated to": record["escalatedTo"],
        "Hypothesis": state.diagnosis,
        "Branch": state.plan.branch.removeprefix("refs/heads/"),
        "Commit": state.tip,
        "Worktree": record["worktree"],
        "Issue": state.plan.system.issue or "",
    }
    lines = (f"- {name}: {inline(str(value), 500)}" for name, value in facts.items() if value)
    return "\n".join((told, "", "---", "", "### Escalation record", "", *lines, *table)) + "\n"


def _row(*cells: str) -> str:
    return f"| {' | '.join(inline(each, 200).replace('|', '&#124;') or '-' for each in cells)} |"


def _outcome(failure: Failure) -> str:
    return failure.outcome or ("resolved" if failure.resolved else "open")


def escalation_record(state: LifecycleState) -> dict[str, object]:
    """Beside the message: attempt, error, fix and outcome of each try, and the hypothesis."""
    told = held_up(state)
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
                "outcome": _outcome(each),
                "hypothesis": each.hypothesis,
            }
            for each in state.history[-_RECORDED:]
        ],
        "hypothesis": state.diagnosis,
        "ask": told.ask if told else "",
        "resumeAt": told.stage.value if told else "",
        "branch": state.plan.branch,
        "commit": state.tip,
        "worktree": f".worktrees/{state.plan.workspace}",
        "issue": state.plan.system.issue,
    }
