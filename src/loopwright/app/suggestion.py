"""What `loop setup` suggests: the checks that ran, those that could not with the reason, and the file that says so."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.first_run import describe_failure, describe_plain_run, left_out, said_of
from loopwright.adapters.checks.order import strength
from loopwright.adapters.checks.runners.reading import texts_in
from loopwright.adapters.detection.stacks import detect, look_at
from loopwright.adapters.detection.ways import Look
from loopwright.adapters.git.history import PersonsHistory
from loopwright.adapters.git.program import persons_git
from loopwright.adapters.setup_writer import KNOWN_AGENTS, Surroundings, render_config
from loopwright.app.first_runs import Chosen, LeftOut, Tell, choose
from loopwright.app.preconditions import can_verify
from loopwright.app.project import Project
from loopwright.config.settings import VERIFYING, CheckSettings, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    stack: str
    chosen: tuple[Chosen, ...]
    around: Surroundings
    notes: tuple[str, ...]

    @property
    def checks(self) -> tuple[CheckSettings, ...]:
        """Those that are in force."""
        return tuple(check for check in self.around.checks if check.name not in self.around.asleep)

    @property
    def text(self) -> str:
        return render_config(self.around)


async def suggest(project: Project, tell: Tell, *, runs: bool) -> Suggestion:
    """Without `runs` the first way of each check is taken on trust, and that is said."""
    look = look_at(project.root, project.environ)
    seen = detect(look)
    first = [Chosen(way=prospect.ways[0]) for prospect in seen.prospects if prospect.ways]
    found = [each async for each in choose(project, seen.prospects, tell)] if runs else first
    chosen = tuple(each for each in found if isinstance(each, Chosen))
    without = tuple(each.run for each in found if isinstance(each, LeftOut))
    checks = tuple(_as_written(each) for each in chosen)
    counted = {each.way.check.name: each.run.counted for each in chosen if each.run}
    awake = tuple(_as_written(each) for each in chosen if not _is_asleep(each))
    around = Surroundings(
        checks=checks,
        remarks={each.way.check.name: _remark(each) for each in chosen},
        weak=frozenset(each.way.check.name for each in chosen if _is_weak(each, look)),
        asleep=frozenset(each.way.check.name for each in chosen if _is_asleep(each)),
        left_out=tuple(map(left_out, without)),
        setup=next((each.way.setup for each in chosen if each.way.setup), ()),
        copy=next((each.way.copy for each in chosen if each.way.copy), ()),
        files=tuple(persons_git(project.environ, project.root).names("ls-files", "-z")),
        layout=await _layout(project, checks),
        agents=tuple(name for name in KNOWN_AGENTS if look.where(name)),
        can_verify=can_verify(project.root, Settings(checks=awake), counted),
    )
    told = (f"Left out: {describe_failure(run)}" for run in without)
    narrow = filter(None, (describe_plain_run(each.run) for each in chosen if each.run))
    return Suggestion(stack=seen.stack, chosen=chosen, around=around, notes=(*seen.notes, *told, *narrow))


async def _layout(project: Project, checks: tuple[CheckSettings, ...]) -> Layout | None:
    """As the classes of a loop are told; None where nothing is committed yet."""
    if not project.head:
        return None
    source = PersonsHistory(project.root, env=project.environ)
    return await Classifier(source=source, commands=tuple(check.run for check in checks)).layout(project.head)


def _is_weak(chosen: Chosen, look: Look) -> bool:
    check = chosen.way.check
    counted = chosen.run.counted if chosen.run else None
    return strength(check, texts_in(look.root, [check.run]), counted=counted) == "weak"


def _as_written(chosen: Chosen) -> CheckSettings:
    """What a linter found before is forgiven where its report tells findings apart; tests never are by themselves."""
    check = chosen.way.check
    is_red = chosen.run is not None and chosen.run.word == "red"
    return replace(check, baseline=True) if is_red and check.report == "sarif" else check


def _is_asleep(chosen: Chosen) -> bool:
    """Red before anybody worked, and by an exit code that cannot tell old from new: every loop would fail by it."""
    check = chosen.way.check
    is_red = chosen.run is not None and chosen.run.word == "red"
    return is_red and check.report == "none" and check.name.partition("-")[0] not in VERIFYING


def _remark(chosen: Chosen) -> str:
    run, check = chosen.run, chosen.way.check
    if run is None:
        return "Not run yet: `loop doctor --run` runs it once."
    if run.word == "slow":
        return f"It did not end within the time of a first look; `timeout` is {check.timeout:g} s unless you set it."
    if run.word != "red":
        return ""
    if check.report == "sarif":
        return "It found something on the base: `baseline` forgives that, and only what is new counts."
    if _is_asleep(chosen):
        return f"Red on the base, and an exit code cannot tell old from new: mend it, then put this in force. {run.why}"
    forgiven = "; `baseline = true` forgives it" if run.is_forgivable else ""
    return f"{said_of(run)[0].upper()}{said_of(run)[1:]}. A loop has to mend that{forgiven}."
