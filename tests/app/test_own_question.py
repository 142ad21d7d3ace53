"""A root that asks a question of its own while its child asks one too."""

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.kernel.actions import Action, Ask, Option
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, Event
from loopwright.kernel.model import Commit, Key
from tests.app import test_toy_loop as toy
from tests.repository import Repository
from tests.toys import anthology
from tests.toys.anthology import AnthologyParams, AnthologyState
from tests.toys.program import TOYS

TITLE = Ask(
    key=Key("title", 1), question="Which title?", free_text=True, options=(Option(choice="answer", label="Answer"),)
)


def decide(state: AnthologyState) -> tuple[Action, ...]:
    wanted = anthology.decide(state)
    return wanted if state.outcome is not None or state.commit else (*wanted, TITLE)


def apply(state: AnthologyState, event: Event) -> AnthologyState:
    return replace(state, commit=Commit("titled")) if isinstance(event, Answered) else anthology.apply(state, event)


def test_each_question_is_answered_by_naming_the_loop_that_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titled = replace(anthology.KIND, loop=replace(anthology.ANTHOLOGY, decide=decide, apply=apply))
    monkeypatch.setitem(TOYS, "anthology", titled)
    repo = Repository.create(tmp_path / "repo")
    repo.write("loop.toml", toy.CONFIG)
    repo.write("scenario.toml", toy.ASKS_FIRST + toy.POET + toy.PLEASED)
    repo.commit("Poems")
    poetry = toy.Poetry(repo.path)
    loop = poetry.begin(
        "anthology",
        lambda project: AnthologyParams(kind="haiku", params=encode(toy.poem(project)), base=project.head),
    )
    assert poetry.drive(loop)[0] == 4
    (shown,) = [each for each in poetry.loop("status", "--json").data["loops"] if each["id"] == loop]
    assert {need["loop"] == loop for need in shown["needs"]} == {True, False}
    for need in shown["needs"]:
        assert poetry.loop("answer", "Leaves", "--loop", need["loop"]).code == 0
