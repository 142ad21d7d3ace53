"""Every exception we raise on purpose.

The leaves are cut by what the caller can do next. Facts are attributes, the message is made
from them, and the message is the one sentence a person reads: what, where, what to do.
"""

from __future__ import annotations

from typing import ClassVar


class EngineError(Exception):
    """What the command line catches: one sentence, no traceback, `exit_code`."""

    exit_code: ClassVar[int] = 1


class UsageError(EngineError):
    """The command cannot be carried out as it was given."""

    exit_code = 2


class ConfigError(EngineError):
    """The person's own file is wrong."""

    exit_code = 2

    def __init__(self, path: str, key: str, expected: str, *, line: int | None = None) -> None:
        self.path, self.key, self.expected, self.line = path, key, expected, line
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {key}: {expected}" if key else f"{place}: {expected}")


class Forbidden(EngineError):
    """The state forbids it: a conflict, a closed gate, a command from inside a step."""

    exit_code = 3


class NeedsPerson(EngineError):
    """Only a person may go on from here, at a terminal; `command` is what they run there."""

    exit_code = 4

    def __init__(self, sentence: str, *, loop: str = "", command: str = "") -> None:
        self.loop, self.command = loop, command
        super().__init__(sentence)


class InvalidTransition(EngineError):
    """A machine refused an event; nothing changed."""

    exit_code = 3

    def __init__(self, state: str, event: str, why: str = "") -> None:
        self.state, self.event, self.why = state, event, why
        super().__init__(f"{event} does not fit {state}" + (f": {why}" if why else ""))


class AlreadyRunning(EngineError):
    """Another controller holds the loop."""

    exit_code = 75

    def __init__(self, loop: str, holder: str) -> None:
        self.loop, self.holder = loop, holder
        super().__init__(f"loop {loop} is already running ({holder}); watch it with `loop status --watch`")


class PortError(EngineError):
    """The world is at fault, not the person and not the machine."""

    port: ClassVar[str] = ""


class AgentNotFound(PortError):
    port = "agent"
    exit_code = 2

    def __init__(self, agent: str, program: str) -> None:
        self.agent, self.program = agent, program
        super().__init__(
            f"agent {agent!r}: the program {program!r} was not found;"
            f" install it or change [agents.{agent}] in loop.toml"
        )


class AgentGarbled(PortError):
    """The result file is not what the contract asks for. What it says that it cost is believed all the same."""

    port = "agent"

    def __init__(self, why: str, usd: float | None = None) -> None:
        self.why, self.usd = why, usd
        super().__init__(f"the agent's result cannot be read: {why}")


class CheckNotRunnable(PortError):
    port = "checks"
    exit_code = 2

    def __init__(self, check: str, command: str, why: str) -> None:
        self.check, self.command, self.why = check, command, why
        super().__init__(f"check {check!r} cannot run {command!r}: {why}; fix [checks.{check}] in loop.toml")


class PackageElsewhere(CheckNotRunnable):
    """The check would test another tree than the one it is to judge."""

    def __init__(self, check: str, command: str, *, package: str, place: str) -> None:
        super().__init__(check, command, f"{package} is imported from {place}")
        self.package, self.place = package, place

    def __str__(self) -> str:
        return (
            f"check {self.check!r} ({self.command}) would not test the candidate: it takes {self.package!r} from"
            f" {self.place}; uninstall or unlink it there, or install the checkout itself by [workspace] setup"
        )


class VcsFailed(PortError):
    port = "workspace"

    def __init__(self, command: str, stderr: str) -> None:
        self.command, self.stderr = command, stderr
        lines = [line for line in stderr.strip().splitlines() if line.strip()]
        super().__init__(f"`{command}` failed: {lines[-1] if lines else 'no message'}")


class DependenciesChanged(PortError):
    """A dependency folder that checkouts share was changed while a check ran: the run does not count."""

    port = "workspace"

    def __init__(self) -> None:
        super().__init__("a dependency folder in .loop/prepared was changed while a check ran")


class SetupFailed(PortError):
    """A command or file of `[workspace]` in loop.toml did not work."""

    port = "workspace"

    def __init__(self, command: str, tail: str) -> None:
        self.command, self.tail = command, tail
        lines = [line for line in tail.strip().splitlines() if line.strip()]
        super().__init__(
            f"preparing the workspace with `{command}` failed: {lines[-1] if lines else 'no message'};"
            " fix [workspace] in loop.toml"
        )


class StoreConflict(PortError):
    """Somebody else wrote first, or this writer's fence is old."""

    port = "store"
    exit_code = 3


class StoreCorrupt(PortError):
    port = "store"

    def __init__(self, path: str, where: str, why: str) -> None:
        self.path, self.where, self.why = path, where, why
        super().__init__(f"{path}: {where}: {why}; nothing was changed, restore the file from a backup")


class LoopUnreadable(StoreCorrupt):
    """Every event is there as it was written, but this version can make nothing of one of them."""

    def __init__(self, path: str, where: str, why: str, loop: str) -> None:
        super().__init__(path, where, why)
        self.loop = loop
        ends = f"`loop cancel --loop {loop}` ends it and keeps every commit"
        self.args = (f"{path}: {where}: {why}; nobody can go on from there, {ends}",)


class SnapshotUnusable(StoreCorrupt):
    """Only the shorter way is gone: all events are there to be folded from the first."""


class StoreTooNew(PortError):
    port = "store"

    def __init__(self, path: str, found: int, known: int) -> None:
        self.path, self.found, self.known = path, found, known
        super().__init__(
            f"{path} was written by a newer Loopwright (format {found}, this one knows {known});"
            " it was left untouched, upgrade to go on"
        )


class StoreFailed(PortError):
    """The disk did not take a write: full, read-only or broken."""

    port = "store"


class TaskListLocked(PortError):
    """Another program did not let go of a list of tasks; nothing was written there."""

    port = "task list"
    exit_code = 75

    def __init__(self, lock: str, seconds: float) -> None:
        self.lock, self.seconds = lock, seconds
        super().__init__(
            f"{lock}: another program held this lock on the tasks for {seconds:.0f} s, and nothing was written;"
            " end that program and run `loop render`"
        )


class OverBudget(EngineError):
    """A reservation did not fit. The engine turns it into a pause with these numbers."""

    exit_code = 5

    def __init__(self, loop: str, cost: str, *, limit: float, spent: float, reserved: float, wanted: float) -> None:
        self.loop, self.limit, self.spent, self.reserved, self.wanted = loop, limit, spent, reserved, wanted
        needs = f"the next step reserves ${wanted:.2f}" if wanted else "nothing is left for the next step"
        super().__init__(f"budget of loop {loop}: {cost} spent and ${reserved:.2f} reserved of ${limit:.2f}; {needs}")


class Suspended(EngineError):
    """Work stops here for now, with nothing lost; `loop resume` goes on once there is room again."""

    exit_code = 5

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"paused ({reason}): {detail}")


class TimeIsUp(Suspended):
    """A step was ended because the time of the budget was; it is done again once there is more."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__("time", f"the time of the budget is up; the step was ended after {seconds:.0f} s")
