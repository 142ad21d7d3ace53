"""Check-ins, which `loop resume` passes: to go on is an answer only of somebody who was shown the question.

That it was shown is kept beside the log, once it has been printed. Whoever dies before that leaves nothing behind, and
the next one asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from loopwright.adapters.files import read_regular, write_whole
from loopwright.app.layout import STATE_FOLDER
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.readiness import with_handwork
from loopwright.app.said import take_in
from loopwright.kernel.actions import Ask
from loopwright.kernel.events import Answered, Said
from loopwright.kernel.model import LoopId

_FOLDER = "shown"
_LONGEST = 200  # bytes: a key


async def gone_on(
    project: Project, seen: View, by: str, news: Iterable[Said], failed: Callable[[str], None], *, asks: bool
) -> View:
    """The loop with what people did by hand, with the check-in passed at which somebody was shown it waiting,
    and then with what is new.

    To go on is the first answer to it; where a person is asked, nothing is said in their name. Some questions are
    answered by going on, whoever was shown them.
    """
    seen = await with_handwork(project, seen, by, failed)
    asked = _check_in(seen)
    if asked is not None and not asks and _was_shown(project, seen.row.id, asked):
        news = (Answered(key=asked.key, choice=asked.options[0].choice, by=by), *news)
    if (resumed := _resumed(seen)) is not None:
        news = (*news, Answered(key=resumed.key, choice=resumed.resume, by=by))
    for said in news:
        seen = await take_in(project, seen, said, failed) or seen
    return seen


def keep_shown(project: Project, seen: View) -> None:
    """All that the loop asks has been printed. Where that cannot be kept, it is asked again."""
    asked, file = _check_in(seen), _file(project, seen.row.id)
    with suppress(OSError):
        file.unlink(missing_ok=True) if asked is None else write_whole(file, f"{asked.key}\n")


def _resumed(seen: View) -> Ask | None:
    return next((each for each in seen.wanted if isinstance(each, Ask) and each.resume), None)


def _check_in(seen: View) -> Ask | None:
    return next((each for each in seen.wanted if isinstance(each, Ask) and each.kind == "check-in"), None)


def _was_shown(project: Project, loop: LoopId, asked: Ask) -> bool:
    return read_regular(_file(project, loop), _LONGEST) == f"{asked.key}\n".encode()


def _file(project: Project, loop: LoopId) -> Path:
    return project.root / STATE_FOLDER / _FOLDER / quote(loop, safe="")
