"""Whether a change leaves the product as it was: comments, docstrings and layout apart, its files are parsed equal."""

from __future__ import annotations

from loopwright.adapters.checks.canary.hollow import same_code
from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.kernel.model import Commit
from loopwright.kernel.trust import Classed, FileClass

_LARGEST = 512 * 1024  # bytes of a file that is parsed


async def is_same_product(source: TreeReader, before: Commit, after: Commit, classed: tuple[Classed, ...]) -> bool:
    """Return whether the changes are to texts, and to product files that are equal after parsing, and to no others.

    Only Python is parsed: a changed file of another language is another product. So are tests inside a product file.
    """
    made = tuple(each for each in classed if each.kind is not FileClass.TEXT)
    if not classed or not all(map(_may_be_same, made)):
        return False
    paths = tuple(each.change.path for each in made)
    old = await source.texts(before, paths, limit=_LARGEST)
    new = await source.texts(after, paths, limit=_LARGEST)
    return all(path in old and path in new and same_code(_bytes(old[path]), _bytes(new[path])) for path in paths)


def _may_be_same(each: Classed) -> bool:
    is_product = each.kind is FileClass.PRODUCT and not each.is_gated and each.judged is None
    return is_product and each.change.how == "changed" and each.change.path.endswith(".py")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
