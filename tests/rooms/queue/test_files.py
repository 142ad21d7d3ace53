"""`system-queue.json`: what is written, and what of others can be read."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from loopwright.errors import ConfigError
from loopwright.kernel.model import LoopId
from loopwright.loops.kind import Scene
from loopwright.loops.queue.files import queue_text, read_queue, render
from loopwright.loops.queue.state import NOBODY, QueueState, SystemAutonomy
from tests.rooms.queue.queues import ANN, AT, LATER, a_system, queue
from tests.test_schemas import mistakes

FULL = queue(
    a_system(1, status="complete", loop=ANN, started_at=AT, completed_at=LATER, github_issue=12),
    a_system(
        2, 1, status="in-progress", loop=LoopId("web-1a2b3c"), started_at=LATER, capabilities=("cart", "checkout")
    ),
    a_system(3, 1, status="blocked", blocked_reason="which bank?", autonomy=SystemAutonomy(mode="supervised")),
    a_system(4, 2, 3, description="Bücher", notes="ask Ann"),
)


def test_the_file_of_a_queue(golden: Callable[[str, str], None]) -> None:
    scene: Scene[QueueState] = Scene(loop=LoopId("queue-shop"), state=FULL, status="waiting")
    ((name, text),) = render(scene).items()
    assert name == "domain-memory/shop/system-queue.json"
    assert text is not None
    assert mistakes("system-queue", json.loads(text)) == []
    golden("texts/system-queue.json", text)


def test_what_was_written_can_be_read_again() -> None:
    file = read_queue(queue_text(FULL), "a.json")
    assert file.systems == tuple(replace(each, loop=NOBODY) for each in FULL.systems)
    assert (file.repository, file.dream_state, file.created_at) == ("acme/shop", "dream-state.md", AT)


def test_little_is_enough() -> None:
    least = {
        "systems": [{"id": "auth", "name": "Auth", "status": "ready"}, {"id": "b", "name": "B", "status": "ready"}]
    }
    systems = read_queue(json.dumps(least), "a.json").systems
    assert [(each.id, each.priority, each.dependencies) for each in systems] == [("auth", 1, ()), ("b", 2, ())]


def listing(**fields: Any) -> str:  # noqa: ANN401 - of one system
    return json.dumps({"systems": [{"id": "sys-001", "name": "A", "status": "ready", **fields}]})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "a.json: expected JSON"),
        ('{"systems": [], "systems": []}', "a.json: expected JSON: the key 'systems' is there twice"),
        ("[]", "a.json: expected an object with systems, found a list"),
        (listing(status="done"), "a.json: systems[0].status: expected one of discovered, specified"),
        (listing(id="next"), "a.json: systems[0].id: expected an id"),
        (listing(id="../x"), "a.json: systems[0].id: expected an id"),
        (listing(priority=0), "a.json: systems[0].priority: expected a whole number, at least 1"),
        (listing(autonomy={"mode": "full"}), "a.json: systems[0].autonomy.mode: expected one of autonomous"),
    ],
)
def test_what_is_wrong_is_refused_with_file_and_key(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_queue(text, "a.json")
    assert str(refused.value).startswith(says)
