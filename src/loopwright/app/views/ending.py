"""How a drive of a loop ended: for programs, and for people who read the last lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Generic, Literal, TypeVar

from loopwright.app.layout import WORKSPACES
from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.views import status
from loopwright.app.views.evidence import ShownEvidence, evidence_of, show_evidence
from loopwright.app.views.needs import Need
from loopwright.app.views.status import Cost, LoopStatus, cost_in_words, cost_of
from loopwright.engine.world import Halt
from loopwright.kernel.codec import SPREAD
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import Ending, LoopId, Outcome
from loopwright.kernel.trust import Trust
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import way_on
from loopwright.loops import closing
from loopwright.loops.course import WHY_HELD
from loopwright.loops.kind import Scene

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    path: str
    how: Literal["added", "changed", "removed"]
    gate: str  # NAME@ID, as `loop approve` takes it
    moved: str = ""  # the other path, where it is one half of a move


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer(Generic[R]):
    """What every command that drives a loop answers; `own` is what the loop's kind adds."""

    loop: LoopId
    outcome: Literal["verified", "reviewed", "complete", "escalated", "blocked", "accepted", "cancelled", "paused"]
    commit: str  # that holds the result, else the newest attempt; empty before there is one
    cost: Cost
    merged: bool = False
    not_merged: str = ""  # why a merge that was asked for did not happen
    branch: str = ""  # empty: none yet
    merged_into: str = ""  # empty: none
    note: str = ""  # why it was left where it is, or why it paused
    held_back: tuple[HeldBack, ...] = ()  # what it did without until a person approves
    evidence: ShownEvidence | None = None  # how much the checks show of the result; null: none ran on it
    needs: tuple[Need, ...] = ()
    interrupted: bool = False  # a signal stopped the command
    command: str = ""  # that takes the result where it is not merged; of an interrupted run: that goes on
    folder: str = ""  # of a demo: where the sample project is
    own: R = field(metadata=SPREAD)


_WORDS: dict[Ending, Literal["verified", "reviewed", "escalated", "accepted", "cancelled"]] = {
    Ending.VERIFIED: "verified",
    Ending.REVIEWED: "reviewed",
    Ending.ACCEPTED: "accepted",
    Ending.CANCELLED: "cancelled",
    Ending.ESCALATED: "escalated",
    Ending.FAILED: "escalated",
    Ending.HELD: "escalated",
}


async def answer_of(project: Project, seen: View, halt: Halt, shown: LoopStatus) -> RunAnswer[object]:
    """Whatever way the drive ended. `shown` is the loop's status object."""
    outcome, state = halt.outcome, seen.now.state
    newest = state.commit if state.commit != state.plan.base else ""
    landed = outcome or seen.kind.so_far_outcome(state, Ending.ESCALATED) or Outcome(ending=Ending.ESCALATED)
    word = _WORDS[outcome.ending] if outcome else "paused" if halt.is_paused else "escalated"
    return RunAnswer(
        loop=seen.row.id,
        outcome=seen.kind.words.outcomes.get(word, word),  # type: ignore[arg-type]  # each kind has words of the list
        commit=landed.commit or newest,
        branch=landed.branch,
        merged_into=landed.merged_into,
        merged=bool(landed.merged_into),
        not_merged=landed.not_merged,
        note=outcome.note if outcome else halt.detail,
        cost=cost_of(seen.row),
        held_back=_held_back(landed, shown.needs),
        evidence=show_evidence(landed.evidence or evidence_of(seen)),
        needs=shown.needs,
        command=closing.take_command(outcome) if outcome else "",
        own=await result_of(project, seen),
    )


def _held_back(outcome: Outcome, needs: tuple[Need, ...]) -> tuple[HeldBack, ...]:
    gate = _held_gate(needs)
    return tuple(HeldBack(path=change.path, how=change.how, gate=gate, moved=change.moved) for change in outcome.held)


def _held_gate(needs: tuple[Need, ...]) -> str:
    return next((f"{need.what}@{need.id}" for need in needs if need.kind == "gate" and need.what == PROTECTED), "")


async def result_of(project: Project, seen: View) -> object:
    """What the loop's kind has to tell of it, with what its parts have."""
    parts: dict[LoopId, object] = {}
    for part in seen.kind.parts(seen.now.state):
        parts[part] = await result_of(project, seen.parts.get(part) or await view(project, part))
    return seen.kind.result(seen.row.id, seen.now.state, parts)


async def closing_lines(
    project: Project, seen: View, halt: Halt, shown: LoopStatus, *, can_go_on: bool = True
) -> Sequence[str]:
    """What people read at the end. `can_go_on`: it is still there when they have read it."""
    if halt.outcome is not None:
        lines = ended_lines(project, seen, halt.outcome, _held_gate(shown.needs))
        return lines if can_go_on else closing.without_advice(lines)
    if halt.why == "paused":
        grant = f"; go on with {way_on(halt.reason, seen.row.budget)}" if can_go_on else ""
        return (f"Paused: {halt.detail}{grant}.",)
    told = seen.kind.told_when_stopped(seen.now.state, await result_of(project, seen))
    return (
        "Paused: a limit is reached." if halt.is_paused else "Stopped: a person is needed.",
        *seen.kind.landed_so_far(seen.now.state),
        "",
        *((*told, "") if told else ()),
        status.human(shown, commands=can_go_on).rstrip("\n"),
        *(("", f"Then: loop resume --loop {seen.row.id}") if can_go_on else ()),
    )


def ended_lines(project: Project, seen: View, outcome: Outcome, held_gate: str = "") -> Sequence[str]:
    name = seen.kind.tells_more(seen.row.id, seen.now.state)
    file = project.root / name
    there = (str(file),) if name and file.is_file() else ()
    block = seen.kind.block(seen.now.state, outcome)
    cost = cost_in_words(cost_of(seen.row))
    return (
        *((*block, "") if block else ()),
        *seen.kind.closing(seen.now.state, outcome),
        *(seen.kind.report(seen.now.state, outcome, cost) or (f"Cost: {cost}",)),
        *_left_unmerged(seen, outcome),
        *closing.evidence(outcome, can_be_shown=_can_be_shown(seen), keeps_behaviour=_keeps_behaviour(seen)),
        *closing.written(outcome),
        *closing.said_beforehand(outcome),
        *closing.held(outcome, held_gate, seen.row.id, _why_held(seen)),
        *closing.waiting(outcome),
        *closing.stay(outcome),
        *_left(project, seen.row.id, outcome),
        closing.look_closer(seen.row.id, outcome, there),
    )


def _why_held(seen: View) -> str:
    """Return the gate's reason where it says more than that only a person can let such a change in."""
    course = getattr(seen.now.state, "course", None)
    gate = course.due(PROTECTED) if course else None
    why = gate.explanation if gate is not None else ""
    return why if why != WHY_HELD else ""


def _can_be_shown(seen: View) -> bool:
    """Whether the work is about code that is to do something else than before, as far as a person said."""
    return not _keeps_behaviour(seen) and getattr(seen.now.state.plan, "about", "") in ("", "code")


def _keeps_behaviour(seen: View) -> bool:
    trust: Trust = getattr(seen.now.state.plan, "trust", Trust())
    return trust.keeps_behaviour


def _left_unmerged(seen: View, outcome: Outcome) -> tuple[str, ...]:
    """A merge that was asked for is for what is verified; whoever accepts had to ask for it again."""
    state = seen.now.state
    if outcome.ending is not Ending.ACCEPTED or not outcome.branch or outcome.merged_into or outcome.not_merged:
        return ()
    if not getattr(state.plan, "merge", False):
        return ()
    take = closing.take_command(outcome)
    return (f"Accepted without a merge: not merged although --merge was given (`{take}` merges).",)


def _left(project: Project, loop: LoopId, outcome: Outcome) -> Sequence[str]:
    """A workspace that nobody works in any more: tests in it are found by runners that look everywhere."""
    folder = project.root / WORKSPACES / loop
    if outcome.ending is not Ending.CANCELLED or not folder.is_dir():
        return ()
    where = f"{WORKSPACES}/{loop}"
    return (f"Workspace: {where} is left; `rm -rf {quote(str(folder))}` removes it, every attempt stays a commit.",)


async def unresolved_text(project: Project, seen: View) -> str:
    """What a person should see before they decide; a loop that tells it as it goes has nothing more here."""
    return "\n".join(seen.kind.unresolved(seen.now.state, await result_of(project, seen)))


async def history(project: Project, loop: LoopId) -> str:
    """What every attempt came to: shown when a person asks for it before they decide. Of a loop with parts, theirs."""
    seen = await view(project, loop)
    state = seen.now.state
    told = [await history(project, part) for part in seen.kind.blocked(state)]
    if told:
        return "\n\n".join(told)
    if seen.kind.history is not None:
        return seen.kind.history(Scene(loop=loop, state=state, status=seen.row.status))
    return visible("\n".join(seen.kind.so_far(state)))
