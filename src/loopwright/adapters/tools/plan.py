"""What the settings tell the programs of this package, in a file: they are processes of their own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks.order import as_run
from loopwright.adapters.files import write_whole
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import decode, encode

REVIEWED_BY_CHECK = ("lint", "typecheck", "security", "complexity")  # with report = "sarif"
_OWN_FOLDERS = (".venv/bin", "venv/bin", "node_modules/.bin")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlan:
    """`checks` are those that stand in for a tool; `own` is the repository's own Python, empty without one."""

    checks: tuple[CheckSettings, ...] = ()
    own: str = ""

    def check(self, name: str) -> CheckSettings | None:
        return next((check for check in self.checks if check.name == name), None)


def plan_for(checks: tuple[CheckSettings, ...], root: Path) -> ToolPlan:
    wanted = (check for check in checks if _stands_in(check))
    pythons = (root / folder / "python" for folder in _OWN_FOLDERS)
    return ToolPlan(
        checks=tuple(as_run(check) for check in wanted),
        own=next((str(python) for python in pythons if python.is_file()), ""),
    )


def _stands_in(check: CheckSettings) -> bool:
    if check.name == "coverage":
        return check.report == "coverage"
    return check.name in REVIEWED_BY_CHECK and check.report == "sarif"


def write_plan(plan: ToolPlan, folder: Path) -> Path:
    """Named by its content: a run that goes on with older settings keeps its own."""
    text = encode(plan)
    file = folder / f"plan-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not file.is_file():
        write_whole(file, text)
    return file


def read_plan(file: Path) -> ToolPlan:
    return decode(ToolPlan, file.read_text(encoding="utf-8"))


def search_path(root: Path, environ: Mapping[str, str], python: str) -> str:
    """Where tools are looked for: the repository's own, then the person's, then those installed beside us."""
    own = [str(root / folder) for folder in _OWN_FOLDERS if (root / folder).is_dir()]
    theirs = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
    return os.pathsep.join(dict.fromkeys([*own, *theirs, str(Path(python).parent)]))
