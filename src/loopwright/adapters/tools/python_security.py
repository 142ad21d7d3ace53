"""bandit: what it says about Python files that are no tests, where an `assert` would be a finding."""

from __future__ import annotations

import tomllib
from pathlib import Path

from loopwright.adapters.tools.artifacts import line_of, text_of, within
from loopwright.adapters.tools.opinions import Garbled, Opinion, crashed, parsed, rows, text, whole
from loopwright.adapters.tools.severities import CRITICAL, SYNTAX, of_bandit
from loopwright.adapters.tools.workshop import Workshop, argument
from loopwright.kernel.model import Finding

_GUIDANCE = {
    "B102": "Do without `exec`: call the function, or look it up in a table of what is allowed.",
    "B301": "Read a format that holds data only, such as JSON; unpickling runs what the data says.",
    "B307": "Use `ast.literal_eval` for literals, or a parser; `eval` runs what the text says.",
    "B324": "Use SHA-256, or pass `usedforsecurity=False` if nothing depends on it being hard to forge.",
    "B501": "Verify certificates: remove `verify=False`.",
    "B506": "Use `yaml.safe_load`.",
    "B602": "Pass the command as a list and drop `shell=True`.",
    "B605": "Use `subprocess.run` with a list instead of a line for the shell.",
    "B608": "Pass the values as bind variables instead of putting them into the text of the statement.",
}


async def security(shop: Workshop, files: tuple[str, ...]) -> Opinion:
    bandit = shop.find("bandit")
    if bandit is None:
        return Opinion(tool="bandit", missing="bandit")
    ran = await shop.run(bandit, "-q", "-f", "json", *_configuration(shop.folder), "--", *map(argument, files))
    if ran.code not in (0, 1) or not ran.whole:
        return crashed("bandit", files, ran)
    try:
        found = read_bandit(ran.stdout, shop.folder)
    except Garbled as error:
        return crashed("bandit", files, ran, str(error))
    return Opinion(tool="bandit", files=files, findings=tuple(each for each in found if each.file in files))


def _configuration(folder: Path) -> tuple[str, ...]:
    """bandit looks for no configuration by itself."""
    try:
        tools = tomllib.loads(text_of(folder, "pyproject.toml")).get("tool", {})
    except tomllib.TOMLDecodeError:
        tools = {}
    if isinstance(tools, dict) and "bandit" in tools:
        return ("-c", "pyproject.toml")
    return next((("-c", name) for name in ("bandit.yaml", "bandit.yml") if text_of(folder, name)), ())


def read_bandit(content: bytes, folder: Path) -> tuple[Finding, ...]:
    report = parsed(content)
    if not isinstance(report, dict):
        raise Garbled("its output is no object")
    unread = (_unread(row, folder) for row in rows(report.get("errors", []), "errors"))
    return (*(_finding(row, folder) for row in rows(report.get("results"), "results")), *unread)


def _finding(row: dict[str, object], folder: Path) -> Finding:
    rule = text(row, "test_id")
    file, line = within(folder, text(row, "filename")), whole(row, "line_number")
    issue = text(row, "issue_text") or rule
    page = text(row, "more_info")
    usual = f"Replace the construct with the safe one that {page or rule} shows."
    return Finding(
        severity=of_bandit(text(row, "issue_severity")),
        category="security",
        rule=rule,
        file=file,
        line=line,
        issue=issue,
        evidence=line_of(folder, file, line) or issue,
        guidance=_GUIDANCE.get(rule, usual),
    )


def _unread(row: dict[str, object], folder: Path) -> Finding:
    reason = text(row, "reason") or "it cannot be read"
    return Finding(
        severity=CRITICAL,
        category="security",
        rule=SYNTAX if "syntax" in reason else "bandit-unread",
        file=within(folder, text(row, "filename")),
        issue=f"bandit could not read the file: {reason}",
        evidence=reason,
        guidance="Mend the file so that it can be parsed.",
    )
