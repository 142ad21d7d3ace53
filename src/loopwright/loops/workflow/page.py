"""`docs/loops/workflow.md`: the workflow loop as its machine has it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.model import AgentReport, Commit, Verdict
from loopwright.loops import diagrams
from loopwright.loops.course import Station, where
from loopwright.loops.diagrams import Walk
from loopwright.loops.samples import BLOCKED_IT, FINDS, PASSED_IT, PASSES
from loopwright.loops.workflow.limits import WorkflowLimits
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.state import WorkflowParams, WorkflowPhase, WorkflowState
from loopwright.loops.workflow.stops import asked_in

_MOST = 2  # attempts, tasks, reviews and questions, after which nothing new can happen under the limits used here
_CLEAR = (
    "Return 429 from POST /login after 5 failed tries. Only change src/auth.py. It must not log passwords."
    " Done when pytest tests/test_auth.py passes and the answer takes less than 50 ms."
)
_SHIP = '{"ship": {"confidence": 90}}'
_SAMPLE = WorkflowParams(request=_CLEAR, base=Commit("b"), limits=WorkflowLimits(max_iterations=_MOST), merge=True)
_STARTS = (
    replace(_SAMPLE, request="Make it better"),
    replace(_SAMPLE, cast=("panel", "gate")),
    replace(_SAMPLE, shape="colleague", attended=True, cast=("panel",)),
    replace(_SAMPLE, cast=("shaper", "planner")),
)
_INTRO = (
    "One request to done. It is scored, and asked about where it is unclear; shaped into criteria and what must not"
    " happen; taken apart into tasks that wait for each other. Each task is made in a loop of its own, as soon"
    " as what it waits for is done and nobody works on its files, and lands in a merge train: together with all that"
    " has landed it must pass the checks, its own command and the commands of every task that is done. At the end the"
    " whole is reviewed thoroughly, verified once more with every command, and passes the completion gate."
)
_ABOUT_LIMITS = (
    "An iteration is an attempt at a task that ended. At a limit the workflow pauses and keeps everything: `continue`"
    " grants more and resets nothing, a raised limit in `loop.toml` is taken in by `loop resume`."
)
_ABOUT_QUESTIONS = (
    "Stuck tasks never ask. A person is asked about an unclear request, at gates, by agents that need one, and here:"
)
_ABOUT_MOVES = (
    "Each line is what the machine did when it was tried, with roles named and without. Several states are named where"
    " it depends on the other tasks and reviews, on the shape, on whether the step was tried before, or on the limits."
    " In EXECUTE several things are under way at once."
)


def page() -> str:
    walk = workflow_walk()
    found = diagrams.explored(walk)
    parts = (
        "# The workflow loop",
        diagrams.GENERATED,
        _INTRO,
        diagrams.diagram(walk, found.moves),
        "## Limits",
        diagrams.table(("`[limits.workflow]`", "default", "means"), _limits()),
        _ABOUT_LIMITS,
        "## Questions",
        _ABOUT_QUESTIONS,
        diagrams.table(("when", "how it may go on"), asked_in()),
        "## Moves",
        _ABOUT_MOVES,
        diagrams.moves_table(found.moves),
        f"{diagrams.cancelled_in(walk, found)} {diagrams.ONE_OF_BOTH}",
    )
    return "\n\n".join(parts) + "\n"


def _limits() -> list[tuple[str, str, str]]:
    limits = WorkflowLimits()
    return [
        ("`max_iterations`", str(limits.max_iterations), "attempts at tasks that ended; it may be unlimited"),
        ("`max_same_failure`", str(limits.max_same_failure), "the same failure of one task in a row"),
        ("`max_total_failures`", str(limits.max_total_failures), "attempts that failed, of all tasks together"),
    ]


def workflow_walk() -> Walk[WorkflowParams, WorkflowState]:
    return Walk(
        loop=WORKFLOW,
        phases=(*WorkflowPhase, *Station),
        starts=tuple(map(WORKFLOW.start, _STARTS)),
        shape=_shape,
        within=_within,
        when=lambda _state, when: when,
        verdicts={
            PASSES: replace(PASSED_IT, extras=_SHIP),
            FINDS: BLOCKED_IT,
            "fail without a reason": AgentReport(verdict=Verdict.FAIL, extras=_SHIP),
        },
    )


def _within(state: WorkflowState) -> bool:
    return max(len(state.tasks), state.rounds, state.course.asked) <= _MOST


def _shape(state: WorkflowState) -> tuple[object, ...]:
    course, look = state.course, state.look
    tried = tuple((trial.respawned, trial.repaired, trial.held, trial.until is None) for trial in course.trials)
    light = tuple(sorted(len(each.open) for each in state.looks))
    said_no = look is not None and any(each.verdict is not Verdict.PASS for each in look.said)
    return (
        (where(state), state.phase, state.stopped, state.plan.cast),
        tuple((task.standing, task.as_it_is, task.over, task.tried == task.start, task.is_red) for task in state.tasks),
        (bool(state.merged), state.passed, len(state.train), light, len(look.open) if look else 0, said_no),
        (min(state.iterations, _MOST), state.rounds, len(state.resolving.left) if state.resolving else 0),
        (course.accepted, course.cancel is None, max(tried)),
    )
