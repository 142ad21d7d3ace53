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
    """An agent that was unavailable is left alone until the time it named."""

    roles: Mapping[str, tuple[Agent, ...]]
    clock: Clock
    resting: dict[int, AgentUnavailable] = field(default_factory=dict)  # by the agent's identity

    def reservation(self, role: str) -> float:
        return max(agent.reservation(role) for agent in self._agents(role))

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        spent: tuple[Usage, ...] = ()
        refusals: list[AgentUnavailable] = []
        for agent in self._agents(run.role):
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
        for agent in self._agents(run.role):
            answer = await agent.reconcile(run)
            if answer is not None and not isinstance(answer, AgentUnavailable):
                return answer
        return None

    def _agents(self, role: str) -> tuple[Agent, ...]:
        if not self.roles.get(role):
            raise UsageError(f'no agent plays the role "{role}"; name one under [roles] in loop.toml: {role} = "…"')
        return self.roles[role]


def _charged(usage: Usage, reserved: float) -> Usage:
    """A silent run counts as its reservation, or it would hide behind what the others said."""
    return replace(usage, usd=reserved) if usage.usd is None else usage


def _together(usages: tuple[Usage, ...]) -> Usage:
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        usd=sum(usage.usd or 0.0 for usage in usages),
        seconds=sum(usage.seconds for usage in usages),
    )
