"""A person's decision on a gate, for `loop approve` and `loop reject`: bound to exactly the changes it shows."""

from __future__ import annotations

import asyncio
import difflib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn

import click

from loopwright.app.choice import named, named_root, root_of, roots
from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.app.views.gates import GateReason, ShownGate, gates_below, split_by_file
from loopwright.cli.gates import file_line, kept_sentence, look_lines, rejected_branch, tests_lines
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.output import note, put, put_json
from loopwright.cli.people_only import only_for_people
from loopwright.errors import Forbidden, InvalidTransition, UsageError
from loopwright.kernel.events import GateDecided
from loopwright.kernel.gates import gate_key
from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    gate: str  # NAME or NAME@ID
    approved: bool
    reason: str = ""
    loop_id: str = ""
    only: tuple[str, ...] = ()  # paths; empty: all of the gate

    @property
    def word(self) -> Literal["approved", "rejected"]:
        return "approved" if self.approved else "rejected"

    @property
    def name(self) -> str:
        return self.gate.partition("@")[0]

    @property
    def id(self) -> str:
        return self.gate.partition("@")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionAnswer:
    """What `loop approve` and `loop reject` answer with `--json`."""

    gate: str
    id: str
    loop: LoopId
    path: tuple[LoopId, ...]
    evidence: str
    because: tuple[GateReason, ...]
    status: Literal["approved", "rejected"]
    by: str
    command: str = ""  # that goes on
    rest: str = ""  # id of what stays open of the gate
    already: bool = False
    kept_on: str = ""  # branch that still has what was held back and is rejected


only_option = click.option(
    "--only", multiple=True, metavar="PATH", help="Decide on this file alone; repeatable. The rest gets a new id."
)


def decide(here: Here, decision: GateDecision, *, as_json: bool) -> int:
    with opened(here) as project:
        answer = asyncio.run(decided(project, here, decision))
    put_json(answer) if as_json else put(sentence(answer))
    return 0


async def decided(project: Project, here: Here, decision: GateDecision) -> DecisionAnswer:
    """On record, with what it is bound to."""
    await only_for_people(project, here, "approve" if decision.approved else "reject")
    found = await _gates(project, decision.loop_id)
    known = [gate for gate in found if gate.name == decision.name]
    if decision.loop_id and not known:
        await named_root(project, decision.loop_id)
    pending = [gate for gate in known if gate.status == "pending"]
    for gate in () if pending else known:
        await _refuse_below_an_end(project, gate, decision)
    gate = _meant(pending, known, decision) or _refuse(found, decision)
    if gate.status != "pending":
        return _answer(gate, decision.word, gate.by, already=True)
    said = GateDecided(
        key=gate_key(gate.name, gate.evidence),
        gate=gate.name,
        approved=decision.approved,
        evidence=gate.evidence,
        reason=decision.reason,
        by=here.who,
        only=tuple(_path_in(gate, each, project.root, here.cwd) for each in decision.only),
    )
    seen = await view(project, gate.loop)
    part, rest = _split(seen, gate, said)
    if not decision.id:
        _confirm(here, part, decision)
    recorded = await take_in(project, seen, said, note)
    goes_on = recorded is not None and not recorded.is_over and not (rest and recorded.row.status == "waiting")
    answer = _answer(part, decision.word, here.who, command=f"loop resume --loop {gate.path[0]}" if goes_on else "")
    return replace(answer, rest=rest, kept_on=rejected_branch(recorded))


def _path_in(gate: ShownGate, given: str, root: Path, cwd: Path) -> str:
    """Return the path from the top of the repository: as the gate shows it, else as it is from the current folder."""
    path = os.path.normpath(given)
    if any(path in (reason.file, reason.moved) for reason in gate.because):
        return path
    absolute = Path(os.path.normpath(cwd / given))
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else given


def _split(seen: View, gate: ShownGate, said: GateDecided) -> tuple[ShownGate, str]:
    """Return the gate with what the decision covers, and the id of the rest."""
    try:
        return split_by_file(seen, gate, said)
    except InvalidTransition as error:
        raise UsageError(error.why) from error


async def _refuse_below_an_end(project: Project, gate: ShownGate, decision: GateDecision) -> None:
    """Raises the sentence that says why nobody would act on the decision, if that is so."""
    if gate.status != "withdrawn" or decision.id not in ("", gate.id):
        return
    for above in gate.path[:-1]:
        if (await view(project, above)).is_over:
            raise Forbidden(
                f"loop {above} has ended, so nobody would act on gate {gate.name}@{gate.id} of loop {gate.loop} below"
                " it; nothing was recorded"
            )


async def _gates(project: Project, loop_id: str) -> list[ShownGate]:
    """Of the loop that is named, a root or a part of one, and of all below it, each with the way from its root."""
    if not loop_id:
        return [gate for each in await roots(project) for gate in await gates_below(project, each)]
    meant = await named(project, loop_id)
    root = await view(project, root_of(meant))
    return [gate for gate in await gates_below(project, root) if meant.row.id in gate.path]


def _meant(pending: list[ShownGate], known: list[ShownGate], decision: GateDecision) -> ShownGate | None:
    """The one gate the words fit; None: none does. Raises the sentence that says why it cannot be, or is several."""
    fits = [gate for gate in pending if gate.id == decision.id] if decision.id else pending
    if len(fits) == 1:
        return fits[0]
    if len(fits) > 1:
        refusal = UsageError if decision.id else Forbidden
        raise refusal(f"several gates fit, name one: {_listed(fits)}")
    over = [gate for gate in known if gate.status in ("approved", "rejected")]
    same = [gate for gate in over if not decision.id or gate.id == decision.id]
    if same and same[-1].status == decision.word:
        return same[-1]
    if same:
        raise Forbidden(f"gate {decision.name} was already {same[-1].status} by {same[-1].by or 'somebody'}")
    if begun := [gate for gate in pending if decision.id and gate.id.startswith(decision.id)]:
        whole = "one of these" if len(begun) > 1 else "this one"
        raise Forbidden(f"{decision.gate!r} is only the beginning of an id; name {whole} whole: {_listed(begun)}")
    if decision.id and pending:
        raise Forbidden(f"no gate {decision.gate!r} is open: its changes are others by now; open: {_listed(pending)}")
    return None


def _refuse(found: list[ShownGate], decision: GateDecision) -> NoReturn:
    """With what is open instead, and the nearest name among it."""
    pending = [gate for gate in found if gate.status == "pending"]
    near = difflib.get_close_matches(decision.name, [gate.name for gate in pending], n=1)
    hint = f"; did you mean {near[0]}" if near else ""
    raise UsageError(f"no gate {decision.gate!r} is open{hint}; open are: {_listed(pending) or 'none'}")


def _confirm(here: Here, gate: ShownGate, decision: GateDecision) -> None:
    """Without an id the person must have seen what it is about: here and now, or not at all."""
    if not here.asks:
        raise Forbidden(f"say which changes you have seen: loop {_verb(decision)} {gate.name}@{gate.id} (`loop gates`)")
    note(f"{gate.name}@{gate.id} of loop {' > '.join(gate.path)} is about exactly these changes:")
    for line in (*map(file_line, gate.because), *tests_lines(gate)):
        note(line)
    for line in look_lines(gate, at_top=False):
        note(line)
    if not click.confirm(f"{_verb(decision).capitalize()} it?", default=False, err=True):
        raise Forbidden("nothing was decided")


def _verb(decision: GateDecision) -> str:
    return "approve" if decision.approved else "reject"


def _listed(gates: list[ShownGate]) -> str:
    return ", ".join(f"{gate.name}@{gate.id} (loop {' > '.join(gate.path)})" for gate in gates)


def _answer(
    gate: ShownGate, status: Literal["approved", "rejected"], by: str, *, command: str = "", already: bool = False
) -> DecisionAnswer:
    return DecisionAnswer(
        gate=gate.name,
        id=gate.id,
        loop=gate.loop,
        path=gate.path,
        evidence=gate.evidence,
        because=gate.because,
        status=status,
        by=by,
        command=command,
        already=already,
    )


def sentence(answer: DecisionAnswer) -> str:
    if answer.already:
        return f"Gate {answer.gate} was already {answer.status} by {answer.by or 'somebody'}."
    files = ", ".join(dict.fromkeys(one_line(reason.file, 500) for reason in answer.because))
    tail = f" Go on with: {answer.command}" if answer.command else ""
    what = f"exactly these changes: {files}" if files else "exactly what it was asked for"
    kept = f" {kept_sentence(answer.kept_on)}" if answer.kept_on else ""
    rest = f" The rest of it stays open as {answer.gate}@{answer.rest}." if answer.rest else ""
    return f"Gate {answer.gate} of loop {answer.loop} is {answer.status} for {what}.{kept}{rest}{tail}"
