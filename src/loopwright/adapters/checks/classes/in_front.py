"""New files that are found in front of one that stays: what is tested would not be what others load."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.kernel.model import Change, Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
# As bundlers and runners try them where an import names no suffix: whoever comes first in one of them is found there.
_ORDERS = (
    (".mjs", ".js", ".mts", ".ts", ".jsx", ".tsx", ".json"),
    (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json"),
)
_SCRIPTS = frozenset(suffix for order in _ORDERS for suffix in order)
_TYPED = (".ts", ".tsx", ".mts", ".cts")  # written `calc.js` in imports, whose file need not be there
_EXECUTABLE = "100755"


@dataclass(frozen=True, slots=True, kw_only=True)
class InFront:
    """`stays` are files of the base that the candidate has too."""

    stays: frozenset[str]
    imports: str = field(default="", repr=False)  # code that may name them
    programs: frozenset[str] = frozenset()  # new ones, for a shell to run

    def hidden_by(self, path: str) -> str:
        """The file that a new one would be found in front of; empty when there is none."""
        held = self.completed(path)
        is_doubtful = path in self.programs or held.endswith(".json")
        if held and (not is_doubtful or self._is_said(path)):
            return held
        module, slash, name = path.rpartition("/")
        if slash and name == "__init__.py":
            return f"{module}.py" if f"{module}.py" in self.stays else ""
        return next((held for held in self.candidates(path) if self._is_asked_for(path, held)), "")

    def completed(self, path: str) -> str:
        """The file that has this very name and a suffix: a name that is there as it is written is never completed."""
        return next((f"{path}{end}" for end in sorted(_SCRIPTS) if f"{path}{end}" in self.stays), "")

    def _is_said(self, path: str) -> bool:
        """Whether anybody ends a word with its name: a module is put together in many ways."""
        return re.search(rf"""(?<![\w.-]){re.escape(posixpath.basename(path))}['"`]""", self.imports) is not None

    def candidates(self, path: str) -> Iterator[str]:
        """Files with the same name but for a suffix that is tried later, or the whole folder of that name."""
        bare, suffix = posixpath.splitext(path)
        if suffix not in _SCRIPTS:
            return
        for other in sorted(_SCRIPTS):
            later = any(suffix in o and other in o and o.index(suffix) < o.index(other) for o in _ORDERS)
            if later and f"{bare}{other}" in self.stays:
                yield f"{bare}{other}"
            if f"{bare}/index{other}" in self.stays:
                yield f"{bare}/index{other}"

    def _is_asked_for(self, path: str, held: str) -> bool:
        """Whether anybody names it so that the suffix decides; who writes the suffix gets what they wrote."""
        bare, suffix = posixpath.splitext(path)
        folder, name = posixpath.split(bare)
        last = name if name != "index" else posixpath.basename(folder) or name
        written = rf"(?:{re.escape(suffix)})?" if held.endswith(_TYPED) and suffix not in _TYPED else ""
        module = rf"(?:{re.escape(last)}|{re.escape(name)}){written}/?"
        wanted = rf"""(?:from|import|require|mock)\b[\s(]*['"`](?:[^'"`\n]*/)?{module}['"`]"""
        return re.search(wanted, self.imports) is not None


async def hidden(source: TreeReader, base: Commit, changes: tuple[Change, ...]) -> Mapping[str, str]:
    """New files with what they would hide. Code is read only where one could."""
    added = [change.path for change in changes if change.how == "added"]
    if not added:
        return {}
    tracked = await source.paths(base)
    known = InFront(
        stays=frozenset(tracked).difference(c.path for c in changes if c.how == "removed"),
        programs=frozenset(c.path for c in changes if c.mode == _EXECUTABLE),
    )
    if any(next(known.candidates(path), "") or known.completed(path) for path in added):
        paths = tuple(path for path in tracked if _may_name(path))[:_MOST]
        texts = await source.texts(base, paths, limit=_LARGEST)
        known = replace(known, imports="\n".join(texts.values()))
    return {path: held for path in added if (held := known.hidden_by(path))}


def _may_name(path: str) -> bool:
    """A manifest names what is loaded for the whole package."""
    suffix = posixpath.splitext(path)[1]
    return suffix in _SCRIPTS and (suffix != ".json" or posixpath.basename(path) == "package.json")
