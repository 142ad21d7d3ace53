import re
from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.cli.checkup import Remark, disk_line, file_system_line
from tests.cli.projects import CONFIG, Sample, loop
from tests.repository import Repository
from tests.test_schemas import mistakes

pytestmark = pytest.mark.unmeasured

Golden = Callable[[str, str], None]


def test_setup_writes_what_it_found_and_never_overwrites(repo: Repository) -> None:
    repo.write("tests/test_a.py", "import unittest\n")
    repo.commit("Tests")
    done = loop(repo.path, "setup", "--json")
    assert (done.code, done.data["written"], done.data["stack"]) == (0, True, "python")
    assert mistakes("setup", done.data) == []
    written = (repo.path / "loop.toml").read_text()
    assert written == done.data["text"]
    refused = loop(repo.path, "setup")
    assert (refused.code, "is there already; edit it, or replace it with `loop setup --force`" in refused.err) == (
        2,
        True,
    )
    repo.write("loop.toml", "version = 1\n")
    assert loop(repo.path, "setup", "--force").code == 0
    assert (repo.path / "loop.toml").read_text() == written


def test_a_dry_run_of_setup_prints_the_file(repo: Repository) -> None:
    done = loop(repo.path, "setup", "--dry-run")
    assert (done.code, "version = 1" in done.out) == (0, True)
    assert mistakes("setup", loop(repo.path, "setup", "--dry-run", "--json").data) == []
    assert not (repo.path / "loop.toml").exists()


def test_a_repository_without_anything_to_run_is_told(repo: Repository) -> None:
    done = loop(repo.path, "setup")
    assert "Without a check that counts tests only `loop review` starts: add [checks.test]." in done.out


@pytest.mark.parametrize(
    ("name", "run", "asked"), [("check", "cd backend && python3 -m unittest", 0), ("build", "true", 1)]
)
def test_the_file_asks_for_a_check_where_none_counts_tests(repo: Repository, name: str, run: str, asked: int) -> None:
    repo.write("Makefile", f"{name}:\n\t{run}\n")
    test = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(1)\n"
    repo.write("backend/test_a.py", test)
    repo.commit("One target")
    done = loop(repo.path, "setup", "--json")
    assert [check["name"] for check in done.data["checks"]] == [name]
    assert done.data["text"].count("# No check counts tests yet.") == asked


def test_the_doctor_finds_all_well(tmp_path: Path, golden: Golden) -> None:
    sample = Sample.create(tmp_path / "repo")
    done = sample.loop("doctor")
    assert done.code == 0, done.out
    shown = re.sub(r"\d+ MB", "N MB", done.out.replace(str(sample.repo.path), "ROOT"))
    shown = re.sub(
        r"(file system +).*", r"\1KIND", re.sub(r"(git|SQLite)( +)(git version )?[\d.]+\S*", r"\1\2N,", shown)
    )
    golden(
        "cli/doctor.txt",
        re.sub(
            r"(tools +).*( \(for)",
            r"\1FOUND\2",
            re.sub(r"\S*/bin/python[\d.]*", "python", re.sub(r"no bwrap, and|bwrap is .* but", "BWRAP", shown)),
        ),
    )


def test_the_doctor_shows_the_tests_that_only_the_configuration_of_a_runner_names(tmp_path: Path) -> None:
    config = CONFIG.replace('"check.py"]', '"-m", "pytest"]').replace('product = ["**"]\n', "")
    sample = Sample.create(tmp_path / "repo", config=config)
    sample.repo.write("pytest.ini", "[pytest]\npython_files = look_*.py\ntestpaths = qa\n")
    sample.repo.write("qa/look_at.py", "def test_a():\n    assert 1\n")
    sample.repo.commit("Tests by another name")
    shown = {line["what"]: line["text"] for line in sample.loop("doctor", "--json").data["lines"]}
    assert ("qa/**" in shown["tests"], "qa/**" in shown["product"]) == (True, False)


@pytest.mark.parametrize(
    ("config", "what", "part"),
    [
        (CONFIG.replace('"scenario.toml"\n[roles', '"gone.toml"\n[roles'), "agent", "gone.toml"),
        (CONFIG.replace('kind = "rehearsal"\nscenario = "scenario.toml"', 'kind = "claude"'), "agent", "'claude'"),
        (CONFIG.replace('default = "script"', ""), "agents", "nobody plays developer"),
        (CONFIG.split("[checks.test]")[0] + '[checks.test]\nrun = ["no-such-tool"]\n', "check", "'no-such-tool'"),
        (CONFIG + '[sandbox]\nmode = "strict"\n', "sandbox", "cannot be kept"),
        ("version = 1\nnonsense = 2\n", "loop.toml", "nonsense"),
        (
            '[sandbox]\nnetwork = ["model"]\n',
            "loop.toml",
            "loop.toml:2: sandbox.network: is not obeyed by this version yet; remove it",
        ),
    ],
)
def test_the_doctor_finds_what_to_fix(tmp_path: Path, config: str, what: str, part: str) -> None:
    done = Sample.create(tmp_path / "repo", config=config).loop("doctor", "--json")
    fixes = [line for line in done.data["lines"] if line["status"] == "fix"]
    assert (done.code, done.data["ok"]) == (1, False)
    assert mistakes("doctor", done.data) == []
    assert any(line["what"] == what and part in line["text"] for line in fixes), fixes


def test_the_doctor_names_only_what_can_be_started(tmp_path: Path) -> None:
    roles = 'creator = "script"\nreviewer = "script"'
    done = Sample.create(tmp_path / "repo", config=CONFIG.replace('default = "script"', roles)).loop("doctor")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Ready: loop review PATH")
    assert "nobody plays developer, so that `loop feedback` cannot start; name an agent" in done.out


def test_the_doctor_works_outside_of_a_repository(tmp_path: Path) -> None:
    done = loop(tmp_path, "doctor", "--json")
    assert (done.code, done.data["lines"][-1]["what"]) == (1, "repository")


def test_changes_that_are_not_committed_are_pointed_out(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    sample.repo.write("new.txt", "not committed")
    data = sample.loop("doctor", "--json").data
    assert mistakes("doctor", data) == []
    (line,) = [line for line in data["lines"] if line["what"] == "repository"]
    assert (line["status"], "uncommitted changes are not seen by a loop" in line["text"]) == ("warn", True)


def test_a_full_disk_is_to_be_fixed(tmp_path: Path) -> None:
    assert disk_line(tmp_path, 5 * 2**20, 200 * 2**20) == Remark(
        "fix", "disk", f"{tmp_path}: only 5 MB free, 200 MB are needed"
    )


def test_a_network_file_system_is_worth_a_warning(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n")
    assert file_system_line(tmp_path, mounts).word == "warn"
    assert file_system_line(Path("/"), mounts) == Remark("ok", "file system", "ext4")
