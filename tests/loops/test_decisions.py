"""A result that rests on a person's word says so: one sentence for each decision, in every loop."""

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Integrate
from loopwright.kernel.events import ChecksReported, GateDecided
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.gates import PROTECTED, UNSHOWN, UNTESTED
from loopwright.kernel.model import NO_KEY, Change, Commit, Outcome, Tree
from loopwright.kernel.trust import Canary, Trust
from loopwright.loops.course import Course, GateRecord, Ruling
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from tests.loops import feedback as f

FILE = Change(path="setup.cfg", how="changed", blob="1")
GUARDED = replace(f.GREEN, lands=Tree("t"), evidence=Evidence(level=Level.GUARDED))
UNNOTICED = replace(
    GUARDED,
    evidence=Evidence(level=Level.UNTESTED),
    canary=Canary(said="untested-change", missed=("calc.py: mul",), sentence="nobody notices"),
)
HOLDS = replace(GUARDED, evidence=Evidence(level=Level.SHOWN), held=(FILE,), nothing_else=True)


def approved(*reports: ChecksReported) -> FeedbackState:
    """At the landing, after a person has approved the gate that the last report leads to."""
    params = replace(f.params(), trust=Trust(in_force=True), merge=True, target="refs/heads/main")
    state = f.play(FEEDBACK.start(params), f.GREEN)
    for number, report in enumerate(reports, start=1):
        saved = replace(f.saved(f"c{number}"), tree=Tree(f"c{number}"))
        state = f.play(state, f.DONE, saved, f.passes(), report)
    (gate,) = state.course.open_gates
    yes = GateDecided(key=NO_KEY, gate=gate.gate, approved=True, evidence=gate.evidence, by="kim", reason="fine")
    return f.play(state, yes, replace(reports[-1], held=(), nothing_else=False))


def outcome(state: FeedbackState) -> Outcome:
    ended = f.play(state, replace(f.LANDED, landed=Commit("own"))).course.outcome
    assert ended is not None
    return ended


@pytest.mark.parametrize(
    ("reports", "told"),
    [
        ((GUARDED, GUARDED), "unshown change approved by kim (fine)"),
        ((UNNOTICED, UNNOTICED), "untested change to calc.py approved by kim (fine)"),
        ((HOLDS,), "change to setup.cfg approved by kim (fine)"),
    ],
    ids=[UNSHOWN, UNTESTED, PROTECTED],
)
def test_an_ending_and_its_commit_say_that_they_rest_on_an_approval(
    reports: tuple[ChecksReported, ...], told: str
) -> None:
    state = approved(*reports)
    evidence = outcome(state).evidence
    assert (evidence.decisions if evidence else None) == (told,)
    assert told in f.wanted(state, Integrate).message


def test_a_decision_on_an_earlier_candidate_is_not_what_a_later_one_rests_on() -> None:
    gates = (
        GateRecord(gate=UNSHOWN, evidence="1", ruling=Ruling.APPROVED, due=False),
        GateRecord(gate=PROTECTED, evidence="2", dropped=("t::a",), ruling=Ruling.APPROVED, due=False),
        GateRecord(gate=PROTECTED, evidence="3", because=(FILE,)),
        GateRecord(gate="deploy", evidence="4", ruling=Ruling.APPROVED),
    )
    assert Course(gates=gates).decisions == ("loss of t::a approved by a person",)


def test_without_evidence_there_is_nothing_in_flight_to_add_decisions_to() -> None:
    assert Course(by_word=("accepted",)).shown is None
