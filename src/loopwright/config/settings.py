"""What `loop.toml` says, as frozen values. A run keeps the settings it started with, as JSON in its log.

Defaults stand here and nowhere else. What a table may hold and how it is checked is in `schema`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.codec import decode, encode
from loopwright.kernel.limits import QualityLimits, TicketLimits
from loopwright.loops.feedback.limits import FeedbackLimits

AgentKind = Literal["claude", "codex", "gemini", "opencode", "goose", "acp", "command", "rehearsal", "tools", "autofix"]
ReportKind = Literal["junit", "sarif", "coverage", "none"]

FILLED_BY_DEFAULT = ("creator", "developer", "reviewer", "critic", "skill")
ONLY_WHEN_NAMED = ("tester", "judge", "scorer", "shaper", "planner", "panel", "gate")
GATES = ("plan", "test", "code", "quality", "design", "story")  # of the quality loop
LOOKED_AT_WHOLE = ("quality", "design", "story")  # the gates whose usual depth is comprehensive
VERIFYING = ("build", "test")  # checks without which nothing can be called verified

_FREE_KINDS = ("rehearsal", "tools", "autofix")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    wall: float = 1800.0
    idle: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    name: str
    kind: AgentKind
    argv: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    scenario: str = ""
    limits: AgentLimits = AgentLimits()

    @property
    def reservation(self) -> float:
        """USD one run reserves: what the file says, else what is usual for the kind."""
        if self.limits.usd is not None:
            return self.limits.usd
        return 0.0 if self.kind in _FREE_KINDS else 0.1 if self.kind == "command" else 1.0


@dataclass(frozen=True, slots=True)
class RoleSettings:
    name: str
    agents: tuple[str, ...]  # in the order in which they are tried


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    name: str
    run: tuple[str, ...]
    timeout: float = 600.0
    report: ReportKind = "none"
    after: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    baseline: bool = False
    flaky: Literal["warn", "fail"] = "warn"
    floor: float | None = None
    new_code_floor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSettings:
    setup: tuple[tuple[str, ...], ...] = ()
    copy: tuple[str, ...] = ()
    protected: tuple[str, ...] = ("tests/**", "loop.toml", ".github/**")


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleLimits:
    max_retries: int = 3
    max_same_error: int = 2
    max_total_failures: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowLimits:
    max_iterations: int | None = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    parallel: int = 4
    quality: QualityLimits = QualityLimits()
    feedback: FeedbackLimits = FeedbackLimits()
    lifecycle: LifecycleLimits = LifecycleLimits()
    workflow: WorkflowLimits = WorkflowLimits()
    tickets: TicketLimits = TicketLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings:
    usd: float | None = 25.0
    tokens: int | None = None
    wall: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AutonomySettings:
    mode: Literal["autonomous", "supervised", "hybrid"] = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    name: str
    paths: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    mode: Literal["auto", "strict", "off"] = "auto"
    network: tuple[str, ...] = ("registry", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploySettings:
    run: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSettings:
    kind: Literal["local", "github"] = "local"
    poll: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishSettings:
    merge: bool = False
    auto_continue: bool = True
    delete_branch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    domain: str = ""
    inner: Literal["feedback", "tickets", "workflow"] = "feedback"
    run_cap: int = 200
    gate_timeout: float = 3600.0
    four_eyes: bool = False
    preset: Literal["", "personal", "team", "enterprise"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRoles:
    """Who fixes and who reviews at one gate of the quality loop, and how deep. Empty: what is usual there."""

    creator: str = ""
    reviewer: str = ""
    depth: Literal["", "quick", "comprehensive"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitySettings:
    plan: GateRoles = GateRoles()
    test: GateRoles = GateRoles()
    code: GateRoles = GateRoles()
    quality: GateRoles = GateRoles()
    design: GateRoles = GateRoles()
    story: GateRoles = GateRoles()


@dataclass(frozen=True, slots=True)
class TicketSettings:
    critics: tuple[str, ...] = ("critic",)  # roles that criticise side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    version: int = 1
    agents: tuple[AgentSettings, ...] = ()
    roles: tuple[RoleSettings, ...] = ()
    checks: tuple[CheckSettings, ...] = ()
    workspace: WorkspaceSettings = WorkspaceSettings()
    limits: LimitSettings = LimitSettings()
    budget: BudgetSettings = BudgetSettings()
    autonomy: AutonomySettings = AutonomySettings()
    gates: tuple[GateSettings, ...] = ()
    sandbox: SandboxSettings = SandboxSettings()
    deploy: DeploySettings = DeploySettings()
    forge: ForgeSettings = ForgeSettings()
    finish: FinishSettings = FinishSettings()
    notify: NotifySettings = NotifySettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    quality: QualitySettings = QualitySettings()
    tickets: TicketSettings = TicketSettings()

    @property
    def digest(self) -> str:
        """Equal settings have equal digests, whatever the file looked like."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def can_verify(self) -> bool:
        return any(check.name in VERIFYING for check in self.checks)

    def agents_for(self, role: str) -> tuple[AgentSettings, ...]:
        """Who plays the role, in the order of fall-back; nobody when the engine's own rule stands in."""
        cast = {entry.name: entry.agents for entry in self.roles}
        default = cast.get("default", ()) if role in FILLED_BY_DEFAULT else ()
        by_name = {agent.name: agent for agent in self.agents}
        return tuple(by_name[name] for name in cast.get(role, default))

    def gate(self, gate: str) -> GateRoles:
        """The roles at a gate of the quality loop, none of them empty."""
        said: GateRoles = getattr(self.quality, gate)
        creators = ("creator", "tester" if gate == "test" else "developer")
        return GateRoles(
            creator=said.creator or self._first_played(creators),
            reviewer=said.reviewer or self._first_played(("reviewer", "critic")),
            depth=said.depth or ("comprehensive" if gate in LOOKED_AT_WHOLE else "quick"),
        )

    def _first_played(self, roles: tuple[str, ...]) -> str:
        return next((role for role in roles if self.agents_for(role)), roles[0])

    def to_json(self) -> str:
        return encode(self)

    @staticmethod
    def from_json(text: str) -> Settings:
        """What `to_json` wrote, by this version or an older one. Raises `DecodeError`."""
        return decode(Settings, text)
