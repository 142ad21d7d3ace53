"""How much of what a workflow was to reach was measured: by commands that failed before the work, or by the checks."""

from __future__ import annotations

from loopwright.loops.workflow.evidence import is_only_the_merge
from loopwright.loops.workflow.shape import CODE_REVIEW, EXECUTION, criterion_name
from loopwright.loops.workflow.state import WorkflowState


def verified_by(state: WorkflowState) -> str:
    """Return the weakest type of verification that a criterion rests on. What nothing measured only reviewers saw."""
    criteria = state.shape.criteria if state.shape else ()
    for index, each in enumerate(criteria, start=1):
        is_shown = criterion_name(index) in state.shown if each.command else each.is_measured
        if not is_shown and not is_only_the_merge(each.text):
            return CODE_REVIEW
    return EXECUTION
