from dataclasses import replace

import pytest

from loopwright.errors import StoreCorrupt
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record
from loopwright.ports import hashes
from loopwright.ports.store import NewEvent

LOOP = LoopId("l-1")
ANCHOR = hashes.anchor(LOOP, "feedback", "{}")


def history(length: int) -> list[Record]:
    records: list[Record] = []
    previous = ANCHOR
    for seq in range(1, length + 1):
        record = Record(loop=LOOP, seq=seq, at=1.5, kind="Happened", data=f'{{"n":{seq}}}', spend=0.25)
        previous = hashes.link(previous, LOOP, seq, 1.5, record)
        records.append(replace(record, hash=previous))
    return records


def test_the_hashes_are_these_for_ever() -> None:
    """A change of the canonical form would make every log ever written look damaged."""
    assert ANCHOR == "0dc2507c1fd56b753af5594997ea100809207d47f3a3615bc936932efe79b667"
    assert history(2)[-1].hash == "68e20161585940171a6f715b72764d30d1052e98baeae63de53d248671c00d21"


def test_a_whole_history_fits() -> None:
    records = history(4)
    assert list(hashes.checked("place", LOOP, records, previous=ANCHOR)) == records
    assert list(hashes.checked("place", LOOP, records[2:], previous=records[1].hash, after=2)) == records[2:]


@pytest.mark.parametrize(
    "change",
    [
        {"at": 1.6},
        {"kind": "Other"},
        {"data": "{}"},
        {"reserve": 1.0},
        {"release": 1.0},
        {"spend": 0.0},
        {"loop": LoopId("l-2")},
        {"hash": "0" * 64},
        {"data": b"{}"},
        {"at": None},
    ],
    ids=str,
)
def test_any_change_of_a_record_is_found(change: dict[str, object]) -> None:
    records = history(4)
    records[1] = replace(records[1], **change)  # type: ignore[arg-type]
    with pytest.raises(StoreCorrupt, match=r"^place: loop l-1, event 2: "):
        list(hashes.checked("place", LOOP, records, previous=ANCHOR))


def test_a_missing_or_doubled_event_is_named() -> None:
    one, two, three = history(3)
    with pytest.raises(StoreCorrupt, match="event 2: it is missing, event 3 stands in its place"):
        list(hashes.checked("place", LOOP, [one, three], previous=ANCHOR))
    with pytest.raises(StoreCorrupt, match="event 3: it is missing, event 2 stands in its place"):
        list(hashes.checked("place", LOOP, [one, two, two], previous=ANCHOR))


def test_another_beginning_is_found() -> None:
    for other in (("l-2", "feedback", "{}"), ("l-1", "quality", "{}"), ("l-1", "feedback", "[]")):
        with pytest.raises(StoreCorrupt, match="event 1: "):
            list(hashes.checked("place", LOOP, history(1), previous=hashes.anchor(LoopId(other[0]), *other[1:])))


def test_whole_numbers_and_negative_zero_hash_as_a_database_returns_them() -> None:
    whole = hashes.link(ANCHOR, LOOP, 1, 2, NewEvent(kind="A", data="", reserve=1, spend=-0.0))
    assert whole == hashes.link(ANCHOR, LOOP, 1, 2.0, NewEvent(kind="A", data="", reserve=1.0, spend=0.0))


def test_fields_are_kept_apart() -> None:
    assert hashes.digest("ab", "c") != hashes.digest("a", "bc")
    assert hashes.is_intact(hashes.digest("a", 1), "a", 1)
    assert not hashes.is_intact(hashes.digest("a", 1), b"a", 1)
    assert not hashes.is_intact(None, "a", 1)
