"""The settings of a run: frozen values, the same from a `loop.toml` as from the log, and the keys that say them.

Each key stands here once, with its shape, its meaning and its default. One that nothing obeys yet is known and read,
and refused at a new start: its capability only takes `obeyed=False` away.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Literal, get_args

from loopwright.config import keys as k
from loopwright.config.keys import key, limit_table, needed, table, tables
from loopwright.config.systems import (
    AutonomySettings,
    DeploySettings,
    ForgeSettings,
    GateSettings,
    LifecycleSettings,
    NotifySettings,
)
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.shapes import Field, choice, record, several, whole
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.lifecycle.limits import LifecycleLimits
from loopwright.loops.reviewed import QualityLimits
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.workflow.limits import WorkflowLimits

AgentKind = Literal["claude", "codex", "gemini", "opencode", "goose", "acp", "command", "rehearsal", "tools", "autofix"]
ReportKind = Literal["junit", "sarif", "coverage", "none"]

VERSION = 1
FILLED_BY_DEFAULT = ("creator", "developer", "reviewer", "critic", "skill")
ONLY_WHEN_NAMED = ("tester", "judge")
EXAMINER = "examiner"  # likewise; it has no stand-in
OF_A_REQUEST = ("scorer", "shaper", "planner", "panel", "gate")  # likewise, in the loop that takes a request apart
LOOKED_AT_WHOLE = ("quality", "design", "story")  # the gates whose usual depth is comprehensive
VERIFYING = ("build", "test")  # checks without which nothing can be called verified

_FREE_KINDS = ("rehearsal", "tools", "autofix")
_ROLE = choice(*FILLED_BY_DEFAULT, *ONLY_WHEN_NAMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    wall: float = key(k.DURATION, "hard limit; killed with everything it started", 1800.0)
    idle: float | None = key(k.DURATION, "killed after no output for that long", None, unset="no limit")
    usd: float | None = key(
        k.MONEY,
        "what one run reserves, and is charged when it does not say what it cost",
        None,
        unset="1.00 for coding agents, 0.10 for `command`, 0 for `rehearsal`, `tools` and `autofix`",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    name: str
    kind: AgentKind = needed(
        choice(*get_args(AgentKind)),
        "`command` is any program that keeps the contract of the command agent, `rehearsal` a scripted"
        " agent that costs nothing; the others are coding agents by name",
    )
    argv: tuple[str, ...] = key(
        k.ARGV, "the command to run; required for `command` and `acp`, not known to `rehearsal`", ()
    )
    env: tuple[str, ...] = key(k.VARIABLES, "names of environment variables let through; nothing else is", ())
    scenario: str = key(
        k.FILE,
        "the scenario file of a `rehearsal`, from the root of the repository; required there, and only there",
        "",
    )
    limits: AgentLimits = table("Limits of one run of this agent.", AgentLimits())

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
    run: tuple[str, ...] = needed(
        k.ARGV,
        "the command; `{report}` stands for the report's path, `{unittest}` for a script of ours that runs"
        " Python's unittest and counts (`python3 {unittest} --report={report} discover -s tests`)",
    )
    timeout: float = key(k.DURATION, "killed, and failed, after that long", 600.0)
    report: ReportKind = key(
        choice(*get_args(ReportKind)),
        "how failures become findings with an identity; needs `{report}` in `run`",
        "none",
    )
    after: tuple[str, ...] = key(k.NAMES, "checks that run before this one, which is skipped when one fails", ())
    paths: tuple[str, ...] = key(k.PATTERNS, "run only when one of these was touched", (), unset="always run")
    baseline: bool = key(k.FLAG, "failures the base has too are forgiven; only new ones count", default=False)
    flaky: Literal["warn", "fail"] = key(choice("warn", "fail"), "what a test that flips when rerun counts as", "warn")
    floor: float | None = key(k.PERCENT, 'least coverage; only with `report = "coverage"`', None, unset="no floor")
    new_code_floor: float | None = key(
        k.PERCENT, 'least coverage of changed lines; only with `report = "coverage"`', None, unset="no floor"
    )
    env: tuple[str, ...] = key(k.VARIABLES, "names of environment variables let through, besides the usual ones", ())
    trust: Literal["", "exit-code"] = key(
        choice("exit-code"),
        "your word that the exit code of a check that counts no tests is enough to verify by",
        "",
        unset="a check that counts nothing is not enough alone",
    )
    may_be_empty: bool = key(
        k.FLAG, "nothing to run yet is no error on the base; what lands must have tests", default=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSettings:
    setup: tuple[tuple[str, ...], ...] = key(
        several(k.ARGV, 'a list of commands such as [["uv", "sync"]]'),
        "commands that install what the project needs; run"
        " once for the same lock files, commands and copied files, and what they make is laid into every folder",
        (),
    )
    copy: tuple[str, ...] = key(
        k.PATTERNS, "files git does not carry, copied from your tree: paths or patterns such as `data/**`", ()
    )
    link: bool = key(
        k.FLAG,
        "checks share `node_modules` and `.venv` by links to one copy; `false` copies them for every run",
        default=True,
    )
    product: tuple[str, ...] = key(k.PATTERNS, "what agents may change freely", (), unset="detected at the start")
    tests: tuple[str, ...] = key(
        k.PATTERNS,
        "new and changed ones land when the tests of the base pass; one that is weakened or contradicts the work asks",
        (),
        unset="detected at the start",
    )
    protected: tuple[str, ...] = key(
        k.PATTERNS,
        "taken from the base when checks run; adding, changing or removing one opens the gate `protected`, as with"
        " every manifest, build file and configuration of a runner. `*` stays within a folder, `**` crosses folders,"
        " `{a,b}` is either, `tests/` means everything below",
        ("loop.toml", ".github/**"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSettings:
    canary: Literal["gate", "warn", "off"] = key(
        choice("gate", "warn", "off"),
        "what a change that no test notices leads to the second time; the first time its maker hears of it, unless it"
        " is `off`",
        "gate",
    )
    acceptance: Literal["maker", "independent"] = key(
        choice("maker", "independent"),
        "`independent`: before the maker starts, the role `examiner` writes acceptance tests that the maker does not"
        " see; in feedback loops and in workflows made of them",
        "maker",
    )
    changed_tests: Literal["land", "ask"] = key(
        choice("land", "ask"),
        "whether changed tests land once the old ones pass on the change, or each of them waits for you",
        "land",
    )
    unshown: Literal["gate", "land"] = key(
        choice("gate", "land"), "whether a merge waits for you when no test tells the change from the base", "gate"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    parallel: int = key(whole(1, 1000), "agents and checks at once, over all loops", 4)
    quality: QualityLimits = limit_table(
        "Limits of the quality loop.",
        QualityLimits(),
        max_attempts=(k.COUNT, "reviews of one artifact"),
        p1_threshold=(whole(0), "more findings of severity high than this block"),
    )
    feedback: FeedbackLimits = limit_table(
        "Limits of the feedback loop.",
        FeedbackLimits(),
        max_feedback_iterations=(k.COUNT, "rounds of implement, review and test"),
        max_consecutive_review_failures=(k.COUNT, "failed reviews in a row"),
        max_consecutive_test_failures=(k.COUNT, "failed test runs in a row"),
    )
    lifecycle: LifecycleLimits = limit_table(
        "Limits of the lifecycle loop.",
        LifecycleLimits(),
        max_retries=(whole(0), "retries of one failure"),
        max_same_error=(k.COUNT, "repeats of the same failure; the next one asks"),
        max_total_failures=(k.COUNT, "failures in all"),
    )
    workflow: WorkflowLimits = limit_table(
        "Limits of the workflow loop.",
        WorkflowLimits(),
        max_iterations=(k.or_unlimited(k.COUNT), "task attempts in all"),
        max_same_failure=(k.COUNT, "times in a row that one task fails in the same way"),
        max_total_failures=(k.COUNT, "attempts of all tasks that fail"),
        wall=(k.DURATION, "time of work, besides `[budget] wall`"),
    )
    tickets: TicketLimits = limit_table(
        "Limits of the ticket cycle.", TicketLimits(), max=(k.COUNT, "tickets in one session")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings:
    usd: float | None = key(k.or_unlimited(k.MONEY), "money; the loop pauses before a run that would not fit", 25.0)
    tokens: int | None = key(whole(1, 10**15), "tokens in and out", None, unset="no limit")
    wall: float | None = key(k.DURATION, "time while the loop is running", None, unset="no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    mode: Literal["auto", "strict", "off"] = key(
        choice("auto", "strict", "off"),
        "`auto` takes the strongest there is, `strict` refuses to run without one",
        "auto",
    )
    network: tuple[str, ...] = key(
        k.WORDS, "what agents may reach: `registry`, `model`, or names of hosts", ("registry", "model"), obeyed=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishSettings:
    merge: bool = key(k.FLAG, "integrate it into the branch that was current at the start", default=False)
    auto_continue: bool = key(k.FLAG, "start the next system that is ready", default=True)
    delete_branch: bool = key(k.FLAG, "delete the branch once it is merged", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRoles:
    """Who fixes and who reviews at one gate of the quality loop, and how deep. Empty: what is usual there."""

    creator: str = key(
        _ROLE, "the role that fixes", "", unset="`creator`, else `developer`, or `tester` at the gate `test`"
    )
    reviewer: str = key(_ROLE, "the role that reviews", "", unset="`reviewer`, else `critic`")
    depth: Literal["", "quick", "comprehensive"] = key(
        choice("quick", "comprehensive"),
        "how deep a review looks unless `--mode` says so",
        "",
        unset="`quick`, or `comprehensive` at the gates `quality`, `design` and `story`",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitySettings:
    beside: bool = key(
        k.FLAG,
        "findings stand beside the artifact in your tree while it is blocked, not only under `.loop/quality`",
        default=False,
    )
    plan: GateRoles = table("The plan gate of the quality loop.", GateRoles())
    test: GateRoles = table("The test gate of the quality loop.", GateRoles())
    code: GateRoles = table("The code gate of the quality loop.", GateRoles())
    quality: GateRoles = table("The quality gate of the quality loop.", GateRoles())
    design: GateRoles = table("The design gate of the quality loop.", GateRoles())
    story: GateRoles = table("The story gate of the quality loop.", GateRoles())


@dataclass(frozen=True, slots=True)
class TicketSettings:
    critics: tuple[str, ...] = key(  # roles that criticise side by side
        several(_ROLE, 'a list of roles such as ["critic", "reviewer"]', least=1, unique=True),
        "the roles that criticise every ticket, all at once; the decision waits for the last of them",
        ("critic",),
    )


@dataclass(frozen=True, slots=True)
class WorkflowSettings:
    inner: Literal["feedback", "tickets"] = key(
        choice("feedback", "tickets"), "the loop in which every task is made; a task is no workflow itself", "feedback"
    )


def _role(name: str, means: str, unset: str, *, obeyed: bool = True) -> Field:
    return Field(name=name, shape=k.NAMES, means=means, unset=unset, obeyed=obeyed)


_ROLES = record(
    _role("default", "fills " + ", ".join(f"`{role}`" for role in FILLED_BY_DEFAULT) + ", and no other role", "nobody"),
    *(_role(role, f"plays the {role}", "`default`") for role in FILLED_BY_DEFAULT),
    *(
        _role(role, f"plays the {role}", "the engine's own rule stands in")
        for role in (*ONLY_WHEN_NAMED, *OF_A_REQUEST)
    ),
    _role(EXAMINER, "writes acceptance tests under `[trust] acceptance`", "nobody: a person is asked"),
    closed=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    version: int = key(whole(1, VERSION), "the format of this file", VERSION)
    agents: tuple[AgentSettings, ...] = tables(
        "Who can do the work. Any number, each under a name of your own.", AgentSettings
    )
    roles: tuple[RoleSettings, ...] = key(
        k.listed(_ROLES, lambda role, agents: {"name": role, "agents": agents}),
        "Who plays which part: the name of an agent, or a list of names tried in that order.",
        (),
    )
    checks: tuple[CheckSettings, ...] = tables(
        "Commands the engine runs itself, on a clean checkout; only they decide. `build` and `test` are the ones"
        " that verify; any other name may be added.",
        CheckSettings,
    )
    trust: TrustSettings = table("What a verdict rests on.", TrustSettings())
    workspace: WorkspaceSettings = table("The folder an agent works in.", WorkspaceSettings())
    limits: LimitSettings = table("When a loop stops and asks.", LimitSettings())
    budget: BudgetSettings = table(
        "What one loop, with everything below it, may take. It is on unless you turn it off.", BudgetSettings()
    )
    quality: QualitySettings = table("Who plays which part at each gate of the quality loop.", QualitySettings())
    tickets: TicketSettings = table("Who plays which part in the ticket cycle.", TicketSettings())
    workflow: WorkflowSettings = table("How a request is worked.", WorkflowSettings())
    autonomy: AutonomySettings = table("How much the lifecycle loop asks.", AutonomySettings())
    gates: tuple[GateSettings, ...] = tables(
        "Adds to the built-in rules of a gate, or makes a gate of your own.", GateSettings
    )
    sandbox: SandboxSettings = table(
        "How steps are fenced in; `loop doctor` prints what is in force.", SandboxSettings()
    )
    deploy: DeploySettings = table("The deploy target.", DeploySettings())
    forge: ForgeSettings = table("Where pull requests go.", ForgeSettings())
    finish: FinishSettings = table(
        "What happens with a verified result. It is always on a branch of its own.", FinishSettings()
    )
    notify: NotifySettings = table(
        "Where messages go when a loop needs a person, is blocked or paused, or is complete.", NotifySettings()
    )
    lifecycle: LifecycleSettings = table("The lifecycle loop.", LifecycleSettings())

    @property
    def digest(self) -> str:
        """Equal settings have equal digests, whatever the file looked like."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def runs_strangers(self) -> bool:
        """Whether an agent is a program that is not ours."""
        return any(agent.kind not in _FREE_KINDS for agent in self.agents)

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
        """For the log: with nothing in it that must not be read by others."""
        return encode(replace(self, notify=self.notify.without_secrets))

    @staticmethod
    def from_json(text: str) -> Settings:
        """What `to_json` wrote, by this version or an older one. Raises `DecodeError`."""
        return decode(Settings, text)
