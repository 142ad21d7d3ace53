"""What an agent must hand back, in the few words a brief has room for."""

from __future__ import annotations

from loopwright.projections.quoting import fenced

_INTRO = (
    "## Result\n\nWhen finished, write one JSON object to the file named by the environment variable `LOOP_RESULT`."
    " The file named by `LOOP_CONTEXT` has everything in this brief as data."
)
_FINDING = (
    '{"severity": "critical | high | medium | low", "file": "src/a.py", "line": 12, "issue": "what is wrong",'
    ' "evidence": "what shows it", "guidance": "what to do", "requirement": "which part of the task"}'
)
_RULED = (
    '{"severity": "critical | high | medium | low", "rule": "S3", "file": "src/a.py", "line": 12,'
    ' "issue": "what is wrong", "evidence": "what shows it", "guidance": "what to do"}'
)
_MAPPED = (
    '{"severity": "critical | high | medium | low", "category": "security | architecture | tests | correctness | …",\n'
    '  "requirement": "AC-1", "rule": "short-name", "file": "src/a.py", "line": 12, "issue": "what is wrong",\n'
    '  "expected": "6 error paths tested", "actual": "2 of 6", "evidence": "what shows it", "guidance": "what to do"}'
)
_ASPECTS = (
    ' "aspects": [{"requirement": "AC-1", "aspect": "error paths", "expected": "6 tested", "actual": "2 of 6",\n'
    '  "pass": false, "score": 0.33, "guidance": "what to do"}]'
)
_MAKER = fenced(
    '{"status": "done | blocked | needs_clarification",\n'
    ' "summary": "what was done, in a sentence",\n'
    ' "questions": [{"question": "…", "options": ["…"], "impact": "…"}]}',
    "json",
)
_MAKER_RULES = (
    "`needs_clarification` asks a person the questions and waits for the answers; `blocked` says in the summary why it"
    " cannot be done."
)
_JUDGE_RULES = (
    "A verdict is required: a missing or unreadable one counts as fail. `fail` needs at least one finding, and every"
    " finding needs evidence: a file and line, or what was seen. A critical or high finding is a fail whatever the"
    " verdict says; give such a severity only to what must be fixed. Report an open finding again only if it is still"
    " there."
)
_REVIEWER_RULES = (
    "A verdict is required: a missing or unreadable one counts as fail. `fail` needs at least one finding. Every"
    " finding needs a severity, evidence (a file and line, or what was seen) and concrete guidance (what to do); one"
    " without evidence or guidance is dropped. A critical finding is a fail whatever the verdict says, and so are too"
    " many high ones. `rule` names the check, by the same name every time."
)
_CRITIC_RULES = (
    "A verdict is required: a missing or unreadable one counts as fail. `fail` needs at least one finding, and every"
    " finding needs evidence. `rule` names the fault, by the same name every time. The thresholds decide over the"
    " findings, not the verdict alone: give `critical` and `high` only to what must be fixed."
)
_TICKET_JUDGE_RULES = (
    "A verdict is required: a missing or unreadable one counts as fail. `fail` needs at least one finding or one aspect"
    " that does not pass. `score` goes from 0 to 1."
)


def contract(kind: str, *, judges: bool) -> str:
    """`judges`: whoever is asked must give a verdict. `kind` is that of the loop, or `judge` for a ticket's judge."""
    if not judges:
        return f"{_INTRO}\n\n{_MAKER}\n\n{_MAKER_RULES}"
    if kind == "quality":
        return f"{_INTRO}\n\n{_judge(_RULED)}\n\n{_REVIEWER_RULES}"
    if kind == "tickets":
        return f"{_INTRO}\n\n{_judge(_MAPPED)}\n\n{_CRITIC_RULES}"
    if kind == "judge":
        return f"{_INTRO}\n\n{_judge(_MAPPED, _ASPECTS)}\n\n{_TICKET_JUDGE_RULES}"
    return f"{_INTRO}\n\n{_judge(_FINDING)}\n\n{_JUDGE_RULES}"


def _judge(finding: str, more: str = "") -> str:
    head = '"status": "done",\n "verdict": "pass | fail",\n "summary": "why, in a sentence"'
    tail = f",\n{more}" if more else ""
    return fenced(f'{{{head},\n "findings": [{finding}]{tail}}}', "json")
