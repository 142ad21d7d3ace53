"""Tickets as a whole: read, written and read back, taken over."""

import re
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.markdown import markdown_lines
from loopwright.errors import ConfigError
from loopwright.kernel.model import Commit, Verdict
from loopwright.kernel.visible import is_harmless
from loopwright.loops.tickets import ticket_read
from loopwright.loops.tickets.body import Body, Box, read_body
from loopwright.loops.tickets.earlier import Attempt, FeedbackRow
from loopwright.loops.tickets.files import draft
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.shape import FRONT
from loopwright.loops.tickets.state import Aspect, Criterion, Decision, TicketParams
from loopwright.loops.tickets.ticket_read import ReadTicket, adopted, params
from tests.rooms.tickets.stories import PARAMS, SEED, STORIES

words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]).filter(is_harmless), max_size=60)
lines = st.one_of(words, st.text("\\|`*_#>[]()-: a1", max_size=40)).map(lambda text: " ".join(text.split()))
named = lines.map(lambda text: text or "x")
blocks = st.lists(lines, max_size=5).map(lambda found: "\n".join(found).strip("\n"))


def body(text: str) -> Body:
    return read_body(markdown_lines(text), "t.md")


def build(front: dict[str, object], body: Body, *, name: str = "") -> ReadTicket:
    return ticket_read.build(cast(dict[str, Any], FRONT.read(front)), body, name=name)


def mistake(call: object, *arguments: object) -> tuple[str, str, int | None]:
    with pytest.raises(ConfigError) as error:
        call(*arguments)  # type: ignore[operator]
    return error.value.key, error.value.expected, error.value.line


REQUIRED = "# Requirements\nAs CSV\n- [ ] AC-1: a\n"


def test_the_least_a_ticket_needs() -> None:
    assert build({}, body(f"# Add an export\n{REQUIRED}")) == ReadTicket(
        file="t.md",
        title="Add an export",
        criteria=(Box(id="AC-1", text="a", done=False),),
        what="As CSV",
    )


CHANGES = (
    "# Changelog\n## [2026-01-18 10:00] - Creator: blocked\n- no disk\n## [2026-01-18 11:00] - Creator: went on\n- x\n"
)


@pytest.mark.parametrize(
    ("concerns", "changes", "why"),
    [
        ("Which database?", "", "Which database?"),
        *((nothing, "", "") for nothing in ("", "None", "- None.", "*none*", "N/A", "(none)", "No concerns.")),
        ("None yet, but the disk is full", "", "None yet, but the disk is full"),
        ("None", CHANGES, "no disk"),
    ],
)
def test_a_blocked_ticket_says_what_keeps_it_if_it_knows(concerns: str, changes: str, why: str) -> None:
    text = f"# Add\n{REQUIRED}\n# Creator Section\n\n## Concerns\n\n{concerns}\n{changes}"
    read = build({"status": "blocked"}, body(text))
    assert ticket_read.with_turn(PARAMS, read).hold == why


@pytest.mark.parametrize(
    ("word", "verdict", "found"),
    [
        ("APPROVED", Verdict.PASS, []),
        ("NEEDS_CHANGES: a leak", Verdict.FAIL, ["The critic wants changes"]),
        ("", None, []),
    ],
)
def test_what_its_critic_came_to_goes_on_with_it(word: str, verdict: Verdict | None, found: list[str]) -> None:
    text = f"# Add\n{REQUIRED}\n# Critic Section\n\n## Approval Decision\n\n{word}\n"
    read = build({"status": "expediter_review"}, body(text))
    (begun,) = ticket_read.with_turn(PARAMS, read).adopted
    assert [each.verdict for each in begun.critiques] == ([verdict] if verdict else [])
    assert [finding.issue for each in begun.critiques for finding in each.findings] == found


def test_a_title_has_to_be_given() -> None:
    expected = ("title", "there is no title; give one in the frontmatter or as the first heading", 1)
    assert mistake(build, {}, body(REQUIRED)) == expected
    assert mistake(build, {"title": " "}, body(REQUIRED)) == expected


def test_everything_that_the_frontmatter_says() -> None:
    front: dict[str, object] = {
        "ticket_id": "TICKET-s-002",
        "session_id": "s",
        "sequence": "002",
        "parent_ticket": "TICKET-s-001",
        "title": "[Iteration 2/5] Add an export",
        "cycle_type": "design",
        "status": "in_progress",
        "created": "2026-01-17",
        "worktree_path": "/w",
        "claimed_by": "ann",
        "claimed_at": "today",
        "iteration": {"index": 2, "max": 5, "parent_ticket": "TICKET-s-001", "accuracy_score": 0.6, "score": 1},
        "attempt_history": [{"ticket": "TICKET-s-001", "outcome": "ROUTE_BACK", "accuracy": 0.6, "gaps": ["a"]}],
        "structured_feedback": [
            {"requirement": "r", "expected": "e", "actual": "a", "score": 0.5, "guidance": "g"},
        ],
        "other": 1,
    }
    text = (
        "# Requirements\n- [x] AC-1: a\n# Context\nsrc/\n## More\nx\n# Accumulated Issues\ni\n# Creator Section\n"
        "## Implementation Notes\nnotes\n## Changes\nc\n# Critic Section\nk\n# Expediter Section\n- **Accuracy**: 0.7\n"
    )
    assert build(front, body(text), name="TICKET-s-002") == ReadTicket(
        file="t.md",
        title="Add an export",
        criteria=(Box(id="AC-1", text="a", done=True),),
        session="s",
        sequence=2,
        parent="TICKET-s-001",
        cycle="design",
        status="in_progress",
        created="2026-01-17",
        worktree="/w",
        claimed_by="ann",
        claimed_at="today",
        index=2,
        max=5,
        accuracy=0.6,
        score=1.0,
        context="src/",
        history=(Attempt(ticket="TICKET-s-001", outcome="ROUTE_BACK", accuracy=0.6, gaps=("a",)),),
        feedback=(FeedbackRow(requirement="r", expected="e", actual="a", score=0.5, guidance="g"),),
        issues="i",
        creator="notes",
        critic="k",
        expediter="- **Accuracy**: 0.7",
        reached=0.7,
    )


def test_which_ticket_it_is_comes_from_the_frontmatter_or_the_name() -> None:
    def identity(front: dict[str, object], name: str = "") -> tuple[str, int | None]:
        read = build({"title": "t", **front}, body(REQUIRED), name=name)
        return read.session, read.sequence

    assert identity({}) == ("", None)
    assert identity({"session_id": "s", "sequence": 7}) == ("s", 7)
    assert identity({}, "TICKET-a-b-007") == ("a-b", 7)
    assert identity({"ticket_id": "TICKET-s-003"}) == ("s", 3)
    assert identity({"ticket_id": "TICKET-s-003"}, "notes") == ("s", 3)
    expected = ("ticket_id", "has to be TICKET-s-004, as the file is called", 2)
    assert mistake(identity, {"ticket_id": "TICKET-s-003"}, "TICKET-s-004") == expected
    step = {"iteration": {"parent_ticket": "TICKET-s-001"}}
    assert build({"title": "[Iteration 1/2]", **step}, body(REQUIRED)).parent == "TICKET-s-001"
    assert build({"title": "[Iteration 1/2]"}, body(REQUIRED)).title == "[Iteration 1/2]"
    assert build({"title": "t"}, body(REQUIRED + "# Creator Section\nraw\n")).creator == "raw"


# Back from what we write


@given(named, blocks, st.lists(named, min_size=1, max_size=4), blocks)
def test_a_draft_reads_as_it_was_meant(title: str, what: str, said: list[str], context: str) -> None:
    criteria = tuple(Criterion(id=f"AC-{number}", text=text) for number, text in enumerate(said, start=1))
    page = draft(title=title, what=what, criteria=criteria, context=context)
    read = build(page.front, body(page.body))
    assert params(read, session="s", base=Commit("b")) == TicketParams(
        firm=True,
        accepts_checked=True,
        session="s",
        title=read.title,
        base=Commit("b"),
        what=what or title,
        criteria=criteria,
        context=context,
    )
    assert read.what == (what or title)


def test_the_pages_of_a_session_read_back() -> None:
    for story in STORIES.values():
        for page, ticket in zip(story.pages, (*story.state.past, story.state.ticket), strict=False):
            read = build(page.front, body(page.body), name=page.name)
            assert (read.session, read.sequence, read.title) == ("session", ticket.number, PARAMS.title)
            assert (read.what, read.context, read.creator) == (
                PARAMS.what,
                PARAMS.context,
                ticket.notes or read.creator,
            )
            assert [(box.id, box.text) for box in read.criteria] == [(each.id, each.text) for each in PARAMS.criteria]
            assert [(each.outcome, each.accuracy) for each in read.history] == [
                (earlier.decision, earlier.accuracy) for earlier in story.state.past[: ticket.number - 1]
            ]
            assert len(read.changelog) == len(re.findall(r"^## \[", page.body, re.MULTILINE)) > 0


# Taking over


def taken(**changes: object) -> ReadTicket:
    front: dict[str, object] = {"session_id": "s", "title": "t", **changes}
    return build(front, body(REQUIRED))


def test_a_session_that_we_wrote_ourselves_can_be_taken_over() -> None:
    story = STORIES["routed-back"]
    reads = tuple(build(page.front, body(page.body), name=page.name) for page in story.pages)
    first, second = adopted(reads)
    was = story.state.past[0]
    assert (first.number, first.decision, first.accuracy, first.notes) == (1, Decision.ROUTE_BACK, 0.5, was.notes)
    assert {aspect.requirement for aspect in first.aspects} == {aspect.requirement for aspect in was.aspects}
    assert (second.number, second.parent, second.decision) == (2, 1, None)


def test_earlier_tickets_are_known_from_the_history_alone() -> None:
    history = [
        {"ticket": "TICKET-s-001", "outcome": "ROUTE_BACK", "accuracy": 0.3, "gaps": ["no tests"]},
        {"ticket": "TICKET-s-002", "outcome": "ROUTE_BACK", "accuracy": 0.2},
    ]
    feedback = [{"requirement": "r", "expected": "e", "actual": "a", "score": 1, "guidance": "g"}, {"requirement": "q"}]
    step = {"accuracy_score": 0.9, "score": 0.4}
    read = taken(sequence="003", attempt_history=history, structured_feedback=feedback, iteration=step)
    gap = Aspect(
        requirement="no tests", aspect="no tests", expected="no tests", actual="missing", passed=False, score=0.0
    )
    first, second, third = adopted((read,))
    assert (first.number, first.aspects, first.accuracy, first.score, first.trend) == (1, (gap,), 0.3, 0.3, "first")
    assert second.aspects == (
        Aspect(requirement="r", aspect="e", expected="e", actual="a", passed=True, score=1.0, guidance="g"),
        Aspect(requirement="q", aspect="q", expected="", actual="", passed=False, score=0.0),
    )
    assert (second.parent, second.accuracy, second.score, second.trend) == (1, 0.2, 0.4, "stalled")
    assert (third.number, third.parent, third.decision, third.accuracy) == (3, 2, None, 0.0)


def test_what_became_of_a_ticket_is_told_by_its_status_or_its_successor() -> None:
    two = adopted((taken(sequence=1, status="expediter_review"), taken(sequence=2, status="needs_changes")))
    assert [ticket.decision for ticket in two] == [Decision.ROUTE_BACK, Decision.ROUTE_BACK]
    (one,) = adopted((replace(taken(sequence=1, status="escalated"), reached=0.4),))
    assert (one.decision, one.accuracy) == (Decision.ESCALATE, 0.4)
    rising = adopted((taken(sequence=1), taken(sequence=2, iteration={"accuracy_score": 0.1}), taken(sequence=3)))
    assert [ticket.accuracy for ticket in rising] == [0.1, 0.0, 0.0]
    better = adopted((taken(sequence=1), replace(taken(sequence=2, status="route_back"), reached=0.5)))
    assert better[1].trend == "improving"
    same = adopted((taken(sequence=1), taken(sequence=2)))
    assert [ticket.trend for ticket in same] == ["first", "stalled"]
    assert adopted(()) == ()


def test_what_cannot_be_taken_over() -> None:
    history = [{"ticket": "TICKET-other-001", "outcome": "ROUTE_BACK"}]
    key, says, _ = mistake(adopted, (taken(sequence=2, attempt_history=history),))
    assert (key, says) == ("Attempt History", "'TICKET-other-001' is no ticket of this session")
    key, says, _ = mistake(adopted, (taken(sequence=1, status="approved"),))
    assert (key, says) == ("status", "is approved; there is nothing to go on with")


def test_the_session_that_a_ticket_asks_for() -> None:
    read = taken(cycle_type="product", iteration={"max": 3})
    assert params(read, session="s", base=SEED.commit) == TicketParams(
        firm=True,
        accepts_checked=True,
        session="s",
        title="t",
        base=SEED.commit,
        what="As CSV",
        criteria=(Criterion(id="AC-1", text="a"),),
        cycle="product",
        limits=TicketLimits(max=3),
    )
