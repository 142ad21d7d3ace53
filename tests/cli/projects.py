"""Small repositories to run the command line in, with scripted agents and a check that takes no time."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from loopwright.cli.here import Here
from loopwright.cli.main import run
from tests.repository import Repository

SCHEMAS = Path(__file__).parent.parent.parent / "schemas"
# The check passes when result.txt says "good". It is protected, so the base's version decides.
CHECK = """\
import pathlib, sys
said = pathlib.Path("result.txt").read_text() if pathlib.Path("result.txt").exists() else "nothing"
print("result.txt says", said)
sys.exit(0 if said == "good" else 1)
"""
CONFIG = f"""\
version = 1
[agents.script]
kind = "rehearsal"
scenario = "scenario.toml"
[roles]
default = "script"
[checks.test]
run = [{json.dumps(sys.executable)}, "check.py"]
trust = "exit-code"
[workspace]
product = ["**"]
protected = ["check.py", "loop.toml", "scenario.toml"]
"""
GOOD = """\
[[step]]
role = "developer"
edits = [{ path = "result.txt", content = "good" }]
result = { status = "done", summary = "wrote the good result" }
[[step]]
role = "reviewer"
repeat = true
result = { status = "done", verdict = "pass" }
"""
NEVER_RIGHT = """\
[[step]]
role = "developer"
repeat = true
edits = [{ path = "result.txt", content = "bad" }]
result = { status = "done", summary = "wrote a result" }
[[step]]
role = "reviewer"
repeat = true
result = { status = "done", verdict = "pass" }
"""
# Right, but with a changed protected file.
TOUCHES_PROTECTED = """\
[[step]]
role = "developer"
edits = [
    { path = "result.txt", content = "good" },
    { path = "check.py", find = "print(", replace = "print('checking:', " },
]
result = { status = "done", summary = "wrote the good result and improved the check" }
[[step]]
role = "developer"
repeat = true
edits = [{ path = "check.py", find = "print('checking:', ", replace = "print(" }]
result = { status = "done", summary = "restored the check" }
[[step]]
role = "reviewer"
repeat = true
result = { status = "done", verdict = "pass" }
"""
NAMES_THE_CHECK = "Make it good\n\nAnd check.py clearer."  # asks for the protected change: it is waited for
HANGS = """\
[[step]]
role = "developer"
attempt = 1
fault = "hang"
"""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:  # noqa: ANN401 - JSON
        """The one object on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Sample:
    repo: Repository

    @classmethod
    def create(cls, path: Path, scenario: str = GOOD, config: str = CONFIG) -> "Sample":
        repo = Repository.create(path)
        repo.write("check.py", CHECK)
        repo.write("loop.toml", config)
        repo.write("scenario.toml", scenario)
        repo.commit("Set up")
        return cls(repo)

    def loop(self, *argv: str, **environ: str) -> Done:
        return loop(self.repo.path, *argv, **environ)

    def start(self, *argv: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command(*argv),
            cwd=self.repo.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )


def command(*argv: str) -> list[str]:
    return [sys.executable, "-m", "loopwright.cli.main", *argv]


def loop(cwd: Path, *argv: str, **environ: str) -> Done:
    """One command line, in this process and without a terminal: what `main` does but for leaving the program."""
    return told(Here(cwd=cwd, environ={**os.environ, **environ}), *argv)


def told(here: Here, *argv: str) -> Done:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run(argv, here)
    printed = []
    for stream in (out, err):
        stream.flush()
        printed.append(stream.buffer.getvalue().decode())
    if "--json" in argv:
        fits_its_schema(argv, printed[0])
    return Done(code, *printed)


def fits_its_schema(argv: Sequence[str], out: str) -> None:
    """Whatever any test has a command answer to programs is held against what is published."""
    left = out.strip()
    while left:
        data, end = json.JSONDecoder().raw_decode(left)
        assert any(_validator(name).is_valid(data) for name in _schemas_of(argv)), (argv, data)
        left = left[end:].lstrip()


def _schemas_of(argv: Sequence[str]) -> tuple[str, ...]:
    two = {"approve": "decision", "reject": "decision", "log": "output" if "--agent" in argv else "event"}
    own = (
        f"{argv[0]}-{argv[1]}"
        if argv[0] in ("hook", "plugin", "queue", "skill", "ticket")
        else two.get(argv[0], argv[0])
    )
    return ("error", own)


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


def program(cwd: Path, *argv: str, **environ: str) -> Done:
    """The same, as a program of its own."""
    done = subprocess.run(
        command(*argv),
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def full_pipe() -> tuple[int, int]:
    """A pipe that nobody reads and that takes nothing more."""
    source, target = os.pipe()
    os.set_blocking(target, False)
    with suppress(BlockingIOError):
        while True:
            os.write(target, b"x" * 4096)
    os.set_blocking(target, True)
    return source, target
