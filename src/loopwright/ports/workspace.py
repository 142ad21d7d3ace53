"""Files under version control: where agents edit, how attempts are kept, how results land."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from loopwright.kernel.model import NO_COMMIT, Change, Cleanup, Commit, Conflict, Content, LoopId, Tree
from loopwright.kernel.risks import AddedText


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    commit: Commit
    tree: Tree
    changes: tuple[Change, ...]  # against the base
    dropped: tuple[str, ...] = ()  # changed, but not among what was to be taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """`left_out` are the commits that conflict with those before them, and where they do with all."""

    commit: Commit
    changes: tuple[Change, ...]  # against the base
    left_out: tuple[Conflict, ...] = ()
    kept: tuple[str, ...] = ()  # files of those to be kept that would be otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A merge made in objects only. `tree` is empty when the two sides conflict."""

    onto: Commit  # where the target stood
    commit: Commit
    tree: Tree
    conflicts: tuple[str, ...] = ()
    fast_forward: bool = False
    gone: bool = False  # the target does not exist any more, and nothing was made


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """`done`, or why the branch was left where it is; `detail` does not say what to do about it."""

    how: Literal["done", "moved", "dirty"]
    detail: str = ""
    take: str = ""  # the command by which a person takes the result


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """What of a workspace is to be recorded, and as what."""

    loop: LoopId
    name: str  # of the workspace
    label: str
    parent: Commit
    base: Commit
    step: str
    only: tuple[str, ...] = ()  # these files, and all below these folders; empty: everything
    also: tuple[str, ...] = ()  # besides `only`: these files, and nothing below them
    welcome: Callable[[str], bool] = lambda _path: False  # and whatever file this says yes to
    welcome_only: bool = False  # nothing but these
    new_files: bool = False  # and every file that the parent does not have
    log: str = ""  # how far the loop's log had come: a number and a hash, for the commit to carry


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """What is to stand on a branch of a loop's own: one commit on `base`."""

    loop: LoopId
    branch: str
    commit: Commit
    base: Commit
    message: str
    step: str
    tree: Tree = Tree("")  # what it holds; empty: what `commit` does
    merges: Commit = NO_COMMIT  # a second parent
    moves: bool = True  # false: the commit is made and kept, and the branch stands where it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Combining:
    """What is to be brought together, and as what."""

    loop: LoopId
    label: str
    base: Commit
    commits: tuple[Commit, ...]
    made_on: tuple[Commit, ...] = ()  # what each is a change to; empty: all to `base`
    keep: tuple[tuple[Commit, str], ...] = ()  # files that are as this commit has them, whatever is done to them
    marks: bool = False  # what conflicts is in it all the same, both sides with git's marks around them
    step: str

    @property
    def deltas(self) -> tuple[tuple[Commit, Commit], ...]:
        """Each commit after what it is a change to."""
        return tuple(zip(self.made_on or (self.base,) * len(self.commits), self.commits, strict=True))


class Workspace(Protocol):
    """Never touches the person's index or checked-out files, but for `advance` on a clean checked-out branch.

    Every method is safe to repeat with the same arguments. All may raise `VcsFailed`.
    """

    async def prepare(self, loop: LoopId, name: str, at: Commit, step: str) -> Path:
        """The workspace with exactly the files of `at` (ignored files stay). Made, set up and repaired as needed.

        What else it held is first kept as a commit under the loop's refs.
        """

    async def checkout(self, loop: LoopId, at: Commit, step: str) -> Path:
        """A throw-away folder with the files of `at` and a git history of its own, for a judge."""

    async def remove_others(self, loop: LoopId, name: str) -> None:
        """Remove the loop's folders, but for this workspace: other workspaces, and what runs of agents left.

        Commits and the log stay. Harmless when they are gone.
        """

    async def discard(self, folder: Path) -> None:
        """Remove a throw-away folder. Harmless when it is gone."""

    async def snapshot(self, taking: Taking) -> Snapshot:
        """Record the workspace's files under `refs/loopwright/<loop>/<label>`.

        With `only`, everything else stays as it is in `parent`; what was left behind is kept as evidence
        and named in `dropped`. The same `step` again returns the commit already made.
        """

    async def contents(self, commit: Commit, paths: tuple[str, ...]) -> tuple[Content, ...]:
        """What the commit holds at each of the paths, files and folders, in their order."""

    async def texts(self, commit: Commit, paths: tuple[str, ...], limit: int) -> tuple[str | None, ...]:
        """What the commit's files at these paths hold, at most `limit` bytes of each; None where there is no file.

        What is no UTF-8 is told with marks in its place.
        """

    async def changed(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        """Every path that differs, in the order of git."""

    async def added(self, base: Commit, commit: Commit, limit: int) -> tuple[AddedText, ...]:
        """The lines that each file of `commit` has and `base` does not have there, in the order of `changed`.

        A line that declares an encoding in which the others say something else is told wherever it is from.
        Of what is above `limit` bytes, no UTF-8 text or no file (a link, a submodule): only that it is not told whole.
        """

    async def combine(self, wanted: Combining) -> Combination:
        """`base` with the changes of all commits, in their order, as one commit under `refs/loopwright/<loop>/<label>`.

        `made_on` says what each is a change to, where that is not `base`. One that conflicts with those before it is
        left out; with `marks` it is told to be, and both sides are in the files. What is to be kept is then as its
        commit has it. Safe to repeat: the same step, the same commit.
        """

    async def diff(self, base: Commit, commit: Commit, *, limit: int, only: tuple[str, ...] = ()) -> str:
        """The change as text, at most `limit` characters; with `only`, that to these files and folders."""

    async def tree(self, commit: Commit) -> Tree: ...

    async def land(self, landing: Landing) -> Snapshot:
        """Safe to repeat: the same step, the same commit."""

    async def branch(self, loop: LoopId) -> str:
        """The short name of the loop's own branch: `loop/<id>`, or `loopwright/<id>` where that cannot be."""

    async def merge(self, commit: Commit, target: str, *, message: str, step: str) -> Merge:
        """`commit` merged into where `target` stands now, in objects; nothing moves."""

    async def advance(self, target: str, onto: Commit, commit: Commit, branch: str = "") -> Moved:
        """Move `target` from `onto` to `commit` by compare-and-swap; checked out and clean: with its files.

        Where it is left, the command that takes the result names `branch`, which no clean-up of git takes away.
        """

    async def clean_up(self, loop: LoopId, choice: Cleanup, branch: str = "") -> tuple[str, ...]:
        """Remove what the choice says; told are folders that cannot be removed. Attempt refs stay, always."""
