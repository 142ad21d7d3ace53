"""LangGraph on SQLite with sync durability: supersteps per second, one thread, a checkpoint after each."""

from __future__ import annotations

import json
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver  # type: ignore[import-not-found]  # installed in .bench-venv only
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]  # as above

STEPS = 300


class State(TypedDict):
    count: int
    last: int


def tick(state: State) -> dict[str, int]:
    return {"count": state["count"] + 1}


def after(state: State) -> str:
    return str(END) if state["count"] >= state["last"] else "tick"


def measure(database: Path) -> float:
    graph = StateGraph(State)
    graph.add_node("tick", tick)
    graph.add_edge(START, "tick")
    graph.add_conditional_edges("tick", after)
    with SqliteSaver.from_conn_string(str(database)) as saver:
        app = graph.compile(checkpointer=saver)

        def run(thread: str, last: int) -> None:
            config = {"configurable": {"thread_id": thread}, "recursion_limit": last + 5}
            final = app.invoke({"count": 0, "last": last}, config, durability="sync")
            assert final["count"] == last, final

        run("warm", 1)
        start = time.perf_counter()
        run("bench", STEPS)
        taken = time.perf_counter() - start
        (level,) = saver.conn.execute("PRAGMA synchronous").fetchone()
        assert level == 2, level  # full
        (stored,) = saver.conn.execute("SELECT count(*) FROM checkpoints WHERE thread_id = 'bench'").fetchone()
        assert stored >= STEPS, stored
    return taken


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(Path(folder) / "langgraph.db")
    line = {"peer": "langgraph", "version": version("langgraph"), "per_second": STEPS / seconds, "steps": STEPS}
    print(json.dumps(line))
