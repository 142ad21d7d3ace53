"""A target that has changed the same lines when a system is to be merged."""

from pathlib import Path

import pytest

from tests.e2e.kills import notes_of
from tests.e2e.systems import RUN, approve_all, shop, statuses

THEIRS = "def part():\n    return 1\n\n\ndef price():\n    return 7\n"
THEIR_TEST = """\
import unittest
from shop.part1 import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(), 7)
"""


@pytest.mark.slow
def test_both_sides_of_a_conflict_are_merged_once_they_are_verified_and_approved(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: ()})
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert approve_all(scene) == ["deploy"]
    scene.repo.write("shop/part1.py", THEIRS)
    scene.repo.write("tests/test_price.py", THEIR_TEST)
    theirs = scene.repo.commit("A price")
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert "State: SHIP" in scene.loop("status").out
    assert approve_all(scene) == ["deploy"]
    scene.loop(*RUN, env=notes_of(scene))
    assert statuses(scene) == {"sys-001": "complete"}
    assert (scene.root / "shop/part1.py").read_text() == THEIRS
    assert scene.repo.git("merge-base", "HEAD", theirs) == theirs
    assert scene.noted("deployed") == ["part1"]
