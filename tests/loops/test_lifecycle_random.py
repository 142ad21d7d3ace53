"""Random histories of systems in a world full of faults: the ledger of the harness bears out every step."""

from __future__ import annotations

import json
import random

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Action,
    Ask,
    AwaitGate,
    Checkpoint,
    Combine,
    ExamineChange,
    ExamineFiles,
    Integrate,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
    RunOnce,
    Stop,
    Tell,
)
from loopwright.kernel.deliverables import FileFault
from loopwright.kernel.events import (
    AgentFailed,
    AgentUnavailable,
    Answered,
    Checkpointed,
    Combined,
    Event,
    IntegrationRefused,
    LoopEnded,
    StateEdited,
)
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import NO_KEY, Change, Commit, Ending, Key, LoopId, Outcome, Severity, Tree, Verdict
from loopwright.kernel.proposals import Opinion
from loopwright.kernel.risks import Risk
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.loops.course import Station
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.skills import SKILLS
from tests.loops import lifecycle as lc
from tests.loops.harness import with_key

# What random values reach never counts; the tests of single rules run every line.
pytestmark = pytest.mark.unmeasured

HISTORIES, EACH = 10_000, 250
MOST = 1_500  # events
GATES = ("architecture", "security", "database", "external")


class Unruly(lc.World):
    """So many things go wrong, so often a person says something; after that all goes well, or nobody answers."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - no secret
        dice = self.dice
        super().__init__(
            mode=dice.choice(("autonomous", "hybrid", "supervised")),
            forge=dice.choice(("local", "github")),
            merges=dice.random() < 0.8,
            capabilities=dice.choice(((), ("take",), ("take", "ship"))),
            checks=lc.CHECKS[: dice.choice((0, 3, 8))],
            deploy=dice.choice(((), ("make", "deploy"))),
            queue=LoopId(dice.choice(("", "queue-shop"))),
            max_retries=dice.choice((1, 3)),
            trusts_scaffold=dice.random() < 0.3,
        )
        self.faults = dice.choice((0, 2, 5, 12, 30))
        self.patience = dice.choice((1, 15, 40, 80))
        self.rate = dice.choice((0.05, 0.15, 0.4))

    def history(self) -> None:
        for _ in range(MOST):
            if self.dice.random() < 0.02 and self._interrupts():
                continue
            actions = LIFECYCLE.decide(self.state)
            action = self.dice.choice(actions) if self.state.course.station is Station.GATE else actions[0]
            event = self._told(action)
            if event is None:
                return self._stands(actions)
            self.take(with_key(event, action.key) if hasattr(event, "key") else event, action)
        raise AssertionError(f"it goes on for ever: {self.moves[-20:]}")

    def _stands(self, actions: tuple[Action, ...]) -> None:
        """Ended, or waiting with a reason."""
        first = actions[0]
        if isinstance(first, Ask):
            assert first.question, first
            assert first.why, first
            assert LIFECYCLE.stand(self.state).state == "BLOCKED"
        elif isinstance(first, AwaitGate):
            assert all(each.why for each in actions if isinstance(each, AwaitGate))
        else:
            assert isinstance(first, Stop), first
            assert first.outcome.ending in (Ending.VERIFIED, Ending.ACCEPTED, Ending.CANCELLED)

    def _told(self, action: Action) -> Event | None:
        if isinstance(action, Ask | AwaitGate):
            return self._by_a_person(action)
        if self.faults and self.dice.random() < self.rate:
            self.faults -= 1
            if (bad := self._badly(action)) is not None:
                return bad
        if isinstance(action, ExamineChange):
            tree = self.ledger.trees[action.commit]
            return ChangeExamined(key=NO_KEY, tree=Tree(tree), paths=("src/a.py",), risks=risks_of(tree))
        return self.well(action)

    def _by_a_person(self, action: Ask | AwaitGate) -> Event | None:
        if not self.patience:
            return None
        self.patience -= 1
        if isinstance(action, AwaitGate):
            roll = self.dice.random()
            if roll < 0.1 and self.state.course.station is Station.GATE:
                return StateEdited(subject="gate-timeout", value="")
            return lc.approves(action) if roll < 0.8 else lc.rejects()(action)
        offered = [each.choice for each in action.options if self.dice.random() < 0.3 or each.choice != "cancel"]
        return Answered(
            key=NO_KEY, choice=self.dice.choice(offered), text="as it was meant", count=self.dice.choice((0, 1))
        )

    def _interrupts(self) -> bool:
        """Whether somebody said something, and was heard."""
        if not self.patience:
            return False
        self.patience -= 1
        pick = self.dice.choice
        skip, edit = lc.skips(pick((*SKILLS, "deploy"))), lc.edits(pick(lc.ORDER))
        said, before = pick((skip, edit, lc.edits("FAILED"), self._committed())), self.state
        try:
            self.take(said)
        except InvalidTransition:
            return False
        if isinstance(said, StateEdited) and said.subject == "branch":
            work = "" if before.tip == before.landed_tip else before.tip
            assert (self.state.tip, bool(self.state.theirs)) == (work or self.state.landed, bool(work)), "work is lost"
        return True

    def _committed(self) -> StateEdited:
        """By hand, on the branch: with the target, or without."""
        told = {"commit": self.commit(), "paths": ["tests/test_a.py"], "onto": self.dice.choice(("", self.commit()))}
        return StateEdited(subject="branch", value=json.dumps(told))

    def _badly(self, action: Action) -> Event | None:  # noqa: C901 - a row for each action
        pick = self.dice.choice
        match action:
            case RunAgent():
                worst = lc.finding(pick(("hole", "leak")), Severity.CRITICAL)
                said: tuple[Event, ...] = (
                    *(lc.crashes(n) for n in (1, 2)),
                    AgentFailed(key=NO_KEY, reason="garbled", role=action.role),
                    AgentUnavailable(key=NO_KEY, until=9.0, role=action.role),
                    lc.ASKS,
                    lc.CANNOT,
                    lc.reports(worst, verdict=Verdict.FAIL),
                    lc.reports(capabilities=["a", "b", "c"], estimate={"hours": 3}),
                )
                return pick(said)
            case RunChecks():
                name = pick(action.names or lc.CHECKS)
                issue = pick(("boom", "bang", "ECONNREFUSED", "connection refused"))
                return lc.red(name, issue, rule=pick((name, name, "not-finished")))
            case RunLoop():
                ending = pick((Ending.ESCALATED, Ending.FAILED, Ending.ACCEPTED))
                commit = self.commit() if ending is Ending.ACCEPTED else Commit("")
                return LoopEnded(
                    key=NO_KEY, outcome=Outcome(ending=ending, note="stuck", asking=Key("escalation", 1), commit=commit)
                )
            case Checkpoint():
                same = Checkpointed(key=NO_KEY, commit=action.parent, tree=Tree("t"), unchanged=True)
                return pick((same, None, self._judging()))
            case ExamineFiles():
                return FilesExamined(key=NO_KEY, faults=(FileFault(path=action.wanted[0].path, why="it is empty"),))
            case Tell():
                return Heard(key=NO_KEY, loop=action.loop, refused="it is complete")
            case Integrate():
                return IntegrationRefused(key=NO_KEY, reason="moved", detail="locked")
            case Combine():
                return Combined(key=NO_KEY, commit=action.base, left_out=action.commits) if action.commits else None
            case RunOnce():
                return RanOnce(key=NO_KEY, code=pick((1, None)), detail="no route")
            case OpenPullRequest():
                return PullRequestSeen(key=NO_KEY, failed="gone", away=pick((True, False)))
            case MergePullRequest() | ReadPullRequest():
                return self._forge()(action)
            case _:
                return None

    def _judging(self) -> Event:
        """What judges is changed, in one of two ways."""
        change = (Change(path="pyproject.toml", how="added", blob=self.dice.choice("12")),)
        commit = self.commit()
        tree = Tree(self.ledger.trees[commit])
        return Checkpointed(key=NO_KEY, commit=commit, tree=tree, protected=change, evidence=evidence(change))

    def _forge(self) -> lc.Reply:
        asked = Opinion(by="kim", said="changes-requested", text="names", at="2", inside=True)
        moved = self.commit()
        return self.dice.choice(
            (
                lc.seen(),
                lc.seen(state="closed"),
                lc.seen(head=Commit("pushed")),
                lc.seen(onto=moved, failed="the target has moved"),
                lc.seen(opinions=(asked,)),
                lc.seen(red=("ci",)),
                lc.seen(failed="away", away=True),
                lc.seen(failed="refused"),
            )
        )


def risks_of(tree: str) -> tuple[Risk, ...]:
    dice = random.Random(tree)  # noqa: S311 - no secret
    return tuple(lc.risk(gate, dice.choice(("m1", "m2"))) for gate in GATES if dice.random() < 0.07)


@pytest.mark.sampled("kills")
@pytest.mark.parametrize("part", range(HISTORIES // EACH))
def test_random_histories_never_go_on_unverified_and_always_end_or_wait(part: int) -> None:
    for seed in range(part * EACH, (part + 1) * EACH):
        unruly = Unruly(seed)
        try:
            unruly.history()
        except Exception as error:
            raise AssertionError(f"history {seed}: {unruly.moves[-6:]}") from error
