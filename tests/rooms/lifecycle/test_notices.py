"""What people are sent of a system."""

from collections.abc import Callable

from loopwright.app.kinds import KINDS
from loopwright.app.views.notices import notice_of
from loopwright.engine.world import News
from loopwright.kernel.actions import Ask, AwaitGate
from loopwright.kernel.changing import replace
from loopwright.kernel.events import Logged, Paused, Started
from loopwright.kernel.model import AgentStatus, Question
from loopwright.loops.lifecycle.blocked_message import blocked_message
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.states import Stage
from loopwright.ports.people import Waiting
from loopwright.ports.store import LoopRow, NewNotice
from tests.rooms.lifecycle.stories import SCHEMA, Story, planned, report, risky

TITLE = "Work Order Service (sys-002)"


def sent(story: Story, event: Logged | None = None) -> NewNotice:
    """Of the event, or of what people are asked now."""
    action = LIFECYCLE.decide(story.state)[0]
    asked = Waiting(path=(story.loop,), what=action) if isinstance(action, Ask | AwaitGate) and not event else None
    row = LoopRow(
        id=story.loop,
        kind="lifecycle",
        params="{}",
        parent=None,
        status="running",
        seq=story.seq,
        fence=1,
        created=1.0,
        updated=1.0,
        budget=25.0,
        spent=24.5,
        reserved=0.0,
    )
    news = News(
        id=f"{story.loop}/{story.seq + 1}",
        path=(story.loop,),
        row=row,
        state=story.state,
        event=event or Started(key=action.key, action="", what="", why=""),
        asks=asked,
    )
    found = notice_of(KINDS, "workshop", TITLE, news)
    assert found is not None
    return found


def shown(*notices: NewNotice) -> str:
    return "\n---\n".join(f"{each.topic}\n{each.title}\n\n{each.body}" for each in notices) + "\n"


def test_a_gate_a_block_the_end_and_the_budget_are_told_in_these_words(golden: Callable[[str, str], None]) -> None:
    gate = sent(Story(look=[risky(SCHEMA)]).at_gate())
    stuck = Story(planned(deploy=())).to(Stage.BLOCKED)
    blocked = sent(stuck)
    over = Story().done()
    over.state = replace(over.state, unblocked=("sys-003", "sys-004"), next="sys-003")
    paused = sent(Story(), Paused(reason="budget", detail="0.75 USD do not fit"))
    golden("texts/lifecycle-notices.txt", shown(gate, blocked, sent(over, over.last), paused))
    assert blocked.body == blocked_message(stuck.state)


def test_a_question_of_a_skill_is_a_question() -> None:
    unsure = report(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which orders?"),))
    story = Story(skill=[unsure])
    story.until(lambda state: isinstance(LIFECYCLE.decide(state)[0], Ask))
    assert sent(story).topic == "question"
