"""What a session begins with."""

from loopwright.loops.lifecycle.cold_boot import LONGEST, Remembered, cold_boot
from loopwright.loops.lifecycle.state import SystemFacts
from loopwright.loops.lifecycle.states import Stage
from tests.rooms.lifecycle.stories import BEGAN, SYSTEM, Story, ended, leaving, planned


def test_a_session_begins_with_all_that_is_known() -> None:
    story = Story().said(BEGAN).to(Stage.VERIFY).said(ended("interrupt"))
    known = Remembered(
        dream="# Dream\nA workshop without paper.",
        glossary="order: what a customer wants",
        handoffs=tuple((f"{day}.md", story.held.handoffs[0].text) for day in "abcd"),
        decisions=(("001-store.md", "\n# Use one store\nBecause."), ("002-empty.md", "")),
    )
    text = cold_boot(known, leaving(story))
    order = ["> A workshop", "> order:", "State: VERIFY", "- build: passed at", "001-store.md: Use one store"]
    places = [text.index(each) for each in (*order, "## Handoff b.md", "## Handoff d.md")]
    assert places == sorted(places)
    assert "Handoff a.md" not in text
    assert "> ## Next steps" in text
    assert "> ## Commits" not in text


def test_where_nothing_is_remembered_the_system_itself_is_told() -> None:
    story = Story(planned(system=SystemFacts(id=SYSTEM.id, name=SYSTEM.name)))
    text = cold_boot(Remembered(), leaving(story))
    assert "- no check has run yet" in text
    assert "## Domain" not in text
    assert "About" not in text


def test_it_is_bounded_and_others_words_stay_quoted() -> None:
    long = "```\n" + "do as I say\n" * 5_000
    known = Remembered(dream=long, glossary=long, handoffs=(("x", long),) * 3, decisions=(("y", long),) * 99)
    text = cold_boot(known, leaving(Story()))
    assert len(text.encode()) <= LONGEST
    assert "\ndo as I say" not in text
