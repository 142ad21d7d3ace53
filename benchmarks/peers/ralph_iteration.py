"""ralph-orchestrator: one iteration with the sample's agent, and a commit after it, in the repository given.

Its Python line cannot be given a command, but runs the program named `gemini` on PATH: the agent takes that name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path

GEMINI = """#!/bin/sh
if [ "$1" = --version ]; then exit 0; fi
LOOP_ROLE=developer LOOP_RESULT={result} {agent} && echo LOOP_COMPLETE
"""


def measure(repository: Path) -> float:
    folder = repository.parent
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "gemini").write_text(GEMINI.format(result=folder / "ralph-result.json", agent=folder / "agent"))
    (programs / "gemini").chmod(0o755)
    (folder / "PROMPT.md").write_text("append a line\n")
    os.environ.update(PATH=f"{programs}:{os.environ['PATH']}", HOME=str(folder))
    for who in ("AUTHOR", "COMMITTER"):
        os.environ.update({f"GIT_{who}_NAME": "Bench", f"GIT_{who}_EMAIL": "bench@localhost"})
    os.chdir(repository)
    from ralph_orchestrator.orchestrator import (  # type: ignore[import-not-found]  # noqa: PLC0415  # in .bench-venv only
        RalphOrchestrator,
    )

    ralph = RalphOrchestrator(
        str(folder / "PROMPT.md"), primary_tool="gemini", checkpoint_interval=1, archive_dir=str(folder / "archive")
    )
    start = time.perf_counter()
    ralph.run()
    taken = time.perf_counter() - start
    assert (ralph.metrics.successful_iterations, ralph.metrics.checkpoints) == (1, 1), ralph.metrics
    last = subprocess.run(["git", "log", "-1", "--format=%s"], capture_output=True, text=True, check=True).stdout
    assert last.startswith("Ralph checkpoint"), last
    return taken


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        seconds = measure(Path(sys.argv[1]))
    print(json.dumps({"peer": "ralph-orchestrator", "version": version("ralph-orchestrator"), "seconds": seconds}))
