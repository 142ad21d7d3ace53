"""From settings to agents that run: who plays which role, and with what."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.agents.command import SILENT_TOKENS, CommandAgent
from loopwright.adapters.agents.contract import allowed_environment
from loopwright.adapters.agents.pool import AgentPool
from loopwright.adapters.agents.rehearsal import RehearsalAgent
from loopwright.adapters.agents.scenario import read_scenario
from loopwright.adapters.pins import scripts_of
from loopwright.adapters.tools.plan import plan_for, search_path, write_plan
from loopwright.config.settings import (
    EXAMINER,
    FILLED_BY_DEFAULT,
    OF_A_REQUEST,
    ONLY_WHEN_NAMED,
    AgentSettings,
    Settings,
)
from loopwright.errors import AgentNotFound, ConfigError, UsageError
from loopwright.ports.agent import Agent, AgentRun
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStage:
    """What every agent of a repository shares."""

    root: Path
    environ: Mapping[str, str]
    store: Store
    clock: Clock
    brief: Callable[[AgentRun], str]  # as Markdown
    handed: Callable[[AgentRun], Mapping[str, str]]  # files laid beside the work while it is done


def cast(settings: Settings, stage: AgentStage) -> AgentPool:
    """Everybody who is named for a role, ready to run. Raises the sentence that says who cannot.

    Whoever else is configured and can run is known too: a person may give a role to any of them later.
    """
    names = (*FILLED_BY_DEFAULT, *ONLY_WHEN_NAMED, *OF_A_REQUEST, EXAMINER)
    roles = {role: settings.agents_for(role) for role in names}
    needed = {agent.name: agent for agents in roles.values() for agent in agents}
    ready = {name: _agent(agent, settings, stage) for name, agent in needed.items()}
    return AgentPool(
        roles={role: tuple(ready[agent.name] for agent in agents) for role, agents in roles.items() if agents},
        clock=stage.clock,
        known=ready | _spare(settings, stage, without=needed.keys()),
    )


def _spare(settings: Settings, stage: AgentStage, *, without: Collection[str]) -> dict[str, Agent]:
    """One that cannot run is left out in silence: nobody needs it."""
    ready: dict[str, Agent] = {}
    for agent in settings.agents:
        if agent.name not in without:
            with suppress(UsageError, ConfigError, AgentNotFound):
                ready[agent.name] = _agent(agent, settings, stage)
    return ready


def _agent(agent: AgentSettings, settings: Settings, stage: AgentStage) -> Agent:
    match agent.kind:
        case "command":
            _find_program(agent, stage)
            return replace(_command(agent, settings, stage), silent_tokens=SILENT_TOKENS)
        case "rehearsal":
            return _rehearsal(agent, settings, stage)
        case "tools":
            return _built_in("review", agent, settings, stage)
        case "autofix":
            return _built_in("autofix", agent, settings, stage)
        case _:
            raise UsageError(
                f"agent {agent.name!r} is of kind {agent.kind!r}, which this version cannot run yet;"
                ' wrap it in a script and use kind = "command"'
            )


def _find_program(agent: AgentSettings, stage: AgentStage) -> None:
    program = agent.argv[0]
    own = stage.root / program
    found = own.is_file() if os.sep in program else shutil.which(program, path=stage.environ.get("PATH", ""))
    if not found:
        raise AgentNotFound(agent.name, program)


def _command(agent: AgentSettings, settings: Settings, stage: AgentStage) -> CommandAgent:
    whole = settings.sandbox.mode == "off"
    return CommandAgent(
        name=agent.name,
        argv=agent.argv,
        env=allowed_environment(stage.environ, agent.env, whole=whole),
        secrets=stage.environ,
        pinned=scripts_of(agent, stage.root),
        root=stage.root,
        runs=stage.root / ".loop" / "runs",
        render=stage.brief,
        handed=stage.handed,
        keep=stage.store.keep_file,
        clock=stage.clock,
        wall=agent.limits.wall,
        idle=agent.limits.idle,
        usd=agent.reservation,
    )


def _rehearsal(agent: AgentSettings, settings: Settings, stage: AgentStage) -> RehearsalAgent:
    file = stage.root / agent.scenario
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("loop.toml", f"agents.{agent.name}.scenario", f"{file} cannot be read: {error}") from error
    return RehearsalAgent(
        command=_command(agent, settings, stage),
        scenario=read_scenario(text, agent.scenario),
        book=stage.root / ".loop" / "rehearsal",
        protected=settings.workspace.protected,
    )


def _built_in(program: str, agent: AgentSettings, settings: Settings, stage: AgentStage) -> CommandAgent:
    """Our own programs keep the contract of every command agent; their tools are the project's before they are ours."""
    command = _command(agent, settings, stage)
    plan = write_plan(plan_for(settings.checks, stage.root), stage.root / ".loop" / "tools")
    module = f"loopwright.adapters.tools.{program}"
    path = search_path(stage.root, stage.environ, sys.executable)
    return replace(command, argv=(sys.executable, "-I", "-m", module, str(plan)), env={**command.env, "PATH": path})
