"""How bad each kind of finding is. The table on docs/guide/tools.md says the same."""

from __future__ import annotations

import re
from types import MappingProxyType

from loopwright.kernel.model import Severity

CRITICAL, HIGH, MEDIUM, LOW = Severity
SYNTAX, UNRESOLVED, NOT_INSTALLED = "syntax-error", "unresolved-import", "import-not-installed"

# Stories and designs: the severities their checklist fixes.
CHECKLIST = MappingProxyType(
    {
        **dict.fromkeys(("S2", "S3", "S4", "S5", "S8a", "D1", "D2", "D3", "placeholder", "yaml"), CRITICAL),
        **dict.fromkeys(("S1", "S6", "S7", "S8b", "S9", "D4"), HIGH),
        "S10": MEDIUM,
    }
)

_RUFF = MappingProxyType({"F821": CRITICAL, "E999": CRITICAL, "invalid-syntax": CRITICAL, SYNTAX: CRITICAL})
_RUFF_FAMILIES = MappingProxyType({"F": MEDIUM, "B": MEDIUM, "PLE": MEDIUM})
_RUFF_RULE = re.compile(r"([A-Z]{1,8})[0-9]{3,4}")
_MYPY = MappingProxyType(
    {
        "syntax": CRITICAL,
        "import-not-found": CRITICAL,
        "name-defined": CRITICAL,
        NOT_INSTALLED: LOW,
        "import-untyped": LOW,
    }
)
_BANDIT = MappingProxyType({"HIGH": CRITICAL, "MEDIUM": HIGH, "LOW": MEDIUM})
_ESLINT = MappingProxyType({2: MEDIUM, 1: LOW})

# The same fault has one name, whichever tool saw it.
_ONE_NAME = MappingProxyType(
    {"invalid-syntax": SYNTAX, "E999": SYNTAX, "syntax": SYNTAX, "name-defined": "F821", "import-not-found": UNRESOLVED}
)


def is_ruff_rule(rule: str) -> bool:
    return bool(_RUFF_RULE.fullmatch(rule))


def of_ruff(rule: str) -> Severity:
    family = _RUFF_RULE.fullmatch(rule)
    return _RUFF.get(rule) or _RUFF_FAMILIES.get(family.group(1) if family else "", LOW)


def of_mypy(code: str) -> Severity:
    return _MYPY.get(code, HIGH)


def of_bandit(level: str) -> Severity:
    return _BANDIT.get(level, MEDIUM)


def of_eslint(level: int, *, fatal: bool) -> Severity:
    return CRITICAL if fatal else _ESLINT.get(level, LOW)


def of_check(check: str, rule: str, level: Severity) -> Severity:
    """Of a SARIF result: linters call everything an error, so a rule we know counts for more than its level."""
    match check:
        case "lint" if is_ruff_rule(rule) or rule in _RUFF:
            return of_ruff(rule)
        case "security":
            return level.raised()
        case _:
            return level


def one_name(rule: str) -> str:
    return _ONE_NAME.get(rule, rule)
