import fcntl
import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.adapters.tickets.observer_log import (
    ITERATIONS,
    VIOLATIONS,
    append,
    note,
    observer_folder,
    read,
    rebuild,
)
from loopwright.errors import ConfigError
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record
from loopwright.loops.tickets.observer import iterations, line
from loopwright.loops.tickets.state import TicketParams
from tests.rooms.tickets.stories import AT, PARAMS, ROUTED_BACK, STORIES, played

WHOLE = played(*ROUTED_BACK, *ROUTED_BACK)
Session = tuple[TicketParams, tuple[Record, ...]]


def session(name: str, shift: float, seconds: float = 60.0) -> Session:
    """The same story as a loop of its own, begun later and perhaps at another pace."""
    records = tuple(
        replace(record, loop=LoopId(name), at=AT + shift + seconds * record.seq) for record in WHOLE.records
    )
    return replace(PARAMS, session=name), records


def both(root: Path) -> tuple[bytes, bytes]:
    return (observer_folder(root) / ITERATIONS).read_bytes(), (observer_folder(root) / VIOLATIONS).read_bytes()


def test_what_is_added_event_by_event_is_what_is_made_anew(tmp_path: Path) -> None:
    plan, records = session("a", 0)
    for size in range(1, len(records) + 1):
        note(tmp_path, plan, records[:size])
        note(tmp_path, plan, records[:size])
    grown = both(tmp_path)
    assert rebuild(tmp_path, [(plan, records)]) == (
        observer_folder(tmp_path) / ITERATIONS,
        observer_folder(tmp_path) / VIOLATIONS,
    )
    assert both(tmp_path) == grown
    numbers = [data["sequence"] for data in read(observer_folder(tmp_path) / ITERATIONS)]
    assert numbers == list(range(1, len(iterations(plan, records)) + 1))


@settings(max_examples=25)
@given(
    st.permutations([0] * 4 + [1] * 4 + [2] * 4),
    st.lists(st.sampled_from([0.0, 0.1, 30.0, 700.0]), min_size=3, max_size=3),
)
def test_sessions_side_by_side_give_the_same_bytes_in_whatever_order_they_write(
    tmp_path_factory: pytest.TempPathFactory, turns: list[int], shifts: list[float]
) -> None:
    root = tmp_path_factory.mktemp("root")
    sessions = [session(name, shift) for name, shift in zip(("a", "b", "c"), shifts, strict=True)]
    done = [0, 0, 0]
    for turn in turns:
        plan, records = sessions[turn]
        done[turn] += 1
        note(root, plan, records[: len(records) * done[turn] // 4])
    grown = both(root)
    rebuild(root, reversed(sessions))
    assert both(root) == grown


def test_a_line_that_was_cut_is_written_again_and_what_is_no_json_is_dropped(tmp_path: Path) -> None:
    plan, records = session("a", 0)
    half = len(records) // 2
    note(tmp_path, plan, records[:half])
    file = observer_folder(tmp_path) / ITERATIONS
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    note(tmp_path, plan, records[:half])
    assert file.read_bytes() == whole
    file.write_bytes(b"not json\n[1]\n\xff\n" + b"[" * 100_000 + b"\n" + whole + b'{"torn": ')
    assert len(read(file)) == whole.count(b"\n")
    note(tmp_path, plan, records)
    lines = [json.loads(line) for line in file.read_bytes().splitlines()[4:]]
    assert [data["sequence"] for data in lines] == list(range(1, len(lines) + 1))
    assert len(lines) == len(iterations(plan, records))


def test_lines_longer_than_a_block_are_found(tmp_path: Path) -> None:
    file = tmp_path / ITERATIONS
    noted = [
        replace(each, data={**each.data, "pad": "x" * size})
        for each, size in zip(iterations(PARAMS, WHOLE.records), (70_000, 10, 200_000, 65_536), strict=False)
    ]
    for size in range(1, len(noted) + 1):
        assert append(file, tuple(noted[:size]))
    assert file.read_text() == "".join(f"{line(each, number)}\n" for number, each in enumerate(noted, start=1))
    with file.open("ab") as out:
        out.write(b"y" * 200_000)
    assert append(file, tuple(noted))
    assert len(read(file)) == len(noted)
    with file.open("ab") as out:
        out.write(b"y" * 2_000_000 + b"\n")
    assert len(read(file)) == len(noted)
    file.write_bytes(b"y" * 200_000)
    assert append(file, tuple(noted[:1]))
    assert file.read_text() == f"{line(noted[0], 1)}\n"


def test_lines_of_others_are_read(tmp_path: Path) -> None:
    file = tmp_path / ITERATIONS
    file.write_text('{"type": "agent-dispatch", "sequence": 4}\n')
    noted = iterations(PARAMS, STORIES["start"].records)
    assert append(file, noted)
    assert [data["sequence"] for data in read(file)] == [4, 1]


def test_nothing_to_add_makes_no_file(tmp_path: Path) -> None:
    assert append(tmp_path / "none" / ITERATIONS, ())
    assert note(tmp_path, PARAMS, ()) == ()
    assert read(tmp_path / "none") == ()


def test_a_link_or_a_pipe_in_its_place_is_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = observer_folder(tmp_path)
    folder.mkdir(parents=True)
    (folder / ITERATIONS).symlink_to(victim)
    os.mkfifo(folder / VIOLATIONS)
    assert note(tmp_path, PARAMS, WHOLE.records) == (folder / ITERATIONS,)
    assert victim.read_text() == "mine"
    assert (read(folder / ITERATIONS), read(folder / VIOLATIONS)) == ((), ())
    assert not append(folder / ITERATIONS, iterations(PARAMS, WHOLE.records))


def test_a_folder_behind_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".loop").mkdir()
    observer_folder(tmp_path).symlink_to(tmp_path / "elsewhere")
    assert note(tmp_path, PARAMS, WHOLE.records) == ()
    with pytest.raises(ConfigError, match="is a link"):
        rebuild(tmp_path, [(PARAMS, WHOLE.records)])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_whoever_cannot_have_the_lock_does_not_wait_for_ever_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / ITERATIONS
    noted = iterations(PARAMS, WHOLE.records)
    holder = os.open(tmp_path / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        began = time.monotonic()
        assert not append(file, noted, patience=0.05)
        assert time.monotonic() - began < 5
        assert not file.exists()
    finally:
        os.close(holder)
    assert append(file, noted)
    assert len(read(file)) == len(noted)


def test_many_sessions_at_once_lose_no_line(tmp_path: Path) -> None:
    sessions = [session(f"s{number}", number / 7, seconds=1.0) for number in range(4)]

    def work(plan: TicketParams, records: tuple[Record, ...]) -> None:
        for size in range(1, len(records) + 1):
            note(tmp_path, plan, records[:size])

    threads = [threading.Thread(target=work, args=each) for each in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    grown = both(tmp_path)
    rebuild(tmp_path, sessions)
    assert both(tmp_path) == grown
