"""The kinds of loops there are: the one table. Whoever meets a loop looks it up by its name."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.loops.batch.kind import KIND as BATCH
from loopwright.loops.feedback.kind import KIND as FEEDBACK
from loopwright.loops.kind import AnyKind
from loopwright.loops.quality.kind import KIND as QUALITY
from loopwright.loops.tickets.kind import KIND as TICKETS

KINDS: Mapping[str, AnyKind] = {kind.loop.name: kind for kind in (FEEDBACK, QUALITY, BATCH, TICKETS)}
