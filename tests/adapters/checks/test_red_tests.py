"""A test that was red when a fix was requested judges that fix in the version in which it was red."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import Commit
from loopwright.kernel.trust import RedTests, Trust
from tests.adapters.checks.projects import UNITTEST, Project, project

pytestmark = pytest.mark.unmeasured

OLD = (
    "import unittest\nimport a\n\nclass One(unittest.TestCase):\n"
    "    def test_one(self):\n        self.assertEqual(a.one(), 1)\n"
)
BASE: dict[str, str] = {"a.py": "def one():\n    return 1\n", "tests/test_a.py": OLD}
WRONG = "def one():\n    return 1\n\n\ndef two():\n    return 3\n"
RIGHT = WRONG.replace("return 3", "return 2")
TEST = OLD.replace("One", "Two").replace("one", "two").replace(" 1)", " 2)")
ADDED = TEST + "\n    def test_two_again(self):\n        self.assertEqual(a.two(), 2)\n"
BENT = TEST.replace(" 2)", " 3)")
RED = "test_two.Two.test_two"


def requested(tmp_path: Path) -> tuple[Project, Commit]:
    here = project(tmp_path, BASE, [UNITTEST])
    return here, here.candidate({"a.py": WRONG, "tests/test_two.py": TEST})


async def judged(here: Project, red: Commit, fix: dict[str, str | None]) -> ChecksReported:
    failed = await here.report(red)
    tests = tuple(each.rule for result in failed.landing for each in result.failures)
    files = {path: text for path, text in fix.items() if text is not None}
    return await here.report(here.candidate(files), step="s2", red=(RedTests(commit=red, tests=tests),))


@pytest.mark.parametrize(
    "fix",
    [
        {"a.py": WRONG, "tests/test_two.py": BENT},
        {"a.py": WRONG, "tests/test_two.py": None},
        {"a.py": WRONG, "tests/test_two.py": None, "tests/test_other.py": BENT.replace("Two", "Other")},
        {"a.py": WRONG, "tests/test_two.py": TEST.replace("    def", "    @unittest.skip('later')\n    def")},
    ],
    ids=["bent", "deleted", "replaced", "skipped"],
)
def test_a_fix_that_changes_the_red_test_instead_of_the_code_fails(tmp_path: Path, fix: dict[str, str | None]) -> None:
    here, red = requested(tmp_path)
    report = asyncio.run(judged(here, red, fix))
    assert [each.rule for each in faults_of(report)] == ["red-test-changed"]
    assert report.claim is not None
    assert ([each.path for each in report.claim.changes], len(report.claim.new)) == (["tests/test_two.py"], 1)
    assert (report.claim.red_at, len(report.claim.messages)) == (red, 1)
    assert report.canary is None


@pytest.mark.parametrize(
    "fix",
    [
        {"a.py": RIGHT, "tests/test_two.py": TEST},
        {"a.py": RIGHT, "tests/test_two.py": ADDED},
        {"a.py": RIGHT, "tests/test_two.py": ADDED.replace("Two(", "OfTwo(")},
        {"a.py": RIGHT, "tests/test_second.py": TEST},
    ],
    ids=["kept", "added-to", "renamed", "moved"],
)
def test_a_fix_that_makes_the_red_test_pass_may_change_it(tmp_path: Path, fix: dict[str, str | None]) -> None:
    here, red = requested(tmp_path)
    report = asyncio.run(judged(here, red, fix))
    assert (faults_of(report), report.claim) == ((), None)


@pytest.mark.parametrize("by", ["maker", "another", "both"])
def test_a_maker_may_mend_its_own_new_test_and_nobody_elses(tmp_path: Path, by: str) -> None:
    async def story() -> None:
        here = project(tmp_path, BASE, [UNITTEST])
        left = here.candidate({"a.py": RIGHT, **({} if by == "another" else {"tests/test_two.py": BENT})})
        red = left if by == "maker" else here.candidate({"a.py": RIGHT, "tests/test_two.py": BENT + "\n"})
        mended = here.candidate({"a.py": RIGHT, "tests/test_two.py": TEST})
        report = await here.report(mended, red=(RedTests(commit=red, tests=(RED,), own=(here.base, left)),))
        rules = [each.rule for each in faults_of(report)]
        assert rules == ([] if by == "maker" else ["red-test-changed"])

    asyncio.run(story())


def test_an_approved_change_to_a_red_test_judges(tmp_path: Path) -> None:
    async def story() -> None:
        here, red = requested(tmp_path)
        tests = (RedTests(commit=red, tests=(RED,)),)
        bent = here.candidate({"a.py": WRONG, "tests/test_two.py": BENT})
        waits = await here.report(bent, red=tests)
        assert waits.claim is not None
        passes = await here.report(bent, step="s2", red=tests, approved=waits.claim.changes)
        assert (faults_of(passes), passes.claim) == ((), None)

    asyncio.run(story())


def test_the_first_red_version_judges_whatever_came_between(tmp_path: Path) -> None:
    async def story() -> None:
        here, first = requested(tmp_path)
        second = here.candidate({"a.py": WRONG, "tests/test_two.py": BENT, "tests/test_new.py": BENT + "    x = y\n"})
        third = here.candidate({"a.py": WRONG, "tests/test_two.py": BENT})
        red = (RedTests(commit=first, tests=(RED,)), RedTests(commit=second, tests=("test_new",)))
        report = await here.report(third, red=red)
        assert [each.rule for each in faults_of(report)] == ["red-test-changed"]

    asyncio.run(story())


TWO_RED = "import unittest\nimport a\n\n\nclass One(unittest.TestCase):\n" + "\n".join(
    f"    def test_{name}(self):\n        self.assertEqual(a.one(), {value})\n"
    for name, value in (("one", 1), ("far", 9))
)


@pytest.mark.parametrize(
    ("files", "rules"),
    [
        (
            {"a.py": "def one():\n    return 4\n", "tests/test_a.py": TWO_RED.replace(" 1)", " 4)")},
            ["red-test-changed"],
        ),
        (
            {
                "a.py": "def one():\n    return 4\n",
                "tests/test_a.py": TWO_RED.replace("_one", "_four").replace(" 1)", " 4)"),
            },
            ["red-test-changed"],
        ),
        ({"a.py": "def one():\n    return 1\n", "tests/test_a.py": TWO_RED}, []),
        (
            {
                "a.py": "def one():\n    return 1\n",
                "tests/test_a.py": TWO_RED + "\n    def test_more(self):\n        a.one()\n",
            },
            [],
        ),
        ({"a.py": "def one():\n    return 4\n", "tests/test_b.py": OLD.replace(" 1)", " 4)")}, []),
    ],
    ids=["bent", "renamed", "fixed", "fixed-and-added-to", "left-red"],
)
def test_a_red_test_that_a_baseline_forgives_may_stay_red_but_not_be_changed(
    tmp_path: Path, files: dict[str, str], rules: list[str]
) -> None:
    async def story() -> None:
        spec = replace(UNITTEST, baseline=True)
        here = project(tmp_path, {"a.py": "def one():\n    return 5\n", "tests/test_a.py": TWO_RED}, [spec])
        trust = Trust(base=here.base, in_force=True)
        before = await here.report(here.base, trust=trust, preflight=True)
        red = (RedTests(tests=tuple(known for each in before.results for known in each.known), forgiven=True),)
        assert set(red[0].tests) == {"test_a.One.test_one", "test_a.One.test_far"}
        report = await here.report(here.candidate(files), step="s2", trust=trust, red=red)
        assert [each.rule for each in faults_of(report)] == rules

    asyncio.run(story())


def test_a_word_beforehand_does_not_cover_a_test_that_is_red_on_the_base(tmp_path: Path) -> None:
    async def story() -> None:
        here = project(tmp_path, {"a.py": BASE["a.py"].replace("1", "5"), "tests/test_a.py": OLD}, [UNITTEST])
        bent = here.candidate({"tests/test_a.py": OLD.replace(" 1)", " 5)"), "a.py": "def one():\n    return 5  # x\n"})
        allowed = Trust(base=here.base, allow=("tests/**",))
        assert faults_of(await here.report(bent, trust=allowed)) == ()
        report = await here.report(bent, step="s2", trust=allowed, red=(RedTests(tests=("test_a.One.test_one",)),))
        assert [each.rule for each in faults_of(report)] == ["red-test-changed"]

    asyncio.run(story())
