"""What the observer writes of real sessions, what `loop insights` learns from them, and that the log gives it all."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scene import Scene
from tests.e2e.ticket_kills import check_lines, made_files
from tests.e2e.ticketing import Step, against, creates, files_of, front, new, observed, played, run, says
from tests.test_schemas import mistakes

USAGE = {"usage": {"usd": 0.25}}
GAPS = [against("AC-1", "wrong", file="a.txt", category="correctness"), against("AC-1", "slow")]


def steps_of(session: str, *verdicts: str) -> list[Step]:
    """One ticket for each verdict of the critic's."""
    steps: list[Step] = []
    for number, verdict in enumerate(verdicts, start=1):
        findings = GAPS if verdict == "fail" else []
        steps.append(creates(number, {f"{session}.txt": f"{number}\n"}, **USAGE))
        steps.append(says("critic", number, verdict, findings, **USAGE))
    return [step | {"task": f"{session} session"} for step in steps]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Approved at once; approved the second time; escalated; and one that mends a defect of the first."""
    steps = [
        *steps_of("quick", "pass"),
        *steps_of("late", "fail", "pass"),
        *steps_of("stuck", "fail"),
        *steps_of("mend", "pass"),
    ]
    scene = played(tmp_path_factory.mktemp("several"), steps)
    for name in ("quick", "late", "stuck"):
        new(scene, f"The {name} session", "It works", session=name)
    new(scene, "The mend session: a defect of TICKET-quick-001", "It works", session="mend")
    ended = [run(scene, name, *more, code=None).code for name, *more in SESSIONS]
    assert ended == [0, 0, 4, 0]
    return scene


SESSIONS = (("quick",), ("late",), ("stuck", "--max", "1"), ("mend",))


@pytest.mark.slow
def test_every_dispatch_is_a_line(several: Scene) -> None:
    lines = observed(several, "iterations")
    assert [mistakes("iterations", line) for line in lines] == [[]] * len(lines)
    told = Counter((line["correlation"], line["iteration"]["role"], line["iteration"]["status"]) for line in lines)
    tickets = ("TICKET-quick-001", "TICKET-late-001", "TICKET-late-002", "TICKET-stuck-001", "TICKET-mend-001")
    statuses = ("started", "completed")
    assert told == {
        (ticket, role, status): 1 for ticket in tickets for role in ("creator", "critic") for status in statuses
    }
    found = {line["correlation"]: len(line["iteration"]["findings"]) for line in lines if line["iteration"]["findings"]}
    assert found == {"TICKET-late-001": 2, "TICKET-stuck-001": 2}


@pytest.mark.slow
def test_every_grave_finding_is_a_violation(several: Scene) -> None:
    lines = observed(several, "violations")
    assert [mistakes("violations", line) for line in lines] == [[]] * len(lines)
    names = ("session_id", "observation_type", "severity", "blocking", "file", "violation")
    assert [tuple(line[name] for name in names) for line in lines] == [
        (session, "quality-cycle", "HIGH", True, file, f"{rule} is not as it has to be")
        for session in ("late", "stuck")
        for file, rule in (("a.txt", "wrong"), (None, "slow"))
    ]


@pytest.mark.slow
def test_every_frontmatter_is_valid(several: Scene) -> None:
    where = {"quick": "completed", "late": "completed", "stuck": "active", "mend": "completed"}
    pages = [text for name, folder in where.items() for text in files_of(several, folder, name).values()]
    assert [mistakes("ticket", front(text)) for text in pages] == [[]] * 5


@pytest.mark.slow
def test_the_log_alone_gives_every_file_anew(several: Scene) -> None:
    check_lines(several)
    folder = several.root / ".loop"
    before = made_files(folder)
    for name in before:
        if ".activated" not in name and not name.endswith(".lock"):
            (folder / name).unlink()
    several.loop("render")
    assert made_files(folder) == before


@pytest.mark.slow
def test_lines_that_could_not_be_written_in_time_are_put_where_they_belong(several: Scene) -> None:
    """As after a lock that was not to be had: later lines of another session are there already."""
    files = [several.root / ".loop" / "observer" / f"{name}.jsonl" for name in ("iterations", "violations")]
    whole = [file.read_bytes() for file in files]
    for file in files:
        left = [line for line in file.read_text().splitlines(keepends=True) if '"loop":"stuck-' not in line]
        file.write_text("".join(left))
    several.loop("answer", "history")
    assert [file.read_bytes() for file in files] == whole


@pytest.mark.slow
def test_insights_are_valid_and_say_what_was_run(several: Scene) -> None:
    found: dict[str, Any] = several.loop("insights", "--json").json
    assert mistakes("insights", found) == []
    told = {key: found[key] for key in ("cycles", "under_way", "tickets", "approved", "escalated")}
    assert told == {"cycles": 4, "under_way": 0, "tickets": 5, "approved": 0.75, "escalated": 0.25}
    spread = {key: found["iterations_to_approval"][key] for key in ("count", "mean", "median", "distribution")}
    assert spread == {"count": 3, "mean": 1.3333, "median": 1.0, "distribution": {"1": 2, "2": 1}}
    # Ten runs of agents at a quarter of a dollar.
    assert found["cost"] == {"usd": 2.5, "estimated": False, "usd_per_approved_ticket": 0.8333}
    defects = found["later_defects"]
    assert (defects["count"], defects["of"]) == (1, 3)
    assert defects["tickets"] == [{"ticket": "TICKET-quick-001", "sessions": ["mend"]}]
    assert found["proposals"] == found["patterns"] == []  # four sessions show nothing that chance does not explain


@pytest.mark.kills
@pytest.mark.slow
def test_two_sessions_side_by_side_leave_one_file_in_the_order_of_time(tmp_path: Path) -> None:
    names = ("left", "right")
    scene = played(tmp_path, [step for name in names for step in steps_of(name, "fail", "fail", "pass")])
    for name in names:
        new(scene, f"The {name} session", "It works", session=name)
    running = [scene.begin("ticket", "run", name, "--unattended", "--json") for name in names]
    for process in running:
        with process:
            out, err = process.communicate(timeout=60)
            assert process.returncode == 0, out + err
    lines = observed(scene, "iterations")
    assert Counter(line["log"]["loop"].split("-")[0] for line in lines) == {"left": 12, "right": 12}
    check_lines(scene)
    before = made_files(scene.root / ".loop")
    scene.loop("render")
    assert made_files(scene.root / ".loop") == before
