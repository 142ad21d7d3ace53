import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Generic, Literal, NewType, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.configuration import duration_text
from generators.schemas import Published
from generators.types import schema_of
from loopwright.kernel.codec import SPREAD, as_object
from loopwright.kernel.model import Severity
from loopwright.kernel.shapes import parse_duration

Name = NewType("Name", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: Name
    parts: tuple["Part", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    kind: Literal["a", "b"]
    severity: Severity | None = None
    part: Part | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    anything: object = None
    note: str = field(default="", metadata={"may_be_absent": True})


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around(Generic[T]):
    first: int
    own: T = field(metadata=SPREAD)


PART = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}}},
}


def test_a_schema_says_what_the_type_says() -> None:
    assert schema_of(Whole) == {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", "b"]},
            "severity": {"anyOf": [{"enum": ["critical", "high", "medium", "low"]}, {"type": "null"}]},
            "part": {"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "anything": {},
            "note": {"type": "string"},
        },
        "additionalProperties": False,
        "required": ["kind"],
        "$defs": {"Part": {**PART, "additionalProperties": False, "required": ["name"]}},
    }


def test_what_we_write_may_be_added_to_by_a_later_version() -> None:
    form = schema_of(Whole, open_ended=True)
    assert "additionalProperties" not in form
    assert form["required"] == ["kind"]


def test_what_is_said_of_a_field_is_its_description() -> None:
    @dataclass(frozen=True)
    class Named:
        name: Annotated[Name, "As it is called."]

    assert schema_of(Named)["properties"] == {"name": {"description": "As it is called.", "type": "string"}}


def test_the_fields_of_a_part_that_is_spread_stand_beside_the_others() -> None:
    form = schema_of(Around[Point], open_ended=True)
    assert form["properties"] == {"first": {"type": "integer"}, "x": {"type": "integer"}, "y": {"type": "integer"}}
    assert form["required"] == ["first", "x"]
    assert as_object(Around(first=1, own=Point(2))) == {"first": 1, "x": 2, "y": 0}


def test_a_part_that_is_not_named_has_no_schema() -> None:
    with pytest.raises(ValueError, match="shorter"):
        schema_of(Around)


def test_a_type_that_json_does_not_know_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        names: frozenset[str]

    with pytest.raises(TypeError, match="no JSON Schema for"):
        schema_of(Odd)


def test_a_dataclass_is_published_with_its_title() -> None:
    text = Published(title="A whole", description="As it is written.", source=(Whole,)).text()
    assert list(json.loads(text))[:4] == ["$schema", "title", "description", "type"]


@given(st.integers(1, 30 * 86400 * 1000))
def test_a_time_reads_back(thousandths: int) -> None:
    assert parse_duration(duration_text(thousandths / 1000)) == thousandths / 1000
