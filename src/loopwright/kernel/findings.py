"""Identity of findings: the same fault has the same fingerprint, whatever the line or the wording of numbers."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import replace

from loopwright.kernel.model import Finding

_NOISE = (
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), "<time>"),
    # One stand-in for all of these: whether a number looks like hex must not make another fault of it.
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<n>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<n>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b"), "<n>"),
    (re.compile(r"(?<![\w/])(?:[A-Za-z]:)?(?:/[\w.@+-]+){2,}"), "<path>"),
    (re.compile(r"\d+(\.\d+)?"), "<n>"),
    (re.compile(r"\s+"), " "),
)


def normalise(text: str) -> str:
    """Strip what differs between two sightings of one fault: numbers, paths, hex, times, spacing."""
    for pattern, stands_for in _NOISE:
        text = pattern.sub(stands_for, text)
    return text.strip().lower()


def identify(finding: Finding, code: str = "") -> Finding:
    """The finding with its fingerprint: rule or normalised issue, file, and the code around it.

    A test is known by its id and its normalised assertion, so that a different failure of the
    same test is a different finding.
    """
    if finding.fingerprint:
        return finding
    what = (
        f"{finding.rule}\n{normalise(finding.issue)}"
        if finding.category == "tests"
        else (finding.rule or normalise(finding.issue))
    )
    digest = hashlib.sha256("\0".join((what, finding.file, normalise(code))).encode()).hexdigest()
    return replace(finding, fingerprint=digest[:16])


def told_apart(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """One report's findings, where those that share a fingerprint but say different things are known by their words.

    Three faults of one rule in one file, none with a line, are three and not one.
    """
    marks = Counter(finding.fingerprint for finding in findings)
    return tuple(finding if marks[finding.fingerprint] == 1 else _by_its_words(finding) for finding in findings)


def _by_its_words(finding: Finding) -> Finding:
    digest = hashlib.sha256(f"{finding.fingerprint}\0{normalise(finding.issue)}".encode()).hexdigest()
    return replace(finding, fingerprint=digest[:16])


def bounded(finding: Finding, size: int = 2000) -> Finding:
    """The finding with every text cut to `size`: a log must not grow with an agent's prose."""
    return replace(
        finding,
        issue=cut(finding.issue, size),
        evidence=cut(finding.evidence, size),
        guidance=cut(finding.guidance, size),
        expected=cut(finding.expected, size),
        actual=cut(finding.actual, size),
        requirement=cut(finding.requirement, size),
        rule=cut(finding.rule, size),
        file=cut(finding.file, size),
    )


def cut(text: str, size: int) -> str:
    """At most `size` characters, saying how many were left out."""
    if len(text) <= size:
        return text
    note = f" … ({len(text) - size} more characters)"
    return text[:size] + note
