"""The lines that a candidate adds or changes: what `new_code_floor` is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from loopwright.adapters.checks.checkouts import ObjectReader
from loopwright.adapters.checks.coverage_floor import NewLines, serves_tests
from loopwright.adapters.checks.coverage_report import FileCoverage
from loopwright.adapters.checks.spec import CheckSpec
from loopwright.kernel.gates import is_protected
from loopwright.kernel.model import Change, Tree


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

    def _counts(self, path: str) -> bool:
        return not serves_tests(path) and not is_protected(path, self.protected)

    def terms(self, spec: CheckSpec) -> str:
        """What decides a result besides the run. Empty for a check to which nothing of this matters."""
        if spec.report != "coverage":
            return ""
        return f"floor {spec.floor}, of new code {spec.new_code_floor}, protected {' '.join(self.protected)}"
