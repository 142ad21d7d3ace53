"""A loop that lies wholly in a test folder, with one registration, gets all that the house gives to a loop."""

import asyncio
import io
import json
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from loopwright.app.creation import create_loop, new_id
from loopwright.app.kinds import KINDS
from loopwright.app.loops import View, view
from loopwright.app.project import Project, open_project
from loopwright.app.settings import settings_of
from loopwright.app.starts.door import Task, create_for_task, create_requested, kind_of
from loopwright.app.views.ending import unresolved_text
from loopwright.cli.drive import Manner, driven
from loopwright.cli.here import Here
from loopwright.engine.journal import Journal, holding
from loopwright.engine.session import Recording, Session
from loopwright.errors import UsageError
from loopwright.kernel.codec import as_object, encode
from loopwright.kernel.events import Ended
from loopwright.kernel.model import Ending, LoopId, Outcome
from loopwright.ports.dispatcher import Errand
from tests.cli.projects import Done, told
from tests.forks import forks
from tests.repository import Repository
from tests.toys.anthology import AnthologyParams
from tests.toys.haiku import Haiku, HaikuLimits, HaikuParams
from tests.toys.program import TOYS

pytestmark = pytest.mark.unmeasured

T = TypeVar("T")
CONFIG = """\
version = 1
[agents.script]
kind = "rehearsal"
scenario = "scenario.toml"
[roles]
default = "script"
[workspace]
protected = ["loop.toml"]
"""
POET = """\
[[step]]
role = "creator"
repeat = true
edits = [{ path = "poem.txt", content = "an old silent pond" }]
result = { status = "done", summary = "wrote a verse" }
"""
ASKS_FIRST = """\
[[step]]
role = "creator"
[step.result]
status = "needs_clarification"
questions = [{ question = "Which season?", options = ["spring", "autumn"], impact = "the mood" }]
"""
PLEASED = """\
[[step]]
role = "reviewer"
repeat = true
result = { status = "done", verdict = "pass" }
"""
BORED = """\
[[step]]
role = "reviewer"
repeat = true
result = { status = "done", verdict = "fail", findings = [{ severity = "high", issue = "dull", evidence = "line 1" }] }
"""


@dataclass(frozen=True, slots=True)
class Poetry:
    """A repository in which toy loops are known."""

    root: Path

    @property
    def here(self) -> Here:
        return Here(cwd=self.root, environ=dict(os.environ), kinds=TOYS)

    def loop(self, *argv: str) -> Done:
        return told(self.here, *argv)

    def process(self, *argv: str, dies_after: str = "", code: int = 0) -> Any:  # noqa: ANN401 - JSON
        """A program of its own, that may be killed; what it answered."""
        env = {**os.environ, "DIES_AFTER": dies_after}
        done = forks().run("tests.toys.program", [*argv, "--json"], cwd=self.root, env=env, timeout=60)
        assert done.returncode == (-signal.SIGKILL if dies_after else code), done.stderr
        return json.loads(done.stdout or "null")

    def within(self, work: Callable[[Project], Awaitable[T]]) -> T:
        async def whole() -> T:
            project = open_project(self.root, dict(os.environ), kinds={**KINDS, **TOYS})
            try:
                return await work(project)
            finally:
                await project.store.close()

        return asyncio.run(whole())

    def begin(self, kind: str, params: Callable[[Project], object]) -> LoopId:
        async def work(project: Project) -> LoopId:
            return (await create_loop(project, settings_of(project), new_id(kind), params(project))).row.id

        return self.within(work)

    def drive(self, loop: LoopId) -> tuple[int, dict[str, Any], str]:
        async def work(project: Project) -> tuple[int, dict[str, Any], str]:
            with redirect_stderr(io.StringIO()):
                done = await driven(project, self.here, await view(project, loop), Manner(unattended=True))
            return done.exit_code, as_object(done.answer), "\n".join(done.lines)

        return self.within(work)


def poem(project: Project, *, verses: int = 2) -> HaikuParams:
    return HaikuParams(theme="A frog", base=project.head, limits=HaikuLimits(max_verses=verses))


@pytest.fixture
def poetry(tmp_path: Path) -> Callable[[str], Poetry]:
    def made(scenario: str) -> Poetry:
        repository = Repository.create(tmp_path / "repo")
        (repository.path / "loop.toml").write_text(CONFIG)
        (repository.path / "scenario.toml").write_text(scenario)
        repository.commit("configured")
        return Poetry(repository.path)

    return made


def test_it_stops_at_its_gate_and_lands_once_a_person_has_approved(poetry: Callable[[str], Poetry]) -> None:
    here = poetry(POET + PLEASED)
    loop = here.begin("haiku", poem)
    code, answer, lines = here.drive(loop)
    assert (code, answer["outcome"], answer["verses"]) == (4, "escalated", 1)
    (need,) = answer["needs"]
    assert (need["kind"], need["what"], need["path"]) == ("gate", "taste", [loop])
    assert need["command"] in lines
    assert here.loop("approve", "taste").code == 3
    assert here.loop("approve", f"taste@{need['id'][0]}").code == 3
    assert here.loop("resume", "--budget", "nan").code == 2
    assert here.loop(*need["command"].split()[1:]).code == 0
    done = here.loop("resume", "--json")
    assert (done.code, done.data["outcome"], done.data["verses"]) == (0, "verified", 1)
    assert done.data["branch"] == f"loop/{loop}"


def test_status_log_explain_files_and_briefs_speak_its_words(poetry: Callable[[str], Poetry]) -> None:
    here = poetry(POET + PLEASED)
    loop = here.begin("haiku", poem)
    here.drive(loop)
    status = here.loop("status").out
    assert f"Loop: A frog ({loop}, haiku)\nState: GATE (verse 1/2, waiting)" in status
    (shown,) = here.loop("status", "--json").data["loops"]
    assert (shown["kind"], shown["state"], shown["gates"]) == ("haiku", "GATE", {"taste": "pending"})
    log = here.loop("log").out
    assert "poet: wrote a verse" in log
    assert "reader: pass, 0 findings" in log
    explained = here.loop("explain").out
    assert "A verse that does not move the reader is written anew." in explained
    assert "verses that failed: 0 of 2" in explained
    assert (here.root / ".loop" / "haiku" / loop / "verses.txt").read_text() == "A frog: verse 1\n"
    (brief,) = (here.root / ".loop" / "runs" / loop).glob("*write-1.1/brief.md")
    assert brief.read_text().startswith("# Brief for the creator: verse 1\n")
    assert here.loop("gates", "--json").data["gates"][0]["name"] == "taste"


@pytest.mark.parametrize(
    ("answer", "code", "outcome"),
    [
        (("continue", "1"), 4, "escalated"),
        (("revise", "--text", "shorter"), 4, "escalated"),
        (("accept",), 0, "accepted"),
        (("cancel",), 3, "cancelled"),
    ],
)
def test_an_escalation_takes_the_answers_that_every_loop_takes(
    poetry: Callable[[str], Poetry], answer: tuple[str, ...], code: int, outcome: str
) -> None:
    here = poetry(POET + BORED)
    loop = here.begin("haiku", poem)
    here.drive(loop)

    async def about(project: Project) -> str:
        return await unresolved_text(project, await view(project, loop))

    assert here.within(about) == ""
    os.mkfifo(here.root / ".loop" / "debt.md")  # nobody will ever write to it
    assert "1 verses, " not in here.loop("answer", "history").err
    assert here.loop("answer", *answer).code == 0
    done = here.loop("resume", "--unattended", "--json")
    assert (done.code, done.data["outcome"]) == (code, outcome)
    if outcome == "accepted":
        assert "a bad rhyme" in (here.root / ".loop" / "debt.md").read_text()


def test_a_python_program_may_ask_for_it(poetry: Callable[[str], Poetry]) -> None:
    here, asked = poetry(POET + PLEASED), Haiku(theme="A pond")

    async def work(project: Project) -> LoopId:
        made = await create_requested(project, kind_of(project.kinds, asked), asked, (), ("creator", "reviewer"))
        return made.row.id

    loop = here.within(work)
    assert f"Loop: A pond ({loop}, haiku)" in here.loop("status").out


def test_what_no_loop_is_started_by_is_refused_with_what_there_is() -> None:
    with pytest.raises(UsageError, match="no loop is started by a Haiku; give one of Feedback, Quality, Tickets"):
        kind_of(KINDS, Haiku(theme="A pond"))


def test_a_task_alone_starts_none_where_no_kind_takes_one(poetry: Callable[[str], Poetry]) -> None:
    async def work(project: Project) -> View:
        return await create_for_task(replace(project, kinds=TOYS), settings_of(project), Task(text="a poem"))

    with pytest.raises(UsageError, match="no kind of loop can be started by a task alone"):
        poetry(POET).within(work)


def test_what_another_tool_left_for_it_is_adopted(poetry: Callable[[str], Poetry]) -> None:
    here = poetry(POET + PLEASED)
    (here.root / "pond.theme").write_text("An old pond\n")
    adopted = here.loop("adopt", "pond.theme", "--json")
    assert (adopted.code, adopted.data["kind"], adopted.data["state"]) == (0, "haiku", "WRITE")
    assert (
        "a folder of tickets, a workflow-state.json, a loop-state.json or a theme"
        in here.loop("adopt", "loop.toml").err
    )


def test_a_gate_may_be_decided_when_the_loop_has_ended(poetry: Callable[[str], Poetry]) -> None:
    here = poetry(POET + PLEASED)
    code, answer, _ = here.drive(here.begin("haiku", lambda project: replace(poem(project), at_leisure=True)))
    (need,) = answer["needs"]
    assert (code, answer["outcome"], need["what"]) == (0, "verified", "taste")
    (gate,) = here.loop("gates", "--json").data["gates"]
    assert gate["status"] == "pending"
    approved = here.loop(*need["command"].split()[1:])
    assert (approved.code, approved.err, "loop resume" in approved.out) == (0, "", False)
    (shown,) = here.loop("status", "--json").data["loops"]
    assert (shown["status"], shown["needs"], shown["gates"]) == ("complete", [], {"taste": "approved"})
    assert here.loop("cancel").out == "Nothing to cancel.\n"


def nested(project: Project) -> AnthologyParams:
    inner = AnthologyParams(kind="haiku", params=encode(poem(project)), base=project.head)
    return AnthologyParams(kind="anthology", params=encode(inner), base=project.head)


@pytest.mark.measured
def test_three_deep_a_cancel_at_the_root_ends_everything_below(poetry: Callable[[str], Poetry]) -> None:
    here = poetry(POET + PLEASED)
    root = here.begin("anthology", nested)
    _, answer, _ = here.drive(root)
    (gate,) = answer["needs"]
    assert here.loop("cancel", "--json").code == 0

    async def statuses(project: Project) -> list[str]:
        return [row.status for row in await project.store.rows()]

    assert here.within(statuses) == ["cancelled"] * 3
    assert [each["status"] for each in here.loop("gates", "--all", "--json").data["gates"]] == ["withdrawn"]
    refused = here.loop(*gate["command"].split()[1:])
    assert (refused.code, f"loop {root} has ended, so nobody would act on gate taste@" in refused.err) == (3, True)


@pytest.mark.measured
def test_a_gate_below_a_root_that_has_ended_takes_no_decision(poetry: Callable[[str], Poetry]) -> None:
    here = poetry(POET + PLEASED)
    root = here.begin("anthology", nested)
    _, answer, _ = here.drive(root)
    (gate,) = answer["needs"]

    async def end_the_root_alone(project: Project) -> None:
        opened = (await view(project, root)).opened
        async with holding(project.store, opened, "an older version") as held:
            session = Session.of(held.opened, Errand(path=(root,)), lambda _action, _now: 0.0)
            ended = Recording(event=Ended(outcome=Outcome(ending=Ending.CANCELLED)))
            await Journal(project.store, session, held).record(ended)

    async def events(project: Project) -> int:
        return len(await project.store.read(gate["path"][-1]))

    here.within(end_the_root_alone)
    before = here.within(events)
    refused = here.loop(*gate["command"].split()[1:])
    assert (refused.code, refused.out) == (3, "")
    assert f"loop {root} has ended, so nobody would act on gate {gate['what']}@" in refused.err
    assert here.within(events) == before
    assert here.loop("approve", "other@1").code == 2


def test_three_deep_a_question_and_a_gate_are_answered_at_the_root_by_other_processes_after_kills(
    poetry: Callable[[str], Poetry],
) -> None:
    here = poetry(ASKS_FIRST + POET + PLEASED)
    root = here.begin("anthology", nested)
    here.process("resume", "--unattended", dies_after="haiku:AgentReported#1")
    (question,) = needs(here.process("status"))
    assert (question["kind"], len(question["path"]), question["path"][0]) == ("question", 3, root)
    assert (question["options"], question["impact"]) == (["spring", "autumn"], "the mood")
    assert "  Options: spring, autumn\n  Impact: the mood\n" in here.loop("status").out
    told = here.process("answer", "autumn")
    assert (told["loop"], told["path"], told["state"]) == (question["path"][-1], question["path"], "recorded")
    here.process("resume", "--unattended", dies_after="haiku:AgentReported#2")  # the poet's, then the reader's
    (gate,) = needs(here.process("status"))
    assert (gate["kind"], gate["path"]) == ("gate", question["path"])
    approved = here.process(*gate["command"].split()[1:], "--loop", gate["path"][-1])
    assert (approved["status"], approved["command"]) == ("approved", f"loop resume --loop {root}")
    assert here.process("resume", "--unattended")["outcome"] == "verified"
    assert {loop["status"] for loop in here.process("status")["loops"]} == {"complete"}


def needs(status: dict[str, Any]) -> list[dict[str, Any]]:
    """Of all loops, each said once, at its root."""
    return [need for loop in status["loops"] for need in loop["needs"]]
