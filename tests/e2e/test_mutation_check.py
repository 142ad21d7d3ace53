"""Changes that nothing shows, by what `[trust] canary` says."""

from pathlib import Path

import pytest

from tests.e2e.test_red_first_stories import (
    CONFIG,
    FILE,
    HEAD,
    MUL,
    SWAPPED,
    TEST_ADD,
    TEST_MUL,
    level_of,
    sample,
    step,
)

pytestmark = pytest.mark.unmeasured


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"calc.py": SWAPPED}, "not shown"),
        ({"calc.py": MUL}, "not shown"),
        ({"calc.py": MUL, FILE: HEAD + TEST_ADD + TEST_MUL}, "shown"),
    ],
    ids=["guarded", "untested", "shown"],
)
def test_a_merge_waits_for_nobody_where_the_mutation_check_is_off(
    tmp_path: Path, files: dict[str, str], level: str
) -> None:
    made = sample(tmp_path, step(files), config=CONFIG + '[trust]\ncanary = "off"\n')
    done = made.loop("feedback", "Change it", "--merge", "--unattended", "--json")
    assert (done.code, done.data["merged"], level_of(done), done.data["iterations"]) == (0, True, level, 1)


@pytest.mark.parametrize(("text", "level"), [(SWAPPED, "guarded"), (MUL, "untested")], ids=["guarded", "untested"])
def test_an_untested_change_that_is_only_told_waits_like_a_guarded_one(tmp_path: Path, text: str, level: str) -> None:
    made = sample(
        tmp_path, step({"calc.py": text}), step({}, repeat=True), config=CONFIG + '[trust]\ncanary = "warn"\n'
    )
    done = made.loop("feedback", "Change it", "--merge", "--unattended", "--json")
    needs = [each["what"] for each in done.data["needs"]]
    assert (done.code, level_of(done), needs, done.data["merged"]) == (4, level, ["unshown"], False)
