"""`loop gates`: what waits for a person's approval, and why."""

from __future__ import annotations

import asyncio
import shlex

import click

from loopwright.app.choice import named, roots
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.views.gates import GateReason, GatesDocument, ShownGate, gates_below
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.kernel.gates import runs_code
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible
from loopwright.loops.course import Course

_NAMED = 20  # files in a command; with more of them it shows the whole change
_LONGEST = 200
_LONGEST_WHY = 1_000  # as long as `loop status` shows it
_TESTS = 20  # of a kind; data has them all
_MEANS_MORE = frozenset(":*?[\\!^")


@click.command("gates")
@loop_option
@click.option("--all", "everything", is_flag=True, help="Also those that are decided or withdrawn.")
@json_option(GatesDocument)
@click.pass_obj
def command(here: Here, *, loop_id: str, everything: bool, as_json: bool) -> int:
    """What waits for a person's approval, and why. ID names exactly these changes."""
    found = GatesDocument(gates=())
    at_top = False
    if has_log(here):
        with opened(here) as project:
            found = asyncio.run(_find(project, loop_id))
            at_top = here.cwd.resolve() == project.root.resolve()
    if as_json:
        put_json(found)
        return 0
    shown = [gate for gate in found.gates if everything or gate.status == "pending"]
    several = sum(gate.status == "pending" for gate in shown) > 1
    put("\n\n".join(_text(gate, at_top=at_top, several=several) for gate in shown) or "No gate is open.")
    return 0


async def _find(project: Project, loop_id: str) -> GatesDocument:
    chosen = (await named(project, loop_id),) if loop_id else await roots(project)
    return GatesDocument(gates=tuple([gate for view in chosen for gate in await gates_below(project, view)]))


def _text(gate: ShownGate, *, at_top: bool, several: bool) -> str:
    """With several open, the commands name the loop too: two may be about the same changes."""
    by = f" by {gate.by}" if gate.by else ""
    why = f": {gate.reason}" if gate.reason else ""
    where = f"loop {' > '.join(gate.path)}"
    lines = [f"{gate.name}@{gate.id} ({gate.status}{by}{why}), {where}, commit {gate.commit[:12]}"]
    if gate.why and gate.status == "pending":
        lines.append(f"  {one_line(gate.why, _LONGEST_WHY)}")
    lines += map(file_line, gate.because)
    lines += tests_lines(gate)
    lines += look_lines(gate, at_top=at_top)
    if gate.status == "pending":
        which = f" --loop {gate.loop}" if several else ""
        lines.append(f"  let it in     loop approve {gate.name}@{gate.id}{which}")
        lines.append(f'  send it back  loop reject {gate.name}@{gate.id} --reason "…"{which}')
    return "\n".join(lines)


def file_line(reason: GateReason) -> str:
    """Where, by which rule, and what stands there."""
    mark = "  <- decides what is executed" if runs_code(reason.file) else ""
    place = f"{one_line(reason.file, _LONGEST)}:{reason.line}" if reason.line else one_line(reason.file, _LONGEST)
    text = f": {one_line(reason.text, _LONGEST)}" if reason.text else ""
    return f"  {place}: {one_line(reason.rule, _LONGEST)}{text}{mark}"


def tests_lines(gate: ShownGate) -> list[str]:
    """The tests of the base that a decision is about."""
    return [
        *_listed("would not run any more: ", gate.ids_dropped),
        *_listed("fails without it: ", gate.failing),
    ]


def _listed(what: str, tests: tuple[str, ...]) -> list[str]:
    more = [f"  {what}{len(tests) - _TESTS} more"] if len(tests) > _TESTS else []
    return [*(f"  {what}{one_line(test, _LONGEST)}" for test in tests[:_TESTS]), *more]


def rejected_branch(ended: View | None) -> str:
    """Return the branch that only keeps what a person rejected once the loop had ended; empty: there is none."""
    course: Course | None = getattr(ended.now.state, "course", None) if ended is not None else None
    outcome = course.outcome if course is not None else None  # the row has the outcome before the decision
    return outcome.held_on if outcome is not None and not outcome.held else ""


def kept_sentence(branch: str) -> str:
    return f"Branch {branch} still has what was held back; remove it: `git branch -D {branch}`."


def look_lines(gate: ShownGate, *, at_top: bool) -> list[str]:
    """The commands that show what is decided on; where tests fail without it, also the change they are about."""
    command, whole = diff_command(gate, at_top=at_top), _whole_diff(gate)
    more = [f"  all of it     {whole}"] if gate.failing and whole != command else []
    return [f"  look at it    {command}", *more]


def _whole_diff(gate: ShownGate) -> str:
    return f"git diff {gate.base[:12]} {gate.commit[:12]}"


def diff_command(gate: ShownGate, *, at_top: bool) -> str:
    """The command that shows what called for the gate, to be copied as it is."""
    whole = _whole_diff(gate)
    paths = list(dict.fromkeys(reason.file for reason in gate.because))
    if not paths or len(paths) > _NAMED or not all(path.isprintable() and visible(path) == path for path in paths):
        return whole
    return " ".join([whole, "--", *(shlex.quote(_pathspec(path, at_top=at_top)) for path in paths)])


def _pathspec(path: str, *, at_top: bool) -> str:
    """Paths are from the top, where git takes them from the current folder; some characters mean something to it."""
    return path if at_top and not _MEANS_MORE & set(path) else f":(top,literal){path}"
