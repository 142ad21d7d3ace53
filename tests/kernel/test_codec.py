"""Values to text and back: nothing is lost, and what does not fit is refused with its place."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Literal, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopwright.kernel.codec import DecodeError, _decoder, _writer, build, decode, encode
from loopwright.kernel.events import (
    AgentReported,
    Answered,
    ArtifactsLoaded,
    CancelRequested,
    Checkpointed,
    Combined,
    Event,
    Integrated,
    Logged,
)
from loopwright.kernel.model import (
    AgentReport,
    Cleanup,
    Commit,
    Content,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Part,
    Point,
    Severity,
    Tree,
    Usage,
)
from loopwright.loops.batch.state import BatchParams, BatchState
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState
from loopwright.loops.quality.state import QualityParams, QualityState
from tests.kernel.values import values

STORED = (*get_args(Logged), Outcome, FeedbackParams, QualityParams, BatchParams)


class Colour(StrEnum):
    RED = "red"


class Level(Enum):
    ONE = 1


@dataclass(frozen=True)
class Inner:
    name: str
    mark: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Outer:
    inner: Inner
    count: int = 0
    share: float = 0.0
    sure: bool = False
    colour: Colour = Colour.RED
    level: Level = Level.ONE
    maybe: Inner | None = None
    loop: LoopId = LoopId("")
    many: tuple[Inner, ...] = ()
    pair: tuple[str, tuple[int, ...]] = ("", ())


WHOLE = Outer(inner=Inner("x"), maybe=Inner("y", "b"), many=(Inner("z"), Inner("ü")))


@pytest.mark.parametrize("kind", STORED, ids=lambda kind: kind.__name__)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_event_comes_back_as_it_was(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(values(kind))
    text = encode(value)
    assert decode(kind, text) == value
    assert encode(decode(kind, text)) == text


@pytest.mark.parametrize("kind", [FeedbackState, QualityState, BatchState], ids=lambda kind: kind.__name__)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_every_state_comes_back_as_it_was(kind: type[Any], data: st.DataObject) -> None:
    state = data.draw(values(kind))
    assert decode(kind, encode(state)) == state


def test_every_logged_event_has_a_name_of_its_own() -> None:
    names = [kind.__name__ for kind in get_args(Logged)]
    assert len(set(names)) == len(names)
    assert set(get_args(Event)) < set(get_args(Logged))


# --- the text -----------------------------------------------------------------------------------------------


def test_the_text_is_canonical() -> None:
    assert encode(WHOLE) == (
        '{"colour":"red","count":0,"inner":{"mark":"a","name":"x"},"level":1,"loop":"",'
        '"many":[{"mark":"a","name":"z"},{"mark":"a","name":"ü"}],"maybe":{"mark":"b","name":"y"},'
        '"pair":["",[]],"share":0.0,"sure":false}'
    )
    assert decode(Outer, encode(WHOLE)) == WHOLE


def test_equal_values_have_equal_text() -> None:
    assert Usage(usd=2, seconds=1) == Usage(usd=2.0, seconds=1.0)
    assert encode(Usage(usd=2, seconds=1)) == encode(Usage(usd=2.0, seconds=1.0))


def test_plain_lists_and_objects_can_be_stored_too() -> None:
    _writer.cache_clear()  # those that were built by other tests may not have been measured
    assert encode({"b": [1, None], "a": (Colour.RED, Level.ONE)}) == '{"a":["red",1],"b":[1,null]}'
    assert encode({Colour.RED: 1}) == '{"red":1}'
    assert encode([Key("fix", 2), Usage(usd=1.0)]).startswith('["fix-2",{')


def test_text_of_another_kind_is_stored_as_text() -> None:
    class Quoted(str):
        __slots__ = ()

    assert encode([Quoted("one"), 2]) == '["one",2]'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_cannot_be_stored(number: float) -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        encode(Usage(seconds=number))


@pytest.mark.parametrize("value", [{1, 2}, b"raw", object()], ids=["set", "bytes", "object"])
def test_what_has_no_json_form_cannot_be_stored(value: object) -> None:
    with pytest.raises(TypeError, match=f"{type(value).__name__} cannot be stored"):
        encode(value)


def test_a_type_is_not_a_value() -> None:
    with pytest.raises(TypeError):
        encode(Inner)


# --- what is refused -----------------------------------------------------------------------------------------


def outer(**changed: object) -> str:
    return json.dumps({"inner": {"name": "x"}} | changed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (outer(more=1, extra=2), "$.extra: unknown field"),
        ("{}", "$.inner: missing"),
        ('{"inner":{}}', "$.inner.name: missing"),
        ("[]", "$: expected an object, found list"),
        ("null", "$: expected an object, found NoneType"),
        (outer(inner="x"), "$.inner: expected an object, found str"),
        (outer(inner={"name": 1}), "$.inner.name: expected str, found int"),
        (outer(inner={"name": None}), "$.inner.name: expected str, found NoneType"),
        (outer(inner={"name": "x", "mark": "c"}), "$.inner.mark: expected one of a, b, found 'c'"),
        (outer(inner={"name": "x", "mark": []}), "$.inner.mark: expected one of a, b, found []"),
        (outer(count="1"), "$.count: expected int, found str"),
        (outer(count=1.0), "$.count: expected int, found float"),
        (outer(count=True), "$.count: expected int, found bool"),
        (outer(share="1"), "$.share: expected float, found str"),
        (outer(share=True), "$.share: expected float, found bool"),
        (outer(sure=1), "$.sure: expected bool, found int"),
        (outer(colour="blue"), "$.colour: expected one of red, found 'blue'"),
        (outer(colour=["red"]), "$.colour: expected one of red, found ['red']"),
        (outer(level="1"), "$.level: expected one of 1, found '1'"),
        (outer(maybe={"mark": "a"}), "$.maybe.name: missing"),
        (outer(loop=7), "$.loop: expected str, found int"),
        (outer(many={}), "$.many: expected a list, found dict"),
        (outer(many=[{"name": "x"}, {"name": 2}]), "$.many[1].name: expected str, found int"),
        (outer(pair=["a"]), "$.pair: expected 2 values, found 1"),
        (outer(pair=["a", ["b"]]), "$.pair[1][0]: expected int, found str"),
        (outer(inner={"name": "\ud800"}), "$.inner.name: the text holds half a character"),
        ('{"inner":{"name":"x"},"share":1e999}', "$.share: the number is too large"),
        (outer(share=10**400), "$.share: the number is too large"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as refused:
        decode(Outer, text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value"),
        ('{"inner":', "not JSON: Expecting value"),
        ('{"inner":{"name":"x"}} ,', "not JSON: Extra data"),
        ('{"inner":{"name":"x","name":"y"}}', "not JSON: an object has the same key twice"),
        ('{"share":NaN}', "not JSON: NaN is not a number"),
        ('{"share":Infinity}', "not JSON: Infinity is not a number"),
        ('{"share":-Infinity}', "not JSON: -Infinity is not a number"),
        ("[" * 100_000, "not JSON: maximum recursion depth"),
    ],
)
def test_what_is_not_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as refused:
        decode(Outer, text)
    assert str(refused.value).startswith(message)


def test_only_the_optional_kind_of_union_can_be_stored() -> None:
    @dataclass(frozen=True)
    class Either:
        value: int | str

    with pytest.raises(TypeError, match="is not an optional type"):
        build(Either, {"value": 1})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["inner", "name", "many", "x"]), inner),
    )
)
def test_whatever_is_read_is_a_value_or_a_decode_error(data: object) -> None:
    try:
        value = build(Outer, data)
    except DecodeError:
        return
    assert isinstance(value, Outer)


# --- growing ---------------------------------------------------------------------------------------------------


def test_what_an_old_record_lacks_takes_its_default() -> None:
    assert decode(Outer, '{"inner":{"name":"x"}}') == Outer(inner=Inner("x"))
    assert decode(CancelRequested, "{}") == CancelRequested(cleanup=Cleanup.KEEP_EVERYTHING)
    assert decode(Answered, '{"key":"k","choice":"continue"}') == Answered(key=Key.parse("k"), choice="continue")


def test_nothing_stands_for_nothing() -> None:
    assert decode(Outer, outer(maybe=None)) == Outer(inner=Inner("x"))


def test_a_whole_number_is_a_float_where_one_is_wanted() -> None:
    value = decode(Outer, outer(share=1))
    assert (value.share, type(value.share)) == (1.0, float)


def test_a_nested_event_by_hand() -> None:
    text = '{"key":"review-1.1","report":{"findings":[{"severity":"high","issue":"x"}]},"usage":{"usd":null}}'
    assert decode(AgentReported, text) == AgentReported(
        key=Key.parse("review-1.1"), report=AgentReport(findings=(Finding(severity=Severity.HIGH, issue="x"),))
    )


def test_a_kind_that_is_read_for_the_first_time_is_read_as_ever() -> None:
    reported = AgentReported(key=Key("fix", 2, tries=1), role="fixer", report=AgentReport(), usage=Usage(usd=1.0))
    ended = Outcome(ending=Ending.VERIFIED, commit=Commit("abc"), loop=LoopId("one"))
    _decoder.cache_clear()  # those that were built by other tests may not have been measured
    assert (decode(AgentReported, encode(reported)), decode(Outcome, encode(ended))) == (reported, ended)


def test_ids_are_plain_text() -> None:
    landed = Integrated(key=Key.parse("k"), branch="b", commit=Commit("c"))
    assert json.loads(encode(landed)) == {
        "branch": "b",
        "commit": "c",
        "held": [],
        "held_on": "",
        "landed": "",
        "key": "k",
        "merged_into": "",
        "not_merged": "",
        "note": "",
        "take": "",
    }


def test_what_a_checkpoint_and_a_combination_left_out_is_kept() -> None:
    saved = Checkpointed(key=Key.parse("k"), commit=Commit("c"), tree=Tree("t"), dropped=("a.py", "b\nc.py"))
    assert decode(Checkpointed, encode(saved)) == saved
    made = Combined(key=Key.parse("k"), commit=Commit("c"), files=2, left_out=(Commit("d"),))
    assert decode(Combined, encode(made)) == made
    seen = ArtifactsLoaded(key=Key.parse("k"), contents=(Content(path="a", object=""), Content(path="b", object="o")))
    assert decode(ArtifactsLoaded, encode(seen)) == seen


def test_what_came_of_the_parts_is_kept() -> None:
    part = Part(name="a.yml", ending=Ending.ESCALATED, note="QUALITY_BLOCKED: a.yml", attempts=3, loop=LoopId("l"))
    outcome = Outcome(
        ending=Ending.HELD, parts=(part,), at=Point("FIX", 2), asking=Key("escalation", 1), loop=LoopId("p")
    )
    assert decode(Outcome, encode(outcome)) == outcome
