"""An agent that plays a written scenario: real processes, real edits, real faults, no model and no money.

Which step is played is decided here, once per key, and kept, so that a run repeated after a crash
plays the same step again; a process plays it, by the same contract as every command agent.
"""

from __future__ import annotations

import fcntl
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from loopwright.adapters.agents.command import CommandAgent
from loopwright.adapters.agents.contract import place_of
from loopwright.adapters.agents.scenario import Scenario, ScenarioStep, choose
from loopwright.adapters.files import write_whole
from loopwright.kernel.events import AgentFailed, AgentUnavailable
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch

PLAYER = Path(__file__).parents[2] / "testing" / "fake_agent.py"

Book = dict[str, dict[str, Any]]  # by agent: which step each key plays, and which steps are used up


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalAgent:
    """`command` gives everything but the program; `book` is the folder that remembers who played what."""

    command: CommandAgent
    scenario: Scenario
    book: Path  # .loop/rehearsal
    protected: tuple[str, ...] = ("tests/**",)

    def reservation(self, role: str, agent: str = "") -> float:
        return self.command.reservation(role, agent)

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        index = self._assigned(run)
        step = self.scenario.steps[index] if index is not None else self._unscripted(run)
        if step is None:
            return AgentFailed(key=run.key, reason="crashed", detail=_missing(self.scenario.file, run))
        answer = await self._player(run, step).run(run, watch)
        if isinstance(answer, AgentUnavailable):
            self._release(run)  # or the same key would meet the same limit for ever
        return answer

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return await self.command.reconcile(run)

    def _player(self, run: AgentRun, step: ScenarioStep) -> CommandAgent:
        plays = self.book / run.loop
        plays.mkdir(parents=True, exist_ok=True)
        play = plays / f"{str(run.key).replace('/', '-')}.play.json"
        play.write_text(json.dumps(asdict(step) | {"protected": self.protected}), encoding="utf-8")
        result = place_of(self.command.runs, run).result
        return replace(self.command, argv=(sys.executable, "-I", "-S", str(PLAYER), str(play), str(result)))

    def _unscripted(self, run: AgentRun) -> ScenarioStep | None:
        if not self.scenario.lenient:
            return None
        verdict = {"verdict": "pass"} if run.needs_verdict else {}
        return ScenarioStep(role=run.role, result={"status": "done", "summary": "nothing scripted", **verdict})

    # --- the book --------------------------------------------------------------------------------

    def _assigned(self, run: AgentRun) -> int | None:
        with self._opened(run) as book:
            mine = book.setdefault(self.command.name, {"assigned": {}, "used": []})
            index: int | None = mine["assigned"].get(str(run.key))
            if index is None or index >= len(self.scenario.steps):
                index = choose(self.scenario, run, frozenset(mine["used"]))
            if index is not None and str(run.key) not in mine["assigned"]:
                mine["assigned"][str(run.key)] = index
                if not self.scenario.steps[index].repeat:
                    mine["used"].append(index)
            return index

    def _release(self, run: AgentRun) -> None:
        with self._opened(run) as book:
            book.get(self.command.name, {"assigned": {}})["assigned"].pop(str(run.key), None)

    @contextmanager
    def _opened(self, run: AgentRun) -> Iterator[Book]:
        """The loop's book, ours alone while it is open, written back whole."""
        self.book.mkdir(parents=True, exist_ok=True)
        path = self.book / f"{run.loop}.json"
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            book: Book = json.loads(path.read_bytes()) if path.exists() else {}
            yield book
            write_whole(path, json.dumps(book, indent=2))


def _missing(file: str, run: AgentRun) -> str:
    facts = f'role = "{run.role}", attempt = {run.brief.attempt}' + (f', skill = "{run.skill}"' if run.skill else "")
    return f"{file} has no unused [[step]] that fits {facts}; add one, or set `lenient = true` under [default]"
