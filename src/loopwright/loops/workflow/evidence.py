"""What a workflow leaves in `.loop/evidence/`: which criteria are met and by what, and every command with its receipt.

`criteria.json` is for programs, `verification.md` for people. One criterion that is listed twice is met only when it is
met each time.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopwright.kernel.codec import plain
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import counted

NOTHING_KNOWN = "n/a"
UNCOMMANDED = "no command of its own"
GREEN_BEFORE = "it passed before the work started, too"
_ONLY_THE_MERGE = re.compile(
    r"(?:(?:it(?: i|')s )?(?:done|ready) (?:when|once) )?"
    r"(?:(?:it|(?:the|this) (?:work|change|branch|pr)|pr #?\d+)(?: i|')s )?"
    r"merged(?: into (?:the )?(?:main|master)(?: branch)?)?\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionEvidence:
    """One row of the shape's verification table, and what came of it. `type` is how it was to be seen."""

    criterion: str
    type: str
    command: tuple[str, ...] = ()
    met: bool
    verification: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionStatus:
    met: bool
    verification: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaFile:
    """`criteria.json`."""

    criteriaStatus: Mapping[str, CriterionStatus]  # noqa: N815 - the seed's own key


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """A command that judged the result. `receipt` names the entry of the receipt book that shows it."""

    name: str
    command: tuple[str, ...]
    passed: bool
    result: str = ""
    receipt: str = ""


def is_only_the_merge(criterion: str) -> bool:
    """It says that the work is merged and nothing beside, so the merge alone fulfils it."""
    return _ONLY_THE_MERGE.fullmatch(" ".join(criterion.split())) is not None


def criteria_status(evidence: tuple[CriterionEvidence, ...]) -> Mapping[str, CriterionStatus]:
    """By criterion, in the order of the shape."""
    found: dict[str, CriterionStatus] = {}
    for each in evidence:
        name, said = visible(each.criterion), visible(each.verification)
        before = found.get(name)
        if before:
            said = said if said == before.verification else f"{before.verification}; {said}"
        found[name] = CriterionStatus(met=each.met and (before is None or before.met), verification=said)
    return found


def evidence_files(
    title: str, evidence: tuple[CriterionEvidence, ...], runs: tuple[CommandRun, ...]
) -> Mapping[str, str]:
    """By name within the folder."""
    criteria = CriteriaFile(criteriaStatus=criteria_status(evidence))
    return {
        "criteria.json": json.dumps(plain(criteria), ensure_ascii=False, indent=2) + "\n",
        "verification.md": _page(title, evidence, runs),
    }


def _page(title: str, evidence: tuple[CriterionEvidence, ...], runs: tuple[CommandRun, ...]) -> str:
    met = sum(each.met for each in evidence)
    criteria = [_criterion(each) for each in evidence] or ["No criteria were set."]
    commands = [_run(each) for each in runs] or ["No command was run."]
    return (
        f"# Verification: {inline(title)}\n\n"
        f"**Criteria:** {met} of {len(evidence)} met | **Commands:** {_passed(runs)}\n\n"
        "## Criteria\n" + "\n".join(criteria) + "\n\n## Commands\n" + "\n".join(commands) + "\n"
    )


def _passed(runs: tuple[CommandRun, ...]) -> str:
    failed = sum(not each.passed for each in runs)
    return f"{counted(len(runs), 'run')}, {failed} failed" if failed else f"{counted(len(runs), 'run')}, none failed"


def _criterion(each: CriterionEvidence) -> str:
    return "\n".join((f"- [{'x' if each.met else ' '}] {inline(each.criterion)}", *_details(each)))


def _details(each: CriterionEvidence) -> Iterator[str]:
    yield f"  - Type: {inline(each.type) or NOTHING_KNOWN}"
    if each.command:
        yield f"  - Command: {code(shlex.join(each.command))}"
    yield f"  - Verification: {inline(each.verification) or NOTHING_KNOWN}"


def _run(each: CommandRun) -> str:
    said = f": {inline(each.result)}" if each.result else ""
    command = f"  - Command: {code(shlex.join(each.command))}\n" if each.command else ""
    return (
        f"- **{'Passed' if each.passed else 'Failed'}:** {inline(each.name)}{said}\n"
        f"{command}  - Receipt: {code(each.receipt)}"
    )


def code(text: str) -> str:
    """As code within a line, which nothing in it can end."""
    line = one_line(text)
    if not line:
        return NOTHING_KNOWN
    marks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{marks} {line} {marks}" if "`" in line else f"{marks}{line}{marks}"
