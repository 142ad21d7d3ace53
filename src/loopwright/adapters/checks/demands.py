"""Commands that a task, a criterion or a mustNot brings: run as they are on what would land, they can only fail.

One that passes shows something only if it failed where its work started: it is run there, too, once for all runs.
Nothing of them counts as a test or shows that anybody looks at the change. Each has a checkout of its own, so that what
one leaves behind is seen by no other, and the same command on the same tree says the same.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace

from loopwright.adapters.checks.candidate import changes_of
from loopwright.adapters.checks.desk import Desk, side_by_side
from loopwright.adapters.checks.environment import is_of_the_tree
from loopwright.adapters.checks.judgement import Ran, Rewriting, clipped, ended_how, mark
from loopwright.adapters.checks.local_installs import ENVIRONMENTS
from loopwright.adapters.checks.managed import in_environment
from loopwright.adapters.checks.receipts import Receipt, as_result, receipt_key, stands
from loopwright.adapters.checks.runnable import RUNNER_MISSING
from loopwright.adapters.checks.runners.table import Pace
from loopwright.adapters.checks.stand_ins import StandIn, stand_ins
from loopwright.adapters.checks.started import located
from loopwright.adapters.checks.trial_runs import TrialRuns
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.findings import identify
from loopwright.kernel.model import NO_COMMIT, CheckResult, Commit, Demand, Finding, Severity, Tree
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import join_names

_UNSAFE = re.compile(r"[^A-Za-z0-9 ._-]")  # in the name of a folder
_LONGEST_NAME = 80
_LONGEST_PART = 100  # of a program's path, in characters; file systems have no more than 255 bytes
_INSTALLED = (*ENVIRONMENTS, "node_modules")  # folders whose programs no change brings
_SHOWN = 300  # characters of a command in a sentence
_NAMED = 5  # paths in a sentence
_NO_CHECK = "\n"  # in the place of a check's name: no check is called so
_AT_START = "\nstart"  # the same for a run where the work starts, whose failure stands for good


async def demanded(desk: Desk, at_start: Commit | None = None) -> tuple[CheckResult, ...]:
    """One result per demand, in their order, on what would land, or on the commit where the work starts."""
    return await _with_red_before(desk, await _results(desk, desk.run.also, at_start))


async def fail_on(desk: Desk, demands: tuple[Demand, ...], tree: Tree) -> frozenset[str]:
    """Return the names of the demands whose commands fail on this tree."""
    meetings = [_Meeting(desk=desk, demand=demand) for demand in demands]
    return frozenset([each.demand.name for each in meetings if not await each.passes(tree)])


async def _with_red_before(desk: Desk, results: tuple[CheckResult, ...]) -> tuple[CheckResult, ...]:
    red: dict[int, bool] = {}
    passed = [at for at, result in enumerate(results) if result.passed]
    for start in dict.fromkeys(desk.run.also[at].start for at in passed if desk.run.also[at].start):
        places = [at for at in passed if desk.run.also[at].start == start]
        found = await _results(desk, tuple(desk.run.also[at] for at in places), start)
        red |= {at: not (result.passed or result.unable) for at, result in zip(places, found, strict=True)}
    return tuple(replace(result, red_before=red.get(at)) for at, result in enumerate(results))


async def _results(desk: Desk, also: tuple[Demand, ...], at_start: Commit | None = None) -> tuple[CheckResult, ...]:
    """Side by side, as many at once as checks, and each command once."""
    asking = {_same(demand): demand for demand in reversed(also)}  # the first that bring the same
    found = await side_by_side([_met(desk, demand, at_start) for demand in asking.values()])
    by_command = {command: result for command, (result,) in zip(asking, found, strict=True)}
    return tuple(_told(demand, by_command[_same(demand)]) for demand in also)


def _same(demand: Demand) -> Demand:
    return replace(demand, name="", start=NO_COMMIT)


def _told(demand: Demand, result: CheckResult) -> CheckResult:
    """As what asked for it is to hear it: a command that several bring fails each of them."""
    failures = tuple(
        identify(
            replace(
                each,
                rule=demand.rule,
                requirement=demand.name,
                issue=f"{demand.rule} failed: {each.issue}",
                fingerprint="",
            ),
            each.evidence,
        )
        for each in result.failures
    )
    return replace(result, name=demand.name, failures=failures)


async def _met(desk: Desk, demand: Demand, at_start: Commit | None) -> tuple[CheckResult, ...]:
    if why := _not_startable(demand.argv):
        return (_refused(demand, why),)
    meeting = _Meeting(desk=desk, demand=demand)
    try:
        return (await (meeting.result() if at_start is None else meeting.result_at_start(at_start)),)
    except CheckNotRunnable as error:
        return (_refused(demand, error.why),)


def _not_startable(argv: tuple[str, ...]) -> str:
    """What no system would start. Whoever wrote the command is an agent, as often as not."""
    if not argv or not argv[0].strip():
        return "it names no program"
    if max(map(len, argv[0].split("/"))) > _LONGEST_PART:
        return "no program has such a name"
    try:
        return "a word of it holds what no program can be given" if any(b"\0" in each.encode() for each in argv) else ""
    except UnicodeEncodeError:
        return "a word of it is no text"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meeting:
    desk: Desk
    demand: Demand

    @property
    def spec(self) -> CheckSettings:
        """Started as a check is: `.venv/bin/python` is the person's."""
        desk, name = self.desk, _UNSAFE.sub("-", self.demand.rule)[:_LONGEST_NAME]
        run = located(self.demand.argv, desk.outfit.root, (desk.paths | desk.seen.changed).__contains__)
        run = in_environment(run, desk.outfit.root, desk.environment)
        return CheckSettings(name=name, run=run, timeout=desk.demand_limit)

    async def result(self) -> CheckResult:
        """The first that fails, or that on what would land. Raises `CheckNotRunnable` where its program is missing."""
        environment = await self.desk.outfit.digests.of(self.spec)
        found = await self._on(StandIn(self.desk.seen.landing), environment)
        for each in await stand_ins(self.desk, self.demand) if found.passed else ():
            again = await self._on(each, environment)
            seconds = found.seconds + again.seconds
            found = replace(found if again.passed else again, seconds=seconds, reused=found.reused and again.reused)
            if not again.passed:
                break
        return found

    async def passes(self, tree: Tree) -> bool:
        """Run it on a tree that was made for the purpose; no receipt is kept of that."""
        ran = await self._run(self.spec, tree)
        return ran.finished and ran.exit_code == 0

    async def result_at_start(self, commit: Commit) -> CheckResult:
        """From its receipt where there is one. What fails is run once more: what passes then is flaky, not red."""
        desk, spec = self.desk, self.spec
        environment = await desk.outfit.digests.of(spec)
        tree = await desk.outfit.source.tree(commit)
        key = receipt_key(tree, _AT_START, spec.run, environment)
        held = await desk.book.find(key)
        if held is not None:
            return as_result(held)
        ran = await self._run(spec, tree)
        if ran.finished and ran.exit_code != 0:
            ran = await self._run(spec, tree)
        if ran.exit_code != 0 and (missing := RUNNER_MISSING.search(ran.tail)):
            raise CheckNotRunnable(spec.name, _command(self.demand.argv), missing.group())
        return await self._kept(await self._receipt(spec, ran, key, environment, ""), ran)

    async def _on(self, stand_in: StandIn, environment: str) -> CheckResult:
        """From its receipt where one stands."""
        desk, spec = self.desk, self.spec
        key = receipt_key(stand_in.tree, _NO_CHECK, spec.run, environment)
        held = await desk.book.find(key)
        if held is not None and stands(held, base=desk.run.base, step=desk.run.step):
            return as_result(held)
        ran = await self._run(spec, stand_in.tree)
        return await self._kept(await self._receipt(spec, ran, key, environment, stand_in.told), ran)

    async def _kept(self, receipt: Receipt, ran: Ran) -> CheckResult:
        if ran.finished:
            await self.desk.book.keep(receipt)
        return replace(
            as_result(receipt),
            reused=False,
            seconds=ran.seconds,
            receipt=receipt.key if ran.finished else "",
        )

    async def _run(self, spec: CheckSettings, tree: Tree) -> Ran:
        """In a fresh checkout, gone afterwards with whatever it writes."""
        async with TrialRuns(desk=self.desk, specs=(spec,)).bench(spec, tree) as bench:
            return replace(await bench.run(spec, Pace(verbatim=True)), bent=(), wrote=Rewriting())

    async def _receipt(self, spec: CheckSettings, ran: Ran, key: str, environment: str, told: str) -> Receipt:
        passed = ran.finished and ran.exit_code == 0
        failures = () if passed else (self._failure(spec, ran, told),)
        made = await self.desk.receipt(spec, ran, tree=self.desk.seen.landing, key=key, environment=environment)
        return replace(made, result="pass" if passed else "fail", failing=tuple(map(mark, failures)), failures=failures)

    def _failure(self, spec: CheckSettings, ran: Ran, told: str) -> Finding:
        """In words that whoever asked for it stands before."""
        ended = ended_how(replace(spec, run=(_command(self.demand.argv),)), ran) + told
        text = clipped(f"{visible(shlex.join(self.demand.argv))}\n{ended}\n{ran.tail}")
        return identify(
            Finding(severity=Severity.HIGH, category="checks", issue=ended, evidence=text, guidance=self._without()),
            text,
        )

    def _without(self) -> str:
        """It may fail for want of just that."""
        paths = tuple(change.path for change in changes_of(self.desk.seen.held))
        told = f"It ran without what is held back until a person approves: {join_names(paths, _NAMED)}"
        return told if paths else ""


def _refused(demand: Demand, why: str) -> CheckResult:
    """Nobody but whoever wrote the command can mend it, unless it names a file of the tree that is still to be made."""
    command = _command(demand.argv)
    told = f"`{command}` cannot be started: {one_line(why, _SHOWN)}" if command else f"its command cannot start: {why}"
    found = Finding(severity=Severity.HIGH, category="checks", issue=told)
    is_made = bool(demand.argv) and is_of_the_tree(demand.argv) and demand.argv[0].split("/")[0] not in _INSTALLED
    return CheckResult(
        name=demand.name, passed=False, failures=(identify(found),), note=told, unable="" if is_made else told
    )


def _command(argv: tuple[str, ...]) -> str:
    return one_line(shlex.join(argv), _SHOWN)
