"""ruff: what it says about Python files, and what its own words are worth as advice."""

from __future__ import annotations

from pathlib import Path

from loopwright.adapters.tools.artifacts import line_of, within
from loopwright.adapters.tools.opinions import Garbled, Opinion, crashed, parsed, rows, table, text, whole
from loopwright.adapters.tools.severities import of_ruff
from loopwright.adapters.tools.workshop import Workshop, argument
from loopwright.kernel.model import Finding

REPORTING = ("check", "--output-format=json", "--no-cache", "--exit-zero")
_GUIDANCE = {
    "invalid-syntax": "Mend the syntax at this place; nothing else in the file can be judged before.",
    "F821": "Define or import the name before it is used, or correct its spelling.",
}


async def lint(shop: Workshop, files: tuple[str, ...]) -> Opinion:
    ruff = shop.find("ruff")
    if ruff is None:
        return Opinion(tool="ruff", missing="ruff")
    ran = await shop.run(ruff, *REPORTING, "--", *map(argument, files))
    if ran.code != 0 or not ran.whole:
        return crashed("ruff", files, ran)
    try:
        found = read_ruff(ran.stdout, shop.folder)
    except Garbled as error:
        return crashed("ruff", files, ran, str(error))
    return Opinion(tool="ruff", files=files, findings=tuple(each for each in found if each.file in files))


def read_ruff(content: bytes, folder: Path) -> tuple[Finding, ...]:
    return tuple(_finding(row, folder) for row in rows(parsed(content), "violations"))


def _finding(row: dict[str, object], folder: Path) -> Finding:
    rule = text(row, "code") or "invalid-syntax"  # older versions give a syntax error no code
    file, line = within(folder, text(row, "filename")), whole(table(row, "location"), "row")
    issue = text(row, "message") or rule
    return Finding(
        severity=of_ruff(rule),
        category="lint",
        rule=rule,
        file=file,
        line=line,
        issue=issue,
        evidence=line_of(folder, file, line) or issue,
        guidance=_GUIDANCE.get(rule) or _advice(row, rule),
    )


def _advice(row: dict[str, object], rule: str) -> str:
    """ruff's own fix where it has one, else the page that shows the right form."""
    page = f" ({url})" if (url := text(row, "url")) else ""
    if fix := text(table(row, "fix"), "message"):
        return f"{fix}.{page}"
    return f"Rewrite this line so that {rule} no longer applies, without silencing the rule.{page}"
