"""What a person looks at before they answer: the task, the disputed files and the change, as text."""

from __future__ import annotations

from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.kernel.actions import Ask
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible

_TASK = 4_000  # characters
_FILE = 20_000  # bytes
_DIFF = 20_000  # characters


async def show_exhibit(project: Project, seen: View) -> str:
    """Return what belongs to the question that the loop waits with; empty where nothing does."""
    found = (action.exhibit for action in seen.wanted if isinstance(action, Ask))
    exhibit = next(filter(None, found), None)
    if exhibit is None or seen.is_over:
        return ""
    workspace = GitWorkspace(project.root, env=project.environ)
    texts = await workspace.texts(exhibit.commit, exhibit.paths, _FILE)
    files = (f"{one_line(path, 200)}:\n{_indent(text or '')}" for path, text in zip(exhibit.paths, texts, strict=True))
    diff = await workspace.diff(exhibit.base, exhibit.candidate, limit=_DIFF)
    change = (f"The change:\n{_indent(diff)}",) if diff else ()
    parts = (f"Task:\n{_indent(exhibit.task[:_TASK])}", *files, *change)
    return visible("\n".join(parts))


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.rstrip("\n").split("\n"))
