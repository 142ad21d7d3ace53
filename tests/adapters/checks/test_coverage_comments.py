import pytest

from loopwright.adapters.checks.coverage_comments import left_out_by_comments

FUNCTION = """\
def third(  # pragma: no cover
    n,
):
    '''It is so.'''
    if n < 0:
        return (
            1
        )
    return n * 3
"""
BRANCHES = """\
from typing import TYPE_CHECKING
try:
    import tomllib
except ImportError:  # pragma: no cover
    import tomli as tomllib

if TYPE_CHECKING:
    import typing
if tomllib:
    one = 1
else:  # nocov
    two = 2
match one:
    case 1:  # pragma: no cover
        three = 3
if one: four = 4  # pragma: no cover
@cache  # pragma: no cover
def five():
    return 5
"""
SCRIPT = """\
const one = 1;
/* istanbul ignore next */
function two(
  a,
) {
  // so
  return a;
}
const three = 3;
"""
ALL = frozenset(range(1, 40))


@pytest.mark.parametrize(
    ("path", "text", "measured", "told"),
    [
        ("a.py", FUNCTION, {10}, {1, 5, 6, 9}),
        ("a.py", BRANCHES, {1, 2, 3, 9, 10, 13}, {4, 5, 12, 14, 15, 16, 17, 18, 19}),
        ("a.py", "x = 1  # pragma: no cover\ny = 2\n", {2}, {1}),
        ("a.py", "x = [\n    1,  # pragma: no cover\n]\ny = 2\n", {4}, {1}),
        ("a.py", "x = (  # pragma: no cover\n", set(), {1}),  # no Python
        ("a.js", SCRIPT, {1, 9}, {3, 4, 7}),
        ("a.c", "int one;\nint two; // LCOV_EXCL_LINE\nint three;\n", {1, 3}, {2}),
        ("a.rs", "#[coverage(off)]\nfn two() {\n}\nfn three() {}\n", {4}, {1, 2}),
        ("a.ts", "/* c8 ignore file */\nexport const a = 1;\n", set(), {2}),  # not in the report at all
        ("a.py", "if TYPE_CHECKING:\n    import typing\n", set(), set()),
        ("a.py", "x = 1  # this does not cover all\n", set(), set()),
    ],
)
def test_new_lines_that_a_comment_leaves_out_are_told(path: str, text: str, measured: set[int], told: set[int]) -> None:
    assert left_out_by_comments(path, text, ALL, frozenset(measured)) == told


def test_what_a_comment_of_the_base_leaves_out_is_as_the_project_wants_it() -> None:
    assert left_out_by_comments("a.py", FUNCTION, frozenset({5, 6, 7, 8}), frozenset()) == frozenset()


def test_only_what_is_new_counts() -> None:
    assert left_out_by_comments("a.py", FUNCTION, frozenset({1, 9}), frozenset()) == {1, 9}
