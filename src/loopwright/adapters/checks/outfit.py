"""What a repository's checks run with, whatever they run on, and what is kept of earlier runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks.canary.hollow import only_removes, same_code
from loopwright.adapters.checks.checkouts import Checkouts, ObjectReader
from loopwright.adapters.checks.environment import Digests
from loopwright.adapters.checks.ids import Outcomes, file_of, lost, read_back
from loopwright.adapters.checks.node_links import links_around
from loopwright.adapters.checks.receipts import Receipt, ReceiptBook, receipt_key
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.judges import is_source, is_text
from loopwright.kernel.model import Commit, LoopId, Tree
from loopwright.kernel.trust import Classed, FileClass
from loopwright.ports.checks import Compared
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store

NOBODY = LoopId("")
_LARGEST = 512 * 1024  # bytes of a file that is parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outfit:
    checkouts: Checkouts
    source: ObjectReader
    store: Store
    clock: Clock
    root: Path  # the person's repository
    runs: Path  # run folders; emptied again, what is worth keeping goes to the store
    digests: Digests
    protected: tuple[str, ...] = ()

    @property
    def package_links(self) -> str:
        """A digest of the links by which checks could find a package of the project in another tree."""
        return hashlib.sha256(repr(tuple(links_around(self.root))).encode()).hexdigest()

    async def ids(self, receipt: str, book: ReceiptBook) -> Outcomes:
        """The tests of the run that this receipt stands for; none where nobody knows them."""
        return await self.ids_of(await book.find(receipt))

    async def ids_of(self, receipt: Receipt | None) -> Outcomes:
        return (read_back(await self.store.fetch(receipt.ids)) or ()) if receipt and receipt.ids else ()

    async def contents(self, tree: Commit | Tree, paths: Iterable[str]) -> dict[str, bytes]:
        """Return these files as they would be parsed, without those that are not there or too large."""
        found = await self.source.texts(tree, tuple(paths), limit=_LARGEST)
        return {path: text.encode("utf-8", "surrogateescape") for path, text in found.items()}

    async def compare(self, classed: tuple[Classed, ...], before: Commit | Tree, after: Commit | Tree) -> Compared:
        paths = tuple(each.change.path for each in classed)
        removed = frozenset(each.change.path for each in classed if each.change.how == "removed")
        old, new = [await self.contents(each, paths) for each in (before, after)]

        def can_compare(path: str) -> bool:
            return path in old and path in new and path.endswith((".py", ".pyi"))

        def is_same(path: str) -> bool:
            return can_compare(path) and same_code(old[path], new[path])

        def is_altered(path: str) -> bool:
            return path not in removed and not (can_compare(path) and only_removes(old[path], new[path]))

        def of(*kinds: FileClass) -> tuple[str, ...]:
            return tuple(each.change.path for each in classed if each.kind in kinds)

        # A place that nobody knew as one for code may have some all the same, where nothing was built before.
        product, other = tuple(path for path in of(FileClass.PRODUCT) if not is_text(path)), of(FileClass.JUDGE)
        made = (*product, *(path for path in other if is_source(path)))
        code = tuple(path for path in made if not is_same(path))
        return Compared(
            product=product,
            code=code,
            altered=tuple(path for path in code if is_altered(path)),
            rest=of(*(kind for kind in FileClass if kind not in (FileClass.PRODUCT, FileClass.TEXT))),
        )

    async def not_run(self, before: Iterable[str], now: Iterable[str], book: ReceiptBook) -> tuple[str, ...]:
        """Tests of the first runs that the others did not run, or skipped."""
        then, since = [[each for receipt in of for each in await self.ids(receipt, book)] for of in (before, now)]
        return lost(tuple(then), tuple(since)).tests

    async def files_with_tests(self, specs: tuple[CheckSettings, ...], base: Commit) -> frozenset[str]:
        """Files that tests of the base were collected from, as far as it was run: their examples are tests, too."""
        tree, found = await self.source.tree(base), set[str]()
        for spec in specs:
            try:
                environment = await self.digests.of(spec)
            except CheckNotRunnable:
                continue  # whoever runs it says so
            key = receipt_key(tree, spec.name, spec.run, environment)
            tests = await self.ids(key, ReceiptBook(self.store, NOBODY))
            found |= {file_of(test) for test, _ in tests}
        return frozenset(found - {""})
