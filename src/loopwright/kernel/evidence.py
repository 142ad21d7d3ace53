"""Evidence that a change does what it was made for: something that failed before it passes now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, assert_never


class Level(StrEnum):
    """How much the checks show of a change. A level is never an outcome."""

    SHOWN = "shown"  # a witness fails without the change and passes with it
    GUARDED = "guarded"  # no witness, but a test fails when the change is broken
    UNTESTED = "untested"  # no test fails even then
    NOT_SHOWN = "not shown"  # nothing to try: data, configuration, types, or the mutation check is off


_WEAKEST_FIRST = (Level.UNTESTED, Level.GUARDED, Level.NOT_SHOWN, Level.SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A test or command that fails on the base and passes on the candidate."""

    id: str
    check: str
    fails_on_base: Literal["assertion", "missing-name", "exit-code"]
    by: Literal["base", "maker", "examiner", "person"] = "maker"  # who wrote it


@dataclass(frozen=True, slots=True, kw_only=True)
class AlteredTest:
    """A test of the base that the candidate changes."""

    id: str
    how: Literal["altered", "moved", "weakened", "gone"]
    confirmed: bool = False  # a person approved or allowed the change


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakenedTest:
    """A test of the base that looks at less than before, and the changed file that is held back for it."""

    file: str
    id: str = ""  # empty: no check names the tests of the file
    how: Literal["gone", "skipped", "fewer-cases", "blind", "untried", "altered"]
    stubbed: str = ""  # of a blind one: the functions that it noticed when they were stubbed


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    level: Level
    witnesses: tuple[Witness, ...] = ()  # of a guarded change: of its maker, where an examiner was to show it
    altered_tests: tuple[AlteredTest, ...] = ()
    uncompared: tuple[str, ...] = ()  # changed files of tests, where no check names the tests that it runs
    idle_tests: tuple[str, ...] = ()  # new tests that fail on the base and yet do not notice a broken change
    decisions: tuple[str, ...] = ()  # of people, that the result rests on: one sentence each
    parts: tuple[str, ...] = ()  # of a whole: those that no test shows and that are no better than its level
    without_code: bool = False  # texts, tests or configuration changed, and no code
    no_test: tuple[str, ...] = ()  # why no test can show it, as its makers say


_NAMED = 3  # witnesses in a sentence
ONLY_MAKER = "the acceptance tests of the examiner assert nothing, and only tests of the maker tell"


def describe(evidence: Evidence) -> str:
    """Say in one sentence what shows the change."""
    of = f" ({_some(evidence.parts)})" if evidence.parts else ""
    match evidence.level:
        case Level.SHOWN:
            return f"shown by {_some(tuple(map(_describe_witness, evidence.witnesses)))}"
        case Level.GUARDED if has_idle_examiner(evidence):
            return f"guarded: {ONLY_MAKER} this change from the base"
        case Level.GUARDED:
            return f"guarded{of}: no test tells this change from the base, but tests fail when it is broken"
        case Level.UNTESTED:
            return f"untested{of}: no test fails when the change is broken"
        case Level.NOT_SHOWN if evidence.without_code:
            return f"not shown{of}: no code changed that a test could tell from the base"
        case Level.NOT_SHOWN:
            return f"not shown{of}: nothing was tried that tells this change from the base"
        case _:
            assert_never(evidence.level)


def has_idle_examiner(evidence: Evidence) -> bool:
    """Whether acceptance tests ran and assert nothing: only tests of the maker tell its change from the base."""
    return evidence.level is Level.GUARDED and bool(evidence.witnesses) and not evidence.parts


def describe_tests(evidence: Evidence) -> tuple[str, ...]:
    """Say which tests were altered or not compared, which new ones show nothing, and why none can."""
    rows = {
        (how, confirmed): tuple(e.id for e in evidence.altered_tests if (e.how, e.confirmed) == (how, confirmed))
        for confirmed in (False, True)
        for how in ("altered", "weakened", "gone", "moved")
    }
    altered = tuple(
        f"{len(ids)} existing test{'s' * (len(ids) != 1)} {how}{', as a person allowed' * confirmed}: {_some(ids)}"
        for (how, confirmed), ids in rows.items()
        if ids
    )
    idle = (f"new test, shows nothing: {_some(evidence.idle_tests)}",) if evidence.idle_tests else ()
    why = "changed and not compared with the base, for no check names its tests"
    uncompared = (f"{why}: {_some(evidence.uncompared)}",) if evidence.uncompared else ()
    reasons = tuple(f"the maker says why no test shows it: {each}" for each in evidence.no_test)
    return (*altered, *uncompared, *idle, *reasons)


def describe_weakened(tests: tuple[WeakenedTest, ...]) -> str:
    """Say which files are held back, for which tests, and why."""
    more = f" and {len(tests) - _NAMED} more" if len(tests) > _NAMED else ""
    return "; ".join(_describe_by_file(tests[:_NAMED]).values()) + more


def describe_weakened_by_file(tests: tuple[WeakenedTest, ...]) -> dict[str, str]:
    """Return the same for each file by itself."""
    files = dict.fromkeys(each.file for each in tests)
    return {file: describe_weakened(tuple(each for each in tests if each.file == file)) for file in files}


def _describe_by_file(tests: tuple[WeakenedTest, ...]) -> dict[str, str]:
    return {
        file: f"{file} is held back: " + "; ".join(_describe_weakened(each) for each in tests if each.file == file)
        for file in dict.fromkeys(each.file for each in tests)
    }


def _describe_weakened(test: WeakenedTest) -> str:
    name = test.id.rpartition("::")[2] or "the file"
    match test.how:
        case "gone":
            return f"{name} is gone"
        case "skipped":
            return f"{name} is skipped now, or expected to fail"
        case "fewer-cases":
            return f"{name} has fewer cases"
        case "blind":
            return f"{name} no longer fails when {test.stubbed or 'the code it calls'} is stubbed"
        case "untried":
            return f"{name} is altered, and whether it still looks could not be tried"
        case "altered":
            return f"{name} is altered"
        case _:
            assert_never(test.how)


def describe_decisions(decisions: tuple[str, ...]) -> tuple[str, ...]:
    """Say that a result rests on the word of people."""
    return (f"Rests on a person's word: {'; '.join(decisions)}",) if decisions else ()


def _describe_witness(witness: Witness) -> str:
    why = {"assertion": "fails on base", "missing-name": "fails on base by a missing name", "exit-code": "red on base"}
    by = ", written by the examiner" if witness.by == "examiner" else ""
    return f"{witness.id} ({why[witness.fails_on_base]}{by})"


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def combine(named: Mapping[str, Evidence], *more: Evidence) -> Evidence:
    """Return the evidence of a whole made of these parts: the lowest level, and all that they name, each once.

    A part that changed no code counts only where no other did. `more` says more of the whole, and nothing of its level.
    """
    judged = {name: each for name, each in named.items() if not _has_nothing_to_show(each)} or named
    parts, level = (*named.values(), *more), lowest(tuple(each.level for each in judged.values()))
    witnesses: dict[tuple[str, str], Witness] = {}
    for one in (one for each in parts for one in each.witnesses):
        witnesses.setdefault((one.id, one.check), one)
    idle = (one for each in parts for one in each.idle_tests)
    return Evidence(
        level=level,
        parts=() if level is Level.SHOWN else _least(judged, level),
        without_code=bool(named) and all(each.without_code for each in named.values()),
        witnesses=tuple(witnesses.values()),
        altered_tests=tuple(dict.fromkeys(one for each in parts for one in each.altered_tests)),
        uncompared=tuple(dict.fromkeys(one for each in parts for one in each.uncompared)),
        idle_tests=tuple(one for one in dict.fromkeys(idle) if one not in {each.id for each in witnesses.values()}),
        decisions=tuple(dict.fromkeys(one for each in parts for one in each.decisions)),
        no_test=tuple(dict.fromkeys(one for each in parts for one in each.no_test)),
    )


def _has_nothing_to_show(part: Evidence) -> bool:
    return part.without_code and part.level is Level.NOT_SHOWN


def _least(named: Mapping[str, Evidence], level: Level) -> tuple[str, ...]:
    """Return the names of the parts at this level; of one that is a whole itself, those of its parts."""
    least = (each.parts or (name,) for name, each in named.items() if each.level is level)
    return tuple(name for names in least for name in names)


def lowest(levels: tuple[Level, ...]) -> Level:
    """Return the level of a whole made of parts with these levels."""
    return min(levels, key=_WEAKEST_FIRST.index, default=Level.NOT_SHOWN)
