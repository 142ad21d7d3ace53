"""What a person's words mean for the question they answer. No input, no output: prompt and `loop answer` share it."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.actions import Ask, AwaitGate, ForPeople
from loopwright.kernel.events import Answered, CancelRequested, GateDecided, Said

_CANCEL_WORDS = ("cancel", "stop", "abort", "abandon")
_NEEDS_TEXT = {"revise": "the new guidance", "answer": "the answer"}
_MOST = 1000  # iterations that one answer may grant


@dataclass(frozen=True, slots=True)
class Unclear:
    """Not an answer yet, and what is missing. `wants` names the choice that only lacks its text."""

    sentence: str
    wants: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedAnswer:
    """An answer as it was given, on the command line or at the prompt."""

    choice: str
    count: str = ""
    text: str = ""
    merge: bool = False
    by: str = ""


def understood(waiting: tuple[ForPeople, ...], line: str, by: str) -> Said | Unclear:
    """A line typed at the prompt. The first of `waiting` is the question on the screen."""
    first, gate = waiting[0], next((action for action in waiting if isinstance(action, AwaitGate)), None)
    word, _, rest = line.strip().partition(" ")
    if gate is not None and word.lower() in ("approve", "reject") and _means_gate(first, gate, rest):
        return _decision(gate, word.lower(), rest.strip(), by)
    if isinstance(first, AwaitGate):
        return _gate_line(first, word.lower(), rest.strip(), by)
    if first.free_text:
        return _free(first, line.strip(), by)
    return answer(first, _words(first, word, rest.strip(), by))


def _means_gate(first: ForPeople, gate: AwaitGate, rest: str) -> bool:
    """Where any text is an answer, a decision on the gate beside it must name the gate."""
    return not (isinstance(first, Ask) and first.free_text) or rest.split()[:1] == [gate.gate]


def answer(ask: Ask, words: TypedAnswer) -> Answered | Unclear:
    """An answer to a question with options, checked against them."""
    choice = _choice(ask, words.choice)
    if choice is None:
        if ask.free_text and words.choice.strip():
            return Answered(key=ask.key, choice="answer", text=words.choice.strip(), by=words.by)
        return Unclear(f"{words.choice!r} is not one of the options: {', '.join(o.choice for o in ask.options)}")
    if words.count and (choice != "continue" or not _is_count(words.count)):
        return Unclear(_about_count(choice, words.count))
    needs = next((o.needs for o in ask.options if o.choice == choice), "") or _NEEDS_TEXT.get(choice, "")
    if needs and not words.text.strip():
        return Unclear(f"{choice} needs {needs} as text", choice)
    if words.merge and choice != "accept":
        return Unclear("only accept can merge")
    count = int(words.count or 0)
    return Answered(key=ask.key, choice=choice, count=count, text=words.text, merge=words.merge, by=words.by)


def _choice(ask: Ask, word: str) -> str | None:
    """By its name, its label or its number on the screen."""
    plain = word.strip().lower()
    for number, option in enumerate(ask.options, start=1):
        if plain in (option.choice, option.label.lower()) or (plain == str(number) and not ask.free_text):
            return option.choice
    return "cancel" if plain in _CANCEL_WORDS else None


def _words(ask: Ask, word: str, rest: str, by: str) -> TypedAnswer:
    """The rest of a typed line is a number, guidance, or the second half of a label."""
    if (choice := _choice(ask, f"{word} {rest}")) is not None:
        return TypedAnswer(choice=choice, by=by)
    choice = _choice(ask, word)
    if choice == "continue":
        count, _, text = rest.partition(" ")
        return TypedAnswer(choice=choice, count=count, text=text, by=by)
    if choice == "accept" and rest.lower() in ("merge", "--merge"):
        return TypedAnswer(choice=choice, merge=True, by=by)
    return TypedAnswer(choice=word, text=rest, by=by)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _MOST


def _about_count(choice: str, count: str) -> str:
    if choice != "continue":
        return f"{choice} takes no number"
    return f"continue needs a whole number from 1 to {_MOST}, not {count!r}"


def _free(ask: Ask, line: str, by: str) -> Said | Unclear:
    if not line:
        return Unclear("type the answer, or cancel")
    if line.lower() == "cancel":
        return Answered(key=ask.key, choice="cancel", by=by)
    return Answered(key=ask.key, choice="answer", text=line, by=by)


def _gate_line(gate: AwaitGate, word: str, rest: str, by: str) -> Said | Unclear:
    match word:
        case "1":
            return _decision(gate, "approve", rest, by)
        case "2":
            return _decision(gate, "reject", rest, by)
        case "3" | "cancel" | "stop" | "abort" | "abandon":
            return CancelRequested(by=by)
        case _:
            return Unclear("type approve, reject REASON, or cancel")


def _decision(gate: AwaitGate, word: str, rest: str, by: str) -> Said | Unclear:
    """The gate's own name may be repeated, as on the command line."""
    reason = rest.removeprefix(gate.gate).strip() if rest.split(" ", 1)[0] == gate.gate else rest
    if word == "reject" and not reason:
        return Unclear("reject needs a reason: it is told to the developer", "reject")
    return GateDecided(
        key=gate.key,
        gate=gate.gate,
        approved=word == "approve",
        evidence=gate.evidence,
        reason=reason,
        by=by,
    )
