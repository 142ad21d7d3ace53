"""Tests that the loop before altered without a person's word, and that judge the next one."""

from __future__ import annotations

from contextlib import suppress

from loopwright.adapters.git.repository import is_part_of
from loopwright.app.loops import View, listing, view
from loopwright.app.project import Project
from loopwright.errors import LoopUnreadable
from loopwright.kernel.model import NO_COMMIT, Ending
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted

_NAMED = 3
_LOOPS = 5  # earlier ones that are looked at


async def describe_altered_tests(project: Project, loop: View) -> str:
    """Name the tests that the newest loop in this one's base altered; empty where there are none, or once it runs."""
    before = await _find_loop_before(project, loop) if loop.row.seq <= 1 and loop.base else None
    ids = _unconfirmed_tests(before) if before else ()
    if before is None or not ids:
        return ""
    more = f" and {counted(len(ids) - _NAMED, 'other')}" if len(ids) > _NAMED else ""
    named = ", ".join(one_line(each, 200) for each in ids[:_NAMED]) + more
    return f"Loop {before.row.id} altered tests that judge this one; look at them: {named}"


async def _find_loop_before(project: Project, loop: View) -> View | None:
    """Return the newest ended loop whose result is part of this one's base."""
    earlier = [each for each in await listing(project) if each.row.id != loop.row.id and each.is_over]
    for each in earlier[:_LOOPS]:
        with suppress(LoopUnreadable):
            seen = await view(project, each)
            commit = seen.outcome.commit if seen.outcome else NO_COMMIT
            if commit and is_part_of(project.root, project.environ, commit, loop.base):
                return seen
    return None


def _unconfirmed_tests(before: View) -> tuple[str, ...]:
    """Return nothing where a person accepted the result."""
    outcome = before.outcome
    if outcome is None or outcome.evidence is None or outcome.ending is Ending.ACCEPTED:
        return ()
    return tuple(each.id for each in outcome.evidence.altered_tests if each.how != "moved" and not each.confirmed)
