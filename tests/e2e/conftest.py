import pytest

from tests.e2e.kills import FEEDBACK, end_state, killable, notes_of


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The end of the run that nobody kills."""
    scene = killable(tmp_path_factory.mktemp("whole"))
    scene.loop(*FEEDBACK, env=notes_of(scene))
    return end_state(scene)
