from pathlib import Path

import pytest

from tests.e2e.kills import FEEDBACK, end_state, killable, notes_of


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, git_config: Path) -> dict[str, object]:
    """The end of the run that nobody kills. Older than any test's own HOME, so it brings one."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("GIT_CONFIG_GLOBAL", str(git_config))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        scene = killable(folder)
        scene.loop(*FEEDBACK, env=notes_of(scene))
        return end_state(scene)
