import pytest

from loopwright.kernel.plain_shapes import Flag, Many, Record, Shape, Text, Whole, Word, check


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (Text(), ""),
        (Text(1), "a"),
        (Whole(), 0),
        (Whole(), 10**9),
        (Whole(least=1, most=3), 1),
        (Whole(least=1, most=3), 3),
        (Flag(), True),
        (Flag(), False),
        (Word(("a", "")), ""),
        (Many(of=Flag()), []),
        (Many(of=Flag(), least=1, most=2), [True, False]),
        (Record(fields=(("a", Flag()),)), {}),
        (Record(fields=(("a", Flag()),)), {"a": None, "other": object()}),
    ],
)
def test_what_fits_has_no_problem(shape: Shape, value: object) -> None:
    assert list(check(shape, value)) == []


@pytest.mark.parametrize(
    ("shape", "value", "says"),
    [
        (Text(), 3, "has to be text, not 3"),
        (Text(), None, "has to be text, not nothing"),
        (Text(1), "", "has to be text, not an empty text"),
        (Whole(), True, "has to be a whole number from 0, not true"),
        (Whole(), 1.0, "has to be a whole number from 0, not 1.0"),
        (Whole(), -1, "has to be a whole number from 0, not -1"),
        (Whole(least=1), 0, "has to be a whole number from 1, not 0"),
        (Whole(most=0), 1, "has to be a whole number from 0 to 0, not 1"),
        (Whole(most=100), 101, "has to be a whole number from 0 to 100, not 101"),
        (Whole(), "7", "has to be a whole number from 0, not '7'"),
        (Flag(), 0, "has to be true or false, not 0"),
        (Flag(), "no", "has to be true or false, not 'no'"),
        (
            Word(("a", "b")),
            "c\x1b\n" + "d" * 99,
            "has to be one of a, b, not 'c\\\\x1b " + "d" * 54 + " … (45 more characters)'",
        ),
        (Word(("", "b")), False, "has to be one of nothing, b, not false"),
        (Word(("a",)), ["a"], "has to be one of a, not a list"),
        (Many(of=Flag()), {}, "has to be a list, not a mapping"),
        (Many(of=Flag()), "a", "has to be a list, not 'a'"),
        (Many(of=Flag(), least=1, most=2), [], "has to have 1 to 2 entries, not 0"),
        (Many(of=Flag(), least=1, most=2), [True] * 3, "has to have 1 to 2 entries, not 3"),
        (Record(fields=()), [], "has to be a mapping, not a list"),
        (Record(fields=(("a", Flag()),), required=("a",)), {}, "a is missing"),
        (Record(fields=(("a", Flag()),), required=("a",)), {"a": None}, "a is missing"),
    ],
)
def test_what_does_not_fit_is_told(shape: Shape, value: object, says: str) -> None:
    assert list(check(shape, value)) == [((), says)]


def test_every_problem_is_told_with_its_place() -> None:
    shape = Record(
        fields=(("a", Many(of=Record(fields=(("b", Flag()), ("c", Text()))))), ("d", Text())), required=("d",)
    )
    assert list(check(shape, {"a": [{"c": 1, "b": 2}, {}, 3]})) == [
        (("a", 0, "b"), "has to be true or false, not 2"),
        (("a", 0, "c"), "has to be text, not 1"),
        (("a", 2), "has to be a mapping, not 3"),
        ((), "d is missing"),
    ]
