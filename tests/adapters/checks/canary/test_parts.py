"""Which tests are tried first on a broken tree, and when a part of them is believed."""

import asyncio
from pathlib import Path

import pytest

from loopwright.adapters.checks.canary.answers import find_likely
from loopwright.kernel.trust import Canary
from tests.adapters.checks.projects import PYTEST, project

TEXTS = {
    "tests/test_a.py": "a.parse(1) and more",
    "tests/test_b.py": "a.parse, Table",
    "tests/test_c.py": "parser, pack",
}


@pytest.mark.parametrize(
    ("names", "file"),
    [
        (("other.py: parse",), "tests/test_b.py"),
        (("a.py: Table.more",), "tests/test_a.py"),
        (("a.py: Table.__init__",), "tests/test_b.py"),
        (("a.py: Table.parser",), "tests/test_c.py"),
        (("parser/__init__.py",), "tests/test_c.py"),
        (("pack/nowhere.py: nothing",), "tests/test_c.py"),
        (("nowhere.py: nothing",), ""),
        ((), ""),
    ],
)
def test_the_file_that_is_most_about_what_is_broken_is_likely_to_notice(names: tuple[str, ...], file: str) -> None:
    assert find_likely(names, TEXTS) == file


def test_the_only_file_is_no_part() -> None:
    assert find_likely(("a.py: parse",), {"test_a.py": "parse"}) == ""


CODE = "NAMES = []\n\n\ndef one():\n    return 1\n"
NAMED = "import code_a\n\n\ndef test_names():\n    assert code_a.NAMES\n"
BASE = {
    "code_a.py": CODE,
    "tests/test_code_a.py": "import code_a\n\n\ndef test_one():\n    assert code_a.one() == 1\n",
    "tests/test_other.py": "def test_b():\n    pass\n\n\ndef test_c():\n    pass\n",
}


def looked_at(tmp_path: Path, base: dict[str, str | None]) -> tuple[Canary, list[str]]:
    """What the canary said of another `one`, and which files of tests were loaded after the judging run."""
    log = tmp_path / "loaded"
    noting = f"import pathlib\nwith pathlib.Path({str(log)!r}).open('a') as log:\n    print(__name__, file=log)\n"
    texts = {path: f"{noting}{text}" if "test_" in path else text for path, text in base.items()}
    made = project(tmp_path, texts, [PYTEST])

    async def scenario() -> tuple[Canary, list[str]]:
        await made.report(made.base, preflight=True)
        log.write_text("")
        report = await made.report(made.candidate({"code_a.py": CODE.replace("return 1", "return 2 - 1")}), step="s2")
        assert report.canary is not None
        return report.canary, log.read_text().split()

    return asyncio.run(scenario())


def test_only_the_file_that_is_likely_to_notice_is_loaded(tmp_path: Path) -> None:
    canary, loaded = looked_at(tmp_path, dict(BASE))
    assert (canary.said, canary.how) == ("noticed", "exercises")
    assert loaded == ["test_code_a", "test_other", "test_code_a"]


def test_a_file_that_fails_alone_for_want_of_another_has_noticed_nothing(tmp_path: Path) -> None:
    filling = f"import code_a\ncode_a.NAMES.append(1)\n\n\n{BASE['tests/test_other.py']}"
    canary, _ = looked_at(tmp_path, {**BASE, "tests/test_code_a.py": NAMED, "tests/test_other.py": filling})
    assert canary.said == "untested-change"
