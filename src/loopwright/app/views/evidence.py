"""How much the checks show of a change, as every answer in JSON has it."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.app.loops import View
from loopwright.kernel.evidence import AlteredTest, Evidence, Level, Witness, describe, describe_decisions
from loopwright.kernel.quoting import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Calls of touched functions that were repeated outside of tests."""

    tried: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEvidence:
    level: Level
    witnesses: tuple[Witness, ...]
    altered_tests: tuple[AlteredTest, ...]
    uncompared: tuple[str, ...] = ()  # changed files of tests, where no check names the tests that it runs
    decisions: tuple[str, ...] = ()  # of people, that the result rests on: one sentence each
    parts: tuple[str, ...] = ()  # of a whole: those that no test shows and that are no better than its level
    no_test: tuple[str, ...] = ()  # why no test can show it, as its makers say
    outside: Outside = Outside()
    observed: bool = False  # whether the files that the base's run reads are known
    sandbox: str | None = None


def evidence_of(view: View) -> Evidence | None:
    """Return what is known of the result, else of the newest candidate; a loop without checks has no course."""
    if view.outcome is not None and view.outcome.evidence is not None:
        return view.outcome.evidence
    course = getattr(view.now.state, "course", None)
    return course.shown if course else None


def describe_shown(shown: ShownEvidence) -> tuple[str, ...]:
    """Say in a line how much is shown, and in another whose word it rests on."""
    level = describe(Evidence(level=shown.level, witnesses=shown.witnesses, parts=shown.parts))
    return tuple(one_line(each, 1_000) for each in (level, *describe_decisions(shown.decisions)))


def show_evidence(evidence: Evidence | None) -> ShownEvidence | None:
    if evidence is None:
        return None
    return ShownEvidence(
        level=evidence.level,
        witnesses=evidence.witnesses,
        altered_tests=evidence.altered_tests,
        uncompared=evidence.uncompared,
        decisions=evidence.decisions,
        parts=evidence.parts,
        no_test=evidence.no_test,
    )
