"""What a Python program says to have a ticket done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tickets:
    """The ticket cycle: a creator, a critic and a judge, each try a new ticket, until one is approved.

    A criterion may begin with an id of its own, as in `AC-1: …`; without any, the title is what must hold.
    It needs checks, a `creator` and a `critic`; a `judge` may look, too.
    """

    title: str
    criteria: Sequence[str] = ()
    what: str = ""
    context: str = ""
    session: str = ""
    max: int = 5
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)
