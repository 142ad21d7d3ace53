"""`loop status`: one object per loop as other programs read it, and the five lines people read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from loopwright.app.loops import Unread, View
from loopwright.app.views.evidence import ShownEvidence, describe_shown, evidence_of, show_evidence
from loopwright.app.views.needs import Need, at_rest, needs, with_loop
from loopwright.kernel.actions import Action, Ask, AwaitGate, RunAgent, RunLoop, Stop
from loopwright.kernel.events import Paused
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import LoopId, Outcome
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import dollars, moment
from loopwright.ports.people import Waiting
from loopwright.ports.store import LoopRow, Status

UNREADABLE = "UNREADABLE"
_SHORT = 12  # characters of a commit
Word = Status | Literal["interrupted"]


@dataclass(frozen=True, slots=True)
class Failures:
    """`total` attempts failed; `resolved` of them were made good by one that was verified."""

    count: int
    total: int
    resolved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """In US dollars, with everything below the loop."""

    usd: float
    estimated: bool  # whether some of it is not what agents said of themselves
    reserved: float
    budget: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    action: str  # in snake case, such as run_agent
    role: str | None
    why: str
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    commit: str
    branch: str
    merged_into: str
    note: str
    attempts: int
    not_merged: str = ""  # why a merge that was asked for did not happen


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStatus:
    """One element of `loops`."""

    id: LoopId
    kind: str
    parent: LoopId | None
    status: Word
    outcome: Literal["verified", "reviewed", "accepted", "cancelled", "escalated", "failed", "held"] | None
    task: str = ""
    system: Mapping[str, object] | None
    state: str
    capability: Mapping[str, object] | None
    attempt: int
    limit: int
    failures: Failures
    gates: Mapping[str, str]
    cost: Cost
    tasks: Mapping[str, object] | None
    needs: tuple[Need, ...]
    next: Next | None
    last_activity: str
    evidence: ShownEvidence | None = None  # how much the checks show of the newest candidate; null: none ran on it
    result: Landed | None = None
    counter: str = "attempt"  # what one attempt is called
    superseded: tuple[LoopId, ...] = ()  # parts of it that others have taken the place of


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusDocument:
    loops: tuple[LoopStatus, ...]


def build(
    view: View,
    waiting: tuple[Waiting, ...],
    gates: Mapping[str, str],
    *,
    alive: bool,
    answered: bool = False,
    paused: Paused | None = None,
) -> LoopStatus:
    """`gates` are those decided; those that are waited for are pending. `answered` and `paused` are as in `needs`."""
    row, stand, outcome = view.row, view.standpoint, view.outcome
    status = shown_status(row, waiting, alive=alive)
    actions = () if view.is_over else view.wanted
    idle = not alive and any(map(_is_work, actions))
    facts = view.kind.status(view.now.state)
    pending = {each.what.gate: "pending" for each in waiting if isinstance(each.what, AwaitGate)}
    return LoopStatus(
        id=row.id,
        kind=row.kind,
        parent=row.parent,
        status=status,
        outcome=outcome.ending.value if outcome else None,
        task=view.title,
        system=facts.system,
        state=stand.state,
        capability=facts.capability,
        attempt=shown_attempt(stand, row),
        limit=stand.limit,
        failures=Failures(*facts.failures) if facts.failures else _failures(stand.failures, outcome),
        gates={**gates, **{name: how for name, how in facts.gates.items() if name not in gates}, **pending},
        cost=cost_of(row),
        tasks=facts.tasks,
        needs=needs(row, waiting, status, idle=idle, answered=answered, paused=paused),
        next=_next(actions),
        last_activity=facts.activity or moment(row.updated),
        evidence=show_evidence(evidence_of(view)),
        result=_landed(outcome) if outcome else None,
        counter=view.kind.words.counter,
        superseded=view.kind.superseded(view.now.state),
    )


def unread(loop: Unread) -> LoopStatus:
    """What the list of loops knows of one whose log nobody can make anything of. It can still be ended."""
    row, over = loop.listed.row, loop.listed.is_over
    end = Need(
        kind="fix",
        loop=row.id,
        path=(row.id,),
        what=UNREADABLE,
        why=one_line(loop.why, 500),
        command=f"loop cancel --loop {row.id}",
        names_loop=True,
    )
    return LoopStatus(
        id=row.id,
        kind=row.kind,
        parent=row.parent,
        status=row.status if over else "blocked",
        outcome="cancelled" if row.status == "cancelled" else None,
        task=loop.listed.title,
        system=None,
        state=UNREADABLE,
        capability=None,
        attempt=0,
        limit=0,
        failures=Failures(count=0, total=0, resolved=0),
        gates={},
        cost=cost_of(row),
        tasks=None,
        needs=() if over or row.parent else (end,),
        next=None,
        last_activity=moment(row.updated),
        counter=loop.listed.kind.words.counter,
    )


def cost_of(row: LoopRow) -> Cost:
    return Cost(usd=row.spent, estimated=row.estimated, reserved=row.reserved, budget=row.budget)


def cost_in_words(cost: Cost) -> str:
    """`~$1.20 of $25.00`: `~` where some of it is estimated."""
    of = "" if cost.budget is None else f" of {dollars(cost.budget)}"
    held = f" (+{dollars(cost.reserved)} reserved)" if cost.reserved else ""
    return f"{dollars(cost.usd, estimated=cost.estimated)}{held}{of}"


def document(loops: Sequence[LoopStatus]) -> StatusDocument:
    """Roots that need a person first, then newest; children after their parent.

    `loops` come newest first. Where several need a person, the commands name their loop.
    """
    several = sum(bool(loop.needs) for loop in loops) > 1
    known = {loop.id for loop in loops}
    roots = sorted((loop for loop in loops if loop.parent not in known), key=lambda loop: not loop.needs)
    ordered = [one for root in roots for one in _family(root, loops)]
    return StatusDocument(loops=tuple(named_commands(loop) if several else loop for loop in ordered))


def only(shown: StatusDocument, loop: LoopId) -> StatusDocument:
    """One loop and all below it."""
    return StatusDocument(
        loops=tuple(one for each in shown.loops if each.id == loop for one in _family(each, shown.loops))
    )


def named_commands(shown: LoopStatus) -> LoopStatus:
    return replace(shown, needs=tuple(with_loop(need) for need in shown.needs))


def human(shown: LoopStatus, *, commands: bool = True) -> str:
    """The five lines, what it cost, then what needs the person, with the commands that answer it."""
    lines = [
        _head_line(shown),
        f"State: {_state_line(shown)}",
        f"Failures: {_failures_line(shown.failures)}",
        f"Gates: {_gates_line(shown.gates)}",
        f"Last activity: {shown.last_activity}",
        *((f"Loop: {shown.id} ({_how(shown)})",) if shown.system else ()),
        f"Cost: {cost_in_words(shown.cost)}",
    ]
    if shown.evidence is not None:
        level, *decisions = describe_shown(shown.evidence)
        lines += [f"Evidence: {level}", *decisions]
    if shown.result is not None:
        lines += _result_lines(shown.result)
    for need in shown.needs:
        lines += ["", *_need_lines(need), *(_answer_lines(need) if commands else ())]
    return "\n".join(lines) + "\n"


def _result_lines(result: Landed) -> list[str]:
    commit = f"({result.commit[:_SHORT]})"
    if result.merged_into:
        return [f"Result: merged into {one_line(result.merged_into.removeprefix('refs/heads/'), 120)} {commit}"]
    if result.not_merged:
        return [f"Not merged: {one_line(result.note, 500)}"]
    return (
        [f"Result: branch {result.branch} {commit}; take it with `git merge {result.branch}`"] if result.branch else []
    )


def shown_status(row: LoopRow, waiting: tuple[Waiting, ...], *, alive: bool) -> Word:
    """A loop that nobody drives and that has a person to wait for, itself or deep below, waits."""
    if row.status != "running" or alive:
        return row.status
    return "waiting" if waiting else "interrupted"


def rested(shown: LoopStatus) -> LoopStatus:
    """Of a loop that nobody interrupted: its last session came to its end, or the first is still to begin."""
    is_answered = any(need.what == "answered" for need in shown.needs)
    return replace(shown, status="paused", needs=shown.needs if is_answered else (at_rest(shown.id, shown.state),))


def shown_attempt(stand: Standpoint, row: LoopRow) -> int:
    return stand.attempt if stand.ended is None or row.status == "running" else stand.ended


def beside(part: LoopStatus, above: LoopStatus, view: View) -> LoopStatus:
    """A part that is in the midst of nothing waits for whatever the loop above it waits for."""
    is_at_work = any(_is_work(action) and view.now.flight(action.key) for action in view.wanted)
    waits = above.status == "waiting" and part.status == "interrupted" and not is_at_work
    return replace(part, status="waiting") if waits else part


def parts_line(root: LoopStatus, parts: Sequence[LoopStatus]) -> str:
    """How many parts stand how, each counted once however often it was begun anew."""
    counts = Counter(part_word(part) for part in parts if part.id not in root.superseded)
    return ", ".join(f"{number} {word}" for word, number in counts.most_common())


def part_word(part: LoopStatus) -> str:
    """`blocked` is one that itself asks a person; others wait with the whole."""
    if part.status == "waiting" and part.next is not None and part.next.action in ("ask", "await_gate"):
        return "blocked"
    word = part.outcome or part.status
    return {"verified": "passed", "reviewed": "passed", "running": "under way"}.get(word, word)


def _is_work(action: Action) -> bool:
    """What a controller would do now; a part that runs may itself only wait."""
    return not isinstance(action, Ask | AwaitGate | RunLoop | Stop)


def _failures(failed: int, outcome: Outcome | None) -> Failures:
    resolved = failed if outcome is not None and outcome.ending.is_passed else 0
    return Failures(count=failed - resolved, total=failed, resolved=resolved)


def _next(actions: tuple[Action, ...]) -> Next | None:
    if not actions:
        return None
    first = actions[0]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(first).__name__).lower()
    role = first.role if isinstance(first, RunAgent) else None
    return Next(action=name, role=role, key=str(first.key), why=one_line(first.why, 500))


def _landed(outcome: Outcome) -> Landed:
    return Landed(
        commit=outcome.commit,
        branch=outcome.branch,
        merged_into=outcome.merged_into,
        note=outcome.note,
        attempts=outcome.attempts,
        not_merged=outcome.not_merged,
    )


def _family(root: LoopStatus, loops: Sequence[LoopStatus]) -> list[LoopStatus]:
    children = [loop for loop in loops if loop.parent == root.id]
    return [root, *(one for child in children for one in _family(child, loops))]


def _head_line(shown: LoopStatus) -> str:
    if shown.system:
        return f"System: {one_line(str(shown.system['name']), 120)} ({shown.system['id']})"
    return f"Loop: {shown.task} ({shown.id}, {shown.kind})"


def _state_line(shown: LoopStatus) -> str:
    if shown.system:
        at = shown.capability
        return f"{shown.state} ({_capability(at)})" if at and at["name"] else shown.state
    parts = (how_far(shown), *((tasks_line(shown.tasks),) if shown.tasks else ()), _how(shown))
    return f"{shown.state} ({', '.join(parts)})"


def _capability(at: Mapping[str, object]) -> str:
    return f"capability {at['index']}/{at['total']}: {one_line(str(at['name']), 120)}"


def _how(shown: LoopStatus) -> str:
    return ", ".join(dict.fromkeys((shown.status, *((shown.outcome,) if shown.outcome else ()))))


def how_far(shown: LoopStatus) -> str:
    """Without a limit where there is none."""
    return f"{shown.counter} {shown.attempt}" + (f"/{shown.limit}" if shown.limit else "")


def tasks_line(tasks: Mapping[str, object]) -> str:
    return f"tasks {tasks['done']}/{tasks['total']}, wave {tasks['wave']} of {tasks['waves']}"


def _failures_line(failures: Failures) -> str:
    resolved = " (resolved)" if failures.total and failures.resolved == failures.total else ""
    return f"{failures.total}{resolved}"


def _gates_line(gates: Mapping[str, str]) -> str:
    marks = {"approved": "✓", "rejected": "✗"}
    return ", ".join(f"{name} {marks.get(how, how)}" for name, how in gates.items()) or "none"


def _need_lines(need: Need) -> list[str]:
    below = f" in {' > '.join(need.path[1:])}" if len(need.path) > 1 else ""
    lines = [f"Needs you ({need.kind}{below}): {need.what}", f"  Why: {need.why}"]
    for number, each in enumerate(need.questions, start=1):
        lines += [f"  Question {number}: {each.question}"] if len(need.questions) > 1 else []
        lines += [f"  Options: {', '.join(each.options)}"] if each.options else []
        lines += [f"  Impact: {each.impact}"] if each.impact else []
    return lines


def _answer_lines(need: Need) -> list[str]:
    if not need.choices:
        return [f"  {need.command}"]
    width = max(len(choice.command) for choice in need.choices)
    return [f"  {choice.command:<{width}}  {choice.label}" for choice in need.choices]
