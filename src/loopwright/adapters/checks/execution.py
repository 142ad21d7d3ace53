"""Commands in a checkout: laid when the first one needs it; each started, bounded, its output kept, its report read."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import posixpath
import secrets
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.adapters.checks import trial_phases
from loopwright.adapters.checks.checkouts import CleanCheckout
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.environment import CheckOutfit, as_activated
from loopwright.adapters.checks.judgement import Ran, last_lines
from loopwright.adapters.checks.local_installs import installed_from
from loopwright.adapters.checks.order import predecessors
from loopwright.adapters.checks.python_roots import python_path
from loopwright.adapters.checks.runners.asking import Asked, asked, phases_folder
from loopwright.adapters.checks.runners.reading import read_phases, without_place
from loopwright.adapters.checks.runners.table import WHOLE, Pace, Phase
from loopwright.adapters.checks.single_test import alone
from loopwright.adapters.checks.told import end_of, with_report
from loopwright.adapters.checks.watched_files import FilesOfTree, is_planted, stamped, touched
from loopwright.adapters.files import join
from loopwright.adapters.steps import StepEnded, StepSpec, run_step
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable, DependenciesChanged, NeedsPerson
from loopwright.kernel.model import Commit, Tree
from loopwright.ports.agent import Update

_TRIES = 3  # the second time on what is linked again, or copied; somebody else may have made it again meanwhile


def _with_phases(
    folder: Path, checkout: Path, phases: tuple[Phase, ...], environment: Mapping[str, str]
) -> dict[str, str]:
    """The variables by which pytest finds the plug-in, behind everything else, and the plug-in its folder."""
    if not phases:
        return {}
    folder.mkdir(mode=0o700)
    shutil.copyfile(trial_phases.__file__, folder / f"{trial_phases.MODULE}.py")
    plan = [
        {
            "records": phase.records,
            "reads": phase.reads,
            "stubs": {
                path: {"text": text.decode("latin-1"), "names": sorted(phase.names.get(path, ()))}
                for path, text in phase.texts.items()
            },
        }
        for phase in phases
    ]
    (folder / trial_phases.PLAN).write_text(json.dumps({"root": str(checkout), "phases": plan}), "utf-8")
    found = os.pathsep.join(filter(None, (environment.get("PYTHONPATH", ""), str(folder))))
    return {"PYTHONPATH": found, trial_phases.VARIABLE: str(folder)}


def _read_notes(folder: Path, checkout: Path) -> tuple[tuple[str, str], ...] | None:
    """Return files with the first lines of functions that tests called, or with who opened them. None: no notes."""
    found = None
    for file in folder.glob("notes-*.json"):
        with contextlib.suppress(ValueError, TypeError):  # it only says what is worth breaking
            rows = json.loads(without_place(file.read_bytes(), checkout))  # tests are named as in the reports
            found = tuple((str(path), str(what)) for path, what in rows)
    return found


async def until_unchanged(run: Callable[[], Awaitable[Ran]]) -> Ran:
    """The first run during which the dependency folders stayed as they were."""
    for _ in range(_TRIES):
        with contextlib.suppress(DependenciesChanged):
            return await run()
    raise NeedsPerson(
        "dependency folders in .loop/prepared change while checks run; stop what writes there, or set"
        " `link = false` in [workspace], then run `loop resume`"
    )


@dataclass(slots=True, kw_only=True)
class Bench:
    """Not shared between chains: what one check leaves behind is seen only by those that come `after` it."""

    desk: Desk
    specs: tuple[CheckSettings, ...]
    tree: Tree
    commit: Commit  # gives the checkout its history
    stack: AsyncExitStack  # holds the checkout
    lacking: frozenset[str] = frozenset()  # files of the tree that this side of the change does not have
    _laid: CleanCheckout | None = None
    _tested: int = 0  # when the first run of tests began, in ns; 0: there was none
    _done: set[str] = field(default_factory=set)
    _reruns: dict[tuple[tuple[str, ...], int], Ran] = field(default_factory=dict)

    @property
    def _is_base(self) -> bool:
        return self.tree in (self.desk.seen.base, self.desk.seen.measure)

    @property
    def _watched(self) -> frozenset[str]:
        """Files that judge. What the candidate changed of them does not, and may be put into form by a formatter."""
        seen = self.desk.seen
        changed = seen.judged_anew if self.tree == seen.judging else seen.changed
        return self.desk.watched if self._is_base else self.desk.watched - changed

    async def run(self, spec: CheckSettings, pace: Pace = WHOLE) -> Ran:
        return await until_unchanged(lambda: self._run(spec, pace=pace))

    async def _run(self, spec: CheckSettings, *, pace: Pace) -> Ran:
        """Run it, after those it builds on, which may not have run here: their receipts are no build artifacts."""
        for earlier in predecessors(spec, self.specs):
            if earlier.name not in self._done:
                await self._start(earlier)
        return await self._start(spec, pace=pace)

    async def rerun(self, spec: CheckSettings, test: str, turn: int) -> str | None:
        """How `test` came out alone. Where it cannot be run alone, one run of all serves every test."""
        argv = alone(spec.run, test)
        held = self._reruns.get((argv, turn))
        if held is None:
            held = self._reruns[argv, turn] = await self.run(replace(spec, run=argv))
        return held.outcome(test) if held.finished else None

    async def _start(self, spec: CheckSettings, *, pace: Pace = WHOLE) -> Ran:
        desk = self.desk
        if self._laid is None:
            lay = desk.outfit.checkouts.lay(self.tree, commit=self.commit, base=desk.run.base)
            self._laid = await self.stack.enter_async_context(lay)
            desk.book.rest_on(self._laid.setup_list)
        else:
            await self._laid.restore(self._is_planted)  # what ran before was the candidate's code
        began = time.time_ns()
        try:
            async with desk.slots, self._laid.guard():
                seen = FilesOfTree.seen(self._laid, desk.paths | desk.seen.changed)
                ran = await self._execute(spec, self._laid.folder, pace)
                found = await seen.after(self._is_judged)
        except DependenciesChanged:
            self._laid, self._tested = None, 0
            self._done.clear()
            raise
        ran = replace(ran, wrote=found)
        self._done.add(spec.name)
        if ran.runner or ran.tests is not None:
            self._tested = self._tested or began
        return ran

    def _is_planted(self, path: str) -> bool:
        return self._laid is not None and is_planted(self._laid.folder, path, self._tested, self._is_judging)

    def _is_judging(self, path: str) -> bool:
        return path in self.desk.named or self.desk.steering.layout.is_test(path)

    def _is_judged(self, path: str) -> bool:
        return path in self.desk.seen.product or self.desk.steering.layout.is_judged(path)

    def _hear(self, text: str, size: int) -> None:
        run = self.desk.run
        self.desk.watch(Update(loop=run.loop, key=run.key, text=text, bytes=size))

    async def _execute(self, spec: CheckSettings, checkout: Path, pace: Pace) -> Ran:
        """Raises `CheckNotRunnable` when the program is missing; everything else is a `Ran`."""
        home, texts = self.desk.outfit, self.desk.texts
        folder = home.runs / f"{spec.name}-{secrets.token_hex(8)}"
        reports = folder / secrets.token_hex(16)  # unguessable: code under test must not have written it before
        reports.mkdir(parents=True, mode=0o700)
        report = reports / "report"
        request = asked(spec.run, texts, own_report=spec.report != "none", pace=pace)
        compiled = folder / secrets.token_hex(16)
        # What a part of the tests compiles of the base is too little to serve others.
        outfit = CheckOutfit(
            digests=home.digests, is_base=self._is_base and pace == WHOLE, rest_on=self.desk.book.rest_on
        )
        try:
            environment, lent = await outfit.environment(spec, compiled, checkout)
            environment |= as_activated(spec.run, checkout, environment)
            # What the checkout has of the project comes in front of what is installed of it.
            path = python_path(checkout, installed_from(spec.run, environment, home.root, texts.values()))
            phases = phases_folder(report)
            path |= _with_phases(phases, checkout, pace.phases, {**environment, **path})
            step = StepSpec(
                argv=request.command(report),
                cwd=checkout,
                env={**request.environment(environment, report), **path, "PWD": str(checkout)},
                folder=folder,
                root=home.root,
                wall=spec.timeout,
            )
            before = stamped(checkout, self._watched)
            ended = await run_step(step, outfit.without_secrets(spec, self._hear))
            bent = touched(before, stamped(checkout, self._watched))
            if lent is not None and not await asyncio.to_thread(lent.is_intact):
                raise DependenciesChanged
            await outfit.keep_compiled(spec, compiled, checkout)
            outfit.redact(spec, ended.stdout, ended.stderr, report, *phases.glob("phase-*"))
            ran = self._ran(spec, request, ended, checkout)
            ran = with_report(ran, spec, request, report=report, ended=ended, checkout=checkout)
            output = folder / "output"
            join((ended.stdout, ended.stderr), output)
            left_by = read_phases(request, phases, checkout, len(pace.phases))
            kept = await home.store.keep_file(output)
            return replace(ran, bent=bent, output=kept, phases=left_by, notes=_read_notes(phases, checkout))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _ran(self, spec: CheckSettings, request: Asked, ended: StepEnded, checkout: Path) -> Ran:
        said = "\n".join(filter(None, (end_of(ended.stdout, request), end_of(ended.stderr, request))))
        said = "\n".join(line for line in said.splitlines() if str(self.desk.outfit.runs) not in line)
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
            runner=request.runner,
        )
