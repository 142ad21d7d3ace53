"""Which checks run, in which order, and what in their commands stands for a path of this run or this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.runners import table
from loopwright.adapters.checks.runners.asking import is_known
from loopwright.adapters.checks.runners.scripts import NO_FILES, Texts, may_count, starts_what_it_says_elsewhere
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_source, is_text
from loopwright.kernel.model import Change
from loopwright.kernel.trust import Classed, FileClass, Trust

REPORT, UNITTEST = table.REPORT, table.UNITTEST  # what stands in a command for a path


def as_run(check: CheckSettings) -> CheckSettings:
    """With the paths of this installation in its command."""
    return replace(check, run=tuple(word.replace(UNITTEST, unittest_report.__file__) for word in check.run))


def as_configured(command: tuple[str, ...]) -> tuple[str, ...]:
    """A command that ran, as loop.toml has it."""
    return tuple(word.replace(unittest_report.__file__, UNITTEST) for word in command)


def strength(
    spec: CheckSettings, texts: Texts = NO_FILES, *, counted: bool | None = None
) -> Literal["counting", "weak"]:
    """Whether more than an exit code speaks for the check: `exit(0)` at the wrong place fools a weak one.

    `texts` are the project's files that say which runner a script or a target starts (`steering_files`). `counted` is
    whether tests were counted when it ran, which says more than any file; None: nobody ran it.
    """
    counts = spec.report != "none" or (is_known(spec.run, texts) if counted is None else counted)
    return "counting" if counts else "weak"


def verifies(spec: CheckSettings, texts: Texts = NO_FILES) -> bool:
    """Whether the check is enough to call something verified: it counts tests, or a person's word says so."""
    return spec.trust == "exit-code" or spec.report == "junit" or is_known(spec.run, texts)


def may_verify(spec: CheckSettings, texts: Texts = NO_FILES, *, counted: bool | None = None) -> bool:
    """As `verifies`; before it ever ran, only what can have no tests to count is known not to: its output may show."""
    if counted is not None:
        return counted or spec.trust == "exit-code" or spec.report == "junit"
    return (spec.report == "none" and may_run_tests(spec)) or _may_start_tests(spec, texts)


def may_run_tests(spec: CheckSettings) -> bool:
    return spec.name.lower() not in table.NO_TESTS and may_count(spec.run)


def _may_start_tests(spec: CheckSettings, texts: Texts) -> bool:
    is_script = spec.report == "none" and starts_what_it_says_elsewhere(spec.run) and may_count(spec.run)
    return is_script or verifies(spec, texts)


def selected(specs: tuple[CheckSettings, ...], names: tuple[str, ...]) -> tuple[CheckSettings, ...]:
    """The named checks in configured order; all of them when no name is given."""
    known = {spec.name for spec in specs}
    for name in names:
        if name not in known:
            raise CheckNotRunnable(name, "", f"there is no such check, only {', '.join(sorted(known)) or 'none'}")
    return tuple(spec for spec in specs if not names or spec.name in names)


def as_trusted(specs: tuple[CheckSettings, ...], trust: Trust) -> tuple[CheckSettings, ...]:
    """On new ground every check may be empty, but for the landing run."""
    return tuple(replace(spec, may_be_empty=spec.may_be_empty or trust.new_ground) for spec in specs)


def at_least_one(
    specs: tuple[CheckSettings, ...], classed: tuple[Classed, ...], texts: Texts = NO_FILES
) -> tuple[CheckSettings, ...]:
    """Where a changed file is in the `paths` of none that counts, nobody has said whose it is: all of them run.

    A text is nobody's; but where no check would run, all do: nothing is verified by checks that did not.
    """
    changes = tuple(each.change for each in classed)
    owners = _counting(specs, texts)
    is_owned = all(any(_covers(spec, (each.change,)) for spec in owners) for each in classed if _is_somebodys(each))
    if is_owned and any(_covers(spec, changes) for spec in specs):
        return specs
    return tuple(replace(spec, paths=()) for spec in specs)


def _is_somebodys(classed: Classed) -> bool:
    path = classed.change.path
    is_read = classed.kind is FileClass.TEXT or (
        classed.kind is FileClass.PRODUCT and is_text(path) and not is_source(path)
    )
    return not is_read and not classed.put_back


def _counting(specs: tuple[CheckSettings, ...], texts: Texts) -> tuple[CheckSettings, ...]:
    """A linter that looks at everything does not say who tests it. What nobody can read beforehand is believed where a
    person gave it `paths`, and where there is nothing else."""
    known = tuple(s for s in specs if verifies(s, texts) or (s.paths and _may_start_tests(s, texts)))
    return known or tuple(s for s in specs if _may_start_tests(s, texts)) or specs


def _covers(spec: CheckSettings, changes: tuple[Change, ...]) -> bool:
    return not spec.paths or touches(changes, spec.paths)


def whatever_is_there(specs: tuple[CheckSettings, ...], files: tuple[str, ...]) -> tuple[CheckSettings, ...]:
    """All that some change may call for; not those for whose `paths` there is nothing yet that they could be run on."""
    there = (s for s in specs if not s.paths or any(matches(file, pattern) for file in files for pattern in s.paths))
    return tuple(replace(spec, paths=()) for spec in tuple(there) or specs)


def touches(changes: tuple[Change, ...], patterns: tuple[str, ...]) -> bool:
    return any(matches(change.path, pattern) for change in changes for pattern in patterns)


def ordered(specs: tuple[CheckSettings, ...]) -> tuple[CheckSettings, ...]:
    """Predecessors first, else as configured. A predecessor that is not among `specs` is left out."""
    left = list(specs)
    placed: dict[str, CheckSettings] = {}
    while left:
        waiting = {spec.name for spec in left}
        ready = next((spec for spec in left if not waiting & set(spec.after)), None)
        if ready is None:
            names = " and ".join(sorted(waiting))
            raise CheckNotRunnable(left[0].name, " ".join(left[0].run), f"{names} wait for each other (`after`)")
        placed[ready.name] = ready
        left.remove(ready)
    return tuple(placed.values())


def chains(specs: tuple[CheckSettings, ...]) -> tuple[tuple[CheckSettings, ...], ...]:
    """Checks joined by `after`, each chain in running order. Chains know nothing of each other."""
    found: list[list[CheckSettings]] = []
    for spec in ordered(specs):
        joined = [chain for chain in found if any(earlier.name in spec.after for earlier in chain)]
        found = [chain for chain in found if chain not in joined]
        found.append([*(earlier for chain in joined for earlier in chain), spec])
    return tuple(tuple(chain) for chain in found)


def predecessors(spec: CheckSettings, specs: tuple[CheckSettings, ...]) -> tuple[CheckSettings, ...]:
    """Everything `spec` comes after, directly or not, in running order."""
    wanted = set(spec.after)
    for earlier in reversed(ordered(specs)):
        if earlier.name in wanted:
            wanted |= set(earlier.after)
    return tuple(earlier for earlier in ordered(specs) if earlier.name in wanted)
