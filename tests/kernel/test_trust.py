"""What each class means for the two runs and for the gate."""

import pytest

from loopwright.kernel.model import Change
from loopwright.kernel.trust import Classed, FileClass, is_named

CHANGE = Change(path="a", how="changed")


@pytest.mark.parametrize(
    ("kind", "judged", "landed"),
    [
        (FileClass.JUDGE_BY_NAME, False, False),
        (FileClass.TEST, False, True),
        (FileClass.CHANGED_TEST, False, False),
        (FileClass.PRODUCT, True, True),
        (FileClass.TEXT, True, True),
        (FileClass.JUDGE, False, False),
    ],
)
def test_a_class_says_whose_side_each_run_takes(kind: FileClass, *, judged: bool, landed: bool) -> None:
    classed = Classed(change=CHANGE, kind=kind)
    assert (classed.is_judged, classed.is_landed, classed.is_gated) == (judged, landed, not landed)


def test_a_move_is_told_as_one_from_either_end() -> None:
    gone = Change(path="a", how="removed", moved="b")
    assert (gone.words, gone.place) == ("moved to b", "a (moved to b)")
    assert Change(path="b", how="added", moved="a").place == "b (moved from a)"
    assert (CHANGE.words, CHANGE.place) == ("changed", "a")


def test_a_product_file_with_tests_of_the_base_in_it_is_gated() -> None:
    assert Classed(change=CHANGE, kind=FileClass.PRODUCT, waits=True).is_gated
    assert not Classed(change=CHANGE, kind=FileClass.PRODUCT, judged=b"").is_gated


def test_what_is_put_back_or_was_allowed_asks_nobody() -> None:
    put_back = Classed(change=CHANGE, kind=FileClass.JUDGE_BY_NAME, put_back=True)
    assert (put_back.is_judged, put_back.is_landed, put_back.is_gated) == (False, False, False)
    allowed = Classed(change=CHANGE, kind=FileClass.CHANGED_TEST, allowed=True)
    assert (allowed.is_judged, allowed.is_landed, allowed.is_gated) == (True, True, False)


# --- what a task names


def test_which_paths_a_task_names() -> None:
    assert is_named("tests/api/t.py", ("mend tests/api/t.py.",))
    assert is_named("tests/api/t.py", ("mend what is in tests/api",))
    assert is_named("pyproject.toml", ("pin click in `pyproject.toml`",))
    assert is_named("Makefile", ("add a target to the Makefile",))
    assert not is_named("tests/t.py", ("write tests", "and best.t.py"))
    assert not is_named("run", ("run it",))


@pytest.mark.parametrize(
    "words", ["tests/api", "tests/api/", "tests/api.", "`tests/api/**`", "(tests/api/*)", "tests/api/**/*"]
)
def test_a_folder_names_all_that_is_in_it(words: str) -> None:
    assert is_named("tests/api/t.py", (f"mend what is in {words}",))


@pytest.mark.parametrize(
    "words", ["tests/api/other.py", "tests/api/sub/", "tests/api/*.txt", "tests/api-old", "tests/api.d/t"]
)
def test_what_is_named_beside_it_is_not_its_folder(words: str) -> None:
    assert not is_named("tests/api/t.py", (f"mend {words}",))
