"""Ticket sessions in a real repository: what is to be built, who plays whom, and the files that come of it."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.loops import View
from loopwright.app.project import Project, open_project
from loopwright.app.publisher import Publisher
from loopwright.app.readiness import make_ready
from loopwright.app.settings import settings_of
from loopwright.app.starts.tickets.queue import read_queued, waiting
from loopwright.app.starts.tickets.sessions import TicketRequest, activate
from loopwright.app.worlds import build_world
from loopwright.engine.driver import drive
from loopwright.engine.world import Halt, Seen
from loopwright.kernel.events import key_of
from loopwright.kernel.model import LoopId
from loopwright.ports.agent import Update
from tests.e2e.reviewing import rehearsed
from tests.e2e.scene import CHECK, Said, Scene

QUEUE = ".loop/tickets/queue"
Step = dict[str, Any]
Data = dict[str, Any]

# --- the seed's example ---------------------------------------------------------------------------------------

TITLE = "Take payments"
CRITERIA = (
    "An amount is paid",
    "A refund is paid back",
    "An amount is shown in full",
    "Every error path is tested",
    "Nothing else is paid",
)
# Twenty lines of code. Importing it and paying once runs nine of them.
PAY = """\
def pay(amount):
    if amount > 0:
        paid = amount
        due = 0
        return paid + due
    raise ValueError(amount)


def refund(amount):
    back = -amount
    return back


def shown(amount):
    text = str(amount)
    return text


def handle_timeout(tries):
    if tries > 3:
        return "given up"
    return "again"


def process_empty(basket):
    if not basket:
        return None
    return sum(basket)
"""
TEST_PAY = """\
import unittest
from pay import pay

class Paying(unittest.TestCase):
    def test_an_amount_is_paid(self):
        self.assertEqual(pay(5), 5)
"""
TEST_ERRORS = """\
import unittest
from pay import handle_timeout, pay, process_empty, refund, shown

class Erring(unittest.TestCase):
    def test_nothing_is_not_paid(self):
        self.assertRaises(ValueError, pay, 0)

    def test_the_rest(self):
        self.assertEqual([handle_timeout(1), handle_timeout(9)], ["again", "given up"])
        self.assertEqual((process_empty([]), process_empty([1]), refund(2), shown(3)), (None, 1, -2, "3"))
"""
# Runs the tests of the folder and writes which lines of its modules ran, as lcov.
COVERAGE = """\
import glob, os, sys, unittest

here, ran = os.getcwd() + os.sep, set()

def traced(frame, event, _):
    if not frame.f_code.co_filename.startswith(here):
        return None
    if event == "line":
        ran.add((frame.f_code.co_filename, frame.f_lineno))
    return traced

def lines(code):
    inner = (line for const in code.co_consts if hasattr(const, "co_lines") for line in lines(const))
    return {line for _, _, line in code.co_lines() if line} | set(inner)

sys.path.insert(0, here)
sys.dont_write_bytecode = True
sys.settrace(traced)
unittest.main(module=None, argv=["tests", "discover", "-s", "tests", "-t", "."], exit=False)
sys.settrace(None)
with open(sys.argv[1], "w") as report:
    for name in sorted(glob.glob("*.py")):
        with open(name) as file:
            whole = lines(compile(file.read(), name, "exec"))
        told = "".join(f"DA:{line},{int((here + name, line) in ran)}\\n" for line in sorted(whole))
        report.write(f"SF:{name}\\n{told}end_of_record\\n")
"""


def coverage_check(folder: Path, **keys: object) -> str:
    """The tables of a check that measures which lines the tests run. Keys are TOML values."""
    script = folder / "coverage_of_tests.py"
    script.write_text(COVERAGE)
    run = json.dumps([sys.executable, "-I", str(script), "{report}"])
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'[checks.coverage]\nrun = {run}\nreport = "coverage"\n{more}'


def against(criterion: str, rule: str, **facts: object) -> Data:
    """A finding of a critic's."""
    shown = {"evidence": "pay.py:21", "issue": f"{rule} is not as it has to be", "guidance": f"mend {rule}"}
    return {"severity": "high", "requirement": criterion, "rule": rule, **shown, **facts}


ERROR_PATHS = {
    "requirement": "Test Coverage",
    "aspect": "error paths",
    "expected": "Error paths tested",
    "actual": "2 of 6 tested",
    "pass": False,
    "guidance": "Add tests for handleTimeout() and processEmpty()",
}
GAPS = [
    against("AC-4", "error handling", expected="6 error paths handled", actual="3 of 6 handled", category="robustness"),
    against("AC-5", "a debug payment", category="robustness"),
]


def creates(attempt: int, files: dict[str, str], **facts: object) -> Step:
    """The creator of one ticket writes these files."""
    edits = [{"path": path, "content": content} for path, content in files.items()]
    return {"role": "creator", "attempt": attempt, "edits": edits, "result": {"status": "done", **facts}}


def says(role: str, attempt: int, verdict: str, findings: list[Data] | None = None, **facts: object) -> Step:
    """A critic or a judge."""
    result = {"status": "done", "verdict": verdict, "findings": findings or [], **facts}
    return {"role": role, "attempt": attempt, "result": result}


SEED_STEPS = [
    creates(1, {"pay.py": PAY, "tests/test_pay.py": TEST_PAY}, summary="paid straight away"),
    says("critic", 1, "fail", GAPS, summary="the sad paths are missing"),
    says("judge", 1, "fail", aspects=[ERROR_PATHS], summary="test the sad paths"),
    creates(2, {"tests/test_errors.py": TEST_ERRORS}, summary="tested every path"),
    says("critic", 2, "pass", summary="nothing is left"),
    says("judge", 2, "pass", summary="good"),
]


def seed_example(folder: Path, steps: list[Step] | None = None) -> Scene:
    """The two tickets of the seed: of ten aspects of the first six pass, the second has them all."""
    build = f"[checks.build]\nrun = {json.dumps([sys.executable, '-m', 'compileall', '-q', '.'])}\n"
    coverage = coverage_check(folder, floor=80, may_be_empty="true")
    more = f'judge = "play"\n{build}{CHECK}may_be_empty = true\n{coverage}'
    files = {"tests/__init__.py": "", ".gitignore": "__pycache__/\n"}
    return rehearsed(folder, files, SEED_STEPS if steps is None else steps, more=more)


# --- sessions of any kind -------------------------------------------------------------------------------------


def played(folder: Path, steps: list[Step], *, more: str = CHECK, files: dict[str, str] | None = None) -> Scene:
    """Rehearsed agents in every role, and a test that passes."""
    there = {"tests/__init__.py": "", "tests/test_ok.py": OK, ".gitignore": "__pycache__/\n", **(files or {})}
    return rehearsed(folder, there, steps, more=more)


OK = "import unittest\n\nclass Ok(unittest.TestCase):\n    def test_ok(self):\n        pass\n"


def new(scene: Scene, title: str, *criteria: str, session: str = "s") -> Data:
    """`loop ticket new`."""
    accepted = [word for text in criteria for word in ("--accept", text)]
    data: Data = scene.loop("ticket", "new", title, "--session", session, *accepted, "--json").json
    return data


def run(scene: Scene, *args: str, code: int | None = 0) -> Said:
    """`loop ticket run`, with nobody there."""
    return scene.loop("ticket", "run", *args, "--unattended", "--json", code=code)


def answer(scene: Scene, choice: str, text: str = "", *more: str, code: int = 0) -> Said:
    """`loop answer`, and `loop resume` to the next end."""
    told = ("--text", text) if text else ()
    scene.loop("answer", choice, *told, *more)
    return scene.loop("resume", "--unattended", "--json", code=code)


def files_of(scene: Scene, where: str = "completed", session: str = "s") -> dict[str, str]:
    """The ticket files of a session, by the last digits of their names."""
    folder = scene.root / ".loop" / "tickets" / where / session
    return {path.stem[-3:]: path.read_text() for path in sorted(folder.glob("TICKET-*.md"))}


def observed(scene: Scene, name: str) -> list[Data]:
    """The lines of `.loop/observer/<name>.jsonl`."""
    return [json.loads(line) for line in (scene.root / ".loop" / "observer" / f"{name}.jsonl").read_text().splitlines()]


# --- reading a ticket file, by Markdown's own rules and none of the engine's code --------------------------------


def front(text: str) -> Data:
    fence, held, _ = text.split("---\n", 2)
    assert fence == "", text[:80]
    data: Data = yaml.safe_load(held)
    return data


def headings(text: str, level: int = 1) -> list[str]:
    """Every heading of that level: nothing here is in a code block."""
    return re.findall(rf"^{'#' * level} (.+)$", text, re.MULTILINE)


def section(text: str, name: str, level: int = 1) -> str:
    """What stands under a heading, up to the next of its level or a higher one; empty where there is none."""
    found = re.search(
        rf"^{'#' * level} {re.escape(name)}\n(.*?)(?=^#{{1,{level}}} |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else ""


def changelog(text: str) -> str:
    return section(text, "Changelog")


# --- watching a session -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An event, and every ticket file as it was right after it."""

    event: str  # its kind, and its key where it has one
    files: dict[str, str]


@dataclass(slots=True)
class Watching:
    """Writes the files as every command does, and looks at them after every event."""

    publisher: Publisher
    folder: Path
    moments: list[Moment] = field(default_factory=list)

    def recorded(self, seen: Seen) -> None:
        self.publisher.recorded(seen)
        name = " ".join(filter(None, (type(seen.event).__name__, str(key_of(seen.event)))))
        files = {path.stem[-3:]: path.read_text() for path in self.folder.glob("*/s/TICKET-*.md")}
        self.moments.append(Moment(event=name, files=files))

    def progressed(self, update: Update) -> None:
        self.publisher.progressed(update)


async def from_queue(project: Project, **request: Any) -> View:  # noqa: ANN401 - the fields of a request
    """The loop of the only ticket in the queue, not yet driven."""
    (path,) = waiting(project.root)
    wanted = TicketRequest(**request)
    return await activate(project, settings_of(project), read_queued(project.root, path), wanted)


async def first_loop(project: Project) -> LoopId:
    return (await project.store.rows())[0].id


def watched(scene: Scene, choose: Callable[[Project], Any]) -> tuple[Halt, list[Moment]]:
    """What `loop ticket run` or `loop resume` does, in this process, with every ticket file after every event."""

    async def whole() -> tuple[Halt, list[Moment]]:
        project = open_project(scene.root, os.environ)
        said: list[str] = []
        try:
            loop = await choose(project)
            ready = await make_ready(project, loop, said.append)
            watching = Watching(ready.publisher, scene.root / ".loop" / "tickets")
            world = build_world(project, ready, people=Nobody(), observer=watching)
            halt = await drive(world, ready.seen.opened)
        finally:
            await project.store.close()
        assert said == []
        return halt, watching.moments

    return asyncio.run(whole())


# --- what agents were told ----------------------------------------------------------------------------------------


def told(scene: Scene, key: str) -> Data:
    """`LOOP_CONTEXT` of a step, by its key, as its agent found it."""
    data: Data = json.loads((_run_folder(scene, key) / "context.json").read_text())
    return data


def brief(scene: Scene, key: str) -> str:
    return (_run_folder(scene, key) / "brief.md").read_text()


def _run_folder(scene: Scene, key: str) -> Path:
    (folder,) = (scene.root / ".loop" / "runs").glob(f"s-*/*-{key}")
    return folder
