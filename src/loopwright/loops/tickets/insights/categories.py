"""Which kind a requirement, a gap or a piece of guidance is of, told by its words: by tables, so that anyone can check.

Whoever writes a finding may name its category; only what has none is put into one here.
"""

from __future__ import annotations

import re

from loopwright.kernel.quoting import one_line

OTHER = "other"
NO_GUIDANCE, EXAMPLE, PLACE, FAILING, GENERAL = "none", "example", "place", "failing checks", "general"
PERSON = "a person's examples"
_LONGEST = 40

# The first row that fits; each word is looked for at the beginning of a word.
_BY_WORDS = (
    ("security", "secur auth passw secret token permission inject encrypt sanitiz csrf xss"),
    ("test coverage", "coverage covered uncovered"),
    ("tests", "test"),
    ("types", "type typing annotation"),
    ("lint", "lint format style"),
    ("build", "build compil"),
    ("error handling", "error exception fail timeout time-out retry retries crash invalid"),
    ("performance", "perf fast slow latency memory throughput seconds millisecond"),
    ("documentation", "doc readme comment changelog guide explain"),
    ("architecture", "architect layer coupling depend module structure"),
    ("data", "data schema migrat store storage persist sql"),
    ("interface", "api endpoint interface cli option screen page button form display shown message"),
)
_PATTERNS = tuple((name, re.compile(rf"\b(?:{'|'.join(words.split())})", re.IGNORECASE)) for name, words in _BY_WORDS)
_EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g\.|such as|like this|as in)\b|```", re.IGNORECASE)
_FAILING = re.compile(r"^make these pass\b", re.IGNORECASE)
_PLACE = re.compile(r"[\w./-]+\.\w{1,5}:\d+|\b\w+\(\)|\b[\w-]+/[\w./-]+\.\w{1,5}\b|`[^`]+`")


def category(said: str, *texts: str) -> str:
    """What the finding itself says it is, else the first category whose words are in one of the texts."""
    named = one_line(said)[:_LONGEST].casefold().replace("_", " ").strip()
    return named or next((found for found in map(_by_words, texts) if found != OTHER), OTHER)


def _by_words(text: str) -> str:
    return next((name for name, pattern in _PATTERNS if pattern.search(text)), OTHER)


def guidance_form(text: str) -> str:
    """What sort of advice it is: with an example, with a place in the code, the names of what fails, or neither."""
    if not text.strip():
        return NO_GUIDANCE
    if _FAILING.search(text):
        return FAILING
    if _EXAMPLE.search(text):
        return EXAMPLE
    return PLACE if _PLACE.search(text) else GENERAL
