"""The files of a review in the person's tree: findings beside a blocked artifact, and the story's handoff."""

from __future__ import annotations

import json
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.handoffs import handoff_path, update_handoff
from loopwright.errors import ConfigError
from loopwright.kernel.ledger import Entry, Standing
from loopwright.kernel.model import Ending, Finding, Verdict
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.quality import handoff, quality_file
from loopwright.loops.quality.handoff import Persisted
from loopwright.loops.quality.state import Phase, Quality, open_findings

_OVER = (Phase.LAND, Phase.CLEAN_UP, Phase.DONE)


def publish(root: Path, state: Quality) -> tuple[Path, ...]:
    """Bring both files to what the state says. Raises `OSError`, and `ConfigError` for a handoff that is not one."""
    written = _beside_artifact(root, state)
    path = handoff_path(root, state.plan.story)
    if is_settled(state):
        _persist(root, state)
        written += (path,)
    elif state.plan.adopted and not path.exists():
        update_handoff(root, state.plan.story, state.plan.tier, lambda data: data, begin=_adopted(state))
        written += (path,)
    return written


def is_settled(state: Quality) -> bool:
    """Whether findings are to be on file: it passed, a person was asked and it did not go on, or one accepted it."""
    if not state.rounds:
        return False
    passed = state.rounds[-1].verdict is Verdict.PASS and state.phase in (Phase.LAND, Phase.DONE)
    accepted = state.outcome is not None and state.outcome.ending is Ending.ACCEPTED
    return passed or accepted or bool(state.reasons)


def persisted(state: Quality) -> tuple[Persisted, ...]:
    """Every finding of this gate as it stands, those put off included.

    What a person accepted is the best candidate and not always the last: then that one's findings are what is left.
    """
    outcome = state.outcome
    taken = outcome.findings if outcome is not None and outcome.ending is Ending.ACCEPTED else None
    own = tuple(entry for entry in state.ledger if entry.source == state.plan.gate)
    held = tuple(_as_accepted(entry, taken) if taken is not None else _as_it_stands(entry) for entry in own)
    marks = {each.finding.fingerprint for each in held}
    later = (each.finding for each in state.deferred if each.finding.fingerprint not in marks)
    return held + tuple(Persisted(finding=finding, deferred=True) for finding in later)


def _as_it_stands(entry: Entry) -> Persisted:
    return Persisted(finding=entry.finding, resolved=entry.standing is Standing.RESOLVED)


def _as_accepted(entry: Entry, taken: tuple[Finding, ...]) -> Persisted:
    left = next((finding for finding in taken if finding.fingerprint == entry.finding.fingerprint), None)
    return Persisted(finding=left or entry.finding, resolved=left is None, accepted=left is not None)


def _persist(root: Path, state: Quality) -> None:
    plan = state.plan
    passed = state.rounds[-1].verdict is Verdict.PASS
    update_handoff(
        root,
        plan.story,
        plan.tier,
        lambda data: handoff.with_review(
            data,
            gate=plan.gate,
            findings=persisted(state),
            passed=passed,
            p1_threshold=plan.limits.p1_threshold,
        ),
        begin=_adopted(state),
    )


def _adopted(state: Quality) -> handoff.Data | None:
    """What the story was taken over with. Our file may be lost, and then is made from the log anew."""
    if not state.plan.adopted:
        return None
    data: handoff.Data = json.loads(state.plan.adopted)
    return data


def _beside_artifact(root: Path, state: Quality) -> tuple[Path, ...]:
    """There while the artifact is blocked, and gone when that is over."""
    plan = state.plan
    if not plan.file or not state.rounds:
        return ()
    path = root / plan.file
    if not path.parent.resolve().is_relative_to(root.resolve()) or path.is_symlink():
        raise ConfigError(plan.file, "", "lies behind a link; the findings are not written there")
    if state.phase in _OVER or state.rounds[-1].verdict is Verdict.PASS:
        path.unlink(missing_ok=True)
        return ()
    text = write_yaml(
        quality_file.build(
            story=plan.story, gate=plan.gate, round=state.rounds[-1].number, findings=open_findings(state)
        )
    )
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    return (path,)
