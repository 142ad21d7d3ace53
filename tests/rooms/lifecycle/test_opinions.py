"""What people say on a pull request, and what it decides: by whom, how, and of what."""

from dataclasses import replace

import pytest

from loopwright.kernel.events import GateDecided
from loopwright.kernel.gates import gate_key
from loopwright.kernel.model import Commit
from loopwright.kernel.proposals import Deciders, Opinion, PullRequest
from loopwright.loops.course import GateRecord
from loopwright.loops.lifecycle.opinions import CHECKLIST, AskedThere, decisions

ASKED, BEFORE, AFTER = "2026-02-05T10:00:05Z", "2026-02-05T10:00:04Z", "2026-02-05T10:00:06Z"
HEAD, EARLIER = Commit("c2"), Commit("c1")
TICKED = "\r\n".join(f"- [x] {line.capitalize()}." for line in CHECKLIST)
LISTED = (("architecture", ("Ada",)), ("security", ("ada", "grace@git.test")), ("database", ("root",)))


def said(by: str, text: str = "", **more: object) -> Opinion:
    given = {"said": "commented", "at": AFTER, "commit": HEAD, "inside": True, **more}
    return Opinion(by=by, text=text, **given)  # type: ignore[arg-type]


def approved(by: str, **more: object) -> Opinion:
    return said(by, "", said="approved", **more)


def asks_for_changes(by: str, text: str = "No.", **more: object) -> Opinion:
    return said(by, text, said="changes-requested", **more)


def gate(name: str) -> GateRecord:
    return GateRecord(gate=name, evidence=f"of-{name}")


def decided(*opinions: Opinion, gates: tuple[str, ...], may: Deciders | None = None) -> list[tuple[str, bool, str]]:
    seen = PullRequest(
        number=3, url="https://git.test/acme/shop/pull/3", state="open", head=HEAD, author="bot", opinions=opinions
    )
    request = AskedThere(asked=ASKED, commit=HEAD, may=may or Deciders(approvers=LISTED))
    found = decisions(tuple(map(gate, gates)), seen, request)
    return [(each.gate, each.approved, each.by) for each in found]


@pytest.mark.parametrize(
    ("name", "opinion"),
    [
        ("architecture", said("ada", "Architecture approved.\n\nNice.")),
        ("external", approved("somebody")),
        ("external", said("somebody", "external approved")),
        ("deploy", approved("somebody")),
        ("legal", said("somebody", "legal approved!")),
    ],
)
def test_each_gate_is_approved_in_its_own_way(name: str, opinion: Opinion) -> None:
    assert decided(opinion, gates=(name,)) == [(name, True, f"{opinion.by}@git.test")]


@pytest.mark.parametrize(
    ("name", "opinion"),
    [
        ("architecture", approved("ada")),  # a review of everything is none of the architecture
        ("architecture", said("ada", "> architecture approved\n\nNot yet.")),
        ("architecture", said("ada", "Is the architecture approved?")),
        ("architecture", said("eve", "architecture approved")),
        ("architecture", said("bot", "architecture approved")),
        ("architecture", said("ada", "architecture approved", at=BEFORE)),
        ("architecture", said("ada", "architecture approved", at=ASKED)),
        ("architecture", said("ada", "architecture approved", at="")),
        ("architecture", said("", "architecture approved")),
        ("external", approved("eve", inside=False)),
        ("external", said("bot", "external approved")),
        ("deploy", said("somebody", "deploy approved")),
        ("deploy", approved("somebody", commit=EARLIER)),
        ("protected", said("somebody", "protected approved")),
        ("untested", said("somebody", "untested approved")),
        ("security", approved("ada")),  # the other one has said nothing
    ],
)
def test_what_else_is_said_approves_nothing(name: str, opinion: Opinion) -> None:
    assert decided(opinion, gates=(name,)) == []


LATER = "2026-02-05T10:00:07Z"


@pytest.mark.parametrize(
    ("name", "later", "word"),
    [
        ("architecture", said("ada", "architecture rejected. I withdraw my approval", at=LATER), [False]),
        ("architecture", said("Ada", "Architecture: rejected", at=LATER), [False]),
        ("architecture", asks_for_changes("ada", at=LATER), [False]),
        ("architecture", said("ada", "architecture: wait, I want to look once more", at=LATER), []),
        ("architecture", said("ada", "", said="withdrawn", at=LATER), []),
        ("architecture", said("ada", "architecture rejected", at=BEFORE), [True]),
        ("architecture", said("ada", "the architecture is rejected by eve", at=LATER), [True]),
        ("architecture", said("eve", "architecture rejected", at=LATER), [True]),
        ("deploy", said("ada", "deploy rejected", at=LATER), [False]),
        ("deploy", said("ada", "", said="withdrawn", at=LATER), []),
        ("security", said("ada", f"Security checklist:\n{TICKED}", at=LATER), [True]),
        ("security", said("ada", f"security rejected\n{TICKED}", at=LATER), [False]),
    ],
)
def test_the_latest_statement_of_a_person_on_a_gate_counts(name: str, later: Opinion, word: list[bool]) -> None:
    yes = said("ada", "architecture approved") if name == "architecture" else approved("ada")
    may = Deciders(approvers=((name, ("ada",)),))
    for opinions in ((yes, later), (later, yes)):  # whatever order they are listed in
        assert [each[1] for each in decided(*opinions, gates=(name,), may=may)] == word


def test_all_who_are_listed_have_to_approve() -> None:
    both = "ada@git.test, grace@git.test"
    assert decided(said("ada", TICKED), approved("Grace"), gates=("security",)) == [
        ("security", True, both.replace("grace", "Grace"))
    ]
    assert decided(said("ada", TICKED.replace("[x]", "[ ]", 1)), approved("grace"), gates=("security",)) == []
    assert decided(approved("ada"), approved("grace"), approved("ada"), gates=("security",)) == [
        ("security", True, both)
    ]


def test_whoever_proposed_it_is_not_waited_for_and_decides_nothing() -> None:
    listed = Deciders(approvers=(("legal", ("bot", "ada")), ("external", ("bot",))))
    assert decided(said("ada", "legal approved"), gates=("legal",), may=listed) == [("legal", True, "ada@git.test")]
    assert decided(said("bot", "external approved"), gates=("external",), may=listed) == []
    assert decided(asks_for_changes("bot"), gates=("external",), may=listed) == []


def test_one_no_is_enough_and_all_that_is_said() -> None:
    both = ("external", "architecture")
    assert decided(approved("somebody"), asks_for_changes("ada"), gates=both, may=Deciders(approvers=LISTED)) == [
        ("external", False, "ada@git.test")
    ]
    assert decided(asks_for_changes("ada", inside=False), gates=both) == [("architecture", False, "ada@git.test")]
    assert decided(asks_for_changes("eve", inside=False), gates=both) == []
    assert decided(asks_for_changes("ada", at=BEFORE), gates=both) == []  # that was sent back already
    assert decided(asks_for_changes("ada", at=BEFORE), said("ada", "architecture approved"), gates=both) == [
        ("architecture", True, "ada@git.test")
    ]


def test_where_four_eyes_are_wanted_whoever_started_it_may_only_say_no() -> None:
    four_eyes = Deciders(approvers=LISTED, starter="root")
    assert decided(approved("root"), gates=("database",), may=four_eyes) == []
    assert decided(approved("root"), gates=("database",)) == [("database", True, "root@git.test")]
    assert decided(asks_for_changes("root"), gates=("database",), may=four_eyes) == [
        ("database", False, "root@git.test")
    ]


def test_the_words_of_a_no_are_its_reason_and_nothing_counts_that_was_never_asked_for() -> None:
    seen = PullRequest(number=3, head=HEAD, opinions=(asks_for_changes("ada", "Too deep."),))
    request = AskedThere(asked=ASKED, commit=HEAD, may=Deciders())
    told = GateDecided(
        key=gate_key("legal", "of-legal"),
        gate="legal",
        approved=False,
        evidence="of-legal",
        reason="Too deep.",
        by="ada@forge",
    )
    assert decisions((gate("legal"),), seen, request) == (told,)
    silent = replace(seen, opinions=(asks_for_changes("ada", ""),))
    assert decisions((gate("legal"),), silent, request) == (replace(told, reason="changes were requested"),)
    assert decisions((gate("legal"),), seen, replace(request, asked="")) == ()
