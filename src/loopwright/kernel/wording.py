"""The words our pages share: moments, money, counts, names made of titles, and a finding in one sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from loopwright.kernel.findings import cut
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible

_FIRST, _LAST = -62_135_596_800.0, 253_402_300_799.0  # of the years 1 and 9999
NO_SANDBOX = "No sandbox: agents and checks run with your permissions."
NOT_PROMISED = "An agent that means to could speak for you: docs/guide/guarantees.md says what is not promised."
ALL_TESTS_PASSING = "ALL_TESTS_PASSING"
_IN_LATIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "æ": "ae", "ø": "oe", "œ": "oe"})
_ERROR = re.compile(r"^E?\s*((?:\w+\.)*\w*(?:Error|Exception)\b: .+)", re.MULTILINE)
FAILURE = 4096  # characters of one failure in a file: the tail of a check that gives no report
_NAMED = 3  # causes in a question
_GRAVE = (Severity.CRITICAL, Severity.HIGH)
ANSWERED = "\n→ "  # between an agent's question and what a person said to it


def moment(at: float) -> str:
    """ISO-8601 in UTC, to the second."""
    return date_of(at).isoformat(timespec="seconds").replace("+00:00", "Z")


def date_of(at: float) -> datetime:
    """In UTC. A clock that is beside itself gives the first or the last moment a date has, and stops nobody."""
    return datetime.fromtimestamp(min(max(at, _FIRST), _LAST), UTC)


def dollars(amount: float, *, estimated: bool = False) -> str:
    """`$1.20`; `~$1.20` where some of it is not what agents said of themselves."""
    return f"{'~' if estimated else ''}${amount:.2f}"


def way_on(reason: str, budget: float | None) -> str:
    """How a loop goes on that paused at a limit of all its work: `loop resume` alone would pause again at once."""
    match reason:
        case "time":
            return "`loop resume`, once a longer `wall` is in loop.toml"
        case "tokens":
            return "`loop resume`, once more `tokens` are in loop.toml"
        case _:
            has = "" if budget is None else f", with more than the {dollars(budget)} it has"
            return f"`loop resume --budget USD`{has}"


def slug(title: str, most: int) -> str:
    """Lower-case words joined by dashes, letters with marks written without; empty where no letter is left."""
    spelt = unicodedata.normalize("NFC", title).casefold().translate(_IN_LATIN)
    letters = "".join(each for each in unicodedata.normalize("NFKD", spelt) if not unicodedata.combining(each))
    return re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")[:most].strip("-")


def counted(number: int, noun: str, many: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {many or f'{noun}s'}"


def join_names(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def place(finding: Finding) -> str:
    return f"{finding.file}:{finding.line}" if finding.file and finding.line else finding.file


def told(finding: Finding, limit: int = 300) -> str:
    """`file:line - issue` on one line; a failing test is `id - message (file:line)`."""
    return one_line(_sentence(finding), limit) + (" (it came back: one step graver)" if finding.came_back else "")


def last_error(finding: Finding) -> str:
    """The last line of its text that names an error, where its own sentence does not: a runner that could not collect
    a file says no more than that."""
    found = _ERROR.findall(finding.evidence)
    return one_line(found[-1], 300) if found and found[-1].strip() not in finding.issue else ""


def told_with_cause(finding: Finding) -> str:
    return ": ".join(filter(None, (told(finding), last_error(finding))))


def name_causes(findings: Iterable[Finding]) -> str:
    """Return the first failing tests, or files that cannot be collected, with the first line of their messages.

    Where no test fails: what else checks or the engine hold against the change; empty where that is nothing.
    """
    found = [replace(each, issue=each.issue.strip().partition("\n")[0]) for each in findings]
    tests = [each for each in found if each.category == "tests"]
    causes = tests or [each for each in found if each.category in ("checks", "engine") and each.severity in _GRAVE]
    return join_names([told_with_cause(each) for each in causes], _NAMED)


def guided(findings: Iterable[Finding]) -> str:
    """What a check says is to be done, where that is more than to mend what it found."""
    return next((each.guidance for each in findings if each.category == "checks" and each.guidance), "")


def told_in_full(finding: Finding) -> str:
    """As `told`, with the line ends of its message, for files that programs read."""
    # A check without a report has nothing but the end of its output to say what failed.
    output = f"\n{finding.evidence}" if finding.category == "checks" and finding.evidence else ""
    return cut(visible(_sentence(finding) + output).strip(), FAILURE)


def _sentence(finding: Finding) -> str:
    where = place(finding)
    if finding.category == "tests" and finding.rule:
        # A location that the id already begins with tells nothing new.
        tail = f" ({where})" if where and not finding.rule.startswith(where) else ""
        named = finding.issue.startswith(finding.rule)
        return (finding.issue if named else f"{finding.rule} - {finding.issue}") + tail
    return f"{where} - {finding.issue}" if where else finding.issue
