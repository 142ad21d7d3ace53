"""Which learnings a new request is shown, best first, and which would only be said once more.

Relevant is what shares a word or an aspect with the request. Words are compared by their first six letters without a
plural `s`, so that `validate` and `validations` are one; words that most requests have are not counted. Two learnings
of one kind are the same when only numbers and paths tell them apart, or when at least 0.7 of all their words are in
both. What was learned on several occasions comes first, then what is younger than 30 days, then what is sure (0.8),
then what shares most with the request, then the newest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from loopwright.kernel.findings import normalise
from loopwright.kernel.quoting import one_line
from loopwright.loops.workflow.learnings import DAY, RETAINED, Learned, Learning, as_learned, moment_of

SHOWN = 5
RECENT = 30 * DAY
SURE = 0.8
OFTEN = 2
NEAR = 0.7
TITLE = 60
_MOST = 500  # relevant ones that are compared, each with every other
_ROOT = 6
_WORD = re.compile(r"[^\W\d_][^\W_]{2,}")
_COMMON = (
    "add all and any are but can change create does done each every fix for from has have implement into its make must"
    " new not one our should some task test than that the their then there they this too update use used was were when"
    " which will with without work you your"
)

Aspects = Callable[[str], frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gist:
    """What is compared of a learning."""

    kind: str
    line: str
    words: frozenset[str]

    @staticmethod
    def of(learned: Learned) -> _Gist:
        return _Gist(kind=learned.kind, line=normalise(learned.text), words=words_of(learned.text))

    def is_same(self, other: _Gist) -> bool:
        if self.kind != other.kind:
            return False
        shared = len(self.words & other.words)
        every = len(self.words) + len(other.words) - shared
        return self.line == other.line or bool(every and shared >= NEAR * every)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """`sighted` are the occasions on which it was learned."""

    learned: Learned
    gist: _Gist
    at: float
    share: int
    sighted: frozenset[tuple[str, str]]


def recalled(
    every: Iterable[Learned], request: str, now: float, aspects_of: Aspects = lambda _text: frozenset()
) -> tuple[Learned, ...]:
    """At most five, each once. `aspects_of` says what a text is about, where somebody knows that."""

    def rank(each: _Candidate) -> tuple[bool, bool, bool, int, float]:
        return (
            each.learned.recurring < OFTEN,
            now - each.at > RECENT,
            each.learned.confidence < SURE,
            -each.share,
            -each.at,
        )

    relevant = [each for each in _candidates(every, request, aspects_of) if each.share and now - each.at <= RETAINED]
    newest = sorted(relevant, key=lambda each: -each.at)[:_MOST]
    return tuple(each.learned for each in sorted(_once(newest), key=rank)[:SHOWN])


def is_double(learning: Learning, held: Iterable[Learned]) -> bool:
    """Whether the same was learned in the same context already. In another one it recurs, which is worth a line."""
    new = as_learned(learning)
    gist, context = _Gist.of(new), normalise(new.context)
    return any(normalise(each.context) == context and _Gist.of(each).is_same(gist) for each in held)


def title_of(learned: Learned) -> str:
    """At most 60 characters, cut between words."""
    line = one_line(learned.text)
    if len(line) <= TITLE:
        return line
    begun = line[: TITLE - 1]
    whole_words = begun if line[TITLE - 1] == " " else begun.rpartition(" ")[0]
    return f"{(whole_words or begun).rstrip()}…"


def _candidates(every: Iterable[Learned], request: str, aspects_of: Aspects) -> Iterator[_Candidate]:
    wanted, about = words_of(request), aspects_of(request)
    for each in every:
        said = " ".join((each.context, *_texts(each.data), each.text))
        yield _Candidate(
            learned=each,
            gist=_Gist.of(each),
            at=moment_of(each.ts) or 0.0,
            share=2 * len(wanted & words_of(said)) + len(about & aspects_of(said)),
            sighted=frozenset({(each.ts, each.context)}),
        )


def _texts(data: object) -> Iterator[str]:
    match data:
        case str():
            yield data
        case list():
            for each in data:
                yield from _texts(each)
        case dict():
            yield from _texts(list(data.values()))
        case _:
            return


def _once(newest: list[_Candidate]) -> list[_Candidate]:
    """The newest of each that are the same, which counts all occasions."""
    found: list[_Candidate] = []
    for each in newest:
        known = next((index for index, other in enumerate(found) if each.gist.is_same(other.gist)), None)
        if known is None:
            found.append(each)
        else:
            found[known] = _joined(found[known], each)
    return [
        replace(each, learned=replace(each.learned, recurring=max(each.learned.recurring, len(each.sighted))))
        for each in found
    ]


def _joined(newer: _Candidate, older: _Candidate) -> _Candidate:
    sure = max(newer.learned.confidence, older.learned.confidence)
    return replace(
        newer,
        learned=replace(newer.learned, confidence=sure),
        sighted=newer.sighted | older.sighted,
    )


def words_of(text: str) -> frozenset[str]:
    """Roots of the words that tell something. `validateUser` and `validate_user` are two words each."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return frozenset(map(_root, _WORD.findall(apart.casefold()))) - _EVERYWHERE


def _root(word: str) -> str:
    return word.removesuffix("s")[:_ROOT]


_EVERYWHERE = frozenset(map(_root, _COMMON.split()))
