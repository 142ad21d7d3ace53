"""What differs between two commits: product, code that does something else, and what is neither product nor text."""

import asyncio
from pathlib import Path

import pytest

from loopwright.kernel.trust import Trust
from loopwright.ports.checks import Compared
from tests.adapters.checks.projects import UNITTEST, project

BASE = {
    "src/a.py": "def one():\n    return 1\n",
    "src/a.pyi": "def one() -> int: ...\ndef two() -> int: ...\n",
    "src/b.js": "exports.b = 1\n",
    "tests/test_a.py": "import unittest\n",
}
NOT_PARSED = "src/b.js"  # a comment in it cannot be told from code


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"README.md": "# A\n"}, Compared()),
        ({"src/a.py": 'def one():\n    """Return 1."""\n    return 1  # one\n'}, Compared(product=("src/a.py",))),
        (
            {"src/a.py": "def one():\n    return 2\n"},
            Compared(product=("src/a.py",), code=("src/a.py",), altered=("src/a.py",)),
        ),
        ({"src/a.pyi": "def one() -> int: ...\n"}, Compared(product=("src/a.pyi",), code=("src/a.pyi",))),
        ({"src/a.py": None}, Compared(product=("src/a.py",), code=("src/a.py",))),
        ({"src/c.py": ""}, Compared(product=("src/c.py",), code=("src/c.py",), altered=("src/c.py",))),
        (
            {NOT_PARSED: "exports.b = 1 // b\n"},
            Compared(product=(NOT_PARSED,), code=(NOT_PARSED,), altered=(NOT_PARSED,)),
        ),
        ({"tests/test_b.py": "import unittest\n"}, Compared(rest=("tests/test_b.py",))),
        ({"tox.ini": "[tox]\n"}, Compared(rest=("tox.ini",))),
        (
            {"made/here.py": "x = 1\n"},
            Compared(product=("made/here.py",), code=("made/here.py",), altered=("made/here.py",)),
        ),
    ],
    ids=[
        "text",
        "comments",
        "code",
        "stub-removed",
        "removed",
        "added",
        "other-language",
        "test",
        "settings",
        "new-folder",
    ],
)
def test_files_that_differ_are_told_by_what_differs_in_them(
    tmp_path: Path, changes: dict[str, str | None], found: Compared
) -> None:
    here = project(tmp_path, BASE, [UNITTEST])
    here.checks.classifier.known.clear()
    candidate = here.candidate(changes)
    assert asyncio.run(here.checks.compare(here.base, candidate, Trust(base=here.base))) == found
