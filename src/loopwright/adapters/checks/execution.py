"""Commands in a checkout: laid when the first one needs it; each started, bounded, its output kept, its report read."""

from __future__ import annotations

import asyncio
import os
import posixpath
import secrets
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from loopwright.adapters.checks.checkouts import CleanCheckout
from loopwright.adapters.checks.coverage_report import read_coverage
from loopwright.adapters.checks.environment import CheckOutfit
from loopwright.adapters.checks.judgement import Ran, clipped, last_lines
from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.order import REPORT, predecessors
from loopwright.adapters.checks.reports import Report, ReportRefused, read_bounded
from loopwright.adapters.checks.sarif import read_sarif
from loopwright.adapters.checks.single_test import alone, is_pytest
from loopwright.adapters.files import join, read_tail
from loopwright.adapters.steps import StepEnded, StepSpec, StepWatch, run_step
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.visible import visible_bytes
from loopwright.ports.store import Store

_TAIL = 16 * 1024  # bytes of each stream that the last lines are taken from
_LONGEST_LINE = 4096
_DEEPEST_LINE = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """Everything a command needs besides itself and a checkout."""

    store: Store
    outfit: CheckOutfit
    root: Path  # the person's repository
    runs: Path  # where run folders go
    lacking: frozenset[str] = frozenset()  # files of the tree that this side of the change does not have

    async def start(self, spec: CheckSettings, checkout: Path, watch: StepWatch | None = None) -> Ran:
        """Raises `CheckNotRunnable` when the program is missing; everything else is a `Ran`."""
        folder = self.runs / f"{spec.name}-{secrets.token_hex(8)}"
        reports = folder / secrets.token_hex(16)  # unguessable: code under test must not have written it before
        reports.mkdir(parents=True, mode=0o700)
        report = reports / "report"
        argv = tuple(word.replace(REPORT, str(report)) for word in spec.run)
        try:
            compiled = folder / secrets.token_hex(16)
            env = await self.outfit.environment(spec, compiled)
            ended = await run_step(
                StepSpec(argv=argv, cwd=checkout, env=env, folder=folder, root=self.root, wall=spec.timeout),
                self.outfit.without_secrets(spec, watch),
            )
            await self.outfit.keep_compiled(spec, compiled, checkout)
            self.outfit.redact(spec, ended.stdout, ended.stderr, report)
            ran = _reported(self._ran(spec, ended, checkout), spec, report, checkout)
            output = folder / "output"
            join((ended.stdout, ended.stderr), output)
            return replace(ran, output=await self.store.keep_file(output))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _ran(self, spec: CheckSettings, ended: StepEnded, checkout: Path) -> Ran:
        said = "\n".join(filter(None, (_tail(ended.stdout), _tail(ended.stderr))))
        # Where it ran is no business of an agent, and another place in every run: the same failure has the same words.
        tail = last_lines(said.replace(f"{checkout}/", "").replace(str(checkout), "."))
        if ended.reason == "not_found":
            if posixpath.normpath(spec.run[0]) not in self.lacking:
                raise CheckNotRunnable(spec.name, " ".join(spec.run), ended.detail or "it cannot be started")
            return Ran(how="gone", exit_code=None, tail=tail)
        return Ran(
            how="exited" if ended.reason == "exited" else "wall",
            exit_code=ended.exit_code,
            signal=ended.signal,
            seconds=ended.seconds,
            tail=tail,
        )


@dataclass(slots=True, kw_only=True)
class Bench:
    """Not shared between chains: what one check leaves behind is seen only by those that come `after` it."""

    lay: Callable[[], AbstractAsyncContextManager[CleanCheckout]]
    starter: Starter
    specs: tuple[CheckSettings, ...]
    slots: asyncio.Semaphore
    stack: AsyncExitStack
    watch: StepWatch | None = None
    laid: Callable[[str], None] = lambda _list: None  # hears the name of the list of what setup made
    _laid: CleanCheckout | None = None
    _done: set[str] = field(default_factory=set)
    _reruns: dict[tuple[tuple[str, ...], int], Ran] = field(default_factory=dict)

    async def run(self, spec: CheckSettings) -> Ran:
        """Run it, after those it builds on, which may not have run here: their receipts are no build artifacts."""
        for earlier in predecessors(spec, self.specs):
            if earlier.name not in self._done:
                await self._start(earlier)
        return await self._start(spec)

    async def rerun(self, spec: CheckSettings, test: str, turn: int) -> str | None:
        """How `test` came out alone. Where it cannot be run alone, one run of all serves every test."""
        argv = alone(spec.run, test)
        held = self._reruns.get((argv, turn))
        if held is None:
            held = self._reruns[argv, turn] = await self.run(replace(spec, run=argv))
        return held.outcome(test) if held.finished else None

    async def _start(self, spec: CheckSettings) -> Ran:
        if self._laid is None:
            self._laid = await self.stack.enter_async_context(self.lay())
            self.laid(self._laid.setup_list)
        else:
            await self._laid.restore()  # what ran before was the candidate's code, and may have bent the tests
        async with self.slots:
            ran = await self.starter.start(spec, self._laid.folder, self.watch)
        self._done.add(spec.name)
        return ran


def _reported(ran: Ran, spec: CheckSettings, path: Path, checkout: Path) -> Ran:
    """The run with its report, or in words why there is none. No report is asked of a check that gives none."""
    if spec.report == "none":
        return ran
    try:
        return _read(ran, spec, read_bounded(path), checkout)
    except ReportRefused as refused:
        return replace(ran, refused=clipped(str(refused)))


def _read(ran: Ran, spec: CheckSettings, content: bytes, checkout: Path) -> Ran:
    if spec.report == "junit":
        where = os.fsencode(checkout)
        content = content.replace(where + b"/", b"").replace(where, b".")  # as in `_ran`
        return replace(ran, report=read_junit(content, _exists_in(checkout), nodes=is_pytest(spec.run)))
    if spec.report == "coverage":
        return replace(
            ran, report=Report(tests=None), lines=read_coverage(content, str(checkout), _exists_in(checkout))
        )
    return replace(ran, report=read_sarif(content, _line_in(checkout), str(checkout)))


def _exists_in(checkout: Path) -> Callable[[str], bool]:
    return lambda path: (checkout / path).is_file()


def _line_in(checkout: Path) -> Callable[[str, int], str]:
    def line(path: str, number: int) -> str:
        file = checkout / path
        inside = file.resolve().is_relative_to(checkout.resolve())
        if not inside or not file.is_file() or not 0 < number < _DEEPEST_LINE:
            return ""
        with file.open(encoding="utf-8", errors="replace") as lines:
            return next(islice(lines, number - 1, number), "")[:_LONGEST_LINE].strip()

    return line


def _tail(stream: Path) -> str:
    return visible_bytes(read_tail(stream, _TAIL)).rstrip()
