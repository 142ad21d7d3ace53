"""A `SHAPE.md` read back: as we write it, and as other tools do."""

from __future__ import annotations

import pytest
from hypothesis import given

from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.shape import ENGINE_RULES, MustNot, ShapeCriterion, WorkShape, with_engine_rules
from loopwright.loops.workflow.shape_page import ShapeFacts, render_shape
from loopwright.loops.workflow.shape_text import read_shape_page
from tests.hostile import texts

FACTS = ShapeFacts(title="Validate tokens", spec=7, fit=35, reasons=("goal 2/2: clear",), chosen=ShapeChoice.TOOL)
OURS = WorkShape(
    criteria=(
        ShapeCriterion("Expired *tokens* are refused (all of them)", command=("pytest", "-k", "a|b", "x\\y", "_")),
        ShapeCriterion("The API stays", type="code review"),
        ShapeCriterion("It reads well", type="code review"),
    ),
    must_not=(MustNot("A `token` is logged", command=("./no-token", "a (b)")), *ENGINE_RULES),
    aspects=("API", "Auth"),
    decisions=("Keep it simple",),
    conflicts=("Speed against size",),
)
GATHERED = """\
---
aspects:
  - visual
---
# Shape: Comments
## Aspects
### Visual/UI
#### Constraints (Must NOT)
- [ ] Must NOT show a blank screen
#### Verification
```
□ Render with data=[] → empty state visible
# Criteria
- of nobody
```
## Loop Integration
### Success Criteria
```json
["Empty state renders", "POST returns 201", "All tests pass"]
```
### Must NOT (Failure Conditions)
```json
["Blank screen during load", {"text": "A secret is shown", "command": ["./no-secret"]}]
```
### Verification Commands
```json
{
  "Empty state renders": "grep 'empty-state\\\\|no-data' src/a.tsx",
  "POST returns 201": "curl localhost | jq .",
  "All tests pass": ["npm", "test"],
  "It is quick": {"type": "measurement", "command": "./quick"}
}
```
## Claude's Discretion
- names
"""
TABLED = """\
## criteria[]
1. A valid token
   passes
2. Expired ones fail

- [ ] Expired ones fail
not one
## mustNot[]
* Tokens in logs
## Verification table

| Criterion | Type | Command |
|:---|---|---:|
| A valid token passes | Execution-Output | `grep -c "a\\|b" src/auth.ts` |
| 2 | observation | none |

| other | table |
|---|---|
| a | b |
"""


def test_what_we_write_is_read_back_as_it_was() -> None:
    assert read_shape_page(render_shape(FACTS, OURS, {})) == OURS


@given(texts)
def test_whatever_stands_on_our_page_it_can_be_read(text: str) -> None:
    shape = with_engine_rules(WorkShape(criteria=(ShapeCriterion(f"a {text} z"),), must_not=(MustNot(f"b {text} y"),)))
    found = read_shape_page(render_shape(FACTS, shape, {}))
    assert isinstance(found, WorkShape)
    assert (len(found.criteria), len(found.must_not)) == (1, 2)


def test_lists_in_code_blocks_gather_what_the_aspects_say() -> None:
    found = read_shape_page(GATHERED)
    assert isinstance(found, WorkShape)
    assert found.criteria == (
        ShapeCriterion("Empty state renders", command=("grep", "empty-state\\|no-data", "src/a.tsx")),
        ShapeCriterion("POST returns 201", type="code review"),
        ShapeCriterion("All tests pass", command=("npm", "test")),
        ShapeCriterion("It is quick", type="measurement", command=("./quick",)),
    )
    assert [(rule.text, rule.command) for rule in found.must_not] == [
        ("Blank screen during load", ()),
        ("A secret is shown", ("./no-secret",)),
    ]
    assert found.decisions == (
        "the command of POST returns 201 needs a shell and is not run, the checks are: curl localhost | jq .",
    )


def test_bullets_and_a_table_say_it_too() -> None:
    found = read_shape_page(TABLED)
    assert isinstance(found, WorkShape)
    assert found.criteria == (
        ShapeCriterion("A valid token passes", command=("grep", "-c", "a|b", "src/auth.ts")),
        ShapeCriterion("Expired ones fail", type="observation"),
    )
    assert [rule.text for rule in found.must_not] == ["Tokens in logs", ENGINE_RULES[0].text]
    assert found.decisions == ()


@pytest.mark.parametrize("command", ["FOO=1 make", 'echo "$HOME"', "ls *.py", "'open", '["\\ud800"]', "[1"])
def test_what_is_no_plain_command_is_not_run(command: str) -> None:
    found = read_shape_page(f"# Criteria\n- a\n# Verification\n| criterion | command |\n|---|---|\n| a | {command} |\n")
    assert isinstance(found, WorkShape)
    assert (found.criteria, len(found.decisions)) == ((ShapeCriterion("a", type="code review"),), 1)


@pytest.mark.parametrize(
    ("page", "part"),
    [
        ("", "no criterion was found"),
        ("# Criteria\nNone.\n", "no criterion was found"),
        ("# Criteria\n- a\n# Verification\n| criterion | type |\n|---|---|\n| a | guess |\n", "expected one of"),
        (
            "# Criteria\n- a\n# Verification\n| criterion | type |\n|---|---|\n| a | assumption |\n",
            "assumed: criterion-1: a",
        ),
        ('# Criteria\n```json\n[{"text": "a"}]\n```\n', "shape.criteria[0]"),
        (
            "# Criteria\n- a\n# Verification\n| criterion | command |\n|---|---|\n| a | `curl http://0.0.0.0/x` |\n",
            "a command of a shape may reach HTTP on loopback only (localhost, 127.0.0.1, [::1]): criterion-1: http://0.0.0.0",
        ),
        (
            '# Criteria\n- a\n# Must not\n```\n[{"text": "b", "command": ["curl", "https://x.example"]}]\n```\n',
            "mustNot-1: https://x.example",
        ),
        (f"# Criteria\n- a\n- {'b' * 16_000}\n", "line 3 has more than 16,000 characters"),
    ],
)
def test_what_cannot_be_worked_by_is_said_in_a_sentence(page: str, part: str) -> None:
    said = read_shape_page(page)
    assert isinstance(said, str)
    assert part in said


# Each of these once took a time that grew far faster than the page.
_LONG = 15_000 // 10
_VERIFIED = "# Criteria\n- a\n# Verification\n| criterion | command |\n|---|---|\n"
ENDLESS = {
    "backticks": (_VERIFIED + f"| a | {'`' * 15_000} |\n" * 8, ("a",)),
    "quotes": (_VERIFIED + "| a | " + "'\"" * 7_000 + " |\n", ("a",)),
    "seen by": ("# Criteria\n- a\n# Must not\n" + f"- b{' (seen by ' * _LONG}\n" * 16, ("a",)),
    "no command": (f"# Criteria\n- criterion-1: a{' (no command of its own: ' * 600}\n" * 16 + "- a\n", None),
    "heading": (f"# Criteria{' ' * 15_000}#\n- a\n" + f"# a{'# ' * 7_000}x\n" * 16, ("a",)),
    "fences": ("# Criteria\n- a\n" + "```x\n" * 50_000, ("a",)),
    "empty lines": ("# Criteria\n- a\n" + "\n" * 250_000, ("a",)),
    "one bullet": ("# Criteria\n- a\n- b\n" + " c\n" * 80_000, None),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_page_that_was_made_to_be_slow_is_read_like_any_other(name: str) -> None:
    page, criteria = ENDLESS[name]
    found = read_shape_page(page)
    assert isinstance(found, WorkShape)
    assert criteria is None or tuple(each.text for each in found.criteria) == criteria


@pytest.mark.parametrize(
    ("cell", "command"),
    [("`make`", "make"), ("``a `b` c``", ""), ("`` make ``", "make"), ("`make``", ""), ("make", "make"), ("``", "")],
)
def test_code_in_a_cell_is_what_stands_between_its_marks(cell: str, command: str) -> None:
    found = read_shape_page(f"{_VERIFIED}| a | {cell} |\n")
    assert isinstance(found, WorkShape)
    assert " ".join(found.criteria[0].command) == command


@pytest.mark.parametrize(
    ("bullet", "text"),
    [
        ("criterion-1: It holds (code review)", "It holds"),
        ("criterion-1: It holds (no command of its own: all checks)", "It holds"),
        ("criterion-1: It holds (no command of its own: not shown)", "It holds"),
        ("criterion-1: It holds (always)", "It holds (always)"),
        ("It holds (code review)", "It holds (code review)"),
    ],
)
def test_what_our_page_adds_to_a_criterion_is_no_part_of_it(bullet: str, text: str) -> None:
    found = read_shape_page(f"# Criteria\n- {bullet}\n")
    assert isinstance(found, WorkShape)
    assert [each.text for each in found.criteria] == [text]
