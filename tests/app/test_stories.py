import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.app.starts.stories import handoff_path, read_handoff, read_story, story_id
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.yaml_writer import write_yaml


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def test_the_handoff_of_a_story_is_read_where_a_review_writes_it(tmp_path: Path) -> None:
    path = handoff_path(tmp_path, "ST-001")
    assert read_handoff(path) is None
    path.parent.mkdir(parents=True)
    path.write_text("story_id: ST-001\ncurrent_phase: plan\ncompleted_phases: []\n")
    assert read_handoff(path) == {"story_id": "ST-001", "current_phase": "plan", "completed_phases": []}
    path.write_text("story_id: ST-001\n")
    with pytest.raises(ConfigError, match="current_phase is missing"):
        read_handoff(path)


# Names


@pytest.mark.parametrize("name", ["ST-001", "a", "v1.2_x", "x" * 64])
def test_the_id_that_a_story_gives_itself_is_used(tmp_path: Path, name: str) -> None:
    assert story_id("stories/a.yml", {"id": name}) == name
    assert handoff_path(tmp_path, name).parent.parent == tmp_path / ".loop" / "stories"


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".a", "a..b", "a/b", "../a", "a b", "ä", "a\n", "x" * 65, 7, None, ["a"]]
)
def test_an_id_that_is_no_name_is_not_used(tmp_path: Path, name: object) -> None:
    assert story_id("notes", {"id": name}) == "notes"
    if isinstance(name, str):
        with pytest.raises(UsageError, match="cannot be the id of a story"):
            handoff_path(tmp_path, name)


def test_an_artifact_without_a_story_has_an_id_made_from_its_path() -> None:
    made = {
        "notes": "notes",
        "src-a-py": "src-a-py",
        "x" * 31: "x" * 31,
        "src/a.py": f"src-a-py-{digest('src/a.py')}",
        "src/a/py": f"src-a-py-{digest('src/a/py')}",
        "SRC/a.py": f"src-a-py-{digest('SRC/a.py')}",
        "x" * 32: f"{'x' * 31}-{digest('x' * 32)}",
        "docs/" + "y" * 25 + "/z": f"docs-{'y' * 25}-{digest('docs/' + 'y' * 25 + '/z')}",
        ".": digest("."),
        "": digest(""),
        "\udcff": hashlib.sha256(b"\xed\xb3\xbf").hexdigest()[:8],
    }
    assert {path: story_id(path) for path in made} == made


@given(st.text(), st.text())
def test_no_two_artifacts_share_an_id(one: str, other: str) -> None:
    assert re.fullmatch("[a-z0-9-]{1,40}", story_id(one))
    assert (story_id(one) == story_id(other)) == (one == other)


# Stories


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id: ST-001\ntier: medium\ntitle: x\n", ("ST-001", "medium")),
        ("id: ../x\ntier: huge\n", (None, None)),
        ("id: 7\ntier: [small]\n", (None, None)),
        ("id: ST-001\nid: ST-002\n", (None, None)),
        ("id: [\n", (None, None)),
        ("- id: ST-001\n", (None, None)),
        ("", (None, None)),
    ],
)
def test_a_story_tells_its_id_and_tier_or_nothing(tmp_path: Path, text: str, told: object) -> None:
    for name in ("a.yml", "a.yaml"):
        (tmp_path / name).write_text(text)
        assert read_story(tmp_path / name) == told


def test_what_is_no_story_tells_nothing(tmp_path: Path) -> None:
    for name in ("a.quality.yml", "a.md"):
        (tmp_path / name).write_text(write_yaml({"id": "ST-001", "tier": "small"}))
        assert read_story(tmp_path / name) == (None, None)
    (tmp_path / "b.yml").mkdir()
    (tmp_path / "c.yml").write_bytes(b"\xff")
    for name in ("b.yml", "c.yml", "nowhere.yml"):
        assert read_story(tmp_path / name) == (None, None)
