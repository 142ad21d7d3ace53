"""How much of a check the landing run has to make: the files of tests that differ, where nothing else does. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from loopwright.adapters.checks.candidate import Candidate
from loopwright.adapters.checks.classes.layout import collected_by_name
from loopwright.adapters.checks.single_test import choose_files
from loopwright.adapters.checks.sources_of_tests import imported_names
from loopwright.config.settings import CheckSettings
from loopwright.kernel.trust import FileClass


def scoped_to(
    specs: tuple[CheckSettings, ...], seen: Candidate, collected: Mapping[str, str]
) -> tuple[CheckSettings, ...]:
    """Return the checks, each with the files of tests that differ alone; nothing where the whole suite has to run.

    Whatever else differs between the judging and the landing tree, such as a helper or data, may matter to any test,
    and so may a file of tests that another one imports. `collected` are the texts of those that the base collected: a
    new one counts beside one of these, where the command would find it. Only pytest can be told which files to run.
    """
    folders = {posixpath.dirname(path) for path in collected}
    differing = [each for each in seen.classed if each.kind is FileClass.TEST or each.judged is not None]
    files = tuple(each.change.path for each in differing if each.change.how != "removed")
    is_told_apart = all(
        each.judged is None
        and collected_by_name(each.change.path)
        and (
            each.change.path in collected
            or (each.change.how == "added" and posixpath.dirname(each.change.path) in folders)
        )
        for each in differing
    )
    names = {PurePosixPath(path).stem for path in files}
    is_imported = any(names & imported_names(text) for path, text in collected.items() if path not in files)
    if not files or not is_told_apart or is_imported:
        return ()
    parts = tuple(replace(spec, run=choose_files(spec.run, files) or spec.run) for spec in specs)
    return parts if parts != specs else ()
