"""Dependency folders are shared by links, and a run that changed one does not count."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.prepared import IsNamed
from loopwright.adapters.git.verification import LaidCheckout, VerificationCheckouts
from loopwright.errors import DependenciesChanged, NeedsPerson
from loopwright.kernel.model import Commit
from tests.adapters.git.scene import Scene
from tests.repository import Repository

DEPENDENCY = "node_modules/dep/index.js"
MAKES = """
import os, pathlib
def put(path, text):
    file = pathlib.Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
put("node_modules/dep/index.js", "made")
put("node_modules/@scope/dep/index.js", "made")
put("node_modules/.cache/tool/state", "made")
os.makedirs("node_modules/empty")
"""


@dataclass(frozen=True)
class Linked:
    """A project whose setup makes `node_modules`, and counts how often it does."""

    repo: Repository
    preparation: Preparation
    pool: VerificationCheckouts
    base: Commit

    @property
    def setups(self) -> int:
        return len((self.repo.path.parent / "setups").read_text())

    @property
    def shelf(self) -> Path:
        (found,) = (folder for folder in (self.repo.path / ".loop" / "prepared").iterdir() if folder.is_dir())
        return found / "files"

    def use(self, do: Callable[[LaidCheckout], None] = lambda _laid: None) -> None:
        async def run() -> None:
            tree = await self.pool.compose(self.base, taken_from=self.base, paths=frozenset())
            async with self.pool.lay(tree, commit=self.base, base=self.base) as laid, laid.guard():
                do(laid)

        asyncio.run(run())

    def is_link(self, path: str) -> bool:
        found: list[bool] = []
        self.use(lambda laid: found.append(Path(os.path.realpath(laid.folder / path)).is_relative_to(self.shelf)))
        return found[0]

    def again(self, is_named: IsNamed | None = None) -> "Linked":
        return linked(self.repo, self.base, self.preparation, is_named)


def preparation(repo: Repository, more: str = "", *, link: bool = True) -> Preparation:
    code = f"{MAKES}{more}\nopen({str(repo.path.parent / 'setups')!r}, 'a').write('x')"
    return Preparation(setup=((sys.executable, "-c", code),), link=link)


def linked(
    repo: Repository, base: Commit, prepared: Preparation | None = None, is_named: IsNamed | None = None
) -> Linked:
    prepared = prepared or preparation(repo)
    pool = VerificationCheckouts(repo.path, env=os.environ, preparation=prepared, is_named=is_named)
    return Linked(repo, prepared, pool, base)


@pytest.fixture
def based(repo: Repository) -> tuple[Repository, Commit]:
    repo.write(".gitignore", "node_modules/\n.venv/\n")
    return repo, Commit(repo.commit("Base"))


def test_entries_of_a_dependency_folder_are_links_and_what_a_run_adds_stays_in_its_checkout(
    based: tuple[Repository, Commit],
) -> None:
    made = linked(*based)

    def look(laid: LaidCheckout) -> None:
        modules = laid.folder / "node_modules"
        entries = {path.name: path.is_symlink() for path in modules.iterdir()}
        assert entries == {"dep": True, "@scope": True, "empty": True, ".cache": False}
        assert (laid.folder / DEPENDENCY).read_text() == "made"
        (modules / ".vite").mkdir()
        (modules / ".cache" / "tool" / "state").write_text("by a run")

    made.use(look)
    assert sorted(path.name for path in (made.shelf / "node_modules").iterdir()) == [".cache", "@scope", "dep", "empty"]
    assert (made.shelf / "node_modules" / ".cache" / "tool" / "state").read_text() == "made"
    made.use()
    assert made.setups == 1


def test_without_link_every_checkout_gets_a_copy(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    made = linked(repo, base, preparation(repo, link=False))
    made.use(write)
    assert ((made.shelf / DEPENDENCY).read_text(), made.is_link(DEPENDENCY)) == ("made", False)


def test_a_makers_workspace_gets_a_copy(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    linked(repo, base).use()
    folder = Scene(repo, preparation(repo)).prepare()
    (folder / DEPENDENCY).write_text("by its agent")
    assert (linked(repo, base).shelf / DEPENDENCY).read_text() == "made"


def write(laid: LaidCheckout) -> None:
    (laid.folder / DEPENDENCY).write_text("evil")


def write_with_the_old_time(laid: LaidCheckout) -> None:
    before = (laid.folder / DEPENDENCY).stat()
    write(laid)
    os.utime(laid.folder / DEPENDENCY, ns=(before.st_atime_ns, before.st_mtime_ns))


def write_and_put_back(laid: LaidCheckout) -> None:
    write_with_the_old_time(laid)
    (laid.folder / DEPENDENCY).write_text("made")


def add(laid: LaidCheckout) -> None:
    (laid.folder / "node_modules" / "dep" / "more.js").write_text("evil")


def add_and_remove(laid: LaidCheckout) -> None:
    add(laid)
    (laid.folder / "node_modules" / "dep" / "more.js").unlink()


def remove(laid: LaidCheckout) -> None:
    (laid.folder / DEPENDENCY).unlink()


@pytest.mark.parametrize("deed", [write, write_with_the_old_time, write_and_put_back, add, add_and_remove, remove])
def test_a_run_that_writes_into_a_dependency_folder_does_not_count_and_the_next_has_a_copy(
    based: tuple[Repository, Commit], deed: Callable[[LaidCheckout], None]
) -> None:
    made = linked(*based)
    with pytest.raises(DependenciesChanged):
        made.use(deed)
    made.use(deed)
    texts: list[str] = []
    made.again().use(lambda laid: texts.append((laid.folder / DEPENDENCY).read_text()))
    assert (texts, (made.shelf / "node_modules" / "dep" / "more.js").exists()) == (["made"], False)
    assert not made.again().is_link(DEPENDENCY)


def test_a_hard_link_made_elsewhere_costs_one_run_and_nothing_else(based: tuple[Repository, Commit]) -> None:
    made = linked(*based)
    elsewhere = made.repo.path.parent / "elsewhere"
    with pytest.raises(DependenciesChanged):
        made.use(lambda _laid: elsewhere.hardlink_to(made.shelf / DEPENDENCY))
    made.use()
    assert (made.setups, made.is_link(DEPENDENCY)) == (1, True)


@pytest.mark.parametrize("path", [DEPENDENCY, "node_modules/evil.js"])
def test_what_an_agent_altered_between_two_runs_is_made_again(based: tuple[Repository, Commit], path: str) -> None:
    made = linked(*based)
    made.use()
    (made.shelf / path).write_text("evil")
    with pytest.raises(DependenciesChanged):
        made.use()
    texts: list[tuple[str, bool]] = []
    made.use(lambda laid: texts.append(((laid.folder / DEPENDENCY).read_text(), (laid.folder / path).exists())))
    assert (texts, made.setups) == ([("made", path == DEPENDENCY)], 2)


def test_a_checkout_with_links_does_not_serve_once_others_get_copies(based: tuple[Repository, Commit]) -> None:
    made = linked(*based)

    async def run() -> None:
        tree = await made.pool.compose(made.base, taken_from=made.base, paths=frozenset())
        async with made.pool.lay(tree, commit=made.base, base=made.base) as laid:
            made.shelf.parent.with_name(f"{made.shelf.parent.name}.copied").touch()
            async with laid.guard():
                pytest.fail("nothing would look at what it links to")

    with pytest.raises(DependenciesChanged):
        asyncio.run(run())


def test_two_processes_that_do_not_trust_each_other_end_with_copies(based: tuple[Repository, Commit]) -> None:
    made = linked(*based)

    async def run() -> None:
        tree = await made.pool.compose(made.base, taken_from=made.base, paths=frozenset())
        async with made.pool.lay(tree, commit=made.base, base=made.base) as laid:
            await asyncio.to_thread(made.again().use)
            async with laid.guard():
                pytest.fail("a check would run with what another process made")

    with pytest.raises(DependenciesChanged):
        asyncio.run(run())
    assert not made.is_link(DEPENDENCY)


@pytest.mark.parametrize("path", [DEPENDENCY, "node_modules/evil.js"])
def test_another_process_links_only_to_what_is_as_the_list_says(based: tuple[Repository, Commit], path: str) -> None:
    made = linked(*based)
    made.use()

    async def is_named(_name: str) -> bool:
        return True

    made.again(is_named).use()
    assert made.setups == 1
    (made.shelf / path).write_text("evil")
    made.again(is_named).use()
    assert (made.setups, made.is_link(DEPENDENCY)) == (2, True)


WORKSPACE = 'os.symlink("../packages/app", "node_modules/app"); put("packages/app/index.js", "own")'
SPEAKS = 'put("node_modules/dep/build/config", os.getcwd())'


@pytest.mark.parametrize("more", [WORKSPACE, SPEAKS])
def test_a_folder_that_leads_into_the_checkout_is_copied(based: tuple[Repository, Commit], more: str) -> None:
    repo, base = based
    assert not linked(repo, base, preparation(repo, more)).is_link(DEPENDENCY)


def test_a_link_that_stays_in_its_folder_and_a_note_at_its_top_do_no_harm(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    more = 'os.symlink(".store/x", "node_modules/x"); put("node_modules/.store/x/a", "made");'
    more += 'put("node_modules/.state.json", os.getcwd())'
    made = linked(repo, base, preparation(repo, more))

    def look(laid: LaidCheckout) -> None:
        assert (laid.folder / "node_modules" / ".state.json").read_text() == str(laid.folder)
        assert (laid.folder / "node_modules" / "x").readlink() == Path(".store/x")
        assert (laid.folder / "node_modules" / "x" / "a").read_text() == "made"

    made.use(look)
    assert made.is_link(DEPENDENCY)


def test_a_folder_in_which_the_tree_has_files_is_copied(based: tuple[Repository, Commit]) -> None:
    repo, _ = based
    repo.write("node_modules/own/index.js", "own\n")
    repo.git("add", "--force", "node_modules/own")
    made = linked(repo, Commit(repo.commit("Vendored")))
    texts: list[str] = []
    made.use(lambda laid: texts.append((laid.folder / "node_modules" / "own" / "index.js").read_text()))
    assert (texts, made.is_link(DEPENDENCY)) == (["own\n"], False)


def test_a_virtual_environment_imports_the_checkout_and_shares_its_packages(based: tuple[Repository, Commit]) -> None:
    repo, _ = based
    repo.write("src/own.py", "PLACE = __file__\n")
    more = """
import glob, subprocess, sys, venv
venv.create(".venv", symlinks=True)
(site,) = glob.glob(".venv/lib/python*/site-packages")
put(site + "/own.pth", os.getcwd() + "/src")
put(site + "/dep/__init__.py", "")
put(site + "/dep/__pycache__/a.pyc", os.getcwd())
put(".venv/bin/tool", "#!" + os.getcwd() + "/.venv/bin/python\\nimport own, dep; print(own.PLACE, dep.__file__)")
os.chmod(".venv/bin/tool", 0o755)
"""
    made = linked(repo, Commit(repo.commit("Sources")), preparation(repo, more))

    def look(laid: LaidCheckout) -> None:
        environ = {"PYTHONDONTWRITEBYTECODE": "1"}
        own, dep = subprocess.check_output((laid.folder / ".venv/bin/tool",), env=environ, text=True).split()
        assert own == f"{laid.folder}/src/own.py"
        assert dep.startswith(f"{laid.folder}/.venv/lib/")
        assert Path(os.path.realpath(dep)).is_relative_to(made.shelf)

    made.use(look)
    made.use(look)
    assert made.setups == 1


def test_what_copy_brings_is_not_taken_again_after_it_was_changed(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    repo.write(DEPENDENCY, "the person's")
    repo.write("node_modules/.cache/state", "the person's")
    made = linked(repo, base, Preparation(copy=("node_modules",)))
    made.use()
    repo.write("node_modules/.cache/state", "by the person's own run")
    made.use()
    repo.write(DEPENDENCY, "evil")
    made.use()
    (made.shelf / DEPENDENCY).write_text("evil")
    with pytest.raises(DependenciesChanged):
        made.use()
    with pytest.raises(NeedsPerson, match="node_modules was changed while the loop ran"):
        made.use()


def test_files_that_checks_remove_between_commands_are_not_those_of_setup(based: tuple[Repository, Commit]) -> None:
    made = linked(*based)

    async def run() -> bool:
        tree = await made.pool.compose(made.base, taken_from=made.base, paths=frozenset())
        async with made.pool.lay(tree, commit=made.base, base=made.base) as laid:
            await laid.restore(lambda _path: True)
            return (laid.folder / DEPENDENCY).exists()

    assert asyncio.run(run())
