"""The lifecycle as the rest of the house knows it."""

from __future__ import annotations

from loopwright.kernel.gates import PROTECTED, UNTESTED
from loopwright.kernel.model import LoopId, Topic
from loopwright.loops.kind import Kind, Needs, StatusFacts, Words
from loopwright.loops.lifecycle import brief, closing, files, past
from loopwright.loops.lifecycle.blocked_message import blocked_message
from loopwright.loops.lifecycle.decision import decision
from loopwright.loops.lifecycle.gate_rules import DEPLOY
from loopwright.loops.lifecycle.gating import GATES, called_for
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.state import LifecycleParams, LifecycleState

_RULES = (
    (
        "A state is left in this order: its skills are done (or skipped with a reason), its checks pass, its gates are"
        " open, what was made has landed on the system's branch. No option goes around that."
    ),
    (
        "What fails goes to FAILED: tried again after a diagnosis, at most so often; the third time the same failure,"
        " a failure that comes back after another fix, a security finding and something that hangs need a person."
    ),
    (
        "A gate is computed from the change, by rules on paths and words, and is bound to exactly what called for it;"
        " deploy and the merge are bound to the whole tree. A rejected one goes back to IMPLEMENT."
    ),
)


def _status(state: LifecycleState) -> StatusFacts:
    system = state.plan.system
    total = len(state.done) + len(state.remaining) + bool(state.current)
    index = len(state.done) + bool(state.current)
    capability = {"index": index, "total": total, "name": state.current} if total else None
    resolved = sum(each.resolved for each in state.history)
    return StatusFacts(
        system={"id": system.id, "name": system.name},
        capability=capability,
        failures=(state.retries, state.failures, resolved),
        gates=dict.fromkeys((*called_for(state), *_adopted(state)), "pending"),
        activity=state.plan.earlier.activity if state.plan.earlier and state == LIFECYCLE.start(state.plan) else "",
    )


def _adopted(state: LifecycleState) -> tuple[str, ...]:
    """What another tool waited for; deploy comes when it is due."""
    earlier = state.plan.earlier
    return tuple(gate for gate in earlier.pending if gate != DEPLOY) if earlier else ()


def _decided(state: LifecycleState) -> tuple[str, ...]:
    told = decision(state)
    if told.skill:
        then = f"; then {told.state}" if told.state != told.skill_of else ""
        return (f"{told.action} {told.skill} of {told.skill_of}{then}: {told.why}",)
    about = " ".join(filter(None, (told.state, told.gate)))
    return (f"{told.action}{f' ({about})' if about else ''}: {told.why}",)


def _blocked(state: LifecycleState, _result: object) -> tuple[str, ...]:
    return tuple(blocked_message(state).splitlines())


def _notice(state: LifecycleState, topic: Topic) -> str:
    return blocked_message(state) if topic == "blocked" else ""


def _tells_more(_loop: LoopId, state: LifecycleState) -> str:
    return files.state_paths(state)[0]


KIND: Kind[LifecycleParams, LifecycleState] = Kind(
    loop=LIFECYCLE,
    limits="lifecycle",
    porch=("loopwright.app.starts.lifecycle.adoption",),
    sessions="loopwright.app.starts.lifecycle.sessions",
    words=Words(
        counter="transition",
        promise="COMPLETE",
        yes=("→ COMPLETE",),
        no=("→ FAILED", "→ BLOCKED"),
        roles={"skill": "skill", "diagnose": "debug-assist", "fix": "developer"},
        quiet=("look", "record", "examine", "tell", "land"),
        unsaid=("tell", "examine", "move"),
        outcomes={"verified": "complete", "escalated": "blocked"},
    ),
    starts="loop init SYS",
    needs=Needs(roles=("skill", "developer", "reviewer", "creator"), gates=(*GATES, PROTECTED, UNTESTED)),
    title=lambda params: f"{params.system.name} ({params.system.id})",
    brief=brief.render,
    closing=closing.lines,
    so_far=closing.so_far,
    owed=closing.owed,
    result=closing.result,
    unresolved=_blocked,
    brought_onto=lambda state: state.onto,
    told_when_stopped=_blocked,
    notice=_notice,
    status=_status,
    rules=_RULES,
    decision=_decided,
    files=files.render,
    edited=files.edited,
    takes_in="loop resume",
    past=past.folded,
    notes=files.notes,
    doors=files.doors,
    tells_more=_tells_more,
)
