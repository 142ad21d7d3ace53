import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.config.position import Path, line_of, places
from loopwright.config.settings import Settings
from tests.config.emitter import emit
from tests.config.strategies import any_settings

TEXT = '''\
# version = 0 is a comment
version = 1
"quoted \\u00e9" = 'it = "x"'
a.b . "c.d" = 2
text = """
[not.a.table]
fake = 1
"""
raw = \'\'\'
fake = 2 \'\'\'
list = [
  "one", # two = 2
  ["[x]"],
  { in = 1, out = [
    3] },
]
[table] # trailing = 1
key = { x = 1, y = { z = "}" } }
[ table . sub ]
key = 2
[[many]]
key = 3
[[many]]
key = 4
[many.under]
key = 5
last = 6'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("version",), 2),
        (("quoted é",), 3),
        (("a", "b", "c.d"), 4),
        (("text",), 5),
        (("raw",), 9),
        (("list",), 11),
        (("list", 0), 12),
        (("list", 1), 13),
        (("list", 1, 0), 13),
        (("list", 2, "in"), 14),
        (("list", 2, "out", 0), 15),
        (("table",), 17),
        (("table", "key"), 18),
        (("table", "key", "y", "z"), 18),
        (("table", "sub"), 19),
        (("table", "sub", "key"), 20),
        (("many", 0, "key"), 22),
        (("many", 1), 23),
        (("many", 1, "key"), 24),
        (("many", 1, "under", "key"), 26),
        (("many", 1, "under", "last"), 27),
        (("fake",), None),
        (("two",), None),
        (("not",), None),
        (("trailing",), None),
        (("table", "missing", "deeper"), 17),
        ((), None),
    ],
)
def test_the_line_of_a_key(path: Path, line: int | None) -> None:
    assert line_of(TEXT, path) == line


def leaves(value: object, path: Path = ()) -> list[Path]:
    if isinstance(value, dict):
        return [path, *(leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key)))]
    if isinstance(value, list):
        return [path, *(leaf for index, inner in enumerate(value) for leaf in leaves(inner, (*path, index)))]
    return [path]


def inner_paths(text: str) -> set[Path]:
    """What `tomllib` found, but for the list that `[[many]]` makes by itself."""
    return {path for path in leaves(tomllib.loads(text)) if path not in ((), ("many",))}


def test_every_key_that_tomllib_finds_has_a_line() -> None:
    assert inner_paths(TEXT) - {path for path, _ in places(TEXT)} == set()


@given(any_settings())
def test_every_key_of_any_file_has_a_line(settings: Settings) -> None:
    text = emit(settings)
    found = {path[:size] for path, _ in places(text) for size in range(1, len(path) + 1)}
    assert inner_paths(text) - found == set()


@given(st.text(alphabet="ab.=[]{}\"'\\,#\n u0\r\té", max_size=80), st.lists(st.sampled_from(["a", "b", 0])).map(tuple))
def test_any_text_has_an_answer(text: str, path: Path) -> None:
    line = line_of(text, path)
    assert line is None or 1 <= line <= text.count("\n") + 1


@pytest.mark.unmeasured
@pytest.mark.parametrize("text", ["[" * 100_000, "a." * 100_000, "a={" * 50_000, '"""' * 9, "x=[" * 50_000])
def test_a_hostile_text_costs_neither_time_nor_memory(text: str) -> None:
    assert line_of(text, ("nowhere",)) is None


def test_a_table_that_only_its_parts_name_is_where_the_first_part_is() -> None:
    assert line_of("version = 1\n\n[agnets.a]\nkind = 'x'\n[agnets.b]\n", ("agnets",)) == 3
