"""Plays one scenario step as a command agent would: a script of the standard library alone.

Its arguments are the file that says what to play and the file the result belongs in. It edits the
working directory and misbehaves as it is told.
"""

from __future__ import annotations

import fnmatch
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

FLOOD = 1_000_000_000
Play = dict[str, Any]


def main(play: Play, result: Path) -> int:
    say(f"rehearsal: {play['role']} begins")
    if play["fault"] == "rate-limit":
        sys.stderr.write(f"usage limit reached\nretry-after: {play['retry_after']:g}\n")
        return 75
    if play["fault"] != "lie":
        for edit in play["edits"]:
            make(edit)
    if play["fault"] != "slow-output":
        time.sleep(play["sleep"])
    return misbehave(play, result)


def misbehave(play: Play, result: Path) -> int:
    fault: Callable[[Play], None] = FAULTS.get(play["fault"], lambda _: None)
    fault(play)
    match play["fault"]:
        case "garbage":
            result.write_text('{"status": "done", "summary": "half a res')
        case "no-result":
            pass
        case _:
            result.write_text(json.dumps(outcome(play)))
    return 0


def outcome(play: Play) -> Play:
    given: Play = play["result"] if play["result"] is not None else {"status": "done"}
    claimed: Play = {"status": "done", "summary": "all done", "verdict": "pass"} if play["fault"] == "lie" else {}
    return {"usage": {"usd": 0}} | claimed | given


def make(edit: Play) -> None:
    path = Path(edit["path"])
    if edit["delete"]:
        path.unlink()
    elif edit["content"] is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit["content"], encoding="utf-8")
    else:
        text = path.read_text(encoding="utf-8")
        if edit["find"] not in text:
            sys.exit(f"rehearsal: {edit['find']!r} is not in {path}")
        path.write_text(text.replace(edit["find"], edit["replace"]), encoding="utf-8")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


# --- faults --------------------------------------------------------------------------------------


def hang(_: Play) -> None:
    while True:
        signal.pause()


def crash(_: Play) -> None:
    sys.exit("rehearsal: crashed as told")


def flood(_: Play) -> None:
    block = (b"all work and no play makes a dull log\n" * 30_000)[: 1 << 20]
    left = FLOOD
    while left > 0:
        left -= os.write(1, block[:left])


def slow_output(play: Play) -> None:
    end = time.monotonic() + (play["sleep"] or 2.0)
    while time.monotonic() < end:
        say("rehearsal: still at it")
        time.sleep(0.05)


def touch_protected(play: Play) -> None:
    path = Path(play["path"]) if play["path"] else first_protected(play["protected"])
    if path is None:
        sys.exit("rehearsal: there is no protected file to touch; name one with `path`")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n# touched\n")


def first_protected(patterns: list[str]) -> Path | None:
    files = sorted(path for path in Path().rglob("*") if path.is_file() and path.parts[0] != ".git")
    return next((path for path in files if any(fnmatch.fnmatch(str(path), pattern) for pattern in patterns)), None)


def daemon(_: Play) -> None:
    """Double fork, a session of its own, no files, no environment: what a process can do to be forgotten."""
    ready, done = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(done, b".")
            live_on()
        os._exit(0)
    os.wait()
    os.read(ready, 1)


def live_on() -> NoReturn:
    os.closerange(0, 256)
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"], {})  # noqa: S606


FAULTS: dict[str, Callable[[Play], None]] = {
    "hang": hang,
    "crash": crash,
    "flood": flood,
    "slow-output": slow_output,
    "touch-protected": touch_protected,
    "daemon": daemon,
}

if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2])))
