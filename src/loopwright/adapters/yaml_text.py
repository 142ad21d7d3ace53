"""Strict YAML in, with the line of every key.

What is refused: more than one document, tags, anchors and aliases, merge keys (`<<`), a key given twice, a key that
is not text, control characters, and anything too big or too deep to be a file that people look after.
"""

from __future__ import annotations

import re

from loopwright.adapters.yaml_nodes import Located
from loopwright.errors import ConfigError

SIZE_LIMIT = 1024 * 1024  # characters

# Also what YAML 1.1 takes for the end of a line and YAML 1.2 does not: lines would be counted in two ways.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_yaml(text: str, file: str) -> Located:
    """`file` is how messages name it. Raises `ConfigError`, and nothing else; an empty text says `None`."""
    text = text.removeprefix("\ufeff")
    if len(text) > SIZE_LIMIT:
        raise ConfigError(file, "", f"is larger than {SIZE_LIMIT // 1024} KiB")
    if found := _FORBIDDEN.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ConfigError(file, "", f"has the control character {found[0]!a}; remove or escape it", line=line)
    from loopwright.adapters.yaml_events import compose  # noqa: PLC0415 - loads PyYAML

    return compose(text, file)
