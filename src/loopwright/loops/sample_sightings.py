"""Samples of what may be seen of files, changes, proposals, commands and other loops, as in `samples`."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.kernel.actions import (
    ExamineChange,
    ExamineFiles,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunOnce,
    Tell,
)
from loopwright.kernel.deliverables import FileFault
from loopwright.kernel.events import Event
from loopwright.kernel.model import Commit, Tree
from loopwright.kernel.proposals import Opinion, PullRequest
from loopwright.kernel.risks import Risk
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce

_OF_A_PROPOSAL = OpenPullRequest | ReadPullRequest | MergePullRequest
Looks = Tell | ExamineFiles | ExamineChange | RunOnce | _OF_A_PROPOSAL


def sightings_of(action: Looks) -> dict[str, Event]:
    match action:
        case Tell():
            return {
                "heard": Heard(key=action.key, loop=action.loop),
                "the record refuses it": Heard(key=action.key, loop=action.loop, refused="sample"),
            }
        case ExamineFiles():
            fault = FileFault(path=action.wanted[0].path, why="sample")
            return {
                "all are as they have to be": FilesExamined(key=action.key),
                "one is not": FilesExamined(key=action.key, faults=(fault,)),
            }
        case ExamineChange():
            return _changes(action)
        case RunOnce():
            return {
                "it succeeded": RanOnce(key=action.key, code=0),
                "it failed": RanOnce(key=action.key, code=1, detail="sample"),
                "nobody knows how it ended": RanOnce(key=action.key, code=None),
            }
        case OpenPullRequest() | ReadPullRequest() | MergePullRequest():
            return _proposals(action)
        case _:
            assert_never(action)


def _changes(action: ExamineChange) -> dict[str, Event]:
    gates = tuple(dict.fromkeys(rule.gate for rule in action.rules))
    called: dict[str, Event] = {
        f"it calls for {gate}": ChangeExamined(
            key=action.key,
            tree=Tree("t"),
            paths=("sample.py",),
            code=("sample.py",),
            risks=(Risk(gate=gate, rule="sample", file="sample.py", line=1, mark="sample"),),
        )
        for gate in gates
    }
    built = ChangeExamined(key=action.key, tree=Tree("t"), paths=("sample.py",), code=("sample.py",))
    unbuilt: dict[str, Event] = {"it changes no product code": replace(built, code=())} if action.built_on else {}
    return {"it calls for no gate": built} | unbuilt | called


def _proposals(action: _OF_A_PROPOSAL) -> dict[str, Event]:
    seen = PullRequest(number=1, state="open", head=action.commit)
    there = {
        "it is open": seen,
        "it is merged": PullRequest(number=1, state="merged", head=action.commit, merged_as=Commit("m")),
        "it was closed": PullRequest(number=1, state="closed", head=action.commit),
        "somebody pushed to it": PullRequest(number=1, state="open", head=Commit("other")),
        "changes are asked for": PullRequest(
            number=1,
            state="open",
            head=action.commit,
            opinions=(Opinion(by="sample", said="changes-requested", text="sample"),),
        ),
        "its own checks are red": PullRequest(number=1, state="open", head=action.commit, red=("sample",)),
    }
    told: dict[str, Event] = {word: PullRequestSeen(key=action.key, seen=each) for word, each in there.items()}
    return told | {
        "the forge cannot be reached": PullRequestSeen(key=action.key, failed="sample", away=True),
        "the forge refuses": PullRequestSeen(key=action.key, failed="sample"),
    }
