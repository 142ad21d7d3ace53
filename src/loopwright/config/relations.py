"""What must hold between the values of one `loop.toml`. Each rule yields what is wrong, with the key."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.config.settings import AgentSettings, CheckSettings, Settings
from loopwright.kernel.shapes import Problem, nearest

REPORT = "{report}"

_NEED_ARGV = ("command", "acp")


def problems(settings: Settings) -> Iterator[Problem]:
    for agent in settings.agents:
        yield from _of_agent(agent)
    agents = [agent.name for agent in settings.agents]
    for role in settings.roles:
        for name in role.agents:
            if name not in agents:
                why = f"no agent is named {name!r}: add a table [agents.{name}], or {nearest(name, agents)}"
                yield Problem(why, ("roles", role.name))
    for check in settings.checks:
        yield from _of_check(check)
    yield from _of_order(settings.checks)
    for gate in settings.gates:
        if not gate.paths and not gate.approvers:
            yield Problem("a gate needs paths, approvers or both", ("gates", gate.name))


def _of_agent(agent: AgentSettings) -> Iterator[Problem]:
    at = ("agents", agent.name)
    if agent.kind in _NEED_ARGV and not agent.argv:
        yield Problem(f'an agent of kind {agent.kind!r} needs argv, such as argv = ["./my-agent"]', at)
    if agent.kind == "rehearsal" and not agent.scenario:
        yield Problem("an agent of kind 'rehearsal' needs scenario, such as scenario = \"scenario.toml\"", at)
    if agent.scenario and not _is_inside(agent.scenario):
        yield Problem(f"{agent.scenario!r} is not in the repository; name a file that is", (*at, "scenario"))
    if agent.kind == "rehearsal" and agent.argv:
        yield Problem("an agent of kind 'rehearsal' starts no program; remove argv", (*at, "argv"))
    if agent.kind != "rehearsal" and agent.scenario:
        yield Problem(
            f"only an agent of kind 'rehearsal' plays a scenario, this one is {agent.kind!r}", (*at, "scenario")
        )


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/")


def _of_check(check: CheckSettings) -> Iterator[Problem]:
    at = ("checks", check.name)
    has_place = any(REPORT in word for word in check.run)
    if check.report != "none" and not has_place:
        why = f"report = {check.report!r} needs the word {REPORT} in run, where the command is told to write it"
        yield Problem(why, (*at, "run"))
    if check.report == "none" and has_place:
        yield Problem(
            f"run writes a {REPORT} but nothing says how to read it; add report = 'junit' or 'sarif'", (*at, "run")
        )
    for name, floor in (("floor", check.floor), ("new_code_floor", check.new_code_floor)):
        if floor is not None and check.report != "coverage":
            yield Problem(f"a floor needs report = 'coverage', this check has {check.report!r}", (*at, name))


def _of_order(checks: tuple[CheckSettings, ...]) -> Iterator[Problem]:
    before = {check.name: check.after for check in checks}
    for check in checks:
        for name in check.after:
            if name not in before:
                others = [other for other in before if other != check.name]
                yield Problem(f"no check is named {name!r}; {nearest(name, others)}", ("checks", check.name, "after"))
                return
    if cycle := _cycle(before):
        why = f"checks wait for each other: {' after '.join(cycle)}; remove one of them"
        yield Problem(why, ("checks", cycle[0], "after"))


def _cycle(before: dict[str, tuple[str, ...]]) -> list[str]:
    """One cycle, its first name repeated at the end. What waits for nothing goes first, until nothing is left."""
    left = {name: set(names) for name, names in before.items()}
    while ready := {name for name, names in left.items() if not names}:
        left = {name: names - ready for name, names in left.items() if name not in ready}
    if not left:
        return []
    path = [min(left)]
    while (following := min(left[path[-1]])) not in path:
        path.append(following)
    return [*path[path.index(following) :], following]
