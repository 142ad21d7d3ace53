"""Everything that is published in `schemas/`, made from the types and shapes of the code.

What a command answers is declared at its `--json`; a file that we read has a shape, one that we write a dataclass.
"""

import json
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

import click

from generators.types import Json, form_of, schema_of
from loopwright.adapters.agents.context import AgentContext
from loopwright.adapters.agents.result import RESULT
from loopwright.adapters.agents.scenario import SCENARIO
from loopwright.adapters.shared_lines import LinePlace
from loopwright.app.kinds import KINDS
from loopwright.app.views.answers import StepOutput
from loopwright.app.views.ending import RunAnswer
from loopwright.cli.main import COMMANDS
from loopwright.cli.output import ErrorAnswer, JsonOption
from loopwright.config.keys import shape_of
from loopwright.config.settings import Settings
from loopwright.kernel.events import Logged
from loopwright.kernel.shapes import Shape, choice, keyed, several, text, whole
from loopwright.loops.feedback.progress import PROGRESS
from loopwright.loops.lifecycle.calibration import CALIBRATION
from loopwright.loops.lifecycle.failure_log import FAILURE_LOG
from loopwright.loops.lifecycle.interfaces import INTERFACE
from loopwright.loops.lifecycle.journey import JourneyEntry
from loopwright.loops.lifecycle.loop_state import LOOP_STATE
from loopwright.loops.quality.handoff_rules import HANDOFF, LETTERS, SEVERITIES
from loopwright.loops.queue.files import SYSTEM_QUEUE
from loopwright.loops.task_file import TASK_FILE
from loopwright.loops.tickets.observer import Dispatch, Violation
from loopwright.loops.tickets.shape import FRONT
from loopwright.loops.workflow.evidence import CriteriaFile
from loopwright.loops.workflow.learnings import ConstraintLearned, DelegationLearned, DiscoveryLearned, FailureLearned
from loopwright.loops.workflow.state_file import STATE

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """`source` is a shape that we read by, dataclasses of which we write one, or what makes a schema of neither."""

    title: str
    description: str
    source: Shape | tuple[typing.Any, ...] | Callable[[], Json]

    def text(self) -> str:
        form = {"$schema": DRAFT, "title": self.title, "description": self.description, **self._form()}
        return json.dumps(form, indent=2, ensure_ascii=False) + "\n"

    def _form(self) -> Mapping[str, object]:
        if isinstance(self.source, Shape):
            return self.source.json
        return _one_of(self.source) if isinstance(self.source, tuple) else self.source()


def event_line() -> Json:
    """One line of the log as `loop log --json` gives it: what is common, and what each kind carries."""
    defs: dict[str, Json] = {}
    kinds = sorted(typing.get_args(Logged), key=lambda kind: str(kind.__name__))
    for kind in kinds:
        form_of(kind, defs)
    money: Json = {name: {"type": "number", "minimum": 0} for name in ("reserved", "released", "usd")}
    money["estimated"] = {"type": "boolean"}
    common: Json = {
        "loop": {"type": "string", "description": "The id of the loop."},
        "seq": {"type": "integer", "minimum": 1, "description": "The place in the loop's log, without gaps."},
        "at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"},
        "kind": {"enum": [kind.__name__ for kind in kinds]},
        "key": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "The try of an action it belongs to."},
        "text": {"type": "string", "description": "The event in a sentence."},
        "cost": {"type": "object", "properties": money, "required": sorted(money)},
        "data": {"description": "What the event carries, by its kind."},
        "hash": {"type": "string", "description": "Covers the event and the hash before it."},
    }
    return {
        "type": "object",
        "properties": common,
        "required": sorted(common),
        "oneOf": [_of_kind(kind.__name__) for kind in kinds],
        "$defs": dict(sorted(defs.items())),
    }


def _of_kind(name: str) -> Json:
    return {"properties": {"kind": {"const": name}, "data": {"$ref": f"#/$defs/{name}"}}}


def quality_file() -> Json:
    """`X.quality.yml`, which we write and never read."""
    finding = keyed(
        "",
        *("severity", "issue"),
        severity=choice(*SEVERITIES),
        check=text(),
        dimension=choice("", *LETTERS),
        **dict.fromkeys(("issue", "guidance", "file"), text()),
        line=whole(0),
        **dict.fromkeys(("evidence", "id"), text()),
    )
    shape = keyed(
        "",
        *("verdict", "round", "findings"),
        story_id=text(least=1),
        design_name=text(least=1),
        verdict=choice("BLOCKED"),
        round=whole(1),
        findings=several(finding),
    )
    return {**shape.json, "anyOf": [{"required": ["story_id"]}, {"required": ["design_name"]}]}


def together(*kinds: type) -> Json:
    """One object with the fields of all of them."""
    defs: dict[str, Json] = {}
    properties: dict[str, object] = {}
    needed: list[str] = []
    for kind in kinds:
        form_of(kind, defs, open_ended=True)
        own: typing.Any = defs.pop(kind.__name__)
        properties |= own["properties"]
        needed += own.get("required", [])
    return {"type": "object", "properties": properties, "required": needed, "$defs": dict(sorted(defs.items()))}


def _one_of(kinds: tuple[typing.Any, ...]) -> Json:
    """Any of several objects, their definitions put together."""
    forms = [schema_of(kind, open_ended=True) for each in kinds for kind in _with_every_part(each)]
    if len(forms) == 1:
        return forms[0]
    defs: dict[str, object] = {}
    for form in forms:
        defs |= typing.cast(dict[str, object], form.pop("$defs", {}))
    return {"anyOf": forms, **({"$defs": dict(sorted(defs.items()))} if defs else {})}


def _with_every_part(kind: typing.Any) -> tuple[typing.Any, ...]:  # noqa: ANN401 - a dataclass
    """Of a loop of whatever kind: one for what each kind adds."""
    if kind != RunAnswer[object]:
        return (kind,)
    own = dict.fromkeys(typing.get_type_hints(each.result)["return"] for each in KINDS.values() if each.driven)
    return tuple(RunAnswer[each] for each in own)  # type: ignore[valid-type]  # known when it runs


def doors() -> dict[str, tuple[typing.Any, ...]]:
    """What each command may answer to `--json`, by its name on the command line."""
    return {
        path: option.answers
        for path, command in all_commands()
        for option in command.params
        if isinstance(option, JsonOption)
    }


def all_commands() -> Iterator[tuple[str, click.Command]]:
    for name, (module, _) in COMMANDS.items():
        yield from _with_those_below(name, import_module(f"loopwright.cli.{module}").command)


def _with_those_below(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    for name, below in command.commands.items() if isinstance(command, click.Group) else ():
        yield from _with_those_below(f"{path} {name}", below)


_DOORS = doors()


def _answer(command: str, description: str) -> Published:
    return Published(title=f"Answer of `loop {command} --json`", description=description, source=_DOORS[command])


def _of_loops() -> dict[str, Published]:
    """What starts a loop or looks at those of its kind says itself what it does."""
    return {
        path.replace(" ", "-"): _answer(path, str(command.help).partition("\n\n")[0].replace("\n", " "))
        for path, command in all_commands()
        if path in _DOORS and COMMANDS[path.partition(" ")[0]][0].startswith("loops.")
    }


def _learning(name: str, description: str, kind: type) -> Published:
    return Published(
        title=f"One line of {name}.jsonl",
        description=f"{description} `.loop/learnings/{name}.jsonl` is kept for 90 days.",
        source=(kind,),
    )


SCHEMAS: Mapping[str, Published] = {
    **_of_loops(),
    "adopt": _answer("adopt", "The loop that goes on."),
    "answer": _answer("answer", "What was recorded, and for which loop."),
    "cancel": _answer("cancel", "How the loop ended, or that there was none."),
    "completion": _answer("completion", "The completion script for a shell, and how to use it."),
    "decision": Published(
        title="Answer of `loop approve --json` and `loop reject --json`",
        description="What was decided, bound to the evidence it was shown for.",
        source=_DOORS["approve"],
    ),
    "demo": _answer("demo", "How the demo ended."),
    "doctor": _answer("doctor", "What is here."),
    "error": Published(
        title="Answer of any command that failed",
        description="One sentence and the exit code.",
        source=(ErrorAnswer,),
    ),
    "explain": _answer("explain", "The loop's status object, and why the engine will do what it does next."),
    "gates": _answer("gates", "Every gate."),
    "hook-session-start": _answer("hook session-start", "The announcement of an unfinished loop, or nothing."),
    "hook-stop": _answer("hook stop", "Whether a turn may end, in the form of `--format`."),
    "output": Published(
        title="Answer of `loop log --agent KEY --json`", description="What a step printed.", source=(StepOutput,)
    ),
    "plugin-install": _answer("plugin install", "What was written, and what was left because somebody changed it."),
    "plugin-uninstall": _answer("plugin uninstall", "What was removed, and what was left because somebody changed it."),
    "receipts": _answer("receipts", "What was verified, on which tree."),
    "rehearse": _answer("rehearse", "How the rehearsal ended."),
    "render": _answer("render", "Files written."),
    "notify": _answer("notify", "What was tried to deliver, and why it did not arrive."),
    "resume": _answer("resume", "How the loop ended, or that there was none."),
    "setup": _answer("setup", "What was found and written; with `--new-log` the log."),
    "status": _answer("status", "Every loop."),
    "agent-context": Published(
        title="Context of an agent",
        description="The JSON file named by `LOOP_CONTEXT`: everything in the brief as data.",
        source=(AgentContext,),
    ),
    "agent-result": Published(
        title="Result of an agent",
        description="What an agent writes to the file named by `LOOP_RESULT`. Unknown keys are kept and noted; a wrong"
        " type is refused.",
        source=RESULT,
    ),
    "calibration": Published(
        title="calibration.json",
        description="`domain-memory/<domain>/learning/calibration.json`: what systems were estimated at and what they"
        " took. Other tools write it too; keys that are not named here are kept.",
        source=CALIBRATION,
    ),
    "event": Published(title="One event of the log", description="A line of `loop log --json`.", source=event_line),
    "failure-log": Published(
        title="failure-log.json",
        description="`domain-memory/<domain>/failure-log.json`: every failure of every system of a domain. Other tools"
        " add to it too.",
        source=FAILURE_LOG,
    ),
    "handoff": Published(
        title="Handoff of a story",
        description="`.loop/stories/<id>/handoff.yml`: how far a story is, and every finding of every review of it."
        " Other tools write it too; keys that are not named here are kept.",
        source=HANDOFF,
    ),
    "interface": Published(
        title="Contract of a system",
        description="`domain-memory/<domain>/interfaces/api/<system>.yaml`: what a system that is complete offers"
        " others. Keys that are not named here are their authors' own, and are kept.",
        source=INTERFACE,
    ),
    "iterations": Published(
        title="One dispatch of an agent",
        description="A line of `.loop/observer/iterations.jsonl`. The file can be made anew from the log.",
        source=lambda: together(Dispatch, LinePlace),
    ),
    "journey-log": Published(
        title="One line of journey-log.jsonl",
        description="`domain-memory/<domain>/journey-log.jsonl`: what happened to the systems of a domain. The file can"
        " be made anew from the log.",
        source=lambda: together(JourneyEntry, LinePlace),
    ),
    "loop-state": Published(
        title="loop-state.json",
        description="`domain-memory/<domain>/systems/<system>/loop-state.json`: where a system stands, written after"
        " every event; beside the queue lies that of the system that was last active. Other tools write it too.",
        source=LOOP_STATE,
    ),
    "loop-toml": Published(
        title="loop.toml",
        description="The configuration of Loopwright in a repository, as the data that its TOML stands for.",
        source=shape_of(Settings),
    ),
    "progress": Published(
        title="progress.json",
        description="A feedback loop for other programs. Written whole after every iteration; other keys may stand"
        " around `feedback_loop`.",
        source=PROGRESS,
    ),
    "quality-file": Published(
        title="Findings of a blocked artifact",
        description="`X.quality.yml` beside the artifact `X`, for whoever fixes it; it is gone when the artifact is no"
        " longer blocked.",
        source=quality_file,
    ),
    "scenario-toml": Published(
        title="Rehearsal scenario",
        description="A scenario of a scripted agent, as the data that its TOML stands for. The first unused step that"
        " fits is played.",
        source=SCENARIO,
    ),
    "system-queue": Published(
        title="system-queue.json",
        description="`domain-memory/<domain>/system-queue.json`: the systems of a domain that are to be built. It is"
        " written from the log; `loop queue import` takes in what another tool or a person wrote.",
        source=SYSTEM_QUEUE,
    ),
    "task-file": Published(
        title="A task",
        description="`N.json` in a folder of tasks, as Claude Code keeps them: the loop's own folder, or"
        " `~/.claude/tasks/<list id>/`. Other programs write it too; keys that are not named here are kept.",
        source=TASK_FILE,
    ),
    "violations": Published(
        title="One violation",
        description="A line of `.loop/observer/violations.jsonl`: a finding, an attempt to get around a rule, or what"
        " is found again and again. The file can be made anew from the log.",
        source=lambda: together(Violation, LinePlace),
    ),
    "ticket": Published(
        title="Frontmatter of a ticket",
        description="The YAML between the two lines `---` at the top of"
        " `.loop/tickets/{active,completed}/<session>/TICKET-<session>-NNN.md`. In the queue every key may be left out,"
        " if the text has a heading for a title. Keys that are not named here are other tools' own.",
        source=FRONT,
    ),
    "constraints": _learning("constraints", "What must hold, and who says so.", ConstraintLearned),
    "criteria": Published(
        title="Criteria of a workflow",
        description="`.loop/evidence/criteria.json`: which criteria are met, and by what that was seen.",
        source=(CriteriaFile,),
    ),
    "delegation": _learning("delegation", "How well a shape fitted a request.", DelegationLearned),
    "discoveries": _learning("discoveries", "What was found out, and how sure it is.", DiscoveryLearned),
    "failures": _learning("failures", "What went wrong, why, and what prevents it.", FailureLearned),
    "workflow-state": Published(
        title="workflow-state.json",
        description="`.loop/workflow-state.json`: where a workflow stands, written at every change of its stage. Other"
        " tools write it too; keys that are not named here are kept.",
        source=STATE,
    ),
}
