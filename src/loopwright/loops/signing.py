"""What the commit of a landing says besides what was asked for."""

from __future__ import annotations

from loopwright.kernel.actions import Integrate
from loopwright.kernel.changing import replace
from loopwright.kernel.evidence import describe, describe_decisions, describe_tests
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Course, with_decisions

_NAMED = 10  # tests in a message


def sign(landing: Integrate, course: Course, trust: Trust) -> Integrate:
    """Let the commit say what shows it, whose word it rests on, and which tests nobody but agents has seen."""
    shown = with_decisions(course.evidence, course.decisions)
    notes = (
        f"Tests written by agents: {_some(course.written)}" if course.written and not course.accepted else "",
        f"It rests on {course.tests_of_agents} tests of theirs alone" if course.tests_of_agents else "",
        f"Tests that might be changed without asking: {', '.join(trust.allow)}" if trust.allow else "",
        course.unnoticed,
        _describe_evidence(course) if not course.accepted else "",
        *describe_decisions(shown.decisions if shown else ()),
    )
    return replace(landing, message="\n\n".join((landing.message, *filter(None, notes))))


def _describe_evidence(course: Course) -> str:
    if course.evidence is None:
        return ""
    told = ". ".join((describe(course.evidence), *describe_tests(course.evidence)))
    return f"Evidence: {told}"


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
