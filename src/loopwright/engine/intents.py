"""What is written down before anything happens: the intent, with the money set aside for it."""

from __future__ import annotations

from loopwright.engine.journal import Folded, Line
from loopwright.engine.world import World
from loopwright.errors import Suspended
from loopwright.kernel.actions import Action, Announce, Ask, AwaitGate, LoadArtifacts, RunAgent, RunLoop
from loopwright.kernel.events import Started
from loopwright.kernel.model import LoopId


def intent(world: World, loop: LoopId, now: Folded, action: Action) -> Line:
    """Raises `Suspended` when tokens or time are used up; money is the store's to refuse."""
    reserve = 0.0
    if isinstance(action, RunAgent):
        _refuse_overspending(world, loop, now)
        reserve = world.agent.reservation(action.role, action.agent)
    started = Started(key=action.key, action=type(action).__name__, what=_subject(action), why=action.why)
    return Line(event=started, reserve=reserve)


def _subject(action: Action) -> str:
    match action:
        case RunAgent():
            return action.role
        case AwaitGate():
            return action.gate
        case Ask():
            return action.question
        case Announce():
            return action.text
        case LoadArtifacts():
            return ", ".join(action.paths)
        case RunLoop():
            return action.name or action.kind
        case _:
            return ""


def _refuse_overspending(world: World, loop: LoopId, now: Folded) -> None:
    most, (tokens, seconds) = world.spending, world.tally.beside(loop)
    tokens, seconds = tokens + now.tokens, seconds + now.seconds
    if most.tokens is not None and tokens >= most.tokens:
        raise Suspended("budget", f"{tokens} of {most.tokens} tokens are used")
    if most.seconds is not None and seconds >= most.seconds:
        raise Suspended("time", f"{seconds:.0f} of {most.seconds:.0f} seconds of work are used")
