"""Every benchmark runs to a figure, at the smallest size: nothing here is timed."""

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.measuring import Figure

pytestmark = pytest.mark.unmeasured  # runs whole programs

FOLDER = Path(benchmarks.__file__).parent


@pytest.mark.parametrize("name", benchmarks.FIGURES)
def test_benchmark_yields_its_figure(name: str) -> None:
    figure = benchmarks.FIGURES[name](smoke=True)
    assert figure.name == name
    assert figure.low <= figure.value <= figure.high
    assert figure.goal
    assert Figure(**{**json.loads(json.dumps(figure.as_json())), "notes": figure.notes}) == figure
    assert f"| {name} |" in benchmarks.table([figure])


def test_every_benchmark_module_is_in_the_table() -> None:
    modules = [import_module(f"benchmarks.{path.stem}") for path in FOLDER.glob("p[0-9][0-9]_*.py")]
    found = {
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("measure")
    }
    assert found == set(benchmarks.FIGURES.values())


def test_the_page_shows_the_stored_results() -> None:
    assert benchmarks.PAGE.read_text() == benchmarks.page(*benchmarks.read_results())
