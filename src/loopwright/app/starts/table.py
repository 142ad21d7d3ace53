"""The loops that can be started from Python and taken over from other tools: what their starts need of the disk.

A loop whose start needs nothing of it is started by its command alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.app.starts.door import Adopter, AnyStart
from loopwright.app.starts.feedback import ADOPTER as PROGRESS
from loopwright.app.starts.feedback import START as FEEDBACK
from loopwright.app.starts.feedback import Feedback
from loopwright.app.starts.handoff_adoption import ADOPTER as HANDOFF
from loopwright.app.starts.review import START as REVIEW
from loopwright.app.starts.review import Quality
from loopwright.app.starts.tickets.adoption import ADOPTER as TICKET_FOLDER
from loopwright.app.starts.tickets.from_python import START as TICKETS
from loopwright.app.starts.tickets.from_python import Tickets

__all__ = ["ADOPTERS", "STARTS", "AnyRequest", "Feedback", "Quality", "Tickets"]

STARTS: Mapping[type, AnyStart] = {start.request: start for start in (FEEDBACK, REVIEW, TICKETS)}
AnyRequest = Feedback | Quality | Tickets
ADOPTERS: tuple[Adopter, ...] = (PROGRESS, HANDOFF, TICKET_FOLDER)
