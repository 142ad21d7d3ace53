"""What a change adds to each file, line by line, for those who look for words in it."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.adapters.git.differences import ABSENT, Difference, differences
from loopwright.adapters.git.objects import FILES, Pair, blobs, new_lines_of
from loopwright.adapters.git.paths import portions
from loopwright.adapters.git.program import Git, readable
from loopwright.adapters.git.site import Ground
from loopwright.kernel.model import Commit
from loopwright.kernel.risks import AddedText


def added_texts(ground: Ground, old: Commit, new: Commit, limit: int) -> tuple[AddedText, ...]:
    """Of every file that `new` has otherwise, the lines that are new. Few processes however many files.

    Files are told apart by their objects, as in `new_lines`.
    """
    changed = [each for each in differences(ground, old, new) if each.new_mode != ABSENT]
    sizes = _sizes(ground.engine, changed)
    small = [each for each in changed if each.new_mode in FILES and sizes[each.new] <= limit]
    texts = _texts(ground.engine, small)
    # Where what was there before is no file, or so large that its lines are not compared, all lines are new.
    compared = [
        each
        for each in small
        if each.new in texts and each.new != each.old and each.old_mode in FILES and sizes[each.old] <= limit
    ]
    lines = new_lines_of(ground, old, new, [each.path for each in compared])
    known: dict[Pair, frozenset[int]] = {(each.old, each.new): frozenset() for each in compared} | lines
    return tuple(_added(each, texts, known) for each in changed)


def _added(change: Difference, texts: dict[str, tuple[str, ...]], known: dict[Pair, frozenset[int]]) -> AddedText:
    """A file whose mode alone changed has no new line."""
    if change.new_mode not in FILES or change.new not in texts:
        return AddedText(path=change.name, whole=False)
    numbered = tuple(enumerate(texts[change.new], start=1))
    if change.old_mode in FILES and change.old == change.new:
        return AddedText(path=change.name)
    new = known.get((change.old, change.new))
    return AddedText(path=change.name, lines=tuple(line for line in numbered if new is None or line[0] in new))


def _sizes(git: Git, changed: Iterable[Difference]) -> dict[str, int]:
    """Of every object that is a file, before and after: nothing large is ever read."""
    sides = ((side, mode) for d in changed for side, mode in ((d.old, d.old_mode), (d.new, d.new_mode)))
    names = tuple(dict.fromkeys(name for name, mode in sides if mode in FILES))
    if not names:
        return {}
    asked = "".join(f"{name}\n" for name in names).encode()
    rows = git.run_once(names, "cat-file", "--batch-check=%(objectsize)", stdin=asked).split()
    return {name: int(readable(size)) for name, size in zip(names, rows, strict=True)}


def _texts(git: Git, files: Iterable[Difference]) -> dict[str, tuple[str, ...]]:
    """The lines of those that are text, by their objects."""
    found: dict[str, tuple[str, ...]] = {}
    for names in portions(tuple(dict.fromkeys(each.new for each in files))):
        found |= {name: lines for name, data in blobs(git, tuple(names)).items() if (lines := _lines(data)) is not None}
    return found


def _lines(data: bytes) -> tuple[str, ...] | None:
    """As git counts them; None: no text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return tuple(text.removesuffix("\n").split("\n")) if text else ()
