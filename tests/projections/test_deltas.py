import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from loopwright.kernel.model import Brief, Finding, Key, LoopId, Severity
from loopwright.ports.agent import AgentRun
from loopwright.projections import deltas
from tests.projections import hostile


def run(diff: str, *artifacts: str, kind: str = "quality", named: tuple[str, ...] = ()) -> AgentRun:
    findings = tuple(Finding(severity=Severity.LOW, issue="x", file=file) for file in named)
    return AgentRun(
        loop=LoopId("q-1"),
        kind=kind,
        key=Key.parse("review-1.2"),
        step="s",
        role="reviewer",
        brief=Brief(task="", attempt=1, limit=3, artifacts=artifacts, findings=findings),
        folder=Path("/repo"),
        needs_verdict=True,
        diff=diff,
    )


def part(path: str, new: str = "") -> str:
    new = new or path
    return f"diff --git a/{path} b/{new}\n--- a/{path}\n+++ b/{new}\n@@ -1 +1 @@\n-diff --git a/x b/x\n+y\n"


ALL = "".join(part(path) for path in ("a.yml", "a.yml.bak", "docs/a.yml", "src/a.py", "src/b/c.py"))


@pytest.mark.parametrize(
    ("artifacts", "named", "shown"),
    [
        (("a.yml",), (), ("a.yml",)),
        (("src",), (), ("src/a.py", "src/b/c.py")),
        (("src/b",), (), ("src/b/c.py",)),
        (("a.yml",), ("docs/a.yml", ""), ("a.yml", "docs/a.yml")),
        (("gone.py",), (), ()),
    ],
)
def test_a_review_sees_its_artifact_and_what_its_findings_name(
    artifacts: tuple[str, ...], named: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    assert deltas.shown_to(run(ALL, *artifacts, named=named)) == "".join(part(path) for path in shown)


def test_other_loops_see_the_whole_change() -> None:
    assert deltas.shown_to(run(ALL, "a.yml", kind="feedback")) == ALL


def test_a_file_that_was_moved_is_known_by_both_its_names() -> None:
    moved = part("old.py", "new dir/new.py")
    assert [deltas.shown_to(run(moved, path)) for path in ("old.py", "new dir/new.py", "new dir")] == [moved] * 3
    assert deltas.shown_to(run(part("old.py copy"), "old.py")) == ""


@pytest.mark.parametrize("name", ["ä.yml", 'quo"te.yml', "back\\slash.yml", "tab\tbed.yml", "plain name.yml"])
def test_names_are_read_as_git_writes_them(tmp_path: Path, name: str) -> None:
    for path in (name, "other.yml"):
        (tmp_path / path).write_text("x\n")
    for argv in (["init", "-q"], ["add", "--all"]):
        subprocess.run(["git", *argv], cwd=tmp_path, check=True)
    found = subprocess.run(["git", "diff", "--cached"], cwd=tmp_path, check=True, capture_output=True, text=True)
    shown = deltas.shown_to(run(found.stdout, name))
    assert shown.count("diff --git ") == 1
    assert "other.yml" not in shown
    assert len(deltas.shown_to(run(found.stdout, name, "other.yml"))) == len(found.stdout)


@given(text=hostile.texts)
def test_no_text_is_too_odd(text: str) -> None:
    odd = run(f'diff --git "a/{text}" b/{text}\n{text}', text)
    assert deltas.shown_to(odd) in odd.diff
    assert deltas.shown_to(replace(odd, diff=text)) in text
