"""A retry: what failed is diagnosed, a targeted fix becomes a commit, the failed check runs, then the whole suite."""

from __future__ import annotations

import json

from loopwright.errors import InvalidTransition
from loopwright.kernel.changing import replace
from loopwright.kernel.events import AgentFailed, AgentReported, Answer, Checkpointed, ChecksReported
from loopwright.kernel.faults import engine_finding, faults_of
from loopwright.kernel.model import AgentReport, Commit
from loopwright.kernel.quoting import one_line
from loopwright.kernel.sightings import FilesExamined
from loopwright.loops import course as c
from loopwright.loops.lifecycle.completing import fix_message, stage_message
from loopwright.loops.lifecycle.failures import BACK_OFFS, failed_checks, sort_of
from loopwright.loops.lifecycle.flow import brought_together, failed, going
from loopwright.loops.lifecycle.state import FILES, LifecycleState, Piece, Step, begun
from loopwright.loops.lifecycle.states import Stage

_OWN = ("skill", "review")  # no check failed: whoever did it does it again with what was found


def retry_begun(state: LifecycleState) -> LifecycleState:
    return begun(state, Step.DIAGNOSE)


def retried(state: LifecycleState, event: Answer) -> LifecycleState:
    match event:
        case AgentReported() | AgentFailed() if state.step is Step.DIAGNOSE:
            return _diagnosed(state, event)
        case AgentReported():
            return begun(replace(state, fixed=event.report.summary or "a fix without a word"), Step.RECORD_FIX)
        case AgentFailed():
            why = f"The fix did not end well: {c.sentence_of(event)}"
            return _fails_as_before(replace(state, fixed=why), why)
        case Checkpointed():
            return _recorded(state, event)
        case ChecksReported():
            return _checked(state, event)
        case FilesExamined():
            return _put_together(state, event)
        case _:
            raise InvalidTransition(c.where(state), type(event).__name__, f"{state.step} is under way")


def _diagnosed(state: LifecycleState, event: AgentReported | AgentFailed) -> LifecycleState:
    """Without a diagnosis the fix is tried all the same: the failure itself is known."""
    told = diagnosis(event.report) if isinstance(event, AgentReported) else ""
    state = replace(state, diagnosis=told, finished=_with(state.finished, "debug-assist"))
    if state.failure is not None and state.failure.sort in _OWN and not state.failure.judged:
        return going(state, state.failure.stage, "it is done again with what was found")
    if state.failure is not None and not state.maker.over and not state.failure.checks:
        return going(state, state.failure.stage, "its loop goes on with what was diagnosed")
    return begun(state, Step.FIX)


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names else (*names, name)


def diagnosis(report: AgentReport) -> str:
    extras = json.loads(report.extras)
    advice = extras.get("advice") if isinstance(extras, dict) else None
    lines = [report.summary]
    if isinstance(advice, dict):
        for key in ("diagnosis", "recommendations"):
            said = advice.get(key)
            lines += [f"- {one_line(str(each), 500)}" for each in said] if isinstance(said, list) else []
    return "\n".join(line for line in lines if line)[:4_000]


def _fails_as_before(state: LifecycleState, why: str) -> LifecycleState:
    """No fix was made: it is the same failure once more, and whoever is next hears what came of this one."""
    told = engine_finding("fix", why)
    failure = state.failure
    found = failure.findings if failure else (told,)
    state = failed(state, failure.sort if failure else "skill", found, failure.checks if failure else ())
    if failure is not None and failure.judged and state.failure is not None:
        state = replace(state, failure=replace(state.failure, judged=True))
    return replace(state, findings=(*found, told))


def _recorded(state: LifecycleState, event: Checkpointed) -> LifecycleState:
    """What else it changed is not taken, and is told."""
    if event.dropped:
        told = f"a fix also touched {', '.join(event.dropped[:5])}, which has nothing to do with it: not taken"
        state = replace(state, strayed=event.dropped, remarks=(*state.remarks, told))
    if event.unchanged and state.course.told:
        return going(state, state.resumes_at, "the change that needs an approval stays as it is")
    if event.unchanged:
        told = "The fix changed nothing" + (f" but {', '.join(event.dropped[:5])}" if event.dropped else "")
        return _fails_as_before(replace(state, fixed=told), told)
    if state.failing != state.tip:
        return begun(replace(state, conflicted=event.commit), Step.DECIDED)
    state = _with_pieces(c.steered(state, made=(state.tip, event.commit)), event.commit)
    state = replace(state, tip=event.commit, files=tuple(dict.fromkeys((*state.files, *event.paths)))[:FILES])
    return begun(state, Step.RECHECK if state.failure and state.failure.checks else Step.SUITE)


def _with_pieces(state: LifecycleState, fix: Commit) -> LifecycleState:
    """A fix lands as a commit of its own, on top of what it mends. What is brought together to be merged is one."""
    failure = state.failure
    if failure is None or failure.stage is Stage.SHIP:
        return state
    known = {state.landed_tip, *(each.commit for each in state.pieces)}
    mended = () if state.tip in known else (Piece(commit=state.tip, message=stage_message(state)),)
    return replace(state, pieces=(*state.pieces, *mended, Piece(commit=fix, message=fix_message(state, failure))))


def _put_together(state: LifecycleState, event: FilesExamined) -> LifecycleState:
    """What is decided so far stays so. Without a mark left, it is verified where it failed, like all else."""
    if event.faults:
        told = "; ".join(f"{each.path}: {each.why}" for each in event.faults[:5])
        return _fails_as_before(replace(state, fixed=told), told)
    stage = state.resumes_at
    return going(brought_together(state, state.conflicted), stage, f"fixed: {one_line(state.fixed, 200)}")


def _checked(state: LifecycleState, event: ChecksReported) -> LifecycleState:
    """Claims and gates are the stage's business, which asks for its checks again: receipts make that free."""
    found = faults_of(event)
    if found and event.claim is not None:
        return going(state, state.resumes_at, "the fix needs an approval")
    state = c.note_red_tests(state, event, state.tip)
    if not found:
        if state.step is Step.RECHECK:
            return begun(state, Step.SUITE)
        stage = state.failure.stage if state.failure else state.resumes_at
        return going(state, stage, f"fixed: {one_line(state.fixed, 200)}")
    sort = sort_of(event, found)
    if sort == "external" and state.back_offs < len(BACK_OFFS):
        return begun(replace(state, back_offs=state.back_offs + 1), Step.BACK_OFF)
    return failed(state, sort, found, failed_checks(event))
