"""The thirteen states of a system, and which may follow which."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import pairwise


class Stage(StrEnum):
    INIT = "INIT"
    SCAFFOLD = "SCAFFOLD"
    IMPLEMENT = "IMPLEMENT"
    TEST = "TEST"
    VERIFY = "VERIFY"
    VALIDATE = "VALIDATE"
    DOCUMENT = "DOCUMENT"
    REVIEW = "REVIEW"
    SHIP = "SHIP"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"
    RETRY = "RETRY"
    BLOCKED = "BLOCKED"


FAILURE = (Stage.FAILED, Stage.RETRY, Stage.BLOCKED)
NORMAL = tuple(stage for stage in Stage if stage not in FAILURE)
PER_CAPABILITY = (Stage.IMPLEMENT, Stage.TEST, Stage.VERIFY)

_NEXT: Mapping[Stage, Stage] = dict(pairwise(NORMAL))


def after(stage: Stage, *, more_capabilities: bool) -> Stage:
    """What follows a normal state whose work is done and whose checks pass; the last one follows itself."""
    if stage is Stage.VERIFY and more_capabilities:
        return Stage.IMPLEMENT
    return _NEXT.get(stage, stage)
