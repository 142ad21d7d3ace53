"""What a look at a change tells: all that it touches, and apart what its newest part does."""

import asyncio

from loopwright.engine.looking import look
from loopwright.kernel.actions import ExamineChange
from loopwright.kernel.model import NO_COMMIT, Commit, Key
from loopwright.kernel.sightings import ChangeExamined
from tests.engine.worlds import Fakes

BASE, BEFORE, NOW = Commit("base"), Commit("before"), Commit("now")


def seen(since: Commit) -> tuple[tuple[str, ...], tuple[str, ...]]:
    fakes = Fakes()
    fakes.workspace.holds |= {BASE: {}, BEFORE: {"a.py": "1"}, NOW: {"a.py": "1", "b.py": "2"}}
    action = ExamineChange(key=Key("look", 1), base=BASE, commit=NOW, rules=(), since=since)
    found = asyncio.run(look(fakes.world(), action, "loop/1/look-1"))
    assert isinstance(found, ChangeExamined)
    return found.paths, found.fresh


def test_the_newest_part_of_a_change_is_told_apart() -> None:
    assert seen(BEFORE) == (("a.py", "b.py"), ("b.py",))
    assert seen(NO_COMMIT) == (("a.py", "b.py"), ())
