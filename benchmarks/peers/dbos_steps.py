"""DBOS on SQLite: checkpointed steps per second, one workflow.

The file is put into WAL mode first, which DBOS keeps and is twice as fast as the rollback journal it ships with.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from dbos import DBOS  # type: ignore[import-not-found]  # installed in .bench-venv only

STEPS = 300


def tick(count: int) -> int:
    return count + 1


step = DBOS.step()(tick)


def workflow() -> float:
    count = step(0)
    start = time.perf_counter()
    for _ in range(STEPS):
        count = step(count)
    taken = time.perf_counter() - start
    assert count == STEPS + 1
    return taken


def measure(database: Path) -> float:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
    url = f"sqlite:///{database}"
    DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})
    run = DBOS.workflow()(workflow)
    DBOS.launch()
    taken = run()
    DBOS.destroy()
    with closing(sqlite3.connect(database)) as connection:
        (stored,) = connection.execute("SELECT count(*) FROM operation_outputs").fetchone()
    assert stored == STEPS + 1, stored
    return float(taken)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(Path(folder) / "dbos.db")
    print(json.dumps({"peer": "dbos", "version": version("dbos"), "per_second": STEPS / seconds, "steps": STEPS}))
