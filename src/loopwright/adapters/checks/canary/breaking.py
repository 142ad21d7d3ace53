"""Files made unparsable on purpose, by language. Pure.

The whole text is replaced: what is left of a file could still be run by a language that reads line by line.
"""

from __future__ import annotations

from posixpath import basename, splitext

ON_PURPOSE = "broken on purpose"  # stands in whatever tells of such a text
_BRACKETS = f")]}} {ON_PURPOSE} {{[(\n".encode()
_BROKEN: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "python": (_BRACKETS, (".py", ".pyx", ".pyw")),
    "javascript": (
        _BRACKETS,
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".coffee"),
    ),
    "component": (
        b"<script>" + _BRACKETS.strip() + b"</script>\n<template><</template>\n",
        (".vue", ".svelte", ".astro"),
    ),
    "rust": (_BRACKETS, (".rs",)),
    "go": (_BRACKETS, (".go",)),
    "c": (_BRACKETS, (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".m", ".mm", ".cu")),
    "jvm": (_BRACKETS, (".java", ".kt", ".kts", ".scala", ".groovy", ".clj", ".cljs", ".cljc")),
    "dotnet": (_BRACKETS, (".cs", ".fs", ".vb")),
    # Without its tag a file of PHP is a text that prints itself.
    "php": (b"<?php " + _BRACKETS, (".php", ".phtml", ".inc")),
    "ruby": (_BRACKETS, (".rb", ".rake", ".ru")),
    "perl": (_BRACKETS, (".pl", ".pm")),
    "shell": (_BRACKETS, (".sh", ".bash", ".zsh", ".ksh", ".fish")),
    "lua": (_BRACKETS, (".lua",)),
    "elixir": (_BRACKETS, (".ex", ".exs", ".erl", ".hrl")),
    "haskell": (_BRACKETS, (".hs", ".lhs", ".ml", ".mli", ".elm")),
    "other": (_BRACKETS, (".swift", ".dart", ".zig", ".nim", ".d", ".cr", ".r", ".jl", ".v", ".sol", ".f90", ".pas")),
}
_LANGUAGES = {suffix: language for language, (_, suffixes) in _BROKEN.items() for suffix in suffixes}
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")  # nothing of them is there when the program runs


def language(path: str) -> str:
    """Which language's program the file is a part of; empty: none that we could break."""
    name = basename(path).lower()
    return "" if name.endswith(_DECLARATIONS) else _LANGUAGES.get(splitext(name)[1], "")


def unparsable(paths: tuple[str, ...]) -> dict[str, bytes]:
    """These files, broken; those of no language we know are left out."""
    return {path: _BROKEN[spoken][0] for path in paths if (spoken := language(path))}
