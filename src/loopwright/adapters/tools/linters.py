"""ruff, bandit and eslint: programs that print what they found as JSON, and what their words are worth as advice."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.tools.artifacts import text_of, within
from loopwright.adapters.tools.opinions import Garbled, ToolOpinion, crashed, parsed, rows, shown, table, text, whole
from loopwright.adapters.tools.severities import CRITICAL, SYNTAX, of_bandit, of_eslint, of_ruff
from loopwright.adapters.tools.workshop import Workshop, argument
from loopwright.kernel.model import Finding

RUFF = ("check", "--output-format=json", "--no-cache", "--exit-zero")
_RUFF_GUIDANCE = {
    "invalid-syntax": "Mend the syntax at this place; nothing else in the file can be judged before.",
    "F821": "Define or import the name before it is used, or correct its spelling.",
}
_BANDIT_GUIDANCE = {
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Linter:
    name: str
    options: tuple[str, ...]
    read: Callable[[bytes, Path], tuple[Finding, ...]]
    codes: tuple[int, ...] = (0, 1)  # it did its work, whatever it found


async def ruff(shop: Workshop, files: tuple[str, ...]) -> ToolOpinion:
    return await _judged(shop, files, _Linter(name="ruff", options=RUFF, read=read_ruff, codes=(0,)))


async def bandit(shop: Workshop, files: tuple[str, ...]) -> ToolOpinion:
    """For files that are no tests, where an `assert` would be a finding."""
    options = ("-q", "-f", "json", *_configuration(shop.folder))
    return await _judged(shop, files, _Linter(name="bandit", options=options, read=_read_bandit))


async def eslint(shop: Workshop, files: tuple[str, ...]) -> ToolOpinion:
    return await _judged(shop, files, _Linter(name="eslint", options=("--format=json",), read=_read_eslint))


async def _judged(shop: Workshop, files: tuple[str, ...], linter: _Linter) -> ToolOpinion:
    program = shop.find(linter.name)
    if program is None:
        return ToolOpinion(tool=linter.name, missing=linter.name)
    ran = await shop.run(program, *linter.options, "--", *map(argument, files))
    if ran.code not in linter.codes or not ran.whole:
        return crashed(linter.name, files, ran)
    try:
        found = linter.read(ran.stdout, shop.folder)
    except Garbled as error:
        return crashed(linter.name, files, ran, str(error))
    return ToolOpinion(tool=linter.name, files=files, findings=tuple(each for each in found if each.file in files))


def read_ruff(content: bytes, folder: Path) -> tuple[Finding, ...]:
    return tuple(_violation(row, folder) for row in rows(parsed(content), "violations"))


def _violation(row: dict[str, object], folder: Path) -> Finding:
    rule = text(row, "code") or "invalid-syntax"  # older versions give a syntax error no code
    found = Finding(
        severity=of_ruff(rule),
        category="lint",
        rule=rule,
        file=within(folder, text(row, "filename")),
        line=whole(table(row, "location"), "row"),
        issue=text(row, "message") or rule,
        guidance=_RUFF_GUIDANCE.get(rule) or _advice(row, rule),
    )
    return shown(folder, found)


def _advice(row: dict[str, object], rule: str) -> str:
    """ruff's own fix where it has one, else the page that shows the right form."""
    page = f" ({url})" if (url := text(row, "url")) else ""
    if fix := text(table(row, "fix"), "message"):
        return f"{fix}.{page}"
    return f"Rewrite this line so that {rule} no longer applies, without silencing the rule.{page}"


def _configuration(folder: Path) -> tuple[str, ...]:
    """bandit looks for no configuration by itself."""
    try:
        tools = tomllib.loads(text_of(folder, "pyproject.toml")).get("tool", {})
    except tomllib.TOMLDecodeError:
        tools = {}
    if isinstance(tools, dict) and "bandit" in tools:
        return ("-c", "pyproject.toml")
    return next((("-c", name) for name in ("bandit.yaml", "bandit.yml") if text_of(folder, name)), ())


def _read_bandit(content: bytes, folder: Path) -> tuple[Finding, ...]:
    report = parsed(content)
    if not isinstance(report, dict):
        raise Garbled("its output is no object")
    unread = (_unread(row, folder) for row in rows(report.get("errors", []), "errors"))
    return (*(_weakness(row, folder) for row in rows(report.get("results"), "results")), *unread)


def _weakness(row: dict[str, object], folder: Path) -> Finding:
    rule = text(row, "test_id")
    usual = f"Replace the construct with the safe one that {text(row, 'more_info') or rule} shows."
    found = Finding(
        severity=of_bandit(text(row, "issue_severity")),
        category="security",
        rule=rule,
        file=within(folder, text(row, "filename")),
        line=whole(row, "line_number"),
        issue=text(row, "issue_text") or rule,
        guidance=_BANDIT_GUIDANCE.get(rule, usual),
    )
    return shown(folder, found)


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


def _read_eslint(content: bytes, folder: Path) -> tuple[Finding, ...]:
    return tuple(
        _message(message, within(folder, text(entry, "filePath")), folder)
        for entry in rows(parsed(content), "files")
        for message in rows(entry.get("messages"), "messages")
    )


def _message(row: dict[str, object], file: str, folder: Path) -> Finding:
    fatal = row.get("fatal") is True
    rule = text(row, "ruleId") or (SYNTAX if fatal else "eslint")
    found = Finding(
        severity=of_eslint(whole(row, "severity"), fatal=fatal),
        category="lint",
        rule=rule,
        file=file,
        line=whole(row, "line"),
        issue=text(row, "message") or rule,
        guidance=f"Rewrite this line so that {rule} no longer applies, without disabling the rule.",
    )
    return shown(folder, found)
