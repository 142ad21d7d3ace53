"""Tickets that people and other tools wrote, from the disk: never through a link, never from a pipe, one sentence each.

What a ticket says is data. Nothing in it is run, followed or looked up.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from loopwright.adapters.markdown import markdown_lines
from loopwright.adapters.yaml_text import SIZE_LIMIT, read_yaml
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Path as Place
from loopwright.kernel.shapes import fitted, shown
from loopwright.loops.tickets.body import read_body
from loopwright.loops.tickets.shape import FRONT, disagreements
from loopwright.loops.tickets.ticket_read import ReadTicket, build

ENDING = ".md"
_FENCE = "---"
# Line ends and tabs are welcome; what Unicode calls a line or paragraph end would make lines count in two ways.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def read_ticket(path: Path) -> ReadTicket:
    """Raises `ConfigError` with file and line."""
    return parse(ticket_text(path), shown_path(path), name=path.name.removesuffix(ENDING))


def parse(text: str, file: str, name: str = "") -> ReadTicket:
    """A ticket's text; `name` is that of its file without the ending. Raises `ConfigError`."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ConfigError(file, "", f"has the control character {found[0]!a}; remove it", line=line)
    front, rest, first = _split(text, file)
    return build(_front(front, file), read_body(markdown_lines(rest, first), file), name=name)


def _split(text: str, file: str) -> tuple[str, str, int]:
    """Frontmatter, the rest, and the line on which the rest begins; lines of the frontmatter count from the file's."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return "", text, 1
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise ConfigError(file, "", "the frontmatter has no end; close it with a line ---", line=1)
    return "\n".join(("", *lines[1:end])), "\n".join(lines[end + 1 :]), end + 2


def _front(text: str, file: str) -> dict[str, Any]:
    found = read_yaml(text, file)

    def error(at: Place, says: str) -> ConfigError:
        return ConfigError(file, shown(at), says, line=found.line(*at))

    data = found.plain()
    front: dict[str, Any] = fitted(FRONT, {} if data is None else data, error)
    for problem in disagreements(front):
        raise error(problem.at, problem.says)
    return front


def ticket_text(path: Path) -> str:
    """The file's text. Raises `ConfigError` for what is not a plain file of ours to read."""
    try:
        return read_plain_file(path, shown_path(path), SIZE_LIMIT, follow=False)
    except FileNotFoundError as error:
        raise ConfigError(shown_path(path), "", f"cannot be opened: {error.strerror}") from error


def shown_path(path: Path) -> str:
    """A path in a message: a name may hold anything but a slash."""
    return one_line(str(path), 4096)
