"""What each class means for the two runs and for the gate."""

import pytest

from loopwright.kernel.model import Change
from loopwright.kernel.trust import Classed, FileClass

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
    assert Classed(change=CHANGE, kind=FileClass.PRODUCT, landed=b"").is_gated
    assert not Classed(change=CHANGE, kind=FileClass.PRODUCT, judged=b"").is_gated


def test_what_is_put_back_or_was_allowed_asks_nobody() -> None:
    put_back = Classed(change=CHANGE, kind=FileClass.JUDGE_BY_NAME, put_back=True)
    assert (put_back.is_judged, put_back.is_landed, put_back.is_gated) == (False, False, False)
    allowed = Classed(change=CHANGE, kind=FileClass.CHANGED_TEST, allowed=True)
    assert (allowed.is_judged, allowed.is_landed, allowed.is_gated) == (True, True, False)
