"""Prefect with a server of its own on loopback: a random dependency graph of no-op tasks, seconds for each.

Every task is submitted with what it waits for; Prefect's own thread pool runs four at once.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

SETTINGS = {
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "60",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "ERROR",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}


def nothing(at: int) -> int:
    return at


def measure(waits_for: list[list[int]], home: Path) -> float:
    # Prefect reads its settings when it is imported.
    os.environ.update(SETTINGS, PREFECT_HOME=str(home))
    from prefect import flow, task  # type: ignore[import-not-found]  # noqa: PLC0415  # installed in .bench-venv only
    from prefect.task_runners import (  # type: ignore[import-not-found]  # noqa: PLC0415  # as above
        ThreadPoolTaskRunner,
    )

    step = task(nothing)

    def work() -> float:
        start = time.perf_counter()
        futures = []
        for at, before in enumerate(waits_for):
            futures.append(step.submit(at, wait_for=[futures[each] for each in before]))
        assert [future.result() for future in futures] == list(range(len(waits_for)))
        return time.perf_counter() - start

    taken = flow(work, name="bench", task_runner=ThreadPoolTaskRunner(max_workers=4))()
    return float(taken) / len(waits_for)


if __name__ == "__main__":
    plan = json.loads(Path(sys.argv[1]).read_text())
    # The server still writes while this process ends; whoever started it removes what is left.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        seconds = measure(plan, Path(folder))
    print(json.dumps({"peer": "prefect", "version": version("prefect"), "seconds": seconds, "tasks": len(plan)}))
