"""P11: the size of the developer's brief at iteration 20 against iteration 2, equal findings each time."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measuring import Figure
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Brief, Commit, Finding, Key, LoopId, Severity
from loopwright.loops.feedback import brief as briefs
from loopwright.ports.agent import AgentRun


def _brief(attempt: int) -> str:
    issues = tuple(
        identify(
            Finding(
                severity=Severity.HIGH, issue=f"case {n} is not handled", file=f"src/m{n}.py", evidence="see the code"
            )
        )
        for n in range(8)
    )
    failures = tuple(
        identify(
            Finding(severity=Severity.HIGH, rule=f"tests.test_{n}", issue=f"tests.test_{n} - 1 != 2", category="tests")
        )
        for n in range(8)
    )
    brief = Brief(
        task="Add a --json flag to the report command and document it.",
        attempt=attempt,
        limit=30,
        findings=issues,
        failures=failures,
        history=tuple(f"Iteration {n}: review failed with 8 issues" for n in range(1, attempt)),
        base=Commit("a" * 40),
        candidate=Commit("b" * 40),
    )
    run = AgentRun(
        loop=LoopId("x"),
        kind="feedback",
        key=Key.parse(f"implement-{attempt}.1"),
        step=f"x/implement-{attempt}.1",
        role="developer",
        brief=brief,
        folder=Path("/repo"),
        scratchpad=Path("/repo/.loop/feedback/x/feedback-scratchpad.md"),
    )
    return briefs.render(run)


def measure(*, smoke: bool = False) -> Figure:  # noqa: ARG001 - it is quick
    second, twentieth = len(_brief(2).encode()), len(_brief(20).encode())
    value = twentieth / second
    return Figure(
        name="P11",
        what="size of the brief at iteration 20",
        against="at iteration 2",
        value=value,
        low=value,
        high=value,
        goal="<= 1.2",
        met=value <= 1.2,
        details={"bytes_at_2": second, "bytes_at_20": twentieth},
    )
