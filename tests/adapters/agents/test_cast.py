import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.agents.cast import AgentStage, cast
from loopwright.adapters.agents.command import CommandAgent
from loopwright.adapters.tools.plan import ToolPlan, read_plan
from loopwright.config.settings import AgentSettings, CheckSettings, RoleSettings, Settings
from loopwright.errors import AgentNotFound, UsageError
from loopwright.kernel.events import AgentReported
from loopwright.kernel.model import Brief, Verdict
from loopwright.loops.quality.state import ReviewFacts
from loopwright.ports.agent import AgentRun
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.adapters.agents.agent_parts import Bench, nobody_looks
from tests.adapters.step_parts import ENV
from tests.adapters.tools.program import program

CHECKS = (
    CheckSettings(name="lint", run=("ruff", "check"), report="sarif"),
    CheckSettings(name="typecheck", run=("mypy",), report="none"),
    CheckSettings(name="coverage", run=("x", "{unittest}"), report="coverage", floor=90.0),
    CheckSettings(name="test", run=("pytest",), report="junit"),
)
SETTINGS = Settings(
    agents=(AgentSettings(name="robot", kind="tools"), AgentSettings(name="mender", kind="autofix")),
    roles=(RoleSettings("reviewer", ("robot",)), RoleSettings("creator", ("mender",))),
    checks=CHECKS,
)


def stage(root: Path) -> AgentStage:
    clock = ManualClock()
    environ = ENV | {"PATH": f"relative:{ENV['PATH']}"}
    return AgentStage(
        root=root,
        environ=environ,
        store=MemoryStore(Memory(), clock),
        clock=clock,
        brief=lambda run: run.brief.task,
        handed=lambda _run: {},
    )


def agents(root: Path, settings: Settings = SETTINGS) -> dict[str, CommandAgent]:
    pool = cast(settings, stage(root))
    found = {role: members[0] for role, members in pool.roles.items()}
    return {role: agent for role, agent in found.items() if isinstance(agent, CommandAgent)}


def test_the_built_in_agents_are_programs_that_cost_nothing(tmp_path: Path) -> None:
    found = agents(tmp_path)
    assert {role: (agent.name, agent.argv[:-1], agent.reservation(role)) for role, agent in found.items()} == {
        "reviewer": ("robot", (sys.executable, "-I", "-m", "loopwright.adapters.tools.review"), 0.0),
        "creator": ("mender", (sys.executable, "-I", "-m", "loopwright.adapters.tools.autofix"), 0.0),
    }


def test_only_a_program_of_the_person_s_own_may_use_a_model_and_not_say_so(tmp_path: Path) -> None:
    assert {agent.silent_tokens for agent in agents(tmp_path).values()} == {0}
    own = AgentSettings(name="own", kind="command", argv=(sys.executable,))
    made = agents(tmp_path, replace(SETTINGS, agents=(own,), roles=(RoleSettings("reviewer", ("own",)),)))
    assert made["reviewer"].silent_tokens == 10_000


def test_the_plan_holds_the_checks_that_stand_in_for_a_tool(tmp_path: Path) -> None:
    plan = read_plan(Path(agents(tmp_path)["reviewer"].argv[-1]))
    assert [(check.name, check.floor) for check in plan.checks] == [("lint", None), ("coverage", 90.0)]
    assert plan.checks[1].run[1].endswith("unittest_report.py")
    assert plan.own == ""
    assert read_plan(Path(agents(tmp_path)["creator"].argv[-1])) == plan


def test_changed_settings_leave_the_plan_of_a_run_under_way(tmp_path: Path) -> None:
    before = Path(agents(tmp_path)["reviewer"].argv[-1])
    cast(replace(SETTINGS, checks=()), stage(tmp_path))
    assert len(read_plan(before).checks) == 2
    assert len(list(before.parent.glob("plan-*.json"))) == 2


def test_the_repositorys_own_tools_come_first_and_ours_last(tmp_path: Path) -> None:
    program(tmp_path / ".venv" / "bin", "python", "")
    program(tmp_path / "node_modules" / ".bin", "eslint", "")
    agent = agents(tmp_path)["reviewer"]
    folders = agent.env["PATH"].split(":")
    assert folders[:2] == [f"{tmp_path}/.venv/bin", f"{tmp_path}/node_modules/.bin"]
    assert folders.index(str(Path(sys.executable).parent)) >= 2
    assert "relative" not in folders
    assert read_plan(Path(agent.argv[-1])) == ToolPlan(
        checks=read_plan(Path(agent.argv[-1])).checks, own=f"{tmp_path}/.venv/bin/python"
    )


def test_a_review_runs_as_every_agent_does(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (bench.workspace / "a.py").write_text("import os\n\nprint(undefined)\n")
    run = replace(
        bench.run(needs_verdict=True, role="reviewer"),
        brief=Brief(
            task="review", attempt=1, limit=3, artifacts=("a.py",), own=ReviewFacts(gate="code", depth="quick")
        ),
    )
    answer = asyncio.run(_reviewed(tmp_path, run))
    assert isinstance(answer, AgentReported)
    assert answer.report.verdict is Verdict.FAIL
    assert [(finding.rule, finding.file, finding.line) for finding in answer.report.findings] == [
        ("F821", "a.py", 3),
        ("F401", "a.py", 1),
    ]
    assert all(finding.fingerprint for finding in answer.report.findings)
    assert answer.usage.usd == 0.0


async def _reviewed(root: Path, run: AgentRun) -> object:
    bench = Bench(root)
    agent = replace(agents(root, replace(SETTINGS, checks=()))["reviewer"], keep=bench.keep)
    return await agent.run(run, nobody_looks)


def test_a_kind_that_cannot_run_yet_says_so(tmp_path: Path) -> None:
    settings = replace(SETTINGS, agents=(AgentSettings(name="robot", kind="codex"),), roles=SETTINGS.roles[:1])
    with pytest.raises(UsageError, match="agent 'robot' is of kind 'codex'"):
        cast(settings, stage(tmp_path))


def test_everybody_who_is_configured_and_can_run_is_known_by_name(tmp_path: Path) -> None:
    spare = (
        AgentSettings(name="idle", kind="command", argv=(sys.executable,)),
        AgentSettings(name="lost", kind="command", argv=("no-such-program",)),
        AgentSettings(name="later", kind="codex"),
        AgentSettings(name="silent", kind="rehearsal", scenario="missing.toml"),
    )
    pool = cast(replace(SETTINGS, agents=SETTINGS.agents + spare), stage(tmp_path))
    assert sorted(pool.known) == ["idle", "mender", "robot"]
    assert pool.known["robot"] is pool.roles["reviewer"][0]


def test_one_who_plays_a_role_and_cannot_run_is_still_an_error(tmp_path: Path) -> None:
    lost = AgentSettings(name="robot", kind="command", argv=("no-such-program",))
    with pytest.raises(AgentNotFound, match="no-such-program"):
        cast(replace(SETTINGS, agents=(lost, SETTINGS.agents[1])), stage(tmp_path))
