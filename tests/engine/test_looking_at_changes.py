"""What a look at a change tells: all that it touches, apart what its newest part does, and what is undecided."""

import asyncio

from loopwright.engine.looking import look
from loopwright.kernel.actions import ExamineChange, ExamineFiles
from loopwright.kernel.deliverables import LARGEST_FILE, FileDemand, Format
from loopwright.kernel.model import NO_COMMIT, Commit, Key
from loopwright.kernel.sightings import ChangeExamined, FilesExamined
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


def faults(form: Format, *paths: str) -> list[str]:
    fakes = Fakes()
    large = "x\n" * (LARGEST_FILE // 2)
    fakes.workspace.holds[NOW] = {"fits.py": large, "large.py": f"{large}>>>>>>> theirs\n", "folder/a.py": "1"}
    wanted = tuple(FileDemand(path=path, format=form) for path in paths)
    found = asyncio.run(look(fakes.world(), ExamineFiles(key=Key("look", 1), commit=NOW, wanted=wanted), "step"))
    assert isinstance(found, FilesExamined)
    return [each.path for each in found.faults]


def test_a_conflict_in_what_cannot_be_looked_at_whole_is_not_taken_for_decided() -> None:
    assert faults("merged", "fits.py", "large.py", "gone.py", "folder") == ["large.py", "folder"]
    assert faults("text", "fits.py", "large.py", "gone.py", "folder") == ["gone.py", "folder"]
