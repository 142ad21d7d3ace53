import asyncio
import errno
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.adapters.git import run_folders
from loopwright.adapters.git.folders import remove
from loopwright.adapters.git.objects import GitObjects
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.site import Site
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.errors import SetupFailed
from loopwright.kernel.gates import evidence, is_check_configuration, is_protected
from loopwright.kernel.model import Change, Commit, Tree
from tests.adapters.git.scene import run_in
from tests.ports.conformance.workspace import files_in
from tests.repository import Repository

PROTECTED = ("tests/**",)
TREE = "^{tree}"


def checkouts(repo: Repository, preparation: Preparation | None = None) -> VerificationCheckouts:
    return VerificationCheckouts(repo.path, env=os.environ, preparation=preparation)


def protected_changes(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    old = (change for change in changes if change.how != "added" or is_check_configuration(change.path))
    return tuple(change for change in old if is_protected(change.path, PROTECTED))


async def judged(pool: VerificationCheckouts, commit: str, base: str, approved: tuple[str, ...] = ()) -> Tree:
    """The commit's tree, with protected files as in the base."""
    guarded = protected_changes(await pool.objects.changes(Commit(base), Commit(commit)))
    paths = frozenset(change.path for change in guarded) if evidence(guarded) not in approved else frozenset()
    return await pool.compose(Commit(commit), taken_from=Commit(base), paths=paths)


def look(
    pool: VerificationCheckouts,
    commit: str,
    base: str,
    approved: tuple[str, ...] = (),
    *,
    do: Callable[[Path], None] = print,
) -> tuple[dict[str, str], str]:
    """Lay it, look at the files, let a check do something there."""

    async def run() -> tuple[dict[str, str], str]:
        tree = await judged(pool, commit, base, approved)
        async with pool.lay(tree, commit=Commit(commit), base=Commit(base)) as laid:
            files = files_in(laid.folder)
            do(laid.folder)
            return files, laid.tree

    return asyncio.run(run())


@pytest.fixture
def based(repo: Repository) -> tuple[Repository, str]:
    repo.write("tests/test_a.py", "base\n")
    repo.write("tests/test_b.py", "base\n")
    repo.write("src.py", "base\n")
    return repo, repo.commit("Base")


def cheating(repo: Repository) -> str:
    repo.write("src.py", "changed\n")
    repo.write("tests/test_a.py", "loosened\n")
    repo.write("tests/test_new.py", "new\n")
    (repo.path / "tests" / "test_b.py").unlink()
    return repo.commit("Cheat")


def test_protected_paths_come_from_the_base_and_new_ones_run(based: tuple[Repository, str]) -> None:
    repo, base = based
    files, tree = look(checkouts(repo), cheating(repo), base)
    assert files == {
        "README.md": "# Sample\n",
        "src.py": "changed\n",
        "tests/test_a.py": "base\n",
        "tests/test_b.py": "base\n",
        "tests/test_new.py": "new\n",
    }
    assert repo.git("ls-tree", "-r", "--name-only", tree).split() == sorted(files)


def test_an_approved_change_runs_as_it_is(based: tuple[Repository, str]) -> None:
    repo, base = based
    commit = cheating(repo)
    changes = asyncio.run(GitObjects(Site(repo.path, os.environ)).changes(Commit(base), Commit(commit)))
    approval = evidence(protected_changes(changes))
    files, tree = look(checkouts(repo), commit, base, (approval,))
    assert (files["tests/test_a.py"], "tests/test_b.py" in files) == ("loosened\n", False)
    assert tree == repo.git("rev-parse", commit + TREE)
    assert look(checkouts(repo), commit, base, ("another",))[0]["tests/test_a.py"] == "base\n"


def test_a_file_or_link_in_place_of_protected_files_gives_way(based: tuple[Repository, str]) -> None:
    repo, base = based
    shutil.rmtree(repo.path / "tests")
    (repo.path / "tests").symlink_to("/etc")
    files, _ = look(checkouts(repo), repo.commit("Link"), base)
    assert (files["tests/test_a.py"], files["tests/test_b.py"]) == ("base\n", "base\n")


def test_what_a_run_leaves_behind_is_gone_at_the_next(based: tuple[Repository, str]) -> None:
    repo, base = based

    def vandalise(folder: Path) -> None:
        (folder / "src.py").write_text("vandalised\n")
        (folder / "README.md").unlink()
        (folder / "README.md").mkdir()
        (folder / "README.md" / "x").write_text("x")
        (folder / ".coverage").write_text("x")
        (folder / "empty").mkdir()
        run_in(folder / "tests", "git", "init", "--quiet")
        shutil.rmtree(folder / ".git")
        (folder / "out").symlink_to("/")
        os.mkfifo(folder / "pipe")

    pool = checkouts(repo)
    before, tree = look(pool, base, base, do=vandalise)
    seen: list[str] = []
    assert look(pool, base, base, do=lambda folder: seen.extend(p.name for p in folder.iterdir())) == (before, tree)
    assert sorted(seen) == [".git", "README.md", "src.py", "tests"]
    del pool
    assert list((repo.path / ".loop" / "verify").iterdir()) == [repo.path / ".loop" / "verify" / "pytest.ini"]
    assert [path.name for path in (repo.path / ".loop" / "git" / "verify").iterdir()] == ["lock"]


@pytest.mark.parametrize("busy", [".loop/verify", ".loop/git/verify"])
def test_a_folder_in_which_somebody_still_writes_is_left_for_the_next_run(
    based: tuple[Repository, str], monkeypatch: pytest.MonkeyPatch, busy: str
) -> None:
    repo, base = based

    def remove_unless_busy(path: Path) -> None:
        if path.parent == repo.path / busy:
            raise OSError(errno.ENOTEMPTY, "Directory not empty", str(path))
        remove(path)

    def left() -> list[str]:
        return [each.name for each in (repo.path / busy).iterdir() if len(each.name) == 32]

    seen = list[str]()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(run_folders, "remove", remove_unless_busy)
        look(checkouts(repo), base, base, do=lambda folder: seen.append(folder.name))
        assert left() == seen
    look(checkouts(repo), base, base)
    assert left() == []


def test_files_that_no_run_altered_are_not_written_again(based: tuple[Repository, str]) -> None:
    repo, base = based
    repo.write("src.py", "changed\n")
    commit = repo.commit("Change")
    pool, seen = checkouts(repo), list[tuple[int, int]]()

    def work(folder: Path) -> None:
        seen.append(((folder / "README.md").stat().st_ino, (folder / "src.py").stat().st_ino))
        (folder / "left.txt").write_text("x")

    before, _ = look(pool, base, base, do=work)
    after, _ = look(pool, commit, base, do=work)
    assert after == {**before, "src.py": "changed\n"}
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] != seen[1][1]


def write_and_set_back(folder: Path) -> None:
    file = folder / "src.py"
    found = file.stat()
    file.write_text("evil\n")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


def put_link_in_front(folder: Path) -> None:
    (folder / "tests").rename(folder.parent / "moved")
    (folder / "tests").symlink_to(folder.parent / "moved")


def link_from_elsewhere(folder: Path) -> None:
    (folder.parent / "other").hardlink_to(folder / "src.py")


@pytest.mark.parametrize("bend", [write_and_set_back, put_link_in_front, link_from_elsewhere])
def test_a_folder_in_which_a_file_was_altered_serves_no_other_run(
    based: tuple[Repository, str], bend: Callable[[Path], None]
) -> None:
    repo, base = based
    pool, seen = checkouts(repo), list[str]()

    def write_through_link(folder: Path) -> None:
        (folder.parent / "other").write_text("evil\n")
        seen.append((folder / "src.py").read_text())

    before, _ = look(pool, base, base, do=bend)
    assert look(pool, base, base, do=write_through_link)[0] == before
    assert seen == ["base\n"]


def test_every_run_has_a_folder_of_a_name_nobody_knows_before(based: tuple[Repository, str]) -> None:
    repo, base = based
    pool, seen = checkouts(repo), set[str]()
    for _ in range(2):
        look(pool, base, base, do=lambda folder: seen.add(folder.name))
    assert len(seen) == 2
    assert all(len(name) == 32 for name in seen)


def test_git_in_a_checkout_is_at_the_candidate(based: tuple[Repository, str]) -> None:
    repo, base = based
    seen: list[str] = []
    look(checkouts(repo), base, base, do=lambda folder: seen.append(run_in(folder, "git", "status", "-sb").stdout))
    assert seen == ["## work\n"]


def test_checkouts_that_are_open_at_once_share_nothing(based: tuple[Repository, str]) -> None:
    repo, base = based
    commit = cheating(repo)

    async def run() -> list[str]:
        first, second = checkouts(repo), checkouts(repo)
        old, new = await judged(first, base, base), await judged(second, commit, base)
        async with (
            first.lay(old, commit=Commit(base), base=Commit(base)) as one,
            second.lay(new, commit=Commit(commit), base=Commit(base)) as two,
        ):
            assert one.folder != two.folder
            return [(laid.folder / "src.py").read_text() for laid in (one, two)]

    assert asyncio.run(run()) == ["base\n", "changed\n"]


def test_new_configuration_of_checks_runs_only_when_approved(based: tuple[Repository, str]) -> None:
    repo, base = based
    repo.write("tests/conftest.py", "collect_ignore = ['test_a.py']\n")
    commit = repo.commit("Steer")
    assert "tests/conftest.py" not in look(checkouts(repo), commit, base)[0]
    changes = asyncio.run(GitObjects(Site(repo.path, os.environ)).changes(Commit(base), Commit(commit)))
    assert "tests/conftest.py" in look(checkouts(repo), commit, base, (evidence(changes),))[0]


def test_between_two_commands_the_tree_is_put_back_and_what_setup_made_stays(based: tuple[Repository, str]) -> None:
    repo, base = based
    made = "import pathlib; pathlib.Path('.venv').mkdir(); pathlib.Path('.venv/conftest.py').write_text('made')"
    pool = checkouts(repo, Preparation(setup=((sys.executable, "-c", made),)))

    async def run() -> dict[str, str]:
        tree = await judged(pool, base, base)
        async with pool.lay(tree, commit=Commit(base), base=Commit(base)) as laid:
            for name in ("tests/test_a.py", "conftest.py", "artifact.bin"):
                (laid.folder / name).write_text("by a command\n")
            await laid.restore(is_check_configuration)
            return files_in(laid.folder)

    files = asyncio.run(run())
    assert (files["tests/test_a.py"], files["artifact.bin"]) == ("base\n", "by a command\n")
    assert [name for name in files if name.endswith("conftest.py")] == [".venv/conftest.py"]


def counting_setup(repo: Repository) -> tuple[Preparation, Path]:
    """Makes a tool in the folder and leaves a line outside for each run of it."""
    log = repo.path.parent / "setups.txt"
    code = (
        "import pathlib; pathlib.Path('.venv').mkdir(exist_ok=True); pathlib.Path('.venv/tool').write_text('tool');"
        f"open({str(log)!r}, 'a').write(open('src.py').read())"
    )
    return Preparation(setup=((sys.executable, "-c", code),)), log


def test_setup_runs_once_for_many_candidates_and_on_the_base(based: tuple[Repository, str]) -> None:
    repo, base = based
    commit = cheating(repo)
    preparation, log = counting_setup(repo)
    pool = checkouts(repo, preparation)
    for _ in range(2):
        files, _ = look(pool, commit, base)
        assert (files[".venv/tool"], files["src.py"]) == ("tool", "changed\n")
    assert log.read_text() == "base\n"


def test_other_lock_files_are_set_up_on_their_own_and_on_the_base(based: tuple[Repository, str]) -> None:
    repo, base = based
    repo.write("src.py", "needs more\n")
    repo.write("uv.lock", "more\n")
    commit = repo.commit("Lock")
    preparation, log = counting_setup(repo)
    pool = checkouts(repo, preparation)
    for wanted in (base, commit, base, commit):
        look(pool, wanted, base)
    assert log.read_text() == "base\nbase\n"  # of the candidate nothing but the lock file is there


def test_a_base_with_other_lock_files_is_set_up_again(based: tuple[Repository, str]) -> None:
    repo, base = based
    preparation, log = counting_setup(repo)
    look(checkouts(repo, preparation), base, base)
    repo.write("package-lock.json", "{}\n")
    repo.write("src.py", "newer\n")
    newer = repo.commit("Newer")
    pool = checkouts(repo, preparation)
    for _ in range(2):
        look(pool, newer, newer)
    assert log.read_text() == "base\nnewer\n"


def test_a_failing_setup_leaves_no_prepared_checkout(based: tuple[Repository, str]) -> None:
    repo, base = based
    failing = Preparation(setup=((sys.executable, "-c", "raise SystemExit('broken')"),))
    for _ in range(2):
        with pytest.raises(SetupFailed, match="broken"):
            look(checkouts(repo, failing), base, base)


def test_files_are_read_out_of_a_commit(based: tuple[Repository, str]) -> None:
    repo, base = based
    objects = GitObjects(Site(repo.path, os.environ))
    commit = Commit(cheating(repo))

    paths = ("src.py", "tests/test_b.py", "tests", "tests/test_new.py", ":(top)x", "a b", "line\nend")
    assert asyncio.run(objects.texts(commit, paths, limit=4)) == {"tests/test_new.py": "new\n"}
    assert asyncio.run(objects.texts(commit, paths, limit=8)) == {"src.py": "changed\n", "tests/test_new.py": "new\n"}
    assert asyncio.run(objects.texts(commit, (), limit=8)) == {}
    changes = asyncio.run(objects.changes(Commit(base), commit))
    assert [(change.path, change.how) for change in changes] == [
        ("src.py", "changed"),
        ("tests/test_a.py", "changed"),
        ("tests/test_b.py", "removed"),
        ("tests/test_new.py", "added"),
    ]
    assert (changes[2].blob, changes[2].mode, changes[2].old_mode) == ("", "", "100644")


def test_what_a_command_bent_or_planted_is_put_right_before_the_next_one(based: tuple[Repository, str]) -> None:
    repo, base = based
    commit = cheating(repo)

    async def run() -> dict[str, str]:
        pool = checkouts(repo)
        tree = await judged(pool, commit, base)
        async with pool.lay(tree, commit=Commit(commit), base=Commit(base)) as laid:
            (laid.folder / "tests" / "test_a.py").write_text("bent\n")
            (laid.folder / "tests" / "conftest.py").write_text("planted\n")
            (laid.folder / "src.py").unlink()
            (laid.folder / "built.txt").write_text("artifact\n")
            await laid.restore(is_check_configuration)
            return files_in(laid.folder)

    files = asyncio.run(run())
    assert files == {
        "README.md": "# Sample\n",
        "built.txt": "artifact\n",
        "src.py": "changed\n",
        "tests/test_a.py": "base\n",
        "tests/test_b.py": "base\n",
        "tests/test_new.py": "new\n",
    }


def test_what_a_command_changed_is_told_by_its_content(based: tuple[Repository, str]) -> None:
    repo, _ = based
    repo.write(".gitattributes", "*.txt text eol=crlf\n")
    repo.write("b.txt", "one\n")
    repo.write("c.txt", "one\n")
    base = Commit(repo.commit("Lines"))

    async def story() -> frozenset[str]:
        pool = checkouts(repo)
        tree = await pool.objects.tree(base)
        async with pool.lay(tree, commit=base, base=base) as laid:
            (laid.folder / "src.py").write_text("other\n")
            (laid.folder / "b.txt").write_bytes(b"one\r\n")
            (laid.folder / "c.txt").unlink()
            return await laid.altered(frozenset({"src.py", "b.txt", "c.txt"}))

    assert asyncio.run(story()) == {"src.py", "c.txt"}


def test_a_new_conftest_is_not_laid_until_a_person_approves_it(based: tuple[Repository, str]) -> None:
    repo, base = based
    repo.write("tests/conftest.py", "hooks\n")
    commit = repo.commit("Add hooks")
    files, _ = look(checkouts(repo), commit, base)
    assert "tests/conftest.py" not in files
    changes = asyncio.run(GitObjects(Site(repo.path, os.environ)).changes(Commit(base), Commit(commit)))
    files, _ = look(checkouts(repo), commit, base, (evidence(protected_changes(changes)),))
    assert files["tests/conftest.py"] == "hooks\n"


def test_what_was_read_of_a_change_is_not_asked_of_git_again_to_lay_it(
    based: tuple[Repository, str], tmp_path: Path
) -> None:
    repo, base = based
    repo.write("tests/test_a.py", "changed\n")
    repo.write("src.py", "changed\n")
    commit = repo.commit("Change")
    log, program = tmp_path / "asked", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o700)
    pool = VerificationCheckouts(repo.path, env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"})

    async def composed() -> Tree:
        changed = await pool.objects.changes(Commit(base), Commit(commit))
        product = frozenset(change.path for change in changed) - {"tests/test_a.py"}
        tree = await pool.compose(Commit(base), taken_from=Commit(commit), paths=product)
        await pool.objects.texts(tree, ("src.py",), limit=100)
        return await pool.compose(tree, taken_from=tree, paths=frozenset(), texts={"src.py": b"broken\n"})

    tree = asyncio.run(composed())
    assert [repo.git("show", f"{tree}:{path}") for path in ("src.py", "tests/test_a.py")] == ["broken", "base"]
    asked = log.read_text().splitlines()
    assert [sum(f" {word} " in line for line in asked) for word in ("diff-tree", "ls-tree")] == [1, 1]
