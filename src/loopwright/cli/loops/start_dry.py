"""What `loop start --dry-run` says: scores with their reasons, shape, plan, waves, cost, and what would be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.app.preconditions import check_cast, check_ground
from loopwright.app.settings import settings_of
from loopwright.app.starts.workflow.creation import WorkflowRequest
from loopwright.app.starts.workflow.foretold import WorkflowForetold, foretold
from loopwright.app.starts.workflow.inner import roles_needed
from loopwright.app.starts.workflow.recall import as_recalled, surfaced
from loopwright.cli.drive import run_json_option
from loopwright.cli.here import Here
from loopwright.cli.opened import note_unseen, only_looked_at
from loopwright.cli.output import limit_shown, put, put_json
from loopwright.kernel.wording import dollars
from loopwright.loops.workflow.closing import WorkflowResult

start_json_option = run_json_option(WorkflowResult, WorkflowForetold)


def foretell(here: Here, request: WorkflowRequest, *, as_json: bool) -> int:
    with only_looked_at(here) as project:
        settings = settings_of(project)
        learned = tuple(as_recalled(each, confirmed=False) for each in surfaced(project, request.request))
        told = foretold(project, settings, replace(request, recalled=learned))
        note_unseen(project)
        if as_json:
            put_json(told)
        else:
            put(f"Would start a workflow: {request.request.strip().splitlines()[0]}")
            for line in _lines(told):
                put(f"  {line}")
            put("Nothing was created.")
        # What would keep it from starting is said with all the rest before it: scores and plan need nobody.
        check_ground(project, settings, merge=told.merge, allow=request.allow)
        check_cast(project, settings, roles_needed(settings))
    return 0


def _lines(told: WorkflowForetold) -> Iterator[str]:
    for each in told.scores:
        yield f"{each.name:<12} {each.score}/2  {each.why}"
    yield f"spec         {told.spec_score}/10, fit {told.fit_score}: {told.shape}"
    for question in told.questions:
        yield f"asks first   {question.question}"
    yield from (f"done when    {text}" for text in told.criteria)
    yield from (f"must not     {text}" for text in told.must_not)
    for number, wave in enumerate(told.waves, start=1):
        yield f"wave {number:<8}{', '.join(wave)}"
    yield from (f"{task.id:<13}{task.subject}" for task in told.tasks)
    yield from (f"asks         {text}" for text in told.asks)
    yield from (f"learned      {text}" for text in told.recalled)
    named = ", ".join(told.roles)
    yield f"roles        {named or 'none'}: {'asked instead of these rules' if named else 'the rules above stand in'}"
    iterations = "unlimited" if told.iterations is None else told.iterations
    yield f"limits       {iterations} iterations, budget {limit_shown(told.budget)}"
    yield f"cost         {dollars(told.estimated_usd, estimated=True)}, if every task passes at once"
