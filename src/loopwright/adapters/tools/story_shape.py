"""What a story consists of, tier by tier: fields, allowed values, and how the parts of a story are reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from loopwright.adapters.yaml_nodes import Located

TIERS = ("trivial", "small", "medium", "large")
ADDED_BY = MappingProxyType(
    {
        "trivial": ("id", "title", "description", "tier", "metadata"),
        "small": ("files", "acceptance_criteria"),
        "medium": (
            *("scope", "interfaces", "io_examples", "error_handling", "test_specs", "invariants"),
            *("logging_rules", "observability_rules"),
        ),
        "large": ("failure_modes", "edge_cases", "determinism", "feature_flags", "concurrency", "resource_safety"),
    }
)
LISTS = (
    *("files", "acceptance_criteria", "io_examples", "error_handling", "invariants", "logging_rules"),
    *("failure_modes", "edge_cases", "feature_flags"),
)
TABLES = (
    "metadata",
    "interfaces",
    "test_specs",
    "observability_rules",
    "determinism",
    "concurrency",
    "resource_safety",
)
MAY_BE_EMPTY = ("error_handling", "invariants", "logging_rules", "observability_rules", "interfaces")
SCOPES = (
    *("bug_fix", "feature", "refactor", "config", "docs", "test"),
    *("performance", "security", "integration", "migration", "scaffold"),
)
EDGE_CASES = (
    *("invalid_input", "dependency_failure", "duplicate", "concurrency", "limits"),
    *("time", "config", "startup_shutdown", "capacity", "upgrade"),
)
METADATA = MappingProxyType(
    {"priority": ("critical", "high", "medium", "low"), "status": ("planned", "in_progress", "done")}
)
POINTS = (1, 2, 3, 5, 8, 10)
MOST_POINTS, MOST_FILES, FEWEST_EDGE_CASES, LONGEST_TITLE = 10, 3, 5, 100
_LARGEST_MEDIUM = 10  # files, of a story whose tier is to be guessed

Data = dict[str, object]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A story as it was read. `place` knows lines, `lines` is the text."""

    file: str
    data: Data
    place: Located
    lines: tuple[str, ...]

    @property
    def tier(self) -> str:
        """What the story says, else what its content amounts to."""
        said = self.data.get("tier")
        return said if isinstance(said, str) and said in TIERS else self._guessed()

    def at_least(self, tier: str) -> bool:
        return TIERS.index(self.tier) >= TIERS.index(tier)

    def line(self, *path: str | int) -> int:
        return self.place.line(*path)

    def entries(self, name: str) -> tuple[tuple[int, Data], ...]:
        """The mappings in a list, each with its place there."""
        value = self.data.get(name)
        held = value if isinstance(value, list) else []
        return tuple((index, each) for index, each in enumerate(held) if isinstance(each, dict))

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.data.get(name)
        return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()

    def tests(self) -> tuple[tuple[Path, Data], ...]:
        """Every test of `test_specs`, of whatever kind."""
        specs = self.data.get("test_specs")
        kinds = specs.items() if isinstance(specs, dict) else ()
        return tuple(
            (("test_specs", kind, index), test)
            for kind, tests in kinds
            if isinstance(tests, list)
            for index, test in enumerate(tests)
            if isinstance(test, dict)
        )

    def test_references(self) -> Iterator[tuple[Path, str]]:
        """Every value of a key `test`, wherever in the story, but for the specifications themselves."""
        for name, value in self.data.items():
            if name != "test_specs":
                yield from _references(value, (name,))

    def _guessed(self) -> str:
        files, public = len(self.texts("files")), bool(self._interfaces())
        if not self.entries("acceptance_criteria"):
            return "trivial"
        if files <= MOST_FILES and not public:
            return "small"
        return "medium" if files <= _LARGEST_MEDIUM or public else "large"

    def _interfaces(self) -> object:
        interfaces = self.data.get("interfaces")
        return interfaces.get("implements") if isinstance(interfaces, dict) else None


def _references(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _references(each, (*path, index))
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "test":
                yield from _named(each, (*path, key))
            else:
                yield from _references(each, (*path, key))


def _named(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        yield from (((*path, index), each) for index, each in enumerate(value) if isinstance(each, str))
