"""The quality loop from Python: any callable reviews and fixes, one artifact or many."""

from pathlib import Path
from typing import Any

import pytest

from loopwright import Check, Outcome, Quality, run
from loopwright.errors import UsageError
from loopwright.kernel.model import Ending
from tests.repository import Repository

Context = dict[str, Any]


def says_wrong(context: Context) -> dict[str, Any]:
    """Blocks an artifact as long as it says so itself."""
    (name,) = context["artifacts"]
    text = (Path(context["workspace"]) / name).read_text()
    if "wrong" not in text:
        return {"status": "done", "verdict": "pass"}
    found = {"severity": "critical", "rule": "S2", "file": name, "issue": "it is wrong", "evidence": text}
    return {"status": "done", "verdict": "fail", "findings": [found | {"guidance": "make it right"}]}


def makes_right(context: Context) -> None:
    """A creator may return nothing at all: then it is done."""
    (name,) = context["artifacts"]
    file = Path(context["workspace"]) / name
    if "hard" not in file.read_text():
        file.write_text("all is right\n")


class Creator:
    """Any callable will do: an object that remembers, and that is awaited."""

    def __init__(self) -> None:
        self.seen: list[Context] = []
        self.files: list[str] = []

    async def __call__(self, context: Context) -> dict[str, Any]:
        self.seen.append(context)
        beside = Path(context["workspace"]) / context["findings_file"]
        self.files.append(beside.read_text() if context["findings_file"] else "")
        makes_right(context)
        return {"status": "done", "summary": "made it right"}


AGENTS = {"reviewer": says_wrong, "creator": makes_right}


def with_files(repo: Repository, **files: str) -> Path:
    for name, text in files.items():
        repo.write(f"stories/{name}.yml", text)
    repo.commit("Files")
    return repo.path


def endings(outcome: Outcome) -> list[tuple[str, Ending, int]]:
    return [(part.name, part.ending, part.attempts) for part in outcome.parts]


def test_one_artifact_is_fixed_by_a_function_and_lands_on_a_branch(repo: Repository) -> None:
    root = with_files(repo, a="it is wrong\n")
    outcome = run(Quality(artifacts="stories/a.yml"), agents=AGENTS, root=root)
    assert (outcome.ending, outcome.attempts, outcome.parts) == (Ending.REVIEWED, 2, ())
    assert outcome.branch == f"loop/{outcome.loop}"
    assert repo.git("show", f"{outcome.branch}:stories/a.yml") == "all is right"
    assert (root / "stories" / "a.yml").read_text() == "it is wrong\n"
    assert not list(root.rglob("*.quality.yml"))


def test_an_awaited_object_gets_its_findings_in_the_file(repo: Repository) -> None:
    root, creator = with_files(repo, a="it is wrong\n"), Creator()
    outcome = run(Quality(artifacts="stories/a.yml"), agents={**AGENTS, "creator": creator}, root=root)
    (context,), (file,) = creator.seen, creator.files
    assert outcome.ending is Ending.REVIEWED
    assert (context["findings"], context["findings_file"]) == ([], "stories/a.quality.yml")
    assert "issue: it is wrong\n" in file
    assert not (Path(context["workspace"]) / "stories" / "a.quality.yml").exists()


def test_an_awaited_object_gets_its_findings_inline_at_the_code_gate(repo: Repository) -> None:
    root, creator = with_files(repo, a="it is wrong\n"), Creator()
    run(Quality(artifacts="stories/a.yml", gate="code"), agents={**AGENTS, "creator": creator}, root=root)
    (context,) = creator.seen
    assert (context["findings"][0]["issue"], context["findings_file"]) == ("it is wrong", "")


def test_of_several_artifacts_the_outcome_tells_what_came_of_each(repo: Repository) -> None:
    root = with_files(repo, a="all is right\n", b="it is wrong\n", c="it is wrong and hard\n")
    outcome = run(Quality(artifacts=["stories/a.yml", "stories/b.yml", "stories/c.yml"]), agents=AGENTS, root=root)
    assert outcome.ending is Ending.ESCALATED
    assert outcome.note.startswith("2 passed, 1 blocked of 3 artifacts")
    assert endings(outcome) == [
        ("stories/a.yml", Ending.REVIEWED, 1),
        ("stories/b.yml", Ending.REVIEWED, 2),
        ("stories/c.yml", Ending.ESCALATED, 3),
    ]
    assert repo.git("diff", "--name-only", "main", outcome.branch) == "stories/b.yml"  # what passed has landed


def test_of_a_batch_that_waits_the_outcome_tells_what_was_held_back_and_where_it_is(repo: Repository) -> None:
    def says_weak(context: Context) -> dict[str, Any]:
        said = says_wrong(context)
        weak = {"rule": "S3", "file": "rules.cfg", "issue": "it is weak", "evidence": "x = 1"}
        found = said.get("findings", [])
        return said | {"findings": [*found, *(each | weak for each in found if each["file"] == "stories/b.yml")]}

    def bends(context: Context) -> None:
        makes_right(context)
        if context["artifacts"] == ["stories/b.yml"]:
            (Path(context["workspace"]) / "rules.cfg").write_text("x = 2\n")

    repo.write("rules.cfg", "x = 1\n")
    root = with_files(repo, b="it is wrong\n", c="it is wrong and hard\n")
    loop = Quality(artifacts=["stories/b.yml", "stories/c.yml"])
    outcome = run(
        loop,
        agents={"reviewer": says_weak, "creator": bends},
        checks=[Check("there", ["ls", "stories"], trust="exit-code")],
        root=root,
    )
    assert outcome.ending is Ending.ESCALATED
    assert [change.path for change in outcome.held] == ["rules.cfg"]
    assert repo.git("show", f"{outcome.held_on}:rules.cfg") == "x = 2"


def test_a_batch_that_passes_is_verified_whole_and_merged(repo: Repository) -> None:
    root = with_files(repo, a="all is right\n", b="it is wrong\n", c="it is wrong\n")
    outcome = run(Quality(artifacts="stories", batch=True, merge=True), agents=AGENTS, root=root)
    assert (outcome.ending, outcome.attempts, outcome.merged_into) == (Ending.REVIEWED, 2, "main")
    assert endings(outcome) == [
        ("stories/a.yml", Ending.REVIEWED, 1),
        ("stories/b.yml", Ending.REVIEWED, 2),
        ("stories/c.yml", Ending.REVIEWED, 2),
    ]
    assert all(part.loop.startswith(outcome.loop[:31]) for part in outcome.parts)
    assert len({part.loop for part in outcome.parts}) == 3
    assert {file.read_text() for file in (root / "stories").iterdir()} == {"all is right\n"}
    assert repo.git("log", "--format=%s", "-2").splitlines() == ["Fix what reviews found in 2 artifacts", "Files"]


def test_limits_of_the_loop_hold(repo: Repository) -> None:
    root, creator = with_files(repo, a="it is wrong and hard\n"), Creator()
    loop = Quality(artifacts="stories/a.yml", max_attempts=2)
    outcome = run(loop, agents={**AGENTS, "creator": creator}, root=root)
    assert (outcome.ending, outcome.attempts, len(creator.seen)) == (Ending.ESCALATED, 2, 1)


def test_high_findings_block_beyond_the_threshold_only(repo: Repository) -> None:
    def finds(context: Context) -> dict[str, Any]:
        fault = {"severity": "high", "file": "stories/a.yml", "evidence": "seen", "guidance": "mend it"}
        return {"status": "done", "verdict": "pass", "findings": [fault | {"issue": word} for word in ("one", "two")]}

    root = with_files(repo, a="all is right\n")
    agents = {**AGENTS, "reviewer": finds}
    lax = run(Quality(artifacts="stories/a.yml"), agents=agents, root=root)
    strict = run(Quality(artifacts="stories/a.yml", p1_threshold=1, max_attempts=1), agents=agents, root=root)
    assert (lax.ending, strict.ending) == (Ending.REVIEWED, Ending.ESCALATED)


def test_a_callable_that_raises_gets_one_more_chance(repo: Repository) -> None:
    calls: list[str] = []

    def raises_once(context: Context) -> dict[str, Any]:
        calls.append(context["key"])
        if len(calls) == 1:
            raise RuntimeError("not today")
        return says_wrong(context)

    root = with_files(repo, a="all is right\n")
    outcome = run(Quality(artifacts="stories/a.yml"), agents={**AGENTS, "reviewer": raises_once}, root=root)
    assert (outcome.ending, outcome.attempts, len(calls)) == (Ending.REVIEWED, 1, 2)


@pytest.mark.parametrize("missing", ["reviewer", "creator"])
def test_a_role_that_nobody_plays_is_refused_before_anything_is_made(repo: Repository, missing: str) -> None:
    root = with_files(repo, a="all is right\n")
    agents = {role: function for role, function in AGENTS.items() if role != missing}
    with pytest.raises(UsageError, match=f"agents has no '{missing}'"):
        run(Quality(artifacts="stories/a.yml"), agents=agents, root=root)
    assert not (root / ".loop").exists()


def test_a_path_that_is_not_there_is_refused(repo: Repository) -> None:
    with pytest.raises(UsageError, match="there is no such file or folder"):
        run(Quality(artifacts="stories/none.yml"), agents=AGENTS, root=repo.path)
