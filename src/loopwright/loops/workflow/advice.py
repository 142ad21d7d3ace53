"""What helps a task that is stuck: the panel's advice, as it was given and as it goes into the next brief."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loopwright.kernel.model import AgentReport
from loopwright.kernel.shapes import Field, keyed, record, several, text
from loopwright.loops.workflow.reading import lines, told

_LIST, _TEXT = several(text()), text()
_ADVICE = record(
    Field(
        name="advice",
        shape=keyed("an object", diagnosis=_LIST, recommendations=_LIST, consensus=_TEXT, fallback=_TEXT),
        required=True,
    ),
    says="an object",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    diagnosis: tuple[str, ...] = ()  # one per view
    recommendations: tuple[str, ...] = ()  # best first
    consensus: str = ""
    fallback: str = ""  # what to do where the recommendations do not help either


def read_advice(report: AgentReport) -> Advice | str:
    """As a panel gave it, or why it cannot be taken: a retry without any would be the same try again."""
    data = told(report, _ADVICE)
    if isinstance(data, str):
        return data
    held: dict[str, Any] = data["advice"]
    advice = Advice(
        diagnosis=lines(held.get("diagnosis", ())),
        recommendations=lines(held.get("recommendations", ())),
        consensus=" ".join(lines([held.get("consensus", "")])),
        fallback=" ".join(lines([held.get("fallback", "")])),
    )
    if not (advice.recommendations or advice.consensus or advice.fallback):
        return "advice: nothing in it says what to do; give recommendations, a consensus or a fallback"
    return advice


def advice_text(advice: Advice) -> str:
    """For the brief of the retry. Each text is one line, so that none can begin a part of its own."""
    parts = [
        ("Consensus", advice.consensus),
        ("Diagnosis", "".join(f"\n- {each}" for each in advice.diagnosis)),
        ("Recommendations, best first", _numbered(advice.recommendations)),
        ("If that does not help", advice.fallback),
    ]
    return "\n".join(f"{name}: {said}".replace(": \n", ":\n") for name, said in parts if said)


def _numbered(texts: tuple[str, ...]) -> str:
    return "".join(f"\n{number}. {each}" for number, each in enumerate(texts, start=1))
