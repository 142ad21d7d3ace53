"""What may judge and what is judged: the class of every changed path, and what the checks are known to look at."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from loopwright.kernel.changing import replace
from loopwright.kernel.gates import evidence, matches
from loopwright.kernel.model import NO_COMMIT, Change, Commit

CanaryRule = Literal["gate", "warn", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What a verdict rests on: the commit whose tests and settings judge, and what a person allowed beforehand.

    `base` is that of the root, for everything below it, so that what one part adds never judges another. Empty: the
    loop's own base, which moves with the root's target.
    """

    base: Commit = NO_COMMIT
    allow: tuple[str, ...] = ()  # patterns under which tests may be changed
    # What a person named to be reviewed and mended: product of this loop. A folder ends in `/`; tests in it stay tests.
    artifacts: tuple[str, ...] = ()
    in_force: bool = False  # the loop began under these rules; in logs of before, others were obeyed
    keeps_behaviour: bool = False  # a person's word: nothing is to work differently, so that no test can show it
    new_ground: bool = False  # the base may have nothing to test yet: that is no error
    tests_to_come: bool = False  # the tests of this change are still to be written: none of them is asked for

    @property
    def asks_witness(self) -> bool:
        """Whether something that failed before has to pass now."""
        return self.in_force and not self.keeps_behaviour

    def on(self, base: Commit) -> Trust:
        return self if self.base else replace(self, base=base)


@dataclass(frozen=True, slots=True, kw_only=True)
class LandedBefore:
    """What landed before in the same work: tests in it stay as they are, but for those that a person let be changed,
    and those that the same part of the work landed itself."""

    commit: Commit = NO_COMMIT
    own: tuple[str, ...] = ()  # paths of these
    allow: tuple[str, ...] = ()  # the person's patterns
    alone: bool = False  # they also have to pass without the tests that come now
    noticed: bool = False  # by tests, then: whether what is made now is, only this shows
    # What the target has changed meanwhile is the person's: it judges as the target has it, not as it landed before.
    began: Commit = NO_COMMIT
    target: Commit = NO_COMMIT

    def also_allowed(self, patterns: tuple[str, ...]) -> LandedBefore:
        return replace(self, allow=self.allow + patterns) if self.commit and patterns else self

    def is_allowed(self, path: str) -> bool:
        return any(matches(path, pattern) for pattern in self.allow)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedTests:
    """Tests that failed at a commit when a fix was requested: in that version they judge the fix."""

    tests: tuple[str, ...]  # ids
    commit: Commit = NO_COMMIT  # empty: the base of trust
    own: tuple[
        Commit, ...
    ] = ()  # from where and up to where its maker worked: tests made there are the maker's to mend
    forgiven: bool = False  # by `baseline = true`: one that the candidate leaves red may stay so


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenTests:
    """Acceptance tests of an examiner in the commit that is checked. Whoever makes the change does not see them."""

    files: tuple[str, ...] = ()
    interface: str = ""  # the page of names that they assume
    must_fail: bool = False  # run them alone, on the base: each has to fail there


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedHiddenTest:
    id: str
    file: str


class FileClass(StrEnum):
    JUDGE_BY_NAME = "judge by name"  # manifests, configuration of runners, what a check names: never free
    TEST = "test"  # the base's version judges, the candidate's lands
    CHANGED_TEST = "changed test"  # what tests compare with, or a link or mode of one: never landed by itself
    PRODUCT = "product"
    TEXT = "text"
    JUDGE = "judge"  # all else


_ALL_OF_IT = r"(?:/(?:\*{1,2}(?:/\*)?)?)?"  # after the name of a folder
_JUDGED = (FileClass.PRODUCT, FileClass.TEXT)
_LANDED = (*_JUDGED, FileClass.TEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classed:
    """A changed path with its class. Tests inside a product file are the base's in the judging run: `judged` is what
    the file holds there; None: as its class says."""

    change: Change
    kind: FileClass
    why: str = ""  # in words for a person: "a runner's configuration", "its name is taken: json"
    judged: bytes | None = None
    holds_tests: tuple[str, ...] = ()  # names of what tests of the base in it describe, where these are changed
    waits: bool = False  # tests of the base in it cannot be told from the product: nothing of it is held back
    is_manifest: bool = False  # decides what is installed
    shares_version: bool = False  # with what lands: a version was changed alike in both
    put_back: bool = False  # a lock without its manifest: the base's lands, and nobody is asked
    allowed: bool = False  # a person said so before the start: as if it were approved
    spared: bool = False  # product that tests of the base use: never broken on purpose

    @property
    def is_judged(self) -> bool:
        """Whether the judging run takes the candidate's side."""
        return self.kind in _JUDGED or self.allowed

    @property
    def is_landed(self) -> bool:
        """Whether the landing run takes the candidate's side, even if nobody approves anything."""
        return self.kind in _LANDED or self.allowed

    @property
    def is_gated(self) -> bool:
        if self.put_back or self.allowed:
            return False
        return not self.is_landed or self.waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What only a person can allow and green may need. A trial with all of it passed, unless it is untried."""

    changes: tuple[Change, ...] = ()
    failing: tuple[str, ...] = ()  # tests of the base that fail with the product alone
    dropped: tuple[str, ...] = ()  # tests of the base that are gone with it
    at_once: bool = False  # no other attempt could do without: the person is asked before another is made
    new: tuple[str, ...] = ()  # tests that the candidate brings, and that fail without it
    red_at: Commit = NO_COMMIT  # where `new` failed when a fix was requested: so they fail still
    before: tuple[str, ...] = ()  # tests that fail, and did so on the base
    untried: bool = False  # nobody knows what passes with it: nothing is installed before a person approves
    messages: tuple[str, ...] = ()  # what the failing tests say, each with its id
    by_number: bool = False  # `dropped` says how many: a check that only counts tests does not name them

    @property
    def marks(self) -> frozenset[str]:
        """By which it is known again in the next attempt."""
        return frozenset((*(change.path for change in self.changes), *self.dropped))


def evidence_with(changes: tuple[Change, ...], dropped: tuple[str, ...]) -> str:
    """As `evidence`, where an approval also lets go exactly these tests."""
    if not dropped:
        return evidence(changes)
    lines = "\0".join((evidence(changes), *sorted(dropped)))
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()[:24]


def tests_of(tests: tuple[str, ...], changes: tuple[Change, ...], others: tuple[Change, ...]) -> tuple[str, ...]:
    """Return the tests whose ids name a file of these changes, and none of the others."""
    own, foreign = ([path for each in part for path in (each.path, each.moved) if path] for part in (changes, others))
    return tuple(
        test
        for test in tests
        if any(_names(test, path) for path in own) and not any(_names(test, path) for path in foreign)
    )


def _names(test: str, path: str) -> bool:
    """Whether an id names the file, from the top or from a folder that the runner works in: as a path, or dotted."""
    file, inside, _ = test.replace(" > ", "::").partition("::")
    if inside:
        return f"/{path}".endswith(f"/{file}")
    parts = test.partition("[")[0].split(".")
    module = "." + path.removesuffix(".py").replace("/", ".")
    return any(module.endswith("." + ".".join(parts[:length])) for length in range(1, len(parts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """Whether the checks look at the change: it was broken on purpose, and somebody noticed or not."""

    said: Literal["noticed", "untested-change", "unread", "disarmed", "not-shown"]
    how: Literal["", "exercises", "reads"] = ""
    where: Literal["", "judging", "landing"] = ""  # `landing`: only tests that are new noticed it
    noticed_by: tuple[str, ...] = ()  # checks
    blind: tuple[str, ...] = ()  # checks that count tests and stayed green: they do not look at this change
    missed: tuple[str, ...] = ()  # files, or functions as `src/a.py: name`, whose breaking nobody noticed
    code: tuple[tuple[str, str], ...] = ()  # these, or else all that was changed, each with a digest of its code
    sentence: str = ""
    rule: CanaryRule = "gate"  # what is configured for a change that nobody notices


def is_named(path: str, words: tuple[str, ...]) -> bool:
    """Whether the work was asked for with this path: whole, a folder above it, or a file name that is plainly one."""
    parts = path.split("/")
    folders = ["/".join(parts[:count]) for count in range(2, len(parts))]
    name = parts[-1]
    plain = [name] if "." in name.strip(".") or name != name.lower() else []
    whole = [path] if len(parts) > 1 else []
    named = [*(_standing(each) for each in (*whole, *plain)), *(_standing(each, _ALL_OF_IT) for each in folders)]
    return any(re.search(each, text) for each in named for text in words)


def _standing(name: str, more: str = "") -> str:
    """By itself: a longer path names something else, and a full stop only ends a sentence."""
    return rf"(?<![\w./-]){re.escape(name)}{more}(?![\w*/-]|\.\w)"
