"""A TOML text that a person wrote: its data, and errors with file, line and key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass

from loopwright.config.position import line_of
from loopwright.errors import ConfigError
from loopwright.kernel.shapes import Path, shown

# A key of hundreds of thousands of parts takes tomllib minutes; ours have four.
_TOO_DEEP = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*"|'[^'\n]*')[ \t]*+\.[ \t]*+){20}""")
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TOO_LONG = "Exceeds the limit"  # Python's own words, with advice for programmers
_TWICE = re.compile("Cannot (overwrite|declare)|Duplicate")


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlText:
    """`file` is how messages name it."""

    text: str
    file: str

    def error(self, at: Path, says: str) -> ConfigError:
        return ConfigError(self.file, shown(at), says, line=line_of(self.text, at))

    def parse(self) -> dict[str, object]:
        if deep := _TOO_DEEP.search(self.text):
            line = self.text.count("\n", 0, deep.start()) + 1
            raise ConfigError(self.file, "", "a key has more than 20 parts", line=line)
        try:
            return tomllib.loads(self.text)
        except RecursionError:
            raise ConfigError(self.file, "", "lists or tables are nested too deep") from None
        except ValueError as error:  # also what Python says of a number with thousands of digits
            raise self._not_toml(str(error)) from error

    def _not_toml(self, message: str) -> ConfigError:
        place = _PLACE.search(message)
        line = int(place[1]) if place and place[1] else self.text.count("\n") + 1
        if message.startswith(_TOO_LONG):
            return ConfigError(self.file, "", "not valid TOML: a number has thousands of digits")
        reason = "the same key or table stands here twice" if _TWICE.match(message) else _PLACE.sub("", message)
        says = f"not valid TOML: {reason[:1].lower()}{reason[1:]}"
        return ConfigError(self.file, "", says, line=line if place else None)
