"""A small repository with real commands as agents, for figures that need a whole iteration.

The agent changes documentation: no mutation check runs, which is a part of P18.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.project import Project, open_project
from loopwright.app.readiness import make_ready
from loopwright.app.starts.feedback import FeedbackRequest, create_feedback
from loopwright.app.worlds import build_world
from loopwright.config.loop_toml import read_settings
from loopwright.engine.driver import drive
from loopwright.engine.world import Seen
from loopwright.kernel.model import Ending
from loopwright.ports.agent import Update

AGENT = """#!/bin/sh
sleep {pause}
if [ "$LOOP_ROLE" = developer ]; then date +%N >> README.md; fi
printf '{{"status": "done", "verdict": "pass", "summary": "worked", "usage": {{"usd": 0}}}}' > "$LOOP_RESULT"
"""
CONFIG = """version = 1
[agents.it]
kind = "command"
argv = ["{agent}"]
[roles]
default = "it"
[checks.test]
run = ["{python}", "-c", "{code}"]
trust = "exit-code"
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_repository(folder: Path, *, pause: float = 0.0, code: str = "pass") -> Path:
    """A repository beside an agent that appends one line and passes every review."""
    repository = folder / "repository"
    repository.mkdir()
    agent = folder / "agent"
    agent.write_text(AGENT.format(pause=pause))
    agent.chmod(0o755)
    (repository / "README.md").write_text("begin\n")
    (repository / "loop.toml").write_text(CONFIG.format(agent=agent, python=sys.executable, code=code))
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "begin")
    return repository


class Quiet:
    def recorded(self, seen: Seen) -> None:
        """Files are no part of the figure."""

    def progressed(self, update: Update) -> None:
        """Nor is the screen."""


def open_sample(repository: Path) -> Project:
    return open_project(repository, dict(os.environ))


async def one_iteration(project: Project, repository: Path) -> None:
    settings = read_settings((repository / "loop.toml").read_text(), "loop.toml")
    loop = await create_feedback(project, settings, FeedbackRequest(task="append a line", about="text"))
    ready = await make_ready(project, loop, print)
    world = build_world(project, ready, people=Nobody(), observer=Quiet())
    halt = await drive(world, ready.seen.opened)
    if halt.outcome is None or halt.outcome.ending is not Ending.VERIFIED:
        raise RuntimeError(f"the sample loop did not end verified: {halt}")


def run_iteration(project: Project, repository: Path) -> None:
    asyncio.run(one_iteration(project, repository))
