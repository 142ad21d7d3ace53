from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.quoting import at_most, fenced, inline, one_line, quoted, size, with_closed_fences
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import told
from tests import hostile


def test_many_lines_become_one_and_long_ones_say_what_is_missing() -> None:
    assert one_line("a\n\n b\tc") == "a b c"
    assert one_line("x" * 12, 10) == "x" * 10 + " … (2 more characters)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a * b, x[0] and snake_case", "a * b, x[0] and snake_case"),
        ("*bold* ~~gone~~", r"\*bold\* \~~gone\~~"),
        ("[a](b) <i> &lt; 1 < 2", r"[a\](b) \<i> \&lt; 1 < 2"),
        ("a\\* \\n `x`", r"a\\\* \n \`x\`"),
        ("_a_ __init__", r"\_a\_ \_\_init\_\_"),
    ],
)
def test_markup_is_shown_as_it_is_written(text: str, shown: str) -> None:
    assert inline(text) == shown


def test_a_quote_marks_every_line() -> None:
    assert quoted("a\n\n# b\n") == "> a\n>\n> # b"


@given(text=hostile.texts)
def test_a_fence_is_longer_than_any_inside_it(text: str) -> None:
    first, *body, last = fenced(text).split("\n")
    assert first == f"{last}text"
    assert all(last not in line for line in body)


def test_what_is_longer_than_its_limit_in_bytes_says_how_much_is_left_out() -> None:
    cut = at_most("é" * 200, 100)
    kept = cut.count("é")
    assert (cut, size(cut) <= 100) == ("é" * kept + f" … ({400 - 2 * kept} more bytes left out)", True)
    assert at_most("é" * 50, 100) == "é" * 50


@given(text=hostile.texts, limit=st.integers(64, 300))
def test_a_limit_in_bytes_holds_with_the_note(text: str, limit: int) -> None:
    cut = at_most(text * 3, limit)
    assert size(cut) <= limit
    assert cut == visible(text * 3) or cut.endswith(" more bytes left out)")


@pytest.mark.parametrize(
    ("finding", "sentence"),
    [
        (Finding(severity=Severity.LOW, issue="x"), "x"),
        (Finding(severity=Severity.LOW, issue="x", file="a.py"), "a.py - x"),
        (Finding(severity=Severity.LOW, issue="x", file="a.py", line=3), "a.py:3 - x"),
        (Finding(severity=Severity.LOW, issue="x", line=3), "x"),
        (Finding(severity=Severity.LOW, issue="x", rule="t", category="tests"), "t - x"),
        (Finding(severity=Severity.LOW, issue="t - x", rule="t", category="tests", file="a.py"), "t - x (a.py)"),
        (Finding(severity=Severity.LOW, issue="x", rule="a.py::t", category="tests", file="a.py"), "a.py::t - x"),
        (Finding(severity=Severity.LOW, issue="x", category="tests", file="a.tsx", line=45), "a.tsx:45 - x"),
    ],
)
def test_a_finding_in_a_sentence(finding: Finding, sentence: str) -> None:
    assert told(finding) == sentence


@pytest.mark.parametrize("indented", ["", "  "])
@pytest.mark.parametrize("body", ["x\n" * 200, "y" * 400, "```\n" * 100, "`" * 90 + "\n" + "z\n" * 200])
@pytest.mark.parametrize("limit", [130, 200, 300, 399])
def test_a_cut_leaves_no_code_block_open(body: str, limit: int, indented: str) -> None:
    text = indent(f"- a finding\n{fenced(body)}\nafter", indented)
    shown = with_closed_fences(text, limit)
    assert size(shown) <= limit
    assert "more bytes left out" in shown
    fences = [line for line in shown.split("\n") if line.startswith(f"{indented}```")]
    assert len(fences) < 2 or fences[-1] == fences[0].split("text")[0].split(" … ")[0]


def test_what_fits_or_has_no_block_open_is_only_cut() -> None:
    whole = f"{fenced('x')}\n" + "y" * 200
    assert with_closed_fences(whole, 300) == whole
    assert with_closed_fences(whole, 150) == at_most(whole, 150)
