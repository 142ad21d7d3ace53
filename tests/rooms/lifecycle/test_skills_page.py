"""The page about skills says what the code does."""

import re
from collections.abc import Callable
from pathlib import Path

from loopwright.loops.lifecycle.skills import REQUIRED, SKILLS, in_order
from loopwright.loops.lifecycle.states import NORMAL
from loopwright.loops.lifecycle.verifier import GATES

PAGE = (Path(__file__).parents[3] / "docs" / "guide" / "skills.md").read_text(encoding="utf-8")
BEGIN, END = "<!-- made from the code: ./run golden rewrites this table -->\n", "<!-- end -->\n"


def table() -> str:
    rows = [f"| {', '.join(_phases(name)) or '-'} | `{name}` | {_leaves(name)} |" for name in SKILLS]
    return "\n".join(["| phase | skill | leaves behind |", "|---|---|---|", *rows]) + "\n"


def _phases(name: str) -> list[str]:
    return [stage for stage in NORMAL if name in REQUIRED[stage]]


def _leaves(name: str) -> str:
    skill = SKILLS[name]
    if not skill.leaves:
        return "the engine itself does it" if skill.by_engine else "the change itself"
    return f"`{skill.leaves}`" + (f", section {skill.section}" if skill.section else "")


def test_the_table_of_skills_is_the_one_of_the_code(document: Callable[[str, str], None]) -> None:
    before, rest = PAGE.split(BEGIN)
    after = rest.split(END)[1]
    document("guide/skills.md", f"{before}{BEGIN}{table()}{END}{after}")


def test_the_primary_skill_of_a_phase_comes_last() -> None:
    said = re.search(r"the primary one last: (.*?)\n\n", PAGE, re.DOTALL)
    assert said
    assert {in_order(stage)[-1] for stage in NORMAL} == set(re.findall(r"`([a-z-]+)`", said[1]))
    assert all(sorted(in_order(stage)) == sorted(REQUIRED[stage]) for stage in NORMAL)


def test_the_table_of_gates_is_the_one_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([a-z, -]+) \|$", PAGE, re.MULTILINE)
    assert {gate: tuple(names.split(", ")) for gate, names in rows} == GATES
