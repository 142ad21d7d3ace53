"""Which tests are tried first on a broken tree, and when a part of them is believed."""

import asyncio
from pathlib import Path

import pytest

from loopwright.adapters.checks.single_test import files_of
from loopwright.kernel.trust import Canary
from tests.adapters.checks.projects import PYTEST, project

TREE = frozenset({"pkg/a.py", "pkg/tests/test_a.py", "pkg/tests/test_b.py", "tox.ini", "setup/x.txt"})
NODE, DOTTED = "pkg/tests/test_a.py::T::test_x[a.b/c]", "pkg.tests.test_b.T.test_y[a.b]"
COMMAND = ("python3", "-m", "pytest", "-q", "--junitxml={report}")


@pytest.mark.parametrize(
    ("tests", "files"),
    [
        ((NODE,), ("pkg/tests/test_a.py",)),
        ((NODE, DOTTED, NODE), ("pkg/tests/test_a.py", "pkg/tests/test_b.py")),
        (("pkg.a.add",), ("pkg/a.py",)),  # an example of a docstring
        ((NODE, "test_a.T.test_x"), ()),  # from another folder than that of the tree
        (("tests/test_a.py::test_x",), ()),
        ((NODE, "README.md::README.md"), ()),
    ],
)
def test_ids_name_files_of_the_tree_or_none_are_asked_for(tests: tuple[str, ...], files: tuple[str, ...]) -> None:
    assert files_of(COMMAND, tests, TREE) == files


def test_many_files_are_no_part() -> None:
    tree = frozenset(f"test_{n}.py" for n in range(21))
    tests = sorted(f"{path}::test" for path in tree)
    assert len(files_of(COMMAND, tests[:20], tree)) == 20
    assert files_of(COMMAND, tests, tree) == ()


@pytest.mark.parametrize(
    "words",
    [
        "pytest .",
        "pytest pkg",
        "pytest ./pkg/tests/",
        "pytest pkg/tests/test_a.py::T",
        "pytest --pyargs pkg.tests",
        "pytest --pyargs pkg.tests.test_a",
        "pytest --cov=pkg",
        "pytest -c tox.ini",
        "uv run --directory setup pytest",
        "hatch test",
        "npm test",
        "python3 -m unittest",
    ],
)
def test_a_command_that_names_paths_or_takes_none_gets_no_files(words: str) -> None:
    assert files_of(tuple(words.split()), (NODE,), TREE) == ()


@pytest.mark.parametrize("words", ["uv run pytest -q", "coverage run -m pytest", ".venv/bin/pytest -k not_slow -n 2"])
def test_one_that_leaves_them_to_the_runner_does(words: str) -> None:
    assert files_of(tuple(words.split()), (NODE,), TREE) == ("pkg/tests/test_a.py",)


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
