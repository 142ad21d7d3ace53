"""`loop skill`: what an agent is told for each skill, and whether each left behind what it has to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import click

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.git.repository import find_repository
from loopwright.adapters.skill_library import SkillLibrary, SkillText
from loopwright.app.starts.skill_check import Committed, as_told, verified
from loopwright.cli.here import Here
from loopwright.cli.loops.run_system import system_under_way
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import json_option, put, put_json
from loopwright.errors import NeedsPerson, UsageError
from loopwright.kernel.wording import moment
from loopwright.loops.lifecycle.skills import REQUIRED, SKILLS
from loopwright.loops.lifecycle.states import NORMAL, Stage
from loopwright.loops.lifecycle.verifier import (
    GATES,
    SkillRecord,
    SkillReport,
    SkillsAsked,
    of_everything,
    of_gate,
    of_phase,
    of_skill,
    report_lines,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSkill:
    name: str
    description: str
    origin: str
    phases: tuple[str, ...]
    deliverable: str
    section: str
    by_engine: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillList:
    skills: tuple[ListedSkill, ...]


@click.group("skill")
def command() -> None:
    """What an agent is told for each skill, and whether each left behind what it has to.

    A skill of your own, or one in the place of a built-in one, is `.loop/skills/NAME/SKILL.md`.
    """


@command.command("list")
@json_option(SkillList)
@click.pass_obj
def listing(here: Here, *, as_json: bool) -> int:
    """Every skill with the phases that need it and what it leaves behind."""
    library = _library(here)
    names = sorted(library.names, key=lambda name: list(SKILLS).index(name) if name in SKILLS else len(SKILLS))
    found = tuple(_listed(library.read(name)) for name in names)
    if as_json:
        put_json(SkillList(skills=found))
    else:
        width = max(len(each.name) for each in found)
        put("\n".join(_line(each, width) for each in found))
    return 0


@command.command("show")
@click.argument("name")
@json_option(SkillText)
@click.pass_obj
def show(here: Here, *, name: str, as_json: bool) -> int:
    """The text of a skill, as an agent gets it with its brief."""
    found = _library(here).read(name)
    if as_json:
        put_json(found)
    else:
        put(f"{found.name} ({found.origin}): {found.description}\n\n{found.body}".rstrip("\n"))
    return 0


@command.command("verify")
@click.argument("skill", default="")
@click.option("--phase", type=click.Choice([*NORMAL], case_sensitive=False), help="All skills that a phase needs.")
@click.option("--gate", type=click.Choice([*GATES]), help="What has to be there before a gate is asked for.")
@click.option("--full", is_flag=True, help="All skills that any phase needs.")
@click.option("--system", default="", metavar="ID", help="Whose deliverables; needed only if there are several.")
@click.option("--ref", default="", metavar="REF", help="What to look into, instead of the system's newest work.")
@json_option(SkillReport)
@click.pass_obj
def verify(here: Here, /, *, system: str, ref: str, as_json: bool, **given: str | bool | None) -> int:
    """Whether what skills leave behind is committed, says something, is written to its end, and has its format.

    Give a SKILL, or one of --phase, --gate and --full. Of a system that is under way its newest work is looked into,
    and which skills were done and skipped is known; else what is checked out. Exits with 4 when something blocks.
    """
    asked = _asked(**given)  # type: ignore[arg-type]  # click has checked it
    found = verified(asked, _where(here, system, ref), moment(SystemClock().now()))
    if as_json:
        put_json(found)
    else:
        put("\n".join(report_lines(found)))
    return NeedsPerson.exit_code if found.blocking else 0


def _where(here: Here, system: str, ref: str) -> Committed:
    root = find_repository(here.cwd, here.environ).top
    if not ref and has_log(here):
        with opened(here) as project:
            if (state := asyncio.run(system_under_way(project, system))) is not None:
                done = SkillRecord(
                    completed=frozenset(state.finished), skipped={each.skill: each.reason for each in state.skips}
                )
                newest = state.papers or state.tip
                return Committed(root=root, environ=here.environ, ref=newest, system=state.plan.system.id, record=done)
    return Committed(root=root, environ=here.environ, ref=ref or "HEAD", system=system)


def _library(here: Here) -> SkillLibrary:
    return SkillLibrary(root=find_repository(here.cwd, here.environ).top)


def _listed(text: SkillText) -> ListedSkill:
    skill = as_told(text)
    return ListedSkill(
        name=text.name,
        description=text.description,
        origin=text.origin,
        phases=tuple(stage for stage in NORMAL if text.name in REQUIRED[stage]),
        deliverable=skill.leaves,
        section=skill.section,
        by_engine=skill.by_engine,
    )


def _line(each: ListedSkill, width: int) -> str:
    leaves = each.deliverable + (f", section {each.section}" if each.section else "")
    what = leaves or ("(the engine itself)" if each.by_engine else "(the change itself)")
    own = "  yours" if each.origin == "project" else ""
    return f"{each.name:{width}}  {', '.join(each.phases) or '-':14}  {what}{own}"


def _asked(*, skill: str, phase: str | None, gate: str | None, full: bool) -> SkillsAsked:
    if [bool(skill), phase is not None, gate is not None, full].count(True) != 1:
        raise UsageError("give one of SKILL, --phase, --gate and --full; `loop skill list` names the skills")
    if phase is not None:
        return of_phase(Stage(phase))
    if gate is not None:
        return of_gate(gate)
    return of_everything() if full else of_skill(skill)
