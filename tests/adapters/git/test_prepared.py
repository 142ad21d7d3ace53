"""What setup makes is made once, copied for every run, and believed only while it is what was made."""

import asyncio
import gc
import hashlib
import json
import os
import shutil
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.prepared import IsNamed
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.errors import Forbidden, SetupFailed
from loopwright.kernel.gates import is_check_configuration
from loopwright.kernel.model import Commit, Tree
from tests.adapters.git.scene import LOOP, Scene
from tests.ports.conformance.workspace import files_in
from tests.repository import Repository

TOOLS = "import pathlib; deps = pathlib.Path('deps'); deps.mkdir(exist_ok=True); (deps / 'tool').write_text('tool');"


@pytest.fixture
def based(repo: Repository) -> tuple[Repository, Commit]:
    repo.write(".gitignore", "deps/\n")
    repo.write("src.py", "base\n")
    return repo, Commit(repo.commit("Base"))


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def counted(repo: Repository, code: str = "") -> Preparation:
    """A tool in `deps/`, and a line outside for each run of setup."""
    return Preparation(setup=(python(TOOLS + code + f"open({str(repo.path.parent / 'setups')!r}, 'a').write('x')"),))


def setups(repo: Repository) -> int:
    return len((repo.path.parent / "setups").read_text())


def pool_of(repo: Repository, preparation: Preparation, is_named: IsNamed | None = None) -> VerificationCheckouts:
    return VerificationCheckouts(repo.path, env=os.environ, preparation=preparation, is_named=is_named)


def look(
    pool: VerificationCheckouts, commit: str, base: str, do: Callable[[Path], None] = lambda _folder: None
) -> tuple[dict[str, str], str]:
    async def run() -> tuple[dict[str, str], str]:
        tree = await pool.compose(Commit(commit), taken_from=Commit(commit), paths=frozenset())
        async with pool.lay(tree, commit=Commit(commit), base=Commit(base)) as laid:
            files = files_in(laid.folder)
            do(laid.folder)
            return files, laid.setup_list

    return asyncio.run(run())


def shelf(repo: Repository) -> Path:
    (found,) = (repo.path / ".loop" / "prepared").iterdir()
    return found


def write_into_the_copy(repo: Repository, folder: Path) -> None:
    (folder / "deps" / "tool").write_text("evil")
    (folder / "deps" / "sitecustomize.py").write_text("evil")


def write_with_the_old_time(repo: Repository, folder: Path) -> None:
    file = shelf(repo) / "files" / "deps" / "tool"
    before = file.stat()
    file.write_text("evil")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def remove_one(repo: Repository, folder: Path) -> None:
    (shelf(repo) / "files" / "deps" / "tool").unlink()


def add_one(repo: Repository, folder: Path) -> None:
    (shelf(repo) / "files" / "deps" / "sitecustomize.py").write_text("evil")


def link_one(repo: Repository, folder: Path) -> None:
    (repo.path.parent / "cache").hardlink_to(shelf(repo) / "files" / "deps" / "tool")


def enter_one_in_the_list(repo: Repository, folder: Path) -> None:
    """The planted file is in the list too, with the digest it has."""
    add_one(repo, folder)
    file = shelf(repo) / "files" / "deps" / "sitecustomize.py"
    found = file.lstat()
    made_in, files, folders, speaks = json.loads((shelf(repo) / "made.json").read_text())
    stood = [found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    files["deps/sitecustomize.py"] = (stood, f"{found.st_mode:o} {hashlib.sha256(b'evil').hexdigest()}")
    (shelf(repo) / "made.json").write_text(json.dumps([made_in, files, folders, speaks]))


@pytest.mark.parametrize(
    ("deed", "times"),
    [
        (write_into_the_copy, 1),
        (write_with_the_old_time, 2),
        (remove_one, 2),
        (add_one, 1),
        (link_one, 1),
        (enter_one_in_the_list, 2),
    ],
)
def test_what_setup_made_serves_as_long_as_it_is_as_it_was_made(
    based: tuple[Repository, Commit], deed: Callable[[Repository, Path], None], times: int
) -> None:
    repo, base = based
    _, name = look(pool_of(repo, counted(repo)), base, base, do=lambda folder: deed(repo, folder))

    async def is_named(asked: str) -> bool:
        return asked == name

    files, _ = look(pool_of(repo, counted(repo), is_named), base, base)
    assert {name: files[name] for name in files if name.startswith("deps/")} == {"deps/tool": "tool"}
    assert setups(repo) == times


def test_what_another_process_made_counts_only_if_the_log_names_it(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    _, name = look(pool_of(repo, counted(repo)), base, base)

    async def only_this(asked: str) -> bool:
        return asked == name

    look(pool_of(repo, counted(repo), only_this), base, base)
    assert setups(repo) == 1
    enter_one_in_the_list(repo, repo.path)
    files, _ = look(pool_of(repo, counted(repo), only_this), base, base)
    assert (setups(repo), "deps/sitecustomize.py" in files) == (2, False)


def test_workspaces_get_what_was_made_for_checks(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    preparation = counted(repo)
    look(pool_of(repo, preparation), base, base)
    scene = Scene(repo, preparation)
    folder = scene.prepare()
    assert ((folder / "deps" / "tool").read_text(), setups(repo)) == ("tool", 1)
    assert scene.snapshot().changes == ()
    remove_one(repo, folder)
    other = asyncio.run(scene.workspace.prepare(LOOP, "other", base, "s-2"))
    assert ((other / "deps" / "tool").read_text(), setups(repo)) == ("tool", 2)


def test_a_workspace_with_a_link_where_setup_makes_a_folder_is_not_written_through(
    based: tuple[Repository, Commit], tmp_path: Path
) -> None:
    repo, base = based
    preparation = counted(repo)
    scene = Scene(repo)
    folder = scene.prepare()
    (tmp_path / "outside").mkdir()
    (folder / "deps").symlink_to(tmp_path / "outside")
    look(pool_of(repo, preparation), base, base)
    Scene(repo, preparation).prepare(step="s-2")
    assert list((tmp_path / "outside").iterdir()) == []
    assert (folder / "deps" / "tool").read_text() == "tool"


def test_what_speaks_of_its_folder_speaks_of_the_one_it_is_copied_to(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    code = (
        "import os; here = os.getcwd(); (deps / 'own.pth').write_text(here + '/src'); os.symlink(here, 'deps/up');"
        "(deps / 'a.bin').write_bytes(b'\\0' + here.encode());"
    )
    pool = pool_of(repo, counted(repo, code))
    seen: list[bool] = []

    def compare(folder: Path) -> None:
        own = os.fsencode(folder)
        seen.append((folder / "deps" / "own.pth").read_bytes() == own + b"/src")
        seen.append(os.fsencode((folder / "deps" / "up").readlink()) == own)
        seen.append((folder / "deps" / "a.bin").read_bytes() == b"\0" + own)

    for _ in range(2):
        look(pool, base, base, do=compare)
    assert seen == [True] * 6
    folder = Scene(repo, counted(repo, code)).prepare()
    assert (folder / "deps" / "own.pth").read_text() == f"{folder}/src"
    assert setups(repo) == 1


def test_what_setup_makes_lies_on_no_tracked_path(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    code = "open('src.py', 'w').write('by setup'); open('made', 'w').write('by setup'); open('also', 'w');"
    pool = pool_of(repo, counted(repo, code))
    files, _ = look(pool, base, base)
    assert (files["src.py"], files["made"]) == ("base\n", "by setup")
    repo.write("made", "the candidate's\n")
    repo.write("also/below", "the candidate's\n")
    candidate = repo.commit("Takes the name")
    files, _ = look(pool, candidate, base)
    assert (files["made"], files["also/below"]) == ("the candidate's\n", "the candidate's\n")


def test_setup_makes_no_judge_outside_of_ignored_folders(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    assert "deps/conftest.py" in look(pool_of(repo, counted(repo, "open('deps/conftest.py', 'w');")), base, base)[0]
    pool = pool_of(repo, counted(repo, "open('conftest.py', 'w');"))
    with pytest.raises(SetupFailed, match=r"it makes conftest\.py, which would decide how checks run"):
        look(pool, base, base)
    assert not any((folder / "conftest.py").exists() for folder in (repo.path / ".loop" / "verify").iterdir())


def break_a_copy(folder: Path) -> None:
    before = (folder / "deps" / "tool").stat()
    (folder / "deps" / "tool").write_text("evil")
    os.utime(folder / "deps" / "tool", ns=(before.st_atime_ns, before.st_mtime_ns))


def lose_a_copy(folder: Path) -> None:
    (folder / "deps" / "tool").unlink()


def add_to_the_copies(folder: Path) -> None:
    (folder / "deps" / "sitecustomize.py").write_text("evil")
    (folder / "deps" / "more").mkdir()


def put_a_link_there(folder: Path) -> None:
    shutil.move(folder / "deps", folder / "elsewhere")
    (folder / "deps").symlink_to("elsewhere")


@pytest.mark.parametrize("deed", [break_a_copy, lose_a_copy, add_to_the_copies, put_a_link_there])
def test_copies_serve_the_next_run_under_another_name_if_nobody_touched_them(
    based: tuple[Repository, Commit], deed: Callable[[Path], None]
) -> None:
    repo, base = based
    pool, seen = pool_of(repo, counted(repo)), list[tuple[str, int]]()

    def note(folder: Path) -> None:
        seen.append((folder.name, (folder / "deps" / "tool").stat().st_ino))

    def note_and_do(folder: Path) -> None:
        note(folder)
        deed(folder)

    look(pool, base, base, do=note)
    look(pool, base, base, do=note_and_do)
    files, _ = look(pool, base, base, do=note)
    assert {name for name in files if name.startswith("deps")} == {"deps/tool"}
    assert (files["deps/tool"], setups(repo), len({name for name, _ in seen})) == ("tool", 1, 3)
    assert seen[0][1] == seen[1][1]


def test_the_folder_of_a_run_that_died_is_removed(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    look(pool_of(repo, Preparation()), base, base)
    for place in (repo.path / ".loop" / "verify" / "dead", repo.path / ".loop" / "git" / "verify" / "dead"):
        place.mkdir()
        (place / "file").write_text("left\n")
    look(pool_of(repo, Preparation()), base, base)
    assert list((repo.path / ".loop" / "verify").iterdir()) == [repo.path / ".loop" / "verify" / "pytest.ini"]


def test_only_so_many_are_kept(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    for number in range(6):
        look(pool_of(repo, counted(repo, f"{number};")), base, base)
    assert len(list((repo.path / ".loop" / "prepared").iterdir())) == 4


# --- the person's objects ---------------------------------------------------------------------------


def overwrite(repo: Repository, name: str, kind: str, content: bytes) -> None:
    """As an agent without a sandbox can: the object keeps its name and holds something else."""
    file = repo.path / ".git" / "objects" / name[:2] / name[2:]
    file.chmod(0o644)
    file.write_bytes(zlib.compress(b"%s %d\0" % (kind.encode(), len(content)) + content))


def test_an_overwritten_object_is_noticed(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    overwrite(repo, repo.git("rev-parse", f"{base}:src.py"), "blob", b"evil\n")
    with pytest.raises(Forbidden, match=r"src\.py does not hash to what the tree says"):
        look(pool_of(repo, Preparation()), base, base)


def test_an_overwritten_folder_is_noticed(repo: Repository) -> None:
    repo.write("pkg/a.py", "good\n")
    repo.write("pkg/b.py", "other\n")
    base = repo.commit("Base")
    other = bytes.fromhex(repo.git("rev-parse", f"{base}:pkg/b.py"))
    overwrite(repo, repo.git("rev-parse", f"{base}:pkg"), "tree", b"100644 a.py\0" + other)
    with pytest.raises(Forbidden, match="a tree in it does not hash to its own name"):
        look(pool_of(repo, Preparation()), base, base)


def test_links_programs_and_odd_names_are_what_the_tree_says(repo: Repository) -> None:
    repo.write("run.sh", "#!/bin/sh\n")
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "link").symlink_to("run.sh")
    (repo.path / "dotted").symlink_to("./run.sh")
    repo.write("line\nend", "x\n")
    (repo.path / os.fsdecode(b"caf\xe9")).write_text("x\n")
    base = repo.commit("Odd")
    assert look(pool_of(repo, Preparation()), base, base)[0]["run.sh"] == "#!/bin/sh\n"


def test_a_file_bent_between_two_commands_is_put_back_and_hashed_again(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    pool = pool_of(repo, Preparation())

    async def run() -> str:
        tree = Tree(repo.git("rev-parse", f"{base}^{{tree}}"))
        async with pool.lay(tree, commit=base, base=base) as laid:
            overwrite(repo, repo.git("rev-parse", f"{base}:src.py"), "blob", b"evil\n")
            (laid.folder / "src.py").write_text("bent\n")
            await laid.restore(is_check_configuration)
            return (laid.folder / "src.py").read_text()

    with pytest.raises(Forbidden, match=r"src\.py does not hash"):
        asyncio.run(run())


# --- copy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("data/**", ["data/a.csv", "data/deep/b.csv"]),
        ("data/*.csv", ["data/a.csv"]),
        ("data/", ["data/a.csv", "data/deep/b.csv"]),
        ("*.env", [".env", "local.env"]),
        ("data/deep/b.csv", ["data/deep/b.csv"]),
    ],
)
def test_files_to_copy_are_named_by_patterns(repo: Repository, pattern: str, found: list[str]) -> None:
    repo.write(".gitignore", "data/\n*.env\n")
    base = Commit(repo.commit("Base"))
    for path in ("data/a.csv", "data/deep/b.csv", ".env", "local.env", ".loop/x.env"):
        repo.write(path, "x\n")
    files, _ = look(pool_of(repo, Preparation(copy=(pattern,))), base, base)
    assert sorted(files.keys() - {".gitignore", "README.md"}) == found


def test_a_pattern_that_fits_nothing_is_said_so(repo: Repository) -> None:
    base = repo.git("rev-parse", "HEAD")
    for pattern in ("data/**", "*.nothing"):
        with pytest.raises(SetupFailed, match=r"does not exist; make it, or change `copy` in loop\.toml"):
            look(pool_of(repo, Preparation(copy=(pattern,))), base, base)


def test_only_what_setup_made_is_kept_and_no_file_that_git_carries(based: tuple[Repository, Commit]) -> None:
    """The person's own runner looks into every folder of the repository, and would find the tests there."""
    repo, base = based
    look(pool_of(repo, counted(repo)), base, base)
    assert list(files_in(shelf(repo) / "files")) == ["deps/tool"]


def test_when_no_run_will_come_any_more_no_folder_of_one_is_left(based: tuple[Repository, Commit]) -> None:
    repo, base = based
    pool = pool_of(repo, counted(repo))
    look(pool, base, base)
    runs = repo.path / ".loop" / "verify"
    assert len([each for each in runs.iterdir() if each.is_dir()]) == 1
    del pool
    gc.collect()
    assert [each for each in runs.iterdir() if each.is_dir()] == []
