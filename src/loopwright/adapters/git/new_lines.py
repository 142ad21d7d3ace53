"""Which lines of a file one tree has and another has not."""

from __future__ import annotations

import re
from collections import defaultdict

from loopwright.adapters.git.differences import differences
from loopwright.adapters.git.program import readable
from loopwright.adapters.git.site import Ground

_AT_ONCE = 500  # paths on one command line
# `--text`: no attribute and no stray byte makes a file one that cannot be compared.
_OPTIONS = ("-p", "-r", "--unified=0", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--text")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")

Pair = tuple[str, str]  # a file's object before and after


def new_lines(ground: Ground, old: str, new: str, paths: tuple[str, ...]) -> dict[str, frozenset[int]]:
    """Lines that were added or changed, by path; a path without any is left out.

    Files are told apart by their objects, which cannot be forged, and not by their names in the patch.
    """
    wanted = frozenset(paths)
    changed = [each for each in differences(ground, old, new) if each.path in wanted]
    by_pair: dict[Pair, frozenset[int]] = {}
    for start in range(0, len(changed), _AT_ONCE):
        names = [each.path for each in changed[start : start + _AT_ONCE]]
        by_pair |= _lines(ground.engine.run("diff-tree", *_OPTIONS, old, new, "--", *names))
    # What was a link before is shown as a file that is new.
    found = {d.path: by_pair.get((d.old, d.new)) or by_pair.get(("0" * len(d.new), d.new)) for d in changed}
    return {path: lines for path, lines in found.items() if lines}


def _lines(patch: bytes) -> dict[Pair, frozenset[int]]:
    """Hunks are counted out, or a line of a file could pass for a line of the patch."""
    found: defaultdict[Pair, set[int]] = defaultdict(set)
    pair, left = ("", ""), 0
    for line in patch.split(b"\n"):
        if left:
            left -= not line.startswith(b"\\")  # "\ No newline at end of file"
        elif index := _INDEX.match(line):
            pair = (readable(index[1]), readable(index[2]))
        elif hunk := _HUNK.match(line):
            gone, first, came = (int(text) if text is not None else 1 for text in hunk.groups())
            left = gone + came
            found[pair].update(range(first, first + came))
    return {pair: frozenset(lines) for pair, lines in found.items()}
