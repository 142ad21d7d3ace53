"""How much the checks show of each capability, and of the system made of them."""

from __future__ import annotations

from loopwright.kernel.changing import replace
from loopwright.kernel.evidence import Evidence, Level, combine, describe
from loopwright.kernel.quoting import one_line
from loopwright.loops import course as c
from loopwright.loops.lifecycle.state import CapabilityEvidence, LifecycleState
from loopwright.loops.lifecycle.states import Stage
from loopwright.loops.weighing import ShowPolicy

_OF_CAPABILITY = (Stage.TEST, Stage.VERIFY)  # later checks look at papers and at refactoring


def show_policy(state: LifecycleState) -> ShowPolicy:
    """A test is asked for once for each capability, when TEST is left; then the deploy gate names it."""
    return ShowPolicy(asks=state.plan.trust.asks_witness and state.phase is Stage.TEST)


def note_evidence(state: LifecycleState, evidence: Evidence | None) -> LifecycleState:
    """Keep what the checks of the present capability show; the newest report counts."""
    if evidence is not None and state.phase in _OF_CAPABILITY:
        evidence = state.course.shown or evidence
        note = CapabilityEvidence(capability=state.current, evidence=evidence, no_test=state.course.no_test)
        others = tuple(each for each in state.evidence if each.capability != state.current)
        state = replace(state, evidence=(*others, note))
    return c.steered(state, evidence=system_evidence(state))


def system_evidence(state: LifecycleState) -> Evidence | None:
    """Return the evidence of the whole system: the lowest level of its capabilities, and all their witnesses."""
    return combine({each.capability: each.evidence for each in state.evidence}) if state.evidence else None


def unshown_capabilities(state: LifecycleState) -> tuple[str, ...]:
    return tuple(each.capability for each in state.evidence if each.evidence.level in (Level.GUARDED, Level.UNTESTED))


def describe_capabilities(state: LifecycleState) -> tuple[str, ...]:
    """Say of each capability what shows it, those first that no test shows."""
    unshown = unshown_capabilities(state)
    ordered = sorted(state.evidence, key=lambda each: each.capability not in unshown)
    return tuple(f"{one_line(each.capability, 60)}: {describe(each.evidence)}{_reason(each)}" for each in ordered)


def _reason(noted: CapabilityEvidence) -> str:
    is_asked = noted.evidence.level is Level.GUARDED and noted.no_test
    return f' ("{one_line(noted.no_test, 200)}")' if is_asked else ""
