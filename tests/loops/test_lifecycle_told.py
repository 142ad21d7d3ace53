"""What agents and people are told of a system, and what its loops within are given."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Checkpoint, RunAgent, RunChecks, RunLoop
from loopwright.kernel.events import (
    AgentUnavailable,
    Announced,
    CancelRequested,
    Checkpointed,
    Combined,
    Event,
)
from loopwright.kernel.model import NO_KEY, Brief, Commit, Ending, Key, LoopId, Tree
from loopwright.kernel.trust import Trust
from loopwright.loops.course import MOST_WAITS, GateRecord, Ruling
from loopwright.loops.lifecycle import closing
from loopwright.loops.lifecycle.blocked_message import escalation_record
from loopwright.loops.lifecycle.brief import render
from loopwright.loops.lifecycle.decision import decision
from loopwright.loops.lifecycle.kind import KIND
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.state import Step
from loopwright.loops.parts import Inner
from tests.loops import lifecycle as lc


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """One run of one role, as whoever writes its brief knows it."""

    key: Key
    role: str
    skill: str
    brief: Brief
    guide: str = ""
    loop: LoopId = LoopId("lc-1")
    kind: str = "lifecycle"
    needs_verdict: bool = False
    diff: str = ""
    scratchpad: object | None = None


def brief(run: RunAgent, guide: str = "") -> str:
    return render(Assigned(key=run.key, role=run.role, skill=run.skill, brief=run.brief, guide=guide))


def test_a_skill_is_told_what_it_is_for_and_what_it_has_to_leave() -> None:
    told = brief(lc.at("SCAFFOLD").until(RunAgent), "Draw boxes.")
    assert told.startswith(
        "# Brief for the skill architect: SCAFFOLD of Orders (sys-001)\n\nWork in the working directory."
    )
    assert "## Deliverables" in told
    assert "- `docs/systems/sys-001/ARCHITECTURE.md`" in told
    assert "## The skill\n\nDraw boxes." in told
    assert "## Capabilities\n\n- take\n- ship" in told
    assert "(now)" in brief(lc.at("TEST").until(RunAgent))


def test_who_diagnoses_and_who_fixes_are_told_what_failed() -> None:
    played = lc.World(lc.check("lint", lc.red("lint", "unused name")))
    diagnosis = brief(played.until(RunAgent, step="diagnose"))
    assert "Change nothing: what is written here is discarded." in diagnosis
    assert '"advice"' in diagnosis
    fix = brief(played.until(RunAgent, step="fix"))
    assert "A targeted fix" in fix
    assert "## Diagnosis" in fix
    assert "## Files\n\nOnly these, and new tests: `src/a.py`" in fix
    assert "unused name" in fix


def test_a_system_without_capabilities_has_no_list_of_them() -> None:
    assert "## Capabilities" not in brief(lc.World(capabilities=()).until(RunAgent))
    assert "## Deliverables" not in brief(lc.at("SCAFFOLD").until(RunAgent, skill="scaffold"))


# --- the loops within -----------------------------------------------------------------------------------------------


def made_by(inner: Inner) -> dict[str, object]:
    given: dict[str, object] = json.loads(lc.World(inner=inner).until(RunLoop, step="implement").params)
    return given


def test_a_capability_is_given_under_the_names_that_its_loop_has() -> None:
    plain = made_by(Inner())
    assert str(plain["task"]).startswith("Implement the capability 'take' of Orders.\n\nTakes orders.")
    assert (plain["lands"], plain["base"]) == (False, lc.at("IMPLEMENT").state.tip)
    part = plain["part"]
    assert isinstance(part, dict)
    assert part["request"] == "Orders: Takes orders.\n\nIts capabilities:\n- take\n- ship"
    titled = made_by(Inner(kind="x", task="title", details="story", name="branch"))
    assert (titled["title"], titled["branch"]) == ("take", "b-1-1")
    assert str(titled["story"]).startswith("Implement the capability")
    whole = made_by(Inner(kind="x", task="request", attempts=""))
    assert "part" not in whole


# --- the ending -----------------------------------------------------------------------------------------------------


def test_the_ending_of_a_system_shows_the_ten_conditions_and_what_is_next() -> None:
    played = lc.world()
    told = closing.lines(played.state, played.outcome)
    assert told[0] == "COMPLETE: Orders (sys-001) after 12 transitions."
    assert sum(line.startswith("  [x] ") for line in told) == 10
    assert told[-2:] == ("Can begin now: sys-002.", "Next: sys-002.")
    result = closing.result(LoopId("lc-1"), played.state, {})
    assert (result.system, result.state, result.transitions, result.capabilities) == ("sys-001", "COMPLETE", 12, 2)
    alone = lc.world(queue=LoopId(""))
    assert any(line.startswith("Result: merged into main") for line in closing.lines(alone.state, alone.outcome))


def test_the_ending_of_one_that_was_cancelled_shows_none() -> None:
    played = lc.at("TEST").say(CancelRequested()).play()
    assert played.outcome.ending is Ending.CANCELLED
    told = closing.lines(played.state, played.outcome)
    assert told[0].startswith("Cancelled after 3 transitions")
    assert not any("[x]" in line for line in told)


def test_what_was_tried_so_far_is_told_in_lines() -> None:
    assert closing.so_far(lc.at("TEST").state) == ("nothing has failed so far",)
    words = iter(("ab", "cd", "ef", "gh", "ij", "kl", "mn"))
    rule = lc.Rule(
        lambda action: isinstance(action, RunChecks) and "lint" in action.names,
        lambda _: lc.red("lint", word := next(words), rule=word),
        7,
    )
    told = closing.so_far(lc.at("REVIEW", rule).state)
    assert (told[0], told[-1]) == ("2 earlier failures", "VERIFY: src/a.py:3 - mn; implement is done")


def test_what_was_taken_untested_is_owed() -> None:
    state = lc.at("TEST").state
    gate = GateRecord(gate="untested", evidence="e", ruling=Ruling.APPROVED, why="no test reads it")
    state = replace(state, course=replace(state.course, gates=(gate,)))
    assert closing.owed(state, "kim") == ("- **Taken untested** by kim: no test reads it",)


def test_the_kind_tells_where_a_system_stands() -> None:
    played = lc.at("TEST")
    assert KIND.status is not None
    facts = KIND.status(played.state)
    assert facts.system == {"id": "sys-001", "name": "Orders"}
    assert facts.capability == {"index": 1, "total": 2, "name": "take"}
    assert KIND.status(lc.World(capabilities=()).state).capability is None
    assert KIND.decision(played.state) == (
        "EXECUTE_SKILL test-generation of TEST; then VERIFY: TEST still needs test-generation",
    )
    done = lc.world().state
    assert KIND.decision(done) == ("DONE: the system is complete",)
    assert KIND.tells_more(LoopId("lc-1"), done) == "domain-memory/shop/systems/sys-001/loop-state.json"
    assert KIND.title(done.plan) == "Orders (sys-001)"
    assert KIND.unresolved(done, None) == ()
    blocked = lc.world(lc.skill("spec", lc.CANNOT)).state
    assert KIND.told_when_stopped(blocked, None)[0] == "## 🚫 BLOCKED: Orders"
    assert done.commit == done.landed


# --- what answers nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", Step)
def test_what_does_not_answer_the_step_is_refused(step: Step) -> None:
    """The engine hands over nothing of the kind: whoever else does is told."""
    state = replace(lc.at("SCAFFOLD").state, step=step)
    wrong = Combined(key=Key("x"), commit=Commit("c"))
    if step in (Step.GROUND, Step.UPDATE, Step.JOIN):
        wrong = Announced(key=Key("x"))  # type: ignore[assignment]
    if step in (Step.QUEUE, Step.HANDOFF, Step.INTERFACES, Step.NEXT):
        assert LIFECYCLE.apply(state, wrong) != state  # whatever it is, it is on record
        return
    with pytest.raises(InvalidTransition, match=f"{step} is under way"):
        LIFECYCLE.apply(state, wrong)


def test_what_a_skill_leaves_unchanged_makes_no_commit() -> None:
    played = lc.at("SCAFFOLD")
    tip = played.state.tip
    played.until(Checkpoint)
    same = Checkpointed(key=NO_KEY, commit=Commit("c"), tree=Tree("t"), unchanged=True)
    assert played.say(same).state.tip == tip


CRASHED = "The skill crashed twice in the same way (segfault b). Mend it, then answer `continue`."


@pytest.mark.parametrize(
    ("reply", "times", "cause", "target", "reason"),
    [
        (lc.ASKS, 1, "ambiguous", "product owner", "Ambiguous requirement discovered: Which currency?"),
        (lc.crashes(), 2, "crash", "human engineer", CRASHED),
        (
            AgentUnavailable(key=NO_KEY, until=9.0, role="skill", detail="no seat"),
            MOST_WAITS + 1,
            "external",
            "operations",
            "The skill was not available 11 times in a row: no seat\nWith your answer it is tried once more.",
        ),
    ],
)
def test_what_an_agent_cannot_go_on_without_is_escalated_to_whoever_can_help(
    reply: Event, times: int, cause: str, target: str, reason: str
) -> None:
    trust = Trust(base=lc.BASE, in_force=True)
    played = lc.world(lc.skill("architect", reply, times=times), trust=trust)
    assert played.stage == "BLOCKED"
    told = escalation_record(played.state)
    assert (told["cause"], told["escalatedTo"], told["reason"]) == (cause, target, reason)
    assert decision(played.state).why == reason
    assert "`loop answer" in str(told["ask"])
    played.say(lc.says("continue"))
    assert played.play().stage == "COMPLETE"
