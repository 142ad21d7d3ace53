"""The refs of a loop in the person's repository. They are only ever added: nothing becomes unreachable."""

from __future__ import annotations

import re
from dataclasses import dataclass

from loopwright.adapters.git.log_identity import LOG, begun_in, log_id
from loopwright.adapters.git.program import readable
from loopwright.adapters.git.site import NAME, Ground
from loopwright.errors import UsageError, VcsFailed
from loopwright.kernel.model import Commit, LoopId, Tree

LABEL = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9_.-]{0,79}(?<!\.lock)(?<!\.)")
STEP, LEFT = "Loopwright-Step", "Loopwright-Left"
# One field for both: git 2.39 mixes the keys of two such fields up. The separator is in no step: see `one_line`.
TRAILERS = f"%(contents:trailers:key={STEP},key={LEFT},separator=%x1F)"
FORMAT = f"%(refname)%00%(objectname)%00%(tree)%00{TRAILERS}"
TRIES = 20  # of finding a free name while somebody else takes them


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCommit:
    """A commit under one of the loop's refs."""

    ref: str
    commit: Commit
    tree: Tree
    step: str
    left: tuple[str, ...] = ()  # objects that were not taken: see who writes it


def folder_of(loop: LoopId) -> str:
    if not NAME.fullmatch(loop):
        raise UsageError(f"{loop!r} cannot name a loop; use 1 to 40 of a-z, 0-9 and -")
    return f"refs/loopwright/{loop}"


def ref_of(loop: LoopId, label: str) -> str:
    if not LABEL.fullmatch(label):
        raise UsageError(f"{label!r} cannot label an attempt; use letters, digits, - _ and .")
    return f"{folder_of(loop)}/{label}"


def kept_by(ground: Ground, loop: LoopId) -> tuple[KeptCommit, ...]:
    return listed(ground, folder_of(loop) + "/")


def listed(ground: Ground, *patterns: str) -> tuple[KeptCommit, ...]:
    lines = readable(ground.refs.run("for-each-ref", f"--format={FORMAT}", *patterns)).splitlines()
    return tuple(_kept(*line.split("\0")) for line in lines)


def _kept(ref: str, commit: str, tree: str, trailers: str) -> KeptCommit:
    pairs = [trailer.partition(": ") for trailer in trailers.split("\x1f")]
    step = ",".join(value for key, _, value in pairs if key == STEP)
    left = tuple(value for key, _, value in pairs if key == LEFT)
    return KeptCommit(ref=ref, commit=Commit(commit), tree=Tree(tree), step=step, left=left)


def position(ground: Ground, ref: str) -> Commit | None:
    """Where a full ref stands, or None where it does not exist."""
    said = ground.refs.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return Commit(readable(said.out).strip()) if said.code == 0 else None


def keep(
    ground: Ground, loop: LoopId, label: str, commit: Commit, held: tuple[KeptCommit, ...], *, numbered: bool = False
) -> str:
    """Put `commit` under a new ref of the loop. A label that is taken, as `held` or git says, gets a number."""
    prefix, said = ref_of(loop, label).removesuffix(label), ""
    _sign(ground, loop, commit)
    for _ in range(TRIES):
        ref = _free(label, prefix, {kept.ref for kept in held}, numbered=numbered)
        answer = ground.refs.ask("update-ref", "--stdin", stdin=f"create {ref} {commit}\n".encode())
        if answer.code == 0:
            return ref
        said, held = answer.err, kept_by(ground, loop)
        if ref not in {kept.ref for kept in held}:
            break
    raise VcsFailed(f"git update-ref {prefix}{label}", said)


def _sign(ground: Ground, loop: LoopId, commit: Commit) -> None:
    """All worktrees share the refs, and each has a log of its own: whose loop it is stands there before all else."""
    if loop not in ground.signed:
        ref = f"{begun_in(log_id(ground.git_dir))}{loop}"
        ground.refs.run("update-ref", "--stdin", stdin=f"update {ref} {commit}\n".encode())
        ground.signed.add(loop)


def _free(label: str, prefix: str, taken: set[str], *, numbered: bool) -> str:
    """`label`, `label+2`, `label+3` …; or, numbered, `label-1`, `label-2` …"""
    number = 1
    while (ref := _numbered(prefix + label, number, numbered=numbered)) in taken:
        number += 1
    return ref


def _numbered(name: str, number: int, *, numbered: bool) -> str:
    if numbered:
        return f"{name}-{number}"
    return name if number == 1 else f"{name}+{number}"


def commit_tree(ground: Ground, tree: Tree, parents: tuple[Commit, ...], message: str) -> Commit:
    options = [part for parent in parents for part in ("-p", parent)]
    commit = Commit(ground.engine.line("commit-tree", tree, *options, "-F", "-", stdin=message.encode()))
    ground.trees[commit] = tree
    return commit


_TRAILERS = re.compile(r"(?:(?!Loopwright)[A-Z][A-Za-z-]*: [^\n]+\n?)+")  # none of which could pass for ours


def message_of(text: str, loop: LoopId, step: str, left: tuple[str, ...] = (), log: str = "") -> str:
    """The text and the trailers by which the commit is found again, with what it left out and where its log stood."""
    said = "".join(char for char in text if char in "\n\t" or char.isprintable()).strip() or "Loopwright"
    trailers = [f"Loopwright-Loop: {loop}"] if loop else []
    trailers += [f"{LEFT}: {name}" for name in left]
    trailers += [f"{LOG}: {one_line(log)}"] if log else []
    # A text that ends with trailers of its own has ours in the same paragraph: git reads the last one alone.
    apart = [] if _TRAILERS.fullmatch(said.rpartition("\n\n")[2]) and "\n\n" in said else [""]
    return "\n".join([said, *apart, *trailers, f"{STEP}: {one_line(step)}", ""])


def one_line(step: str) -> str:
    return " ".join(step.split())
