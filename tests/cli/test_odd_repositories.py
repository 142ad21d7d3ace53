"""What people have in their repositories, through the commands: it works, or one sentence says why not."""

import os
from pathlib import Path

import pytest

from tests.cli.projects import GOOD, NEVER_RIGHT, Sample
from tests.cli.reviews import blocks, reviewable
from tests.repository import Repository

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("kills")]

ADD = ("-c", "protocol.file.allow=always", "submodule", "add", "--quiet")
FIXER = """\
[agents.fixer]
kind = "command"
argv = ["sh", "fix.sh"]
[roles]
creator = "fixer"
"""
FIX = """\
for file in src/*; do echo better > "$file"; done
echo '{"status": "done"}' > "$LOOP_RESULT"
"""
ODD = {"caf\udce9.py": "caf\\\\xe9.py", "new\nline.py": "new\\nline.py", 'q"uote.py': 'q\\"uote.py', "-x.py": "-x.py"}


def lines(sample: Sample, what: str) -> list[tuple[str, str]]:
    found = sample.loop("doctor", "--json").data["lines"]
    return [(line["status"], line["text"]) for line in found if line["what"] == what]


def with_odd_files(path: Path, *names: str) -> Sample:
    sample = reviewable(path, *(blocks(f"src/{ODD[name]}", attempt=1) for name in names))
    (sample.repo.path / "src").mkdir()
    for name in names:
        (sample.repo.path / "src" / name).write_text("x = 1\n")
    config = (sample.repo.path / "loop.toml").read_text().replace("[roles]\n", FIXER)
    sample.repo.write("loop.toml", config)
    sample.repo.write("result.txt", "good")
    sample.repo.write("fix.sh", FIX)
    sample.repo.commit("odd")
    return sample


@pytest.mark.parametrize("name", ODD, ids=ODD.values())
def test_a_file_of_any_name_is_reviewed_fixed_and_merged(tmp_path: Path, name: str) -> None:
    sample = with_odd_files(tmp_path / "repo", name)
    done = sample.loop("review", f"./src/{name}", "--merge", "--json")
    assert done.code == 0, done.err
    assert (sample.repo.path / "src" / name).read_text() == "better\n"
    assert sample.repo.git("status", "--porcelain") == ""
    for command in ("status", "explain", "log", "gates"):
        assert sample.loop(command).code == 0


def test_a_folder_with_such_names_is_reviewed_as_a_batch(tmp_path: Path) -> None:
    sample = with_odd_files(tmp_path / "repo", *ODD)
    done = sample.loop("review", "--batch", "src", "--merge", "--json")
    assert done.code == 0, done.err
    assert {(sample.repo.path / "src" / name).read_text() for name in ODD} == {"better\n"}
    assert sample.repo.git("status", "--porcelain") == ""


@pytest.fixture
def vendored(tmp_path: Path) -> Sample:
    inner = Repository.create(tmp_path / "inner")
    inner.write("src/calc.py", "x = 1\n")
    inner.commit("calc")
    sample = reviewable(tmp_path / "repo")
    sample.repo.git(*ADD, str(inner.path), "vendor")
    sample.repo.commit("submodule")
    return sample


@pytest.mark.parametrize(
    ("path", "why"), [("vendor", "is a submodule"), ("vendor/src/calc.py", "lies in the submodule vendor")]
)
def test_nothing_in_a_submodule_is_reviewed(vendored: Sample, path: str, why: str) -> None:
    for batch in ((), ("--batch",)):
        refused = vendored.loop("review", path, *batch)
        assert (refused.code, why in refused.err, len(refused.err.splitlines())) == (2, True, 1)


def test_a_submodule_that_is_not_checked_out_is_said_before_any_agent_runs(vendored: Sample) -> None:
    assert [word for word, _ in lines(vendored, "submodules")] == ["ok"]
    vendored.repo.git("submodule", "deinit", "--quiet", "--force", "vendor")
    ((word, text),) = lines(vendored, "submodules")
    assert (word, "vendor is not checked out here" in text) == ("fix", True)
    for argv in (("review", "a.py"), ("feedback", "Do it")):
        refused = vendored.loop(*argv)
        assert (refused.code, "git submodule update --init" in refused.err, len(refused.err.splitlines())) == (
            2,
            True,
            1,
        )
    vendored.repo.git("config", "submodule.vendor.update", "none")
    assert lines(vendored, "submodules") == []
    assert vendored.loop("review", "a.py").code == 0


@pytest.mark.parametrize(
    ("attribute", "settings", "word", "why"),
    [
        ("filter=lfs", {}, "fix", "asks for git-lfs, which your git does not know"),
        ("filter=x", {}, "warn", "asks for x, which your git does not know"),
        ("filter=x", {"clean": "no-such-program %f", "required": "true"}, "fix", "'no-such-program' was not found"),
        ("filter=x", {"clean": "no-such-program %f"}, "warn", "'no-such-program' was not found"),
        ("filter=x", {"clean": "cat", "smudge": "cat"}, "ok", "x, run as your git runs it: cat"),
    ],
)
def test_filters_are_told(tmp_path: Path, attribute: str, settings: dict[str, str], word: str, why: str) -> None:
    sample = reviewable(tmp_path / "repo")
    sample.repo.write(".gitattributes", f"*.bin {attribute}\n")
    sample.repo.commit("attributes")
    for key, value in settings.items():
        sample.repo.git("config", f"filter.x.{key}", value)
    ((said, text),) = lines(sample, "filter")
    assert (said, why in text) == (word, True)
    done = sample.loop("review", "a.py")
    assert done.code == (2 if word == "fix" else 0)
    assert (why in done.err) == (word == "fix")


@pytest.mark.parametrize("command", ["merge", "cancel"])
def test_the_status_is_as_clean_after_a_loop_as_it_was_before(tmp_path: Path, command: str) -> None:
    sample = Sample.create(tmp_path / "repo", GOOD if command == "merge" else NEVER_RIGHT)
    sample.repo.write(".gitattributes", "*.txt text eol=crlf\n*.c ident\n*.rot filter=rot\n")
    for part in ("clean", "smudge"):
        sample.repo.git("config", f"filter.rot.{part}", "tr A-Za-z N-ZA-Mn-za-m")
    for name in ("other.txt", "a.c", "b.rot"):
        (sample.repo.path / name).write_bytes(b"$Id$ hello\r\n")
    sample.repo.commit("converted")
    before = {path.name: path.read_bytes() for path in sample.repo.path.iterdir() if path.is_file()}
    if command == "merge":
        assert sample.loop("feedback", "Make it good", "--merge").code == 0
    else:
        assert sample.loop("feedback", "Make it good", "--max-iterations", "1").code == 4
        assert sample.loop("cancel").code == 0
    assert sample.repo.git("status", "--porcelain") == ""
    after = {path.name: path.read_bytes() for path in sample.repo.path.iterdir() if path.is_file()}
    assert {name: text for name, text in after.items() if name != "result.txt"} == before
    names = dict(line.split("\t")[::-1] for line in sample.repo.git("ls-tree", "-r", "HEAD").splitlines())
    assert sample.repo.git("hash-object", "b.rot") in names["b.rot"]


def test_a_sparse_checkout_and_a_shallow_clone_work_and_it_is_said(tmp_path: Path) -> None:
    origin = reviewable(tmp_path / "origin", files=("a.py", "far/b.py"))
    folder = tmp_path / "clone"
    origin.repo.git("clone", "--quiet", "--depth=1", f"file://{origin.repo.path}", str(folder))
    sample = Sample(Repository(folder))
    sample.repo.git("sparse-checkout", "set", "tests")
    ((word, text),) = lines(sample, "sparse")
    assert (word, "all files of a commit" in text) == ("ok", True)
    assert sample.loop("review", "a.py", "--merge").code == 0
    assert (sample.repo.git("status", "--porcelain"), (folder / "far").exists()) == ("", False)


def test_a_partial_clone_that_lacks_files_is_refused_and_nothing_is_fetched(tmp_path: Path) -> None:
    origin = reviewable(tmp_path / "origin", files=("a.py", "far/b.py"))
    origin.repo.git("config", "uploadpack.allowFilter", "true")
    folder = tmp_path / "clone"
    away = (f"file://{origin.repo.path}", str(folder))
    origin.repo.git("clone", "--quiet", "--filter=blob:none", "--sparse", *away)
    sample = Sample(Repository(folder))
    ((word, text),) = lines(sample, "partial clone")
    assert (word, "never fetched, and a loop fetches nothing" in text) == ("fix", True)
    refused = sample.loop("review", "a.py")
    assert (refused.code, "never fetched" in refused.err, len(refused.err.splitlines())) == (2, True, 1)
    sample.repo.git("archive", f"--output={os.devnull}", "--format=tar", "HEAD")
    assert [word for word, _ in lines(sample, "partial clone")] == ["ok"]
    origin.repo.path.rename(tmp_path / "gone")
    assert sample.loop("review", "a.py", "--merge").code == 0
    assert sample.repo.git("status", "--porcelain") == ""


def test_a_repository_of_sha256_objects_works(tmp_path: Path) -> None:
    origin = reviewable(tmp_path / "origin")
    folder = tmp_path / "repo"
    origin.repo.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main", str(folder))
    sample = Sample(Repository(folder))
    for name in ("a.py", "loop.toml", "scenario.toml", "check.py"):
        sample.repo.write(name, (origin.repo.path / name).read_text())
    sample.repo.commit("files")
    assert sample.loop("review", "a.py", "--merge").code == 0
    assert (len(sample.repo.git("rev-parse", "HEAD")), sample.repo.git("status", "--porcelain")) == (64, "")
