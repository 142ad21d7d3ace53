import asyncio
import os
from pathlib import Path

import pytest

from loopwright.adapters.forges import programs
from loopwright.adapters.forges.programs import said_by
from loopwright.adapters.git.program import Said


def test_a_caller_that_gives_up_leaves_no_program_behind(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)

    async def given_up() -> int:
        argv = ("/bin/sh", "-c", f"echo $$ > {told}; exec sleep 60")
        task = asyncio.create_task(said_by(argv, env=os.environ, cwd=tmp_path))
        pid = int(await asyncio.to_thread(told.read_text))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(given_up()), 0)


def test_a_program_that_hangs_is_ended_and_told_as_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "LONGEST", 0.05)
    said = asyncio.run(said_by(("sleep", "60"), env=os.environ, cwd=tmp_path))
    assert said == Said(code=124, out=b"", err="sleep took longer than 0 s")
    assert programs.fault_of_gh(said, "git.test").away


def test_a_program_is_fed_and_heard(tmp_path: Path) -> None:
    said = asyncio.run(said_by(("/bin/sh", "-c", "cat; echo no >&2; exit 3"), env=os.environ, cwd=tmp_path, fed="yes"))
    assert said == Said(code=3, out=b"yes", err="no\n")
