"""What an agent can write outside of every tree and checks find there is seen before a check runs."""

from pathlib import Path

import pytest

from loopwright.adapters.tool_places import ToolPlaces, relied_on_differs
from loopwright.config.settings import WorkspaceSettings

MAKE = (("make", "test"),)


class Home:
    def __init__(self, folder: Path, *manifests: str, copy: tuple[str, ...] = ()) -> None:
        self.folder, self.root = folder / "home", folder / "repo"
        for each in ("early", "late"):
            (self.folder / each).mkdir(parents=True)
        self.root.mkdir()
        for name in manifests:
            self.put(self.root / name)
        self.program("late", "python3")
        self.program("late", "make")
        self.environ = {"HOME": str(self.folder), "PATH": f"{self.folder}/early:{self.folder}/late"}
        self.places = ToolPlaces.of(MAKE, WorkspaceSettings(copy=copy), self.environ, self.root)

    def put(self, file: Path, text: str = "x\n") -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def program(self, where: str, name: str, text: str = "#!/bin/sh\n") -> Path:
        file = self.put(self.folder / where / name, text)
        file.chmod(0o755)
        return file


@pytest.mark.parametrize(
    ("manifest", "file"),
    [
        ("package.json", ".npmrc"),
        ("web/package.json", ".yarnrc.yml"),
        ("Cargo.toml", ".cargo/config.toml"),
        ("Cargo.toml", "../.cargo/config"),
        ("go.mod", ".config/go/env"),
        ("Gemfile", ".rspec"),
        ("pyproject.toml", ".config/tox/config.ini"),
    ],
)
def test_settings_of_the_tools_of_a_project_are_seen_when_they_come_change_and_go(
    tmp_path: Path, manifest: str, file: str
) -> None:
    home = Home(tmp_path, manifest)
    path = (home.folder / file).resolve()
    for before in (home.places.now(), home.places.for_log()):
        look = home.places.for_log if "program " in before else home.places.now
        assert not list(relied_on_differs(before, look()))
        home.put(path)
        assert list(relied_on_differs(before, look())) == [f"{path} is new"]
        there = look()
        home.put(path, "other\n")
        assert list(relied_on_differs(there, look())) == [f"{path} was changed"]
        path.unlink()
        assert list(relied_on_differs(there, look())) == [f"{path} is gone"]


def test_settings_of_tools_that_a_project_does_not_have_are_the_persons_own(tmp_path: Path) -> None:
    home = Home(tmp_path, "pyproject.toml")
    before = home.places.now()
    for name in (".npmrc", ".zshenv", ".cargo/config.toml"):
        home.put(home.folder / name)
    assert not list(relied_on_differs(before, home.places.now()))


def test_a_log_of_an_older_version_knows_nothing_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path, "package.json")
    home.put(home.folder / ".npmrc")
    assert not list(relied_on_differs({}, home.places.for_log()))


def test_a_program_in_front_of_another_is_named_and_nothing_else(tmp_path: Path) -> None:
    home = Home(tmp_path)
    before, logged = home.places.now(), home.places.for_log()
    home.program("early", "jq")  # one that was not there hides none
    assert not list(relied_on_differs(before, home.places.now()))
    planted = home.program("early", "python3")
    said = [f"{planted} is found in place of {home.folder}/late/python3"]
    assert list(relied_on_differs(before, home.places.now())) == said
    assert list(relied_on_differs(logged, home.places.for_log())) == said


def test_a_program_that_is_written_anew_with_the_same_text_is_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path)
    before = home.places.now()
    home.program("late", "make")
    assert not list(relied_on_differs(before, home.places.now()))
    changed = home.program("late", "make", "#!/bin/sh\ntrue\n")
    assert list(relied_on_differs(before, home.places.now())) == [f"{changed} was changed"]
    changed.unlink()
    assert list(relied_on_differs(before, home.places.now())) == [f"{changed} is gone"]


def test_on_another_path_other_programs_are_found_and_nobody_put_them_there(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.program("other", "make")
    logged = home.places.for_log()
    elsewhere = {**home.environ, "PATH": f"{home.folder}/other"}
    now = ToolPlaces.of(MAKE, WorkspaceSettings(), elsewhere, home.root).for_log()
    assert not list(relied_on_differs(logged, now))


@pytest.mark.parametrize("name", ["same/index.js", "@scope/same/index.js", ".bin/jest", "new/index.js"])
def test_what_is_copied_for_every_checkout_is_seen(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path, "node_modules/same/index.js", "node_modules/.cache/x/y", copy=("node_modules", ".env"))
    modules = home.root / "node_modules"
    for each in ("@scope/same/index.js", ".bin/jest"):
        home.put(modules / each)
    before, logged = home.places.now(), home.places.for_log()
    home.put(modules / ".cache" / "x" / "z")
    assert not list(relied_on_differs(before, home.places.now()))
    home.put(modules / name, "other\n")
    (said,) = relied_on_differs(before, home.places.now())
    assert said.startswith(str(modules / name))
    assert list(relied_on_differs(logged, home.places.for_log())) == [f"{modules} was changed"]


def test_without_a_home_there_is_nothing_to_read(tmp_path: Path) -> None:
    home = Home(tmp_path, "package.json")
    places = ToolPlaces.of((), WorkspaceSettings(), {"PATH": ""}, home.root)
    assert (places.settings, places.now()) == ((), {})
