"""What a loop ended without is asked about once, of whoever is at the terminal when it ends."""

from __future__ import annotations

from dataclasses import replace

from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.app.approvers import objection_to
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.app.views.gates import ShownGate, gates
from loopwright.cli.gates import diff_command, file_line, kept_sentence, rejected_branch, tests_lines
from loopwright.cli.here import Here
from loopwright.cli.listening import heard_on
from loopwright.cli.output import note
from loopwright.kernel.model import NO_COMMIT
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import counted
from loopwright.loops.course import WHY_HELD
from loopwright.ports.workspace import Workspace

_LINES_OF_A_FILE = 60
_LINES = 200
_CHARACTERS_OF_A_FILE = 400_000
_LONGEST_WHY = 1_000  # as long as `loop gates` shows it

_CHOICES = """\
  1  Approve  approve: exactly these changes; they are verified and landed at once
  2  Reject   reject [REASON]: they stay out, their commit is kept
  3  Later    later: nothing is decided now"""


def left_open(ended: View) -> ShownGate | None:
    """The gate of what the loop did without, if a person has still to decide it."""
    is_held = ended.outcome is not None and ended.outcome.held
    return next((gate for gate in gates(ended) if gate.status == "pending"), None) if is_held else None


def stays(gate: ShownGate) -> str:
    """Said to whoever did not decide."""
    how = f"`loop approve {gate.name}@{gate.id}`, then `loop resume --loop {gate.loop}`"
    return f"Nothing is decided; it stays held back. Land it: {how}"


async def decided_on(project: Project, here: Here, ended: View, gate: ShownGate) -> View:
    """The loop as it is when whoever is there was asked about what it did without."""
    landed = ended.outcome.commit if ended.outcome else NO_COMMIT
    asked = replace(gate, base=landed or gate.base)
    diffs = await list_diffs(GitWorkspace(project.root, env=project.environ), asked)
    said = await heard_on(gate, question_text(asked, diffs), here.who)
    why = await objection_to(project, gate.loop, said) if said is not None else ""
    if said is None or why:
        note(f"{why}.\n{stays(gate)}" if why else stays(gate))
        return ended
    now = await take_in(project, ended, said, note)
    if not said.approved:
        note(f"Rejected; the changes are kept as commit {gate.commit[:12]}.")
        if branch := rejected_branch(now):
            note(kept_sentence(branch))
    # What was approved lands first: the loop is driven, and ends once more.
    rest = left_open(now) if now is not None and now.is_over and said.only else None
    return await decided_on(project, here, now, rest) if now is not None and rest is not None else now or ended


async def list_diffs(workspace: Workspace, gate: ShownGate) -> list[str]:
    """Return the lines of each file's diff; what is cut is named with the command that shows it."""
    lines: list[str] = []
    left = _LINES
    for reason in gate.because:
        paths = (reason.file, *filter(None, (reason.moved,)))
        text = await workspace.diff(gate.base, gate.commit, limit=_CHARACTERS_OF_A_FILE, only=paths)
        found = visible(text.rstrip("\n")).split("\n")
        shown = found[: min(_LINES_OF_A_FILE, left)]
        lines += shown
        left -= len(shown)
        if more := len(found) - len(shown):
            command = diff_command(replace(gate, because=(reason,)), at_top=False)
            lines.append(f"… {counted(more, 'more line')}: `{command}`")
    return lines


def question_text(gate: ShownGate, diffs: list[str]) -> str:
    """All that is needed to decide: the changes, the tests that would go with them, the command that shows them."""
    count = len(gate.because)
    them = "it" if count == 1 else "them"
    by_file = "  by file       approve PATH, or reject PATH [REASON]: you are asked about the others next"
    return "\n".join(
        [
            "",
            *diffs,
            f"? The result does without {counted(count, 'change')} to how it is judged. Let {them} in?",
            *([f"  why           {one_line(gate.why, _LONGEST_WHY)}"] if gate.why not in ("", WHY_HELD) else []),
            *map(file_line, gate.because),
            *tests_lines(gate),
            f"  look at it    {diff_command(gate, at_top=False)}",
            *([by_file] if count > 1 else []),
            _CHOICES,
            "(Enter or Ctrl-D means later.)",
        ]
    )
