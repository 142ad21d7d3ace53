"""What `loop setup` writes: a short, commented `loop.toml` from what was found in the repository. Pure text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from loopwright.adapters.checks.classes.layout import Layout, detected
from loopwright.config.settings import VERIFYING, CheckSettings, Settings

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
# No build or test command was found. Without one only `loop review` starts: nothing could be called verified.
# [checks.test]
# run = ["pytest", "-q", "--junitxml={report}"]
# report = "junit"
"""
_WEAK = "# Only the exit code counts. A junit or sarif report tells failures apart, and notices tests that vanish.\n"
_WORKSPACE = """\
# Every changed file has a class. Product and texts are the agents' to change, and tests to add to; to change or remove
# a test asks you first, like all else: manifests, build files, what configures checks, and what is protected here.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a look at the repository found. `files` are its tracked paths, `agents` names of programs on the PATH."""

    checks: tuple[CheckSettings, ...] = ()
    agents: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def render_config(found: Surroundings) -> str:
    """The text of a `loop.toml` that says exactly this. Programs that are no known agent are left out."""
    verifies = any(check.name in VERIFYING for check in found.checks)
    parts = (
        _HEAD,
        _agents([name for name in KNOWN_AGENTS if name in found.agents]),
        _TOOLS,
        *(_check(check) for check in found.checks),
        "" if verifies else _NO_CHECK,
        _workspace(detected(found.files)),
        f"[budget]\nusd = {Settings().budget.usd}  # a loop pauses before a run that would not fit\n",
    )
    return "\n".join(part for part in parts if part)


def _workspace(layout: Layout) -> str:
    """The keys are written out, so that what was detected can be read and corrected."""
    found = (("product", layout.product), ("tests", layout.tests), ("protected", Settings().workspace.protected))
    lines = [f"{name} = {_listed(patterns)}\n" for name, patterns in found if patterns]
    return f"[workspace]\n{_WORKSPACE}{''.join(lines)}"


def _agents(agents: list[str]) -> str:
    """This version runs an agent only through a script, so that what is found is named and not configured."""
    if not agents:
        return _AGENT.format(found="No coding agent was found on the PATH.", name="my")
    return _AGENT.format(found=f"Found on the PATH: {', '.join(agents)}.", name=agents[0])


def _check(check: CheckSettings) -> str:
    """As detection makes them: a name, a command, perhaps a report."""
    lines = [f"[checks.{check.name}]", f"run = {_listed(check.run)}"]
    if check.report != "none":
        lines.append(f"report = {_quoted(check.report)}")
    warning = _WEAK if check.report == "none" and check.name == "test" else ""
    return warning + "\n".join(lines) + "\n"


def _listed(words: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _quoted(text: str) -> str:
    """A basic string of TOML is one of JSON, but for one control character that JSON lets through."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
