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
        ShapeCriterion("The API stays"),
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
        ShapeCriterion("POST returns 201"),
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
    assert (found.criteria, len(found.decisions)) == ((ShapeCriterion("a"),), 1)


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
    ],
)
def test_what_cannot_be_worked_by_is_said_in_a_sentence(page: str, part: str) -> None:
    said = read_shape_page(page)
    assert isinstance(said, str)
    assert part in said
