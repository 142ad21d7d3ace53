import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.pins import scripts_of
from loopwright.config.settings import AgentSettings
from loopwright.errors import AgentNotFound, NeedsPerson
from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable
from loopwright.kernel.model import AgentReport, AgentStatus, Key, Severity, Usage, Verdict
from loopwright.ports.agent import Update
from tests.adapters.agents.agent_parts import NOW, Bench, nobody_looks, timeless
from tests.adapters.step_parts import ENV, FOR_EVER

KEY = Key.parse("implement-1.1")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def result(value: object) -> str:
    return f"open(os.environ['LOOP_RESULT'], 'w').write({json.dumps(value)!r})\n"


def raw(text: str) -> str:
    return f"open(os.environ['LOOP_RESULT'], 'w').write({text!r})\n"


# --- what an agent is told ------------------------------------------------------------------------


def test_the_brief_is_on_stdin_and_in_its_file_and_the_context_is_data(bench: Bench) -> None:
    code = "print(sys.stdin.read() == open(os.environ['LOOP_BRIEF']).read(), open(os.environ['LOOP_CONTEXT']).read())"
    answer = bench.answer(code, repair="$.verdict: missing")
    assert isinstance(answer, AgentReported)
    said = bench.kept[answer.report.transcript].decode()
    assert said.startswith("True ")
    context = json.loads(said.removeprefix("True "))
    wanted = {
        "loop": "my-loop",
        "kind": "feedback",
        "role": "developer",
        "attempt": 1,
        "limit": 5,
        "task": "add a thing",
        "artifacts": [],
        "findings": [],
        "failures": [],
        "history": [],
        "criteria": [],
        "advice": [],
        "repair": "$.verdict: missing",
        "workspace": str(bench.workspace),
        "agent": "mine",
    }
    assert {key: context[key] for key in wanted} == wanted
    assert (bench.folder / "brief.md").read_text() == "# add a thing\n$.verdict: missing"


def test_it_works_in_the_workspace_and_its_papers_lie_outside(bench: Bench) -> None:
    code = "open('new.txt', 'w').write('x')\nprint(os.getcwd() == os.environ['LOOP_WORKSPACE'])\n"
    code += "print([os.environ[n].startswith(os.getcwd()) for n in ('LOOP_BRIEF', 'LOOP_CONTEXT', 'LOOP_RESULT')])"
    answer = bench.answer(code)
    assert isinstance(answer, AgentReported)
    assert bench.kept[answer.report.transcript] == b"True\n[False, False, False]\n"
    assert [path.name for path in bench.workspace.iterdir()] == ["new.txt"]


def test_git_finds_no_repository_above_the_workspace(bench: Bench) -> None:
    subprocess.run(["git", "init", "-q", str(bench.root)], check=True)
    answer = bench.answer("sys.exit(os.spawnlp(os.P_WAIT, 'git', 'git', 'rev-parse', '--show-toplevel'))")
    assert isinstance(answer, AgentFailed)
    assert "not a git repository" in answer.detail


def test_an_agent_need_not_read_its_brief(bench: Bench) -> None:
    agent = replace(bench.agent(result({"status": "done", "summary": "s"})), render=lambda _: "x" * 2_000_000)
    answer = asyncio.run(agent.run(bench.run(), nobody_looks))
    assert isinstance(answer, AgentReported)


def test_a_program_named_by_a_path_is_the_persons_own_file(bench: Bench) -> None:
    for folder, word in ((bench.root, "person"), (bench.workspace, "agent")):
        (folder / "judge").write_text(f"#!/bin/sh\necho {word}\n")
        (folder / "judge").chmod(0o755)
    answer = asyncio.run(replace(bench.agent(""), argv=("./judge",)).run(bench.run(), nobody_looks))
    assert isinstance(answer, AgentReported)
    assert bench.kept[answer.report.transcript] == b"person\n"


def test_a_missing_program_is_an_error_that_names_it(bench: Bench) -> None:
    agent = replace(bench.agent(""), argv=("no-such-agent",))
    with pytest.raises(AgentNotFound, match="'no-such-agent'"):
        asyncio.run(agent.run(bench.run(), nobody_looks))
    assert asyncio.run(agent.reconcile(bench.run())) is None


def test_one_run_reserves_what_the_configuration_says(bench: Bench) -> None:
    assert bench.agent("").reservation("developer") == 0.10


# --- what it answers --------------------------------------------------------------------------------


def test_a_whole_result_is_reported(bench: Bench) -> None:
    said = {"status": "done", "summary": "did it", "usage": {"input_tokens": 1, "output_tokens": 2, "usd": 0.5}}
    answer = bench.answer(result(said) + "print('bye'); print('oops', file=sys.stderr)")
    assert timeless(answer) == AgentReported(
        key=KEY,
        report=AgentReport(summary="did it", transcript=bench.blob(b"bye\noops\n"), agent="mine"),
        usage=Usage(input_tokens=1, output_tokens=2, usd=0.5),
    )
    assert bench.kept == {bench.blob(b"bye\noops\n"): b"bye\noops\n"}


def test_a_maker_without_a_result_is_done_and_its_cost_unknown(bench: Bench) -> None:
    assert timeless(bench.answer("")) == AgentReported(
        key=KEY, report=AgentReport(summary="(no summary)", agent="mine"), usage=Usage(usd=None)
    )


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("", "there is no result file, and this role must give a verdict"),
        (result({"status": "done"}), "$.verdict: missing, and this role must give one"),
        (
            result({"status": "done", "verdict": "maybe"}),
            '$.verdict: expected one of pass, fail, found the text "maybe"',
        ),
        ("os.symlink('/etc/passwd', os.environ['LOOP_RESULT'])", "it is not a regular file"),
        ("os.mkfifo(os.environ['LOOP_RESULT'])", "it is not a regular file"),
        ("os.mkdir(os.environ['LOOP_RESULT'])", "it is not a regular file"),
    ],
)
def test_a_judge_without_a_readable_verdict_is_garbled(bench: Bench, code: str, why: str) -> None:
    assert timeless(bench.answer(code, needs_verdict=True)) == AgentFailed(key=KEY, reason="garbled", detail=why)


def test_a_bad_result_of_a_maker_is_garbled_too(bench: Bench) -> None:
    answer = bench.answer(raw('{"status": "done", "summary": 1}'))
    assert timeless(answer) == AgentFailed(
        key=KEY, reason="garbled", detail="$.summary: expected text, found the number 1", usage=Usage()
    )


@pytest.mark.parametrize(
    ("usage", "usd"), [('{"usd": 1.5}', 1.5), ('{"usd": -1}', None), ('{"usd": true}', None), ("[]", None)]
)
def test_what_a_bad_result_says_that_it_cost_is_counted(bench: Bench, usage: str, usd: float | None) -> None:
    answer = bench.answer(raw(f'{{"status": "done", "summary": 1, "usage": {usage}}}'))
    assert isinstance(answer, AgentFailed)
    assert (answer.reason, answer.usage.usd) == ("garbled", usd)


def test_a_judge_that_is_blocked_need_not_judge(bench: Bench) -> None:
    answer = bench.answer(result({"status": "needs_clarification"}), needs_verdict=True)
    assert isinstance(answer, AgentReported)
    assert (answer.report.status, answer.report.verdict) == (AgentStatus.NEEDS_CLARIFICATION, None)


def test_findings_are_known_by_their_code_not_by_their_line(bench: Bench) -> None:
    def fingerprint(text: str, line: int, name: str) -> str:
        (bench.workspace / "a.py").write_text(text)
        finding = {"severity": "P1", "issue": "bad", "file": name, "line": line}
        answer = bench.answer(result({"status": "done", "verdict": "fail", "findings": [finding]}), needs_verdict=True)
        assert isinstance(answer, AgentReported)
        (found,) = answer.report.findings
        assert (answer.report.verdict, found.severity, found.file) == (Verdict.FAIL, Severity.HIGH, "a.py")
        return found.fingerprint

    first = fingerprint("x = 1\n", 1, "a.py")
    assert fingerprint("import os\nx = 1\n", 2, "./a.py") == first
    assert fingerprint("y = 'other'\n", 1, f"{bench.workspace}/a.py") != first


def test_a_finding_that_points_outside_reads_nothing(bench: Bench) -> None:
    (bench.root / "secret").write_text("secret\n")
    (bench.workspace / "link").symlink_to(bench.root)
    files = ["../../secret", str(bench.root / "secret"), "link/secret", "nowhere", "a\0b", ""]
    said = [{"severity": "low", "issue": "same", "rule": file, "line": 1, "file": file} for file in files]
    answer = bench.answer(result({"status": "done", "findings": said}))
    (bench.root / "secret").write_text("changed\n")
    again = bench.answer(result({"status": "done", "findings": said}))
    assert isinstance(answer, AgentReported)
    assert isinstance(again, AgentReported)
    assert answer.report.findings == again.report.findings


def test_strays_are_counted_in_the_report(bench: Bench) -> None:
    code = (
        "r, w = os.pipe()\nif os.fork() == 0:\n    os.setsid(); os.write(w, b'.')\n    import signal; signal.pause()\n"
    )
    answer = bench.answer(f"{code}os.read(r, 1)")
    assert isinstance(answer, AgentReported)
    assert json.loads(answer.report.extras) == {"$strays": 1}


# --- exits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "wait"), [("retry-after: 5", 5.0), ("busy", 60.0)])
def test_exit_75_is_unavailable_until_the_named_time(bench: Bench, words: str, wait: float) -> None:
    answer = bench.answer(f"print({words!r}, file=sys.stderr); sys.exit(75)")
    assert timeless(answer) == AgentUnavailable(key=KEY, until=NOW + wait, detail=words)


def test_exit_77_needs_a_person(bench: Bench) -> None:
    answer = bench.answer("print('log in first', file=sys.stderr); sys.exit(77)")
    assert timeless(answer) == AgentFailed(
        key=KEY,
        reason="needs_person",
        detail="the agent needs a person: log in first",
        transcript=bench.blob(b"log in first\n"),
    )


def test_any_other_exit_is_a_crash_whatever_the_result_says(bench: Bench) -> None:
    code = result({"status": "done", "usage": {"usd": 0.3}}) + "print('\\x1b[31mboom', file=sys.stderr); sys.exit(1)"
    assert timeless(bench.answer(code)) == AgentFailed(
        key=KEY,
        reason="crashed",
        detail="exit code 1: \\x1b[31mboom",
        usage=Usage(usd=0.3),
        transcript=bench.blob(b"\x1b[31mboom\n"),
    )


def test_a_signal_is_a_crash(bench: Bench) -> None:
    answer = bench.answer("os.abort()")
    assert timeless(answer) == AgentFailed(key=KEY, reason="crashed", detail="killed by signal 6")


def test_a_killed_supervisor_is_a_crash(bench: Bench) -> None:
    answer = bench.answer(f"os.kill(os.getppid(), 9)\n{FOR_EVER}")
    assert isinstance(answer, AgentFailed)
    assert answer.reason == "crashed"
    assert answer.detail.startswith("killed by signal 9 (the supervisor of the step")


def test_the_limits_are_told_apart(bench: Bench) -> None:
    silent, slow = bench.agent(f"print('hello', flush=True)\n{FOR_EVER}"), bench.agent(FOR_EVER)
    idle = asyncio.run(replace(silent, idle=1.0).run(bench.run(), nobody_looks))
    wall = asyncio.run(replace(slow, wall=0.2).run(bench.run(), nobody_looks))
    assert timeless(idle) == AgentFailed(
        key=KEY, reason="idle", detail="no output for 1 s: hello", transcript=bench.blob(b"hello\n")
    )
    assert timeless(wall) == AgentFailed(key=KEY, reason="timed_out", detail="timed out after 0.2 s")


# --- secrets and signs of life ----------------------------------------------------------------------------


def test_a_secret_that_was_let_through_does_not_come_back(bench: Bench) -> None:
    code = "t = os.environ['MY_TOKEN']\nprint('token', t, flush=True); print(t, file=sys.stderr)\n"
    code += "open(os.environ['LOOP_RESULT'], 'w').write(json.dumps({'status': 'done', 'summary': t}))"
    agent = replace(bench.agent(code), env={**ENV, "MY_TOKEN": "s3cr3t-s3cr3t"})
    seen: list[Update] = []
    answer = asyncio.run(agent.run(bench.run(), seen.append))
    assert isinstance(answer, AgentReported)
    assert answer.report.summary == "[redacted:MY_TOKEN]"
    assert bench.kept[answer.report.transcript] == b"token [redacted:MY_TOKEN]\n[redacted:MY_TOKEN]\n"
    assert "s3cr3t" not in "".join(update.text for update in seen)
    left = b"".join(path.read_bytes() for path in bench.folder.iterdir() if path.name != "result.json")
    assert b"s3cr3t" not in left


def test_a_secret_in_the_reason_of_a_crash_is_redacted(bench: Bench) -> None:
    agent = replace(bench.agent("sys.exit(os.environ['API_KEY'])"), env={**ENV, "API_KEY": "s3cr3t-s3cr3t"})
    answer = asyncio.run(agent.run(bench.run(), nobody_looks))
    assert isinstance(answer, AgentFailed)
    assert answer.detail == "exit code 1: [redacted:API_KEY]"


def test_output_is_shown_while_the_agent_works(bench: Bench) -> None:
    seen: list[Update] = []
    asyncio.run(bench.agent("print('working', flush=True)").run(bench.run(), seen.append))
    assert seen == [Update(loop=bench.run().loop, key=KEY, text="working", bytes=8)]


# --- after a crash of ours ----------------------------------------------------------------------------------


def test_a_run_that_finished_unrecorded_is_found_again(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("x = 1\n")
    finding = {"severity": "low", "issue": "bad", "file": "a.py", "line": 1}
    agent = bench.agent(result({"status": "done", "findings": [finding]}) + "print('bye')")
    assert asyncio.run(agent.reconcile(bench.run())) is None
    answer = asyncio.run(agent.run(bench.run(), nobody_looks))
    nowhere = replace(bench.run(), folder=Path("nowhere"))
    assert asyncio.run(agent.reconcile(nowhere)) == answer
    assert asyncio.run(replace(agent, name="another").reconcile(nowhere)) is None


def test_a_run_that_was_cut_short_is_not_an_answer(bench: Bench) -> None:
    async def cut_short() -> None:
        up = asyncio.Event()
        agent = bench.agent(f"print('up', flush=True)\n{FOR_EVER}")
        task = asyncio.create_task(agent.run(bench.run(), lambda _: up.set()))
        await up.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await agent.reconcile(bench.run()) is None

    asyncio.run(cut_short())


def test_a_repeated_run_starts_from_an_empty_folder(bench: Bench) -> None:
    bench.answer(result({"status": "blocked", "summary": "old"}))
    answer = bench.answer("")
    assert isinstance(answer, AgentReported)
    assert answer.report.summary == "(no summary)"


def test_an_agent_whose_script_was_changed_while_the_loop_ran_does_not_run(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text("pass\n")
    settings = AgentSettings(name="mine", kind="command", argv=(sys.executable, str(script)))
    bench = Bench(tmp_path)
    agent = replace(bench.agent(""), argv=settings.argv, pinned=scripts_of(settings, tmp_path))
    assert isinstance(asyncio.run(agent.run(bench.run(), nobody_looks)), AgentReported)
    script.write_text("print('judged by something else')\n")
    with pytest.raises(NeedsPerson, match=r"agent 'mine': .*agent\.py was changed while the loop ran"):
        asyncio.run(agent.run(bench.run(), nobody_looks))


# --- a link where the run's folder was ------------------------------------------------------------------------


@pytest.mark.parametrize("up", [0, 1, 2])
def test_a_run_folder_that_became_a_link_is_not_followed(bench: Bench, tmp_path: Path, up: int) -> None:
    elsewhere = tmp_path / "elsewhere"
    inside = elsewhere.joinpath(*bench.folder.parts[len(bench.folder.parts) - up :])
    inside.mkdir(parents=True)
    for name in ("stdout", "stderr"):
        (inside / name).write_text("of the person: s3cr3t-s3cr3t")
    (inside / "result.json").write_text('{"status": "done", "summary": "forged"}')
    path = [bench.folder, *bench.folder.parents][up]
    link = f"os.rename({str(path)!r}, {str(tmp_path / 'away')!r}); os.symlink({str(elsewhere)!r}, {str(path)!r})"
    agent = replace(bench.agent(link), env={**ENV, "MY_TOKEN": "s3cr3t-s3cr3t"})
    answer = asyncio.run(agent.run(bench.run(), nobody_looks))
    assert isinstance(answer, AgentFailed)
    assert "put a link in its place" in answer.detail
    assert sorted(each.name for each in inside.iterdir()) == ["result.json", "stderr", "stdout"]
    assert (inside / "stdout").read_text() == "of the person: s3cr3t-s3cr3t"
    assert asyncio.run(agent.reconcile(bench.run())) is None

    again = bench.answer(result({"status": "done", "summary": "true"}))
    assert isinstance(again, AgentReported)
    assert again.report.summary == "true"
    assert (inside / "result.json").read_text() == '{"status": "done", "summary": "forged"}'


# --- tokens -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "guessed"),
    [
        ("", 10_000),
        (result({"status": "done", "usage": {"usd": 0.3}}), 10_000),
        ("os.write(1, b'x' * 80_000)", 20_003),
        ("sys.exit(1)", 10_000),
        (result({"status": "done", "usage": {"output_tokens": 0}}), 0),
        (result({"status": "done", "usage": {"input_tokens": 7}}), 0),
        ("sys.exit(75)", 0),
    ],
)
def test_tokens_that_a_run_does_not_speak_of_are_guessed(bench: Bench, code: str, guessed: int) -> None:
    agent = replace(bench.agent(code), silent_tokens=10_000)
    assert asyncio.run(agent.run(bench.run(), nobody_looks)).usage.guessed_tokens == guessed
    assert bench.answer(code).usage.guessed_tokens == 0  # of one that uses no model
