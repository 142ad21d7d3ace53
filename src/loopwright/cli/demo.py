"""`loop demo`: the whole thing on a sample project, with real git, real tests and a rehearsed agent."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.door import Task, create_for_task
from loopwright.cli.drive import Driven, Manner, driven, interrupted, run_json_option, tell_block
from loopwright.cli.here import Here
from loopwright.cli.loops import run_demo_words as words
from loopwright.cli.loops.run_demo import play
from loopwright.cli.loops.start_demo import IN_WAVES
from loopwright.cli.opened import opened
from loopwright.cli.output import note, put, put_json
from loopwright.cli.sample import BRANCH, Show, fresh_folder, git, make_project
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.config.settings import Settings
from loopwright.errors import UsageError

_TASK = """\
Add slugify(title) to textkit/slug.py

It makes a title part of a web address: lower case, words joined by one hyphen, accents removed.
A title without a letter or a digit raises ValueError."""
_CRITERIA = ("slugify is in textkit/slug.py", "a title without a letter or digit raises ValueError")

_INTRODUCTION = """\
A sample project is in {folder}: a small Python library with tests, in git.
The task for the agent:

{task}

An agent that plays a script does the work, so this needs no account and costs nothing. Everything else is real:
the commits, the clean checkouts, the tests. Watch for an agent that says "all done" and is not.
"""

_EXPLANATION = """\
What you saw
  Iteration 1  The agent said "all done". The reviewer read the change and found a criterion that is not met.
               The tests were not even run; what the reviewer found went into the next brief.
  Iteration 2  The agent bent a test until it agreed with its code, and fooled the reviewer. Loopwright ran the
               tests as they were before any agent came, on a clean checkout, and the bent one failed. The agent was
               told so; had it insisted, a person would have been asked about exactly that change (a gate).
  Iteration 3  The agent restored the test and fixed the code. Review and tests passed. Then Loopwright broke the new
               code on purpose to see whether the tests look at it: they noticed. They failed before the change, so
               they show it. What was verified is the very tree that was merged into {branch}.

What is on {branch} now
{log}

Look around{program}
  cd {folder}
  loop log            every event, one line each       loop receipts       what was verified, on which tree
  git show            the verified change              loop explain        counters, rules, findings
  git log --all       every attempt is kept
  less {pad}

In a repository of your own: loop setup, loop doctor, then loop feedback "TASK".
Remove the sample with: rm -rf {folder}"""


async def _one_task(project: Project, settings: Settings) -> View:
    return await create_for_task(project, settings, Task(text=_TASK, criteria=_CRITERIA, merge=True))


ONE_TASK = Show(
    files="demo_project",
    task=_TASK,
    introduction=_INTRODUCTION,
    explanation=_EXPLANATION,
    result=("show", "--stat", "--format=%h %s", BRANCH),
    create=_one_task,
)


@click.command("demo")
@click.option("--at", type=click.Path(path_type=Path), metavar="DIR", help="Where to make it; else a temporary folder.")
@click.option("--workflow", "in_waves", is_flag=True, help="One request in waves of tasks: plan, reviews, completion.")
@click.option("--system", "as_system", is_flag=True, help="A service through all states of a system, with its gates.")
@run_json_option(object)
@click.pass_obj
def command(here: Here, *, at: Path | None, in_waves: bool, as_system: bool, as_json: bool) -> int:
    """The whole thing on a sample project: no account, no key, a few seconds.

    Makes a small project with git and tests, and drives a rehearsed agent through it: first wrong, then right.
    With --workflow, one request is scored, shaped, taken apart into six tasks and completed in waves: half a minute.
    With --system, a queue of two systems is begun: the first goes through all ten states, with two failures and a no.
    """
    if in_waves and as_system:
        raise UsageError("give one of --workflow and --system")
    if as_system:
        return _play_system(here, at, as_json=as_json)
    show = IN_WAVES if in_waves else ONE_TASK
    folder = fresh_folder(here.cwd / at if at else None, here.environ)
    make_project(folder, here.environ, show.files)
    note(show.introduction.format(folder=folder, task=_indented(show.task)))
    with opened(replace(here, cwd=folder), create=True) as project:
        return _run(project, here, show, as_json=as_json)


def _play_system(here: Here, at: Path | None, *, as_json: bool) -> int:
    folder = fresh_folder(here.cwd / at if at else None, here.environ)
    make_project(folder, here.environ, words.FILES)
    note(words.INTRODUCTION.format(folder=folder, task=_indented(words.SYSTEMS)))
    with opened(replace(here, cwd=folder), create=True) as project:
        played = play(project, here, quiet=as_json)
        if played.first is not None and as_json:
            put_json(replace(played.first.answer, folder=str(folder)))
        elif played.first is not None:
            log = _indented(git(folder, here.environ, "log", "--format=%h %s", BRANCH))
            put("")
            put(words.explanation(project, BRANCH, log, _program()))
    return played.code


def _run(project: Project, here: Here, show: Show, *, as_json: bool) -> int:
    loop = complete(show.create(project, settings_of(project)))
    if isinstance(loop, StoppedBySignal):
        return loop.exit_code
    manner = Manner(unattended=True, as_json=as_json)
    result = complete(driven(project, here, loop, manner), last=True)
    if isinstance(result, StoppedBySignal):
        return interrupted(project, loop.row.id, result, manner)
    if as_json:
        tell_block(result)
        put_json(replace(result.answer, folder=str(project.root)))
    else:
        _tell(project, here, show, result)
    return result.exit_code


def _tell(project: Project, here: Here, show: Show, result: Driven) -> None:
    put("")
    for line in result.lines:
        put(line)
    if result.exit_code:
        return
    log = git(project.root, here.environ, *show.result)
    pad = result.view.kind.tells_more(result.view.row.id, result.view.now.state)
    shown = "\n".join(f"  {line}".rstrip() for line in log.splitlines() if line.strip())
    put("")
    put(show.explanation.format(folder=project.root, branch=BRANCH, log=shown, pad=pad, program=_program()))


def _program() -> str:
    """Where `loop` is, for those who ran it from a checkout and do not have it on their PATH."""
    called = Path(sys.argv[0])
    return f" (loop is {called.absolute()})" if called.name == "loop" else ""


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
