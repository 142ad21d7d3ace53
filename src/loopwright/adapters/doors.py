"""YAML files that other tools and people write too: read strictly, changed and written whole under a lock.

One that cannot be read is never overwritten: it may hold what others wrote there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.adapters.files import refuse_links, write_whole
from loopwright.adapters.yaml_text import SIZE_LIMIT, read_yaml
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError
from loopwright.kernel.shapes import Problem, shown
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.kind import Data, Door


def update_door(root: Path, door: Door) -> Path:
    """Change what the file holds, and write it whole if that makes a difference.

    Raises `ConfigError` if it cannot be read, or could not be read any more; then nothing is written. Raises
    `OSError` if the disk does not take it.
    """
    path = root / door.path
    refuse_links(root, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path.parent):
        before = read_data(path, door.problems)
        after = door.change(before)
        if after != before:
            text = write_yaml(after)
            if len(text.encode()) > SIZE_LIMIT:
                says = f"would grow beyond {SIZE_LIMIT // 1024} KiB; take what is settled out of it"
                raise ConfigError(str(path), "", says)
            _checked(text, str(path), door.problems)
            write_whole(path, text)
    return path


def read_data(path: Path, problems: Callable[[object], Iterable[Problem]]) -> Data | None:
    """None if there is no such file. Raises `ConfigError` with line and key if it is not what it has to be."""
    try:
        text = read_plain_file(path, str(path), SIZE_LIMIT)
    except FileNotFoundError:
        return None
    return _checked(text, str(path), problems)


def _checked(text: str, name: str, problems: Callable[[object], Iterable[Problem]]) -> Data:
    found = read_yaml(text, name)
    data = found.plain()
    for problem in problems(data):
        raise ConfigError(name, shown(problem.at), problem.says, line=found.line(*problem.at))
    return data if isinstance(data, dict) else {}


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two controllers may write there; neither may lose what the other wrote."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
