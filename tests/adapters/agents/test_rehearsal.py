import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.agents.rehearsal import RehearsalAgent
from loopwright.adapters.agents.scenario import read_scenario
from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable
from loopwright.kernel.model import AgentReport, Key, Usage, Verdict
from loopwright.ports.agent import AgentAnswer, AgentRun
from tests.adapters.agents.agent_parts import NOW, Bench, nobody_looks, timeless
from tests.adapters.step_parts import command_lines

BEGINS = b"rehearsal: developer begins\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def rehearsal(bench: Bench, scenario: str, *, wall: float = 60.0) -> RehearsalAgent:
    return RehearsalAgent(
        command=replace(bench.agent(""), name="play", usd=0.0, wall=wall),
        scenario=read_scenario(scenario, "scenario.toml"),
        book=bench.root / ".loop" / "rehearsal",
    )


def played(
    bench: Bench, step: str, *, wall: float = 60.0, role: str = "developer", verdict: bool = False
) -> AgentAnswer:
    agent = rehearsal(bench, f'[[step]]\nrole = "{role}"\n{step}', wall=wall)
    return asyncio.run(agent.run(bench.run(role=role, needs_verdict=verdict), nobody_looks))


def keyed(run: AgentRun, key: str) -> AgentRun:
    return replace(run, key=Key.parse(key), step=f"{run.loop}/1/{key}")


def summaries(agent: RehearsalAgent, run: AgentRun, keys: str) -> list[str]:
    async def all_of_them() -> list[str]:
        answers = [await agent.run(keyed(run, key), nobody_looks) for key in keys]
        return [a.report.summary if isinstance(a, AgentReported) else "-" for a in answers]

    return asyncio.run(all_of_them())


def test_a_step_edits_the_workspace_and_gives_its_result(bench: Bench) -> None:
    (bench.workspace / "b.py").write_text("x = 1\n")
    (bench.workspace / "old.py").write_text("")
    answer = played(
        bench,
        """edits = [{ path = "src/a.py", content = "new" }, { path = "b.py", find = "1", replace = "2" },
                    { path = "old.py", delete = true }]
           result = { status = "done", summary = "did it", usage = { usd = 0.25 } }""",
    )
    assert timeless(answer) == AgentReported(
        key=Key.parse("implement-1.1"),
        report=AgentReport(summary="did it", agent="play", transcript=bench.blob(BEGINS)),
        usage=Usage(usd=0.25),
    )
    found = {str(p.relative_to(bench.workspace)): p.read_text() for p in bench.workspace.rglob("*") if p.is_file()}
    assert found == {"src/a.py": "new", "b.py": "x = 2\n"}


def test_a_rehearsal_is_free_unless_it_says_otherwise(bench: Bench) -> None:
    answer = played(bench, "")
    assert answer.usage.usd == 0.0
    assert rehearsal(bench, "").reservation("developer") == 0.0


def test_an_edit_that_finds_nothing_fails_and_says_so(bench: Bench) -> None:
    (bench.workspace / "b.py").write_text("y\n")
    answer = played(bench, 'edits = [{ path = "b.py", find = "x", replace = "y" }]')
    assert isinstance(answer, AgentFailed)
    assert (answer.reason, answer.detail) == ("crashed", "exit code 1: rehearsal: 'x' is not in b.py")


@pytest.mark.parametrize(
    ("fault", "reason", "detail"),
    [
        ("crash", "crashed", "exit code 1: rehearsal: crashed as told"),
        ("hang", "timed_out", "timed out after 2 s: rehearsal: developer begins"),
        ("garbage", "garbled", "it is not JSON: Unterminated string starting at: line 1 column 31 (char 30)"),
    ],
)
def test_faults_that_are_failures(bench: Bench, fault: str, reason: str, detail: str) -> None:
    answer = played(bench, f'fault = "{fault}"', wall=2.0 if fault == "hang" else 60.0)
    assert isinstance(answer, AgentFailed)
    assert (answer.reason, answer.detail) == (reason, detail)


def test_a_rate_limit_is_unavailable_and_the_next_try_plays_on(bench: Bench) -> None:
    agent = rehearsal(
        bench,
        """[[step]]
           role = "developer"
           fault = "rate-limit"
           retry_after = "7s"
           [[step]]
           role = "developer"
           result = { status = "done", summary = "now" }""",
    )
    answer = asyncio.run(agent.run(bench.run(), nobody_looks))
    assert isinstance(answer, AgentUnavailable)
    assert answer.until == NOW + 7
    again = asyncio.run(agent.run(bench.run(), nobody_looks))
    assert isinstance(again, AgentReported)
    assert again.report.summary == "now"


def test_a_lie_claims_what_was_not_done(bench: Bench) -> None:
    answer = played(bench, 'fault = "lie"\nedits = [{ path = "a.py", content = "x" }]', verdict=True)
    assert isinstance(answer, AgentReported)
    assert (answer.report.summary, answer.report.verdict) == ("all done", Verdict.PASS)
    assert list(bench.workspace.iterdir()) == []


def test_no_result_is_no_result(bench: Bench) -> None:
    answer = played(bench, 'fault = "no-result"\nedits = [{ path = "a.py", content = "x" }]', verdict=True)
    assert isinstance(answer, AgentFailed)
    assert answer.reason == "garbled"
    assert (bench.workspace / "a.py").read_text() == "x"


def test_a_daemon_is_left_behind_and_does_not_survive(bench: Bench) -> None:
    answer = played(bench, 'fault = "daemon"')
    assert isinstance(answer, AgentReported)
    assert json.loads(answer.report.extras) == {"$strays": 1}
    pause = b"import signal; signal.pause()"
    inside = [pid for pid, words in command_lines() if pause in words and _works_in(pid, bench.workspace)]
    assert inside == []


def _works_in(pid: int, folder: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").resolve() == folder.resolve()
    except OSError:
        return False


def test_a_protected_file_is_touched(bench: Bench) -> None:
    (bench.workspace / "tests" / "deep").mkdir(parents=True)
    for name in ("tests/deep/test_b.py", "tests/test_c.py", "a.py"):
        (bench.workspace / name).write_text("old")
    played(bench, 'fault = "touch-protected"')
    assert (bench.workspace / "tests/deep/test_b.py").read_text() == "old\n# touched\n"


def test_the_named_protected_file_is_touched(bench: Bench) -> None:
    played(bench, 'fault = "touch-protected"\npath = ".github/ci.yml"')
    assert (bench.workspace / ".github/ci.yml").read_text() == "\n# touched\n"


def test_slow_output_comes_line_by_line(bench: Bench) -> None:
    answer = played(bench, 'fault = "slow-output"\nsleep = "0.2s"')
    assert isinstance(answer, AgentReported)
    assert bench.kept[answer.report.transcript].count(b"still at it\n") >= 2


@pytest.mark.slow
def test_a_flood_is_survived(bench: Bench) -> None:
    answer = played(bench, 'fault = "flood"\nresult = { status = "done", summary = "phew" }')
    assert isinstance(answer, AgentReported)
    assert answer.report.summary == "phew"
    transcript = bench.kept[answer.report.transcript]
    assert len(transcript) < 10 * 1024 * 1024
    assert "MB omitted …".encode() in transcript


TWO = """
[[step]]
role = "developer"
result = { status = "done", summary = "first" }
[[step]]
role = "developer"
result = { status = "done", summary = "second" }
"""


def test_each_step_is_played_once_and_then_one_is_missing(bench: Bench) -> None:
    agent = rehearsal(bench, TWO)
    assert summaries(agent, bench.run(), "abc") == ["first", "second", "-"]
    answer = asyncio.run(agent.run(keyed(bench.run(), "c"), nobody_looks))
    assert answer == AgentFailed(
        key=Key.parse("c"),
        reason="crashed",
        detail='scenario.toml has no unused [[step]] that fits role = "developer", attempt = 1;'
        " add one, or set `lenient = true` under [default]",
    )


def test_a_repeated_key_plays_the_same_step_in_a_new_process_too(bench: Bench) -> None:
    assert summaries(rehearsal(bench, TWO), bench.run(), "a") == ["first"]
    assert summaries(rehearsal(bench, TWO), bench.run(), "ab") == ["first", "second"]


def test_runs_at_the_same_time_never_share_a_step(bench: Bench) -> None:
    agent = rehearsal(bench, TWO)

    async def both() -> set[str]:
        for name in "ab":
            (bench.root / name).mkdir()
        runs = [replace(keyed(bench.run(), name), folder=bench.root / name) for name in "ab"]
        answers = await asyncio.gather(*(agent.run(run, nobody_looks) for run in runs))
        return {answer.report.summary for answer in answers if isinstance(answer, AgentReported)}

    assert asyncio.run(both()) == {"first", "second"}


def test_a_step_that_repeats_is_kept(bench: Bench) -> None:
    agent = rehearsal(bench, '[[step]]\nrole = "developer"\nrepeat = true\nresult = { status = "done", summary = "x" }')
    assert summaries(agent, bench.run(), "abc") == ["x", "x", "x"]


def test_a_lenient_scenario_fills_what_is_missing(bench: Bench) -> None:
    agent = rehearsal(bench, "[default]\nlenient = true")
    for needs_verdict, verdict in ((False, None), (True, Verdict.PASS)):
        answer = asyncio.run(agent.run(bench.run(role="reviewer", needs_verdict=needs_verdict), nobody_looks))
        assert isinstance(answer, AgentReported)
        assert (answer.report.verdict, answer.report.summary) == (verdict, "nothing scripted")


def test_a_finished_rehearsal_is_found_again(bench: Bench) -> None:
    agent = rehearsal(bench, TWO)
    assert asyncio.run(agent.reconcile(bench.run())) is None
    answer = asyncio.run(agent.run(bench.run(), nobody_looks))
    assert asyncio.run(agent.reconcile(bench.run())) == answer
