"""Take every figure, one after the other; write `benchmarks/results.json` and `docs/performance.md`.

`python -m benchmarks P1 P9` takes some of them and writes nothing; with `--write` they replace those taken before.
The figures of P18 need public projects (`./run bench-setup`): without them they are left as they were.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from benchmarks import (
    p01_append,
    p02_flat,
    p03_resume,
    p04_hook,
    p06_scheduling,
    p07_greedy,
    p08_iteration,
    p09_receipts,
    p11_brief,
    p12_flood,
    p17_batch,
    p18_trees,
    p18_verification,
    p22_publishing,
)
from benchmarks.measuring import Figure


class Measure(Protocol):
    """Takes a figure; a smoke run takes it at the smallest size that runs all of its code."""

    def __call__(self, *, smoke: bool = False) -> Figure: ...


FIGURES: dict[str, Measure] = {
    "P1": p01_append.measure,
    "P2": p02_flat.measure,
    "P3": p03_resume.measure,
    "P4": p04_hook.measure,
    "P6": p06_scheduling.measure,
    "P7": p07_greedy.measure,
    "P8": p08_iteration.measure,
    "P9": p09_receipts.measure,
    "P11": p11_brief.measure,
    "P12": p12_flood.measure,
    "P17": p17_batch.measure,
    "P18": p18_verification.measure,
    "P18 node_modules": p18_trees.measure_modules,
    "P18 large tree": p18_trees.measure_tree,
    "P22": p22_publishing.measure,
}
HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE.parent / "docs" / "performance.md"
HEAD = """# Performance

Every figure is a ratio taken in one run, ours and its yardstick in turn; the value is the median, with the lowest and
the highest beside it, and the commit and the day it was taken at. `./run bench` takes them all again and writes this
page.

"""


def table(figures: list[Figure]) -> str:
    lines = ["| figure | what | against | median | spread | goal | | taken at |", "|---|---|---|---|---|---|---|---|"]
    for figure in figures:
        spread = f"{figure.low:.3g}-{figure.high:.3g}"
        measured = (figure.name, figure.what, figure.against, f"{figure.value:.3g}", spread)
        cells = (*measured, figure.goal, figure.verdict, figure.taken)
        lines.append(f"| {' | '.join(cells)} |")
    details = [f"- {f.name}: " + ", ".join(f"{k} {v:.4g}" for k, v in f.details.items()) for f in figures if f.details]
    notes = [f"- {figure.name}: {note}" for figure in figures for note in figure.notes]
    return "\n".join([*lines, "", *details, *notes, ""])


def page(machine: str, figures: list[Figure]) -> str:
    return f"{HEAD}Taken on: {machine}.\n\n{table(figures)}"


def read_results() -> tuple[str, list[Figure]]:
    """Return the machine and the figures that were written last."""
    data = json.loads(RESULTS.read_text())
    return data["machine"], [Figure(**{**each, "notes": tuple(each["notes"])}) for each in data["figures"]]


def main(words: list[str]) -> int:
    names = [word for word in words if word != "--write"]
    has_projects = any(map(p18_verification.is_fetched, p18_verification.PROJECTS))
    chosen = names or [name for name in FIGURES if has_projects or not name.startswith("P18")]
    figures: list[Figure] = []
    for name in chosen:
        print(f"{name} …", end=" ", flush=True)
        figure = replace(FIGURES[name](), taken=_commit_and_day())
        figures.append(figure)
        print(f"{figure.value:.3g} ({figure.low:.3g}-{figure.high:.3g}), goal {figure.goal}: {figure.verdict}")
    if not names or "--write" in words:
        _write(figures)
    print()
    print(table(figures))
    return 0


def _commit_and_day() -> str:
    ask = ("git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*")
    commit = subprocess.run(ask, cwd=HERE, check=True, capture_output=True, text=True).stdout.strip()
    return f"{commit}, {dt.datetime.now(tz=dt.UTC):%Y-%m-%d}"


def _write(figures: list[Figure]) -> None:
    """Write the results and the page; figures that were not taken now stay as they were."""
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    known = {figure.name: figure for figure in (*read_results()[1], *figures)}
    ordered = [known[name] for name in FIGURES if name in known]
    data = {"machine": machine, "figures": [figure.as_json() for figure in ordered]}
    RESULTS.write_text(json.dumps(data, indent=2) + "\n")
    PAGE.write_text(page(machine, ordered))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
