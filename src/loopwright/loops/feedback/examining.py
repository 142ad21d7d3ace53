"""How the feedback loop comes to its acceptance tests: an examiner writes them, they must fail on the base, and a
person decides where they do not, or where they fail with the change and might be wrong.
"""

from __future__ import annotations

from loopwright.kernel.actions import Checkpoint, Combine, Exhibit, RunAgent, RunChecks
from loopwright.kernel.changing import replace
from loopwright.kernel.events import AgentFailed, AgentReported, Answered, Checkpointed, ChecksReported, Combined
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.ledger import unresolved
from loopwright.kernel.limits import reached
from loopwright.kernel.model import AgentStatus, Brief, Finding, Key
from loopwright.kernel.trust import HiddenTests
from loopwright.loops import course as c
from loopwright.loops import examination as ex
from loopwright.loops.course import Station
from loopwright.loops.feedback.limits import grant
from loopwright.loops.feedback.state import (
    NOTHING_CHANGED,
    TESTS,
    FeedbackPhase,
    FeedbackState,
    base_of,
    counts,
    with_open_iteration,
)
from loopwright.loops.floor import CONTINUE_BY_DEFAULT
from loopwright.loops.hooks import Escalation

_STEP = ex.EXAMINATION
_MOST_FILES = 200


def run_examiner(state: FeedbackState, brief: Brief) -> RunAgent:
    held = state.examination
    return RunAgent(
        key=Key("examine", held.runs + 1, tries=state.course.trial.tries),
        role=ex.EXAMINER,
        brief=replace(brief, findings=held.faults, candidate=held.commit),
        start=held.commit or base_of(state),
        writes=True,
        beside=ex.EXAMINER,
        why="its tests do not fail on the base as they should" if held.faults else "acceptance tests come first",
    )


def keep_tests(state: FeedbackState) -> Checkpoint:
    runs = state.examination.runs
    return Checkpoint(
        key=Key("checkpoint", runs, part=_STEP),
        label=f"{_STEP}-{runs}",
        parent=base_of(state),
        base=base_of(state),
        beside=ex.EXAMINER,
        new_tests_only=True,
        trust=state.plan.trust,
        why="of an examiner only new tests are taken",
    )


def try_on_base(state: FeedbackState) -> RunChecks:
    held = state.examination
    return RunChecks(
        key=Key("checks", held.runs, part=_STEP, tries=state.course.trial.tries),
        commit=held.commit,
        base=base_of(state),
        trust=state.plan.trust,
        hidden=HiddenTests(files=held.files, interface=held.interface, must_fail=True),
        why="acceptance tests must fail before the work begins",
    )


def lay_tests(state: FeedbackState) -> Combine:
    held = state.examination
    return Combine(
        key=Key("combine", state.current.number, part=_STEP),
        base=state.current.commit,
        commits=(),
        keep=tuple((held.commit, path) for path in held.files),
        label=f"{state.current.number}-{_STEP}",
        why="the examiner's tests run with the change and land with it",
    )


def take_tests_away(state: FeedbackState) -> Combine:
    held = state.examination
    return Combine(
        key=Key("combine", state.current.number, part="without-tests"),
        base=state.commit,
        commits=(),
        keep=tuple((state.plan.base, path) for path in held.files),
        label=f"{state.current.number}-without-{_STEP}",
        why="whoever makes the change does not see the examiner's tests",
    )


# --- what happened ------------------------------------------------------------------------------------


def examiner_reported(state: FeedbackState, event: AgentReported) -> FeedbackState:
    report = event.report
    held = replace(state.examination, interface=report.interface)
    state = _counted(replace(state, examination=held))
    if report.status is AgentStatus.BLOCKED:
        return _ask(state, engine_finding("blocked", f"The examiner is blocked: {report.summary or 'no reason given'}"))
    if not report.interface.strip():
        return _repair_or_ask(
            state, "no-interface", "The result has no `interface`: the page of names that the tests use"
        )
    return c.entered(state, FeedbackPhase.KEEP_TESTS)


def examiner_failed(state: FeedbackState, event: AgentFailed) -> FeedbackState:
    return _ask(_counted(state), engine_finding("no-examiner", f"The examiner gave no result ({c.sentence_of(event)})"))


def tests_kept(state: FeedbackState, event: Checkpointed) -> FeedbackState:
    held = replace(state.examination, commit=event.commit, files=event.paths)
    state = replace(state, examination=held)
    if not event.files:
        left = f"; not taken: {ex.name_some(event.dropped)}" if event.dropped else ""
        return _repair_or_ask(state, "no-test", f"No new file of tests was added{left}")
    if event.files > len(event.paths):
        return _repair_or_ask(state, "too-many-files", f"More than {_MOST_FILES} files of tests were added")
    return c.entered(state, FeedbackPhase.TRY_TESTS)


def tests_tried(state: FeedbackState, event: ChecksReported) -> FeedbackState:
    held = ex.accept_or_fault(state.examination, event)
    state = replace(state, examination=held)
    if held.settled:
        return c.entered(state, FeedbackPhase.IMPLEMENT)
    return _again(state) if held.may_repair else _ask(state, *held.faults)


def combined(state: FeedbackState, event: Combined) -> FeedbackState:
    """The tests lie in what is checked and landed, and never where the next attempt starts."""
    if state.phase is FeedbackPhase.TAKE_TESTS_AWAY:
        state = replace(state, commit=event.commit, examination=replace(state.examination, laid=False))
        return c.entered(state, FeedbackPhase.IMPLEMENT)
    made, gates = state.current.commit, state.course.gates
    state = replace(state, current=replace(state.current, commit=event.commit))
    # What the candidate calls for, it calls for with the tests as well.
    gates = tuple(replace(each, commit=event.commit) if each.commit == made else each for each in gates)
    state = c.steered(state, gates=gates)
    return c.entered(state, FeedbackPhase.TEST)


def note_report(state: FeedbackState, event: ChecksReported) -> tuple[FeedbackState, ChecksReported]:
    """Note which acceptance tests fail; what people decided on them is part of what the checks show."""
    held = ex.with_report(state.examination, event)
    evidence = replace(event.evidence, decisions=held.decisions) if event.evidence else None
    return replace(state, examination=held), replace(event, evidence=evidence)


def forget_hidden_tests(state: FeedbackState) -> FeedbackState:
    """Nobody can change an acceptance test, so that none has to be put back to the version that failed."""
    hidden = {each.id for each in state.examination.failing}
    kept = (replace(each, tests=tuple(t for t in each.tests if t not in hidden)) for each in state.course.red_tests)
    return c.steered(state, red_tests=tuple(each for each in kept if each.tests))


def enter_tests(state: FeedbackState) -> FeedbackState:
    """Go on to the checks, by way of the examiner's tests where there are any."""
    return c.entered(state, FeedbackPhase.LAY_TESTS if state.examination.files else FeedbackPhase.TEST)


def _counted(state: FeedbackState) -> FeedbackState:
    held = state.examination
    return replace(state, examination=replace(held, runs=held.runs + 1, runs_in_turn=held.runs_in_turn + 1))


def _repair_or_ask(state: FeedbackState, rule: str, told: str) -> FeedbackState:
    fault = engine_finding(rule, told)
    if not state.examination.may_repair:
        return _ask(state, fault)
    return _again(replace(state, examination=replace(state.examination, faults=(fault,))))


def _again(state: FeedbackState) -> FeedbackState:
    return c.entered(state, FeedbackPhase.EXAMINE)


def _ask(state: FeedbackState, *faults: Finding) -> FeedbackState:
    held = replace(state.examination, faults=faults, asks="examiner")
    return c.escalated(replace(state, examination=held), (ex.ask_about_examiner(held, missing=False),))


# --- people ---------------------------------------------------------------------------------------------


def have_failed_again(state: FeedbackState) -> bool:
    """Whether the same acceptance test has failed as often in a row as any test may."""
    ids = {each.id for each in state.examination.failing}
    same = (each.streak for each in state.ledger if each.source == TESTS and each.finding.rule in ids)
    return any(reached(streak, state.allowance.same_test) for streak in same)


def has_idle_maker(state: FeedbackState) -> bool:
    """Return whether the maker of a part changed nothing while acceptance tests fail.

    Its parent would only retry. A loop of its own offers to drop the tests in the question that it asks at its limit.
    """
    is_idle = any(each.rule == NOTHING_CHANGED for each in state.past[-1].issues)
    return is_idle and bool(state.examination.failing) and not state.plan.lands


def dispute(state: FeedbackState, reasons: tuple[str, ...]) -> FeedbackState:
    """Ask a person whether the examiner's tests that fail are right."""
    held = replace(state.examination, asks="tests")
    return c.escalated(
        replace(state, examination=held), (*reasons, ex.ask_about_tests(held, unresolved(state.ledger, TESTS)))
    )


def question(state: FeedbackState) -> Escalation | None:
    """What a person is asked about the examiner or its tests, if that is what the loop waits for."""
    held, why = state.examination, "; ".join(state.course.reasons)
    if held.asks == "examiner":
        retry = () if state.plan.examiner == "missing" else (ex.RETRY,)
        asked, options = f"There is no second key: {why}.", (*retry, ex.WITHOUT, ex.CANCEL)
    elif held.asks == "tests":
        asked, options = f"The feedback loop stopped: {why}?", (ex.KEEP, ex.DROP, ex.CANCEL)
    else:
        return None
    return Escalation(
        question=asked, options=options, why=why, findings=held.faults, kind="question", exhibit=exhibit(state)
    )


def exhibit(state: FeedbackState) -> Exhibit | None:
    """What a person sees who decides on the examiner's tests."""
    held = state.examination
    paths = held.disputed or (held.files if held.asks else ())
    if not paths:
        return None
    return Exhibit(
        task=state.plan.task,
        commit=held.commit,
        paths=paths,
        base=base_of(state),
        candidate=state.commit,
    )


def answered(state: FeedbackState, event: Answered) -> FeedbackState:
    """Follow one of the options that only this loop offers."""
    held = state.examination
    match event.choice:
        case "retry":
            return _again(replace(state, examination=replace(held, runs_in_turn=0, asks="")))
        case "maker":
            state = c.entered(replace(state, examination=ex.waive(held, event.by)), FeedbackPhase.IMPLEMENT)
            return c.tried_on_the_base(state, state.plan.trust)
        case "keep":
            return _go_on(replace(state, examination=replace(held, asks="")), event, "The acceptance tests stand")
        case _:
            told = f"The acceptance tests in {ex.name_some(held.disputed)} are dropped"
            return _go_on(replace(state, examination=ex.drop_disputed(held, event.by)), event, told)


def _go_on(state: FeedbackState, event: Answered, decision: str) -> FeedbackState:
    """The maker hears the decision. One that has asked goes on where it was; at a limit more attempts are granted."""
    said = f"{decision}. {event.text.strip()}".strip()
    if state.course.station is Station.CLARIFY:
        return c.resume_asked(state, said)
    state = c.steered(state, answers=(*state.course.answers, said), reasons=())
    return with_open_iteration(replace(state, allowance=grant(state.allowance, counts(state), CONTINUE_BY_DEFAULT)))
