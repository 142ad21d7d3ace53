"""What a walk over the commands of checks found: the files they call, and where they work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.classes.command_lines import Command
from loopwright.kernel.gates import matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """`files` by path with the reason; names of `targets` a file would hide."""

    files: Mapping[str, str] = field(default_factory=dict)
    targets: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()  # read for doctests
    included: Mapping[str, str] = field(default_factory=dict)  # patterns of files that a build takes in
    words: frozenset[str] = frozenset()  # of everything that steers checks: a new folder must bear none of them
    places: frozenset[str] = frozenset()  # folders that commands work in, or are given: what lies there steers them
    ran: tuple[tuple[str, Command], ...] = ()  # every command, with the folder it works in
    loaded: frozenset[str] = frozenset()  # what lies beside scripts that checks run, and is loaded by them

    alone: Mapping[str, str] = field(default_factory=dict)  # loaded before tests run: a judge if nothing else loads it

    def why(self, path: str) -> str:
        """Why the path is the checks' own, in words; empty when it is not."""
        if path in self.files:
            return self.files[path]
        return next((why for pattern, why in self.included.items() if matches(path, pattern)), "")

    def target_at(self, path: str) -> str:
        """The target that the path, or a folder it lies in, has the name of."""
        return next((each for each in self.targets if f"{path}/".startswith(f"{each}/")), "")
