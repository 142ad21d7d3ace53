import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from loopwright.adapters.checks.detect import PLAIN, Stack, detect
from loopwright.adapters.checks.order import strength
from loopwright.config.settings import CheckSettings


def everything(program: str) -> bool:
    return True


def nothing(program: str) -> bool:
    return False


def project(tmp_path: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def commands(root: Path, found: Callable[[str], bool] = everything) -> dict[str, str]:
    return {spec.name: " ".join(spec.run) for spec in detect(root, found=found).checks}


def test_the_plain_commands_of_every_stack(golden: Callable[[str, str], None]) -> None:
    lines = [
        f"{stack}: {' && '.join(' '.join(argv) for _, argv in PLAIN[stack])}".rstrip() for stack in get_args(Stack)
    ]
    golden("checks/commands.txt", "\n".join(lines) + "\n")


def test_python_with_pytest_counts_its_tests(tmp_path: Path) -> None:
    detected = detect(project(tmp_path, {"pyproject.toml": "[tool.pytest.ini_options]\n[tool.mypy]\n"}), found=nothing)
    assert detected.stack == "python"
    assert detected.checks == (
        CheckSettings(name="test", run=("python3", "-m", "pytest", "--junitxml={report}"), report="junit"),
        CheckSettings(name="typecheck", run=("python3", "-m", "mypy", ".")),
    )
    assert detected.notes == ("flake8 is neither configured nor installed: no check 'lint'",)


def test_python_with_unittest_counts_its_tests_by_our_own_runner(tmp_path: Path) -> None:
    root = project(tmp_path, {"setup.py": "", "tests/test_a.py": "import unittest\n", "tests/__init__.py": ""})
    (test, *_) = detect(root, found=everything).checks
    script = "{unittest}"
    assert test.run == ("python", script, "--report={report}", "discover", "-s", "tests", "-t", ".")
    assert (test.report, strength(test)) == ("junit", "counting")


def test_python_is_known_by_its_tests_alone(tmp_path: Path) -> None:
    assert detect(project(tmp_path, {"test_a.py": "import pytest\n"}), found=everything).stack == "python"


def test_django(tmp_path: Path) -> None:
    root = project(tmp_path, {"manage.py": "", "pyproject.toml": ""})
    assert commands(root) == {"build": "python manage.py check", "test": "python manage.py test"}
    assert commands(root, nothing)["test"] == "python3 manage.py test"


def test_node_has_only_the_scripts_that_exist(tmp_path: Path) -> None:
    root = project(tmp_path, {"package.json": '{"scripts": {"build": "tsc", "test": "jest"}}'})
    assert commands(root) == {"build": "npm run build", "test": "npm test"}
    assert "package.json has no script 'lint'" in detect(root, found=everything).notes


def test_the_test_script_that_npm_writes_is_none(tmp_path: Path) -> None:
    text = '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'
    assert commands(project(tmp_path, {"package.json": text})) == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"scripts": []}', '{"scripts": {}}'])
def test_a_strange_package_json_gives_no_checks(tmp_path: Path, text: str) -> None:
    assert commands(project(tmp_path, {"package.json": text})) == {}


def test_rust(tmp_path: Path) -> None:
    root = project(tmp_path, {"Cargo.toml": ""})
    assert commands(root) == {"build": "cargo build", "test": "cargo test", "lint": "cargo clippy"}
    assert "cargo is not installed here" in detect(root, found=nothing).notes


def test_go(tmp_path: Path) -> None:
    root = project(tmp_path, {"go.mod": "module a\n"})
    assert commands(root) == {"build": "go build ./...", "test": "go test ./...", "lint": "go vet ./..."}


def test_make_has_only_the_targets_that_exist(tmp_path: Path) -> None:
    root = project(tmp_path, {"Makefile": "CC := gcc\nbuild: a.o\n\tcc\ntest:\n\t./t\ndocs:\n\tx\n"})
    assert commands(root) == {"build": "make build", "test": "make test"}


def test_nothing_known_is_said(tmp_path: Path) -> None:
    detected = detect(tmp_path, found=everything)
    assert (detected.stack, detected.checks, len(detected.notes)) == ("unknown", (), 1)


def test_an_exit_code_alone_is_weak() -> None:
    assert strength(CheckSettings(name="test", run=(sys.executable,))) == "weak"
    assert strength(CheckSettings(name="lint", run=(sys.executable,), report="sarif")) == "counting"
