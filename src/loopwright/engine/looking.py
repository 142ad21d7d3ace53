"""How actions that look, tell or propose meet the world: files, changes, other loops, a forge, a person's command."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.engine.hearing import hear
from loopwright.engine.journal import open_loop
from loopwright.engine.world import World
from loopwright.errors import Forbidden
from loopwright.kernel.actions import (
    ExamineChange,
    ExamineFiles,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunOnce,
    Tell,
)
from loopwright.kernel.deliverables import LARGEST_FILE, NO_TEXT, faults_in
from loopwright.kernel.events import StateEdited
from loopwright.kernel.risks import risks_in
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.kernel.wording import moment

OfForge = OpenPullRequest | ReadPullRequest | MergePullRequest
Looks = Tell | ExamineFiles | ExamineChange | RunOnce | OfForge
_PATIENCE = 200  # others write the same record, each for a moment


async def look(
    world: World, action: Looks, step: str
) -> Heard | FilesExamined | ChangeExamined | PullRequestSeen | RanOnce:
    match action:
        case Tell():
            return await _told(world, action)
        case ExamineFiles():
            return await _files(world, action)
        case ExamineChange():
            return await _examined(world, action)
        case RunOnce():
            if world.errands is None:
                return RanOnce(key=action.key, code=1, detail="nobody here runs commands of yours")
            return await world.errands.run_once(action, step)
        case OpenPullRequest() | ReadPullRequest() | MergePullRequest():
            return await _proposed(world, action)
        case _:
            assert_never(action)


async def _told(world: World, action: Tell) -> Heard:
    """What the other loop knows already is told as it is: whoever was killed in between says it twice.

    Raises `AlreadyRunning` where it is held for longer than a moment: what was not heard is not taken for said.
    """
    try:
        before = await open_loop(world.store, world.loops, action.loop)
        said = action.said
        if isinstance(said, StateEdited) and not said.at:
            said = replace(said, at=moment(world.clock.now()))
        after = await hear(world.store, world.loops, before, said, world.observer, patience=_PATIENCE)
    except Forbidden as refused:
        return Heard(key=action.key, loop=action.loop, refused=str(refused))
    reply = after.loop.reply(before.now.state, after.now.state, action.said) if after else ()
    return Heard(key=action.key, loop=action.loop, reply=reply)


async def _files(world: World, action: ExamineFiles) -> FilesExamined:
    """A byte more than is looked at tells what is larger."""
    paths = tuple(each.path for each in action.wanted)
    texts = await world.workspace.texts(action.commit, paths, LARGEST_FILE + 1)
    held = await world.workspace.contents(action.commit, paths)
    found = (
        (demand, NO_TEXT if text is None and content.object and demand.format == "merged" else text)
        for demand, text, content in zip(action.wanted, texts, held, strict=True)
    )
    return FilesExamined(key=action.key, faults=faults_in(found))


async def _examined(world: World, action: ExamineChange) -> ChangeExamined:
    changes = await world.workspace.changed(action.base, action.commit)
    added = await world.workspace.added(action.base, action.commit, LARGEST_FILE)
    fresh = await world.workspace.changed(action.since, action.commit) if action.since else ()
    trust = action.trust.on(action.base)
    code = (await world.checks.compare(action.built_on, action.commit, trust)).code if action.built_on else ()
    return ChangeExamined(
        key=action.key,
        tree=await world.workspace.tree(action.commit),
        paths=tuple(change.path for change in changes),
        gone=tuple(change.path for change in changes if change.how == "removed"),
        fresh=tuple(change.path for change in fresh),
        code=code,
        risks=risks_in(changes, added, action.rules),
    )


async def _proposed(world: World, action: OfForge) -> PullRequestSeen:
    if world.forge is None:
        return PullRequestSeen(key=action.key, failed="there is no forge here")
    match action:
        case OpenPullRequest():
            return await world.forge.open(action)
        case ReadPullRequest():
            return await world.forge.read(action)
        case MergePullRequest():
            return await world.forge.merge(action)
        case _:
            assert_never(action)
