"""What the first run of a check on the base showed: it runs, it is red, it is slow, or it cannot run; and what to do.

Pure: words made from what the run said. The advice of a project (how its people install it) comes from outside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from loopwright.adapters.checks.ignored_files import said_of_ignored
from loopwright.adapters.checks.runnable import FOUND_NO_TEST
from loopwright.adapters.checks.single_test import plain_command
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import CheckResult, Finding
from loopwright.kernel.wording import guided, last_error

Word = Literal["ok", "red", "slow", "cannot run", "skipped"]
LAST_LINES = 8
_MOST_NAMED = 3
# What started it may say more after that, such as make, which only repeats the exit code.
_NAMES_WHAT_IS_MISSING = re.compile(
    r"No such file|not found|No module named|Cannot find (?:module|package)|Missing script"
)

# Of npm and pnpm, yarn's two kinds, bun, make: no installation brings a script.
_NO_SUCH_SCRIPT = re.compile(
    r"Missing script|error Command \".*\" not found|Couldn't find a script named|Script not found"
    r"|No rule to make target"
)
_ABSENT = re.compile(r"the program '(?P<named>[^']+)' was not found|(?P<line>[\w@.-]+): (?:command )?not found")
_LOOK_AGAIN = "let `loop setup --force` look again for what is here"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRun:
    check: CheckSettings
    word: Word
    seconds: float = 0.0
    tests: int | None = None
    failing: tuple[str, ...] = ()  # tests, or what else is wrong, each in a line
    cause: str = ""  # of the first of these, where its name does not say it
    is_forgivable: bool = True  # a baseline would do, where it is red
    why: str = ""
    last: tuple[str, ...] = ()  # lines of the output
    advice: str = ""
    plain_tests: int = 0  # that its runner collects without the words that name a part; 0: no more than it runs

    @property
    def runs(self) -> bool:
        return self.word in ("ok", "red", "slow")

    @property
    def is_empty(self) -> bool:
        """It could have run, and there was nothing for it: another runner may know where the tests are."""
        return self.word == "cannot run" and FOUND_NO_TEST in self.why

    @property
    def counted(self) -> bool | None:
        """Whether it counts tests; None where the run did not come far enough to tell."""
        return True if self.tests is not None else False if self.word == "ok" else None


def first_run(check: CheckSettings, result: CheckResult, install: str = "") -> FirstRun:
    """What a result on the base says. `install` is how the project's own people would install what it needs."""
    word = _word(result)
    why, last = _said(result)
    known = tuple(f"{name} (forgiven by baseline)" for name in result.known)
    failing = known if word == "ok" else tuple(_named(finding) for finding in result.failures)
    return FirstRun(
        check=check,
        word=word,
        seconds=result.seconds,
        tests=result.tests,
        failing=failing if word in ("ok", "red") else (),
        cause=last_error(result.failures[0]) if word == "red" and result.failures else "",
        is_forgivable=not guided(result.failures),
        why="" if word == "ok" else why,
        last=() if word == "ok" else last,
        advice=_advice(word, result, "\n".join((why, *last)), install),
    )


def _advice(word: Word, result: CheckResult, said: str, install: str) -> str:
    if word == "red":
        return "; ".join(filter(None, (said_of_ignored(result.note), guided(result.failures))))
    # A file that `copy` brings along is nothing that somebody installs.
    return what_to_do(said, install) if word == "cannot run" and not said_of_ignored(said) else ""


def not_run(said: str, check: CheckSettings, install: str = "") -> FirstRun:
    """For a command that was not even started; `said` is the sentence that tells why."""
    why = re.sub(r"^check '[^']*' cannot run:? ", "", said)
    return FirstRun(check=check, word="cannot run", why=why, advice=what_to_do(why, install))


def describe_failure(run: FirstRun) -> str:
    """One sentence for a check that cannot run: the command, what it said last, what to do."""
    lines = [line for line in reversed(run.last) if line.strip()]
    said = next((line for line in lines if _NAMES_WHAT_IS_MISSING.search(line)), lines[0] if lines else "")
    parts = (run.why, f"it said {said!r}" if said and said not in run.why else "", run.advice)
    return f"check {run.check.name!r} cannot run: {'; '.join(filter(None, parts))}"


def describe_plain_run(run: FirstRun) -> str:
    """Return the warning that a plain run would find more tests than the check; empty where it would not."""
    plain = plain_command(run.check.run)
    if plain is None or not run.plain_tests:
        return ""
    told = f"`{' '.join(plain)}` collects {run.plain_tests} tests and this check runs {run.tests}"
    return f"{told}; set `run` of [checks.{run.check.name}] to it, unless the others must not judge"


def left_out(run: FirstRun) -> str:
    """The same for whoever reads the configuration later, perhaps elsewhere: the command as it would be configured."""
    parts = (f"`{' '.join(run.check.run)}` cannot run, {_in_short(run)}", run.advice)
    return f"Left out: check {run.check.name!r}: {'; '.join(filter(None, parts))}"


def _in_short(run: FirstRun) -> str:
    """Without the command, how it ended and what is advised."""
    return re.sub(r"^(?:`.*?` ended with [^:]*|'[^']*'): ", "", run.why).partition(";")[0]


def what_to_do(said: str, install: str = "") -> str:
    """What helps besides mending the command, from what it printed; empty where nobody can tell."""
    prepare = f"run `{install}`" if install else "install what the project needs"
    if _NO_SUCH_SCRIPT.search(said):
        return _LOOK_AGAIN
    if re.search(r"unrecognized arguments: .*--cov", said):
        return f"install pytest-cov ({prepare})"
    if re.search(r"failed to get|unable to update|ENOTFOUND|Temporary failure in name resolution|offline", said):
        return f"it asks the network for packages: {prepare} once where there is one"
    if module := re.search(r"No module named '?([\w.]+)'?", said):
        return f"install {module[1].partition('.')[0]} ({prepare}); after that `loop setup --force` finds it"
    if program := _ABSENT.search(said):
        # What installs the project's packages is no help where that program itself is what is missing.
        helps = bool(install) and not program["named"]
        return f"{prepare if helps else 'install ' + (program['named'] or program['line'])}, or {_LOOK_AGAIN}"
    if re.search(r"not found|not installed|No such file|Cannot find (?:module|package)", said):
        return f"{prepare}, or {_LOOK_AGAIN}"
    return ""


def _word(result: CheckResult) -> Word:
    rules = {finding.rule.partition(" ")[0] for finding in result.failures if finding.category == "checks"}
    if result.note.startswith("skipped:"):
        return "skipped"
    if "not-finished" in rules:
        return "slow"
    if result.unable:
        return "cannot run"
    return "ok" if result.passed else "red"


def _said(result: CheckResult) -> tuple[str, tuple[str, ...]]:
    """How it ended, without the name of the check, which stands before it; and the last lines of its output."""
    if result.unable:
        why, *last = result.unable.split("\n  ")
        return re.sub(r"^check '[^']*' cannot run: ", "", why), tuple(filter(None, last))
    stated = [finding for finding in result.failures if finding.category == "checks"]
    chosen = stated or result.failures
    why = re.sub(r"^check '[^']*'(?: failed)?:? ", "", chosen[-1].issue if chosen else result.note)
    lines = stated[0].evidence.splitlines()[2:] if stated else []  # the first two say how it was run
    return why, tuple(line.rstrip() for line in lines if line.strip())[-LAST_LINES:]


def _named(finding: Finding) -> str:
    return finding.rule if finding.category == "tests" else finding.issue


def said_of(run: FirstRun) -> str:
    """The run in a line, for a person."""
    took = f"{run.seconds:.1f} s"
    count = "" if run.tests is None else f"{run.tests} test{'s' * (run.tests != 1)}, "
    match run.word:
        case "ok":
            forgiven = f", {len(run.failing)} forgiven by baseline" if run.failing else ""
            return f"ok, {count}{took}{forgiven}"
        case "red":
            rest = len(run.failing) - _MOST_NAMED
            more = f" and {rest} more" if rest > 0 else ""
            because = "".join(f"; {each}" for each in (run.cause, run.advice) if each)
            return f"red on the base, {count}{took}: {'; '.join(run.failing[:_MOST_NAMED])}{more}{because}"
        case "slow" | "skipped":
            return run.why
        case "cannot run":
            return f"cannot run: {_in_short(run)}"
