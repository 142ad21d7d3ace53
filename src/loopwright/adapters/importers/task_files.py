"""Another tool's list of tasks from the disk: which tool's it is, told by what it holds, and the tasks in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.importers import json_lists, spec_kit
from loopwright.adapters.importers.imported import Imported
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Path as Place
from loopwright.kernel.shapes import few_digits, shown

FORMATS: Mapping[str, str] = {
    "ralph": "prd.json of Ralph",
    "task-master": "tasks.json of Task Master",
    "spec-kit": "tasks.md of spec-kit",
    "github": "gh issue list --json number,title,body,labels",
}
SIZE_LIMIT = 16 * 1024 * 1024  # bytes


def read_tasks(path: Path, name: str = "") -> tuple[str, tuple[Imported, ...]]:
    """The format, told by the content unless `name` says it, and what is to be done. Raises `ConfigError`."""
    file = one_line(str(path), 500)

    def fail(at: Place, says: str) -> ConfigError:
        return ConfigError(file, shown(at), says)

    text = _text(path, file)
    data, why = _json(text)
    chosen = name or _detected(data, text)
    match chosen:
        case "ralph" if isinstance(data, dict):
            tasks = tuple(json_lists.read_ralph(data, fail))
        case "task-master" if isinstance(data, dict):
            tasks = tuple(json_lists.read_task_master(data, fail))
        case "github" if isinstance(data, list):
            tasks = tuple(json_lists.read_github(data, fail))
        case "spec-kit":
            tasks = spec_kit.read(text, fail)
        case "":
            known = "; ".join(f"{name}: {about}" for name, about in FORMATS.items())
            raise fail((), f"is no list of tasks that is known here; there are {known}")
        case _:
            raise fail((), f"is not the {FORMATS[chosen]}{f': {why}' if why else ''}")
    if not tasks:
        raise fail((), f"has no open task ({FORMATS[chosen]})")
    return chosen, tasks


def _detected(data: object, text: str) -> str:
    if json_lists.is_ralph(data):
        return "ralph"
    if json_lists.is_task_master(data):
        return "task-master"
    if json_lists.is_github(data):
        return "github"
    return "spec-kit" if data is None and spec_kit.fits(text) else ""


def _json(text: str) -> tuple[object, str]:
    """None for what is no JSON, and why. A lone half of a character is made visible: no file takes it."""
    try:
        return json.loads(text, parse_int=few_digits), ""
    except RecursionError:
        return None, "it is nested too deep"
    except ValueError as error:
        return None, f"not valid JSON: {error}"


def _text(path: Path, file: str) -> str:
    try:
        return read_plain_file(path, file, SIZE_LIMIT).removeprefix("\ufeff")
    except FileNotFoundError as error:
        raise ConfigError(file, "", f"cannot be opened: {error.strerror}") from error
