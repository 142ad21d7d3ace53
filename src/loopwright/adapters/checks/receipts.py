"""Receipts: what one finished run of one check on one tree said; and which of them count."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from loopwright.adapters.checks.ids import ANY_CASE, Outcomes, any_case, function_of
from loopwright.adapters.checks.judgement import Rewriting, Standard
from loopwright.adapters.checks.reports import counted
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import DecodeError, decode, encode
from loopwright.kernel.model import Blob, CheckResult, Commit, Coverage, Finding, LoopId, Tree
from loopwright.ports.hashes import receipt_name
from loopwright.ports.store import Store

T = TypeVar("T")

MOST_MARKS = 2000
_MEASURE = "by id, with what was written"  # a receipt that was measured in another way answers another question


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """`result` is measured against `base`, `exit_code` and `failing` are not.

    `failing` holds the mark of every failure (a test's id, a finding's fingerprint): what the
    baseline of a later candidate is compared with.
    """

    key: str
    check: str
    command: tuple[str, ...]
    tree: Tree
    base: Commit
    exit_code: int | None
    result: Literal["pass", "fail"]
    tests: int | None
    environment: str
    output: Blob
    seconds: float
    at: float
    loop: LoopId
    step: str
    forgiven: bool = False  # passed only because a failure is flaky, or known on the base
    reported: bool = False  # the check gave a report that could be read
    failing: tuple[str, ...] = ()
    failures: tuple[Finding, ...] = ()
    flaky: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    coverage: Coverage | None = None
    terms: str = ""  # what besides the run decided: floors may change while the key stays
    note: str = ""
    ids: Blob = Blob("")  # the tests by id with how they came out, where ids are known
    gone: tuple[str, ...] = ()  # tests of the base, by id, that are not there any more
    newly_skipped: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()  # ids that two collections of this tree do not have alike
    runner: str = ""  # the known one that was asked to count
    collected: int = 1  # how often, to know that
    bent: tuple[str, ...] = ()  # files that judge, which the run wrote or removed
    wrote: Rewriting = Rewriting()  # of the files that are judged


def receipt_key(tree: Tree, check: str, command: tuple[str, ...], environment: str) -> str:
    """A digest of what decides a result: the same key means the same run would be made again."""
    parts = (_MEASURE, tree, check, *command, environment)
    return hashlib.sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


def read_as(kind: type[T], text: str | None) -> T | None:
    """Return what was kept, or None: what cannot be read is found again, never believed."""
    try:
        return None if text is None else decode(kind, text)
    except DecodeError:
        return None


def read_receipt(text: str | None) -> Receipt | None:
    return read_as(Receipt, text)


class ReceiptBook:
    """The receipts of one run of checks. One that was found counts only if an event of the log names it, as this run's
    event will name all that it rests on; a row that somebody else wrote into the store is not even read as a receipt.
    """

    def __init__(self, store: Store, loop: LoopId) -> None:
        self._store, self._loop = store, loop
        self._made: dict[str, str] = {}
        self._names: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._names))

    def rest_on(self, name: str) -> None:
        """Also on this; an empty name is none."""
        self._names |= {name} - {""}

    async def find(self, key: str) -> Receipt | None:
        return read_receipt(await self.text(key))

    async def keep(self, receipt: Receipt) -> None:
        await self.keep_text(receipt.key, encode(receipt))

    async def find_once(self, kind: type[T], key: str, find: Callable[[], Awaitable[T]]) -> T:
        """Return what was found under this key before, or what is found now."""
        found = read_as(kind, await self.text(key))
        if found is None:
            found = await find()
            await self.keep_text(key, encode(found))
        return found

    async def text(self, key: str) -> str | None:
        """What stands under the key, if this run wrote it or the log names it."""
        if key in self._made:
            return self._made[key]
        text = await self._store.receipt(key)
        if text is None:
            return None
        held, name = read_receipt(text), receipt_name(key, text)
        if not await self._store.is_named(name, held.loop if held else None):
            return None
        self.rest_on(name)
        return text

    async def keep_text(self, key: str, text: str) -> None:
        await self._store.keep_receipt(key, self._loop, text)
        self._made[key] = text
        self.rest_on(receipt_name(key, text))


def stands(receipt: Receipt, *, base: Commit, step: str) -> bool:
    """Whether the receipt may stand for a run: a pass while its key holds, a fail within its attempt only."""
    if receipt.result == "fail":
        return receipt.step == step and receipt.base == base
    return receipt.base == base if receipt.forgiven or receipt.wrote.is_any else True


def is_of_nothing(receipt: Receipt, spec: CheckSettings) -> bool:
    """A pass that there was nothing to run for: none where something has to be there."""
    if receipt.result == "fail" or receipt.forgiven:
        return False
    if spec.report == "coverage" and not receipt.reported:
        return True
    return receipt.exit_code != 0 or (receipt.tests == 0 and (spec.report == "junit" or bool(receipt.runner)))


def stands_for_base(receipt: Receipt, spec: CheckSettings, loop: LoopId) -> bool:
    """The base is run once and for all, but for a run that gave no report: that is tried again by each loop."""
    wants_report = spec.report != "none" or receipt.runner
    return receipt.reported or not wants_report or receipt.loop == loop


def standard(receipt: Receipt | None, ids: Outcomes = (), may_drop: frozenset[str] = frozenset()) -> Standard:
    """A base that could not be run to its end measures nothing. `ids` are what the receipt names."""
    if receipt is None:
        return Standard()
    percent = receipt.coverage.percent if receipt.coverage else None
    unsteady = frozenset(receipt.unsteady)
    numbered = {function_of(test) for test in unsteady if "::" in test and test.endswith("]")}
    steady = tuple(each for each in any_case(ids, numbered) if each[0] not in unsteady)
    return Standard(
        tests=None if receipt.tests is None else receipt.tests - (counted(ids) - counted(steady)),
        ids=steady,
        may_drop=may_drop | {function_of(test) + ANY_CASE for test in may_drop},
        percent=percent,
        failing=frozenset(receipt.failing),
        bent=frozenset(receipt.bent),
        wrote=receipt.wrote,
    )


def outcome_on_base(receipt: Receipt | None, test: str) -> str | None:
    """How a test that exists on the base came out in the full run there; None: nobody knows."""
    if receipt is None or not receipt.reported:
        return None
    return "failed" if test in receipt.failing else "passed"


def as_result(receipt: Receipt) -> CheckResult:
    return CheckResult(
        name=receipt.check,
        passed=receipt.result == "pass",
        failures=receipt.failures,
        tests=receipt.tests,
        flaky=receipt.flaky,
        known=receipt.known,
        coverage=receipt.coverage,
        gone=(*receipt.gone, *receipt.newly_skipped),
        note=receipt.note,
        receipt=receipt.key,
        reused=True,
        seconds=0.0,
        output=receipt.output,
    )
