"""A candidate by the classes of what it changes: which trees its runs are made on, and what waits for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from loopwright.adapters.checks.checkouts import Checkouts, ObjectReader
from loopwright.kernel.gates import evidence, runs_code
from loopwright.kernel.model import Change, Commit, Tree
from loopwright.kernel.trust import Classed, FileClass, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """`judging` has nothing an agent wrote but the product; `landing` is what would land; `whole` is all of it.

    `measure` is what the runs are compared with: the base, or what the base has without tests that a person let change.
    """

    base: Tree
    measure: Tree
    judging: Tree
    landing: Tree
    whole: Tree
    classed: tuple[Classed, ...]
    gated: tuple[Classed, ...]  # what needs a person's word, approved or not
    held: tuple[Classed, ...]  # what of it nobody has approved and the runs do without
    waiting: tuple[Classed, ...]  # what of it nobody has approved and no run can do without
    start: Tree  # where the work began: the base, or what landed before it under the same root
    made: tuple[Classed, ...]  # what was changed since then
    before: Tree | None = None  # what landed before, where nobody may change a test of it
    earlier: Tree | None = None  # the product as it would land with the tests that landed before, and no others

    red: Tree | None = None  # what would land, with the tests that it changes and that were red, in that version
    red_changes: tuple[Change, ...] = ()  # the changes to these

    @property
    def open(self) -> tuple[Classed, ...]:
        return (*self.held, *self.waiting)

    def paths(self, how: Literal["added", "changed", "removed"]) -> frozenset[str]:
        return frozenset(each.change.path for each in self.classed if each.change.how == how)

    @property
    def altered_tests(self) -> frozenset[str]:
        """Files of tests that the candidate changes or removes, without those that are held back."""
        altered = (each for each in self.classed if each.kind is FileClass.TEST and each.change.how != "added")
        return _paths(altered) - _paths(self.held)

    @property
    def allowed_tests(self) -> frozenset[str]:
        """Files of tests that a person let change beforehand, and that the candidate changes or removes."""
        return _paths(each for each in self.classed if each.allowed and each.kind is FileClass.TEST)

    @property
    def changed(self) -> frozenset[str]:
        return _paths(self.classed)

    @property
    def product(self) -> frozenset[str]:
        """What is made of it, and code in a place that nobody knew as one for code, once a person let it in."""
        made = _paths(each for each in self.classed if each.kind is FileClass.PRODUCT)
        return made | _paths(each for each in self.approved if each.kind is FileClass.JUDGE)

    @property
    def judged_anew(self) -> frozenset[str]:
        """What is not as in the base where the product is judged: of the rest the base's version lies there."""
        judged = (each for each in self.classed if each.is_judged or each.judged is not None or each in self.approved)
        return _paths(judged)

    @property
    def put_back(self) -> tuple[str, ...]:
        return tuple(sorted(_paths(each for each in self.classed if each.put_back)))

    @property
    def approved(self) -> tuple[Classed, ...]:
        return tuple(each for each in self.gated if each not in self.open)

    def leaves_nothing(self, is_test: Callable[[str], bool]) -> bool:
        """Without what is held back nothing is left to land; or nothing but tests, which say nothing of the rest.

        Where only tests are held back, others that were written with them are what the work was about.
        """
        if self.landing == self.base:
            return True
        return self.judging == self.measure and self.holds_more_than_tests(is_test)

    def holds_more_than_tests(self, is_test: Callable[[str], bool]) -> bool:
        return any(not is_altered_test(each) and not is_test(each.change.path) for each in self.held)

    @property
    def evidence(self) -> str:
        return evidence(changes_of(self.gated))


def changes_of(classed: tuple[Classed, ...]) -> tuple[Change, ...]:
    """What decides what is executed comes first, so that a long list does not hide it."""
    return tuple(sorted((each.change for each in classed), key=lambda change: not runs_code(change.path)))


async def composed(
    classed: tuple[Classed, ...],
    commit: Commit,
    trust: Trust,
    approved: tuple[Change, ...],
    *,
    checkouts: Checkouts,
    source: ObjectReader,
) -> Candidate:
    gated = tuple(each for each in classed if each.is_gated)
    shut = tuple(each for each in gated if each.change not in approved)
    held = tuple(each for each in shut if not each.waits)
    opened = tuple(each for each in classed if each not in shut and not each.put_back)
    let_in = tuple(each for each in opened if each.change in approved)
    judged = tuple(each for each in classed if each.is_judged or each in let_in)
    judging = await checkouts.compose(
        trust.base,
        taken_from=commit,
        paths=_paths(judged) | _moved(judged, _paths(each for each in classed if each.kind is FileClass.TEST)),
        texts={each.change.path: each.judged for each in classed if each.judged is not None and each not in let_in},
    )
    back = _paths(each for each in classed if each.put_back)
    landing = await checkouts.compose(
        commit,
        taken_from=trust.base,
        paths=back | _paths(each for each in held if not each.is_landed),
    )
    base = await source.tree(trust.base)
    return Candidate(
        base=base,
        measure=base,
        judging=judging,
        landing=landing,
        whole=await checkouts.compose(commit, taken_from=trust.base, paths=back),
        classed=classed,
        gated=gated,
        held=held,
        waiting=tuple(each for each in shut if each.waits),
        start=base,
        made=classed,
    )


async def without_allowed_tests(seen: Candidate, checkouts: Checkouts) -> Candidate:
    """The candidate, judged and measured by the tests that a person did not let change."""
    gone = dict.fromkeys(seen.allowed_tests)
    measure, judging = [
        await checkouts.compose(tree, taken_from=tree, paths=frozenset(), texts=gone)
        for tree in (seen.base, seen.judging)
    ]
    return replace(seen, measure=measure, judging=judging)


def is_altered_test(each: Classed) -> bool:
    return each.kind is FileClass.CHANGED_TEST or (each.kind is FileClass.TEST and each.change.how != "added")


async def without_tests(seen: Candidate, paths: frozenset[str], checkouts: Checkouts) -> Candidate:
    """The candidate, where these files of tests are held back: they land as they were where the work began."""
    landing = await checkouts.compose(seen.landing, taken_from=seen.start, paths=paths)
    held = tuple(each for each in seen.classed if each.change.path in paths)
    return replace(seen, landing=landing, held=(*seen.held, *held), gated=(*seen.gated, *held))


def _paths(classed: Iterable[Classed]) -> frozenset[str]:
    return frozenset(each.change.path for each in classed)


def _moved(judged: tuple[Classed, ...], added: frozenset[str]) -> frozenset[str]:
    """Where tests of the base are that were allowed to go elsewhere as they are: they judge from there."""
    return added & {each.change.moved for each in judged if is_altered_test(each)}
