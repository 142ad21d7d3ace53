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
_MAKER = fenced(
    '{"status": "done | blocked | needs_clarification",\n'
    ' "summary": "what was done, in a sentence",\n'
    ' "questions": [{"question": "…", "options": ["…"], "impact": "…"}]}',
    "json",
)
_JUDGE = fenced(
    f'{{"status": "done",\n "verdict": "pass | fail",\n "summary": "why, in a sentence",\n "findings": [{_FINDING}]}}',
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
JUDGES = ("reviewer", "critic", "judge", "panel", "scorer")


def contract(role: str) -> str:
    if role in JUDGES:
        return f"{_INTRO}\n\n{_JUDGE}\n\n{_JUDGE_RULES}"
    return f"{_INTRO}\n\n{_MAKER}\n\n{_MAKER_RULES}"
