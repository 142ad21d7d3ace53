"""Gates of a system that people decide on its pull request, with the real `gh`."""

from pathlib import Path

import pytest

from tests.adapters.forges.github_stand_in import needs_gh
from tests.e2e.hosted_system import HostedSystem, hosted_system

pytestmark = [needs_gh, pytest.mark.slow]
TICKED = "- [x] no secret in the code\n- [X] input is checked\n- [x] what is stored is protected"


def stands(hosted: HostedSystem) -> tuple[str, str | None, int]:
    found = hosted.run()
    return found["state"], found["gate"], found["code"]


def test_a_system_is_approved_on_its_pull_request_and_merged_as_it_was_approved(tmp_path: Path) -> None:
    with hosted_system(tmp_path) as hosted:
        hub, architecture = hosted.hub, ("SCAFFOLD", "architecture", 4)
        assert stands(hosted) == architecture
        assert (hosted.pull.draft, hosted.pull.labels) == (True, ["needs:architecture-review"])
        assert hosted.pull.requested == ["ada"]
        assert "Architecture Review Requested" in hosted.pull.comments[0]["body"]
        assert "Closes #7" in hosted.pull.body

        hub.say(1, "mallory", "architecture approved")
        assert stands(hosted) == architecture
        hub.review(1, "ada", "CHANGES_REQUESTED", "It needs a version.")
        assert stands(hosted) == architecture  # of what was made anew
        assert "architecture rejected by ada@git.test: It needs a version." in hosted.loop("log").out

        hub.say(1, "ada", "Architecture approved.")
        assert stands(hosted) == ("VALIDATE", "security", 4)
        assert hosted.pull.labels == ["needs:security-review"]
        hub.say(1, "ada", TICKED)
        assert stands(hosted) == ("VALIDATE", "security", 4)
        hub.review(1, "grace", "APPROVED")
        assert stands(hosted) == ("REVIEW", "deploy", 4)

        hub.strangers.append("eve")
        hub.review(1, "eve", "APPROVED")
        assert stands(hosted) == ("REVIEW", "deploy", 4)
        approved = hub.head_of(hosted.pull)
        hub.review(1, "grace", "APPROVED")
        assert stands(hosted) == ("COMPLETE", None, 0)
        pull = hosted.pull
        assert (pull.state, pull.head, pull.labels, pull.draft) == ("MERGED", approved, [], False)
        assert "deploy: approved by grace@git.test" in pull.body


@pytest.mark.kills
def test_a_pull_request_that_somebody_closes_blocks_the_system_until_it_is_as_it_was(tmp_path: Path) -> None:
    with hosted_system(tmp_path) as hosted:
        stands(hosted)
        hosted.hub.close(1)
        assert stands(hosted) == ("BLOCKED", None, 4)
        assert "The pull request #1 was closed unmerged" in hosted.loop("status").out
        hosted.pull.state = "OPEN"
        done = hosted.loop("resume", "--json")
        assert done.code == 4, done.err
        hosted.hub.say(1, "ada", "architecture approved")
        assert stands(hosted) == ("VALIDATE", "security", 4)
