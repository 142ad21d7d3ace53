"""What a loop needs from a person, and the exact commands that give it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

from loopwright.kernel.actions import Ask, AwaitGate, Option
from loopwright.kernel.events import Paused
from loopwright.kernel.model import LoopId, Question
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import dollars, way_on
from loopwright.ports.people import Waiting
from loopwright.ports.store import LoopRow

_NONE = Question(question="")
_PATHS = 5  # of files in a sentence
_OUT_OF_MONEY = Paused(reason="budget")
# What every loop understands; the answers that are one loop's own say themselves how they are typed.
_HOW = {"continue": "continue 3", "revise": 'revise --text "new guidance"', "answer": '"your answer"'}
_ALL_IN_ONE = Option(choice="answer", label="Answer all of them in one", how='"1: …; 2: …"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    label: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """`path` leads from the root to the loop that waits; `command` is the first way to answer."""

    kind: Literal["gate", "question", "escalation", "check-in", "fix", "confirmation"]
    loop: LoopId
    path: tuple[LoopId, ...]
    what: str
    why: str
    command: str
    id: str = ""  # of a gate: what an approval is bound to
    options: tuple[str, ...] = ()  # of the one question there is
    impact: str = ""
    questions: tuple[Question, ...] = ()  # of agents, each with what it offers
    choices: tuple[Choice, ...] = ()  # every way to answer
    names_loop: bool = False  # its commands do: several loops, or several parts of one, need a person


def needs(
    row: LoopRow,
    waiting: tuple[Waiting, ...],
    status: str,
    *,
    idle: bool = False,
    answered: bool = False,
    paused: Paused | None = None,
) -> tuple[Need, ...]:
    """`status` is the one shown, which knows that a controller died. `idle`: there is work beside, that nobody does.

    `answered`: the last that happened is that a person said something, and nobody has gone on since. `paused`: the last
    that happened is that a limit of all its work was reached.
    """
    if status == "cancelled":
        return ()
    asked = tuple(_asked(each) for each in waiting)
    # A gate is told apart by its id, unless two parts of a loop wait with the same evidence.
    alike = Counter(_told_apart_by(need) for need in asked)
    asked = tuple(with_loop(need) if alike[_told_apart_by(need)] > 1 else need for need in asked)
    is_paused_by_itself = any(isinstance(each.what, Ask) and each.what.paused for each in waiting)
    if asked and (status != "paused" or is_paused_by_itself) and not idle:
        return asked
    if answered and status == "interrupted" and row.parent is None:
        return (_fix(row, "answered", "what a person said is recorded, and nobody has gone on with the loop since"),)
    return (*asked, *_stopped(row, "interrupted" if asked and idle else status, paused or _OUT_OF_MONEY))


def _told_apart_by(need: Need) -> str:
    return f"{need.what}@{need.id}" if need.kind == "gate" else "a question"


def with_loop(need: Need) -> Need:
    """Its commands name the loop that waits, where several do."""
    if need.names_loop:
        return need
    name = f" --loop {need.loop}"
    choices = tuple(replace(choice, command=choice.command + name) for choice in need.choices)
    return replace(need, command=need.command + name, choices=choices, names_loop=True)


def _asked(waiting: Waiting) -> Need:
    action = waiting.what
    return _question(waiting, action) if isinstance(action, Ask) else _gate(waiting, action)


def _question(waiting: Waiting, ask: Ask) -> Need:
    several = len(ask.questions) > 1
    options = (_ALL_IN_ONE if several and each.choice == "answer" else each for each in ask.options)
    choices = tuple(_choice(option) for option in options)
    free = _choice(_ALL_IN_ONE).command if several else 'loop answer "your answer"'
    asked = tuple(_in_lines(question) for question in ask.questions)
    (alone,) = asked if len(asked) == 1 else (_NONE,)
    return Need(
        kind=ask.kind,
        loop=waiting.loop,
        path=waiting.path,
        what=one_line(ask.question, 1_000),
        why=one_line(ask.why, 500) + _look(waiting, ask),
        options=alone.options,
        impact=alone.impact,
        questions=asked,
        command=choices[0].command if choices else free,
        choices=choices,
    )


def _look(waiting: Waiting, ask: Ask) -> str:
    """Where a person finds what they decide on."""
    if ask.exhibit is None:
        return ""
    paths = ", ".join(one_line(path, 120) for path in ask.exhibit.paths[:_PATHS])
    return f"; see the task, {paths} and the change with `loop explain --loop {waiting.loop}`"


def _in_lines(question: Question) -> Question:
    return Question(
        question=one_line(question.question, 500),
        options=tuple(one_line(option, 200) for option in question.options),
        impact=one_line(question.impact, 300),
    )


def _gate(waiting: Waiting, action: AwaitGate) -> Need:
    # Whole: of a part of a digest, whoever makes both sides of a change can find two that are the same.
    gate = f"{one_line(action.gate, 60)}@{action.evidence}"
    changed = (f"{one_line(change.path, 120)} {one_line(change.words, 120)}" for change in action.because)
    found = (f"{one_line(risk.place, 120)} {one_line(risk.rule, 120)}" for risk in action.reasons)
    paths = ", ".join((*changed, *found))
    return Need(
        kind="gate",
        loop=waiting.loop,
        path=waiting.path,
        id=action.evidence,
        what=one_line(action.gate, 60),
        why=one_line(f"{action.why} ({paths})" if paths else action.why, 1_000),
        command=f"loop approve {gate}",
        choices=(
            Choice(label="Approve", command=f"loop approve {gate}"),
            Choice(label="Reject", command=f'loop reject {gate} --reason "why"'),
        ),
    )


def _choice(option: Option) -> Choice:
    name = one_line(option.choice, 60)
    return Choice(label=one_line(option.label, 120), command=f"loop answer {option.how or _HOW.get(name, name)}")


def _stopped(row: LoopRow, status: str, paused: Paused) -> tuple[Need, ...]:
    """A part goes on with its root, and only so."""
    if row.parent is not None:
        return ()
    match status:
        case "interrupted":
            return (_fix(row, status, "no controller is alive; it goes on from the last recorded event"),)
        case "paused":
            return (_out_of(row, paused),)
        case "blocked":
            return (replace(_fix(row, status, "it cannot go on by itself"), command="loop explain"),)
        case _:
            return ()


def _out_of(row: LoopRow, paused: Paused) -> Need:
    spent = f"{dollars(row.spent, estimated=row.estimated)} spent and {dollars(row.reserved)} reserved"
    of = "" if row.budget is None else f" of {dollars(row.budget)}"
    command, _, terms = way_on(paused.reason, row.budget).removeprefix("`").partition("`")
    need = _fix(row, "paused", f"a limit was reached: {one_line(paused.detail, 500) or f'{spent}{of}'}")
    return replace(need, command=command, choices=(Choice(label=f"Go on{terms}", command=command),))


def confirmation(loop: LoopId, why: str) -> Need:
    """Return what a person has to say at a terminal before the loop continues."""
    command = f"loop resume --loop {loop}"
    return Need(
        kind="confirmation",
        loop=loop,
        path=(loop,),
        what="confirm at a terminal that the change is yours",
        why=why,
        command=command,
        choices=(Choice(label="Look at it and confirm it", command=command),),
        names_loop=True,
    )


def at_rest(loop: LoopId, state: str) -> Need:
    """Of a loop that is driven in sessions, and whose last one came to its end."""
    commands = {"Go on until a person is needed": "loop run", "Do one step": "loop next"}
    return Need(
        kind="fix",
        loop=loop,
        path=(loop,),
        what="go on with `loop run` or `loop next`",
        why=f"it stands in {state}; nobody drives it",
        command="loop run",
        choices=tuple(Choice(label=label, command=command) for label, command in commands.items()),
    )


def _fix(row: LoopRow, what: str, why: str) -> Need:
    return Need(kind="fix", loop=row.id, path=(row.id,), what=what, why=why, command="loop resume")
