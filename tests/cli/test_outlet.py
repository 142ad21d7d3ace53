"""Those who watch are never waited for, whatever stands between them and us."""

import asyncio
import os
import pty
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import pytest

from loopwright.cli.outlet import Outlet
from loopwright.cli.output import put

LINE = "x" * 99 + "\n"
MUCH = 40_000  # lines, four times what is held
Ends = tuple[int, int]


def a_socket() -> Ends:
    left, right = socket.socketpair()
    return left.detach(), right.detach()


KINDS: dict[str, Callable[[], Ends]] = {"pipe": os.pipe, "terminal": pty.openpty, "socket": a_socket}


@contextmanager
def outlet(kind: str) -> Iterator[tuple[int, Outlet]]:
    """Where somebody reads, and our end."""
    source, target = KINDS[kind]()
    with open(target, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a descriptor
        yield source, Outlet(stream)


def read(source: int) -> bytes:
    os.set_blocking(source, False)
    found = b""
    while True:
        try:
            piece = os.read(source, 1 << 16)
        except BlockingIOError:
            return found
        found += piece


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_reads_and_nobody_waits_and_what_was_dropped_is_said(kind: str) -> None:
    with outlet(kind) as (source, out):
        for _ in range(MUCH):
            out.write(LINE)
        out.settle(0.0)
        found = b""
        while piece := read(source):
            found += piece
            out.push()
        lines = found.decode().replace("\r", "").splitlines()
        assert set(lines[:-1]) == {LINE.strip()}
        assert lines[-1].endswith("lines were not read in time …")
        assert len(lines) - 1 + int(lines[-1].split()[1]) == MUCH
        out.write("after\n")
        assert read(source).decode().strip() == "after"
        os.close(source)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_that_went_away_is_no_error(kind: str) -> None:
    with outlet(kind) as (source, out):
        os.close(source)
        for _ in range(3):
            out.write(LINE)
        out.settle(60.0)


def test_what_is_held_goes_out_when_there_is_room_without_another_word() -> None:
    async def story() -> None:
        with outlet("pipe") as (source, out):
            for _ in range(2_000):
                out.write(LINE)
            first = read(source)
            arrived = asyncio.Event()
            asyncio.get_running_loop().add_reader(source, arrived.set)
            await asyncio.wait_for(arrived.wait(), 60.0)
            asyncio.get_running_loop().remove_reader(source)
            assert len(first) + len(read(source)) > len(first)
            os.close(source)

    asyncio.run(story())


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_waits_until_all_went_out_is_held_up_and_hears_that_the_reader_went_away(kind: str) -> None:
    async def story() -> None:
        with outlet(kind) as (source, out):
            out.write(LINE)
            await out.drained()
            for _ in range(MUCH // 4):
                out.write(LINE)
            waits = asyncio.ensure_future(out.drained())
            assert (await asyncio.wait([waits], timeout=0.2))[0] == set()
            os.close(source)
            with pytest.raises(BrokenPipeError):
                await waits

    asyncio.run(story())


def test_a_file_gets_all_of_it_in_its_encoding(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with file.open("a", encoding="ascii") as stream:
        out = Outlet(stream)
        assert (out.isatty(), out.fileno(), out.encoding) == (False, stream.fileno(), "ascii")
        out.write("ä" * 2_000_000)
        out.flush()
        out.settle(0.0)
    assert file.read_text().startswith("\\xe4\\xe4")


def test_a_descriptor_that_cannot_be_opened_again_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError

    source, target = os.pipe()
    with open(target, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a descriptor
        with monkeypatch.context() as patched:
            patched.setattr(os, "open", refused)
            out: TextIO | Outlet = Outlet(stream)
        for _ in range(MUCH):
            out.write(LINE)
        assert read(source).startswith(LINE.encode())
        os.close(source)


def test_a_terminal_that_is_gone_is_like_a_pipe_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, follower = pty.openpty()
    with open(follower, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a descriptor
        os.close(leader)
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(BrokenPipeError, match="the terminal is gone"):
            put("x")
        with suppress(OSError):
            stream.close()
