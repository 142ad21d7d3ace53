"""What a session leaves for the next one, in `sessions/`: what was done, where it stands, what comes next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import inline, quoted
from loopwright.kernel.wording import counted, moment, way_on
from loopwright.loops.course import Station
from loopwright.loops.lifecycle import completing, gating
from loopwright.loops.lifecycle.evidence import unshown_capabilities
from loopwright.loops.lifecycle.flow import missing_skills
from loopwright.loops.lifecycle.loop_state_view import status_lines
from loopwright.loops.lifecycle.machine import stage_shown
from loopwright.loops.lifecycle.matrix import BUILD, INTEGRATION, LINT, TESTS, TYPES, sort_of_check
from loopwright.loops.lifecycle.moments import Moments, SessionSpan
from loopwright.loops.lifecycle.skill_log import NO_PARENT, SkillLog
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import NORMAL, Stage

_SHOWN = 30  # lines of one list
_CHECKS = (
    ("Build", BUILD),
    ("Lint", LINT),
    ("Types", TYPES),
    ("Unit tests", TESTS),
    ("Integration tests", INTEGRATION),
)
_AT_PEOPLE = (Stage.REVIEW, Stage.SHIP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    name: str  # of the file
    text: str
    seq: int  # of the record that it comes from
    complete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """Where a session stops."""

    loop: LoopId
    state: LifecycleState
    moments: Moments
    log: SkillLog
    at: float
    complete: bool = False

    @property
    def session(self) -> SessionSpan:
        known = self.moments.sessions
        return known[-1] if known else SessionSpan(began=self.moments.started)


def handed_over(leaving: Leaving, earlier: tuple[Handoff, ...], seq: int) -> Handoff:
    taken = {each.name for each in earlier}
    return Handoff(name=_name(leaving, taken), text=render(leaving), seq=seq, complete=leaving.complete)


def _name(leaving: Leaving, taken: set[str]) -> str:
    """By day, system and what it is: the first, the last, one that waits for people, or which in the row."""
    begin = f"{moment(leaving.at)[:10]}-{leaving.state.plan.system.id}"
    number = max(1, len(leaving.moments.sessions))
    if leaving.complete:
        return f"{begin}-complete.md"
    waits = leaving.state.course.station is Station.GATE or leaving.state.proposal.number
    review = f"{begin}-review.md"
    if waits and leaving.state.resumes_at in _AT_PEOPLE and review not in taken:
        return review
    return f"{begin}-initial.md" if number == 1 else f"{begin}-part{number}.md"


def render(leaving: Leaving) -> str:
    """In full, or in few lines where nothing happened."""
    parts = (_head, _next_steps, _commands) if _is_minimal(leaving) else _WHOLE
    told = ("\n".join(part(leaving)) for part in parts)
    return "\n\n".join(filter(None, told)) + "\n"


def _is_minimal(leaving: Leaving) -> bool:
    session, state = leaving.session, leaving.state
    happened = (
        state.transitions > session.transitions
        or len(leaving.log.runs) > session.runs
        or len(leaving.moments.mileposts) > session.mileposts
        or session.kept
    )
    return not (happened or leaving.complete)


# --- its parts ------------------------------------------------------------------------------------------------------


def _head(leaving: Leaving) -> Iterator[str]:
    state, session = leaving.state, leaving.session
    system = state.plan.system
    yield f"# Session handoff: {inline(system.name, 120)} ({system.id})"
    yield ""
    rows = {
        "Domain": state.plan.domain,
        "Loop": leaving.loop,
        "Began": moment(session.began),
        "Ended": moment(leaving.at),
        "Ended by": "the system is complete" if leaving.complete else session.why or "not said",
        "Driven by": session.by,
        "State": stage_shown(state).value,
        "Branch": state.plan.branch.removeprefix("refs/heads/"),
        "Worktree": f".worktrees/{state.plan.workspace}",
    }
    yield "| | |"
    yield "|---|---|"
    yield from (f"| {name} | {_cell(value)} |" for name, value in rows.items() if value)


def _cell(text: str) -> str:
    return inline(text, 300).replace("|", "\\|")


def _summary(leaving: Leaving) -> Iterator[str]:
    state, session = leaving.state, leaving.session
    moves = counted(state.transitions - session.transitions, "transition")
    runs = counted(len(leaving.log.runs) - session.runs, "run of a skill", "runs of skills")
    failures = counted(len(leaving.moments.failures) - session.failures, "failure")
    done = f"{len(state.done)} of {len(state.done) + len(state.remaining) + bool(state.current)} capabilities done"
    yield "## Summary"
    yield ""
    yield f"{moves}, {runs}, {failures}; {done}. It stands in {stage_shown(state)}."


def _listed(title: str, lines: Iterable[str], nothing: str = "") -> Iterator[str]:
    """Without anything to say, the heading is left out unless that itself is worth saying."""
    every = list(lines)
    if not every and not nothing:
        return
    yield f"## {title}"
    yield ""
    left = len(every) - _SHOWN
    yield from every[:_SHOWN] or (nothing,)
    if left > 0:
        yield f"- and {left} more"


def _done(leaving: Leaving) -> Iterator[str]:
    runs = leaving.log.runs[leaving.session.runs :]
    own = [run for run in runs if run.parent == NO_PARENT and run.status == "complete"]
    lines = [": ".join(filter(None, (f"- {run.skill} ({run.stage})", _named(run.deliverables)))) for run in own]
    reached = [
        f"- {inline(each.text)}"
        for each in leaving.moments.mileposts[leaving.session.mileposts :]
        if each.kind == "milestone"
    ]
    return _listed("Done", (*reached, *lines), "Nothing was finished.")


def _named(paths: tuple[str, ...]) -> str:
    return ", ".join(map(inline, paths))


def _commits(leaving: Leaving) -> Iterator[str]:
    fresh = leaving.moments.mileposts[leaving.session.mileposts :]
    lines = [f"- `{each.commit[:12]}` {inline(each.text)}" for each in fresh if each.kind == "commit"]
    papers = completing.papers_line(leaving.state)
    return _listed("Commits", (*lines, *((f"- {papers}",) if papers else ())), "None.")


def _standing(leaving: Leaving) -> Iterator[str]:
    yield "## Current state"
    yield ""
    yield from (f"- {inline(line)}" for line in status_lines(leaving.state, leaving.moments)[1:4])
    if leaving.state.proposal.number:
        seen = leaving.state.proposal
        yield f"- Pull request: {inline(seen.url) or f'#{seen.number}'} ({seen.state})"
    yield ""
    yield "| check | status |"
    yield "|---|---|"
    for title, sort in _CHECKS:
        yield f"| {title} | {_check(leaving, sort)} |"


def _check(leaving: Leaving, sort: str) -> str:
    names = [name for name in leaving.state.plan.checks if sort_of_check(name) == sort]
    if not names:
        return "not configured"
    seen = [leaving.moments.checks[name] for name in names if name in leaving.moments.checks]
    if not seen:
        return "not run yet"
    word = "passing" if all(each.passed for each in seen) else "failing"
    return f"{word} ({max(each.at for each in seen)})"


def _kept(leaving: Leaving) -> Iterator[str]:
    kept = leaving.session.kept
    lines = [f"- what was under way is kept as `{kept[:12]}`"] if kept else []
    return _listed("Uncommitted work", lines, "None.")


def _decisions(leaving: Leaving) -> Iterator[str]:
    fresh = leaving.moments.mileposts[leaving.session.mileposts :]
    taken = [
        f"- {inline(each.text)}"
        for each in fresh
        if each.kind == "approval" or (each.kind == "note" and not each.commit)
    ]
    said = [f"- {inline(each)}" for each in (*leaving.state.course.answers, *leaving.state.course.refusals)]
    return _listed("Decisions", (*taken, *said))


def _blockers(leaving: Leaving) -> Iterator[str]:
    state = leaving.state
    lines = [f"- {inline(state.blocked.reason)} ({state.blocked.target})"] if state.blocked else []
    lines += [f"- gate {gate.gate}: {inline(gate.explanation)}" for gate in gating.blocking(state)]
    if (paused := leaving.session.paused) is not None:
        lines.insert(0, f"- Paused: {inline(paused.detail, 500) or paused.reason}")
    if state.failure is not None:
        lines.append(f"- open failure: {inline(state.failure.error)}")
    return _listed("Blockers", lines, "None.")


def _next_steps(leaving: Leaving) -> Iterator[str]:
    return _listed("Next steps", (f"{n}. {step}" for n, step in enumerate(_steps(leaving), start=1)))


def _steps(leaving: Leaving) -> Iterator[str]:
    state = leaving.state
    if leaving.complete:
        freed = ", ".join(map(inline, state.unblocked))
        yield f"can begin now: {freed}" if freed else "nothing of this system is left to do"
        return
    if (paused := leaving.session.paused) is not None:
        yield f"go on with {way_on(paused.reason, None)}"
    if state.blocked is not None:
        yield inline(state.blocked.ask, 500)
    yield from (f"decide on the gate {gate.gate}" for gate in gating.blocking(state))
    if state.phase in NORMAL and (missing := missing_skills(state)):
        yield f"skills of {state.phase}: {', '.join(missing)}"
    left = [inline(name) for name in (state.current, *state.remaining) if name]
    yield f"capabilities that are not done: {', '.join(left)}" if left else f"leave {state.resumes_at}"


def _questions(leaving: Leaving) -> Iterator[str]:
    asked = (each.question for inquiry in leaving.state.course.inquiries for each in inquiry.questions)
    return _listed("Questions", (f"- {inline(text, 500)}" for text in asked))


def _commands(leaving: Leaving) -> Iterator[str]:
    state = leaving.state
    yield "## First commands"
    yield ""
    yield "```sh"
    yield f"loop status --loop {leaving.loop}"
    if gating.blocking(state):
        yield "loop gates"
    if not leaving.complete:
        yield f"{_goes_on(leaving)} --loop {leaving.loop}"
    yield "```"


def _goes_on(leaving: Leaving) -> str:
    """What a limit of all its work has ended would end there again, with `loop run`."""
    paused = leaving.session.paused
    return "loop run" if paused is None else way_on(paused.reason, None).split("`")[1]


def _notes(leaving: Leaving) -> Iterator[str]:
    text = leaving.session.text.strip()
    return _listed("Left for the next one", (quoted(text),) if text else ())


def _deferred(leaving: Leaving) -> Iterator[str]:
    state = leaving.state
    held = [f"- held back: {inline(change.place)}" for change in state.course.held]
    held += [f"- it is kept on `{state.held_on}`"] if state.held_on else []
    skips = [f"- skipped in {each.stage}: {each.skill} ({inline(each.reason)})" for each in state.skips]
    debt = ["- a person took a change that no test notices"] if state.untested or state.course.untested else []
    debt += [f"- no test shows {inline(name)}" for name in unshown_capabilities(state)]
    return _listed("Deferred", (*held, *skips, *debt, *(f"- {inline(each)}" for each in state.remarks)))


def _conditions(leaving: Leaving) -> Iterator[str]:
    if not leaving.complete:
        return iter(())
    met = (
        f"- [{'x' if each.met else ' '}] {each.name} ({inline(each.shown_by)})"
        for each in completing.conditions(leaving.state)
    )
    return _listed("Complete because", met)


_WHOLE = (
    _head,
    _summary,
    _done,
    _conditions,
    _commits,
    _standing,
    _kept,
    _decisions,
    _blockers,
    _next_steps,
    _questions,
    _notes,
    _commands,
    _deferred,
)
