"""What earlier workflows learned here, as far as it concerns a new request."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.adapters.files import read_regular
from loopwright.adapters.shared_lines import thin_out
from loopwright.app.layout import STATE_FOLDER
from loopwright.app.project import Project
from loopwright.loops.workflow.aspects import aspects_of
from loopwright.loops.workflow.learnings import Learned, kept, read_learnings
from loopwright.loops.workflow.recall import recalled, title_of
from loopwright.loops.workflow.state import Recalled

_FILES = ("failures", "discoveries", "constraints", "delegation")
_LONGEST = 8 << 20  # bytes of one file that are read


def surfaced(project: Project, request: str) -> tuple[Learned, ...]:
    """At most five, the most telling first. What is older than is kept is gone with it."""
    now = project.clock.now()
    for name in _FILES:
        thin_out(project.root, f"{STATE_FOLDER}/learnings/{name}.jsonl", lambda line: bool(kept((line,), now)))
    found = read_learnings(_texts(project)).learned
    return recalled(found, request, now, lambda text: frozenset(aspects_of(text)))


def _texts(project: Project) -> Mapping[str, str]:
    folder = project.root / STATE_FOLDER / "learnings"
    held = {name: read_regular(folder / f"{name}.jsonl", _LONGEST) for name in _FILES}
    return {name: data.decode(errors="replace") for name, data in held.items() if data is not None}


def as_recalled(learned: Learned, *, confirmed: bool) -> Recalled:
    return Recalled(title=title_of(learned), text=learned.text, confirmed=confirmed)
