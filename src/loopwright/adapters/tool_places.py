"""What checks find outside of every tree: programs on the PATH, and what their tools read of the person's home.

An agent with the person's rights can write there. So it is looked at before and after its steps, by names and times.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.files import sorted_entries
from loopwright.adapters.pins import GONE, NAMED, Pins, differing, digest_of
from loopwright.config.settings import WorkspaceSettings

PROGRAM = "program "  # before the name of a program, in the place of a path
# What checks start behind make, npm or a script, besides what their commands begin with.
_USUAL = (
    *("python", "python3", "pytest", "tox", "nox", "uv", "poetry", "coverage", "node", "npm", "npx", "yarn", "pnpm"),
    *("bun", "deno", "jest", "mocha", "vitest", "make", "gmake", "cmake", "ctest", "ninja", "just", "task", "cargo"),
    *("rustc", "rustup", "go", "cc", "gcc", "g++", "clang", "ld", "java", "javac", "mvn", "gradle", "ruby", "bundle"),
    *("rspec", "perl", "php", "bats", "sh", "bash", "zsh", "dash", "env", "git", "diff", "cmp", "sed", "awk", "grep"),
    *("cat", "test", "find", "xargs", "sort", "tr", "head", "tail", "jq", "timeout", "which", "dirname", "basename"),
)
# What a log keeps of them.
_FIRST = ("python", "python3", "pytest", "node", "npm", "npx", "make", "cargo", "go", "sh", "bash", "git")
_SMALL = 16 * 1024  # shims are written anew with the same text; a larger program is known by its size and time
_SOURCES: Mapping[str, tuple[str, ...]] = {
    "npm": ("package.json", "npm", "npx", "node", "yarn", "pnpm", "bun", "jest", "mocha", "vitest"),
    "cargo": ("Cargo.toml", "cargo"),
    "go": ("go.mod", "go"),
    "ruby": ("Gemfile", "Rakefile", "ruby", "rspec", "bundle", "rake"),
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "python", "python3", "tox", "nox", "uv", "pip"),
    "java": ("pom.xml", "build.gradle", "build.gradle.kts", "mvn", "gradle"),
    "R": ("DESCRIPTION", "Rscript"),
    "zsh": ("zsh",),
}
_IN_HOME: Mapping[str, tuple[str, ...]] = {
    "npm": (".npmrc", ".yarnrc", ".yarnrc.yml", ".bunfig.toml", ".config/pnpm/rc"),
    "go": (".config/go/env",),
    "ruby": (".rspec", ".config/rspec/options", ".bundle/config", ".gemrc"),
    "python": (".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".config/tox/config.ini"),
    "java": (".gradle/gradle.properties", ".gradle/init.gradle", ".m2/settings.xml", ".mavenrc"),
    "R": (".Rprofile", ".Renviron"),
    "zsh": (".zshenv",),
}
_CARGO = ("config.toml", "config")
_BY_VARIABLE = {"npm": ("NPM_CONFIG_USERCONFIG", "npm_config_userconfig"), "go": ("GOENV",)}


@dataclass(frozen=True, slots=True)
class ToolPlaces:
    """Where to look, settled when a loop is taken up."""

    programs: tuple[str, ...]  # names
    started: frozenset[str]  # of these by commands themselves
    path: str
    settings: tuple[Path, ...]
    copied: tuple[Path, ...]  # of the person's tree, for every checkout

    @staticmethod
    def of(
        commands: Iterable[tuple[str, ...]], workspace: WorkspaceSettings, environ: Mapping[str, str], root: Path
    ) -> ToolPlaces:
        commands = (*commands, *workspace.setup)
        started = frozenset(argv[0] for argv in commands if argv and "/" not in argv[0])
        names = tuple(dict.fromkeys((*_USUAL, *sorted(started))))
        path = os.pathsep.join(each for each in environ.get("PATH", "").split(os.pathsep) if each.startswith("/"))
        words = {part for argv in commands for word in argv for part in word.split()}
        tools = [tool for tool, signs in _SOURCES.items() if not words.isdisjoint(signs) or _has(root, signs)]
        settings = (file for tool in tools for file in _settings(tool, environ, root, path))
        copied = tuple(root / pattern for pattern in workspace.copy if not re.search(r"[*?]", pattern))
        return ToolPlaces(names, started, path, tuple(dict.fromkeys(settings)), copied)

    def now(self) -> Pins:
        found = {str(file): digest_of(file) for file in self.settings if file.is_file()}
        copied = {path: held for place in self.copied for path, held in _outermost(place)}
        return {**found, **copied, **self._programs(self.programs)}

    def for_log(self) -> Pins:
        """With the time: on another PATH other programs are found, and nobody has put them there since."""
        settings = {str(file): NAMED + (digest_of(file) if file.is_file() else GONE) for file in self.settings}
        names = (name for name in self.programs if name in _FIRST or name in self.started)
        copied = {str(place): NAMED + _digest(_outermost(place)) for place in self.copied}
        return {**settings, **copied, **self._programs(names), PROGRAM: str(time.time_ns())}

    def _programs(self, names: Iterable[str]) -> Pins:
        found = ((name, _found(name, self.path)) for name in names)
        return {f"{PROGRAM}{name}": f"{place}\0{_stamp(place)}" for name, place in found if place}


def _digest(entries: Iterable[tuple[str, str]]) -> str:
    return hashlib.sha256(repr(sorted(entries)).encode()).hexdigest()


def _outermost(place: Path, deep: int = 2) -> Iterator[tuple[str, str]]:
    """Of a folder of packages the files that each begins with. Hidden folders are caches, but for that of programs."""
    if not place.is_dir():
        yield str(place), digest_of(place)
        return
    for entry in sorted_entries(place):
        if entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            yield entry.path, f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
        elif entry.is_symlink():
            yield entry.path, str(Path(entry.path).readlink())
        elif entry.name.startswith("@"):
            yield from _outermost(Path(entry.path), deep)
        elif deep > 1 and (entry.name == ".bin" or not entry.name.startswith((".", "__pycache__"))):
            yield from _outermost(Path(entry.path), deep - 1)


def _has(root: Path, signs: Iterable[str]) -> bool:
    """A manifest at the top, or in a folder of it."""
    names = [name for name in signs if "." in name or name[0].isupper()]
    return any((root / name).is_file() for name in names) or any(next(root.glob(f"*/{name}"), None) for name in names)


def _settings(tool: str, environ: Mapping[str, str], root: Path, path: str) -> Iterator[Path]:
    home = environ.get("HOME", "")
    if not home:
        return
    own = Path(environ.get("XDG_CONFIG_HOME") or f"{home}/.config")
    for name in _IN_HOME.get(tool, ()):
        yield own / name.removeprefix(".config/") if name.startswith(".config/") else Path(home, name)
    yield from (Path(environ[name]) for name in _BY_VARIABLE.get(tool, ()) if environ.get(name))
    if tool == "npm" and (node := _found("node", path)):
        yield Path(os.path.realpath(node)).parent.parent / "etc" / "npmrc"
    if tool == "cargo":
        folders = (Path(environ.get("CARGO_HOME") or f"{home}/.cargo"), *(above / ".cargo" for above in root.parents))
        yield from (folder / name for folder in folders for name in _CARGO)


def _found(name: str, path: str) -> str:
    for folder in path.split(os.pathsep):
        place = f"{folder}/{name}"
        if os.access(place, os.X_OK) and os.path.isfile(place):  # noqa: PTH113 - hundreds of them
            return place
    return ""


def _stamp(place: str) -> str:
    """Nothing where nobody but the system could have changed it: it brings itself up to date."""
    real = os.path.realpath(place)
    try:
        found = os.stat(real)  # noqa: PTH116
        if not os.access(real, os.W_OK):
            return real
        if found.st_size <= _SMALL and stat.S_ISREG(found.st_mode):
            return f"{real} {hashlib.sha256(Path(real).read_bytes()).hexdigest()}"
    except OSError:
        return real
    return f"{real} {found.st_size} {found.st_mtime_ns}"


def _moved(before: Pins, now: Pins) -> Iterator[str]:
    """Programs of the checks that are not what they were, in words. One that was not there before hides none."""
    since = int(before.get(PROGRAM, "0"))
    for name in sorted(name for name in before if name.startswith(PROGRAM) and name != PROGRAM):
        was, _, stamp = before[name].partition("\0")
        place, _, new_stamp = now.get(name, "").partition("\0")
        if place != was:
            is_there = os.path.exists(was)  # noqa: PTH110
            if place and _made(place) >= since:
                yield f"{place} is found in place of {was}"
            elif not place and not is_there:
                yield f"{was} is gone"
        elif stamp != new_stamp:
            yield f"{place} was changed"


def _made(place: str) -> int:
    """When it came to be there: set by the kernel alone."""
    try:
        return os.lstat(place).st_ctime_ns
    except OSError:
        return 0


def relied_on_differs(before: Pins, now: Pins) -> Iterator[str]:
    """Each path that is not what it was, in words.

    A program first: another one looks for its packages elsewhere, and nothing of them is gone.
    """
    yield from _moved(before, now)
    yield from differing(_without_programs(before), _without_programs(now))


def _without_programs(pins: Pins) -> Pins:
    return {path: held for path, held in pins.items() if not path.startswith(PROGRAM)}
