import json

import pytest

from loopwright.adapters.forges.github_json import (
    Json,
    checks_of,
    listed,
    marked,
    opinions_of,
    page_of,
    repository_of,
)
from loopwright.adapters.forges.programs import Fault, fault_of_gh, fault_of_git
from loopwright.adapters.git.program import Said
from loopwright.kernel.model import Commit
from loopwright.kernel.proposals import Opinion, PullRequest


def review(by: str, state: str, text: str = "", commit: str = "c1") -> dict[str, object]:
    return {"author": {"login": by}, "state": state, "body": text, "commit": {"oid": commit}}


def check(name: str, **more: str) -> dict[str, object]:
    return {"__typename": "CheckRun", "name": name, "status": "COMPLETED", "conclusion": "SUCCESS", **more}


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://github.com/acme/shop.git", ("github.com", "acme/shop")),
        ("https://ada:secret@GitHub.com/acme/shop", ("github.com", "acme/shop")),
        ("https://git.test:8443/acme/shop.git", ("git.test:8443", "acme/shop")),
        ("git@github.com:acme/shop.js.git", ("github.com", "acme/shop.js")),
        ("ssh://git@github.com:22/acme/shop.git/", ("github.com", "acme/shop")),
        ("/srv/git/shop.git", None),
        ("https://github.com/acme", None),
        ("../shop", None),
    ],
)
def test_the_address_of_a_remote_names_a_repository(url: str, found: tuple[str, str] | None) -> None:
    assert repository_of(url) == found


def test_the_last_word_of_each_person_that_decides_counts() -> None:
    reviews = [
        review("ada", "APPROVED", commit="c1"),
        review("bob", "CHANGES_REQUESTED", "Not yet."),
        review("ada", "CHANGES_REQUESTED", "Look at line 3.", "c2"),
        review("ada", "COMMENTED", "And at line 4.", "c2"),
        review("cyd", "DISMISSED", "Was once approved."),
        review("bob", "APPROVED", commit="c2"),
        review("dan", "PENDING"),
    ]
    assert opinions_of(reviews, ()) == (
        Opinion(by="ada", said="changes-requested", text="Look at line 3.", commit=Commit("c2")),
        Opinion(by="cyd", said="withdrawn", text="Was once approved.", commit=Commit("c1")),
        Opinion(by="bob", said="approved", commit=Commit("c2")),
        Opinion(by="ada", said="commented", text="And at line 4.", commit=Commit("c2")),
    )


def test_what_people_said_is_told_and_what_we_said_is_not() -> None:
    comments: list[Json] = [
        {"author": {"login": "ada"}, "body": "/approve\u202e it"},
        {"author": {"login": "bot"}, "body": marked("Please look.")[1]},
        {"author": {"login": "spam"}, "body": "Buy!", "isMinimized": True},
        {"author": None, "body": "From one who is gone."},
        {"author": {"login": "eve"}, "body": "x" * 9000},
    ]
    said = opinions_of((), comments)
    assert [(each.by, each.said, each.text) for each in said[:2]] == [
        ("ada", "commented", "/approve\\u202e it"),
        ("", "commented", "From one who is gone."),
    ]
    assert (len(said), len(said[2].text)) == (3, 8000)


def test_what_was_edited_is_left_out() -> None:
    comments: list[Json] = [
        {"author": {"login": "ada"}, "body": "architecture approved", "includesCreatedEdit": True},
        {"author": {"login": "bob"}, "body": "architecture approved", "includesCreatedEdit": False},
    ]
    reviews = [
        {**review("ada", "COMMENTED", "- [x] no secret in the code"), "includesCreatedEdit": True},
        {**review("cyd", "APPROVED", "Fine."), "includesCreatedEdit": True},  # its state cannot be edited
    ]
    assert [(each.by, each.said) for each in opinions_of(reviews, comments)] == [
        ("cyd", "approved"),
        ("bob", "commented"),
    ]


def test_a_dismissed_review_takes_back_what_its_author_said_before() -> None:
    reviews = [review("ada", "APPROVED"), review("ada", "DISMISSED", "Not yet.")]
    assert [(each.by, each.said) for each in opinions_of(reviews, ())] == [("ada", "withdrawn")]


def test_checks_that_failed_and_that_have_not_ended_are_named() -> None:
    rollup: list[Json] = [
        check("lint"),
        check("docs", conclusion="SKIPPED"),
        check("test", conclusion="FAILURE", workflowName="CI", startedAt="2026-01-01T00:00:00Z"),
        check("test", workflowName="CI", startedAt="2026-01-01T01:00:00Z"),
        check("build", conclusion="FAILURE", startedAt="2026-01-01T01:00:00Z"),
        check("build", startedAt="2026-01-01T00:00:00Z"),
        check("slow", conclusion="", status="IN_PROGRESS"),
        check("late", conclusion="TIMED_OUT"),
        {"__typename": "StatusContext", "context": "ci/old", "state": "ERROR"},
        {"__typename": "StatusContext", "context": "ci/waits", "state": "PENDING"},
        {"__typename": "StatusContext", "context": "ci/fine", "state": "SUCCESS"},
    ]
    assert checks_of(rollup) == (("build", "ci/old", "late"), ("ci/waits", "slow"))


def test_what_is_not_as_expected_is_left_out() -> None:
    data = {"number": 3, "state": "DRAFTED", "comments": "none", "labels": [None, {"name": 7}], "mergeCommit": "c"}
    page = page_of(json.dumps(data))
    assert page.seen == PullRequest(number=3, state="closed")
    assert page.labels == {""}


def test_a_fork_with_a_branch_of_the_same_name_is_not_ours() -> None:
    text = '[{"number": 2, "state": "OPEN", "headRefOid": "c", "isCrossRepository": true}]'
    assert listed(text) == []


@pytest.mark.parametrize(
    ("code", "err", "is_away"),
    [
        (1, "HTTP 502: Bad Gateway (https://git.test/api)", True),
        (1, "GraphQL: API rate limit exceeded for user", True),
        (1, "dial tcp: lookup git.test: no such host", True),
        (124, "gh took longer than 120 s", True),
        (1, "HTTP 422: Validation Failed", False),
    ],
)
def test_the_words_of_gh_say_whether_it_is_worth_another_try(code: int, err: str, is_away: bool) -> None:  # noqa: FBT001
    assert fault_of_gh(Said(code=code, out=b"", err=f"{err}\n"), "git.test") == Fault(f"gh: {err}", away=is_away)


@pytest.mark.parametrize(("code", "err"), [(4, "anything"), (1, "HTTP 401: Bad credentials")])
def test_whoever_is_not_logged_in_is_told_the_command(code: int, err: str) -> None:
    log_in = Fault("gh is not logged in to git.test: run `gh auth login --hostname git.test`")
    assert fault_of_gh(Said(code=code, out=b"", err=err), "git.test") == log_in


def test_a_gh_without_words_is_told_as_that() -> None:
    assert fault_of_gh(Said(code=1, out=b"", err="hint: try\n"), "git.test") == Fault("gh: it said nothing")


def test_a_push_that_nobody_is_logged_in_for_names_the_command() -> None:
    said = Said(
        code=128, out=b"", err="fatal: could not read Username for 'https://git.test': terminal prompts disabled"
    )
    fault = fault_of_git(said, "origin", "git.test")
    assert fault.text.endswith("; `gh auth setup-git --hostname git.test` lets it use the log-in of gh")
    assert not fault.away
    down = Said(code=128, out=b"", err="fatal: unable to access 'https://git.test/': Could not resolve host: git.test")
    assert fault_of_git(down, "origin", "git.test").away
