"""What people said on the pull request, as decisions on the gates that it was to open.

Whoever's log-in proposed it decides nothing there: every step of a loop runs with the same rights. They have the
terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from loopwright.kernel.events import GateDecided, Said, StateEdited
from loopwright.kernel.gates import PROTECTED, UNTESTED, gate_key
from loopwright.kernel.model import Commit
from loopwright.kernel.proposals import Deciders, Opinion, PullRequest
from loopwright.loops.course import GateRecord, Station
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.gate_rules import DATABASE, DEPLOY, EXTERNAL, SECURITY
from loopwright.loops.lifecycle.state import LifecycleState

CHECKLIST = ("no secret in the code", "input is checked", "what is stored is protected")
AT_THE_TERMINAL = (PROTECTED, UNTESTED)  # what judges is decided where exactly that is shown
_BY_REVIEW = (SECURITY, DATABASE, EXTERNAL, DEPLOY)
_BY_OTHER_MEANS = (SECURITY, DEPLOY)  # than a comment that says so
_TICKED = re.compile(r"^\s*[-*] \[[xX]\] (.+?)[.\s]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedThere:
    """What was asked for there: from when on an answer is one, and of which commit."""

    asked: str
    commit: Commit
    may: Deciders


def heard(state: LifecycleState, seen: PullRequest, may: Deciders) -> tuple[Said, ...]:
    """What is to be recorded of the pull request while gates are waited for."""
    if why := _not_as_it_was(state, seen):
        told = StateEdited(subject="proposal", value=why, by="the pull request")
        return (told,) if state.course.station is Station.GATE else ()  # else it is blocked already
    waited = tuple(gate for gate in gating.blocking(state) if gate.evidence in state.requested)
    return decisions(waited, seen, AskedThere(asked=state.asked, commit=state.landed, may=may))


def _not_as_it_was(state: LifecycleState, seen: PullRequest) -> str:
    if seen.state in ("closed", "merged"):
        how = "closed unmerged" if seen.state == "closed" else "merged before what it waits for was decided"
        return f"The pull request #{seen.number} was {how}"
    if seen.head != state.landed:
        branch = state.plan.branch.removeprefix("refs/heads/")
        return f"Somebody pushed to {branch}: it is at {seen.head[:12]}, and {state.landed[:12]} is looked at"
    return ""


def decisions(gates: tuple[GateRecord, ...], seen: PullRequest, request: AskedThere) -> tuple[GateDecided, ...]:
    """One no is enough, and is all that is said then: the work goes back. Else every gate that all have approved."""
    waited = tuple(gate for gate in gates if gate.gate not in AT_THE_TERMINAL)
    if (no := next(_rejections(waited, seen, request), None)) is not None:
        return (no,)
    return tuple(_approvals(waited, seen, request))


def rejection_of(state: LifecycleState, gate: GateRecord) -> GateDecided | None:
    """Of what was approved, on the page as it was last seen."""
    return next(_rejections((gate,), state.proposal, _asked_of(state, gate)), None)


def is_withdrawn(state: LifecycleState, gate: GateRecord) -> bool:
    """Return whether somebody who approved the gate on the pull request has taken that back there."""
    statements = _statements(gate.gate, state.proposal, _asked_of(state, gate))
    withdrawn = {f"{said.by}@{_host(state.proposal)}" for said, word in statements if word == "withdraws"}
    return not withdrawn.isdisjoint(gate.by.split(", "))


def _asked_of(state: LifecycleState, gate: GateRecord) -> AskedThere:
    listed = tuple(who for name, who in state.plan.reviewers if name == gate.gate)
    return AskedThere(asked=state.asked, commit=state.landed, may=Deciders(approvers=((gate.gate, listed),)))


def _rejections(gates: tuple[GateRecord, ...], seen: PullRequest, request: AskedThere) -> Iterator[GateDecided]:
    for gate in gates:
        for said, word in _statements(gate.gate, seen, request):
            if word == "rejects":
                yield _decided(gate, [said.by], seen, reason=said.text or "changes were requested", approved=False)


def _approvals(gates: tuple[GateRecord, ...], seen: PullRequest, request: AskedThere) -> Iterator[GateDecided]:
    for gate in gates:
        said = [each.by for each, word in _statements(gate.gate, seen, request) if word == "approves"]
        said = [by for by in said if not _is(by, request.may.starter, seen)]
        needed = [name for name in _listed(gate.gate, request) if not _is(seen.author, name, seen)]
        if needed and all(any(_is(by, name, seen) for by in said) for name in needed):
            yield _decided(gate, said, seen, approved=True)
        elif said and not _listed(gate.gate, request):
            yield _decided(gate, said[:1], seen, approved=True)


_Word = Literal["approves", "rejects", "withdraws"]


def _statements(gate: str, seen: PullRequest, request: AskedThere) -> Iterator[tuple[Opinion, _Word]]:
    """Yield the latest statement of each person on this gate, of those that count."""
    latest: dict[str, tuple[Opinion, _Word]] = {}
    for said in sorted(seen.opinions, key=lambda each: each.at):
        word = _word_on(gate, said, request)
        if word is not None and _counts(said, gate, seen, request):
            latest[said.by.casefold()] = (said, word)
    yield from latest.values()


def _word_on(gate: str, said: Opinion, request: AskedThere) -> _Word | None:
    """Return what it says of this gate, if anything."""
    match said.said:
        case "changes-requested":
            return "rejects"
        case "withdrawn":
            return "withdraws"
        case "approved":
            approves = gate in _BY_REVIEW and (gate != DEPLOY or said.commit == request.commit)
            return "approves" if approves else None
        case "commented":
            return _comment_on(gate, said.text)
        case _:
            assert_never(said.said)


def _comment_on(gate: str, text: str) -> _Word | None:
    """A comment that begins with the gate's name is about it; one that does not say yes or no takes back."""
    first = text.strip().partition("\n")[0].strip().rstrip(".!").casefold()
    name, _, rest = first.partition(" ")
    is_about = name.rstrip(":,") == gate.casefold()
    if is_about and re.match(r"rejected\b", rest):
        return "rejects"
    if gate == SECURITY and {*CHECKLIST} <= set(_TICKED.findall(text.replace("\r", "").casefold())):
        return "approves"
    if is_about and rest == "approved":
        return None if gate in _BY_OTHER_MEANS else "approves"
    return "withdraws" if is_about else None


def _counts(said: Opinion, gate: str, seen: PullRequest, request: AskedThere) -> bool:
    """Said after it was asked for, by somebody who may decide it."""
    if not request.asked or said.at <= request.asked or _is(said.by, seen.author, seen):
        return False
    listed = _listed(gate, request)
    return any(_is(said.by, name, seen) for name in listed) if listed else said.inside


def _listed(gate: str, request: AskedThere) -> tuple[str, ...]:
    return dict(request.may.approvers).get(gate, ())


def _is(login: str, name: str, seen: PullRequest) -> bool:
    """As people are named on the forge, in any case: by the log-in, or by that at its host."""
    return bool(login) and name.strip().casefold() in (login.casefold(), f"{login}@{_host(seen)}".casefold())


def _decided(gate: GateRecord, by: list[str], seen: PullRequest, *, approved: bool, reason: str = "") -> GateDecided:
    return GateDecided(
        key=gate_key(gate.gate, gate.evidence),
        gate=gate.gate,
        approved=approved,
        evidence=gate.evidence,
        reason=reason or f"on pull request #{seen.number}",
        by=", ".join(f"{each}@{_host(seen)}" for each in dict.fromkeys(by)),
    )


def _host(seen: PullRequest) -> str:
    """Of the page's address."""
    return seen.url.partition("://")[2].partition("/")[0] or "forge"
