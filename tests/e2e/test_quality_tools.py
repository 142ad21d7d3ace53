"""The whole loop without a model: `tools` reviews a real project with planted faults, `autofix` mends what it can."""

from pathlib import Path

import pytest

from loopwright.kernel.events import AgentReported
from tests.e2e.scene import Scene
from tests.repository import Repository

CODE = "src/shop/prices.py"
UNUSED = "import os\n"
PRICES = """\
import subprocess


def total(prices: list[int]) -> int:
    return "".join(str(price) for price in prices)


def label(name: str) -> None:
    subprocess.run("lpr " + name, shell=True, check=True)


def discount(price: int) -> int:
    if price > 100:
        return price - 10
    return price
"""
TEST = """\
import subprocess

from shop.prices import label, total


def test_the_total_of_nothing_is_nothing():
    assert not total([])


def test_a_label_is_printed(monkeypatch):
    printed = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: printed.append(command))
    label("x")
    assert printed == ["lpr x"]
"""
PROJECT = '[project]\nname = "shop"\nversion = "1"\n[tool.bandit]\nskips = ["B404"]\n'
SETTINGS = """\
version = 1
[agents.look]
kind = "tools"
[agents.mend]
kind = "autofix"
[roles]
reviewer = "look"
creator = "mend"
"""
LEFT = {("security", "B602"), ("types", "return-value"), ("coverage", "uncovered discount")}


def shop(folder: Path) -> Scene:
    """A fault of each kind: an unused import, a wrong type, a shell, a function that no test runs."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    scene.repo.write("pyproject.toml", PROJECT)
    scene.repo.write("src/shop/__init__.py", "")
    scene.repo.write(CODE, UNUSED + PRICES)
    scene.repo.write("tests/test_prices.py", TEST)
    scene.repo.write("loop.toml", SETTINGS)
    scene.repo.commit("A shop")
    return scene


def kinds(findings: list[dict[str, str]]) -> set[tuple[str, str]]:
    return {(each["category"], each["rule"]) for each in findings}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_tools_find_a_fault_of_every_kind_and_what_autofix_cannot_mend_is_left_to_a_person(tmp_path: Path) -> None:
    scene = shop(tmp_path)
    before = scene.person()
    words = ("review", CODE, "--gate", "quality", "--mode", "comprehensive", "--unattended", "--json")
    told = scene.loop(*words, code=4).json
    first = next(event.report for event in scene.events(AgentReported))
    assert {(each.category, each.rule) for each in first.findings} == LEFT | {("lint", "F401")}
    (blocked,) = told["blocked"]
    assert (told["passed"], blocked["artifact"], blocked["reason"]) == ([], CODE, "MAX_LOOPS_REACHED")
    assert (blocked["attempts"], blocked["fixes"]) == (3, 2)
    assert kinds(blocked["unresolved"]) == LEFT
    assert len(blocked["unresolved"]) == 3
    assert scene.file_at(told["commit"], CODE) == PRICES.rstrip()
    assert scene.person() == before
    held = scene.loop("status", "--json").json["loops"][0]["needs"]
    assert [need["kind"] for need in held] == ["escalation"]


@pytest.mark.kills
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_in_the_usual_form_autofix_mends_all_it_can_and_stops_when_it_can_mend_nothing(tmp_path: Path) -> None:
    scene = shop(tmp_path)
    told = scene.loop("review", CODE, "--unattended", "--json", code=4).json
    assert scene.file_at(told["commit"], CODE) == PRICES.rstrip()
    again = scene.loop("review", CODE, "--max-attempts", "5", "--unattended", "--json", code=4).json
    (blocked,) = again["blocked"]
    assert (blocked["attempts"], blocked["fixes"]) == (2, 1)
    assert blocked["reason"].startswith("the creator is blocked: fixed 0 of ")
