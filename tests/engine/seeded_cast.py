"""Agents of a workflow that do what a seed says: right, wrong, half, nothing, too much; and the plan they work by.

Whatever one does follows from the seed and from what it is asked, never from when: a run that was cut off and is done
again does the same. Each finds its work by a mark in its brief, so that tasks which nobody planned know theirs, too.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable
from loopwright.kernel.model import AgentReport, AgentStatus, Commit, Finding, Severity, Usage, Verdict
from loopwright.ports.agent import AgentAnswer, AgentRun
from tests.engine.simulated import BROKEN, Files, Repository, changed_paths, cure_of, red

PRICE = 0.25  # USD of every run that reports, and what is set aside for it
_WORK = re.compile(r"\[\[(work|mend) (\d+)\]\]")
_CURE = "src/cures.txt"
_MOODS = {
    "right": 50,
    "red": 12,
    "nothing": 6,
    "crashes": 4,
    "crashes half-way": 4,
    "not available": 5,
    "cheats": 5,
    "touches tests": 4,
    "garbled": 3,
    "gives up": 3,
    "does more": 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a task is really about: the word it puts into files, and which of them it told of beforehand."""

    number: int
    word: str
    paths: tuple[str, ...]
    told: tuple[str, ...]
    waits_for: tuple[int, ...]
    verified: bool

    def row(self) -> dict[str, Any]:
        return {
            "id": str(self.number),
            "subject": f"Write {self.word}",
            "description": f"[[work {self.number}]]",
            "verify": ["has", self.paths[0], self.word] if self.verified else [],
            "blockedBy": [str(each) for each in self.waits_for],
            "files": list(self.told),
        }


@dataclass(frozen=True)
class Plot:
    """All that a seed decides."""

    seed: int
    calm: bool = False  # everybody does what is right
    given: tuple[Work, ...] = ()  # the plan, where it is not made of the seed
    places: int = 0  # how many work at once, likewise
    inner: str = "feedback"  # in which tasks are made

    def chance(self, *about: object) -> random.Random:
        return random.Random(f"{self.seed} {about!r}")  # noqa: S311 - the same each time is the point

    @cached_property
    def works(self) -> tuple[Work, ...]:
        if self.given:
            return self.given
        chance = self.chance("plan")
        many = chance.choices((1, 2, 3, 4, 6, 8, 12), (42, 31, 15, 6, 2, 2, 2))[0]  # thousands of plots take time
        return tuple(self._work(chance, number) for number in range(1, many + 1))

    def _work(self, chance: random.Random, number: int) -> Work:
        own = f"src/f{chance.randint(1, number) if chance.random() < 0.25 else number}.py"
        shared = (f"src/shared{chance.randint(1, 2)}.py",) if chance.random() < 0.35 else ()
        told = (own, *shared) if chance.random() < 0.5 else (own,) if chance.random() < 0.8 else ()
        earlier = range(1, number)
        waits_for = tuple(each for each in earlier if chance.random() < 1.2 / number)
        return Work(
            number=number,
            word=f"w{number}",
            paths=(own, *shared),
            told=told,
            waits_for=waits_for,
            verified=chance.random() < 0.8,
        )

    @cached_property
    def poison(self) -> tuple[tuple[str, str], ...]:
        chance, words = self.chance("poison"), [work.word for work in self.works]
        pairs = [(one, other) for at, one in enumerate(words) for other in words[at + 1 :]]
        return () if self.calm else tuple(pair for pair in pairs if chance.random() < 0.5 / len(words))

    @cached_property
    def mends(self) -> int:
        """How many blockers the thorough review finds."""
        return 0 if self.calm else self.chance("mends").choice((0, 0, 0, 1, 2))

    @cached_property
    def cast(self) -> tuple[str, ...]:
        chance = self.chance("cast")
        beside = [role for role in ("scorer", "shaper", "panel", "gate") if chance.random() < 0.4]
        return ("planner", *beside)

    @cached_property
    def parallel(self) -> int:
        return self.places or self.chance("parallel").choice((1, 2, 3, 4))

    @cached_property
    def shape(self) -> str:
        return self.chance("shape").choice(("tool", "tool", "tool", "tool", "tool-review", "colleague"))

    @cached_property
    def in_force(self) -> bool:
        return self.chance("trust").random() < 0.3

    def wanted_words(self) -> dict[str, set[str]]:
        """What the product holds in the end, whatever happened on the way; cures come besides."""
        found: dict[str, set[str]] = {}
        for work in self.works:
            for path in work.paths:
                found.setdefault(path, set()).add(work.word)
        return found


@dataclass(slots=True)
class SeededAgents:
    """The port: everybody of a plot."""

    plot: Plot
    repo: Repository
    runs: list[tuple[str, str]] = field(default_factory=list)  # loop and key of every run that was begun
    finished: dict[str, AgentAnswer] = field(default_factory=dict)  # by step: what a folder of a run would still hold

    def reservation(self, role: str, agent: str = "") -> float:
        return PRICE

    async def run(self, run: AgentRun, watch: object) -> AgentAnswer:
        self.runs.append((run.loop, str(run.key)))
        answer = self._answer(run)
        if self.plot.chance("found again", run.step).random() < 0.5:
            self.finished[run.step] = answer
        return answer

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return self.finished.get(run.step)

    def _answer(self, run: AgentRun) -> AgentAnswer:
        chance = self.plot.chance(run.role, run.loop, str(run.key))
        match run.role:
            case "developer" | "creator":
                return self._developer(run, chance)
            case "reviewer" | "critic" if run.kind != "workflow":
                return self._child_reviewer(run, chance)
            case "reviewer":
                return self._reviewer(run, chance)
            case "planner":
                return self._planner(run, chance)
            case _:
                return self._other(run, chance)

    # --- makers ---------------------------------------------------------------------------------------

    def _developer(self, run: AgentRun, chance: random.Random) -> AgentAnswer:
        files = self.repo.folders[run.folder.name]
        kinds = _MOODS if run.brief.attempt <= 3 and not self.plot.calm else {"right": 1}
        mood = chance.choices(tuple(kinds), tuple(kinds.values()))[0]
        if (failed := _failed(run, mood)) is not None:
            return failed
        match mood:
            case "gives up":
                return _said(run, status=AgentStatus.BLOCKED, summary="it cannot be done")
            case "nothing":
                pass
            case "crashes half-way":
                self._write(run, files, BROKEN)
                return AgentFailed(key=run.key, reason="crashed", detail=f"exit {chance.randint(1, 99)}", usage=_USED)
            case "red":
                self._write(run, files, BROKEN)
            case "cheats":
                self._write(run, files, BROKEN)
                files["tests/test_it.py"] = frozenset({"passes"})
            case _:
                before = dict(files)
                self._write(run, files)
                if files == before and run.brief.attempt > 1:  # what was said of it wants an answer
                    files[f"src/note{run.loop}.py"] = frozenset({f"attempt {run.brief.attempt}"})
                if mood == "touches tests":
                    files["tests/test_it.py"] = frozenset({str(chance.randint(1, 3))})
                if mood == "does more":
                    self._put(files, chance.choice(self.plot.works))
        return _said(run, summary=mood)

    def _write(self, run: AgentRun, files: Files, also: str = "") -> None:
        """Its own part of the work, and with it whatever it sees to be wrong."""
        for path in [path for path, words in files.items() if BROKEN in words]:
            files[path] -= {BROKEN}
        found = _WORK.search(run.brief.task)
        assert found is not None, run.brief.task
        kind, number = found[1], int(found[2])
        if kind == "mend":
            files[f"src/mend{number}.py"] = frozenset({f"m{number}", also} - {""})
        else:
            self._put(files, self.plot.works[number - 1], also)
        for pair in self.plot.poison:
            if cure_of(*pair) in red(files, (pair,)):
                files[_CURE] = files.get(_CURE, frozenset()) | {cure_of(*pair)}

    @staticmethod
    def _put(files: Files, work: Work, also: str = "") -> None:
        for path in work.paths:
            files[path] = files.get(path, frozenset()) | {work.word}
        files[work.paths[0]] |= {also} - {""}

    # --- judges ---------------------------------------------------------------------------------------

    def _child_reviewer(self, run: AgentRun, chance: random.Random) -> AgentAnswer:
        if not self.plot.calm and run.brief.attempt <= 2 and chance.random() < 0.08:
            return _said(run, verdict=Verdict.FAIL, findings=(_finding("it is not clear", Severity.HIGH),))
        return _said(run, verdict=Verdict.PASS)

    def _reviewer(self, run: AgentRun, chance: random.Random) -> AgentAnswer:
        mood = chance.choices(("fine", "crashes", "not available", "finds", "garbled"), (80, 3, 4, 10, 3))[0]
        light = run.key.step == "light"
        if (failed := _failed(run, mood)) is not None and (light or run.key.tries in (None, 1)):
            return failed
        if light and mood == "finds":
            return _said(run, verdict=Verdict.FAIL, findings=(_finding("it is long", Severity.CRITICAL),))
        held = self.repo.files(Commit(run.folder.name))
        open_now = [each for each in range(1, self.plot.mends + 1) if f"src/mend{each}.py" not in held]
        if light or not open_now or not run.key.part.startswith("delivery"):
            return _said(run, verdict=Verdict.PASS)
        found = tuple(_finding(f"[[mend {each}]]", Severity.CRITICAL) for each in open_now)
        return _said(run, verdict=Verdict.FAIL, findings=found)

    # --- all the others --------------------------------------------------------------------------------

    def _planner(self, run: AgentRun, chance: random.Random) -> AgentAnswer:
        rows = [work.row() for work in self.plot.works]
        if run.key.tries == 1 and chance.random() < 0.1:
            rows[0]["blockedBy"] = [rows[-1]["id"], "99"]
        return _said(run, extras=json.dumps({"tasks": rows}))

    def _other(self, run: AgentRun, chance: random.Random) -> AgentAnswer:
        mood = chance.choices(("fine", "crashes", "garbled", "not available"), (80, 7, 7, 6))[0]
        first = run.key.tries in (None, 1)
        if (first or run.role == "panel") and (failed := _failed(run, mood)) is not None:
            return failed
        told: dict[str, dict[str, Any]] = {
            "scorer": {"scores": dict.fromkeys(("outcome", "scope", "constraints", "success", "done"), 2)},
            "shaper": {"shape": {"criteria": ["It is there."], "mustNot": [_LACKS, "It must not be slow."]}},
            "panel": {"advice": {"consensus": "Try it again."}},
            "gate": {"ship": {"confidence": 90, "reversibility": "2B"}},
        }
        verdict = Verdict.PASS if run.role == "gate" else None
        return _said(run, verdict=verdict, extras=json.dumps(told[run.role]))


_LACKS = {"text": "Nothing may be forbidden.", "command": ["lacks", "src/forbidden.py", "anything"]}
_USED = Usage(usd=PRICE, input_tokens=10)


def _said(run: AgentRun, **report: Any) -> AgentReported:  # noqa: ANN401 - whatever a report has
    return AgentReported(key=run.key, report=AgentReport(**report), usage=_USED)


def _failed(run: AgentRun, mood: str) -> AgentAnswer | None:
    match mood:
        case "crashes":
            return AgentFailed(key=run.key, reason="crashed", detail="exit 139", usage=_USED)
        case "garbled":
            return AgentFailed(key=run.key, reason="garbled", detail="no JSON", usage=_USED)
        case "not available":
            return AgentUnavailable(key=run.key, until=0.0, detail="429", usage=Usage(usd=0.0))
        case _:
            return None


def _finding(issue: str, severity: Severity) -> Finding:
    return Finding(severity=severity, issue=issue, evidence="seen", guidance=issue)


def product_words(repo: Repository, commit: Commit) -> dict[str, set[str]]:
    """What was made, without cures and what was mended."""
    files = repo.files(commit)
    chosen = [path for path in changed_paths({}, files) if re.fullmatch(r"src/(f|shared)\d+\.py", path)]
    return {path: set(files[path]) for path in chosen}
