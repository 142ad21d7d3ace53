"""Prefect with a server of its own on loopback: tasks per second, one flow, every result persisted.

Prefect starts the server when the flow begins and stops it when this process ends.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

STEPS = 200
SETTINGS = {
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "60",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "ERROR",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}


def tick(count: int) -> int:
    return count + 1


def measure(home: Path) -> float:
    # Prefect reads its settings when it is imported.
    os.environ.update(SETTINGS, PREFECT_HOME=str(home))
    from prefect import flow, task  # type: ignore[import-not-found]  # noqa: PLC0415  # installed in .bench-venv only

    step = task(persist_result=True)(tick)

    def work() -> float:
        count = step(0)
        start = time.perf_counter()
        for _ in range(STEPS):
            count = step(count)
        taken = time.perf_counter() - start
        assert count == STEPS + 1
        return taken

    taken = flow(work, name="bench")()
    stored = len(list((home / "storage").iterdir()))
    assert stored >= STEPS, stored
    return float(taken)


if __name__ == "__main__":
    # The server still writes while this process ends; whoever started it removes what is left.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        seconds = measure(Path(folder))
    print(json.dumps({"peer": "prefect", "version": version("prefect"), "per_second": STEPS / seconds, "steps": STEPS}))
