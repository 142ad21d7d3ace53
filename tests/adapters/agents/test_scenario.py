from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.agents.scenario import Edit, Scenario, ScenarioStep, choose, read_scenario
from loopwright.errors import ConfigError
from tests.adapters.agents.agent_parts import Bench

WHOLE = """
[default]
lenient = true
[[step]]
role = "developer"
attempt = 1
task = "T-001"
artifact = "a.yml"
skill = "implement"
edits = [
  { path = "src/a.py", content = "x" },
  { path = "src/b.py", find = "x", replace = "y" },
  { path = "old.py", delete = true },
]
result = { status = "done", usage = { usd = 0.25 } }
sleep = "2s"
fault = "touch-protected"
path = "tests/test_a.py"
retry_after = "1m"
repeat = true
[[step]]
role = "reviewer"
"""


def test_every_key_of_a_scenario_is_read() -> None:
    assert read_scenario(WHOLE, "s.toml") == Scenario(
        file="s.toml",
        lenient=True,
        steps=(
            ScenarioStep(
                role="developer",
                attempt=1,
                task="T-001",
                artifact="a.yml",
                skill="implement",
                edits=(
                    Edit(path="src/a.py", content="x"),
                    Edit(path="src/b.py", find="x", replace="y"),
                    Edit(path="old.py", delete=True),
                ),
                result={"status": "done", "usage": {"usd": 0.25}},
                sleep=2.0,
                fault="touch-protected",
                path="tests/test_a.py",
                retry_after=60.0,
                repeat=True,
            ),
            ScenarioStep(role="reviewer"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[step", "s.toml:1: not valid TOML: expected ']]' at the end of an array declaration"),
        ("step = 1", "s.toml:1: step: expected [[step]] tables"),
        ("[[step]]", "s.toml:1: step[0]: role is missing; give it text that is not empty"),
        ("[default]\nlenient = 1", "s.toml:2: default.lenient: expected true or false"),
        (
            '[[step]]\nrole = "r"\nattempt = 0',
            "s.toml:3: step[0].attempt: expected a whole number, at least 1, found the number 0",
        ),
        ('[[step]]\nrole = "r"\nsleep = "soon"', 's.toml:3: step[0].sleep: expected a time such as "30m", '),
        ('[[step]]\nrole = "r"\nedits = [{ path = "../a", delete = true }]', "expected a path inside the workspace"),
        ('[[step]]\nrole = "r"\nedits = [{ path = "/a", delete = true }]', "expected a path inside the workspace"),
        ('[[step]]\nrole = "r"\nedits = [{ path = "a" }]', "step[0].edits[0]: expected exactly one of `content`"),
        ('[[step]]\nrole = "r"\nedits = [{ path = "a", find = "x" }]', "`find` (not empty) and `replace` go together"),
        ('[[step]]\nrole = "r"\nedits = "a"', "s.toml:3: step[0].edits: expected a list of tables"),
        ('[[step]]\nrole = "r"\nresult = "done"', "s.toml:3: step[0].result: expected a table"),
        ("[[step]]\nrole = 1", "s.toml:2: step[0].role: expected text"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_scenario(text, "s.toml")
    assert message in str(caught.value)


def test_an_unknown_fault_and_an_unknown_key_name_what_is_known() -> None:
    with pytest.raises(ConfigError, match=r"step\[0\].fault: expected one of hang, crash, .*slow-output"):
        read_scenario('[[step]]\nrole = "r"\nfault = "explode"', "s.toml")
    with pytest.raises(ConfigError, match=r"step\[0\].rolle: unknown key; did you mean 'role'\?"):
        read_scenario('[[step]]\nrolle = "r"', "s.toml")


STEPS = Scenario(
    file="s.toml",
    steps=(
        ScenarioStep(role="reviewer"),
        ScenarioStep(role="developer", attempt=2),
        ScenarioStep(role="developer", skill="implement"),
        ScenarioStep(role="developer", artifact="a.yml"),
        ScenarioStep(role="developer", task="T-1"),
        ScenarioStep(role="developer"),
    ),
)


@pytest.mark.parametrize(
    ("attempt", "skill", "artifacts", "task", "index"),
    [
        (1, "", (), "add", 5),
        (2, "", (), "add", 1),
        (1, "implement", (), "add", 2),
        (1, "", ("b.yml", "a.yml"), "add", 3),
        (1, "", (), "T-1: add", 4),
        (1, "", (), "T-11: add", 5),
    ],
)
def test_the_first_step_that_fits_is_chosen(
    tmp_path: Path, attempt: int, skill: str, artifacts: tuple[str, ...], task: str, index: int
) -> None:
    run = Bench(tmp_path).run()
    run = replace(run, skill=skill, brief=replace(run.brief, attempt=attempt, artifacts=artifacts, task=task))
    assert choose(STEPS, run, frozenset()) == index


def test_a_used_step_is_not_chosen_again(tmp_path: Path) -> None:
    run = Bench(tmp_path).run()
    assert choose(STEPS, run, frozenset({5})) is None
