"""The agent `tools`: a reviewer that runs the tools a project has and reports what they say. A program of its own.

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
from loopwright.adapters.tools.assignment import ToolAssignment, read_assignment
from loopwright.adapters.tools.plan import read_plan
from loopwright.adapters.tools.verdict import Review, review
from loopwright.adapters.tools.workshop import Workshop, say, tool_environment
from loopwright.kernel.model import Finding

_SIZE = 900_000  # bytes of a result; a reader refuses more than 1 MiB
_MOST = 200  # findings; a reader keeps no more
_SHOWN = ("severity", "rule", "file", "line", "issue", "evidence", "guidance", "category", "dimension")


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    folder = Path.cwd()
    assignment = read_assignment(Path(environ["LOOP_CONTEXT"]))
    with tempfile.TemporaryDirectory(prefix="loopwright-tools-") as scratch:
        shop = Workshop(folder=folder, scratch=Path(scratch), env=tool_environment(environ, folder), say=say)
        found = asyncio.run(review(shop, read_plan(Path(argv[1])), assignment))
    write_whole(Path(environ["LOOP_RESULT"]), result(found, assignment))
    return 0


def result(found: Review, assignment: ToolAssignment) -> str:
    """The result file: as many findings as it takes, the least severe left out."""
    findings = [_shown(each) for each in found.findings[:_MOST]]
    while True:
        left_out = len(found.findings) - len(findings)
        more = f" {left_out} more findings are left out, the least severe." if left_out else ""
        text = json.dumps(
            {
                "status": "done",
                "summary": f"{found.summary(', '.join(assignment.subjects))}{more}",
                "verdict": "fail" if found.blocks else "pass",
                "findings": findings,
                "usage": {"usd": 0},
            },
            ensure_ascii=False,
            indent=1,
        )
        if len(text.encode("utf-8", "backslashreplace")) <= _SIZE or not findings:
            return text + "\n"
        findings = findings[: len(findings) * 3 // 4]


def _shown(finding: Finding) -> dict[str, object]:
    return {name: str(value) if name == "severity" else value for name in _SHOWN for value in (getattr(finding, name),)}


if __name__ == "__main__":
    sys.exit(main(sys.argv, os.environ))
