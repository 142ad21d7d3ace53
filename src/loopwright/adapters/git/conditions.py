"""What of a repository has to be said before anybody works in it: what stands in the way, and what may surprise.

Nothing is written, and nothing is fetched.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from loopwright.adapters.git.branches import obstacle
from loopwright.adapters.git.laying import links, submodules_of
from loopwright.adapters.git.program import Git, readable
from loopwright.adapters.git.rules import Pinned, filters_named
from loopwright.adapters.git.site import Ground, survey
from loopwright.kernel.model import Commit
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted

LFS = "lfs"
_BUILT_IN = frozenset(("cd", "exec", "if", "while", "for", "case", "test", "export", "set", "eval", "command", "."))
_SHOWN = 3  # names in a sentence


@dataclass(frozen=True, slots=True)
class GitCondition:
    """`fix`: no loop begins before it is mended."""

    word: Literal["ok", "warn", "fix"]
    what: str
    text: str


def conditions(top: Path, env: Mapping[str, str], commit: Commit) -> Iterator[GitCondition]:
    """Of a loop that begins at this commit. A plain repository has none."""
    ground = survey(top, env, Pinned(commit))
    looking = replace(ground, engine=ground.refs)  # our own git directory may not be there yet
    yield from _clone(looking)
    yield from _filters(looking)
    yield from _submodules(looking)


def merge_obstacle(top: Path, env: Mapping[str, str], commit: Commit, target: str) -> str:
    """Why nothing could be merged into this branch as things stand, in words; empty where nothing is in the way."""
    return obstacle(survey(top, env, Pinned(commit)), target)


def _clone(ground: Ground) -> Iterator[GitCondition]:
    if ground.config.get("core.sparsecheckout") == "true":
        yield GitCondition("ok", "sparse", "workspaces and checks have all files of a commit, not only those you see")
    promised = "extensions.partialclone" in ground.config or any(
        key.startswith("remote.") and key.endswith(".promisor") for key in ground.config
    )
    if not promised:
        return
    options = ("--objects", "--missing=print", "--no-object-names")
    listed = ground.engine.run("rev-list", *options, f"{ground.base}^{{tree}}")
    missing = sum(line.startswith(b"?") for line in listed.splitlines())
    if missing:
        yield GitCondition(
            "fix",
            "partial clone",
            f"{counted(missing, 'object')} of {ground.base[:12]} {'was' if missing == 1 else 'were'} never fetched, and"
            " a loop fetches nothing; fetch them with `git archive HEAD > /dev/null`",
        )
    else:
        said = "is here; nothing is fetched while a loop runs"
        yield GitCondition("ok", "partial clone", f"all of {ground.base[:12]} {said}")


def _filters(ground: Ground) -> Iterator[GitCondition]:
    settings = dict(ground.rules.settings)
    for name in filters_named(ground.attributes_at(ground.origin, ground.base)):
        commands = [settings.get(f"filter.{name}.{part}", "") for part in ("process", "clean", "smudge")]
        given = [command for command in commands if command]
        lacking = next((word for word in map(_program, given) if word and not _is_there(ground, word)), "")
        if not given:
            yield _unknown(name)
        elif lacking:
            required = settings.get(f"filter.{name}.required", "") == "true"
            said = f"git's filter {name} cannot run, {lacking!r} was not found; install it"
            yield GitCondition("fix" if required else "warn", "filter", said)
        else:
            yield GitCondition("ok", "filter", f"{name}, run as your git runs it: {one_line(given[0], 80)}")
            yield from _not_fetched(ground.person) if name == LFS else ()


def _unknown(name: str) -> GitCondition:
    """Without its filter git keeps such files whole, for ever. Of others as much is not known."""
    if name == LFS:
        said = "install git-lfs and run `git lfs install`: else files it should keep would be committed whole"
        return GitCondition("fix", "filter", f".gitattributes asks for git-lfs, which your git does not know; {said}")
    said = "files are seen and recorded as they are, as your git does it"
    return GitCondition("warn", "filter", f".gitattributes asks for {name}, which your git does not know: {said}")


def _program(command: str) -> str:
    """What the command starts, as far as that can be told without a shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if words[:2] == ["git", "lfs"]:
        return "git-lfs"
    return words[0] if words and not set(words[0]) & set("$`;|&(){}<>=*?~") else ""


def _is_there(ground: Ground, program: str) -> bool:
    if os.sep in program:
        return (ground.root / program).exists()
    return program in _BUILT_IN or shutil.which(program, path=ground.person.env.get("PATH", os.defpath)) is not None


def _not_fetched(person: Git) -> Iterator[GitCondition]:
    said = person.ask("lfs", "ls-files")
    rows = [line.split(" ", 2) for line in readable(said.out).splitlines()]
    missing = [row[2] for row in rows if row[1:2] == ["-"]]
    if missing:
        about = f"{_some(missing)} not fetched, so that agents and checks find pointers; fetch with `git lfs pull`"
        yield GitCondition("warn", "filter", f"{LFS}: {about}")


def _submodules(ground: Ground) -> Iterator[GitCondition]:
    found = submodules_of(ground, ground.base)
    there = [each.path for each in found if each.origin is not None]
    spared = _spared(ground)
    missing = [each.path for each in found if each.origin is None and each.path not in spared]
    if missing:
        yield GitCondition(
            "fix",
            "submodules",
            f"{_some(missing)} not checked out here, so that agents and checks would find an empty folder; run"
            " `git submodule update --init --recursive`, or do without it: `git config submodule.NAME.update none`",
        )
    if there:
        said = "laid out from your checkout at the recorded commit; what an agent changes there is said and not taken"
        yield GitCondition("ok", "submodules", f"{_some(there, verb='')}: {said}")


def _spared(ground: Ground) -> frozenset[str]:
    """Those the person said to do without, and those that were committed by mistake: nobody can check them out."""
    names, own = _names(ground), links(ground.engine, ground.base)
    off = {path for path, name in names.items() if ground.config.get(f"submodule.{name.lower()}.update") == "none"}
    return frozenset(off | (own.keys() - names.keys()))


def _names(ground: Ground) -> dict[str, str]:
    """Path and name of each submodule that the commit lists."""
    options = ("-z", f"--blob={ground.base}:.gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    said = ground.engine.ask("config", *options)
    entries = (entry.partition("\n") for entry in readable(said.out).split("\0") if entry)
    return {path: key.removeprefix("submodule.").removesuffix(".path") for key, _, path in entries}


def _some(names: list[str], *, verb: str = "is are") -> str:
    shown = ", ".join(one_line(name, 80) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    one, _, many = verb.partition(" ")
    return " ".join(filter(None, (shown + more, one if len(names) == 1 else many)))
