import asyncio
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.adapters.errands import UNKNOWN, PersonsErrands
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.kernel.actions import RunOnce
from loopwright.kernel.model import Blob, Commit, Key
from loopwright.kernel.sightings import RanOnce
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.repository import Repository

KEY, STEP = Key("deploy", 1), "l-1/7/deploy-1"
SH = "/bin/sh"
BEGINS = """\
import asyncio, os, sys
from pathlib import Path
from tests.adapters.test_errands import errands_in, wanted
from tests.repository import Repository
repo = Repository(Path(sys.argv[1]))
asyncio.run(errands_in(repo).run_once(wanted(repo, *sys.argv[3:]), sys.argv[2]))
"""


def errands_in(repo: Repository, store: MemoryStore | None = None, **env: str) -> PersonsErrands:
    kept = store or MemoryStore(Memory(), ManualClock())
    environ = {**os.environ, **env}
    return PersonsErrands(repo.path, environ, kept, VerificationCheckouts(repo.path, env=environ))


def wanted(repo: Repository, *argv: str, limit: float = 60.0) -> RunOnce:
    return RunOnce(key=KEY, argv=argv, commit=Commit(repo.git("rev-parse", "HEAD")), limit=limit)


def script(text: str) -> tuple[str, ...]:
    return (SH, "-c", text)


def marker_of(repo: Repository, step: str = STEP) -> Path:
    return repo.path / ".loop" / "once" / hashlib.sha256(step.encode()).hexdigest()[:32]


def test_it_runs_as_the_person_on_the_files_of_the_commit(repo: Repository, tmp_path: Path) -> None:
    store, out = MemoryStore(Memory(), ManualClock()), tmp_path / "out"
    command = wanted(repo, *script(f"cat README.md $1 > {out}; echo $HOME $TARGET; pwd >> {out}; echo err >&2"))
    repo.write("README.md", "not committed\n")
    errands = errands_in(repo, store, HOME="/home/ada", TARGET="here")

    async def ran() -> tuple[RanOnce, bytes]:
        answer = await errands.run_once(command, STEP)
        return answer, await store.fetch(answer.output)

    answer, output = asyncio.run(ran())
    assert (answer.key, answer.code, answer.detail, output) == (KEY, 0, "", b"/home/ada here\nerr\n")
    text, folder = out.read_text().split("\n", 1)
    assert text == "# Sample"
    assert repo.path.joinpath(".loop") in Path(folder.strip()).parents


def test_the_same_step_is_not_begun_again(repo: Repository, tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    errands = errands_in(repo)
    command = wanted(repo, *script(f"echo once >> {tally}; echo gone wrong; exit 3"))
    first = asyncio.run(errands.run_once(command, STEP))
    assert (first.code, first.detail) == (3, "it ended with 3: gone wrong")
    assert asyncio.run(errands_in(repo).run_once(command, STEP)) == first
    assert tally.read_text() == "once\n"
    asyncio.run(errands.run_once(command, "l-1/9/deploy-2"))
    assert tally.read_text() == "once\nonce\n"


def test_what_was_begun_by_one_who_is_gone_is_not_begun_again(repo: Repository, tmp_path: Path) -> None:
    marker_of(repo).parent.mkdir(parents=True)
    marker_of(repo).touch()
    answer = asyncio.run(errands_in(repo).run_once(wanted(repo, "touch", str(tmp_path / "made")), STEP))
    assert answer == RanOnce(key=KEY, code=None, detail=UNKNOWN)
    assert not (tmp_path / "made").exists()


def until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while not is_so():
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)


def test_a_controller_that_is_killed_leaves_a_command_that_nobody_repeats(repo: Repository, tmp_path: Path) -> None:
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    command = script(f"echo x >> {begun}; sleep 60; touch {ended}")
    process = subprocess.Popen([sys.executable, "-c", BEGINS, str(repo.path), STEP, *command])
    until(begun.exists, process)
    assert marker_of(repo).read_bytes() == b""
    process.send_signal(signal.SIGKILL)
    process.wait()
    answer = asyncio.run(errands_in(repo).run_once(wanted(repo, *command), STEP))
    assert (answer.code, answer.detail, answer.output) == (None, UNKNOWN, Blob(""))
    assert (begun.read_text(), ended.exists()) == ("x\n", False)


def test_an_ending_that_nobody_took_down_is_known_from_the_step_itself(repo: Repository) -> None:
    class Broken(MemoryStore):
        async def keep_file(self, path: Path) -> Blob:
            raise OSError("no room")

    command = wanted(repo, *script("echo done; exit 4"))
    with pytest.raises(OSError, match="no room"):
        asyncio.run(errands_in(repo, Broken(Memory(), ManualClock())).run_once(command, STEP))
    answer = asyncio.run(errands_in(repo).run_once(command, STEP))
    assert (answer.code, answer.detail) == (4, "it ended with 4: done")
    assert answer.output


def test_time_runs_out_and_nothing_of_it_stays_alive(repo: Repository, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = wanted(repo, *script(f"sleep 60 & echo $! > {pid}; wait"), limit=0.3)
    answer = asyncio.run(errands_in(repo).run_once(command, STEP))
    assert (answer.code, answer.detail) == (124, "it took longer than 0.3 s and was stopped")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.parametrize(
    ("argv", "code", "detail"),
    [(("no-such-program-here",), 127, "No such file"), (script("kill -TERM $$"), 143, "it ended with 143")],
)
def test_other_ends_have_the_codes_that_shells_give_them(
    repo: Repository, argv: tuple[str, ...], code: int, detail: str
) -> None:
    answer = asyncio.run(errands_in(repo).run_once(wanted(repo, *argv), STEP))
    assert answer.code == code
    assert detail in answer.detail


def test_secrets_of_the_person_do_not_come_back_in_the_output(repo: Repository) -> None:
    errands = errands_in(repo, DEPLOY_TOKEN="hunter2-hunter2")  # noqa: S106
    answer = asyncio.run(errands.run_once(wanted(repo, *script("echo $DEPLOY_TOKEN; exit 1")), STEP))
    assert answer.detail == "it ended with 1: [redacted:DEPLOY_TOKEN]"


def test_a_setup_that_fails_is_no_beginning(repo: Repository, tmp_path: Path) -> None:
    preparation = Preparation(setup=(("false",),), env=os.environ)
    checkouts = VerificationCheckouts(repo.path, env=os.environ, preparation=preparation)
    errands = PersonsErrands(repo.path, os.environ, MemoryStore(Memory(), ManualClock()), checkouts)
    answer = asyncio.run(errands.run_once(wanted(repo, "touch", str(tmp_path / "made")), STEP))
    assert answer.code == 1
    assert answer.detail.startswith("it was not begun: ")
    assert not marker_of(repo).exists()
