"""GitHub issues as `gh issue list --json number,title,body,labels` prints them."""

from __future__ import annotations

import re

from loopwright.adapters.importers.imported import Imported, Record, TaskSource, imported, joined

_BOX = re.compile(r"\s*[-*+] \[[ xX]\]\s+(.+)")


def fits(data: object) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(each, dict) and "number" in each for each in data)


def read(data: list[object], source: TaskSource) -> tuple[Imported, ...]:
    """The open ones, oldest first. Checkboxes in the body are the criteria."""
    found = [pair for pair in source.records({"issues": data}, "issues") if _is_open(pair[1])]
    found.sort(key=lambda pair: _number(source, *pair))
    return tuple(_issue(source, at, issue) for at, issue in found)


def _is_open(issue: Record) -> bool:
    state = issue.get("state")
    return not isinstance(state, str) or state.upper() == "OPEN"


def _number(source: TaskSource, at: str, issue: Record) -> int:
    number = issue.get("number")
    if not isinstance(number, int) or isinstance(number, bool):
        raise source.fail(f"{at}.number", "has to be a whole number")
    return number


def _issue(source: TaskSource, at: str, issue: Record) -> Imported:
    body = source.text(issue, "body", at)
    labels = ", ".join(source.text(label, "name", place) for place, label in source.records(issue, "labels", at))
    number = _number(source, at, issue)
    return imported(
        name=f"issue-{number}",
        title=source.text(issue, "title", at, required=True),
        what=body,
        criteria=tuple(box[1] for line in body.splitlines() if (box := _BOX.fullmatch(line))),
        context=joined(f"GitHub issue #{number}", f"Labels: {labels}" if labels else ""),
    )
