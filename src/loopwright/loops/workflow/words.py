"""What the engine sees in a request without a model: its prose, its sentences, and what it forbids.

The words are English, for a heuristic has to know some; paths, names of code and numbers are seen in any language.
Every pattern is linear in the text, which may be a whole file that somebody pasted.
"""

from __future__ import annotations

import re

from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import ANSWERED

SENTENCE = 300  # characters of one that are kept
MOST_READ = 65_536  # characters that are looked at: twice what a brief has room for
_LIST_MARK = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]?\][ \t]+)?")
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]")
_SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+")
# Where an order begins: elsewhere "they don't see the button" tells of a fault and forbids nothing.
_ORDER = r"(?:^|[.!?,;:(\n\u2013\u2014-][ \t]{0,3}|\b(?:and|but|please|also|then|you)\s+)"
FORBIDS = re.compile(
    r"\b(?:must|may|shall|should)(?:\s+not|n['\u2019]t|\s+never)\b"
    rf"|{_ORDER}(?:do\s+not|don['\u2019]t|never|avoid)\b"
    r"|\bwithout\s+(?:[a-z]+ing|any|new|changes?|additional|extra|external)\b"
    r"|\bno\s+(?:new|additional|extra|other|external|breaking)\s+[a-z]+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\b(?:without|no)\s[^.,;!?]*", re.IGNORECASE)
# As one answer for several questions is given: "1: …; 2: …".
_NUMBERED = re.compile(r"(?:^|[;,\n]|(?<=[.!?])[ \t])[ \t]{0,3}\d{1,2}:(?!\d)")


def answered(answer: str) -> str:
    """What a person said, without the question that may stand before it: its words are not theirs. What they numbered
    is a paragraph each."""
    question, mark, said = answer.partition(ANSWERED)
    return _NUMBERED.sub("\n\n", said) if mark else question


def prose(text: str) -> str:
    """The text without its code blocks: what stands in them is an example, and asks for nothing."""
    kept: list[str] = []
    fence = ""
    for line in text.splitlines():
        start = line.lstrip()
        if fence:
            fence = "" if start.rstrip() == fence else fence
        elif start.startswith(("```", "~~~")):
            fence = start[0] * (len(start) - len(start.lstrip(start[0])))
        else:
            kept.append(line)
    return "\n".join(kept)


def sentences(text: str) -> tuple[str, ...]:
    """Of the prose: every bullet by itself, lines of one paragraph together, headings left out."""
    found: list[str] = []
    for block in _blocks(prose(text)):
        found += (one_line(part.rstrip("; "), SENTENCE) for part in _SENTENCE_END.split(block) if part.strip("; "))
    return tuple(found)


def _blocks(text: str) -> list[str]:
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        mark = _LIST_MARK.match(line)
        if mark:
            blocks.append([line[mark.end() :]])
        elif not line.strip() or _HEADING.match(line):
            blocks.append([])
        else:
            blocks[-1].append(line.strip())
    return [" ".join(block) for block in blocks if block]


def bullets(text: str) -> tuple[str, ...]:
    lines = prose(text).splitlines()
    marked = [line[mark.end() :] for line in lines if (mark := _LIST_MARK.match(line))]
    return tuple(one_line(line, SENTENCE) for line in marked if line.strip())


def title_of(request: str) -> str:
    """Its first line, without the marks of a heading or a list; empty where there is nothing but code."""
    firsts = (line.strip("#>*- \t") for line in prose(request).splitlines())
    return next((one_line(line, SENTENCE) for line in firsts if line), "")


def forbidden(sentence: str) -> str:
    """What the sentence forbids: the clause where it also says what to do, else all of it; empty where nothing."""
    found = FORBIDS.search(sentence)
    if not found:
        return ""
    clause = _CLAUSE.match(sentence, found.start())
    return (clause[0] if clause else sentence).strip()
