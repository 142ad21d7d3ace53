"""What a repository's checks run with, whatever they run on, and what is kept of earlier runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks.checkouts import Checkouts, ObjectReader
from loopwright.adapters.checks.environment import Digests
from loopwright.adapters.checks.ids import Outcomes, file_of, lost, read_back
from loopwright.adapters.checks.node_links import links_around
from loopwright.adapters.checks.receipts import ReceiptBook, receipt_key
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.model import Commit, LoopId
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store

NOBODY = LoopId("")


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
    def importable(self) -> str:
        """A digest of what could make checks find a package elsewhere: what is installed for them, and links."""
        found = (*sorted(self.digests.relied_on().items()), *links_around(self.root))
        return hashlib.sha256(repr(found).encode()).hexdigest()

    def book(self, loop: LoopId) -> ReceiptBook:
        return ReceiptBook(self.store, loop)

    async def ids(self, receipt: str, book: ReceiptBook) -> Outcomes:
        """The tests of the run that this receipt stands for; none where nobody knows them."""
        held = await book.find(receipt)
        return (read_back(await self.store.fetch(held.ids)) or ()) if held and held.ids else ()

    async def not_run(self, before: Iterable[str], now: Iterable[str], book: ReceiptBook) -> tuple[str, ...]:
        """Tests of the first runs that the others did not run, or skipped."""
        then, since = [[each for receipt in of for each in await self.ids(receipt, book)] for of in (before, now)]
        missed = lost(tuple(then), tuple(since))
        return (*missed.gone, *missed.skipped)

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
