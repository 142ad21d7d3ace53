"""Trees on which a command is run besides what would land: with what judges there as the base has it, or as it landed.

A command passes only where it passes on all of them, so that a file too many makes it stricter and never weaker.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loopwright.adapters.checks.desk import Desk
from loopwright.kernel.model import Commit, Demand, Tree, is_forbidden
from loopwright.kernel.programs import beside, named_files, started_by, started_files
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import join_names

_LARGEST = 256 * 1024  # bytes of a script that is looked into
_DEEPEST = 3  # scripts that start scripts
_MOST = 50  # files that are looked into
_NAMED = 5  # paths in a sentence
_SHOWN = 120  # characters of each


@dataclass(frozen=True, slots=True)
class StandIn:
    tree: Tree
    told: str = ""  # how it differs from what would land


async def stand_ins(desk: Desk, demand: Demand) -> tuple[StandIn, ...]:
    """None where nothing that judges was changed."""
    own, layout = frozenset(demand.own), desk.steering.layout
    # A task is to change the product: what a script imports of it is not as the base has it. What must not be is not
    # in the base either, so that all of it may be from there.
    spares = not is_forbidden(demand.name)
    base = _Origin(desk=desk, commit=desk.run.base, there=desk.paths, own=own, spares_product=spares)
    judging = await base.with_followed(frozenset(started_files(demand.argv, desk.paths)) - own)
    of_base = frozenset(path for path in judging & desk.seen.changed if not layout.is_test(path))
    landed, data = await _landed(desk, demand, judging) if demand.landed else (frozenset[str](), frozenset[str]())
    # Two files are compared, as often as not: where both were changed alike, one of them alone tells it.
    wanted = [(of_base, landed)] + ([(of_base, data)] if data and data != landed else [])
    return tuple([await _composed(desk, demand, *each) for each in wanted if any(each)])


async def _landed(desk: Desk, demand: Demand, judging: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """What the command names or starts and was changed since; and what of it is merely named."""
    source, after = desk.outfit.source, desk.run.after
    origin = _Origin(desk=desk, commit=demand.landed, there=frozenset(await source.paths(demand.landed)))
    started = frozenset(started_files(demand.argv, origin.there))
    named = origin.there.intersection(named_files(demand.argv))
    found = await origin.with_followed(started | named)
    changed = {each.path for each in await source.changes(demand.landed, desk.run.commit)}
    landed = frozenset(path for path in (found & changed) - judging if not after.is_allowed(path))
    return landed, (landed & named) - started


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """Where what judges is taken from."""

    desk: Desk
    commit: Commit
    there: frozenset[str]
    own: frozenset[str] = frozenset()  # files that whoever asks is to change
    spares_product: bool = False  # what a script imports or reads of it is what it looks at

    async def with_followed(self, roots: frozenset[str]) -> frozenset[str]:
        """And what these start in their turn, or need of their own folder."""
        found, fresh, left = roots, roots & self.there, _MOST
        for _ in range(_DEEPEST):
            asked = tuple(sorted(fresh))[:left]
            left -= len(asked)
            texts = (await self.desk.outfit.source.texts(self.commit, asked, limit=_LARGEST)).items()
            more = {each for path, text in texts for each in beside(path, text, self.there) if not self._spares(each)}
            more |= {each for path, text in texts for each in started_by(path, text, self.there)}
            fresh = self.there.intersection(more - found - self.own)
            found |= more - self.own
        return found

    def _spares(self, path: str) -> bool:
        return self.spares_product and path in self.there and self.desk.steering.layout.is_judged(path)


async def _composed(desk: Desk, demand: Demand, of_base: frozenset[str], landed: frozenset[str]) -> StandIn:
    tree, checkouts, told = desk.seen.landing, desk.outfit.checkouts, []
    if of_base:
        tree = await checkouts.compose(tree, taken_from=desk.run.base, paths=of_base)
        told.append(f"{_listed(of_base)} as the base has {'it' if len(of_base) == 1 else 'them'}")
    if landed:
        tree = await checkouts.compose(tree, taken_from=demand.landed, paths=landed)
        told.append(f"{_listed(landed)} as {'it' if len(landed) == 1 else 'they'} landed")
    return StandIn(tree, f" with {' and '.join(told)}")


def _listed(paths: Iterable[str]) -> str:
    return join_names([one_line(path, _SHOWN) for path in sorted(paths)], _NAMED)
