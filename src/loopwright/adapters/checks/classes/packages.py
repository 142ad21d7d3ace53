"""What a manager of packages is asked to run, and in which packages of the repository. Pure."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.classes.command_lines import Command, joined
from loopwright.kernel.gates import matches

MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun"})
ORCHESTRATORS = frozenset({"turbo", "nx", "lerna", "wsrun", "ultra"})  # they run a script wherever there is one
MANIFEST = "package.json"
_INTO = ("--prefix", "-C", "--cwd", "--dir")
_CHOOSING = ("-w", "--workspace", "--filter", "-F")
_EVERY = ("--workspaces", "-ws", "-r", "--recursive", "-A", "--all", "workspaces", "foreach")
_VENDORING = ("go.mod", "composer.json", "Gemfile")
_SAYING_SO = ("run", "run-script", "exec", "x", "dlx")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRequest:
    """`words` are a script or a program with what it is given; `chosen` are packages by their names or folders."""

    at: str
    words: Command
    chosen: tuple[str, ...] = ()
    every: bool = False

    @property
    def scripts(self) -> tuple[str, ...]:
        """As they are run: with what comes before and after."""
        name = {"t": "test", "tst": "test"}.get(self.words[0], self.words[0])
        return f"pre{name}", name, f"post{name}"

    def folders(self, packages: Mapping[str, str]) -> Iterator[str]:
        """`packages` are names by folder. One that nobody knows may be any."""
        below = [folder for folder in packages if folder == self.at or folder.startswith(f"{self.at}/") or not self.at]
        if not self.chosen:
            yield from below if self.every else [self.at]
        for word in self.chosen:
            folder, name = joined(self.at, word), word.strip("./{}[]!^")
            yield from (
                [each for each in below if each == folder or matches(each, folder)]
                or [each for each in below if packages[each] == word]
                or [each for each in below if posixpath.basename(each) == posixpath.basename(name)]
                or below
            )


def asked_of(manager: str, rest: list[str], at: str) -> ScriptRequest:
    words, chosen, every, waiting = list[str](), list[str](), False, iter(rest)
    for word in waiting:
        option, is_joined, value = word.partition("=")
        if option == "--":
            words += waiting
        elif option in _INTO:
            at = joined(at, value if is_joined else next(waiting, ""))
        elif word == "-w" and manager == "pnpm":
            at = ""
        elif option in _CHOOSING or (word == "workspace" and not words):
            chosen.append(value if is_joined else next(waiting, ""))
        elif option in _EVERY and (word.startswith("-") or not words):
            every = every or not word.startswith("foreach")
        elif not (word.startswith("-") or word in _SAYING_SO) or words:
            words.append(word)
    return ScriptRequest(at=at, words=tuple(words) or ("test",), chosen=tuple(chosen), every=every)


def _manifest(text: str) -> dict[str, object]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def name_of_package(text: str) -> str:
    return str(_manifest(text).get("name", ""))


def scripts_of(text: str) -> dict[str, str]:
    scripts = _manifest(text).get("scripts")
    return {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}


def vendored(paths: Iterable[str]) -> dict[str, str]:
    """Patterns of what is taken instead of what is installed, once it lies beside a manifest; with the reason."""
    manifests = (posixpath.split(path) for path in paths)
    return {
        posixpath.join(folder, "vendor/**"): f"is taken instead of what {posixpath.join(folder, name)} asks for"
        for folder, name in manifests
        if name in _VENDORING
    }


@dataclass(frozen=True, slots=True)
class KnownPackages:
    """What the manifests say, by folder."""

    manifests: Mapping[str, Mapping[str, object]]

    @staticmethod
    def of(texts: Mapping[str, str]) -> KnownPackages:
        own = {posixpath.dirname(path): text for path, text in texts.items() if posixpath.basename(path) == MANIFEST}
        return KnownPackages({folder: _manifest(text) for folder, text in own.items()})

    def meant_by(self, word: str, path: str) -> Iterator[str]:
        """Files that a package gives where a script at `path` asks by a name and not by a path."""
        for folder, data in self.manifests.items():
            if word.startswith("#"):
                is_around = not folder or path.startswith(f"{folder}/")
                given = _given(data.get("imports"), word) if is_around else []
            else:
                given = _exported(data, word)
            yield from (posixpath.normpath(posixpath.join(folder, each)) for each in given)


def _exported(data: Mapping[str, object], word: str) -> list[str]:
    name, exports = str(data.get("name") or ""), data.get("exports")
    if not name or (word != name and not word.startswith(f"{name}/")):
        return []
    inside = f".{word.removeprefix(name)}"
    given = _given({".": exports} if isinstance(exports, str) else exports, inside)
    return given or [str(data.get("main") or "./index") if inside == "." else inside]


def _given(table: object, asked: str) -> list[str]:
    """All that a table of exports or imports may lead to, whatever the conditions."""
    found = list[str]()
    for key, value in table.items() if isinstance(table, dict) else ():
        begin, star, end = str(key).partition("*")
        if asked == key or (star and asked.startswith(begin) and asked.endswith(end)):
            middle = asked[len(begin) : len(asked) - len(end)] if star else ""
            found += (each.replace("*", middle) for each in _leaves(value))
        elif not str(key).startswith((".", "#")) and asked == ".":
            found += _leaves(value)
    return found


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (each for inner in value.values() for each in _leaves(inner))
        case list():
            yield from (each for inner in value for each in _leaves(inner))
        case _:
            pass
