"""Which gates a person has to open before a state is left, and what each is bound to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from loopwright.kernel.changing import replace
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.risks import Risk
from loopwright.kernel.wording import counted
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Ruling
from loopwright.loops.lifecycle.evidence import describe_capabilities
from loopwright.loops.lifecycle.gate_rules import ARCHITECTURE, DATABASE, DEPLOY, EXTERNAL, SECURITY
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import NORMAL, Stage

GATES = (ARCHITECTURE, SECURITY, DATABASE, EXTERNAL, DEPLOY)
# Where a person who supervises is asked, whatever the change is.
SUPERVISED = {
    Stage.INIT: "specification",
    Stage.SCAFFOLD: ARCHITECTURE,
    Stage.IMPLEMENT: "implementation",
    Stage.VALIDATE: SECURITY,
}
WHY = {
    "specification": "the specification is looked at before anything is built",
    ARCHITECTURE: "new patterns or major structural changes",
    "implementation": "the implementation is looked at before tests are written",
    SECURITY: "authentication, cryptography or personal data",
    DATABASE: "a change of the schema",
    EXTERNAL: "a third party is called",
    DEPLOY: "exactly this tree is merged and deployed",
}


def due(state: LifecycleState) -> tuple[GateRecord, ...]:
    """What has to be approved before the present state is left, decided or not."""
    return tuple(_due(state))


def _due(state: LifecycleState) -> Iterator[GateRecord]:
    called = called_for(state)
    for gate, risks in called.items():
        if gate != SECURITY or _is_reached(state, Stage.VALIDATE):
            yield _record(state, gate, risks)
    for gate in _always(state):
        if gate not in called:
            yield _record(state, gate, ())
    if state.phase in (Stage.REVIEW, Stage.SHIP):  # what is mended there, or updated, is another tree
        yield _record(state, DEPLOY, ())


def called_for(state: LifecycleState) -> dict[str, tuple[Risk, ...]]:
    """What the change calls for by itself."""
    gates = dict.fromkeys(risk.gate for risk in state.risks)
    return {gate: tuple(risk for risk in state.risks if risk.gate == gate) for gate in gates}


def _always(state: LifecycleState) -> tuple[str, ...]:
    """By the mode, or since they are named for this system. What has no point of its own is asked with security."""
    point = SUPERVISED.get(state.phase, "")
    by_mode = state.plan.mode == "supervised" or (state.plan.mode == "hybrid" and point == SECURITY)
    named = (point,) if point and (by_mode or point in state.plan.always) else ()
    others = (each for each in state.plan.always if each not in (*SUPERVISED.values(), DEPLOY))
    return (*named, *others) if state.phase is Stage.VALIDATE else named


def _is_reached(state: LifecycleState, stage: Stage) -> bool:
    return NORMAL.index(state.phase) >= NORMAL.index(stage)


def _record(state: LifecycleState, gate: str, risks: tuple[Risk, ...]) -> GateRecord:
    """Bound to what called for it; where nothing did, to the whole tree at this point."""
    tree = state.course.lands if state.course.candidate == state.tip and state.course.lands else state.tree
    # The same tree on another target takes back what that has; and one word is for one deployment.
    merge = [tree, *filter(None, (state.onto, state.deployments and f"deployed {state.deployments}"))]
    marks = sorted(risk.mark for risk in risks) or (merge if gate == DEPLOY else [state.phase, state.current, tree])
    # What was said no to and is another tree by now is another question; the same tree stays rejected.
    noes = sum(
        each.gate == gate and each.ruling is Ruling.REJECTED and each.tree != tree for each in state.course.gates
    )
    marks += [f"after {noes}"] if noes and gate != DEPLOY else []
    digest = hashlib.sha256("\0".join((gate, *marks)).encode(errors="surrogateescape")).hexdigest()[:24]
    why = _why(state, gate, risks)
    return GateRecord(gate=gate, evidence=digest, commit=state.tip, tree=tree, why=why, reasons=risks)


def _why(state: LifecycleState, gate: str, risks: tuple[Risk, ...]) -> str:
    """What in the change calls for it; else whose wish it is that it is asked all the same."""
    told = WHY.get(gate, f"rules of [gates.{gate}] in loop.toml")
    if risks:
        return f"{told}: {counted(len(risks), 'place')} in the change"
    if gate == DEPLOY:
        onto = f"it was brought together with the target, which has come on to {state.onto[:12]}" if state.onto else ""
        return "; ".join(filter(None, (told, onto, *describe_capabilities(state))))
    if gate not in (ARCHITECTURE, SECURITY):
        return told
    asker = "its entry in the queue" if gate in state.plan.always else f"the mode {state.plan.mode}"
    return f"{asker} asks before {state.phase} is left; nothing in the change calls for it"


def opened(state: LifecycleState) -> LifecycleState:
    """With every gate that is due. What was decided on the same evidence stands; another is another question."""
    asked = due(state)
    for record in asked:
        state = c.called_for(state, record)
    names = {record.gate for record in asked}
    for record in state.course.gates:
        if record.due and not record.lasting and record.gate not in names and record.gate in _computed(state):
            state = c.called_for(state, GateRecord(gate=record.gate, evidence=""))
    return state


def _computed(state: LifecycleState) -> set[str]:
    return {*GATES, *SUPERVISED.values(), *(rule.gate for rule in state.plan.rules)}


def blocking(state: LifecycleState) -> tuple[GateRecord, ...]:
    """What is waited for. What was only held back is decided whenever a person likes."""
    return tuple(gate for gate in state.course.open_gates if not gate.lasting)


def rejected(state: LifecycleState) -> GateRecord | None:
    """What is due and was said no to."""
    found = (gate for gate in state.course.gates if gate.due and gate.ruling is Ruling.REJECTED and not gate.lasting)
    return next(found, None)


def closed(state: LifecycleState, gate: GateRecord) -> LifecycleState:
    """Approved, by the person's word beforehand where it was not asked."""
    if gate.ruling is Ruling.APPROVED:
        return state
    by = "[lifecycle] scaffold"
    gates = tuple(replace(each, ruling=Ruling.APPROVED, by=by) if each is gate else each for each in state.course.gates)
    return c.steered(state, gates=gates)


def covered(state: LifecycleState, gate: GateRecord) -> LifecycleState | None:
    """What a person has approved in a part's own loop is approved here, where it is no more than that."""
    allowed, droppable = {*state.approved, *state.course.approved}, {*state.may_drop, *state.course.may_drop}
    is_known = gate.gate == PROTECTED and set(gate.because) <= allowed and set(gate.dropped) <= droppable
    if not is_known:  # that nothing notices a change is said of exactly one tree, and so is a yes to it
        return None
    by = "a person, in the loop of the capability"
    same = (gate.gate, gate.evidence)
    gates = tuple(
        replace(each, ruling=Ruling.APPROVED, by=by) if (each.gate, each.evidence) == same else each
        for each in state.course.gates
    )
    return c.steered(state, gates=gates)
