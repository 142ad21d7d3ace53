"""Every changed path gets one class: judge by name, test, product, text, or judge. The base alone says which."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.examples import examples_of
from loopwright.adapters.checks.classes.expectations import (
    Expectations,
    ExpectationSearch,
    examples_kept,
    is_run_by_tests,
)
from loopwright.adapters.checks.classes.for_testing import ForTesting, Search
from loopwright.adapters.checks.classes.import_roots import Names, Roots
from loopwright.adapters.checks.classes.in_source import put_back
from loopwright.adapters.checks.classes.layout import Layout, collected_by_name
from loopwright.adapters.checks.classes.links import LINK, crooked
from loopwright.adapters.checks.classes.steering_search import Steering, SteeringSearch
from loopwright.adapters.checks.classes.together import seen_together
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import INSTALLING, Judge, is_example, is_source, is_text, judge_by_name
from loopwright.kernel.model import Change, Commit
from loopwright.kernel.trust import Classed, FileClass

_LARGEST = 512 * 1024  # bytes read of one file
_MOST_KNOWN = 16  # bases
_SUBMODULE = "160000"
_MAGIC = ("\x7fELF", "MZ", "\x00asm", "\ufffd\ufffd\ufffd\ufffd", "!<arch>")
_MAY_HOLD_TESTS = (".rs",)
_NAMED = "named for this review"
NAME_TAKEN = "its name is taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the base says about its own files, and the texts of those that changed."""

    steering: Steering
    tracked: frozenset[str] = frozenset()  # files of the base
    added: frozenset[str] = frozenset()  # by the candidate
    either: frozenset[str] = frozenset()  # files of both
    links: frozenset[str] = frozenset()  # of both
    names: Names = field(default_factory=Names)
    artifacts: tuple[str, ...] = ()
    expected: Expectations = field(default_factory=Expectations)
    tools: ForTesting = field(default_factory=ForTesting)
    loaded: Mapping[str, str] = field(default_factory=dict)  # code aside, with what of the candidate loads it
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)

    def has_below(self, folder: str) -> bool:
        return any(f"{path}/".startswith(f"{folder}/") for path in self.tracked)

    def is_in_artifact(self, path: str) -> bool:
        return any(path.startswith(f"{artifact.rstrip('/')}/") for artifact in self.artifacts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classifier:
    """Empty `product` or `tests`: detected from the files of the base."""

    source: TreeReader
    product: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()  # of all checks
    artifacts: tuple[str, ...] = ()  # a person named them for this review
    allow: tuple[str, ...] = ()  # a person's word beforehand
    taken: frozenset[str] = frozenset()  # top-level names of the checks' environment
    yielding: frozenset[str] = frozenset()  # files that tests of the base were collected from
    # What a base says, with which words of a person: it never changes, and is asked for by every verification.
    known: dict[tuple[object, ...], Steering] = field(default_factory=dict, compare=False, repr=False)
    loaded: dict[tuple[object, ...], Layout] = field(default_factory=dict, compare=False, repr=False)

    async def classify(self, trust: Commit, commit: Commit) -> tuple[Classed, ...]:
        """What `commit` changed against the base of trust, each path with its class."""
        changes = await self.source.changes(trust, commit)
        if not changes:
            return ()
        terms = await self._terms(trust, commit, changes)
        classed = tuple(class_of(change, terms) for change in changes)
        together = seen_together(classed, terms.before, terms.after, terms.steering.layout.is_protected)
        return tuple(map(self._allowed, together))

    async def layout(self, trust: Commit) -> Layout:
        """What a person wrote of product and tests, or what is detected; and tests that only a configuration tells."""
        return (await self.steering(trust)).layout

    async def steering(self, trust: Commit) -> Steering:
        terms = (trust, self.product, self.tests, self.protected, self.commands, self.yielding)
        if terms not in self.known:
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            search = SteeringSearch(
                source=self.source,
                base=trust,
                given=Layout(product=self.product, tests=self.tests, protected=self.protected),
                commands=self.commands,
                yielding=self.yielding,
                loaded=self.loaded,
            )
            self.known[terms] = await search.found(await self.source.paths(trust))
        return self.known[terms]

    async def added_tests(self, trust: Commit) -> Callable[[str], bool]:
        """Whether a path would be a test if it were added: what its name and place say."""
        terms = await self._terms(trust, trust, ())

        def is_test(path: str) -> bool:
            added = Change(path=path, how="added")
            return path not in terms.tracked and class_of(added, terms).kind is FileClass.TEST

        return is_test

    async def _terms(self, trust: Commit, commit: Commit, changes: tuple[Change, ...]) -> Terms:
        paths = await self.source.paths(trust)
        tracked = frozenset(paths)
        known = await self.steering(trust)
        layout = known.layout
        changed = tuple(change.path for change in changes)
        before, after = [await self.source.texts(each, changed, limit=_LARGEST) for each in (trust, commit)]
        return Terms(
            steering=known,
            tracked=tracked,
            added=(added := frozenset(change.path for change in changes if change.how == "added")),
            either=tracked | added,
            links=frozenset((*known.links.targets, *(change.path for change in changes if change.mode == LINK))),
            names=await Roots(source=self.source, base=trust, layout=layout, taken=self.taken).found(
                added, known.called, self.commands, known.texts
            ),
            artifacts=self.artifacts,
            expected=await ExpectationSearch(source=self.source, base=trust, layout=layout, links=known.links).found(
                changes, before, after
            ),
            tools=await Search(source=self.source, base=trust, steering=known, commands=self.commands).found(
                before, after, changes
            ),
            loaded=known.loaded_among(after),
            before=before,
            after=after,
        )

    def _allowed(self, classed: Classed) -> Classed:
        is_gated = classed.kind in (FileClass.CHANGED_TEST, FileClass.JUDGE, FileClass.PRODUCT) and classed.is_gated
        is_altered = bool(classed.holds_tests) or (classed.kind is FileClass.TEST and classed.change.how != "added")
        is_meant = any(matches(classed.change.path, pattern) for pattern in self.allow)
        allowed = replace(classed, allowed=True, waits=False, judged=None)
        return allowed if is_meant and (is_gated or is_altered) else classed


def class_of(change: Change, terms: Terms) -> Classed:
    """First match wins."""
    path = change.path
    if why := _judge_by_name(change, terms):
        is_manifest = judge_by_name(path) in INSTALLING
        return Classed(change=change, kind=FileClass.JUDGE_BY_NAME, why=why, is_manifest=is_manifest)
    if path in terms.artifacts:
        return _named(change, terms)
    if why := terms.tools.why_first(path, is_new=change.how == "added"):
        return Classed(change=change, kind=FileClass.JUDGE, why=why)
    if terms.steering.layout.is_test(path) or (change.how == "added" and _is_collected(path, terms)):
        return _test(change, terms)
    if (found := _used_by_tests(change, terms)) is not None:
        return found
    if (is_inside := terms.is_in_artifact(path)) or terms.steering.layout.is_product(path):
        return _product(change, terms, why=_NAMED if is_inside else "")
    if _is_new_folder(change, terms):
        return _product(change, terms, why=f"a new folder of sources: {path.split('/')[0]}/")
    if is_text(path) or is_example(path):
        return _text(change, terms)
    return Classed(change=change, kind=FileClass.JUDGE, why="neither product, tests nor text")


def _named(change: Change, terms: Terms) -> Classed:
    """What a person asked to have mended is product, but for tests, which follow the rules of tests.

    Of code they asked for the code: tests of the base that stand beside it in the same file judge it as elsewhere.
    """
    if terms.steering.layout.is_test(change.path):
        return _test(change, terms)
    is_used = _used_by_tests(change, terms) is not None
    return replace(_product(change, terms, why=_NAMED), spared=is_used)


def _text(change: Change, terms: Terms) -> Classed:
    """What the change itself loads is code like any other."""
    path, name = change.path, _taken_at_top(change, terms)
    if name:
        return Classed(change=change, kind=FileClass.JUDGE, why=f"{NAME_TAKEN}: {name}")
    if loader := terms.loaded.get(path):
        return _product(change, terms, why=f"{loader} loads it")
    why = "" if is_text(path) else "an example"
    return Classed(change=change, kind=FileClass.TEXT, why=why, judged=_ignoring(change, terms))


def _is_collected(path: str, terms: Terms) -> bool:
    """Whether a runner would take it for a test, whatever the patterns say."""
    return collected_by_name(path) or terms.steering.collects(path, terms.either)


def _judge_by_name(change: Change, terms: Terms) -> str:
    path = change.path
    if _SUBMODULE in (change.mode, change.old_mode):
        return "is a submodule"
    judge = judge_by_name(path)
    if judge is not None and not terms.steering.is_data_of_tests(change, judge, terms.tracked):
        return str(judge)
    if terms.steering.layout.is_protected(path):
        return "matches `protected`"
    if why := terms.steering.called.why(path):
        return why
    if link := terms.steering.linked.get(path):
        return f"is what a link of the checks leads to: {link}"
    if path in terms.steering.setups or path in terms.tools.plugged:
        return "is loaded by the set-up of a runner"
    target = terms.steering.called.target_at(path) if change.how == "added" else ""
    if target and not terms.has_below(target):
        return f"has the name of a target that make would build: {target}"
    return _link(change, terms)


def _link(change: Change, terms: Terms) -> str:
    """A link is what it points to: it may not lead from what is judged to what is not."""
    if change.mode != LINK:
        return ""
    target = terms.after.get(change.path, "")
    aim = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), target))
    if not target or target.startswith("/") or aim.split("/")[0] == "..":
        return "is a link that leaves the repository"
    if why := crooked(change.path, target, terms.links):
        return why
    inside = [aim, f"{aim}/x"]
    layout = terms.steering.layout
    if any(layout.is_test(each) for each in inside) and layout.is_test(change.path):
        return ""
    if judge_by_name(aim) is None and any(layout.is_product(each) for each in inside) and not layout.is_test(aim):
        return ""
    return f"is a link that leaves product: {aim}"


def _test(change: Change, terms: Terms) -> Classed:
    """The base's version judges, the candidate's lands; whether it still looks is tried, not read."""
    if change.how == "added" and (name := _taken(change, terms)):
        return Classed(change=change, kind=FileClass.JUDGE, why=f"{NAME_TAKEN}: {name}")
    if change.how == "changed" and change.mode != change.old_mode:
        return Classed(change=change, kind=FileClass.CHANGED_TEST, why="its mode was changed")
    if change.how == "changed" and change.mode == LINK:
        return Classed(change=change, kind=FileClass.CHANGED_TEST, why="it is a link, and leads elsewhere")
    return Classed(change=change, kind=FileClass.TEST, why=change.how)


def _taken(change: Change, terms: Terms) -> str:
    return terms.names.taken_by(change.path, terms.either, is_link=change.mode == LINK)


def _taken_at_top(change: Change, terms: Terms) -> str:
    """Examples may have any name beside each other; only what imports find from the top, or tests by a bare name."""
    is_package = "/" not in posixpath.dirname(change.path) and posixpath.basename(change.path).startswith("__init__.")
    is_found = change.path in terms.names.hiding or is_package or change.mode == LINK
    return _taken(change, terms) if change.how == "added" and is_found else ""


def _product(change: Change, terms: Terms, why: str = "") -> Classed:
    if change.how == "added" and (name := _taken(change, terms)):
        return Classed(change=change, kind=FileClass.JUDGE, why=f"{NAME_TAKEN}: {name}")
    return _with_tests_put_back(change, terms, why)


def _with_tests_put_back(change: Change, terms: Terms, why: str) -> Classed:
    path, after = change.path, terms.after.get(change.path, "")
    if after.startswith(_MAGIC) and not is_source(path):
        return Classed(change=change, kind=FileClass.JUDGE_BY_NAME, why=str(Judge.COMPILED))
    classed = Classed(change=change, kind=FileClass.PRODUCT, why=why, judged=_ignoring(change, terms))
    if path not in (terms.after if change.how != "removed" else terms.before) and path.endswith(_MAY_HOLD_TESTS):
        return Classed(
            change=change, kind=FileClass.PRODUCT, why="is too large to be looked into for tests", waits=True
        )
    doctests = (
        terms.steering.doctests
        or path in terms.steering.called.documents
        or path in terms.steering.yielding
        or terms.tools.doctested.has(path, after)
        or _is_of_library(path, terms)
    )
    back = put_back(path, terms.before.get(path, ""), after, doctests=doctests, installed=terms.names.installed)
    if not back.why:
        return classed
    if back.waits or "\ufffd" in after + terms.before.get(path, ""):
        return replace(classed, why=back.why, waits=True)
    judged = back.judged.encode() if back.judged is not None else None
    return replace(classed, why=back.why, judged=judged, holds_tests=back.differing)


def _is_of_library(path: str, terms: Terms) -> bool:
    """Rust tests the documentation of libraries, and of nothing else."""
    crate, found, _ = path.rpartition("src/") if path.endswith(".rs") else ("", "", "")
    return bool(found) and f"{crate}src/lib.rs" in terms.tracked


def _ignoring(change: Change, terms: Terms) -> bytes | None:
    """Linters look at nothing that is ignored: what the base looks at is looked at."""
    before = terms.before.get(change.path, "")
    if posixpath.basename(change.path) != ".gitignore" or change.how == "removed" or "\ufffd" in before:
        return None
    return before.encode()


def _is_new_folder(change: Change, terms: Terms) -> bool:
    """A folder the base does not have, with sources in it, whose name nothing of the checks knows."""
    top, _, rest = change.path.partition("/")
    if not rest or terms.has_below(top) or is_text(change.path) or is_example(change.path):
        return False
    return (
        any(is_source(path) for path in terms.added if path.startswith(f"{top}/"))
        and top not in terms.steering.called.words
    )


def _used_by_tests(change: Change, terms: Terms) -> Classed | None:
    return _helping(change, terms) or _expected(change, terms) or _examples(change, terms)


def _helping(change: Change, terms: Terms) -> Classed | None:
    """A module of the product that tests of the base judge with is one of them."""
    importer = terms.tools.helping.get(change.path)
    if importer is None:
        return None
    classed = _test(change, terms)
    return replace(classed, why=f"{importer} judges with it: {classed.why}")


def _expected(change: Change, terms: Terms) -> Classed | None:
    path = change.path
    if reader := terms.expected.fresh.get(path):
        return Classed(change=change, kind=FileClass.TEST, why=f"added to what a test reads: {reader}")
    if reader := terms.expected.read.get(path):
        if is_run_by_tests(path) and change.how == "changed":
            return Classed(change=change, kind=FileClass.TEST, why=f"code that a test runs: {reader}")
        return Classed(change=change, kind=FileClass.CHANGED_TEST, why=f"is what a test compares with: {reader}")
    if path in terms.expected.texts:
        return Classed(change=change, kind=FileClass.TEST, why="a text that a test may compare with")
    before = terms.before.get(path)
    kept = before is not None and examples_kept(before, terms.after.get(path, ""))
    if kept or path not in terms.expected.shown:
        return None
    return Classed(change=change, kind=FileClass.TEST, why="a text whose examples are tests")


def _examples(change: Change, terms: Terms) -> Classed | None:
    """A text, wherever it lies, whose examples a runner takes for tests; None where they are as they were."""
    path = change.path
    named = path in terms.steering.called.documents or path in terms.steering.yielding
    if not named and not any(matches(path, g) or matches(posixpath.basename(path), g) for g in terms.steering.globs):
        return None
    if is_source(path) and not is_text(path):
        return None  # its docstrings are put back one by one
    if change.mode == LINK:
        return Classed(change=change, kind=FileClass.JUDGE, why="is a link that a runner reads examples from")
    old, new = (examples_of(texts.get(path, "")) for texts in (terms.before, terms.after))
    is_large = (change.how != "added" and path not in terms.before) or (
        change.how != "removed" and path not in terms.after
    )
    if old == new and not is_large:
        return None
    return Classed(change=change, kind=FileClass.TEST, why="a text whose examples are tests")
