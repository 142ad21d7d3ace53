"""LangGraph: a random dependency graph of no-op nodes, seconds for each, with a checkpoint in memory after each step.

A node waits for all it depends on, as a task does. The graph is given as JSON, so that it is the one of ours; with
`bare` nothing is kept.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from operator import add
from pathlib import Path
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver  # type: ignore[import-not-found]  # installed in .bench-venv only
from langgraph.graph import START, StateGraph  # type: ignore[import-not-found]  # installed in .bench-venv only

_CONFIG = {"max_concurrency": 4, "configurable": {"thread_id": "bench"}}


class State(TypedDict):
    done: Annotated[list[int], add]


def measure(waits_for: list[list[int]], *, kept: bool) -> float:
    graph = StateGraph(State)
    for at, before in enumerate(waits_for):
        graph.add_node(f"t{at}", lambda _state, at=at: {"done": [at]})
        graph.add_edge([f"t{each}" for each in before] if before else START, f"t{at}")
    app = graph.compile(checkpointer=InMemorySaver() if kept else None)
    start = time.perf_counter()
    final = app.invoke({"done": []}, _CONFIG | {"recursion_limit": len(waits_for) + 5})
    taken = time.perf_counter() - start
    assert sorted(final["done"]) == list(range(len(waits_for))), "a node ran twice, or never"
    return taken / len(waits_for)


if __name__ == "__main__":
    plan = json.loads(Path(sys.argv[1]).read_text())
    each = measure(plan, kept="bare" not in sys.argv)
    line = {"peer": "langgraph", "version": version("langgraph"), "seconds": each, "tasks": len(plan)}
    print(json.dumps(line))
