"""Agents that break, hang, destroy or leave things behind: the person's repository and the loop stay whole."""

import json
from pathlib import Path

import pytest

from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable, Checkpointed
from tests.e2e.kills import gone, of_steps
from tests.e2e.scene import PASSES, PUTS_ADD, WRITES_ADD, Scene, adding, ready, until

pytestmark = pytest.mark.sampled("trust")

FIRST = "if attempt == 1 and not (notes / 'again').exists():\n    note('again', '')\n"


def indented(*lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines)


def test_git_in_a_workspace_without_its_repository_does_not_find_the_persons(tmp_path: Path) -> None:
    wrecks = (
        "import shutil; shutil.rmtree('.git')\n"
        "for words in ('reset --hard', 'clean -fdx', 'checkout -- .', 'update-ref -d refs/heads/main'):\n"
        "    note('git', str(subprocess.run(['git', *words.split()], capture_output=True).returncode))\n"
        "subprocess.run(['git', 'init', '-q']); subprocess.run(['git', 'config', 'core.hooksPath', '/tmp'])\n"
    )
    scene = ready(tmp_path, developer=wrecks + WRITES_ADD)
    scene.repo.write("README.md", "half written\n")
    scene.repo.write("draft.txt", "not in git yet\n")
    before = scene.person()
    said = scene.feedback()
    assert said["outcome"] == "verified"
    assert scene.noted("git") == ["128"] * 4
    assert scene.person() == before
    assert scene.repo.git("diff", "--stat", "main", said["branch"]).startswith(" calc.py | 2 +-\n")


def test_a_workspace_that_its_agent_removed_is_made_anew(tmp_path: Path) -> None:
    removes = (
        "if attempt == 1:\n    Path('calc.py').write_text('add = max\\n'); report(summary='wrong'); sys.exit(0)\n"
        "if attempt == 2:\n    import shutil; shutil.rmtree(os.environ['LOOP_WORKSPACE'])\n"
        "    report(summary='gone'); sys.exit(0)\n"
    )
    scene = ready(tmp_path, developer=removes + WRITES_ADD)
    said = scene.feedback()
    assert (said["outcome"], said["iterations"]) == ("verified", 3)
    assert scene.file_at(said["branch"], "tests/test_calc.py") == scene.file_at("main", "tests/test_calc.py")


def test_special_files_are_neither_read_nor_followed(tmp_path: Path) -> None:
    plants = "os.mkfifo('pipe'); os.symlink('/', 'everything'); os.symlink('loop', 'loop')\n"
    scene = ready(tmp_path, developer=plants + WRITES_ADD)
    said = scene.feedback()
    assert said["outcome"] == "verified"
    assert [held["path"] for held in said["held_back"]] == ["everything", "loop"]  # a link may lead anywhere
    landed, kept = (modes_at(scene, said["branch"] + end) for end in ("", "-held"))
    assert ("120000" in landed.values(), "pipe" in kept) == (False, False)
    assert {name for name, mode in kept.items() if mode == "120000"} == {"everything", "loop"}


def modes_at(scene: Scene, ref: str) -> dict[str, str]:
    return {line.split("\t")[1]: line[:6] for line in scene.repo.git("ls-tree", "-r", ref).splitlines()}


def test_a_daemon_does_not_outlive_its_step(tmp_path: Path) -> None:
    daemon = (
        "ready, done = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        note('daemon', str(os.getpid()))\n"
        "        os.write(done, b'.')\n"
        "        os.closerange(0, 64)\n"
        "        os.execve('/bin/sleep', ['sleep', '1000'], {})\n"
        "    os._exit(0)\n"
        "os.read(ready, 1)\n"
    )
    scene = ready(
        tmp_path,
        developer=daemon + WRITES_ADD,
        reviewer=f"process = '/proc/' + (notes / 'daemon').read_text().strip()\n"
        f"note('alive', str(os.path.exists(process)))\n{PASSES}",
    )
    assert scene.feedback()["outcome"] == "verified"
    assert scene.noted("alive") == ["False"]
    reported = scene.events(AgentReported)[0]
    assert json.loads(reported.report.extras)["$strays"] == 1
    assert of_steps(scene.root) == []


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "reason"), [('wall = "1s"', "timed_out"), ('idle = "1s"', "idle")])
def test_an_agent_that_hangs_is_ended_by_its_limit(tmp_path: Path, limit: str, reason: str) -> None:
    scene = adding(tmp_path)
    developer = scene.agent("developer", "import signal\nsignal.pause()\n") + f"[agents.developer.limits]\n{limit}\n"
    scene.configure(developer, scene.agent("reviewer", PASSES))
    scene.repo.commit("A task")
    said = scene.feedback("--max-iterations", "1", code=4)
    assert said["outcome"] == "escalated"
    assert [event.reason for event in scene.events(AgentFailed)] == [reason, reason]  # one respawn is free
    gone(scene)


@pytest.mark.kills
def test_a_rate_limit_is_waited_for_and_not_counted(tmp_path: Path) -> None:
    limited = FIRST + indented("sys.stderr.write('usage limit reached\\nretry-after: 0.1\\n')", "sys.exit(75)")
    scene = ready(tmp_path, developer=limited + WRITES_ADD)
    said = scene.feedback("--max-iterations", "1")
    assert (said["outcome"], said["iterations"]) == ("verified", 1)
    assert len(scene.events(AgentUnavailable)) == 1
    assert scene.events(AgentFailed) == []


@pytest.mark.slow
def test_exit_77_is_a_question_and_the_answer_reaches_the_next_brief(tmp_path: Path) -> None:
    asks = FIRST + indented("report(summary='Which sign?')", "sys.exit(77)")
    told = "note('advice', json.dumps(context()['advice']))\n"
    scene = ready(tmp_path, developer=asks + told + WRITES_ADD)
    said = scene.feedback(code=4)
    (need,) = said["needs"]
    assert (need["kind"], "Which sign?" in need["what"]) == ("question", True)
    scene.loop("answer", "The plus sign")
    assert scene.loop("resume", "--unattended", "--json").json["outcome"] == "verified"
    assert "The plus sign" in scene.noted("advice")[0]


# --- the state folder ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["database.write_bytes(b'not a database' * 1000)", "database.write_bytes(b'')"])
def test_an_overwritten_log_stops_the_loop_and_is_not_begun_anew(tmp_path: Path, harm: str) -> None:
    wipes = (
        f"database = root / '.loop' / 'loop.db'\n{harm}\n"
        "for name in ('loop.db-wal', 'loop.db-shm'):\n    (root / '.loop' / name).unlink(missing_ok=True)\n"
    )
    scene = ready(tmp_path, developer=wipes + WRITES_ADD)
    before = scene.person()
    stopped = scene.loop("feedback", "Add add()", "--unattended", "--json", code=1)
    assert len(stopped.json["error"].splitlines()) == 1
    assert "loop.db" in stopped.json["error"]
    again = scene.loop("resume", "--json", code=1)
    assert "loop.db" in again.json["error"]
    assert "Traceback" not in stopped.err + again.err
    assert scene.person() == before
    assert scene.repo.git("for-each-ref", "refs/heads/loop") == ""


def test_a_deleted_log_stops_the_loop(tmp_path: Path) -> None:
    deletes = "import shutil\nfor file in (root / '.loop').glob('loop.db*'):\n    file.unlink()\n"
    scene = ready(tmp_path, developer=deletes + WRITES_ADD)
    stopped = scene.loop("feedback", "Add add()", "--unattended", "--json", code=1)
    assert "loop.db" in stopped.json["error"]
    assert "Traceback" not in stopped.err
    assert scene.repo.git("for-each-ref", "refs/heads/loop") == ""


def test_the_whole_state_folder_deleted_stops_the_loop(tmp_path: Path) -> None:
    deletes = "import shutil\nshutil.rmtree(root / '.loop', ignore_errors=True)\n"
    scene = ready(tmp_path, developer=deletes + WRITES_ADD)
    before = scene.person()
    stopped = scene.loop("feedback", "Add add()", "--unattended", "--json", code=1)
    assert "Traceback" not in stopped.err
    assert "defect" not in stopped.err
    assert scene.person() == before


# --- what agents print --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_escapes_reach_no_terminal(tmp_path: Path) -> None:
    evil = "\\x1b[31mred\\x1b]0;title\\x07\\x9b2J\\u202e"
    prints = f"print('{evil}', flush=True)\n" + PUTS_ADD + f"report(summary='{evil}')\n"
    scene = ready(tmp_path, developer=prints)
    said = scene.loop("feedback", "Add \x1b[31madd()", "--unattended")
    shown = said.out + said.err
    for words in (("log",), ("status",), ("explain",), ("log", "--json"), ("status", "--json")):
        shown += scene.loop(*words).out
    for char in "\x1b\x07\x9b\u202e":
        assert char not in shown
    assert "\\x1b[31mred" in scene.loop("log").out
    pad = next((scene.root / ".loop" / "feedback").glob("*/feedback-scratchpad.md")).read_text()
    assert "\x1b" not in pad


def test_a_secret_that_an_agent_prints_is_stored_nowhere(tmp_path: Path) -> None:
    secret = "s3cr3t-" + "0123456789abcdef"
    told = "report(summary='used ' + os.environ['MY_TOKEN'])\n"
    leaks = "print('token', os.environ['MY_TOKEN'])\n" + PUTS_ADD + told
    scene = adding(tmp_path)
    scene.configure(scene.agent("developer", leaks, env='["MY_TOKEN"]'), scene.agent("reviewer", PASSES))
    scene.repo.commit("A task")
    env = {"MY_TOKEN": secret}
    said = scene.loop("feedback", "Add add()", "--unattended", env=env)
    printed = scene.loop("log", "--agent", "implement-1.1").out
    assert "token [redacted:MY_TOKEN]" in printed
    assert secret not in said.out + said.err + printed
    kept = [
        file for file in (scene.root / ".loop").rglob("*") if file.is_file() and secret.encode() in file.read_bytes()
    ]
    assert kept == []


@pytest.mark.slow
def test_an_environment_variable_that_was_not_named_is_not_there(tmp_path: Path) -> None:
    looks = "note('environ', json.dumps(sorted(os.environ)))\n"
    scene = ready(tmp_path, developer=looks + WRITES_ADD)
    scene.feedback(env={"AWS_SECRET_ACCESS_KEY": "x", "GIT_DIR_NOT": "x"})
    assert "AWS_SECRET_ACCESS_KEY" not in json.loads(scene.noted("environ")[0])


# --- a gigabyte ------------------------------------------------------------------------------------------------


@pytest.mark.kills
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_gigabyte_of_output_leaves_memory_flat(tmp_path: Path) -> None:
    floods = "block = b'all work and no play\\n' * 50000\nfor _ in range(1000):\n    os.write(1, block)\n"
    scene = ready(tmp_path, developer=floods + WRITES_ADD)
    highest: dict[str, int] = {}
    with scene.begin("feedback", "Add add()", "--unattended", "--json") as controller:

        def ended() -> bool:
            for pid, name in {**supervisors(scene), controller.pid: "controller"}.items():
                highest[name] = max(highest.get(name, 0), high_water(pid))
            return controller.poll() is not None

        until(ended, "the loop ends", patience=240)
        _, err = controller.communicate()
    assert controller.returncode == 0, err
    assert highest["supervisor"] > 0
    assert highest["supervisor"] < 64 * 1024, "KiB"
    assert highest["controller"] < 160 * 1024, "KiB"
    printed = scene.loop("log", "--agent", "implement-1.1").out
    assert len(printed) < 20 * 2**20
    assert "omitted" in printed


def supervisors(scene: Scene) -> dict[int, str]:
    return {int(line.split(":")[0]): "supervisor" for line in of_steps(scene.root) if "supervisor.py" in line}


def high_water(pid: int) -> int:
    """KiB of memory that the process ever had at once; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


@pytest.mark.slow
def test_the_commit_of_every_attempt_is_kept_whatever_the_agent_does(tmp_path: Path) -> None:
    scene = ready(tmp_path, developer="subprocess.run(['git', 'checkout', '-q', '--orphan', 'x'])\n" + WRITES_ADD)
    scene.feedback()
    kept = set(scene.repo.git("for-each-ref", "--format=%(objectname)", "refs/loopwright").splitlines())
    assert {event.commit for event in scene.events(Checkpointed)} <= kept
