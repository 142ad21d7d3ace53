"""What `loop doctor` says about the classes of files: which patterns hold, and what they would have meant so far."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.classes.layout import Layout, completed
from loopwright.adapters.checks.classes.looking_back import look_back
from loopwright.adapters.git.history import PersonsHistory
from loopwright.adapters.git.program import Git, persons_git, readable
from loopwright.cli.checkup import Remark
from loopwright.config.settings import Settings
from loopwright.errors import VcsFailed
from loopwright.kernel.model import Commit

_LOOKED_BACK = 20  # commits


def class_lines(settings: Settings, root: Path, environ: Mapping[str, str]) -> Iterator[Remark]:
    """What agents may change here, and what that would have meant for the last commits."""
    given, history = settings.workspace, PersonsHistory(root, env=environ)
    classifier = Classifier(
        source=history,
        product=given.product,
        tests=given.tests,
        protected=given.protected,
        commands=tuple(check.run for check in settings.checks),
    )
    layout = _layout(classifier, persons_git(environ, root))
    if layout.product:
        yield Remark("ok", "product", _shown(layout.product, given.product))
    else:
        yield Remark("warn", "product", "nothing here looks like it; name it as product in [workspace] of loop.toml")
    yield Remark("ok", "tests", _shown(layout.tests, given.tests))
    try:
        yield Remark("ok", "history", str(asyncio.run(look_back(classifier, history.latest(_LOOKED_BACK)))))
    except VcsFailed:
        yield Remark("warn", "history", "cannot be looked back at: not all of it is here")


def _layout(classifier: Classifier, git: Git) -> Layout:
    """As a verdict takes it, with tests that only a runner's configuration names; before any commit, by names alone."""
    head = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    given = Layout(product=classifier.product, tests=classifier.tests, protected=classifier.protected)
    try:
        if head.code == 0:
            return asyncio.run(classifier.layout(Commit(readable(head.out).strip())))
    except VcsFailed:
        pass  # not all of it is here: said of the history
    return completed(given, git.names("ls-files", "-z"))


def _shown(patterns: tuple[str, ...], given: tuple[str, ...]) -> str:
    how = "" if patterns == given else " (partly detected)" if given else " (detected)"
    return f"{', '.join(patterns) or 'none'}{how}"
