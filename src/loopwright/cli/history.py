"""What every attempt of a loop came to: shown when a person asks for it before they decide."""

from __future__ import annotations

from loopwright.adapters.publishing import scratchpad_file
from loopwright.assembly.project import Project, view
from loopwright.kernel.model import LoopId
from loopwright.kernel.visible import visible
from loopwright.loops.batch.state import Batch, stuck
from loopwright.loops.feedback.state import FeedbackState
from loopwright.projections import closing


async def history(project: Project, loop: LoopId) -> str:
    """Of a feedback loop the scratchpad; of a review its rounds; of a batch those of what is blocked."""
    state = (await view(project, loop)).now.state
    if isinstance(state, FeedbackState):
        return _scratchpad(project, loop)
    parts = [state.items[index].loop for index in stuck(state)] if isinstance(state, Batch) else []
    told = [await history(project, part) for part in parts if part]
    return "\n\n".join(told or ["\n".join(closing.so_far(state))])


def _scratchpad(project: Project, loop: LoopId) -> str:
    file = scratchpad_file(project.root, loop)
    try:
        return visible(file.read_text(encoding="utf-8", errors="backslashreplace"))
    except OSError:
        return f"{file} is not there; `loop render` writes it"
