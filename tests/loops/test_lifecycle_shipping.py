"""How a system is shipped and completed: the proposal, its merge, the deploy command, ten conditions; and people."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Action,
    Announce,
    AwaitGate,
    Combine,
    Integrate,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunAgent,
    RunChecks,
    RunOnce,
    Tell,
    WaitUntil,
)
from loopwright.kernel.events import ChecksReported, Event, StateEdited
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Commit, Ending, LoopId, Tree
from loopwright.kernel.proposals import Opinion
from loopwright.kernel.sightings import Heard, RanOnce
from loopwright.kernel.trust import Trust
from loopwright.loops.course import GateRecord, Ruling
from loopwright.loops.lifecycle import closing
from loopwright.loops.lifecycle.completing import conditions, papers_line
from loopwright.loops.lifecycle.decision import decision
from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.state import Earlier, SystemFacts
from loopwright.loops.lifecycle.states import Stage
from tests.loops import lifecycle as lc

MOVED = lc.seen(failed="the target has moved", onto=Commit("main-2"))


def merges(said: lc.Reply, *, times: int = 1) -> lc.Rule:
    return lc.on(MergePullRequest, said, times=times)


def test_what_is_proposed_says_what_was_built_and_verified() -> None:
    system = SystemFacts(id="sys-001", name="Orders", description="Takes orders.", issue=7)
    played = lc.World(lc.check("lint", lc.red("lint")), mode="autonomous", system=system)
    wanted = played.until(OpenPullRequest)
    assert (wanted.title, wanted.branch, wanted.target, wanted.draft) == (
        "Orders (sys-001)",
        "feature/system-orders",
        "refs/heads/main",
        False,
    )
    assert wanted.body == (
        "## Orders (sys-001)\n\nTakes orders.\n\n### Capabilities\n- [x] take\n- [x] ship\n\n### Evidence\n"
        f"- Verified tree: `{played.ledger.trees[played.state.landed]}`; checks: {', '.join(lc.CHECKS)}\n"
        "- Failures: 1, all resolved\n\n### Gates\n- deploy: approved by kim\n\nCloses #7\n"
    )


def test_tests_that_agents_wrote_are_named_where_it_is_proposed() -> None:
    def written(action: RunChecks) -> ChecksReported:
        report = played.well(action)
        assert isinstance(report, ChecksReported)
        return replace(report, written=("tests/test_a.py",))

    played = lc.World()
    played.play(lc.on(RunChecks, written, times=None), lc.on(OpenPullRequest, None, times=None))
    (wanted,) = (each for each in LIFECYCLE.decide(played.state) if isinstance(each, OpenPullRequest))
    assert "- Tests written by agents: tests/test_a.py" in wanted.body
    bare = lc.World(capabilities=(), mode="autonomous", system=SystemFacts(id="sys-001", name="Orders"))
    assert "_No description._" in bare.until(OpenPullRequest).body


def test_what_skills_leave_after_the_approval_is_kept_and_not_merged() -> None:
    played = lc.at("SHIP")
    landed = played.state.landed
    played.play()
    assert played.state.landed == landed
    assert played.state.papers != NO_COMMIT
    commit = played.state.papers[:12]
    assert papers_line(played.state) == (
        f"Papers of SHIP and COMPLETE: commit {commit}, `git show {commit}:docs/systems/sys-001/RETROSPECTIVE.md`"
    )
    assert papers_line(played.state) in closing.lines(played.state, played.outcome)
    without = replace(played.state, finished=())
    assert papers_line(without).endswith(f"`git show {commit}:docs/systems/sys-001/`")
    assert papers_line(replace(without, papers=NO_COMMIT)) == ""
    (merge,) = played.asked(MergePullRequest)
    assert merge.commit == landed


def test_where_a_person_merges_it_is_looked_at_until_they_have() -> None:
    played = lc.world(lc.on(ReadPullRequest, lc.seen(), times=3), merges=False, poll=30.0)
    assert (played.stage, played.asked(MergePullRequest)) == ("COMPLETE", [])
    assert [each.delay for each in played.asked(WaitUntil)] == [30.0] * 3


def test_a_target_that_has_moved_is_brought_in_verified_and_approved_again() -> None:
    played = lc.World(merges(MOVED))
    played.until(Combine)
    before = len(played.actions)
    (update,) = (each for each in LIFECYCLE.decide(played.state) if isinstance(each, Combine))
    assert (update.base, update.commits, update.made_on) == ("main-2", (played.state.landed,), (lc.BASE,))
    played.play()
    steps = [each.key.step for each in played.actions[before:]]
    assert steps[:8] == ["update", "check", "look", "land", "gate", "propose", "merge", "deploy"]
    (check,) = (each for each in played.actions[before:] if isinstance(each, RunChecks))
    assert (check.names, check.base) == (lc.CHECKS, "main-2")
    (land,) = (each for each in played.actions[before:] if isinstance(each, Integrate))
    assert (land.merges, land.message) == ("main-2", "Merge what the target has by now into Orders")
    assert len(played.asked(AwaitGate, gate="deploy")) == 2
    assert played.stage == "COMPLETE"


def test_a_merge_that_is_brought_in_keeps_what_a_person_approved_of_the_scaffold() -> None:
    played = lc.at("SHIP")
    played.state = replace(played.state, grounded=((Commit("approved"), "pyproject.toml"),))
    played.play(merges(MOVED))
    (ground,) = played.asked(Combine, step="ground")
    assert (ground.base, [path for _, path in ground.keep]) == ("main-2", ["pyproject.toml"])
    assert played.stage == "COMPLETE"


def test_a_proposal_that_was_closed_needs_a_person() -> None:
    played = lc.world(merges(lc.seen(state="closed")))
    assert played.reason == "The pull request #1 was closed unmerged"
    assert played.say(lc.says("resume")).play().stage == "COMPLETE"


def test_a_branch_that_somebody_pushed_to_needs_a_person() -> None:
    played = lc.world(merges(lc.seen(head=Commit("theirs"))))
    assert played.reason == (
        f"Somebody pushed to feature/system-orders: it is at theirs, and {played.state.landed} was approved"
    )


def test_what_was_merged_at_another_commit_than_the_approved_one_is_not_complete() -> None:
    played = lc.world(merges(lc.seen(state="merged", head=Commit("theirs"), merged_as=Commit("m"))))
    approved = played.state.landed
    assert played.reason == f"The pull request was merged at theirs, and {approved} was approved"
    assert played.stage == "BLOCKED"


def test_who_asks_for_changes_takes_the_approval_back() -> None:
    asked = (
        Opinion(by="lee", said="approved", at="2", inside=True),
        Opinion(by="kim", said="changes-requested", text="names are unclear", at="2", inside=True),
        Opinion(by="kim", said="commented", text="see above", at="3", inside=True),
    )
    played = lc.world(merges(lc.seen(opinions=asked)))
    assert "SHIP>IMPLEMENT" in played.moves
    assert (played.stage, played.state.history[0].sort) == ("COMPLETE", "gate-rejection")
    assert played.state.course.refusals == ("A person rejected the gate deploy: names are unclear",)


def test_an_approval_that_is_taken_back_before_the_merge_is_waited_for_again() -> None:
    back = (Opinion(by="lee", said="withdrawn", at="2", inside=True),)
    page = "https://git.test/acme/shop/pull/1"
    yes = lc.gate("deploy", lambda asked: replace(lc.approves(asked), by="lee@git.test"))
    played = lc.world(yes, merges(lc.seen(opinions=back, url=page)))
    assert (len(played.asked(AwaitGate, gate="deploy")), played.stage) == (2, "COMPLETE")
    other = (Opinion(by="kim", said="withdrawn", at="2", inside=True),)
    played = lc.world(yes, merges(lc.seen(opinions=other, url=page)))
    assert (len(played.asked(AwaitGate, gate="deploy")), played.stage) == (1, "COMPLETE")


def test_what_was_asked_before_this_was_proposed_is_no_no_to_it() -> None:
    old = (Opinion(by="kim", said="changes-requested", commit=Commit("c001"), at="0", inside=True),)
    played = lc.world(merges(lc.seen(opinions=old)))
    assert (played.stage, played.state.history) == ("COMPLETE", ())


def test_red_checks_of_the_forge_after_the_approval_are_a_failure() -> None:
    played = lc.world(merges(lc.seen(red=("ci",))))
    assert [(each.sort, each.stage) for each in played.state.history] == [("tests", "SHIP")]
    assert played.moves[-4:] == ["SHIP>FAILED", "FAILED>RETRY", "RETRY>SHIP", "SHIP>COMPLETE"]
    assert len(played.asked(AwaitGate, gate="deploy")) == 2


@pytest.mark.parametrize("kind", [OpenPullRequest, MergePullRequest])
def test_a_forge_that_is_away_is_asked_again_and_one_that_refuses_needs_a_person(kind: type[Action]) -> None:
    away = lc.seen(failed="no route", away=True, number=0, head=NO_COMMIT)
    played = lc.world(lc.on(kind, away, times=3))
    assert (played.stage, len(played.asked(WaitUntil)), played.state.back_offs) == ("COMPLETE", 3, 0)
    gone = lc.world(lc.on(kind, away, times=None))
    assert gone.reason == "no route"
    assert gone.state.blocked is not None
    assert gone.state.blocked.cause == "external"
    refused = lc.world(lc.on(kind, lc.seen(failed="protected branch")))
    assert refused.state.blocked is not None
    assert (refused.reason, refused.state.blocked.cause) == ("protected branch", "proposal")


# --- deploying ------------------------------------------------------------------------------------------------------


def test_what_was_approved_is_deployed_once() -> None:
    played = lc.world()
    (run,) = played.asked(RunOnce)
    assert (run.argv, run.commit) == (("make", "deploy"), "merged")


@pytest.mark.parametrize(
    ("code", "detail", "how"),
    [(1, "no disk", "it ended with 1): no disk"), (None, "", "nobody knows how it ended)")],
)
def test_a_deploy_that_failed_blocks_and_is_never_run_again(code: int | None, detail: str, how: str) -> None:
    played = lc.world(lc.on(RunOnce, RanOnce(key=NO_KEY, code=code, detail=detail)))
    assert played.reason == f"The deploy command did not succeed ({how}"
    assert [each.choice for each in played.question.options] == ["deployed", "history", "cancel"]
    with pytest.raises(InvalidTransition, match="'resume' is not one of the options"):
        played.say(lc.says("resume"))
    played.say(replace(lc.says("deployed"), by="kim")).play()
    assert (played.stage, len(played.asked(RunOnce))) == ("COMPLETE", 1)
    (shown,) = (each.shown_by for each in conditions(played.state) if each.name == "PR approved and merged")
    assert shown.endswith("; deployed: by the word of kim")
    assert played.state.course.decisions == ("deploy resolved by kim",)


def test_a_deploy_that_failed_is_still_asked_about_when_its_state_is_set_by_hand() -> None:
    played = lc.world(lc.on(RunOnce, RanOnce(key=NO_KEY, code=1)))
    played.say(StateEdited(subject="state", value='"SHIP"')).play()
    assert (played.stage, len(played.asked(RunOnce))) == ("BLOCKED", 1)


def test_without_a_deploy_target_a_person_names_one() -> None:
    played = lc.world(deploy=())
    assert played.reason == "No deploy target configured. Specify target or 'skip deploy' to skip"
    assert [each.choice for each in played.question.options[:2]] == ["target", "skip"]
    with pytest.raises(InvalidTransition, match="the deploy target is missing"):
        played.say(lc.says("target", text=" "))
    with pytest.raises(InvalidTransition, match="the deploy target is no command: No closing quotation"):
        played.say(lc.says("target", text="npm 'publish"))
    played.say(lc.says("target", text="npm publish")).play()
    (run,) = played.asked(RunOnce)
    assert (run.argv, played.state.deploy, played.stage) == (("npm", "publish"), "npm publish", "COMPLETE")


@pytest.mark.parametrize("said", [lc.says("skip", text="a library"), lc.skips("deploy", "a library")])
def test_without_a_deploy_target_it_may_be_skipped_and_the_gate_stays(said: Event) -> None:
    played = lc.world(deploy=()).say(said).play()
    assert (played.stage, played.asked(RunOnce), len(played.asked(AwaitGate, gate="deploy"))) == ("COMPLETE", [], 1)
    assert [(each.skill, each.reason) for each in played.state.skips] == [("deploy", "a library")]


def test_what_is_configured_is_not_run_where_deploy_is_skipped() -> None:
    played = lc.at("REVIEW").say(lc.skips("deploy")).play()
    assert (played.stage, played.asked(RunOnce)) == ("COMPLETE", [])


# --- completion -----------------------------------------------------------------------------------------------------

DUE = GateRecord(gate="database", evidence="e")
CONDITIONS: list[tuple[str, dict[str, Any]]] = [
    ("All capabilities implemented", {"remaining": ("bill",)}),
    ("All tests passing", {"merged": NO_COMMIT}),
    ("Code verification passing (lint, types, complexity)", {"without": "code-verification"}),
    ("Code validation passing (logic, requirements)", {"without": "code-validation"}),
    ("Security audit passing (no critical/high)", {"without": "security-audit"}),
    ("Performance targets met", {"without": "perf-analysis"}),
    ("Documentation updated", {"without": "document"}),
    ("Code review self-assessment passing", {"reviewed": NO_COMMIT}),
    ("PR approved and merged", {"merged": NO_COMMIT}),
    ("All required gates approved", {"gates": (DUE,)}),
]


@pytest.mark.parametrize(("name", "change"), CONDITIONS)
def test_a_system_is_complete_only_with_all_ten(name: str, change: dict[str, Any]) -> None:
    played = lc.at("COMPLETE", checks=("build", "test"))
    facts = dict(change)
    if without := facts.pop("without", None):
        facts["finished"] = tuple(each for each in played.state.finished if each != without)
    if gates := facts.pop("gates", None):
        facts["course"] = replace(played.state.course, gates=gates)
    played.state = replace(played.state, **facts)
    played.play(lc.gate("database", None))
    assert played.reason.startswith("Not complete: ")
    assert name in played.reason
    assert played.moves[-1] == "COMPLETE>BLOCKED"
    assert [each.name for each in conditions(played.state)] == [each for each, _ in CONDITIONS]


def test_what_was_skipped_or_is_measured_counts() -> None:
    played = lc.world()
    shown = {each.name: each.shown_by for each in conditions(played.state)}
    assert shown["Performance targets met"] == "a check measures it"
    plan = replace(played.state.plan, checks=("test", "lint"))
    shown = {each.name: each.shown_by for each in conditions(replace(played.state, plan=plan))}
    assert shown["Performance targets met"] == "the skill perf-analysis; not measured"
    verified = "Code verification passing (lint, types, complexity)"
    assert shown[verified] == "lint; not configured: types, complexity"
    plan = replace(plan, checks=("lint", "typecheck", "complexity"))
    shown = {each.name: each.shown_by for each in conditions(replace(played.state, plan=plan))}
    assert shown[verified] == "lint, typecheck, complexity"
    played = lc.at("VALIDATE").say(lc.skips("security-audit", "done by a firm"))
    played.say(lc.skips("document", "none")).play()
    shown = {each.name: each.shown_by for each in conditions(played.state)}
    assert (shown["Security audit passing (no critical/high)"], played.stage) == (
        "skipped by kim: done by a firm",
        "COMPLETE",
    )


def test_a_queue_that_knows_better_is_not_overruled_and_it_is_said() -> None:
    refuses = Heard(key=NO_KEY, loop=LoopId("queue-shop"), refused="sys-001 is blocked by a person")
    played = lc.world(lc.on(Tell, refuses, times=None))
    assert (played.stage, played.state.unblocked) == ("COMPLETE", ())
    assert played.state.remarks == ("the queue: sys-001 is blocked by a person",) * 2


def test_the_queue_hears_where_it_is() -> None:
    def told(played: lc.World) -> list[str]:
        said = (each.said for each in played.asked(Tell))
        return [each.value.split('"status": ')[1] for each in said if isinstance(each, StateEdited)]

    assert told(lc.world()) == ['"review"}', '"complete"}']
    closed = lc.world(merges(lc.seen(state="closed")))
    closed.say(lc.says("resume")).play()
    assert told(closed) == ['"review"}', '"blocked"}', '"in-progress"}', '"review"}', '"complete"}']
    back = lc.world(merges(lc.seen(opinions=(Opinion(by="kim", said="changes-requested", at="2", inside=True),))))
    assert told(back) == ['"review"}', '"in-progress"}', '"review"}', '"complete"}']


# --- a person's edit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", lc.ORDER[:6])
def test_a_person_may_set_it_back(to: str) -> None:
    played = lc.at("VALIDATE")
    played.until(RunAgent, skill="perf-analysis")
    played.say(lc.edits(to))
    assert played.state.phase == to
    assert played.play().stage == "COMPLETE"
    assert sorted(played.state.done) == ["ship", "take"]
    assert ("REVIEW>SHIP" in played.moves, played.state.remaining) == (True, ())


def test_back_to_a_capability_opens_the_last_one_and_back_to_the_beginning_all() -> None:
    played = lc.at("VALIDATE").say(lc.edits("TEST"))
    assert (played.state.current, played.state.done, played.state.reopened) == (
        "ship",
        ("take",),
        "kim set it back to TEST",
    )
    played = lc.at("VERIFY").say(lc.edits("IMPLEMENT"))
    assert (played.state.current, played.state.done, played.state.remaining) == ("take", (), ("ship",))
    played = lc.at("DOCUMENT").say(lc.edits("SCAFFOLD"))
    assert (played.state.current, played.state.done, played.state.remaining) == ("take", (), ("ship",))


def test_what_is_under_way_goes_on_where_the_state_is_the_same() -> None:
    played = lc.at("TEST")
    before = played.wants()
    assert played.say(lc.edits("TEST")).wants() == before


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ('"SHIP"', "SHIP is past TEST, whose checks have not passed"),
        ('"BLOCKED"', "cannot be set to BLOCKED"),
        ('"LIMBO"', "is no state"),
        ("{", "is no state"),
        ("[]", "is no state"),
    ],
)
def test_an_edit_that_is_not_legal_is_refused(value: str, why: str) -> None:
    with pytest.raises(InvalidTransition, match=why):
        lc.at("TEST").say(StateEdited(subject="state", value=value))


def test_what_was_blocked_goes_on_where_a_person_sets_it_to_the_state_it_was_blocked_in() -> None:
    played = lc.world(lc.skill("document", lc.CANNOT))
    with pytest.raises(InvalidTransition, match="past DOCUMENT"):
        played.say(lc.edits("REVIEW"))
    played.say(lc.edits("DOCUMENT"))
    assert (played.moves[-1], played.play().stage) == ("BLOCKED>DOCUMENT", "COMPLETE")
    earlier = lc.world(lc.skill("document", lc.CANNOT)).say(lc.edits("VALIDATE"))
    assert (earlier.moves[-1], earlier.play().stage) == ("BLOCKED>VALIDATE", "COMPLETE")


def test_a_question_is_put_again_where_the_state_is_set_to_the_same() -> None:
    played = lc.world(lc.skill("requirements", lc.ASKS)).say(lc.edits("INIT"))
    assert played.until(RunAgent).skill == "requirements"
    skipped = lc.world(lc.skill("requirements", lc.ASKS)).say(lc.skips("requirements"))
    assert skipped.until(RunAgent).skill == "spec"


def test_what_has_ended_is_not_changed() -> None:
    played = lc.world()
    for said in (lc.edits("INIT"), lc.skips("spec")):
        with pytest.raises(InvalidTransition, match="has ended"):
            played.say(said)


# --- where it begins ------------------------------------------------------------------------------------------------


def test_checks_that_cannot_run_block_before_anybody_is_paid() -> None:
    played = lc.World(trust=Trust(in_force=True))
    unable = ChecksReported(key=NO_KEY, tree=Tree("t"), results=(), unable=("pytest is not there",))
    played.say(unable).play()
    assert (played.reason, played.actions[:1]) == ("pytest is not there", played.asked(Tell)[:1])
    played.say(lc.says("resume"))
    assert played.wants() == ["RunChecks preflight-1"]
    assert played.say(unable).play().reason == "pytest is not there"
    assert played.say(lc.says("resume")).play().stage == "COMPLETE"


def test_what_another_tool_had_got_to_is_taken_over_and_its_approvals_are_asked_again() -> None:
    earlier = Earlier(
        stage=Stage.IMPLEMENT,
        done=("take",),
        current="ship",
        approvals=(("database", "dba@shop"),),
        total=1,
        retries=1,
    )
    played = lc.World(earlier=earlier, mode="autonomous")
    assert (played.stage, played.state.current) == ("IMPLEMENT", "ship")
    played.play(lc.calls_for(lc.risk("database")), lc.gate("database", None))
    assert played.waits_for() == ["database"]
    (old, *_) = played.state.course.gates
    assert (old.ruling, old.by, old.due) == (Ruling.APPROVED, "dba@shop", False)
    assert played.play().stage == "COMPLETE"


@pytest.mark.parametrize(("stage", "resumes"), [(Stage.VERIFY, "VERIFY"), (None, "INIT")])
def test_what_was_blocked_when_it_was_taken_over_is_blocked(stage: Stage | None, resumes: str) -> None:
    failures = (Failure(number=1, stage=stage, sort="tests", error="boom"),) if stage else ()
    played = lc.World(earlier=Earlier(stage=Stage.BLOCKED, failures=failures, current="take", remaining=("ship",)))
    assert played.reason == "It was blocked when it was adopted"
    played.say(lc.says("resume"))
    assert played.state.phase == resumes
    assert played.play().stage == "COMPLETE"


# --- the decision, in words -----------------------------------------------------------------------------------------


def test_the_decision_is_told_in_its_order() -> None:
    assert decision(lc.world().state).action == "DONE"
    cancelled = lc.world(lc.skill("spec", lc.CANNOT)).say(lc.says("cancel")).play()
    assert decision(cancelled.state).why == "the system has ended"
    asks = decision(lc.world(lc.skill("spec", lc.ASKS)).state)
    assert (asks.action, asks.why) == ("WAIT_FOR_HUMAN", "Ambiguous requirement discovered: Which currency?")
    failed = lc.World(lc.check("lint", lc.red("lint"), times=None))
    failed.until(Announce, step="move", text="FAILED → RETRY")
    told = decision(failed.state)
    assert (told.action, told.state) == ("RETRY", "VERIFY")
    failed.until(RunAgent, step="diagnose")
    assert decision(failed.state).skill == "debug-assist"
    hole = lc.World(lc.check("security", lc.red("security")))
    hole.until(Announce, step="move", text="FAILED → BLOCKED")
    assert decision(hole.state).action == "ESCALATE"
    last = lc.at("TEST")
    assert (decision(last.state).skill, decision(last.state).state) == ("test-generation", "VERIFY")
    last.until(RunChecks)
    assert (decision(last.state).skill, decision(last.state).why) == (
        "code-verification",
        "TEST is left once its checks pass",
    )
    assert lc.world().outcome.ending is Ending.VERIFIED
