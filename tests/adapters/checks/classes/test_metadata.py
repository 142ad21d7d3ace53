"""Manifests and locks: what is only metadata lands, and what decides what is installed waits."""

import json

import pytest

from loopwright.adapters.checks.classes.metadata import changes_only_metadata
from tests.adapters.checks.classes.held import classes
from tests.adapters.checks.classes.test_cheats import PYTEST, SRC

PROJECT = '[project]\nname = "a"\nversion = "1"\ndependencies = ["b"]\n[tool.poetry]\nversion = "1"\n'
CARGO = '[package]\nname = "a"\nversion = "1"\n[workspace.package]\nversion = "1"\n[dependencies]\nb = "1"\n'
NPM = json.dumps({"name": "a", "version": "1", "scripts": {"test": "x"}, "private": True})
SETUP = "[metadata]\nname = a\nversion = 1\n[options]\ninstall_requires = b\n"
NPM_LOCK = json.dumps({"version": "1", "packages": {"": {"version": "1"}, "node_modules/b": {"version": "2"}}})
UV = 'version = 1\n[[package]]\nname = "a"\nversion = "1"\nsource = { editable = "." }\n'
UV += '[[package]]\nname = "b"\nversion = "2"\nsource = { registry = "x" }\n'
CARGO_LOCK = '[[package]]\nname = "a"\nversion = "1"\n[[package]]\nname = "b"\nversion = "2"\nsource = "x"\n'


def differs_in_metadata(path: str, before: str, after: str) -> bool:
    return changes_only_metadata(path, {path: before}, {path: after})


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("pyproject.toml", PROJECT, 'version = "1"', 'version = "1.1"'),
        ("pyproject.toml", PROJECT, 'name = "a"', 'name = "a"\ndescription = "A."\nlicense = "MIT"'),
        ("part/Cargo.toml", CARGO, 'version = "1"', 'version = "2"'),
        ("package.json", NPM, '"version": "1"', '"version": "2", "keywords": ["x"]'),
        ("setup.cfg", SETUP, "version = 1", "version = 2\nurl = https://a.example"),
        ("package-lock.json", NPM_LOCK, '"version": "1"', '"version": "9"'),
        ("uv.lock", UV, 'version = "1"', 'version = "9"'),
        ("Cargo.lock", CARGO_LOCK, 'version = "1"', 'version = "9"'),
    ],
)
def test_a_manifest_in_which_only_metadata_differs_is_text(path: str, text: str, old: str, new: str) -> None:
    assert differs_in_metadata(path, text, text.replace(old, new))
    found = classes({**SRC, path: text}, {path: text.replace(old, new)}, PYTEST)[path]
    assert (found.kind, found.is_judged, found.is_gated) == ("text", True, False)


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("pyproject.toml", PROJECT, '["b"]', '["c"]'),
        ("pyproject.toml", PROJECT, "[tool.poetry]", "[tool.pytest.ini_options]\naddopts = '-k x'\n[tool.poetry]"),
        ("pyproject.toml", PROJECT, "[project]", "[project"),
        ("pyproject.toml", PROJECT, "[project]", "project = 1\n[other]"),
        ("Cargo.toml", CARGO, 'b = "1"', 'b = "2"'),
        ("package.json", NPM, '"x"', '"y"'),
        ("package.json", NPM, "true", "1"),
        ("package.json", NPM, NPM, "[]"),
        ("setup.cfg", SETUP, "= b", "= c"),
        ("setup.cfg", SETUP, "version = 1", "version = attr: a.version"),
        ("setup.cfg", SETUP, "version = 1", "version = 1\x0b[tool:pytest]\x0baddopts = -k x"),
        ("package-lock.json", NPM_LOCK, '"2"', '"3"'),
        ("uv.lock", UV, '"2"', '"3"'),
        ("Cargo.lock", CARGO_LOCK, '"2"', '"3"'),
        ("setup.py", "setup(version='1')", "1", "2"),
        ("requirements.txt", "a==1\n", "1", "2"),
    ],
)
def test_a_manifest_that_decides_what_is_installed_or_run_stays_protected(
    path: str, text: str, old: str, new: str
) -> None:
    assert not differs_in_metadata(path, text, text.replace(old, new))


def test_a_manifest_that_is_added_removed_or_protected_by_a_person_is_no_text() -> None:
    bumped = PROJECT.replace('"1"', '"2"')
    assert not changes_only_metadata("pyproject.toml", {}, {"pyproject.toml": PROJECT})
    assert not changes_only_metadata("pyproject.toml", {"pyproject.toml": PROJECT}, {})
    base = {**SRC, "pyproject.toml": PROJECT}
    found = classes(base, {"pyproject.toml": bumped}, PYTEST, protected=("pyproject.toml",))["pyproject.toml"]
    assert found.kind == "judge by name"


@pytest.mark.parametrize(
    ("path", "new", "is_half"),
    [
        ("src/calc/__init__.py", "__version__ = '1.1.0'\n", True),
        ("src/calc/__init__.py", "__version__ = '1.0.0'\nNEW = '1.1.0'\n", False),
        ("README.md", "calc 2.0\n", False),
    ],
)
def test_a_manifest_is_half_of_a_version_that_changed_alike_in_what_lands(
    path: str, new: str, *, is_half: bool
) -> None:
    base = {**SRC, "setup.py": "setup(version='1.0.0')\n", path: "__version__ = '1.0.0'\n"}
    found = classes(base, {"setup.py": "setup(version='1.1.0')\n", path: new}, PYTEST)
    assert found["setup.py"].shares_version is is_half
    assert not found[path].shares_version
