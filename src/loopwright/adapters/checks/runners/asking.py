"""A check's command as the engine runs it: with a request for a report, and with one to stop at the first failure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.runners.commands import FoundRunner
from loopwright.adapters.checks.runners.scripts import NO_FILES, Texts, find_through_files
from loopwright.adapters.checks.runners.table import PHASES, REPORT, UNITTEST, WHOLE, Format, Pace


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is started in a check's place. `sure`: without its report it did not run as it should.

    `carried` are words that a variable of the environment takes to a runner which something else starts.
    """

    argv: tuple[str, ...]
    runner: str = ""  # empty: nobody knows which
    format: Format = "output"
    sure: bool = False
    carried: tuple[tuple[str, tuple[str, ...]], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    is_verbatim: bool = False  # no word stands for a path

    def command(self, report: Path) -> tuple[str, ...]:
        if self.is_verbatim:
            return self.argv
        stands_for = {UNITTEST: unittest_report.__file__, REPORT: str(report), PHASES: str(phases_folder(report))}
        return tuple(_replace_all(word, stands_for) for word in self.argv)

    def environment(self, person: Mapping[str, str], report: Path) -> dict[str, str]:
        """The environment with what is asked for; words that a person put into such a variable stay in front."""
        asked = dict(person) | dict(self.env)
        for variable, words in self.carried:
            quoted = (_quoted(word.replace(REPORT, str(report)), variable) for word in words)
            asked[variable] = " ".join(filter(None, (person.get(variable, ""), *quoted)))
        return asked


def asked(argv: tuple[str, ...], texts: Texts = NO_FILES, *, own_report: bool = False, pace: Pace = WHOLE) -> Asked:
    """The command with the request its runner understands; as it is, where no runner is known.

    With `own_report` the person asks for one already. `pace`: how much of it is wanted.
    """
    found = None if pace.verbatim else find_through_files(argv, texts)
    if found is None:
        return Asked(argv=argv, is_verbatim=pace.verbatim)
    runner = found.runner
    sooner = runner.early if pace.stops_early else ()
    if runner.chosen and pace.only:
        sooner = (*sooner, runner.chosen, " or ".join(pace.only))
    if pace.phases:
        sooner = (*sooner, *runner.phased)
    if found.takes_words:
        words = found.with_words((*(() if own_report else runner.words), *sooner))
        return _asked(found, argv=words, format=runner.format, carried=())
    carried = () if own_report else runner.carried
    return _asked(found, argv=found.argv, format=runner.carried_format, carried=(*carried, *sooner))


def phases_folder(report: Path) -> Path:
    """Return the place of the plan of phases and of what they leave, in the run's own folder beside its report."""
    return report.parent / "phases"


def _replace_all(word: str, stands_for: Mapping[str, str]) -> str:
    for placeholder, value in stands_for.items():
        word = word.replace(placeholder, value)
    return word


def counts_by_output(argv: tuple[str, ...], texts: Texts = NO_FILES) -> bool:
    """Whether what the tested code itself prints stands among what counts its tests."""
    request = asked(argv, texts)
    # A child of node's runner tells it on the same stream what it prints.
    return bool(request.runner) and (request.format in ("output", "go") or request.runner == "node")


def runs_phases(argv: tuple[str, ...], texts: Texts = NO_FILES) -> bool:
    found = find_through_files(argv, texts)
    return found is not None and bool(found.runner.phased)


def is_known(argv: tuple[str, ...], texts: Texts = NO_FILES) -> bool:
    return find_through_files(argv, texts) is not None


def _asked(found: FoundRunner, *, argv: tuple[str, ...], format: Format, carried: tuple[str, ...]) -> Asked:  # noqa: A002 - the report's
    variable = found.runner.variable
    return Asked(
        argv=argv,
        runner=found.runner.name,
        format=format,
        sure=found.takes_words and format != "output",
        carried=((variable, carried),) if variable and carried else (),
        env=(*found.env, *found.runner.env),
    )


def _quoted(word: str, variable: str) -> str:
    """`NODE_OPTIONS` knows double quotes alone; the others are read as a shell would."""
    if variable == "NODE_OPTIONS" and " " in word:
        escaped = word.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return shlex.quote(word)
