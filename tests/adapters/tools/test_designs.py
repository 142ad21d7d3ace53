from pathlib import Path

import pytest

from loopwright.adapters.tools.designs import CORE, EXTENDED, judge_design, judge_plan, placeholders, prose
from loopwright.kernel.model import Severity, Verdict
from tests.adapters.tools.program import NOWHERE, Candidate

CRITICAL, HIGH, MEDIUM, LOW = Severity


def design(*more: str, **sections: str) -> str:
    """All sections of a medium story, and `more`; a keyword replaces the text of the section that begins with it."""
    usual = "Requests are answered within 200 ms.\n"
    text = ["# Greeting\n"]
    for title in (*CORE, *more):
        body = next((held for word, held in sections.items() if title.startswith(word)), usual)
        extra = "\n### Pattern Justification\n\nNone is needed.\n" if title.startswith("Proposed") else ""
        text.append(f"## {title}\n\n{body}{extra}")
    return "\n".join(text)


def judged(text: str, tier: str = "") -> list[tuple[Severity, str, int]]:
    return [(finding.severity, finding.rule, finding.line) for finding in judge_design("d.md", text, tier)]


def test_a_design_with_all_its_sections_passes() -> None:
    assert judged(design()) == []
    assert judged(design(*EXTENDED), "large") == []


def test_a_missing_section_is_critical_and_all_of_them_are_one_finding() -> None:
    text = design().replace("## Data Model", "## Models").replace("## Open Questions", "## Doubts")
    (finding,) = judge_design("d.md", text)
    assert (finding.severity, finding.rule, finding.line) == (CRITICAL, "D2", 0)
    assert finding.issue == "Required sections are missing: Data Model, Open Questions"
    assert "## Data Model" in finding.guidance


@pytest.mark.parametrize("said", ["tier: large\n", "**Tier**: Large\n", "- Tier: large\n"])
def test_a_large_story_needs_more_sections_however_its_tier_is_known(said: str) -> None:
    assert judged(design(Problem=said)) == judged(design(), "large") == [(CRITICAL, "D2", 0)]


def test_the_tier_comes_from_the_story_beside_the_design(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path, tools=NOWHERE)
    candidate.put("designs/ST-1-design.md", design())
    assert candidate.review("designs/ST-1-design.md", gate="design").verdict is Verdict.PASS
    candidate.put("stories/ST-1.yml", "id: ST-1\ntier: large\n")
    report = candidate.review("designs/ST-1-design.md", gate="design")
    assert (report.verdict, [finding.rule for finding in report.findings]) == (Verdict.FAIL, ["D2"])


def test_headings_may_be_numbered_and_written_in_any_case() -> None:
    assert judged(design().replace("## API / Interface", "## 4. api/interface ##")) == []


def test_a_section_that_is_there_twice_or_at_the_wrong_level_is_against_the_schema() -> None:
    twice = judge_design("d.md", design("Data Model"))
    assert [(finding.rule, finding.issue) for finding in twice] == [("D1", "The section Data Model is there twice")]
    deep = judge_design("d.md", design().replace("## Data Model", "#### Data Model"))
    assert [(finding.rule, finding.evidence) for finding in deep] == [("D1", "#### Data Model")]


def test_a_solution_without_its_pattern_justification_is_against_the_schema() -> None:
    text = design().replace("### Pattern Justification", "### Anything")
    (finding,) = judge_design("d.md", text)
    assert (finding.severity, finding.rule, finding.evidence) == (CRITICAL, "D1", "## Proposed Solution")


@pytest.mark.parametrize("words", ["TBD", "- TODO: decide", "N/A", "| size | N/A |", "The limit is to be determined."])
def test_placeholder_text_is_critical_at_its_section(words: str) -> None:
    text = design(Data=f"A table.\n\n{words}\n\nTBD too.\n")
    (finding,) = judge_design("d.md", text)
    assert (finding.severity, finding.rule) == (CRITICAL, "D3")
    assert text.splitlines()[finding.line - 1] == "## Data Model"
    assert finding.evidence.endswith(words)
    assert finding.issue.endswith(" and 1 more")


def test_an_empty_section_is_a_placeholder_too() -> None:
    found = judge_design("d.md", design(Data="\n   \n"))
    assert [(finding.rule, finding.issue) for finding in found] == [("D3", "The section Data Model is empty")]


@pytest.mark.parametrize("words", ["We use a reasonable timeout.", "It should be fast.", "Retries: as needed."])
def test_a_vague_value_is_high(words: str) -> None:
    found = judge_design("d.md", design(API=f"{words}\n"))
    assert [(finding.severity, finding.rule, finding.evidence) for finding in found] == [(HIGH, "D4", words)]


@pytest.mark.parametrize(
    "text",
    [
        "The TODO list of a user",
        "a todo item",
        "`TBD` marks what is open",
        "```\nTODO: example\n```",
        "<!-- TODO: for the author -->",
        "N/A values are dropped from the input",
        "---",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "see XXXL shirts",
    ],
)
def test_words_that_are_meant_are_no_placeholders(text: str) -> None:
    assert list(placeholders(prose(text))) == []


@pytest.mark.parametrize(
    "text",
    [
        *("TBD", "(tbd)", "TODO write this", "FIXME", "???", "Lorem ipsum dolor", "coming soon", "- n/a"),
        *("[insert name]", "**Owner:** N/A", "...", "To be decided", "{placeholder}"),
    ],
)
def test_words_that_stand_for_others_are(text: str) -> None:
    assert [line for line, _ in placeholders(prose(text))] == [1]


def test_prose_keeps_its_lines_and_an_open_fence_ends_nothing() -> None:
    lines = prose("a\n````\n```\nTODO\n````\nb `TODO` c\n~~~\nx")
    assert tuple(line.text for line in lines) == ("a", "", "", "", "", "b `code` c", "", "")


def test_a_plan_is_checked_for_placeholders_alone(tmp_path: Path) -> None:
    assert judge_plan("p.md", "# Plan\n\nWrite the test, then the code.\n") == ()
    assert [finding.issue for finding in judge_plan("p.md", " \n")] == ["The plan is empty"]
    candidate = Candidate(tmp_path, tools=NOWHERE)
    candidate.put("plan.md", "# Plan\n\n## Tests\n\nTBD\n")
    report = candidate.review("plan.md", gate="plan")
    assert report.verdict is Verdict.FAIL
    assert [(finding.severity, finding.rule, finding.line) for finding in report.findings] == [
        (CRITICAL, "placeholder", 3)
    ]
    assert report.summary == "plan.md: 1 finding; ran: placeholder check."
