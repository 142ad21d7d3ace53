"""What a `handoff.yml` and an `X.quality.yml` hold: every field with its type and the words it may have."""

from __future__ import annotations

from loopwright.kernel.plain_shapes import Flag, Many, Record, Text, Whole, Word

PHASES = ("plan", "tests", "code", "quality")
GATES = ("plan", "test", "code", "quality", "design", "story")
TIERS = ("trivial", "small", "medium", "large")
SEVERITIES = ("P0", "P1", "P2", "P3")  # critical, high, medium, low
LETTERS = tuple("ABCDEFGHIJKLMN")  # the dimensions of quality

_TEXTS = Many(of=Text())
_PLAN = Record(
    fields=(
        ("components", Many(of=Record(fields=(("name", Text()), ("file", Text()), ("responsibility", Text()))))),
        (
            "test_plan",
            Record(
                fields=(
                    ("test_count", Whole()),
                    ("test_types", Many(of=Word(("unit", "integration", "contract")))),
                    ("mocks_needed", _TEXTS),
                    ("edge_cases", _TEXTS),
                )
            ),
        ),
        ("implementation_order", _TEXTS),
        (
            "patterns_applied",
            Many(
                of=Record(
                    fields=(
                        ("pattern", Text()),
                        ("location", Text()),
                        ("guidance", Text()),
                        ("source", Word(("decision", "analysis", "principle", "design-doc"))),
                    )
                )
            ),
        ),
        (
            "scope_risks",
            Many(
                of=Record(
                    fields=(("risk", Text()), ("likelihood", Word(("low", "medium", "high"))), ("prevention", Text()))
                )
            ),
        ),
    )
)
_TESTS = Record(fields=(("all_tests_red", Flag()), ("test_count", Whole()), ("test_files", _TEXTS)))
_CODE = Record(
    fields=(
        ("all_tests_green", Flag()),
        ("coverage", Whole(most=100)),
        ("files_modified", _TEXTS),
        ("deviations", Many(of=Record(fields=(("change", Text()), ("justification", Text()))))),
    )
)
_DECISION = Record(
    fields=(
        ("category", Text()),
        ("title", Text()),
        ("summary", Text()),
        ("guidance", Many(of=Text(), least=1, most=5)),
    )
)
_FINDING = Record(
    fields=(
        ("severity", Word(SEVERITIES)),
        ("dimension", Word(("", *LETTERS))),
        ("gate", Word(GATES)),
        ("issue", Text()),
        ("file", Text()),
        ("line", Whole()),
        ("resolved", Flag()),
        ("check_id", Text()),
        ("evidence", Text()),
        ("guidance", Text()),
        ("category", Text()),
        ("id", Text()),
        ("deferred", Flag()),
        ("accepted", Flag()),
    ),
    required=("severity", "gate", "issue"),
)
HANDOFF = Record(
    fields=(
        ("story_id", Text(least=1)),
        ("tier", Word(TIERS)),
        ("current_phase", Word(("pending", *PHASES, "complete", "failed"))),
        ("completed_phases", Many(of=Word(PHASES))),
        ("skipped_phases", Many(of=Word(PHASES))),
        ("plan_summary", _PLAN),
        ("test_summary", _TESTS),
        ("code_summary", _CODE),
        ("important_decisions", Many(of=_DECISION)),
        ("quality_findings", Many(of=_FINDING)),
        ("memory_captured", Flag()),
    ),
    required=("story_id", "current_phase", "completed_phases"),
)
QUALITY_FILE = Record(
    fields=(
        ("story_id", Text(least=1)),
        ("design_name", Text(least=1)),
        ("verdict", Word(("BLOCKED",))),
        ("round", Whole(least=1)),
        (
            "findings",
            Many(
                of=Record(
                    fields=(
                        ("severity", Word(SEVERITIES)),
                        ("check", Text()),
                        ("dimension", Word(("", *LETTERS))),
                        ("issue", Text()),
                        ("guidance", Text()),
                        ("file", Text()),
                        ("line", Whole()),
                        ("evidence", Text()),
                        ("id", Text()),
                    ),
                    required=("severity", "issue"),
                )
            ),
        ),
    ),
    required=("verdict", "round", "findings"),
)
