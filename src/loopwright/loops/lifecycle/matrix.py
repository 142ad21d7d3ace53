"""Which checks have to pass before a state is left: the union of both tables of the verification matrix."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.loops.lifecycle.states import Stage

BUILD, TESTS, LINT, TYPES, COMPLEXITY = "build", "tests", "lint", "types", "complexity"
SECURITY, PERFORMANCE, INTEGRATION = "security", "performance", "integration"
REVIEW = "review"  # no check: the verdict of the reviews

# By the names that checks are configured under; whatever has another name looks at the code as a linter does.
_SORTS: Mapping[str, str] = {
    "build": BUILD,
    "test": TESTS,
    "coverage": TESTS,
    "lint": LINT,
    "typecheck": TYPES,
    "complexity": COMPLEXITY,
    "security": SECURITY,
    "perf": PERFORMANCE,
    "integration": INTEGRATION,
}
_EVERYTHING = (BUILD, TESTS, LINT, TYPES, COMPLEXITY)
# What may be left only with these: the seed's words for them, where they are configured.
MATRIX: Mapping[Stage, tuple[str, ...]] = {
    Stage.INIT: (),
    Stage.SCAFFOLD: (BUILD,),
    Stage.IMPLEMENT: (BUILD,),
    Stage.TEST: (BUILD, TESTS),
    Stage.VERIFY: (*_EVERYTHING, INTEGRATION),
    Stage.VALIDATE: (BUILD, TESTS, SECURITY, PERFORMANCE, INTEGRATION),
    Stage.DOCUMENT: (BUILD, TESTS, INTEGRATION),
    Stage.REVIEW: (*_EVERYTHING, SECURITY, PERFORMANCE, INTEGRATION, REVIEW),
    Stage.SHIP: (),
    Stage.COMPLETE: (),
}


def sort_of_check(name: str) -> str:
    return _SORTS.get(name, LINT)


def checks_for(stage: Stage, configured: tuple[str, ...]) -> tuple[str, ...]:
    """The configured checks that have to pass before the stage is left."""
    wanted = MATRIX[stage]
    return tuple(name for name in configured if sort_of_check(name) in wanted)
