"""An agent's contract as pure functions: its environment, its exit codes, its waiting times, what it must say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.errors import AgentGarbled
from loopwright.kernel.model import AgentReport, AgentStatus
from loopwright.ports.agent import AgentRun

UNAVAILABLE, NEEDS_PERSON = 75, 77
NO_REPORT = AgentReport(summary="(no summary)")  # of an agent that said nothing
BACKOFF = 60.0  # seconds to wait after exit 75 when the agent does not say how long
LONGEST_WAIT = 24 * 3600.0  # a longer `retry-after` is taken for a mistake

ALWAYS_ALLOWED = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL"),
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
)
# Inherited, these would turn an agent's own git commands to the person's repository.
_REDIRECTING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
_RETRY = re.compile(rb"^[ \t]*retry-after:[ \t]*([0-9]{1,9}(?:\.[0-9]{1,9})?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """The run folder of one run, outside the tree, and what lies in it."""

    folder: Path

    @property
    def brief(self) -> Path:
        return self.folder / "brief.md"

    @property
    def context(self) -> Path:
        return self.folder / "context.json"

    @property
    def result(self) -> Path:
        return self.folder / "result.json"


def place_of(runs: Path, run: AgentRun) -> RunPlace:
    """`step` holds characters that are no file name; it is unique, so its readable form nearly always is too."""
    return RunPlace(folder=runs / _as_name(run.loop) / _as_name(run.step.removeprefix(f"{run.loop}/")))


def _as_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip(".")[:120] or "-"


def allowed_environment(environ: Mapping[str, str], names: Iterable[str], *, whole: bool = False) -> dict[str, str]:
    """What of the person's environment an agent gets: the plain names, those let through by name, or all of it."""
    barred = {name for name in environ if name.startswith("LOOP_")} | set(_REDIRECTING)
    wanted = environ.keys() if whole else {*ALWAYS_ALLOWED, *names}
    return {name: environ[name] for name in sorted(wanted & environ.keys() - barred)}


def loop_environment(run: AgentRun, place: RunPlace, root: Path) -> dict[str, str]:
    """The variables of the contract. Git looks for no repository above the workspace."""
    ceilings = dict.fromkeys((str(root / ".worktrees"), str(run.folder.parent)))
    return {
        "LOOP_ROLE": run.role,
        "LOOP_SKILL": run.skill,
        "LOOP_ID": run.loop,
        "LOOP_ATTEMPT": str(run.brief.attempt),
        "LOOP_BRIEF": str(place.brief),
        "LOOP_CONTEXT": str(place.context),
        "LOOP_RESULT": str(place.result),
        "LOOP_WORKSPACE": str(run.folder),
        "GIT_CEILING_DIRECTORIES": ":".join(ceilings),
    }


def with_verdict(run: AgentRun, report: AgentReport) -> AgentReport:
    """The report, if it is whole: whoever judges and is done has said how. Raises `AgentGarbled`."""
    if run.needs_verdict and report.verdict is None and report.status is AgentStatus.DONE:
        raise AgentGarbled("$.verdict: missing, and this role must give one")
    return report


def retry_after(errors: bytes) -> float:
    """Seconds to wait, from the last `retry-after: SECONDS` line on stderr."""
    said = _RETRY.findall(errors)
    return min(float(said[-1]), LONGEST_WAIT) if said else BACKOFF
