"""Whoever runs the commands that decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Change, Commit, Demand, Key, LoopId, Tree
from loopwright.kernel.trust import HiddenTests, LandedBefore, RedTests, Trust
from loopwright.ports.agent import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksRun:
    loop: LoopId
    key: Key
    step: str
    commit: Commit
    base: Commit
    names: tuple[str, ...] = ()  # empty: all configured
    approved: tuple[Change, ...] = ()  # by a person
    may_drop: tuple[str, ...] = ()  # tests of the base that may be gone
    trust: Trust = Trust()  # whose tests judge; without a base: those of `base`
    preflight: bool = False  # on the base itself, before anybody is paid
    after: LandedBefore = LandedBefore()  # tests of it stay as they are, unless a person allows a change
    red: tuple[RedTests, ...] = ()  # tests that judge in the version in which they failed, the oldest first
    also: tuple[Demand, ...] = ()  # commands that must pass besides, on what would land
    demands_only: bool = False  # run these alone, on the commit as it is
    tries_new_tests: bool = False  # each new test has to notice when the product functions that it calls are stubs
    hidden: HiddenTests = HiddenTests()  # no finding quotes them


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A candidate by the classes of what it changes, before anything ran."""

    gated: tuple[Change, ...] = ()  # what needs a person's word, approved or not
    evidence: str = ""  # of these
    lands: Tree = Tree("")  # the candidate without what nobody approved; empty: as it is
    held: tuple[Change, ...] = ()  # what that leaves out
    put_back: tuple[str, ...] = ()  # and what it leaves out without asking: locks without their manifest
    tests: tuple[str, ...] = ()  # changed files of tests


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Files that differ between two commits, by what differs in them."""

    product: tuple[str, ...] = ()
    code: tuple[str, ...] = ()  # source outside of tests that does something else, not only comments and docstrings
    altered: tuple[str, ...] = ()  # of `code`: files that something was added to or changed in, not only removed
    rest: tuple[str, ...] = ()  # neither product nor text


class Checks(Protocol):
    """Runs in a clean checkout no agent ever enters: what judges is the base's, what is judged the candidate's.

    A command that cannot be started raises `CheckNotRunnable`; one that fails, hangs or lies is a
    result. A demand is run once every check has passed, and never in a preflight; one that cannot be
    started has failed. One that passed and has a `start` is run there, too, once for all runs, and the result says
    whether it failed. Running the same thing again is always safe. When `run` returns or is cancelled, no
    process of it is alive.
    """

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported: ...

    async def examine(
        self, commit: Commit, trust: Trust, approved: tuple[Change, ...] = (), *, untried: bool = False
    ) -> Examined:
        """Say what of the candidate may land by itself. `trust` has a base.

        `untried`: no check has run on it, so that a test which it alters is held back.
        """

    async def new_tests(self, base: Commit, trust: Trust) -> Callable[[str], bool]:
        """Whether a path that `base` does not have is a test there, which lands by itself. `trust` has a base."""

    async def compare(self, before: Commit, after: Commit, trust: Trust) -> Compared:
        """Return the files that differ. `trust` has a base."""
