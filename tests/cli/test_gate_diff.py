import asyncio
import os
from pathlib import Path

import pytest

from loopwright.cli.person import shown_diff
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.model import Change, Key
from tests.adapters.git.scene import Scene
from tests.repository import Repository


@pytest.fixture
def scene(repo: Repository) -> Scene:
    repo.write("tests/t.py", "assert slow\n")
    repo.commit("files")
    return Scene(repo)


def shown(scene: Scene, *guarded: str) -> str:
    """What a person sees of the workspace's change, with a gate for these of its paths."""
    shot = scene.snapshot()
    because = tuple(change for change in shot.changes if change.path in guarded)
    assert len(because) == len(guarded)
    gate = AwaitGate(
        key=Key.parse("gate-1"),
        gate="protected",
        why="tests changed",
        commit=shot.commit,
        evidence="e",
        because=because,
    )
    return asyncio.run(shown_diff(scene.workspace, scene.base, gate))


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def test_only_what_called_for_the_gate_is_shown_and_nothing_in_it_steers_the_terminal(scene: Scene) -> None:
    folder = scene.prepare()
    write(folder, "src/a.py", "code\n")
    write(folder, "tests/t.py", "\x1b]8;;evil\x07\n")
    text = shown(scene, "tests/t.py")
    assert text.endswith("-assert slow\n+\\x1b]8;;evil\\x07")
    assert "src/a.py" not in text


@pytest.mark.parametrize("line", ["x = 'diff --git '", "diff --git a/src/a.py b/src/a.py", "# diff --git a/x b/x"])
def test_no_line_of_a_file_hides_what_follows_it(scene: Scene, line: str) -> None:
    write(scene.prepare(), "tests/t.py", f"assert slow\n{line}\nos.system('evil')\n")
    assert f"+{line}\n+os.system('evil')" in shown(scene, "tests/t.py")


def test_a_large_change_elsewhere_does_not_push_the_guarded_one_out(scene: Scene) -> None:
    folder = scene.prepare()
    write(folder, "aaa.txt", "x" * 79 + "\n" + "y\n" * 200_000)
    write(folder, "tests/t.py", "pass\n")
    assert shown(scene, "tests/t.py").endswith("-assert slow\n+pass")


def test_a_change_that_is_too_long_says_so(scene: Scene) -> None:
    write(scene.prepare(), "tests/t.py", "pass\n" * 20_000)
    text = shown(scene, "tests/t.py")
    assert len(text) <= 20_000
    assert text.endswith("[… the rest of the change is left out]")


def test_a_name_that_is_no_text_is_shown_with_its_change_and_so_is_one_that_looks_like_it(scene: Scene) -> None:
    folder = scene.prepare()
    for name, content in ((b"odd\xff.py", b"one\n"), (b"odd\\xff.py", b"other\n")):
        (folder / os.fsdecode(b"tests/" + name)).write_bytes(content)
    shot = scene.snapshot()
    assert [change.path for change in shot.changes] == ["tests/odd\\xff.py"] * 2
    gate = AwaitGate(
        key=Key.parse("gate-1"),
        gate="protected",
        why="tests changed",
        commit=shot.commit,
        evidence="e",
        because=(Change(path="tests/odd\\xff.py", how="added"),),
    )
    text = asyncio.run(shown_diff(scene.workspace, scene.base, gate))
    assert "+one" in text
    assert "+other" in text


def test_thousands_of_files_fit(scene: Scene) -> None:
    folder = scene.prepare()
    names = tuple(f"tests/{number}.py" for number in range(1, 1201))
    for name in names:
        write(folder, name, "")
    assert shown(scene, *names).count("diff --git") > 100
