"""Running checks once on HEAD, in the verification checkout that the engine uses: for doctor and setup.

Nothing here stands for a run of a loop; what was seen is only told, and kept as receipts where there is a log.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from loopwright.adapters.checks.first_run import FirstRun, first_run, not_run, said_of
from loopwright.adapters.checks.order import chains
from loopwright.adapters.checks.receipts import read_receipt
from loopwright.adapters.checks.single_test import plain_command
from loopwright.adapters.detection.ways import Prospect, Way
from loopwright.adapters.from_settings import command_checks
from loopwright.app.project import Project
from loopwright.config.settings import VERIFYING, CheckSettings, Settings, WorkspaceSettings
from loopwright.errors import CheckNotRunnable, SetupFailed
from loopwright.kernel.model import Key, LoopId
from loopwright.ports.agent import Update
from loopwright.ports.checks import ChecksRun
from loopwright.ports.store import Store

DOCTOR = LoopId("doctor")  # whose receipts they are: no loop has an id without digits at its end
_COLLECTED = re.compile(r"(\d+)(?:/\d+)? tests? collected")
LONGEST = 120.0  # seconds one way of a check is tried
Tell = Callable[[str], None]
Install = Callable[[CheckSettings], str]  # how the project's own people would install what a check needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A check that setup writes, and what its first run showed; None: nobody ran it."""

    way: Way
    run: FirstRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A check that setup does not write, because none of its ways could run."""

    name: str
    run: FirstRun


async def run_each(project: Project, settings: Settings, tell: Tell, install: Install) -> AsyncIterator[FirstRun]:
    """Every configured check, one chain after the other, whatever changes they are meant for."""
    every = tuple(replace(check, paths=()) for check in settings.checks)
    for chain in chains(every):
        for check in chain:
            tell(f"running {check.name}: {' '.join(check.run)}")
        for run in await _run(project, replace(settings, checks=chain), install):
            more = await _count_more(project, settings, run) if run.word == "ok" else 0
            yield replace(run, plain_tests=more)


async def _run(project: Project, settings: Settings, install: Install) -> tuple[FirstRun, ...]:
    """A check that cannot be started is left out, and what comes after it with it; the others still run."""
    checks = command_checks(settings, project.store, project.clock, root=project.root, environ=project.environ)
    run = ChecksRun(
        loop=DOCTOR, key=Key.parse("checks-1.1"), step="doctor", commit=project.head, base=project.head, preflight=True
    )
    try:
        report = await checks.run(run, _unwatched)
    except CheckNotRunnable as error:
        return await _without(str(error), project, settings, install)
    except SetupFailed as error:
        return tuple(_unprepared(check, error) for check in settings.checks)
    if not report.results:
        return await _without(report.unable[0], project, settings, install)
    by_name = {check.name: check for check in settings.checks}
    seen = (first_run(by_name[result.name], result, install(by_name[result.name])) for result in report.results)
    started = {" ".join(spec.run): " ".join(by_name[spec.name].run) for spec in checks.specs}
    return tuple(replace(run, why=_as_configured(run.why, started)) for run in seen)


def _as_configured(said: str, started: Mapping[str, str]) -> str:
    """With a command as loop.toml has it, in place of what is started here for it."""
    return reduce(lambda text, command: text.replace(command, started[command]), started, said)


async def _count_more(project: Project, settings: Settings, run: FirstRun) -> int:
    """Return the number of tests that a plain run would collect, where it is greater than what the check runs."""
    plain = plain_command(run.check.run)
    if plain is None or run.tests is None:
        return 0
    more = await _count_collected(project, settings, replace(run.check, run=plain))
    if more <= run.tests:  # what is skipped is collected, and does not run
        return 0
    return more if more > await _count_collected(project, settings, run.check) else 0


async def _count_collected(project: Project, settings: Settings, check: CheckSettings) -> int:
    asking = CheckSettings(name=check.name, run=(*check.run, "--collect-only"), timeout=check.timeout)
    (seen,) = await _run(project, replace(settings, checks=(asking,)), lambda _check: "")
    found = _COLLECTED.findall("\n".join(seen.last))
    return int(found[-1]) if found else 0


async def _without(said: str, project: Project, settings: Settings, install: Install) -> tuple[FirstRun, ...]:
    failed = next((check for check in settings.checks if said.startswith(f"check {check.name!r} ")), settings.checks[0])
    rest = tuple(check for check in settings.checks if check is not failed and failed.name not in check.after)
    after = tuple(check for check in settings.checks if failed.name in check.after)
    others = await _run(project, replace(settings, checks=rest), install) if rest else ()
    skipped = (FirstRun(check=check, word="skipped", why=f"skipped: {failed.name} cannot run") for check in after)
    return (not_run(said, failed, install(failed)), *skipped, *others)


def _unprepared(check: CheckSettings, error: SetupFailed) -> FirstRun:
    last = tuple(line for line in error.tail.splitlines() if line.strip())[-8:]
    return FirstRun(
        check=check,
        word="cannot run",
        why=f"`{error.command}` failed",
        last=last,
        advice="change `setup` or `copy` of [workspace] in loop.toml",
    )


def _unwatched(_update: Update) -> None:
    """Nobody looks at single lines: what is told is which check runs, and what came of it."""


async def keep_receipts(seen: Store, kept: Store) -> None:
    """Bring what was run here into the log of the repository, with its output."""
    for text in await seen.receipts(DOCTOR):
        if receipt := read_receipt(text):
            await kept.keep(await seen.fetch(receipt.output))
            await kept.keep_receipt(receipt.key, DOCTOR, text)


async def run_before(store: Store, checks: tuple[CheckSettings, ...]) -> dict[str, bool | None]:
    """Which of these checks a receipt of this repository knows, as they are started now, and whether they count tests.

    The last run that ended well tells; None: none did.
    """
    loops = [DOCTOR, *(row.id for row in await store.rows())]
    receipts = [read_receipt(text) for loop in loops for text in await store.receipts(loop)]
    known: dict[tuple[str, tuple[str, ...]], bool | None] = {}
    for each in sorted(filter(None, receipts), key=lambda receipt: receipt.at):
        told = each.tests is not None or (None if each.exit_code else False)
        known[each.check, each.command] = told if told is not None else known.get((each.check, each.command))
    return {check.name: known[check.name, check.run] for check in checks if (check.name, check.run) in known}


async def choose(
    project: Project, prospects: tuple[Prospect, ...], tell: Tell, longest: float = LONGEST
) -> AsyncIterator[Chosen | LeftOut]:
    """For each prospect the first way that is green, else the one that is least red, else what hinders the best."""
    for prospect in prospects:
        tried: list[Chosen] = []
        for way in prospect.ways:
            tell(f"trying {prospect.name}: {' '.join(way.check.run)} (at most {longest:g} s)")
            run = await _try(project, way, longest, prospect.advice)
            tell(f"  {said_of(run)}")
            tried.append(Chosen(way=way, run=run))
            if run.runs and (run.word != "red" or _is_red_for_its_code(run)):
                break
        if best := _best(tried):
            yield await _widen(project, best, tell, longest)
        elif tried and tried[0].run:
            yield LeftOut(name=prospect.name, run=tried[0].run)


async def _widen(project: Project, chosen: Chosen, tell: Tell, longest: float) -> Chosen:
    """Return the plain command instead of one that runs a part of the tests, where it is green and runs more."""
    way, run = chosen.way, chosen.run
    plain = plain_command(way.check.run)
    if run is None or run.word != "ok" or plain is None:
        return chosen
    more = await _count_more(project, _settings_of(way, way.check), run)
    if not more:
        return chosen
    wider = replace(way, check=replace(way.check, run=plain))
    tell(f"trying {way.check.name}: {' '.join(plain)}, which collects {more} tests (at most {longest:g} s)")
    seen = await _try(project, wider, longest, "")
    tell(f"  {said_of(seen)}")
    is_wider = seen.word == "ok" and (seen.tests or 0) > (run.tests or 0)
    return Chosen(way=wider, run=seen) if is_wider else replace(chosen, run=replace(run, plain_tests=more))


def _best(tried: list[Chosen]) -> Chosen | None:
    """The last one tried is green or slow, if any is; of those that are red, the one where most tests pass."""
    running = [each for each in tried if each.run and each.run.runs]
    if not running or (running[-1].run and running[-1].run.word != "red"):
        return running[-1] if running else None
    best = max(running, key=_passing)
    before = tried[: tried.index(best)]
    # Another runner under which not one test passes says less than why the project's own could not run.
    return best if _passing(best) or all(each.run and each.run.is_empty for each in before) else None


def _is_red_for_its_code(run: FirstRun) -> bool:
    """And not for its environment, so that no other way would make it green."""
    return run.check.name not in VERIFYING or (run.tests is not None and run.tests > 2 * len(run.failing))


def _passing(chosen: Chosen) -> int:
    run = chosen.run
    return -1 if run is None or run.tests is None else max(0, run.tests - len(run.failing))


async def _try(project: Project, way: Way, longest: float, install: str) -> FirstRun:
    check = replace(way.check, timeout=min(longest, way.check.timeout))
    (run,) = await _run(project, _settings_of(way, check), lambda _check: install)
    return replace(run, check=way.check)


def _settings_of(way: Way, check: CheckSettings) -> Settings:
    return Settings(checks=(check,), workspace=WorkspaceSettings(setup=way.setup, copy=way.copy))
