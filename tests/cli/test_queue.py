"""`loop queue`: what people say to it, what they are told, and what no other command makes of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.projects import Done, Sample


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return Sample.create(tmp_path / "repo")


def queue(sample: Sample, *words: str, code: int = 0) -> Any:  # noqa: ANN401 - JSON
    done = sample.loop("queue", *words, "--json")
    assert done.code == code, (done.out, done.err)
    return done.data


def said(sample: Sample, *words: str, code: int = 0) -> Done:
    done = sample.loop("queue", *words)
    assert done.code == code, (done.out, done.err)
    return done


def filled(sample: Sample) -> None:
    assert queue(sample, "add", "Auth", "--capability", "log in", "--priority", "5") == {"id": "sys-001"}
    words = (
        "--depends-on",
        "sys-001",
        "--mode",
        "supervised",
        "--issue",
        "7",
        "--description",
        "d",
        "--status",
        "specified",
    )
    assert queue(sample, "add", "Web", *words) == {"id": "sys-002"}


def test_an_empty_queue_is_no_error_and_nothing_is_made(sample: Sample) -> None:
    assert queue(sample, "list") == {"domain": "repo", "systems": [], "progress": 0, "nextReady": None}
    assert "`loop queue add NAME` adds one" in said(sample, "list").out
    assert not (sample.repo.path / ".loop").exists()
    assert queue(sample, "export", code=2)["error"].startswith("domain 'repo' has no queue")


def test_what_is_added_is_listed_shown_changed_and_removed(sample: Sample) -> None:
    filled(sample)
    listed = queue(sample, "list")
    assert (listed["progress"], listed["nextReady"]) == (0, "sys-001")
    assert [each["id"] for each in listed["systems"]] == ["sys-001", "sys-002"]
    web = queue(sample, "show", "sys-002")
    assert (web["githubIssue"], web["dependencies"], web["status"]) == (7, ["sys-001"], "specified")
    assert web["autonomy"] == {"mode": "supervised", "gates": [], "reason": ""}
    assert queue(sample, "set", "sys-002", "priority", "1")["priority"] == 1
    assert queue(sample, "set", "sys-002", "depends")["dependencies"] == []
    assert queue(sample, "set", "sys-002", "notes", "n")["notes"] == "n"
    assert queue(sample, "set", "sys-002", "description", "e")["description"] == "e"
    assert queue(sample, "set", "sys-002", "mode", "hybrid")["autonomy"]["mode"] == "hybrid"
    assert queue(sample, "set", "sys-001", "mode", "autonomous")["autonomy"]["mode"] == "autonomous"
    blocked = queue(sample, "set", "sys-002", "status", "blocked", "--reason", "which bank?")
    assert blocked["blockedReason"] == "which bank?"
    assert queue(sample, "remove", "sys-002") == {"id": "sys-002"}
    assert queue(sample, "add", "Other") == {"id": "sys-003"}
    held = json.loads((sample.repo.path / "domain-memory" / "repo" / "system-queue.json").read_text())
    assert [each["id"] for each in held["systems"]] == ["sys-001", "sys-003"]


def test_people_read_a_table(sample: Sample) -> None:
    assert said(sample, "add", "Auth").out == "sys-001 is in the queue.\n"
    said(sample, "add", "Web", "--depends-on", "sys-001", "--capability", "cart")
    assert said(sample, "list").out.splitlines() == [
        "id       status  priority  needs    name",
        "sys-001  ready   1         -        Auth",
        "sys-002  ready   2         sys-001  Web",
        "",
        "0 % complete; next: sys-001",
    ]
    shown = said(sample, "show", "sys-002").out
    assert shown.startswith("sys-002: Web\n  status      ready\n")
    assert shown.endswith("\n  - cart\n")
    assert "status      blocked" in said(sample, "set", "sys-001", "status", "blocked").out
    assert said(sample, "remove", "sys-002").out == "sys-002 is no longer in the queue.\n"
    assert json.loads(said(sample, "export").out)["domain"] == "repo"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("show", "sys-009"), 2, "there is no system 'sys-009' in the queue of repo"),
        (("remove", "sys-009"), 2, "there is no system 'sys-009' in the queue of repo"),
        (("set", "sys-009", "notes", "n"), 2, "there is no system 'sys-009' in the queue of repo"),
        (("set", "sys-001", "colour", "red"), 2, "'colour'"),
        (("set", "sys-001", "status", "done"), 2, "'done' is no status; choose from discovered, specified, ready"),
        (("set", "sys-001", "status"), 2, "status takes one value, and 0 are given"),
        (("set", "sys-001", "priority", "0"), 2, "'0' is no priority"),
        (("set", "sys-001", "priority", "²"), 2, "is no priority"),
        (("set", "sys-001", "mode", "full"), 2, "'full' is no mode"),
        (("add", "X", "--priority", "0"), 2, "'0' is not a whole number from 1"),
        (("add", "X", "--domain", "a/b"), 2, "--domain: expected the name of one folder"),
        (("import", "nowhere.json"), 2, "nowhere.json is not there"),
        (("import", "loop.toml"), 2, "loop.toml: expected JSON"),
        (("set", "sys-001", "status", "complete"), 3, "sys-001 is ready and cannot become complete"),
        (("set", "sys-001", "depends", "sys-002"), 3, "go round in a circle: sys-00"),
        (("add", "X", "--depends-on", "sys-009"), 3, "sys-003 depends on sys-009, which is not in the queue"),
        (("add", " "), 3, "sys-003 has no name"),
        (("remove", "sys-001"), 3, "queue-repo: sys-001 cannot be removed: sys-002 depends on it"),
        (("export", "loop.toml"), 3, "loop.toml is there already"),
        (("export", "check.py/x"), 2, "nothing was written"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(tmp_path: Path, words: tuple[str, ...], code: int, says: str) -> None:
    sample = Sample.create(tmp_path / "repo")
    filled(sample)
    assert says in queue(sample, *words, code=code)["error"]


def test_what_is_handed_out_can_be_taken_in_elsewhere(sample: Sample) -> None:
    filled(sample)
    assert queue(sample, "export", "copy.json")["file"].endswith("/copy.json")
    taken = queue(sample, "import", "copy.json", "--domain", "other")
    assert taken == {"added": ["sys-001", "sys-002"], "known": []}
    one, other = (queue(sample, "export", "--domain", name)["queue"] for name in ("repo", "other"))
    assert one["systems"] == other["systems"]
    refused = queue(sample, "import", "copy.json", "--domain", "other", code=3)["error"]
    assert refused.startswith("the queue of other has 2 systems already; --merge adds what is new")
    assert said(sample, "import", "copy.json", "--domain", "other", "--merge").out.startswith("0 systems added; known")
    (sample.repo.path / "none.json").write_text('{"systems": []}')
    assert queue(sample, "import", "none.json", "--domain", "third") == {"added": [], "known": []}


def test_what_was_changed_by_hand_is_named(sample: Sample) -> None:
    filled(sample)
    path = sample.repo.path / "domain-memory" / "repo" / "system-queue.json"
    path.write_text(path.read_text().replace("Auth", "Login"))
    assert "`loop queue import domain-memory/repo/system-queue.json --merge`" in said(sample, "list").err
    said(sample, "import", str(path), "--merge")
    assert said(sample, "list").err == ""
    assert queue(sample, "show", "sys-001")["name"] == "Login"


def test_no_command_takes_a_queue_for_a_loop(sample: Sample) -> None:
    filled(sample)
    assert sample.loop("status", "--json").data == {"loops": []}
    assert sample.loop("cancel").out == "Nothing to cancel.\n"
    assert sample.loop("resume").code == 0
    assert sample.loop("answer", "continue").code == 3
    assert sample.loop("log").code == 2
    for words in (("status",), ("resume",), ("cancel",)):
        done = sample.loop(*words, "--loop", "queue-repo")
        assert (done.code, "queue-repo is a record that nobody drives" in done.err) == (2, True)
    assert "queue loop created" in sample.loop("log", "--loop", "queue-repo").out
    assert "next ready: sys-001" in sample.loop("explain", "--loop", "queue-repo").out
    assert sample.loop("render").out == "domain-memory/repo/system-queue.json\n"
    assert sample.loop("feedback", "Make it good").code == 0
    assert [each["kind"] for each in sample.loop("status", "--json").data["loops"]] == ["feedback"]
