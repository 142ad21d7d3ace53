import hashlib
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.handoffs import handoff_path, read_handoff, read_story, story_id, update_handoff
from loopwright.adapters.yaml_text import SIZE_LIMIT
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.quality.handoff import Data, Persisted, initial, with_review

ODD = Finding(
    severity=Severity.HIGH, issue="says: \x1b[2J\nno\u202e", file="a: b.py", evidence="- x\n  y\n", fingerprint="f1"
)


def reviewed(data: Data) -> Data:
    return with_review(data, gate="code", findings=(Persisted(finding=ODD),), passed=False)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def given_handoff(root: Path, text: str | bytes) -> Path:
    path = handoff_path(root, "ST-001")
    path.parent.mkdir(parents=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Reading


def test_a_handoff_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_handoff(handoff_path(tmp_path, "ST-001")) is None


def test_a_handoff_is_read_as_plain_data(tmp_path: Path) -> None:
    path = given_handoff(
        tmp_path, "# by hand\nstory_id: ST-001\ncurrent_phase: plan\ncompleted_phases: []\nowner: no\n"
    )
    expected = {"story_id": "ST-001", "current_phase": "plan", "completed_phases": [], "owner": "no"}
    assert read_handoff(path) == expected


GOOD = "story_id: ST-001\ncurrent_phase: plan\ncompleted_phases: []\n"


@pytest.mark.parametrize(
    ("text", "key", "says", "line"),
    [
        ("", "", "expected a table of keys, found nothing", 1),
        ("- a", "", "expected a table of keys, found a list", 1),
        (GOOD + "tier: huge", "tier", 'expected one of trivial, small, medium, large, found the text "huge"', 4),
        (
            GOOD + "quality_findings:\n- severity: P0\n  gate: code\n  issue: x\n  line: ten\n",
            "quality_findings[0].line",
            'expected a whole number, at least 0, found the text "ten"',
            8,
        ),
        (
            GOOD + "quality_findings:\n- severity: P0\n  issue: x",
            "quality_findings[0]",
            "gate is missing; give it one of plan, test, code, quality, design, story",
            5,
        ),
        (GOOD + "story_id: ST-002", "story_id", "is given twice, first on line 1; keep one", 4),
        (
            GOOD.replace("[]", "&a []"),
            "completed_phases",
            "an anchor (&) is not allowed; write the value out where it is needed",
            3,
        ),
        (b"a: 1\nb: \xff", "", "is not UTF-8 text", 2),
        (b"#" * (SIZE_LIMIT + 1), "", "is larger than 1024 KiB", None),
    ],
)
def test_a_handoff_that_cannot_be_read_is_told_with_its_place_and_left_as_it_is(
    tmp_path: Path, text: str | bytes, key: str, says: str, line: int | None
) -> None:
    path = given_handoff(tmp_path, text)
    before = path.read_bytes()
    with pytest.raises(ConfigError) as read:
        read_handoff(path)
    with pytest.raises(ConfigError) as updated:
        update_handoff(tmp_path, "ST-001", "small", reviewed)
    for error in (read.value, updated.value):
        assert (error.path, error.key, error.expected, error.line) == (str(path), key, says, line)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_the_longest_handoff_that_is_allowed(tmp_path: Path) -> None:
    path = given_handoff(tmp_path, GOOD + "#" * (SIZE_LIMIT - len(GOOD)))
    assert read_handoff(path) == {"story_id": "ST-001", "current_phase": "plan", "completed_phases": []}
    room = SIZE_LIMIT - len(GOOD + "notes: \n")
    update_handoff(tmp_path, "ST-001", "small", lambda data: data | {"notes": "x" * room})
    assert path.stat().st_size == SIZE_LIMIT


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    path = handoff_path(tmp_path, "ST-001")
    path.mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"handoff\.yml: is not a regular file$"):
        update_handoff(tmp_path, "ST-001", "small", reviewed)


def test_a_pipe_in_its_place_does_not_hang(tmp_path: Path) -> None:
    path = handoff_path(tmp_path, "ST-001")
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    with pytest.raises(ConfigError, match=r"handoff\.yml: is not a regular file$"):
        read_handoff(path)


def test_a_path_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be opened"):
        read_handoff(tmp_path / "file" / "handoff.yml")
    with pytest.raises(ConfigError, match="cannot be opened"):
        read_handoff(tmp_path / "a\0b")


# Writing


def test_the_first_change_begins_with_a_new_handoff(tmp_path: Path) -> None:
    after = update_handoff(tmp_path, "ST-001", "large", reviewed)
    assert after == reviewed(initial("ST-001", "large"))
    path = tmp_path / ".loop" / "stories" / "ST-001" / "handoff.yml"
    assert read_handoff(path) == after
    assert path.read_text() == (
        "story_id: ST-001\ntier: large\ncurrent_phase: code\ncompleted_phases: []\nimportant_decisions: []\n"
        "quality_findings:\n"
        '  - severity: P1\n    dimension: ""\n    gate: code\n    issue: "says: \\x1b[2J\\nno\\u202e"\n'
        '    file: "a: b.py"\n    line: 0\n    resolved: false\n'
        "    evidence: |\n      - x\n        y\n    id: f1\n"
        "memory_captured: false\n"
    )


def test_a_later_change_keeps_what_is_there(tmp_path: Path) -> None:
    given_handoff(tmp_path, GOOD + "tier: medium\nowner: {team: a}\n")
    after = update_handoff(tmp_path, "ST-001", "small", reviewed)
    assert (after["tier"], after["owner"], after["current_phase"]) == ("medium", {"team": "a"}, "code")
    assert read_handoff(handoff_path(tmp_path, "ST-001")) == after


def test_no_difference_leaves_the_file_with_its_comments(tmp_path: Path) -> None:
    path = given_handoff(tmp_path, GOOD + "# mine\n")
    assert update_handoff(tmp_path, "ST-001", "small", dict) == read_handoff(path)
    assert path.read_text() == GOOD + "# mine\n"


def test_the_same_review_told_twice_changes_nothing(tmp_path: Path) -> None:
    first = update_handoff(tmp_path, "ST-001", "small", reviewed)
    path = handoff_path(tmp_path, "ST-001")
    number = path.stat().st_ino
    assert update_handoff(tmp_path, "ST-001", "small", reviewed) == first
    assert path.stat().st_ino == number


def test_the_handoff_of_another_story_is_not_changed(tmp_path: Path) -> None:
    path = given_handoff(tmp_path, GOOD.replace("ST-001", "ST-002"))
    with pytest.raises(ConfigError, match="story_id: has to be ST-001, as the folder is called"):
        update_handoff(tmp_path, "ST-001", "small", reviewed)
    assert path.read_text() == GOOD.replace("ST-001", "ST-002")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"current_phase": "complete"}, "memory_captured: has to be true when current_phase is complete"),
        ({"notes": "x" * SIZE_LIMIT}, "would grow beyond 1024 KiB; take resolved findings out of quality_findings"),
    ],
)
def test_nothing_is_written_that_could_not_be_read(tmp_path: Path, change: dict[str, object], says: str) -> None:
    path = given_handoff(tmp_path, GOOD)
    with pytest.raises(ConfigError, match=says):
        update_handoff(tmp_path, "ST-001", "small", lambda data: data | change)
    assert path.read_text() == GOOD


def test_changes_made_at_once_are_all_kept(tmp_path: Path) -> None:
    def add(name: str) -> None:
        finding = Finding(severity=Severity.LOW, issue=name, fingerprint=name)
        kept = (Persisted(finding=finding),)
        update_handoff(
            tmp_path, "ST-001", "small", lambda data: with_review(data, gate="code", findings=kept, passed=False)
        )

    threads = [threading.Thread(target=add, args=(f"f{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data: Any = read_handoff(handoff_path(tmp_path, "ST-001"))
    assert sorted(found["id"] for found in data["quality_findings"]) == [f"f{number}" for number in range(8)]


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
