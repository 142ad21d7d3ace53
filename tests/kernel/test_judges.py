"""Names that judge, and those that only look like it."""

import pytest

from loopwright.kernel.judges import Judge, is_example, is_installing, is_source, is_text, judge_by_name


@pytest.mark.parametrize(
    ("path", "judge"),
    [
        ("tests/conftest.py", Judge.RUNNER),
        ("lib/__mocks__/x.js", Judge.RUNNER),
        ("run-tests.sh", Judge.RUNNER),
        (".husky/pre-commit", Judge.OPENED),
        ("hooks/pre-push", Judge.OPENED),
        (".github/workflows/ci.yml", Judge.FORGE),
        ("GNUmakefile", Judge.BUILD),
        ("tasks.py", Judge.BUILD),
        ("web/package.json", Judge.MANIFEST),
        ("requirements/dev.in", Judge.MANIFEST),
        ("Cargo.lock", Judge.LOCK),
        ("src/a.pyc", Judge.COMPILED),
        ("libx.so.1", Judge.COMPILED),
        ("x.dist-info/METADATA", Judge.PLANTED),
        ("vendor/modules.txt", Judge.PLANTED),
        ("__init__.py", Judge.PLANTED),
        (".github/CODEOWNERS", Judge.HIDDEN),
        ("src/.secret", Judge.HIDDEN),
    ],
)
def test_a_name_that_judges(path: str, judge: Judge) -> None:
    assert judge_by_name(path) is judge
    assert judge_by_name(path.upper()) is judge


@pytest.mark.parametrize(
    "path",
    [
        *("src/app/tasks.py", "src/a.py", "src/Makefile.py", ".gitignore", "docs/.gitkeep", "src/hooks/use.js"),
        *("src/vendor/x.py", "pkg/__init__.py", "src/configuration.py", "locales/en/global.json", "src/build.py"),
    ],
)
def test_a_name_that_says_nothing(path: str) -> None:
    assert judge_by_name(path) is None


def test_manifests_and_locks_decide_what_is_installed() -> None:
    assert is_installing("a/pyproject.toml")
    assert is_installing("uv.lock")
    assert not is_installing("Makefile")
    assert not is_installing("src/a.py")


@pytest.mark.parametrize(
    "path",
    [
        *("README", "docs/conf.py", "a/b.MD", "LICENSE-MIT", ".mailmap", "CHANGES.txt", "man/x.1", "logo.svg"),
        "releasenotes/notes/fix-1.yaml",
    ],
)
def test_what_people_read_is_text(path: str) -> None:
    assert is_text(path)


@pytest.mark.parametrize("path", ["security.py", "notes.txt", "src/history.js", "install.sh", "expected.txt", "a.json"])
def test_what_only_sounds_like_text_is_none(path: str) -> None:
    assert not is_text(path)


def test_examples_and_sources_are_known_by_place_and_suffix() -> None:
    assert is_example("benches/a.rs")
    assert not is_example("src/a.rs")
    assert is_source("a/b.TSX")
    assert not is_source("a/b.json")
