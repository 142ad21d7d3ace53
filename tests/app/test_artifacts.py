"""What `loop review` may be pointed at, and what each path is taken for."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from loopwright.app.project import Project, open_project
from loopwright.app.starts.artifacts import Target, find_targets, usual_gate
from loopwright.app.starts.stories import story_id
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.model import Severity
from loopwright.loops.quality.state import Gate
from tests.repository import Repository

STORY = "stories/ST-1.yml"
HANDOFF = """\
story_id: ST-1
tier: large
current_phase: pending
completed_phases: []
quality_findings:
  - {severity: P1, dimension: A, gate: story, issue: too big, file: stories/ST-1.yml, line: 3, resolved: false}
memory_captured: false
"""


@pytest.fixture
def project(repo: Repository) -> Iterator[Project]:
    repo.write(STORY, "id: ST-1\ntier: medium\n")
    repo.write("src/a.py", "x = 1\n")
    repo.commit("Files")
    opened = open_project(repo.path, os.environ)
    yield opened
    asyncio.run(opened.store.close())


def found(project: Project, *paths: str, gate: str = "", by_file: bool = False, cwd: str = ".") -> tuple[Target, ...]:
    return find_targets(project, project.root / cwd, paths, gate, by_file=by_file)


# --- refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../elsewhere.py", "is outside of"),
        ("/etc/passwd", "is outside of"),
        ("src/../../elsewhere.py", "is outside of"),
        (".", "is the whole repository"),
        ("src/..", "is the whole repository"),
        (".loop/loop.db", "is Loopwright's own"),
        (".worktrees/x", "is Loopwright's own"),
        (".git/config", "is git's own"),
        ("src/missing.py", "there is no such file or folder"),
        ("linked.py", "is, or lies behind, a symbolic link"),
        ("lane/a.py", "is, or lies behind, a symbolic link"),
        ("stories/ST-1.quality.yml", "holds findings, it is nothing to review"),
    ],
)
def test_a_path_that_cannot_be_reviewed_is_refused_by_a_sentence_that_names_it(
    project: Project, repo: Repository, path: str, why: str
) -> None:
    (repo.path / "linked.py").symlink_to("src/a.py")
    (repo.path / "lane").symlink_to("src")
    repo.write("stories/ST-1.quality.yml", "verdict: BLOCKED\n")
    with pytest.raises(UsageError) as refused:
        found(project, path)
    assert str(refused.value).startswith(f"{path} {why}" if "no such" not in why else f"{path}: {why}")


def test_no_path_at_all_is_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="name at least one PATH"):
        found(project)


def test_a_pipe_is_no_artifact(project: Project) -> None:
    os.mkfifo(project.root / "src" / "pipe")
    with pytest.raises(UsageError, match="no such file or folder"):
        found(project, "src/pipe")


def test_a_file_that_was_deleted_is_refused_even_though_git_still_has_it(project: Project) -> None:
    (project.root / STORY).unlink()
    with pytest.raises(UsageError, match="no such file or folder"):
        found(project, STORY)


def test_a_folder_of_nothing_but_findings_has_nothing_to_review(project: Project, repo: Repository) -> None:
    repo.write("empty/X.quality.yml", "verdict: BLOCKED\n")
    with pytest.raises(UsageError, match="empty has no file to review"):
        found(project, "empty", by_file=True)


def test_a_handoff_that_cannot_be_read_is_an_error_and_no_fresh_start(project: Project, repo: Repository) -> None:
    repo.write(".loop/stories/ST-1/handoff.yml", "story_id: ST-1\n")
    with pytest.raises(ConfigError, match=r"handoff\.yml"):
        found(project, STORY)


# --- found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "gate"),
    [
        ("stories/ST-1.yml", Gate.STORY),
        ("stories/deep/x.yaml", Gate.STORY),
        ("ST-7.yml", Gate.STORY),
        ("stories/notes.md", Gate.CODE),
        ("config.yml", Gate.CODE),
        ("docs/pay-design.md", Gate.DESIGN),
        ("docs/pay-design.py", Gate.CODE),
        ("design.md", Gate.CODE),
        ("tests/unit/thing.py", Gate.TEST),
        ("src/test_a.py", Gate.TEST),
        ("src/a.test.ts", Gate.TEST),
        ("src/a.spec.ts", Gate.TEST),
        ("src/a.py", Gate.CODE),
        ("src/contest.py", Gate.CODE),
    ],
)
def test_the_gate_is_guessed_by_the_name(path: str, gate: Gate) -> None:
    assert usual_gate(path) is gate


def test_a_story_has_the_id_and_the_tier_its_file_gives_it(project: Project) -> None:
    (target,) = found(project, STORY)
    assert target == Target(
        source=target.path,
        named=STORY,
        path=STORY,
        gate=Gate.STORY,
        story="ST-1",
        tier="medium",
        file="stories/ST-1.quality.yml",
        known=(),
    )


def test_code_has_a_story_made_of_its_path_and_its_findings_inline(project: Project) -> None:
    (target,) = found(project, "src/a.py")
    assert target == Target(
        source=target.path,
        named="src/a.py",
        path="src/a.py",
        gate=Gate.CODE,
        story=story_id("src/a.py"),
        tier="small",
        file="",
        known=(),
    )


def test_a_named_gate_goes_before_the_guess_and_decides_how_findings_are_handed_over(project: Project) -> None:
    (target,) = found(project, "src/a.py", gate="design")
    assert (target.gate, target.file) == (Gate.DESIGN, "src/a.quality.yml")


def test_what_earlier_reviews_left_is_known(project: Project, repo: Repository) -> None:
    repo.write(".loop/stories/ST-1/handoff.yml", HANDOFF)
    (target,) = found(project, STORY)
    (known,) = target.known
    assert (known.gate, known.resolved, known.finding.severity, known.finding.issue, known.finding.line) == (
        "story",
        False,
        Severity.HIGH,
        "too big",
        3,
    )


def test_paths_are_read_from_where_the_person_stands(project: Project) -> None:
    assert [target.path for target in found(project, "a.py", "../stories/ST-1.yml", cwd="src")] == ["src/a.py", STORY]


def test_a_path_named_twice_is_reviewed_once(project: Project) -> None:
    assert [target.path for target in found(project, STORY, f"./{STORY}", "src/../" + STORY)] == [STORY]


def test_a_folder_is_one_artifact_unless_it_is_a_batch(project: Project, repo: Repository) -> None:
    repo.write("stories/ST-2.yml", "id: ST-2\n")  # untracked, and taken all the same
    repo.write("stories/ST-2.quality.yml", "verdict: BLOCKED\n")
    repo.write("stories/scratch.tmp", "x")
    repo.write(".gitignore", "*.tmp\n")
    assert [target.path for target in found(project, "stories")] == ["stories"]
    assert [target.path for target in found(project, "stories", by_file=True)] == [STORY, "stories/ST-2.yml"]


@pytest.mark.parametrize(
    ("paths", "by_file", "named"),
    [
        (("src",), False, {"src": "src/"}),
        (("src",), True, {"src/a.py": "src/", "src/b.py": "src/"}),
        (("src", "src/b.py"), True, {"src/a.py": "src/", "src/b.py": "src/b.py"}),
        (("src/b.py", "src"), True, {"src/a.py": "src/", "src/b.py": "src/b.py"}),
    ],
)
def test_a_file_is_named_itself_or_by_a_folder_it_lies_in(
    project: Project, repo: Repository, paths: tuple[str, ...], *, by_file: bool, named: dict[str, str]
) -> None:
    repo.write("src/b.py", "y = 1\n")
    assert {target.path: target.named for target in found(project, *paths, by_file=by_file)} == named


def test_files_whose_findings_would_share_a_name_have_each_their_own(project: Project, repo: Repository) -> None:
    repo.write("src/a.md", "# A\n")
    repo.write("src/b.py", "y = 1\n")
    targets = found(project, "src", by_file=True)
    assert {target.path: target.file for target in targets} == {
        "src/a.md": "src/a.md.quality.yml",
        "src/a.py": "src/a.py.quality.yml",
        "src/b.py": "src/b.quality.yml",
    }


# --- where findings are handed over -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "file"),
    [
        ({}, "src/a.quality.yml"),
        ({"src/a.quality.yml": "mine: precious"}, "src/a.py.quality.yml"),
        ({"src/a.quality.yml": "", "src/a.py.quality.yml": "x"}, "src/a.py.loop.quality.yml"),
        ({"src/a.quality.yml": "# Written by Loopwright. It is here"}, "src/a.quality.yml"),
    ],
)
def test_whoever_fixes_is_never_handed_a_file_of_somebody_else(
    project: Project, there: dict[str, str], file: str
) -> None:
    for path, text in there.items():
        (project.root / path).write_text(text)
    (target,) = found(project, "src/a.py", by_file=True)
    assert target.file == file
    assert target.spared == tuple(path for path, text in there.items() if path != file)
    assert {path: (project.root / path).read_text() for path in there} == there
