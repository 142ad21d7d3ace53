import os
from pathlib import Path

import pytest

from loopwright.adapters.files import ignore_all, put_if_free, replace_unchanged, sight_of, write_whole


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "new" / "page.md"
    write_whole(file, "first\n")
    before = file.stat().st_ino
    write_whole(file, "second ü \udcff\n")
    assert file.read_bytes() == "second ü \\udcff\n".encode()
    assert file.stat().st_ino != before
    assert list(file.parent.iterdir()) == [file]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    place = tmp_path / "page.md"
    place.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(place, "text")
    assert list(tmp_path.iterdir()) == [place]


def test_a_folder_of_ours_is_ignored_once(tmp_path: Path) -> None:
    ignore_all(tmp_path / ".loop")
    assert (tmp_path / ".loop" / ".gitignore").read_text() == "*\n"
    (tmp_path / ".loop" / ".gitignore").write_text("mine\n")
    ignore_all(tmp_path / ".loop")
    assert (tmp_path / ".loop" / ".gitignore").read_text() == "mine\n"


def test_a_file_is_replaced_only_if_it_is_still_what_was_seen(tmp_path: Path) -> None:
    path, new = tmp_path / "a", tmp_path / "new"
    for change in (
        lambda: path.write_text("their"),  # as long as before
        lambda: (tmp_path / "edited").replace(path),
        path.unlink,
    ):
        path.write_text("first")
        (tmp_path / "edited").write_text("first")
        new.write_text("ours")
        seen = sight_of(path, 100)
        assert seen is not None
        change()
        after = path.read_text() if path.exists() else None
        assert not replace_unchanged(path, seen, new)
        assert (path.read_text() if path.exists() else None) == after
        assert new.read_text() == "ours"


def test_a_file_that_replaces_another_has_its_rights(tmp_path: Path) -> None:
    path, new = tmp_path / "a", tmp_path / "new"
    path.write_text("first")
    path.chmod(0o600)
    new.write_text("ours")
    seen = sight_of(path, 100)
    assert seen is not None
    assert replace_unchanged(path, seen, new)
    assert (path.read_text(), path.stat().st_mode & 0o777, new.exists()) == ("ours", 0o600, False)


def test_what_is_no_regular_file_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert [sight_of(tmp_path / name, 10) for name in ("link", "pipe", "none", ".")] == [None] * 4


def test_a_file_is_put_only_where_nothing_is(tmp_path: Path) -> None:
    new, path = tmp_path / "new", tmp_path / "a"
    new.write_text("ours")
    assert put_if_free(new, path)
    new.unlink()
    new.write_text("later")
    assert not put_if_free(new, path)
    assert path.read_text() == "ours"
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert not put_if_free(new, tmp_path / "link")
    assert not (tmp_path / "nowhere").exists()
