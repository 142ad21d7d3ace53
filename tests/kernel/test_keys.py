"""Keys and points are values; their text is what logs, folders and people have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.codec import DecodeError, decode, encode
from loopwright.kernel.events import Announced, BudgetChanged, LoopEnded, key_of
from loopwright.kernel.model import NO_KEY, NO_POINT, Ending, Key, Outcome, Point

KEYS = {
    "implement-2.1": Key("implement", 2, tries=1),
    "critique-1-2.1": Key("critique", 1, part="2", tries=1),
    "checkpoint-2": Key("checkpoint", 2),
    "checkpoint-2-tests": Key("checkpoint", 2, part="tests"),
    "land-accepted-3": Key("land-accepted", 3),
    "land-1-0": Key("land", 1, part="0"),
    "land-2-1.3": Key("land", 2, part="1", tries=3),
    "combine-1.0": Key("combine", 1, tries=0),
    "escalation-1": Key("escalation", 1),
    "gate-protected-0123abcdef": Key("gate", part="protected-0123abcdef"),
    "clean-up": Key.parse("clean-up"),
    "stop": Key.parse("stop"),
    "wait-implement-2.1": Key("implement", 2, tries=1, waits=True),
    "wait-critique-1-2.1": Key("critique", 1, part="2", tries=1, waits=True),
    "review-1-3.0": Key("review", 1, part="3", tries=0),
    "": NO_KEY,
}


@pytest.mark.parametrize(("text", "key"), KEYS.items())
def test_a_key_and_its_text_are_the_same_thing(text: str, key: Key) -> None:
    assert (str(key), Key.parse(text)) == (text, key)


def test_the_older_text_of_a_batchs_child_is_the_same_key() -> None:
    assert Key.parse("review-1.0-3") == Key.parse("review-1-3.0")


@given(st.text())
def test_any_text_is_a_key_that_can_be_stored(text: str) -> None:
    key = Key.parse(text)
    assert Key.parse(str(key)) == key


def test_a_step_that_cannot_be_done_yet_is_waited_for_under_a_key_of_its_own() -> None:
    assert str(Key("judge", 1, tries=3).waiting()) == "wait-judge-1.3"


def test_keys_and_points_are_stored_as_their_text() -> None:
    event = LoopEnded(key=Key("fix", 1, part="2", tries=0), outcome=Outcome(ending=Ending.HELD, at=Point("FIX", 2)))
    assert '"at":"FIX@2"' in encode(event)
    assert '"key":"fix-1-2.0"' in encode(event)
    assert decode(LoopEnded, encode(event)) == event


@pytest.mark.parametrize("text", ["FIX", "FIX@", "FIX@x"])
def test_what_is_no_point_is_refused(text: str) -> None:
    with pytest.raises(DecodeError, match=r"\$\.at: .* is no point"):
        decode(Outcome, f'{{"ending":"held","at":"{text}"}}')


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"\$\.key: expected str, found int"):
        decode(Announced, '{"key":3}')


def test_no_point_has_no_text() -> None:
    assert (str(NO_POINT), Point.parse("")) == ("", NO_POINT)


def test_an_event_about_no_action_has_no_key() -> None:
    assert (key_of(Announced(key=Key.parse("stop"))), key_of(BudgetChanged(usd=1.0))) == (Key.parse("stop"), NO_KEY)


def test_a_key_with_a_number_that_cannot_be_is_a_step_of_that_name() -> None:
    text = "implement-" + "9" * 5000
    assert Key.parse(text) == Key(text)
