"""A decision on some files of a gate: it holds for each change by itself, and the rest has an id of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import AwaitGate, Integrate, RunChecks, Stop
from loopwright.kernel.events import ChecksReported, GateDecided
from loopwright.kernel.evidence import WeakenedTest
from loopwright.kernel.gates import PROTECTED, evidence
from loopwright.kernel.model import NO_KEY, Change, Commit, Finding, Outcome, Severity, Tree
from loopwright.kernel.trust import Trust, evidence_with
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Ruling, Station, where
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState, best_to_take
from tests.loops import verified as v
from tests.loops.feedback import DONE, GREEN, LANDED, keys, params, passes, play, saved, wanted

BENT, MANIFEST = v.BENT[0], v.MANIFEST[0]
BOTH = (MANIFEST, BENT)
ID, TEST, REST = evidence(BOTH), evidence((BENT,)), evidence((MANIFEST,))
WITHOUT = replace(v.LANDS, held=BOTH)


def decides(*only: str, digest: str = ID, approved: bool = True, gate: str = PROTECTED) -> GateDecided:
    return GateDecided(key=NO_KEY, gate=gate, approved=approved, evidence=digest, reason="keep it", only=only)


def begun() -> FeedbackState:
    plan = replace(params(), task="add retry", trust=Trust(in_force=True))
    return play(FEEDBACK.start(plan), GREEN)


def made(state: FeedbackState, commit: str, changes: tuple[Change, ...], report: ChecksReported) -> FeedbackState:
    left = replace(
        saved(commit), tree=Tree(f"tree-{commit}"), protected=changes, evidence=evidence(changes) if changes else ""
    )
    return play(state, DONE, left, passes(), report)


def at_the_gate() -> FeedbackState:
    state = made(begun(), "c1", BOTH, replace(WITHOUT, nothing_else=True))
    assert (where(state), wanted(state, AwaitGate).evidence) == (Station.GATE, ID)
    return state


def ended() -> FeedbackState:
    state = made(begun(), "c1", BOTH, WITHOUT)
    return play(state, replace(LANDED, landed=Commit("own"), held_on="loop/1-held"))


def test_the_gate_of_the_rest_names_only_what_is_still_asked_about() -> None:
    weakened = tuple(WeakenedTest(file=each.path, how="altered") for each in BOTH)
    sign = Finding(severity=Severity.LOW, category="engine", rule="r", file=MANIFEST.path, issue="A sign of it")
    report = replace(WITHOUT, nothing_else=True, weakened=weakened, findings=(sign,))
    state = made(begun(), "c1", BOTH, report)
    assert all(each in wanted(state, AwaitGate).why for each in (BENT.path, MANIFEST.path, "A sign of it"))
    left = wanted(play(state, decides(MANIFEST.path)), AwaitGate).why
    assert BENT.path in left
    assert all(each not in left for each in (MANIFEST.path, "A sign of it"))
    again = play(state, decides(BENT.path), decides(MANIFEST.path, digest=REST), report)
    assert not again.course.open_gates


def outcome(state: FeedbackState) -> Outcome:
    stop = FEEDBACK.decide(state)[0]
    assert isinstance(stop, Stop)
    return stop.outcome


def open_ids(state: FeedbackState) -> list[str]:
    return [each.evidence for each in state.course.open_gates]


# --- while the loop waits ---------------------------------------------------------------------------------------


def test_approving_one_file_leaves_the_rest_of_the_gate_open_under_its_own_id() -> None:
    state = play(at_the_gate(), decides(BENT.path))
    assert (where(state), open_ids(state)) == (Station.GATE, [REST])
    assert wanted(state, AwaitGate).because == (MANIFEST,)
    state = play(state, decides(digest=REST))
    assert wanted(state, RunChecks).approved == (BENT, MANIFEST)


def test_rejecting_the_rest_sends_back_that_alone_and_the_approval_stays() -> None:
    state = play(at_the_gate(), decides(BENT.path), decides(digest=REST, approved=False))
    assert keys(state) == ["implement-2.1"]
    (refused,) = (each for each in state.past[-1].issues if each.rule == "gate-rejected")
    assert (MANIFEST.path in refused.issue, BENT.path in refused.issue) == (True, False)
    state = made(state, "c2", (BENT,), v.LANDS)
    assert (wanted(state, Integrate).approved, open_ids(state)) == ((BENT,), [])


def test_rejecting_one_file_goes_back_at_once_and_the_rest_keeps_the_printed_id() -> None:
    state = play(at_the_gate(), decides(MANIFEST.path, approved=False))
    assert keys(state) == ["implement-2.1", f"gate-protected-{TEST}"]
    again = made(state, "c2", (BENT,), replace(v.LANDS, held=(BENT,), nothing_else=True))
    assert (where(again), open_ids(again)) == (Station.GATE, [TEST])
    # The same change once more is rejected still, whatever comes with it.
    still = made(state, "c2", BOTH, replace(WITHOUT, nothing_else=True))
    assert keys(still)[0] == "implement-3.1"


def test_an_approved_change_is_not_asked_about_again_beside_another() -> None:
    state = play(at_the_gate(), decides(BENT.path), decides(digest=REST, approved=False))
    other = Change(path="setup.cfg", how="changed", blob="4")
    state = made(state, "c2", (other, BENT), replace(v.LANDS, held=(other,), nothing_else=True))
    assert wanted(state, AwaitGate).because == (other,)
    assert wanted(play(state, decides(digest=evidence((other,)))), RunChecks).approved == (BENT, other)


def test_all_files_by_name_are_the_whole_gate() -> None:
    state = play(at_the_gate(), decides(BENT.path, MANIFEST.path))
    assert (wanted(state, RunChecks).approved, state.course.approvals) == (BOTH, (ID,))


def test_both_halves_of_a_move_are_decided_together() -> None:
    gone = Change(path="tests/a.py", how="removed", moved="tests/b.py")
    come = Change(path="tests/b.py", how="added", blob="1", moved="tests/a.py")
    changes = (MANIFEST, gone, come)
    state = made(begun(), "c1", changes, replace(v.LANDS, held=changes, nothing_else=True))
    state = play(state, decides("tests/b.py", digest=evidence(changes)))
    assert (state.course.approved, wanted(state, AwaitGate).because) == ((gone, come), (MANIFEST,))


def test_a_test_that_names_no_file_of_the_gate_is_dropped_by_the_last_part_alone() -> None:
    gone = ("some title",)
    report = replace(WITHOUT, would_drop=gone, nothing_else=True)
    state = play(made(begun(), "c1", BOTH, report), decides(BENT.path, digest=evidence_with(BOTH, gone)))
    assert (state.course.may_drop, wanted(state, AwaitGate).dropped) == ((), gone)
    state = play(state, decides(digest=evidence_with((MANIFEST,), gone)))
    assert wanted(state, RunChecks).may_drop == gone


@pytest.mark.parametrize(
    "test", ["tests/t.py::T::test_gone", "t.py > gone", "tests.t.T.test_gone", "t.T.test_gone[a.b]"]
)
def test_a_test_is_dropped_with_the_file_that_its_id_names(test: str) -> None:
    report = replace(WITHOUT, would_drop=(test,), nothing_else=True)
    asked = made(begun(), "c1", BOTH, report)
    yes = play(asked, decides(BENT.path, digest=evidence_with(BOTH, (test,))))
    assert (yes.course.may_drop, wanted(yes, AwaitGate).dropped, open_ids(yes)) == ((test,), (), [REST])
    no = play(asked, decides(BENT.path, digest=evidence_with(BOTH, (test,)), approved=False))
    assert (no.course.may_drop, open_ids(no)) == ((), [REST])
    again = made(no, "c2", BOTH, report)
    assert [each.dropped for each in again.course.open_gates] == [()]


def test_a_test_that_goes_with_an_approved_change_is_asked_about_with_it() -> None:
    state = c.called_for(begun(), GateRecord(gate=PROTECTED, evidence=TEST, because=(BENT,)))
    state = play(state, decides(digest=TEST))
    drops = GateRecord(gate=PROTECTED, evidence="e", because=(BENT,), dropped=("t::gone",))
    assert open_ids(c.called_for(state, drops)) == ["e"]
    no = play(
        c.called_for(begun(), GateRecord(gate=PROTECTED, evidence=TEST, because=(BENT,))),
        decides(digest=TEST, approved=False),
    )
    after = c.called_for(no, drops)
    assert (open_ids(after), [each.ruling for each in after.course.parts(PROTECTED)]) == ([], [Ruling.REJECTED])


def test_a_path_that_the_gate_is_not_about_decides_nothing() -> None:
    with pytest.raises(InvalidTransition, match=r"not about src/a\.py"):
        play(at_the_gate(), decides("src/a.py", BENT.path))


def test_a_gate_that_is_not_about_files_is_decided_as_a_whole() -> None:
    state = c.called_for(begun(), GateRecord(gate="deploy", evidence="e1"))
    with pytest.raises(InvalidTransition, match="as a whole"):
        play(state, decides("a.py", digest="e1", gate="deploy"))


def test_an_attempt_with_a_rejected_change_is_not_the_one_to_take() -> None:
    wrong = Finding(severity=Severity.HIGH, rule="t::x", issue="no", category="tests")
    state = play(at_the_gate(), decides(MANIFEST.path, approved=False))
    state = made(state, "c2", (BENT,), replace(v.RED, results=(replace(v.RED.results[0], failures=(wrong,)),)))
    best = best_to_take(state)
    assert best is not None
    assert best.commit == "c2"


# --- when the loop has ended --------------------------------------------------------------------------------------


def test_one_file_lands_after_the_end_and_the_rest_stays_held_back() -> None:
    state = play(ended(), decides(BENT.path))
    assert wanted(state, RunChecks).approved == (BENT,)
    state = play(state, replace(v.LANDS, held=(MANIFEST,), lands=Tree("some")))
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).base) == ("some", "own")
    state = play(state, replace(LANDED, landed=Commit("own2")))
    assert (outcome(state).held, open_ids(state)) == ((MANIFEST,), [REST])
    # The rest, later: what has landed is never asked about again.
    state = play(state, decides(digest=REST))
    assert (str(wanted(state, RunChecks).key), wanted(state, RunChecks).approved) == ("checks-held-2", (BENT, MANIFEST))
    red = play(state, v.RED)
    assert (outcome(red).held, open_ids(red), red.course.approved) == ((MANIFEST,), [REST], (BENT,))
    landed = play(state, v.LANDS, replace(LANDED, landed=Commit("own3")))
    assert (outcome(landed).held, open_ids(landed)) == ((), [])


def test_a_rejected_file_is_left_out_and_the_other_lands() -> None:
    state = play(ended(), decides(MANIFEST.path, approved=False))
    assert (outcome(state).held, open_ids(state), state.course.unlanded) == (
        (BENT,),
        [TEST],
        frozenset({BENT.path, MANIFEST.path}),
    )
    state = play(state, decides(digest=TEST), replace(v.LANDS, held=(MANIFEST,)), LANDED)
    assert (outcome(state).held, state.course.unlanded) == ((), frozenset({MANIFEST.path}))


def test_what_is_decided_while_a_part_lands_is_followed_afterwards() -> None:
    state = play(ended(), decides(BENT.path), replace(v.LANDS, held=(MANIFEST,)))
    yes = FEEDBACK.apply(state, decides(digest=REST))
    assert keys(yes) == ["land-held-1"]
    assert keys(play(yes, LANDED)) == ["checks-held-2"]
    no = play(FEEDBACK.apply(state, decides(digest=REST, approved=False)), LANDED)
    assert (outcome(no).held, keys(no)) == ((), ["stop"])


def test_a_part_that_turns_out_to_be_another_change_stays_held_back() -> None:
    other = replace(BENT, blob="9")
    for held in ((other, MANIFEST), BOTH):
        state = play(ended(), decides(BENT.path), replace(v.LANDS, held=held))
        assert (outcome(state).held, bool(outcome(state).still_held), len(open_ids(state))) == (BOTH, True, 2)
