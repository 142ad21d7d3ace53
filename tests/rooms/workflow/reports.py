"""Reports as agents hand them in, for whoever reads what stands in them."""

import json

from loopwright.kernel.model import AgentReport, Finding, Question, Severity


def saying(**extras: object) -> AgentReport:
    return AgentReport(extras=json.dumps(extras))


def asking(*questions: str, **extras: object) -> AgentReport:
    return AgentReport(extras=json.dumps(extras), questions=tuple(Question(question=each) for each in questions))


def finding(*found: tuple[Severity, str]) -> AgentReport:
    return AgentReport(findings=tuple(Finding(severity=grave, issue=issue) for grave, issue in found))
