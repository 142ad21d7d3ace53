"""Celery: a random dependency graph of no-op tasks, seconds for each.

Its canvas has no general graph: whoever has one sends a task as soon as all it waits for have succeeded, which is done
here in a few lines. Broker and results are a Redis server on a socket, which keeps nothing on a disk; with `in-memory`
they are Celery's own transport for tests, in this very process. The worker, four threads of it, is in this process too:
less is on the way than where people run it. The graph is given as JSON, so that it is the one of ours.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue

from celery import Celery  # type: ignore[import-not-found]  # installed in .bench-venv only
from celery.contrib.testing.worker import start_worker  # type: ignore[import-not-found]  # installed in .bench-venv only
from celery.signals import task_success  # type: ignore[import-not-found]  # installed in .bench-venv only


def measure(app: Celery, waits_for: list[list[int]]) -> float:
    left = [len(before) for before in waits_for]
    then: list[list[int]] = [[] for _ in waits_for]
    for at, before in enumerate(waits_for):
        for each in before:
            then[each].append(at)
    done: SimpleQueue[int] = SimpleQueue()

    @app.task
    def nothing(at: int) -> int:
        return at

    @task_success.connect(weak=False)
    def _done(result: int, **_: object) -> None:
        done.put(result)

    with start_worker(app, pool="threads", concurrency=4, perform_ping_check=False, loglevel="error"):
        start = time.perf_counter()
        for at, many in enumerate(left):
            if not many:
                nothing.delay(at)
        for _ in waits_for:
            for at in then[done.get(timeout=60)]:
                left[at] -= 1
                if not left[at]:
                    nothing.delay(at)
        taken = time.perf_counter() - start
    return taken / len(waits_for)


def with_redis(waits_for: list[list[int]]) -> float:
    program = shutil.which("redis-server")
    if program is None:
        sys.exit("redis-server is missing; on Debian: apt install redis-server")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "redis"
        argv = [program, "--port", "0", "--unixsocket", str(place), "--save", "", "--appendonly", "no", "--dir", folder]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as server:
            try:
                while not place.exists():
                    time.sleep(0.01)
                return measure(
                    Celery("bench", broker=f"redis+socket://{place}", backend=f"redis+socket://{place}"), waits_for
                )
            finally:
                server.terminate()


def in_memory(waits_for: list[list[int]]) -> float:
    app = Celery("bench", broker="memory://", backend="cache+memory://")
    app.conf.broker_transport_options = {"polling_interval": 0.0001}  # else it looks for work once a second
    return measure(app, waits_for)


if __name__ == "__main__":
    plan = json.loads(Path(sys.argv[1]).read_text())
    each = in_memory(plan) if "in-memory" in sys.argv else with_redis(plan)
    print(json.dumps({"peer": "celery", "version": version("celery"), "seconds": each, "tasks": len(plan)}))
