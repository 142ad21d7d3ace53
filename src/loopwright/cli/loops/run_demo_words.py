"""What `loop demo --system` says before and after: what is built, what was to be seen, where to look."""

from __future__ import annotations

from loopwright.app.project import Project
from loopwright.app.views.standing import status_document
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.cli.status import text
from loopwright.kernel.wording import counted

FILES = "demo_system"
SYSTEMS = """\
sys-001  Link box: short codes for long links. Capabilities: shorten, sign, resolve
sys-002  Visits: how often a code was followed. Depends on sys-001"""
INTRODUCTION = """\
A sample project is in {folder}: a small Python package with a linter and one test, in git.
The systems that are to be built:

{task}

Agents that play a script do the work, and a script plays the person who is asked, so this needs no account and costs
nothing. Everything else is real: the commits, the clean checkouts, the build, the linter, the tests, the merge.
Watch for what fails, and for the person who says no.
"""
EXPLANATION = """\
What you saw
  SCAFFOLD    The build failed: a colon was missing. FAILED → RETRY: debug-assist found the cause, the fix became a
              commit of its own, and was checked by the build first, then by everything else that SCAFFOLD asks for.
  Capability  Each of the three was made in a loop of its own, got its tests, and was verified. The linter did not
              take a test of the first one: FAILED → RETRY again. What passed landed on the system's branch.
  security    The second makes tokens. The change itself called for the gate, with file, line and rule.
  deploy      A person said no, with a reason. The last capability was opened again and mended with that reason in its
              brief; then everything was verified again. The approval of security still held: what it was given for
              had not changed. Deploy was asked again, for the new tree, and approved.
  SHIP        A pull request with the evidence, merged as exactly the tree that was verified, and deployed once.
  COMPLETE    Ten conditions, five actions; then the next system of the queue was claimed. It stopped after its INIT:
              the demo lets it go no farther than {cap}.

What is on {branch} now
{log}

$ loop status
{status}

Look around{program}
  cd {folder}
  loop queue list     the systems and their order      loop log            every event, one line each
  loop gates --all    who decided what, on what        loop receipts       what was verified, on which tree
  loop run            goes on with sys-002, for which the script has no more: you see a system that is stuck
{files}

In a repository of your own: loop setup, loop doctor, loop queue add "NAME", then loop run.
Remove the sample with: rm -rf {folder}"""
CAP = 1  # transitions of the second system
_FILES = (
    (".loop/pulls/1.md", "the pull request"),
    ("domain-memory/links/system-queue.json", "the queue"),
    ("domain-memory/links/failure-log.json", "what failed, and what became of it"),
    ("domain-memory/links/archive/sys-001/loop-state.json", "how the first system stood at its end"),
    ("domain-memory/links/loop-state.json", "how the second stands"),
    ("domain-memory/links/sessions/", "what each session handed over"),
)


def explanation(project: Project, branch: str, log: str, program: str) -> str:
    shown = complete(status_document(project))
    status = "" if isinstance(shown, StoppedBySignal) else text(shown, everything=False)
    there = [(path, what) for path, what in _FILES if (project.root / path).exists()]
    width = max((len(path) for path, _ in there), default=0)
    return EXPLANATION.format(
        folder=project.root,
        branch=branch,
        log=log,
        program=program,
        cap=counted(CAP, "transition"),
        status="\n".join(f"  {line}".rstrip() for line in status.splitlines()),
        files="\n".join(f"  {path:{width}}  {what}" for path, what in there),
    )
