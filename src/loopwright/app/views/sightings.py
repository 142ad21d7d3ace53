"""What was seen of files, changes, proposals, commands and other loops, in words."""

from __future__ import annotations

from typing import assert_never

from loopwright.kernel.quoting import one_line
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.kernel.wording import counted

_NAMED = 3  # in a sentence


def sighting_in_words(event: Heard | FilesExamined | ChangeExamined | PullRequestSeen | RanOnce) -> str:
    match event:
        case Heard():
            refused = f" refused it: {one_line(event.refused, 200)}"
            reply = f" has it on record{': ' if event.reply else ''}{one_line('; '.join(event.reply), 300)}"
            return one_line(event.loop, 60) + (refused if event.refused else reply)
        case FilesExamined():
            faults = "; ".join(f"{each.path}: {each.why}" for each in event.faults[:_NAMED])
            return one_line(faults, 400) if faults else "all that had to be left is there"
        case ChangeExamined():
            return _change(event)
        case PullRequestSeen():
            return _proposal(event)
        case RanOnce():
            how = "nobody knows how it ended" if event.code is None else f"ended with {event.code}"
            return how + (f": {one_line(event.detail, 200)}" if event.detail else "")
        case _:
            assert_never(event)


def _change(event: ChangeExamined) -> str:
    gates = tuple(dict.fromkeys(each.gate for each in event.risks))
    if not gates:
        return "the change calls for no gate"
    first = event.risks[0]
    where = f"{first.file}:{first.line}" if first.line else first.file
    more = f" and {counted(len(event.risks) - 1, 'other place')}" if event.risks[1:] else ""
    return f"the change calls for {', '.join(gates)}: {one_line(where, 200)} ({one_line(first.rule, 100)}){more}"


def _proposal(event: PullRequestSeen) -> str:
    seen = event.seen
    number = f"pull request #{seen.number} is {seen.state}" if seen.number else f"pull request: {seen.state}"
    red = f", red there: {one_line(', '.join(seen.red), 200)}" if seen.red else ""
    said = "".join(f", {one_line(each.by, 60)} {each.said}" for each in seen.opinions[:_NAMED])
    return f"the forge: {one_line(event.failed, 300)}" if event.failed else f"{number}{red}{said}"
