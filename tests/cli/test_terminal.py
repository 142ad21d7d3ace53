import asyncio
import os
import pty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from loopwright.adapters.terminal.lines import TerminalLines
from loopwright.adapters.terminal.prompt import Nobody, Terminal, gate_text
from loopwright.kernel.actions import ACCEPT_MERGE, Ask, AwaitGate, ForPeople, Option
from loopwright.kernel.events import Answered, GateDecided, Said
from loopwright.kernel.model import Change, Key, LoopId, Question
from loopwright.kernel.risks import Risk
from loopwright.ports.people import People, Waiting
from tests.cli.test_understanding import CLARIFICATION, ESCALATION, GATE

Golden = Callable[[str, str], None]
LOOP = LoopId("make-it-good-1")


class Typed:
    """A person who has decided what to type. What they typed too early is forgotten."""

    def __init__(self, *lines: str | None, early: tuple[str, ...] = ()) -> None:
        self._lines: list[str | None] = [*early, *lines]
        self._early = len(early)

    def forget(self) -> None:
        del self._lines[: self._early]

    async def next(self) -> str | None:
        return self._lines.pop(0)


def at_terminal(typed: Typed, screen: list[str]) -> Terminal:
    async def diff(loop: LoopId, gate: AwaitGate) -> str:
        return "-    assert slow\n+    pass  # \x1b[8mhidden"

    async def about(loop: LoopId) -> str:
        return f"(what is wrong in {loop})"

    async def history(loop: LoopId) -> str:
        return f"(the history of {loop})"

    async def no_nobody(loop: LoopId, said: Said) -> str:
        is_wrong = isinstance(said, Answered) and "nobody" in said.text
        return f"there is no nobody in {loop}" if is_wrong else ""

    return Terminal(
        lines=typed,
        show=screen.append,
        aside=nullcontext,
        about=about,
        history=history,
        diff=diff,
        by="ann",
        objection=no_nobody,
    )


def asked(waiting: tuple[ForPeople, ...], typed: Typed) -> tuple[Said | None, str]:
    screen: list[str] = []
    return said_to(at_terminal(typed, screen), *waiting), "".join(screen)


def said_to(people: People, *waiting: ForPeople) -> Said | None:
    reply = asyncio.run(people.ask(tuple(Waiting(path=(LOOP,), what=each) for each in waiting)))
    return reply.said if reply else None


def test_an_escalation_is_asked_until_it_is_answered(golden: Golden) -> None:
    said, screen = asked((ESCALATION,), Typed("what?", "revise", "use a parser"))
    assert said == Answered(key=ESCALATION.key, choice="revise", text="use a parser", by="ann")
    golden("cli/prompt-escalation.txt", screen)


def test_a_gate_shows_what_is_to_be_approved_and_nothing_in_it_steers_the_terminal(golden: Golden) -> None:
    said, screen = asked((GATE,), Typed("reject", "the test must stay"))
    assert said == GateDecided(
        key=GATE.key, gate="protected", approved=False, evidence="e1", reason="the test must stay", by="ann"
    )
    assert "\x1b" not in screen
    golden("cli/prompt-gate.txt", screen)


def test_a_gate_shows_a_move_as_one() -> None:
    changes = (Change(path="a", how="removed", moved="b"), Change(path="b", how="added", moved="a"))
    shown = gate_text(replace(GATE, because=changes), "")
    assert "  moved    a to b\n  moved    b from a\n" in shown


def test_a_gate_that_rules_called_for_shows_where_and_by_which() -> None:
    found = (
        Risk(gate="security", rule="secrets", file="src/a.py", line=3, text="password = 1"),
        Risk(gate="security", rule="security files", file="src/auth.py"),
    )
    gate = replace(GATE, gate="security", because=(), reasons=found)
    shown = gate_text(gate, "")
    assert "\n  src/a.py:3: secrets: password = 1\n  src/auth.py: security files\n" in shown
    assert "\n  and 2 more\n" in gate_text(replace(gate, reasons=found * 21), "")
    screen = asked((CLARIFICATION, gate), Typed("blue"))[1]
    assert "Also open: gate security (src/a.py:3, src/auth.py)" in screen


def test_a_text_that_is_missing_has_its_own_prompt_and_nothing_goes_back_to_the_options() -> None:
    said, screen = asked((ESCALATION,), Typed("revise", " ", "accept --merge"))
    assert said == Answered(key=ESCALATION.key, choice="accept", merge=True, by="ann")
    options = screen[screen.index("  1  Continue") : screen.index("(Ctrl-D")]
    assert screen.endswith(f"as text.\nguidance (empty line: go back): {options}> ")
    said, screen = asked((GATE,), Typed("reject", "", "approve"))
    assert isinstance(said, GateDecided)
    assert "\nWhy it is rejected (empty line: go back):   1  Approve  " in screen


def test_to_accept_with_a_merge_is_an_option_of_its_own_by_number_and_by_words() -> None:
    merges = Option(choice="accept", label="Accept and merge it", how=ACCEPT_MERGE, prompt=f"{ACCEPT_MERGE}: both")
    question = replace(ESCALATION, options=(*ESCALATION.options, merges))
    number = str(len(question.options))
    words = (number, "accept and merge it", "accept --merge", "accept")
    answers = [asked((question,), Typed(typed))[0] for typed in words]
    plain = Answered(key=ESCALATION.key, choice="accept", by="ann")
    assert answers == [*[replace(plain, merge=True)] * 3, plain]
    assert f"  {number}  Accept and merge it" in asked((question,), Typed("accept"))[1]


def test_a_question_and_the_gate_beside_it(golden: Golden) -> None:
    said, screen = asked((CLARIFICATION, GATE), Typed("blue"))
    assert said == Answered(key=CLARIFICATION.key, choice="answer", text="blue", by="ann")
    golden("cli/prompt-question.txt", screen)


def test_each_of_several_questions_is_shown_with_its_own_options() -> None:
    both = (
        Question(question="Which order?", options=("up", "down")),
        Question(question="Which colour?", impact="looks"),
    )
    _, screen = asked((replace(CLARIFICATION, question="Which order?\nWhich colour?", questions=both),), Typed("blue"))
    assert "? 1. Which order?\n  Options: up, down\n? 2. Which colour?\n  Impact: looks\n" in screen
    assert "  Type one line that answers all of them (1: …; 2: …), or: cancel\n" in screen


def test_what_a_question_is_about_is_shown_before_it() -> None:
    _, screen = asked((ESCALATION,), Typed("cancel"))
    assert screen.index(f"(what is wrong in {LOOP})") < screen.index(f"? {ESCALATION.question}")
    assert "what is wrong" not in asked((GATE,), Typed("cancel"))[1]


def test_the_history_is_shown_and_recorded() -> None:
    said, screen = asked((ESCALATION,), Typed("history"))
    assert said == Answered(key=ESCALATION.key, choice="history", by="ann")
    assert "(the history of make-it-good-1)" in screen


def test_a_closed_input_leaves_the_loop_waiting() -> None:
    assert asked((ESCALATION,), Typed(None))[0] is None


def test_what_was_typed_before_the_question_is_no_answer() -> None:
    said, _ = asked((GATE,), Typed("cancel", early=("approve",)))
    assert not isinstance(said, GateDecided)


def test_nobody_answers_nothing() -> None:
    assert said_to(Nobody(), ESCALATION) is None


def test_what_only_the_project_knows_to_be_impossible_is_said_and_asked_again() -> None:
    """Whom a role can be given to is in the configuration, not in the question."""
    screen: list[str] = []
    option = Option(choice="reassign", label="Reassign", needs="ROLE=AGENT (or ROLE+AGENT, for a pair)")
    reassign = Ask(key=Key.parse("escalation-1"), question="How?", options=(option,))
    person = at_terminal(Typed("reassign", "creator=nobody", "reassign creator=codex"), screen)
    said = said_to(person, reassign)
    assert said == Answered(key=reassign.key, choice="reassign", text="creator=codex", by="ann")
    needs = "reassign needs ROLE=AGENT (or ROLE+AGENT, for a pair) as text.\n"
    lacks = "ROLE=AGENT (or ROLE+AGENT, for a pair) (empty line: go back): "
    assert f"{needs}{lacks}there is no nobody in {LOOP}.\n> " in "".join(screen)


# --- a real terminal ------------------------------------------------------------------------------


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """The person's end and the program's end."""
    person, program = pty.openpty()
    try:
        yield person, program
    finally:
        os.close(person)
        os.close(program)


def test_lines_are_read_from_a_terminal_as_they_are_typed() -> None:
    async def both(person: int, program: int) -> list[str | None]:
        lines = TerminalLines(program)
        os.write(person, b"first\nsec")
        first = await lines.next()
        os.write(person, "ond ü\n".encode())
        second = await lines.next()
        os.write(person, b"\x04")
        return [first, second, await lines.next()]

    with terminal() as (person, program):
        assert asyncio.run(both(person, program)) == ["first", "second ü", None]


def test_waiting_for_a_line_can_be_taken_back() -> None:
    async def taken_back(program: int) -> bool:
        waiting = asyncio.ensure_future(TerminalLines(program).next())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return waiting.cancelled() and not asyncio.get_running_loop().remove_reader(program)

    with terminal() as (_, program):
        assert asyncio.run(taken_back(program))


def test_what_was_typed_early_is_dropped_by_the_terminal_too() -> None:
    async def after_forgetting(person: int, program: int) -> str | None:
        lines = TerminalLines(program)
        os.write(person, b"approve\n")
        lines.forget()
        os.write(person, b"cancel\n")
        return await lines.next()

    with terminal() as (person, program):
        assert asyncio.run(after_forgetting(person, program)) == "cancel"
