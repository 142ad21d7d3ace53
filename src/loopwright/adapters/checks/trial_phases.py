"""Runs chosen tests several times from one collection: as they are, with functions stubbed, with notes taken.

A plug-in of pytest (`-p loopwright_phases`, a copy of this file under that name) and a part of our unittest runner.
Standard library only, for Python 3.8 and newer. Each phase is a fork of the process that collected the tests, so that
none of them sees what another one left in memory. A phase that leaves no report has shown nothing.
PYTEST_DONT_REWRITE: nothing is asserted here.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from types import CodeType, FrameType, FunctionType

VARIABLE = "LOOPWRIGHT_PHASES"  # the folder with the plan, and for reports and records
MODULE = "loopwright_phases"
PLAN = "plan.json"
_OPTIMIZED = 1  # a flag of the code of functions; modules and classes, which begin on lines as well, do not have it
_SWITCHED: dict[str, object] = {  # options that would stop, spread, repeat or measure a run
    "continue_on_collection_errors": True,  # a file that does not load says nothing of the tests in others
    "maxfail": 0,
    "numprocesses": None,
    "dist": "no",
    "tx": [],
    "reruns": 0,
    "cov_source": [],
}
_NO_SUMMARY = 3  # an exit code after which pytest asks no plug-in for a summary: some take longer than most tests
_LEAST_PATIENCE, _MOST_PATIENCE, _SLOWER = 5.0, 60.0, 5  # seconds for a test with stubs, and times a phase without


class HangingTest(BaseException):
    """A test that waits for what a stub never gives."""


class Recorder:
    """Notes the functions that are called while it is at work, and from the start who opens one of the given files."""

    def __init__(self, root: str, paths: Iterable[str]) -> None:
        self.root = os.path.join(root, "")
        self.paths = {os.path.realpath(os.path.join(root, path)): path for path in paths}
        self.codes: set[CodeType] = set()
        self.reads: set[tuple[str, str]] = set()
        if self.paths:
            sys.addaudithook(self._note_read)

    def start(self) -> None:
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def write(self, path: str) -> None:
        rows = {(name, what.replace(self.root, "")) for name, what in (*self.reads, *self._calls())}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(sorted(row for row in rows if not os.path.isabs(row[1])), file)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.codes.add(frame.f_code)

    def _note_read(self, event: str, args: tuple[object, ...]) -> None:
        if event in ("open", "sqlite3.connect") and isinstance(args[0], (str, bytes, os.PathLike)):
            with contextlib.suppress(OSError, ValueError):  # a name that no file can have
                path = self.paths.get(os.path.realpath(os.fsdecode(args[0])))
                self.reads |= {(path, user) for user in _users()} if path else set()

    def _calls(self) -> Iterator[tuple[str, str]]:
        for code in list(self.codes):
            file = os.path.abspath(code.co_filename)
            if code.co_flags & _OPTIMIZED and file.startswith(self.root):
                yield file[len(self.root) :], str(code.co_firstlineno)


def _users() -> Iterator[str]:
    """Find on the stack the tests that run or share a fixture, the file that is collected, and modules being loaded."""
    frame: FrameType | None = sys._current_frames()[threading.main_thread().ident]  # type: ignore[index] # noqa: SLF001
    while frame is not None:
        name, held = frame.f_code.co_name, frame.f_locals
        if name in ("<module>", "setUpModule", "setUpClass"):
            yield os.path.abspath(frame.f_code.co_filename)
        elif name == "run" and frame.f_code.co_filename.endswith(os.path.join("unittest", "case.py")):
            yield held["self"].id()
        elif name == "pytest_runtest_protocol" and "item" in held:
            yield held["item"].nodeid
        elif name == "collect_one_node" and hasattr(held.get("collector"), "path"):
            yield str(held["collector"].path)
        elif name == "pytest_fixture_setup" and "request" in held:  # what it reads once is used by all who ask for it
            fixture, items = held["fixturedef"].argname, held["request"].session.items
            yield from (each.nodeid for each in items if fixture in getattr(each, "fixturenames", ()))
        frame = frame.f_back


class StubbedFunctions:
    """Functions by file, first line and name, with the code that takes their place."""

    def __init__(self, stubs: dict[str, dict[str, object]]) -> None:
        self.codes: dict[tuple[str, int, str], CodeType] = {}
        self.files = {_real_path(path) for path in stubs}
        for path, held in stubs.items():
            file = _real_path(path)
            try:
                there = _codes_in(file)
                made = _codes_by_name(compile(str(held["text"]).encode("latin-1"), file, "exec", dont_inherit=True))
            except (OSError, ValueError, SyntaxError):
                continue  # nothing of it is stubbed, and so nothing is noticed
            for name in held["names"]:  # type: ignore[attr-defined]
                if len(there.get(name, ())) == len(made.get(name, ())):
                    for old, new in zip(there.get(name, ()), made.get(name, ())):
                        self.codes[file, old.co_firstlineno, old.co_name] = new

    def install(self, functions: list[FunctionType]) -> None:
        """Replace the code of these functions, and of those that are still to be imported."""
        for each in functions:
            code = self.replaced(each.__code__)
            if code is not each.__code__:
                each.__code__ = code
        load = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
            code = load(loader, fullname)
            return code and self.replaced(code)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]

    def replaced(self, code: CodeType) -> CodeType:
        file = _real_path(code.co_filename)
        if file not in self.files:
            return code
        stub = self.codes.get((file, code.co_firstlineno, code.co_name))
        if stub is not None:
            return stub if stub.co_freevars == code.co_freevars else code
        consts = tuple(self.replaced(each) if isinstance(each, CodeType) else each for each in code.co_consts)
        changed = any(one is not other for one, other in zip(consts, code.co_consts))
        return code.replace(co_consts=consts) if changed else code


@lru_cache(maxsize=65536)
def _real_path(name: str) -> str:
    return os.path.realpath(name)


@lru_cache(maxsize=1024)
def _codes_in(file: str) -> dict[str, list[CodeType]]:
    with open(file, "rb") as source:
        return _codes_by_name(compile(source.read(), file, "exec", dont_inherit=True))


def _codes_by_name(module: CodeType) -> dict[str, list[CodeType]]:
    """Functions and classes by the names of those around them and their own, in the order of the file."""
    found: dict[str, list[CodeType]] = {}

    def walk(code: CodeType, around: str) -> None:
        for each in code.co_consts:
            if isinstance(each, CodeType):
                name = around
                if not each.co_name.startswith("<"):  # a comprehension, or the scope of type parameters
                    name = f"{around}.{each.co_name}" if around else each.co_name
                    found.setdefault(name, []).append(each)
                walk(each, name)

    walk(module, "")
    return found


class Phases:
    """The phases of one process, as the plan in a folder has them."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.number: int | None = None  # of the phase that this process is; None: it only collects
        self.patience = 0.0  # seconds for a test; 0: as long as it takes
        with open(os.path.join(folder, PLAN), encoding="utf-8") as file:
            held = json.load(file)
        root = os.path.realpath(held["root"])  # of the checkout: a command may change folder before it runs tests
        self.plan = held["phases"]
        for phase in self.plan:
            phase["stubs"] = {os.path.join(root, path): stub for path, stub in phase["stubs"].items()}
        self.recorder = Recorder(root, (path for phase in self.plan for path in phase["reads"]))

    def enter(self) -> str:
        """Return in a process for each phase where its report goes; in the first one, after all others, nothing."""
        files = {_real_path(path) for phase in self.plan for path in phase["stubs"]}
        for file in files:
            with contextlib.suppress(OSError, ValueError, SyntaxError):
                _codes_in(file)  # once for all phases
        gc.unfreeze()
        found = (each for each in gc.get_objects() if files and type(each) is FunctionType)
        functions = [each for each in found if _real_path(each.__code__.co_filename) in files]
        longest = 0.0
        for number, phase in sorted(enumerate(self.plan), key=lambda each: bool(each[1]["stubs"])):
            sys.stdout.flush()
            sys.stderr.flush()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of threads that a plug-in may have started
                began, child = time.monotonic(), os.fork()
            if child:
                os.waitpid(child, 0)
                longest = longest if phase["stubs"] else max(longest, time.monotonic() - began)
                continue
            self.number = number
            if phase["stubs"]:
                StubbedFunctions(phase["stubs"]).install(functions)
                self.patience = max(_LEAST_PATIENCE, _SLOWER * longest) if longest else _MOST_PATIENCE
                signal.signal(signal.SIGALRM, _give_up)
            return os.path.join(self.folder, f"phase-{number}")
        return ""

    def watch(self, *, is_testing: bool) -> None:
        """Record the calls of a test, and end it where it hangs."""
        if self.number is not None and self.plan[self.number]["records"]:
            (self.recorder.start if is_testing else self.recorder.stop)()
        if self.patience:
            signal.setitimer(signal.ITIMER_REAL, self.patience if is_testing else 0.0, self.patience)

    def leave(self) -> None:
        """End a phase, and nothing of what the first process is to clean up."""
        if self.number is None:
            return
        self.watch(is_testing=False)
        if self.plan[self.number]["records"] or self.plan[self.number]["reads"]:
            self.recorder.write(os.path.join(self.folder, f"notes-{self.number}.json"))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _give_up(*_: object) -> None:
    raise HangingTest("it does not end while functions are stubbed")


_PHASES = Phases(os.environ[VARIABLE]) if __name__ == MODULE and os.environ.get(VARIABLE) else None


def _switch(options: object) -> None:
    for name, value in _SWITCHED.items():
        if hasattr(options, name):
            setattr(options, name, value)


def pytest_load_initial_conftests(early_config):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - pytest's types
    _switch(early_config.known_args_namespace)
    yield


pytest_load_initial_conftests.pytest_impl = {"hookwrapper": True}  # type: ignore[attr-defined]


def pytest_cmdline_main(config):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - as above
    _switch(config.option)


def pytest_collection(session):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - as above
    """Tests that are asked for in a file that does not load are not run; pytest would run none at all."""

    class Forgiving:
        def pytest_collectreport(self) -> None:
            session._notfound = []  # noqa: SLF001 - nothing public says so; without it pytest ends as it always does

    session.config.pluginmanager.register(Forgiving())


def pytest_runtestloop(session):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - as above
    if _PHASES is None:
        return
    report = _PHASES.enter()
    if not report:
        sys.modules["pytest"].exit("all phases have ended", returncode=_NO_SUMMARY)
    session.config.option.tbstyle = "native"  # the other styles parse every file of a traceback
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "LogXML":
            plugin.logfile = report


def pytest_sessionfinish(session):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - as above
    """Write the report of a phase, and end it: the first process cleans up."""
    if _PHASES is not None and _PHASES.number is not None:
        for plugin in session.config.pluginmanager.get_plugins():
            if type(plugin).__name__ == "LogXML":
                plugin.pytest_sessionfinish()
        _PHASES.leave()


pytest_sessionfinish.pytest_impl = {"tryfirst": True}  # type: ignore[attr-defined]


def pytest_runtest_logstart() -> None:
    if _PHASES is not None:
        _PHASES.watch(is_testing=True)


def pytest_runtest_logfinish() -> None:
    if _PHASES is not None:
        _PHASES.watch(is_testing=False)


def pytest_unconfigure() -> None:
    if _PHASES is not None:
        _PHASES.leave()
