import fcntl
import json
import os
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.adapters.shared_lines import add_lines, numbered, read_lines, rebuild_lines, thin_out
from loopwright.errors import ConfigError
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record
from loopwright.loops.kind import Noted
from loopwright.loops.tickets.state import TicketParams
from tests.rooms.tickets.stories import AT, PARAMS, ROUTED_BACK, STORIES, iterations, played, violations

WHOLE = played(*ROUTED_BACK, *ROUTED_BACK)
ITERATIONS, VIOLATIONS = ".loop/observer/iterations.jsonl", ".loop/observer/violations.jsonl"
FILE = "lines.jsonl"
Session = tuple[TicketParams, tuple[Record, ...]]


def session(name: str, shift: float, seconds: float = 60.0) -> Session:
    """The same story as a loop of its own, begun later and perhaps at another pace."""
    records = tuple(
        replace(record, loop=LoopId(name), at=AT + shift + seconds * record.seq) for record in WHOLE.records
    )
    return replace(PARAMS, session=name), records


def note(root: Path, plan: TicketParams, records: tuple[Record, ...]) -> list[bool]:
    told = {ITERATIONS: iterations(plan, records), VIOLATIONS: violations(plan, records)}
    return [add_lines(root, name, lines) for name, lines in told.items()]


def rebuild(root: Path, sessions: Iterable[Session]) -> tuple[Path | None, Path | None]:
    known = list(sessions)
    first, second = (
        rebuild_lines(root, name, (line for plan, records in known for line in tell(plan, records)))
        for name, tell in ((ITERATIONS, iterations), (VIOLATIONS, violations))
    )
    return first, second


def both(root: Path) -> tuple[bytes, bytes]:
    return (root / ITERATIONS).read_bytes(), (root / VIOLATIONS).read_bytes()


def test_what_is_added_event_by_event_is_what_is_made_anew(tmp_path: Path) -> None:
    plan, records = session("a", 0)
    for size in range(1, len(records) + 1):
        note(tmp_path, plan, records[:size])
        note(tmp_path, plan, records[:size])
    grown = both(tmp_path)
    assert rebuild(tmp_path, [(plan, records)]) == (
        tmp_path / ITERATIONS,
        tmp_path / VIOLATIONS,
    )
    assert both(tmp_path) == grown
    numbers = [data["sequence"] for data in read_lines(tmp_path / ITERATIONS)]
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
    file = tmp_path / ITERATIONS
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    note(tmp_path, plan, records[:half])
    assert file.read_bytes() == whole
    file.write_bytes(b"not json\n[1]\n\xff\n" + b"[" * 100_000 + b"\n" + whole + b'{"torn": ')
    assert len(read_lines(file)) == whole.count(b"\n")
    note(tmp_path, plan, records)
    lines = [json.loads(line) for line in file.read_bytes().splitlines()[4:]]
    assert [data["sequence"] for data in lines] == list(range(1, len(lines) + 1))
    assert len(lines) == len(iterations(plan, records))


def test_lines_longer_than_a_block_are_found(tmp_path: Path) -> None:
    file = tmp_path / FILE
    noted = [
        replace(each, data={**each.data, "pad": "x" * size})
        for each, size in zip(iterations(PARAMS, WHOLE.records), (70_000, 10, 200_000, 65_536), strict=False)
    ]
    for size in range(1, len(noted) + 1):
        assert add_lines(tmp_path, FILE, tuple(noted[:size]))
    assert file.read_text() == "".join(f"{numbered(each, number)}\n" for number, each in enumerate(noted, start=1))
    with file.open("ab") as out:
        out.write(b"y" * 200_000)
    assert add_lines(tmp_path, FILE, tuple(noted))
    assert len(read_lines(file)) == len(noted)
    with file.open("ab") as out:
        out.write(b"y" * 2_000_000 + b"\n")
    assert len(read_lines(file)) == len(noted)
    file.write_bytes(b"y" * 200_000)
    assert add_lines(tmp_path, FILE, tuple(noted[:1]))
    assert file.read_text() == f"{numbered(noted[0], 1)}\n"


def test_lines_of_others_are_read(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_text('{"type": "agent-dispatch", "sequence": 4}\n')
    noted = iterations(PARAMS, STORIES["start"].records)
    assert add_lines(tmp_path, FILE, noted)
    assert [data["sequence"] for data in read_lines(file)] == [4, 1]


def test_nothing_to_add_makes_no_file(tmp_path: Path) -> None:
    assert add_lines(tmp_path, "none/lines.jsonl", ())
    assert note(tmp_path, PARAMS, ()) == [True, True]
    assert read_lines(tmp_path / "none") == ()
    assert list(tmp_path.iterdir()) == []


def test_what_no_loop_has_a_line_for_is_made_anew_as_it_was(tmp_path: Path) -> None:
    assert rebuild_lines(tmp_path, FILE, ()) is None
    assert list(tmp_path.iterdir()) == []
    (tmp_path / FILE).write_text("of a loop that is gone\n")
    assert rebuild_lines(tmp_path, FILE, ()) == tmp_path / FILE
    assert (tmp_path / FILE).read_text() == ""


def test_a_link_or_a_pipe_in_its_place_is_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ITERATIONS).parent.mkdir(parents=True)
    (tmp_path / ITERATIONS).symlink_to(victim)
    os.mkfifo(tmp_path / VIOLATIONS)
    assert note(tmp_path, PARAMS, WHOLE.records) == [False, True]
    assert victim.read_text() == "mine"
    assert (read_lines(tmp_path / ITERATIONS), read_lines(tmp_path / VIOLATIONS)) == ((), ())


def test_a_folder_behind_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".loop").mkdir()
    (tmp_path / ".loop" / "observer").symlink_to(tmp_path / "elsewhere")
    assert note(tmp_path, PARAMS, WHOLE.records) == [False, False]
    with pytest.raises(ConfigError, match="is a link"):
        rebuild(tmp_path, [(PARAMS, WHOLE.records)])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_whoever_cannot_have_the_lock_does_not_wait_for_ever_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / FILE
    noted = iterations(PARAMS, WHOLE.records)
    holder = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        began = time.monotonic()
        assert not add_lines(tmp_path, FILE, noted, patience=0.05)
        assert time.monotonic() - began < 5
        assert not file.exists()
    finally:
        os.close(holder)
    assert add_lines(tmp_path, FILE, noted)
    assert len(read_lines(file)) == len(noted)


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


def test_lines_that_call_their_moment_otherwise_are_known_again(tmp_path: Path) -> None:
    moment = "2026-01-01T10:00:00Z"
    line = Noted(loop=LoopId("a"), seq=1, part=0, timestamp=moment, data={"ts": moment, "failure": "x"})
    later = replace(line, seq=2)
    for lines in ((line,), (line, later), (line, later)):
        assert add_lines(tmp_path, "f/x.jsonl", lines)
    assert [data["sequence"] for data in read_lines(tmp_path / "f/x.jsonl")] == [1, 2]


def test_lines_that_are_not_kept_are_taken_out_and_the_others_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    assert not thin_out(tmp_path, "x.jsonl", lambda _line: False)
    file.write_text('{"a": 1}\nno json\n{"b": 2}\n')
    assert not thin_out(tmp_path, "x.jsonl", lambda _line: True)
    assert thin_out(tmp_path, "x.jsonl", lambda line: '"a"' not in line)
    assert file.read_text() == 'no json\n{"b": 2}\n'
    (tmp_path / "link.jsonl").symlink_to(file)
    assert not thin_out(tmp_path, "link.jsonl", lambda _line: False)
