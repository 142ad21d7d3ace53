"""Everything that is published in `schemas/`, made from the types and shapes of the code.

A schema of what a command answers is added here with the dataclass behind it; `HAND_WRITTEN` only shrinks.
"""

import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators.types import Json, form_of, schema_of
from loopwright.adapters.agents.result import RESULT
from loopwright.adapters.agents.scenario import SCENARIO
from loopwright.adapters.shared_lines import LinePlace
from loopwright.app.starts.tickets.listing import (
    ShownDraft,
    ShownTicket,
    TicketForetold,
    TicketList,
    TicketMade,
    TicketsImported,
)
from loopwright.app.views.answers import (
    DoctorAnswer,
    NewLogAnswer,
    NothingDone,
    ReceiptList,
    RenderAnswer,
    SetupAnswer,
    StepOutput,
)
from loopwright.app.views.ending import RunAnswer
from loopwright.app.views.explanation import Explained
from loopwright.app.views.gates import GatesDocument
from loopwright.app.views.status import LoopStatus, StatusDocument
from loopwright.cli.adopt import AdoptAnswer
from loopwright.cli.answer import AnswerRecorded
from loopwright.cli.decision import DecisionAnswer
from loopwright.cli.loops.feedback import FeedbackForetold
from loopwright.cli.loops.review import ReviewForetold
from loopwright.cli.output import ErrorAnswer
from loopwright.config.keys import shape_of
from loopwright.config.settings import Settings
from loopwright.kernel.events import Logged
from loopwright.kernel.shapes import Shape, choice, keyed, several, text, whole
from loopwright.loops.feedback.closing import FeedbackResult
from loopwright.loops.feedback.progress import PROGRESS
from loopwright.loops.quality.handoff_rules import HANDOFF, LETTERS, SEVERITIES
from loopwright.loops.reviewed import ReviewResult
from loopwright.loops.tickets.insights.data import InsightsDocument
from loopwright.loops.tickets.observer import Dispatch, Violation
from loopwright.loops.tickets.result import TicketsResult
from loopwright.loops.tickets.shape import FRONT

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """`source` is a shape that we read by, a dataclass that we write, or what makes a schema of neither."""

    title: str
    description: str
    source: Shape | type | Callable[[], Json]

    def text(self) -> str:
        form = {"$schema": DRAFT, "title": self.title, "description": self.description, **self._form()}
        return json.dumps(form, indent=2, ensure_ascii=False) + "\n"

    def _form(self) -> Mapping[str, object]:
        if isinstance(self.source, Shape):
            return self.source.json
        return schema_of(self.source, open_ended=True) if isinstance(self.source, type) else self.source()


def event_line() -> Json:
    """One line of the log as `loop log --json` gives it: what is common, and what each kind carries."""
    defs: dict[str, Json] = {}
    kinds = sorted(typing.get_args(Logged), key=lambda kind: str(kind.__name__))
    for kind in kinds:
        form_of(kind, defs)
    money = {name: {"type": "number", "minimum": 0} for name in ("reserved", "released", "usd")}
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


def one_of(*forms: Json) -> Json:
    """Any of several objects, their definitions put together."""
    defs: dict[str, object] = {}
    for form in forms:
        defs |= typing.cast(dict[str, object], form.pop("$defs", {}))
    return {"anyOf": list(forms), **({"$defs": dict(sorted(defs.items()))} if defs else {})}


def answer(*kinds: type) -> Callable[[], Json]:
    """What a command that drives a loop answers: what all have, and what its kind adds."""
    return lambda: together(RunAnswer, *kinds)


def answer_or(foretold: type, *kinds: type) -> Callable[[], Json]:
    return lambda: one_of(together(RunAnswer, *kinds), schema_of(foretold, open_ended=True))


def any_answer() -> Json:
    """Of a loop of whatever kind."""
    kinds = (FeedbackResult, ReviewResult, TicketsResult)
    return one_of(*(together(RunAnswer, kind) for kind in kinds), schema_of(NothingDone, open_ended=True))


SCHEMAS: Mapping[str, Published] = {
    "adopt": Published(title="Answer of `loop adopt --json`", description="The loop that goes on.", source=AdoptAnswer),
    "answer": Published(
        title="Answer of `loop answer --json`",
        description="What was recorded, and for which loop.",
        source=AnswerRecorded,
    ),
    "cancel": Published(
        title="Answer of `loop cancel --json`",
        description="How the loop ended, or that there was none.",
        source=any_answer,
    ),
    "decision": Published(
        title="Answer of `loop approve --json` and `loop reject --json`",
        description="What was decided, bound to the evidence it was shown for.",
        source=DecisionAnswer,
    ),
    "demo": Published(
        title="Answer of `loop demo --json`", description="How the demo ended.", source=answer(FeedbackResult)
    ),
    "doctor": Published(title="Answer of `loop doctor --json`", description="What is here.", source=DoctorAnswer),
    "error": Published(
        title="Answer of any command that failed", description="One sentence and the exit code.", source=ErrorAnswer
    ),
    "explain": Published(
        title="Answer of `loop explain --json`",
        description="The loop's status object, and why the engine will do what it does next.",
        source=lambda: together(LoopStatus, Explained),
    ),
    "feedback": Published(
        title="Answer of `loop feedback --json`",
        description="How the loop ended or why it stopped; with `--dry-run` what would be started.",
        source=answer_or(FeedbackForetold, FeedbackResult),
    ),
    "gates": Published(title="Answer of `loop gates --json`", description="Every gate.", source=GatesDocument),
    "insights": Published(
        title="Answer of `loop insights --json`",
        description="What the ticket cycles teach: figures, patterns that chance does not explain, and proposals for"
        " settings.",
        source=InsightsDocument,
    ),
    "output": Published(
        title="Answer of `loop log --agent KEY --json`", description="What a step printed.", source=StepOutput
    ),
    "receipts": Published(
        title="Answer of `loop receipts --json`", description="What was verified, on which tree.", source=ReceiptList
    ),
    "rehearse": Published(
        title="Answer of `loop rehearse --json`", description="How the rehearsal ended.", source=answer(FeedbackResult)
    ),
    "render": Published(title="Answer of `loop render --json`", description="Files written.", source=RenderAnswer),
    "resume": Published(
        title="Answer of `loop resume --json`",
        description="How the loop ended, or that there was none.",
        source=any_answer,
    ),
    "review": Published(
        title="Answer of `loop review --json`",
        description="What passed and what is blocked, for one artifact and for many alike; with `--dry-run` what would"
        " be started.",
        source=answer_or(ReviewForetold, ReviewResult),
    ),
    "setup": Published(
        title="Answer of `loop setup --json`",
        description="What was found and written; with `--new-log` the log.",
        source=lambda: one_of(schema_of(SetupAnswer, open_ended=True), schema_of(NewLogAnswer, open_ended=True)),
    ),
    "status": Published(title="Answer of `loop status --json`", description="Every loop.", source=StatusDocument),
    "ticket-run": Published(
        title="Answer of `loop ticket run --json`",
        description="How the session ended or why it stopped; with `--dry-run` what would be done.",
        source=answer_or(TicketForetold, TicketsResult),
    ),
    "ticket-list": Published(
        title="Answer of `loop ticket list --json`",
        description="Every ticket that waits and every session, oldest first, each with its newest ticket.",
        source=TicketList,
    ),
    "ticket-new": Published(
        title="Answer of `loop ticket new --json`",
        description="The ticket that was put into the queue; with `--import` all of them.",
        source=lambda: one_of(schema_of(TicketMade, open_ended=True), schema_of(TicketsImported, open_ended=True)),
    ),
    "ticket-show": Published(
        title="Answer of `loop ticket show --json`",
        description="One ticket: of a session as its file has it, or as it waits in the queue.",
        source=lambda: one_of(schema_of(ShownTicket, open_ended=True), schema_of(ShownDraft, open_ended=True)),
    ),
    "agent-result": Published(
        title="Result of an agent",
        description="What an agent writes to the file named by `LOOP_RESULT`. Unknown keys are kept and noted; a wrong"
        " type is refused.",
        source=RESULT,
    ),
    "event": Published(title="One event of the log", description="A line of `loop log --json`.", source=event_line),
    "handoff": Published(
        title="Handoff of a story",
        description="`.loop/stories/<id>/handoff.yml`: how far a story is, and every finding of every review of it."
        " Other tools write it too; keys that are not named here are kept.",
        source=HANDOFF,
    ),
    "iterations": Published(
        title="One dispatch of an agent",
        description="A line of `.loop/observer/iterations.jsonl`. The file can be made anew from the log.",
        source=lambda: together(Dispatch, LinePlace),
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
}
HAND_WRITTEN = frozenset({"agent-context"})
