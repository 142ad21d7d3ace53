"""`loop doctor --run`: every check once on HEAD, and which checks nobody has run here yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.first_run import FirstRun
from loopwright.adapters.checks.started import runnable_checks
from loopwright.adapters.git.repository import find_repository
from loopwright.app.first_runs import keep_receipts, run_before, run_each
from loopwright.app.kinds import KINDS
from loopwright.app.preconditions import can_verify, surely_verifies
from loopwright.app.views.answers import DoctorRun
from loopwright.cli.check_remarks import advice_for
from loopwright.cli.checkup import Remark
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, only_looked_at, opened
from loopwright.cli.output import note
from loopwright.config.settings import Settings
from loopwright.errors import EngineError


def run_checks(here: Here, settings: Settings) -> tuple[FirstRun, ...]:
    """With a log that is thrown away, so that no receipt stands for a run; then they are kept where loops look."""
    if not settings.checks:
        return ()

    async def all_of_them() -> tuple[FirstRun, ...]:
        install = advice_for(project.root, here.environ)
        return tuple([run async for run in run_each(project, settings, note, install)])

    with only_looked_at(here) as project:
        seen = asyncio.run(all_of_them())
        with opened(here, create=True) as kept:
            asyncio.run(keep_receipts(project.store, kept.store))
    return seen


def counted_before(here: Here, settings: Settings) -> dict[str, bool | None] | None:
    """The checks with a receipt in this repository, as they are started now; None where nobody can say."""
    try:
        if not settings.checks or not has_log(here):
            return {}
        with opened(here) as project:
            specs = runnable_checks(settings, root=project.root, environ=here.environ)
            return asyncio.run(run_before(project.store, specs))
    except EngineError:
        return None  # a log that cannot be read is told elsewhere


def never_run_lines(settings: Settings, known: Mapping[str, bool | None] | None) -> Iterator[Remark]:
    names = () if known is None else tuple(check.name for check in settings.checks if check.name not in known)
    if names:
        said = f"not run here yet (what `loop setup` tried is not kept): {', '.join(names)}"
        said += "; `loop doctor --run` runs every check once"
        yield Remark("warn", "checks", said)


def as_answer(run: FirstRun) -> DoctorRun:
    return DoctorRun(
        check=run.check.name,
        command=run.check.run,
        status=run.word,
        seconds=run.seconds,
        tests=run.tests,
        failing=run.failing,
        why=run.why,
        last=run.last,
        advice=run.advice,
    )


@dataclass(frozen=True, slots=True)
class Startable:
    """Commands that begin a loop which has an agent for every role."""

    ready: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()  # those that need a check which counts tests, where no run has shown one

    @property
    def in_words(self) -> str:
        lines = [f"Ready: {', '.join(self.ready)}"] if self.ready else []
        if self.doubtful:
            needy = ", ".join(self.doubtful)
            lines.append(
                f"Not known yet whether a check counts tests (`loop doctor --run` tells), which these need: {needy}"
            )
        return "\n".join(lines) or "Something must be fixed before a loop can start."


def startable(here: Here, settings: Settings, known: Mapping[str, bool | None]) -> Startable:
    root = find_repository(here.cwd, here.environ).top
    kinds = [kind for kind in KINDS.values() if kind.starts and all(map(settings.agents_for, kind.needs.roles))]
    needy = tuple(kind.starts for kind in kinds if kind.needs.checks) if can_verify(root, settings, known) else ()
    is_sure = surely_verifies(root, settings, known)
    ready = tuple(kind.starts for kind in kinds if not kind.needs.checks or (is_sure and kind.starts in needy))
    return Startable(ready, () if is_sure else needy)
