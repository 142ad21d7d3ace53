import asyncio
import time

from loopwright.adapters.clock import SystemClock
from loopwright.testing.clock import ManualClock


def test_the_system_clock_shows_the_time_and_waits_for_it() -> None:
    clock = SystemClock()
    before, started = time.time(), clock.monotonic()
    asyncio.run(clock.sleep_until(before + 0.02))
    assert clock.now() >= before + 0.02
    assert clock.monotonic() > started
    asyncio.run(clock.sleep_until(before - 100))


def test_the_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(100.0)
    assert (clock.now(), clock.monotonic()) == (100.0, 0.0)
    clock.advance(5.0)
    assert (clock.now(), clock.monotonic()) == (105.0, 5.0)


def test_waiting_makes_the_manual_clock_jump_and_never_back() -> None:
    clock = ManualClock(100.0)
    asyncio.run(clock.sleep_until(150.0))
    asyncio.run(clock.sleep_until(120.0))
    assert (clock.now(), clock.monotonic()) == (150.0, 50.0)
