"""One loop and what is to be done about it, without I/O: no clock, no store, no task. The driver only obeys.

`todo` says what to cancel, begin and ask; `heard` what to append when something happened; `draft` makes that an append
for the store, and `written` is the session once it is durable. A session never changes: these give new ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from loopwright.engine.fold import AnyLoop, Flight, Fold, Opened, after, packed
from loopwright.engine.steps import Draft, DraftStage, Foreseen, UnderWay
from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    AwaitGate,
    ForPeople,
    LoadArtifacts,
    RunAgent,
    RunChecks,
    RunLoop,
    Stop,
    stop_of,
    takes_a_place,
)
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    BudgetChanged,
    Cancelled,
    Ended,
    Event,
    Interrupted,
    Logged,
    Paused,
    Refused,
    ReportedLate,
    Said,
    Started,
)
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Ending, Key, LoopId, Outcome
from loopwright.kernel.record import is_estimated
from loopwright.ports.dispatcher import Errand, Shortage
from loopwright.ports.people import Waiting
from loopwright.ports.store import Append, NewEvent, Status

SNAPSHOT_EVERY = 64
SNAPSHOT_PER_EVENT = 64  # characters: a large state is packed so much less often that an event costs the same
AT_ONCE = 10.0  # seconds

# What is set aside for a run, or why it may not begin.
Terms = Callable[[RunAgent | RunChecks, Fold], float | Shortage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One event to be appended, with the money it moves."""

    event: Logged
    reserve: float = 0.0
    spend: float = 0.0
    paid: bool = False  # it begins the run of an agent
    foreseen: Foreseen | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """An action whose intent is durable. `step` names this very try over all time."""

    action: Action
    step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """What is to be done now: the first of these that there is, in this order."""

    cancel: tuple[Flight, ...] = ()  # in flight and no longer wanted
    stop: Outcome | None = None
    held: bool = False
    intents: tuple[Recording, ...] = ()  # durable before anything begins
    start: tuple[Effect, ...] = ()
    shortage: Shortage | None = None  # why not everything that is wanted could begin
    waiting: tuple[Waiting, ...] = ()  # what people are to be asked
    idle: bool = False  # nothing goes on without people or more room


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    loop: AnyLoop
    errand: Errand
    terms: Terms
    now: Fold
    wanted: tuple[Action, ...]
    length: int
    snapshot_at: int = 0
    snapshot_size: int = 0  # in characters, of the newest
    ended: Status | None = None  # how, if it has; what is said of it later does not open it again
    under_way: tuple[UnderWay, ...] = ()

    @classmethod
    def of(cls, opened: Opened, errand: Errand, terms: Terms) -> Session:
        return cls(
            loop=opened.loop,
            errand=errand,
            terms=terms,
            now=opened.now,
            wanted=opened.wanted,
            length=opened.row.seq,
            snapshot_at=opened.snapshot_seq,
            snapshot_size=opened.snapshot_size,
            ended=opened.row.status if opened.is_over else None,
        )

    @property
    def id(self) -> LoopId:
        return self.errand.child

    @property
    def stand(self) -> Standpoint:
        return self.loop.stand(self.now.state)

    # --- what to do -------------------------------------------------------------------------------

    def todo(self) -> Todo:
        keys = {action.key for action in self.wanted}
        if cancel := tuple(flight for flight in self.now.flights if flight.key not in keys):
            return Todo(cancel=cancel)
        if stop := stop_of(self.wanted):
            return Todo(stop=replace(stop.outcome, loop=self.id))
        if self.is_held:
            return Todo(held=True)
        intents, shortage = self._intents(self.now, self.wanted)
        start = self._startable()
        return Todo(
            intents=intents,
            start=start,
            shortage=shortage or next((each.shortage for each in self.under_way if each.shortage), None),
            waiting=self.waiting,
            idle=not start and not any(each.works for each in self.under_way),
        )

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """All that people are to be asked, for this loop and for the children that are in flight."""
        own = (Waiting(path=self.errand.path, what=each) for each in self.wanted if isinstance(each, ForPeople))
        return (*own, *(each for child in self.under_way for each in child.waiting))

    @property
    def is_its_parents(self) -> bool:
        """Whether all that it waits for is of a sort that its parent takes itself."""
        return all(each.path == self.errand.path and sort_of(each.what) in self.errand.takes for each in self.waiting)

    def left_behind(self) -> tuple[tuple[RunAgent, Flight], ...]:
        """Runs of agents that were in flight when the last controller went away: they are paid for."""
        found = ((each, self.now.flight(each.key)) for each in self.wanted if isinstance(each, RunAgent))
        return tuple((action, flight) for action, flight in found if flight)

    def _startable(self) -> tuple[Effect, ...]:
        known = {each.key for each in self.under_way}
        found = (
            (each, self.now.flight(each.key))
            for each in self.wanted
            if each.key not in known and not isinstance(each, ForPeople)
        )
        return tuple(Effect(action=action, step=flight.step) for action, flight in found if flight)

    @property
    def is_held(self) -> bool:
        """Whether it stands where its parent wants it to wait."""
        return self._is_held(self.now)

    def _is_held(self, now: Fold) -> bool:
        return bool(self.errand.upto) and self.loop.stand(now.state).point in self.errand.upto

    def _intents(self, now: Fold, wanted: tuple[Action, ...]) -> tuple[tuple[Recording, ...], Shortage | None]:
        """What is wanted and not in flight, as far as the terms allow it, and why not all of it."""
        intents: list[Recording] = []
        at_work = self._children_at_work(now, wanted)
        for action in wanted:
            if now.flight(action.key) is not None or isinstance(action, Stop):
                continue
            if takes_a_place(action):
                if action.abreast and at_work >= action.abreast:
                    continue
                at_work += 1
            reserve = self.terms(action, now) if isinstance(action, RunAgent | RunChecks) else 0.0
            if isinstance(reserve, Shortage):
                return tuple(intents), reserve
            paid = isinstance(action, RunAgent)
            intents.append(Recording(event=intent(action), reserve=reserve, paid=paid))
        return tuple(intents), None

    def _children_at_work(self, now: Fold, wanted: tuple[Action, ...]) -> int:
        waiting = {each.key for each in self.under_way if each.waiting}
        flights = {flight.key for flight in now.flights} - waiting
        return sum(takes_a_place(each) and each.key in flights for each in wanted)

    # --- what happened ----------------------------------------------------------------------------

    def heard(self, event: Event | Refused) -> tuple[Recording, ...]:
        """What to append. An answer comes with the next intents: one commit for both is one sync less.

        Where the store has no room for all of it, the first alone. What the machine has no place for did happen all
        the same: an answer is kept as late, and what somebody said as refused.
        """
        if isinstance(event, Refused):
            return (Recording(event=event),)
        try:
            then = self._taken_in(event)
        except InvalidTransition as error:
            return (self._not_taken_in(event, error),)
        if isinstance(event, Said):
            return (Recording(event=event),)
        spend = self._cost(event)
        if self._is_held(then):
            return (Recording(event=event, spend=spend),)
        wanted = self.loop.decide(then.state)
        foreseen = Foreseen(before=self.now, now=then, wanted=wanted)
        return (Recording(event=event, spend=spend, foreseen=foreseen), *self._intents(then, wanted)[0])

    def refusal(self, event: Event) -> InvalidTransition | None:
        """Why the loop does not take it in, if it does not."""
        try:
            self._taken_in(event)
        except InvalidTransition as error:
            return error
        return None

    def _taken_in(self, event: Event) -> Fold:
        return after(self.loop, self.now, event, at=self._at(1), wanted=self.wanted)

    def _not_taken_in(self, event: Event, error: InvalidTransition) -> Recording:
        kind = type(event).__name__
        if isinstance(event, Said):
            return Recording(event=Refused(what=kind, why=str(error), by=event.by))
        return Recording(event=ReportedLate(key=event.key, kind=kind, data=encode(event)), spend=self._cost(event))

    def _cost(self, answer: Answer) -> float:
        """A run that does not say what it cost is charged what was set aside for it."""
        if not isinstance(answer, AgentReported | AgentFailed | AgentUnavailable):
            return 0.0
        flight = self.now.flight(answer.key)
        reserved = flight.reserved if flight and not _came_to_nothing(answer) else 0.0
        return reserved if answer.usage.usd is None else answer.usage.usd

    # --- how what was begun fares -------------------------------------------------------------------

    def begun(self, key: Key) -> Session:
        return self._with(UnderWay(key=key))

    def told(self, key: Key, waiting: tuple[Waiting, ...]) -> Session:
        """The child that is under way with this key waits for these, or for none any more."""
        known = any(each.key == key for each in self.under_way)
        return self._with(UnderWay(key=key, waiting=waiting)) if known else self

    def suspended(self, key: Key, shortage: Shortage) -> Session:
        return self._with(UnderWay(key=key, shortage=shortage))

    def _with(self, one: UnderWay) -> Session:
        others = tuple(each for each in self.under_way if each.key != one.key)
        return replace(self, under_way=(*others, one))

    # --- making it durable --------------------------------------------------------------------------

    def draft(self, *lines: Recording, taken: tuple[int, ...] = ()) -> Draft:
        """Raises `InvalidTransition` if the machine refuses one of them."""
        now, wanted = self.now, self.wanted
        entries: list[NewEvent] = []
        stages: list[DraftStage] = []
        for number, line in enumerate(lines, start=1):
            entries.append(_entry(line, now))
            now, wanted = self._recorded(line, now, wanted, self._at(number))
            # What a person approves afterwards may open it once more.
            over = self.ended if stop_of(wanted) else None
            stages.append(DraftStage(event=line.event, state=now.state, status=over or _status(line.event, wanted)))
        last = lines[-1].event
        budget = next((line.event for line in lines if isinstance(line.event, BudgetChanged)), None)
        append = Append(
            entries=tuple(entries),
            status=stages[-1].status,
            outcome=encode(last.outcome) if isinstance(last, Ended) else None,
            snapshot=packed(now) if self._is_due(len(lines)) else None,
            taken=taken,
            budget=budget.usd if budget else None,
            unlimited=budget is not None and budget.usd is None,
        )
        return Draft(append=append, now=now, wanted=wanted, stages=tuple(stages))

    def _recorded(
        self, line: Recording, before: Fold, wanted: tuple[Action, ...], place: str
    ) -> tuple[Fold, tuple[Action, ...]]:
        if line.foreseen is not None and line.foreseen.before is before:
            return line.foreseen.now, line.foreseen.wanted
        now = after(self.loop, before, line.event, at=place, reserve=line.reserve, wanted=wanted)
        return now, wanted if now.state is before.state else self.loop.decide(now.state)

    def written(self, draft: Draft) -> Session:
        """The session once the draft is durable. What was begun and is no longer in flight is forgotten."""
        length, snapshot = self.length + len(draft.stages), draft.append.snapshot
        begun = tuple(each for each in self.under_way if draft.now.flight(each.key))
        if len(begun) < len(self.under_way):
            # What was set aside for others kept a child from its next step: one of them is done, and it tries again.
            begun = tuple(each for each in begun if each.shortage is None)
        return replace(
            self,
            now=draft.now,
            wanted=draft.wanted,
            length=length,
            snapshot_at=self.snapshot_at if snapshot is None else length,
            snapshot_size=self.snapshot_size if snapshot is None else len(snapshot),
            under_way=begun,
        )

    def _is_due(self, more: int) -> bool:
        due = max(SNAPSHOT_EVERY, self.snapshot_size // SNAPSHOT_PER_EVENT)
        return self.length + more - self.snapshot_at >= due

    def _at(self, number: int) -> str:
        return f"{self.id}/{self.length + number}"


def _came_to_nothing(answer: AgentReported | AgentFailed | AgentUnavailable) -> bool:
    """It broke down at once and used nothing: a program that cannot start is not paid for."""
    if not isinstance(answer, AgentFailed) or answer.reason != "crashed":
        return False
    used = answer.usage
    return not used.input_tokens and not used.output_tokens and used.seconds < AT_ONCE


def sort_of(what: ForPeople) -> str:
    """The word by which a parent says that it takes such a wait itself."""
    if isinstance(what, AwaitGate):
        return "gate"
    return "escalation" if "escalation" in (what.kind, what.key.step) else "question"


def cancelled(flight: Flight) -> Recording:
    return Recording(event=Cancelled(key=flight.key), spend=flight.reserved)


def interrupted(flight: Flight, detail: str = "", seconds: float = 0.0) -> Recording:
    """It will be done again as the same try."""
    event = Interrupted(key=flight.key, detail=detail, seconds=seconds)
    return Recording(event=event, spend=flight.reserved)


def _entry(line: Recording, now: Fold) -> NewEvent:
    """What an answer to a flight releases is what that flight had reserved."""
    flight = None if isinstance(line.event, Started) else now.flight(getattr(line.event, "key", None))
    return NewEvent(
        kind=type(line.event).__name__,
        data=encode(line.event),
        reserve=line.reserve,
        release=flight.reserved if flight else 0.0,
        spend=line.spend,
        estimated=is_estimated(line.spend, line.event),
        paid=line.paid,
    )


def _status(event: Logged, wanted: tuple[Action, ...]) -> Status:
    if isinstance(event, Ended):
        return "cancelled" if event.outcome.ending is Ending.CANCELLED else "complete"
    if isinstance(event, Paused):
        return "paused"
    if not all(isinstance(action, ForPeople) for action in wanted):
        return "running"
    return "paused" if any(isinstance(action, Ask) and action.paused for action in wanted) else "waiting"


def intent(action: Action) -> Started:
    """What the log says before it is done."""
    return Started(key=action.key, action=type(action).__name__, what=_subject(action), why=action.why)


def _subject(action: Action) -> str:
    match action:
        case RunAgent():
            return action.role
        case AwaitGate():
            return action.gate
        case Ask():
            return action.question
        case Announce():
            return action.text
        case LoadArtifacts():
            return ", ".join(action.paths)
        case RunLoop():
            return action.name or action.kind
        case _:
            return ""
