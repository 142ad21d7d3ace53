"""Records which functions tests call, by file and first line. Standard library only, for Python 3.8 and newer.

A plug-in of pytest (`-p loopwright_calls`, a copy of this file under that name) and a part of our unittest runner.
It runs on the base alone and never judges: what it records says only which functions are worth breaking.
Functions that were called while tests were collected are told apart: breaking one would break every test.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType

VARIABLE = "LOOPWRIGHT_CALLS"  # the folder that records are written to, one file a process
MODULE = "loopwright_calls"
_OPTIMIZED = 1  # a flag of the code of functions; modules and classes, which begin on lines as well, do not have it


class CallRecorder:
    """Notes the functions called below the current folder, while tests are collected and while they run."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.root = os.getcwd() + os.sep  # noqa: PTH109 - pathlib would be one more import to shadow
        self.is_testing = False
        self.collecting: set[CodeType] = set()
        self.testing: set[CodeType] = set()

    def start(self) -> None:
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        name = os.path.join(self.folder, f"calls-{os.getpid()}.json")  # noqa: PTH118 - as above
        rows = {"collected": sorted(self._places(self.collecting)), "called": sorted(self._places(self.testing))}
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 - as above
            json.dump(rows, file)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            (self.testing if self.is_testing else self.collecting).add(frame.f_code)

    def _places(self, codes: Iterable[CodeType]) -> Iterator[tuple[str, int]]:
        for code in list(codes):
            file = os.path.abspath(code.co_filename)  # noqa: PTH100 - as above
            if code.co_flags & _OPTIMIZED and file.startswith(self.root):
                yield file[len(self.root) :].replace(os.sep, "/"), code.co_firstlineno


def start_recorder() -> CallRecorder | None:
    """Return a recorder at work, or None where nobody asked for one."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    recorder = CallRecorder(folder)
    recorder.start()
    return recorder


_RECORDER = start_recorder() if __name__ == MODULE else None


def pytest_runtest_logstart() -> None:
    if _RECORDER is not None:
        _RECORDER.is_testing = True


def pytest_runtest_logfinish() -> None:
    if _RECORDER is not None:
        _RECORDER.is_testing = False


def pytest_unconfigure() -> None:
    if _RECORDER is not None:
        _RECORDER.stop()
