"""Where the checks of a verification import the project's packages from: asked once for each tree and check."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.origins import Origins, origins, refuse_elsewhere
from loopwright.adapters.checks.receipts import read_as, receipt_key
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import encode
from loopwright.kernel.model import Tree


async def refuse_other_trees(desk: Desk, specs: tuple[CheckSettings, ...]) -> None:
    """Raises `PackageElsewhere` where a check would run another tree than the one it is to judge."""
    for spec, found in (await _origins(desk, specs, desk.seen.base)).items():
        refuse_elsewhere(spec, found)


async def packages_elsewhere(
    desk: Desk, specs: tuple[CheckSettings, ...], paths: tuple[str, ...], tree: Tree
) -> Mapping[str, str]:
    """Of these files those that may belong to a package which a check finds elsewhere, with that in words."""
    origins_of = (await _origins(desk, specs, tree)).values()
    found = [each for known in origins_of for each in (*known.certain, *known.doubtful)]
    return {
        path: f"{each.package} is imported from {each.place}"
        for path in paths
        for each in found
        if not each.path or path == each.path or path.startswith(f"{each.path}/")
    }


async def _origins(desk: Desk, specs: tuple[CheckSettings, ...], tree: Tree) -> Mapping[CheckSettings, Origins]:
    """As long as nothing else is installed or linked nobody is asked again: a checkout may be thousands of files."""
    links = desk.outfit.package_links
    keys = {
        spec: receipt_key(
            tree,
            f"packages {spec.name}",
            spec.run,
            f"{await desk.outfit.digests.of(spec)} {links}",
        )
        for spec in specs
    }
    found = {spec: known for spec in specs if (known := read_as(Origins, await desk.book.text(keys[spec]))) is not None}
    if len(found) == len(specs):
        return found
    commit = desk.run.base if tree == desk.seen.base else desk.run.commit
    async with desk.outfit.checkouts.lay(tree, commit=commit, base=desk.run.base) as laid:
        for spec in (spec for spec in specs if spec not in found):
            found[spec] = await origins(spec.run, desk.environment, laid.folder, desk.outfit.root)
            if not found[spec].certain:
                await desk.book.keep_text(keys[spec], encode(found[spec]))
    return found
