"""How reviews begin: a light one when a wave is complete, beside whatever goes on; the thorough one at the end."""

from __future__ import annotations

from loopwright.kernel.changing import replace
from loopwright.kernel.model import NO_COMMIT
from loopwright.loops import course as c
from loopwright.loops.course import Trial
from loopwright.loops.workflow.aspects import aspects_of
from loopwright.loops.workflow.decide import view_part
from loopwright.loops.workflow.state import Viewing, WorkflowPhase, WorkflowState, of_wave
from loopwright.loops.workflow.views import light_views, thorough_views


def looked_at(state: WorkflowState, wave: int) -> WorkflowState:
    """A wave whose last task has landed is looked at, once, by those whom its tasks concern."""
    base = state.wave_base[wave - 1]
    known = {each.wave for each in state.waves} | {each.number for each in state.looks}
    if state.open_in_wave[wave - 1] or not base or wave in known:
        return state
    texts = " ".join(f"{task.plan.subject} {task.plan.description}" for task in of_wave(state, wave))
    look = Viewing(number=wave, base=base, commit=state.tip, views=light_views(aspects_of(texts)))
    bases = (*state.wave_base[: wave - 1], NO_COMMIT, *state.wave_base[wave:])
    return _seated(replace(state, looks=(*state.looks, look), wave_base=bases), look, "light")


def review_begun(state: WorkflowState) -> WorkflowState:
    """The same tree is never judged twice: what was passed as it is stays passed."""
    if state.thorough is not None and state.thorough.passed and state.thorough.commit == state.tip:
        return c.entered(replace(state, turn=state.turn + 1), WorkflowPhase.VERIFY)
    aspects = state.shape.aspects if state.shape else ()
    look = Viewing(number=state.rounds + 1, base=state.ground, commit=state.tip, views=thorough_views(aspects))
    state = c.entered(replace(state, look=look, rounds=state.rounds + 1), WorkflowPhase.REVIEW)
    return _seated(state, look, "thorough")


def since_last_look(state: WorkflowState) -> str:
    """Return what a person finds new at a check-in."""
    fresh = state.done - state.checked_in
    return f"{fresh} {'task is' if fresh == 1 else 'tasks are'} done since you last looked"


def _seated(state: WorkflowState, look: Viewing, step: str) -> WorkflowState:
    beside = tuple(Trial(part=view_part(look, view, step)) for view in look.views)
    return c.steered(state, trials=(*state.course.trials, *beside))
