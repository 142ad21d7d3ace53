import json
import os
from pathlib import Path

import pytest

from tests.cli.projects import Done, Sample
from tests.cli.tickets import creates, folder, texts, ticketed
from tests.test_schemas import mistakes

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("kills")]

# As the tools that the cycle was built after leave a session: a ticket that was routed back, and its rework.
FIRST = """\
---
ticket_id: TICKET-export-001
session_id: export
sequence: "001"
parent_ticket: null
title: Add an export
cycle_type: development
status: route_back
---

# Requirements

- [ ] AC-1: there are tests
- [ ] AC-2: errors are told

# Creator Section

## Implementation Notes

wrote it in one file
"""
SECOND = """\
---
ticket_id: TICKET-export-002
session_id: export
sequence: "002"
parent_ticket: TICKET-export-001
title: "[Iteration 2/5] Add an export"
cycle_type: development
status: {status}
iteration:
  index: 2
  max: 5
  parent_ticket: TICKET-export-001
  accuracy_score: 0.3
---

# Requirements

- [ ] AC-1: there are tests
- [ ] AC-2: errors are told

# Attempt History

## Attempt 1: TICKET-export-001
- **Outcome**: ROUTE_BACK
- **Accuracy**: 0.30
- **Key Gaps**: ["no tests", "no error handling"]

# Structured Feedback

### Requirement: there are tests
| Expected | Actual | Score |
|----------|--------|-------|
| >= 80% line coverage | 45% coverage | 0.56 |

**Guidance**: Add tests for handleTimeout()
"""


def left(path: Path, status: str = "in_progress") -> Path:
    path.mkdir(parents=True)
    (path / "TICKET-export-001.md").write_text(FIRST)
    (path / "TICKET-export-002.md").write_text(SECOND.format(status=status))
    return path


def adopt(sample: Sample, *words: str, code: int = 0) -> Done:
    done = sample.loop("adopt", *words, "--json")
    assert done.code == code, done.err
    assert mistakes("adopt" if code == 0 else "error", done.data) == []
    return done


@pytest.mark.parametrize("name", ["theirs", "theirs/active/export", "theirs/active/export/TICKET-export-002.md"])
def test_a_session_goes_on_with_the_ticket_that_was_under_way(tmp_path: Path, name: str) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    theirs = left(tmp_path / "theirs" / "active" / "export")
    before = texts(theirs)
    data = adopt(sample, str(tmp_path / name)).data
    assert (data["kind"], data["state"]) == ("tickets", "PREFLIGHT")
    assert list(texts(folder(sample, "active", "export"))) == ["TICKET-export-002.md"]
    done = sample.loop("ticket", "run", "--json").data
    assert (done["loop"], done["session"], done["verdict"]) == (data["loop"], "export", "APPROVE")
    assert done["tickets"] == ["TICKET-export-001", "TICKET-export-002"]
    text = texts(folder(sample, "completed", "export"))["TICKET-export-002.md"]
    assert '- **Key Gaps**: ["there are tests"' in text
    assert "| >= 80% line coverage | 45% coverage | 0.56 |" in text
    assert texts(theirs) == before
    (brief,) = [
        text
        for file in (sample.repo.path / ".loop" / "runs").rglob("brief.md")
        if (text := file.read_text()).startswith("# Brief for the creator")
    ]
    assert "TICKET-export-001: ROUTE_BACK, accuracy 0.30" in brief
    assert "guidance: Add tests for handleTimeout()" in brief
    assert sample.loop("ticket", "show", "TICKET-export-001").err == (
        "loop: TICKET-export-001 was adopted, and its file stays where it came from; the newest of the session is"
        " TICKET-export-002\n"
    )


def test_a_session_that_was_routed_back_goes_on_with_the_next_number(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    adopt(sample, str(left(tmp_path / "export", "needs_changes")))
    assert sample.loop("resume", "--json").data["tickets"][-1] == "TICKET-export-003"


def test_a_session_that_was_escalated_asks_how_to_go_on(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    data = adopt(sample, str(left(tmp_path / "export", "escalated"))).data
    assert data["state"] == "ESCALATED"
    assert sample.loop("ticket", "list", "--json").data["active"][0]["status"] == "escalated"
    assert sample.loop("ticket", "run", "--json").code == 4
    assert sample.loop("answer", "continue").code == 0
    assert sample.loop("ticket", "run", "--json").data["tickets"][-1] == "TICKET-export-003"


CRITIC = "\n# Critic Section\n\n## Approval Decision\n\n{said}\n\n## Rationale\n\nThere are no tests.\n"


def next_after_preflight(sample: Sample) -> str:
    """The step that came next, without its numbers."""
    events = map(json.loads, sample.loop("log", "--json").out.splitlines())
    started = [event["key"] for event in events if event["kind"] == "Started"]
    return str(started[started.index("preflight") + 1]).partition("-")[0]


@pytest.mark.parametrize(
    ("status", "said", "state"),
    [
        ("critic_review", "", "CRITIQUE"),
        ("expediter_review", CRITIC.format(said="APPROVED"), "CHECKS"),
        ("expediter_review", CRITIC.format(said="NEEDS_CHANGES"), "CHECKS"),
        ("expediter_review", "", "CRITIQUE"),
        ("blocked", "\n# Creator Section\n\n## Concerns\n\nWhich database?\n", "CLARIFY"),
        ("claimed", "", "CREATE"),
    ],
)
def test_a_ticket_goes_on_with_the_role_whose_turn_it_is(tmp_path: Path, status: str, said: str, state: str) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    theirs = left(tmp_path / "export", status)
    file = theirs / "TICKET-export-002.md"
    file.write_text(file.read_text() + said)
    first = adopt(sample, str(theirs)).data["state"]
    assert first == ("CLARIFY" if state == "CLARIFY" else "PREFLIGHT")
    if first == "PREFLIGHT":
        assert sample.loop("resume", "--json").code in (0, 4)
        assert next_after_preflight(sample) == state.lower()
    assert ("Which database?" in sample.loop("status").out) == (status == "blocked")


def test_an_approved_session_is_refused(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    done = adopt(sample, str(left(tmp_path / "export", "approved")), code=2)
    assert done.data["error"].endswith("status: is approved; there is nothing to go on with")
    assert sample.loop("status", "--json").data == {"loops": []}


def test_of_several_sessions_the_newest_that_is_not_approved_is_meant_or_the_one_named(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    theirs = tmp_path / "tickets"
    for age, (session, status) in enumerate([("done", "approved"), ("young", "open"), ("old", "open")]):
        path = theirs / ("completed" if status == "approved" else "active") / session
        path.mkdir(parents=True)
        text = FIRST.replace("export", session).replace("route_back", status)
        file = path / f"TICKET-{session}-001.md"
        file.write_text(text)
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    assert adopt(sample, str(theirs)).data["loop"].startswith("young-")
    assert adopt(sample, str(theirs), "--session", "old").data["loop"].startswith("old-")
    assert (
        "has no session 'none'; there are done, old, young"
        in adopt(sample, str(theirs), "--session", "none", code=2).data["error"]
    )
    again = adopt(sample, str(theirs), code=2).data["error"]
    assert "session young is known here already" in again


def test_where_all_are_approved_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    left(tmp_path / "all" / "export", "approved")
    other = tmp_path / "all" / "other"
    other.mkdir()
    (other / "TICKET-other-001.md").write_text(FIRST.replace("export", "other").replace("route_back", "approved"))
    assert "every session in" in adopt(sample, str(tmp_path / "all"), code=2).data["error"]


def test_a_bad_ticket_is_told_with_file_and_line_and_nothing_is_begun(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    theirs = left(tmp_path / "export", "perhaps")
    assert f"{theirs}/TICKET-export-002.md:8: status: " in adopt(sample, str(theirs), code=2).data["error"]
    assert sample.loop("status", "--json").data == {"loops": []}


def test_a_folder_without_anything_to_adopt_says_what_could_be(tmp_path: Path) -> None:
    sample = ticketed(tmp_path / "repo")
    (tmp_path / "empty").mkdir()
    said = adopt(sample, str(tmp_path / "empty"), code=2).data["error"]
    sorts = "a progress.json, a handoff.yml, a folder of tickets, a workflow-state.json or a loop-state.json"
    assert said.endswith(f"none of these: {sorts}; name the file")
    progress = tmp_path / "progress.json"
    progress.write_text("{}")
    assert (
        "--session goes with a folder of tickets"
        in adopt(sample, str(progress), "--session", "s", code=2).data["error"]
    )
