"""What a person is told before anybody is paid: words of theirs that could not hold, and what would stop a merge."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from loopwright.adapters.files import read_regular
from loopwright.adapters.git.conditions import merge_obstacle
from loopwright.adapters.git.repository import paths_at, uncommitted_paths
from loopwright.app.layout import CONFIG_FILE, MEMORY, STATE_FOLDER, WORKSPACES
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.config.settings import Settings
from loopwright.errors import UsageError
from loopwright.kernel.gates import choices, matches
from loopwright.kernel.judges import judge_by_name
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted

_NAMED = 3
_NOT_PROTECTED = (
    "No sandbox: the examiner's tests are kept out of the maker's workspace and brief, but nothing stops an agent that"
    " looks for them elsewhere on this machine."
)
_NOTHING_TO_EXAMINE = (
    "No acceptance tests are written: you said that the work changes no behaviour, so that no test can fail before it."
)
_WILD = re.compile(r"\*\*/|\*\*|[*?]")


def check_allowed(project: Project, settings: Settings, allow: tuple[str, ...]) -> None:
    """Raise the sentence that says which pattern of `--allow` covers nothing but what no word beforehand frees."""
    paths = paths_at(project.root, project.environ, project.head) if allow else ()
    for pattern in allow:
        covered = [*(path for path in paths if matches(path, pattern)), *_samples(pattern)]
        why = [_why_judge(path, settings) for path in covered]
        if all(why):
            raise UsageError(
                f"--allow {one_line(pattern, 200)!r} can free nothing: {why[0]}, and only `loop approve` lets such a"
                " change in; name tests, such as 'tests/api/**'"
            )


def forewarnings(project: Project, loop: View) -> Iterator[str]:
    """What the person could still do something about."""
    plan = loop.now.state.plan
    target = plan.target if getattr(plan, "merge", False) else ""
    if target and (obstacle := merge_obstacle(project.root, project.environ, plan.base, target)):
        yield f"Warning: {obstacle}; as long as that is so, the result is not merged and stays on a branch of its own."
    allow = plan.trust.allow if hasattr(plan, "trust") else ()
    settings = Settings.from_json(loop.now.settings)
    paths = paths_at(project.root, project.environ, plan.base) if allow else ()
    if empty := [pattern for pattern in allow if not any(matches(path, pattern) for path in paths)]:
        yield f"No file that is there is under --allow {_first_of(empty)}: it counts for new ones alone."
    outside = [path for path in paths if _is_under(path, allow) and _why_judge(path, settings)]
    if outside:
        yield f"What decides how checks run stays outside --allow and needs your approval: {_first_of(outside)}."
    if loop.row.seq <= 1 and settings.trust.acceptance == "independent" and loop.kind.needs.examiner:
        yield _NOT_PROTECTED if _is_examined(plan) else _NOTHING_TO_EXAMINE
    if loop.row.seq <= 1:  # one that goes on has its commit already
        yield from unseen_changes(project, plan.trust.artifacts if hasattr(plan, "trust") else ())


def _is_examined(plan: Any) -> bool:  # noqa: ANN401 - of whatever kind
    """Whether acceptance tests are written for it, or for each of its parts."""
    given = json.loads(plan.child) if hasattr(plan, "child") else {"examiner": plan.examiner}
    return bool(given.get("examiner"))


def unseen_changes(project: Project, taken: tuple[str, ...] = ()) -> Iterator[str]:
    """What of the person's own work no loop that begins now has. `taken`: paths that it has as they are."""
    ours = (CONFIG_FILE, STATE_FOLDER, WORKSPACES, MEMORY, *(path.rstrip("/") for path in taken))
    every = uncommitted_paths(project.root, project.environ)
    others = [path for path in every if not any(path == own or path.startswith(f"{own}/") for own in ours)]
    unseen = [path for path in others if not _is_our_file(project, path)]
    if unseen and "." not in taken:
        whose = "Uncommitted changes of " + counted(len(unseen), "file")
        yield f"{whose} are not seen by the loop: {_first_of(unseen)}; commit what it needs first."


def _is_our_file(project: Project, path: str) -> bool:
    """One that a loop keeps beside the person's, told by how it begins."""
    marks = [kind.mark.encode() for kind in project.kinds.values() if kind.mark]
    begins = read_regular(project.root / path, max(map(len, marks), default=0)) or b""
    return any(begins.startswith(mark) for mark in marks)


def _first_of(paths: list[str]) -> str:
    named = ", ".join(one_line(path, 120) for path in paths[:_NAMED])
    return f"{named} and {counted(len(paths) - _NAMED, 'other')}" if len(paths) > _NAMED else named


def _is_under(path: str, patterns: tuple[str, ...]) -> bool:
    return any(matches(path, pattern) for pattern in patterns)


def _why_judge(path: str, settings: Settings) -> str:
    """Why the path is never free, in words; empty where a word beforehand may free it."""
    if judge := judge_by_name(path):
        return f"{one_line(path, 120)} {judge}"
    if _is_under(path, settings.workspace.protected):
        return f"{one_line(path, 120)} is `protected` in loop.toml"
    if any(str(PurePosixPath(word)) == path for check in settings.checks for word in check.run):
        return f"{one_line(path, 120)} is what a check runs"
    return ""


def _samples(pattern: str) -> Iterator[str]:
    """Paths that the pattern would cover, as plain as it lets them be."""
    for each in choices(f"{pattern}**" if pattern.endswith("/") else pattern):
        for folder in ("", "x/"):
            yield _WILD.sub(lambda found, folder=folder: folder if found[0] == "**/" else "x", each)  # type: ignore[misc]
