"""Making text harmless to look at: what an agent or a check printed never steers a terminal, a page or a reader.

Control characters, escape sequences, bidirectional overrides, zero-width and other invisible
characters come out as visible escapes (`\\x1b`, `\\u202e`). Line ends and tabs stay.
"""

from __future__ import annotations

import unicodedata

_KEPT = frozenset("\n\t")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks by category, yet drawn as nothing: Hangul fillers, Khmer inherent vowels, the braille blank,
# the grapheme joiner and the variation selectors.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    chr(code) for codes in (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in codes
)
_WARNING = "\u26a0\ufe0f"  # our own sign: only here does the selector stand for something that is seen


def visible(text: str) -> str:
    """The text with everything invisible written out. Plain text comes back as it is."""
    return "\n".join(_visible_line(line) for line in text.replace("\r\n", "\n").split("\n"))


def visible_bytes(data: bytes) -> str:
    """As `visible`, for raw output: bytes that are not UTF-8 appear as `\\xff`."""
    return visible(data.decode("utf-8", "backslashreplace"))


def is_harmless(char: str) -> bool:
    return char in _KEPT or (unicodedata.category(char) not in _INVISIBLE and char not in _BLANK)


def is_all_harmless(text: str) -> bool:
    """As `is_harmless` for every character, and quick: megabytes of findings are asked about."""
    line = text.replace("\n", "").replace("\t", "")
    return _is_plain(line) or all(map(is_harmless, line))


def _is_plain(line: str) -> bool:
    """Most text is. A line that is not may still be harmless: it has spaces other than ours."""
    return line.isprintable() and (line.isascii() or _BLANK.isdisjoint(line))


def _visible_line(line: str) -> str:
    if _is_plain(line):
        return line
    return _WARNING.join("".join(map(_shown, part)) for part in line.split(_WARNING))


def _shown(char: str) -> str:
    return char if is_harmless(char) else _written_out(char)


def _written_out(char: str) -> str:
    return f"\\x{ord(char):02x}" if char.isascii() else char.encode("ascii", "backslashreplace").decode()
