from dataclasses import replace

import pytest

from loopwright.kernel.wording import moment
from loopwright.loops.workflow.learnings import DAY, DiscoveryLearned, FailureLearned, Learned, as_learned
from loopwright.loops.workflow.recall import is_double, recalled, title_of, words_of

NOW = 1_800_000_000.0
REQUEST = "Validate tokens in auth"


def failure(text: str, days: float = 1.0, context: str = "", cause: str = "") -> Learned:
    learned = FailureLearned(
        ts=moment(NOW - days * DAY), context=context, failure=text, root_cause=cause, prevention="look twice"
    )
    return as_learned(learned)


def discovery(text: str, confidence: float, days: float = 1.0, *, applies_to: str = "") -> Learned:
    found = DiscoveryLearned(
        ts=moment(NOW - days * DAY), context="", discovery=text, confidence=confidence, applies_to=(applies_to,)
    )
    return as_learned(found)


def shown(*every: Learned, request: str = REQUEST) -> list[str]:
    return [each.text for each in recalled(every, request, NOW)]


def test_what_shares_no_word_with_the_request_is_not_shown() -> None:
    assert shown(failure("tokens expire"), failure("the exporter hangs"), failure("add it")) == ["tokens expire"]


def test_every_text_of_a_line_may_share_a_word() -> None:
    found = [
        failure("a", context="auth"),
        failure("b", cause="tokens were empty"),
        discovery("c", 0.9, applies_to="validators"),
    ]
    assert shown(*found) == ["a", "b", "c"]


def test_an_aspect_is_shared_as_a_word_is() -> None:
    login, look = failure("passwords are hashed twice"), failure("the button is grey")
    about = {"passwords": frozenset({"Auth"}), "auth": frozenset({"Auth"})}

    def aspects_of(text: str) -> frozenset[str]:
        return frozenset().union(*(found for word, found in about.items() if word in text))

    assert recalled((look, login), "Tighten auth", NOW, aspects_of) == (login,)


def test_what_is_older_than_ninety_days_is_never_shown() -> None:
    assert shown(failure("tokens expire", 90.0), failure("tokens leak into logs", 90.01)) == ["tokens expire"]
    assert shown(replace(failure("tokens expire"), ts="soon")) == []


def test_five_are_shown_at_most_and_the_newest_of_them_first() -> None:
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
    every = [failure(f"tokens {word}", days) for days, word in enumerate(words)]
    assert shown(*reversed(every)) == [each.text for each in every[:5]]


def test_recurring_goes_before_recent_before_sure_before_near_to_the_request() -> None:
    near = failure("tokens validate auth", 2.0)
    plain = failure("tokens are long")
    unsure = discovery("tokens may be short", 0.79, 3.0)
    sure = discovery("tokens may be cached", 0.8, 4.0)
    old = failure("tokens have a date", 31.0)
    again = failure("tokens were forged", 60.0, "one"), failure("tokens were forged", 80.0, "two")
    assert shown(plain, unsure, sure, *again, near, old) == [
        "tokens were forged",
        "tokens validate auth",
        "tokens are long",
        "tokens may be cached",
        "tokens may be short",
    ]
    assert shown(unsure, old) == ["tokens may be short", "tokens have a date"]


def test_what_was_learned_twice_is_shown_once_and_counted() -> None:
    newer, older = (
        failure("Token 17 was refused by /srv/app/auth.ts", 1.0, "one"),
        failure("token 4 was refused by /home/me/auth.ts", 2.0, "two"),
    )
    assert recalled((older, newer), REQUEST, NOW) == (replace(newer, recurring=2),)


def test_the_same_line_twice_is_one_occasion() -> None:
    once = failure("tokens expire", 1.0, "one")
    assert recalled((once, once), REQUEST, NOW) == (once,)


def test_seven_words_of_ten_are_the_same_lesson() -> None:
    seven = "alpha bravo charlie delta echo foxtrot tokens"
    assert len(recalled((failure(seven), failure(f"{seven} golf hotel india")), REQUEST, NOW)) == 1
    assert len(recalled((failure(seven), failure(f"{seven} golf hotel india juliet")), REQUEST, NOW)) == 2


def test_a_failure_and_a_discovery_are_two_things_whatever_they_say() -> None:
    found = discovery("tokens expire", 0.3, 2.0)
    assert recalled((failure("tokens expire"), found), REQUEST, NOW) == (failure("tokens expire"), found)
    surer = discovery("tokens expire", 0.9, 3.0)
    assert recalled((found, surer), REQUEST, NOW) == (replace(found, confidence=0.9, recurring=2),)


def test_nothing_is_learned_twice_in_one_context() -> None:
    new = FailureLearned(ts=moment(NOW), context="loop-1", failure="Tokens expire", root_cause="", prevention="")
    assert is_double(new, (failure("x"), failure("tokens expire!", 3.0, "loop-1")))
    assert not is_double(new, (failure("tokens expire", 3.0, "another one"), failure("keys are lost", 3.0, "loop-1")))
    assert not is_double(new, ())


def test_texts_without_a_telling_word_are_the_same_only_when_they_read_the_same() -> None:
    new = FailureLearned(ts=moment(NOW), context="", failure="do it", root_cause="", prevention="")
    assert not is_double(new, (failure("to be"),))
    assert is_double(new, (failure("Do  it"),))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("auth edge\ncases", "auth edge cases"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("word " * 13, "word " * 11 + "word…"),
        ("letter " * 9, "letter " * 7 + "letter…"),
        ("a" * 59 + " b", "a" * 59 + "…"),
    ],
)
def test_a_title_has_sixty_characters_at_most(text: str, title: str) -> None:
    learned = failure(text)
    assert title_of(learned) == title
    assert len(title) <= 60


def test_words_are_known_by_their_roots() -> None:
    assert words_of("Add validations for the validateUser of auth_tests, 2026") == {"valida", "user", "auth"}
