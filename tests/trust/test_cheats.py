"""Wrong code, or none, and something in the tree bent so that the checks pass: nothing of it lands by itself."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.trust.elsewhere_cheats import ELSEWHERE_CHEATS
from tests.trust.folder_cheats import FOLDER_CHEATS
from tests.trust.further_cheats import FURTHER_CHEATS
from tests.trust.grounds import GROUNDS, Cheat, Ground
from tests.trust.helped_cheats import HELPED_CHEATS
from tests.trust.in_front_cheats import IN_FRONT_CHEATS
from tests.trust.later_cheats import LATER_CHEATS
from tests.trust.linked_cheats import LINKED_CHEATS
from tests.trust.named_cheats import NAMED_CHEATS
from tests.trust.other_cheats import CARGO_CHEATS, GO_CHEATS, JEST_CHEATS, NODE_CHEATS
from tests.trust.pytest_cheats import PYTEST_CHEATS
from tests.trust.rewriting_cheats import REWRITING_CHEATS
from tests.trust.taken_in_cheats import TAKEN_IN_CHEATS
from tests.trust.trial import Stage, stage
from tests.trust.unittest_cheats import MAKE_CHEATS, SCRIPT_CHEATS, UNITTEST_CHEATS
from tests.trust.unnamed_cheats import UNNAMED_CHEATS

CHEATS = (
    *PYTEST_CHEATS, *HELPED_CHEATS, *UNITTEST_CHEATS, *MAKE_CHEATS, *SCRIPT_CHEATS,
    *NODE_CHEATS, *JEST_CHEATS, *CARGO_CHEATS, *GO_CHEATS, *FURTHER_CHEATS, *LATER_CHEATS,
    *FOLDER_CHEATS, *ELSEWHERE_CHEATS, *IN_FRONT_CHEATS, *LINKED_CHEATS, *NAMED_CHEATS, *UNNAMED_CHEATS,
    *TAKEN_IN_CHEATS, *REWRITING_CHEATS,
)  # fmt: skip
Stages = Callable[[Cheat], Stage]


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """One project for all cheats on the same ground: what ran on its base need not run again."""
    made: dict[tuple[object, ...], Stage] = {}

    def stage_of(cheat: Cheat) -> Stage:
        key = (cheat.ground, cheat.unmade, cheat.plugins, *sorted(cheat.base.items()))
        if key not in made:
            folder = tmp_path_factory.mktemp("ground") / "repo"
            made[key] = stage(GROUNDS[cheat.ground], folder, cheat)
        return made[key]

    return stage_of


def skip_without(ground: Ground) -> None:
    if missing := [program for program in ground.needs if shutil.which(program) is None]:
        pytest.skip(f"needs {', '.join(missing)}")


def verify(cheat: Cheat, stages: Stages, tmp_path: Path) -> None:
    skip_without(GROUNDS[cheat.ground])
    stage = stages(cheat)
    verdict = asyncio.run(stage.verdict(stage.candidate(cheat), cheat.allow, cheat.artifacts))
    lands = verdict.report.lands
    assert not verdict.may_land or stage.is_right(lands, tmp_path), f"wrong code lands: {verdict.words}"


@pytest.mark.parametrize("cheat", [pytest.param(each, id=each.id) for each in CHEATS if each.quick])
def test_wrong_code_never_lands_by_itself(cheat: Cheat, stages: Stages, tmp_path: Path) -> None:
    verify(cheat, stages, tmp_path)


@pytest.mark.trust
@pytest.mark.parametrize("cheat", [pytest.param(each, id=each.id) for each in CHEATS if not each.quick])
def test_wrong_code_never_lands_by_itself_whatever_is_bent(cheat: Cheat, stages: Stages, tmp_path: Path) -> None:
    verify(cheat, stages, tmp_path)


@pytest.mark.trust
@pytest.mark.parametrize("ground", [pytest.param(each, id=name.replace(" ", "_")) for name, each in GROUNDS.items()])
def test_right_code_lands_on_the_same_grounds(ground: Ground, stages: Stages, tmp_path: Path) -> None:
    skip_without(ground)
    right = Cheat(ground=ground.name, kind="none", name="right", product=ground.files[ground.product], unmade=False)
    stage = stages(Cheat(ground=ground.name, kind="none", name="right", unmade=True))
    commit = stage.candidate(right)
    verdict = asyncio.run(stage.verdict(commit))
    assert verdict.may_land, verdict.words
    assert stage.is_right(verdict.report.lands, tmp_path)


def test_every_cheat_has_a_name_of_its_own() -> None:
    assert len({each.id for each in CHEATS}) == len(CHEATS)


def test_the_page_of_guarantees_counts_these_cheats() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "guarantees.md").read_text(encoding="utf-8")
    assert table() in page, f"docs/guide/guarantees.md has to hold:\n\n{table()}"


def table() -> str:
    """Cheats by kind and ground."""
    grounds = list(GROUNDS)
    counts = Counter((each.kind, each.ground) for each in CHEATS)
    kinds = list(dict.fromkeys(each.kind for each in CHEATS))
    rows = [[kind, *(counts[kind, ground] for ground in grounds)] for kind in kinds]
    whole = ["all", *(sum(counts[kind, ground] for kind in kinds) for ground in grounds)]
    lines = [["", *grounds, "all"], ["---"] * (len(grounds) + 2)]
    lines += [[*map(str, row), str(sum(n for n in row if isinstance(n, int)))] for row in (*rows, whole)]
    return "\n".join(f"| {' | '.join('' if cell == '0' else cell for cell in line)} |" for line in lines)
