"""The findings a creator reads: beside the artifact before it runs, gone after it, never outside its workspace."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from loopwright.adapters.agents.handover import hand_over, take_away
from loopwright.errors import VcsFailed
from loopwright.kernel.model import Brief, Finding, Key, LoopId, Severity
from loopwright.ports.agent import AgentRun

FILE = "stories/ST-1.quality.yml"
FOUND = Finding(severity=Severity.HIGH, issue="two scopes", rule="S2", guidance="split it", fingerprint="f1")


def run_in(folder: Path, file: str = FILE) -> AgentRun:
    brief = Brief(task="t", attempt=2, limit=3, findings=(FOUND,), findings_file=file, gate="story", story="ST-1")
    return AgentRun(
        loop=LoopId("l"),
        kind="quality",
        key=Key.parse("fix-2.1"),
        step="l/1/fix-2.1",
        role="creator",
        brief=brief,
        folder=folder,
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work" / "stories").mkdir(parents=True)
    return tmp_path / "work"


def test_the_file_is_written_before_the_run_and_removed_after_it(workspace: Path) -> None:
    run = run_in(workspace)
    hand_over(run)
    assert yaml.safe_load((workspace / FILE).read_text()) == {
        "story_id": "ST-1",
        "verdict": "BLOCKED",
        "round": 2,
        "findings": [
            {
                "severity": "P1",
                "check": "S2",
                "dimension": "",
                "issue": "two scopes",
                "guidance": "split it",
                "id": "f1",
            }
        ],
    }
    take_away(run)
    take_away(run)  # a creator may have removed it itself
    assert list(workspace.rglob("*")) == [workspace / "stories"]


def test_findings_that_are_handed_over_inline_touch_no_file(workspace: Path) -> None:
    run = run_in(workspace, file="")
    hand_over(run)
    take_away(run)
    assert list(workspace.rglob("*")) == [workspace / "stories"]


def test_what_lies_in_its_place_is_replaced_and_a_link_there_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yml"
    outside.write_text("mine")
    (workspace / FILE).symlink_to(outside)
    hand_over(run_in(workspace))
    assert (outside.read_text(), (workspace / FILE).is_symlink()) == ("mine", False)
    (workspace / FILE).unlink()
    (workspace / FILE).symlink_to(outside)
    take_away(run_in(workspace))
    assert (outside.read_text(), (workspace / FILE).is_symlink()) == ("mine", False)


def test_a_folder_that_is_a_link_out_of_the_workspace_gets_nothing(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (workspace / "linked").symlink_to(tmp_path / "outside")
    run = run_in(workspace, file="linked/ST-1.quality.yml")
    with pytest.raises(VcsFailed, match="outside of the workspace"):
        hand_over(run)
    kept = tmp_path / "outside" / "ST-1.quality.yml"
    assert not kept.exists()
    kept.write_text("mine")
    take_away(run)
    assert kept.read_text() == "mine"


def test_the_folder_of_an_artifact_that_is_gone_is_made_again(workspace: Path) -> None:
    run = run_in(workspace, file="gone/with/it.quality.yml")
    hand_over(run)
    assert (workspace / "gone" / "with" / "it.quality.yml").is_file()
    take_away(replace(run, folder=workspace))
    assert not (workspace / "gone" / "with" / "it.quality.yml").exists()


def test_a_folder_that_the_creator_put_in_its_place_is_left(workspace: Path) -> None:
    (workspace / FILE).mkdir()
    take_away(run_in(workspace))
    assert (workspace / FILE).is_dir()
