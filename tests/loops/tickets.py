"""Letters and sentences to tell a ticket session's story with. A letter has no key; `play` gives it the wanted one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from loopwright.kernel.actions import Action, Ask, AwaitGate, RunAgent, Stop
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    ConfigChanged,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    TimeReached,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.machine import ANSWERED_BY
from loopwright.kernel.model import (
    NO_KEY,
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Cleanup,
    Commit,
    Coverage,
    Finding,
    Outcome,
    Question,
    Severity,
    Tree,
    Verdict,
)
from loopwright.loops.course import where
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Criterion, Rule, Ticket, TicketParams, TicketsState
from tests.loops.harness import taken, with_key

A = TypeVar("A", bound=Action)

_UNKEYED = NO_KEY
BASE = Commit("base")
CRITERIA = (
    Criterion(id="AC-1", text="Orders can be paid"),
    Criterion(id="AC-2", text="Errors are told"),
    Criterion(id="AC-3", text="Receipts are sent"),
)


# findings


def flaw(name: str, severity: Severity = Severity.HIGH, **facts: Any) -> Finding:  # noqa: ANN401 - a finding's fields
    """A finding that is known by its rule."""
    return identify(Finding(**{"severity": severity, "rule": name, "issue": f"{name} is wrong", **facts}))


def critical(name: str, **facts: Any) -> Finding:  # noqa: ANN401 - as `flaw`
    return flaw(name, Severity.CRITICAL, **facts)


def medium(name: str, **facts: Any) -> Finding:  # noqa: ANN401 - as `flaw`
    return flaw(name, Severity.MEDIUM, **facts)


ALPHA, BETA, GRAVE = flaw("alpha"), flaw("beta"), critical("grave")


# the creator

MADE = AgentReported(key=_UNKEYED, report=AgentReport(summary="wrote it"))
BLOCKED = AgentReported(key=_UNKEYED, report=AgentReport(status=AgentStatus.BLOCKED, summary="no network"))
UNCLEAR = AgentReported(
    key=_UNKEYED,
    report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which currency?"),)),
)
CRASHED = AgentFailed(key=_UNKEYED, reason="crashed", detail="exit 1")
TIMED_OUT = AgentFailed(key=_UNKEYED, reason="timed_out")
IDLE = AgentFailed(key=_UNKEYED, reason="idle")
GARBLED = AgentFailed(key=_UNKEYED, reason="garbled", detail="no JSON")
NEEDS_PERSON = AgentFailed(key=_UNKEYED, reason="needs_person", detail="log in first")
UNAVAILABLE = AgentUnavailable(key=_UNKEYED, until=60.0)
LATER = TimeReached(key=_UNKEYED)


def of(role: str, letter: AgentReported | AgentFailed) -> AgentReported | AgentFailed:
    """The letter as the engine records it: with the role it comes from."""
    return replace(letter, role=role)


def saved(commit: str = "c1", *, files: int = 1, evidence: str = "") -> Checkpointed:
    """With `evidence`, a protected test was changed."""
    return Checkpointed(
        key=_UNKEYED,
        commit=Commit(commit),
        tree=Tree(f"tree-{commit}"),
        files=files,
        paths=("src/pay.py",) * files,
        protected=(Change(path="tests/t.py", how="changed", blob=evidence),) if evidence else (),
        evidence=evidence,
    )


# critics and judge


def verdict(
    said: Verdict | None,
    *findings: Finding,
    status: AgentStatus = AgentStatus.DONE,
    aspects: Sequence[object] = (),
    summary: str = "looked at it",
) -> AgentReported:
    extras = json.dumps({"aspects": list(aspects)}) if aspects else "{}"
    report = AgentReport(verdict=said, findings=findings, status=status, summary=summary, extras=extras)
    return AgentReported(key=_UNKEYED, report=report)


def passes(*findings: Finding, aspects: Sequence[object] = ()) -> AgentReported:
    return verdict(Verdict.PASS, *findings, aspects=aspects)


def fails(*findings: Finding, aspects: Sequence[object] = (), summary: str = "looked at it") -> AgentReported:
    return verdict(Verdict.FAIL, *findings, aspects=aspects, summary=summary)


# checks


def check(name: str, **facts: Any) -> CheckResult:  # noqa: ANN401 - the fields of a result
    return CheckResult(**{"name": name, "passed": not facts.get("failures"), **facts})


def checked(*results: CheckResult, findings: tuple[Finding, ...] = ()) -> ChecksReported:
    return ChecksReported(key=_UNKEYED, tree=Tree("t"), results=results, findings=findings)


def covered(covered_lines: int, total: int = 100, **facts: Any) -> CheckResult:  # noqa: ANN401 - of the coverage
    coverage = Coverage(covered=covered_lines, total=total, **facts)
    low = (coverage.floor or 0) > coverage.percent or (coverage.new_code_floor or 0) > coverage.new_percent
    return CheckResult(name="coverage", passed=not low, coverage=coverage)


BROKEN_TEST = identify(Finding(severity=Severity.HIGH, rule="t.py::test_pay", issue="assert 1 == 2", category="tests"))
BUILD, TESTS = check("build"), check("test", tests=6)
RED_TESTS = check("test", tests=6, failures=(BROKEN_TEST,))
RED_BUILD = check("build", passed=False, note="exit 2")
GREEN, RED = checked(BUILD, TESTS), checked(BUILD, RED_TESTS)
NOTHING_RAN = checked()
SAID = Announced(key=_UNKEYED)


# people and ends


def approves(evidence: str = "e1") -> GateDecided:
    return GateDecided(key=_UNKEYED, gate="protected", approved=True, evidence=evidence)


def rejects(evidence: str = "e1", reason: str = "leave the tests alone") -> GateDecided:
    return GateDecided(key=_UNKEYED, gate="protected", approved=False, evidence=evidence, reason=reason)


def says(choice: str, *, count: int = 0, text: str = "", merge: bool = False) -> Answered:
    return Answered(key=_UNKEYED, choice=choice, count=count, text=text, merge=merge)


LANDED = Integrated(key=_UNKEYED, branch="loop/1", commit=Commit("landed"))
REFUSED = IntegrationRefused(key=_UNKEYED, reason="conflict", detail="main moved on")
CONFLICT = replace(REFUSED, onto=Commit("tip"))
RED_MERGE = replace(CONFLICT, reason="checks", detail="1 test fails", findings=(BROKEN_TEST,), merged=Commit("merged"))
LEFT = replace(LANDED, not_merged="main has changes that are not committed")
CLEANED = CleanedUp(key=_UNKEYED)
CANCEL = CancelRequested(cleanup=Cleanup.ROLLBACK)


def configured(**limits: int) -> ConfigChanged:
    return ConfigChanged(digest="d", settings="{}", limits=json.dumps(limits))


# whole tickets


def made(commit: str = "c1", *, evidence: str = "", files: int = 1) -> tuple[Event, ...]:
    return (MADE, saved(commit, evidence=evidence, files=files))


def ticket(
    commit: str, critic: AgentReported, checks: ChecksReported = GREEN, *, evidence: str = ""
) -> tuple[Event, ...]:
    """One ticket of one critic, with its line put on record."""
    return (*made(commit, evidence=evidence), critic, checks, SAID)


GOOD = ticket("good", passes())


def bad(commit: str = "c1", *findings: Finding, checks: ChecksReported = GREEN) -> tuple[Event, ...]:
    return ticket(commit, fails(*(findings or (GRAVE,))), checks)


def bads(count: int, first: int = 1) -> tuple[Event, ...]:
    """That many tickets, all with the same critical finding."""
    return tuple(event for number in range(first, first + count) for event in bad(f"c{number}"))


# telling


def params(**given: Any) -> TicketParams:  # noqa: ANN401 - the fields of the parameters, whatever they are
    limits = TicketLimits(max=given.pop("max", 5))
    plan = {"session": "pay", "title": "Pay orders", "base": BASE, "criteria": CRITERIA, "limits": limits}
    plan |= {"firm": True, "accepts_checked": True}
    return TicketParams(**{**plan, **given})


def session(**given: Any) -> TicketsState:  # noqa: ANN401 - as `params`
    return TICKETS.start(params(**given))


def play(state: TicketsState, *letters: Event) -> TicketsState:
    """The state after each letter has answered what is wanted then; of several critics, the first that waits."""
    for letter in letters:
        state = taken(TICKETS, state, keyed(state, letter))
    return state


def told(*letters: Event, **given: Any) -> TicketsState:  # noqa: ANN401 - as `params`
    return play(session(**given), *letters)


def keyed(state: TicketsState, letter: Event, at: int = 0) -> Event:
    """The letter with the key of the action that it can answer; `at` counts these."""
    if not hasattr(letter, "key"):
        return letter
    fitting = [action for action in TICKETS.decide(state) if isinstance(letter, ANSWERED_BY[type(action)])]
    assert fitting, f"{type(letter).__name__} answers nothing in {where(state)}: {keys(state)}"
    return with_key(letter, fitting[at].key)


def play_at(state: TicketsState, at: int, letter: Event) -> TicketsState:
    """As `play`, for the critic that waits in that place."""
    return taken(TICKETS, state, keyed(state, letter, at))


def keys(state: TicketsState) -> list[str]:
    return [str(action.key) for action in TICKETS.decide(state)]


def wanted(state: TicketsState, kind: type[A]) -> A:
    """The one action that is wanted now, beside a gate that is open."""
    actions = [each for each in TICKETS.decide(state) if kind is AwaitGate or not isinstance(each, AwaitGate)]
    (action,) = (each for each in actions if isinstance(each, kind))
    return action


def creator(state: TicketsState) -> RunAgent:
    action = wanted(state, RunAgent)
    assert (action.role, action.writes, action.needs_verdict) == ("creator", True, False)
    return action


def judges(state: TicketsState) -> list[RunAgent]:
    """The critics or the judge that are wanted now."""
    actions = [action for action in TICKETS.decide(state) if isinstance(action, RunAgent)]
    assert all(action.needs_verdict and not action.writes for action in actions)
    return actions


def question(state: TicketsState) -> Ask:
    assert where(state) == "ESCALATED"
    return wanted(state, Ask)


def options(state: TicketsState) -> list[str]:
    return [option.choice for option in wanted(state, Ask).options]


def outcome(state: TicketsState) -> Outcome:
    return wanted(state, Stop).outcome


def last(state: TicketsState) -> Ticket:
    return state.past[-1]


def decisions(state: TicketsState) -> list[str]:
    return [str(each.decision) for each in state.past]


def rule(state: TicketsState, name: str) -> Rule:
    """A line of the thresholds as the last ticket has it."""
    (found,) = (each for each in last(state).rules if each.name == name)
    return found


def against(state: TicketsState) -> list[str]:
    """The lines that keep the last ticket from being approved."""
    return [each.name for each in last(state).rules if each.is_against]


def open_rules(state: TicketsState) -> list[str]:
    return [finding.rule for finding in last(state).findings]


def reworded(finding: Finding, **facts: Any) -> Finding:  # noqa: ANN401 - as `flaw`
    return identify(replace(finding, fingerprint="", **facts))
