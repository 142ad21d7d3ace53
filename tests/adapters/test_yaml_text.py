import math
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.yaml_nodes import DEPTH_LIMIT, NODE_LIMIT
from loopwright.adapters.yaml_text import SIZE_LIMIT, read_yaml
from loopwright.errors import ConfigError
from loopwright.kernel.visible import is_harmless
from loopwright.kernel.yaml_writer import write_yaml


@pytest.fixture(params=[True, False], ids=["libyaml", "python"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML has two parsers, and which one is there depends on the machine."""
    if request.param and not yaml.__with_libyaml__:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(yaml, "__with_libyaml__", request.param)


def plain(text: str) -> object:
    return read_yaml(text, "a.yml").plain()


def refusal(text: str) -> tuple[str, str, int | None]:
    with pytest.raises(ConfigError) as caught:
        read_yaml(text, "a.yml")
    assert caught.value.path == "a.yml"
    return caught.value.key, caught.value.expected, caught.value.line


# Reading


def test_mappings_lists_and_text_are_read() -> None:
    text = "id: ST-001\nparts:\n  - name: one\n    tags: [a, 'b c']\n  - - x\n    - {}\nnote: |\n  two\n  lines\n"
    expected = {"id": "ST-001", "parts": [{"name": "one", "tags": ["a", "b c"]}, ["x", {}]], "note": "two\nlines\n"}
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *[("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False), ("FALSE", False)],
        *[("null", None), ("Null", None), ("NULL", None), ("~", None), ("", None)],
        *[("0", 0), ("12", 12), ("-3", -3), ("+3", 3), ("0x1f", 31), ("0o17", 15)],
        *[("1.5", 1.5), (".5", 0.5), ("-1.", -1.0), ("2e3", 2000.0), ("1.5E-1", 0.15)],
        *[(".inf", math.inf), ("-.Inf", -math.inf), ("+.INF", math.inf)],
    ],
)
def test_a_plain_word_has_the_type_that_yaml_1_2_gives_it(word: str, value: object) -> None:
    found = plain(f"a: {word}")
    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)
    assert plain(f"a: '{word}'") == {"a": word}


@pytest.mark.parametrize(
    "word",
    [
        *["no", "No", "yes", "on", "off", "y", "n", "tRUE", "nULL", "nan", "inf", "1_000", "12:30", "1:20:30"],
        *["2001-01-01", "2001-01-01T10:00:00Z", "0123", "00", "00.5", "0b1", "0o8", "0xg", "-0x1", "1e", "e1", "."],
    ],
)
def test_what_yaml_1_1_would_guess_stays_text(word: str) -> None:
    assert plain(f"a: {word}\nb: [{word}]" if ":" not in word else f"a: {word}\nb: ['{word}']") == {
        "a": word,
        "b": [word],
    }


def test_not_a_number_is_read_as_such() -> None:
    assert repr(plain("[.nan, .NaN]")) == "[nan, nan]"


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "\ufeff", "---\n", "--- ~\n..."])
def test_nothing_is_none(text: str) -> None:
    found = read_yaml(text, "a.yml")
    assert found.plain() is None
    assert found.line() == 1
    assert found.line("a", 0) == 1


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    assert plain("\ufeffa: 1") == {"a": 1}


def test_the_line_of_a_key_or_entry_is_known_and_else_that_of_what_is_around_it() -> None:
    found = read_yaml(
        "# top\na:\n  b: 1\n\n  'c d':\n    - x\n    -\n      e: |\n        t\n        u\nz: [1,\n 2]\n", "a.yml"
    )
    lines = {
        (): 1,
        ("a",): 2,
        ("a", "b"): 3,
        ("a", "c d"): 5,
        ("a", "c d", 0): 6,
        ("a", "c d", 1): 8,
        ("a", "c d", 1, "e"): 8,
        ("a", "c d", 1, "nowhere"): 8,
        ("a", "c d", 2, "e"): 5,
        ("a", "b", "c"): 3,
        ("nowhere",): 1,
        ("z",): 11,
        ("z", 1): 12,
    }
    assert {path: found.line(*path) for path in lines} == lines


@pytest.mark.parametrize(
    ("text", "key", "says", "line"),
    [
        ("a: 1\n---\nb: 2\n", "", "holds more than one document; keep one", 2),
        ("a: !!str 1", "a", "a tag (!) is not allowed; write a plain value", 1),
        ("a: ! b", "a", "a tag (!) is not allowed; write a plain value", 1),
        ("a:\n- !x {}", "a[0]", "a tag (!) is not allowed; write a plain value", 2),
        ("!!python/object:os.system [x]", "", "a tag (!) is not allowed; write a plain value", 1),
        ("a: &x 1", "a", "an anchor (&) is not allowed; write the value out where it is needed", 1),
        ("a: &x [1]", "a", "an anchor (&) is not allowed; write the value out where it is needed", 1),
        ("b:\n  &x a: 1", "b", "an anchor (&) is not allowed; write the value out where it is needed", 2),
        ("a: 1\nb: *x", "b", "an alias (*) is not allowed; repeat the value", 2),
        ("a: 1\n<<: {b: 2}", "", "a merge key (<<) is not allowed; write the keys out", 2),
        ("a: 1\nb: 2\na: 3", "a", "is given twice, first on line 1; keep one", 3),
        ("x:\n- a: 1\n  'a': 2", "x[0].a", "is given twice, first on line 2; keep one", 3),
        ("x: {a b: 1, a b: 2}", "x.'a b'", "is given twice, first on line 1; keep one", 1),
        ("x: {1: 2}", "x", "a key has to be text; put it in quotes", 1),
        ("true: 2", "", "a key has to be text; put it in quotes", 1),
        ("? [a]\n: b", "", "a key has to be text; put it in quotes", 1),
        ("a: 1\n? {b: c}\n: d", "", "a key has to be text; put it in quotes", 2),
        ("a: '\x1b'", "", "has the control character '\\x1b'; remove or escape it", 1),
        ("a: b\nc: \x85", "", "has the control character '\\x85'; remove or escape it", 2),
        ("\u2028", "", "has the control character '\\u2028'; remove or escape it", 1),
        ("a\ud800", "", "has the control character '\\ud800'; remove or escape it", 1),
        ("a: " + "9" * 101, "a", "a number has at most 100 digits; put it in quotes", 1),
        ("a: 0x" + "f" * 99, "a", "a number has at most 100 digits; put it in quotes", 1),
        ("a: 1." + "9" * 99, "a", "a number has at most 100 digits; put it in quotes", 1),
    ],
)
def test_what_is_not_strict_is_refused_at_its_place(text: str, key: str, says: str, line: int) -> None:
    assert refusal(text) == (key, says, line)


@pytest.mark.parametrize(("text", "line"), [("a: [1\nb: 2", 2), ("a: 'x", 1), ("\ta: 1", 1), ("a: 1\n b: 2", 2)])
def test_what_is_not_yaml_is_refused_with_a_line(text: str, line: int) -> None:
    key, says, found = refusal(text)
    assert (key, found) == ("", line)
    assert says.startswith("is not YAML: ")


@pytest.mark.parametrize("text", ['"\\ud800"', '"\\uDFFF x"', '"\\UFFFFFFFF"', '"\\U00110000"'])
def test_an_escape_that_is_no_character_is_refused(text: str) -> None:
    assert refusal(f"a: {text}")


def test_a_key_that_looks_like_a_merge_may_be_given_in_quotes() -> None:
    assert plain("'<<': 1") == {"<<": 1}


def test_numbers_of_a_hundred_digits_are_numbers() -> None:
    assert plain("9" * 100) == 10**100 - 1


# Too much


@pytest.mark.parametrize(
    "text",
    ["[" * 1_000_000, "[\n" * 500_000, "- " * 500_000, "{a: " * 250_000, "a: [\n" * 200_000],
    ids=lambda text: repr(text[:5]),
)
def test_a_text_that_nests_without_end_is_refused_at_once(text: str) -> None:
    assert refusal(text)[:2] == ("", f"is nested deeper than {DEPTH_LIMIT} levels")


@pytest.mark.parametrize("text", ["{" * 1_000_000, "? " * 500_000], ids=["{", "?"])
def test_keys_that_nest_without_end_are_refused_at_once(text: str) -> None:
    assert refusal(text) == ("", "a key has to be text; put it in quotes", 1)


def test_the_deepest_that_is_allowed() -> None:
    depth = DEPTH_LIMIT
    assert refusal("[" * (depth + 1) + "]" * (depth + 1)) == ("", "is nested deeper than 32 levels", 1)
    value = plain("[" * depth + "]" * depth)
    for _ in range(depth - 1):
        (value,) = value  # type: ignore[misc]
    assert value == []


@pytest.mark.unmeasured
def test_the_most_nodes_that_are_allowed() -> None:
    entries = "-\n" * (NODE_LIMIT - 1)
    assert plain(entries) == [None] * (NODE_LIMIT - 1)
    assert refusal(entries + "-\n")[:2] == ("", "has more than 100000 keys and values")


@pytest.mark.unmeasured
def test_the_longest_text_that_is_allowed() -> None:
    assert plain("#" * SIZE_LIMIT) is None
    assert refusal("#" * (SIZE_LIMIT + 1)) == ("", "is larger than 1024 KiB", None)


def test_only_reading_loads_the_parser() -> None:
    program = (
        "import sys; from loopwright.adapters.yaml_text import read_yaml;"
        " print('yaml' in sys.modules); read_yaml('', ''); print('yaml' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"


# Writing


def test_what_is_written_looks_as_a_person_would_write_it() -> None:
    data = {
        "story_id": "ST-001",
        "round": 2,
        "done": False,
        "share": 0.5,
        "far": 1e100,
        "nothing": None,
        "none": [],
        "empty": {},
        "inner": {"b": 1, "a": ["x", ("y", {"z": "é ü 漢"})]},
        "findings": [{"issue": "first\n  second\n\nlast", "note": "ends\nhere\n"}, "more\nlines"],
    }
    assert write_yaml(data) == (
        "story_id: ST-001\nround: 2\ndone: false\nshare: 0.5\nfar: 1.0e+100\nnothing: null\nnone: []\nempty: {}\n"
        'inner:\n  b: 1\n  a:\n    - x\n    - - "y"\n      - z: é ü 漢\n'
        "findings:\n  - issue: |-\n      first\n        second\n\n      last\n    note: |\n      ends\n      here\n"
        "  - |-\n      more\n      lines\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        *[
            "no",
            "Yes",
            "ON",
            "y",
            "true",
            "null",
            "~",
            "",
            " a",
            "a ",
            "12",
            "1e5",
            "0x1f",
            "2001-01-01",
            "12:30",
            ".inf",
        ],
        *[
            "a: b",
            "a:",
            "# a",
            "a #b",
            "- a",
            "[a",
            "{a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "'a",
            '"a',
            "%a",
            "@a",
            "`a",
            "<<",
        ],
        *["a\tb", "---", "...", "? a", ", a", "=", "\\", "\n", "a\n\n", "\na\nb", " a\nb"],
    ],
)
def test_text_that_could_be_taken_for_something_else_is_quoted(text: str) -> None:
    assert write_yaml(text).startswith('"')
    assert plain(write_yaml({text: text})) == {text: text}
    assert yaml.safe_load(write_yaml({text: [text]})) == {text: [text]}


@pytest.mark.parametrize("text", ["a", "a b", "src/a.py:12", "C#", "a, [b] {c} & 'd'", "http://x", "Ä", "_x", "nope"])
def test_other_text_is_not_quoted(text: str) -> None:
    assert write_yaml(text) == f"{text}\n"
    assert plain(write_yaml({text: text})) == {text: text}


def test_what_is_invisible_is_escaped() -> None:
    text = '\x00\x1b[2J\r\x85\u200b\u202e\u2028\ufeff\ufe0f\U000e0001\\ "'
    written = write_yaml({"a": text, "b": f"x\n{text}"})
    assert written == (
        'a: "\\x00\\x1b[2J\\x0d\\x85\\u200b\\u202e\\u2028\\ufeff\\ufe0f\\U000e0001\\\\ \\""\n'
        'b: "x\\n\\x00\\x1b[2J\\x0d\\x85\\u200b\\u202e\\u2028\\ufeff\\ufe0f\\U000e0001\\\\ \\""\n'
    )
    assert plain(written) == {"a": text, "b": f"x\n{text}"}


def test_half_a_surrogate_pair_is_written_out() -> None:
    assert plain(write_yaml({"\udc80": "a\ud800"})) == {"\\udc80": "a\\ud800"}


@pytest.mark.parametrize("number", [0.1, -2.5, 1e16, 1e-7, -1.5e300, math.inf, -math.inf, 5e-324, 1e22])
def test_a_fraction_is_one_for_other_readers_too(number: float) -> None:
    assert plain(write_yaml({"a": number})) == {"a": number}
    assert yaml.safe_load(write_yaml({"a": number})) == {"a": number}


def test_not_a_number_is_written_as_such() -> None:
    assert write_yaml([math.nan]) == "- .nan\n"


def test_a_very_long_key_is_found_again() -> None:
    data = {"k" * 2000: {"a": [1]}, "l" * 2000: "x\ny", "m" * 2000: 1, "\n" * 900: []}
    assert plain(write_yaml(data)) == data


@pytest.mark.parametrize(
    ("value", "name"), [({1: 2}, "int"), ([b"x"], "bytes"), ({"a": {1}}, "set"), (object(), "object")]
)
def test_what_yaml_has_no_form_for_is_refused(value: object, name: str) -> None:
    with pytest.raises(TypeError, match=f"\\b{name}$"):
        write_yaml(value)


# Text that is likely to be mistaken for markup, besides any text at all.
TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    st.sampled_from("a \n\t\r:#-'\"\\|>&*!?%@`{}[],0.~\x85\u2028")
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**90), 10**90) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_what_is_written_reads_back_as_it_was(value: object) -> None:
    text = write_yaml(value)
    assert all(is_harmless(char) for char in text)
    assert plain(text) == value
    assert yaml.safe_load(text) == value
