"""The ticket cycle from Python: any callable creates, criticises and judges."""

import sys
from pathlib import Path
from typing import Any

import pytest

from loopwright import Check, Tickets, run
from loopwright.errors import UsageError
from loopwright.kernel.model import Ending
from tests.repository import Repository

Context = dict[str, Any]
CHECKS = (Check("test", [sys.executable, "-c", "assert open('src/a.py').read() == 'good'"], trust="exit-code"),)


class Creator:
    """Right at the second ticket, and it remembers what it was told."""

    def __init__(self) -> None:
        self.seen: list[Context] = []

    def __call__(self, context: Context) -> dict[str, Any]:
        self.seen.append(context)
        file = Path(context["workspace"]) / "src" / "a.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text("good" if len(self.seen) > 1 else "bad")
        return {"status": "done", "summary": f"go {len(self.seen)}"}


def content(_context: Context) -> dict[str, Any]:
    return {"status": "done", "verdict": "pass"}


def test_a_second_ticket_is_approved_and_was_told_what_the_first_lacked(repo: Repository) -> None:
    creator = Creator()
    loop = Tickets(title="Make it good", criteria=("it is good",), what="good, no less", context="see docs")
    agents: dict[str, Any] = {"creator": creator, "critic": content, "judge": content}
    outcome = run(loop, agents=agents, checks=CHECKS, root=repo.path)
    assert (outcome.ending, outcome.attempts, outcome.branch[:18]) == (Ending.VERIFIED, 2, "loop/make-it-good-")
    assert repo.git("show", f"{outcome.commit}:src/a.py") == "good"
    first, second = creator.seen
    assert (first["task"], first["criteria"]) == ("Make it good\n\ngood, no less\n\nsee docs", ["AC-1: it is good"])
    assert first["feedback"] == []
    assert second["feedback"][0].startswith("PRIORITY Tests / test check: expected test succeeds; actual ")
    names = sorted(file.name for file in repo.path.glob(".loop/tickets/completed/make-it-good/*"))
    assert names == ["TICKET-make-it-good-001.md", "TICKET-make-it-good-002.md"]


def test_a_session_that_needs_a_person_comes_back_escalated(repo: Repository) -> None:
    loop = Tickets(title="Make it good", max=1, session="mine")
    outcome = run(loop, agents={"creator": Creator(), "critic": content}, checks=CHECKS, root=repo.path)
    assert (outcome.ending, outcome.note[:24]) == (Ending.ESCALATED, "ESCALATE: TICKET-mine-00")
    with pytest.raises(UsageError, match="the session 'mine' is known here already"):
        run(loop, agents={"creator": Creator(), "critic": content}, checks=CHECKS, root=repo.path)


@pytest.mark.parametrize(
    ("loop", "agents", "checks", "says"),
    [
        (Tickets(title="x"), {"creator": content}, CHECKS, "agents has no 'critic'"),
        (Tickets(title=" "), {"creator": content, "critic": content}, CHECKS, "the ticket has no title"),
        (Tickets(title="x"), {"creator": content, "critic": content}, (), "loop.toml has no check"),
        (
            Tickets(title="x", session="../x"),
            {"creator": content, "critic": content},
            CHECKS,
            "'../x' cannot be a session",
        ),
        (
            Tickets(title="x", criteria=("A-1: a", "A-1: b")),
            {"creator": content, "critic": content},
            CHECKS,
            "A-1 is there twice",
        ),
    ],
)
def test_what_could_not_end_well_is_refused(
    repo: Repository, loop: Tickets, agents: dict[str, Any], checks: tuple[Check, ...], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        run(loop, agents=agents, checks=checks, root=repo.path)
