"""Looking into commits without checking anything out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loopwright.adapters.git.differences import ABSENT, Difference, differences
from loopwright.adapters.git.paths import TOP, inner, portions
from loopwright.adapters.git.program import Git, path_of, printable, readable, uninterrupted
from loopwright.adapters.git.site import Ground, Site
from loopwright.kernel.model import Change, Commit, Content, Tree
from loopwright.kernel.risks import AddedText, is_read_as_written

# `--text`: no attribute and no stray byte makes a file one that cannot be compared.
_OPTIONS = ("-p", "-r", "--unified=0", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--text")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_LINK, _LONGEST = b"120000 ", 4096  # bytes of what a link may say
_FILES = ("100644", "100755")  # modes
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")

Pair = tuple[str, str]  # a file's object before and after


class GitObjects:
    """Reads what changed and what files held. Starts no checkout."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        """Every path `commit` changed against `base`. A rename is one removed and one added."""
        found = await uninterrupted(lambda: differences(self._site.ground(), base, commit))
        return tuple(difference.change for difference in found)

    async def tree(self, commit: Commit) -> Tree:
        return await uninterrupted(lambda: self._site.ground().tree(commit))

    async def paths(self, commit: Commit | Tree) -> tuple[str, ...]:
        """Every file of the tree."""
        return await uninterrupted(lambda: paths_of(self._site.ground().engine, commit))

    async def new_lines(self, old: Tree, new: Tree, paths: tuple[str, ...]) -> dict[str, frozenset[int]]:
        """Lines of these files that `new` adds or changes against `old`; a file without any is left out."""
        return await uninterrupted(lambda: new_lines(self._site.ground(), old, new, paths))

    async def texts(self, commit: Commit | Tree, paths: tuple[str, ...], *, limit: int) -> dict[str, str]:
        """The text of these files. One that is not there, or larger than `limit` bytes, is left out."""
        if not paths:
            return {}
        return await uninterrupted(lambda: texts_of(self._site.ground().engine, commit, paths, limit))

    async def links(self, commit: Commit | Tree) -> dict[str, str]:
        """Every symbolic link of the tree, with what it says."""
        return await uninterrupted(lambda: links_of(self._site.ground().engine, commit))


def paths_of(git: Git, commit: str) -> tuple[str, ...]:
    names = git.run_once((commit,), "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).split(b"\0")
    return tuple(readable(name) for name in names if name)


def links_of(git: Git, commit: Commit | Tree) -> dict[str, str]:
    rows = git.run_once((commit,), "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
    paths = tuple(readable(row.split(b"\t", 1)[1]) for row in rows if row.startswith(_LINK))
    return texts_of(git, commit, paths, _LONGEST) if paths else {}


def texts_of(git: Git, commit: Commit | Tree, paths: tuple[str, ...], limit: int) -> dict[str, str]:
    """Few processes however many paths: the sizes first, so that nothing large is ever read."""
    held = _held(git, commit, paths)
    found = {path: each.object for path, each in held.items() if each.size is not None and each.size <= limit}
    content = _blobs(git, tuple(found.values()))
    return {path: content[name].decode("utf-8", "replace") for path, name in found.items()}


def beginnings(git: Git, commit: Commit | Tree, paths: tuple[str, ...], limit: int) -> tuple[str | None, ...]:
    """At most `limit` bytes of the file at each path; a link is no file."""
    files = {path: each for path, each in _held(git, commit, paths).items() if each.is_file}
    known = _blobs(git, tuple(each.object for each in files.values() if (each.size or 0) <= limit))
    for each in files.values():
        if each.object not in known:
            known[each.object] = git.beginning("cat-file", "blob", each.object, limit=limit)
    return tuple(known[files[path].object].decode("utf-8", "replace") if path in files else None for path in paths)


def _blobs(git: Git, names: tuple[str, ...]) -> dict[str, bytes]:
    """What the objects of these names hold."""
    if not names:
        return {}
    asked = "".join(f"{name}\n" for name in names).encode()
    return dict(zip(names, _contents(git.run_once(names, "cat-file", "--batch", stdin=asked)), strict=True))


def _contents(output: bytes) -> Iterator[bytes]:
    """`<name> blob <size>`, the bytes, an end of line; again and again."""
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        size = int(output[start:end].split()[2])
        yield output[end + 1 : end + 1 + size]
        start = end + size + 2


def contents(git: Git, tree: Commit | Tree, paths: tuple[str, ...]) -> tuple[Content, ...]:
    """The object at each path."""
    held = _held(git, tree, paths)
    return tuple(Content(path=path, object=held[path].object if path in held else "") for path in paths)


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """What a tree holds at a path."""

    object: str
    size: int | None = None  # None: no file
    mode: str = ""

    @property
    def is_file(self) -> bool:
        return self.mode in _FILES and self.size is not None


def _held(git: Git, tree: Commit | Tree, paths: tuple[str, ...]) -> dict[str, ObjectEntry]:
    """What lies at each path. `ls-tree` and not `<commit>:<path>`: git finds other meanings in some names."""
    asked = sorted({entry for entry in map(inner, paths) if entry is not None and entry != TOP})
    held = {TOP: ObjectEntry(str(tree))}
    for some in portions(asked):
        held |= entries_at(git, tree, some)
    if any("\\" in path and path not in held for path in asked):
        held = _by_name(git, tree) | held
    return {path: held[entry] for path in paths if (entry := inner(path) or "") in held}


def _by_name(git: Git, tree: str) -> dict[str, ObjectEntry]:
    """All paths that are not UTF-8, as the log has them."""
    everything = _listed(git, tree, "-r", tree)
    return {printable(path): entry for path, entry in everything.items() if printable(path) != path}


def entries_at(git: Git, tree: str, paths: Sequence[str]) -> dict[str, ObjectEntry]:
    """`-t`, or a folder would not be shown where a path below it is asked for as well."""
    return _listed(git, tree, tree, "--", *paths)


def _listed(git: Git, tree: str, *argv: str) -> dict[str, ObjectEntry]:
    rows = git.run_once((tree,), "ls-tree", "-t", "-l", "-z", "--full-tree", *argv).split(b"\0")
    return dict(_entry(*row.split(b"\t", 1)) for row in rows if row)


def _entry(meta: bytes, path: bytes) -> tuple[str, ObjectEntry]:
    mode, kind, name, size = meta.split()
    return path_of(path), ObjectEntry(
        object=readable(name), size=int(size) if kind == b"blob" and size.isdigit() else None, mode=readable(mode)
    )


def new_lines(ground: Ground, old: str, new: str, paths: tuple[str, ...]) -> dict[str, frozenset[int]]:
    """Lines that were added or changed, by path; a path without any is left out.

    Files are told apart by their objects, which cannot be forged, and not by their names in the patch.
    """
    wanted = frozenset(paths)
    changed = [each for each in differences(ground, old, new) if {each.path, each.name} & wanted]
    by_pair = _new_lines_of(ground, old, new, [each.path for each in changed])
    # What was a link before is shown as a file that is new.
    found = {
        d.path if d.path in wanted else d.name: by_pair.get((d.old, d.new)) or by_pair.get(("0" * len(d.new), d.new))
        for d in changed
    }
    return {path: lines for path, lines in found.items() if lines}


def _new_lines_of(ground: Ground, old: str, new: str, paths: Sequence[str]) -> dict[Pair, frozenset[int]]:
    """Those of each of these files, by its objects."""
    found: dict[Pair, frozenset[int]] = {}
    for names in portions(paths):
        found |= _lines(ground.engine.run("diff-tree", *_OPTIONS, old, new, "--", *names))
    return found


def added_texts(ground: Ground, old: Commit, new: Commit, limit: int) -> tuple[AddedText, ...]:
    """Of every file that `new` has otherwise, the lines that are new. Few processes however many files.

    Files are told apart by their objects, as in `new_lines`.
    """
    changed = [each for each in differences(ground, old, new) if each.new_mode != ABSENT]
    sizes = _sizes(ground.engine, changed)
    small = [each for each in changed if each.new_mode in _FILES and sizes[each.new] <= limit]
    texts = _texts(ground.engine, small)
    # Where what was there before is no file, or so large that its lines are not compared, all lines are new.
    compared = [
        each
        for each in small
        if each.new in texts and each.new != each.old and each.old_mode in _FILES and sizes[each.old] <= limit
    ]
    lines = _new_lines_of(ground, old, new, [each.path for each in compared])
    known: dict[Pair, frozenset[int]] = {(each.old, each.new): frozenset() for each in compared} | lines
    return tuple(_added(each, texts, known) for each in changed)


def _added(change: Difference, texts: dict[str, tuple[str, ...]], known: dict[Pair, frozenset[int]]) -> AddedText:
    """A file whose mode alone changed has no new line."""
    if change.new_mode not in _FILES or change.new not in texts:
        return AddedText(path=change.name, whole=False)
    numbered = tuple(enumerate(texts[change.new], start=1))
    if change.old_mode in _FILES and change.old == change.new:
        return AddedText(path=change.name)
    new = known.get((change.old, change.new))
    told = (line for line in numbered if new is None or line[0] in new or not is_read_as_written([line]))
    return AddedText(path=change.name, lines=tuple(told))


def _sizes(git: Git, changed: Iterable[Difference]) -> dict[str, int]:
    """Of every object that is a file, before and after: nothing large is ever read."""
    sides = ((side, mode) for d in changed for side, mode in ((d.old, d.old_mode), (d.new, d.new_mode)))
    names = tuple(dict.fromkeys(name for name, mode in sides if mode in _FILES))
    if not names:
        return {}
    asked = "".join(f"{name}\n" for name in names).encode()
    rows = git.run_once(names, "cat-file", "--batch-check=%(objectsize)", stdin=asked).split()
    return {name: int(readable(size)) for name, size in zip(names, rows, strict=True)}


def _texts(git: Git, files: Iterable[Difference]) -> dict[str, tuple[str, ...]]:
    """The lines of those that are text, by their objects."""
    found: dict[str, tuple[str, ...]] = {}
    for names in portions(tuple(dict.fromkeys(each.new for each in files))):
        found |= {
            name: lines for name, data in _blobs(git, tuple(names)).items() if (lines := _text_lines(data)) is not None
        }
    return found


def _text_lines(data: bytes) -> tuple[str, ...] | None:
    """As git counts them; None: no text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return tuple(text.removesuffix("\n").split("\n")) if text else ()


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
