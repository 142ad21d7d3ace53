import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given

from generators import configuration, gate_rules
from loopwright.adapters.checks.order import verifies
from loopwright.config.keys import shape_of
from loopwright.config.loop_toml import read_settings
from loopwright.config.settings import Settings
from loopwright.errors import ConfigError
from tests.config.emitter import emit
from tests.config.strategies import any_settings

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "configuration.md"
WHOLE = Path(__file__).parent / "samples" / "whole.toml"


def test_the_guide_has_the_keys_of_every_table(document: Callable[[str, str], None]) -> None:
    page = PAGE.read_text()
    assert sorted(configuration.blocks(page)) == sorted(configuration.tables(shape_of(Settings)))
    document("guide/configuration.md", configuration.filled_in(page))


def test_the_guide_has_the_rules_of_the_gates(document: Callable[[str, str], None]) -> None:
    page = (ROOT / "docs" / "guide" / "gates.md").read_text()
    assert page.count("<!-- rules of the gates -->") == 1
    document("guide/gates.md", gate_rules.filled_in(page))


def test_a_stale_row_of_the_guide_is_made_anew() -> None:
    page = "before\n<!-- keys of limits.tickets -->\nold rows\n<!-- end of keys -->\nafter\n"
    assert configuration.filled_in(page) == (
        "before\n<!-- keys of limits.tickets -->\n"
        "| key | holds | without it | means |\n|---|---|---|---|\n"
        "| `max` | a whole number, at least 1 | `5` | tickets in one session |\n"
        "<!-- end of keys -->\nafter\n"
    )


def test_the_examples_of_the_guide_read_as_they_stand() -> None:
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert [any(map(verifies, read_settings(example, "loop.toml").checks)) for example in examples] == [True]


VALIDATOR = jsonschema.Draft202012Validator(shape_of(Settings).json)


def test_the_whole_sample_fits_the_schema() -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(WHOLE.read_text()))) == []


@given(any_settings())
def test_what_the_reader_accepts_fits_the_schema(settings: Settings) -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(emit(settings, only_obeyed=True)))) == []


@pytest.mark.parametrize(
    "text",
    [
        "versoin = 1",
        "version = 2",
        "limits.parallel = 0",
        'checks.test.run = "pytest"',
        "checks.test.run = []",
        "checks.test.timeout = 3",
        'checks.Test.run = ["x"]',
        'agents.a.kind = "hal"',
        'workspace.protected = ["/etc"]',
        'workspace.protected = ["a/../b"]',
        'budget.wall = "5 parsecs"',
        'budget.wall = ""',
        'budget.usd = "lots"',
        'finish.merge = "yes"',
    ],
)
def test_the_schema_and_the_reader_refuse_the_same(text: str) -> None:
    with pytest.raises(ConfigError):
        read_settings(text, "loop.toml")
    assert not VALIDATOR.is_valid(tomllib.loads(text))
