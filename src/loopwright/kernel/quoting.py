"""How text that somebody else wrote is put on our pages: visible, bounded, and unable to end its own quotes."""

from __future__ import annotations

import re

from loopwright.kernel.findings import cut
from loopwright.kernel.visible import visible

LINE = 300
_NOTE_ROOM = 64
_FENCE = re.compile(" *`{3,}")
# What Markdown would act on in the middle of a line, and no more: agents read the page as it is written, and code is
# full of brackets and underscores.
_MARKUP = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?=\S)|(?<=\S)\*|\](?=[(\[])|<(?=[A-Za-z/!?])"
    r"|(?<![^\W_])_|_(?![^\W_])|~(?=~)|&(?=#?\w+;)"
)


def one_line(text: str, limit: int = LINE) -> str:
    """The text on one line, with everything invisible written out, at most `limit` characters and a note."""
    return cut(" ".join(visible(text).split()), limit)


def inline(text: str, limit: int = LINE) -> str:
    """As `one_line`, for pages a person sees rendered: Markdown in it is shown, not obeyed."""
    return _MARKUP.sub(r"\\\g<0>", one_line(text, limit))


def fenced(text: str, language: str = "text") -> str:
    """A code block that nothing in `text` can close."""
    body = visible(text).strip("\n")
    longest = max((len(run) for run in re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def quoted(text: str) -> str:
    """A block quote: every line carries the mark, so no line can leave it."""
    return "\n".join(f"> {line}".rstrip() for line in visible(text).strip("\n").split("\n"))


def size(text: str) -> int:
    """In bytes, as the reader gets them."""
    return len(text.encode())


def at_most(text: str, limit: int) -> str:
    """Visible, and at most `limit` bytes of that, the note about what was left out included."""
    shown = visible(text)
    data = shown.encode()
    if len(data) <= limit:
        return shown
    kept = data[: max(0, limit - _NOTE_ROOM)].decode("utf-8", "ignore")
    return f"{kept} … ({len(data) - size(kept)} more bytes left out)"


def with_closed_fences(text: str, limit: int) -> str:
    """As `at_most`, for text with code blocks of ours: one that the cut leaves open is closed, within the limit.

    Else all that follows on the page would stand inside of it, and what stood inside of it outside.
    """
    shown = at_most(text, limit)
    if shown == visible(text) or not (fence := _left_open(shown)):
        return shown
    shown = at_most(text, limit - size(fence) - 1)
    return f"{shown}\n{_left_open(shown) or fence}"


def _left_open(text: str) -> str:
    """What would close the code block that is open at the end; empty where none is."""
    opened = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not opened and fence:
            opened = fence[0]
        elif opened and line == opened:
            opened = ""
    return opened
