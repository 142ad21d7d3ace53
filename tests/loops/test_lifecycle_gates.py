"""The gates of a system: when each is due, what an approval is bound to, and what a no leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Announce,
    AwaitGate,
    Checkpoint,
    Combine,
    ExamineChange,
    Integrate,
    MergePullRequest,
    OpenPullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
)
from loopwright.kernel.events import Checkpointed, ChecksReported, Event, IntegrationRefused, LoopEnded, StateEdited
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import NO_KEY, Change, CheckResult, Commit, Ending, Outcome, Tree
from loopwright.kernel.sightings import ChangeExamined
from loopwright.kernel.trust import Canary, Claim
from loopwright.loops.course import Ruling
from loopwright.loops.lifecycle.decision import decision
from loopwright.loops.lifecycle.machine import LIFECYCLE
from tests.loops import lifecycle as lc

TIMEOUT = StateEdited(subject="gate-timeout", value="")
NOBODY = lc.on(AwaitGate, None, times=None)


def stood_at(*rules: lc.Rule, **given: Any) -> list[str]:  # noqa: ANN401 - as `params`
    """Each gate that was waited for, with the state that was to be left."""
    played = lc.World(*rules, capabilities=("take",), **given)
    found: list[str] = []

    def notes(gate: AwaitGate) -> Event:
        found.append(f"{played.state.phase}: {gate.gate}")
        return lc.approves(gate)

    played.play(lc.on(AwaitGate, notes, times=None))
    assert played.stage == "COMPLETE"
    return found


@pytest.mark.parametrize(
    ("mode", "gates"),
    [
        ("autonomous", ["REVIEW: deploy"]),
        ("hybrid", ["VALIDATE: security", "REVIEW: deploy"]),
        (
            "supervised",
            [
                "INIT: specification",
                "SCAFFOLD: architecture",
                "IMPLEMENT: implementation",
                "VALIDATE: security",
                "REVIEW: deploy",
            ],
        ),
    ],
)
def test_a_mode_has_its_gates(mode: str, gates: list[str]) -> None:
    assert stood_at(mode=mode) == gates


def test_a_gate_that_only_the_mode_asks_for_says_so() -> None:
    def why(**given: Any) -> str:  # noqa: ANN401 - as `params`
        played = lc.World(capabilities=("take",), **given)
        return played.until(AwaitGate).why

    nothing = "is left; nothing in the change calls for it"
    assert why(mode="hybrid") == f"the mode hybrid asks before VALIDATE {nothing}"
    assert why(mode="autonomous", always=("architecture",)) == f"its entry in the queue asks before SCAFFOLD {nothing}"
    found = lc.World(lc.calls_for(lc.risk("security")), mode="hybrid").until(AwaitGate)
    assert found.why == "authentication, cryptography or personal data: 1 place in the change"


@pytest.mark.parametrize(
    ("gate", "stage"),
    [
        ("architecture", "IMPLEMENT"),
        ("database", "IMPLEMENT"),
        ("external", "IMPLEMENT"),
        ("security", "VALIDATE"),
        ("own", "IMPLEMENT"),
    ],
)
def test_what_a_change_calls_for_is_due_before_the_state_is_left(gate: str, stage: str) -> None:
    since = lc.at("IMPLEMENT", capabilities=("take",), mode="autonomous")
    since.play(lc.calls_for(lc.risk(gate)), lc.gate(gate, None, times=None))
    assert (since.waits_for(), since.state.phase) == ([gate], stage)
    told = decision(since.state)
    assert (told.action, told.gate) == ("WAIT_FOR_APPROVAL", gate)


def test_several_gates_are_waited_for_together() -> None:
    played = lc.world(lc.calls_for(lc.risk("database"), lc.risk("external", "m2")), NOBODY, mode="autonomous")
    assert played.waits_for() == ["database", "external"]
    first, second = (each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.take(lc.approves(second), second)
    assert played.waits_for() == ["database"]
    played.take(lc.approves(first), first)
    played.rules.remove(NOBODY)
    assert played.play().stage == "COMPLETE"


def test_an_approval_stays_valid_under_another_commit_and_reopens_under_one_that_touches_it() -> None:
    kept = stood_at(lc.calls_for(lc.risk("database")), mode="autonomous")
    assert kept == ["INIT: database", "REVIEW: deploy"]
    changed = lc.on(
        ExamineChange,
        ChangeExamined(key=NO_KEY, tree=Tree(""), code=("a",), risks=(lc.risk("database", "m1"),)),
        times=3,
    )
    again = stood_at(changed, lc.calls_for(lc.risk("database", "m2")), mode="autonomous")
    assert again == ["INIT: database", "TEST: database", "REVIEW: deploy"]


def test_what_a_change_does_not_call_for_any_more_is_not_waited_for() -> None:
    played = lc.world(lc.calls_for(lc.risk("database"), times=1), lc.gate("database", lc.rejects()), mode="autonomous")
    assert (played.stage, [each.gate for each in played.state.course.gates if each.due]) == ("COMPLETE", ["deploy"])


def test_deploy_is_bound_to_the_tree() -> None:
    played = lc.World()
    gate = played.until(AwaitGate, gate="deploy")
    played.take(lc.approves(gate), gate)
    played.until(MergePullRequest)
    (record,) = (each for each in played.state.course.gates if each.gate == "deploy")
    assert (record.ruling, record.tree) == (Ruling.APPROVED, played.ledger.trees[played.state.landed])
    played.say(lc.edits("DOCUMENT"))
    again = played.until(AwaitGate, gate="deploy")
    assert again.evidence != gate.evidence


def test_a_no_goes_back_to_implement_with_the_capability_whose_files_it_names() -> None:
    other = Checkpointed(key=NO_KEY, commit=Commit(""), tree=Tree(""), files=1, paths=("src/b.py",))

    def writes(path: str) -> lc.Reply:
        return lambda action: replace(other, key=action.key, commit=played.commit(), paths=(path,))

    played = lc.World(mode="autonomous")
    for path in ("src/a.py", "src/b.py"):
        played.until(RunAgent, skill="test-generation")
        played.play(lc.on(Checkpoint, writes(path), times=None), lc.on(RunAgent, None, skill="code-verification"))
        played.play(lc.on(Announce, None, step="move"))
        played.rules.clear()
    played.play(lc.calls_for(lc.risk("security", file="src/a.py"), times=2), lc.gate("security", None, times=None))
    assert (played.waits_for(), played.state.done) == (["security"], ("take", "ship"))
    (gate,) = (each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.say(lc.rejects("no keys in the code")(gate) or TIMEOUT)
    state = played.state
    assert (state.phase, state.current, state.done, state.remaining) == ("IMPLEMENT", "take", ("ship",), ())
    entry = state.history[-1]
    assert (entry.sort, entry.stage, entry.outcome) == ("gate-rejection", "VALIDATE", "sent back")
    run = played.until(RunLoop, step="implement")
    assert "It is done again: a person rejected security: no keys in the code" in run.params
    assert "A person rejected the gate security: no keys in the code" in run.params
    played.rules.clear()
    assert played.play().state.done == ("ship", "take")
    assert played.stage == "COMPLETE"


def test_a_no_while_a_capability_is_made_opens_that_one_again_and_no_other() -> None:
    played = lc.at("VERIFY", mode="autonomous")
    played.play(lc.calls_for(lc.risk("external", file="src/z.py"), times=1), lc.gate("external", lc.rejects("")))
    assert played.state.done == ("take", "ship")
    assert played.moves.count("VERIFY>IMPLEMENT") == 2
    assert played.state.course.refusals == ("A person rejected the gate external: no reason given",)


def test_a_no_that_names_no_file_opens_the_last_one_again() -> None:
    played = lc.world(lc.gate("deploy", lc.rejects()))
    assert "REVIEW>IMPLEMENT" in played.moves
    assert played.moves.count("REVIEW>SHIP") == 1
    assert (played.state.done, played.stage, played.state.total) == (("take", "ship"), "COMPLETE", 0)


def test_a_no_to_the_specification_has_it_written_again() -> None:
    played = lc.world(lc.gate("specification", lc.rejects("who pays?")), mode="supervised")
    runs = played.asked(RunAgent, skill="spec")
    assert [[each.issue for each in run.brief.findings] for run in runs] == [
        [],
        [],
    ]
    first = played.asked(RunAgent, skill="entry-portal")[1]
    assert [each.issue for each in first.brief.findings] == ["A person rejected specification: who pays?"]
    assert (played.stage, played.moves[0]) == ("COMPLETE", "INIT>SCAFFOLD")


def test_what_was_rejected_and_is_still_there_is_asked_about_anew_and_never_gone_past() -> None:
    same = lc.on(RunLoop, LoopEnded(key=NO_KEY, outcome=Outcome(ending=Ending.VERIFIED)), step="implement")
    played = lc.at("IMPLEMENT", capabilities=("take",), mode="autonomous")
    played.play(
        lc.calls_for(lc.risk("database")),
        lc.gate("database", lc.rejects("no")),
        replace(same, times=None),
        NOBODY,
    )
    # Made again it is another tree, and so another question: nothing goes past it.
    noes = [each for each in played.state.course.gates if each.gate == "database"]
    assert [each.ruling for each in noes] == ["rejected", "open"]
    assert played.waits_for() == ["database"]
    assert "IMPLEMENT>TEST" not in played.moves


def test_a_gate_that_nobody_decides_blocks_and_an_approval_of_the_same_evidence_still_counts() -> None:
    played = lc.world(NOBODY, mode="hybrid")
    assert played.waits_for() == ["security"]
    played.say(TIMEOUT)
    played.rules.clear()
    played.play()
    assert played.reason == "The gate security was not decided in time"
    gate = next(each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.take(lc.approves(gate), gate)
    assert played.state.phase == "VALIDATE"
    assert played.play().stage == "COMPLETE"


def test_a_gate_that_was_not_decided_in_time_may_still_be_rejected() -> None:
    played = lc.world(NOBODY, mode="hybrid")
    played.say(TIMEOUT)
    played.rules.clear()
    played.play()
    gate = next(each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.take(lc.rejects()(gate) or TIMEOUT, gate)
    assert (played.state.phase, played.state.current) == ("IMPLEMENT", "ship")
    assert played.play().stage == "COMPLETE"


def test_only_a_gate_that_is_waited_for_can_time_out() -> None:
    with pytest.raises(InvalidTransition, match="no gate is waited for"):
        lc.at("TEST").say(TIMEOUT)
    with pytest.raises(InvalidTransition, match="'colour' cannot be changed from outside"):
        lc.at("TEST").say(StateEdited(subject="colour", value="1"))


def test_where_people_look_elsewhere_it_is_proposed_before_they_are_waited_for() -> None:
    played = lc.World(
        lc.calls_for(lc.risk("external")),
        mode="autonomous",
        forge="github",
        reviewers=(("external", "lee"), ("deploy", "kim"), ("deploy", "lee")),
    )
    wanted = played.until(OpenPullRequest)
    assert (wanted.draft, wanted.labels, wanted.reviewers) == (True, ("needs:external-review",), ("lee",))
    assert wanted.commit == played.state.landed
    assert wanted.comment.startswith("## External Review Requested\n\na third party is called: 1 place in the change:")
    assert "- `src/a.py:2`: import auth" in wanted.comment
    assert wanted.body.endswith("### What calls for a gate\n- external: `src/a.py:2` (sample)\n\n")
    played.play()
    final = played.asked(OpenPullRequest)[-1]
    assert (final.draft, final.labels, final.reviewers) == (False, (), ("kim", "lee"))


def test_a_gate_of_ones_own_says_how_it_is_approved() -> None:
    played = lc.World(lc.calls_for(lc.risk("legal")), mode="autonomous", forge="github")
    wanted = played.until(OpenPullRequest)
    assert 'Approve with a comment: "legal approved".' in wanted.comment


def test_before_a_gate_is_waited_for_what_was_made_lands_where_people_look_elsewhere() -> None:
    played = lc.at("IMPLEMENT", mode="autonomous", forge="github")
    played.play(lc.calls_for(lc.risk("external")), NOBODY)
    assert played.state.landed_tip == played.state.tip == played.state.landed
    local = lc.at("IMPLEMENT", mode="autonomous")
    local.play(lc.calls_for(lc.risk("external")), NOBODY)
    assert local.state.landed_tip != local.state.tip


# --- what judges ----------------------------------------------------------------------------------------------------

MANIFEST = (Change(path="pyproject.toml", how="added", blob="1"),)


def scaffolds(played: lc.World, *changes: Change) -> lc.Rule:
    def brings(action: Checkpoint) -> Checkpointed:
        commit = played.commit()
        tree = Tree(played.ledger.trees[commit])
        mark = evidence(changes) if changes else ""
        return Checkpointed(key=action.key, commit=commit, tree=tree, protected=changes, evidence=mark)

    return lc.on(Checkpoint, brings, step="record")


def scaffolding(*changes: Change, **given: Any) -> lc.World:  # noqa: ANN401 - as `params`
    """At the skill that makes the scaffold, which brings these."""
    played = lc.World(capabilities=("take",), **given)
    played.until(RunAgent, skill="scaffold")
    played.rules = [scaffolds(played, *changes)]
    return played


def test_what_the_scaffold_changes_of_what_judges_is_one_question_and_then_part_of_the_base() -> None:
    played = scaffolding(*MANIFEST)
    gate = played.until(AwaitGate, gate="protected")
    assert (played.waits_for(), played.state.phase, gate.because) == (["protected"], "SCAFFOLD", MANIFEST)
    played.take(lc.approves(gate), gate)
    ground = played.until(Combine, step="ground")
    assert (ground.base, ground.commits, ground.keep) == (lc.BASE, (), ((played.state.tip, "pyproject.toml"),))
    check = played.until(RunChecks)
    assert check.base == played.state.ground != lc.BASE
    assert played.play().stage == "COMPLETE"
    assert len(played.asked(Combine, step="ground")) == 1


def test_a_person_may_say_beforehand_that_the_scaffold_is_trusted() -> None:
    played = scaffolding(*MANIFEST, trusts_scaffold=True)
    played.play()
    assert played.asked(AwaitGate, gate="protected") == []
    assert len(played.asked(Combine, step="ground")) == 1
    (gate,) = (each for each in played.state.course.gates if each.gate == "protected")
    assert gate.by == "[lifecycle] scaffold"


def test_a_scaffold_that_was_rejected_is_made_again_and_may_do_without() -> None:
    played = scaffolding(*MANIFEST)
    played.play(lc.gate("protected", lc.rejects("no new runner")))
    assert (played.stage, played.state.grounded, played.asked(Combine)) == ("COMPLETE", (), [])
    assert played.asked(RunAgent, skill="scaffold")[1].brief.answers == (
        "A person rejected the gate protected: no new runner",
    )


def test_a_rejected_scaffold_is_made_anew_from_what_was_there_before_it() -> None:
    played = scaffolding(*MANIFEST)
    gate = played.until(AwaitGate, gate="protected")
    (first,) = played.asked(RunAgent, skill="architect")
    assert played.state.tip != first.start
    played.take(lc.rejects("no new runner")(gate) or TIMEOUT, gate)
    again = played.until(RunAgent)
    assert (again.skill, again.start) == ("architect", first.start)
    assert [each.issue for each in again.brief.findings] == ["A person rejected protected: no new runner"]


def test_a_scaffold_that_brings_again_what_was_rejected_is_a_failure() -> None:
    played = scaffolding(*MANIFEST)
    played.rules[0].times = None
    played.play(lc.gate("protected", lc.rejects()))
    assert played.state.phase == "BLOCKED"
    assert {each.sort for each in played.state.history} == {"gate-rejection", "skill"} - {"skill"}


def test_a_no_is_heard_before_it_is_waited_for() -> None:
    played = lc.at("SCAFFOLD", capabilities=("take",))
    played.play(scaffolds(played, *MANIFEST), lc.skill("architecture-review", None))
    gate = next(each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.take(lc.rejects()(gate) or TIMEOUT, gate)
    assert played.until(RunAgent).skill == "architect"


def judged(**facts: Any) -> lc.Reply:  # noqa: ANN401 - the fields of a report
    def passes(action: RunChecks) -> ChecksReported:
        results = tuple(CheckResult(name=name, passed=True, tests=3) for name in action.names)
        return ChecksReported(key=action.key, tree=Tree("t"), results=results, **{"lands": Tree("lands"), **facts})

    return passes


HELD = (Change(path="tests/test_a.py", how="changed", blob="2"),)
NEEDED = Claim(changes=HELD, at_once=True)


def test_what_cannot_be_verified_without_a_person_waits_for_one() -> None:
    played = lc.at("VERIFY")
    played.play(lc.check("lint", judged(claim=NEEDED)), lc.gate("protected", None, times=None))
    assert (played.waits_for(), played.state.phase) == (["protected"], "VERIFY")
    gate = next(each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.take(lc.approves(gate), gate)
    assert played.until(RunChecks).approved == HELD
    played.rules.clear()
    assert played.play().stage == "COMPLETE"


def test_what_a_person_rejected_of_it_is_a_failure_where_it_is_still_needed() -> None:
    played = lc.at("VERIFY", capabilities=("take",))
    played.play(lc.check("lint", judged(claim=NEEDED), times=None), lc.gate("protected", lc.rejects()))
    assert played.state.phase == "BLOCKED"
    assert played.state.history[-1].sort == "gate-rejection"


def test_what_a_person_approved_in_a_part_is_not_asked_again() -> None:
    outcome = Outcome(ending=Ending.VERIFIED, approved=HELD)
    played = lc.World(lc.on(RunLoop, LoopEnded(key=NO_KEY, outcome=outcome), step="implement"))
    played.play(lc.check("lint", judged(claim=NEEDED)))
    assert (played.stage, played.asked(AwaitGate, gate="protected")) == ("COMPLETE", [])


def test_that_nothing_notices_one_change_says_nothing_of_another() -> None:
    taken = LoopEnded(key=NO_KEY, outcome=Outcome(ending=Ending.ACCEPTED))
    played = lc.World(lc.on(RunLoop, taken, step="implement"))
    played.play(lc.check("lint", judged(canary=Canary(said="unread", sentence="no check reads it"))))
    assert len(played.asked(AwaitGate, gate="untested")) == 1


def test_that_no_test_notices_the_change_is_told_to_whoever_writes_the_tests_and_is_no_failure() -> None:
    unnoticed = judged(canary=Canary(said="untested-change", sentence="nothing fails without it"))
    played = lc.at("TEST", capabilities=("take",)).play(lc.check("test", unnoticed))
    again = played.asked(RunAgent, skill="test-generation")[1]
    assert [each.rule for each in again.brief.findings] == ["untested-change"]
    assert (played.stage, played.state.total) == ("COMPLETE", 0)


def unread(*code: tuple[str, str]) -> Canary:
    return Canary(said="unread", missed=tuple(name for name, _ in code), code=code, sentence="no check reads it")


def asked_untested(*canaries: Canary) -> list[tuple[str, ...]]:
    """Return the files of each question, where each state lands another tree and the checks say these in turn."""
    left = list(canaries)

    def says(action: RunChecks) -> Event | None:
        canary = left.pop(0) if len(left) > 1 else left[0]
        trees.append(Tree(f"lands-{len(trees)}"))
        return judged(canary=canary, lands=trees[-1])(action)

    trees: list[Tree] = []
    played = lc.at("TEST", capabilities=("take",)).play(lc.on(RunChecks, says, times=None))
    assert (played.stage, len(trees) > 3) == ("COMPLETE", True)
    return [tuple(each.path for each in gate.because) for gate in played.asked(AwaitGate, gate="untested")]


def test_an_approved_untested_change_is_not_asked_about_again_until_its_code_changes() -> None:
    mul, sub = ("a.py: mul", "1"), ("b.py: sub", "1")
    assert asked_untested(unread(mul)) == [("a.py",)]
    assert asked_untested(unread(mul), unread(mul), unread(mul, sub), unread(mul, sub)) == [("a.py",), ("b.py",)]
    assert asked_untested(unread(mul), unread(mul), unread(("a.py: mul", "2"))) == [("a.py",), ("a.py",)]
    assert asked_untested(unread(mul, sub), unread(mul, sub), unread(sub)) == [("a.py", "b.py")]


def test_a_claim_that_is_told_to_the_maker_counts_as_a_failure() -> None:
    told = judged(claim=Claim(changes=HELD, failing=("t::one",)))
    played = lc.at("TEST", capabilities=("take",)).play(lc.check("test", told))
    assert (played.stage, played.state.total) == ("COMPLETE", 1)


def test_what_is_held_back_does_not_hold_up_the_rest() -> None:
    held = judged(held=HELD)
    played = lc.at("VERIFY", capabilities=("take",))
    played.play(lc.on(RunChecks, held, times=None, step="check"), lc.gate("protected", None, times=None))
    (first, *_) = (each for each in played.asked(Integrate) if each.holds_back)
    assert (first.tree, first.message) == ("lands", "feat(sys-001): take")
    assert (played.stage, played.outcome.held) == ("COMPLETE", HELD)


def test_a_no_to_what_is_held_back_is_told_and_moves_nothing() -> None:
    played = lc.at("VERIFY", capabilities=("take",))
    played.play(lc.on(RunChecks, judged(held=HELD), times=1, step="check"), lc.on(Integrate, None))
    gate = next(each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.take(lc.rejects("leave it")(gate) or TIMEOUT)
    assert played.state.phase == "VERIFY"
    assert played.state.course.refusals == ("A person rejected the change to tests/test_a.py: leave it",)


def test_an_approval_of_what_is_held_back_is_taken_while_the_work_goes_on() -> None:
    played = lc.at("VERIFY", capabilities=("take",))
    played.play(lc.on(RunChecks, judged(held=HELD), times=1, step="check"), lc.on(Integrate, None))
    gate = next(each for each in LIFECYCLE.decide(played.state) if isinstance(each, AwaitGate))
    played.take(lc.approves(gate))
    assert (played.state.phase, played.state.checked) == ("VERIFY", "")


def test_what_cannot_land_on_its_branch_needs_a_person() -> None:
    moved = IntegrationRefused(key=NO_KEY, reason="moved", detail="somebody else moved it")
    played = lc.world(lc.on(Integrate, moved))
    assert played.reason == "What was made could not be put on feature/system-orders: somebody else moved it"
    assert played.say(lc.says("resume")).play().stage == "COMPLETE"
