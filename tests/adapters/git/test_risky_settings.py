"""A step that changes what the person's git would obey is found out by the key."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from loopwright.adapters.git.program import persons_git
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.errors import Forbidden
from loopwright.kernel.model import Commit
from loopwright.ports.workspace import Snapshot, Taking
from tests.adapters.git.scene import LOOP, NAME, Scene
from tests.repository import Repository


class Running:
    """A workspace as one controller has it: a step has begun there."""

    def __init__(self, repo: Repository, env: Mapping[str, str] = os.environ) -> None:
        self.base = Commit(repo.git("rev-parse", "HEAD"))
        self.workspace = GitWorkspace(repo.path, env=env)
        asyncio.run(self.workspace.prepare(LOOP, NAME, self.base, "s-1"))

    def snapshot(self, step: str = "s-1") -> Snapshot:
        taking = Taking(loop=LOOP, name=NAME, label=step, parent=self.base, base=self.base, step=step)
        return asyncio.run(self.workspace.snapshot(taking))


@pytest.mark.parametrize(
    "key",
    [
        *("core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.editor", "filter.evil.smudge", "alias.st"),
        *("diff.x.textconv", "merge.x.driver", "gpg.program", "credential.helper", "include.path", "core.pager"),
    ],
)
def test_a_setting_that_runs_code_is_named(repo: Repository, key: str) -> None:
    scene = Running(repo)
    repo.git("config", key, "evil")
    with pytest.raises(Forbidden, match=rf"(?i){key} of your git configuration was changed while a step ran"):
        scene.snapshot()


def test_one_in_the_persons_own_file_is_named_too(repo: Repository, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    scene = Running(repo, {"PATH": os.environ["PATH"], "HOME": str(home)})
    (home / ".gitconfig").write_text("[alias]\n\tco = !evil\n")
    with pytest.raises(Forbidden, match=r"alias\.co of your git configuration"):
        scene.snapshot()


def test_one_that_is_taken_away_or_given_twice_is_a_change(repo: Repository) -> None:
    repo.git("config", "alias.a", "status")
    repo.git("config", "alias.b", "status")
    for change in (("--unset", "alias.a"), ("--add", "alias.b", "!evil")):
        scene = Running(repo)
        repo.git("config", *change)
        with pytest.raises(Forbidden, match=r"alias\.[ab] of your git configuration"):
            scene.snapshot()


def test_a_new_hook_is_named(repo: Repository) -> None:
    scene = Running(repo)
    hook = repo.path / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    with pytest.raises(Forbidden, match=r"the hook post-checkout in .* was changed while a step ran"):
        scene.snapshot()


def test_other_settings_may_change(repo: Repository) -> None:
    scene = Running(repo)
    repo.git("config", "branch.main.remote", "origin")
    repo.git("remote", "add", "origin", "/nowhere")
    assert scene.snapshot().changes == ()
    assert scene.snapshot("s-2").changes == ()


def test_a_replaced_object_is_not_obeyed(repo: Repository) -> None:
    repo.write("a.py", "good\n")
    good = repo.commit("Good")
    repo.write("a.py", "evil\n")
    evil = repo.commit("Evil")
    repo.git("replace", good, evil)
    seen = persons_git(os.environ, repo.path).run("show", f"{good}:a.py")
    assert seen == b"good\n"
    assert (Scene(repo).prepare(at=good) / "a.py").read_text() == "good\n"
