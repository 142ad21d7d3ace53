"""The keys of `loop.toml`: what each may hold and what it means.

The reader, the guide and the published JSON Schema are all made from this table; defaults are those
of the dataclasses in `settings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from loopwright.config import settings as s
from loopwright.config import shapes
from loopwright.config.shapes import NAME_PATTERN, Shape
from loopwright.kernel.limits import QualityLimits, TicketLimits
from loopwright.loops.feedback.limits import FeedbackLimits

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    name: str
    shape: Shape
    means: str
    required: bool = False
    unset: str = ""  # what happens without it, where the default value does not say it


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`named`: any number of tables below this one, each under a name the person chooses."""

    name: str
    means: str
    kind: type
    keys: tuple[Key, ...] = ()
    tables: tuple[Table, ...] = ()
    named: bool = False


_COUNT = shapes.whole(1)
_MONEY = shapes.number(0, 1_000_000, "an amount in US dollars, 0 or more")
_PERCENT = shapes.number(0, 100, "a percentage from 0 to 100")
_NAME = shapes.text("a name of lower-case letters, digits and -", NAME_PATTERN)
_NAMES = shapes.one_or_several(_NAME, "a name or a list of names")
_PATTERNS = shapes.several(shapes.pattern(), 'a list of paths such as ["tests/**"]')
_VARIABLE = shapes.text(
    "the name of an environment variable",
    r"[A-Za-z_][A-Za-z0-9_]*",
    lambda value: "give the name alone, its value comes from your environment" if "=" in value else "",
)
_WORD = shapes.text("text that is not empty", r"[^\0\n]+")
_WORDS = shapes.several(_WORD, "a list of texts")
_URL = shapes.text('an address such as "mailto://person@example.com"', r"[a-z][a-z0-9+.-]*://[^\s\0]+")
_FOLDER = shapes.text("the name of one folder", r"(?!\.{1,2}$)[^/\\\0\n]{1,100}")
_FILE = shapes.text("the path of a file", r"[^\0\n]+")

AGENTS = Table(
    name="agents",
    means="Who can do the work. Any number, each under a name of your own.",
    kind=s.AgentSettings,
    named=True,
    keys=(
        Key(
            name="kind",
            shape=shapes.choice(*get_args(s.AgentKind)),
            required=True,
            means="`command` is any program that keeps the contract of the command agent, `rehearsal` a scripted"
            " agent that costs nothing; the others are coding agents by name",
        ),
        Key(
            name="argv",
            shape=shapes.argv(),
            means="the command to run; required for `command` and `acp`, not known to `rehearsal`",
        ),
        Key(
            name="env",
            shape=shapes.several(_VARIABLE, 'a list of names such as ["HOME"]'),
            means="names of environment variables let through; nothing else is",
        ),
        Key(
            name="scenario",
            shape=_FILE,
            means="the scenario file of a `rehearsal`, from the root of the repository; required there, and only there",
        ),
    ),
    tables=(
        Table(
            name="limits",
            means="Limits of one run of this agent.",
            kind=s.AgentLimits,
            keys=(
                Key(name="wall", shape=shapes.duration(), means="hard limit; killed with everything it started"),
                Key(
                    name="idle", shape=shapes.duration(), means="killed after no output for that long", unset="no limit"
                ),
                Key(
                    name="usd",
                    shape=_MONEY,
                    means="what one run reserves, and is charged when it does not say what it cost",
                    unset="1.00 for coding agents, 0.10 for `command`, 0 for `rehearsal`, `tools` and `autofix`",
                ),
            ),
        ),
    ),
)

_FALLS_BACK = "`default`"
_STANDS_IN = "the engine's own rule stands in"

ROLES = Table(
    name="roles",
    means="Who plays which part: the name of an agent, or a list of names tried in that order.",
    kind=s.RoleSettings,
    keys=(
        Key(
            name="default",
            shape=_NAMES,
            means="fills " + ", ".join(f"`{role}`" for role in s.FILLED_BY_DEFAULT) + ", and no other role",
            unset="nobody",
        ),
        *(Key(name=role, shape=_NAMES, means=f"plays the {role}", unset=_FALLS_BACK) for role in s.FILLED_BY_DEFAULT),
        *(Key(name=role, shape=_NAMES, means=f"plays the {role}", unset=_STANDS_IN) for role in s.ONLY_WHEN_NAMED),
    ),
)

CHECKS = Table(
    name="checks",
    means="Commands the engine runs itself, on a clean checkout; only they decide. `build` and `test` are the ones"
    " that verify; any other name may be added.",
    kind=s.CheckSettings,
    named=True,
    keys=(
        Key(
            name="run",
            shape=shapes.argv(),
            required=True,
            means="the command; `{report}` stands for the report's path, `{unittest}` for a script of ours that runs"
            " Python's unittest and counts (`python3 {unittest} --report={report} discover -s tests`)",
        ),
        Key(name="timeout", shape=shapes.duration(), means="killed, and failed, after that long"),
        Key(
            name="report",
            shape=shapes.choice(*get_args(s.ReportKind)),
            means="how failures become findings with an identity; needs `{report}` in `run`",
        ),
        Key(name="after", shape=_NAMES, means="checks that run before this one, which is skipped when one fails"),
        Key(name="paths", shape=_PATTERNS, means="run only when one of these was touched", unset="always run"),
        Key(name="baseline", shape=shapes.flag(), means="failures the base has too are forgiven; only new ones count"),
        Key(name="flaky", shape=shapes.choice("warn", "fail"), means="what a test that flips when rerun counts as"),
        Key(name="floor", shape=_PERCENT, means='least coverage; only with `report = "coverage"`', unset="no floor"),
        Key(
            name="new_code_floor",
            shape=_PERCENT,
            means='least coverage of changed lines; only with `report = "coverage"`',
            unset="no floor",
        ),
    ),
)

WORKSPACE = Table(
    name="workspace",
    means="The folder an agent works in.",
    kind=s.WorkspaceSettings,
    keys=(
        Key(
            name="setup",
            shape=shapes.several(shapes.argv(), 'a list of commands such as [["uv", "sync"]]', repeats=True),
            means="commands run once in each new workspace",
        ),
        Key(name="copy", shape=_PATTERNS, means="ignored files it needs, copied from your tree"),
        Key(
            name="protected",
            shape=_PATTERNS,
            means="taken from the base when checks run; changing or removing one opens the gate `protected`."
            " `*` stays within a folder, `**` crosses folders, `tests/` means everything below",
        ),
    ),
)

LIMITS = Table(
    name="limits",
    means="When a loop stops and asks.",
    kind=s.LimitSettings,
    keys=(Key(name="parallel", shape=shapes.whole(1, 1000), means="agents and checks at once, over all loops"),),
    tables=(
        Table(
            name="quality",
            means="Limits of the quality loop.",
            kind=QualityLimits,
            keys=(
                Key(name="max_attempts", shape=_COUNT, means="reviews of one artifact"),
                Key(name="p1_threshold", shape=shapes.whole(0), means="more findings of severity high than this block"),
            ),
        ),
        Table(
            name="feedback",
            means="Limits of the feedback loop.",
            kind=FeedbackLimits,
            keys=(
                Key(name="max_feedback_iterations", shape=_COUNT, means="rounds of implement, review and test"),
                Key(name="max_consecutive_review_failures", shape=_COUNT, means="failed reviews in a row"),
                Key(name="max_consecutive_test_failures", shape=_COUNT, means="failed test runs in a row"),
            ),
        ),
        Table(
            name="lifecycle",
            means="Limits of the lifecycle loop.",
            kind=s.LifecycleLimits,
            keys=(
                Key(name="max_retries", shape=shapes.whole(0), means="retries of one failure"),
                Key(name="max_same_error", shape=_COUNT, means="repeats of the same failure; the next one asks"),
                Key(name="max_total_failures", shape=_COUNT, means="failures in all"),
            ),
        ),
        Table(
            name="workflow",
            means="Limits of the workflow loop.",
            kind=s.WorkflowLimits,
            keys=(Key(name="max_iterations", shape=shapes.or_unlimited(_COUNT), means="task attempts in all"),),
        ),
        Table(
            name="tickets",
            means="Limits of the ticket cycle.",
            kind=TicketLimits,
            keys=(Key(name="max", shape=_COUNT, means="tickets in one session"),),
        ),
    ),
)

BUDGET = Table(
    name="budget",
    means="What one loop, with everything below it, may take. It is on unless you turn it off.",
    kind=s.BudgetSettings,
    keys=(
        Key(
            name="usd",
            shape=shapes.or_unlimited(_MONEY),
            means="money; the loop pauses before a run that would not fit",
        ),
        Key(name="tokens", shape=shapes.whole(1, 10**15), means="tokens in and out", unset="no limit"),
        Key(name="wall", shape=shapes.duration(), means="time while the loop is running", unset="no limit"),
    ),
)

GATES = Table(
    name="gates",
    means="Adds to the built-in rules of a gate, or makes a gate of your own.",
    kind=s.GateSettings,
    named=True,
    keys=(
        Key(name="paths", shape=_PATTERNS, means="a change to one of these calls for the gate"),
        Key(name="approvers", shape=_WORDS, means="who may decide it", unset="anyone at the terminal"),
    ),
)

_ROLE = shapes.choice(*s.FILLED_BY_DEFAULT, *s.ONLY_WHEN_NAMED)


def _gate(name: str, creator: str) -> Table:
    return Table(
        name=name,
        means=f"The {name} gate of the quality loop.",
        kind=s.GateRoles,
        keys=(
            Key(name="creator", shape=_ROLE, means="the role that fixes", unset=f"`creator`, else `{creator}`"),
            Key(name="reviewer", shape=_ROLE, means="the role that reviews", unset="`reviewer`, else `critic`"),
            Key(
                name="depth",
                shape=shapes.choice("quick", "comprehensive"),
                means="how deep a review looks unless `--mode` says so",
                unset="`comprehensive`" if name in s.LOOKED_AT_WHOLE else "`quick`",
            ),
        ),
    )


QUALITY = Table(
    name="quality",
    means="Who plays which part at each gate of the quality loop.",
    kind=s.QualitySettings,
    tables=tuple(_gate(name, "tester" if name == "test" else "developer") for name in s.GATES),
)

TICKETS = Table(
    name="tickets",
    means="Who plays which part in the ticket cycle.",
    kind=s.TicketSettings,
    keys=(
        Key(
            name="critics",
            shape=shapes.several(_ROLE, 'a list of roles such as ["critic", "reviewer"]', least=1),
            means="the roles that criticise every ticket, all at once; the decision waits for the last of them",
        ),
    ),
)

OTHERS = (
    Table(
        name="autonomy",
        means="How much the lifecycle loop asks.",
        kind=s.AutonomySettings,
        keys=(
            Key(
                name="mode",
                shape=shapes.choice("autonomous", "supervised", "hybrid"),
                means="`supervised` asks at every gate, `autonomous` only where the change calls for it, and at deploy",
            ),
        ),
    ),
    GATES,
    Table(
        name="sandbox",
        means="How steps are fenced in; `loop doctor` prints what is in force.",
        kind=s.SandboxSettings,
        keys=(
            Key(
                name="mode",
                shape=shapes.choice("auto", "strict", "off"),
                means="`auto` takes the strongest there is, `strict` refuses to run without one",
            ),
            Key(name="network", shape=_WORDS, means="what agents may reach: `registry`, `model`, or names of hosts"),
        ),
    ),
    Table(
        name="deploy",
        means="The deploy target.",
        kind=s.DeploySettings,
        keys=(Key(name="run", shape=shapes.argv(), means="the command that deploys", unset="you are asked"),),
    ),
    Table(
        name="forge",
        means="Where pull requests go.",
        kind=s.ForgeSettings,
        keys=(
            Key(name="kind", shape=shapes.choice("local", "github"), means="`local` hands over a branch"),
            Key(name="poll", shape=shapes.duration(), means="how often a pull request is looked at"),
        ),
    ),
    Table(
        name="finish",
        means="What happens with a verified result. It is always on a branch of its own.",
        kind=s.FinishSettings,
        keys=(
            Key(name="merge", shape=shapes.flag(), means="integrate it into the branch that was current at the start"),
            Key(name="auto_continue", shape=shapes.flag(), means="start the next system that is ready"),
            Key(name="delete_branch", shape=shapes.flag(), means="delete the branch once it is merged"),
        ),
    ),
    Table(
        name="notify",
        means="Who is told when a person is needed.",
        kind=s.NotifySettings,
        keys=(Key(name="urls", shape=shapes.several(_URL, "a list of addresses"), means="where messages go"),),
    ),
    Table(
        name="lifecycle",
        means="The lifecycle loop.",
        kind=s.LifecycleSettings,
        keys=(
            Key(
                name="domain",
                shape=_FOLDER,
                means="the folder below `domain-memory/`",
                unset="the repository's folder name",
            ),
            Key(
                name="inner",
                shape=shapes.choice("feedback", "tickets", "workflow"),
                means="the loop that implements a capability",
            ),
            Key(name="run_cap", shape=_COUNT, means="transitions of one `loop run`"),
            Key(name="gate_timeout", shape=shapes.duration(), means="an unattended gate blocks after that long"),
            Key(name="four_eyes", shape=shapes.flag(), means="whoever started a loop may not approve its gates"),
            Key(
                name="preset",
                shape=shapes.choice("personal", "team", "enterprise"),
                means="a set of habits for autonomy and retries",
                unset="none",
            ),
        ),
    ),
)

ROOT = Table(
    name="",
    means="",
    kind=s.Settings,
    keys=(Key(name="version", shape=shapes.whole(1), means="the format of this file"),),
    tables=(AGENTS, ROLES, CHECKS, WORKSPACE, LIMITS, BUDGET, QUALITY, TICKETS, *OTHERS),
)
