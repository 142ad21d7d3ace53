"""The kinds of loops there are: the one table. Whoever meets a loop looks it up by its name.

What a Python program asks for is of one of the types in `__all__`: with these `loopwright` itself opens.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.errors import EngineError
from loopwright.loops.batch.kind import KIND as BATCH
from loopwright.loops.feedback.kind import KIND as FEEDBACK
from loopwright.loops.feedback.request import Feedback
from loopwright.loops.kind import AnyKind
from loopwright.loops.lifecycle.kind import KIND as LIFECYCLE
from loopwright.loops.quality.kind import KIND as QUALITY
from loopwright.loops.quality.request import Quality
from loopwright.loops.queue.kind import KIND as QUEUE
from loopwright.loops.tickets.kind import KIND as TICKETS
from loopwright.loops.tickets.request import Tickets
from loopwright.loops.workflow.kind import KIND as WORKFLOW
from loopwright.loops.workflow.kind import Workflow

__all__ = ["Feedback", "Quality", "Tickets", "Workflow"]

Kinds = Mapping[str, AnyKind]

KINDS: Kinds = {kind.loop.name: kind for kind in (FEEDBACK, QUALITY, BATCH, TICKETS, WORKFLOW, QUEUE, LIFECYCLE)}


def known_kind(kinds: Kinds, name: str) -> AnyKind:
    """Raises `EngineError` for a loop that only another version knows."""
    if name not in kinds:
        raise EngineError(f"this version knows no {name!r} loops, only {', '.join(kinds)}; upgrade to go on with it")
    return kinds[name]
