"""What becomes of an attempt that a person accepts: it runs the checks like everything that lands."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported, IntegrationRefused
from loopwright.kernel.model import NO_COMMIT, Commit, Finding
from loopwright.loops import course as c
from loopwright.loops.accepting import ShownRed, asked_once_more, tried_as_accepted
from loopwright.loops.feedback.ending import best_commit, taken_or_left
from loopwright.loops.feedback.state import FeedbackPhase, FeedbackState, Iteration, best_to_take, open_findings


def accepted(state: FeedbackState) -> FeedbackState:
    """It has run the checks, or the person saw it fail, or there is nothing in it to check, or a parent checks it."""
    state = replace(state, taken=0, verified=False)
    best = best_to_take(state)
    if best is None or not state.plan.accepts_checked:
        return taken_or_left(state)
    state = replace(state, taken=best.number)
    if not state.plan.lands or not best.tree or _is_seen_red(state, best):
        return taken_or_left(state)
    return _once_more(replace(state, red=None))


def _is_seen_red(state: FeedbackState, taken: Iteration) -> bool:
    """They are shown what is open now, and an earlier attempt may have other faults; an approval makes another tree."""
    red = state.red is not None and state.red.is_of(taken.commit, state.course)
    shown = {finding.fingerprint for finding in open_findings(state)}
    known = {finding.fingerprint for finding in taken.failures} <= shown
    return red or (taken.failed_with == state.course.approvals and known)


def _once_more(state: FeedbackState) -> FeedbackState:
    return c.entered(state, FeedbackPhase.TEST, tries=state.course.trial.tries + 1)


def checked_as_accepted(state: FeedbackState, event: ChecksReported) -> FeedbackState:
    """Red, nothing is taken yet: a person hears what fails, and may still accept it."""
    commit = best_commit(state)
    state, faults = tried_as_accepted(state, event, commit)
    if faults is None:
        return _once_more(state)
    if not faults:
        return c.taking(replace(state, verified=True))
    return asked_once_more(_shown_red(state, faults), event, faults)


def not_taken(state: FeedbackState, event: IntegrationRefused) -> FeedbackState:
    """What fails of it together with what the target has by now, a person hears as well."""
    if state.plan.accepts_checked and event.reason == "checks" and event.findings:
        state = _shown_red(state, event.findings, event.onto)
    return c.not_landed(replace(state, verified=False), event)


def _shown_red(state: FeedbackState, faults: tuple[Finding, ...], onto: Commit = NO_COMMIT) -> FeedbackState:
    red = ShownRed(of=best_commit(state), approvals=state.course.approvals, faults=faults, onto=onto)
    return replace(state, red=red)
