"""Whether the checks look at the change: it is broken on purpose, and somebody notices or not.

What it costs: a try is one run of the checks that stops at the first failure, and none is made twice. A change that is
noticed where it should be takes one; all touched functions that the base has are broken in it at once, for one red is
enough. Only what went unnoticed is asked about again, and never by more than five more tries.
What is tried are trees, made of nothing but the change: the same candidate asks for the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from loopwright.adapters.checks.canary.plan import CanaryPlan, Edits, planned, to_break
from loopwright.kernel.trust import Canary, Classed
from loopwright.kernel.wording import counted

Place = Literal["judging", "landing", "base", "before"]
TO_COME = "The tests of this change are still to be written: none that is there notices when it is broken on purpose."
_MOST_NAMED = 5
_DONE = {"exercises": "made to raise", "reads": "made unparsable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """What one check said of a broken tree."""

    red: bool  # a test that was green in the run just made is not, or nothing could be built
    seconds: float = 0.0
    tail: str = ""  # the last lines of its output
    uncounted: int = 0  # tests that fail and were skipped in the run just made, or failed in it and were forgiven


class Laboratory(Protocol):
    """The trees of one candidate, and checks that run on them with files replaced."""

    async def try_with(self, where: Place, edits: Edits, checks: tuple[str, ...]) -> Mapping[str, Noticed]: ...

    async def texts(self, where: Place, paths: tuple[str, ...]) -> Mapping[str, bytes]:
        """The content of these files; what is not there is left out."""

    async def product(self) -> tuple[str, ...]:
        """Every file of class product in the judging tree."""

    async def found_at(self, package: str) -> str:
        """Where the checks' interpreter finds a package, if that is not in the checkout; else empty."""

    async def elsewhere(self, paths: tuple[str, ...]) -> Mapping[str, str]:
        """Of these files those whose package the checks may find outside of the checkout, with that in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryQuestion:
    changes: tuple[Classed, ...]
    checks: tuple[str, ...]  # that may answer, see `answers.answering`
    counts: bool = True  # they count tests; False: their exit codes answer, and only whether files are read
    lands_apart: bool = False  # the landing tree is not the judging one
    only_reads: bool = False  # tests that run the change are still to be written
    since: bool = False  # what was there before it, and is no base, is not asked about
    exercised: tuple[str, ...] = ()  # checks with a new test that fails when all that the change touched raises
    ground: Literal["judging", "landing"] = "judging"  # landing: the base has no test that could notice anything


async def look(question: CanaryQuestion, laboratory: Laboratory) -> Canary:
    """Made once for a candidate whose runs passed."""
    if not question.checks:
        return Canary(said="not-shown", sentence="No check that runs tests can say whether it looks at this change.")
    plan, spared = await _plan(question, laboratory), tuple(e.change.path for e in question.changes if e.spared)
    if plan.is_only_data:
        what = "tests, data and text" if spared else "data and text"
        return Canary(said="not-shown", sentence=f"Only {what} changed: nothing that could be broken on purpose.")
    looking = _Looking(question=question, laboratory=laboratory, plan=plan)
    found = await looking.answer()
    if found.said in ("noticed", "untested-change"):
        found = await looking.beside() or found
    if found.said in ("noticed", "disarmed") and spared:
        told = f"What was named for this review judged as it is now: {_named(Edits(names=spared))}."
        found = replace(found, sentence=f"{found.sentence} {told}")
    return replace(found, seconds=looking.seconds)


async def _plan(question: CanaryQuestion, laboratory: Laboratory) -> CanaryPlan:
    changed = to_break(question.changes)
    judging = await laboratory.texts("judging", changed)
    landing = await laboratory.texts("landing", changed) if question.lands_apart else judging
    return planned(
        question.changes,
        base=await laboratory.texts("base", changed),
        judging=judging,
        landing=landing,
        before=await laboratory.texts("before", changed) if question.since else None,
        product=await laboratory.product(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    red: tuple[str, ...]
    green: tuple[str, ...]
    uncounted: int = 0


@dataclass(slots=True, kw_only=True)
class _Looking:
    question: CanaryQuestion
    laboratory: Laboratory
    plan: CanaryPlan
    seconds: float = 0.0

    async def answer(self) -> Canary:
        if self.question.counts and not self.question.only_reads and self.plan.functions.texts:
            return await self._exercised()
        if self.plan.files.texts:
            return await self._read()
        return await self._stood_in_for()

    async def _exercised(self) -> Canary:
        """Functions of the base are asked for alone: they have tests, and no new test cures what keeps these away."""
        kept, functions, tried = self.plan.kept, self.plan.functions, _Tried(red=(), green=())
        if kept.texts:
            if (tried := await self._try(self.question.ground, kept)).red:
                return _noticed(tried, "exercises", self.question.ground, kept)
            if self.plan.on_base.texts and (on_base := await self._try("base", self.plan.on_base)).red:
                return _disarmed(on_base, self.plan.on_base)
        if shown := tuple(name for name in self.question.checks if name in self.question.exercised):
            others = tuple(name for name in self.question.checks if name not in shown)
            return _noticed(_Tried(red=shown, green=others), "exercises", "landing", self.plan.landing)
        if kept.names != functions.names and (tried := await self._try(self.question.ground, functions)).red:
            return _noticed(tried, "exercises", self.question.ground, functions)
        if self.question.lands_apart and (landing := await self._try("landing", self.plan.landing)).red:
            return _noticed(landing, "exercises", "landing", self.plan.landing)
        return await self._unnoticed("exercises", functions, tried.uncounted)

    async def _read(self) -> Canary:
        tried = await self._try(self.question.ground, self.plan.files)
        if tried.red:
            return _noticed(tried, "reads", self.question.ground, self.plan.files)
        if self.question.lands_apart and (landing := await self._try("landing", self.plan.files)).red:
            return _noticed(landing, "reads", "landing", self.plan.files)
        return await self._unnoticed("reads", self.plan.files, tried.uncounted)

    async def _stood_in_for(self) -> Canary:
        """Nothing of the change is left to break: what stands beside it shows that the checks read this tree."""
        witness = self.plan.witness
        if (tried := await self._try(self.question.ground, witness)).red:
            return _noticed(tried, "reads", self.question.ground, witness)
        if (unread := await self._unread(witness)) is not None:
            return unread
        sentence = (
            f"Nothing of the change is left to break, and no check reads what stands beside it ({_named(witness)})."
        )
        return Canary(said="not-shown", blind=self.question.checks, sentence=sentence)

    async def _unnoticed(self, how: Literal["exercises", "reads"], missed: Edits, uncounted: int) -> Canary:
        is_read = bool((await self._try(self.question.ground, self.plan.witness)).red)
        if not is_read and (unread := await self._unread(missed)) is not None:
            return unread
        if self.question.only_reads:
            return Canary(said="not-shown", blind=self.question.checks, missed=missed.names, sentence=TO_COME)
        return Canary(
            said="untested-change",
            blind=self.question.checks,
            missed=missed.names,
            sentence=f"{_nobody(uncounted)} notices when the change is broken on purpose ({_DONE[how]}:"
            f" {_named(missed)}): write a test that fails without it.",
        )

    async def _unread(self, missed: Edits) -> Canary | None:
        """None: other code of this tree is read, or nobody but its maker has written tests, who may write more.

        A package that comes from elsewhere is not read, whatever else is.
        """
        elsewhere = await self._elsewhere()
        if not elsewhere and self.question.ground == "landing":
            return None
        is_all = self.plan.everything.texts == self.plan.witness.texts
        if not elsewhere and not is_all and (await self._try(self.question.ground, self.plan.everything)).red:
            return None
        place = elsewhere or "they may run an installed copy, or another tree"
        return Canary(
            said="unread",
            blind=self.question.checks,
            missed=missed.names,
            sentence=f"No check reads this tree: all stay green with files that cannot even be parsed"
            f" ({_named(self.plan.witness)}); {place}.",
        )

    async def beside(self) -> Canary | None:
        """Code that stands for nothing, whatever was noticed of the rest: its package comes from elsewhere, and nobody
        misses it. What tests load by its path comes from here."""
        places = await self.laboratory.elsewhere(self.plan.python)
        for said in dict.fromkeys(places.values()):
            paths = tuple(path for path in self.plan.python if places.get(path) == said)
            edits = Edits(texts={path: self.plan.witness.texts[path] for path in paths}, names=paths)
            if (await self._try(self.question.ground, edits)).red:
                continue
            if self.question.lands_apart and (await self._try("landing", edits)).red:
                continue
            told = f"No check reads {_named(edits)}: all stay green with files that cannot even be parsed; {said}."
            return Canary(said="unread", blind=self.question.checks, missed=paths, sentence=told)
        return None

    async def _elsewhere(self) -> str:
        found = [(name, await self.laboratory.found_at(name)) for name in self.plan.packages]
        return ", ".join(f"{name} is imported from {where}" for name, where in found if where)

    async def _try(self, where: Place, edits: Edits) -> _Tried:
        said = await self.laboratory.try_with(where, edits, self.question.checks)
        self.seconds += sum(each.seconds for each in said.values())
        red = tuple(name for name in self.question.checks if name in said and said[name].red)
        green = tuple(name for name in self.question.checks if name not in red)
        return _Tried(red=red, green=green, uncounted=sum(each.uncounted for each in said.values()))


def _noticed(
    tried: _Tried, how: Literal["exercises", "reads"], where: Literal["judging", "landing"], edits: Edits
) -> Canary:
    whose = ", by new tests alone" if where == "landing" else ""
    blind = f"; not by {' and '.join(tried.green)}, which does not look at this change" if tried.green else ""
    return Canary(
        said="noticed",
        how=how,
        where=where,
        noticed_by=tried.red,
        blind=tried.green,
        sentence=f"Broken on purpose ({_DONE[how]}: {_named(edits)}), it is noticed by"
        f" {' and '.join(tried.red)}{whose}{blind}.",
    )


def _nobody(uncounted: int) -> str:
    """Reports call a test skipped of which a part is: it may notice, and yet nobody can tell that it ran before."""
    if not uncounted:
        return "No test"
    them = counted(uncounted, "test that fails then was", "tests that fail then were")
    return f"No test that passed before ({them} skipped, in whole or in part, or failing)"


def _disarmed(on_base: _Tried, edits: Edits) -> Canary:
    return Canary(
        said="disarmed",
        how="exercises",
        blind=on_base.red,
        missed=edits.names,
        sentence=f"On the base {' and '.join(on_base.red)} notices when {_named(edits)} raises, with this change it"
        " does not: the product keeps its own tests from running it.",
    )


def _named(edits: Edits) -> str:
    rest = len(edits.names) - _MOST_NAMED
    return ", ".join(edits.names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
