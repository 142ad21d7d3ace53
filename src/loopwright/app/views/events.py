"""Every event in a sentence. `loop log`, the live view and pages use the same words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import assert_never

from loopwright.app.views.sightings import sighting_in_words
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answer,
    Answered,
    ArtifactsLoaded,
    Bookkeeping,
    BudgetChanged,
    Cancelled,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    ConfigChanged,
    Created,
    Ended,
    GateDecided,
    Integrated,
    IntegrationRefused,
    Interrupted,
    LoopEnded,
    Paused,
    Refused,
    ReportedLate,
    Said,
    SessionMarked,
    SkillSkipped,
    Started,
    StateEdited,
    TimeReached,
)
from loopwright.kernel.evidence import describe, describe_weakened
from loopwright.kernel.model import (
    NOT_RUN,
    NOTHING_YET,
    AgentStatus,
    CheckResult,
    Ending,
    Key,
    Outcome,
    Severity,
    demand_rule,
)
from loopwright.kernel.quoting import one_line
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.kernel.trust import Claim
from loopwright.kernel.wording import ALL_TESTS_PASSING, counted, dollars, guided, moment, told, told_with_cause
from loopwright.loops.engine_steps import PREFLIGHT
from loopwright.loops.examination import EXAMINATION
from loopwright.loops.kind import Words

_PLAIN = Words(counter="attempt")
_SHORT = 12  # characters of a commit
_NAMED_DEMANDS = 3  # commands besides the checks that are told one by one
_MISSING = re.compile(r"\b(?:ModuleNotFoundError|ImportError): [^\n]+|\bCannot find (?:module|package) [^\n]+")
_BEGUN = {
    "RunAgent": "{what} starts",
    "RunChecks": "checks start",
    "RunLoop": "loop of {what} goes on",
    "Ask": "a person is asked: {what}",
    "AwaitGate": "gate {what} is open",
    "Checkpoint": "a commit is made of it",
    "LoadArtifacts": "loading {what}",
    "Combine": "bringing the changes together",
    "Integrate": "landing",
    "CleanUp": "cleaning up",
    "WaitUntil": "waiting",
    "Tell": "telling {what}",
    "ExamineFiles": "looking at what was left",
    "ExamineChange": "looking for what calls for a gate",
    "OpenPullRequest": "opening the pull request",
    "ReadPullRequest": "looking at the pull request",
    "MergePullRequest": "merging the pull request",
    "RunOnce": "running {what}",
    "Stop": "ending",
}


def answer_in_words(event: Answer, words: Words) -> str:
    """`words` are those of the loop: each has its own for a verdict and for an attempt."""
    match event:
        case AgentReported() | AgentFailed() | AgentUnavailable():
            return f"{role_of(event.key, words)}: {_agent(event, words)}"
        case ChecksReported() if event.key.part == EXAMINATION:
            return f"acceptance tests: {_examined(event)}"
        case ChecksReported() if event.also and not event.results:
            return f"before the work: {'; '.join(map(_before_work, event.also))}"
        case ChecksReported():
            return f"checks {_on_base(event)}" if event.key.step == PREFLIGHT else f"checks: {_checks(event)}"
        case LoopEnded():
            return _child(event.outcome)
        case Announced():
            return "on record"
        case TimeReached():
            return "the wait is over"
        case Checkpointed() | ArtifactsLoaded() | Combined() | Integrated() | IntegrationRefused() | CleanedUp():
            return _files(event)
        case Heard() | FilesExamined() | ChangeExamined() | PullRequestSeen() | RanOnce():
            return sighting_in_words(event)
        case _:
            assert_never(event)


def said_in_words(event: Said) -> str:
    by = f" by {one_line(event.by, 60)}" if event.by else ""
    match event:
        case Answered():
            amount = f" {event.count}" if event.count else ""
            merge = " and merge" if event.merge else ""
            allow = f", may change {one_line(', '.join(event.allow), 200)}" if event.allow else ""
            return f"answered{by}: {one_line(event.choice, 60)}{amount}{merge}{allow}" + _because(event.text)
        case GateDecided():
            word = "approved" if event.approved else "rejected"
            return f"gate {one_line(event.gate, 60)} {word}{by}" + _because(event.reason)
        case CancelRequested():
            return f"cancel asked for{by} ({event.cleanup.value})"
        case BudgetChanged():
            return f"budget set{by}: {'none' if event.usd is None else dollars(event.usd)}"
        case ConfigChanged():
            return f"configuration taken in{by}: {one_line(event.digest, 80)}"
        case StateEdited():
            return f"a file says{by}: {one_line(event.subject, 60)} is {one_line(event.value, 60)}"
        case SkillSkipped():
            return f"skill {one_line(event.skill, 60)} skipped{by}" + _because(event.reason)
        case SessionMarked():
            kept = f"; what was under way is kept as {event.commit[:12]}" if event.commit else ""
            return f"session {event.mark}{by}" + _because(event.why) + kept
        case _:
            assert_never(event)


def work_in_words(event: Bookkeeping, words: Words) -> str:
    """What the engine notes for itself; a verdict is told as the very line that was announced."""
    match event:
        case Created():
            return f"{one_line(event.kind, 60)} loop created" + (f" by {one_line(event.by, 60)}" if event.by else "")
        case Started(action="Announce"):
            return one_line(event.what, 500) + (f" ({one_line(event.why, 500)})" if event.why else "")
        case Started():
            begun = begun_in_words(event.action, event.what)
            return begun + ("" if event.why and event.why in event.what else _because(event.why))
        case Cancelled():
            return "stopped: no longer wanted"
        case Interrupted():
            return "interrupted with its controller; it is done again as the same try" + _because(event.detail)
        case ReportedLate():
            return f"came too late, kept with its cost: {one_line(event.kind, 60)}"
        case Paused():
            return f"paused: {event.reason}" + _because(event.detail)
        case Refused():
            return f"refused {one_line(event.what, 60)}" + _because(event.why)
        case Ended():
            return f"loop {_outcome(event.outcome, words)}"
        case _:
            assert_never(event)


def begun_in_words(action: str, what: str) -> str:
    """What is done when an action of this name is begun; `what` is the one it is about, if any."""
    about = one_line(what, 300)
    if action not in _BEGUN:
        return one_line(f"{action} {about}", 360)
    return _BEGUN[action].format(what=about).rstrip(": ")


def role_of(key: Key, words: Words) -> str:
    """Who does the step with this key; for a step of another loop, the step's own name."""
    return words.roles.get(key.step, one_line(key.step, 60))


def _because(text: str) -> str:
    return f": {one_line(text, 200)}" if text.strip() else ""


def _agent(event: AgentReported | AgentFailed | AgentUnavailable, words: Words) -> str:
    match event:
        case AgentUnavailable():
            return f"not available before {moment(event.until)}" + _because(event.detail)
        case AgentFailed():
            return f"no result ({event.reason})" + _because(event.detail)
        case AgentReported():
            return _reported(event, words)
        case _:
            assert_never(event)


def _reported(event: AgentReported, words: Words) -> str:
    report, reviews = event.report, role_of(event.key, words) == "reviewer"
    if report.verdict is None and not reviews:
        status = "" if report.status is AgentStatus.DONE else f"{report.status.value}: "
        return status + (one_line(report.summary, 200) or "done")
    token = words.token(report) if reviews else ""
    named = f" ({token})" if token else ""
    found = counted(len(report.findings), "finding")
    return f"{report.verdict.value if report.verdict else 'no verdict'}, {found}{named}"


FAIL = "FAIL"


def word_for(event: ChecksReported) -> str:
    """How the checks came out, in a word or two."""
    runs = (*event.results, *event.landing, *event.also)
    blocking = any(finding.severity.rank <= Severity.HIGH.rank for finding in event.findings)
    if not event.results or blocking or not all(result.passed for result in runs):
        return FAIL
    nothing = all(result.was_empty or not result.ran for result in runs)
    return "nothing was tested" if nothing else ALL_TESTS_PASSING


def _checks(event: ChecksReported) -> str:
    parts = [_check(result) for result in event.results]
    parts += [f"as it would land: {_check(result)}" for result in event.landing]
    parts += _demands(event.also)
    parts += [f"{counted(len(event.findings), 'finding')} about the change itself"] if event.findings else []
    return f"{word_for(event)} ({'; '.join(parts) or 'no check gave a result'}){_besides(event)}"


def _demands(results: tuple[CheckResult, ...]) -> list[str]:
    """Many that passed are told by their number; one that did not, by its name."""
    failed = [result for result in results if not result.passed]
    named = list(results) if len(results) <= _NAMED_DEMANDS else failed
    others = len(results) - len(named)
    number = [f"{counted(others, 'command')} passed"] if others else []
    return number + [_check(replace(result, name=demand_rule(result.name))) for result in named]


def _examined(event: ChecksReported) -> str:
    if not event.findings:
        return f"{counted(len(event.hidden), 'test')} red on the base, as it has to be"
    others = f" and {counted(len(event.findings) - 1, 'other')}" if event.findings[1:] else ""
    return f"cannot be used: {one_line(event.findings[0].issue, 300)}{others}"


def _before_work(result: CheckResult) -> str:
    """What the command of a task says where the task starts, and what that shows."""
    rule = demand_rule(result.name)
    if result.unable:
        return f"{rule} cannot start: it shows nothing"
    if not result.passed:
        return f"{rule} fails"
    done = ", and failed where the whole work started: an earlier task has done it"
    return f"{rule} passes" + (done if result.red_before else ": it shows nothing afterwards")


def _on_base(event: ChecksReported) -> str:
    if event.unable:
        return "cannot run: " + one_line("; ".join(event.unable), 300)
    red = "" if all(result.passed for result in event.results) else "RED: "
    return f"on the base, before anybody worked: {red}" + "; ".join(map(_check_on_base, event.results))


def _check_on_base(result: CheckResult) -> str:
    """Red on the base is red for whoever works, so it says why: what cannot be imported above all, then the first."""
    texts = [text for each in result.failures for text in (each.issue, each.evidence)]
    missing = [found[0] for text in texts if (found := _MISSING.search(text))]
    # Of a check alone all that is known is the exit code.
    tests = [told_with_cause(each) for each in result.failures if each.category != "checks"]
    why = [*[*missing, *tests][:1], result.note, guided(result.failures)]
    said = "; ".join(one_line(each, 400) for each in why if each)
    return _check(result) if result.passed or not said else f"{_check(result)}: {said}"


def _asks(claim: Claim) -> str:
    if claim.at_once:
        return "; it cannot be verified without what only a person can approve"
    if not claim.changes:
        return "; tests of the base are gone, which only a person can allow"
    return "; what is held back was not tried" if claim.untried else "; with what is held back all would pass"


def _besides(event: ChecksReported) -> str:
    """What the verdict does without, what only a person can allow, and whether the checks look at the change."""
    files = {each.file for each in event.weakened}
    others = tuple(change.place for change in event.held if change.path not in files)
    held = f"; {one_line(describe_weakened(event.weakened), 500)}" if event.weakened else ""
    held += f"; held back: {_named(others)}" if others else ""
    asks = _asks(event.claim) if event.claim is not None else ""
    canary = f"; {one_line(event.canary.sentence, 300)}" if event.canary is not None else ""
    shown = f"; {one_line(describe(event.evidence), 500)}" if event.evidence is not None else ""
    return f"{held}{asks}{canary}{shown}"


def _check(result: CheckResult) -> str:
    if not result.ran:
        return f"{one_line(result.name, 60)} {NOT_RUN}"
    if result.was_empty:
        return f"{one_line(result.name, 60)}: {NOTHING_YET}" + (", from its receipt" if result.reused else "")
    word = "passed" if result.passed else f"failed, {counted(len(result.failures), 'failure')}"
    tests = "" if result.tests is None else f", {counted(result.tests, 'test')}"
    flaky = f", {len(result.flaky)} flaky" if result.flaky else ""
    reused = ", from its receipt" if result.reused else ""
    return f"{one_line(result.name, 60)} {word}{tests}{flaky}{reused}"


def _files(
    event: Checkpointed | ArtifactsLoaded | Combined | Integrated | IntegrationRefused | CleanedUp,
) -> str:
    match event:
        case Checkpointed():
            return _checkpoint(event)
        case ArtifactsLoaded():
            return _loaded(event)
        case Combined():
            left = f", {counted(len(event.left_out), 'conflicting change')} left out" if event.left_out else ""
            return f"combined as {one_line(event.commit[:_SHORT])}, {counted(event.files, 'file')} changed{left}"
        case Integrated():
            return _integrated(event)
        case IntegrationRefused():
            return f"could not be landed: {event.reason}" + _because(event.detail)
        case CleanedUp():
            stay = f"; could not be removed: {', '.join(map(one_line, event.stay))}" if event.stay else ""
            return f"cleaned up; every commit is kept{stay}"
        case _:
            assert_never(event)


def _checkpoint(event: Checkpointed) -> str:
    protected = f", {counted(len(event.protected), 'protected file')} changed or removed" if event.protected else ""
    dropped = f", not taken: {_named(event.dropped)}" if event.dropped else ""
    back = f", put back, for its manifest did not change: {_named(event.put_back)}" if event.put_back else ""
    return (
        f"kept as {one_line(event.commit[:_SHORT])}, {counted(event.files, 'file')} changed{protected}{dropped}{back}"
    )


def _loaded(event: ArtifactsLoaded) -> str:
    there = tuple(content.path for content in event.contents if content.object)
    gone = tuple(content.path for content in event.contents if not content.object)
    parts = ((f"loaded {_named(there)}",) if there else ()) + ((f"not there: {_named(gone)}",) if gone else ())
    return "; ".join(parts)


def _named(paths: tuple[str, ...]) -> str:
    return one_line(", ".join(paths), 200)


def _integrated(event: Integrated) -> str:
    landed = event.landed or event.commit
    apart = f" at {one_line(event.commit[:_SHORT])}" if event.commit != landed else ""
    merged = f" and merged into {one_line(event.merged_into, 120)}{apart}" if event.merged_into else ""
    where = f"{one_line(event.branch, 120)} at {one_line(landed[:_SHORT])}"
    return f"landed on {where}{merged}" + _because(event.note)


def _child(outcome: Outcome) -> str:
    """What the child had to say in one line; a child that said nothing is told by its ending."""
    if not outcome.note.strip():
        return f"child loop {one_line(outcome.loop, 60)} {_outcome(outcome)}"
    if outcome.ending is Ending.ESCALATED and outcome.findings:
        more = f" and {counted(len(outcome.findings) - 1, 'other')}" if len(outcome.findings) > 1 else ""
        return f"stuck: {told(outcome.findings[0], 300)}{more}"
    waits = f", waits at {one_line(str(outcome.at), 60)}" if outcome.ending is Ending.HELD else ""
    return one_line(outcome.note, 300) + waits


def _outcome(outcome: Outcome, words: Words = _PLAIN) -> str:
    promise = f" ({words.promise})" if words.promise and outcome.ending is Ending.VERIFIED else ""
    left = f", {counted(len(outcome.findings), 'finding')} left" if outcome.findings else ""
    return f"{outcome.ending.value}{promise} after {counted(outcome.attempts, words.counter)}{left}"
