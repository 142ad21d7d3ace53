"""What `loop ticket run --dry-run` says: what would be done, by whom, judged by what."""

from __future__ import annotations

from typing import Any

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.tickets.queue import Queued
from loopwright.app.starts.tickets.sessions import JUDGE, TicketRequest, planned, session_of
from loopwright.config.settings import Settings
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import TicketParams, ticket_id


async def foretell(
    project: Project, settings: Settings, found: View | Queued, request: TicketRequest
) -> tuple[dict[str, Any], list[str]]:
    """As data and in lines. Raises what the real thing would be refused with."""
    if isinstance(found, Queued):
        known = await session_of(project, found.session)
        plan = planned(project, settings, found, request, known)
        data = _data(settings, plan, "queue", request.budget)
    else:
        plan = found.now.state.plan
        data = _data(settings, plan, "active", found.row.budget) | {"loop": found.row.id}
    return data, _lines(data)


def _data(settings: Settings, plan: TicketParams, where: str, budget: float | None) -> dict[str, Any]:
    first = TICKETS.start(plan).ticket.number
    roles = ("creator", *plan.critics, *((JUDGE,) if plan.judge else ()))
    return {
        "dry_run": True,
        "session": plan.session,
        "ticket": ticket_id(plan.session, first),
        "title": plan.title,
        "where": where,
        "cycle": plan.cycle,
        "base": plan.base,
        "branch": plan.target.removeprefix("refs/heads/") or "(detached)",
        "merge": plan.merge,
        "criteria": [f"{each.id}: {each.text}" for each in plan.criteria],
        "agents": {role: [agent.name for agent in settings.agents_for(role)] for role in roles},
        "checks": {check.name: " ".join(check.run) for check in settings.checks},
        "protected": list(settings.workspace.protected),
        "max": plan.limits.max,
        "budget": settings.budget.usd if budget is None else budget,
    }


def _lines(data: dict[str, Any]) -> list[str]:
    agents = "; ".join(f"{role}: {', '.join(names) or 'nobody'}" for role, names in data["agents"].items())
    checks = "; ".join(f"{name}: {run}" for name, run in data["checks"].items())
    budget = "none" if data["budget"] is None else f"{data['budget']:.2f} USD"
    verb = "go on with" if data["where"] == "active" else "begin"
    return [
        f"Would {verb} {data['ticket']}: {data['title']}",
        *(f"  {criterion}" for criterion in data["criteria"]),
        f"  agents      {agents}",
        f"  checks      {checks}",
        f"  protected   {', '.join(data['protected']) or 'none'}",
        f"  tickets     at most {data['max']}; budget {budget}",
        f"  result      a branch of its own{', merged into ' + data['branch'] if data['merge'] else ''}",
        "Nothing was created.",
    ]
