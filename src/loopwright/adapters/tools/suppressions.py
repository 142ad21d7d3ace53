"""Suppressions that a change adds: a rule silenced is no fault mended."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.tools.artifacts import language, text_of
from loopwright.adapters.tools.severities import HIGH
from loopwright.kernel.model import Finding

_SILENCERS = re.compile(
    r"#\s*(?:ruff:\s*|flake8[:=]\s*)?noqa\b|#\s*ruff:\s*(?:disable|ignore)|#\s*type:\s*ignore"
    r"|#\s*mypy:.*\b(?:ignore|disable|allow|no|follow)[-_]|#\s*pyre-(?:ignore|fixme)|#\s*no(?:sec|semgrep)\b"
    r"|#\s*pragma:\s*no\s*(?:cover|branch|mutate)|#\s*py(?:right|lint|type):\s*(?:ignore|disable|skip-file|basic)"
    r"|#\s*pyright:.*=\s*(?:false|none|off)\b|#\s*(?:rubocop|shellcheck)[: ]\s*disable"
    r"|(?://|/\*)\s*(?:(?:eslint|tslint:|oxlint|stylelint)-?disable|eslint\s+[\w@/-]+\s*:\s*(?:0|[\"']?off))"
    r"|(?://|/\*)\s*@ts-(?:ignore|nocheck|expect-error)|(?://|/\*)\s*(?:biome|deno-lint)-ignore"
    r"|/\*\s*(?:istanbul|c8|v8)\s+ignore|//\s*(?:nolint\b|lint:ignore\b)",
    re.IGNORECASE,
)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@")
_PROSE = ("markdown", "yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Added:
    file: str
    line: int
    text: str


def added_suppressions(diff: str, folder: Path) -> tuple[Finding, ...]:
    """`diff` is a unified diff; a line that only moved is not new."""
    gone = Counter(
        line[1:].strip() for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")
    )
    found = []
    for added in _added(diff):
        if gone[added.text]:
            gone[added.text] -= 1
        elif _silences(added, folder):
            found.append(_finding(added))
    return tuple(found)


def _added(diff: str) -> Iterator[_Added]:
    file, number = "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = _named(line[4:])
        elif hunk := _HUNK.match(line):
            number = int(hunk[1])
        elif line.startswith("+"):
            yield _Added(file=file, line=number, text=line[1:].strip())
            number += 1
        elif line.startswith(" "):
            number += 1


def _named(text: str) -> str:
    """A path as git writes it in a diff: `b/` before it, in quotes when it has odd characters."""
    return text.split("\t", maxsplit=1)[0].strip().removeprefix('"').removesuffix('"').removeprefix("b/")


def _silences(added: _Added, folder: Path) -> bool:
    if not _SILENCERS.search(added.text) or language(added.file) in _PROSE:
        return False
    comments = _comments(text_of(folder, added.file)) if language(added.file) == "python" else None
    if comments is None or added.line not in comments:
        return comments is None
    return bool(_SILENCERS.search(comments[added.line]))


def _comments(source: str) -> dict[int, str] | None:
    """The comment of each line; None when that cannot be told. A string that speaks of `noqa` is none."""
    if not source:
        return None
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def _finding(added: _Added) -> Finding:
    return Finding(
        severity=HIGH,
        category="suppression",
        rule="suppression",
        file=added.file,
        line=added.line,
        issue="A suppression was added instead of a fix",
        evidence=added.text,
        guidance="Remove the suppression and mend what the tool complains of.",
    )
