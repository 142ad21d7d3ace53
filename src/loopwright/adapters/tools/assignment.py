"""What a program of this package is asked to do, from the context file of the agent contract."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from loopwright.kernel.codec import DecodeError, build
from loopwright.kernel.model import Finding

_CHANGED = re.compile(r'^\+\+\+ "?b/(.*?)"?\t?$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAssignment:
    artifacts: tuple[str, ...] = ()
    gate: str = ""
    depth: str = ""
    attempt: int = 1
    limit: int = 0  # attempts there may be; 0: not told
    diff: str = ""
    findings: tuple[Finding, ...] = ()
    findings_file: str = ""
    observations: tuple[Finding, ...] = ()  # what need not be fixed

    @property
    def subjects(self) -> tuple[str, ...]:
        """What is to be looked at: the artifacts, else what the change touches, else everything."""
        return self.artifacts or tuple(dict.fromkeys(_CHANGED.findall(self.diff))) or (".",)

    @property
    def fix(self) -> str:
        """The change that answers an earlier review; what a person changed before the first one is their own."""
        return self.diff if self.attempt > 1 else ""


def read_assignment(file: Path) -> ToolAssignment:
    """The engine wrote the file: what does not fit is a mistake of ours, and raises."""
    data = json.loads(file.read_bytes())
    if not isinstance(data, dict):
        raise DecodeError("the context is no object")
    known = ("artifacts", "gate", "depth", "attempt", "limit", "diff", "findings", "findings_file", "observations")
    return build(ToolAssignment, {name: data[name] for name in known if data.get(name) is not None})
