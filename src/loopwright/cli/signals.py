"""Running a command's work so that Ctrl-C, SIGTERM and a hang-up stop it cleanly: steps first, then the program."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from loopwright.cli.output import note

T = TypeVar("T")
_TURNS = 5  # of the event loop, until it has heard of a signal that is there
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class StoppedBySignal:
    """The work was stopped by this signal; whatever it had in flight is stopped too."""

    signal: int

    @property
    def exit_code(self) -> int:
        return 128 + self.signal


def complete(work: Coroutine[Any, Any, T], *, last: bool = False) -> T | StoppedBySignal:
    """The result of the work, or that it was interrupted; a signal that came too late to interrupt it counts as well.

    `last`: nothing is begun afterwards that such a signal would have to stop.
    """
    return asyncio.run(_guarded(work, last=last))


async def _guarded(work: Coroutine[Any, Any, T], *, last: bool) -> T | StoppedBySignal:
    heard: list[int] = []
    task = asyncio.ensure_future(work)

    def stop(number: int) -> None:
        if not heard:
            heard.append(number)
            note("\nstopping …")
            task.cancel()

    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        result = await task
        for _ in range(0 if last else _TURNS):
            await asyncio.sleep(0)
        return StoppedBySignal(heard[0]) if heard and not last else result
    except asyncio.CancelledError:
        if not heard:
            raise
        return StoppedBySignal(heard[0])
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
