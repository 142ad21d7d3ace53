"""`loop` in which toy loops are known, as a program: with `DIES_AFTER` it is killed once that event is on record.

`haiku:AgentReported#2` is the second such event that this very process has written to a log of that kind.
"""

import os
import signal
import sys
from pathlib import Path

from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.cli.here import Here
from loopwright.cli.main import run
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Append, Written
from tests.toys import anthology, haiku

TOYS = {kind.loop.name: kind for kind in (haiku.KIND, anthology.KIND)}  # the one registration


def die_after(event: str) -> None:
    name, _, times = event.partition("#")
    left = [name] * int(times)
    whole = SqliteStore.append

    async def append(self: SqliteStore, loop: LoopId, *, fence: int, expected: int, batch: Append) -> Written:
        written = await whole(self, loop, fence=fence, expected=expected, batch=batch)
        for record in written.records:
            if f"{written.row.kind}:{record.kind}" in left:
                left.pop()
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
        return written

    setattr(SqliteStore, "append", append)  # noqa: B010 - mypy lets nobody assign to a method


def main() -> None:
    if event := os.environ.get("DIES_AFTER"):
        die_after(event)
    sys.exit(run(sys.argv[1:], Here(cwd=Path.cwd(), environ=dict(os.environ), kinds=TOYS)))
