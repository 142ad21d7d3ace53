"""What a tool has to say about an artifact: findings, or that it was not there, or that it broke."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.tools.artifacts import line_of
from loopwright.adapters.tools.severities import HIGH, one_name
from loopwright.adapters.tools.workshop import ToolRan
from loopwright.kernel.findings import bounded
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.visible import visible

_TEXT = 1000  # characters of a finding's every text


class Garbled(ValueError):
    """A tool's output is not what it was asked for; the message says what was wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOpinion:
    """`files` are those it judged: none when the tool was not found."""

    tool: str
    files: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    missing: str = ""  # what was looked for in vain
    note: str = ""


def crashed(tool: str, files: tuple[str, ...], ran: ToolRan, why: str = "") -> ToolOpinion:
    """A tool that could not do its work has not passed anything."""
    found = Finding(
        severity=HIGH,
        category="tools",
        rule=f"{tool}-failed",
        issue=f"{tool} could not judge this: {why or ran.ending}",
        evidence=ran.tail,
        guidance=f"Run {tool} in the repository, and mend what it complains of: its configuration or these files.",
    )
    return ToolOpinion(tool=tool, files=files, findings=(found,))


def shown(folder: Path, finding: Finding) -> Finding:
    """The finding with its source line for evidence, where it has one."""
    return replace(finding, evidence=line_of(folder, finding.file, finding.line) or finding.issue)


def parsed(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Garbled(f"its output is not JSON: {error}") from error


def rows(value: object, what: str) -> list[dict[str, object]]:
    """A list of objects, and nothing else."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise Garbled(f"its output has no list of {what}")
    return value


def text(row: dict[str, object], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def whole(row: dict[str, object], name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else 0


def table(row: dict[str, object], name: str) -> dict[str, object]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def plain(finding: Finding) -> Finding:
    """The finding under its one name, with every text harmless and bounded."""
    return bounded(
        replace(
            finding,
            rule=visible(one_name(finding.rule)),
            file=visible(finding.file),
            issue=visible(finding.issue),
            evidence=visible(finding.evidence),
            guidance=visible(finding.guidance),
        ),
        _TEXT,
    )


def gathered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first. What two tools saw at one place under one name is one finding; so is a file's broken syntax."""
    found: dict[tuple[str, str, int, str], Finding] = {}
    for each in sorted(map(plain, findings), key=lambda finding: finding.severity.rank):
        found.setdefault(_sight(each), each)
    return tuple(found.values())


def _sight(finding: Finding) -> tuple[str, str, int, str]:
    """What makes two sightings one: tools word the same fault in different ways."""
    match finding.rule:
        case "syntax-error":
            return finding.rule, finding.file, 0, ""
        case "F821":
            return finding.rule, finding.file, finding.line, ""
        case _:
            return finding.rule, finding.file, finding.line, finding.issue


def blocks(findings: Iterable[Finding]) -> bool:
    return any(finding.severity in (Severity.CRITICAL, Severity.HIGH) for finding in findings)
