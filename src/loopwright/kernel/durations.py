"""Times as people write them: `30m`, `90s`, `1h30m`; a whole number is seconds."""

from __future__ import annotations

import re

DURATION_PATTERN = r"(?=[0-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?"
LONGEST = 30 * 86400.0

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([dhms])")
_WHOLE = re.compile(DURATION_PATTERN)
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def parse_duration(value: object) -> float | None:
    """Seconds, more than 0 and at most 30 days; None when it is anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _within(value)
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        return None
    return _within(sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(value)))


def _within(seconds: float) -> float | None:
    return float(seconds) if 0 < seconds <= LONGEST else None


def duration_text(seconds: float) -> str:
    """The shortest way to write it: 1800 is `30m`."""
    if seconds != int(seconds):
        return f"{seconds:.6f}".rstrip("0") + "s"
    left, text = int(seconds), ""
    for unit, size in _SECONDS.items():
        count, left = divmod(left, int(size))
        text += f"{count}{unit}" if count else ""
    return text or "0s"
