"""Ten processes that claim from one queue at the same moment: forks of one, each with its own opening of the log."""

import asyncio
import os
import sys
from pathlib import Path

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.app.project import Project, log_file
from loopwright.app.starts.lifecycle.telling import claim_next
from loopwright.kernel.model import NO_COMMIT, LoopId


def claim(root: Path, domain: str, number: int, go: int) -> None:
    os.read(go, 1)  # ends for all of them at once, when whoever started them closes the other side
    clock = SystemClock()
    store = SqliteStore.open(log_file(root), clock)
    project = Project(root=root, head=NO_COMMIT, branch="", environ={}, store=store, clock=clock)
    got = asyncio.run(claim_next(project, domain, LoopId(f"loop-{number}"), sys.exit))
    os.write(1, f"{got.id if got else 'none'}\n".encode())  # whole: nobody else's words get in between
    asyncio.run(store.close())


def main() -> None:
    root, domain, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    go, start = os.pipe()
    for number in range(count):
        if os.fork() == 0:
            os.close(start)
            claim(root, domain, number, go)
            return
    os.close(start)
    sys.exit(max(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(count)))


if __name__ == "__main__":
    main()
