"""When a review's two files are written, what they hold, and where they are not written."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from loopwright.app.kinds import KINDS
from loopwright.app.publisher import Publisher
from loopwright.engine.world import Seen
from loopwright.errors import ConfigError
from loopwright.kernel.events import Announced, Event
from loopwright.kernel.model import Brief, Commit, Finding, Key, LoopId, Severity
from loopwright.loops.kind import Scene
from loopwright.loops.quality.files import is_settled, persisted
from loopwright.loops.quality.handoff import Persisted
from loopwright.loops.quality.kind import KIND
from loopwright.loops.quality.state import Known, QualityState, ReviewFacts
from loopwright.ports.agent import AgentRun
from tests.loops import verified as v
from tests.loops.quality import (
    ALPHA,
    BETA,
    CANCEL,
    CLEANED,
    FILE,
    FIXED,
    GAMMA,
    LANDED,
    LOADED,
    NO_VERDICT,
    REFUSED,
    THREE,
    THREE_REVIEWS,
    UNCLEAR,
    blocked,
    critical,
    fails,
    fixed,
    looked,
    loop,
    medium,
    outcome,
    passes,
    play,
    says,
    told,
)

HANDOFF = ".loop/stories/pay/handoff.yml"
OTHER = "story_id: ST-002\ncurrent_phase: plan\ncompleted_phases: []\n"
SCOPES = Finding(severity=Severity.HIGH, issue="two scopes", rule="S2", guidance="split it", fingerprint="f1")
ONE_FIX = (*blocked(), *fixed("c1"))


def publish(root: Path, state: QualityState) -> tuple[Path, ...]:
    """As whoever writes them does who has written nothing before."""
    scene = Scene(loop=LoopId("l"), state=state, status="running")
    return Publisher(root, KINDS, pytest.fail).files(scene, KIND)


def written(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def issues(root: Path) -> list[str]:
    return [each["check"] for each in yaml.safe_load((root / FILE).read_text())["findings"]]


@pytest.mark.parametrize(
    ("events", "settled"),
    [
        ((), False),
        (blocked(), False),
        (ONE_FIX, False),
        ((*ONE_FIX, LOADED, passes()), False),  # the verdict is not on record yet
        ((*ONE_FIX, *looked(passes(), "o2")), True),
        ((*ONE_FIX, *looked(passes(), "o2"), LANDED), True),
        ((*ONE_FIX, *looked(passes(), "o2"), REFUSED), True),
        (THREE_REVIEWS, True),
        ((*THREE_REVIEWS, says("history")), True),
        ((*THREE_REVIEWS, says("continue")), False),
        ((*THREE_REVIEWS, says("revise", text="look again")), False),
        ((*THREE_REVIEWS, says("accept")), True),
        ((*THREE_REVIEWS, says("cancel"), CLEANED), True),
        ((*blocked(), CANCEL, CLEANED), False),
        ((*blocked(), UNCLEAR), False),
    ],
)
def test_findings_are_on_file_when_it_passed_or_a_person_has_the_word(
    tmp_path: Path, events: tuple[Event, ...], *, settled: bool
) -> None:
    state = told(*events)
    assert is_settled(state) is settled
    publish(tmp_path, state)
    assert written(tmp_path) == ([HANDOFF] if settled else [])


@pytest.mark.parametrize(
    ("events", "there"),
    [
        ((), False),
        ((LOADED,), False),
        ((LOADED, fails(*THREE)), True),
        (blocked(), True),
        ((*blocked(), FIXED), True),
        (ONE_FIX, True),
        ((*blocked(), UNCLEAR), True),
        (THREE_REVIEWS, True),
        ((*THREE_REVIEWS, says("continue")), True),
        ((*ONE_FIX, LOADED, passes()), False),
        ((*ONE_FIX, *looked(passes(), "o2"), REFUSED), False),
        ((*THREE_REVIEWS, says("accept")), False),
        ((*THREE_REVIEWS, says("cancel")), False),
        ((*blocked(), CANCEL), False),
    ],
)
def test_the_file_is_beside_the_artifact_exactly_while_it_is_blocked(
    tmp_path: Path, events: tuple[Event, ...], *, there: bool
) -> None:
    publish(tmp_path, told(*blocked(), file=FILE))  # one that was there before is taken away again
    publish(tmp_path, told(*events, file=FILE) if events else loop(file=FILE))
    is_new = not events or events == (LOADED,)
    assert (tmp_path / FILE).exists() is (there or is_new)


def test_at_an_inline_gate_there_is_no_such_file(tmp_path: Path) -> None:
    assert publish(tmp_path, told(*blocked())) == ()
    assert written(tmp_path) == []


def test_the_files_that_were_written_are_named(tmp_path: Path) -> None:
    assert publish(tmp_path, told(*THREE_REVIEWS, file=FILE)) == (tmp_path / FILE, tmp_path / HANDOFF)


def test_the_file_has_what_is_open_in_the_newest_round(tmp_path: Path) -> None:
    state = told(*ONE_FIX, *blocked(ALPHA, BETA, critical("new"), content="o2"), file=FILE)
    publish(tmp_path, state)
    assert issues(tmp_path) == ["new", "alpha", "beta"]
    assert yaml.safe_load((tmp_path / FILE).read_text())["round"] == 2


def test_a_reviewer_that_gave_no_verdict_is_what_the_file_says(tmp_path: Path) -> None:
    publish(tmp_path, told(*NO_VERDICT, file=FILE))
    assert issues(tmp_path) == ["no-verdict"]


def test_a_file_that_has_not_changed_is_not_written_again(tmp_path: Path) -> None:
    publish(tmp_path, told(*blocked(), file=FILE))
    before = (tmp_path / FILE).stat().st_ino
    publish(tmp_path, told(*blocked(), FIXED, file=FILE))
    assert (tmp_path / FILE).stat().st_ino == before


SHOWN = f".loop/quality/{FILE}"


def test_the_person_has_the_file_among_ours_and_nothing_of_theirs_is_touched(tmp_path: Path) -> None:
    state = told(*THREE_REVIEWS, file=FILE, shown=SHOWN)
    assert publish(tmp_path, state) == (tmp_path / SHOWN, tmp_path / HANDOFF)
    assert yaml.safe_load((tmp_path / SHOWN).read_text())["verdict"] == "BLOCKED"
    assert not (tmp_path / FILE).exists()
    (ask,) = KIND.loop.decide(state)
    assert f"They are in {SHOWN}." in ask.question  # type: ignore[union-attr]
    publish(tmp_path, told(*ONE_FIX, LOADED, passes(), file=FILE, shown=SHOWN))
    assert not (tmp_path / SHOWN).exists()


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    "mine", [b"mine: precious\n", b"", b"story_id: ST-1\nverdict: BLOCKED\nround: 2\nfindings: []\n"]
)
def test_a_file_that_we_did_not_write_is_neither_replaced_nor_removed(
    tmp_path: Path, mine: bytes, *, beside: bool
) -> None:
    path = tmp_path / (FILE if beside else SHOWN)
    path.parent.mkdir(parents=True)
    path.write_bytes(mine)
    heard: list[str] = []
    publisher = Publisher(tmp_path, KINDS, heard.append)
    for events in (blocked(), (*ONE_FIX, LOADED, passes()), (*blocked(), CANCEL, CLEANED)):
        publisher.recorded(seen(told(*events, file=FILE, shown="" if beside else SHOWN)))
        assert path.read_bytes() == mine
    (said,) = heard
    assert said.startswith(f"{path}: it is not Loopwright's; it is left as it is")


def seen(state: QualityState) -> Seen:
    event = Announced(key=Key.parse("verdict-1.1"))
    return Seen(loop=LoopId("l"), kind="quality", state=state, event=event, seq=2, status="running")


@pytest.mark.parametrize("link", ["the folder", "the file"])
def test_findings_are_not_written_through_a_link_and_somebody_hears_of_it(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
    (outside / "pay.quality.yml").write_text("mine")
    if link == "the folder":
        (root / "src").symlink_to(outside)
    else:
        (root / "src").mkdir()
        (root / FILE).symlink_to(outside / "pay.quality.yml")
    state = told(*blocked(), file=FILE)
    with pytest.raises(ConfigError, match="is a link; nothing is read or written there"):
        publish(root, state)
    heard: list[str] = []
    Publisher(root, KINDS, heard.append).recorded(seen(state))
    assert (outside / "pay.quality.yml").read_text() == "mine"
    (said,) = heard
    place = root / FILE if link == "the file" else root / "src"
    assert said.startswith(f"{place}: is a link; nothing is read or written there; it was left as it is")


def test_what_is_persisted_tells_resolved_open_and_put_off_apart() -> None:
    late = medium("late")
    state = told(*ONE_FIX, *blocked(ALPHA, critical("new"), late, content="o2"))
    assert sorted(persisted(state), key=lambda each: each.finding.rule) == [
        Persisted(finding=ALPHA),
        Persisted(finding=BETA, resolved_in=Commit("c1")),
        Persisted(finding=GAMMA, resolved_in=Commit("c1")),
        Persisted(finding=late, deferred=True),
        Persisted(finding=critical("new")),
    ]


def test_what_a_fix_resolved_is_bound_to_where_it_landed() -> None:
    passed = told(*ONE_FIX, *looked(passes(), "o2"))
    assert {(each.resolved, each.resolved_in) for each in persisted(passed)} == {(True, "c1")}
    landed = play(passed, LANDED)
    assert {(each.resolved, each.resolved_in) for each in persisted(landed)} == {(True, "landed")}
    cancelled = play(passed, CANCEL, REFUSED, CLEANED)
    assert {(each.resolved, each.resolved_in) for each in persisted(cancelled)} == {(False, "c1")}


def test_what_was_gone_when_the_review_began_is_resolved_wherever_that_is() -> None:
    state = told(*looked(passes()), known=(Known(finding=ALPHA, gate="code", elsewhere=True),))
    assert persisted(state) == (Persisted(finding=ALPHA, resolved=True),)


def test_what_an_accepted_candidate_has_mended_only_in_what_did_not_land_is_persisted_as_open() -> None:
    weak, worse = critical("weak", file="tests/t.py"), critical("worse")
    reviews = (*blocked(weak, ALPHA), *fixed("c1"), *blocked(worse, content="o2"), *fixed("c2"))
    # The last attempt has it again; the one before, which is taken, has not.
    state = told(*reviews, *blocked(worse, weak, content="o3"), says("accept"), trust=v.NOW)
    ended = play(state, replace(LANDED, held=v.BENT, held_on="loop/1-held"))
    assert [each.rule for each in outcome(ended).waiting] == ["weak"]
    assert {each.finding.rule: (each.resolved, each.accepted) for each in persisted(ended)} == {
        "weak": (False, False),
        "alpha": (True, False),
        "worse": (False, True),
    }


@pytest.mark.parametrize(
    ("second", "left"),
    [
        ((ALPHA,), {"alpha": (False, True), "beta": (True, False), "gamma": (True, False)}),
        # Worse than the first, which is taken then: what the second brought went with it.
        (
            (ALPHA, critical("new")),
            {"alpha": (False, True), "beta": (False, True), "gamma": (False, True), "new": (True, False)},
        ),
    ],
)
def test_what_is_left_in_the_candidate_a_person_accepted_is_persisted_as_accepted(
    second: tuple[Finding, ...], left: dict[str, tuple[bool, bool]]
) -> None:
    state = told(*ONE_FIX, *blocked(*second, content="o2"), max_attempts=2)
    accepted = play(state, says("accept"))
    accepted = accepted if accepted.course.outcome else play(accepted, LANDED)
    assert {each.finding.rule: (each.resolved, each.accepted) for each in persisted(accepted)} == left


def test_what_the_engine_itself_found_is_no_finding_of_a_gate() -> None:
    assert persisted(told(*NO_VERDICT)) == ()


# --- handed to the creator ----------------------------------------------------------------------------------


def handed(file: str) -> Mapping[str, str]:
    own = ReviewFacts(gate="story", story="ST-1", findings_file=file)
    brief = Brief(task="t", attempt=2, limit=3, findings=(SCOPES,), own=own)
    return KIND.handed(
        AgentRun(
            loop=LoopId("l"),
            kind="quality",
            key=Key.parse("fix-2.1"),
            step="l/1/fix-2.1",
            role="creator",
            brief=brief,
            folder=Path("work"),
        )
    )


def test_a_creator_is_handed_the_findings_in_the_file_it_is_told_of() -> None:
    files = handed("stories/ST-1.quality.yml")
    assert {name: yaml.safe_load(text) for name, text in files.items()} == {
        "stories/ST-1.quality.yml": {
            "story_id": "ST-1",
            "verdict": "BLOCKED",
            "round": 2,
            "findings": [
                {
                    "severity": "P1",
                    "check": "S2",
                    "dimension": "",
                    "issue": "two scopes",
                    "guidance": "split it",
                    "id": "f1",
                }
            ],
        }
    }


def test_findings_that_are_handed_over_inline_need_no_file() -> None:
    assert handed("") == {}


# --- a story that was taken over ----------------------------------------------------------------------------


def test_the_handoff_of_another_story_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / HANDOFF
    path.parent.mkdir(parents=True)
    path.write_text(OTHER)
    with pytest.raises(ConfigError, match="story_id: has to be pay, as the folder is called"):
        publish(tmp_path, told(*THREE_REVIEWS))
    assert path.read_text() == OTHER


def test_what_a_story_was_taken_over_with_is_its_beginning_and_is_made_anew_where_it_is_lost(tmp_path: Path) -> None:
    taken = json.dumps({"story_id": "pay", "current_phase": "plan", "completed_phases": [], "owner": "ann"})
    publish(tmp_path, loop(adopted=taken))
    held = yaml.safe_load((tmp_path / HANDOFF).read_text())
    assert (held["owner"], held["current_phase"]) == ("ann", "plan")
    publish(tmp_path, told(*THREE_REVIEWS, adopted=taken))
    held = yaml.safe_load((tmp_path / HANDOFF).read_text())
    assert (held["owner"], held["current_phase"], len(held["quality_findings"])) == ("ann", "code", 3)
