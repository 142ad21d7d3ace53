"""A person at a terminal who is shown what was done to a system by hand, and says whether it was theirs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from loopwright.app.loops import listing, whole_view
from loopwright.app.readiness import with_handwork
from loopwright.cli.here import Here
from loopwright.cli.opened import opened


def confirm_handwork(root: Path, *, answer: bool = True) -> list[str]:
    """Confirm, or deny, what was done by hand to the one system that is under way; return what was shown."""
    lines: list[str] = []

    def confirm(_question: str, shown: Sequence[str]) -> bool:
        lines.extend(shown)
        return answer

    here = Here(cwd=root, environ=dict(os.environ))
    with opened(here) as project:

        async def confirmed() -> None:
            (system,) = [each for each in await listing(project) if each.row.kind == "lifecycle" and not each.is_over]
            await with_handwork(project, await whole_view(project, system), "kim", lines.append, confirm)

        asyncio.run(confirmed())
    return lines
