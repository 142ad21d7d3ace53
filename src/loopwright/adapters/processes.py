"""Finding and ending processes through /proc: by descent, and by the marker a step's processes carry.

Standard library only, and little of it: the supervisor of every step pays for each import.
"""
# pathlib, contextlib, typing and signal (which loads enum) would each lengthen the start of every step.
# ruff: noqa: PTH123, PTH208, SIM105

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the C module under `signal`, which has no stubs
import ctypes
import os
import sys
import time

MARKER = "LOOP_STEP"
ROOT = "LOOP_ROOT"
LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KILL_LIMIT = 30.0  # seconds after which what cannot be killed (stuck in the kernel) is left

Table = dict[int, tuple[int, str, int]]  # pid: parent, state, start time


def processes() -> Table:
    """Every process we can see; empty where there is no /proc."""
    table: Table = {}
    for name in os.listdir("/proc") if LINUX else ():
        if name.isdigit() and (facts := _facts(name)):
            table[int(name)] = facts
    return table


def _facts(pid: str) -> tuple[int, str, int] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), fields[0].decode(), int(fields[19])


def started_at(pid: int) -> int:
    """The kernel's start time of a process; with the pid it names one process for good. 0: there is none."""
    facts = _facts(str(pid))
    return facts[2] if facts else 0


def below(roots: set[int], table: Table) -> set[int]:
    """All descendants of `roots`, without them."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    ahead = list(roots)
    while ahead:
        for child in children.get(ahead.pop(), ()):
            if child not in found:
                found.add(child)
                ahead.append(child)
    return found - roots


def marked(step: str, table: Table) -> set[int]:
    """Processes whose environment carries the step's marker, wherever they hang in the tree."""
    wanted = f"{MARKER}={step}".encode()
    found = set()
    for pid in table:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                carries = wanted in file.read().split(b"\0")
        except OSError:
            continue
        if carries:
            found.add(pid)
    return found


def living(step: str, *, descend: bool) -> set[int]:
    """What of the step is alive now: by descent from us (if asked) and by marker, never ourselves."""
    table = processes()
    roots = marked(step, table)
    found = roots | below(roots | ({os.getpid()} if descend else set()), table)
    return {pid for pid in found - {os.getpid()} if table[pid][1] not in "ZX"}


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # gone already, or not ours: the caller looks again


def end_all(step: str, group: int = 0, *, statuses: dict[int, int] | None = None) -> set[int]:
    """Kill all of the step, frozen first so that nothing is born while we look. Returns what was killed.

    With `statuses` our own descendants belong to it: they are reaped, and their ends put there.
    """
    if LINUX and statuses is not None and reap(statuses):
        return set()  # a subreaper without children has no descendants, whatever they did to hide
    descend = statuses is not None
    killed: set[int] = set()
    limit = time.monotonic() + KILL_LIMIT
    while True:
        found = _frozen(step, descend=descend)
        for pid in found:
            send(pid, signal.SIGKILL)
        if group and not LINUX:
            send(-group, signal.SIGKILL)
        killed |= found
        alone = statuses is None or reap(statuses)
        if (not found and alone) or time.monotonic() > limit:
            return killed
        time.sleep(0.002)


def _frozen(step: str, *, descend: bool) -> set[int]:
    frozen: set[int] = set()
    while fresh := living(step, descend=descend) - frozen:
        for pid in fresh:
            send(pid, signal.SIGSTOP)
        frozen |= fresh
    return frozen


def reap(statuses: dict[int, int]) -> bool:
    """Collect every child that has ended. True: there is none left."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses.setdefault(*ended)  # a pid may come back once it is reaped; the first end is the one we ask for
    except ChildProcessError:
        return True
    return False


def prctl(option: int, value: int) -> bool:
    return LINUX and ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0
