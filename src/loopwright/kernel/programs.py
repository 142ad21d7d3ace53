"""Which files of a tree a command starts, by its words alone."""

from __future__ import annotations

import posixpath
import re

_STARTERS = re.compile(r"(?:python|pypy|node|deno|bun|ruby|perl|php|lua|sh|bash|dash|zsh|ksh|fish|Rscript|tclsh)[\d.]*")


def program_files(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Those it names: itself, or the script its interpreter is given, with the packages that this one lies in."""
    words = list(argv)
    if words and posixpath.basename(words[0]) == "env":
        words = [word for word in words[1:] if "=" not in word]
    if not words:
        return ()
    found, given = [words[0]], words[1:]
    if _STARTERS.fullmatch(posixpath.basename(words[0])):
        if "-m" in given[:-1]:
            found += _of_module(given[given.index("-m") + 1])
        found += [word for word in given if not word.startswith("-")][:1]
        found += [part.strip("'\"();&|") for word in given if "-c" in given for part in word.split()]
    return tuple(dict.fromkeys(posixpath.normpath(word) for word in found if word))


def _of_module(name: str) -> list[str]:
    """What stands above it is run before it."""
    parts = name.split(".")
    above = ["/".join((*parts[:count], "__init__.py")) for count in range(1, len(parts) + 1)]
    path = "/".join(parts)
    return [f"{top}{each}" for top in ("", "src/") for each in (f"{path}.py", f"{path}/__main__.py", *above)]
