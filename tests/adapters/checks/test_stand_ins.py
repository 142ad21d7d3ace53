"""A command is run on what would land, and with what judges as the base has it or as it landed: both must pass."""

import asyncio
import sys
from pathlib import Path

import pytest

from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import Demand
from loopwright.kernel.trust import LandedBefore
from tests.adapters.checks.projects import UNITTEST, project

pytestmark = pytest.mark.unmeasured

ONE = "def one():\n    return 1\n"
TWO = f"{ONE}\n\ndef two():\n    return 2\n"
BROKEN = TWO.replace("return 2", "return 22")
BASE: dict[str, str | None] = {
    "a.py": ONE,
    "app/cli.py": "import ops\nraise SystemExit(ops.number() != 2)\n",
    "app/ops.py": "def number():\n    return 1\n",
    "tests/test_a.py": (
        "import unittest\nimport a\n\nclass One(unittest.TestCase):\n"
        "    def test_one(self):\n        self.assertEqual(a.one(), 1)\n"
    ),
}
LOOKS = "import a\nraise SystemExit(a.two() != 2)\n"
IN_PATH = ("env", "PYTHONPATH=.", sys.executable)
FIRST: dict[str, str | None] = {
    "a.py": TWO,
    "cli.py": "import a\nprint(a.one() + 1)\n",
    "scripts/look.py": LOOKS,
    "scripts/look.sh": "exec sh scripts/inner.sh\n",
    "scripts/inner.sh": f"exec {sys.executable} -c '{LOOKS}'\n",
    "more/helped.py": "import a\nfrom more.want import WANT\nraise SystemExit(a.two() != WANT)\n",
    "more/want.py": "WANT = 2\n",
    "other/look.py": LOOKS,
    "out/two.txt": "2\n",
    "expected/two.txt": "2\n",
}
BENT: dict[str, str | None] = {
    "a.py": BROKEN,
    "cli.py": "print(3)\n",
    "scripts/look.py": "",
    "scripts/inner.sh": "exit 0\n",
    "more/want.py": "WANT = 22\n",
    "other/a.py": TWO,
    "out/two.txt": "22\n",
    "expected/two.txt": "22\n",
}
PRODUCT = ("sh", "-c", f"{sys.executable} cli.py | grep -qx 2")
COMMANDS = {
    ("bash", "-lc", f"{sys.executable} -m scripts.look"): " with scripts/look.py as it landed",
    ("timeout", "60", "sh", "scripts/look.sh"): " with scripts/inner.sh as it landed",
    (*IN_PATH, "more/helped.py"): " with more/want.py as it landed",
    (*IN_PATH, "-W", "ignore", "other/look.py"): " with other/a.py as it landed",
    ("diff", "out/two.txt", "expected/two.txt"): " with expected/two.txt as it landed",
    PRODUCT: "exit code 1",
}


def test_what_an_earlier_command_starts_is_found_in_any_spelling_and_the_product_is_run_as_it_is(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        here = project(tmp_path, BASE, [UNITTEST])
        landed = here.candidate(FIRST)
        first = await here.report(landed, also=tuple(Demand("T-001", argv) for argv in COMMANDS))
        assert [each.passed for each in first.also] == [True] * len(COMMANDS)
        bent = here.candidate({**FIRST, **BENT})
        promised = tuple(Demand("T-001", argv, landed=landed) for argv in COMMANDS)
        report = await here.report(bent, step="s2", also=promised, after=LandedBefore(commit=landed))
        assert [each.passed for each in report.also] == [False] * len(COMMANDS)
        told = [each.failures[0].issue for each in report.also]
        assert [issue.endswith(end) for issue, end in zip(told, COMMANDS.values(), strict=True)] == [True] * len(told)

    asyncio.run(story())


def test_honest_work_passes_both(tmp_path: Path) -> None:
    """A change that keeps what the product did; a script that is to change; product that a script of the base needs."""

    async def story() -> None:
        here = project(tmp_path, BASE, [UNITTEST])
        landed = here.candidate(FIRST)
        more = {"cli.py": "import a\nprint(a.two())\n", "app/ops.py": "def number():\n    return 2\n"}
        second = here.candidate({**FIRST, **more, "scripts/inner.sh": "exit 0\n", "out/two.txt": "2\n\n"})
        also = (
            Demand("T-001", PRODUCT, landed=landed),
            Demand("T-001", ("sh", "scripts/look.sh"), landed=landed),
            Demand("T-002", (sys.executable, "app/cli.py")),
            Demand("T-003", ("sh", "-c", "grep -q 'return 2' app/ops.py")),
        )
        report = await here.report(second, also=also, after=LandedBefore(commit=landed, allow=("scripts/inner.sh",)))
        assert faults_of(report) == ()
        assert [each.passed for each in report.also] == [True] * len(also)

    asyncio.run(story())


def test_what_must_not_be_is_looked_for_with_all_that_the_base_has_for_it(tmp_path: Path) -> None:
    async def story() -> None:
        guard = "import rules\nraise SystemExit(rules.BAD in open('a.py').read())\n"
        tools = {
            "tools/guard.sh": f"#!/bin/sh\nexec {sys.executable} tools/guard.py\n",
            "tools/guard.py": guard,
            "tools/rules.py": "BAD = 'eval('\n",
        }
        here = project(tmp_path, {**BASE, **tools}, [UNITTEST])
        bent = here.candidate(
            {"a.py": f"{ONE}\n\ndef two():\n    return eval('2')\n", "tools/rules.py": "BAD = 'no'\n"}
        )
        also = tuple(
            Demand("mustNot-1", argv)
            for argv in (("timeout", "30", sys.executable, "tools/guard.py"), ("sh", "tools/guard.sh"))
        )
        report = await here.report(bent, also=also)
        assert [each.passed for each in report.also] == [False, False]
        assert {each.failures[0].issue.partition(" with ")[2] for each in report.also} == {
            "exit code 1 with tools/rules.py as the base has it"
        }

    asyncio.run(story())
