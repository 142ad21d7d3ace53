"""Branches and workspaces of systems: whatever a system is called, they can be made."""

import re

import pytest

from loopwright.adapters.git.site import NAME
from loopwright.app.starts.lifecycle.creation import free_branch
from loopwright.loops.queue.state import System

NAMES = (
    "Work order assignment and planning",
    "Größenänderungsübersichtsverwaltungsdienststelle",
    "作業指示",
    "",
    "---",
    "a" * 300,
)


def called(name: str, number: int = 8) -> System:
    return System(id=f"sys-{number:03d}", name=name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [8, 999_999_999])
@pytest.mark.parametrize("taken", [0, 1, 2, 15])
def test_a_branch_always_names_a_workspace(name: str, number: int, taken: int) -> None:
    held: set[str] = set()
    for _ in range(taken):
        held.add(free_branch(called(name, number), (), held.__contains__))
    branch = free_branch(called(name, number), (), held.__contains__)
    assert len(held) == taken
    assert branch not in held
    assert NAME.fullmatch(branch.removeprefix("feature/")), branch


def test_systems_whose_names_begin_alike_are_told_apart_by_their_ids() -> None:
    begin = "Work order assignment and planning of "
    one, other = called(f"{begin}teams"), called(f"{begin}tools", 9)
    free = set[str]().__contains__
    branches = free_branch(one, (other,), free), free_branch(other, (one,), free)
    assert [re.sub(r".*-(sys-\d+)", r"\1", each) for each in branches] == ["sys-008", "sys-009"]
