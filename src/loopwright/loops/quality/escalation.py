"""What is told to the person when the loop cannot go on by itself: why, and what would most likely help."""

from __future__ import annotations

from loopwright.kernel.ledger import Standing
from loopwright.loops.quality.state import Quality

MAX_LOOPS_REACHED = "MAX_LOOPS_REACHED"


def limit_reached(state: Quality) -> str:
    """The seed's token, with reviews and fixes told apart."""
    return f"{MAX_LOOPS_REACHED}: {_count(len(state.rounds), 'review')} and {_count(state.fixes, 'fix', 'fixes')}"


def recommendation(state: Quality) -> str:
    """The first rule that fits; without any, a person should look at what is left."""
    own = [entry for entry in state.ledger if entry.source == state.plan.gate]
    back = [entry for entry in own if entry.standing is Standing.REOPENED]
    lasting = [e for e in own if e.standing is not Standing.RESOLVED and e.streak > 1 and e.streak >= len(state.rounds)]
    if not any(each.judged for each in state.rounds):
        return "Recommended: look at the reviewer, which gave no verdict."
    if state.fixes and state.untouched:
        return "Recommended: manual review or another creator; the last fix did not change the artifact."
    if back:
        return f"Recommended: manual review; {_count(len(back), 'finding')} came back after being fixed."
    if lasting:
        return f"Recommended: manual review; {_count(len(lasting), 'finding')} outlasted every fix."
    return "Recommended: manual review of what is left."


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"
