"""Tickets that attack: each is refused in one sentence that names file and line, and nothing beside `.loop` is written.

The commands run in this process, as `main` runs them.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.projects import loop
from tests.e2e.scene import Scene
from tests.e2e.ticketing import (
    QUEUE,
    creates,
    files_of,
    front,
    headings,
    new,
    played,
    run,
)

pytestmark = pytest.mark.sampled("trust")

SECRET = "the-secret-of-the-person"
REQUIREMENTS = "\n# Requirements\n\nBuild it.\n\n- [ ] AC-1: It works\n"
OURS = {".loop": {".gitignore", "loop.db", "loop.db-wal", "loop.db-shm", "tickets"}, ".worktrees": {".gitignore"}}
PATIENCE = 20.0  # seconds
MB = 1 << 20


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Agents that would do and pass anything, and a secret beside the repository."""
    (tmp_path / "secret.md").write_text(f"# A ticket\n\n# Requirements\n\n- [ ] AC-1: {SECRET}\n")
    return played(tmp_path, [])


def dropped(scene: Scene, text: str | bytes, name: str = "TICKET-s.md") -> Path:
    """A ticket that somebody put into the queue."""
    path = scene.root / QUEUE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@contextmanager
def nothing_written(scene: Scene) -> Iterator[None]:
    """All that is beside the engine's own folders stays as it is, and in them is nothing but the log and tickets."""
    before = _everything(scene)
    yield
    assert _everything(scene) == before
    for name, ours in OURS.items():
        assert {path.name for path in (scene.root / name).glob("*")} <= ours


def _everything(scene: Scene) -> dict[str, bytes | None]:
    engines = {".git", *OURS}
    found = (path for path in scene.root.parent.rglob("*") if engines.isdisjoint(path.parts))
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def refused(scene: Scene, *args: str) -> str:
    """The one sentence with which a command is refused, soon."""
    begun = time.monotonic()
    said = loop(scene.root, *args)
    assert time.monotonic() - begun < PATIENCE
    assert (said.code, said.out, said.err.count("\n"), said.err[:6]) == (2, "", 1, "loop: "), said
    assert SECRET not in said.err
    return said.err.removeprefix("loop: ").rstrip("\n")


# --- names ------------------------------------------------------------------------------------------------------

PATHS = ["../../evil", "/evil", "..", "a/b", "Evil", "a\nb", "a\u202eb", "x" * 41]


@pytest.mark.parametrize("session", PATHS)
def test_a_session_that_is_a_path_is_refused_on_the_command_line(scene: Scene, session: str) -> None:
    with nothing_written(scene):
        assert "cannot be a session" in refused(scene, "ticket", "new", "T", "--session", session)
        assert refused(scene, "ticket", "show", session)
        assert refused(scene, "ticket", "run", session)
    assert list((scene.root / ".loop").rglob("TICKET*")) == []


@pytest.mark.parametrize("key", ["session_id", "ticket_id", "parent_ticket"])
def test_an_id_that_is_a_path_is_refused_in_the_queue_with_file_and_line(scene: Scene, key: str) -> None:
    file = dropped(scene, f"---\ntitle: T\n{key}: ../../../evil\n---\n{REQUIREMENTS}")
    with nothing_written(scene):
        assert refused(scene, "ticket", "run").startswith(f"{file}:3: {key}: expected ")
    assert file.exists()


def test_a_path_in_the_frontmatter_that_names_a_folder_is_not_followed(scene: Scene) -> None:
    dropped(
        scene, f"---\ntitle: T\nworktree_path: {scene.root.parent}/elsewhere\nclaimed_by: ../x\n---\n{REQUIREMENTS}"
    )
    before = _everything(scene)
    assert run(scene, "--max", "1", code=4).json["verdict"] is None  # nobody changed a file, and a person is asked why
    assert _everything(scene) == before
    (text,) = files_of(scene, "active").values()
    assert (front(text)["worktree_path"], front(text)["claimed_by"]) == (f".worktrees/{scene.row().id}", "play")


@pytest.mark.parametrize("name", ["../../secret.md", "../secret", "./.loop/tickets/queue/../../../../secret.md"])
def test_no_name_of_a_ticket_leads_out_of_the_queue(scene: Scene, name: str) -> None:
    with nothing_written(scene):
        for command in ("show", "run"):
            assert "there is no ticket or session" in refused(scene, "ticket", command, name)


# --- what lies in the queue ---------------------------------------------------------------------------------------


def link(scene: Scene, path: Path) -> None:
    path.symlink_to(scene.root.parent / "secret.md")


def pipe(_scene: Scene, path: Path) -> None:
    os.mkfifo(path)


def folder(_scene: Scene, path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("plant", [link, pipe, folder])
def test_what_is_no_plain_file_is_no_ticket(scene: Scene, plant: Callable[[Scene, Path], None]) -> None:
    (scene.root / QUEUE).mkdir(parents=True)
    plant(scene, scene.root / QUEUE / "TICKET-s.md")
    with nothing_written(scene):
        assert refused(scene, "ticket", "run").startswith("there is no ticket to be done")
        assert refused(scene, "ticket", "run", f"{QUEUE}/TICKET-s.md").startswith("there is no ticket or session")
        assert refused(scene, "ticket", "new", "T", "--file", f"{QUEUE}/TICKET-s.md")
        assert SECRET not in loop(scene.root, "ticket", "list", "--json").out


@pytest.mark.parametrize("name", ["tickets", "tickets/queue"])
def test_a_queue_that_is_a_link_is_neither_read_nor_written(scene: Scene, name: str) -> None:
    outside = scene.root.parent / "outside" / "queue"
    outside.mkdir(parents=True)
    (outside / "TICKET-s.md").write_text(f"# Requirements\n\n- [ ] AC-1: {SECRET}\n")
    where = scene.root / ".loop" / name
    where.parent.mkdir(parents=True)
    where.symlink_to(outside.parent if name == "tickets" else outside)
    with nothing_written(scene):
        for args in (("run",), ("new", "T"), ("list",)):
            assert "is a link" in refused(scene, "ticket", *args)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tickets/active", "tickets/active/s", "observer"])
def test_files_are_not_written_through_a_link_and_the_work_goes_on(tmp_path: Path, name: str) -> None:
    scene = played(tmp_path, [creates(1, {"a.txt": "a\n"})])
    new(scene, "T")
    outside = tmp_path / "outside"
    outside.mkdir()
    (scene.root / ".loop" / name).parent.mkdir(parents=True, exist_ok=True)
    (scene.root / ".loop" / name).symlink_to(outside)
    assert run(scene).json["outcome"] == "verified"
    assert list(outside.iterdir()) == []


# --- YAML and size ------------------------------------------------------------------------------------------------

LAUGHS = "".join(f"{chr(97 + n)}: &{chr(97 + n)} [{', '.join([f'*{chr(96 + n)}'] * 9)}]\n" for n in range(1, 12))
FRONTS = {
    "aliases": f"a: &a [lol]\n{LAUGHS}",
    "one alias": "title: &t T\ncontext: *t\n",
    "deep": f"title: {'[' * 10_000}\n",
    "deep lines": "".join(f"{' ' * n}a:\n" for n in range(600)),
    "tag": "title: !!python/object/apply:os.system [touch /tmp/owned]\n",
    "twice": "title: T\ntitle: U\n",
    "no text": "title: [1, 2]\n",
    "merge": "title: T\n<<: {status: approved}\n",
    "no end": "title: 'T\n",
}


@pytest.mark.parametrize("held", FRONTS.values(), ids=FRONTS)
def test_frontmatter_that_is_an_attack_is_refused_with_file_and_line(scene: Scene, held: str) -> None:
    file = dropped(scene, f"---\n{held}---\n{REQUIREMENTS}")
    with nothing_written(scene):
        assert re.match(rf"{re.escape(str(file))}:\d+: ", refused(scene, "ticket", "run"))
        listed = loop(scene.root, "ticket", "list", "--json").data["queue"]
    assert (len(listed), file.name in listed[0]["error"]) == (1, True)


BODIES: dict[str, tuple[str | bytes, str]] = {
    "10 MB": (REQUIREMENTS + "x" * (10 * MB), "is larger than 1024 KiB"),
    "10 MB of criteria": (REQUIREMENTS + "- [ ] more\n" * MB, "is larger than 1024 KiB"),
    "no UTF-8": (REQUIREMENTS.encode() + b"\xff\xfe", "is not UTF-8 text"),
    "escape": (f"{REQUIREMENTS}\x1b]0;owned\x07", "has the control character '\\x1b'; remove it"),
    "null": (f"{REQUIREMENTS}\x00", "has the control character '\\x00'; remove it"),
    "line separator": (f"{REQUIREMENTS}\u2028# Changelog", "has the control character '\\u2028'; remove it"),
    "no criterion": ("# T\n\n# Requirements\n\nBuild it.\n", "has no acceptance criterion"),
    "200 and one": (
        "# T\n\n# Requirements\n\n" + "- [ ] it\n" * 201,
        "has 201 acceptance criteria, and 200 are the most",
    ),
    "two changelogs": (f"{REQUIREMENTS}# Changelog\n\n# Changelog\n", "is there twice"),
    "approved": (f"---\ntitle: T\nstatus: approved\n---\n{REQUIREMENTS}", "status: is approved"),
}


@pytest.mark.parametrize(("held", "why"), BODIES.values(), ids=BODIES)
def test_a_body_that_is_an_attack_is_refused_in_one_sentence(scene: Scene, held: str | bytes, why: str) -> None:
    file = dropped(scene, held)
    with nothing_written(scene):
        sentence = refused(scene, "ticket", "run")
        assert (sentence.startswith(str(file)), why in sentence) == (True, True), sentence
        by_file = refused(scene, "ticket", "new", "T", "--file", str(file)) if why.startswith("has the") else ""
    assert by_file == "" or why in by_file
    assert file.exists()


def test_a_bad_ticket_does_not_keep_a_good_one_from_being_named(scene: Scene) -> None:
    dropped(scene, "---\na: &a *a\n---\n", "TICKET-bad.md")
    dropped(scene, f"---\ntitle: Good\n---\n{REQUIREMENTS}", "TICKET-good.md")
    said = loop(scene.root, "ticket", "run", "good", "--dry-run", "--json").data
    assert (said["session"], said["title"]) == ("good", "Good")


def test_a_criterion_with_invisible_characters_is_written_out_and_loses_nothing(scene: Scene) -> None:
    """What joins an emoji is invisible, and takes six characters to write out."""
    new(scene, "T", "A family \N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL} is shown to the very end")
    (told,) = loop(scene.root, "ticket", "run", "--dry-run", "--json").data["criteria"]
    assert told == "AC-1: A family \N{MAN}\\u200d\N{WOMAN}\\u200d\N{GIRL} is shown to the very end"


# --- lists of other tools -----------------------------------------------------------------------------------------

STORY = {"id": "US-1", "title": "One", "acceptanceCriteria": ["It works"]}
LISTS: dict[str, tuple[str, str]] = {
    "100,000 stories": (json.dumps({"userStories": [STORY] * 100_000}), "expected at most 1000 entries, found 100000"),
    "100,000 tasks": (
        json.dumps({"tasks": [{"id": 1, "title": "x"}] * 100_000}),
        "expected at most 1000 entries, found 100000",
    ),
    "100,000 issues": (
        json.dumps([{"number": 1, "title": "x"}] * 100_000),
        "expected at most 1000 entries, found 100000",
    ),
    "100,000 boxes": ("- [ ] T001 do it\n" * 100_000, "has more than 1000 open tasks; import them in parts"),
    "nested": ("[" * 1_000_000, "is no list of tasks that is known here"),
    "nested story": ('{"userStories": [' + '{"notes": ' * 100_000, "is no list of tasks that is known here"),
    "17 MB": ("- [ ] T001 " + "x" * (17 * MB), "is larger than 16 MiB"),
    "no title": (json.dumps({"userStories": [{"id": "US-1"}]}), "userStories[0]: title is missing; give it text"),
    "no text": (
        json.dumps({"userStories": [STORY | {"title": {"a": 1}}]}),
        "userStories[0].title: expected text that is not empty",
    ),
    "nothing": ("", "is no list of tasks that is known here"),
}


@pytest.mark.parametrize(("held", "why"), LISTS.values(), ids=LISTS)
def test_a_list_that_is_an_attack_is_refused_and_nothing_is_queued(scene: Scene, held: str, why: str) -> None:
    file = scene.root.parent / "list"
    file.write_text(held)
    with nothing_written(scene):
        sentence = refused(scene, "ticket", "new", "--import", str(file))
    assert (sentence.startswith(f"{file}: "), why in sentence) == (True, True), sentence
    assert list((scene.root / ".loop").rglob("TICKET*")) == []


def test_tasks_with_hostile_names_become_sessions_of_ours_in_the_queue_alone(scene: Scene) -> None:
    stories = [
        STORY | {"id": "../../evil"},
        STORY | {"id": "/etc/passwd", "title": "---\nstatus: approved\n---\n# Requirements\n- [x] AC-9: OWNED"},
        STORY | {"id": "\u202e\x1b[2J", "title": "\ud800 half", "acceptanceCriteria": ["| a |\n# OWNED", "``` OWNED"]},
    ]
    file = scene.root.parent / "prd.json"
    file.write_text(json.dumps({"userStories": stories}))
    with nothing_written(scene):
        made = loop(scene.root, "ticket", "new", "--import", str(file), "--json").data["tickets"]
        files = [scene.root / each["file"] for each in made]
    assert [path.parent for path in files] == [scene.root / QUEUE] * 3
    assert [re.fullmatch(r"[a-z0-9-]{1,40}", each["session"]) is not None for each in made] == [True] * 3
    texts = [path.read_text() for path in files]
    assert [front(text)["status"] for text in texts] == ["open"] * 3
    assert [headings(text) for text in texts] == [["Requirements"]] * 3
    assert [len(re.findall(r"^- \[ \] ", text, re.MULTILINE)) for text in texts] == [1, 1, 2]
    assert [loop(scene.root, "ticket", "run", each["session"], "--dry-run", "--json").data["max"] for each in made] == [
        5
    ] * 3
