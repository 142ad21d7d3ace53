import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from loopwright.adapters.checks.order import strength
from loopwright.adapters.detection.stacks import PLAIN, detect, look_at
from loopwright.adapters.detection.ways import Stack
from loopwright.config.settings import CheckSettings
from tests.adapters.detection.projects import first, look


def test_the_plain_commands_of_every_stack(golden: Callable[[str, str], None]) -> None:
    lines = [
        f"{stack}: {' && '.join(' '.join(argv) for _, argv in PLAIN[stack])}".rstrip() for stack in get_args(Stack)
    ]
    golden("checks/commands.txt", "\n".join(lines) + "\n")


RUST = '[package]\nname = "a"\n'
TARGETS = "CC := gcc\nbuild: a.o\n\tcc\ntest:\n\t./t\ndocs:\n\tx\n"


@pytest.mark.parametrize(
    ("files", "stack", "checks"),
    [
        ({"manage.py": ""}, "django", {"build": "python3 manage.py check", "test": "python3 manage.py test"}),
        ({"Cargo.toml": RUST}, "rust", {"build": "cargo build", "test": "cargo test"}),
        (
            {"Cargo.toml": "[workspace]\n[workspace.lints.clippy]\n"},
            "rust",
            {"build": "cargo build --workspace", "test": "cargo test --workspace", "lint": "cargo clippy --workspace"},
        ),
        ({"go.mod": ""}, "go", {"build": "go build ./...", "test": "go test ./...", "lint": "go vet ./..."}),
        ({"Makefile": TARGETS}, "make", {"build": "make build", "test": "make test"}),
        ({"Makefile": "check: test lint # all\ntest:\n\t./t\n"}, "make", {"test": "make test"}),
        ({"Makefile": "check:\n\t@$(MAKE) test\ntest:\n\t./t"}, "make", {"test": "make test"}),
        ({"Makefile": "test: check\ncheck: all\n\t./t\n"}, "make", {"test": "make test"}),
        (
            {"Makefile": "test:\n\t./t\ncheck: test\n\t./more\n"},
            "make",
            {"test": "make test", "check": "make check"},
        ),
        ({}, "unknown", {}),
        ({"a.txt": ""}, "unknown", {}),
    ],
)
def test_each_stack_has_its_checks(tmp_path: Path, files: dict[str, str], stack: str, checks: dict[str, str]) -> None:
    seen = look(tmp_path, files, "python3")
    assert (detect(seen).stack, first(seen)) == (stack, checks)


def test_a_package_json_for_the_pages_of_a_python_project_does_not_make_it_another(tmp_path: Path) -> None:
    assert detect(look(tmp_path, {"package.json": "{}", "pyproject.toml": ""})).stack == "python"
    assert detect(look(tmp_path, {"package.json": '{"scripts": {"test": "jest"}}'})).stack == "node"


def test_nothing_known_is_said(tmp_path: Path) -> None:
    assert detect(look(tmp_path, {})).notes == ("no build or test command was recognised; write [checks] by hand",)


def test_a_missing_toolchain_is_what_would_help(tmp_path: Path) -> None:
    (build, *_) = detect(look(tmp_path, {"Cargo.toml": ""})).prospects
    assert build.advice == "install Rust (https://rustup.rs)"
    (build, *_) = detect(look(tmp_path, {"Cargo.toml": ""}, "cargo")).prospects
    assert build.advice == "cargo fetch"


def test_only_what_a_program_says_without_failing_is_heard(tmp_path: Path) -> None:
    ask = look_at(tmp_path, {"PATH": "/nowhere"}).ask
    assert ask((sys.executable, "-c", "print('said')")) == "said\n"
    assert ask((sys.executable, "-c", "print('said'); exit(1)")) == ""
    assert ask(("no-such-program",)) == ""


def test_an_exit_code_alone_is_weak() -> None:
    assert strength(CheckSettings(name="test", run=(sys.executable,))) == "weak"
    assert strength(CheckSettings(name="lint", run=(sys.executable,), report="sarif")) == "counting"
