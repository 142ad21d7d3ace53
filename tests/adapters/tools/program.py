"""Running the programs `tools` and `autofix` as the engine does, but in this process: a context file, a result file."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopwright.adapters.agents.result import read_result
from loopwright.adapters.tools import autofix, review
from loopwright.adapters.tools.plan import plan_for, search_path, write_plan
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import AgentReport, Finding, Severity

NOWHERE = "/nonexistent"


@dataclass(frozen=True)
class Candidate:
    """A folder of files under review, and everything beside it that a run needs."""

    base: Path
    checks: tuple[CheckSettings, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    tools: str | None = None  # the whole PATH, instead of ours

    @property
    def folder(self) -> Path:
        folder = self.base / "candidate"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def review(
        self, artifact: str, *, gate: str = "code", depth: str = "quick", diff: str = "", attempt: int = 1
    ) -> AgentReport:
        context = {"artifacts": [artifact], "gate": gate, "depth": depth, "diff": diff, "attempt": attempt}
        return self.run("review", context)

    def run(self, program: str, context: Mapping[str, Any]) -> AgentReport:
        done = self.start(program, context)
        assert done.returncode == 0, done.stderr
        return read_result((self.base / "result.json").read_bytes()).report

    def start(self, program: str, context: Mapping[str, Any]) -> "subprocess.CompletedProcess[str]":
        plan = write_plan(plan_for(self.checks, self.base), self.base / ".loop" / "tools")
        (self.base / "context.json").write_text(json.dumps(context), encoding="utf-8")
        path = search_path(self.base, {"PATH": os.defpath}, sys.executable) if self.tools is None else self.tools
        environ = {
            "PATH": path,
            "HOME": os.environ["HOME"],
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # none of ours is needed, and they are most of its start
            "LOOP_CONTEXT": str(self.base / "context.json"),
            "LOOP_RESULT": str(self.base / "result.json"),
            **self.env,
        }
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err, chdir(self.folder):
            code = autofix.main(environ) if program == "autofix" else review.main([program, str(plan)], environ)
        return subprocess.CompletedProcess(program, code, out.getvalue(), err.getvalue())


def brief(finding: Finding) -> tuple[Severity, str, str, int]:
    return finding.severity, finding.rule, finding.file, finding.line


def only(folder: Path, *tools: str) -> str:
    """A folder for PATH that holds these tools of ours and no others; mypy takes a second and bandit half of one."""
    folder.mkdir(parents=True)
    for tool in tools:
        (folder / tool).symlink_to(Path(sys.executable).with_name(tool))
    return str(folder)


def program(folder: Path, name: str, code: str) -> str:
    """A folder for PATH that holds a Python program of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!{sys.executable} -IS\n{code}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(folder)
