"""The files of a review: findings while the artifact is blocked, and the story's handoff, which others write too."""

from __future__ import annotations

import json

from loopwright.errors import ConfigError
from loopwright.kernel.assignment import Assignment
from loopwright.kernel.codec import decode
from loopwright.kernel.events import Started
from loopwright.kernel.ledger import Entry, Standing
from loopwright.kernel.model import NO_COMMIT, Commit, Ending, Finding, LoopId, Verdict
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.course import Station
from loopwright.loops.kind import Data, Door, Files, LandedPart, Scene
from loopwright.loops.quality import handoff, quality_file
from loopwright.loops.quality.handoff import Persisted
from loopwright.loops.quality.state import QualityParams, QualityState, ReviewFacts, open_findings, taken, waiting

MARK = quality_file.MARK
_OVER = (Station.LAND, Station.CLEAN_UP, Station.DONE)


def handoff_path(story: str) -> str:
    return f".loop/stories/{story}/handoff.yml"


def tells_more(_loop: LoopId, state: QualityState) -> str:
    return handoff_path(state.plan.story)


def render(scene: Scene[QualityState]) -> Files:
    """Findings for the person: there while the artifact is blocked, and gone when that is over.

    The files say nothing of what is under way, and hundreds of findings take time to write.
    """
    state, plan = scene.state, scene.state.plan
    if not plan.file or not state.rounds or isinstance(scene.event, Started):
        return {}
    if state.course.station in _OVER or state.rounds[-1].verdict is Verdict.PASS:
        return {plan.shown_file: None}
    held = open_findings(state)
    data = quality_file.build(
        story=plan.story, gate=plan.gate, round=state.rounds[-1].number, findings=held, artifact=plan.artifact
    )
    return {plan.shown_file: quality_file.as_page(data)}


def handed(run: Assignment) -> dict[str, str]:
    """The findings, where they are handed over in a file beside the artifact and nowhere else."""
    brief = run.brief
    own: ReviewFacts = brief.own
    if not own.findings_file:
        return {}
    data = quality_file.build(
        story=own.story,
        gate=own.gate,
        round=brief.attempt,
        findings=brief.findings,
        artifact="".join(brief.artifacts[:1]),
    )
    return {own.findings_file: write_yaml(data)}


def doors(scene: Scene[QualityState]) -> tuple[Door, ...]:
    state, plan = scene.state, scene.state.plan
    if isinstance(scene.event, Started) or not (is_settled(state) or plan.adopted):
        return ()
    return (Door(path=handoff_path(plan.story), change=lambda held: _changed(state, held), problems=handoff.problems),)


def _begun(plan: QualityParams, held: Data | None) -> Data:
    """What the story was taken over with is its beginning: our file may be lost, and then is made from the log anew."""
    begin: Data = json.loads(plan.adopted) if plan.adopted else handoff.initial(plan.story, plan.tier)
    data = begin if held is None else held
    if data["story_id"] != plan.story:
        raise ConfigError(handoff_path(plan.story), "story_id", f"has to be {plan.story}, as the folder is called")
    return data


def _changed(state: QualityState, held: Data | None) -> Data:
    plan = state.plan
    data = _begun(plan, held)
    if not is_settled(state):
        return data
    return handoff.with_review(
        data,
        gate=plan.gate,
        findings=persisted(state),
        passed=state.rounds[-1].verdict is Verdict.PASS,
        p1_threshold=plan.limits.p1_threshold,
    )


def doors_of_part(part: LandedPart) -> tuple[Door, ...]:
    """What was found beside the artifact is gone once it is gone where the parent has landed it."""
    plan = decode(QualityParams, part.params)
    return (
        Door(path=handoff_path(plan.story), change=lambda held: _landed(plan, part, held), problems=handoff.problems),
    )


def _landed(plan: QualityParams, part: LandedPart, held: Data | None) -> Data:
    data = _begun(plan, held)
    return handoff.with_landed(data, gate=plan.gate, part=part, p1_threshold=plan.limits.p1_threshold)


def is_settled(state: QualityState) -> bool:
    """Whether findings are to be on file: it passed, a person was asked and it did not go on, or one accepted it."""
    if not state.rounds:
        return False
    course = state.course
    passed = state.rounds[-1].verdict is Verdict.PASS and course.station in (Station.LAND, Station.DONE)
    accepted = course.outcome is not None and course.outcome.ending is Ending.ACCEPTED
    return passed or accepted or bool(course.reasons)


def persisted(state: QualityState) -> tuple[Persisted, ...]:
    """Every finding of this gate as it stands, those put off included.

    What a person accepted is the best candidate and not always the last: then that one's findings are what is left.
    """
    outcome = state.course.outcome
    left = outcome.findings if outcome is not None and outcome.ending is Ending.ACCEPTED else None
    own = tuple(entry for entry in state.ledger if entry.source == state.plan.gate)
    held = tuple(_as_it_stands(state, entry) if left is None else _as_accepted(state, entry, left) for entry in own)
    marks = {each.finding.fingerprint for each in held}
    later = (each.finding for each in state.deferred if each.finding.fingerprint not in marks)
    return held + tuple(Persisted(finding=finding, deferred=True) for finding in later)


def _as_it_stands(state: QualityState, entry: Entry) -> Persisted:
    gone = entry.standing is Standing.RESOLVED and not _waits(state, entry)
    fixed_in = _fixed_in(state, entry) if gone else NO_COMMIT
    resolved = gone and (not fixed_in or _has_passed(state))
    return Persisted(finding=entry.finding, resolved=resolved, resolved_in=fixed_in)


def _as_accepted(state: QualityState, entry: Entry, left: tuple[Finding, ...]) -> Persisted:
    found = next((finding for finding in left if finding.fingerprint == entry.finding.fingerprint), None)
    if found is not None:
        return Persisted(finding=found, accepted=True)
    if _waits(state, entry):
        return Persisted(finding=entry.finding)
    return Persisted(finding=entry.finding, resolved=True, resolved_in=_fixed_in(state, entry))


def _waits(state: QualityState, entry: Entry) -> bool:
    """Whether it is mended only in what did not land. What a part mends beside its artifact, its parent has to land."""
    outcome = state.course.outcome
    mended = outcome.mended if outcome is not None and taken(state).changed else ()
    return entry.finding.fingerprint in {each.fingerprint for each in (*waiting(state), *mended)}


def _fixed_in(state: QualityState, entry: Entry) -> Commit:
    """Where a finding that is gone is gone: whoever does not have that commit still has the finding.

    Nowhere in particular, where it was gone when the review began.
    """
    if not entry.last or not taken(state).changed:
        return NO_COMMIT
    outcome = state.course.outcome
    return outcome.commit if outcome is not None and outcome.commit else taken(state).commit


def _has_passed(state: QualityState) -> bool:
    """What an escalated or a cancelled review has fixed resolves nothing for anybody else."""
    outcome = state.course.outcome
    cancelled = outcome is not None and outcome.ending is Ending.CANCELLED
    return state.rounds[-1].verdict is Verdict.PASS and not cancelled
