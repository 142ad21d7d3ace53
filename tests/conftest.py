import difflib
import gc
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import settings

from tests.forks import import_everything
from tests.repository import Repository

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"

# How long one example takes says more about the machine than about the code.
settings.register_profile("house", deadline=None, max_examples=50)
settings.load_profile("house")

GIT_CONFIG = """\
[user]
    name = Test Person
    email = person@example.com
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[maintenance]
    auto = false
"""


_MEASURING = ("measured", "unmeasured", "slow")
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own there
ROOM = 2 << 30  # bytes; a whole run leaves less than half of it


def pytest_configure(config: pytest.Config) -> None:
    """Temporary folders go to memory where there is room and programs may run: a file that is synced costs nothing."""
    if hasattr(config, "workerinput"):
        # Coverage goes no further than to the workers: it makes two or three of each second of a whole process, and
        # what such a one runs, tests of its parts run too.
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        seen = os.statvfs(MEMORY)
        if seen.f_bavail * seen.f_frsize > ROOM and not seen.f_flag & getattr(os, "ST_NOEXEC", 0):
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save the coverage of a worker before it exits: xdist kills a worker whose exit takes more than ten seconds."""
    measuring = Coverage.current()
    if measuring and hasattr(session.config, "workerinput"):
        measuring.stop()
        measuring.save()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what the tests saw")
    parser.addoption("--times", type=Path, metavar="FILE", help="append to FILE how long each folder of tests took")


@pytest.hookimpl(tryfirst=True)  # before markers are chosen by `-m`
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow ones go first, so that no worker is left alone with one at the end."""
    leave_rows_to_other_layers(items)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def leave_rows_to_other_layers(items: Iterable[pytest.Item]) -> None:
    """Of a table that is `sampled` the first row stays where it is."""
    begun: set[str] = set()
    for item in items:
        table, is_row, _ = item.nodeid.partition("[")
        if is_row and (sampled := item.get_closest_marker("sampled")):
            if table in begun:
                item.add_marker(*sampled.args)
            begun.add(table)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What a module does when it is imported is measured, and nothing else before the first test."""
    if sys.gettrace():
        import_everything()
    with unmeasured():
        return (yield)


def pytest_collection_finish() -> None:
    """What the walks make lives on: the garbage collector looks through it seldom, and never at what is here now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if is_measured(item):
        return (yield)
    with unmeasured():
        return (yield)


@contextmanager
def unmeasured() -> Iterator[None]:
    """Without coverage, which makes two or three of each second."""
    measuring = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(measuring)


def is_measured(item: pytest.Item) -> bool:
    """What a random value reaches is no coverage: the next run may not reach it. Slow ones are made of quicker ones."""
    at_random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    nearest = next((mark.name for mark in item.iter_markers() if mark.name in _MEASURING), "measured")
    return not at_random and nearest == "measured"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if (file := config.getoption("--times")) and not hasattr(config, "workerinput"):
        reports = [report for each in terminalreporter.stats.values() for report in each]
        with file.open("a", encoding="utf-8") as times:
            times.write(times_of(report for report in reports if isinstance(report, pytest.TestReport)))


def times_of(reports: Iterable[pytest.TestReport]) -> str:
    """Seconds per folder and layer, most first: of all workers together, so that two of them spend two in a second."""
    spent: defaultdict[str, float] = defaultdict(float)
    for report in reports:
        folder = "/".join(report.nodeid.partition("::")[0].split("/")[:-1][:2])
        spent[f"{folder}, slow" if "slow" in report.keywords else folder] += report.duration
    most_first = sorted(spent.items(), key=lambda item: -item[1])
    return "".join(f"{seconds:8.0f}  {layer}\n" for layer, seconds in most_first)


def compare_with_file(file: Path, text: str, *, update: bool) -> None:
    """Fails with a diff when `text` is not what `file` holds; with `update` it writes the file instead."""
    if update:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return
    name = os.path.relpath(file, ROOT)
    if not file.exists():
        pytest.fail(f"{name} does not exist; `./run golden` writes it", pytrace=False)
    held = file.read_text(encoding="utf-8")
    if held != text:
        diff = difflib.unified_diff(held.splitlines(), text.splitlines(), name, "what the test saw", lineterm="")
        shown = "\n".join(diff) or "(only the ends of lines differ)"
        pytest.fail(f"{name} differs; `./run golden` rewrites it\n{shown}", pytrace=False)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` compares `text` with tests/golden/<name>; `--update-golden` rewrites the file."""
    update = bool(request.config.getoption("--update-golden"))
    return lambda name, text: compare_with_file(GOLDEN / name, text, update=update)


@pytest.fixture
def document(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """As `golden`, for a page that the code generates: docs/<name>. `./run docs` rewrites them."""
    update = bool(request.config.getoption("--update-golden"))
    return lambda name, text: compare_with_file(ROOT / "docs" / name, text, update=update)


@pytest.fixture(scope="session", autouse=True)
def no_person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing here sees a setting of whoever runs it: an empty HOME and a git identity of our own, from the start."""
    config = tmp_path_factory.mktemp("git") / "config"
    config.write_text(GIT_CONFIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            # No process that a test starts is measured: to begin with it costs a process more than most of them do.
            if name.startswith(("LOOP_", "GIT_", "XDG_", "COVERAGE_")):
                patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("GIT_CONFIG_GLOBAL", str(config))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a check that runs pytest needs none of ours
        yield


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that do not exist yet, one after the other; `mktemp` would look through all earlier ones."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, homes: Iterator[Path]) -> None:
    """Every test has a HOME of its own."""
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """A fresh git repository with one commit."""
    return Repository.create(tmp_path / "repo")
