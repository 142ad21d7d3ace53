"""What the commands that only look, or find nothing to do, answer to programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.adapters.checks.receipts import Receipt
from loopwright.app.views.evidence import ShownEvidence
from loopwright.kernel.model import LoopId, Tree
from loopwright.kernel.trust import Canary


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingDone:
    """`loop resume` and `loop cancel`, where there was nothing to do."""

    loop: str | None
    note: str
    outcome: None = None


@dataclass(frozen=True, slots=True)
class CompletionScript:
    shell: str
    how: str  # the line to run or to keep
    script: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginAnswer:
    """`loop plugin install` and `loop plugin uninstall`; with `--dry-run` what they would do."""

    folder: str
    scope: Literal["project", "user", "path"]
    written: tuple[str, ...]  # paths in the folder, as those below
    removed: tuple[str, ...]
    kept: tuple[str, ...]  # changed by somebody since, so left as they are
    dry_run: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedNotice:
    id: str
    title: str
    why: str = ""  # it was not delivered; empty: it was


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyAnswer:
    """`loop notify`: what it tried to deliver; with `--test`, a message for each address."""

    notices: tuple[AttemptedNotice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderAnswer:
    files: tuple[str, ...]  # paths from the top of the repository


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutput:
    """`loop log --agent KEY`: what a step printed, with what is not printable escaped."""

    loop: LoopId
    output: Mapping[str, str]  # by step


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEvidence:
    tree: Tree
    evidence: ShownEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptList:
    loop: LoopId
    receipts: tuple[Receipt, ...]  # oldest first
    canaries: tuple[Canary, ...] = ()  # what came of breaking a change on purpose
    evidence: tuple[TreeEvidence, ...] = ()  # how much the checks show of each candidate, oldest first
    reused: tuple[str, ...] = ()  # keys of those that an earlier loop made; each receipt names its loop


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorLine:
    status: Literal["ok", "warn", "fix"]
    what: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorRun:
    """What came of running a check once on HEAD."""

    check: str
    command: tuple[str, ...]
    status: Literal["ok", "red", "slow", "cannot run", "skipped"]
    seconds: float
    tests: int | None  # None: it gives no report that counts
    failing: tuple[str, ...]
    why: str
    last: tuple[str, ...]  # lines of its output
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorAnswer:
    ok: bool  # nothing must be fixed before a loop can start
    lines: tuple[DoctorLine, ...]
    ready: tuple[str, ...] = ()  # the commands that can begin a loop
    runs: tuple[DoctorRun, ...] = ()  # with `--run`


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCheck:
    name: str
    run: tuple[str, ...]
    strength: Literal["counting", "weak"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupAnswer:
    file: str
    written: bool
    stack: str
    checks: tuple[FoundCheck, ...]
    agents: tuple[str, ...]
    notes: tuple[str, ...]
    text: str  # of the file


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLogAnswer:
    log: str
    created: bool
