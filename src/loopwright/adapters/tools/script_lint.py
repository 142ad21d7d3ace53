"""eslint and tsc: JavaScript and TypeScript, where the project has these tools."""

from __future__ import annotations

import re
from pathlib import Path

from loopwright.adapters.tools.artifacts import line_of, within
from loopwright.adapters.tools.opinions import Garbled, Opinion, crashed, parsed, rows, text, whole
from loopwright.adapters.tools.severities import HIGH, SYNTAX, of_eslint
from loopwright.adapters.tools.workshop import Workshop, argument
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible_bytes

_TSC = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d{1,9}),\d{1,9}\): error (?P<code>TS\d{1,6}): (?P<issue>.*)$", re.MULTILINE
)


async def eslint(shop: Workshop, files: tuple[str, ...]) -> Opinion:
    program = shop.find("eslint")
    if program is None:
        return Opinion(tool="eslint", missing="eslint")
    ran = await shop.run(program, "--format=json", "--", *map(argument, files))
    if ran.code not in (0, 1) or not ran.whole:
        return crashed("eslint", files, ran)
    try:
        found = read_eslint(ran.stdout, shop.folder)
    except Garbled as error:
        return crashed("eslint", files, ran, str(error))
    return Opinion(tool="eslint", files=files, findings=tuple(each for each in found if each.file in files))


def read_eslint(content: bytes, folder: Path) -> tuple[Finding, ...]:
    return tuple(
        _message(message, within(folder, text(entry, "filePath")), folder)
        for entry in rows(parsed(content), "files")
        for message in rows(entry.get("messages"), "messages")
    )


def _message(row: dict[str, object], file: str, folder: Path) -> Finding:
    fatal = row.get("fatal") is True
    rule, line = text(row, "ruleId") or (SYNTAX if fatal else "eslint"), whole(row, "line")
    issue = text(row, "message") or rule
    return Finding(
        severity=of_eslint(whole(row, "severity"), fatal=fatal),
        category="lint",
        rule=rule,
        file=file,
        line=line,
        issue=issue,
        evidence=line_of(folder, file, line) or issue,
        guidance=f"Rewrite this line so that {rule} no longer applies, without disabling the rule.",
    )


async def tsc(shop: Workshop, files: tuple[str, ...]) -> Opinion:
    """The whole project by its own tsconfig.json: a file alone would be judged by other options than the project's."""
    program = shop.find("tsc")
    if program is None:
        return Opinion(tool="tsc", missing="tsc")
    if not (shop.folder / "tsconfig.json").is_file():
        return Opinion(tool="tsc", missing="tsconfig.json for tsc")
    ran = await shop.run(program, "--noEmit", "--pretty", "false")
    found = read_tsc(ran.stdout, shop.folder)
    if ran.code is None or (ran.code != 0 and not found):
        return crashed("tsc", files, ran)
    return Opinion(tool="tsc", files=files, findings=tuple(each for each in found if each.file in files))


def read_tsc(content: bytes, folder: Path) -> tuple[Finding, ...]:
    return tuple(_error(match, folder) for match in _TSC.finditer(visible_bytes(content)))


def _error(match: re.Match[str], folder: Path) -> Finding:
    file, line = within(folder, match["file"]), int(match["line"])
    return Finding(
        severity=HIGH,
        category="types",
        rule=match["code"],
        file=file,
        line=line,
        issue=match["issue"],
        evidence=line_of(folder, file, line) or match["issue"],
        guidance=f"Make the types agree as the message says ({match['code']}), without silencing it.",
    )
