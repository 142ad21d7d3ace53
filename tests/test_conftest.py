import os
import sys
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import compare_with_file, times_of
from tests.repository import Repository


def test_golden_shows_the_difference(tmp_path: Path) -> None:
    file = tmp_path / "page.txt"
    file.write_text("one\ntwo\n")
    with pytest.raises(pytest.fail.Exception, match=r"(?s)page\.txt differs.*-two\n\+three"):
        compare_with_file(file, "one\nthree\n", update=False)


def test_golden_asks_for_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="does not exist"):
        compare_with_file(tmp_path / "none.txt", "one\n", update=False)


def test_update_golden_writes_the_file_that_the_next_run_accepts(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "page.txt"
    compare_with_file(file, "one\n", update=True)
    compare_with_file(file, "one\n", update=False)
    assert file.read_text() == "one\n"


def test_times_are_told_per_folder_and_layer() -> None:
    def took(place: str, seconds: float, *marks: str) -> pytest.TestReport:
        keywords: dict[str, Literal[1]] = dict.fromkeys(marks, 1)
        return pytest.TestReport(f"{place}::test[a/b]", ("", 0, ""), keywords, "passed", None, "call", duration=seconds)

    reports = [took("tests/e2e/test_a.py", 3), took("tests/adapters/git/test_b.py", 1), took("tests/test_c.py", 0.4)]
    more = [took("tests/adapters/test_d.py", 6.6), took("tests/e2e/test_a.py", 20, "slow")]
    told = [line.split(maxsplit=1) for line in times_of(reports + more).splitlines()]
    assert told == [["20", "tests/e2e, slow"], ["8", "tests/adapters"], ["3", "tests/e2e"], ["0", "tests"]]


@pytest.mark.unmeasured
def test_what_is_marked_is_not_measured() -> None:
    assert sys.gettrace() is None


@given(st.none())
def test_what_random_values_reach_is_not_measured(nothing: None) -> None:
    assert sys.gettrace() is None


def test_the_person_who_runs_the_tests_is_not_seen(repo: Repository) -> None:
    assert list(Path(os.environ["HOME"]).iterdir()) == []
    assert repo.git("log", "--format=%an <%ae> %s") == "Test Person <person@example.com> Begin"
    assert repo.git("branch", "--show-current") == "main"


def test_a_repository_commits_what_was_written(repo: Repository) -> None:
    repo.write("src/a.py", "A = 1\n")
    commit = repo.commit("Add a")
    assert repo.git("show", "--format=%H %s", "--name-only", "HEAD").split() == [commit, "Add", "a", "src/a.py"]
