"""All that the rest of the house knows of a loop, as one value.

A room makes its `Kind`, `app/kinds.py` lists them, and publisher, views, briefs and commands ask the value: none of
them knows a loop by name. Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from loopwright.kernel.assignment import Assignment
from loopwright.kernel.events import Answered, Logged
from loopwright.kernel.machine import Loop
from loopwright.kernel.model import NO_COMMIT, AgentReport, Commit, Ending, Finding, LoopId, Outcome, Topic
from loopwright.kernel.record import Record
from loopwright.kernel.shapes import Problem
from loopwright.loops.task_file import TaskFile

P = TypeVar("P")
S = TypeVar("S")

Files = Mapping[str, str | None]  # path from the root of the repository -> its whole text; None: it is to be gone
Data = dict[str, object]
_NO_EARLIER = "--allow is for tests that landed with an earlier task, and this loop has no tasks that land one by one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a loop calls things."""

    counter: str  # one attempt
    promise: str = ""  # having got there, where it has a word of its own for that
    roles: Mapping[str, str] = field(default_factory=dict)  # who does a step, by its verb
    token: Callable[[AgentReport], str] = lambda _report: ""  # its own word for a judge's verdict
    passes: Callable[[AgentReport], bool] = lambda report: report.verdict == "pass"
    yes: tuple[str, ...] = ()  # what it announces, up to a colon, ends so where it is a yes
    no: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()  # steps whose beginning is no news
    unsaid: tuple[str, ...] = ()  # steps of which only a failure is: what follows tells that they went well
    outcomes: Mapping[str, str] = field(default_factory=dict)  # its own words for how it ended, by those of all loops


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene(Generic[S]):
    """A loop after an event, for whoever makes its files. Without an event, everything is made anew."""

    loop: LoopId
    state: S
    status: str  # the store's word for it
    past: Any = None  # what `Kind.past` has made of its log so far
    event: Logged | None = None
    spent: float = 0.0  # by the loop and everything below it
    estimated: bool = False  # whether some of that is a guess
    budget: float | None = None
    seq: int = 0  # how far its log is


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A file that others write too: read, changed and written whole under a lock, never replaced unread."""

    path: str
    change: Callable[[Any], Data | list[Any]]  # from what it holds, None where there is no such file
    problems: Callable[[object], Iterable[Problem]]  # why what it holds cannot be taken
    form: Literal["yaml", "json"] = "yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskListing:
    """The tasks of a loop, for a list that other programs read and write too."""

    own: str  # its folder from the root of the repository, where no list is named
    tasks: tuple[TaskFile, ...]
    list_id: str = ""
    passing: bool = False  # only as long as the loop is driven, in a temporary folder
    over: bool = False  # the loop has ended
    shift: int = 0  # how far the numbers of its files are behind those of its tasks
    taken: frozenset[int] = frozenset()  # numbers of tasks that were in the list before, and that it has taken over


@dataclass(frozen=True, slots=True, kw_only=True)
class LandedPart:
    """What a loop with parts has landed of one of them, as only that loop knows it."""

    kind: str
    params: str  # JSON: what the part was given
    passed: bool
    commit: Commit
    made: Commit  # the part's own, which nobody has who has only what landed
    mended: tuple[Finding, ...] = ()  # by the part, and so where it landed
    waiting: tuple[Finding, ...] = ()  # by the part, but only in what did not land


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One line of a file to which many loops add, in the order of time."""

    loop: LoopId
    seq: int  # of the record it comes from
    part: int  # which of the lines that come from it
    timestamp: str
    data: Data

    @property
    def order(self) -> tuple[str, str, int, int]:
        return self.timestamp, self.loop, self.seq, self.part


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A part of a larger loop, as a row of the live view."""

    name: str
    count: str
    word: str = ""
    detail: str = ""
    needs_person: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFacts:
    """What `loop status` says of a loop besides what it says of all."""

    system: Mapping[str, object] | None = None
    capability: Mapping[str, object] | None = None
    tasks: Mapping[str, object] | None = None
    failures: tuple[int, int, int] | None = None  # now, in all, and how many of those are resolved
    gates: Mapping[str, str] = field(default_factory=dict)  # besides those that are decided or waited for
    activity: str = ""  # when it last did something, where the log does not know


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What must be there before the loop may start."""

    roles: tuple[str, ...]
    checks: bool = True
    gates: tuple[str, ...] = ()  # those it may ask a person to open
    examiner: bool = False  # one may have to write acceptance tests before its makers start
    stand_ins: Mapping[str, str] = field(default_factory=dict)  # by role: what is done where nobody plays it


def releases_nothing(said: Answered, _agents: tuple[str, ...] = ()) -> str:
    """Why a person cannot let tests of earlier tasks be changed, where there are no earlier tasks."""
    return _NO_EARLIER if said.allow else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[P, S]):
    loop: Loop[P, S]
    driven: bool = True  # False: a record that others write, which wants nothing; its files may be edited by people
    edited: Callable[[LoopId, S], Mapping[str, str]] = lambda _loop, _state: {}  # what may be of a driven one's files,
    # each with where a copy is kept of what was last written there
    takes_in: str = ""  # the command by which such an edit is taken in
    limits: str  # its table below `[limits]`
    request: type | None = None  # what a Python program says to have one driven
    porch: tuple[str, ...] = ()  # modules with what its starts need of the disk; loaded when one is started
    starts: str = ""  # the command that begins one
    sessions: str = ""  # the module with what is done before and after it is driven
    words: Words
    needs: Needs
    title: Callable[[P], str]
    brief: Callable[[Assignment], str]
    handed: Callable[[Assignment], Mapping[str, str]] = lambda _assignment: {}  # files laid beside an agent's work
    closing: Callable[[S, Outcome], tuple[str, ...]]  # what is said when it has ended
    block: Callable[[S, Outcome], tuple[str, ...]] = lambda _state, _outcome: ()  # that programs look for at the end
    report: Callable[[S, Outcome, str], tuple[str, ...]] = lambda _state, _outcome, _cost: ()  # with what it cost
    so_far: Callable[[S], tuple[str, ...]]  # each attempt in a line, for a person who is asked how to go on
    owed: Callable[[S, str], tuple[str, ...]]  # the debt of what was accepted, and by whom
    result: Callable[[LoopId, S, Mapping[LoopId, object]], object]  # what `--json` adds; with the results of its parts
    so_far_outcome: Callable[[S, Ending], Outcome | None] = lambda _state, _ending: None  # of one with parts
    parts: Callable[[S], tuple[LoopId, ...]] = lambda _state: ()  # the children whose results it needs for that
    blocked: Callable[[S], tuple[LoopId, ...]] = lambda _state: ()  # those a person is asked about
    superseded: Callable[[S], tuple[LoopId, ...]] = lambda _state: ()  # children that others took the place of
    unresolved: Callable[[S, object], tuple[str, ...]] = lambda _state, _result: ()  # before a person decides
    brought_onto: Callable[[S], Commit] = lambda _state: NO_COMMIT  # a target that has moved, if its work lies on that
    landed_so_far: Callable[[S], tuple[str, ...]] = lambda _state: ()  # before a person is asked about the rest
    told_when_stopped: Callable[[S, object], tuple[str, ...]] = lambda _state, _result: ()
    notice: Callable[[S, Topic], str] = lambda _state, _topic: ""  # its own words in what people are sent
    status: Callable[[S], StatusFacts] = lambda _state: StatusFacts()
    rules: tuple[str, ...] = ()  # for `loop explain`
    decision: Callable[[S], tuple[str, ...]] = lambda _state: ()  # in words of its own
    held_up: Callable[[S], tuple[str, ...]] = lambda _state: ()  # what does not go on there, and why
    in_force: str = "In force:"  # the heading of its counters there
    findings_elsewhere: str = ""  # where its findings are, if not with itself
    files: Callable[[Scene[S]], Files] = lambda _scene: {}
    mark: str = ""  # begins its files; where another stands that begins otherwise, it is left as it is
    past: Callable[[Any, Record, S], Any] | None = None  # folds the log for `files`; None: the state says it all
    doors: Callable[[Scene[S]], tuple[Door, ...]] = lambda _scene: ()
    listing: Callable[[Scene[S]], TaskListing | None] = lambda _scene: None
    landed_parts: Callable[[S], tuple[LandedPart, ...]] = lambda _state: ()  # of one with parts
    doors_of_part: Callable[[LandedPart], tuple[Door, ...]] = lambda _part: ()  # what its parent adds to `doors`
    notes: Callable[[Scene[S]], Mapping[str, tuple[Noted, ...]]] = lambda _scene: {}
    tells_more: Callable[[LoopId, S], str] = lambda _loop, _state: ""  # the file in which a person reads on
    scratchpad: Callable[[LoopId], str] | None = None  # the file that its agents may read
    history: Callable[[Scene[S]], str] | None = None  # all that was tried; None: as `so_far`
    lane: Callable[[S, bool], Lane | None] = lambda _state, _working: None  # as part of a larger loop
    queued: Callable[[S], tuple[Lane, ...]] = lambda _state: ()  # its parts that nobody is at, as rows
    summary: Callable[[S], str] = lambda _state: ""  # the line below its lanes
    has_lanes: bool = False  # its parts are shown as rows, and of the events only what is news
    objection: Callable[[Answered, tuple[str, ...]], str] = releases_nothing  # by whom is ready here


AnyKind = Kind[Any, Any]
