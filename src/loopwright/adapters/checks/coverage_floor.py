"""How much of the code the tests reach, and of what the candidate adds or changes, against what is asked for.

The tests' own lines do not count: whoever adds tests would otherwise raise the share without reaching any code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType

from loopwright.adapters.checks.checkouts import ObjectReader
from loopwright.adapters.checks.coverage_comments import left_out_by_comments
from loopwright.adapters.checks.coverage_report import FileCoverage, ranges
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.checks.reports import COVERAGE, COVERAGE_OF_NEW_CODE, Report, short
from loopwright.config.settings import CheckSettings
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import is_protected
from loopwright.kernel.model import Change, Coverage, Finding, Severity, Tree
from loopwright.kernel.visible import visible

NewLines = Mapping[str, frozenset[int]]  # what the candidate added or changed, by path
NO_LINES: NewLines = MappingProxyType({})
_LARGEST = 1024 * 1024  # of a file that people write

_MOST_FILES = 5  # that a finding names
_MOST_LINES = 200  # characters of line numbers for each of them
_TESTS = re.compile(
    r"""(?:^|/)(?:tests?|__tests__|specs?)/
      | (?:^|/)(?:test_[^/]*|conftest)\.py$
      | [^/](?:[._](?:test|spec)|Tests?|Spec)\.[a-z]+$
    """,
    re.VERBOSE,
)


def serves_tests(path: str) -> bool:
    """Test code and what lies with it, in any language."""
    return _TESTS.search(path) is not None


def covered(spec: CheckSettings, ran: Ran, new: NewLines, left_out: NewLines = NO_LINES) -> Ran:
    """The run with what its report comes to; one without a line of code is refused.

    `new` may name files that the report leaves out; they are told. Of these lines those that are `left_out` by comments
    of the change count as new code that no test runs.
    """
    files = tuple(each for each in ran.lines if not serves_tests(each.file))
    if not any(each.covered or each.missed for each in files):
        return replace(ran, report=None, refused="its report has no line of this tree's code, the tests' own aside")
    measured = {each.file: each for each in files}
    unmeasured = sorted(left_out.keys() - measured.keys())
    looked_at = (*files, *(FileCoverage(file=file, covered=(), missed=()) for file in unmeasured))
    fresh = tuple(narrowed for each in looked_at if (narrowed := _narrowed(each, new, left_out)))
    coverage = Coverage(
        covered=sum(len(each.covered) for each in files),
        total=sum(len(each.covered) + len(each.missed) for each in files),
        new_covered=sum(len(each.covered) for each in fresh),
        new_total=sum(len(each.covered) + len(each.missed) for each in fresh),
        floor=spec.floor,
        new_code_floor=spec.new_code_floor,
    )
    missing = sorted(new.keys() - measured.keys())
    unreported = f"changed, but not in the coverage report: {_some(missing)}" if missing else ""
    report = Report(
        tests=None,
        coverage=coverage,
        failures=_shortfalls(spec, coverage, files, fresh),
        note="; ".join(filter(None, (unreported, _commented(left_out)))),
    )
    return replace(ran, report=report)


def _narrowed(file: FileCoverage, new: NewLines, left_out: NewLines) -> FileCoverage | None:
    lines = new.get(file.file, frozenset())
    kept = FileCoverage(
        file=file.file,
        covered=tuple(line for line in file.covered if line in lines),
        missed=tuple(sorted({*(line for line in file.missed if line in lines), *left_out.get(file.file, ())})),
    )
    return kept if kept.covered or kept.missed else None


def _shortfalls(
    spec: CheckSettings, seen: Coverage, files: tuple[FileCoverage, ...], fresh: tuple[FileCoverage, ...]
) -> tuple[Finding, ...]:
    measured = [(COVERAGE, "lines", "line coverage", seen.percent, seen.floor, files)]
    if seen.new_total:
        of_new = (seen.new_percent, seen.new_code_floor, fresh)
        measured.append((COVERAGE_OF_NEW_CODE, "new lines", "coverage of new code", *of_new))
    found = []
    for rule, lines, what, percent, floor, looked_at in measured:
        if floor is None or percent >= floor:
            continue
        short_of = Finding(
            severity=Severity.HIGH,
            category="tests",
            rule=rule,
            issue=f"check {spec.name!r}: the tests run {percent:g}% of the {lines}, {floor:g}% are asked for",
            expected=f">= {floor:g}% {what}",
            actual=f"{percent:g}% {what}",
        )
        found.append(_placed(short_of, looked_at))
    return tuple(found)


def _placed(finding: Finding, files: tuple[FileCoverage, ...]) -> Finding:
    """With the worst files. Its identity does not hang on them: it is one fault, wherever most of it lies today."""
    bare = sorted((each for each in files if each.missed), key=lambda each: (-len(each.missed), each.file))
    shown, rest = bare[:_MOST_FILES], len(bare) - _MOST_FILES
    more = f"; and {rest} more files" if rest > 0 else ""
    counts = (f"{visible(e.file)}: {len(e.covered)} of {len(e.covered) + len(e.missed)} lines run" for e in shown)
    return short(
        replace(
            identify(finding),
            file=visible(bare[0].file),
            line=bare[0].missed[0],
            evidence="\n".join(counts),
            guidance=f"Write tests that make these lines run: {'; '.join(map(_missed, shown))}{more}.",
        )
    )


def _missed(file: FileCoverage) -> str:
    text = ranges(file.missed)
    if len(text) > _MOST_LINES:
        text = text[:_MOST_LINES].rpartition(", ")[0] + ", …"
    return f"{visible(file.file)}:{text}"


def _commented(left_out: NewLines) -> str:
    told = [f"{path}:{ranges(sorted(lines))}" for path, lines in sorted(left_out.items())]
    return f"new lines that a comment leaves out of the measure count as not run: {_some(told)}" if told else ""


def _some(names: list[str]) -> str:
    return ", ".join(map(visible, names[:_MOST_FILES])) + (", …" if len(names) > _MOST_FILES else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCode:
    """Between the trees that run, so that what was taken from the base is not new. Protected files never are."""

    source: ObjectReader
    base: Tree
    candidate: Tree
    changes: tuple[Change, ...]
    protected: tuple[str, ...] = ()

    async def lines(self, files: tuple[FileCoverage, ...]) -> NewLines:
        """Of the files in a report, and of changed ones that it should have."""
        reported = {each.file for each in files}
        kinds = {PurePosixPath(file).suffix for file in reported}
        changed = {each.path for each in self.changes if PurePosixPath(each.path).suffix in kinds}
        return await self.source.new_lines(
            self.base, self.candidate, tuple(path for path in sorted(reported | changed) if self._counts(path))
        )

    async def left_out(self, files: tuple[FileCoverage, ...], new: NewLines) -> NewLines:
        """Of the new lines those that comments of the change keep out of the report."""
        measured = {each.file: frozenset((*each.covered, *each.missed)) for each in files}
        texts = await self.source.texts(self.candidate, tuple(sorted(new)), limit=_LARGEST)
        found = {
            path: left_out_by_comments(path, text, new[path], measured.get(path, frozenset()))
            for path, text in texts.items()
        }
        return {path: lines for path, lines in found.items() if lines}

    def _counts(self, path: str) -> bool:
        return not serves_tests(path) and not is_protected(path, self.protected)


def terms_of(spec: CheckSettings, protected: tuple[str, ...]) -> str:
    """Return what decides a result besides the run. Empty for a check to which nothing of this matters."""
    told = f"floor {spec.floor}, of new code {spec.new_code_floor}, protected {' '.join(protected)}"
    return told if spec.report == "coverage" else ""
