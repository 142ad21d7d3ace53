import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.adapters.agents.callable import CallableAgent, Function, Said
from loopwright.adapters.agents.pool import AgentPool
from loopwright.adapters.agents.rehearsal import RehearsalAgent
from loopwright.adapters.agents.scenario import read_scenario
from loopwright.ports.agent import Agent
from loopwright.testing.clock import ManualClock
from tests.adapters.agents.agent_parts import Bench
from tests.adapters.step_parts import FOR_EVER
from tests.ports.conformance.agent import CONTRACTS, Behaviour, Contract

DONE = {"status": "done", "summary": "did it", "usage": {"usd": 0.25}}
FAIL = {
    "status": "done",
    "verdict": "fail",
    "findings": [{"severity": "P1", "issue": "bad", "file": "a.py", "line": 1}],
}
MAYBE = {"status": "done", "verdict": "maybe"}


def saying(result: object) -> str:
    return f"open(os.environ['LOOP_RESULT'], 'w').write({json.dumps(result)!r})"


COMMANDS: dict[Behaviour, str] = {
    "done": saying(DONE),
    "silent": "",
    "writes": "open('note.txt', 'w').write('hello')",
    "fails": saying(FAIL),
    "garbled": saying(MAYBE),
    "crashes": "sys.exit('boom')",
    "hangs": FOR_EVER,
}


def scripted(role: str, rest: str) -> str:
    return f'[[step]]\nrole = "{role}"\nrepeat = true\n{rest}\n'


JUDGED = 'result = {{ status = "done", verdict = "{}", findings = [{}] }}'
FOUND = '{ severity = "P1", issue = "bad", file = "a.py", line = 1 }'
SCENARIOS: dict[Behaviour, str] = {
    "done": scripted("developer", 'result = { status = "done", summary = "did it", usage = { usd = 0.25 } }'),
    "silent": scripted("developer", 'fault = "no-result"') + scripted("reviewer", 'fault = "no-result"'),
    "writes": scripted("developer", 'edits = [{ path = "note.txt", content = "hello" }]'),
    "fails": scripted("reviewer", JUDGED.format("fail", FOUND)),
    "garbled": scripted("reviewer", JUDGED.format("maybe", "")),
    "crashes": scripted("developer", 'fault = "crash"'),
    "hangs": scripted("developer", 'fault = "hang"'),
}


def write(context: dict[str, object]) -> Said:
    (Path(str(context["workspace"])) / "note.txt").write_text("hello")
    return None


def boom(_: dict[str, object]) -> Said:
    raise ValueError("boom")


async def hang(_: dict[str, object]) -> Said:
    await asyncio.Event().wait()
    return None


FUNCTIONS: dict[Behaviour, Function] = {
    "done": lambda _: dict(DONE),
    "silent": lambda _: None,
    "writes": write,
    "fails": lambda _: dict(FAIL),
    "garbled": lambda _: dict(MAYBE),
    "crashes": boom,
    "hangs": hang,
}


def command(root: Path, behaviour: Behaviour) -> Agent:
    return Bench(root).agent(COMMANDS[behaviour])


def rehearsal(root: Path, behaviour: Behaviour) -> Agent:
    scenario = read_scenario(SCENARIOS[behaviour], "scenario.toml")
    return RehearsalAgent(command=Bench(root).agent(""), scenario=scenario, book=root / "book")


def function(root: Path, behaviour: Behaviour) -> Agent:
    return CallableAgent(name="py", function=FUNCTIONS[behaviour], clock=ManualClock())


def pooled(root: Path, behaviour: Behaviour) -> Agent:
    agents = (command(root, behaviour),)
    return AgentPool(roles={"developer": agents, "reviewer": agents}, clock=ManualClock())


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
@pytest.mark.parametrize("kind", [command, rehearsal, function, pooled])
def test_every_agent_keeps_the_contract(
    kind: Callable[[Path, Behaviour], Agent], contract: Contract, tmp_path: Path
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()

    async def kept() -> None:
        await contract(lambda behaviour: kind(tmp_path, behaviour), folder)

    asyncio.run(kept())
