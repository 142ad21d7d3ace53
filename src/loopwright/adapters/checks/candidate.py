"""A candidate by the classes of what it changes: which trees its runs are made on, and what waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.adapters.checks.checkouts import Checkouts, ObjectReader
from loopwright.kernel.gates import evidence, matches
from loopwright.kernel.model import Change, Commit, Tree
from loopwright.kernel.trust import Classed, FileClass, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """`judging` has nothing an agent wrote but the product; `landing` is what would land; `whole` is all of it."""

    base: Tree
    judging: Tree
    landing: Tree
    whole: Tree
    classed: tuple[Classed, ...]
    gated: tuple[Classed, ...]  # what needs a person's word, approved or not
    held: tuple[Classed, ...]  # what of it nobody has approved and the runs do without
    waiting: tuple[Classed, ...]  # what of it nobody has approved and no run can do without

    @property
    def open(self) -> tuple[Classed, ...]:
        return (*self.held, *self.waiting)

    def paths(self, how: Literal["added", "changed", "removed"]) -> frozenset[str]:
        return frozenset(each.change.path for each in self.classed if each.change.how == how)

    @property
    def evidence(self) -> str:
        return evidence(changes_of(self.gated))


def changes_of(classed: tuple[Classed, ...]) -> tuple[Change, ...]:
    return tuple(each.change for each in classed)


async def composed(
    classed: tuple[Classed, ...],
    commit: Commit,
    trust: Trust,
    approved: tuple[str, ...],
    *,
    checkouts: Checkouts,
    source: ObjectReader,
) -> Candidate:
    gated = tuple(each for each in classed if each.is_gated and not _is_allowed(each, trust.allow))
    is_approved = bool(gated) and evidence(changes_of(gated)) in approved
    open_ = () if is_approved else gated
    held = tuple(each for each in open_ if not each.waits)
    shut = frozenset(each.change.path for each in open_)
    judged = frozenset(
        each.change.path for each in classed if each.is_judged or (each.is_gated and each.change.path not in shut)
    )
    judging = await checkouts.compose(
        trust.base,
        taken_from=commit,
        paths=judged,
        texts={
            each.change.path: each.judged for each in classed if each.judged is not None and not _is_let(each, shut)
        },
    )
    landing = await checkouts.compose(
        commit,
        taken_from=trust.base,
        paths=frozenset(each.change.path for each in held if not each.is_landed),
        texts={each.change.path: each.landed for each in held if each.landed is not None},
    )
    return Candidate(
        base=await source.tree(trust.base),
        judging=judging,
        landing=landing,
        whole=await source.tree(commit),
        classed=classed,
        gated=gated,
        held=held,
        waiting=tuple(each for each in open_ if each.waits),
    )


def _is_let(each: Classed, shut: frozenset[str]) -> bool:
    """A person's word covers it, so that the file is as the candidate has it."""
    return each.is_gated and each.change.path not in shut


def _is_allowed(each: Classed, allow: tuple[str, ...]) -> bool:
    """A word beforehand opens tests, never a judge."""
    return each.kind is FileClass.CHANGED_TEST and any(matches(each.change.path, pattern) for pattern in allow)
