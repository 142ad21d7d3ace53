"""What `loop doctor` sees of a task list that Claude Code shares: why a session may stop although tasks are left.

Only files and the environment are looked at, and only where a list is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from loopwright.adapters.files import read_regular
from loopwright.cli.checkup import Remark
from loopwright.kernel.quoting import one_line

NAMED_BY = "CLAUDE_CODE_TASK_LIST_ID"
_HOOK = b"hook stop"  # of a command that runs when Claude Code would stop
_LARGEST = 1 << 20  # bytes of a file of settings
_MOST = 200  # files of plugins that are looked at


def task_list_lines(root: Path, environ: Mapping[str, str]) -> Iterator[Remark]:
    name = environ.get(NAMED_BY, "")
    if not name:
        return
    shown = one_line(name, 100)
    home = Path(environ.get("HOME", "/nonexistent")) / ".claude"
    tasks = _tasks(home / "tasks" / name) if Path(name).name == name else 0
    if tasks:
        yield Remark("ok", "task list", f"{shown}: {tasks} task files in {home / 'tasks'}")
    else:
        yield Remark(
            "warn",
            "task list",
            f"{NAMED_BY} is {shown!r}, and there is no task file in {home / 'tasks' / shown}: nothing holds a session"
            " that stops; a workflow that is started with this name writes them",
        )
    if not any(_holds(file) for file in _settings(root, home)):
        said = f"{NAMED_BY} is set, and no settings of Claude Code run `loop hook stop`: sessions stop whatever is left"
        yield Remark("warn", "stop hook", said)


def _tasks(folder: Path) -> int:
    try:
        return sum(file.stem.isdigit() for file in folder.glob("*.json"))
    except OSError:
        return 0


def _settings(root: Path, home: Path) -> Iterator[Path]:
    for folder in (root / ".claude", home):
        yield folder / "settings.json"
        yield folder / "settings.local.json"
    for plugins in (home / "plugins", root / ".claude" / "plugins"):
        yield from islice(plugins.glob("**/hooks.json"), _MOST)


def _holds(file: Path) -> bool:
    return _HOOK in (read_regular(file, _LARGEST) or b"")
