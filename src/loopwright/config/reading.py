"""The door of `loop.toml`: text to `Settings`, or one sentence with file, line, key and what to write instead."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from loopwright.config.position import line_of
from loopwright.config.relations import nearest, problems
from loopwright.config.schema import ROOT, VERSION, Key, Table
from loopwright.config.settings import RoleSettings, Settings
from loopwright.config.shapes import NAME_PATTERN, Problem, expected, found
from loopwright.errors import ConfigError
from loopwright.kernel.codec import build

FILE_NAME = "loop.toml"
SIZE_LIMIT = 256 * 1024

# A key of hundreds of thousands of parts takes tomllib minutes; ours have four.
_TOO_DEEP = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*"|'[^'\n]*')[ \t]*+\.[ \t]*+){20}""")
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TWICE = re.compile("Cannot (overwrite|declare)|Duplicate")

Where = tuple[str | int, ...]


Warn = Callable[[str], None]


def load_settings(root: Path, warn: Warn | None = None) -> Settings:
    """The settings of the repository at `root`, from its `loop.toml`; `warn` as in `read_settings`."""
    return read_settings(_text(root / FILE_NAME), FILE_NAME, warn)


def read_settings(text: str, path: str, warn: Warn | None = None) -> Settings:
    """`path` is how messages name the file. Raises `ConfigError`, and nothing else.

    A key that nothing obeys yet is refused; for a loop in flight, which goes on, `warn` is told the sentence instead.
    """
    source = _Source(text=text.removeprefix("\ufeff"), path=path)
    data = source.parse()
    _check_version(source, data)
    for idle in unobeyed(ROOT, data, ()):
        error = source.error(idle, "is not obeyed by this version yet; remove it")
        if warn is None:
            raise error
        warn(str(error))
    settings = build(Settings, source.table(ROOT, data, ()))
    for problem in problems(settings):
        source.fail(problem.at, problem.says)
    return settings


def _check_version(source: _Source, data: dict[str, object]) -> None:
    version = data.get("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        source.fail(
            ("version",),
            f"{found(version)} is for a newer Loopwright, this one reads version {VERSION}; upgrade to go on",
        )


def unobeyed(table: Table, data: object, at: Where) -> Iterator[Where]:
    """The places of keys and tables that are known, and that nothing obeys."""
    known = {entry.name: entry for entry in (*table.keys, *table.tables)}
    for name, value in data.items() if isinstance(data, dict) else ():
        entry = known.get(name)
        if entry is not None and not entry.obeyed:
            yield (*at, name)
        elif isinstance(entry, Table) and not entry.named:
            yield from unobeyed(entry, value, (*at, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    text: str
    path: str

    def fail(self, where: Where, says: str) -> NoReturn:
        raise self.error(where, says)

    def error(self, where: Where, says: str) -> ConfigError:
        shown = "".join(f"[{part}]" if isinstance(part, int) else f".{_quoted(part)}" for part in where)
        return ConfigError(self.path, shown.removeprefix("."), says, line=line_of(self.text, where))

    def parse(self) -> dict[str, object]:
        if deep := _TOO_DEEP.search(self.text):
            line = self.text.count("\n", 0, deep.start()) + 1
            raise ConfigError(self.path, "", "a key has more than 20 parts", line=line)
        try:
            return tomllib.loads(self.text)
        except RecursionError:
            raise ConfigError(self.path, "", "lists or tables are nested too deep") from None
        except ValueError as error:  # also what Python says of a number with thousands of digits
            raise self._not_toml(str(error)) from error

    def _not_toml(self, message: str) -> ConfigError:
        place = _PLACE.search(message)
        line = int(place[1]) if place and place[1] else self.text.count("\n") + 1
        reason = "the same key or table stands here twice" if _TWICE.match(message) else _PLACE.sub("", message)
        says = f"not valid TOML: {reason[:1].lower()}{reason[1:]}"
        return ConfigError(self.path, "", says, line=line if place else None)

    def table(self, table: Table, data: dict[str, object], at: Where) -> dict[str, object]:
        """The plain form of one table, with only the keys that were given."""
        keys = {key.name: key for key in table.keys}
        tables = {inner.name: inner for inner in table.tables}
        plain: dict[str, object] = {}
        for name, value in data.items():
            if name in keys:
                plain[name] = self._value(keys[name], value, (*at, name))
            elif name in tables:
                plain[name] = self._inner(tables[name], value, (*at, name))
            else:
                self._unknown(name, (*table.keys, *table.tables), at)
        for key in table.keys:
            if key.required and key.name not in plain:
                self.fail(at, f"{key.name} is missing; give it {key.shape.says}")
        return plain

    def _unknown(self, name: str, known: tuple[Key | Table, ...], at: Where) -> NoReturn:
        where = f"in [{'.'.join(map(str, at))}]" if at else "at the top of the file"
        choices = [entry.name for entry in known if entry.obeyed]
        self.fail((*at, name), f"unknown key {where}; {nearest(name, [entry.name for entry in known], choices)}")

    def _value(self, key: Key, value: object, at: Where) -> object:
        plain = key.shape.read(value)
        if isinstance(plain, Problem):
            self.fail((*at, *plain.at), plain.says)
        return plain

    def _inner(self, table: Table, value: object, at: Where) -> object:
        if not isinstance(value, dict):
            self.fail(at, expected(f"a table [{'.'.join(map(str, at))}]", value).says)
        if table.named:
            return [self._entry(table, name, inner, (*at, name)) for name, inner in value.items()]
        plain = self.table(table, value, at)
        if table.kind is RoleSettings:
            return [{"name": role, "agents": agents} for role, agents in plain.items()]
        return plain

    def _entry(self, table: Table, name: str, value: object, at: Where) -> dict[str, object]:
        if not isinstance(value, dict):
            self.fail(at, expected(f"a table [{table.name}.NAME]", value).says)
        if not re.fullmatch(NAME_PATTERN, name):
            self.fail(at, "a name has 1 to 40 lower-case letters, digits and -")
        return {"name": name, **self.table(table, value, at)}


def _quoted(part: str) -> str:
    """A key that is no plain word is shown in quotes, and never with control characters."""
    return part if re.fullmatch(r"[\w-]{1,60}", part) else ascii(part[:60])


def _text(file: Path) -> str:
    content = _content(file)
    if len(content) > SIZE_LIMIT:
        raise ConfigError(FILE_NAME, "", f"is larger than {SIZE_LIMIT // 1024} KiB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(FILE_NAME, "", "is not UTF-8 text", line=line) from error


def _content(file: Path) -> bytes:
    """The first bytes of a regular file. Opened without waiting: a pipe in its place must not hang the command."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ConfigError(FILE_NAME, "", f"not found in {file.parent}; run `loop setup` to write one") from None
    except OSError as error:
        raise ConfigError(FILE_NAME, "", f"cannot be opened: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(FILE_NAME, "", "is not a regular file")
        return os.read(handle, SIZE_LIMIT + 1)
    except OSError as error:
        raise ConfigError(FILE_NAME, "", f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
