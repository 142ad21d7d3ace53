"""Any settings a `loop.toml` could say."""

import dataclasses
from typing import Any, get_args

from hypothesis import strategies as st

from loopwright.config import settings as s
from loopwright.config.systems import DeploySettings, GateSettings, LifecycleSettings, NotifySettings
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.lifecycle.limits import LifecycleLimits
from loopwright.loops.reviewed import QualityLimits
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.workflow.limits import WorkflowLimits

NAME = st.from_regex(r"[a-z0-9-]{1,40}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
ARGV = st.lists(TEXT, min_size=1, max_size=3).map(tuple)
PATH = st.sampled_from(["tests/**", "loop.toml", ".github/**", "src/*.py", "a/b c/ü", "docs/", "..a/b.."])
PATHS = st.lists(PATH, unique=True, max_size=4).map(tuple)
SECONDS = st.integers(1, 30 * 86400 * 1000).map(lambda thousandths: thousandths / 1000)
COUNT = st.integers(1, 1000)
USD = st.integers(0, 100_000).map(lambda cents: cents / 100)
VARIABLES = st.lists(st.sampled_from(["HOME", "_X", "MY_TOKEN"]), unique=True).map(tuple)

_LIMITS = st.builds(s.AgentLimits, wall=SECONDS, idle=st.none() | SECONDS, usd=st.none() | USD)


def _agent(name: str) -> st.SearchStrategy[s.AgentSettings]:
    programs = st.builds(
        s.AgentSettings,
        name=st.just(name),
        kind=st.sampled_from([kind for kind in get_args(s.AgentKind) if kind != "rehearsal"]),
        argv=ARGV,
        env=VARIABLES,
        limits=_LIMITS,
    )
    scripted = st.builds(
        s.AgentSettings,
        name=st.just(name),
        kind=st.just("rehearsal"),
        scenario=TEXT.map(lambda text: f"rehearsals/x{text.strip(chr(47))}"),
        env=VARIABLES,
        limits=_LIMITS,
    )
    return programs | scripted


@st.composite
def _checks(draw: st.DrawFn) -> tuple[s.CheckSettings, ...]:
    checks: list[s.CheckSettings] = []
    for name in draw(st.lists(NAME, unique=True, max_size=4)):
        report = draw(st.sampled_from(get_args(s.ReportKind)))
        floor = st.none() | st.integers(0, 100).map(float) if report == "coverage" else st.none()
        command = tuple(word.replace("{report}", "") or "x" for word in draw(ARGV))
        check = s.CheckSettings(
            name=name,
            run=command if report == "none" else (*command, "--out={report}"),
            timeout=draw(SECONDS),
            report=report,
            after=draw(_some_of([earlier.name for earlier in checks])),
            paths=draw(PATHS),
            baseline=draw(st.booleans()),
            flaky=draw(st.sampled_from(["warn", "fail"])),
            floor=draw(floor),
            new_code_floor=draw(floor),
        )
        checks.append(check)
    return tuple(draw(st.permutations(checks)))


def _some_of(names: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    if not names:
        return st.just(())
    return st.lists(st.sampled_from(names), unique=True).map(tuple)


_RECORDS: dict[str, st.SearchStrategy[Any]] = {
    "workspace": st.builds(
        s.WorkspaceSettings, setup=st.lists(ARGV, max_size=2).map(tuple), copy=PATHS, protected=PATHS
    ),
    "limits": st.builds(
        s.LimitSettings,
        parallel=COUNT,
        quality=st.builds(QualityLimits, max_attempts=COUNT, p1_threshold=st.integers(0, 9)),
        feedback=st.builds(FeedbackLimits, max_feedback_iterations=COUNT, max_consecutive_test_failures=COUNT),
        lifecycle=st.builds(LifecycleLimits, max_retries=st.integers(0, 9), max_same_error=COUNT),
        workflow=st.builds(WorkflowLimits, max_iterations=st.none() | COUNT, max_same_failure=COUNT, wall=SECONDS),
        tickets=st.builds(TicketLimits, max=COUNT),
    ),
    "budget": st.builds(s.BudgetSettings, usd=st.none() | USD, tokens=st.none() | COUNT, wall=st.none() | SECONDS),
    "gates": st.lists(
        st.builds(GateSettings, name=NAME, paths=PATHS, approvers=st.just(("ada", "security team"))),
        unique_by=lambda gate: gate.name,
        max_size=2,
    ).map(tuple),
    "sandbox": st.builds(s.SandboxSettings, network=st.lists(TEXT, unique=True, max_size=2).map(tuple)),
    "deploy": st.builds(DeploySettings, run=st.just(()) | ARGV),
    "finish": st.builds(s.FinishSettings),
    "notify": st.builds(NotifySettings, urls=st.sampled_from([(), ("slack://…",)])),
    "quality": st.builds(
        s.QualitySettings,
        code=st.builds(s.GateRoles, creator=st.sampled_from(["", "developer"]), depth=st.sampled_from(["", "quick"])),
        story=st.builds(s.GateRoles, reviewer=st.sampled_from(["", "critic"])),
    ),
    "workflow": st.builds(s.WorkflowSettings, inner=st.sampled_from(["feedback", "tickets"])),
    "tickets": st.builds(s.TicketSettings, critics=st.sampled_from([("critic",), ("reviewer", "critic")])),
    "lifecycle": st.builds(LifecycleSettings, domain=st.sampled_from(["", "orders"]), gate_timeout=SECONDS),
}


@st.composite
def any_settings(draw: st.DrawFn) -> s.Settings:
    agents = tuple(draw(_agent(name)) for name in draw(st.lists(NAME, unique=True, max_size=3)))
    known = [agent.name for agent in agents]
    parts = draw(st.lists(st.sampled_from([*s.FILLED_BY_DEFAULT, *s.ONLY_WHEN_NAMED, "default"]), unique=True))
    cast = [s.RoleSettings(part, draw(_some_of(known))) for part in parts]
    roles = tuple(role for role in cast if role.agents)
    chosen = {name: draw(strategy) for name, strategy in _RECORDS.items()}
    return dataclasses.replace(s.Settings(agents=agents, roles=roles, checks=draw(_checks())), **chosen)
