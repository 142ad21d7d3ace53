import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright import __version__
from loopwright.adapters.plugin_folder import RECORD, PluginPlace, install, uninstall
from loopwright.adapters.plugin_texts import plugin_texts
from loopwright.errors import ConfigError, Forbidden, UsageError
from tests.cli.projects import loop
from tests.repository import Repository

FILES = (
    ".claude-plugin/plugin.json",
    "commands/start.md",
    "commands/status.md",
    "commands/resume.md",
    "commands/cancel.md",
    "hooks/hooks.json",
    "README.md",
)
PROGRAM = str(Path(sys.executable).with_name("loop"))


def everything(folder: Path) -> dict[str, str]:
    """Every file and folder below, by its path, with the digest of what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
        if ".git" not in path.relative_to(folder).parts
    }


@pytest.fixture
def place(tmp_path: Path) -> PluginPlace:
    return PluginPlace(top=tmp_path, folder=tmp_path / "skills" / "loop")


# In a project


def test_a_plugin_of_a_project_is_written_and_unseen_by_git(repo: Repository) -> None:
    done = loop(repo.path, "plugin", "install", "--json")
    folder = repo.path / ".claude" / "skills" / "loop"
    assert done.code == 0
    assert done.data == {
        "folder": str(folder),
        "scope": "project",
        "written": [*FILES, ".gitignore", RECORD],
        "removed": [],
        "kept": [],
        "dry_run": False,
        "note": "In Claude Code the next session has it, once you trust this folder there:"
        " /loop:start, /loop:status, /loop:resume, /loop:cancel.",
    }
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == {
        *FILES,
        ".gitignore",
        RECORD,
    }
    assert repo.git("status", "--porcelain") == ""


def test_installing_twice_changes_nothing(repo: Repository) -> None:
    first = loop(repo.path, "plugin", "install").out
    before = everything(repo.path)
    again = loop(repo.path, "plugin", "install", "--project")
    assert (again.code, everything(repo.path)) == (0, before)
    assert first.startswith(f"Wrote 9 files in {repo.path}/.claude/skills/loop:\n  .claude-plugin/plugin.json\n")
    assert again.out.startswith("Nothing to do.\n")


def test_uninstalling_leaves_everything_as_it_was(repo: Repository) -> None:
    (repo.path / ".claude").mkdir()
    (repo.path / ".claude" / "settings.json").write_text('{"model": "sonnet"}')
    before = everything(repo.path)
    loop(repo.path, "plugin", "install")
    done = loop(repo.path, "plugin", "uninstall", "--json")
    assert (done.code, sorted(done.data["removed"]), done.data["kept"]) == (
        0,
        sorted([*FILES, ".gitignore", RECORD]),
        [],
    )
    assert everything(repo.path) == before
    assert loop(repo.path, "plugin", "uninstall").out == (
        f"Nothing to do.\nNo plugin of ours is in {repo.path}/.claude/skills/loop.\n"
    )


def test_a_dry_run_says_what_it_would_do_and_does_nothing(repo: Repository) -> None:
    before = everything(repo.path)
    assert loop(repo.path, "plugin", "install", "--dry-run").out.startswith("Would write 9 files in ")
    assert everything(repo.path) == before
    loop(repo.path, "plugin", "install")
    before = everything(repo.path)
    assert loop(repo.path, "plugin", "uninstall", "--dry-run").out.startswith("Would remove 9 files in ")
    assert everything(repo.path) == before


def test_a_file_that_a_person_changed_is_left_and_named(repo: Repository) -> None:
    loop(repo.path, "plugin", "install")
    folder = repo.path / ".claude" / "skills" / "loop"
    (folder / "commands" / "start.md").write_text("mine")
    again, gone = loop(repo.path, "plugin", "install"), loop(repo.path, "plugin", "uninstall")
    named = f"Left as it is, because it was changed: {folder}/commands/start.md\n"
    assert (again.code, again.out.startswith(named)) == (0, True)
    assert (gone.code, gone.out.endswith(named)) == (0, True)
    assert everything(folder) == {"commands": "folder", "commands/start.md": hashlib.sha256(b"mine").hexdigest()}


def test_a_folder_of_somebody_else_is_never_touched(repo: Repository) -> None:
    own = repo.path / ".claude" / "skills" / "loop" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    before = everything(repo.path)
    for words, sentence in (
        ("install", "is there and not from `loop plugin install`; move it away, or give --path another"),
        ("uninstall", "has no record of `loop plugin install`; nothing was removed"),
    ):
        done = loop(repo.path, "plugin", words)
        assert (done.code, done.out) == (3, "")
        assert done.err == f"loop: {own.parent} {sentence}\n"
    assert everything(repo.path) == before


# Elsewhere


def test_a_plugin_of_a_person_lies_where_claude_code_keeps_its_settings(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    assert loop(tmp_path, "plugin", "install", "--user", "--json").data["folder"] == f"{home}/.claude/skills/loop"
    assert not (home / ".claude/skills/loop/.gitignore").exists()
    other = loop(tmp_path, "plugin", "install", "--user", "--json", CLAUDE_CONFIG_DIR=str(tmp_path / "config"))
    assert other.data["folder"] == f"{tmp_path}/config/skills/loop"
    assert loop(tmp_path, "plugin", "uninstall", "--user").code == 0
    assert everything(home) == {}


def test_a_plugin_can_be_put_anywhere(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    done = loop(tmp_path, "plugin", "install", "--path", "there")
    assert done.out.splitlines()[-1].startswith(
        f"In Claude Code start it with `claude --plugin-dir {tmp_path}/there`: /loop:start,"
    )
    loop(tmp_path, "plugin", "uninstall", "--path", "there")
    assert everything(tmp_path) == {"there": "folder"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--user", "--project"), "--project, --user and --path exclude each other; give one of them"),
        (("--user", "--path", "x"), "--project, --user and --path exclude each other; give one of them"),
    ],
)
def test_one_place_at_a_time(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    done = loop(tmp_path, "plugin", "install", *words)
    assert (done.code, done.err) == (2, f"loop: {sentence}\n")


def test_without_a_home_or_a_repository_the_place_must_be_named(tmp_path: Path) -> None:
    done = loop(tmp_path, "plugin", "install", "--user", HOME="")
    assert (done.code, done.err) == (
        2,
        "loop: HOME is not set, so nobody knows where Claude Code keeps its settings; give --path\n",
    )
    assert loop(tmp_path, "plugin", "install").code == 2


def test_an_agent_installs_nothing(repo: Repository) -> None:
    inside = {"LOOP_STEP": "s1", "LOOP_ROOT": str(repo.path)}
    for words in (("install",), ("install", "--user"), ("uninstall", "--path", "x")):
        done = loop(repo.path, "plugin", *words, **inside)
        assert (done.code, done.err.startswith("loop: loop plugin is for people")) == (3, True)


# What is written


def test_the_manifest_names_the_plugin_after_its_commands(place: PluginPlace) -> None:
    install(place, plugin_texts("loop", __version__, private=False))
    manifest = json.loads((place.folder / ".claude-plugin/plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("loop", __version__)
    for name in ("start", "status", "resume", "cancel"):
        lines = (place.folder / f"commands/{name}.md").read_text().splitlines()
        assert (lines[0], lines[1].partition(": ")[0]) == ("---", "description")
        assert "allowed-tools: Bash(loop status:*)" in "\n".join(lines).replace("Bash(loop start:*), ", "")


def hooks_of(program: str) -> dict[str, str]:
    """The line of shell of each event."""
    found = json.loads(plugin_texts(program, "1", private=False)["hooks/hooks.json"])["hooks"]
    return {event: entries[0]["hooks"][0]["command"] for event, entries in found.items()}


def ran(line: str, said: str = "{}") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["sh", "-c", line], input=said, capture_output=True, text=True, check=False)


def test_the_hooks_ask_the_installed_program(tmp_path: Path) -> None:
    asked = hooks_of(PROGRAM)
    assert list(asked) == ["Stop", "SessionStart"]
    for line in asked.values():
        done = ran(line)
        assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


@pytest.mark.parametrize("name", ["it's $HOME `x`", "two words", 'a"b', "ü;x"])
def test_a_program_of_any_name_is_called_by_it(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    program.write_text('#!/bin/sh\nprintf "%s " "$@"; cat')
    program.chmod(0o700)
    assert ran(hooks_of(str(program))["Stop"], "said").stdout == "hook stop said"
    assert shlex.quote(str(program)) in plugin_texts(str(program), "1", private=False)["commands/status.md"]


def test_from_a_folder_with_a_space_every_command_can_be_copied_and_every_hook_runs(tmp_path: Path) -> None:
    folder = tmp_path / "my plugins" / "it's loop"
    told = str(loop(tmp_path, "plugin", "install", "--path", str(folder), "--json").data["note"])
    assert shlex.split(told.split("`")[1]) == ["claude", "--plugin-dir", str(folder)]
    for entries in json.loads((folder / "hooks/hooks.json").read_text())["hooks"].values():
        line = entries[0]["hooks"][0]["command"]
        done = subprocess.run(
            ["sh", "-c", line], input="{}", capture_output=True, text=True, check=False, cwd=folder.parent
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


def test_the_page_of_a_plugin_names_its_program_as_a_shell_takes_it() -> None:
    assert "`'/my tools/loop'`" in plugin_texts("/my tools/loop", "1", private=False)["README.md"]


def test_a_program_that_is_gone_lets_the_session_go(tmp_path: Path) -> None:
    for program in (str(tmp_path / "gone" / "loop"), "loop-that-is-nowhere"):
        done = ran(hooks_of(program)["Stop"])
        assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


# The folder


def test_a_newer_plugin_takes_the_place_of_an_older_one(place: PluginPlace) -> None:
    install(place, {"a": "old", "b/c": "old", "d": "same", "e": "old"})
    (place.folder / "e").write_text("mine")
    change = install(place, {"a": "new", "d": "same", "f": "new"})
    assert (change.written, change.removed, change.kept) == (("a", "f", RECORD), ("b/c",), ("e",))
    assert {file.name: file.read_text() for file in place.folder.iterdir() if file.name != RECORD} == {
        "a": "new",
        "d": "same",
        "e": "mine",
        "f": "new",
    }
    gone = uninstall(place)
    assert (gone.removed, gone.kept) == (("a", "d", "f", RECORD), ("e",))


def test_a_new_file_never_takes_the_place_of_somebody_elses(place: PluginPlace) -> None:
    install(place, {"a": "old"})
    for make in (lambda path: path.write_text("mine"), Path.mkdir):
        make(place.folder / "b")
        before = everything(place.top)
        with pytest.raises(Forbidden, match="b is not from `loop plugin install`; move it away and try again"):
            install(place, {"a": "new", "b": "new"})
        assert everything(place.top) == before
        (place.folder / "b").unlink() if (place.folder / "b").is_file() else (place.folder / "b").rmdir()


def test_what_was_interrupted_can_be_done_again(place: PluginPlace) -> None:
    texts = {"a": "1", "b/c": "2"}
    install(place, texts)
    (place.folder / "b/c").unlink()
    assert install(place, texts).written == ("b/c", RECORD)
    (place.folder / "a").unlink()
    assert uninstall(place).removed == ("b/c", RECORD)
    assert everything(place.top) == {}


def test_links_are_not_followed(place: PluginPlace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "skills").symlink_to(other)
    with pytest.raises(ConfigError, match="is a link; nothing is read or written there"):
        install(place, {"a": "1"})
    with pytest.raises(ConfigError, match="is a link; nothing is read or written there"):
        uninstall(place)
    assert everything(other) == {}


def test_links_in_the_folder_are_not_followed(place: PluginPlace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    install(place, {"a": "1"})
    (place.folder / "b").symlink_to(other)
    with pytest.raises(ConfigError, match="b: is a link; nothing is read or written there"):
        install(place, {"a": "1", "b/c": "2"})
    assert everything(other) == {}


@pytest.mark.parametrize(
    "record",
    [
        "{",
        "[]",
        '{"version":2,"made":1,"written":[]}',
        '{"version":1,"made":-1,"written":[]}',
        '{"version":1,"made":99,"written":[]}',
        '{"version":1,"made":1,"written":[{"path":"../a","digest":"x"}]}',
        '{"version":1,"made":1,"written":[{"path":"/a","digest":"x"}]}',
        '{"version":1,"made":1,"written":[{"path":"","digest":"x"}]}',
        '{"version":1,"made":1,"written":[{"path":"a\\u0000","digest":"x"}]}',
    ],
)
def test_a_record_that_is_not_ours_removes_nothing(place: PluginPlace, record: str) -> None:
    install(place, {"a": "1"})
    (place.folder / RECORD).write_text(record)
    before = everything(place.top)
    with pytest.raises(Forbidden, match="cannot be read, so nobody knows what is ours"):
        uninstall(place)
    with pytest.raises(Forbidden, match="cannot be read, so nobody knows what is ours"):
        install(place, {"a": "2"})
    assert everything(place.top) == before


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    below = PluginPlace(top=tmp_path, folder=tmp_path / "file" / "loop")
    with pytest.raises(UsageError, match="; make it writable and try again"):
        install(below, {"a": "1"})
