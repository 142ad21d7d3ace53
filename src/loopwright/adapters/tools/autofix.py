"""The agent `autofix`: a creator that applies the safe fixes ruff has for findings it is handed. A program of its own.

Its argument is the plan; everything else comes by the contract of the command agent.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.tools.artifacts import gather, language, text_of
from loopwright.adapters.tools.assignment import ToolAssignment, read_assignment
from loopwright.adapters.tools.linters import RUFF, read_ruff
from loopwright.adapters.tools.opinions import Garbled, parsed, rows, text
from loopwright.adapters.tools.severities import is_ruff_rule
from loopwright.adapters.tools.workshop import Workshop, argument, say, tool_environment
from loopwright.adapters.yaml_text import read_yaml
from loopwright.errors import ConfigError
from loopwright.kernel.model import Finding, Severity

Place = tuple[str, str]  # file and rule
_FEW = 8


def handed_over(shop: Workshop, assignment: ToolAssignment) -> tuple[Finding, ...]:
    """The findings, from the file beside the artifact if there is one. Raises `ConfigError` when it cannot be read.

    What need not be fixed is mended as well: the fixes are safe, and nobody has to be paid for them.
    """
    if not assignment.findings_file:
        return assignment.findings + assignment.observations
    name = assignment.findings_file
    data = read_yaml(text_of(shop.folder, name), name).plain()
    held = data.get("findings") if isinstance(data, dict) else None
    if not isinstance(held, list):
        raise ConfigError(name, "findings", "expected a list")
    return tuple(_finding(each, assignment) for each in held if isinstance(each, dict))


def _finding(entry: dict[str, object], assignment: ToolAssignment) -> Finding:
    """The file names a rule `check`; one that names no file is about the artifact."""
    artifact = assignment.artifacts[0] if assignment.artifacts else ""
    return Finding(
        severity=Severity.MEDIUM,
        rule=text(entry, "check") or text(entry, "rule"),
        file=text(entry, "file") or artifact,
        issue=text(entry, "issue"),
    )


async def fix(shop: Workshop, assignment: ToolAssignment, findings: tuple[Finding, ...]) -> tuple[int, str]:
    """How many were fixed, and what was done, in a sentence. Nothing to do is done too."""
    if not findings:
        return 0, "nothing to fix: no findings were handed over"
    ruff = shop.find("ruff")
    if ruff is None:
        return 0, f"fixed 0 of {len(findings)}: ruff was not found; install it with `pip install 'loopwright[tools]'`"
    wanted = await _fixable(shop, ruff, assignment, findings)
    before = await _violations(shop, ruff, wanted)
    if before:
        await _apply(shop, ruff, before)
    after = await _violations(shop, ruff, wanted) if before else before
    return _told(findings, wanted, before - after)


async def _fixable(
    shop: Workshop, ruff: str, assignment: ToolAssignment, findings: tuple[Finding, ...]
) -> Counter[Place]:
    """How many findings there are of each rule that ruff knows in each file that may be touched."""
    known = await _rules(shop, ruff)
    places: Counter[Place] = Counter()
    for finding in findings:
        if finding.rule in known:
            for file in _files(shop.folder, finding, assignment):
                places[file, finding.rule] += 1
    return places


def _files(folder: Path, finding: Finding, assignment: ToolAssignment) -> tuple[str, ...]:
    name = finding.file or (assignment.artifacts[0] if assignment.artifacts else "")
    return tuple(file for file in gather(folder, name).files if language(file) == "python") if name else ()


async def _rules(shop: Workshop, ruff: str) -> frozenset[str]:
    """The rules this ruff has: selecting one that it does not have is an error, and bandit's look the same."""
    ran = await shop.run(ruff, "rule", "--all", "--output-format=json")
    try:
        found = rows(parsed(ran.stdout), "rules")
    except Garbled:
        return frozenset()
    return frozenset(code for row in found if is_ruff_rule(code := text(row, "code")))


async def _violations(shop: Workshop, ruff: str, wanted: Counter[Place]) -> Counter[Place]:
    """How often each wanted rule is broken in each wanted file."""
    if not wanted:
        return Counter()
    files, rules = sorted({file for file, _ in wanted}), sorted({rule for _, rule in wanted})
    ran = await shop.run(ruff, *RUFF, f"--select={','.join(rules)}", "--", *map(argument, files))
    try:
        found = read_ruff(ran.stdout, shop.folder)
    except Garbled:
        return Counter()
    return Counter(place for each in found if (place := (each.file, each.rule)) in wanted)


async def _apply(shop: Workshop, ruff: str, broken: Counter[Place]) -> None:
    """File by file, each with its own rules: a rule that was named for one file is not applied to another."""
    for file in sorted({file for file, _ in broken}):
        rules = ",".join(sorted(rule for name, rule in broken if name == file))
        options = ("check", "--fix", "--no-unsafe-fixes", "--no-cache", "--exit-zero", "--quiet", f"--select={rules}")
        ran = await shop.run(ruff, *options, "--", argument(file))
        shop.say(f"ruff --fix {file} ({rules}): {ran.ending}")


def _told(findings: tuple[Finding, ...], wanted: Counter[Place], gone: Counter[Place]) -> tuple[int, str]:
    fixed = Counter({place: min(count, gone[place]) for place, count in wanted.items() if gone[place] > 0})
    left = Counter(finding.rule or "unnamed" for finding in findings) - Counter(
        rule for (_, rule), count in fixed.items() for _ in range(count)
    )
    done = ", ".join(f"{rule} in {file}" for file, rule in sorted(fixed)[:_FEW]) or "nothing"
    cannot = ", ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(left.items())[:_FEW])
    total = min(sum(fixed.values()), len(findings))
    return total, f"fixed {total} of {len(findings)}: {done}" + (f"; cannot fix: {cannot}" if cannot else "")


def _status(assignment: ToolAssignment, fixed: int) -> str:
    """Whoever could mend nothing will mend nothing the next time either, and says so; the last fix there can be ends
    the loop in its own words.
    """
    return "blocked" if not fixed and assignment.attempt + 1 < assignment.limit else "done"


def main(environ: Mapping[str, str]) -> int:
    folder = Path.cwd()
    assignment = read_assignment(Path(environ["LOOP_CONTEXT"]))
    with tempfile.TemporaryDirectory(prefix="loopwright-autofix-") as scratch:
        shop = Workshop(folder=folder, scratch=Path(scratch), env=tool_environment(environ, folder), say=say)
        try:
            findings = handed_over(shop, assignment)
        except ConfigError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        fixed, summary = asyncio.run(fix(shop, assignment, findings))
    if assignment.findings_file:
        (folder / assignment.findings_file).unlink(missing_ok=True)
    result = {"status": _status(assignment, fixed), "summary": summary, "usage": {"usd": 0}}
    write_whole(Path(environ["LOOP_RESULT"]), json.dumps(result, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
