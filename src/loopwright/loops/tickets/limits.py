"""The limits of the ticket cycle."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketLimits:
    max: int = 5  # tickets in one session
