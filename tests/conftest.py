import difflib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.repository import Repository

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"

# How long one example takes says more about the machine than about the code.
settings.register_profile("house", deadline=None)
settings.load_profile("house")

GIT_CONFIG = """\
[user]
    name = Test Person
    email = person@example.com
[init]
    defaultBranch = main
[commit]
    gpgSign = false
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what the tests saw")


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
            if name.startswith(("LOOP_", "GIT_", "XDG_")):
                patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("GIT_CONFIG_GLOBAL", str(config))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every test has a HOME of its own."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """A fresh git repository with one commit."""
    return Repository.create(tmp_path / "repo")
