"""A small project in two versions, whose real tests run on real folders with files replaced."""

import asyncio
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.canary.answers import Before, tried
from loopwright.adapters.checks.canary.look import CanaryQuestion, Noticed, Place, look
from loopwright.adapters.checks.canary.plan import Edits
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.runners.asking import asked
from loopwright.adapters.checks.runners.table import WHOLE, Pace
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Change
from loopwright.kernel.trust import Canary, Classed, FileClass
from tests.interpreter import WARM_PYTHON

UNITTEST = (*WARM_PYTHON, unittest_report.__file__, "--report={report}", "discover", "-s", "tests", "-t", ".")
Files = Mapping[str, str]


def module_of_tests(*calls: str) -> str:
    """A test module; each call is a test of its own."""
    tests = "".join(f"    def test_{n}(self):\n        {call}\n" for n, call in enumerate(calls))
    return f"import unittest\nimport pkg.a\n\n\nclass T(unittest.TestCase):\n{tests}"


@dataclass(kw_only=True)
class ToyLaboratory:
    place: Path
    base: Files
    product_of_candidate: Files
    tests_of_candidate: Files = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    specs: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"test": UNITTEST})
    exercised: tuple[str, ...] = ()
    installed: str = ""
    places: Files = field(default_factory=dict)
    before: dict[tuple[str, Place], Before] = field(default_factory=dict)
    tries: list[tuple[Place, tuple[str, ...]]] = field(default_factory=list)

    def tree(self, where: Place) -> dict[str, str]:
        judged = {**self.base, **self.product_of_candidate}
        judged = {path: text for path, text in judged.items() if path not in self.gone}
        return {"base": dict(self.base), "judging": judged, "landing": {**judged, **self.tests_of_candidate}}[where]

    async def texts(self, where: Place, paths: tuple[str, ...]) -> dict[str, bytes]:
        tree = self.tree(where)
        return {path: tree[path].encode() for path in paths if path in tree}

    async def product(self) -> tuple[str, ...]:
        return tuple(path for path in self.tree("judging") if not path.startswith("tests/"))

    async def found_at(self, package: str) -> str:
        return self.installed and f"{self.installed}/{package}"

    async def elsewhere(self, paths: tuple[str, ...]) -> dict[str, str]:
        return {path: self.places[path] for path in paths if path in self.places}

    async def try_with(self, where: Place, edits: Edits, checks: tuple[str, ...]) -> dict[str, Noticed]:
        self.tries.append((where, tuple(sorted(edits.texts))))
        return {name: await self._tried(name, where, edits.texts) for name in checks}

    async def _tried(self, name: str, where: Place, edits: Mapping[str, bytes]) -> Noticed:
        spec = CheckSettings(name=name, run=self.specs[name], report="junit", timeout=60)
        if (name, where) not in self.before:
            report = self._ran(spec, self.tree(where), {}).report
            outcomes = report.outcomes if report else ()
            green = frozenset(test for test, how in outcomes if how == "passed")
            self.before[name, where] = Before(green, frozenset(test for test, _ in outcomes) - green)

        async def start(spec: CheckSettings, *, pace: Pace) -> Ran:
            return self._ran(spec, self.tree(where), edits, pace=pace)

        return await tried(spec, start, self.before[name, where], seconds=1.0, broken=tuple(edits))

    def _ran(self, spec: CheckSettings, tree: Files, edits: Mapping[str, bytes], *, pace: Pace = WHOLE) -> Ran:
        folder = self.place / f"try{len(list(self.place.iterdir()))}"
        for path, data in {**{path: text.encode() for path, text in tree.items()}, **edits}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        report = folder.with_suffix(".report")
        request = asked(spec.run, own_report=True, pace=pace)
        ended = subprocess.run(request.command(report), cwd=folder, capture_output=True, check=False)
        read = read_junit(report.read_bytes(), lambda _: False) if report.is_file() else None
        return Ran(how="exited", exit_code=ended.returncode, seconds=1.0, report=read, runner=request.runner)

    def changes(self) -> tuple[Classed, ...]:
        how = {path: "changed" if path in self.base else "added" for path in self.product_of_candidate}
        how |= dict.fromkeys(self.gone, "removed")
        product = tuple(
            Classed(change=Change(path=path, how=done), kind=FileClass.PRODUCT, spared=path in self.spared)  # type: ignore[arg-type]
            for path, done in how.items()
        )
        tests = tuple(
            Classed(change=Change(path=path, how="added"), kind=FileClass.TEST) for path in self.tests_of_candidate
        )
        return product + tests

    def look(self, *, counts: bool = True) -> Canary:
        question = CanaryQuestion(
            changes=self.changes(),
            checks=tuple(self.specs),
            counts=counts,
            lands_apart=bool(self.tests_of_candidate),
            exercised=self.exercised,
        )
        return asyncio.run(look(question, self))
