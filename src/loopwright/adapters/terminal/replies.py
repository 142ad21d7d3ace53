"""What a person's words mean for the question they answer. No input, no output: prompt and `loop answer` share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.config.keys import PATTERN
from loopwright.kernel.actions import ACCEPT_MERGE, Ask, AwaitGate, ForPeople
from loopwright.kernel.events import Answered, CancelRequested, GateDecided, Said
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Problem

_CANCEL_WORDS = ("cancel", "stop", "abort", "abandon")
_YES = ("y", "yes")
_NEEDS_TEXT = {"revise": "the new guidance", "answer": "the answer"}
_ALLOW = "--allow"
_MOST = 1000  # iterations that one answer may grant


@dataclass(frozen=True, slots=True)
class Unclear:
    """Not an answer yet, and what is missing. `wants` names the choice that only lacks its text, `lacks` that text."""

    sentence: str
    wants: str = ""
    lacks: str = ""


_MOST_FILES = 20  # named in an answer
_ONLY_ACCEPT_MERGES = Unclear("only accept can merge")
_ONLY_REVISE_ALLOWS = Unclear("only revise takes --allow")


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedAnswer:
    """An answer as it was given, on the command line or at the prompt."""

    words: tuple[str, ...]
    text: str = ""  # given apart from the words
    merge: bool = False
    allow: tuple[str, ...] = ()
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
    return answer(first, TypedAnswer(words=tuple(line.strip().split(" ")), by=by))


@dataclass(frozen=True, slots=True, kw_only=True)
class Afterwards:
    """What is typed about changes that a loop ended without."""

    choice: Literal["approve", "reject", "later"]
    only: tuple[str, ...] = ()  # files; empty: all that are listed
    reason: str = ""


def afterwards(line: str, files: tuple[str, ...]) -> Afterwards | Unclear:
    """Read what is typed about these files: there is nothing to cancel, and nothing hurries."""
    word, _, rest = line.strip().partition(" ")
    only, reason = _split_files(rest.strip(), files)
    match word.lower():
        case "1" | "approve":
            return _not_listed(reason, files) if reason else Afterwards(choice="approve", only=only)
        case "2" | "reject":
            return Afterwards(choice="reject", only=only, reason=reason)
        case "" | "3" | "later" | "cancel":
            return Afterwards(choice="later")
        case _:
            return Unclear("type approve, approve PATH, reject [REASON], reject PATH [REASON], or later")


def _not_listed(words: str, files: tuple[str, ...]) -> Unclear:
    """Name what is not listed, and what can be named instead."""
    if not files:
        return Unclear(f"approve lets in all of it; {one_line(words, 200)!r} came after it")
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    listed = ", ".join(one_line(each, 200) for each in files[:_MOST_FILES])
    return Unclear(f"{one_line(words, 200)!r} is no listed file; approve takes all of it or these: {listed}{more}")


def _split_files(rest: str, files: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the files that are named first, and the words behind them."""
    named: list[str] = []
    while found := next((each for each in files if rest == each or rest.startswith(f"{each} ")), ""):
        named.append(found)
        rest = rest[len(found) :].strip()
    return tuple(named), rest


def _means_gate(first: ForPeople, gate: AwaitGate, rest: str) -> bool:
    """Where any text is an answer, a decision on the gate beside it must name the gate."""
    return not (isinstance(first, Ask) and first.free_text) or rest.split()[:1] == [gate.gate]


def answer(ask: Ask, typed: TypedAnswer) -> Answered | Unclear:
    """The words are an option with what it takes, or one text where any text is an answer. None of them is dropped."""
    choice = _choice(ask, " ".join(typed.words))
    if choice is not None:
        return _chosen(ask, choice, "", typed)
    if (choice := _choice(ask, typed.words[0])) is not None:
        return _chosen(ask, choice, " ".join(typed.words[1:]).strip(), typed)
    if not ask.free_text:
        options = ", ".join(dict.fromkeys(option.choice for option in ask.options))
        return Unclear(f"{' '.join(typed.words)!r} is not one of the options: {options}")
    if typed.text.strip():
        return Unclear("the answer was given twice: as words and with --text")
    if typed.merge or typed.allow:
        return _ONLY_ACCEPT_MERGES if typed.merge else _ONLY_REVISE_ALLOWS
    return _free(ask, " ".join(typed.words).strip(), typed.by)


def _chosen(ask: Ask, choice: str, rest: str, typed: TypedAnswer) -> Answered | Unclear:
    """An option, and the words after it: a number, text, or none, as it takes them."""
    needs = next((o.needs for o in ask.options if o.choice == choice), "") or _NEEDS_TEXT.get(choice, "")
    count, text, merge, allow = "", "", typed.merge or choice == ACCEPT_MERGE, typed.allow
    choice = "accept" if choice == ACCEPT_MERGE else choice
    if choice == "revise":
        allow, rest = _let_change(allow, rest)
    if choice == "continue":
        count, _, text = rest.partition(" ")
        if count and not _is_count(count):
            return Unclear(f"continue needs a whole number from 1 to {_MOST}, not {count!r}")
    elif choice == "accept" and rest.lower() in ("merge", "--merge"):
        merge = True
    elif needs:
        text = rest
    elif rest:
        return Unclear(f"{choice} takes no more words, and {rest!r} came after it")
    if text and typed.text.strip():
        return Unclear(f"the text of {choice} was given twice: as words and with --text")
    said = Answered(
        key=ask.key,
        choice=choice,
        count=int(count or 0),
        text=text or typed.text,
        merge=merge,
        allow=allow,
        by=typed.by,
    )
    return _lacking(said, needs) or said


def _let_change(allow: tuple[str, ...], rest: str) -> tuple[tuple[str, ...], str]:
    """At the prompt `--allow PATTERN` stands before the guidance."""
    while rest.split(" ", 1)[0] == _ALLOW:
        pattern, _, rest = rest.removeprefix(_ALLOW).strip().partition(" ")
        allow, rest = (*allow, pattern), rest.strip()
    return allow, rest


def _lacking(said: Answered, needs: str) -> Unclear | None:
    if said.merge and said.choice != "accept":
        return _ONLY_ACCEPT_MERGES
    if said.allow and said.choice != "revise":
        return _ONLY_REVISE_ALLOWS
    for pattern in said.allow:
        read = PATTERN.read(pattern)
        if isinstance(read, Problem):
            return Unclear(f"{_ALLOW} {pattern!r}: {read.says}")
    if needs and not said.text.strip():
        wants = " ".join((said.choice, *(f"{_ALLOW} {pattern}" for pattern in said.allow)))
        return Unclear(f"{said.choice} needs {needs} as text", wants, needs.removeprefix("the ").removeprefix("new "))
    return None


def _choice(ask: Ask, word: str) -> str | None:
    """By its name, its label or its number on the screen; where a check-in asks whether to go on, yes is to go on."""
    plain = word.strip().lower()
    for number, option in enumerate(ask.options, start=1):
        if plain in (option.choice, option.label.lower()) or (plain == str(number) and not ask.free_text):
            return option.how if option.how == ACCEPT_MERGE else option.choice
    if plain in _YES and ask.kind == "check-in" and ask.options[0].choice == "continue":
        return "continue"
    return "cancel" if plain in _CANCEL_WORDS and not ask.free_text else None


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(_MOST)) and 0 < int(text) <= _MOST


def _free(ask: Ask, line: str, by: str) -> Answered | Unclear:
    if not line:
        return Unclear("type the answer, or cancel")
    word = line.lower()
    if word == "cancel" or word in (option.choice for option in ask.options if option.prompt):
        return Answered(key=ask.key, choice=word, by=by)
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
            return Unclear(f"type {_forms(gate)}, or cancel")


def _forms(gate: AwaitGate) -> str:
    return "approve, approve PATH, reject REASON, reject PATH REASON" if _files(gate) else "approve, reject REASON"


def _files(gate: AwaitGate) -> tuple[str, ...]:
    """Return the files that can be decided by themselves: of other gates files are only where to look."""
    return tuple(change.path for change in gate.because) if gate.gate == PROTECTED else ()


def _decision(gate: AwaitGate, word: str, rest: str, by: str) -> Said | Unclear:
    """The gate's own name may be repeated, as on the command line."""
    reason = rest.removeprefix(gate.gate).strip() if rest.split(" ", 1)[0] == gate.gate else rest
    only, reason = _split_files(reason, _files(gate))
    if word == "approve" and reason:
        return _not_listed(reason, _files(gate))
    if word == "reject" and not reason:
        return Unclear("reject needs a reason: it is told to the developer", "reject", "Why it is rejected")
    return GateDecided(
        key=gate.key,
        gate=gate.gate,
        approved=word == "approve",
        evidence=gate.evidence,
        reason=reason,
        only=only,
        by=by,
    )
