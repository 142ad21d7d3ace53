import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.kernel.model import NOT_TOUCHED, CheckResult, Commit, Ending, Finding, Outcome, Severity, Verdict
from loopwright.loops.course import Station, stationed, steered
from loopwright.loops.tickets.files import Page, draft
from loopwright.loops.tickets.inheritance import guidance_for
from loopwright.loops.tickets.state import Decision, Ticket, is_completed
from tests.rooms.story_files import fits_schema
from tests.rooms.tickets.stories import (
    APPROVED,
    GREEN,
    LOOSE,
    PARAMS,
    PROTECTED,
    RED,
    ROUTED_BACK,
    SEED,
    SEED_ASPECTS,
    STORIES,
    TWICE,
    Step,
    Story,
    alone,
    announced,
    answered,
    asks,
    away,
    blocked,
    cancelled,
    checked,
    cleaned_up,
    conflicted,
    crashed,
    criticised,
    gate,
    judged,
    kept,
    landed,
    made,
    merged,
    not_landed,
    played,
)

HEADINGS = (
    *("Requirements", "Context", "Creator Section", "Critic Section", "Expediter Section", "Changelog"),
    *("Attempt History", "Structured Feedback", "Accumulated Issues"),
)


def shown(story: Story) -> tuple[Page, ...]:
    return story.pages


def last(story: Story) -> Page:
    return shown(story)[-1]


def section(page: Page, name: str) -> str:
    """A section's text without its heading."""
    found = re.search(rf"^# {name}\n(.*?)(?=^# |\Z)", page.body, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


# As it looks


@pytest.mark.parametrize("name", ["routed-back", "approved", "escalated"])
def test_the_files_of_a_session(golden: Callable[[str, str], None], name: str) -> None:
    text = "\n".join(f"<!-- {page.name}.md -->\n{page.text}" for page in shown(STORIES[name]))
    golden(f"texts/tickets/{name}.md", text)


def test_the_seeds_two_tickets(golden: Callable[[str, str], None]) -> None:
    text = "\n".join(f"<!-- {page.name}.md -->\n{page.text}" for page in alone(SEED))
    golden("texts/tickets/seed.md", text)


def test_the_seeds_second_ticket_has_the_seeds_words() -> None:
    second = alone(SEED)[1]
    iteration = {
        "index": 2,
        "max": 5,
        "parent_ticket": "TICKET-session-001",
        "accuracy_score": 0.6,
        "score": 0.764,
    }
    assert second.front["iteration"] == iteration
    assert (second.front["parent_ticket"], second.front["sequence"]) == ("TICKET-session-001", "002")
    assert second.front["title"] == "[Iteration 2/5] Time-outs of the client"
    assert section(second, "Attempt History").startswith(
        "## Attempt 1: TICKET-session-001\n"
        "- **Outcome**: ROUTE_BACK\n"
        "- **Accuracy**: 0.60\n"
        '- **Key Gaps**: ["Lint", "Test Coverage", "Error Handling"]\n'
    )
    assert (
        "### Requirement: Test Coverage\n"
        "| Expected | Actual | Score |\n"
        "|----------|--------|-------|\n"
        "| >= 80% line coverage | 45% coverage | 0.56 |\n"
        "| Error paths tested | 2 of 6 tested | 0.33 |\n"
        "\n"
        "**Guidance**: Add tests for handleTimeout() and processEmpty()\n"
        "**Priority**: fix first, 0.33 is below 0.5\n"
    ) in second.body


def test_feedback_begins_with_the_lowest_score_and_guides_every_requirement() -> None:
    told = section(alone(SEED)[1], "Structured Feedback")
    names = re.findall(r"^### Requirement: (.*)$", told, re.MULTILINE)
    assert names[:3] == ["Lint", "Test Coverage", "Error Handling"]
    assert len(re.findall(r"^\*\*Guidance\*\*: \S", told, re.MULTILINE)) == len(names)
    assert told.count("**Priority**") == 2
    assert guidance_for(SEED_ASPECTS[2:3]) == "Reach: every call has a time-out (now: 3 of 4 calls)"
    assert guidance_for(SEED_ASPECTS[4:]) == "Met; keep it so."


def test_the_history_is_cumulative_and_flags_what_got_worse() -> None:
    worse = replace(SEED.past[0], number=2, parent=1, worse=True, accuracy=0.5, decision=Decision.ESCALATE)
    state = replace(SEED, past=(*SEED.past, worse), ticket=Ticket(number=3, parent=2))
    told = section(alone(state)[2], "Attempt History")
    first, second = told.split("\n\n")
    assert first == section(alone(SEED)[1], "Attempt History")
    assert second.splitlines()[1:3] == ["- **Outcome**: ESCALATE", "- **Accuracy**: 0.50"]
    assert second.endswith("- **Worse**: more is wrong than in the attempt before")


def test_issues_are_told_apart_by_what_became_of_them() -> None:
    renamed = replace(LOOSE, rule="N2", issue="y says nothing")
    high = replace(renamed, severity=Severity.HIGH, category="security")
    third = played(
        *ROUTED_BACK,
        *(made("Second"), kept("src/client.py"), criticised(LOOSE, high), checked(*GREEN), announced),
    )
    told = section(last(third), "Accumulated Issues")
    assert told.splitlines()[:3] == [
        "- **Previous accuracy**: 0.50",
        "- **Current accuracy**: 0.80",
        "- **Delta**: +0.30",
    ]
    marks = re.findall(r"^- (RESOLVED|ONGOING|NEW) \[(\w+)\]", told, re.MULTILINE)
    assert marks == [
        ("NEW", "CRITICAL"),
        ("ONGOING", "MEDIUM"),
        *[("RESOLVED", "CRITICAL")],
        *[("RESOLVED", "HIGH")] * 3,
    ]
    assert all("; rationale: " in line for line in told.splitlines() if line.startswith(("- NEW", "- ONGOING")))


def test_what_was_resolved_once_and_is_back_is_not_listed_as_resolved() -> None:
    gone = Ticket(
        number=2, parent=1, resolved=(LOOSE, replace(LOOSE, fingerprint="other")), decision=Decision.ROUTE_BACK
    )
    back = Ticket(number=3, parent=2, findings=(LOOSE,), decision=Decision.ROUTE_BACK)
    state = replace(SEED, past=(*SEED.past, gone, back), ticket=Ticket(number=4, parent=3))
    told = section(alone(state)[3], "Accumulated Issues")
    assert told.count("RESOLVED") == 1


# Whose turn it is

STATUSES: list[tuple[str, Story]] = [
    ("open", STORIES["start"].first(1)),
    ("in_progress", STORIES["start"]),
    ("claimed", played(away)),
    ("critic_review", played(made("x"))),
    ("critic_review", played(*ROUTED_BACK[:2])),
    ("expediter_review", played(*ROUTED_BACK[:3])),
    ("expediter_review", played(*ROUTED_BACK[:4])),
    ("expediter_review", played(*APPROVED[:3], params=replace(PARAMS, judge=True))),
    ("blocked", played(asks("Which one?"))),
    ("blocked", played(made("x"), kept("a", protected=PROTECTED), criticised(), checked(*GREEN))),
    ("approved", played(*APPROVED)),
    ("approved", played(*APPROVED, landed)),
    ("escalated", played(*APPROVED, not_landed)),
    ("escalated", STORIES["escalated"]),
    ("escalated", played(*ROUTED_BACK, *ROUTED_BACK, answered("accept"), params=TWICE)),
    ("escalated", played(*ROUTED_BACK, *ROUTED_BACK, answered("accept"), landed, params=TWICE)),
    ("blocked", played(cancelled)),
    ("blocked", played(cancelled, cleaned_up)),
]


@pytest.mark.parametrize(("status", "story"), STATUSES)
def test_the_status_follows_the_session(status: str, story: Story) -> None:
    page = last(story)
    assert page.front["status"] == status
    assert ("- [x]" in page.body) == (status == "approved")
    assert fits_schema("ticket", page.front)


def test_a_ticket_that_is_over_keeps_its_decision() -> None:
    assert [page.front["status"] for page in shown(STORIES["approved"])] == ["route_back", "approved"]
    lost = replace(SEED, past=(replace(SEED.past[0], decision=None),))
    assert [page.front["status"] for page in alone(lost)] == ["blocked", "open"]
    nothing = steered(STORIES["approved"].state, outcome=None)
    assert alone(nothing)[-1].front["status"] == "blocked"


def test_a_session_is_completed_when_its_result_was_taken() -> None:
    done = {ending: Outcome(ending=ending) for ending in Ending}
    taken = [ending for ending, outcome in done.items() if is_completed(steered(SEED, outcome=outcome))]
    assert taken == [Ending.VERIFIED, Ending.ACCEPTED]
    assert not is_completed(SEED)


def test_a_section_is_filled_before_the_next_role_starts() -> None:
    steps: tuple[Step, ...] = ROUTED_BACK[:4]
    waits = ("Waiting for the creator.", "Waiting for the critics.", "Waiting for the expediter.")
    told = [[wait in last(played(*steps[:size])).body for wait in waits] for size in (0, 1, 2, 3, 4)]
    assert told == [
        [True, True, True],
        [False, True, True],
        [False, True, True],
        [False, False, True],
        [False, False, False],
    ]


def test_who_claimed_it() -> None:
    assert [page.front["claimed_by"] for page in shown(STORIES["approved"])] == ["alpha", "beta"]
    assert alone(STORIES["start"].state)[-1].front["claimed_by"] is None
    assert last(STORIES["start"]).front["claimed_by"] == "alpha"
    nobody = played(params=replace(PARAMS, creators=()))
    assert last(nobody).front["claimed_by"] == "creator"
    chosen = played(*ROUTED_BACK, *ROUTED_BACK, answered("reassign", "creator=delta"), params=TWICE)
    assert [page.front["claimed_by"] for page in shown(chosen)] == ["alpha", "alpha", "delta"]


def test_a_ticket_stays_claimed_by_whom_it_was_given_to_although_another_has_the_role_now() -> None:
    silent = (crashed(), crashed(), kept("a"), criticised(LOOSE, verdict=Verdict.FAIL), checked(*RED), announced)
    chosen = played(*silent, *silent, answered("reassign", "creator=delta"), params=TWICE)
    assert [page.front["claimed_by"] for page in shown(chosen)] == ["alpha", "alpha", "delta"]


def test_where_the_work_is_done_is_told() -> None:
    assert last(STORIES["start"]).front["worktree_path"] == ".worktrees/ticket-7"
    assert alone(SEED)[0].front["worktree_path"] is None


# What each role left


def test_a_question_of_the_creator_is_a_concern_and_one_of_the_judge_a_hold() -> None:
    creator = last(played(asks("Which one?")))
    assert "## Concerns\n\n> Which one?" in creator.body
    assert section(creator, "Expediter Section") == "Waiting for the expediter."
    judge = last(played(*APPROVED[:4], asks("Is it?"), params=replace(PARAMS, judge=True)))
    assert "## Concerns\n\nNone." in judge.body
    assert section(judge, "Expediter Section") == "## Quality Gate Decision\n\nCLARIFICATION NEEDED\n\n> Is it?"


def test_a_question_of_a_critic_is_in_its_section() -> None:
    asking = played(*APPROVED[:2], asks("Which one?", role="critic"))
    assert section(last(asking), "Critic Section") == "CLARIFICATION NEEDED\n\n> Which one?"
    assert last(asking).front["status"] == "blocked"


def test_a_ticket_that_could_not_be_merged_says_so_and_so_does_the_next() -> None:
    first, second = shown(played(*APPROVED, conflicted))
    assert (first.front["status"], "- [x]" in first.body) == ("route_back", False)
    steps = section(first, "Expediter Section").partition("## Next Steps\n\n")[2]
    assert steps.startswith("- **Not landed**: src/client.py\n\nTICKET-session-002 carries the history")
    assert "- **Not landed**: src/client.py" in section(second, "Attempt History")
    assert "NEW [CRITICAL] It does not go together" in section(second, "Accumulated Issues")
    assert section(second, "Changelog").startswith("## [2026-01-17 10:43:00Z] - Expediter: created")


def test_answers_and_guidance_of_a_person_are_in_the_context() -> None:
    said = played(asks("Which one?"), answered("answer", "the first"))
    assert "## Answers from the coordinator\n\n> Which one?\n> → the first" in last(said).body
    shown_how = played(*ROUTED_BACK, *ROUTED_BACK, answered("examples", "like this\nand that"), params=TWICE)
    assert (
        "## Move\n\n- examples\n\n## Guidance from the coordinator\n\n> like this\n> and that" in last(shown_how).body
    )
    assert "coordinator" not in section(shown(shown_how)[1], "Context")


def test_after_a_split_a_ticket_names_its_own_criteria() -> None:
    story = played(*ROUTED_BACK, *ROUTED_BACK, answered("split", "AC-2"), params=TWICE)
    assert "AC-1" not in section(last(story), "Requirements")
    assert "- [ ] AC-2: The time is configurable" in section(last(story), "Requirements")
    bare = last(played(params=replace(PARAMS, criteria=(), what="", context="")))
    assert section(bare, "Requirements").endswith("## Acceptance Criteria\n\nNone named.")
    assert "## What We're Building\n\n> Time-outs of the client\n" in bare.body
    assert section(bare, "Context") == ""


def test_a_creator_without_notes_or_changes_is_told() -> None:
    told = section(last(played(made(""), kept())), "Creator Section")
    assert "The creator left no notes." in told
    assert "No file was changed." in told


def test_the_critics_decision() -> None:
    def decision(*steps: Step) -> str:
        told = section(last(played(made("x"), kept("a"), *steps)), "Critic Section")
        return told.partition("## Approval Decision\n\n")[2].partition("\n")[0]

    leak = Finding(severity=Severity.LOW, issue="the token is logged", category="security")
    assert decision(criticised(LOOSE)) == "APPROVED"
    assert decision(criticised(leak)) == "NEEDS_CHANGES"
    assert decision(criticised(LOOSE, verdict=Verdict.FAIL)) == "NEEDS_CHANGES"
    assert decision(crashed(), crashed("again")) == "NEEDS_CHANGES"


def test_every_critic_gives_its_reason() -> None:
    two = replace(PARAMS, critics=("critic", "architect"))
    told = section(
        last(played(made("x"), kept("a"), criticised(), criticised(summary="Sound"), params=two)), "Critic Section"
    )
    assert "## Audit Findings\n\nNone." in told
    assert "- critic, pass:\n\nNo reason was given.\n\n- architect, pass:\n\n> Sound" in told
    silent = section(last(played(made("x"), kept("a"), crashed(), crashed("gone"))), "Critic Section")
    assert "- critic, no verdict:\n\n> crashed: gone" in silent


def test_a_judge_agents_advice_is_told_to_this_ticket_and_the_next() -> None:
    steps = (*ROUTED_BACK[:4], judged("Look at the tests", LOOSE), announced)
    story = played(*steps, params=replace(PARAMS, judge=True))
    first, second = shown(story)
    assert "CREATE_REWORK_TICKET\n\n> Look at the tests\n\n## Next Steps" in first.body
    assert "**Judge**:\n\n> Look at the tests" in section(second, "Structured Feedback")


def test_nothing_judged_is_told_as_such() -> None:
    bare = Ticket(number=1, commit=Commit("c"), decision=Decision.ROUTE_BACK, trend="first")
    first, second = alone(replace(SEED, past=(bare,)))
    assert "- **Accuracy**: 0.00 (not judged)" in first.body
    assert section(second, "Structured Feedback") == "Nothing was judged."


def test_where_the_result_went() -> None:
    def steps(story: Story) -> str:
        return section(last(story), "Expediter Section").partition("## Next Steps\n\n")[2]

    assert steps(played(*APPROVED[:4])) == ""
    assert steps(played(*APPROVED)) == "The work is landed on the session's branch."
    assert steps(played(*APPROVED, landed)) == f"- **Result**: verified, on loop/ticket-7 at {'c' * 40}"
    assert steps(played(*APPROVED, merged)).endswith(", merged into refs/heads/main")
    assert steps(played(*APPROVED, not_landed)) == "- the result could not be landed: src/client.py"
    taken = played(*ROUTED_BACK, *ROUTED_BACK, answered("accept"), landed, params=TWICE)
    assert steps(taken).endswith(f"- **Result**: accepted, on loop/ticket-7 at {'c' * 40}")
    assert "**Result**" not in shown(taken)[0].body


def test_an_escalation_offers_what_can_be_done() -> None:
    one = replace(TWICE, criteria=PARAMS.criteria[:1])
    nothing = (crashed(), crashed("x"), kept(), criticised(), checked(*GREEN), announced)
    told = section(last(played(*nothing, *nothing, params=one)), "Expediter Section").partition("### Options\n\n")[2]
    offered = ["continue", "examples", "reassign", "history", "revise", "cancel"]
    assert re.findall(r"- \*\*(\w+)\*\*:", told) == offered
    full = section(last(STORIES["escalated"]), "Expediter Section").partition("### Options\n\n")[2]
    assert re.findall(r"- \*\*(\w+)\*\*:", full) == [
        *("continue", "split", "examples", "reassign", "accept", "history", "revise", "cancel")
    ]


@pytest.mark.parametrize(
    ("trend", "word"), [("stalled", "stuck"), ("first", "one attempt only"), ("oscillating", "oscillating")]
)
def test_the_pattern_of_the_attempts(trend: str, word: str) -> None:
    ticket = replace(SEED.past[0], decision=Decision.ESCALATE, trend=trend)
    page = alone(stationed(replace(SEED, ticket=ticket, past=(ticket,)), Station.ESCALATED))[0]
    assert f"- **Trend**: {word}\n" in page.body
    assert "| 1 | TICKET-session-001 | 0.60 | none |" in page.body


def test_what_was_over_when_it_was_taken_over_has_no_file_of_ours() -> None:
    params = replace(PARAMS, adopted=SEED.past)
    assert [page.name for page in shown(played(params=params))] == ["TICKET-session-002"]
    begun = replace(PARAMS, adopted=(*SEED.past, Ticket(number=2, parent=1)))
    story = played(params=begun)
    assert [page.name for page in shown(story)] == ["TICKET-session-002"]
    assert last(story).front["created"] == "2026-01-17T10:31:00Z"


def test_a_draft_is_a_ticket_without_a_past() -> None:
    page = draft(title="Add\nan export", what="As CSV", criteria=PARAMS.criteria, context="src/", cycle="design")
    assert page.front == {"title": "Add an export", "cycle_type": "design", "status": "open"}
    assert page.body == (
        "# Requirements\n\n## What We're Building\n\n> As CSV\n\n## Acceptance Criteria\n\n"
        "- [ ] AC-1: A call that takes too long raises \\`Timeout\\`\n- [ ] AC-2: The time is configurable\n\n"
        "# Context\n\n> src/\n"
    )
    bare = draft(title="Add", what="", criteria=PARAMS.criteria[:1])
    assert bare.front["cycle_type"] == "development"
    assert "## What We're Building\n\n> Add\n" in bare.body
    assert "# Context" not in bare.body


# The changelog


def test_a_longer_log_only_ever_adds_to_the_changelogs() -> None:
    steps = (
        *(asks("Which?"), answered("answer", "this"), crashed("x"), blocked("no disk"), answered("answer", "go on")),
        *(made("x"), kept("a", protected=PROTECTED), criticised(LOOSE), checked(*GREEN), gate(approved=True)),
        *(checked(*GREEN), announced, not_landed, answered("continue"), *ROUTED_BACK, *APPROVED, landed),
    )
    held: dict[str, str] = {}
    for size in range(len(steps) + 1):
        story = played(*steps[:size])
        for page in shown(story):
            told = section(page, "Changelog")
            assert told.startswith(held.get(page.name, ""))
            held[page.name] = told
    assert sorted(held) == [f"TICKET-session-{number:03d}" for number in (1, 2, 3)]


def test_the_same_state_and_log_give_the_same_bytes() -> None:
    one, other = (played(*ROUTED_BACK, *APPROVED, landed) for _ in range(2))
    assert shown(one) == shown(other)


# What was deferred


def test_an_approved_ticket_lists_what_was_deferred_and_ticks_what_passed() -> None:
    minor = replace(LOOSE, severity=Severity.HIGH)
    story = played(made("x"), kept("a"), criticised(minor), checked(*GREEN), announced, landed)
    steps = section(last(story), "Expediter Section")
    assert "### Deferrable: HIGH\n\n- [HIGH] src/client.py - x says nothing; requirement: not mapped" in steps
    assert section(last(story), "Requirements").count("- [x]") == 2


def test_a_box_stays_empty_while_what_it_is_judged_by_fails() -> None:
    """So it was approved under earlier rules."""
    before = replace(PARAMS, firm=False)
    against = Finding(severity=Severity.HIGH, issue="no time-out at all", rule="T", requirement="AC-1", file="a")
    story = played(
        *(made("x"), kept("a"), criticised(against, verdict=Verdict.FAIL), checked(*GREEN), announced, landed),
        params=before,
    )
    boxes = [line[:8] for line in section(last(story), "Requirements").splitlines() if line.startswith("- [")]
    assert boxes == ["- [ ] AC", "- [x] AC"]


def test_a_check_that_did_not_run_has_judged_nothing() -> None:
    idle = CheckResult(name="lint", passed=True, note=NOT_TOUCHED)
    story = played(*APPROVED[:3], checked(*GREEN, idle), announced)
    assert "| Lint | not judged | not run: nothing in its paths changed |" in section(last(story), "Expediter Section")
