"""The door of `loop.toml`: text to `Settings`, or one sentence with file, line, key and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from loopwright.config.keys import shape_of
from loopwright.config.plain_file import read_plain_file
from loopwright.config.relations import problems
from loopwright.config.settings import VERSION, Settings
from loopwright.config.systems import with_preset
from loopwright.config.toml_text import TomlText
from loopwright.errors import ConfigError
from loopwright.kernel.codec import build
from loopwright.kernel.shapes import fitted, found, given

FILE_NAME = "loop.toml"
SIZE_LIMIT = 256 * 1024

Warn = Callable[[str], None]


def load_settings(root: Path, warn: Warn | None = None) -> Settings:
    """The settings of the repository at `root`, from its `loop.toml`; `warn` as in `read_settings`."""
    try:
        text = read_plain_file(root / FILE_NAME, FILE_NAME, SIZE_LIMIT)
    except FileNotFoundError:
        raise ConfigError(FILE_NAME, "", f"not found in {root}; run `loop setup` to write one") from None
    return read_settings(text, FILE_NAME, warn)


def read_settings(text: str, path: str, warn: Warn | None = None) -> Settings:
    """`path` is how messages name the file. Raises `ConfigError`, and nothing else.

    A key that nothing obeys yet is refused; for a loop in flight, which goes on, `warn` is told the sentence instead.
    """
    source = TomlText(text=text.removeprefix("\ufeff"), file=path)
    data = source.parse()
    _check_version(source, data)
    _check_obeyed(source, data, warn)
    settings = build(Settings, fitted(shape_of(Settings), with_preset(data), source.error))
    for problem in problems(settings):
        raise source.error(problem.at, problem.says)
    return settings


def _check_version(source: TomlText, data: dict[str, object]) -> None:
    version = data.get("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        newer = f"is for a newer Loopwright, this one reads version {VERSION}; upgrade to go on"
        raise source.error(("version",), f"{found(version)} {newer}")


def _check_obeyed(source: TomlText, data: dict[str, object], warn: Warn | None) -> None:
    for at, field, _ in given(shape_of(Settings), data):
        if field is not None and not field.obeyed:
            error = source.error(at, "is not obeyed by this version yet; remove it")
            if warn is None:
                raise error
            warn(str(error))
