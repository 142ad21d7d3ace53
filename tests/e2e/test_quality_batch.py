"""Many artifacts at once: each ends in the right list, rounds do not overlap, memory does not follow the findings."""

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from loopwright.app.project import Project
from loopwright.kernel.events import AgentFailed, AgentReported, Started
from loopwright.kernel.model import Ending, Key
from loopwright.kernel.record import read_event
from tests.conftest import ROOT
from tests.e2e.reviewing import go_on, lines_of, rehearsed, review
from tests.e2e.scene import Scene

Step = dict[str, Any]
MANY = 200
FEW, MORE = 10, 60
GROWTH = 6.0  # MB that may be taken by 50 more artifacts, each with 200 KB of findings


def story(number: int) -> str:
    return f"stories/ST-{number:03}.yml"


def fault(number: int) -> dict[str, str]:
    words = {"issue": "two scopes", "evidence": "line 1", "guidance": "split it"}
    return {"severity": "critical", "rule": "S2", "file": story(number), **words}


def reviews(number: int, *, attempt: int | None = None, passes: bool = False, **keys: object) -> Step:
    verdict = {"verdict": "pass"} if passes else {"verdict": "fail", "findings": [fault(number)]}
    at = {} if attempt is None else {"attempt": attempt}
    return {"role": "reviewer", "artifact": story(number), **at, "result": {"status": "done", **verdict}, **keys}


def fixes(number: int, text: str = "fixed\n", **keys: object) -> Step:
    return {"role": "creator", "artifact": story(number), "edits": [{"path": story(number), "content": text}], **keys}


# --- what may come of an artifact: its steps, how it ends, after how many reviews -------------------------------

Fate = tuple[Callable[[int], list[Step]], Ending, int]


def stumbles(role: str, what: str) -> Callable[[int], list[Step]]:
    """Fails once in that role, and is then as good as any."""

    def steps(number: int) -> list[Step]:
        once = {"role": role, "artifact": story(number), "fault": what}
        if role == "reviewer":
            return [once]
        return [reviews(number, attempt=1), once, fixes(number), reviews(number, attempt=2, passes=True)]

    return steps


def for_ever(what: str) -> Callable[[int], list[Step]]:
    return lambda number: [{"role": "reviewer", "artifact": story(number), "fault": what, "repeat": True}]


def blocked(number: int) -> list[Step]:
    tries = [fixes(number, f"still two, {attempt}\n", attempt=attempt) for attempt in (1, 2, 3)]
    return [reviews(number, repeat=True), *tries]


def fixed(number: int) -> list[Step]:
    return [reviews(number, attempt=1), fixes(number), reviews(number, attempt=2, passes=True)]


FATES: dict[int, Fate] = {
    # One in twenty crashes or gives garbage: half of them once, half of them for ever.
    3: (stumbles("reviewer", "crash"), Ending.REVIEWED, 1),
    23: (stumbles("reviewer", "garbage"), Ending.REVIEWED, 1),
    43: (stumbles("reviewer", "no-result"), Ending.REVIEWED, 1),
    63: (stumbles("creator", "crash"), Ending.REVIEWED, 2),
    83: (stumbles("creator", "garbage"), Ending.REVIEWED, 2),
    103: (for_ever("no-result"), Ending.ESCALATED, 3),
    123: (for_ever("garbage"), Ending.ESCALATED, 3),
    143: (for_ever("no-result"), Ending.ESCALATED, 3),
    163: (for_ever("no-result"), Ending.ESCALATED, 3),
    183: (for_ever("garbage"), Ending.ESCALATED, 3),
    **dict.fromkeys((7, 57, 107, 157), (blocked, Ending.ESCALATED, 3)),
    **dict.fromkeys(range(15, MANY, 19), (fixed, Ending.REVIEWED, 2)),
}


def crowd(folder: Path, fates: dict[int, Fate], many: int) -> Scene:
    steps = [step for number, (make, _, _) in sorted(fates.items()) for step in make(number)]
    files = {story(number): f"id: ST-{number:03}\n" for number in range(many)}
    return rehearsed(folder, files, steps)


# --- the tests --------------------------------------------------------------------------------------------------


def test_every_artifact_of_a_batch_ends_in_the_right_list(tmp_path: Path) -> None:
    fates: dict[int, Fate] = {
        1: (stumbles("reviewer", "garbage"), Ending.REVIEWED, 1),
        2: (for_ever("no-result"), Ending.ESCALATED, 3),
        3: (blocked, Ending.ESCALATED, 3),
        4: (fixed, Ending.REVIEWED, 2),
    }
    scene = crowd(tmp_path, fates, 6)
    check(scene, fates, 6)


def test_the_command_tells_passed_and_blocked_apart_and_asks_for_a_person(tmp_path: Path) -> None:
    fates: dict[int, Fate] = {0: (blocked, Ending.ESCALATED, 1)}
    scene = crowd(tmp_path, fates, 2)
    told = scene.loop("review", "stories", "--batch", "--max-attempts", "1", "--unattended", "--json", code=4).json
    (left,) = told["blocked"]
    assert (told["passed"], left["artifact"], left["reason"]) == ([story(1)], story(0), "MAX_LOOPS_REACHED")
    assert [each["issue"] for each in left["unresolved"]] == ["two scopes"]
    assert left["file"] == ".loop/quality/stories/ST-000.quality.yml"


def test_a_reviewer_that_crashes_twice_in_the_same_way_is_for_a_person_to_mend(tmp_path: Path) -> None:
    scene = crowd(tmp_path, {0: (for_ever("crash"), Ending.ESCALATED, 1)}, 2)
    stopped = review(scene, "stories", batch=True)
    assert stopped.ask.question.startswith("The reviewer crashed twice in the same way")
    assert len([event for _, _, event in history(scene) if isinstance(event, AgentFailed)]) == 2


def test_no_part_stays_open_when_the_batch_has_ended(tmp_path: Path) -> None:
    scene = crowd(tmp_path, {0: (for_ever("garbage"), Ending.ESCALATED, 1)}, 2)
    stopped = review(scene, "stories", batch=True, max_attempts=1)
    assert go_on(scene, stopped.loop, "accept").outcome.ending is Ending.ACCEPTED
    statuses = {row.status for row in scene.project(lambda project: project.store.rows())}
    assert "waiting" not in statuses
    assert not list((scene.root / ".loop/quality/stories").glob("*.quality.yml"))


@pytest.mark.slow
@pytest.mark.kills
@pytest.mark.unmeasured
@pytest.mark.timeout(400)
def test_two_hundred_artifacts_of_which_some_crash_and_some_lie_end_each_in_the_right_list(tmp_path: Path) -> None:
    check(crowd(tmp_path, FATES, MANY), FATES, MANY)


def check(scene: Scene, fates: dict[int, Fate], many: int) -> None:
    stopped = review(scene, "stories", batch=True)
    assert stopped.halt.why == "waiting"
    expected = {story(number): (Ending.REVIEWED, 1) for number in range(many)}
    expected |= {story(number): (ending, attempts) for number, (_, ending, attempts) in fates.items()}
    blocked_ones = sorted(path for path, (ending, _) in expected.items() if ending is Ending.ESCALATED)
    summary = f"{many - len(blocked_ones)} passed, {len(blocked_ones)} blocked of {many} artifacts."
    assert stopped.ask.question.startswith(summary)
    assert all(path in stopped.ask.question for path in blocked_ones[:10])
    explained = "\n".join(lines_of(scene, stopped.loop))
    for path in blocked_ones[:20]:
        assert f"QUALITY_BLOCKED: {path} (MAX_LOOPS_REACHED: 3 reviews" in explained
        assert f"findings in .loop/quality/{path.replace('.yml', '.quality.yml')})" in explained
    check_rounds(scene)
    # What passed is landed although others are stuck; what is stuck keeps its findings beside it.
    branch = f"loop/{stopped.loop}"
    landed = scene.repo.git("diff", "--name-only", "main", branch).splitlines()
    assert landed == sorted(
        story(n) for n, (_, ending, tries) in fates.items() if (ending, tries) == (Ending.REVIEWED, 2)
    )
    beside = sorted(path.name for path in (scene.root / ".loop/quality/stories").glob("*.quality.yml"))
    assert beside == [Path(path).name.replace(".yml", ".quality.yml") for path in blocked_ones]
    ended = go_on(scene, stopped.loop, "accept").outcome
    # Where no reviewer ever gave a verdict there is nothing to accept.
    accepted = {story(n): (Ending.ACCEPTED, tries) for n, (make, _, tries) in fates.items() if make is blocked}
    assert {part.name: (part.ending, part.attempts) for part in ended.parts} == expected | accepted
    assert [part.name for part in ended.parts] == sorted(expected)


def history(scene: Scene) -> list[tuple[float, str, Any]]:
    """Everything that happened in any part, by time: when, in which loop, what."""

    async def all_of(project: Project) -> list[tuple[float, str, Any]]:
        rows = [row for row in await project.store.rows() if row.parent is not None]
        records = [record for row in rows for record in await project.store.read(row.id)]
        return sorted(((each.at, str(each.loop), read_event(each)) for each in records), key=lambda each: each[0])

    found: list[tuple[float, str, Any]] = scene.project(all_of)
    return found


def check_rounds(scene: Scene) -> None:
    """No fix of a round begins before every review of that round is over, and no review before every fix before it."""
    begun: dict[str, list[float]] = {}
    over: dict[str, list[float]] = {}
    for at, _, event in history(scene):
        match event:
            case Started(action="RunAgent"):
                begun.setdefault(_step(event.key), []).append(at)
            case AgentReported() | AgentFailed():
                over.setdefault(_step(event.key), []).append(at)
            case _:
                pass
    order = [step for number in (1, 2, 3) for step in (f"review-{number}", f"fix-{number}") if step in begun]
    assert order == ["review-1", "fix-1", "review-2", "fix-2", "review-3"]
    for before, after in pairwise(order):
        assert max(over[before]) <= min(begun[after]), f"{after} began before every {before} was over"


def _step(key: Key) -> str:
    return f"{key.step}-{key.attempt}"


@pytest.mark.slow
@pytest.mark.kills
@pytest.mark.timeout(400)
def test_the_memory_of_the_controller_does_not_grow_with_the_findings(tmp_path: Path) -> None:
    few, many = (most_memory(tmp_path / str(number), number) for number in (FEW, MORE))
    assert many - few < GROWTH, f"{few:.1f} MB for {FEW} artifacts, {many:.1f} MB for {MORE}"


def most_memory(folder: Path, many: int) -> float:
    """MB, of a controller whose every artifact is blocked by 100 findings of 2 KB."""
    long = {name: name * 150 for name in ("evidence", "guidance")}
    found = [
        {"severity": "critical", "rule": f"S{n}", "file": "", "issue": f"{n} " + "x" * 500, **long} for n in range(100)
    ]
    assert 190_000 < len(json.dumps(found)) < 400_000
    says = {"role": "reviewer", "repeat": True, "result": {"status": "done", "verdict": "fail", "findings": found}}
    scene = rehearsed(folder, {story(number): f"id: ST-{number:03}\n" for number in range(many)}, [says])
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.crowd", str(scene.root), "1"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((scene.root / ".loop/quality/stories").glob("*.quality.yml"))) == many
    return float(done.stdout)
