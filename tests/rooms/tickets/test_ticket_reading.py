"""The Markdown of tickets: read strictly, and back from what we write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.markdown import markdown_lines
from loopwright.errors import ConfigError
from loopwright.kernel.quoting import inline, quoted
from loopwright.kernel.visible import is_harmless
from loopwright.loops.tickets.body import Body, Box, boxes_of, read_body, what_of
from loopwright.loops.tickets.earlier import (
    Attempt,
    FeedbackRow,
    ToldEntry,
    attempts_of,
    changelog_of,
    feedback_of,
    told_accuracy,
)
from loopwright.loops.tickets.markdown import cell, plain_cells, table, unescaped, unquoted

words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]).filter(is_harmless), max_size=60)
lines = st.one_of(words, st.text("\\|`*_#>[]()-: a1", max_size=40)).map(lambda text: " ".join(text.split()))
named = lines.map(lambda text: text or "x")
blocks = st.lists(lines, max_size=5).map(lambda found: "\n".join(found).strip("\n"))


def body(text: str) -> Body:
    return read_body(markdown_lines(text), "t.md")


def mistake(call: object, *arguments: object) -> tuple[str, str, int | None]:
    with pytest.raises(ConfigError) as error:
        call(*arguments)  # type: ignore[operator]
    return error.value.key, error.value.expected, error.value.line


# Words in and out


@given(lines)
def test_what_is_put_into_a_line_comes_out_again(text: str) -> None:
    assert unescaped(inline(text, 1000)) == text


@given(st.lists(lines, min_size=1, max_size=4))
def test_what_is_put_into_a_table_comes_out_again(row: list[str]) -> None:
    written = table(tuple("abcd"[: len(row)]), (tuple(row),)).split("\n")
    assert plain_cells(written[2]) == tuple(row)


@given(blocks)
def test_what_is_quoted_comes_out_again(text: str) -> None:
    assert unquoted(tuple(f"\n{quoted(text)}\n".split("\n"))) == text


def test_cells_without_bars_around_them() -> None:
    assert plain_cells(r"a | b \| c |") == ("a", "b | c")
    assert plain_cells("|a|b|") == ("a", "b")
    assert plain_cells(r"| a \|") == ("a |",)
    assert plain_cells(r"| a \\| b |") == ("a \\", "b")
    assert cell("a|b\nc") == r"a\|b c"


def test_a_text_that_is_only_partly_a_quote_stays_as_it_is() -> None:
    assert unquoted(("", "> a", "b  ", "")) == "> a\nb"
    assert unquoted(("> a", "", ">b")) == "a\n\nb"
    assert unquoted(("", "")) == ""


# Sections


def test_sections_are_headings_of_the_first_two_levels() -> None:
    read = body("# My title\nintro\n## requirements ##\na\n### Context\nb\n# CONTEXT\nc\n")
    assert (read.title, [section.name for section in read.sections]) == ("My title", ["Requirements", "Context"])
    assert read.text("Requirements") == "a\n### Context\nb"
    assert (read.text("Context"), read.text("Changelog")) == ("c", "")
    assert body("## A \\*b\\*\n# Requirements").title == "A *b*"
    assert body("no heading").title == ""
    titles = ("# a #", "# a#", "# a ## b", "#\ta\t##\t", "# ##", "####### a", "    # a", "#a", "#   ")
    assert [body(line).title for line in titles] == ["a", "a#", "a ## b", "a", "", "", "", "", ""]


def test_what_is_in_a_code_block_is_no_heading() -> None:
    read = body(
        "# Requirements\n```\n# Context\n~~~\n```` \n# Changelog\n~~~~ x\n# Context\n~~~\n~~~~\n`````a`\n# Context\n"
    )
    assert [(section.name, section.number) for section in read.sections] == [
        *(("Requirements", 1), ("Changelog", 6), ("Context", 12))
    ]
    assert [line.block for line in read.sections[0].lines] == ["code"] * 4


@pytest.mark.parametrize(
    "hidden",
    ["<!--\n# Context\n-->", "<pre>\n# Context\n</pre>", "    # Context", "> # Context", "- # Context", "Context\n==="],
)
def test_what_a_rendered_page_does_not_show_as_a_heading_with_a_mark_is_no_section(hidden: str) -> None:
    read = body(f"# Requirements\n\n{hidden}\n")
    assert [section.name for section in read.sections] == ["Requirements"]


def test_a_checkbox_in_a_comment_is_no_criterion() -> None:
    read = body("# Requirements\n- [ ] a\n\n<!--\n- [ ] b\n-->\n")
    assert [box.text for box in boxes_of(read)] == ["a"]


def test_a_section_may_be_there_only_once() -> None:
    text = "# Requirements\n\n# Context\n## Requirements\n"
    assert mistake(body, text) == ("Requirements", "is there twice, first on line 1; keep one", 4)


def test_the_text_of_a_part_of_a_section() -> None:
    section = body("# Context\nlead\n## A\none\n## B\ntwo\n").sections[0]
    assert (section.lead, section.under("A"), section.under("C")) == ("lead", "one", "")
    assert section.under("") == "lead\n## A\none\n## B\ntwo"


# Requirements


def test_criteria_are_checkboxes_with_or_without_an_id() -> None:
    read = body(
        "# Requirements\nAdd an export.\n\n- [ ] AC-2: as **CSV**\n  with a header\n* [x] quick\n"
        "+ [X] **US-7**: named\n\tand tested\n- plain\n> - [ ] quoted\n```\n- [ ] code\n```\n- [ ]nothing\n\nThe end.\n"
    )
    assert boxes_of(read) == (
        Box(id="AC-2", text="as **CSV** with a header", done=False),
        Box(id="AC-1", text="quick", done=True),
        Box(id="US-7", text="named and tested", done=True),
    )
    rest = "- plain\n> - [ ] quoted\n```\n- [ ] code\n```\n- [ ]nothing\n\nThe end."
    assert what_of(read) == f"Add an export.\n\n{rest}"


def test_criteria_may_have_a_section_of_their_own() -> None:
    alone = body("# T\n## Acceptance Criteria\n- [ ] a\n## Context\nc\n")
    assert boxes_of(alone) == (Box(id="AC-1", text="a", done=False),)
    assert what_of(alone) == ""
    within = body("# Requirements\nwhat\n# Acceptance Criteria\n- [ ] a\n")
    assert (boxes_of(within), what_of(within)) == (boxes_of(alone), "what")
    mixed = body("# Requirements\n- [ ] a\n- [ ] AC-1: b\n- [ ] c\n")
    assert [(box.id, box.text) for box in boxes_of(mixed)] == [("AC-2", "a"), ("AC-1", "b"), ("AC-3", "c")]
    assert len(boxes_of(body("# Requirements\n" + "- [ ] a\n" * 200))) == 200
    before = body("# Acceptance Criteria\n- [ ] a\n# Requirements\n- [ ] b\n")
    assert [(box.id, box.text) for box in boxes_of(before)] == [("AC-1", "b"), ("AC-2", "a")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# T\n",
            ("", "there is no section `# Requirements`; add one with the acceptance criteria as `- [ ] AC-1: …`", 1),
        ),
        (
            "\n# Requirements\nnone\n",
            (
                "Requirements",
                "has no acceptance criterion; write each as a checkbox, such as `- [ ] AC-1: …`",
                2,
            ),
        ),
        (
            "# Requirements\n" + "- [ ] a\n" * 201,
            (
                "Requirements",
                "has 201 acceptance criteria, and 200 are the most; make several tickets of it",
                1,
            ),
        ),
        (
            "# Requirements\n- [ ] AC-1: a\n- [ ] ac-1: b\n",
            ("", "the criterion ac-1 is there twice; keep one", 3),
        ),
    ],
)
def test_criteria_that_cannot_be(text: str, expected: tuple[str, str, int]) -> None:
    assert mistake(boxes_of, body(text)) == expected


# The past

SEED_TEXT = """\
# Attempt History

## Attempt 1: TICKET-session-001
- **Outcome**: ROUTE_BACK
- **Accuracy**: 0.30
- **Key Gaps**: ["no tests", "no error handling"]

## Attempt 2: TICKET-session-002
- **Outcome**: ROUTE_BACK

# Structured Feedback

### Requirement: Test Coverage
| Expected | Actual | Score |
|----------|--------|-------|
| >= 80% line coverage | 45% coverage | 0.56 |
| Error paths tested | 2 of 6 tested | 0.33 |

**Guidance**: Add tests for handleTimeout() and processEmpty()

## Names
| Aspect | Expected | Actual |
| :--- | --- | ---: |
| a | b | c |

### Requirement: Only \\*this\\*

# Changelog

## [2026-01-17 10:30] - Creator: work_done
- done \\*so\\*

## [2026-01-17] - Coordinator
> all
> of it
"""


def test_the_past_in_the_seeds_own_words() -> None:
    read = body(SEED_TEXT)
    assert attempts_of(read) == (
        Attempt(
            ticket="TICKET-session-001",
            outcome="ROUTE_BACK",
            accuracy=0.3,
            gaps=("no tests", "no error handling"),
        ),
        Attempt(ticket="TICKET-session-002", outcome="ROUTE_BACK"),
    )
    guidance = "Add tests for handleTimeout() and processEmpty()"
    assert feedback_of(read) == (
        FeedbackRow(
            requirement="Test Coverage",
            expected=">= 80% line coverage",
            actual="45% coverage",
            score=0.56,
            guidance=guidance,
        ),
        FeedbackRow(
            requirement="Test Coverage",
            expected="Error paths tested",
            actual="2 of 6 tested",
            score=0.33,
            guidance=guidance,
        ),
        FeedbackRow(requirement="Names", expected="b", actual="c"),
        FeedbackRow(requirement="Only *this*"),
    )
    assert changelog_of(read) == (
        ToldEntry(at="2026-01-17 10:30", role="Creator", what="work_done", text="done *so*"),
        ToldEntry(at="2026-01-17", role="Coordinator", text="all\nof it"),
    )
    empty = body("# T")
    assert (attempts_of(empty), feedback_of(empty), changelog_of(empty), told_accuracy(empty)) == ((), (), (), None)


ENTRY = "expected `[date time] - Role: entry` with a role of Creator, Critic, Expediter, Coordinator"
HISTORY, FEEDBACK = "Attempt History", "Structured Feedback"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "## Attempt 1: TICKET-session-001",
            "## Attempt one",
            (HISTORY, 'expected `Attempt N: TICKET-<session>-NNN`, found the text "Attempt one"', 3),
        ),
        (
            "TICKET-session-001",
            "TICKET-../x-001",
            (HISTORY, 'expected `Attempt N: TICKET-<session>-NNN`, found the text "Attempt 1: TICKET-../x-001"', 3),
        ),
        (
            "ROUTE_BACK\n- **Acc",
            "FAILED\n- **Acc",
            (HISTORY, 'expected an Outcome that is one of APPROVE, ROUTE_BACK, ESCALATE, found the text "FAILED"', 4),
        ),
        (
            "- **Outcome**: ROUTE_BACK\n\n#",
            "\n\n#",
            (HISTORY, "expected an Outcome that is one of APPROVE, ROUTE_BACK, ESCALATE, found an empty text", 8),
        ),
        ("0.30", "30%", (HISTORY, 'expected a number from 0 to 1, found the text "30%"', 5)),
        ("0.30", "1.1", (HISTORY, 'expected a number from 0 to 1, found the text "1.1"', 5)),
        ('["no tests"', '[1, "no tests"', ("Key Gaps", 'expected a list of texts, such as ["no tests"]', 6)),
        ('["no tests"', "[" * 9999, ("Key Gaps", 'expected a list of texts, such as ["no tests"]', 6)),
        ("| 0.56 |", "| much |", (FEEDBACK, 'expected a number from 0 to 1, found the text "much"', 16)),
        ("| 0.56 |", "|", (FEEDBACK, "the row has 2 cells", 16)),
        (
            "| Expected | Actual | S",
            "| Wanted | Actual | S",
            (FEEDBACK, "the table needs the columns Expected and Actual", 14),
        ),
        ("| b | c |", "| b |", (FEEDBACK, "the row has 2 cells", 24)),
        (
            "## [2026-01-17] - Coordinator",
            "## Notes",
            (
                "Changelog",
                f'{ENTRY}, found the text "Notes"',
                33,
            ),
        ),
        (
            "- Coordinator",
            "- Root",
            (
                "Changelog",
                f'{ENTRY}, found the text "[2026-01-17] - Root"',
                33,
            ),
        ),
    ],
)
def test_a_past_that_cannot_be_is_told_with_its_line(old: str, new: str, expected: tuple[str, str, int]) -> None:
    assert SEED_TEXT.count(old) >= 1
    read = body(SEED_TEXT.replace(old, new, 1))

    def all_of_it() -> None:
        attempts_of(read)
        feedback_of(read)
        changelog_of(read)

    assert mistake(all_of_it) == expected


def test_what_a_table_has_no_score_for_has_none() -> None:
    read = body("# Structured Feedback\n### Requirement: A\n| Expected | Actual | Score |\n| a | b | |\n")
    assert feedback_of(read) == (FeedbackRow(requirement="A", expected="a", actual="b"),)


def test_the_accuracy_that_an_expediter_tells() -> None:
    head = "# Expediter Section\nsome\n- **Score**: 0.5\n"
    assert told_accuracy(body(f"{head}- **Accuracy**: 0.75 (3 of 4)")) == 0.75
    assert told_accuracy(body(f"{head}- **Accuracy**: good\n* **Accuracy**: 1.0")) == 1.0
    assert told_accuracy(body(head)) is None
