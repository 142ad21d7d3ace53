"""A review as part of a batch: what it mended beside its artifact is resolved on file once the batch has landed it."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from loopwright.app.kinds import KINDS
from loopwright.app.publisher import Publisher
from loopwright.kernel.model import Commit, Finding, LoopId, Outcome
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchState, landed_parts
from loopwright.loops.kind import LandedPart, Scene
from loopwright.loops.quality.handoff import with_landed
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import Known, QualityState
from loopwright.loops.reviewed import EarlierPass
from tests.loops import batch as b
from tests.loops import verified as v
from tests.loops.afterwards import LANDED, Stand
from tests.loops.quality import (
    ALPHA,
    FIXED,
    LOADED,
    SAID,
    blocked,
    critical,
    fails,
    fixed,
    looked,
    medium,
    outcome,
    params,
    passes,
    play,
    saved,
    says,
    told,
)
from tests.loops.test_quality_earlier import RED

WEAK = critical("weak", file="tests/t.py")
NEAR = critical("near", file="src/near.py")
CHILD = LoopId("child-1")
FILE = ".loop/stories/ST-1/handoff.yml"


def part(*, accepts: bool = False) -> QualityState:
    """A review that has mended two findings in other files; what a person accepts still has one in its own."""
    given = {"artifact": b.path(1), "story": "ST-1", "gate": "code", "lands": False, "max_attempts": 2}
    if accepts:
        return told(*blocked(WEAK, NEAR, ALPHA), *fixed("c1"), *blocked(ALPHA, content="o2"), says("accept"), **given)
    return told(*blocked(WEAK, NEAR), *fixed("c1"), *looked(passes(), "o2"), **given)


def together(ended: Outcome) -> Stand:
    """The batch after all but the change of `tests/t.py` has landed."""
    shared = '{"base": "base", "gate": "code"}'
    begun = b.play(b.batch(1, checked=True, trust=v.NOW, shared=shared), b.blocked(1), v.LANDS, b.waits(1, 2))
    state = b.play(begun, (1, replace(ended, loop=CHILD)), b.combined("all"))
    return Stand(loop=BATCH, state=state, candidate="all")


def publish(root: Path, kind: str, state: QualityState | BatchState) -> dict[str, bool]:
    """What is resolved by the file after that."""
    Publisher(root, KINDS, pytest.fail).files(Scene(loop=CHILD, state=state, status="running"), KINDS[kind])
    held = yaml.safe_load((root / FILE).read_text())["quality_findings"]
    return {each["check_id"]: each["resolved"] for each in held}


def test_what_was_mended_beside_the_artifact_is_resolved_where_the_batch_has_landed_it(tmp_path: Path) -> None:
    child = part()
    assert publish(tmp_path, "quality", child) == {"weak": False, "near": False}
    before = together(outcome(child))
    assert publish(tmp_path, "batch", before.state) == {"weak": False, "near": False}
    ended = before.after(v.WITHOUT, LANDED)
    assert publish(tmp_path, "batch", ended.state) == {"weak": False, "near": True}
    assert publish(tmp_path, "batch", ended.after(v.rejects()).state) == {"weak": False, "near": True}
    both = ended.after(v.approves(), v.LANDS, replace(LANDED, commit=Commit("m2")))
    assert publish(tmp_path, "batch", both.state) == {"weak": True, "near": True}
    entry = yaml.safe_load((tmp_path / FILE).read_text())["quality_findings"][0]
    assert (entry["resolved_in"], entry["evidence"]) == ("m2", WEAK.evidence)


def test_what_a_person_accepted_of_it_stays_accepted(tmp_path: Path) -> None:
    child = part(accepts=True)
    assert publish(tmp_path, "quality", child) == {"weak": False, "near": False, "alpha": False}
    landed = together(outcome(child)).after(v.WITHOUT, LANDED)
    assert publish(tmp_path, "batch", landed.state) == {"weak": False, "near": True, "alpha": False}
    held = yaml.safe_load((tmp_path / FILE).read_text())["quality_findings"]
    assert [each["check_id"] for each in held if each.get("accepted")] == ["alpha"]


def test_what_no_fix_was_needed_for_is_resolved_at_once(tmp_path: Path) -> None:
    given = {"artifact": b.path(1), "story": "ST-1", "gate": "code", "lands": False}
    state = told(*looked(passes()), known=(Known(finding=WEAK, gate="code"),), **given)
    assert publish(tmp_path, "quality", state) == {"weak": True}


def test_what_was_mended_in_the_artifact_is_gone_in_the_commit_that_landed_and_not_in_the_parts_own(
    tmp_path: Path,
) -> None:
    given = {"artifact": b.path(1), "story": "ST-1", "gate": "code", "lands": False, "max_attempts": 2}
    child = told(*blocked(critical("own", file=b.path(1))), *fixed("c1"), *looked(passes(), "o2"), **given)
    assert publish(tmp_path, "quality", child) == {"own": True}
    assert publish(tmp_path, "batch", together(outcome(child)).after(v.WITHOUT, LANDED).state) == {"own": True}
    [entry] = yaml.safe_load((tmp_path / FILE).read_text())["quality_findings"]
    assert entry["resolved_in"] == LANDED.commit


def test_a_part_that_did_not_land_is_not_told_of() -> None:
    assert landed_parts(together(outcome(part())).state) == ()


def landing(*mended: Finding, passed: bool = True) -> LandedPart:
    return LandedPart(kind="quality", params="{}", passed=passed, commit=Commit("m1"), made=Commit("c1"), mended=mended)


@pytest.mark.parametrize(("passed", "phase"), [(True, "complete"), (False, "quality")])
def test_a_story_is_complete_once_its_last_critical_finding_has_landed(passed: bool, phase: str) -> None:  # noqa: FBT001 - a case
    entry = {"severity": "P0", "gate": "quality", "issue": "weak", "file": "t", "line": 1, "id": "w", "resolved": False}
    other = {**entry, "gate": "code", "resolved": True}
    data = {
        "story_id": "ST-1",
        "current_phase": "quality",
        "completed_phases": ["plan", "tests", "code", "quality"],
        "quality_findings": [entry, other],
        "memory_captured": True,
    }
    after = with_landed(data, gate="quality", part=landing(replace(WEAK, fingerprint="w"), passed=passed))
    assert after["current_phase"] == phase
    assert isinstance(after["quality_findings"], list)
    first, second = after["quality_findings"]
    assert (first["resolved"], second) == (True, other)


def test_what_an_earlier_loop_mended_goes_on_with_the_loop_that_takes_its_place() -> None:
    earlier = EarlierPass(
        attempts=2, commit=Commit("passed"), made_on=Commit("base"), landing=RED, mended=(WEAK, medium("n", file="x"))
    )
    known = (Known(finding=WEAK, gate="code"), Known(finding=NEAR, gate="code"), Known(finding=WEAK, gate="plan"))
    state = QUALITY.start(params(lands=False, earlier=earlier, known=known, gate="code", max_attempts=5))
    mended = outcome(play(state, FIXED, saved(), LOADED, passes(), SAID)).mended
    assert [each.rule for each in mended] == ["weak", "n"]
    again = play(state, FIXED, saved(), LOADED, fails(WEAK), SAID)
    assert [entry.finding.rule for entry in again.ledger if entry.standing == "reopened"] == ["weak"]


def test_a_batch_hands_on_what_was_mended_with_what_it_sends_back() -> None:
    state = together(outcome(part())).after(v.RED).state
    earlier = state.items[0].earlier
    assert earlier is not None
    assert [each.rule for each in earlier.mended] == ["weak", "near"]
