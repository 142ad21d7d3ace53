"""The single looks of `loop doctor`: each gives a line that is ok, worth a warning, or to be fixed."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopwright.adapters.agents.scenario import read_scenario
from loopwright.adapters.git.program import persons_git
from loopwright.adapters.git.repository import OLDEST, git_names
from loopwright.adapters.processes import LINUX
from loopwright.adapters.sqlite.database_file import WRITE_AHEAD, Options
from loopwright.adapters.tools.plan import search_path
from loopwright.app.kinds import Kinds
from loopwright.app.preconditions import DISK_FLOOR
from loopwright.config.settings import (
    EXAMINER,
    FILLED_BY_DEFAULT,
    OF_A_REQUEST,
    ONLY_WHEN_NAMED,
    AgentSettings,
    Settings,
)
from loopwright.engine.fold import AnyLoop
from loopwright.engine.journal import passed_over
from loopwright.errors import EngineError, SnapshotUnusable, StoreCorrupt, VcsFailed
from loopwright.ports.store import LoopRow, Store

_REMOTE = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs", "vboxsf", "virtiofs")
_WITHOUT_LOG = (
    "restore the file from a backup, or move it away and begin a new log with `loop setup --new-log`:"
    " commits stay under refs/loopwright/"
)
_RUNNABLE = ("command", "rehearsal", "tools", "autofix")
_TOOLS = ("ruff", "mypy", "bandit", "coverage")


Word = Literal["ok", "warn", "fix"]


@dataclass(frozen=True, slots=True)
class Remark:
    word: Word
    what: str
    text: str


def git_line(environ: Mapping[str, str]) -> Remark:
    try:
        version = persons_git(environ, Path("/")).line("version")
    except VcsFailed as error:
        return Remark("fix", "git", f"{error}; install git {OLDEST[0]}.{OLDEST[1]} or newer")
    found = re.search(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        return Remark("fix", "git", f"{version}; install git {OLDEST[0]}.{OLDEST[1]} or newer")
    return Remark("ok", "git", version)


def identity_line(environ: Mapping[str, str], root: Path) -> Remark:
    name, mail = git_names(environ, root)
    if name and mail:
        return Remark("ok", "identity", f"{name} <{mail}>")
    return Remark(
        "warn",
        "identity",
        "git knows no user.name and user.email; commits will be by Loopwright <loopwright@localhost>",
    )


def sqlite_line() -> Remark:
    import apsw  # noqa: PLC0415 - loaded with the store anyway; here only its version is wanted

    mode = "write-ahead log" if Options().durability is WRITE_AHEAD else "rollback journal"
    text = f"{apsw.sqlite_lib_version()}, {mode}"
    if mode == "write-ahead log":
        return Remark("ok", "SQLite", text)
    return Remark("warn", "SQLite", f"{text}: slower; `pip install -U apsw` brings a newer one")


def containment_line() -> Remark:
    if LINUX and Path("/proc/self/stat").exists():
        return Remark("ok", "containment", "nothing that a step starts outlives it")
    return Remark("warn", "containment", "no /proc here: a daemon that a step leaves behind may outlive it")


def sandbox_line(settings: Settings, environ: Mapping[str, str]) -> Remark:
    """What is in force is said, not what is wished for."""
    mode = settings.sandbox.mode
    if mode == "strict":
        return Remark("fix", "sandbox", 'sandbox.mode = "strict" cannot be kept by this version; set "auto" or "off"')
    has = "bwrap is installed but" if shutil.which("bwrap", path=environ.get("PATH", "")) else "no bwrap, and"
    names = "the whole environment" if mode == "off" else "an allow-listed environment"
    return Remark("warn", "sandbox", f"{has} this version uses none: agents run with your permissions and {names}")


def disk_line(root: Path, free: int, floor: int = DISK_FLOOR) -> Remark:
    text = f"{free // 2**20} MB free"
    if free < floor:
        return Remark("fix", "disk", f"{root}: only {text}, {floor // 2**20} MB are needed")
    return Remark("ok", "disk", text)


def file_system_line(root: Path, mounts: Path = Path("/proc/self/mounts")) -> Remark:
    """Locks and syncs of a file system that is not local are promises of somebody else."""
    kind = _file_system(root, mounts)
    if kind in _REMOTE:
        return Remark("warn", "file system", f"{root} is on {kind}: locks may not hold between machines")
    return Remark("ok", "file system", kind or "unknown kind")


def _file_system(root: Path, mounts: Path) -> str:
    try:
        lines = [line.split() for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return ""
    places = {line[1].replace("\\040", " "): line[2] for line in lines if len(line) > 2}  # noqa: PLR2004
    folders = (str(folder) for folder in (root, *root.parents))
    return next((places[folder] for folder in folders if folder in places), "")


async def log_lines(store: Store, loops: Mapping[str, AnyLoop]) -> tuple[Remark, ...]:
    """Every loop's log, walked from its first event to its last: what changed on the disk since is found here."""
    rows = await store.rows()
    found = dict.fromkeys([remark for row in rows if (remark := await _log_remark(store, loops, row)) is not None])
    sound = Remark("ok", "log", f"{len(rows)} loop{'s' * (len(rows) != 1)}, every event as it was written")
    return (*found,) if any(remark.word == "fix" for remark in found) else (sound, *found)


async def _log_remark(store: Store, loops: Mapping[str, AnyLoop], row: LoopRow) -> Remark | None:
    try:
        await store.verify(row.id)
        unused = await passed_over(store, loops, row)
    except SnapshotUnusable as error:
        unused = error.why
    except StoreCorrupt as error:
        return Remark("fix", "log", f"{error.path}: {error.where}: {error.why}; {_WITHOUT_LOG}")
    if not unused:
        return None
    return Remark(
        "warn", "log", f"loop {row.id}: its snapshot is passed over ({unused}); all its events are read instead"
    )


def agent_lines(settings: Settings, root: Path, environ: Mapping[str, str]) -> Iterator[Remark]:
    named: dict[str, list[str]] = {}
    for role in (*FILLED_BY_DEFAULT, *ONLY_WHEN_NAMED, *OF_A_REQUEST, EXAMINER):
        for agent in settings.agents_for(role):
            named.setdefault(agent.name, []).append(role)
    for role in ("developer", "reviewer"):
        if not settings.agents_for(role):
            others_start = role == "developer" and settings.agents_for("creator")
            why = ", so that `loop feedback` cannot start" if others_start else ""
            said = f"nobody plays {role}{why}; name an agent in [roles] of loop.toml"
            yield Remark("warn" if others_start else "fix", "agents", said)
    if settings.trust.acceptance == "independent" and not settings.agents_for(EXAMINER):
        said = 'nobody plays examiner, which acceptance = "independent" needs; name an agent in [roles] of loop.toml'
        yield Remark("warn", "agents", said)
    for agent in settings.agents:
        plays = ", ".join(named.get(agent.name, [])) or "no role"
        problem = _problem(agent, root, environ)
        about = f"{agent.name} ({agent.kind}; {plays})"
        if problem and agent.name in named:
            yield Remark("fix", "agent", f"{about}: {problem}")
        else:
            yield Remark("warn" if problem else "ok", "agent", f"{about}: {problem}" if problem else about)


def stand_in_lines(settings: Settings, kinds: Kinds) -> Iterator[Remark]:
    """Of loops with roles that need not be played: who plays them, and what is done without."""
    for kind in kinds.values():
        if not kind.needs.stand_ins:
            continue
        played = ", ".join(role for role in kind.needs.stand_ins if settings.agents_for(role))
        without = [f"no {role}: {rule}" for role, rule in kind.needs.stand_ins.items() if not settings.agents_for(role)]
        said = "; ".join((*((f"{played} played",) if played else ()), *without))
        yield Remark("ok", "roles", f"for `{kind.starts}`: {said}")


def _problem(agent: AgentSettings, root: Path, environ: Mapping[str, str]) -> str:
    if agent.kind not in _RUNNABLE:
        return f'this version cannot run kind {agent.kind!r} yet; wrap it in a script and use kind = "command"'
    if agent.kind in ("tools", "autofix"):
        return ""  # our own programs; what they have to work with is told by `tools_line`
    if agent.kind == "rehearsal":
        return _scenario_problem(agent, root)
    name = agent.argv[0] if agent.argv else ""
    found = (root / name).is_file() if os.sep in name else shutil.which(name, path=environ.get("PATH", ""))
    return "" if found else f"the program {name!r} was not found; install it or change [agents.{agent.name}]"


def _scenario_problem(agent: AgentSettings, root: Path) -> str:
    try:
        read_scenario((root / agent.scenario).read_text(encoding="utf-8"), agent.scenario)
    except (OSError, UnicodeDecodeError) as error:
        return f"the scenario {agent.scenario!r} cannot be read: {error}"
    except EngineError as error:
        return str(error)
    return ""


def tools_line(settings: Settings, root: Path, environ: Mapping[str, str]) -> Remark:
    """Which tools a reviewer of kind `tools` has here. What is missing matters only where there is one."""
    path = search_path(root, environ, sys.executable)
    found = [name for name in _TOOLS if shutil.which(name, path=path)]
    missing = [name for name in _TOOLS if name not in found]
    parts = [f"{', '.join(found) or 'none'} found"] + [f"not found: {', '.join(missing)}"] * bool(missing)
    wanted = any(agent.kind == "tools" for agent in settings.agents)
    return Remark("warn" if wanted and missing else "ok", "tools", f'{"; ".join(parts)} (for agents of kind "tools")')
