"""What landed with one part of a work judges the parts after it: as it landed, and by itself."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.kernel.evidence import Level
from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import Commit, Demand
from loopwright.kernel.trust import LandedBefore
from tests.adapters.checks.projects import PYTEST, UNITTEST, Project, project

pytestmark = pytest.mark.unmeasured

BASE: dict[str, str] = {
    "a.py": "def one():\n    return 1\n",
    "tests/test_a.py": (
        "import unittest\nimport a\n\nclass One(unittest.TestCase):\n"
        "    def test_one(self):\n        self.assertEqual(a.one(), 1)\n"
    ),
}
TWO = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
TEST_OF_TWO = (
    "import unittest\nimport a\n\nclass Two(unittest.TestCase):\n"
    "    def test_two(self):\n        self.assertEqual(a.two(), 2)\n"
)
SCRIPT = "import a\nraise SystemExit(a.two() != 2)\n"
FIRST: dict[str, str] = {"a.py": TWO, "tests/test_two.py": TEST_OF_TWO, "scripts/look.py": SCRIPT}
BROKEN = TWO.replace("return 2", "return 22") + "\n\ndef three():\n    return 3\n"
TEST_OF_THREE = TEST_OF_TWO.replace("Two", "Three").replace("two", "three").replace(" 2)", " 3)")
PATCHING = "import a\na.two = lambda: 2\n" + TEST_OF_THREE
SHOWN = 'def one():\n    """\n    >>> one()\n    %s\n    """\n    return %s\n%s'
SHOWN_TWO = '\n\ndef two():\n    """\n    >>> two()\n    %s\n    """\n    return %s\n'
LOOKS = Demand("T-001", (sys.executable, "-m", "scripts.look"))


def made(tmp_path: Path) -> tuple[Project, Commit]:
    here = project(tmp_path, BASE, [UNITTEST])
    return here, here.candidate(FIRST)


def after(commit: Commit, *allow: str, alone: bool = True) -> LandedBefore:
    return LandedBefore(commit=commit, allow=allow, alone=alone)


def test_a_new_test_that_patches_what_an_earlier_one_looks_at_does_not_help(tmp_path: Path) -> None:
    async def story() -> None:
        here, landed = made(tmp_path)
        second = here.candidate({**FIRST, "a.py": BROKEN, "tests/test_aaa.py": PATCHING})
        together = await here.report(second, after=after(landed, alone=False))
        assert faults_of(together) == ()  # that is what it is for
        alone = await here.report(second, step="s2", after=after(landed))
        assert "test_two" in str(faults_of(alone))
        assert "needs-its-own-tests" in [each.rule for each in alone.findings]

    asyncio.run(story())


def test_right_work_with_tests_of_its_own_passes_alone_too(tmp_path: Path) -> None:
    async def story() -> None:
        here, landed = made(tmp_path)
        right = BROKEN.replace("22", "2")
        second = here.candidate({**FIRST, "a.py": right, "tests/test_three.py": TEST_OF_THREE})
        assert faults_of(await here.report(second, after=after(landed))) == ()

    asyncio.run(story())


def test_what_is_made_now_is_noticed_by_itself_and_not_with_what_was_noticed_before(tmp_path: Path) -> None:
    async def story() -> None:
        here, landed = made(tmp_path)
        second = here.candidate({**FIRST, "a.py": BROKEN.replace("22", "2")})
        whole = await here.report(second, after=after(landed))
        assert whole.canary is not None
        assert whole.canary.said == "noticed"
        own = await here.report(second, step="s2", after=replace(after(landed), noticed=True))
        assert own.canary is not None
        assert (own.canary.said, own.canary.missed) == ("untested-change", ("a.py: three",))
        same = await here.report(landed, step="s3", after=replace(after(landed), noticed=True))
        assert same.canary is not None
        assert (same.canary.said, same.canary.sentence.partition(":")[0]) == ("not-shown", "Only data and text changed")

    asyncio.run(story())


def test_what_the_target_has_changed_meanwhile_is_as_the_target_has_it(tmp_path: Path) -> None:
    async def story() -> None:
        here, landed = made(tmp_path)
        theirs = {
            "tests/test_a.py": BASE["tests/test_a.py"].replace("test_one", "test_the_first"),
            "setup.cfg": "[x]\n",
        }
        began, target = here.base, here.candidate({**BASE, **theirs})
        both = here.candidate({**FIRST, **theirs})
        here.base = target
        moved = replace(after(landed, alone=False), began=began, target=target)
        report = await here.report(both, after=moved)
        whole = here.repository.git("rev-parse", f"{both}^{{tree}}")
        assert (report.kept, faults_of(report), report.lands) == ((), (), whole)
        weaker = TEST_OF_TWO.replace("assertEqual(a.two(), 2)", "assertTrue(a.two())")
        without = here.candidate({**FIRST, **theirs, "tests/test_two.py": weaker})
        held = (await here.report(without, step="s2", after=moved)).held
        assert [change.path for change in held] == ["tests/test_two.py"]

    asyncio.run(story())


@pytest.mark.parametrize(
    "bent",
    [{"scripts/look.py": "raise SystemExit(0)\n"}, {"scripts/__init__.py": "import a\na.two = lambda: 2\n"}],
    ids=["rewritten", "patched"],
)
def test_what_a_command_starts_runs_as_it_landed(tmp_path: Path, bent: dict[str, str | None]) -> None:
    async def story() -> None:
        here, landed = made(tmp_path)
        files = {**FIRST, "tests/test_two.py": None, "a.py": BROKEN, **bent}
        second = here.candidate({path: text for path, text in files.items() if text is not None})
        promised = Demand("T-001", LOOKS.argv, landed=landed)
        report = await here.report(second, also=(LOOKS, promised), after=after(second))
        assert [each.passed for each in report.also] == [True, False]
        allowed = await here.report(second, step="s2", also=(promised,), after=after(second, *bent))
        assert [each.passed for each in allowed.also] == [True]

    asyncio.run(story())


def test_a_changed_test_that_landed_before_judges_as_it_landed(tmp_path: Path) -> None:
    async def story() -> None:
        here, landed = made(tmp_path)
        bent = TEST_OF_TWO.replace("(), 2)", "(), 22)")
        second = here.candidate({**FIRST, "a.py": BROKEN, "tests/test_two.py": bent})
        report = await here.report(second, after=after(landed))
        assert "test_two.Two.test_two" in [each.rule for each in faults_of(report)]
        allowed = await here.report(second, step="s2", after=after(landed, "tests/test_t*.py"))
        assert faults_of(allowed) == ()

    asyncio.run(story())


MORE_OF_ONE = BASE["tests/test_a.py"] + TEST_OF_TWO.partition("\n\n")[2]
BY_HELPER = TEST_OF_TWO.replace("import a\n", "import a\nfrom tests.helpers import WANT\n").replace(
    "(), 2)", "(), WANT)"
)
WITH_HELPER = {"a.py": TWO, "tests/test_two.py": BY_HELPER, "tests/helpers.py": "WANT = 2\n"}


@pytest.mark.parametrize(
    ("first", "bent"),
    [
        (
            {"a.py": TWO, "tests/test_a.py": MORE_OF_ONE},
            {"tests/test_a.py": BASE["tests/test_a.py"].replace("one()", "one() + 0")},
        ),
        (WITH_HELPER, {"tests/helpers/__init__.py": "WANT = 22\n"}),
    ],
    ids=["a test added to a file of the base", "a package in front of a helper"],
)
def test_wrong_code_is_red_by_what_landed(tmp_path: Path, first: dict[str, str], bent: dict[str, str]) -> None:
    async def story() -> None:
        here = project(tmp_path, {**BASE, "tests/__init__.py": ""}, [UNITTEST])
        landed = here.candidate(first)
        wrong = here.candidate({**first, **bent, "a.py": BROKEN, "tests/test_three.py": TEST_OF_THREE})
        assert "test_two" in str(faults_of(await here.report(wrong, after=after(landed))))
        right = here.candidate({**first, "a.py": BROKEN.replace("22", "2"), "tests/test_three.py": TEST_OF_THREE})
        assert faults_of(await here.report(right, step="s2", after=after(landed))) == ()

    asyncio.run(story())


def test_a_test_that_landed_and_is_not_run_any_more_is_missed(tmp_path: Path) -> None:
    skips = TEST_OF_TWO.replace("class Two", "@unittest.skipIf(hasattr(a, 'three'), 'later')\nclass Two")

    async def story() -> None:
        here = project(tmp_path, BASE, [UNITTEST])
        first = {**FIRST, "tests/test_two.py": skips}
        landed = here.candidate(first)
        wrong = here.candidate({**first, "a.py": BROKEN, "tests/test_three.py": TEST_OF_THREE})
        report = await here.report(wrong, after=after(landed))
        assert "test_two" in {each.rule: each.issue for each in faults_of(report)}["landed-tests-gone"]

    asyncio.run(story())


def test_examples_in_the_product_that_landed_are_kept_too(tmp_path: Path) -> None:
    async def story() -> None:
        doctests = replace(PYTEST, run=(*PYTEST.run, "--doctest-modules", "a.py"))
        here = project(tmp_path, {**BASE, "a.py": SHOWN % ("1", "1", "")}, [doctests])
        landed = here.candidate({"a.py": SHOWN % ("1", "1", SHOWN_TWO % ("2", "2"))})
        wrong = here.candidate({"a.py": SHOWN % ("1", "1", SHOWN_TWO % ("22", "22"))})
        report = await here.report(wrong, after=after(landed))
        assert "a.two" in str(faults_of(report))

    asyncio.run(story())


def test_so_does_a_script_of_the_base_that_the_task_was_to_change(tmp_path: Path) -> None:
    async def story() -> None:
        here = project(tmp_path, {**BASE, "scripts/look.py": "raise SystemExit(0)\n"}, [UNITTEST])
        landed = here.candidate(FIRST)
        bent = here.candidate({"a.py": BROKEN, "scripts/look.py": "raise SystemExit(False)\n"})
        promised = Demand("T-001", LOOKS.argv, own=("scripts/look.py",), landed=landed)
        report = await here.report(bent, also=(promised,), after=after(bent))
        assert [each.passed for each in report.also] == [False]

    asyncio.run(story())


@pytest.mark.parametrize("more", [{"README.md": "Two.\n"}, {"tests/test_three.py": TEST_OF_TWO.replace("Two", "Too")}])
def test_a_part_of_texts_or_tests_alone_is_not_shown_whatever_guards_what_landed_before(
    tmp_path: Path, more: dict[str, str]
) -> None:
    here, landed = made(tmp_path)
    report = asyncio.run(here.report(here.candidate({**FIRST, **more}), after=after(landed)))
    assert report.canary is not None
    assert report.evidence is not None
    assert (report.canary.said, report.evidence.level) == ("noticed", Level.NOT_SHOWN)
    assert report.evidence.without_code
