"""What may be said to a queue, by people and by loops, and what it answers."""

from typing import Any

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import BudgetChanged, StateEdited
from loopwright.loops.queue.kind import KIND
from loopwright.loops.queue.machine import QUEUE
from loopwright.loops.queue.state import NOBODY, QueueState, System, SystemAutonomy
from tests.rooms.queue.queues import ANN, AT, BOB, LATER, PLAN, a_system, queue, said, told


def test_a_queue_wants_nothing_and_tells_where_it_stands() -> None:
    state = QUEUE.start(PLAN)
    assert state == QueueState(plan=PLAN, updated_at=AT)
    assert QUEUE.decide(state) == ()
    assert QUEUE.stand(state).lines == ("no system is ready",)
    half = QUEUE.stand(queue(a_system(1, status="complete"), a_system(2)))
    assert (half.state, half.attempt, half.limit, half.lines) == ("OPEN", 1, 2, ("next ready: sys-002",))
    assert KIND.title(PLAN) == "the systems of shop"


def test_what_is_left_is_named_with_the_commands_that_begin_it() -> None:
    left = KIND.so_far(queue(a_system(1, status="complete"), a_system(2)))
    assert left[0] == "1 system in the queue of shop: sys-002"
    assert [line.split("  ")[1] for line in left[1:]] == ["loop init --next", "loop run"]
    assert KIND.so_far(queue(*map(a_system, range(1, 13))))[0].endswith(", sys-010, …")
    assert KIND.so_far(queue(a_system(1, status="complete"))) == ()


def test_nobody_is_told_anything_in_its_name() -> None:
    class Somebody:
        role = "developer"

    with pytest.raises(AssertionError, match="developer"):
        KIND.brief(Somebody())  # type: ignore[arg-type]
    nothing: Any = None
    assert (KIND.owed(nothing, ""), KIND.closing(nothing, nothing)) == ((), ())
    assert KIND.result(NOBODY, nothing, {}) is None


def test_what_is_added_comes_behind_the_others_unless_it_says_otherwise() -> None:
    state = told(QUEUE.start(PLAN), "queue", add={"name": "Auth", "capabilities": ["log in"]}, at=AT)
    assert state.systems == (System(id="sys-001", name="Auth", created_at=AT, capabilities=("log in",)),)
    full = {
        "name": "Web",
        "description": "d",
        "github_issue": 7,
        "status": "discovered",
        "dependencies": ["sys-001", "sys-001"],
        "priority": 1,
        "notes": "n",
        "autonomy": {"mode": "hybrid", "gates": ["deploy"], "reason": "r"},
    }
    state = told(state, "", add=full, at=LATER)
    assert state.systems[1] == System(
        id="sys-002",
        name="Web",
        description="d",
        github_issue=7,
        status="discovered",
        dependencies=("sys-001",),
        created_at=LATER,
        notes="n",
        autonomy=SystemAutonomy(mode="hybrid", gates=("deploy",), reason="r"),
    )
    assert (state.updated_at, state.highest) == (LATER, 2)


def test_each_field_is_changed_by_itself() -> None:
    state = queue(a_system(1), a_system(2))
    changes: dict[str, Any] = {"priority": 5, "notes": "n", "description": "d", "name": "N", "github_issue": 3}
    for name, value in changes.items():
        assert getattr(told(state, "sys-002", **{name: value}).systems[1], name) == value
    changed = told(state, "sys-002", dependencies=["sys-001", "sys-001"], capabilities=["a"])
    assert (changed.systems[1].dependencies, changed.systems[1].capabilities) == (("sys-001",), ("a",))
    assert told(changed, "sys-002", dependencies=[]).systems[1].dependencies == ()
    autonomy = told(state, "sys-001", autonomy={"mode": "supervised"}).systems[0].autonomy
    assert autonomy == SystemAutonomy(mode="supervised")


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (StateEdited(subject="queue", value="no JSON"), "what is to change cannot be read"),
        (said("queue", colour="red"), "what is to change cannot be read"),
        (said("sys-001", status="done"), "what is to change cannot be read"),
        (said("queue"), "nothing is said that the queue could add"),
        (said("queue", add={"name": ""}), "sys-004 has no name"),
        (said("queue", add={"name": "x", "dependencies": ["sys-009"]}), "sys-004 depends on sys-009, which is not"),
        (said("sys-001"), "nothing is said that would change sys-001"),
        (said("sys-009", status="blocked"), "there is no system 'sys-009' in the queue"),
        (said("sys-001", priority=0), "the priority of sys-001 is 0"),
        (said("sys-001", dependencies=["sys-002"]), "go round in a circle: sys-00"),
        (said("sys-001", remove=True), "sys-001 cannot be removed: sys-002, sys-003 depend on it"),
        (said("sys-002", remove=True), "sys-002 cannot be removed: sys-003 depends on it"),
        (said("next", status="blocked", loop=ANN), "the next system can only be claimed, by a loop"),
        (said("next", status="in-progress"), "the next system can only be claimed, by a loop"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(edit: StateEdited, why: str) -> None:
    with pytest.raises(InvalidTransition) as refused:
        QUEUE.apply(queue(a_system(1), a_system(2, 1), a_system(3, 1, 2)), edit)
    assert why in refused.value.why


def test_anything_but_an_edit_is_refused() -> None:
    with pytest.raises(InvalidTransition, match="a queue takes edits"):
        QUEUE.apply(queue(), BudgetChanged(usd=1.0))


# --- removing -----------------------------------------------------------------------------------------


def test_what_nobody_needs_and_nobody_has_claimed_is_removed() -> None:
    assert told(queue(a_system(1), a_system(2)), "sys-001", remove=True).systems == (a_system(2),)
    done = a_system(1, status="complete", loop=ANN)
    assert told(queue(done), "sys-001", remove=True).systems == ()
    with pytest.raises(InvalidTransition, match="loop loop-ann has claimed it"):
        told(queue(a_system(1, status="blocked", loop=ANN)), "sys-001", remove=True)


# --- claiming -----------------------------------------------------------------------------------------


def claimed(status: str = "in-progress", **more: Any) -> QueueState:  # noqa: ANN401 - fields
    return queue(a_system(1, status=status, loop=ANN, started_at=AT, **more), a_system(2, 1), a_system(3))


def test_a_loop_claims_what_may_be_started() -> None:
    state = told(queue(a_system(1)), "sys-001", status="in-progress", loop=ANN, at=LATER)
    assert state.systems == (a_system(1, status="in-progress", loop=ANN, started_at=LATER),)


@pytest.mark.parametrize("status", ["in-progress", "review", "blocked", "complete"])
def test_the_same_thing_said_twice_by_the_same_loop_changes_nothing(status: str) -> None:
    state = claimed(status)
    assert told(state, "sys-001", status=status, loop=ANN, at=LATER) is state


def test_another_reason_to_be_blocked_is_taken() -> None:
    state = told(claimed("blocked", blocked_reason="a"), "sys-001", status="blocked", reason="b", loop=ANN)
    assert state.systems[0].blocked_reason == "b"


def test_a_loop_goes_on_with_what_it_has_claimed() -> None:
    for status in ("blocked", "review"):
        state = told(claimed(status, blocked_reason="x"), "sys-001", status="in-progress", loop=ANN, at=LATER)
        assert state.systems[0] == claimed().systems[0]


@pytest.mark.parametrize(
    ("state", "edit", "why"),
    [
        (claimed(), said("sys-001", status="in-progress", loop=BOB), "loop loop-ann has claimed sys-001, not loop"),
        (claimed("complete"), said("sys-001", status="complete", loop=BOB), "loop loop-ann has claimed sys-001"),
        (claimed(), said("sys-002", status="in-progress", loop=BOB), "cannot be started: sys-001 must be complete"),
        (claimed(), said("sys-003", status="blocked", loop=BOB), "loop loop-bob has not claimed sys-003"),
        (
            queue(a_system(1, status="blocked")),
            said("sys-001", status="in-progress", loop=BOB),
            "only what is specified",
        ),
        (queue(a_system(1, status="in-progress")), said("sys-001", status="in-progress", loop=BOB), "cannot become"),
    ],
)
def test_a_claim_that_is_not_to_be_had_is_refused(state: QueueState, edit: StateEdited, why: str) -> None:
    with pytest.raises(InvalidTransition) as refused:
        QUEUE.apply(state, edit)
    assert why in refused.value.why


def test_who_puts_it_back_frees_it_for_others() -> None:
    state = told(claimed("blocked"), "sys-001", status="ready")
    assert state.systems[0].loop == NOBODY
    assert told(state, "sys-001", status="in-progress", loop=BOB).systems[0].loop == BOB


def test_the_queue_chooses_the_next_itself() -> None:
    state = told(queue(a_system(1), a_system(2, 1), a_system(3)), "next", status="in-progress", loop=ANN, at=AT)
    assert [each.loop for each in state.systems] == [ANN, NOBODY, NOBODY]
    assert told(state, "next", status="in-progress", loop=ANN, at=LATER) is state
    state = told(state, "next", status="in-progress", loop=BOB, at=LATER)
    assert [each.loop for each in state.systems] == [ANN, NOBODY, BOB]
    with pytest.raises(InvalidTransition, match="no system is ready"):
        told(state, "next", status="in-progress", loop="loop-cy", at=LATER)


# --- what it answers ----------------------------------------------------------------------------------


def test_who_completes_a_system_hears_what_that_frees_and_what_is_next() -> None:
    before = queue(
        a_system(1, status="review", loop=ANN), a_system(2, 1), a_system(3, 1, status="specified"), a_system(4, 2)
    )
    complete = said("sys-001", status="complete", loop=ANN, at=LATER)
    after = QUEUE.apply(before, complete)
    told_back = ("unblocked sys-002", "unblocked sys-003", "next sys-002")
    assert QUEUE.reply(before, after, complete) == told_back
    assert QUEUE.reply(after, QUEUE.apply(after, complete), complete) == told_back
    alone = queue(a_system(1, status="review", loop=ANN))
    assert QUEUE.reply(alone, QUEUE.apply(alone, complete), complete) == ()


def test_who_claims_the_next_hears_which_it_is() -> None:
    before, claim = queue(a_system(1)), said("next", status="in-progress", loop=ANN)
    assert QUEUE.reply(before, QUEUE.apply(before, claim), claim) == ("claimed sys-001",)


def test_whoever_says_anything_else_hears_nothing() -> None:
    state = queue(a_system(1))
    assert QUEUE.reply(state, state, said("sys-001", priority=3)) == ()
    assert QUEUE.reply(state, state, BudgetChanged(usd=1.0)) == ()


# --- what others wrote --------------------------------------------------------------------------------


def entry(number: int, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields
    return {"id": f"sys-{number:03d}", "name": f"System {number}", "priority": number, "created_at": AT, **fields}


def test_what_is_taken_in_is_new_as_it_is_and_known_where_it_differs() -> None:
    new = entry(7, status="complete", loop="theirs", completed_at=AT)
    known = entry(1, name="Renamed", status="blocked", blocked_reason="later")
    state = told(queue(a_system(1), a_system(2)), "queue", take_in=[known, entry(2), new], at=LATER)
    assert state.systems == (
        a_system(1, name="Renamed", status="blocked", blocked_reason="later"),
        a_system(2),
        a_system(7, status="complete", completed_at=AT),
    )
    assert state.highest == 7


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([entry(5), entry(5)], "a system is there twice in what is to be taken in"),
        ([entry(5, dependencies=["sys-006"])], "sys-005 depends on sys-006, which is not in the queue"),
        ([entry(1, status="ready")], "sys-001 is in-progress in the hands of loop loop-ann, and not ready"),
        ([entry(3, status="complete")], "sys-003 is ready and cannot become complete"),
    ],
)
def test_what_cannot_be_taken_in_is_refused_whole(entries: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(InvalidTransition) as refused:
        told(claimed(), "queue", take_in=entries, at=LATER)
    assert why in refused.value.why
