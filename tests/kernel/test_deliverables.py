from typing import get_args

import pytest

from loopwright.kernel.deliverables import (
    LARGEST_FILE,
    FileDemand,
    FileFault,
    Format,
    fault_of,
    faults_in,
    placeholder_in,
)

GOOD = "# Title\n\nWhat it is.\n"
EMPTY = "it is empty: it has only headings, frontmatter or comments"


def fault(text: str | None, form: Format = "markdown", section: str = "") -> str:
    return fault_of(FileDemand(path="a", format=form, section=section), text)


@pytest.mark.parametrize("form", sorted({*get_args(Format)} - {"merged"}))
def test_a_file_has_to_be_there_and_say_something(form: Format) -> None:
    assert fault(None, form) == "it is not there"
    assert fault("", form) == fault(" \n\t\n\r\n", form) == "it is empty"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GOOD, ""),
        ("\ufeff# Title\r\n\r\nWhat it is.\r\n", ""),
        ("---\nname: a\n---\n# Title\n\nWhat it is.\n", ""),
        ("# Title\n```\ncode says something\n```\n", ""),
        ("# Title\n~~~ text\ncode\n```\n~~~~\n", ""),
        ("# Title\n\n## Part ##\n", EMPTY),
        ("# Title\n\n---\n\n***\n", EMPTY),
        ("# Title\n\n```python\n```\n", EMPTY),
        ("---\nname: a\n---\n# Title\n", EMPTY),
        ("---\nname: a\n---\n", EMPTY),
        ("# Title\n<!-- a\ncomment -->\n", EMPTY),
        ("Only text.\n", "it is no Markdown document: it has no heading"),
        ("#hashtag is no heading\n", "it is no Markdown document: it has no heading"),
        ("```\n# no heading\n```\n", "it is no Markdown document: it has no heading"),
        ("---\nOnly text below a line.\n", "it is no Markdown document: it has no heading"),
        ("Text above.\n\n# Title\n", "it has no text below a heading"),
    ],
)
def test_markdown_needs_a_heading_and_text_below_it(text: str, why: str) -> None:
    assert fault(text) == why


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("TODO", "TODO"),
        ("Look at this (FIXME).", "FIXME"),
        ("The limit is TBD.", "TBD"),
        ("tbd", "tbd"),
        ("- todo: say how", "todo:"),
        ("XXX", "XXX"),
        ("Lorem ipsum dolor sit amet.", "Lorem ipsum"),
        ("Owner: <insert name>", "<insert name>"),
        ("Owner: < your team >", "< your team >"),
        ("<placeholder>", "<placeholder>"),
        ("[Insert diagram here]", "[Insert diagram here]"),
        ("[TODO: numbers]", "[TODO: numbers]"),
        ("[ fill in ]", "[ fill in ]"),
        ("To be written.", "To be written"),
        ("**This section is still to be filled in**", "to be filled in"),
        ("Costs: to be determined", "to be determined"),
        ("| Costs | to be decided | low |", "to be decided"),
        ("The numbers are to be added later.", "to be added"),
        ("<!-- TODO -->", "TODO"),
        ("``` TODO ```, but TODO", "TODO"),
        ("`one` TODO ``two`", "TODO"),
    ],
)
def test_a_placeholder_is_named_with_its_line(line: str, word: str) -> None:
    said = f'line 3 is not written yet: "{word}"'
    text = f"# Title\nText.\n{line}\n"
    assert (fault(text), placeholder_in(text), fault(text, "text")) == (said, said, said)


def test_a_placeholder_in_the_frontmatter_is_one_too() -> None:
    assert fault(f"---\nowner: TBD\n---\n{GOOD}") == 'line 2 is not written yet: "TBD"'


@pytest.mark.parametrize(
    "line",
    [
        "A list of todos, and the todo list itself.",
        "`TODO` marks what is left; ``a `FIXME` too``.",
        "The function `TODO_LIST` and TODO_LIST.",
        "Bytes to be written to the disk are counted.",
        "The rows to be added\nto the table",
        "Files to be written: `a.json`",
        "See [your profile](profile.md) and [enter][1].",
        "A `Map<insert, String>` and Map<String>.",
        "```\nTODO: in code\n```",
        "~~~python\n# FIXME\n~~~",
        "- a list\n\n    ```\n    TODO\n    ```",
    ],
)
def test_what_only_talks_about_placeholders_is_fine(line: str) -> None:
    assert fault(f"# Title\n{line}\nText.\n") == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1}', ""),
        ("[0]", ""),
        ("0", ""),
        ("{}", "it is empty: it holds nothing"),
        ("null", "it is empty: it holds nothing"),
        ('{"a": "TODO"}', 'line 1 is not written yet: "TODO"'),
        ('{"a": 1, "a": 2}', "it is no JSON: the key 'a' is there twice in one object"),
        ('{"a": NaN}', "it is no JSON: NaN is no number of JSON"),
        ("{", "it is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[" * 100_000, "it is no JSON: it is nested too deeply"),
    ],
)
def test_json_is_read_strictly(text: str, why: str) -> None:
    assert fault(text, "json") == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\n", ""),
        ("# a comment\n- one\n", ""),
        ("a:\n  - b: c\n", ""),
        ("# only\n\n# comments\n", "it is empty: it has only comments"),
        ("a:\n\tb: 1\n", "it is no YAML: line 2 is indented with a tab"),
        ("just a sentence\n", "it is no YAML: it has neither a key nor a list"),
        ("a: FIXME\n", 'line 1 is not written yet: "FIXME"'),
    ],
)
def test_yaml_has_a_key_or_a_list_and_no_tabs(text: str, why: str) -> None:
    assert fault(text, "yaml") == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# Report\n\n## Security\n\nNothing found.\n", ""),
        ("# Report\n\n### **SECURITY** ###\n\n#### Secrets\n\nNone.\n", ""),
        ("# Report\nText.\n## Security\n\n## Performance\n\nFast.\n", 'its section "Security" is empty'),
        ("# Report\nText.\n## Security\n# Other\nText.\n", 'its section "Security" is empty'),
        ("# Report\nText.\n## Security\n\n# Security\nNone.\n", ""),
        ("# Report\n\nSecurity was looked at.\n", 'it has no section "Security"'),
        ("# Report\n\n## Security of data\n\nText.\n", 'it has no section "Security"'),
        ("# Report\n\n## Security\n\nTBD\n", 'line 5 is not written yet: "TBD"'),
        ("# Report\n\n## Security\n\nNone.\n\n## Performance\n\nTBD\n", ""),
    ],
)
def test_a_section_is_looked_into_alone(text: str, why: str) -> None:
    assert fault(text, section="Security") == why


def test_faults_are_told_by_file_and_section() -> None:
    whole, part = FileDemand(path="a.md"), FileDemand(path="a.md", section="Security")
    assert faults_in([(whole, GOOD), (part, GOOD), (whole, None)]) == (
        FileFault(path="a.md", section="Security", why='it has no section "Security"'),
        FileFault(path="a.md", why="it is not there"),
    )


def test_a_long_line_of_traps_is_read_quickly() -> None:
    for piece in ("` `` ", "<insert ", "[your ", "to be written ", "-: "):
        assert isinstance(fault("# Title\n" + piece * 20_000), str)


MARKED = "line 2 still has git's mark of a conflict"
UNSEEN = "it cannot be looked at for what is undecided (it is no text, or too large): a person decides it"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ""),
        ("", ""),
        ("x = 1  # TODO\n========\n", ""),
        ("    <<<<<<< quoted\n    =======\n", ""),
        ("one\n<<<<<<< ours\ntwo\n", MARKED),
        ("one\r\n>>>>>>>\r\n", MARKED),
        ("one\n=======\ntwo\n", MARKED),
        ("one\r\n=======", MARKED),
        ("\x89PNG\r\n\0", UNSEEN),
        ("caf\ufffd\n", UNSEEN),
        ("\0\n=======\n", MARKED),
    ],
)
def test_of_what_two_sides_changed_only_the_marks_are_looked_for(text: str | None, expected: str) -> None:
    assert fault(text, "merged") == expected


def test_what_is_too_large_is_not_taken_for_decided() -> None:
    almost = "x" * (LARGEST_FILE - 1)
    assert [fault(f"{almost}{end}", "merged") for end in ("x", "xx", "\u00e4")] == ["", UNSEEN, UNSEEN]


@pytest.mark.parametrize("path", ["README.md", "docs/INDEX.RST"])
def test_what_underlines_a_heading_is_no_mark_by_itself(path: str) -> None:
    demand = FileDemand(path=path, format="merged")
    assert fault_of(demand, "Heading\n=======\n") == ""
    assert fault_of(demand, "Heading\n>>>>>>> theirs\n=======\n") == MARKED
