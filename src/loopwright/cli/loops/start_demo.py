"""What `loop demo --workflow` plays: one request, six tasks in four waves, with rehearsed agents."""

from __future__ import annotations

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.workflow.creation import WorkflowRequest, create_workflow
from loopwright.cli.sample import BRANCH, Show
from loopwright.config.settings import Settings

REQUEST = """\
Add validation to auth

handle of authkit/api.py answers 400 to a bad token or a bad user. What is valid is said in one place."""

_INTRODUCTION = """\
A sample project is in {folder}: a small Python library with tests, in git.
The request:

{task}

Agents that play a script do the work, so this needs no account and costs nothing: the dollars are invented.
Everything else is real: the commits, the clean checkouts, the tests. Watch for a task that is stuck, and for what the
last review finds.
"""

_EXPLANATION = """\
What you saw
  Before      The request was scored 7 of 10, with a fit of 35: a person would be asked to look after each wave; the
              demo says `--shape tool` and runs through. It was shaped (criteria, what must not happen, commands that
              show both) and taken apart into 6 tasks in 4 waves.
  The waves   Every task was made in a loop and a workspace of its own, two at a time. Each landed alone: brought
              together with what had landed, all tests run again there, with the commands of every task done before.
  T-005       "All done!" was not true: its verification failed. The panel was asked at once, its advice stood in the
              next brief, and the second attempt passed. What was learned is in .loop/learnings.
  Reviews     After each wave two or three views looked, and held up nothing. The thorough review at the end found
              a BLOCKER: it became T-007, was made, landed and looked at again.
  Completion  Every command of every task and criterion ran once more, the gate gave its numbers, and what was verified
              is what was merged into {branch}.

What is on {branch} now
{log}

Look around{program}
  cd {folder}
  loop plan           the tasks in their waves         loop log            every event, one line each
  loop receipts       what was verified, on which tree loop explain        counters, rules, findings
  less {pad}
  less .loop/workflow-state.json .loop/shape/SHAPE.md .loop/evidence/*

In a repository of your own: loop setup, loop doctor, then loop start "REQUEST" --dry-run.
Remove the sample with: rm -rf {folder}"""


async def _create(project: Project, settings: Settings) -> View:
    return await create_workflow(project, settings, WorkflowRequest(request=REQUEST, shape="tool", merge=True))


IN_WAVES = Show(
    files="demo_workflow",
    task=REQUEST,
    introduction=_INTRODUCTION,
    explanation=_EXPLANATION,
    result=("log", "--format=%h %s", BRANCH),
    create=_create,
)
