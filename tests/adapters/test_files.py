from pathlib import Path

import pytest

from loopwright.adapters.files import ignore_all, write_whole


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
