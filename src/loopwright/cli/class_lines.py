"""What `loop doctor` says about the classes of files: which patterns hold, and what they would have meant so far."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.classes.layout import Layout, completed
from loopwright.adapters.checks.classes.looking_back import look_back
from loopwright.adapters.git.history import PersonsHistory
from loopwright.adapters.git.program import persons_git
from loopwright.cli.checkup import Remark
from loopwright.config.settings import Settings
from loopwright.errors import VcsFailed

_LOOKED_BACK = 20  # commits


def class_lines(settings: Settings, root: Path, environ: Mapping[str, str]) -> Iterator[Remark]:
    """What agents may change here, and what that would have meant for the last commits."""
    given = settings.workspace
    files = persons_git(environ, root).names("ls-files", "-z")
    layout = completed(Layout(product=given.product, tests=given.tests, protected=given.protected), files)
    if layout.product:
        yield Remark("ok", "product", _shown(layout.product, written=bool(given.product)))
    else:
        yield Remark("warn", "product", "nothing here looks like it; name it as product in [workspace] of loop.toml")
    yield Remark("ok", "tests", _shown(layout.tests, written=bool(given.tests)))
    yield _history_line(settings, PersonsHistory(root, env=environ))


def _history_line(settings: Settings, history: PersonsHistory) -> Remark:
    """A clone may lack what older commits held, and nothing is fetched for a look back."""
    try:
        return Remark("ok", "history", asyncio.run(_looked_back(settings, history)))
    except VcsFailed as error:
        return Remark("warn", "history", f"not looked at: {error}")


def _shown(patterns: tuple[str, ...], *, written: bool) -> str:
    return f"{', '.join(patterns) or 'none'}{'' if written else ' (detected)'}"


async def _looked_back(settings: Settings, history: PersonsHistory) -> str:
    given = settings.workspace
    classifier = Classifier(
        source=history,
        product=given.product,
        tests=given.tests,
        protected=given.protected,
        commands=tuple(check.run for check in settings.checks),
    )
    return str(await look_back(classifier, history.latest(_LOOKED_BACK)))
