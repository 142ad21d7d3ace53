"""What an agent is handed: beside its work before it runs, gone after it, never outside its workspace."""

from pathlib import Path

import pytest

from loopwright.adapters.agents.handover import lay, take_away
from loopwright.errors import VcsFailed

FILE = "stories/ST-1.quality.yml"
FILES = {FILE: "verdict: BLOCKED\n"}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work" / "stories").mkdir(parents=True)
    return tmp_path / "work"


def test_the_file_is_written_before_the_run_and_removed_after_it(workspace: Path) -> None:
    lay(workspace, FILES)
    assert (workspace / FILE).read_text() == "verdict: BLOCKED\n"
    take_away(workspace, FILES)
    take_away(workspace, FILES)  # an agent may have removed it itself
    assert list(workspace.rglob("*")) == [workspace / "stories"]


def test_what_lies_in_its_place_is_replaced_and_a_link_there_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yml"
    outside.write_text("mine")
    (workspace / FILE).symlink_to(outside)
    lay(workspace, FILES)
    assert (outside.read_text(), (workspace / FILE).is_symlink()) == ("mine", False)
    (workspace / FILE).unlink()
    (workspace / FILE).symlink_to(outside)
    take_away(workspace, FILES)
    assert (outside.read_text(), (workspace / FILE).is_symlink()) == ("mine", False)


def test_a_folder_that_is_a_link_out_of_the_workspace_gets_nothing(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (workspace / "linked").symlink_to(tmp_path / "outside")
    files = {"linked/ST-1.quality.yml": "mine"}
    with pytest.raises(VcsFailed, match="outside of the workspace"):
        lay(workspace, files)
    kept = tmp_path / "outside" / "ST-1.quality.yml"
    assert not kept.exists()
    kept.write_text("mine")
    take_away(workspace, files)
    assert kept.read_text() == "mine"


def test_the_folder_of_an_artifact_that_is_gone_is_made_again(workspace: Path) -> None:
    files = {"gone/with/it.quality.yml": "mine"}
    lay(workspace, files)
    assert (workspace / "gone" / "with" / "it.quality.yml").is_file()
    take_away(workspace, files)
    assert not (workspace / "gone" / "with" / "it.quality.yml").exists()


def test_a_folder_that_the_creator_put_in_its_place_is_left(workspace: Path) -> None:
    (workspace / FILE).mkdir()
    take_away(workspace, FILES)
    assert (workspace / FILE).is_dir()
