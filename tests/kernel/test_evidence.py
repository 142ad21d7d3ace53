"""What shows a change, as values and in one sentence each."""

from dataclasses import replace

import pytest

from loopwright.kernel.evidence import (
    AlteredTest,
    Evidence,
    Level,
    WeakenedTest,
    Witness,
    combine,
    describe,
    describe_tests,
    describe_weakened,
    lowest,
)

WITNESSES = (
    Witness(id="t::a", check="test", fails_on_base="assertion"),
    Witness(id="t::b", check="test", fails_on_base="missing-name"),
    Witness(id="smoke", check="smoke", fails_on_base="exit-code"),
)


@pytest.mark.parametrize(
    ("evidence", "begins"),
    [
        (
            Evidence(level=Level.SHOWN, witnesses=WITNESSES),
            "shown by t::a (fails on base), t::b (fails on base by a missing name), smoke (red on base)",
        ),
        (Evidence(level=Level.SHOWN, witnesses=WITNESSES[:1] * 7), f"shown by {'t::a (fails on base), ' * 2}"),
        (Evidence(level=Level.GUARDED), "guarded: no test tells"),
        (Evidence(level=Level.GUARDED, witnesses=WITNESSES), "guarded: the acceptance tests of the examiner assert"),
        (Evidence(level=Level.UNTESTED), "untested: "),
        (Evidence(level=Level.NOT_SHOWN), "not shown: "),
    ],
)
def test_each_level_has_a_sentence_that_begins_with_it(evidence: Evidence, begins: str) -> None:
    assert describe(evidence).startswith(begins)


def test_what_an_examiner_wrote_and_what_people_decided_on_it_is_said() -> None:
    by_examiner = Witness(id="t::a", check="test", fails_on_base="assertion", by="examiner")
    seen = Evidence(level=Level.SHOWN, witnesses=(by_examiner,), decisions=("dropped",))
    assert describe(seen) == "shown by t::a (fails on base, written by the examiner)"
    assert combine({"a": seen, "b": seen}).decisions == ("dropped",)


def test_more_than_three_witnesses_are_counted() -> None:
    assert describe(Evidence(level=Level.SHOWN, witnesses=WITNESSES[:1] * 7)).endswith(" and 4 more")


def test_a_witness_of_two_parts_is_named_once_as_the_first_of_them_has_it() -> None:
    first = Evidence(level=Level.SHOWN, witnesses=WITNESSES[:2])
    again = Evidence(level=Level.SHOWN, witnesses=(replace(WITNESSES[0], fails_on_base="missing-name"), WITNESSES[2]))
    assert combine({"a": first}, again).witnesses == WITNESSES


def test_a_whole_names_the_parts_that_are_no_better_than_its_level() -> None:
    shown, guarded = Evidence(level=Level.SHOWN), Evidence(level=Level.GUARDED)
    inner = combine({"a": guarded, "b": shown})
    assert combine({"": inner, "c": guarded, "d": shown}).parts == ("a", "c")
    assert combine({"b": shown, "d": shown}).parts == ()
    assert describe(inner) == "guarded (a): no test tells this change from the base, but tests fail when it is broken"


def test_a_part_that_changed_no_code_does_not_lower_the_whole() -> None:
    shown, text = Evidence(level=Level.SHOWN), Evidence(level=Level.NOT_SHOWN, without_code=True)
    for parts in ({"a": text, "b": shown}, {"": combine({"a": text}), "b": shown}):
        assert (combine(parts).level, combine(parts).without_code) == (Level.SHOWN, False)
    assert combine({"a": text, "b": Evidence(level=Level.NOT_SHOWN)}).parts == ("b",)
    alone = combine({"a": text})
    assert (alone.level, alone.parts, alone.without_code) == (Level.NOT_SHOWN, ("a",), True)
    assert describe(alone).startswith("not shown (a): ")


def test_a_test_that_shows_a_part_is_not_said_to_show_nothing_of_the_whole() -> None:
    part = Evidence(level=Level.SHOWN, witnesses=WITNESSES[:1], idle_tests=("t::b",))
    whole = Evidence(level=Level.SHOWN, witnesses=WITNESSES[2:], idle_tests=("t::a", "t::b"))
    assert combine({"part": part, "whole": whole}).idle_tests == ("t::b",)


def test_altered_and_idle_tests_are_listed_by_what_became_of_them() -> None:
    rows = (
        AlteredTest(id="t::moved", how="moved"),
        AlteredTest(id="t::a", how="altered"),
        AlteredTest(id="t::b", how="altered"),
        AlteredTest(id="t::gone", how="gone"),
        AlteredTest(id="t::approved", how="weakened", confirmed=True),
    )
    seen = Evidence(level=Level.GUARDED, altered_tests=rows, uncompared=("tests/a.sh",), idle_tests=("t::new",))
    assert describe_tests(seen) == (
        "2 existing tests altered: t::a, t::b",
        "1 existing test gone: t::gone",
        "1 existing test moved: t::moved",
        "1 existing test weakened, as a person allowed: t::approved",
        "changed and not compared with the base, for no check names its tests: tests/a.sh",
        "new test, shows nothing: t::new",
    )
    assert describe_tests(Evidence(level=Level.SHOWN)) == ()


@pytest.mark.parametrize(
    ("levels", "level"),
    [
        ((), Level.NOT_SHOWN),
        ((Level.SHOWN, Level.NOT_SHOWN), Level.NOT_SHOWN),
        ((Level.SHOWN, Level.GUARDED, Level.NOT_SHOWN), Level.GUARDED),
        ((Level.GUARDED, Level.UNTESTED), Level.UNTESTED),
        ((Level.SHOWN, Level.SHOWN), Level.SHOWN),
    ],
)
def test_a_whole_is_shown_as_little_as_its_weakest_part(levels: tuple[Level, ...], level: Level) -> None:
    assert lowest(levels) is level


def test_held_back_files_are_named_with_the_tests_that_look_at_less() -> None:
    tests = (
        WeakenedTest(file="a.py", id="a.py::test_one", how="gone"),
        WeakenedTest(file="a.py", id="a.py::test_two", how="blind", stubbed="src/x.py: add"),
        WeakenedTest(file="b.js", how="gone"),
        WeakenedTest(file="c.py", id="c.py::test_three", how="skipped"),
    )
    assert describe_weakened(tests) == (
        "a.py is held back: test_one is gone; test_two no longer fails when src/x.py: add is stubbed;"
        " b.js is held back: the file is gone and 1 more"
    )
    others = {each: describe_weakened((replace(tests[3], how=each),)) for each in ("fewer-cases", "untried", "altered")}
    assert len({*others.values(), describe_weakened(tests[3:]), describe_weakened(())}) == 5
