"""Which task waits for which: depths, waves and cycles, for thousands of tasks in the time it takes to read them.

A graph is a table of names with the names each waits for. A name that nobody has holds nobody up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

Graph = Mapping[str, Sequence[str]]
WAVE = 6  # tasks of one wave: more at once nobody looks through
_MOST_CYCLES = 5  # each is found anew, and who mends five looks for the rest too


def depths(graph: Graph) -> dict[str, int]:
    """1 for who waits for nobody, else one more than the deepest it waits for.

    Those in a cycle, and whoever waits for them, never begin: they come after all others.
    """
    waits = {name: {each for each in blockers if each in graph} for name, blockers in graph.items()}
    followers: dict[str, list[str]] = {name: [] for name in graph}
    for name, blockers in waits.items():
        for blocker in blockers:
            followers[blocker].append(name)
    open_ones = {name: len(blockers) for name, blockers in waits.items()}
    found: dict[str, int] = {}
    level = [name for name in graph if not open_ones[name]]
    depth = 0
    while level:
        depth += 1
        found |= dict.fromkeys(level, depth)
        level = _freed(level, followers, open_ones)
    return {name: found.get(name, depth + 1) for name in graph}


def _freed(level: list[str], followers: Mapping[str, list[str]], open_ones: dict[str, int]) -> list[str]:
    freed: list[str] = []
    for name in level:
        for follower in followers[name]:
            open_ones[follower] -= 1
            if not open_ones[follower]:
                freed.append(follower)
    return freed


def waves(graph: Graph) -> dict[str, int]:
    """As `depths`, with a depth of more than `WAVE` split into even parts; those behind it shift."""
    levels: dict[int, list[str]] = {}
    for name, depth in depths(graph).items():
        levels.setdefault(depth, []).append(name)
    found: dict[str, int] = {}
    wave = 0
    for depth in sorted(levels):
        for part in evenly(levels[depth], WAVE):
            wave += 1
            found |= dict.fromkeys(part, wave)
    return found


def evenly(names: Sequence[str], most: int) -> tuple[tuple[str, ...], ...]:
    """As few parts of at most `most` as there can be, none more than one longer than another."""
    parts = -(-len(names) // most)
    bounds = [-(-len(names) * part // parts) for part in range(parts + 1)]
    return tuple(tuple(names[start:end]) for start, end in pairwise(bounds))


def cycles(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Some that have nobody in common, each from its first name back to it; each name waits for the next."""
    left = {name: [each for each in blockers if each in graph] for name, blockers in graph.items()}
    found: list[tuple[str, ...]] = []
    while len(found) < _MOST_CYCLES and (cycle := _cycle(left)):
        found.append(cycle)
        gone = set(cycle)
        left = {
            name: [each for each in blockers if each not in gone] for name, blockers in left.items() if name not in gone
        }
    return tuple(found)


def _cycle(graph: Graph) -> tuple[str, ...]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        around: list[str] = error.args[1][1:]  # without the name that closes it
        around.reverse()
        start = around.index(min(around))
        return (*around[start:], *around[:start], around[start])
    return ()
