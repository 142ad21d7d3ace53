"""Projects below the top of a repository that has none there."""

import json
from pathlib import Path

from loopwright.adapters.detection.stacks import detect
from tests.adapters.detection.projects import first, look, virtual_environment

PACKAGE = json.dumps({"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}})


def test_each_project_below_is_tested_from_the_top(tmp_path: Path) -> None:
    files = {
        "services/api/pyproject.toml": "",
        "services/api/tests/test_a.py": "",
        "services/web shop/package.json": PACKAGE,
        "services/web shop/node_modules/jest/index.js": "",
        "tools/Cargo.toml": "",
        "zoo/Makefile": "test:\n\ttrue\n",
    }
    seen = look(tmp_path, files)
    virtual_environment(seen.root / "services" / "api" / ".venv")
    assert first(seen) == {
        "test": "services/api/.venv/bin/python -m pytest services/api",
        "test-services-web-shop": "npm --prefix services/web shop test",
        "test-tools": "cargo test --manifest-path tools/Cargo.toml",
        "test-zoo": "make -C zoo test",
    }
    ways = {each.name: each.ways for each in detect(seen).prospects}
    assert ways["test-services-web-shop"][0].copy == ("services/web shop/node_modules",)
    assert ways["test"][1].check.run == ("sh", "-c", "cd services/api && exec .venv/bin/python -m pytest")
    assert ways["test"][2].check.run[2:] == ("unittest", "discover", "-s", "services/api/tests", "-t", "services/api")


def test_the_environment_at_the_top_serves_projects_that_have_none(tmp_path: Path) -> None:
    seen = look(
        tmp_path, {f"packages/{name}/{file}": "" for name in "ab" for file in ("setup.py", "test_it.py")}, "python3"
    )
    virtual_environment(seen.root / ".venv")
    virtual_environment(seen.root / "packages" / "b" / "venv")
    assert first(seen) == {
        "test": ".venv/bin/python -m pytest packages/a",
        "test-packages-b": "packages/b/venv/bin/python -m pytest packages/b",
    }


def test_what_is_missing_is_installed_in_its_folder(tmp_path: Path) -> None:
    files = {"web/package.json": PACKAGE, "web/pnpm-lock.yaml": "", "api/setup.py": "", "api/test_a.py": ""}
    api, web = detect(look(tmp_path, files, "python3")).prospects
    assert api.advice == "cd api && python3 -m venv .venv && .venv/bin/pip install -e . pytest"
    assert (web.ways[0].check.run, web.advice) == (
        ("pnpm", "--dir", "web", "test"),
        "cd web && pnpm install --frozen-lockfile",
    )


def test_what_is_an_example_or_has_no_tests_is_no_project(tmp_path: Path) -> None:
    files = {"examples/a/package.json": PACKAGE, "lib/Makefile": "all:\n", "lib/inner/Makefile": "test:\n\ttrue\n"}
    assert detect(look(tmp_path, files)).notes == ("no build or test command was recognised; write [checks] by hand",)


def test_tests_at_the_top_make_a_project_of_it_whatever_is_below(tmp_path: Path) -> None:
    files = {"tests/test_a.py": "", "tests/Makefile": "test:\n", "web/package.json": PACKAGE}
    assert detect(look(tmp_path, files, "python3")).stack == "python"
