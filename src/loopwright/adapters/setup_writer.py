"""What `loop setup` writes: a short, commented `loop.toml` from what was found in the repository. Pure text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.classes.layout import Layout, detected
from loopwright.config.settings import CheckSettings, Settings
from loopwright.kernel.visible import visible

KNOWN_AGENTS = ("claude", "codex", "gemini", "opencode", "goose")  # programs that are also kinds, best known first

_HEAD = """\
# Loopwright drives coding agents until the checks below pass. Its configuration guide explains every key.
# `loop doctor` says what is missing, `loop feedback "TASK"` and `loop review PATH` begin.
version = 1
"""
_AGENT = """\
# {found} Any program that keeps the contract of the command agent will do:
# it reads its brief from stdin, edits the files around it and writes its result to $LOOP_RESULT.
# [agents.{name}]
# kind = "command"
# argv = ["./{name}-agent"]  # a script of yours
#
# [roles]
# default = "{name}"
"""
_TOOLS = """\
# `loop review` can do without a coding agent: ruff, mypy, bandit and coverage judge, and ruff mends what it can.
# In [roles] that is: reviewer = "tools", creator = "autofix".
# [agents.tools]
# kind = "tools"
#
# [agents.autofix]
# kind = "autofix"
"""
_NO_CHECK = """\
# No check counts tests yet. Without one only `loop review` starts: nothing could be called verified.
# [checks.test]
# run = ["pytest", "-q"]
"""
_WEAK = """\
# Only the exit code is known, which is not enough to verify by. Have it write a junit report (`report = "junit"`, with
# `{report}` in `run`), or give your word that the exit code is enough: `trust = "exit-code"`.
"""
_WORKSPACE = """\
# Every changed file has a class. Product and texts are the agents' to change. Tests, new or changed, land when the old
# ones pass; you are asked about one that is weakened or contradicts the work, and about all else: manifests, build
# files, what configures checks.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a look at the repository found. `files` are its tracked paths, `agents` names of programs on the PATH."""

    checks: tuple[CheckSettings, ...] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)  # what is to be said above a check, by its name
    weak: frozenset[str] = frozenset()  # checks for which an exit code alone speaks
    asleep: frozenset[str] = frozenset()  # checks that are written, but commented out
    left_out: tuple[str, ...] = ()  # why a check the project seems to have is not there
    setup: tuple[tuple[str, ...], ...] = ()
    copy: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    layout: Layout | None = None  # what is known besides their names
    can_verify: bool = False  # by the checks that are in force


def render_config(found: Surroundings) -> str:
    """The text of a `loop.toml` that says exactly this. Programs that are no known agent are left out."""
    has_test = any(check.name == "test" for check in found.checks)  # of a weak one, its own remark says what to do
    parts = (
        _HEAD,
        _agents([name for name in KNOWN_AGENTS if name in found.agents]),
        _TOOLS,
        *(_said_check(check, found) for check in found.checks),
        "".join(_commented(line) for line in found.left_out),
        "" if found.can_verify or has_test else _NO_CHECK,
        _workspace(found),
        f"[budget]\nusd = {Settings().budget.usd}  # a loop pauses before a run that would not fit\n",
    )
    return "\n".join(part for part in parts if part)


def _workspace(around: Surroundings) -> str:
    """The keys are written out, so that what was detected can be read and corrected."""
    layout = around.layout or detected(around.files)
    found = (("product", layout.product), ("tests", layout.tests), ("protected", Settings().workspace.protected))
    lines = [f"{name} = {_listed(patterns)}\n" for name, patterns in found if patterns]
    return f"[workspace]\n{_preparation(around)}{_WORKSPACE}{''.join(lines)}"


def _agents(agents: list[str]) -> str:
    """This version runs an agent only through a script, so that what is found is named and not configured."""
    if not agents:
        return _AGENT.format(found="No coding agent was found on the PATH.", name="my")
    return _AGENT.format(found=f"Found on the PATH: {', '.join(agents)}.", name=agents[0])


def _preparation(found: Surroundings) -> str:
    """What a workspace and a checkout need besides the files of git."""
    lines = []
    if found.setup:
        lines.append(f"setup = [{', '.join(_listed(command) for command in found.setup)}]  # in each new folder")
    if found.copy:
        lines.append(f"copy = {_listed(found.copy)}  # from your tree")
    return "".join(f"{line}\n" for line in lines)


def _said_check(check: CheckSettings, found: Surroundings) -> str:
    warning = _WEAK if check.name == "test" and check.name in found.weak else ""  # what lints has nothing to count
    text = _commented(found.remarks.get(check.name, "")) + warning + _check(check)
    if check.name not in found.asleep:
        return text
    return "".join(_commented(line.removeprefix("# ")) for line in text.splitlines())


def _commented(text: str) -> str:
    """One line, whatever a program printed."""
    return f"# {visible(' '.join(text.split()))}\n" if text else ""


def _check(check: CheckSettings) -> str:
    """As detection makes them: a name, a command, perhaps a report."""
    lines = [f"[checks.{check.name}]", f"run = {_listed(check.run)}"]
    if check.report != "none":
        lines.append(f"report = {_quoted(check.report)}")
    if check.baseline:
        lines.append("baseline = true")
    return "\n".join(lines) + "\n"


def _listed(words: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _quoted(text: str) -> str:
    """A basic string of TOML is one of JSON, but for one control character that JSON lets through."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
