import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopwright.kernel.visible import is_all_harmless, is_harmless, visible, visible_bytes


@given(st.text(alphabet=st.characters(codec=None)))
@example("\ud800\x00\x7f\x9b\u2028\ufe0f\u3164\r")
def test_whatever_goes_in_only_harmless_characters_come_out(text: str) -> None:
    shown = visible(text)
    assert all(is_harmless(char) for char in shown.replace("\u26a0\ufe0f", ""))
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in shown if char not in "\n\t")
    shown.encode("utf-8")


@given(st.text(alphabet=st.characters(codec=None)))
def test_what_was_made_visible_stays_as_it_is(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(st.binary())
def test_any_bytes_can_be_shown(data: bytes) -> None:
    assert all(is_harmless(char) for char in visible_bytes(data))


@pytest.mark.parametrize(
    "text", ["", "plain", "two\nlines\tand a tab", "naïve café — 漢字 🎉", "\u26a0\ufe0f stop", "a\u00a0b"]
)
def test_plain_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]8;;http://evil\x07click\x1b]8;;\x07", "\\x1b]8;;http://evil\\x07click\\x1b]8;;\\x07"),
        ("\x1b]52;c;cm0=\x1b\\", "\\x1b]52;c;cm0=\\x1b\\"),
        ("\x9b2J", "\\x9b2J"),
        ("approve\rreject", "approve\\x0dreject"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("zero\u200bwidth\u2060", "zero\\u200bwidth\\u2060"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("selector\ufe0f", "selector\\ufe0f"),
        ("\u26a0\ufe0f\ufe0f\u26a0\ufe0e", "\u26a0\ufe0f\\ufe0f\u26a0\\ufe0e"),
        ("\ufeffmark", "\\ufeffmark"),
        ("nul\0", "nul\\x00"),
        ("crlf\r\nend", "crlf\nend"),
    ],
)
def test_what_steers_or_hides_is_written_out(hidden: str, shown: str) -> None:
    assert visible(hidden) == shown


def test_bytes_that_are_not_utf8_show_as_such() -> None:
    assert visible_bytes(b"ok \xff\xfe") == "ok \\xff\\xfe"


@given(st.text())
@example("a\tb\nc")
@example("a no-break\u00a0space")
@example("a filler \u3164")
@example("an escape \x1b")
def test_a_text_is_harmless_when_every_character_of_it_is(text: str) -> None:
    assert is_all_harmless(text) == all(is_harmless(char) for char in text)
