"""Another tool's list of tasks from the disk: which tool's it is, told by what it holds, and the tasks in it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.importers import github_issues, ralph, spec_kit, task_master
from loopwright.adapters.importers.imported import Imported, TaskSource
from loopwright.errors import UsageError
from loopwright.projections.quoting import one_line

FORMATS: Mapping[str, str] = {
    "ralph": "prd.json of Ralph",
    "task-master": "tasks.json of Task Master",
    "spec-kit": "tasks.md of spec-kit",
    "github": "gh issue list --json number,title,body,labels",
}
SIZE_LIMIT = 16 * 1024 * 1024  # bytes


def read_tasks(path: Path, name: str = "") -> tuple[str, tuple[Imported, ...]]:
    """The format, told by the content unless `name` says it, and what is to be done. Raises `UsageError`."""
    source = TaskSource(one_line(str(path), 500))
    text = _text(path, source)
    data, why = _json(text)
    chosen = name or _detected(data, text)
    match chosen:
        case "ralph" if isinstance(data, dict):
            tasks = ralph.read(data, source)
        case "task-master" if isinstance(data, dict):
            tasks = task_master.read(data, source)
        case "github" if isinstance(data, list):
            tasks = github_issues.read(data, source)
        case "spec-kit":
            tasks = spec_kit.read(text, source)
        case "":
            raise source.fail("", f"is no list of tasks that is known here; there are {_known()}")
        case _:
            raise source.fail("", f"is not the {FORMATS[chosen]}{f': {why}' if why else ''}")
    if not tasks:
        raise source.fail("", f"has no open task ({FORMATS[chosen]})")
    return chosen, tasks


def _known() -> str:
    return "; ".join(f"{name}: {about}" for name, about in FORMATS.items())


def _detected(data: object, text: str) -> str:
    if ralph.fits(data):
        return "ralph"
    if task_master.fits(data):
        return "task-master"
    if github_issues.fits(data):
        return "github"
    return "spec-kit" if data is None and spec_kit.fits(text) else ""


def _json(text: str) -> tuple[object, str]:
    """None for what is no JSON, and why. A lone half of a character is made visible: no file takes it."""
    try:
        return json.loads(text), ""
    except RecursionError:
        return None, "it is nested too deep"
    except ValueError as error:
        return None, f"not valid JSON: {error}"


def _text(path: Path, source: TaskSource) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise source.fail("", f"cannot be opened: {said}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise source.fail("", "is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(SIZE_LIMIT + 1)
    finally:
        os.close(handle)
    if len(content) > SIZE_LIMIT:
        raise source.fail("", f"is larger than {SIZE_LIMIT // 2**20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{source.file}: is not UTF-8 text; convert it") from error
