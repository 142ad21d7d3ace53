"""Which checks may answer for a change, and what of a run on a broken tree is red."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Protocol

from loopwright.adapters.checks.canary.breaking import ON_PURPOSE
from loopwright.adapters.checks.canary.look import Noticed
from loopwright.adapters.checks.ids import place_of, surroundings
from loopwright.adapters.checks.judgement import Ran, failures
from loopwright.adapters.checks.runners.table import NO_TEST_TOOLS, NO_TESTS, STOP_LATER, Pace
from loopwright.adapters.checks.single_test import choose_files
from loopwright.config.settings import CheckSettings

_SLOWER, _LEAST_PATIENCE = 3, 60.0
_MOST_MENTIONED = 20  # files or functions that tests are searched for
_MOST_NAMED = 200  # files; a command line has an end
_BUILDS = ("build", "clippy", "vet")  # verbs of programs that also run tests
_NAMES_MODULES = ("pytest", "unittest", "django")  # runners that name what they cannot load as they name tests


@dataclass(frozen=True, slots=True)
class Before:
    """The run just made, by the ids of its tests."""

    green: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()  # failed and forgiven, or skipped


class CheckStarter(Protocol):
    """Runs it in a checkout of the broken tree; `pace`: how much of it."""

    async def __call__(self, spec: CheckSettings, *, pace: Pace) -> Ran: ...


def answering(specs: tuple[CheckSettings, ...], counted: frozenset[str]) -> tuple[tuple[str, ...], bool]:
    """The checks whose word counts, and whether they count tests: `counted` are those that did in the run just made.

    Only where none did may an exit code speak, by a person's word. What builds, lints or infers types never does.
    """
    tests = tuple(spec.name for spec in specs if spec.name in counted)
    if tests:
        return tests, True
    return tuple(spec.name for spec in specs if spec.trust == "exit-code" and not _runs_no_test(spec)), False


def _runs_no_test(spec: CheckSettings) -> bool:
    words = {part for word in spec.run for part in (word, PurePosixPath(word).name)}
    return spec.name.lower() in NO_TESTS or not words.isdisjoint(NO_TEST_TOOLS.union(_BUILDS))


def answered(spec: CheckSettings, ran: Ran, before: Before, *, is_part: bool = False) -> Noticed:
    """`is_part`: only some tests ran. They may fail for want of the others, so what was broken has to be told of."""
    failing = tuple(each.rule for each in failures(spec, ran) if each.category == "tests")
    well = ran.finished and ran.exit_code == 0
    red = is_red(failing, ran.tests, before, ended_well=well, by_module=ran.runner in _NAMES_MODULES)
    uncounted = sum(each in before.others for each in failing)
    red = red and (not is_part or _tells(ran))
    return Noticed(red=red, seconds=ran.seconds, tail=ran.tail, uncounted=uncounted)


def _tells(ran: Ran) -> bool:
    found = ran.report.failures if ran.report else ()
    said = (ran.tail, *(text for each in found for text in (each.issue, each.evidence)))
    return not ran.finished or any(ON_PURPOSE in text for text in said)


def is_red(
    failing: tuple[str, ...], tests: int | None, before: Before, *, ended_well: bool, by_module: bool = True
) -> bool:
    """Whether a test that passed before fails now. Where tests have no ids, how the run ended says it.

    `by_module`: this runner names a module that does not load as its tests were named. One that had no tests says
    nothing: pytest collects files of the checkout for their doctests while tests import the package from elsewhere.
    """
    if tests is None or not (before.green or before.others):
        return not ended_well
    if any(each in before.green for each in failing):
        return True
    if by_module:
        return bool(failing) and not surroundings(before.green).isdisjoint(map(place_of, failing))
    return any(each not in before.others for each in failing) or (tests == 0 and not ended_well)


async def tried(
    spec: CheckSettings,
    start: CheckStarter,
    before: Before,
    *,
    seconds: float,
    broken: tuple[str, ...] = (),
    likely: str = "",
) -> Noticed:
    """One check on one broken tree; `seconds` is what it took on the whole one: what hangs now is not waited for.

    The `likely` file of tests goes first, where the command can name files. What fails first and was no test before
    may hide a red: then it is run on for some failures more, and to its end.
    """
    patient = replace(spec, timeout=min(spec.timeout, max(_LEAST_PATIENCE, _SLOWER * seconds)))
    spent, part = 0.0, choose_files(spec.run, (likely,) if likely else ())
    if part:
        ran = await start(replace(patient, run=part), pace=Pace(stop="first"))
        said = answered(spec, ran, before, is_part=True)
        if said.red:
            return said
        spent = said.seconds
    paces = [Pace(stop="first", without=_testless(broken, before.green | before.others))]
    while True:
        pace = paces.pop(0)
        ran = await start(patient, pace=pace)
        said = answered(spec, ran, before)
        spent += said.seconds
        paces = _further(ran) if pace.stop == "first" else paces
        if said.red or not paces:
            return replace(said, seconds=spent)


def find_likely(names: tuple[str, ...], texts: Mapping[str, str]) -> str:
    """Return the file of tests that is most about what is broken, if there are others; else nothing.

    `names` are files, or functions behind their file and a colon, as `Edits` has them. Where no test mentions a
    function, its class, its module and its package are looked for, in this order.
    """
    if len(names) > _MOST_MENTIONED:
        return ""
    for words in zip_longest(*map(_words_for, names), fillvalue=""):
        pattern = re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in words if word)})\b")
        share = {path: len(pattern.findall(text)) / (len(text) or 1) for path, text in texts.items()}
        if any(share.values()):
            return max(sorted(share), key=share.__getitem__) if len(texts) > 1 else ""
    return ""


def _words_for(name: str) -> list[str]:
    """The words by which a test may mention it: a special method is not called by its own name."""
    path, _, function = name.partition(": ")
    pure = PurePosixPath(path)
    parts = [*(pure.parent.name, pure.stem), *function.split(".")]
    return [each for each in reversed(parts) if each and not each.startswith("__")]


def _further(ran: Ran) -> list[Pace]:
    """After a run that stopped at its first failure, which was no test."""
    if ran.exit_code == 0 or not ran.runner:
        return []
    later = [Pace(stop="twentieth")] if ran.runner in STOP_LATER else []
    return [*later, Pace()]


def _testless(broken: tuple[str, ...], tests: frozenset[str]) -> tuple[str, ...]:
    """Those of which no test bears the name: a runner that looks for doctests in them would stop at the first."""
    if len(broken) > _MOST_NAMED:
        return ()
    return tuple(path for path in broken if not any(PurePosixPath(path).stem in test for test in tests))
