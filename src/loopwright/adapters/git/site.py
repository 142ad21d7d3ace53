"""Where everything stands: the person's repository, the engine's own git directory, the folders.

Objects are written straight into the person's object store, so that a ref in their repository never
points at something that lives only under `.loop/`. Configuration, index, attributes and excludes are
the engine's own, in `.loop/git`, and are put right before every use. Where files are written or read there is a
git directory for each set of rules by which they are converted: loops that began at different commits are at work
at the same time.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.adapters.git.folders import locked, own_folder, put, real_folder, remove
from loopwright.adapters.git.person_config import read_config
from loopwright.adapters.git.program import OUR_EMAIL, OUR_NAME, Git, isolated_git, path_of, persons_git
from loopwright.adapters.git.risky_settings import RiskySettings
from loopwright.adapters.git.rules import (
    FilterPlace,
    PersonsRules,
    Pinned,
    attributes_of,
    configuration,
    flattened,
    persons_rules,
)
from loopwright.errors import UsageError, VcsFailed
from loopwright.kernel.model import Commit, LoopId, Tree

NAME = re.compile(r"[a-z0-9-]{1,40}")
BUILT_IN_EXCLUDES = (
    "__pycache__/",
    "*.pyc",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    "node_modules/",
    ".venv/",
    ".DS_Store",
)
RULES = "rules"  # a git directory for each set of rules
OWN_TEMPORARY = (".new-", "info/.new-", "overlay-")
# For what is read from objects alone: the bytes are as they were recorded.
ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding\n"
CONFIG = """\
[core]
	repositoryformatversion = {version}
	bare = true
	fileMode = true
	symlinks = true
	ignoreCase = {ignorecase}
	precomposeUnicode = {precomposeunicode}
	sharedRepository = {sharedrepository}
	safecrlf = false
	attributesFile = /dev/null
	protectHFS = true
	protectNTFS = true
	logAllRefUpdates = false
	untrackedCache = false
	splitIndex = false
[index]
	sparse = false
"""
OBJECT_FORMAT = "[extensions]\n\tobjectFormat = {format}\n"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with files, and where the engine keeps its own index and notes about it."""

    folder: Path
    notes: Path

    @property
    def index(self) -> Path:
        return self.notes / "index"

    @property
    def excludes(self) -> Path:
        """What setup made: not part of anybody's work."""
        return self.notes / "excludes"

    @property
    def lock(self) -> Path:
        return self.notes / "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A repository of the person's that files come from: the project's, or that of a submodule."""

    folder: Path
    git_dir: Path  # of this worktree alone
    objects: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    root: Path
    common: Path  # the git directory all worktrees of the person share
    git_dir: Path  # that of this worktree alone
    objects: Path
    object_format: str
    author: tuple[str, str]
    config: Mapping[str, str]
    excludes: str
    engine: Git  # in `.loop/git`
    refs: Git  # in the person's repository, for refs and nothing else
    person: Git  # as the person would run it
    base: Commit  # whose attributes count
    rules: PersonsRules  # as they were when the loop began
    risky: RiskySettings
    trees: dict[Commit, Tree] = field(default_factory=dict)  # what is known for ever
    attributes: dict[Commit, str] = field(default_factory=dict)
    signed: set[LoopId] = field(default_factory=set)  # loops whose refs say where they were begun
    linked: dict[Commit, bool] = field(default_factory=dict)  # whether a commit has submodules

    @property
    def loop(self) -> Path:
        return self.root / ".loop"

    @property
    def own(self) -> Path:
        return self.loop / "git"

    @property
    def worktrees(self) -> Path:
        return self.root / ".worktrees"

    def workspace(self, name: str) -> Place:
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot name a workspace; use 1 to 40 of a-z, 0-9 and -")
        return Place(self.worktrees / name, self.own / "workspaces" / name)

    @property
    def origin(self) -> Origin:
        return Origin(folder=self.root, git_dir=self.git_dir, objects=self.objects)

    def inside(self, place: Place, hold: int, origin: Origin | None = None, commit: Commit | None = None) -> Git:
        """The engine's git on the files of a place. `hold` is the lock on the place.

        `commit` of `origin` says how they are converted: the base of the person's own repository, if nothing is said.
        """
        source = origin or self.origin
        env = {
            "GIT_DIR": str(self._converting(source, commit or self.base)),
            "GIT_OBJECT_DIRECTORY": str(source.objects),
            "GIT_WORK_TREE": str(place.folder),
            "GIT_INDEX_FILE": str(place.index),
        }
        git = self.engine.having(**env).setting(f"core.excludesFile={place.excludes}")
        return replace(git, cwd=place.folder, hold=(hold,))

    def attributes_at(self, origin: Origin, commit: Commit) -> str:
        """All attributes that count where files of `commit` are written and read."""
        if commit not in self.attributes:
            git = self.engine.having(GIT_OBJECT_DIRECTORY=str(origin.objects))
            self.attributes[commit] = flattened(self.rules, attributes_of(git, commit))
        return self.attributes[commit]

    def conversion(self, origin: Origin) -> str:
        """The part of a configuration that says how files are converted."""
        return configuration(self.rules, FilterPlace(folder=origin.folder, git_dir=origin.git_dir, env=self.person.env))

    @property
    def conversion_key(self) -> str:
        """Differs where the same tree would be laid as other files."""
        said = self.conversion(self.origin) + self.attributes_at(self.origin, self.base)
        return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()

    def _converting(self, origin: Origin, commit: Commit) -> Path:
        """A git directory of ours with exactly these rules."""
        wanted = {**self._files(), "info/attributes": self.attributes_at(origin, commit)}
        wanted["config"] += self.conversion(origin)
        text = "\0".join(wanted.values()).encode("utf-8", "surrogateescape")
        folder = self.own / RULES / hashlib.sha256(text).hexdigest()[:20]
        with locked(self.loop / "git.lock"):
            real_folder(self.own / RULES)
            _put_right(folder, wanted, ("", "info", "refs"))
        return folder

    def tree(self, commit: Commit) -> Tree:
        if commit not in self.trees:
            self.trees[commit] = Tree(
                self.engine.line("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")
            )
        return self.trees[commit]

    def settle(self) -> None:
        """Make the engine's git directory, or put it right: an agent without a sandbox can reach it."""
        own_folder(self.loop)
        own_folder(self.worktrees)
        with locked(self.loop / "git.lock"):
            self._put_right()

    def _put_right(self) -> None:
        folders = ("", "info", "refs", "workspaces", "verify", RULES)
        _put_right(self.own, {**self._files(), "info/attributes": ATTRIBUTES}, folders)

    def _files(self) -> dict[str, str]:
        wanted = {"HEAD": "ref: refs/heads/none\n", "config": self._config(), "info/exclude": self.excludes}
        if (self.common / "shallow").is_file():
            wanted["shallow"] = (self.common / "shallow").read_text()
        return wanted

    def _config(self) -> str:
        sha1 = self.object_format == "sha1"
        known = {"ignorecase": "false", "precomposeunicode": "false", "sharedrepository": "umask"}
        values = {key: self.config.get(f"core.{key}", default) for key, default in known.items()}
        text = CONFIG.format(version=0 if sha1 else 1, **values)
        return text if sha1 else text + OBJECT_FORMAT.format(format=self.object_format)


def _put_right(folder: Path, wanted: Mapping[str, str], folders: tuple[str, ...]) -> None:
    """A git directory with these files and folders and no others: git would obey a `commondir`."""
    for name in folders:
        real_folder(folder / name)
    for name, text in wanted.items():
        put(folder / name, text)
    for found in (*folder.iterdir(), *(folder / "info").iterdir()):
        name = found.relative_to(folder).as_posix()
        if name not in wanted and name not in folders and not name.startswith(OWN_TEMPORARY):
            remove(found)


class Site:
    """A repository that is looked at when it is first needed, and settled at every use."""

    def __init__(self, root: Path, env: Mapping[str, str], pinned: Pinned | None = None) -> None:
        self.root, self._env, self._pinned = root, env, pinned or Pinned()
        self._ground: Ground | None = None
        self._once = threading.Lock()

    def ground(self) -> Ground:
        with self._once:
            self._ground = self._ground or survey(self.root, self._env, self._pinned)
            self._ground.risky.refuse_changed()  # whoever comes here is about to begin a step, or has ended one
            self._ground.settle()
            return self._ground


def survey(root: Path, env: Mapping[str, str], pinned: Pinned) -> Ground:
    root = Path(os.path.realpath(root))
    person = persons_git(env, root)
    asked = ("--show-object-format", "--git-common-dir", "--absolute-git-dir", "--git-path", "objects")
    answer = path_of(person.run("rev-parse", "--path-format=absolute", *asked)).splitlines()
    if len(answer) != len(asked) - 1:
        raise VcsFailed("git rev-parse", f"{root}: the path of the repository cannot be used")
    object_format, common, git_dir, objects = answer
    entries = read_config(person)
    config = {entry.key.lower(): entry.value for entry in entries}
    author = (config.get("user.name", OUR_NAME), config.get("user.email", OUR_EMAIL))
    isolated = isolated_git(env, root).having(GIT_AUTHOR_NAME=author[0], GIT_AUTHOR_EMAIL=author[1])
    own = root / ".loop" / "git"
    return Ground(
        root=root,
        common=Path(common),
        git_dir=Path(git_dir),
        objects=Path(objects),
        object_format=object_format,
        author=author,
        config=config,
        excludes=_excludes(Path(common), config, env),
        engine=replace(isolated.having(GIT_DIR=str(own), GIT_OBJECT_DIRECTORY=objects), cwd=root),
        refs=isolated.having(GIT_DIR=common),
        person=person,
        base=pinned.base or Commit(person.line("rev-parse", "--verify", "HEAD")),
        rules=persons_rules(person, Path(common), entries) if pinned.rules is None else pinned.rules,
        risky=RiskySettings.taken(person, Path(common), env, entries),
    )


def _excludes(common: Path, config: Mapping[str, str], env: Mapping[str, str]) -> str:
    """Ours, then the person's for all repositories, then the person's for this one: the last match wins."""
    home = env.get("HOME", "")
    settings = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    chosen = config.get("core.excludesfile", f"{settings}/git/ignore")
    if chosen.startswith("~/"):
        chosen = f"{home}/{chosen[2:]}"
    texts = [_text(Path(chosen)), _text(common / "info" / "exclude")]
    return "\n".join([*BUILT_IN_EXCLUDES, *texts, ""])


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape") if file.is_file() else ""
