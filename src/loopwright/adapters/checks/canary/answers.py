"""Which checks may answer for a change, and whether a run on a broken tree is red."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from loopwright.adapters.checks.canary.breaking import ON_PURPOSE
from loopwright.adapters.checks.ids import Outcomes
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.checks.order import may_run_tests
from loopwright.adapters.checks.runners.table import WHOLE, Pace
from loopwright.adapters.checks.single_test import choose_files
from loopwright.adapters.checks.trial_runs import failed_tests, outcomes_of
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import CheckResult

_SLOWER, _LEAST_PATIENCE = 3, 60.0
_MOST_MENTIONED = 20  # files or functions that tests are searched for
_NAMES_MODULES = ("pytest", "unittest", "django")  # runners that name what they cannot load as they name tests
_EARLY = Pace(stops_early=True)


def count_tests(results: Iterable[CheckResult]) -> frozenset[str]:
    """Return the names of the checks that counted tests."""
    return frozenset(result.name for result in results if result.tests)


def answering(specs: tuple[CheckSettings, ...], counted: frozenset[str]) -> tuple[tuple[str, ...], bool]:
    """The checks whose word counts, and whether they count tests: `counted` are those that did in the run just made.

    Only where none did may an exit code speak, by a person's word. What builds, lints or infers types never does.
    """
    tests = tuple(spec.name for spec in specs if spec.name in counted)
    if tests:
        return tests, True
    return tuple(spec.name for spec in specs if spec.trust == "exit-code" and may_run_tests(spec)), False


async def run_until_red(
    spec: CheckSettings,
    run: Callable[[CheckSettings, Pace], Awaitable[Ran]],
    before: Outcomes,
    *,
    seconds: float,
    likely: str = "",
) -> Ran:
    """Run a check on a broken tree; `seconds` is what it took on the whole one: what hangs now is not waited for.

    The `likely` file of tests goes first, where the command can name files. Its tests may fail for want of the others,
    so that it has to tell of what was broken. What fails first and was no test before may hide one that was.
    """
    patient = replace(spec, timeout=min(spec.timeout, max(_LEAST_PATIENCE, _SLOWER * seconds)))
    if part := choose_files(spec.run, (likely,) if likely else ()):
        ran = await run(replace(patient, run=part), _EARLY)
        if is_red(spec, ran, before) and _tells(ran):
            return ran
    ran = await run(patient, _EARLY)
    if is_red(spec, ran, before) or ran.exit_code == 0 or not ran.runner:
        return ran
    return await run(patient, WHOLE)


def _tells(ran: Ran) -> bool:
    found = ran.report.failures if ran.report else ()
    said = (ran.tail, *(text for each in found for text in (each.issue, each.evidence)))
    return not ran.finished or any(ON_PURPOSE in text for text in said)


def is_red(spec: CheckSettings, ran: Ran, before: Outcomes) -> bool:
    """Return whether a test that passed before fails now. Where tests have no ids, how the run ended says it.

    A module that does not load fails its tests. Of a runner that names it otherwise, any new name is a red.
    """
    ended_well = ran.finished and ran.exit_code == 0
    if ran.tests is None or not before:
        return not ended_well
    if outcomes_of(spec, ran, frozenset(test for test, how in before if how == "passed")).failed:
        return True
    is_new = not failed_tests(spec, ran).keys() <= {test for test, _ in before}
    return ran.runner not in _NAMES_MODULES and (is_new or (ran.tests == 0 and not ended_well))


def find_likely(names: tuple[str, ...], texts: Mapping[str, str]) -> str:
    """Return the file of tests that is most about what is broken, if there are others; else nothing.

    `names` are files, or functions behind their file and a colon, as `Edits` has them. Of files that mention a function
    the one is taken that also mentions its class, its module, its package, in this order.
    """
    if not 0 < len(names) <= _MOST_MENTIONED:
        return ""
    asked = [_words_for(name) for name in names]
    patterns = {word: re.compile(rf"\b{re.escape(word)}\b") for words in asked for word in words}

    def weigh(path: str) -> tuple[list[bool], float]:
        counts = {word: len(patterns[word].findall(texts[path])) for word in patterns}
        mentioned = max([counts[word] > 0 for word in words] for words in asked)
        return mentioned, sum(counts.values()) / (len(texts[path]) or 1)

    likely = max(sorted(texts), key=weigh, default="")
    return likely if len(texts) > 1 and any(weigh(likely)[0]) else ""


def _words_for(name: str) -> list[str]:
    """The words by which a test may mention it: a special method is not called by its own name."""
    path, _, function = name.partition(": ")
    pure = PurePosixPath(path)
    parts = [*(pure.parent.name, pure.stem), *function.split(".")]
    return [each for each in reversed(parts) if each and not each.startswith("__")]
