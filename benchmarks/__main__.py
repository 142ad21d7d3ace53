"""Take every figure, one after the other; write `benchmarks/results.json` and `docs/performance.md`.

`python -m benchmarks P1 P9` takes some of them and writes nothing; with `--write` they take the place of those taken
before. P18 needs clones of public projects: without `LOOP_HISTORIES` it is left as it was.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

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
    p18_verification,
    p22_publishing,
)
from benchmarks.measuring import Figure

FIGURES: dict[str, Callable[[], Figure]] = {
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
    "P22": p22_publishing.measure,
}
HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE.parent / "docs" / "performance.md"
HEAD = """# Performance

Every figure is a ratio taken in one run, ours and its yardstick in turn; the value is the median, with the lowest and
the highest beside it. `./run bench` takes them all again and writes this page.

"""


def table(figures: list[Figure]) -> str:
    lines = ["| figure | what | against | median | spread | goal | |", "|---|---|---|---|---|---|---|"]
    for figure in figures:
        spread = f"{figure.low:.3g}-{figure.high:.3g}"
        cells = (figure.name, figure.what, figure.against, f"{figure.value:.3g}", spread, figure.goal, figure.verdict)
        lines.append(f"| {' | '.join(cells)} |")
    details = [f"- {f.name}: " + ", ".join(f"{k} {v:.4g}" for k, v in f.details.items()) for f in figures if f.details]
    notes = [f"- {figure.name}: {note}" for figure in figures for note in figure.notes]
    return "\n".join([*lines, "", *details, *notes, ""])


def main(words: list[str]) -> int:
    names = [word for word in words if word != "--write"]
    everything = [name for name in FIGURES if name != "P18" or p18_verification.HISTORIES in os.environ]
    chosen = names or everything
    figures: list[Figure] = []
    for name in chosen:
        print(f"{name} …", end=" ", flush=True)
        figure = FIGURES[name]()
        figures.append(figure)
        print(f"{figure.value:.3g} ({figure.low:.3g}-{figure.high:.3g}), goal {figure.goal}: {figure.verdict}")
    if not names or "--write" in words:
        _write(figures)
    print()
    print(table(figures))
    return 0


def _write(figures: list[Figure]) -> None:
    """Those that were not taken now stay as they were."""
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    before = json.loads(RESULTS.read_text())["figures"]
    known = {each["name"]: Figure(**{**each, "notes": tuple(each["notes"])}) for each in before}
    known |= {figure.name: figure for figure in figures}
    all_of_them = [known[name] for name in FIGURES if name in known]
    data = {"machine": machine, "figures": [figure.as_json() for figure in all_of_them]}
    RESULTS.write_text(json.dumps(data, indent=2) + "\n")
    PAGE.write_text(f"{HEAD}Taken on: {machine}.\n\n{table(all_of_them)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
