"""Finding the person's repository, saying in one sentence why there is none to work in, and small looks into it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from loopwright.adapters.git.objects import texts_of
from loopwright.adapters.git.program import Git, path_of, persons_git, readable
from loopwright.adapters.git.rules import PersonsRules, persons_rules
from loopwright.errors import UsageError, VcsFailed
from loopwright.kernel.model import Commit, Tree
from loopwright.kernel.quoting import one_line

_TRUSTING = re.compile(r"git config --global --add safe\.directory .+")  # git's own words, the path as a shell takes it
_SHOWN = 15  # commits, and files
OLDEST = (2, 38)  # the first with `merge-tree --write-tree`


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    top: Path
    head: Commit
    branch_ref: str  # a full ref; empty when HEAD is detached
    dirty: bool  # changes or new files that are not committed


def find_repository(cwd: Path, env: Mapping[str, str]) -> Repository:
    git = _usable_git(cwd, env)
    top = _top(git)
    said = replace(git, cwd=top).run("status", "--porcelain=v2", "--branch", "--no-renames", "-z")
    entries = [readable(entry) for entry in said.split(b"\0") if entry]
    facts = dict(entry.removeprefix("# ").split(" ", 1) for entry in entries if entry.startswith("# "))
    if facts["branch.oid"] == "(initial)":
        raise UsageError(f"{top} has no commit yet; make a first commit (`git add -A && git commit`) and try again")
    detached = facts["branch.head"] == "(detached)"
    return Repository(
        top=top,
        head=Commit(facts["branch.oid"]),
        branch_ref="" if detached else f"refs/heads/{facts['branch.head']}",
        dirty=any(not entry.startswith("# ") for entry in entries),
    )


def uncommitted_paths(top: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    """Files that differ from HEAD, and new ones that git does not ignore."""
    options = ("--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
    said = persons_git(env, top).run("status", "--porcelain", "-z", *options)
    return tuple(readable(entry)[3:] for entry in said.split(b"\0") if entry)


def other_worktrees(top: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """The other folders that share this repository, and with it all refs."""
    lines = persons_git(env, top).names("worktree", "list", "--porcelain", "-z")
    named = (line.removeprefix("worktree ") for line in lines if line.startswith("worktree "))
    return tuple(folder for folder in map(Path, named) if folder != top)


def rules_of(top: Path, env: Mapping[str, str]) -> PersonsRules:
    """How the person's git converts files, besides what is committed."""
    git = persons_git(env, top)
    common = path_of(git.run("rev-parse", "--path-format=absolute", "--git-common-dir")[:-1])
    return persons_rules(git, Path(common))


def tree_of(top: Path, env: Mapping[str, str], commit: str) -> str:
    """The tree of a commit; empty where the commit is not there."""
    said = persons_git(env, top).ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{tree}}")
    return readable(said.out).strip() if said.code == 0 else ""


def paths_at(top: Path, env: Mapping[str, str], commit: str) -> tuple[str, ...]:
    return tuple(persons_git(env, top).names("ls-tree", "-r", "--name-only", "--full-tree", "-z", commit))


def texts_at(
    top: Path, env: Mapping[str, str], tree: str, paths: tuple[str, ...], limit: int
) -> tuple[str | None, ...]:
    """What the files of a tree hold; None where there is none, or one of more than `limit` bytes."""
    git = persons_git(env, top).having(GIT_LITERAL_PATHSPECS="1")
    found = texts_of(git, Tree(tree), paths, limit) if paths else {}
    return tuple(found.get(path) for path in paths)


class ComeOn(NamedTuple):
    """A branch that has come on since a commit."""

    tip: str
    is_whole: bool  # it has the work, too
    made: tuple[str, ...]  # paths of the work, where it has that
    paths: tuple[str, ...]  # that differ, from the work where it has that
    onto: str  # where the target stands, if that was brought in since; else empty


class OwnBranch(NamedTuple):
    branch: str
    since: str  # where the branch stood
    work: str  # all that was made, whether it is on the branch or not
    target: str  # the ref that it is for


def commits_on(top: Path, env: Mapping[str, str], stood: OwnBranch) -> ComeOn | None:
    """None: it has not come on."""
    git = persons_git(env, top)
    branch, since, work, target = stood
    tip, theirs = (_position(git, ref) for ref in (f"refs/heads/{branch}", target))
    if tip in ("", since) or not is_part_of(top, env, since, tip):
        return None
    is_new = theirs and is_part_of(top, env, theirs, tip) and not is_part_of(top, env, theirs, since)
    is_whole = is_part_of(top, env, work, tip)
    differ = ("diff-tree", "-r", "--name-only", "--no-renames", "-z")
    return ComeOn(
        tip=tip,
        is_whole=is_whole,
        made=tuple(git.names(*differ, since, work)) if is_whole else (),
        paths=tuple(git.names(*differ, work if is_whole else since, tip)),
        onto=theirs if is_new else "",
    )


def _position(git: Git, ref: str) -> str:
    said = git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return readable(said.out).strip() if said.code == 0 else ""


def described(top: Path, env: Mapping[str, str], since: str, tip: str) -> tuple[str, ...]:
    """Return the newest commits from one to the other, and how much of which files they change."""
    git = persons_git(env, top)
    newest = ("--no-show-signature", "--no-color", f"-{_SHOWN}", "--format=%h %an: %s")
    commits = git.run("log", *newest, f"{since}..{tip}")
    files = git.run("diff-tree", "--stat=100", "--no-color", "--no-ext-diff", "--no-textconv", since, tip)
    lines = (*readable(commits).splitlines(), *readable(files).splitlines()[-_SHOWN:])
    return tuple(f"  {one_line(line, 200)}" for line in lines)


def is_part_of(top: Path, env: Mapping[str, str], commit: str, tip: str) -> bool:
    """Whether the history of `tip` has the commit; of one that is not there, nobody can say so."""
    git = persons_git(env, top)
    return git.ask("merge-base", "--is-ancestor", "--end-of-options", commit, tip).code == 0


def files_of(top: Path, env: Mapping[str, str], folder: str) -> tuple[str, ...]:
    """Plain files below a folder that git knows or would take, in their order."""
    git = persons_git(env, top).having(GIT_LITERAL_PATHSPECS="1")
    names = set(git.names("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder))
    return tuple(name for name in sorted(names) if (top / name).is_file() and not (top / name).is_symlink())


def submodule_paths(top: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    rows = persons_git(env, top).run("ls-files", "-s", "-z").split(b"\0")
    return tuple(path_of(row.partition(b"\t")[2]) for row in rows if row.startswith(b"160000 "))


def is_in_repository(cwd: Path, env: Mapping[str, str]) -> bool:
    return _usable_git(cwd, env).ask("rev-parse", "--git-dir").code == 0


def make_repository(folder: Path, env: Mapping[str, str]) -> None:
    """An empty one with a first commit: only what has a commit can be begun from."""
    git = persons_git(env, folder)
    git.run("init", "--quiet", "--initial-branch=main")
    identity = ("-c", "user.name=Loopwright", "-c", "user.email=loopwright@localhost")
    named = git.ask("config", "--get", "user.email").code == 0
    git.run(*(() if named else identity), "commit", "--quiet", "--allow-empty", "--message=Initial commit")


def git_names(env: Mapping[str, str], top: Path) -> tuple[str, str]:
    """`user.name` and `user.email`, as whoever may change these settings says; empty where git knows none."""
    git = persons_git(env, top)
    name, mail = (git.ask("config", "--get", key) for key in ("user.name", "user.email"))
    return _setting(name.code, name.out), _setting(mail.code, mail.out)


def _setting(code: int, out: bytes) -> str:
    return out.decode("utf-8", "backslashreplace").strip() if code == 0 else ""


def _usable_git(cwd: Path, env: Mapping[str, str]) -> Git:
    try:
        git = persons_git(env, cwd)
        version = git.line("version")
    except VcsFailed as failed:
        raise UsageError(f"git cannot be used ({failed.stderr}); install git 2.38 or newer") from failed
    found = re.search(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise UsageError(f"this is {version}; git 2.38 or newer is needed, install it")
    # A repository of another user is git's to refuse, and the person's to trust.
    return replace(git, settings=tuple(s for s in git.settings if not s.startswith("safe.")))


def _top(git: Git) -> Path:
    said = git.ask("rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-toplevel")
    answer = path_of(said.out).split("\n")
    if answer[:1] == ["true"]:
        raise UsageError(f"{git.cwd} is in a bare repository; run this in a checkout of it")
    if answer[1:2] == ["false"]:
        raise UsageError(f"{git.cwd} is inside a git directory; run this in the folder with your files")
    if "not a git repository" in said.err:
        raise UsageError(f"{git.cwd} is not in a git repository; run `git init` there, or change to one")
    if trusting := _TRUSTING.search(said.err):
        raise UsageError(
            f"the repository at {git.cwd} belongs to another user, so git refuses to read it; if you trust what is in"
            f" it, run `{trusting[0]}` and try again"
        )
    if said.code != 0:
        raise UsageError(f"git cannot read the repository at {git.cwd}: {said.err.strip().splitlines()[0]}")
    return Path(said.out[: said.out.rindex(b"\n")].split(b"\n", 2)[2].decode("utf-8", "surrogateescape"))
