"""What a request for a review comes to, before and after the loop is made."""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from loopwright.app.project import Project, open_project
from loopwright.app.settings import settings_of
from loopwright.app.starts.review import ReviewRequest, create_review, plan_review
from loopwright.errors import ConfigError, UsageError
from loopwright.loops.reviewed import QualityLimits
from tests.repository import Repository

STORY, CODE = "stories/ST-1.yml", "src/a.py"
SETTINGS = """\
version = 1
[agents.one]
kind = "command"
argv = ["git"]
[roles]
default = "one"
[limits]
parallel = 3
[limits.quality]
p1_threshold = 5
"""


@pytest.fixture
def project(repo: Repository) -> Iterator[Project]:
    repo.write(STORY, "id: ST-1\n")
    repo.write(CODE, "x = 1\n")
    repo.write("loop.toml", SETTINGS)
    repo.commit("Files")
    opened = open_project(repo.path, os.environ)
    yield opened
    asyncio.run(opened.store.close())


def created(project: Project, *paths: str, **request: Any) -> tuple[str, dict[str, Any]]:  # noqa: ANN401
    """The kind and the parameters of the new loop."""

    async def whole() -> tuple[str, dict[str, Any]]:
        wanted = ReviewRequest(paths=paths, **request)
        loop = await create_review(project, settings_of(project), wanted, project.root)
        row = loop.row
        return row.kind, json.loads(row.params)

    return asyncio.run(whole())


def test_one_path_makes_one_review_with_what_is_usual_at_its_gate(project: Project) -> None:
    kind, params = created(project, STORY)
    usual = {"artifact": STORY, "gate": "story", "depth": "comprehensive", "story": "ST-1", "lands": True}
    given = {
        "file": "stories/ST-1.quality.yml",
        "task": f"Review {STORY} at the story gate",
        "limits": {"max_attempts": 3, "p1_threshold": 5},
        "target": "refs/heads/main",
        "merge": False,
        "checked": False,
    }
    assert (kind, {key: params[key] for key in usual | given}) == ("quality", usual | given)
    assert params["base"] == params["against"] == project.head


def test_what_a_request_says_goes_before_what_is_usual(project: Project) -> None:
    said: dict[str, Any] = {"gate": "plan", "depth": "comprehensive", "max_attempts": 7, "merge": True}
    _, params = created(project, CODE, **said, task=" mine ", criteria=("be brief",))
    told = [params[key] for key in ("gate", "depth", "merge", "task", "criteria", "file")]
    assert told == ["plan", "comprehensive", True, "mine", ["be brief"], ""]
    assert params["limits"] == {"max_attempts": 7, "p1_threshold": 5}


def test_what_the_person_changed_is_the_base_and_the_head_is_what_it_is_compared_with(
    project: Project, repo: Repository
) -> None:
    repo.write(CODE, "x = 2\n")
    _, params = created(project, CODE)
    assert params["against"] == project.head
    assert repo.git("show", f"{params['base']}:{CODE}") == "x = 2"
    assert repo.git("rev-parse", f"{params['base']}^") == project.head


@pytest.mark.parametrize(("paths", "batch"), [((STORY, CODE), False), ((STORY,), True)])
def test_several_paths_or_the_word_batch_make_a_batch(project: Project, paths: tuple[str, ...], *, batch: bool) -> None:
    kind, params = created(project, *paths, batch=batch)
    assert (kind, [each["path"] for each in params["artifacts"]], params["width"]) == ("batch", list(paths), 6)


def test_a_batch_keeps_once_what_its_artifacts_share_and_gives_each_what_is_its_own(project: Project) -> None:
    _, params = created(project, STORY, CODE, gate="code")
    shared = json.loads(params["shared"])
    own = [json.loads(each["own"]) for each in params["artifacts"]]
    assert shared["gate"] == "code"
    assert [sorted(each) for each in own] == [["artifact", "story", "task", "trust"]] * 2
    assert not shared.keys() & own[0].keys()


def test_a_folder_is_product_by_its_own_name_and_not_by_those_of_its_files(project: Project) -> None:
    _, alone = created(project, "src")
    assert alone["trust"]["artifacts"] == ["src/"]
    _, many = created(project, "src", STORY, batch=True)
    assert many["trust"]["artifacts"] == ["src/", STORY]
    assert [json.loads(each["own"])["trust"]["artifacts"] for each in many["artifacts"]] == [["src/"], [STORY]]


def test_a_merge_needs_a_branch(project: Project) -> None:
    detached = replace(project, branch="")
    with pytest.raises(UsageError, match="HEAD is detached"):
        plan_review(detached, settings_of(project), ReviewRequest(paths=(CODE,), merge=True), project.root)


def test_a_role_that_nobody_plays_is_named(project: Project, repo: Repository) -> None:
    repo.write("loop.toml", SETTINGS.replace('default = "one"', 'reviewer = "one"'))
    with pytest.raises(ConfigError, match=r"roles\.developer|roles\.creator"):
        created(project, CODE)


def test_limits_of_the_plan_are_those_of_the_settings(project: Project) -> None:
    plan = plan_review(project, settings_of(project), ReviewRequest(paths=(CODE,)), project.root)
    assert (plan.limits, plan.batch, plan.merge) == (QualityLimits(max_attempts=3, p1_threshold=5), False, False)
