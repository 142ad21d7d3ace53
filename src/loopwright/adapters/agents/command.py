"""The command agent: any program that takes a brief and leaves a result file."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from loopwright.adapters.agents import remains
from loopwright.adapters.agents.context import facts_of
from loopwright.adapters.agents.contract import (
    NEEDS_PERSON,
    NO_REPORT,
    UNAVAILABLE,
    RunPlace,
    loop_environment,
    place_of,
    retry_after,
    with_verdict,
)
from loopwright.adapters.agents.handover import laid_beside, take_away
from loopwright.adapters.agents.redaction import Redactor
from loopwright.adapters.agents.result import SIZE_LIMIT, Result, identified, read_result
from loopwright.adapters.files import join, read_regular, read_tail
from loopwright.adapters.pins import Pins, differing, digest_of
from loopwright.adapters.steps import StepEnded, StepSpec, finished_step, lock_of, run_step
from loopwright.errors import AgentGarbled, AgentNotFound, NeedsPerson
from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable
from loopwright.kernel.model import NO_KEY, AgentReport, Blob, Usage
from loopwright.ports.agent import AgentAnswer, AgentRun, Update, Watch
from loopwright.ports.clock import Clock

SILENT_TOKENS = 10_000  # what a short run of a coding agent takes
_BYTES_PER_TOKEN = 4
Keep = Callable[[Path], Awaitable[Blob]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """`env` is what of the person's environment was let through; `keep` moves a file into the store."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict)  # the person's whole environment: an agent may find them
    root: Path  # the person's repository
    runs: Path  # where run folders are made
    render: Callable[[AgentRun], str]  # the brief as Markdown
    handed: Callable[[AgentRun], Mapping[str, str]] = lambda _run: {}  # files laid beside the work while it is done
    keep: Keep
    clock: Clock
    wall: float = 1800.0
    idle: float | None = None
    usd: float = 0.10
    silent_tokens: int = 0  # at least so many are set down for a run that does not say; 0: it uses no model
    grace: float = 10.0
    pinned: Pins = field(default_factory=dict)  # its own scripts, as they were when the loop was taken up

    def reservation(self, role: str, agent: str = "") -> float:  # noqa: ARG002  one price, whoever is asked for
        return self.usd

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        self._refuse_other_scripts()
        place = place_of(self.runs, run)
        self._prepare(run, place)
        redactor = self._redactor

        def told(text: str, count: int) -> None:
            watch(Update(loop=run.loop, key=run.key, text=redactor.text(text), bytes=count))

        with laid_beside(run.folder, self.handed(run)):
            ended = await run_step(self._spec(run, place), told)
        if ended.reason == "not_found":
            raise AgentNotFound(self.name, self.argv[0])
        return await self._answer(run, place, ended)

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        place = place_of(self.runs, run)
        if any(path.is_symlink() for path in self._way(place)):
            return None
        told, ended = _told(place), finished_step(place.folder)
        if told.get("workspace"):
            run = replace(run, folder=Path(told["workspace"]))
            take_away(run.folder, self.handed(run))  # its controller died before it could
        if ended is None or ended.reason in ("not_found", "cancelled", "controller_gone"):
            return None
        return await self._answer(run, place, ended) if told.get("agent") == self.name else None

    @property
    def _redactor(self) -> Redactor:
        return Redactor({**self.secrets, **self.env})

    def _refuse_other_scripts(self) -> None:
        for path in differing(self.pinned, {path: digest_of(Path(path)) for path in self.pinned}):
            raise NeedsPerson(
                f"agent {self.name!r}: {path} while the loop ran, and it did not run; look at it, then go on with"
                " `loop resume` at a terminal"
            )

    # --- before ----------------------------------------------------------------------------------

    def _prepare(self, run: AgentRun, place: RunPlace) -> None:
        for path in self._way(place):
            if path.is_symlink():
                path.unlink()
        shutil.rmtree(place.folder, ignore_errors=True)  # of a run that was interrupted
        place.folder.mkdir(parents=True, mode=0o700)
        facts = facts_of(run, self.name)
        place.brief.write_text(self.render(run), encoding="utf-8", errors="backslashreplace")
        place.context.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")

    def _way(self, place: RunPlace) -> tuple[Path, ...]:
        """The folders of ours that lead to a run's, and where an agent may have put a link."""
        return (self.runs, place.folder.parent, place.folder)

    def _spec(self, run: AgentRun, place: RunPlace) -> StepSpec:
        return StepSpec(
            argv=self._program(),
            cwd=run.folder,
            env={**self.env, **loop_environment(run, place, self.root)},
            folder=place.folder,
            root=self.root,
            stdin=place.brief,
            wall=self.wall,
            idle=self.idle,
            grace=self.grace,
            lock=lock_of(self.root, run.folder),
            durable=(place.result,),
        )

    def _program(self) -> tuple[str, ...]:
        """A relative program is the person's own file: one that an agent wrote into its workspace plays no judge."""
        own = self.root / self.argv[0]
        if os.sep in self.argv[0] and own.is_file():
            return (str(own), *self.argv[1:])
        return self.argv

    # --- after -----------------------------------------------------------------------------------

    async def _answer(self, run: AgentRun, place: RunPlace, ended: StepEnded) -> AgentAnswer:
        if not place.folder.is_dir() or any(path.is_symlink() for path in self._way(place)):
            why = f"it removed {place.folder}, or put a link in its place"
            return AgentFailed(key=run.key, reason="crashed", detail=why, usage=Usage(seconds=ended.seconds))
        redactor = self._redactor
        transcript = await self._transcript(place, ended, redactor)
        found = _found(place, redactor)
        usage = self._usage(place, ended, found)
        words = remains.last_words(ended.stdout, ended.stderr)
        if ended.reason == "exited" and ended.exit_code == UNAVAILABLE:
            wait = retry_after(read_tail(ended.stderr, 65536))
            usage = replace(usage, guessed_tokens=0)  # it did nothing
            return AgentUnavailable(key=run.key, until=self.clock.now() + wait, detail=words, usage=usage)
        if (failed := _failure(self, ended)) is not None:
            said = found.report.summary if isinstance(found, Result) and failed.reason == "needs_person" else words
            detail = f"{failed.detail}: {said}" if said else failed.detail
            return replace(failed, key=run.key, detail=detail, usage=usage, transcript=transcript)
        try:
            report = _usable(run, found)
        except AgentGarbled as error:
            return AgentFailed(key=run.key, reason="garbled", detail=error.why, usage=usage, transcript=transcript)
        report = replace(_with_strays(report, ended.strays), transcript=transcript, agent=self.name)
        return AgentReported(key=run.key, report=_placed(report, run.folder), usage=usage)

    def _usage(self, place: RunPlace, ended: StepEnded, found: Result | AgentGarbled | None) -> Usage:
        """What it says; of tokens that it says nothing about, no fewer than what went in and came out."""
        garbled = Usage(usd=found.usd) if isinstance(found, AgentGarbled) else Usage()
        said = replace(found.usage if isinstance(found, Result) else garbled, seconds=ended.seconds)
        if not self.silent_tokens or (isinstance(found, Result) and found.counted):
            return said
        seen = ended.stdout_bytes + ended.stderr_bytes + len(read_regular(place.brief, SIZE_LIMIT) or b"")
        return replace(said, guessed_tokens=max(self.silent_tokens, seen // _BYTES_PER_TOKEN))

    async def _transcript(self, place: RunPlace, ended: StepEnded, redactor: Redactor) -> Blob:
        """stdout, then stderr, without secrets: in the run folder from here on too."""
        whole = place.folder / "transcript"

        def joined() -> int:
            for path in (ended.stdout, ended.stderr, place.result):
                remains.redact_in_place(path, redactor)
            return join((ended.stdout, ended.stderr), whole)

        return await self.keep(whole) if await asyncio.to_thread(joined) else Blob("")


def _told(place: RunPlace) -> dict[str, str]:
    """What the run was told when it began."""
    try:
        facts = json.loads(place.context.read_bytes())
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in facts.items() if isinstance(value, str)} if isinstance(facts, dict) else {}


def _found(place: RunPlace, redactor: Redactor) -> Result | AgentGarbled | None:
    if not os.path.lexists(place.result):
        return None
    data = read_regular(place.result, SIZE_LIMIT)
    if data is None:
        return AgentGarbled("it is not a regular file")
    try:
        return read_result(data if len(data) > SIZE_LIMIT else redactor.data(data))
    except AgentGarbled as error:
        return error


def _failure(agent: CommandAgent, ended: StepEnded) -> AgentFailed | None:
    """The failure that shows without looking at the result, with what is known of it; None when there is none."""
    blank = AgentFailed(key=NO_KEY, reason="crashed")
    match ended.reason:
        case "wall":
            return replace(blank, reason="timed_out", detail=f"timed out after {agent.wall:g} s")
        case "idle":
            return replace(blank, reason="idle", detail=f"no output for {agent.idle or 0:g} s")
        case "cancelled" | "controller_gone":
            return replace(blank, detail="stopped from outside")
        case "not_found":
            return replace(blank, detail=ended.detail)
        case "exited":
            return _failed_exit(blank, ended)
        case _:
            assert_never(ended.reason)


def _failed_exit(blank: AgentFailed, ended: StepEnded) -> AgentFailed | None:
    if ended.exit_code == 0:
        return None
    if ended.exit_code == NEEDS_PERSON:
        return replace(blank, reason="needs_person", detail="the agent needs a person")
    if ended.exit_code is None:
        return replace(
            blank, detail=f"killed by signal {ended.signal}" + (f" ({ended.detail})" if ended.detail else "")
        )
    return replace(blank, detail=f"exit code {ended.exit_code}")


def _usable(run: AgentRun, found: Result | AgentGarbled | None) -> AgentReport:
    if isinstance(found, AgentGarbled):
        raise found
    if found is None and run.needs_verdict:
        raise AgentGarbled("there is no result file, and this role must give a verdict")
    return with_verdict(run, found.report if found else NO_REPORT)


def _with_strays(report: AgentReport, strays: int) -> AgentReport:
    if not strays:
        return report
    return replace(report, extras=json.dumps(json.loads(report.extras) | {"$strays": strays}, ensure_ascii=False))


def _placed(report: AgentReport, folder: Path) -> AgentReport:
    """Findings by path within the folder, with the identity their code gives them."""
    here = f"{folder}/"
    findings = tuple(replace(each, file=each.file.removeprefix(here).removeprefix("./")) for each in report.findings)
    return identified(replace(report, findings=findings), lambda finding: remains.code_line(folder, finding))
