"""The story checks S1 to S10 as far as they need no judgement. Which these are is on docs/guide/tools.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from loopwright.adapters.tools import story_shape as shape
from loopwright.adapters.tools.artifacts import is_test, text_of
from loopwright.adapters.tools.opinions import ToolOpinion
from loopwright.adapters.tools.severities import CHECKLIST
from loopwright.adapters.tools.story_shape import Story
from loopwright.adapters.yaml_text import read_yaml
from loopwright.errors import ConfigError
from loopwright.kernel.findings import cut
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible

_SEVERAL = re.compile(r"\s*(?:,|/|\+|&|;|\||\band\b)\s*")
_ERROR = re.compile(
    r"error|invalid|fail|exception|reject|denied|refus|forbidden|unauthori[sz]ed|not[_ ]found|missing|timeout|conflict"
    r"|\b[45]\d\d\b",
    re.IGNORECASE,
)


def judge_stories(folder: Path, files: tuple[str, ...]) -> ToolOpinion:
    found = tuple(finding for file in files for finding in judge_story(file, text_of(folder, file)))
    return ToolOpinion(tool="story checks", files=files, findings=found)


def judge_story(file: str, text: str) -> tuple[Finding, ...]:
    lines = tuple(text.splitlines())
    try:
        place = read_yaml(text, file)
    except ConfigError as error:
        return (_unreadable(file, lines, error.line or 0, error.expected),)
    data = place.plain()
    if not isinstance(data, dict):
        return (_unreadable(file, lines, 1, "a story is a mapping of fields, this is not"),)
    story = Story(file=file, data=data, place=place, lines=lines)
    return tuple(finding for check in _CHECKS for finding in check(story))


def _unreadable(file: str, lines: tuple[str, ...], line: int, why: str) -> Finding:
    shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return Finding(
        severity=CHECKLIST["yaml"],
        category="story",
        rule="yaml",
        file=file,
        line=line,
        issue=f"The story cannot be read: {why}",
        evidence=shown or why,
        guidance="Write plain YAML: no tags, anchors or aliases, every key once, spaces for indentation.",
    )


def _finding(story: Story, check: str, path: shape.Path, issue: str, guidance: str) -> Finding:
    """`path` is where it is; empty for what is nowhere."""
    line = story.line(*path) if path else 0
    shown = story.lines[line - 1].strip() if 0 < line <= len(story.lines) else ""
    return Finding(
        severity=CHECKLIST[check],
        category="story",
        rule=check,
        file=story.file,
        line=line,
        issue=issue,
        evidence=shown or f"the story has: {', '.join(story.data) or 'nothing'}",
        guidance=guidance,
    )


# --- S1 and S7: fields ---------------------------------------------------------------------------


def _fields(story: Story) -> Iterator[Finding]:
    """Fields that the story's own tier adds are S1, those that it inherits S7."""
    for tier in shape.TIERS[: shape.TIERS.index(story.tier) + 1]:
        lacking = [name for name in shape.ADDED_BY[tier] if _lacks(story, name)]
        if lacking:
            own = tier == story.tier
            yield _finding(
                story,
                "S1" if own else "S7",
                (),
                f"A {story.tier} story needs {', '.join(lacking)}"
                + ("" if own else f", which it inherits from the tier {tier}"),
                f"Add {', '.join(lacking)} with real content.",
            )


def _lacks(story: Story, name: str) -> bool:
    if name not in story.data or story.data[name] is None:
        return True
    empty = story.data[name] in ("", [], {}) or not str(story.data[name]).strip()
    return empty and name not in shape.MAY_BE_EMPTY


def _values(story: Story) -> Iterator[Finding]:
    tier = story.data.get("tier")
    if tier is not None and tier not in shape.TIERS:
        yield _wrong(story, ("tier",), tier, f"one of {', '.join(shape.TIERS)}")
    title = story.data.get("title")
    if isinstance(title, str) and len(title) > shape.LONGEST_TITLE:
        yield _wrong(story, ("title",), f"{len(title)} characters", f"at most {shape.LONGEST_TITLE} characters")
    for names, kind, word in ((shape.LISTS, list, "a list"), (shape.TABLES, dict, "a mapping")):
        for name in names:
            if story.data.get(name) is not None and not isinstance(story.data[name], kind):
                yield _wrong(story, (name,), story.data[name], word)
    scope = story.data.get("scope")
    if isinstance(scope, str) and scope and len(_scopes(scope)) == 1 and scope not in shape.SCOPES:
        yield _wrong(story, ("scope",), scope, f"one of {', '.join(shape.SCOPES)}")


def _metadata(story: Story) -> Iterator[Finding]:
    metadata = story.data.get("metadata")
    if not isinstance(metadata, dict):
        return
    for name, allowed in shape.METADATA.items():
        if metadata.get(name) not in allowed:
            yield _wrong(story, ("metadata", name), metadata.get(name), f"one of {', '.join(allowed)}")
    points = metadata.get("story_points")
    if _number(points) not in shape.POINTS and _number(points) <= shape.MOST_POINTS:
        yield _wrong(story, ("metadata", "story_points"), points, f"one of {', '.join(map(str, shape.POINTS))}")
    if not isinstance(metadata.get("blocked_by", []), list):
        yield _wrong(story, ("metadata", "blocked_by"), metadata["blocked_by"], "a list of story ids")


def _parts(story: Story) -> Iterator[Finding]:
    """Ids that must be unique, names that must be known, tests that are no source files."""
    for index, case in story.entries("edge_cases"):
        if case.get("category") not in shape.EDGE_CASES:
            where = ("edge_cases", index, "category")
            yield _wrong(story, where, case.get("category"), f"one of {', '.join(shape.EDGE_CASES)}")
    for index, name in enumerate(story.texts("files")):
        if is_test(name):
            yield _wrong(story, ("files", index), name, "a source file; tests belong in test_specs")
    criteria = {entry.get("id") for _, entry in story.entries("acceptance_criteria")}
    counts = Counter(str(test.get("id")) for _, test in story.tests())
    for path, test in story.tests():
        if not isinstance(test.get("id"), str) or counts[str(test.get("id"))] > 1:
            yield _wrong(story, (*path, "id"), test.get("id"), "an id that no other test has")
        if "covers" in test and test["covers"] not in criteria:
            yield _wrong(story, (*path, "covers"), test["covers"], "the id of an acceptance criterion")


def _wrong(story: Story, path: shape.Path, found: object, expected: str) -> Finding:
    name = ".".join(str(part) for part in path)
    shown = "nothing" if found is None else cut(visible(str(found)), 80)
    return _finding(story, "S1", path, f"{name} is {shown}, expected {expected}", f"Set {name} to {expected}.")


def _number(value: object) -> float:
    """What is no number is no large one."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


# --- S2 to S10 -----------------------------------------------------------------------------------


def _scopes(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return [each for each in _SEVERAL.split(value) if each] if isinstance(value, str) else []


def _one_scope(story: Story) -> Iterator[Finding]:
    scopes = _scopes(story.data.get("scope"))
    if story.at_least("medium") and len(scopes) > 1:
        issue = f"The story has {len(scopes)} scopes: {', '.join(scopes)}"
        yield _finding(story, "S2", ("scope",), issue, "Split the story, one for each scope.")


def _references_exist(story: Story) -> Iterator[Finding]:
    known = {test.get("id") for _, test in story.tests()}
    seen: set[str] = set()
    for path, name in story.test_references():
        if name not in known and name not in seen:
            seen.add(name)
            issue = f"{path[0]} refers to the test {name}, which test_specs does not have"
            yield _finding(story, "S3", path, issue, f"Add {name} to test_specs, or refer to a test that is there.")


def _no_orphans(story: Story) -> Iterator[Finding]:
    """A test that covers an acceptance criterion is tied to a field too."""
    used = {name for _, name in story.test_references()}
    criteria = {entry.get("id") for _, entry in story.entries("acceptance_criteria")} - {None}
    for path, test in story.tests():
        name = test.get("id")
        if isinstance(name, str) and name not in used and test.get("covers") not in criteria:
            issue = f"The test {name} belongs to nothing: no field refers to it and it covers no acceptance criterion"
            yield _finding(story, "S4", (*path, "id"), issue, f"Refer to {name} where it applies, or remove it.")


def _error_example(story: Story) -> Iterator[Finding]:
    examples = story.entries("io_examples")
    codes = {str(entry["code"]) for _, entry in story.entries("error_handling") if entry.get("code")}
    if not story.at_least("medium") or not examples:
        return  # that there are none is S1 or S7
    for _, example in examples:
        words = " ".join(str(example.get(key, "")) for key in ("name", "output", "notes"))
        if _ERROR.search(words) or any(code in words for code in codes):
            return
    issue = "None of the io_examples shows an error case"
    yield _finding(
        story, "S5", ("io_examples",), issue, "Add an example whose input is wrong and whose output is the error."
    )


def _edge_cases(story: Story) -> Iterator[Finding]:
    covered = {case.get("category") for _, case in story.entries("edge_cases")} & set(shape.EDGE_CASES)
    if story.tier == "large" and "edge_cases" in story.data and len(covered) < shape.FEWEST_EDGE_CASES:
        left = ", ".join(name for name in shape.EDGE_CASES if name not in covered)
        issue = f"edge_cases covers {len(covered)} categories, at least {shape.FEWEST_EDGE_CASES} are needed"
        yield _finding(story, "S6", ("edge_cases",), issue, f"Add cases of: {left}.")


def _size(story: Story) -> Iterator[Finding]:
    files = [name for name in story.texts("files") if not is_test(name)]
    if len(files) > shape.MOST_FILES:
        issue = f"The story touches {len(files)} source files, at most {shape.MOST_FILES} are allowed"
        yield _finding(
            story, "S8a", ("files",), issue, f"Split the story so that each part has at most {shape.MOST_FILES}."
        )
    metadata = story.data.get("metadata")
    points = metadata.get("story_points") if isinstance(metadata, dict) else None
    if _number(points) > shape.MOST_POINTS:
        where = ("metadata", "story_points")
        issue = f"The story has {points} points, at most {shape.MOST_POINTS} are allowed"
        yield _finding(story, "S8b", where, issue, "Split the story into smaller ones.")


def _flags(story: Story) -> Iterator[Finding]:
    if story.tier != "large":
        return
    for index, flag in story.entries("feature_flags"):
        if flag.get("default") is not False:
            where = ("feature_flags", index, "default")
            issue = f"The feature flag {flag.get('name', index)} is not off by default"
            yield _finding(story, "S9", where, issue, "Set its `default` to false.")
    if not story.entries("feature_flags"):
        issue = "A large story has no feature flag"
        yield _finding(story, "S9", (), issue, "Add feature_flags with `default: false`.")


def _tests_first(story: Story) -> Iterator[Finding]:
    if "test_specs" not in story.data:
        return
    names = list(story.data)
    early = {str(path[0]) for path, _ in story.test_references()} & set(names[: names.index("test_specs")])
    if early:
        issue = f"{', '.join(sorted(early))} refer to tests that are specified only further down"
        yield _finding(story, "S10", ("test_specs",), issue, "Put test_specs before the fields that refer to it.")


_CHECKS: tuple[Callable[[Story], Iterator[Finding]], ...] = (
    *(_fields, _values, _metadata, _parts),
    *(_one_scope, _references_exist, _no_orphans, _error_example, _edge_cases, _size, _flags, _tests_first),
)
