"""Files that other tools and people write too: nothing that others wrote there is lost.

A door is YAML or JSON: read strictly, changed and written whole under a lock; one that cannot be read is left as it is.
A record is told by us alone, by several processes: it is replaced only if we wrote what is there, and never by what is
older.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from loopwright.adapters.files import locked_file, read_regular, refuse_links, write_whole
from loopwright.adapters.yaml_text import SIZE_LIMIT, read_yaml
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError
from loopwright.kernel.shapes import Problem, each_key_once, few_digits, shown
from loopwright.kernel.visible import is_all_harmless
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
        before = _read(path, door)
        after = door.change(before)
        if after != before:
            text = _written(after, door.form)
            if len(text.encode()) > SIZE_LIMIT:
                says = f"would grow beyond {SIZE_LIMIT // 1024} KiB; take what is settled out of it"
                raise ConfigError(str(path), "", says)
            _held(text, str(path), door)
            write_whole(path, text)
    return path


def read_data(path: Path, problems: Callable[[object], Iterable[Problem]]) -> Data | None:
    """What a YAML file holds; None if there is no such file. Raises `ConfigError` with line and key if it is not what
    it has to be.
    """
    held = _read(path, Door(path=str(path), change=dict, problems=problems))
    return held if isinstance(held, dict) or held is None else {}


def _read(path: Path, door: Door) -> object:
    try:
        text = read_plain_file(path, str(path), SIZE_LIMIT)
    except FileNotFoundError:
        return None
    return _held(text, str(path), door)


def _held(text: str, name: str, door: Door) -> object:
    found = read_yaml(text, name) if door.form == "yaml" else None
    data = _json(text, name) if found is None else found.plain()
    for problem in door.problems(data):
        line = None if found is None else found.line(*problem.at)
        raise ConfigError(name, shown(problem.at), problem.says, line=line)
    return data


def _json(text: str, name: str) -> object:
    try:
        return json.loads(text, parse_int=few_digits, parse_constant=_no_number, object_pairs_hook=each_key_once)
    except json.JSONDecodeError as error:
        raise ConfigError(name, "", f"expected JSON: {error.msg}", line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(name, "", f"expected JSON: {error}") from error


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number of JSON")


def _written(data: Data | list[Any], form: str) -> str:
    if form == "yaml":
        return write_yaml(data)
    told = json.dumps(data, indent=2, ensure_ascii=False)
    return (told if is_all_harmless(told.replace("\n", "")) else json.dumps(data, indent=2)) + "\n"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two controllers may write there; neither may lose what the other wrote."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# --- records ------------------------------------------------------------------------------------------

_LARGEST = 64 << 20  # bytes of a record


@dataclass(frozen=True, slots=True)
class RecordPlace:
    root: Path
    name: str  # the file, from the root
    memory_folder: str  # ours, likewise: what we wrote last, and how far the log was then

    @property
    def path(self) -> Path:
        return self.root / self.name

    @property
    def memory(self) -> Path:
        return self.root / self.memory_folder / f"{sha256(self.name.encode()).hexdigest()[:16]}.json"


def put_record(place: RecordPlace, text: str, seq: int) -> bool:
    """Have the file tell what the log had come to with event `seq`, unless it tells more already.

    False, and nothing is done: what is there somebody else wrote. Raises `ConfigError` and `OSError`.
    """
    refuse_links(place.root, place.path)
    place.memory.parent.mkdir(parents=True, exist_ok=True)
    with locked_file(place.memory.with_suffix(".lock")):
        known, ours = _remembered(place)
        there, new = _digest(place.path), _of(text.encode(errors="backslashreplace"))
        if there and there not in (*ours, new):
            return False
        if there not in ours or known <= seq:
            # Before the file: whoever dies in between has left one of the two.
            _remember(place, seq, *dict.fromkeys((there, new)))
            if there != new:
                write_whole(place.path, text)
    return True


def take_over(place: RecordPlace, content: bytes) -> None:
    """What somebody wrote there was read and taken in: if it is still this, it may be replaced."""
    place.memory.parent.mkdir(parents=True, exist_ok=True)
    with locked_file(place.memory.with_suffix(".lock")):
        _remember(place, _remembered(place)[0], _of(content))


def is_ours(place: RecordPlace) -> bool:
    """Whether nobody else has written what is there; also where nothing is."""
    there = _digest(place.path)
    return not there or there in _remembered(place)[1]


def _digest(path: Path) -> str:
    """Of the file; of what is no plain file one that nothing has; empty where nothing is."""
    if not os.path.lexists(path):
        return ""
    held = read_regular(path, _LARGEST)
    return "unreadable" if held is None else _of(held)


def _of(content: bytes) -> str:
    return sha256(content).hexdigest()


def _remember(place: RecordPlace, seq: int, *digests: str) -> None:
    told = {"file": place.name, "seq": seq, "digests": [each for each in digests if each]}
    write_whole(place.memory, json.dumps(told) + "\n")


def _remembered(place: RecordPlace) -> tuple[int, tuple[str, ...]]:
    held = read_regular(place.memory, _LARGEST)
    try:
        told = json.loads(held or b"{}")
        return int(told.get("seq", 0)), tuple(map(str, told.get("digests", ())))
    except (ValueError, AttributeError, TypeError):  # ours, and yet not as we write it: then we know nothing
        return 0, ()
