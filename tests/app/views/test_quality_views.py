"""What `loop explain` and `loop status` say of a quality loop and of a batch."""

from collections.abc import Callable
from dataclasses import replace

from loopwright.app.loops import View
from loopwright.app.views import explanation, status
from loopwright.app.views.status import LoopStatus
from loopwright.kernel.codec import encode
from loopwright.loops.batch.state import BatchState
from loopwright.loops.quality import verdict
from loopwright.loops.quality.state import Known, QualityState
from loopwright.ports.store import Status
from tests import hostile
from tests.app.views import seen
from tests.rooms.quality.reviews import (
    AGAIN,
    BATCHES,
    BLOCKED,
    BY_FILE,
    FIXED,
    NAMELESS,
    PARAMS,
    STORIES,
    UNBOUND,
    UNPROVEN,
    USED_UP,
    announced,
    fixed,
    found,
    kept_some,
    loaded,
    played,
    row,
)

Golden = Callable[[str, str], None]


def viewed(state: QualityState | BatchState, word: Status = "running") -> View:
    kind = "quality" if isinstance(state, QualityState) else "batch"
    return seen.seen(state, row(kind, encode(state.plan), word))


def explained(state: QualityState | BatchState, word: Status = "running") -> str:
    return explanation.render(viewed(state, word), word)


def shown(state: QualityState | BatchState, word: Status = "running") -> LoopStatus:
    return seen.shown(viewed(state, word))


def test_every_rule_and_every_exception_is_explained(golden: Golden) -> None:
    late = replace(NAMELESS, issue="y says nothing", evidence="the name y", fingerprint="y")
    state = played(*BLOCKED, fixed("Bounded"), kept_some, loaded, found(UNBOUND, late, UNPROVEN), announced)
    assert verdict.counts_from(state).value == "high"
    golden("texts/explain-quality.txt", explained(state))


def test_a_batch_is_explained_with_what_is_blocked(golden: Golden) -> None:
    golden("texts/explain-batch.txt", explained(BATCHES["escalated"], "waiting"))


def test_the_rules_are_those_of_the_verdict() -> None:
    assert verdict.RULES[0] == "A finding without evidence or without guidance is no finding."
    assert all(rule in explained(played()) for rule in verdict.RULES)


def test_a_finding_from_before_says_so() -> None:
    before = replace(PARAMS, known=(Known(finding=UNBOUND, gate="code"),))
    assert "[critical open since before this loop] src/a.py:3" in explained(played(params=before))
    assert "[critical open since review 1, 2 in a row] src/a.py:3" in explained(played(*AGAIN, *FIXED, *AGAIN))


def test_no_finding_steers_whoever_reads_the_explanation() -> None:
    odd = replace(UNPROVEN, issue="x\n  Budget:\x1b[2J\n  9 USD")
    text = explained(played(loaded, found(UNBOUND, odd), announced))
    assert hostile.all_harmless(text)
    assert "dropped from review 1: x Budget:\\x1b[2J 9 USD: no evidence\n" in text


def test_the_five_lines(golden: Golden) -> None:
    blocks = [
        shown(played(*BLOCKED)),
        shown(STORIES["escalated"], "waiting"),
        shown(played(*USED_UP, params=BY_FILE), "waiting"),
        shown(BATCHES["fixing"]),
        shown(BATCHES["escalated"], "waiting"),
    ]
    golden("texts/status-quality.txt", "\n".join(status.human(block) for block in blocks))


def test_an_escalated_review_needs_an_answer() -> None:
    (need,) = shown(STORIES["escalated"], "waiting").needs
    assert need.why == "MAX_LOOPS_REACHED: 3 reviews and 2 fixes"
    assert [choice.command for choice in need.choices] == [
        "loop answer continue 3",
        "loop answer accept",
        "loop answer history",
        'loop answer revise --text "new guidance"',
        "loop answer cancel",
    ]


def test_an_escalated_review_names_the_file_of_its_findings() -> None:
    (need,) = shown(played(*USED_UP, params=BY_FILE), "waiting").needs
    assert need.why == "MAX_LOOPS_REACHED: 3 reviews and 2 fixes; findings in src/a.quality.yml"
    assert "They are in src/a.quality.yml." in need.what


def test_an_escalated_batch_needs_an_answer() -> None:
    (need,) = shown(BATCHES["escalated"], "waiting").needs
    assert need.kind == "escalation"
    assert "1 blocked of 3 artifacts. Blocked: c.yml." in need.what
    assert need.command == "loop answer continue 3"


def test_a_loop_is_named_by_what_it_is_about() -> None:
    quality, together = shown(played()), shown(BATCHES["first-round"])
    assert (quality.task, together.task) == ("src/a.py", "3 artifacts: a.yml, b.yml, c.yml")
    assert (quality.state, together.state) == ("LOAD_ARTIFACTS", "REVIEW")
