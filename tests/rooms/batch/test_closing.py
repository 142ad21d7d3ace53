from collections.abc import Callable
from dataclasses import replace

from loopwright.app.debt import debt_entry
from loopwright.loops.batch import closing
from loopwright.loops.batch.kind import KIND
from loopwright.loops.batch.state import BatchState
from loopwright.loops.closing import look_closer
from tests.rooms.feedback.stories import AT, LOOP
from tests.rooms.quality.reviews import BATCHES, ROUND, TOGETHER, batch

Golden = Callable[[str, str], None]


def closed(state: BatchState) -> tuple[str, ...]:
    assert state.course.outcome is not None
    return (*closing.lines(state, state.course.outcome), look_closer(LOOP, state.course.outcome, ()))


def test_the_closing_lines_of_a_batch(golden: Golden) -> None:
    text = "\n\n".join("\n".join(closed(BATCHES[name])) for name in ("passed", "accepted"))
    golden("texts/closing-batch.txt", text + "\n")


def test_a_stopped_batch_names_what_is_blocked_and_its_file() -> None:
    assert closing.so_far(BATCHES["escalated"]) == (
        "Round 2: 2 passed, 1 blocked of 3 artifacts",
        "  [stuck] QUALITY_BLOCKED: c.yml (MAX_LOOPS_REACHED: 3 reviews and 2 fixes); findings in c.quality.yml",
    )


def test_a_batch_under_way_names_what_is_left() -> None:
    assert closing.so_far(BATCHES["first-round"])[1:] == tuple(
        f"  [pending] {name}.yml: not yet reviewed" for name in "abc"
    )


def test_a_file_that_the_line_names_is_not_named_twice() -> None:
    inline = replace(TOGETHER, artifacts=tuple(replace(each, own="{}") for each in TOGETHER.artifacts))
    assert closing.so_far(batch(*ROUND, params=inline))[1] == "  [blocked] QUALITY_BLOCKED: b.yml"
    state = batch(*ROUND)
    items = tuple(replace(item, line=f"{item.line} (findings in {item.path[0]}.quality.yml)") for item in state.items)
    lines = closing.so_far(replace(state, items=items))
    assert [line.count(".quality.yml") for line in lines[1:]] == [1, 1]


def test_what_was_accepted_of_a_batch_is_written_down_for_each_artifact(golden: Golden) -> None:
    golden("texts/debt-batch.md", debt_entry(KIND, LOOP, BATCHES["accepted"], AT, "ann"))


def test_an_artifact_that_could_not_be_accepted_names_its_file() -> None:
    text = debt_entry(KIND, LOOP, batch(*ROUND), AT, "ann")
    assert text.splitlines()[-3:] == [
        "- **a.yml**: passed",
        "- **b.yml**: blocked, QUALITY_BLOCKED: b.yml; b.quality.yml",
        "- **c.yml**: stuck, QUALITY_BLOCKED: c.yml (MAX_LOOPS_REACHED: 3 reviews and 2 fixes); c.quality.yml",
    ]
    assert debt_entry(KIND, LOOP, batch(), AT, "ann").splitlines()[-1] == "- **c.yml**: pending, not reviewed"
