"""`loop demo --system`: a queue of two systems with real git and real checks, to the end of the first."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.projects import loop
from tests.cli.test_looking import Golden, normal
from tests.repository import Repository
from tests.test_schemas import mistakes

ON_MAIN = """\
feat(sys-001): resolve
chore(sys-001): review of Link box
docs(sys-001): documentation of Link box
docs(sys-001): validation of Link box
feat(sys-001): resolve
feat(sys-001): sign
fix(sys-001): The import is gone.
feat(sys-001): shorten
fix(sys-001): The colon is there.
chore(sys-001): scaffold of Link box
docs(sys-001): specification of Link box
The sample project"""
WAY = (
    "INIT → SCAFFOLD",
    "SCAFFOLD → FAILED",
    "FAILED → RETRY",
    "RETRY → SCAFFOLD",
    "SCAFFOLD → IMPLEMENT",
    "IMPLEMENT → TEST",
    "TEST → VERIFY",
    "VERIFY → FAILED",
    "FAILED → RETRY",
    "RETRY → VERIFY",
    *("VERIFY → IMPLEMENT", "IMPLEMENT → TEST", "TEST → VERIFY"),
    *("VERIFY → IMPLEMENT", "IMPLEMENT → TEST", "TEST → VERIFY"),
    *("VERIFY → VALIDATE", "VALIDATE → DOCUMENT", "DOCUMENT → REVIEW"),
    *("IMPLEMENT → TEST", "TEST → VERIFY", "VERIFY → VALIDATE", "VALIDATE → DOCUMENT", "DOCUMENT → REVIEW"),
    *("REVIEW → SHIP", "SHIP → COMPLETE"),
    "INIT → SCAFFOLD",  # of the next system
)


@pytest.mark.slow
@pytest.mark.unmeasured
def test_the_demo_of_a_system_goes_through_all_states_and_says_so(tmp_path: Path, golden: Golden) -> None:
    folder = tmp_path / "demo"
    done = loop(tmp_path, "demo", "--system", "--at", "demo")
    assert done.code == 0, done.err
    assert tuple(re.findall(r"move-\S+ +(\w+ → \w+)", done.err)) == WAY
    repository = Repository(folder)
    assert repository.git("log", "--format=%s", "main") == ON_MAIN
    assert "Attempt: 1/3" in repository.git("log", "-1", "--format=%b", "main~8")
    gates = [(each["name"], each["status"]) for each in loop(folder, "gates", "--all", "--json").data["gates"]]
    assert gates == [("security", "approved"), ("deploy", "rejected"), ("deploy", "approved")]
    queue = json.loads((folder / "domain-memory" / "links" / "system-queue.json").read_text())
    assert [each["status"] for each in queue["systems"]] == ["complete", "in-progress"]
    shown = re.sub(r"\bsystem-[0-9a-f]{8}\b", "LOOP", normal(done.out, folder))
    shown = re.sub(r"^  [0-9a-f]{7,11} ", "  COMMIT ", shown, flags=re.MULTILINE)
    golden("cli/demo-system.txt", re.sub(r"\(loop is \S+\)", "(loop is LOOP)", shown))


@pytest.mark.slow
@pytest.mark.kills
def test_the_demo_of_a_system_as_data(tmp_path: Path) -> None:
    done = loop(tmp_path, "demo", "--system", "--json", TMPDIR=str(tmp_path))
    assert done.code == 0, done.err
    assert mistakes("demo", done.data) == []
    answer = {key: done.data[key] for key in ("outcome", "merged_into", "system", "state", "capabilities", "failures")}
    assert answer == {
        "outcome": "complete",
        "merged_into": "main",
        "system": "sys-001",
        "state": "COMPLETE",
        "capabilities": 3,
        "failures": 3,  # a build, the linter, and what a person said no to
    }
    assert Path(done.data["folder"]).parent == tmp_path


def test_one_demo_at_a_time(tmp_path: Path) -> None:
    done = loop(tmp_path, "demo", "--system", "--workflow")
    assert (done.code, "give one of --workflow and --system" in done.err) == (2, True)
