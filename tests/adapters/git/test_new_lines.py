"""Which lines a tree adds, whatever the files hold and whatever they are called."""

import asyncio
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopwright.adapters.git.objects import GitObjects
from loopwright.adapters.git.site import Site
from loopwright.kernel.model import Tree
from tests.repository import Repository


def tree(repo: Repository, files: dict[str, str | bytes | None]) -> Tree:
    for name, content in files.items():
        path = repo.path / name
        path.unlink(missing_ok=True)
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return written(repo)


def written(repo: Repository) -> Tree:
    repo.git("add", "--all")
    return Tree(repo.git("write-tree"))


def lines(repo: Repository, old: Tree, new: Tree, *paths: str) -> dict[str, list[int]]:
    found = asyncio.run(GitObjects(Site(repo.path, os.environ)).new_lines(old, new, paths))
    return {path: sorted(numbers) for path, numbers in found.items()}


def test_added_and_changed_lines_are_new_and_moved_or_removed_ones_are_not(repo: Repository) -> None:
    old = tree(repo, {"a": "1\n2\n3\n4\n", "same": "x\n", "less": "1\n2\n", "gone": "1\n"})
    new = tree(repo, {"a": "0\n1\n2\nthree\n4\nfive\n", "less": "1\n", "gone": None, "fresh": "1\n2", "empty": ""})
    asked = ("a", "same", "less", "gone", "fresh", "empty", "nowhere")
    assert lines(repo, old, new, *asked) == {"a": [1, 4, 6], "fresh": [1, 2]}
    assert lines(repo, old, new, "fresh") == {"fresh": [1, 2]}
    assert lines(repo, old, new) == lines(repo, new, new, "a") == {}


def test_an_end_without_a_line_break_does_not_confuse_the_count(repo: Repository) -> None:
    old = tree(repo, {"a": "1\n2", "b": "1\n"})
    new = tree(repo, {"a": "1\ntwo\n3", "b": "1\n2\n"})
    assert lines(repo, old, new, "a", "b") == {"a": [2, 3], "b": [2]}


def test_a_line_that_looks_like_a_patch_is_only_a_line(repo: Repository) -> None:
    trick = "++ b/other\n@@ -1,9 +1,9 @@\nindex 1234567..89abcde 100644\n\\ No newline\n"
    old = tree(repo, {"a": "1\n", "other": "1\n"})
    new = tree(repo, {"a": trick + "1\n" + trick, "other": "1\n"})
    assert lines(repo, old, new, "a", "other") == {"a": [1, 2, 3, 4, 6, 7, 8, 9]}


def test_nothing_in_the_tree_hides_a_change(repo: Repository) -> None:
    old = tree(repo, {"a.py": "1\n", "b.py": "1\n"})
    new = tree(repo, {"a.py": b"1\n\x00\xff\n", "b.py": "1\n2\n", ".gitattributes": "*.py binary -diff\n"})
    assert lines(repo, old, new, "a.py", "b.py") == {"a.py": [2], "b.py": [2]}


def test_odd_names_and_equal_contents_are_kept_apart(repo: Repository) -> None:
    names = ["*", 'q"', "new\nline", "-r", ":(glob)*", "\udce9", "a b", "--"]
    old = tree(repo, {name: f"{number}\n" for number, name in enumerate(names)})
    new = tree(repo, dict.fromkeys(names, "0\nsame\n"))
    assert lines(repo, old, new, *names) == {name: [1, 2] for name in names[1:]} | {"*": [2]}
    assert lines(repo, old, new, "*") == {"*": [2]}


def test_a_file_that_was_a_link_is_new_as_a_whole(repo: Repository) -> None:
    (repo.path / "a").symlink_to("README.md")
    old = written(repo)
    new = tree(repo, {"a": "1\n2\n"})
    assert lines(repo, old, new, "a") == {"a": [1, 2]}


def test_more_files_than_one_command_line_takes(repo: Repository) -> None:
    old = tree(repo, {"README.md": "x\n"})
    names = [f"many/{number}" for number in range(600)]
    new = tree(repo, dict.fromkeys(names, "1\n"))
    assert lines(repo, old, new, *names) == {name: [1] for name in names}


TEXTS = st.lists(st.sampled_from(["a", "b", "+", "-", "\\ x", "@@ -1 +1 @@"]), max_size=8)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=TEXTS, after=TEXTS)
def test_what_is_not_new_is_found_in_the_old_file_in_its_order(
    repo: Repository, before: list[str], after: list[str]
) -> None:
    old = tree(repo, {"a": "".join(f"{line}\n" for line in before), "b": "+b\n"})
    new = tree(repo, {"a": "".join(f"{line}\n" for line in after), "b": "+b\n+c\n"})
    found = lines(repo, old, new, "a", "b")
    kept = [line for number, line in enumerate(after, 1) if number not in found.get("a", [])]
    rest = iter(before)
    assert all(line in rest for line in kept)
    assert found["b"] == [2]
