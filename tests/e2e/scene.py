"""A repository, agents that are real processes, and the real command `loop`, as a person would use them."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from loopwright.adapters.checks import unittest_report
from loopwright.app.loops import View, view
from loopwright.app.project import Project, open_project
from loopwright.kernel.events import Logged
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record, read_event
from loopwright.ports.store import LoopRow
from tests.forks import forks
from tests.interpreter import WARM_PYTHON
from tests.repository import Repository

LOOP = Path(sys.executable).with_name("loop")
PYTHON = (sys.executable, "-I", "-S")
E = TypeVar("E")

# What every agent's script begins with. `note` writes outside the repository, in one write that nothing tears.
PREAMBLE = """\
import json, os, subprocess, sys
from pathlib import Path
notes, root = Path({notes!r}), Path({root!r})
role, attempt = os.environ["LOOP_ROLE"], int(os.environ["LOOP_ATTEMPT"])
run = Path(os.environ["LOOP_RESULT"]).parent.name

def note(name, text):
    with open(notes / name, "ab", buffering=0) as file:
        file.write((text + "\\n").encode())

def report(**result):
    Path(os.environ["LOOP_RESULT"]).write_text(json.dumps({{"status": "done", "usage": {{"usd": 0.01}}}} | result))

def context():
    return json.loads(Path(os.environ["LOOP_CONTEXT"]).read_text())

def loop(*args, env=None, prefix=()):
    done = subprocess.run([*prefix, {loop!r}, *args], cwd=root, capture_output=True, text=True, env=env)
    note("commands", f"{{' '.join(args)}}: {{done.returncode}}: {{done.stderr.strip()}}")

note("started", f"{{role}} {{run}}")
"""

# A task that names the test: where a person is asked about changed tests, a loop that changes it waits for the answer.
NAMES_THE_TEST = "Add add() and mend tests/test_calc.py"
ASKS = '[trust]\nchanged_tests = "ask"\n'
PASSES = "report(verdict='pass', summary='fine')\n"
ADD = "def add(a, b):\n    return a + b\n"
PUTS_ADD = f"Path('calc.py').write_text({ADD!r})\n"
WRITES_ADD = PUTS_ADD + "report(summary='added')\n"
TEST_ADD = """\
import unittest
from calc import add

class Adding(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)
"""
# Another test at each attempt, as right as that of the base.
CHANGES_THE_TEST = (
    f"changed = {TEST_ADD!r}.replace('2, 3), 5', f'{{attempt + 5}}, 3), {{attempt + 8}}')\n"
    "Path('tests/test_calc.py').write_text(changed)\n"
)


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever the command answers
        return json.loads(self.out)

    def __str__(self) -> str:
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


@dataclass(frozen=True, slots=True)
class Scene:
    repo: Repository
    notes: Path  # what agents write down, where no loop looks

    @property
    def root(self) -> Path:
        return self.repo.path

    # --- preparing -----------------------------------------------------------------------------------

    def agent(self, role: str, body: str, **keys: str) -> str:
        """An agent for `role` whose script is `body`; gives its tables for loop.toml. Keys are TOML values."""
        script = self.notes.parent / f"{role}.py"
        facts = {"notes": str(self.notes), "root": str(self.root), "loop": str(LOOP)}
        script.write_text(PREAMBLE.format(**facts) + body)
        keys = {"kind": '"command"', "argv": json.dumps([*PYTHON, str(script)]), **keys}
        return f"[agents.{role}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())

    def configure(self, *tables: str, more: str = "") -> None:
        """loop.toml with these agents, each in its role, and the unittest check."""
        roles = [line.partition(".")[2].rstrip("]") for table in tables for line in table.splitlines()[:1]]
        said = "[roles]\n" + "".join(f'{role} = "{role}"\n' for role in roles)
        self.repo.write(
            "loop.toml", "\n".join(["version = 1", *tables, said, more if "[checks." in more else more + CHECK])
        )

    # --- using ---------------------------------------------------------------------------------------

    def loop(
        self, *args: str, code: int | None = 0, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Said:
        """Run the command to its end; its exit code has to be `code`, unless that is None."""
        done = forks().run(
            "loopwright.cli.main", args, cwd=cwd or self.root, env={**os.environ, **(env or {})}, timeout=100
        )
        said = Said(done.returncode, done.stdout, done.stderr)
        assert code is None or said.code == code, f"loop {' '.join(args)}: {said}"
        return said

    def begin(self, *args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> subprocess.Popen[str]:
        """The installed program, under way."""
        return subprocess.Popen(
            [LOOP, *args],
            cwd=cwd or self.root,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def feedback(
        self, *args: str, task: str = "Add add()", code: int | None = 0, env: Mapping[str, str] | None = None
    ) -> Any:  # noqa: ANN401
        """What `loop feedback --json` answers."""
        return self.loop("feedback", task, "--unattended", "--json", *args, code=code, env=env).json

    def open_gate(self) -> str:
        """The only one that waits for a decision, as the decision names it."""
        (gate,) = [gate for gate in self.loop("gates", "--json").json["gates"] if gate["status"] == "pending"]
        return f"{gate['name']}@{gate['id']}"

    # --- looking -------------------------------------------------------------------------------------

    def noted(self, name: str) -> list[str]:
        file = self.notes / name
        return file.read_text().splitlines() if file.exists() else []

    def project(self, use: Callable[[Project], Any]) -> Any:  # noqa: ANN401
        """What `use` makes of the opened project, in an event loop of its own."""

        async def whole() -> Any:  # noqa: ANN401
            project = open_project(self.root, os.environ, create=False)
            try:
                return await use(project)
            finally:
                await project.store.close()

        return asyncio.run(whole())

    def row(self) -> LoopRow:
        rows: tuple[LoopRow, ...] = self.project(lambda project: project.store.rows())
        return rows[0]

    def view(self) -> View:
        async def newest(project: Project) -> View:
            return await view(project, (await project.store.rows())[0].id)

        seen: View = self.project(newest)
        return seen

    def records(self, loop: LoopId | None = None) -> tuple[Record, ...]:
        chosen = loop or self.row().id
        found: tuple[Record, ...] = self.project(lambda project: project.store.read(chosen))
        return found

    def events(self, kind: type[E]) -> list[E]:
        """The events of one kind in the newest loop's log."""
        return [event for event in self.log() if isinstance(event, kind)]

    def log(self) -> list[Logged]:
        return [read_event(record) for record in self.records()]

    def file_at(self, ref: str, path: str) -> str:
        return self.repo.git("show", f"{ref}:{path}")

    def person(self) -> dict[str, object]:
        """All that is the person's own: what is checked out, the index, the branch, the files."""
        return {
            "head": self.repo.git("symbolic-ref", "HEAD"),
            "status": self.repo.git("status", "--porcelain"),
            "index": self.repo.git("ls-files", "--stage"),
            "main": self.repo.git("rev-parse", "main"),
            "files": self.files(),
        }

    def files(self) -> dict[str, bytes]:
        listed = self.repo.git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
        return {name: (self.root / name).read_bytes() for name in listed}


def until(holds: Callable[[], Any], what: str, patience: float = 60.0) -> None:
    """Wait for a condition of the world outside; fail with `what` when it does not come."""
    limit = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < limit, f"waited in vain: {what}"
        time.sleep(0.01)


RUN_TESTS = (*WARM_PYTHON, unittest_report.__file__, "--report", "{report}", "discover", "-s", "tests", "-t", ".")
CHECK = f'\n[checks.test]\nrun = {json.dumps(RUN_TESTS)}\nreport = "junit"\n'


def adding(folder: Path) -> Scene:
    """A repository whose one test wants a function that is not there yet; agents are still to be named."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    scene.repo.write("calc.py", "def add(a, b):\n    raise NotImplementedError\n")
    scene.repo.write("tests/__init__.py", "")
    scene.repo.write("tests/test_calc.py", TEST_ADD)
    scene.repo.write(".gitignore", "__pycache__/\n")
    return scene


def ready(folder: Path, developer: str = WRITES_ADD, reviewer: str = PASSES, more: str = "") -> Scene:
    """As `adding`, with a developer and a reviewer in their roles, all committed."""
    scene = adding(folder)
    scene.configure(scene.agent("developer", developer), scene.agent("reviewer", reviewer), more=more)
    scene.repo.commit("A task")
    return scene
