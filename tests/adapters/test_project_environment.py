"""What a project's own tools are looked for in: our own installation is not part of it, unless a person made it so."""

import sys
from pathlib import Path

import pytest

from loopwright.adapters.detection.stacks import look_at
from loopwright.adapters.project_environment import Installation, of_the_project

THEIRS = "/usr/bin"


@pytest.mark.parametrize(
    ("environ", "is_apart", "place", "kept"),
    [
        ({}, True, "ours", False),
        ({"VIRTUAL_ENV": "elsewhere"}, True, "ours", False),
        ({"VIRTUAL_ENV": "ours"}, True, "ours", True),
        ({"CONDA_PREFIX": "ours"}, True, "ours", True),
        ({}, False, "ours", True),  # installed among the person's own tools
        ({}, True, "project/.venv", True),
    ],
)
def test_our_programs_are_the_projects_only_where_the_person_says_so(
    tmp_path: Path,
    environ: dict[str, str],
    is_apart: bool,  # noqa: FBT001 - a table
    place: str,
    kept: bool,  # noqa: FBT001 - a table
) -> None:
    own = tmp_path / place
    (own / "bin").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(own)  # a PATH may name the same folder in another way
    path = f"{own}/bin:{THEIRS}:{tmp_path}/linked/bin::bin"
    given = {"PATH": path, **{name: str(tmp_path / value) for name, value in environ.items()}}
    seen = of_the_project(given, tmp_path / "project", Installation(prefix=own, is_apart=is_apart))
    assert seen["PATH"] == (path if kept else f"{THEIRS}::bin")


def test_without_a_path_there_is_nothing_to_leave_out(tmp_path: Path) -> None:
    assert of_the_project({"A": "b"}, tmp_path, Installation(prefix=tmp_path, is_apart=True)) == {"A": "b"}


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="these tests run in no environment of their own")
def test_a_look_at_a_project_finds_no_program_of_ours(tmp_path: Path) -> None:
    assert look_at(tmp_path, {"PATH": f"{sys.prefix}/bin"}).where("python") is None
