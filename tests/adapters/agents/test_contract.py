from pathlib import Path

import pytest

from loopwright.adapters.agents.contract import allowed_environment, loop_environment, place_of, retry_after
from loopwright.kernel.model import Brief, Key, LoopId
from loopwright.ports.agent import AgentRun

RUN = AgentRun(
    loop=LoopId("add-tests"),
    kind="feedback",
    key=Key.parse("implement-2.1"),
    step="add-tests/17/implement-2.1",
    role="developer",
    brief=Brief(task="t", attempt=2, limit=5),
    folder=Path("/r/.worktrees/add-tests"),
    skill="implement",
)
PERSON = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "MY_TOKEN": "t",
    "AWS_SECRET": "s",
    "LOOP_STEP": "1",
    "GIT_DIR": "/r/.git",
    "GIT_AUTHOR_NAME": "Me",
}


def test_only_plain_names_and_named_ones_are_let_through() -> None:
    assert allowed_environment(PERSON, ["MY_TOKEN", "NOT_SET"]) == {"PATH": "/bin", "HOME": "/home/me", "MY_TOKEN": "t"}


def test_the_whole_environment_leaves_out_what_would_mislead() -> None:
    assert allowed_environment(PERSON, [], whole=True) == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "MY_TOKEN": "t",
        "AWS_SECRET": "s",
        "GIT_AUTHOR_NAME": "Me",
    }


def test_a_name_of_ours_cannot_be_let_through() -> None:
    assert allowed_environment(PERSON, ["LOOP_STEP", "GIT_DIR"]) == {"PATH": "/bin", "HOME": "/home/me"}


def test_the_variables_of_the_contract() -> None:
    place = place_of(Path("/r/.loop/runs"), RUN)
    folder = "/r/.loop/runs/add-tests/17-implement-2.1"
    assert loop_environment(RUN, place, Path("/r")) == {
        "LOOP_ROLE": "developer",
        "LOOP_SKILL": "implement",
        "LOOP_ID": "add-tests",
        "LOOP_ATTEMPT": "2",
        "LOOP_BRIEF": f"{folder}/brief.md",
        "LOOP_CONTEXT": f"{folder}/context.json",
        "LOOP_RESULT": f"{folder}/result.json",
        "LOOP_WORKSPACE": "/r/.worktrees/add-tests",
        "GIT_CEILING_DIRECTORIES": "/r/.worktrees",
    }


@pytest.mark.parametrize(
    ("errors", "seconds"),
    [
        (b"", 60.0),
        (b"retry-after: 5\n", 5.0),
        (b"retry-after: 5\nwords\nRetry-After: 7.5\r\n", 7.5),
        (b"retry-after: soon\n", 60.0),
        (b"please retry-after: 5", 60.0),
        (b"retry-after: -5\n", 60.0),
        (b"retry-after: 0\n", 0.0),
        (b"retry-after: 999999999\n", 86400.0),
        (b"\xff\nretry-after: 3", 3.0),
    ],
)
def test_how_long_to_wait_is_on_the_last_line_that_says_so(errors: bytes, seconds: float) -> None:
    assert retry_after(errors) == seconds
