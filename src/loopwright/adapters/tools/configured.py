"""The person's own checks in place of a tool: run as configured, read by their report, narrowed to the artifact."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.checks.order import REPORT
from loopwright.adapters.checks.reports import Report, ReportRefused, read_bounded
from loopwright.adapters.checks.sarif import read_sarif
from loopwright.adapters.tools.artifacts import ArtifactFiles, line_of
from loopwright.adapters.tools.opinions import ToolOpinion, crashed, shown
from loopwright.adapters.tools.severities import of_check
from loopwright.adapters.tools.workshop import ToolRan, Workshop
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Finding


async def judged_by(shop: Workshop, check: CheckSettings, artifact: ArtifactFiles) -> ToolOpinion:
    """What a check with a SARIF report says about the artifact."""
    ran, content = await reported(shop, check)
    try:
        report = _read(content, shop.folder)
    except ReportRefused as refused:
        return _without_report(check, artifact, ran, str(refused))
    mine = (finding for finding in report.failures if artifact.holds(finding.file))
    return ToolOpinion(
        tool=f"check {check.name}",
        files=artifact.files,
        findings=tuple(_finding(shop.folder, check, finding) for finding in mine),
    )


async def reported(shop: Workshop, check: CheckSettings) -> tuple[ToolRan, bytes | ReportRefused]:
    """Run the check; with what it wrote as its report, at a place that code under test cannot guess."""
    folder = shop.scratch / secrets.token_hex(16)
    folder.mkdir(mode=0o700)
    report = folder / "report"
    ran = await shop.run(*(word.replace(REPORT, str(report)) for word in check.run), timeout=check.timeout)
    try:
        return ran, read_bounded(report)
    except ReportRefused as refused:
        return ran, refused


def _read(content: bytes | ReportRefused, folder: Path) -> Report:
    if isinstance(content, ReportRefused):
        raise content
    line: Callable[[str, int], str] = lambda file, number: line_of(folder, file, number)  # noqa: E731
    return read_sarif(content, line, str(folder))


def _without_report(check: CheckSettings, artifact: ArtifactFiles, ran: ToolRan, why: str) -> ToolOpinion:
    opinion = crashed(f"check {check.name}", artifact.files, ran, f"{why} ({ran.ending})")
    advice = f"Run `{' '.join(check.run)}` and mend what it says, or [checks.{check.name}] in loop.toml."
    return replace(opinion, findings=tuple(replace(found, guidance=advice) for found in opinion.findings))


def _finding(folder: Path, check: CheckSettings, finding: Finding) -> Finding:
    """SARIF gives no evidence of its own, and levels that say little."""
    return shown(
        folder,
        replace(
            finding,
            severity=of_check(check.name, finding.rule, finding.severity),
            category=check.name,
            guidance=f"Change this so that `{' '.join(check.run[:2])}` no longer reports {finding.rule or 'it'} here,"
            " without silencing the rule.",
            fingerprint="",
        ),
    )
