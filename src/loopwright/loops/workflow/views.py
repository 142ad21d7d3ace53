"""Who looks at the work, and at what: one reviewer per view, chosen by the aspects of what was done.

A light review of a wave has two or three views and never blocks; the thorough one at the end has three or four. The
severities are ours, the words BLOCKER, WARNING and SUGGESTION those of this loop's files.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, assert_never

from loopwright.kernel.model import AgentReport, Finding, Severity
from loopwright.kernel.shapes import Field, number, record
from loopwright.loops.workflow.reading import told

BEST = 10
_MOST_LIGHT, _MOST_THOROUGH = 3, 4
LOOKS_AT = MappingProxyType(
    {
        "delivery": "Does the change do what was asked for, all of it, and nothing besides?",
        "craft": "Is it clean, plain and written like the code around it, with nothing that could be left out?",
        "correctness": "Is it right at the edges too: empty, large, repeated, out of order, at the same time?",
        "security": "Who may do what, which input is trusted, and could a secret get out or somebody get in?",
        "data": "Can data be lost, doubled or misread, and do old records and both ways of a migration still work?",
        "interfaces": "Does whoever calls it still get what they rely on, and are its names, types and errors clear?",
        "performance": "What does it cost in time and memory where there is much, and does anything grow with it?",
        "failures": "What happens when something fails on the way: is it noticed, told clearly, and recovered from?",
        "tests": "Would the tests notice if it were wrong, and do they rest on what it does and not on how?",
        "operations": "Can it be released, configured, watched and taken back without surprise?",
        "usability": "Does somebody who sees it for the first time understand it, with a screen reader too?",
    }
)
_BY_ASPECT = MappingProxyType(  # the gravest first: only some find room
    {
        "Auth": "security",
        "Data": "data",
        "Migration": "data",
        "API": "interfaces",
        "Integration": "interfaces",
        "Performance": "performance",
        "Error": "failures",
        "Deployment": "operations",
        "UI": "usability",
        "Testing": "tests",
    }
)
_TAKEN_OFF = {Severity.CRITICAL: 4, Severity.HIGH: 2, Severity.MEDIUM: 1, Severity.LOW: 0}
_SCORE = record(Field(name="score", shape=number(0, BEST, f"a number from 0 to {BEST}")), says="an object")

Word = Literal["BLOCKER", "WARNING", "SUGGESTION"]


def light_views(aspects: tuple[str, ...]) -> tuple[str, ...]:
    """Of a wave: two that always look, and the gravest that its tasks ask for."""
    return ("delivery", "craft", *_asked_for(aspects))[:_MOST_LIGHT]


def thorough_views(aspects: tuple[str, ...]) -> tuple[str, ...]:
    """Of the whole: two that always look, the two gravest that it asks for, and craft where there is room."""
    return ("delivery", "correctness", *_asked_for(aspects), "craft")[:_MOST_THOROUGH]


def _asked_for(aspects: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(view for aspect, view in _BY_ASPECT.items() if aspect in aspects))


def word_of(severity: Severity) -> Word:
    match severity:
        case Severity.CRITICAL:
            return "BLOCKER"
        case Severity.HIGH | Severity.MEDIUM:
            return "WARNING"
        case Severity.LOW:
            return "SUGGESTION"
        case _:
            assert_never(severity)


def read_score(report: AgentReport) -> float | None:
    """From 0 to 10; None where a reviewer gave none, or one on another scale."""
    data = told(report, _SCORE)
    return None if isinstance(data, str) else data.get("score")


def score_of(reports: tuple[AgentReport, ...]) -> int:
    """For people only; nothing is decided by it.

    The mean of what reviewers gave. Where none gave any: 10, less 4 for each critical finding, 2 for each high one and
    1 for each medium one, one that several found counted once. 0 where nobody looked.
    """
    given = [score for report in reports if (score := read_score(report)) is not None]
    if given:
        return int(sum(given) / len(given) + 0.5)
    if not reports:
        return 0
    found = {_identity(finding): finding for report in reports for finding in report.findings}
    return max(0, BEST - sum(_TAKEN_OFF[finding.severity] for finding in found.values()))


def _identity(finding: Finding) -> str:
    return finding.fingerprint or f"{finding.file}\n{finding.issue}"
