"""Which paths are protected, and what an approval is bound to."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.gates import (
    evidence,
    is_check_configuration,
    is_protected,
    matches,
    runs_code,
)
from loopwright.kernel.model import Change

PATHS = st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8"), min_size=1)
CHANGES = st.lists(
    st.builds(
        Change,
        path=PATHS,
        how=st.sampled_from(["added", "changed", "removed"]),
        blob=st.text(alphabet="0123456789abcdef", max_size=4),
    ),
    unique_by=lambda change: change.path,
    max_size=4,
)


def change(path: str, how: Literal["added", "changed", "removed"] = "changed", blob: str = "b1") -> Change:
    return Change(path=path, how=how, blob=blob)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("tests/**", "tests/x"),
        ("tests/**", "tests/a/b.py"),
        ("tests/**", "tests/a\nb.py"),
        ("tests/", "tests/a/b.py"),
        ("loop.toml", "loop.toml"),
        ("**/auth/**", "auth/x.py"),
        ("**/auth/**", "src/a/auth/b/c.py"),
        ("**/conftest.py", "conftest.py"),
        ("**/conftest.py", "a/b/conftest.py"),
        ("*.lock", "uv.lock"),
        ("src/*/t.py", "src/a/t.py"),
        ("a?.py", "ab.py"),
        (".github/**", ".github/workflows/ci.yml"),
        ("a[b].py", "a[b].py"),
        ("a+(b).py", "a+(b).py"),
        ("**", "any/thing"),
    ],
)
def test_a_pattern_matches(pattern: str, path: str) -> None:
    assert matches(path, pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("tests/**", "tests"),
        ("tests/**", "src/tests/x"),
        ("tests/**", "testsuite/x"),
        ("tests/", "tests"),
        ("loop.toml", "a/loop.toml"),
        ("loop.toml", "loopxtoml"),
        ("loop.toml", "loop.toml\n"),
        ("**/auth/**", "src/author/x.py"),
        ("**/auth/**", "src/xauth/x.py"),
        ("**/conftest.py", "xconftest.py"),
        ("*.lock", "a/uv.lock"),
        ("src/*/t.py", "src/a/b/t.py"),
        ("a?.py", "a/.py"),
        ("a?.py", "a.py"),
        ("a[b].py", "ab.py"),
        (".*", "x"),
        ("a|b", "a"),
        ("", "a"),
        ("*.{js,ts}", "a.py"),
        ("{a}", "a"),
    ],
)
def test_a_pattern_does_not_match(pattern: str, path: str) -> None:
    assert not matches(path, pattern)


@pytest.mark.parametrize("path", ["a.js", "x/b.ts", "x/y/c.test.js"])
def test_braces_choose(path: str) -> None:
    assert matches(path, "**/{a,b,c.{test,spec}}.{js,ts}")
    assert matches("{a}", "{a}")


@given(st.text())
def test_a_path_without_wild_cards_matches_itself_only(text: str) -> None:
    name = text.translate(str.maketrans("", "", "*?{")).rstrip("/")
    assert matches(name, name)
    assert not matches(name + "x", name)


@given(PATHS, st.text(alphabet="ab*?/.[](){}+|^$\\"))
def test_every_pattern_can_be_asked(path: str, pattern: str) -> None:
    assert matches(path, pattern) in (True, False)


@pytest.mark.parametrize("path", ["loop.toml", "web/package.json", "Makefile", ".envrc", ".vscode/tasks.json"])
def test_a_file_that_decides_what_is_executed(path: str) -> None:
    assert runs_code(path)


@pytest.mark.parametrize("path", ["tests/test_a.py", ".github/CODEOWNERS", "src/Makefile.py", "docs/.vscode.md"])
def test_a_file_like_any_other(path: str) -> None:
    assert not runs_code(path)


# --- evidence --------------------------------------------------------------------------------------------------


def test_no_change_is_no_evidence() -> None:
    assert evidence(()) == ""


def test_the_order_of_the_changes_does_not_matter() -> None:
    one, other = change("a"), change("b")
    assert evidence((one, other)) == evidence((other, one))


@pytest.mark.parametrize("other", [change("b"), change("a", "removed", ""), change("a", blob="b2")])
def test_other_changes_are_other_evidence(other: Change) -> None:
    assert evidence((change("a"),)) != evidence((other,))
    assert evidence((change("a"),)) != evidence((change("a"), replace(other, path="z")))


def test_mode_and_old_content_are_evidence_and_what_was_recorded_without_them_is_what_it_was() -> None:
    plain = change("a")
    others = [replace(plain, mode="100755"), replace(plain, old="b0"), replace(plain, old_mode="120000")]
    assert len({evidence((each,)) for each in (plain, *others)}) == 4
    assert evidence((plain,)) == hashlib.sha256(b"changed\0a\0" + plain.blob.encode() + b"\0").hexdigest()[:24]


def test_a_path_cannot_pass_for_two_changes() -> None:
    disguised = change("a b1\nchanged b", blob="b2")
    assert evidence((change("a"), change("b", blob="b2"))) != evidence((disguised,))


def test_a_path_need_not_be_unicode() -> None:
    assert evidence((change("a\udcff"),)) != evidence((change("a"),))


@given(CHANGES, CHANGES)
def test_evidence_is_the_same_for_the_same_changes_only(one: list[Change], other: list[Change]) -> None:
    same = sorted(one, key=repr) == sorted(other, key=repr)
    assert (evidence(tuple(one)) == evidence(tuple(other))) is same


@given(CHANGES)
def test_evidence_fits_into_a_key(changes: list[Change]) -> None:
    assert len(evidence(tuple(changes))) in (0, 24)


@pytest.mark.parametrize("path", ["src/conftest_reader.py", "docs/pytest.ini.md", "jest.py", "configuration.py"])
def test_what_only_looks_like_check_configuration_is_free(path: str) -> None:
    assert not is_check_configuration(path)


@pytest.mark.parametrize("path", ["tests/a.py", "src/conftest.py", "loop.toml", "web/jest.config.ts"])
def test_a_path_is_protected_by_a_pattern_or_because_it_says_how_checks_run(path: str) -> None:
    assert is_protected(path, ("docs/**", "tests/**"))


def test_other_paths_are_not_protected() -> None:
    assert not is_protected("src/a.py", ("docs/**", "tests/**"))
    assert not is_protected("tests/a.py", ())
