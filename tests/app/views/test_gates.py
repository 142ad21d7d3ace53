"""Why a gate is open, as people and programs see it."""

from dataclasses import replace

from loopwright.app.views.gates import GateReason, gates
from loopwright.cli.gates import diff_command, file_line, look_lines
from loopwright.kernel.model import Change, Commit
from loopwright.kernel.risks import Risk
from loopwright.loops.course import GateRecord, Ruling
from tests.app.views import seen
from tests.rooms.feedback.stories import implemented, kept_with_protected, played, row
from tests.rooms.lifecycle.stories import Story

FOUND = (
    Risk(gate="security", rule="secrets", file="src/a.py", line=3, text="password = 1", mark="m"),
    Risk(gate="security", rule="access", file="src/a.py", line=9, text="token = 2", mark="n"),
    Risk(gate="security", rule="security files", file="src/auth.py", mark="o"),
)


def test_a_gate_shows_the_file_the_line_and_the_rule_that_called_for_it() -> None:
    state = played(implemented("x"), kept_with_protected)
    changes = (Change(path="tests/a.py", how="changed"),)
    gate = GateRecord(gate="security", evidence="e", reasons=FOUND, because=changes)
    state = replace(state, course=replace(state.course, gates=(gate, replace(gate, because=(), reasons=()))))
    shown, whole = gates(seen.seen(state, row("waiting")))
    assert shown.because == (
        GateReason(file="tests/a.py", rule="security file changed", how="changed"),
        GateReason(file="src/a.py", rule="secrets", line=3, text="password = 1"),
        GateReason(file="src/a.py", rule="access", line=9, text="token = 2"),
        GateReason(file="src/auth.py", rule="security files"),
    )
    assert [file_line(reason) for reason in shown.because] == [
        "  tests/a.py: security file changed",
        "  src/a.py:3: secrets: password = 1",
        "  src/a.py:9: access: token = 2",
        "  src/auth.py: security files",
    ]
    assert diff_command(shown, at_top=True).endswith(" -- tests/a.py src/a.py src/auth.py")
    assert "--" not in diff_command(whole, at_top=True)


def test_what_was_brought_together_with_its_target_is_compared_with_that() -> None:
    state = Story().at_gate().state
    decided = replace(state.course.gates[0], ruling=Ruling.APPROVED, evidence="earlier")
    state = replace(state, course=replace(state.course, gates=(decided, *state.course.gates)))
    lifecycle = replace(row("waiting"), kind="lifecycle")
    bases = [gate.base for gate in gates(seen.seen(state, lifecycle))]
    assert bases == [state.plan.base] * 2
    moved = seen.seen(replace(state, onto=Commit("0123456789abcdef")), lifecycle)
    earlier, pending = gates(moved)
    # What was decided before has not got the target's changes in it.
    assert (earlier.status, earlier.base) == ("approved", state.plan.base)
    assert (pending.status, pending.base, moved.compared_with) == ("pending", "0123456789abcdef", "0123456789abcdef")
    assert diff_command(pending, at_top=True).startswith("git diff 0123456789ab ")


def test_where_tests_fail_without_it_the_whole_change_can_be_looked_at_too() -> None:
    state = played(implemented("x"), kept_with_protected)
    changes = (Change(path="tests/a.py", how="changed"),)
    gate = GateRecord(gate="protected", evidence="e", because=changes, commit=Commit("c2"))
    state = replace(state, course=replace(state.course, gates=(gate, replace(gate, failing=("tests/a.py::one",)))))
    alone, against = gates(seen.seen(state, row("waiting")))
    assert len(look_lines(alone, at_top=True)) == 1
    command, whole = look_lines(against, at_top=True)
    assert command.endswith(" -- tests/a.py")
    assert whole.endswith(f"git diff {state.plan.base[:12]} c2")
