"""How much tests show of each capability: asked for once when TEST is left, named where a person decides."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.actions import AwaitGate, OpenPullRequest, RunAgent, RunChecks
from loopwright.kernel.events import ChecksReported, Event
from loopwright.kernel.evidence import Evidence, Level, Witness
from loopwright.kernel.model import AgentReport
from loopwright.loops.lifecycle.closing import lines
from tests.loops import lifecycle as lc
from tests.loops.verified import NOW

GUARDED = Evidence(level=Level.GUARDED)


def witness(name: str) -> Witness:
    return Witness(id=f"t::{name}", check="test", fails_on_base="assertion")


def shown(name: str) -> Evidence:
    return Evidence(level=Level.SHOWN, witnesses=(witness(name),))


def plays(*rules: lc.Rule, **evidence: Evidence) -> lc.World:
    """A system whose checks show of each capability what is said here."""
    played = lc.World(trust=NOW, capabilities=tuple(evidence))

    def says(action: RunChecks) -> Event:
        report = played.well(action)
        assert isinstance(report, ChecksReported)
        return replace(report, evidence=None if action.trust.tests_to_come else evidence.get(played.state.current))

    return played.play(*rules, lc.on(RunChecks, says, times=None))


def test_a_capability_without_a_witness_goes_back_to_its_tests_once_and_fails_nothing() -> None:
    played = plays(take=GUARDED, ship=GUARDED)
    rules = [[each.rule for each in run.brief.findings] for run in played.asked(RunAgent, skill="test-generation")]
    assert rules == [[], ["no-witness"], [], ["no-witness"]]
    assert (played.stage, played.state.total) == ("COMPLETE", 0)


def test_a_shown_capability_is_not_asked_about() -> None:
    assert len(plays(take=shown("take")).asked(RunAgent, skill="test-generation")) == 1


def test_the_system_is_shown_as_far_as_the_least_of_its_capabilities() -> None:
    played = plays(take=shown("take"), ship=GUARDED, pay=shown("pay"))
    witnesses = (witness("take"), witness("pay"))
    assert played.outcome.evidence == Evidence(level=Level.GUARDED, witnesses=witnesses, parts=("ship",))
    assert played.state.course.evidence == played.outcome.evidence
    assert "No test shows: ship." in lines(played.state, played.outcome)


def test_a_system_whose_checks_say_nothing_of_it_has_no_evidence() -> None:
    assert lc.world(trust=NOW).outcome.evidence is None


def test_the_deploy_gate_and_the_pull_request_name_what_shows_each_capability() -> None:
    played = plays(take=shown("take"), ship=GUARDED)
    (gate,) = played.asked(AwaitGate, gate="deploy")
    (proposal,) = played.asked(OpenPullRequest)
    for text in (gate.why, proposal.body):
        assert text.index("ship: guarded") < text.index("take: shown by t::take")


def test_the_reason_why_no_test_can_show_it_is_kept_with_the_capability() -> None:
    report = AgentReport(summary="none", no_test="it only logs")
    says = lc.on(RunAgent, replace(lc.reports(), report=report), times=None, skill="test-generation")
    played = plays(says, take=GUARDED, ship=shown("ship"))
    assert next((each.capability, each.no_test) for each in played.state.evidence) == ("take", "it only logs")
    (gate,) = played.asked(AwaitGate, gate="deploy")
    assert gate.why.count("it only logs") == 1
