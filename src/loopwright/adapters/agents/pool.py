"""Who plays which role, in fall-back order: when one cannot go on now, the next one does, in the same workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loopwright.errors import UsageError
from loopwright.kernel.events import AgentUnavailable
from loopwright.kernel.model import Usage
from loopwright.ports.agent import Agent, AgentAnswer, AgentRun, Watch
from loopwright.ports.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPool:
    """An agent that was unavailable is left alone until the time it named.

    A run may name one of `known`, whatever roles that one plays: it goes first, the role's own after it.
    """

    roles: Mapping[str, tuple[Agent, ...]]
    clock: Clock
    known: Mapping[str, Agent] = field(default_factory=dict)  # by name
    resting: dict[int, AgentUnavailable] = field(default_factory=dict)  # by the agent's identity

    def reservation(self, role: str, agent: str = "") -> float:
        return max(each.reservation(role) for each in self._agents(role, agent))

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        spent: tuple[Usage, ...] = ()
        refusals: list[AgentUnavailable] = []
        for agent in self._agents(run.role, run.agent):
            if (rest := self.resting.get(id(agent))) is not None and rest.until > self.clock.now():
                refusals.append(replace(rest, key=run.key, usage=Usage(usd=0.0)))
                continue
            answer = await agent.run(run, watch)
            charged = _charged(answer.usage, agent.reservation(run.role))
            if not isinstance(answer, AgentUnavailable):
                return replace(answer, usage=_together((*spent, charged))) if spent else answer
            self.resting[id(agent)] = answer
            spent = (*spent, charged)
            refusals.append(answer)
        return replace(min(refusals, key=lambda refusal: refusal.until), usage=_together(spent))

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        """A run that only found its agent unavailable did nothing that is worth keeping."""
        for agent in self._agents(run.role, run.agent):
            answer = await agent.reconcile(run)
            if answer is not None and not isinstance(answer, AgentUnavailable):
                return answer
        return None

    def _agents(self, role: str, named: str) -> tuple[Agent, ...]:
        usual, first = self.roles.get(role, ()), self.known.get(named)
        if first is not None:
            return (first, *(agent for agent in usual if agent is not first))
        if not usual:
            raise UsageError(f'no agent plays the role "{role}"; name one under [roles] in loop.toml: {role} = "…"')
        return usual


def _charged(usage: Usage, reserved: float) -> Usage:
    """A silent run counts as its reservation, or it would hide behind what the others said."""
    return replace(usage, usd=reserved, estimated=reserved > 0) if usage.usd is None else usage


def _together(usages: tuple[Usage, ...]) -> Usage:
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        usd=sum(usage.usd or 0.0 for usage in usages),
        seconds=sum(usage.seconds for usage in usages),
        guessed_tokens=sum(usage.guessed_tokens for usage in usages),
        estimated=any(usage.estimated for usage in usages),
    )
