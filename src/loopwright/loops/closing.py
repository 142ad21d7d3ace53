"""What every closing says alike: how it ended, what is left wrong, where the result is and the command to take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from loopwright.kernel.evidence import Level, describe, describe_decisions, describe_tests
from loopwright.kernel.model import Cleanup, Commit, Ending, Finding, Outcome
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.wording import counted, told

_ADVICE = ("Take it: ", "Land it: ", "Look at it: ", "Look closer: ")
_HELD = 10  # paths in a line
BY_HAND = "take it by hand"  # the one way left: approved once more, it would conflict once more
_LEFT = {
    Cleanup.KEEP_EVERYTHING: "workspace and files are kept",
    Cleanup.KEEP_ARTIFACTS: "the workspace is removed, its files are kept",
    Cleanup.ROLLBACK: "workspace and branch are removed",
    Cleanup.FULL: "workspace, branch and the loop's files are removed",
}


def headline(outcome: Outcome, *, promise: str, after: str, left: str) -> str:
    """`promise` is the loop's own word for having got there."""
    if outcome.still_held:
        return f"Still held back: what was approved did not land. What had landed before stays: {promise} {after}."
    match outcome.ending:
        case Ending.VERIFIED | Ending.REVIEWED:
            return f"{promise} {after}."
        case Ending.ACCEPTED:
            return f"Accepted by a person {after} with {left}, recorded in .loop/debt.md."
        case Ending.CANCELLED:
            return f"Cancelled {after}; {_LEFT[outcome.cleanup or Cleanup.KEEP_EVERYTHING]}."
        case Ending.ESCALATED | Ending.FAILED | Ending.HELD:
            return f"{outcome.ending.value.capitalize()} {after} with {left}."
        case _:
            assert_never(outcome.ending)


def known_issues(found: tuple[Finding, ...], elsewhere: tuple[Finding, ...], attempts: str) -> str:
    """Count what is left wrong. `elsewhere`: what other attempts than the accepted one left open, a debt as well."""
    told = f", {len(elsewhere)} of them seen in other {attempts} and not resolved" if elsewhere else ""
    return counted(len(found) + len(elsewhere), "known issue") + told


def findings(found: tuple[Finding, ...], most: int) -> tuple[str, ...]:
    shown = tuple(f"  [{finding.severity.value}] {told(finding)}" for finding in found[:most])
    return shown + ((f"  and {counted(len(found) - most, 'other')}",) if len(found) > most else ())


def note(outcome: Outcome) -> tuple[str, ...]:
    return (f"Note: {one_line(outcome.note, 500)}",) if outcome.note else ()


def landed(outcome: Outcome, said: tuple[str, ...]) -> tuple[str, ...]:
    """Where the result is; nothing when it was not landed. `said` is what is to be known about it."""
    if outcome.merged_into:
        into = one_line(outcome.merged_into.removeprefix("refs/heads/"), 120)
        return (f"Result: merged into {into} ({outcome.commit[:12]}).", *said)
    if outcome.branch:
        where = f"Result: branch {outcome.branch} ({outcome.commit[:12]})."
        if outcome.not_merged:  # what is to be known has the command for the branch that was meant
            return (where, *said)
        return (where, *said, f"Take it: `{take_command(outcome)}`")
    # What a person accepts always lands: there was nothing in it.
    return ("Result: none; nothing has landed.", *said) if outcome.ending is Ending.ACCEPTED else ()


def written(outcome: Outcome) -> tuple[str, ...]:
    """What the verdict rests on beside what people wrote."""
    if not outcome.written:
        return ()
    paths = ", ".join(one_line(path, 200) for path in outcome.written[:_HELD])
    more = f" and {counted(len(outcome.written) - _HELD, 'other')}" if len(outcome.written) > _HELD else ""
    rests = f"The verdict rests on {counted(outcome.tests_of_agents, 'test')} written by agents alone. "
    return (f"{rests if outcome.tests_of_agents else ''}Tests written by agents, seen by no person: {paths}{more}.",)


def evidence(outcome: Outcome, *, can_be_shown: bool, keeps_behaviour: bool = False) -> tuple[str, ...]:
    """What shows the change, which tests of the base were altered, and how to go on where no test shows it.

    `can_be_shown`: nobody said that the work keeps the behaviour, so that a test could tell it from the base.
    `keeps_behaviour`: the loop was started with that word.
    """
    seen = outcome.evidence
    if seen is None or not outcome.branch:
        return ()
    tests = tuple(one_line(f"Tests: {each}.", 500) for each in describe_tests(seen))
    told = tuple(one_line(f"{each}.", 1_000) for each in describe_decisions(seen.decisions))
    advice = _show_it(outcome) if can_be_shown else ()
    declared = "; the behaviour was declared unchanged (--keeps-behaviour)" if keeps_behaviour else ""
    return (one_line(f"Evidence: {describe(seen)}{declared}.", 700), *tests, *told, *advice)


def _show_it(outcome: Outcome) -> tuple[str, ...]:
    is_left = outcome.evidence is not None and outcome.evidence.level is Level.GUARDED and not outcome.merged_into
    if not is_left or not (take := take_command(outcome)):
        return ()
    test = f'loop feedback --merge --about tests "Write a test that fails without the change on {outcome.branch}"'
    told = (
        f"Go on: take it as it is with `{take}`, or first get a test that fails without the change:"
        f" `git switch {outcome.branch}`, then `{test}`. A refactoring needs no such test: start it with"
        " `--keeps-behaviour`."
    )
    return (told,)


def said_beforehand(outcome: Outcome) -> tuple[str, ...]:
    """What a person had allowed, and what they had rather be told than asked."""
    allowed = ", ".join(one_line(pattern, 200) for pattern in outcome.allowed)
    asked = (f"Tests might be changed without asking: {allowed} (--allow).",) if allowed else ()
    return (*asked, *((f"Untested: {one_line(outcome.unnoticed, 500)}",) if outcome.unnoticed else ()))


def held(outcome: Outcome, gate: str, loop: str, because: str = "") -> tuple[str, ...]:
    """What it did without, why, where that is kept, and how it lands after all."""
    if not outcome.held:
        return _left_behind(outcome)
    paths = ", ".join(
        f"{one_line(change.path, 200)} ({one_line(change.words, 200)})" for change in outcome.held[:_HELD]
    )
    more = f" and {counted(len(outcome.held) - _HELD, 'other')}" if len(outcome.held) > _HELD else ""
    kept = f", kept on branch {outcome.held_on}" if outcome.held_on else ""
    why = (f"Why: {one_line(because, 700)}.",) if because else ()
    if outcome.still_held:
        why = (f"It was approved and did not land: {one_line(outcome.still_held, 300)}.",)
    how = f"Land it: `loop approve {gate}`, then `loop resume --loop {loop}`"
    how = how if gate and BY_HAND not in outcome.still_held else ""
    return (f"Held back, the base's versions stand: {paths}{more}{kept}.", *why, *((how,) if how else ()))


def _left_behind(outcome: Outcome) -> tuple[str, ...]:
    """It is the person's to remove, as the loop's own branch is."""
    branch = outcome.held_on
    return (f"Branch {branch} still has what was held back; remove it: `git branch -D {branch}`",) if branch else ()


def waiting(outcome: Outcome) -> tuple[str, ...]:
    """What was found and is still so where the result stands."""
    if not outcome.waiting:
        return ()
    why = "waits with what is held back" if outcome.held else "stays, since what mends it was rejected"
    head = f"Not resolved, it {why}:"
    return (head, *findings(outcome.waiting, _HELD))


def stay(outcome: Outcome) -> tuple[str, ...]:
    folders = ", ".join(one_line(folder, 200) for folder in outcome.stay)
    return (
        (f"Could not be removed, and is needed by nobody: {folders}; look whose files are in it.",) if folders else ()
    )


def still_waiting(outcome: Outcome) -> str:
    """The same in a headline."""
    return f"; {counted(len(outcome.waiting), 'finding')} not resolved by what landed" if outcome.waiting else ""


def unchecked(outcome: Outcome) -> str:
    """In a headline too: what landed was judged by nobody but a reviewer."""
    return "; no check has run on it" if outcome.ending is Ending.REVIEWED and outcome.branch else ""


def take_command(outcome: Outcome) -> str:
    """The one command by which a person takes what was landed and not merged; empty: there is nothing to take."""
    return "" if outcome.merged_into or not outcome.branch else outcome.take or f"git merge {outcome.branch}"


def kept(which: str, base: Commit, commit: Commit, said: tuple[str, ...]) -> tuple[str, ...]:
    """No choice of clean-up removes an attempt, so the best one can still be looked at. Nobody is told to take it."""
    return (
        f"Result: not landed; {which} is kept as {commit[:12]}. It is not verified.",
        *said,
        f"Look at it: `git diff {base[:12]} {commit[:12]}`",
    )


def without_advice(lines: Sequence[str]) -> tuple[str, ...]:
    """Where all is gone when it is read, no command would find anything."""
    return tuple(line for line in lines if not line.startswith(_ADVICE))


def look_closer(loop_id: str, outcome: Outcome, files: tuple[str, ...]) -> str:
    there = () if outcome.cleanup is Cleanup.FULL else files
    return ", ".join((f"Look closer: `loop log --loop {loop_id}`", *(one_line(file, 500) for file in there)))


# --- what is owed -------------------------------------------------------------------------------------------------


def owed_where(outcome: Outcome | None, branch: str, commit: str) -> tuple[str, ...]:
    """Where the result is that was accepted; `branch` and `commit` are those known without an outcome."""
    landed = (outcome.commit if outcome else "") or commit
    on = outcome.branch if outcome else branch
    return (f"- **Commit**: {inline(landed) or '(none)'}", f"- **Branch**: {inline(on) or '(none)'}")


def besides(findings: tuple[Finding, ...], named: tuple[Finding, ...]) -> tuple[Finding, ...]:
    known = {finding.fingerprint for finding in named}
    return tuple(finding for finding in findings if finding.fingerprint not in known)


def owed_checks(outcome: Outcome | None, red: tuple[Finding, ...], *, verified: bool) -> tuple[str, ...]:
    """What the checks say of what was accepted and landed, and whether they notice it."""
    if outcome is None or not outcome.branch:
        return ()
    if red:
        return owed_findings("Failing checks", red)
    untested = f", but {inline(outcome.unnoticed, 600)}" if outcome.unnoticed else ""
    return (f"- **Checks**: passed{untested}",) if verified else ("- **Checks**: none has run on it",)


def owed_findings(heading: str, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """All of them: a debt that is not written down is lost."""
    if not findings:
        return (f"- **{heading}**: none",)
    ordered = sorted(findings, key=lambda finding: finding.severity.rank)
    return (f"- **{heading}**:", *(f"  - [{f.severity.value}] {inline(told(f, 500), 600)}" for f in ordered))
