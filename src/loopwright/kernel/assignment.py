"""What whoever writes a brief knows of one run of one role."""

from __future__ import annotations

from typing import Protocol

from loopwright.kernel.model import Brief, Key, LoopId


class Assignment(Protocol):
    """One run of one role, as far as it is told. What is asked of agents beyond it is the engine's business."""

    @property
    def loop(self) -> LoopId: ...
    @property
    def kind(self) -> str: ...
    @property
    def key(self) -> Key: ...
    @property
    def role(self) -> str: ...
    @property
    def skill(self) -> str: ...
    @property
    def guide(self) -> str:
        """How the skill is done, as Markdown."""

    @property
    def brief(self) -> Brief: ...
    @property
    def needs_verdict(self) -> bool: ...
    @property
    def diff(self) -> str:
        """For judges: the change as text."""

    @property
    def scratchpad(self) -> object | None:
        """Where what the loop has written so far can be read, if it writes anything."""
