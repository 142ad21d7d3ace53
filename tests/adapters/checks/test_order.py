"""Which checks a change calls for, by the files they were given."""

import pytest

from loopwright.adapters.checks.order import at_least_one, touches
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Change
from loopwright.kernel.trust import Classed, FileClass

LINT = CheckSettings(name="lint", run=("ruff", "check"), paths=("shared/**", "lint/**"))  # it tests nothing
WEB, API = (CheckSettings(name=name, run=("pytest", f"{name}/tests"), paths=(f"{name}/**",)) for name in ("web", "api"))
ALL = ["lint", "web", "api"]
KINDS = {"README.md": FileClass.TEXT, "tests/test_new.py": FileClass.TEST}


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        (["web/a.py"], ["web"]),
        (["web/a.py", "README.md"], ["web"]),
        (["web/a.py", "shared/a.py"], ALL),
        (["web/a.py", "tests/test_new.py"], ALL),
        (["shared/a.py"], ALL),
        (["README.md"], ALL),
    ],
)
def test_what_is_in_the_paths_of_none_that_counts_calls_for_all(changed: list[str], runs: list[str]) -> None:
    changes = tuple(Change(path=path, how="changed") for path in changed)
    classed = tuple(Classed(change=each, kind=KINDS.get(each.path, FileClass.PRODUCT)) for each in changes)
    called = at_least_one((LINT, WEB, API), classed)
    assert [spec.name for spec in called if not spec.paths or touches(changes, spec.paths)] == runs
