"""What a commit adds to its files, whatever they hold and whatever they are called."""

import asyncio
import os

import pytest

from loopwright.adapters.git.program import Git, Said
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.kernel.model import Commit
from loopwright.kernel.risks import AddedText
from tests.adapters.git.test_new_lines import tree
from tests.repository import Repository


def committed(repo: Repository, files: dict[str, str | bytes | None]) -> Commit:
    return Commit(repo.git("commit-tree", "-m", "c", tree(repo, files)))


def added(repo: Repository, old: Commit, new: Commit, limit: int = 100) -> dict[str, AddedText]:
    found = asyncio.run(GitWorkspace(repo.path, env=os.environ).added(old, new, limit))
    assert len({text.path for text in found}) == len(found)
    return {text.path: text for text in found if text.path != "README.md"}


def test_new_lines_are_told_with_their_numbers_and_removed_files_are_not(repo: Repository) -> None:
    trick = "++ b/other\n@@ -1,9 +1,9 @@\nindex 1234567..89abcde 100644\n\\ No newline"
    old = committed(repo, {"a": "1\n2\n", "less": "1\n2\n", "gone": "1\n", "bent": "x\n"})
    new = committed(repo, {"a": f"{trick}\n1\nzwei\x0c\u2028", "less": "1\n", "gone": None, "empty": "", "bent": "x\n"})
    found = added(repo, old, new, 1000)
    wanted = [*enumerate(trick.split("\n"), start=1), (6, "zwei\x0c\u2028")]
    assert found == {
        "a": AddedText(path="a", lines=tuple(wanted)),
        "less": AddedText(path="less"),
        "empty": AddedText(path="empty"),
    }


def test_what_is_no_text_is_not_told_whole_and_no_attribute_hides_a_line(repo: Repository) -> None:
    old = committed(repo, {"a.py": "1\n", "b.py": "1\n", "c.py": "1\n", "large": "1\n"})
    new = committed(
        repo,
        {
            "a.py": b"1\n\x00\n",
            "b.py": b"1\n\xff\n",
            "c.py": "1\n2\n",
            "large": "1\n" * 51,
            ".gitattributes": "*.py binary -diff\n",
        },
    )
    found = added(repo, old, new)
    assert [path for path, text in found.items() if not text.whole] == ["a.py", "b.py", "large"]
    assert found["c.py"].lines == ((2, "2"),)


def test_a_line_that_declares_another_encoding_is_told_though_it_was_there_before(repo: Repository) -> None:
    old = committed(repo, {"a.py": "# coding: utf-7\n", "b.py": "# coding: utf-8\n"})
    new = committed(repo, {"a.py": "# coding: utf-7\n1\n", "b.py": "# coding: utf-8\n1\n"})
    assert added(repo, old, new) == {
        "a.py": AddedText(path="a.py", lines=((1, "# coding: utf-7"), (2, "1"))),
        "b.py": AddedText(path="b.py", lines=((2, "1"),)),
    }


def test_links_and_submodules_are_not_told_whole_and_what_they_were_before_is_no_line(repo: Repository) -> None:
    (repo.path / "was-link").symlink_to("README.md")
    old = committed(repo, {"was-file": "1\n", "script": "1\n"})
    (repo.path / "was-link").unlink()
    (repo.path / "was-file").unlink()
    (repo.path / "was-file").symlink_to("/etc/passwd")
    (repo.path / "script").chmod(0o755)
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{old},module")
    repo.write("was-link", "1\n2\n")
    repo.git("add", "script", "was-link", "was-file")
    new = Commit(repo.git("commit-tree", "-m", "c", repo.git("write-tree")))
    assert added(repo, old, new) == {
        "module": AddedText(path="module", whole=False),
        "script": AddedText(path="script"),
        "was-file": AddedText(path="was-file", whole=False),
        "was-link": AddedText(path="was-link", lines=((1, "1"), (2, "2"))),
    }


def test_a_large_file_that_was_replaced_by_a_small_one_is_new_as_a_whole(repo: Repository) -> None:
    old = committed(repo, {"a": "1\n" * 100})
    new = committed(repo, {"a": "1\n2\n"})
    assert added(repo, old, new) == {"a": AddedText(path="a", lines=((1, "1"), (2, "2")))}


def test_many_files_with_odd_names_take_few_processes(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["*", 'q"', "new\nline", "-r", ":(glob)*", "a b", "--", *(f"many/{number}" for number in range(600))]
    old = committed(repo, {name: f"{number}\n" for number, name in enumerate(names)})
    new = committed(repo, {"\udce9": "0\n", **{name: f"{number}\nnew\n" for number, name in enumerate(names)}})
    ask, asked = Git.ask, list[tuple[str, ...]]()

    def counted(git: Git, *argv: str, stdin: bytes = b"") -> Said:
        asked.append(argv)
        return ask(git, *argv, stdin=stdin)

    monkeypatch.setattr(Git, "ask", counted)
    found = added(repo, old, new)
    assert found.pop("\\xe9").lines == ((1, "0"),)
    assert {path: text.lines for path, text in found.items()} == dict.fromkeys(names, ((2, "new"),))
    assert len([argv for argv in asked if argv[0] in ("diff-tree", "cat-file")]) == 6


def test_a_link_is_no_file_to_be_read(repo: Repository) -> None:
    (repo.path / "link").symlink_to("README.md")
    commit = committed(repo, {"file": b"\xff\n"})
    workspace = GitWorkspace(repo.path, env=os.environ)
    assert asyncio.run(workspace.texts(commit, ("link", "file"), 100)) == (None, "\ufffd\n")
