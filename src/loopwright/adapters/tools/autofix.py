"""The agent `autofix`: a creator that applies the safe fixes ruff has for findings it is handed. A program of its own.

Its argument is the plan; everything else comes by the contract of the command agent.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.tools.assignment import read_assignment
from loopwright.adapters.tools.fixes import fix, handed_over
from loopwright.adapters.tools.workshop import Workshop, say, tool_environment
from loopwright.errors import ConfigError


def main(environ: Mapping[str, str]) -> int:
    folder = Path.cwd()
    assignment = read_assignment(Path(environ["LOOP_CONTEXT"]))
    with tempfile.TemporaryDirectory(prefix="loopwright-autofix-") as scratch:
        shop = Workshop(folder=folder, scratch=Path(scratch), env=tool_environment(environ, folder), say=say)
        try:
            findings = handed_over(shop, assignment)
        except ConfigError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        summary = asyncio.run(fix(shop, assignment, findings))
    if assignment.findings_file:
        (folder / assignment.findings_file).unlink(missing_ok=True)
    result = {"status": "done", "summary": summary, "usage": {"usd": 0}}
    write_whole(Path(environ["LOOP_RESULT"]), json.dumps(result, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
