import json

import jsonschema
import pytest

from loopwright.kernel.shapes import (
    Field,
    Problem,
    Shape,
    choice,
    duration,
    few_digits,
    fitted,
    flag,
    found,
    given,
    keyed,
    matching,
    named,
    nearest,
    number,
    record,
    ruled,
    several,
    shown,
    text,
    text_or,
    whole,
)

PAIR = record(Field(name="a", shape=flag()), Field(name="b", shape=text()), says="an object")
NEEDS = record(Field(name="a", shape=flag(), required=True))
CLOSED = record(Field(name="attempts", shape=whole(1)), Field(name="later", shape=flag(), obeyed=False), closed=True)


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (text(), ""),
        (text(least=1), "a"),
        (whole(0), 0),
        (whole(1, 3), 3),
        (number(), -1.5),
        (number(0, 1), 1),
        (flag(), False),
        (choice("a", ""), ""),
        (matching("a letter", "[a-z]"), "a"),
        (several(flag()), []),
        (several(flag(), least=1, most=2), [True, False]),
        (several(text()), ["a", "a"]),
        (named(flag()), {"any": True}),
        (text_or(PAIR), "a"),
        (text_or(PAIR), {"a": True}),
        (named(flag(), names="[a-z]+"), {"any": True}),
        (PAIR, {"a": True, "other": [None]}),
        (CLOSED, {"attempts": 1}),
    ],
)
def test_what_fits_is_read_as_it_is_and_fits_the_schema(shape: Shape, value: object) -> None:
    assert shape.read(value) == value
    assert jsonschema.Draft202012Validator(shape.json).is_valid(value)


@pytest.mark.parametrize(
    ("shape", "value", "at", "says"),
    [
        (text(), 3, (), "expected text, found the number 3"),
        (text(least=1), "", (), "expected text that is not empty, found an empty text"),
        (whole(0), True, (), "expected a whole number, at least 0, found true"),
        (whole(0), 1.5, (), "expected a whole number, at least 0, found the number 1.5"),
        (whole(1), 0, (), "expected a whole number, at least 1, found the number 0"),
        (whole(1, 3), 4, (), "expected a whole number, at most 3, found the number 4"),
        (number(), True, (), "expected a number, found true"),
        (number(), "1", (), 'expected a number, found the text "1"'),
        (number(0, 1, "a share"), 2, (), "expected a share, found the number 2"),
        (flag(), 0, (), "expected true or false, found the number 0"),
        (choice("", "b"), False, (), "expected one of nothing, b, found false"),
        (choice("a"), ["a"], (), "expected one of a, found a list"),
        (matching("a letter", "[a-z]"), 1, (), "expected a letter, found the number 1"),
        (matching("a letter", "[a-z]", lambda _: "try a"), "1", (), 'expected a letter, found the text "1"; try a'),
        (several(flag()), {}, (), "expected a list, found a table of keys"),
        (several(flag(), least=1, most=2), [], (), "expected a list, found none"),
        (several(flag(), most=2), [True] * 3, (), "expected at most 2 entries, found 3"),
        (several(flag()), [True, 1], (1,), "expected true or false, found the number 1"),
        (several(text(), unique=True), ["a", "a"], (1,), 'the text "a" stands here twice; remove one'),
        (named(flag()), [], (), "expected a table of keys, found a list"),
        (named(flag()), {"a": 1}, ("a",), "expected true or false, found the number 1"),
        (named(flag(), names="[a-z]", rule="one letter"), {"A": True}, ("A",), "one letter"),
        (PAIR, [], (), "expected an object, found a list"),
        (PAIR, {"a": 1}, ("a",), "expected true or false, found the number 1"),
        (NEEDS, {}, (), "a is missing; give it true or false"),
        (NEEDS, {"a": None}, (), "a is missing; give it true or false"),
        (several(NEEDS), [{"a": True}, {}], (1,), "a is missing; give it true or false"),
        (text_or(PAIR), 1, (), "expected text, or an object, found the number 1"),
        (text_or(PAIR), {"a": 1}, ("a",), "expected true or false, found the number 1"),
        (CLOSED, {"attemps": 1}, ("attemps",), "unknown key; did you mean 'attempts'?"),
        (CLOSED, {"latter": 1}, ("latter",), "unknown key; did you mean 'later'?"),
        (CLOSED, {"x": 1}, ("x",), "unknown key; choose from attempts"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(shape: Shape, value: object, at: tuple[str, ...], says: str) -> None:
    assert shape.read(value) == Problem(says, at)
    assert not jsonschema.Draft202012Validator(shape.json).is_valid(value)


def test_a_known_key_without_a_value_is_as_good_as_absent_and_an_unknown_one_is_kept() -> None:
    assert PAIR.read({"a": None, "b": "x", "c": None}) == {"b": "x", "c": None}
    assert jsonschema.Draft202012Validator(PAIR.json).is_valid({"a": None, "b": "x", "c": None})


def test_a_rule_is_asked_about_what_has_the_shape_and_adds_to_the_schema() -> None:
    even = ruled(whole(0), lambda held: Problem("is odd") if held % 2 else None, {"multipleOf": 2})
    assert [even.read(value) for value in (2, 3)] == [2, Problem("is odd")]
    assert even.read("a") == Problem('expected a whole number, at least 0, found the text "a"')
    assert [jsonschema.Draft202012Validator(even.json).is_valid(value) for value in (2, 3)] == [True, False]


def test_an_open_record_is_made_from_the_names_of_its_keys() -> None:
    shape = keyed("an object", "a", a=flag(), b=(text(), "Says b."))
    assert shape.read({"b": ""}) == Problem("a is missing; give it true or false")
    assert [(field.name, field.required, field.means) for field in shape.fields] == [
        ("a", True, ""),
        ("b", False, "Says b."),
    ]


def test_a_time_is_read_as_seconds() -> None:
    assert (duration().read("1m30s"), duration().read(2)) == (90.0, 2.0)
    assert isinstance(duration().read("soon"), Problem)


def test_what_nothing_obeys_is_read_and_not_published() -> None:
    assert CLOSED.read({"later": True}) == {"later": True}
    assert json.dumps(CLOSED.json).count("later") == 0


def test_a_meaning_is_published_as_a_description() -> None:
    shape = record(Field(name="a", shape=flag(), means="Whether."))
    assert shape.json["properties"] == {"a": {"description": "Whether.", "type": ["boolean", "null"]}}


def test_every_key_of_the_data_is_given_with_what_is_known_of_it() -> None:
    shape = record(Field(name="list", shape=several(PAIR)), Field(name="names", shape=named(PAIR)))
    data = {"list": [{"a": True, "x": 1}], "names": {"n": {"b": ""}}, "other": {"deep": 1}, "names2": 3}
    assert [(shown(at), field and field.name, held) for at, field, held in given(shape, data)] == [
        ("list", "list", data["list"]),
        ("list[0].a", "a", True),
        ("list[0].x", None, 1),
        ("names", "names", data["names"]),
        ("names.n.b", "b", ""),
        ("other", None, {"deep": 1}),
        ("names2", None, 3),
    ]
    assert list(given(shape, {"list": 3})) == [(("list",), shape.fields[0], 3)]


def test_whoever_reads_a_file_makes_the_error() -> None:
    def error(at: tuple[str | int, ...], says: str) -> ValueError:
        return ValueError(f"f: {shown(at)}: {says}")

    assert fitted(PAIR, {"a": True}, error) == {"a": True}
    with pytest.raises(ValueError, match=r"^f: \[0\].a: expected true or false, found the number 1$"):
        fitted(several(PAIR), [{"a": 1}], error)


def test_values_are_called_by_names_that_no_terminal_obeys() -> None:
    assert [found(value) for value in (None, 10**19, -2.5, "a\x1b\u202e", "ä")] == [
        "nothing",
        "a very large number",
        "the number -2.5",
        'the text "a\\u001b\\u202e"',
        'the text "ä"',
    ]
    assert found("x" * 61) == f'the text "{"x" * 60}…"'


def test_a_place_is_shown_as_people_write_it() -> None:
    assert shown(("findings", 2, "line")) == "findings[2].line"
    assert shown(("a b", "\x1b")) == "'a b'.'\\x1b'"


def test_the_nearest_name_is_offered_and_without_one_the_choices() -> None:
    assert nearest("colour", ["color", "size"]) == "did you mean 'color'?"
    assert nearest("x", ["color", "size"]) == "choose from color, size"
    assert nearest("x", ["color"], []) == "leave it out, for there is none to choose"


def test_a_number_of_json_has_at_most_hundreds_of_digits() -> None:
    assert json.loads("[12, -3]", parse_int=few_digits) == [12, -3]
    with pytest.raises(ValueError, match=r"99999999999999999999… has more than 300 digits"):
        json.loads("9" * 5000, parse_int=few_digits)
