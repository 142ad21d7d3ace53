"""Workflows told from their logs: each letter becomes a record, as the files hear of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created, Ended, Logged, Started
from loopwright.kernel.model import Ending, Key, LoopId, Outcome
from loopwright.kernel.record import Record
from loopwright.loops.kind import Scene
from loopwright.loops.workflow import files
from loopwright.loops.workflow.past import WorkflowPast, folded
from loopwright.loops.workflow.state import WorkflowState
from tests.loops import workflow as w

LOOP = LoopId("auth-1")
AT = 1_770_285_600.0  # 2026-02-05T10:00:00Z
VERIFIED = Outcome(ending=Ending.VERIFIED, attempts=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    state: WorkflowState
    past: WorkflowPast | None = None
    seq: int = 0

    def noted(self, event: Logged, state: WorkflowState | None = None) -> Story:
        after = state or self.state
        seq = self.seq + 1
        record = Record(loop=LOOP, seq=seq, at=AT + 60 * self.seq, kind=type(event).__name__, data=encode(event))
        return Story(state=after, past=folded(self.past, record, after), seq=seq)

    def then(self, *letters: Any) -> Story:  # noqa: ANN401 - as `w.play` takes them
        story = self
        for letter in letters:
            event = w.keyed(story.state, letter)
            story = story.noted(event, w.play(story.state, letter))
        return story

    def begun(self, number: int, attempt: int = 1) -> Story:
        key = Key("task", attempt, part=str(number), tries=self.state.course.asked)
        return self.noted(Started(key=key, action="RunLoop", what=f"T-{number:03}"))

    def over(self, outcome: Outcome) -> Story:
        return self.noted(Ended(outcome=outcome))

    def scene(self, status: str = "running", event: Logged | None = None, **given: Any) -> Scene[WorkflowState]:  # noqa: ANN401 - the fields of a scene
        scene: Scene[WorkflowState] = Scene(loop=LOOP, state=self.state, status=status, past=self.past, event=event)
        return replace(scene, **given)


def story(state: WorkflowState) -> Story:
    return Story(state=state).noted(Created(kind="workflow", params="{}"))


def finished() -> Story:
    """One task, reviewed, verified, landed."""
    begun = story(w.planned()).begun(1)
    told = begun.then(*w.does(1), *w.seen(), *w.thoroughly(), w.At("verify", w.GREEN), w.SAID, w.LANDED)
    return told.over(VERIFIED)


def page(told: Story, status: str = "running", **given: Any) -> str:  # noqa: ANN401 - the fields of a scene
    return files.render(told.scene(status, **given))[".loop/PROGRESS.md"] or ""
