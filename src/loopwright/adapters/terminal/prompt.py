"""The person at the terminal: shows the question, reads an answer, asks again until it is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from loopwright.adapters.terminal.replies import Unclear, understood
from loopwright.kernel.actions import Ask, AwaitGate, ForPeople
from loopwright.kernel.events import Answered, Said
from loopwright.kernel.model import Change, LoopId
from loopwright.kernel.quoting import one_line
from loopwright.kernel.risks import Risk
from loopwright.kernel.visible import visible
from loopwright.ports.people import Reply, Waiting

_SHOWN_FILES = 40


class Lines(Protocol):
    def forget(self) -> None:
        """What was typed before now is no answer."""

    async def next(self) -> str | None:
        """The next line, or None when there will be none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    lines: Lines
    show: Callable[[str], None]  # prints text as it is, without a line end of its own
    aside: Callable[[], AbstractContextManager[None]]  # holds the live view while a person reads and types
    about: Callable[[LoopId], Awaitable[str]]  # what is shown before a question; may be nothing
    history: Callable[[LoopId], Awaitable[str]]
    diff: Callable[[LoopId, AwaitGate], Awaitable[str]]
    by: str
    objection: Callable[[LoopId, Said], Awaitable[str]]  # why an answer cannot be, where only the project knows it

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        """One loop after the other: the rest is asked when this one was answered."""
        loop = waiting[0].loop
        own = tuple(each.what for each in waiting if each.loop == loop)
        with self.aside():
            if len(waiting[0].path) > 1:
                self._print(f"\nIn loop {' > '.join(waiting[0].path)}:")
            await self._introduce(loop, own)
            self.lines.forget()
            said = await self._answer(loop, own)
            if isinstance(said, Answered) and said.choice == "history":
                self._print(await self.history(loop))
            return None if said is None else Reply(loop=loop, said=said)

    async def _answer(self, loop: LoopId, waiting: tuple[ForPeople, ...]) -> Said | None:
        lacking: Unclear | None = None  # the choice is made and only its text is missing
        while True:
            self.show(f"{lacking.lacks} (empty line: go back): " if lacking else "> ")
            line = await self.lines.next()
            if line is None:
                self._print("")
                return None
            if lacking and not line.strip():
                lacking = None
                self._print(choices_text(waiting[0]))
                continue
            said = await self._understood(loop, waiting, f"{lacking.wants} {line}" if lacking else line.strip())
            if not isinstance(said, Unclear):
                return said
            lacking = said if said.wants else None
            self._print(f"{said.sentence}.")

    async def _understood(self, loop: LoopId, waiting: tuple[ForPeople, ...], line: str) -> Said | Unclear:
        said = understood(waiting, line, self.by)
        objection = "" if isinstance(said, Unclear) else await self.objection(loop, said)
        return Unclear(objection) if objection else said

    async def _introduce(self, loop: LoopId, waiting: tuple[ForPeople, ...]) -> None:
        first, others = waiting[0], waiting[1:]
        self._print("")
        if isinstance(first, Ask):
            if text := await self.about(loop):
                self._print(f"{text}\n")
            self._print(question_text(first))
        else:
            self._print(gate_text(first, await self.diff(loop, first)))
        for gate in others:
            if isinstance(gate, AwaitGate):
                how = f"approve {gate.gate}, or reject {gate.gate} REASON"
                self._print(f"Also open: gate {gate.gate} ({_files(gate)}); to decide it: {how}.")
        self._print(f"(Ctrl-D leaves loop {loop} waiting; `loop resume` asks again.)")

    def _print(self, text: str) -> None:
        self.show(f"{visible(text)}\n")


def question_text(ask: Ask) -> str:
    """The question and what may be answered, numbered."""
    several = len(ask.questions) > 1
    lines = [] if several else [f"? {ask.question}"]
    for number, each in enumerate(ask.questions, start=1):
        lines += [f"? {number}. {each.question}"] if several else []
        lines += [f"  Options: {', '.join(one_line(option, 200) for option in each.options)}"] if each.options else []
        lines += [f"  Impact: {one_line(each.impact, 300)}"] if each.impact else []
    return "\n".join([*lines, choices_text(ask)])


def choices_text(what: ForPeople) -> str:
    """What may be typed, numbered."""
    if isinstance(what, AwaitGate):
        return _AT_A_GATE
    if what.free_text:
        several = len(what.questions) > 1
        typed = "one line that answers all of them (1: …; 2: …)" if several else "the answer"
        others = [f"\n  {option.prompt}" for option in what.options if option.prompt]
        return f"  Type {typed}, or: cancel{''.join(others)}"
    width = max((len(option.label) for option in what.options), default=0)
    return "\n".join(
        f"  {number}  {option.label:<{width}}  {option.prompt or _HOW.get(option.choice, option.choice)}"
        for number, option in enumerate(what.options, start=1)
    )


_HOW = {
    "continue": "continue [N]: N more attempts (3)",
    "accept": "accept: keep the best attempt and record what is wrong with it as debt",
    "history": "history: what every attempt came to, and why",
    "cancel": "cancel: end the loop; every commit is kept",
    "revise": "revise GUIDANCE: new guidance, and the counters start anew",
}
_AT_A_GATE = """\
  1  Approve                    approve: exactly these changes, and nothing later
  2  Reject                     reject REASON: whoever made them is told
  3  Cancel                     cancel: end the loop; every commit is kept"""


def gate_text(gate: AwaitGate, diff: str) -> str:
    """What a person needs to see before deciding."""
    called = [*map(_change_line, gate.because), *map(_risk_line, gate.reasons)]
    listed = called[:_SHOWN_FILES]
    if len(called) > _SHOWN_FILES:
        listed.append(f"  and {len(called) - _SHOWN_FILES} more")
    listed += _tests("would not run any more", gate.dropped) + _tests("fails without it", gate.failing)
    head = f"? Gate {gate.gate}: {gate.why}"
    return "\n".join([head, *listed, "", diff.rstrip("\n"), "", _AT_A_GATE])


def _tests(what: str, tests: tuple[str, ...]) -> list[str]:
    more = [f"  {what}: {len(tests) - _SHOWN_FILES} more"] if len(tests) > _SHOWN_FILES else []
    return [*(f"  {what}: {one_line(test, 300)}" for test in tests[:_SHOWN_FILES]), *more]


def _files(gate: AwaitGate) -> str:
    places = (*(change.place for change in gate.because), *(risk.place for risk in gate.reasons))
    return ", ".join(places[:3])


def _change_line(change: Change) -> str:
    how, _, other = change.words.partition(" ")
    return f"  {how:<8} {change.path} {other}".rstrip()


def _risk_line(risk: Risk) -> str:
    return f"  {risk.place}: {risk.rule}" + (f": {one_line(risk.text, 200)}" if risk.text else "")


class Nobody:
    """Nobody is there to ask: a loop that needs a person stays as it is."""

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:  # noqa: ARG002 - the port's own names
        return None
