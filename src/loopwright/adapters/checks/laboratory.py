"""The trees of one candidate, broken on purpose, and the checks that are to notice it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.canary.answers import Before, answering, find_likely, tried
from loopwright.adapters.checks.canary.look import TO_COME, CanaryQuestion, Noticed, Place, look
from loopwright.adapters.checks.canary.plan import Edits
from loopwright.adapters.checks.candidate import Candidate
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.ids import file_of
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.checks.order import predecessors
from loopwright.adapters.checks.origins import origins
from loopwright.adapters.checks.package_places import packages_elsewhere
from loopwright.adapters.checks.receipts import receipt_key
from loopwright.adapters.checks.runners.table import Pace
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import DecodeError, decode, encode
from loopwright.kernel.model import NO_COMMIT, CheckResult, Tree
from loopwright.kernel.trust import Canary, Classed, FileClass

_LARGEST = 512 * 1024
_MOST_READ = 400  # files of tests
_NOBODY = Canary(
    said="untested-change",
    sentence="No test passes here, so that none can notice when the change is broken on purpose:"
    " write one that passes, and fails without it.",
)


async def look_at(
    desk: Desk,
    specs: tuple[CheckSettings, ...],
    judging: tuple[CheckResult, ...],
    landing: tuple[CheckResult, ...],
    exercised: tuple[str, ...] = (),
) -> Canary:
    """Made once for a candidate: what was seen of these trees with these commands is seen again.

    `exercised`: see `CanaryQuestion`.
    """
    old, new = (frozenset(result.name for result in results if result.tests) for results in (judging, landing))
    names, counts = answering(specs, old | new)
    seen = desk.seen
    marks = [await desk.outfit.digests.of(spec) for spec in specs if spec.name in names]
    words = tuple(word for spec in specs if spec.name in names for word in (spec.name, *spec.run))
    only_reads = desk.run.trust.tests_to_come
    since = desk.run.after.commit if desk.run.after.noticed else NO_COMMIT
    asked = f"canary {seen.landing} {seen.base}{' reads' if only_reads else ''}{f' since {since}' if since else ''}"
    asked += f" exercised by {' '.join(exercised)}" if exercised else ""
    key = receipt_key(seen.judging, asked, words, " ".join(marks))
    if (held := await desk.book.text(key)) is not None:
        try:
            return decode(Canary, held)
        except DecodeError:
            pass  # it is only asked again
    laboratory = _Laboratory(desk=desk, specs=specs, judging=judging, landing=landing, counts=counts)
    by_new_alone = bool(new and not old)
    question = CanaryQuestion(
        changes=_with_approved(seen) if by_new_alone else seen.classed,
        checks=names,
        counts=counts,
        lands_apart=seen.landing != seen.judging and not by_new_alone,
        only_reads=only_reads,
        since=bool(since),
        exercised=exercised,
        ground="landing" if by_new_alone else "judging",
    )
    nobody = Canary(said="not-shown", sentence=TO_COME) if only_reads else _NOBODY
    found = await look(question, laboratory) if await laboratory.has_green(names) else nobody
    await desk.book.keep_text(key, encode(found))
    return found


def _with_approved(seen: Candidate) -> tuple[Classed, ...]:
    """Where nothing was tested before, code in a place that nobody knew as one for code is what was made, once a person
    let it in."""
    made = frozenset(each.change.path for each in seen.approved if each.kind is FileClass.JUDGE)
    return tuple(replace(each, kind=FileClass.PRODUCT) if each.change.path in made else each for each in seen.classed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Laboratory:
    """Implements `canary.look.Laboratory`."""

    desk: Desk
    specs: tuple[CheckSettings, ...]
    judging: tuple[CheckResult, ...]
    landing: tuple[CheckResult, ...]
    counts: bool  # then a check answers only where it has tests
    _before: dict[tuple[Place, str], Before] = field(default_factory=dict)

    async def has_green(self, names: tuple[str, ...]) -> bool:
        """Whether a test passed that could notice anything, or nobody knows which did."""
        places: tuple[Place, ...] = ("judging", "landing")
        found = [(where, self._result(where, name)) for where in places for name in names]
        before = [await self._green(where, result) for where, result in found if result and result.tests]
        return not before or any(each.green or not each.others for each in before)

    async def try_with(self, where: Place, edits: Edits, checks: tuple[str, ...]) -> Mapping[str, Noticed]:
        whole, checks = self._tree(where), tuple(name for name in checks if self._answers(where, name))
        tree = await self.desk.outfit.checkouts.compose(whole, taken_from=whole, paths=frozenset(), texts=edits.texts)
        said = await asyncio.gather(
            *(self._try(where, tree, spec, edits) for spec in self.specs if spec.name in checks)
        )
        return dict(zip((spec.name for spec in self.specs if spec.name in checks), said, strict=True))

    async def _try(self, where: Place, tree: Tree, spec: CheckSettings, edits: Edits) -> Noticed:
        commit = self.desk.run.base if where == "base" else self.desk.run.commit
        result = self._result(where, spec.name)
        before = await self._green(where, result)
        files = tuple(sorted({file_of(test) for test in before.green} - {""}))
        texts = await self.desk.outfit.source.texts(self._tree(where), files[:_MOST_READ], limit=_LARGEST)
        likely = find_likely(edits.names, texts)
        seconds = result.seconds if result else 0.0
        async with AsyncExitStack() as stack:
            bench = replace(self.desk, stack=stack).bench((*predecessors(spec, self.specs), spec), tree, commit)

            async def start(spec: CheckSettings, *, pace: Pace) -> Ran:
                return await bench.run(spec, pace=pace)

            return await tried(spec, start, before, seconds=seconds, broken=tuple(edits.texts), likely=likely)

    def _answers(self, where: Place, name: str) -> bool:
        result = self._result(where, name)
        return not self.counts or (result is not None and bool(result.tests))

    def _result(self, where: Place, name: str) -> CheckResult | None:
        results = self.landing if where == "landing" else self.judging
        return next((result for result in results if result.name == name), None)

    async def _green(self, where: Place, result: CheckResult | None) -> Before:
        """The ids of the run just made. On the base, those that it shares with the judging run."""
        if result is None or not result.receipt:
            return Before()
        known = self._before.get((where, result.name))
        if known is None:
            ids = await self.desk.outfit.ids(result.receipt, self.desk.book)
            known = Before(
                frozenset(test for test, how in ids if how == "passed"),
                frozenset(test for test, how in ids if how != "passed"),
            )
            self._before[where, result.name] = known
        return known

    def _tree(self, where: Place) -> Tree:
        seen = self.desk.seen
        return {"judging": seen.judging, "landing": seen.landing, "base": seen.base}[where]

    async def texts(self, where: Place, paths: tuple[str, ...]) -> Mapping[str, bytes]:
        place = self.desk.run.after.commit if where == "before" else self._tree(where)
        found = await self.desk.outfit.source.texts(place, paths, limit=_LARGEST)
        return {path: text.encode("utf-8", "surrogateescape") for path, text in found.items()}

    async def product(self) -> tuple[str, ...]:
        paths = await self.desk.outfit.source.paths(self.desk.seen.judging)
        return tuple(path for path in paths if self.desk.steering.layout.is_judged(path))

    async def found_at(self, package: str) -> str:
        desk = self.desk
        async with desk.outfit.checkouts.lay(desk.seen.judging, commit=desk.run.commit, base=desk.run.base) as laid:
            for spec in self.specs:
                found = await origins(spec.run, desk.environment, laid.folder, desk.outfit.root)
                for each in (*found.certain, *found.doubtful):
                    if each.package == package:
                        return each.place
        return ""

    async def elsewhere(self, paths: tuple[str, ...]) -> Mapping[str, str]:
        return await packages_elsewhere(self.desk, self.specs, paths)
