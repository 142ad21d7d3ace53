"""Files that tell a record: replaced only if we wrote them, and never by what is older."""

from pathlib import Path

import pytest

from loopwright.adapters.doors import RecordPlace, is_ours, put_record, take_over
from loopwright.errors import ConfigError


def place_in(root: Path) -> RecordPlace:
    return RecordPlace(root, "memory/a.json", ".ours/records")


def test_the_newest_stands_there_whoever_comes_last(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    assert is_ours(place)
    assert put_record(place, "one", 1)
    assert put_record(place, "three", 3)
    assert put_record(place, "two", 2)
    assert (place.path.read_text(), is_ours(place)) == ("three", True)


def test_what_somebody_else_wrote_stays_until_it_is_taken_over(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put_record(place, "one", 1)
    place.path.write_text("theirs")
    assert not is_ours(place)
    assert not put_record(place, "two", 2)
    take_over(place, b"read before they wrote again")
    assert not put_record(place, "two", 2)
    take_over(place, b"theirs")
    assert put_record(place, "two", 2)
    assert place.path.read_text() == "two"


def test_what_is_there_and_says_the_same_is_ours_from_then_on(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    place.path.parent.mkdir()
    place.path.write_text("one")
    assert not is_ours(place)
    assert put_record(place, "one", 1)
    assert put_record(place, "two", 2)
    assert place.path.read_text() == "two"


def test_who_died_before_the_file_was_written_has_lost_nothing(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put_record(place, "one", 1)
    put_record(place, "two", 2)
    place.path.write_text("one")  # as if the second had only been noted
    assert put_record(place, "three", 3)
    assert place.path.read_text() == "three"


@pytest.mark.parametrize("noted", ["no JSON", "[]", '{"seq": "x"}', '{"digests": 3}'])
def test_a_note_that_says_nothing_is_none(tmp_path: Path, noted: str) -> None:
    place = place_in(tmp_path)
    put_record(place, "one", 1)
    place.memory.write_text(noted)
    assert not put_record(place, "two", 2)


def test_what_is_no_file_is_left_and_no_link_is_followed(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    place.path.mkdir(parents=True)
    assert not put_record(place, "one", 1)
    place.path.rmdir()
    place.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="is a link"):
        put_record(place, "one", 1)
