"""What a loop needs from a person, and the exact commands that give it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.actions import Action, Ask, AwaitGate, Option
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import usd
from loopwright.ports.store import LoopRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    label: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    kind: Literal["gate", "question", "fix"]
    what: str
    why: str
    command: str
    choices: tuple[Choice, ...] = ()  # every way to answer; `command` is the first


_HOW = {
    "continue": "continue 3",
    "revise": 'revise --text "new guidance"',
    "answer": '"your answer"',
    "split": 'split --text "AC-1; AC-2"',
    "examples": 'examples --text "what it should look like"',
    "reassign": 'reassign --text "creator=AGENT"',
}


def needs(row: LoopRow, actions: tuple[Action, ...], status: str) -> tuple[Need, ...]:
    """`status` is the one shown, which knows that a controller died."""
    if status in ("complete", "cancelled"):
        return ()
    asked = tuple(_asked(action) for action in actions if isinstance(action, Ask | AwaitGate))
    return asked or _stopped(row, status)


def _asked(action: Ask | AwaitGate) -> Need:
    if isinstance(action, Ask):
        choices = tuple(_choice(option) for option in action.options)
        command = choices[0].command if choices else 'loop answer "your answer"'
        return Need(
            kind="question",
            what=one_line(action.question, 1_000),
            why=one_line(action.why, 500),
            command=command,
            choices=choices,
        )
    gate = one_line(action.gate, 60)
    paths = ", ".join(f"{one_line(change.path, 120)} {change.how}" for change in action.because)
    return Need(
        kind="gate",
        what=gate,
        why=one_line(f"{action.why} ({paths})" if paths else action.why, 1_000),
        command=f"loop approve {gate}",
        choices=(
            Choice(label="Approve", command=f"loop approve {gate}"),
            Choice(label="Reject", command=f'loop reject {gate} --reason "why"'),
        ),
    )


def _choice(option: Option) -> Choice:
    name = one_line(option.choice, 60)
    return Choice(label=one_line(option.label, 120), command=f"loop answer {_HOW.get(name, name)}")


def _stopped(row: LoopRow, status: str) -> tuple[Need, ...]:
    match status:
        case "interrupted":
            why = "no controller is alive; it goes on from the last recorded event"
            return (Need(kind="fix", what="interrupted", why=why, command="loop resume"),)
        case "paused":
            spent = f"{usd(row.spent)} spent and {usd(row.reserved)} reserved"
            of = "" if row.budget is None else f" of {usd(row.budget)}"
            return (
                Need(
                    kind="fix",
                    what="paused",
                    why=f"a limit was reached: {spent}{of}",
                    command="loop resume",
                    choices=(
                        Choice(label="Go on", command="loop resume"),
                        Choice(label="Go on with a new budget", command="loop resume --budget USD"),
                    ),
                ),
            )
        case "blocked":
            return (Need(kind="fix", what="blocked", why="it cannot go on by itself", command="loop explain"),)
        case _:
            return ()
