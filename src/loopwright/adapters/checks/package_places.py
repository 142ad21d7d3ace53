"""Where the checks of a verification import the project's packages from: asked on the base, once for each check."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.origins import Origins, origins, refuse_elsewhere
from loopwright.adapters.checks.receipts import receipt_key
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import DecodeError, decode, encode


async def refuse_other_trees(desk: Desk, specs: tuple[CheckSettings, ...]) -> None:
    """Raises `PackageElsewhere` where a check would run another tree than the one it is to judge."""
    for spec, found in (await _origins(desk, specs)).items():
        refuse_elsewhere(spec, found)


async def packages_elsewhere(desk: Desk, specs: tuple[CheckSettings, ...], paths: tuple[str, ...]) -> Mapping[str, str]:
    """Of these files those that belong to a package which a check finds elsewhere, with that in words."""
    found = [each for known in (await _origins(desk, specs)).values() for each in known.doubtful]
    return {
        path: f"{each.package} is imported from {each.place}"
        for path in paths
        for each in found
        if path == each.path or path.startswith(f"{each.path}/")
    }


async def _origins(desk: Desk, specs: tuple[CheckSettings, ...]) -> Mapping[CheckSettings, Origins]:
    """As long as nothing else is installed or linked nobody is asked again: a checkout may be thousands of files."""
    links = desk.outfit.package_links
    keys = {
        spec: receipt_key(
            desk.seen.base,
            f"packages {spec.name}",
            spec.run,
            f"{await desk.outfit.digests.of(spec)} {links}",
        )
        for spec in specs
    }
    found = {spec: known for spec in specs if (known := _read_back(await desk.book.text(keys[spec]))) is not None}
    if len(found) == len(specs):
        return found
    async with desk.outfit.checkouts.lay(desk.seen.base, commit=desk.run.base, base=desk.run.base) as laid:
        for spec in (spec for spec in specs if spec not in found):
            found[spec] = await origins(spec.run, desk.environment, laid.folder, desk.outfit.root)
            if not found[spec].certain:
                await desk.book.keep_text(keys[spec], encode(found[spec]))
    return found


def _read_back(text: str | None) -> Origins | None:
    try:
        return None if text is None else decode(Origins, text)
    except DecodeError:
        return None
