from pathlib import Path

import pytest

from tests.e2e.kills import FEEDBACK, end_state, killable, notes_of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole runs: what they run, tests of its parts run too."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("unmeasured")


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The end of the run that nobody kills."""
    scene = killable(tmp_path_factory.mktemp("whole"))
    scene.loop(*FEEDBACK, env=notes_of(scene))
    return end_state(scene)
