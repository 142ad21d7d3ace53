"""What came of the artifacts of a review: passed, blocked with everything unresolved, or not decided yet.

One artifact and a batch of them are told alike. Of a batch the findings are in the logs of its children.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.app.project import Project, View, view
from loopwright.kernel.codec import encode
from loopwright.kernel.model import Ending, Finding, LoopId, Verdict
from loopwright.kernel.wording import counted, told
from loopwright.loops.batch.state import Batch, Item, Standing
from loopwright.loops.quality.escalation import MAX_LOOPS_REACHED, recommendation
from loopwright.loops.quality.state import Phase, Quality, best_round, open_findings

CONFLICT = "CONFLICT"
_ACCEPTED = "a person accepted it with what is known"
_CANCELLED = "the review was cancelled"
_ALWAYS = ("severity", "rule", "file", "line", "issue", "evidence", "guidance")
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    artifact: str
    reason: str  # a token, or a sentence
    reviews: int
    fixes: int = 0
    unresolved: tuple[Finding, ...] = ()
    file: str = ""  # where the findings are handed over; empty: inline
    advice: str = ""
    loop: LoopId = LoopId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    passed: tuple[str, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    pending: tuple[str, ...] = ()  # no last word on them yet
    rounds: int = 0
    fixes: int = 0

    @property
    def data(self) -> dict[str, object]:
        return {
            "passed": list(self.passed),
            "blocked": [_plain(each) for each in self.blocked],
            "pending": list(self.pending),
            "rounds": self.rounds,
            "fixes": self.fixes,
        }


async def reviewed(project: Project, root: View) -> Reviewed:
    """Of a quality loop or a batch as it stands now."""
    state = root.now.state
    if isinstance(state, Batch):
        return await _batch(project, state)
    assert isinstance(state, Quality)  # noqa: S101 - nothing else reviews
    return _told((_Part(path=state.plan.artifact, state=state, loop=root.row.id),), len(state.rounds))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """An artifact with the state of its own loop, and what its batch holds of it."""

    path: str
    state: Quality | None
    item: Item | None = None
    loop: LoopId = LoopId("")


async def _batch(project: Project, state: Batch) -> Reviewed:
    begun = {row.id for row in await project.store.rows()}
    own = [await _own(project, item) if item.loop in begun else None for item in state.items]
    each = zip(state.items, own, strict=True)
    return _told(tuple(_Part(path=item.path, item=item, loop=item.loop, state=it) for item, it in each), state.round)


async def _own(project: Project, item: Item) -> Quality | None:
    """The state of the artifact's loop, where there is more to tell of it than that it passed at once."""
    if item.standing is Standing.PASSED and item.attempts <= 1:
        return None
    state = (await view(project, item.loop)).now.state
    return state if isinstance(state, Quality) else None


def _told(parts: tuple[_Part, ...], rounds: int) -> Reviewed:
    blocked = {part.path: reason for part in parts if (reason := _reason(part))}
    passed = tuple(part.path for part in parts if part.path not in blocked and _has_passed(part))
    return Reviewed(
        passed=passed,
        blocked=tuple(_blocked(part, blocked[part.path]) for part in parts if part.path in blocked),
        pending=tuple(part.path for part in parts if part.path not in (*blocked, *passed)),
        rounds=rounds,
        fixes=sum(part.state.fixes for part in parts if part.state),
    )


def _has_passed(part: _Part) -> bool:
    if part.item is not None:
        return part.item.standing is Standing.PASSED
    return part.state is not None and bool(part.state.rounds) and part.state.rounds[-1].verdict is Verdict.PASS


def _reason(part: _Part) -> str:
    """Why it is blocked for good, unless a person helps; nothing for what passed or goes on by itself."""
    if part.item is not None and part.item.standing is Standing.CONFLICT:
        return CONFLICT
    said = _own_reason(part.state) if part.state else ""
    if said or part.item is None or part.item.standing is not Standing.STUCK:
        return said
    return part.item.line or "its review could not be made"


def _own_reason(state: Quality) -> str:
    if state.outcome is not None:
        ending = state.outcome.ending
        cancelled = _CANCELLED if ending is Ending.CANCELLED and state.rounds else ""
        return _ACCEPTED if ending is Ending.ACCEPTED else cancelled
    if state.phase is Phase.CLARIFY:
        return f"the {state.plan.creator} asks: {state.question}"
    if state.phase is not Phase.ESCALATED:
        return ""
    reached = any(reason.startswith(MAX_LOOPS_REACHED) for reason in state.reasons)
    return MAX_LOOPS_REACHED if reached else "; ".join(state.reasons)


def _blocked(part: _Part, reason: str) -> Blocked:
    state = part.state
    if state is None or reason == CONFLICT:
        return Blocked(
            artifact=part.path,
            reason=reason,
            reviews=part.item.attempts if part.item else 0,
            fixes=state.fixes if state else 0,
            loop=part.loop,
        )
    return Blocked(
        artifact=part.path,
        reason=reason,
        reviews=len(state.rounds),
        fixes=state.fixes,
        unresolved=_left(state),
        file="" if state.outcome else state.plan.file,  # it is there only while the artifact is blocked
        advice=recommendation(state) if state.phase is Phase.ESCALATED else "",
        loop=part.loop,
    )


def _left(state: Quality) -> tuple[Finding, ...]:
    """What is wrong with what stands: of an accepted review, with the attempt that was kept."""
    best = best_round(state.rounds)
    return best.findings if state.accepted and best else open_findings(state)


def _plain(each: Blocked) -> dict[str, object]:
    return {
        "artifact": each.artifact,
        "reason": each.reason,
        "attempts": each.reviews,
        "fixes": each.fixes,
        "unresolved": [finding_data(finding) for finding in each.unresolved],
        "file": each.file or None,
        "recommendation": each.advice,
        "loop": each.loop,
    }


def finding_data(finding: Finding) -> dict[str, object]:
    """As an agent's result has it, with the identity it keeps from review to review."""
    data: dict[str, object] = json.loads(encode(finding))
    mark = data.pop("fingerprint", "")
    plain = {name: data.pop(name, 0 if name == "line" else "") for name in _ALWAYS}
    return {**plain, **{name: value for name, value in data.items() if value not in ("", None)}, "id": mark}


# --- for people -------------------------------------------------------------------------------------


def unresolved_lines(result: Reviewed) -> list[str]:
    """Every artifact that is blocked with what is wrong with it, the worst first, within bounds."""
    lines: list[str] = []
    room = _SHOWN
    alone = len(result.blocked) == 1 and not result.passed and not result.pending  # then the question itself advises
    for number, each in enumerate(result.blocked):
        if room <= 0:
            return [*lines, f"and {counted(len(result.blocked) - number, 'more artifact')}; --json tells all"]
        lines += _block(each, room, advises=not alone)
        room -= max(1, len(each.unresolved))
    return lines


def _block(each: Blocked, room: int, *, advises: bool) -> Iterator[str]:
    did = f"{counted(each.reviews, 'review')}, {counted(each.fixes, 'fix', 'fixes')}"
    left = f", {len(each.unresolved)} unresolved" if each.unresolved else ""
    yield f"{each.artifact}: {each.reason} ({did}{left})"
    worst = sorted(each.unresolved, key=lambda finding: finding.severity.rank)
    for finding in worst[:room]:
        yield f"  [{finding.severity.value}] {told(finding)}"
    if len(worst) > room:
        yield f"  and {len(worst) - room} more"
    if each.file:
        yield f"  all of it in {each.file}"
    if each.advice and advises:
        yield f"  {each.advice}"
