"""Files that others write too: a story's handoff stands for all of them."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopwright.adapters.doors import read_data, update_door
from loopwright.adapters.yaml_text import SIZE_LIMIT
from loopwright.errors import ConfigError
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.shapes import Problem
from loopwright.loops.kind import Data, Door
from loopwright.loops.quality.handoff import Persisted, initial, problems, with_review

DOOR = ".loop/stories/ST-001/handoff.yml"
ODD = Finding(
    severity=Severity.HIGH, issue="says: \x1b[2J\nno\u202e", file="a: b.py", evidence="- x\n  y\n", fingerprint="f1"
)


def reviewed(data: Data) -> Data:
    return with_review(data, gate="code", findings=(Persisted(finding=ODD),), passed=False)


def read(path: Path) -> Data | None:
    return read_data(path, problems)


def update(root: Path, change: Callable[[Data], Data], name: str = DOOR) -> Data:
    """What the file holds then."""
    begin = initial("ST-001", "small")
    door = Door(path=name, change=lambda held: change(begin if held is None else held), problems=problems)
    held = read(update_door(root, door))
    assert held is not None
    return held


def given_handoff(root: Path, text: str | bytes) -> Path:
    path = root / DOOR
    path.parent.mkdir(parents=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Reading


def test_a_handoff_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read(tmp_path / DOOR) is None


def test_a_handoff_is_read_as_plain_data(tmp_path: Path) -> None:
    path = given_handoff(
        tmp_path, "# by hand\nstory_id: ST-001\ncurrent_phase: plan\ncompleted_phases: []\nowner: no\n"
    )
    expected = {"story_id": "ST-001", "current_phase": "plan", "completed_phases": [], "owner": "no"}
    assert read(path) == expected


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
    with pytest.raises(ConfigError) as reading:
        read(path)
    with pytest.raises(ConfigError) as updated:
        update(tmp_path, reviewed)
    for error in (reading.value, updated.value):
        assert (error.path, error.key, error.expected, error.line) == (str(path), key, says, line)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_the_longest_handoff_that_is_allowed(tmp_path: Path) -> None:
    path = given_handoff(tmp_path, GOOD + "#" * (SIZE_LIMIT - len(GOOD)))
    assert read(path) == {"story_id": "ST-001", "current_phase": "plan", "completed_phases": []}
    room = SIZE_LIMIT - len(GOOD + "notes: \n")
    update(tmp_path, lambda data: data | {"notes": "x" * room})
    assert path.stat().st_size == SIZE_LIMIT


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / DOOR
    path.mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"handoff\.yml: is not a regular file$"):
        update(tmp_path, reviewed)


def test_a_pipe_in_its_place_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / DOOR
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    with pytest.raises(ConfigError, match=r"handoff\.yml: is not a regular file$"):
        read(path)


def test_a_path_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be opened"):
        read(tmp_path / "file" / "handoff.yml")
    with pytest.raises(ConfigError, match="cannot be opened"):
        read(tmp_path / "a\0b")


# Writing


def test_the_first_change_begins_with_a_new_handoff(tmp_path: Path) -> None:
    after = update(tmp_path, reviewed)
    assert after == reviewed(initial("ST-001", "small"))
    path = tmp_path / ".loop" / "stories" / "ST-001" / "handoff.yml"
    assert read(path) == after
    assert path.read_text() == (
        "story_id: ST-001\ntier: small\ncurrent_phase: code\ncompleted_phases: []\nimportant_decisions: []\n"
        "quality_findings:\n"
        '  - severity: P1\n    dimension: ""\n    gate: code\n    issue: "says: \\x1b[2J\\nno\\u202e"\n'
        '    file: "a: b.py"\n    line: 0\n    resolved: false\n'
        "    evidence: |\n      - x\n        y\n    id: f1\n"
        "memory_captured: false\n"
    )


def test_a_later_change_keeps_what_is_there(tmp_path: Path) -> None:
    given_handoff(tmp_path, GOOD + "tier: medium\nowner: {team: a}\n")
    after = update(tmp_path, reviewed)
    assert (after["tier"], after["owner"], after["current_phase"]) == ("medium", {"team": "a"}, "code")
    assert read(tmp_path / DOOR) == after


def test_no_difference_leaves_the_file_with_its_comments(tmp_path: Path) -> None:
    path = given_handoff(tmp_path, GOOD + "# mine\n")
    assert update(tmp_path, dict) == read(path)
    assert path.read_text() == GOOD + "# mine\n"


def test_the_same_review_told_twice_changes_nothing(tmp_path: Path) -> None:
    first = update(tmp_path, reviewed)
    path = tmp_path / DOOR
    number = path.stat().st_ino
    assert update(tmp_path, reviewed) == first
    assert path.stat().st_ino == number


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"current_phase": "complete"}, "memory_captured: has to be true when current_phase is complete"),
        ({"notes": "x" * SIZE_LIMIT}, "would grow beyond 1024 KiB; take what is settled out of it"),
    ],
)
def test_nothing_is_written_that_could_not_be_read(tmp_path: Path, change: dict[str, object], says: str) -> None:
    path = given_handoff(tmp_path, GOOD)
    with pytest.raises(ConfigError, match=says):
        update(tmp_path, lambda data: data | change)
    assert path.read_text() == GOOD


def test_changes_made_at_once_are_all_kept(tmp_path: Path) -> None:
    def add(name: str) -> None:
        finding = Finding(severity=Severity.LOW, issue=name, fingerprint=name)
        kept = (Persisted(finding=finding),)
        update(tmp_path, lambda data: with_review(data, gate="code", findings=kept, passed=False))

    threads = [threading.Thread(target=add, args=(f"f{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data: Any = read(tmp_path / DOOR)
    assert sorted(found["id"] for found in data["quality_findings"]) == [f"f{number}" for number in range(8)]


def test_nothing_is_written_behind_a_link_or_outside(tmp_path: Path) -> None:
    (tmp_path / "root" / ".loop").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root" / ".loop" / "stories").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="stories: is a link; nothing is read or written there"):
        update(tmp_path / "root", reviewed)
    for outside in (".loop/../../up.yml", "/up.yml"):
        with pytest.raises(ConfigError, match=r"is not in .*; nothing is written there"):
            update(tmp_path / "root", reviewed, outside)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "root"]


# JSON


def listed(root: Path, *more: object) -> Path:
    """A list of which every entry is an object."""

    def odd(data: object) -> list[Problem]:
        held = data if isinstance(data, list) else []
        return [
            Problem("expected an object", (place,)) for place, each in enumerate(held) if not isinstance(each, dict)
        ]

    door = Door(path="log.json", change=lambda held: [*(held or []), *more], problems=odd, form="json")
    return update_door(root, door)


def test_a_list_in_json_keeps_what_others_wrote(tmp_path: Path) -> None:
    path = listed(tmp_path, {"by": "us"})
    path.write_text('[{"by": "them", "ünique": 1e3}]')
    listed(tmp_path, {"by": "us"})
    assert json.loads(path.read_text()) == [{"by": "them", "ünique": 1000.0}, {"by": "us"}]
    assert "ünique" in path.read_text()


def test_what_steers_a_terminal_is_escaped_in_json(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('[{"half": "\\ud800"}]')
    listed(tmp_path, {"odd": "\x1b[2J\u202e"})
    assert path.read_text().isascii()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[\n{]", ":2: expected JSON"),
        ('[{"a": 1, "a": 2}]', ": expected JSON: the key 'a' is there twice in one object"),
        ('[{"a": NaN}]', ": expected JSON: NaN is no number of JSON"),
        ("[" * 100_000, ": expected JSON"),
        ('[{"a": 1}, 2]', ": [1]: expected an object"),
    ],
    ids=["line", "twice", "constant", "deep", "shape"],
)
def test_json_that_cannot_be_read_is_never_overwritten(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        listed(tmp_path, {"by": "us"})
    assert f"{path}{says}" in str(error.value)
    assert path.read_text() == text
