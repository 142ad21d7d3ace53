"""What a `handoff.yml` holds: every field with its type and the words it may have."""

from __future__ import annotations

from functools import partial

from loopwright.kernel.shapes import Problem, choice, flag, keyed, ruled, several, text, whole

PHASES = ("plan", "tests", "code", "quality")
GATES = ("plan", "test", "code", "quality", "design", "story")
TIERS = ("trivial", "small", "medium", "large")
SEVERITIES = ("P0", "P1", "P2", "P3")  # critical, high, medium, low
LETTERS = tuple("ABCDEFGHIJKLMN")  # the dimensions of quality


def _gap(completed: list[str]) -> Problem | None:
    for index, phase in enumerate(completed):
        if phase not in PHASES[index : index + 1]:
            order = f"has to follow the order {', '.join(PHASES)} without a gap"
            return Problem(f"{order}; a skipped phase is listed here and in skipped_phases", (index,))
    return None


_keys = partial(keyed, "a table of keys")  # those that are not named are other tools' own, and kept
_TEXT, _FLAG, _COUNT = text(), flag(), whole(0)
_TEXTS = several(_TEXT)
_PHASES = several(choice(*PHASES))
_IN_ORDER = ruled(_PHASES, _gap, {"prefixItems": [{"const": phase} for phase in PHASES], "items": False})
_PATTERN_SOURCE = choice("decision", "analysis", "principle", "design-doc")
_PLAN = _keys(
    components=several(_keys(name=_TEXT, file=_TEXT, responsibility=_TEXT)),
    test_plan=_keys(
        test_count=_COUNT,
        test_types=several(choice("unit", "integration", "contract")),
        mocks_needed=_TEXTS,
        edge_cases=_TEXTS,
    ),
    implementation_order=_TEXTS,
    patterns_applied=several(_keys(pattern=_TEXT, location=_TEXT, guidance=_TEXT, source=_PATTERN_SOURCE)),
    scope_risks=several(_keys(risk=_TEXT, likelihood=choice("low", "medium", "high"), prevention=_TEXT)),
)
_CODE = _keys(
    all_tests_green=_FLAG,
    coverage=whole(0, 100),
    files_modified=_TEXTS,
    deviations=several(_keys(change=_TEXT, justification=_TEXT)),
)
_FINDING = _keys(
    "severity",
    "gate",
    "issue",
    severity=choice(*SEVERITIES),
    dimension=choice("", *LETTERS),
    gate=choice(*GATES),
    issue=_TEXT,
    file=_TEXT,
    line=_COUNT,
    resolved=_FLAG,
    **dict.fromkeys(("check_id", "evidence", "guidance", "category", "id", "resolved_in"), _TEXT),
    deferred=_FLAG,
    accepted=_FLAG,
)
HANDOFF = _keys(
    "story_id",
    "current_phase",
    "completed_phases",
    story_id=text(least=1),
    tier=choice(*TIERS),
    current_phase=choice("pending", *PHASES, "complete", "failed"),
    completed_phases=_IN_ORDER,
    skipped_phases=_PHASES,
    plan_summary=_PLAN,
    test_summary=_keys(all_tests_red=_FLAG, test_count=_COUNT, test_files=_TEXTS),
    code_summary=_CODE,
    important_decisions=several(
        _keys(category=_TEXT, title=_TEXT, summary=_TEXT, guidance=several(_TEXT, "a list of 1 to 5", least=1, most=5))
    ),
    quality_findings=several(_FINDING),
    memory_captured=_FLAG,
)
