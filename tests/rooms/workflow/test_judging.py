from dataclasses import replace

import pytest
from hypothesis import given

from loopwright.kernel.model import AgentReport, Finding, Severity
from loopwright.loops.workflow.advice import Advice, advice_text, read_advice
from loopwright.loops.workflow.aspects import ASPECTS
from loopwright.loops.workflow.ship import Ship, ShipVerdict, read_ship, verdict_of
from loopwright.loops.workflow.views import LOOKS_AT, light_views, read_score, score_of, thorough_views, word_of
from tests.hostile import texts
from tests.rooms.workflow.reports import finding, saying

# Views


@pytest.mark.parametrize(
    ("aspects", "light", "thorough"),
    [
        ((), ("delivery", "craft"), ("delivery", "correctness", "craft")),
        (("UI",), ("delivery", "craft", "usability"), ("delivery", "correctness", "usability", "craft")),
        (
            ("Testing", "Auth", "Data"),
            ("delivery", "craft", "security"),
            ("delivery", "correctness", "security", "data"),
        ),
        (("Migration", "Data"), ("delivery", "craft", "data"), ("delivery", "correctness", "data", "craft")),
        (("Cooking",), ("delivery", "craft"), ("delivery", "correctness", "craft")),
    ],
)
def test_who_looks_is_chosen_by_aspects(
    aspects: tuple[str, ...], light: tuple[str, ...], thorough: tuple[str, ...]
) -> None:
    assert (light_views(aspects), thorough_views(aspects)) == (light, thorough)


def test_every_aspect_has_somebody_who_looks_and_every_view_says_at_what() -> None:
    views = [light_views((aspect,)) for aspect in ASPECTS]
    assert {len(each) for each in views} == {3}
    assert {view for each in views for view in each} | {"correctness"} == set(LOOKS_AT)


def test_severities_have_the_words_of_this_loop() -> None:
    assert [word_of(severity) for severity in Severity] == ["BLOCKER", "WARNING", "WARNING", "SUGGESTION"]


# Scores of reviews


@pytest.mark.parametrize(
    ("report", "score"),
    [
        (saying(score=8), 8),
        (saying(score=7.5), 7.5),
        (saying(score=0), 0),
        (saying(), None),
        (saying(score=None), None),
        (saying(score=70), None),
        (saying(score=-1), None),
        (saying(score=True), None),
        (AgentReport(extras="{"), None),
    ],
)
def test_a_score_is_from_0_to_10_or_none(report: AgentReport, score: float | None) -> None:
    assert read_score(report) == score


def test_the_score_of_a_review_is_the_mean_of_what_reviewers_gave() -> None:
    assert score_of((saying(score=8), saying(score=7), finding((Severity.CRITICAL, "a")))) == 8
    assert score_of((saying(score=7), saying(score=7.4))) == 7


def test_where_nobody_gave_one_it_follows_from_the_findings() -> None:
    first = finding((Severity.CRITICAL, "a"), (Severity.HIGH, "b"), (Severity.LOW, "c"))
    assert score_of((first, finding((Severity.HIGH, "b"), (Severity.MEDIUM, "d")))) == 3
    same = Finding(severity=Severity.HIGH, issue="said so", fingerprint="f")
    otherwise = replace(same, issue="said otherwise")
    assert score_of((AgentReport(findings=(same,)), AgentReport(findings=(otherwise,)))) == 8
    assert score_of((finding(*((Severity.CRITICAL, str(n)) for n in range(3))),)) == 0
    assert score_of((AgentReport(),)) == 10
    assert score_of(()) == 0


# Advice


def test_what_a_panel_advises_is_taken_and_goes_into_the_brief() -> None:
    said = {
        "diagnosis": ["no import", " "],
        "recommendations": ["import\nit", "stub it"],
        "consensus": " import ",
        "fallback": "ask",
    }
    advice = Advice(
        diagnosis=("no import",), recommendations=("import it", "stub it"), consensus="import", fallback="ask"
    )
    assert read_advice(saying(advice=said)) == advice
    assert advice_text(advice) == (
        "Consensus: import\n"
        "Diagnosis:\n"
        "- no import\n"
        "Recommendations, best first:\n"
        "1. import it\n"
        "2. stub it\n"
        "If that does not help: ask"
    )
    assert advice_text(Advice(fallback="ask")) == "If that does not help: ask"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "advice is missing; give it an object"),
        ({"diagnosis": "a"}, 'advice.diagnosis: expected a list, found the text "a"'),
        ({"recommendations": [1]}, "advice.recommendations[0]: expected text, found the number 1"),
        ({"consensus": []}, "advice.consensus: expected text, found a list"),
        (
            {"diagnosis": ["a"], "recommendations": [" "]},
            "advice: nothing in it says what to do; give recommendations, a consensus or a fallback",
        ),
    ],
)
def test_advice_that_cannot_be_taken_is_told_in_a_sentence(said: object, why: str) -> None:
    assert read_advice(saying(advice=said)) == why


@given(texts)
def test_advice_begins_no_part_of_its_own(said: str) -> None:
    words = {"diagnosis": [said], "recommendations": [said], "consensus": said, "fallback": f"x{said}"}
    advice = read_advice(saying(advice=words))
    assert isinstance(advice, Advice)
    starts = ("Consensus: ", "Diagnosis:", "- ", "Recommendations, best first:", "1. ", "If that does not help: ")
    assert [line for line in advice_text(advice).split("\n") if not line.startswith(starts)] == []


# The gate


def test_what_a_gate_says_is_taken() -> None:
    said = {"confidence": 90, "reversibility": "type 2b", "points": 5, "alternative": "by\nhand", "risk": "edges"}
    assert read_ship(saying(ship=said)) == Ship(
        confidence=90, reversibility="2B", points=5, alternative="by hand", risk="edges"
    )
    assert read_ship(saying(ship={"reversibility": ""})) == Ship()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "ship is missing; give it an object"),
        ({"confidence": 101}, "ship.confidence: expected a whole number, at most 100, found the number 101"),
        ({"confidence": 0.9}, "ship.confidence: expected a whole number, at least 0, found the number 0.9"),
        ({"points": True}, "ship.points: expected a whole number, at least 0, found true"),
        ({"reversibility": "3"}, 'ship.reversibility: expected one of 1, 2A, 2B, found the text "3"'),
        ({"reversibility": 1}, "ship.reversibility: expected one of 1, 2A, 2B, found the number 1"),
        ({"risk": []}, "ship.risk: expected text, found a list"),
    ],
)
def test_what_a_gate_says_wrongly_is_told_in_a_sentence(said: object, why: str) -> None:
    assert read_ship(saying(ship=said)) == why


@pytest.mark.parametrize(
    ("ship", "verified_by", "verdict"),
    [
        (Ship(confidence=70, reversibility="2A"), "execution output", "SHIP"),
        (Ship(), "measurement", "SHIP"),
        (Ship(confidence=69, reversibility="1"), "execution output", "RESEARCH"),
        (Ship(confidence=90, reversibility="1"), "execution output", "MONITOR"),
        (Ship(confidence=90, reversibility="2B"), "code review", "MONITOR"),
        (Ship(confidence=90, reversibility="2B"), "assumption", "RESEARCH"),
    ],
)
def test_the_verdict_follows_from_confidence_reversibility_and_verification(
    ship: Ship, verified_by: str, verdict: ShipVerdict
) -> None:
    assert verdict_of(ship, verified_by) == verdict
