"""The page that lists the guarantees names tests that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "guarantees.md"


def names_in(file: Path) -> set[str]:
    functions = (node for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if node.name.startswith("test_")}


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", PAGE.read_text())
    assert len(named) >= 40
    assert [f"{file}::{test}" for file, test in named if test not in names_in(ROOT / file)] == []
