"""What every workspace must do with commits, be there files or none: the contracts that a fake keeps too.

They edit through `Stage.edit` alone, and never look into a folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.kernel.model import Commit, Conflict
from loopwright.kernel.risks import AddedText
from loopwright.ports.workspace import Combination, Combining, Snapshot, Taking
from tests.ports.conformance.workspace import LOOP, NAME, Contract, WorkspaceStage

Edits = Mapping[str, str | None]


async def _attempt(
    stage: WorkspaceStage,
    edits: Edits,
    label: str,
    *,
    only: tuple[str, ...] = (),
    step: str = "",
    new_files: bool = False,
) -> Snapshot:
    """An attempt at the base; the label serves as the step."""
    folder = await stage.workspace.prepare(LOOP, NAME, stage.base, step or label)
    stage.edit(folder, edits)
    wanted = Taking(
        loop=LOOP,
        name=NAME,
        label=label,
        parent=stage.base,
        base=stage.base,
        step=step or label,
        only=only,
        new_files=new_files,
    )
    return await stage.workspace.snapshot(wanted)


async def _objects(stage: WorkspaceStage, commit: Commit, *paths: str) -> list[str]:
    found = await stage.workspace.contents(commit, paths)
    assert tuple(content.path for content in found) == paths
    return [content.object for content in found]


async def _combine(stage: WorkspaceStage, *commits: Commit, step: str = "combine") -> Combination:
    return await stage.workspace.combine(
        Combining(loop=LOOP, label="combined", base=stage.base, commits=commits, step=step)
    )


def _paths(made: Snapshot | Combination) -> list[tuple[str, str]]:
    return [(change.path, change.how) for change in made.changes]


async def c18_only_what_was_asked_for_is_taken(stage: WorkspaceStage) -> None:
    edits = {
        "changed.txt": "after\n",
        "kept.txt": "scribble\n",
        "sub/removed.txt": None,
        "sub/new.txt": "new\n",
        "sub.txt": "x\n",
    }
    shot = await _attempt(stage, edits, "a", only=("sub", "changed.txt"))
    assert _paths(shot) == [("changed.txt", "changed"), ("sub/new.txt", "added"), ("sub/removed.txt", "removed")]
    assert shot.dropped == ("kept.txt", "sub.txt")
    asked = ("kept.txt", "sub.txt", ".gitignore")
    assert await _objects(stage, shot.commit, *asked) == await _objects(stage, stage.base, *asked)
    beside = await stage.workspace.snapshot(
        Taking(
            loop=LOOP,
            name=NAME,
            label="b",
            parent=stage.base,
            base=stage.base,
            step="b",
            only=("changed.txt",),
            also=("sub", "sub.txt"),
            welcome=lambda path: path.endswith("new.txt"),
        )
    )
    fresh = await _attempt(stage, edits, "c", only=("changed.txt",), new_files=True)
    chosen = await stage.workspace.snapshot(
        Taking(
            loop=LOOP,
            name=NAME,
            label="d",
            parent=stage.base,
            base=stage.base,
            step="d",
            welcome=lambda path: path.endswith("new.txt"),
            welcome_only=True,
        )
    )
    assert (_paths(chosen), "changed.txt" in chosen.dropped) == ([("sub/new.txt", "added")], True)
    assert _paths(fresh) == [("changed.txt", "changed"), ("sub.txt", "added"), ("sub/new.txt", "added")]
    # A folder is no file.
    assert _paths(beside) == [("changed.txt", "changed"), ("sub.txt", "added"), ("sub/new.txt", "added")]


async def c19_what_was_dropped_is_told_again(stage: WorkspaceStage) -> None:
    edits = {"changed.txt": "after\n", "kept.txt": "scribble\n"}
    first = await _attempt(stage, edits, "a", only=("changed.txt",))
    again = await _attempt(stage, {"sub/new.txt": "later\n"}, "a", only=("changed.txt",))
    assert again == first
    assert again.dropped == ("kept.txt",)


async def c20_nothing_is_dropped_where_all_is_wanted(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, {"changed.txt": "after\n", "sub/new.txt": "x\n"}, "a")
    assert (_paths(shot), shot.dropped) == ([("changed.txt", "changed"), ("sub/new.txt", "added")], ())


async def c21_contents_are_told_in_the_order_asked(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, {"changed.txt": "after\n"}, "a")
    asked = ("sub", "nothing", "changed.txt", "sub/removed.txt", "kept.txt", "sub")
    before, after = await _objects(stage, stage.base, *asked), await _objects(stage, shot.commit, *asked)
    assert [bool(name) for name in before] == [True, False, True, True, True, True]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, False, True, True, True]
    assert await _objects(stage, stage.base) == []


async def c22_a_folder_is_another_when_a_file_in_it_is(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, {"sub/new.txt": "x\n"}, "a")
    gone = await _attempt(stage, {"sub/removed.txt": None}, "b")
    names = [await _objects(stage, commit, "sub") for commit in (stage.base, shot.commit, gone.commit)]
    assert names[0] != names[1]
    assert names[2] == [""]


async def c23_changes_of_several_commits_become_one(stage: WorkspaceStage) -> None:
    one = await _attempt(stage, {"changed.txt": "one\n"}, "a")
    two = await _attempt(stage, {"sub/new.txt": "two\n", "sub/removed.txt": None}, "b")
    made = await _combine(stage, one.commit, stage.base, two.commit, one.commit)
    assert _paths(made) == [("changed.txt", "changed"), ("sub/new.txt", "added"), ("sub/removed.txt", "removed")]
    assert made.left_out == ()
    assert await _objects(stage, made.commit, "changed.txt") == await _objects(stage, one.commit, "changed.txt")
    assert await _objects(stage, made.commit, "sub") == await _objects(stage, two.commit, "sub")


async def c24_a_commit_that_conflicts_is_left_out(stage: WorkspaceStage) -> None:
    one = await _attempt(stage, {"changed.txt": "one\n"}, "a")
    two = await _attempt(stage, {"changed.txt": "two\n", "kept.txt": "two\n"}, "b")
    three = await _attempt(stage, {"kept.txt": "three\n"}, "c")
    made = await _combine(stage, one.commit, two.commit, three.commit)
    assert _paths(made) == [("changed.txt", "changed"), ("kept.txt", "changed")]
    (left,) = made.left_out
    assert (left.commit, "changed.txt" in left.paths) == (two.commit, True)
    assert await _objects(stage, made.commit, "kept.txt") == await _objects(stage, three.commit, "kept.txt")


async def c25_combining_nothing_is_the_base(stage: WorkspaceStage) -> None:
    assert await _combine(stage) == Combination(commit=stage.base, changes=())
    assert await _combine(stage, stage.base, step="other") == Combination(commit=stage.base, changes=())


async def c26_the_same_step_again_is_the_same_combination(stage: WorkspaceStage) -> None:
    one = await _attempt(stage, {"changed.txt": "one\n"}, "a")
    two = await _attempt(stage, {"changed.txt": "two\n"}, "b")
    first = await _combine(stage, one.commit, two.commit)
    assert [each.commit for each in first.left_out] == [two.commit]
    assert await _combine(stage, one.commit, two.commit) == first
    other = await _combine(stage, two.commit, one.commit, step="other")
    assert ([each.commit for each in other.left_out], other.commit != first.commit) == ([one.commit], True)
    assert await _combine(stage, one.commit, two.commit) == first


async def c27_a_change_to_another_start_is_that_change_alone(stage: WorkspaceStage) -> None:
    one = await _attempt(stage, {"changed.txt": "one\n"}, "a")
    two = await _attempt(stage, {"changed.txt": "one\ntwo\n"}, "b")
    commits, starts = (one.commit, two.commit), (stage.base, one.commit)
    made = await stage.workspace.combine(
        Combining(loop=LOOP, label="c", base=stage.base, commits=commits, made_on=starts, step="c")
    )
    assert (made.left_out, _paths(made)) == ((), [("changed.txt", "changed")])
    assert await _objects(stage, made.commit, "changed.txt") == await _objects(stage, two.commit, "changed.txt")


async def c28_a_change_that_conflicts_with_the_base_itself_is_told_as_left_out(stage: WorkspaceStage) -> None:
    one = await _attempt(stage, {"changed.txt": "one\n"}, "a")
    two = await _attempt(stage, {"changed.txt": "two\n"}, "b")
    made = await stage.workspace.combine(
        Combining(loop=LOOP, label="c", base=one.commit, commits=(two.commit,), made_on=(stage.base,), step="c")
    )
    assert (made.commit, [(each.commit, each.paths) for each in made.left_out]) == (
        one.commit,
        [(two.commit, ("changed.txt",))],
    )


async def c29_what_is_to_be_kept_is_as_its_commit_has_it(stage: WorkspaceStage) -> None:
    one = await _attempt(stage, {"changed.txt": "one\n"}, "a")
    two = await _attempt(stage, {"changed.txt": "two\n", "kept.txt": "two\n", "more.txt": "two\n"}, "b")
    keep = ((one.commit, "changed.txt"), (stage.base, "kept.txt"), (stage.base, "nowhere.txt"))
    wanted = Combining(loop=LOOP, label="c", base=stage.base, commits=(two.commit,), keep=keep, step="c")
    made = await stage.workspace.combine(wanted)
    assert (made.kept, _paths(made)) == (
        ("changed.txt", "kept.txt"),
        [("changed.txt", "changed"), ("more.txt", "added")],
    )
    assert await _objects(stage, made.commit, "changed.txt") == await _objects(stage, one.commit, "changed.txt")
    assert await stage.workspace.combine(wanted) == made


async def c30_texts_are_told_in_the_order_asked_and_cut(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, {"changed.txt": "ä" * 50, "sub/new.txt": "new\n"}, "a")
    asked = ("sub/new.txt", "nothing.txt", "changed.txt", "sub", "kept.txt", "sub/new.txt")
    told = await stage.workspace.texts(shot.commit, asked, 100)
    assert told == ("new\n", None, "ä" * 50, None, "kept\n", "new\n")
    assert await stage.workspace.texts(shot.commit, ("changed.txt", "kept.txt"), 5) == ("ää\ufffd", "kept\n")
    assert await stage.workspace.texts(shot.commit, (), 5) == ()


async def c31_changed_is_what_a_snapshot_says(stage: WorkspaceStage) -> None:
    edits = {"changed.txt": "after\n", "sub/new.txt": "new\n", "sub/removed.txt": None}
    shot = await _attempt(stage, edits, "a")
    told = await stage.workspace.changed(stage.base, shot.commit)
    assert [(each.path, each.how, each.blob) for each in told] == [(c.path, c.how, c.blob) for c in shot.changes]
    assert await stage.workspace.changed(shot.commit, shot.commit) == ()


async def c32_what_is_added_is_told_line_by_line(stage: WorkspaceStage) -> None:
    first = await _attempt(stage, {"changed.txt": "one\ntwo\nthree\n", "sub/removed.txt": None}, "a")
    second = await _attempt(stage, {"changed.txt": "zero\none\n+++ b/kept.txt\nthree\rx", "sub/new.txt": "x\n"}, "b")
    assert await stage.workspace.added(first.commit, second.commit, 100) == (
        AddedText(path="changed.txt", lines=((1, "zero"), (3, "+++ b/kept.txt"), (4, "three\rx"))),
        AddedText(path="sub/new.txt", lines=((1, "x"),)),
        AddedText(path="sub/removed.txt", lines=((1, "x"),)),
    )
    assert await stage.workspace.added(stage.base, first.commit, 100) == (
        AddedText(path="changed.txt", lines=((1, "one"), (2, "two"), (3, "three"))),
    )
    assert await stage.workspace.added(stage.base, stage.base, 100) == ()


async def c33_what_is_too_large_or_no_text_is_not_told_whole(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, {"binary": "a\0b\n", "changed.txt": "y" * 101, "sub/new.txt": "y" * 100}, "a")
    assert await stage.workspace.added(stage.base, shot.commit, 100) == (
        AddedText(path="binary", whole=False),
        AddedText(path="changed.txt", whole=False),
        AddedText(path="sub/new.txt", lines=((1, "y" * 100),)),
    )


async def c34_a_conflict_may_be_kept_with_its_marks(stage: WorkspaceStage) -> None:
    one = await _attempt(stage, {"changed.txt": "one\n"}, "a")
    two = await _attempt(stage, {"changed.txt": "two\n", "kept.txt": "two\n"}, "b")
    wanted = Combining(
        loop=LOOP, label="c", base=one.commit, commits=(two.commit,), made_on=(stage.base,), marks=True, step="c"
    )
    made = await stage.workspace.combine(wanted)
    assert made.left_out == (Conflict(commit=two.commit, paths=("changed.txt",)),)
    assert _paths(made) == [("changed.txt", "changed"), ("kept.txt", "changed")]
    (text,) = await stage.workspace.texts(made.commit, ("changed.txt",), limit=1_000)
    assert [line[:7] for line in (text or "").splitlines()] == ["<<<<<<<", "one", "=======", "two", ">>>>>>>"]
    assert await stage.workspace.combine(wanted) == made


OBJECT_CONTRACTS: tuple[Contract, ...] = (
    c18_only_what_was_asked_for_is_taken,
    c19_what_was_dropped_is_told_again,
    c20_nothing_is_dropped_where_all_is_wanted,
    c21_contents_are_told_in_the_order_asked,
    c22_a_folder_is_another_when_a_file_in_it_is,
    c23_changes_of_several_commits_become_one,
    c24_a_commit_that_conflicts_is_left_out,
    c25_combining_nothing_is_the_base,
    c26_the_same_step_again_is_the_same_combination,
    c27_a_change_to_another_start_is_that_change_alone,
    c28_a_change_that_conflicts_with_the_base_itself_is_told_as_left_out,
    c29_what_is_to_be_kept_is_as_its_commit_has_it,
    c30_texts_are_told_in_the_order_asked_and_cut,
    c31_changed_is_what_a_snapshot_says,
    c32_what_is_added_is_told_line_by_line,
    c33_what_is_too_large_or_no_text_is_not_told_whole,
    c34_a_conflict_may_be_kept_with_its_marks,
)
