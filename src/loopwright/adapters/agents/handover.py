"""Findings handed to a creator in a file beside the artifact: put there before it runs, gone after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.adapters.yaml_text import write_yaml
from loopwright.errors import VcsFailed
from loopwright.ports.agent import AgentRun
from loopwright.projections import quality_file


@contextmanager
def handed_over(run: AgentRun) -> Iterator[None]:
    """The file is there while the block runs."""
    hand_over(run)
    try:
        yield
    finally:
        take_away(run)


def hand_over(run: AgentRun) -> None:
    """Write the file the brief names, if it names one. The folder was just laid out, so a link in it is the tree's."""
    if not run.brief.findings_file:
        return
    brief, place = run.brief, _place(run)
    data = quality_file.build(story=brief.story, gate=brief.gate, round=brief.attempt, findings=brief.findings)
    place.unlink(missing_ok=True)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(write_yaml(data))


def take_away(run: AgentRun) -> None:
    """A creator deletes the file itself; what it left is not part of its work."""
    if not run.brief.findings_file:
        return
    path = run.folder / run.brief.findings_file
    if path.parent.is_dir() and path.parent.resolve().is_relative_to(run.folder.resolve()) and not path.is_dir():
        path.unlink(missing_ok=True)


def _place(run: AgentRun) -> Path:
    """Where the artifact is gone its folder may be too: then it is made."""
    path = run.folder / run.brief.findings_file
    if not path.parent.resolve().is_relative_to(run.folder.resolve()):
        raise VcsFailed("writing findings", f"{run.brief.findings_file} would lie outside of the workspace")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
