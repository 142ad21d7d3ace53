"""The work of many loops becomes one commit; what does not fit is left out and said."""

import asyncio
import shutil

import pytest

from loopwright.errors import UsageError, VcsFailed
from loopwright.kernel.model import Commit, Conflict
from loopwright.ports.workspace import Combination, Combining
from tests.adapters.git.scene import LOOP, Scene
from tests.repository import Repository

TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def scene(repo: Repository) -> Scene:
    repo.write("docs/a.md", TEXT)
    repo.write("docs/b.md", TEXT)
    repo.commit("files")
    return Scene(repo)


def made(scene: Scene, number: int, **files: str | None) -> Commit:
    """An attempt at the base; `docs__a` stands for docs/a.md."""
    folder = scene.prepare(step=f"s-{number}")
    for name, text in files.items():
        file = folder / (name.replace("__", "/") + ".md")
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
    return scene.snapshot(f"a-{number}", step=f"s-{number}").commit


def combine(scene: Scene, *commits: str, base: str = "", label: str = "combined", step: str = "c-1") -> Combination:
    start, those = Commit(base or scene.base), tuple(map(Commit, commits))
    wanted = Combining(loop=LOOP, label=label, base=start, commits=those, step=step)
    return asyncio.run(scene.workspace.combine(wanted))


def left_out(found: Combination) -> list[Commit]:
    return [each.commit for each in found.left_out]


def test_two_changes_of_one_file_that_do_not_touch_are_both_taken(scene: Scene) -> None:
    first = made(scene, 1, docs__a=TEXT.replace("line 2\n", "line two\n"))
    second = made(scene, 2, docs__a=TEXT.replace("line 18\n", "line eighteen\n"))
    found = combine(scene, first, second)
    both = TEXT.replace("line 2\n", "line two\n").replace("line 18\n", "line eighteen\n")
    assert scene.repo.git("show", f"{found.commit}:docs/a.md") + "\n" == both
    assert found.left_out == ()


def test_what_a_target_has_by_now_is_one_of_the_changes_and_keeps_its_own(scene: Scene) -> None:
    moved = made(scene, 1, docs__a="the target's\n", docs__b="the target's\n")
    conflicts, goes = made(scene, 2, docs__a="a fix\n"), made(scene, 3, docs__c="a fix\n")
    found = combine(scene, moved, conflicts, goes)
    assert found.left_out == (Conflict(commit=conflicts, paths=("docs/a.md",)),)
    files = [scene.repo.git("show", f"{found.commit}:docs/{name}.md") for name in "abc"]
    assert files == ["the target's", "the target's", "a fix"]


def test_it_is_one_commit_on_the_base_with_a_ref(scene: Scene) -> None:
    found = combine(scene, made(scene, 1, docs__a="one\n"), made(scene, 2, docs__b="two\n"))
    assert scene.repo.git("rev-parse", f"{found.commit}^@") == scene.base
    assert scene.refs()["refs/loopwright/l-1/combined"] == found.commit
    assert scene.repo.git("log", "-1", "--format=%an", found.commit) == "Test Person"
    assert scene.repo.git("fsck", "--strict", "--no-dangling") == ""


def test_commits_are_measured_from_the_base_and_not_from_their_parents(scene: Scene) -> None:
    """The second loop began where the first ended; the first is not among those to combine."""
    first = made(scene, 1, docs__a="one\n")
    folder = scene.prepare(at=first, step="s-2")
    (folder / "docs" / "b.md").write_text("two\n")
    second = scene.snapshot("a-2", parent=first, step="s-2").commit
    third = made(scene, 3, README="three\n")
    found = combine(scene, third, second)
    assert {change.path for change in found.changes} == {"README.md", "docs/a.md", "docs/b.md"}


def test_a_base_that_is_no_ancestor_serves_as_well(scene: Scene) -> None:
    commit = made(scene, 1, docs__a="one\n")
    tree = scene.repo.git("rev-parse", "HEAD^{tree}")
    base = scene.repo.git("commit-tree", tree, "-m", "no parent")
    other = made(scene, 2, docs__b="two\n")
    found = combine(scene, commit, other, base=base)
    assert [change.path for change in found.changes] == ["docs/a.md", "docs/b.md"]
    assert scene.repo.git("rev-parse", f"{found.commit}^@") == base


def test_removed_here_and_changed_there_is_a_conflict(scene: Scene) -> None:
    removed, edited = made(scene, 1, docs__a=None), made(scene, 2, docs__a="two\n")
    assert left_out(combine(scene, removed, edited)) == [edited]
    assert left_out(combine(scene, edited, removed, step="c-2")) == [removed]


def test_a_file_here_and_a_folder_there_is_a_conflict(scene: Scene) -> None:
    folder = scene.prepare(step="s-1")
    (folder / "new").write_text("file\n")
    file = scene.snapshot("a-1", step="s-1").commit
    below = made(scene, 2, new__x="x\n")
    found = combine(scene, file, below)
    assert (left_out(found), [change.path for change in found.changes]) == ([below], ["new"])


def test_what_conflicts_leaves_no_trace(scene: Scene) -> None:
    first, second = made(scene, 1, docs__a="one\n"), made(scene, 2, docs__a="two\n", docs__b="two\n")
    third = made(scene, 3, README="three\n")
    found = combine(scene, first, second, third)
    assert [change.path for change in found.changes] == ["README.md", "docs/a.md"]
    assert scene.repo.git("show", f"{found.commit}:docs/a.md") == "one"
    shutil.rmtree(scene.repo.path / ".loop")
    assert combine(scene, first, second, third) == found
    assert left_out(found) == [second]


def test_another_step_gets_another_ref(scene: Scene) -> None:
    first, second = made(scene, 1, docs__a="one\n"), made(scene, 2, docs__b="two\n")
    one, other = combine(scene, first), combine(scene, first, second, step="c-2")
    refs = scene.refs()
    assert refs["refs/loopwright/l-1/combined"] == one.commit
    assert refs["refs/loopwright/l-1/combined+2"] == other.commit
    assert (combine(scene, first), combine(scene, first, second, step="c-2")) == (one, other)


def test_nothing_to_combine_makes_no_ref(scene: Scene) -> None:
    same = made(scene, 1)
    assert combine(scene, same, scene.base) == Combination(commit=scene.base, changes=())
    assert "refs/loopwright/l-1/combined" not in scene.refs()


def test_an_unknown_commit_and_a_bad_label_are_said(scene: Scene) -> None:
    with pytest.raises(VcsFailed):
        combine(scene, "0" * 40)
    with pytest.raises(UsageError, match="cannot label"):
        combine(scene, label="../x")
