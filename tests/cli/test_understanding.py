from dataclasses import replace

import pytest

from loopwright.adapters.terminal.prompt import choices_text
from loopwright.adapters.terminal.replies import TypedAnswer, Unclear, afterwards, answer, understood
from loopwright.kernel.actions import Ask, AwaitGate, Option
from loopwright.kernel.events import Answered, CancelRequested, GateDecided, Said
from loopwright.kernel.model import Change, Commit, Key

ESCALATION = Ask(
    key=Key.parse("escalation-1"),
    question="How should it go on?",
    options=(
        Option(choice="continue", label="Continue"),
        Option(choice="accept", label="Accept current state"),
        Option(choice="history", label="Review iteration history"),
        Option(choice="cancel", label="Cancel feature"),
        Option(choice="revise", label="Revise the approach"),
    ),
)
CLARIFICATION = Ask(
    key=Key.parse("clarify-1"),
    question="Which colour?",
    free_text=True,
    options=(Option(choice="answer", label="Answer the question"), Option(choice="cancel", label="Cancel feature")),
)
GATE = AwaitGate(
    key=Key.parse("gate-protected-e1"),
    gate="protected",
    commit=Commit("c1"),
    evidence="e1",
    because=(Change(path="tests/test_a.py", how="changed", blob="b1"),),
)


def said(choice: str, count: int = 0, text: str = "", *, merge: bool = False) -> Answered:
    return Answered(key=ESCALATION.key, choice=choice, count=count, text=text, merge=merge, by="ann")


LETS = replace(said("revise", text="use it"), allow=("tests/a.py",))


def decided(*, approved: bool, reason: str = "") -> GateDecided:
    return GateDecided(key=GATE.key, gate="protected", approved=approved, evidence="e1", reason=reason, by="ann")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("1", said("continue")),
        ("continue", said("continue")),
        (" CONTINUE 2 ", said("continue", 2)),
        ("1 7 mind the edge cases", said("continue", 7, "mind the edge cases")),
        ("accept", said("accept")),
        ("Accept current state", said("accept")),
        ("accept --merge", said("accept", merge=True)),
        ("3", said("history")),
        ("review iteration history", said("history")),
        ("cancel", said("cancel")),
        ("abort", said("cancel")),
        ("revise use a parser", said("revise", text="use a parser")),
        ("revise --allow tests/a.py  --allow tests/b/** use it", replace(LETS, allow=("tests/a.py", "tests/b/**"))),
        ("5 --allow tests/a.py use it", LETS),
        ("revise use it --allow tests/a.py", said("revise", text="use it --allow tests/a.py")),
    ],
)
def test_what_is_typed_at_an_escalation(line: str, meant: Answered) -> None:
    assert understood((ESCALATION,), line, "ann") == meant


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "'' is not one of the options: continue, accept, history, cancel, revise"),
        ("9", "'9' is not one of the options: continue, accept, history, cancel, revise"),
        ("continue 0", "continue needs a whole number from 1 to 1000, not '0'"),
        ("continue -3", "continue needs a whole number from 1 to 1000, not '-3'"),
        ("continue ٣", "continue needs a whole number from 1 to 1000, not '٣'"),
        (
            "continue 1000000000000000000000",
            "continue needs a whole number from 1 to 1000, not '1000000000000000000000'",
        ),
    ],
)
def test_what_is_no_answer_gets_a_sentence(line: str, sentence: str) -> None:
    assert understood((ESCALATION,), line, "ann") == Unclear(sentence)


@pytest.mark.parametrize("line", ["y", "yes", " Yes "])
def test_yes_goes_on_where_a_check_in_asks_whether_to(line: str) -> None:
    check_in = replace(ESCALATION, kind="check-in")
    assert understood((check_in,), line, "ann") == said("continue")
    finding = replace(check_in, options=(Option(choice="approve", label="It is right"), *ESCALATION.options))
    assert isinstance(understood((finding,), line, "ann"), Unclear)
    assert isinstance(understood((ESCALATION,), line, "ann"), Unclear)


def test_revising_without_guidance_asks_for_it() -> None:
    lacking = Unclear("revise needs the new guidance as text", "revise", "guidance")
    assert understood((ESCALATION,), "revise", "ann") == lacking
    with_leave = replace(lacking, wants="revise --allow tests/a.py")
    assert understood((ESCALATION,), "revise --allow tests/a.py", "ann") == with_leave


def test_only_revise_lets_tests_be_changed_and_only_by_a_pattern() -> None:
    lets = TypedAnswer(words=("continue",), allow=("tests/a.py",), by="ann")
    only = Unclear("only revise takes --allow")
    assert (answer(ESCALATION, lets), answer(CLARIFICATION, replace(lets, words=("blue",)))) == (only, only)
    assert answer(ESCALATION, replace(lets, words=("revise", "use it"))) == LETS
    wrong = understood((ESCALATION,), "revise --allow /etc/passwd use it", "ann")
    assert isinstance(wrong, Unclear)
    assert wrong.sentence.startswith("--allow '/etc/passwd': ")
    nothing = understood((ESCALATION,), "revise --allow", "ann")
    assert isinstance(nothing, Unclear)
    assert nothing.sentence.startswith("--allow ''")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("blue, like the sea", Answered(key=CLARIFICATION.key, choice="answer", text="blue, like the sea", by="ann")),
        ("1", Answered(key=CLARIFICATION.key, choice="answer", text="1", by="ann")),
        ("cancel", Answered(key=CLARIFICATION.key, choice="cancel", by="ann")),
        ("  ", Unclear("type the answer, or cancel")),
    ],
)
def test_a_question_of_the_developer_takes_any_text(line: str, meant: Said | Unclear) -> None:
    assert understood((CLARIFICATION,), line, "ann") == meant


def test_a_question_that_offers_more_decisions_shows_and_takes_each() -> None:
    drop = Option(choice="drop", label="Drop the tests", prompt="drop: they are no longer run")
    asked = replace(CLARIFICATION, options=(*CLARIFICATION.options, drop))
    assert choices_text(asked).splitlines()[1:] == ["  drop: they are no longer run"]
    assert understood((asked,), "Drop", "ann") == Answered(key=asked.key, choice="drop", by="ann")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("approve", decided(approved=True)),
        ("1", decided(approved=True)),
        ("approve protected", decided(approved=True)),
        ("reject too loose", decided(approved=False, reason="too loose")),
        ("reject protected too loose", decided(approved=False, reason="too loose")),
        ("2 too loose", decided(approved=False, reason="too loose")),
        ("2", Unclear("reject needs a reason: it is told to the developer", "reject", "Why it is rejected")),
        ("cancel", CancelRequested(by="ann")),
        ("yes", Unclear("type approve, approve PATH, reject REASON, reject PATH REASON, or cancel")),
    ],
)
def test_what_is_typed_at_a_gate(line: str, meant: Said | Unclear) -> None:
    assert understood((GATE,), line, "ann") == meant


def test_a_listed_file_behind_a_decision_is_decided_on_alone() -> None:
    only = ("tests/test_a.py",)
    assert understood((GATE,), "approve tests/test_a.py", "ann") == replace(decided(approved=True), only=only)
    no = replace(decided(approved=False, reason="too loose"), only=only)
    assert understood((GATE,), "reject tests/test_a.py too loose", "ann") == no
    risk = replace(GATE, gate="security")
    assert isinstance(understood((risk,), "approve tests/test_a.py", "ann"), Unclear)


@pytest.mark.parametrize("line", ["approve setup.py", "1 setup.py", "approve protected tests/test_a.py now"])
def test_a_word_behind_approve_that_is_no_listed_file_decides_nothing(line: str) -> None:
    unclear = understood((GATE,), line, "ann")
    assert isinstance(unclear, Unclear)
    assert line.rsplit(maxsplit=1)[-1] in unclear.sentence


def test_what_is_no_listed_file_is_named_with_the_files_that_are() -> None:
    unclear = understood((GATE,), "approve pyproject", "ann")
    assert isinstance(unclear, Unclear)
    assert all(each in unclear.sentence for each in ("'pyproject'", "tests/test_a.py"))
    later = afterwards("approve pyproject", ("a.py", "b.py"))
    assert isinstance(later, Unclear)
    assert all(each in later.sentence for each in ("'pyproject'", "a.py, b.py"))
    many = afterwards("approve x", tuple(f"f{n}.py" for n in range(25)))
    assert isinstance(many, Unclear)
    assert many.sentence.endswith("f19.py and 5 more")
    whole = replace(GATE, gate="security")
    told = [understood((whole,), line, "ann") for line in ("yes", "approve now")]
    assert all(isinstance(each, Unclear) and "PATH" not in each.sentence for each in told)


def test_a_gate_that_is_open_beside_a_question_can_be_decided_there() -> None:
    assert understood((ESCALATION, GATE), "approve", "ann") == decided(approved=True)
    assert understood((ESCALATION, GATE), "continue 2", "ann") == said("continue", 2)


def test_an_answer_that_only_begins_like_a_decision_decides_no_gate() -> None:
    line = "approve of the second variant"
    meant = Answered(key=CLARIFICATION.key, choice="answer", text=line, by="ann")
    assert understood((CLARIFICATION, GATE), line, "ann") == meant
    assert understood((CLARIFICATION, GATE), "approve protected", "ann") == decided(approved=True)


def typed(*words: str, text: str = "", merge: bool = False) -> TypedAnswer:
    return TypedAnswer(words=words, text=text, merge=merge, by="ann")


@pytest.mark.parametrize("words", [("blue",), ("foo", "bar"), ("continue", "2"), ("stop",), ("cancel the order",)])
def test_words_that_are_no_option_of_a_question_are_one_text(words: tuple[str, ...]) -> None:
    meant = Answered(key=CLARIFICATION.key, choice="answer", text=" ".join(words), by="ann")
    assert answer(CLARIFICATION, typed(*words)) == meant


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (typed("continue", "2"), said("continue", 2)),
        (typed("continue", "2", "mind", "the edges"), said("continue", 2, "mind the edges")),
        (typed("accept", text="good enough"), said("accept", text="good enough")),
        (typed("accept", merge=True), said("accept", merge=True)),
        (typed("revise", "use", "a parser"), said("revise", text="use a parser")),
        (typed("revise", text="use a parser"), said("revise", text="use a parser")),
        (typed("Review", "iteration", "history"), said("history")),
    ],
)
def test_words_on_the_command_line_are_an_option_with_what_it_takes(words: TypedAnswer, meant: Answered) -> None:
    assert answer(ESCALATION, words) == meant


@pytest.mark.parametrize(
    ("ask", "words", "sentence"),
    [
        (ESCALATION, typed("accept", "3"), "accept takes no more words, and '3' came after it"),
        (ESCALATION, typed("cancel", "it", "all"), "cancel takes no more words, and 'it all' came after it"),
        (ESCALATION, typed("continue", merge=True), "only accept can merge"),
        (ESCALATION, typed("continue", "soon"), "continue needs a whole number from 1 to 1000, not 'soon'"),
        (ESCALATION, typed("revise", "a", text="b"), "the text of revise was given twice: as words and with --text"),
        (CLARIFICATION, typed("cancel", "it"), "cancel takes no more words, and 'it' came after it"),
        (CLARIFICATION, typed("blue", text="red"), "the answer was given twice: as words and with --text"),
        (CLARIFICATION, typed("blue", merge=True), "only accept can merge"),
        (CLARIFICATION, typed(" "), "type the answer, or cancel"),
    ],
)
def test_words_that_would_be_lost_are_refused(ask: Ask, words: TypedAnswer, sentence: str) -> None:
    assert answer(ask, words) == Unclear(sentence)
