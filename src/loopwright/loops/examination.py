"""Acceptance tests that an examiner writes before the maker starts: what is known of them, and what people decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.actions import Option
from loopwright.kernel.changing import replace
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import NO_COMMIT, Commit, Finding
from loopwright.kernel.quoting import one_line
from loopwright.kernel.trust import FailedHiddenTest, HiddenTests
from loopwright.kernel.wording import counted, name_causes

EXAMINER = "examiner"
EXAMINATION = "examination"  # the part of its steps' keys
PATH_TAKEN = "path-taken"
_NAMED = 5  # tests or files in a sentence
_MOST_RUNS = 2  # of the examiner until a person is asked: its work, and one repair
RETRY = Option(choice="retry", label="Let the examiner try once more", prompt="retry: run the examiner once more")
WITHOUT = Option(
    choice="maker",
    label="Go on without an examiner",
    prompt="maker: go on with the maker's own tests alone; the ending says so",
)
KEEP = Option(choice="keep", label="Keep the tests", prompt="keep: the tests stand, and the maker goes on")
DROP = Option(choice="drop", label="Drop the tests", prompt="drop: these files are no longer run, and do not land")
CANCEL = Option(choice="cancel", label="Cancel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    commit: Commit = NO_COMMIT  # the base and the examiner's tests
    files: tuple[str, ...] = ()
    interface: str = ""
    runs: int = 0
    runs_in_turn: int = 0  # since it began, or since a person asked for another
    faults: tuple[Finding, ...] = ()  # of the tests as they are
    settled: bool = False  # the tests are accepted, or a person does without
    failing: tuple[FailedHiddenTest, ...] = ()  # with the last candidate
    laid: bool = False  # the commit that the next attempt would start from has the tests
    asks: Literal["", "examiner", "tests"] = ""  # what a person is asked about
    decisions: tuple[str, ...] = ()  # of people, in sentences

    @property
    def hidden(self) -> HiddenTests:
        return HiddenTests(files=self.files)

    @property
    def may_repair(self) -> bool:
        return self.runs_in_turn < _MOST_RUNS

    @property
    def disputed(self) -> tuple[str, ...]:
        """Return the files whose tests failed with the last candidate."""
        return tuple(dict.fromkeys(each.file for each in self.failing))


def with_report(held: Examination, report: ChecksReported) -> Examination:
    """Note which of the tests fail with a candidate."""
    return replace(held, failing=report.hidden)


def accept_or_fault(held: Examination, report: ChecksReported) -> Examination:
    """Accept the tests if each fails on the base for the right reason; else note what is wrong."""
    none = () if report.hidden else (engine_finding("no-test", "No acceptance test fails on the base"),)
    faults = report.findings or none
    return replace(held, faults=faults, settled=not faults)


def drop_disputed(held: Examination, by: str) -> Examination:
    files = held.disputed
    told = f"acceptance tests dropped by {by or 'a person'}: {name_some(files)}"
    kept = tuple(path for path in held.files if path not in files)
    return replace(held, files=kept, failing=(), asks="", decisions=(*held.decisions, told))


def waive(held: Examination, by: str) -> Examination:
    told = f"no acceptance tests: {by or 'a person'} let the maker go on without an examiner"
    return replace(held, settled=True, files=(), faults=(), asks="", decisions=(*held.decisions, told))


def describe_examination(held: Examination) -> str:
    """Say which acceptance tests there are, for people."""
    if not held.settled:
        return "acceptance tests: the examiner has still to write them"
    return f"acceptance tests of the examiner: {name_some(held.files)}" if held.files else held.decisions[-1]


def ask_about_examiner(held: Examination, *, missing: bool) -> str:
    """Say why there are no acceptance tests to go by."""
    if missing:
        return (
            'acceptance = "independent", and no agent plays the examiner; name one as `examiner` under [roles] in'
            " loop.toml and start again, or go on with the maker's tests alone"
        )
    said = "; ".join(one_line(each.issue, 300) for each in held.faults[:_NAMED])
    more = f" and {counted(len(held.faults) - _NAMED, 'other')}" if len(held.faults) > _NAMED else ""
    return f"the examiner's acceptance tests cannot be used: {said}{more}"


def ask_about_tests(held: Examination, failures: tuple[Finding, ...]) -> str:
    """Say which tests are disputed. Task, source and change are shown beside the question."""
    ids = tuple(each.id for each in held.failing)
    tests = name_causes(each for each in failures if each.rule in ids) or name_some(ids)
    return (
        f"these acceptance tests of the examiner fail: {tests}. Is the change wrong, or are the tests in {_files(held)}"
    )


def _files(held: Examination) -> str:
    return name_some(held.disputed)


def name_some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(one_line(each, 200) for each in names[:_NAMED]) + more


def taken_paths(held: Examination, paths: tuple[str, ...]) -> Finding | None:
    """Return what a maker hears whose files lie where acceptance tests do."""
    taken = tuple(path for path in paths if path in held.files)
    if not taken:
        return None
    return engine_finding(
        PATH_TAKEN,
        f"The path is taken by an acceptance test: {name_some(taken)}. Name your file otherwise",
        file=taken[0],
    )
