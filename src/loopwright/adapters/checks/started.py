"""The commands of checks as they are started here: where their programs are, and what names they resolve."""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.checks.classes.taken_names import names_around, names_in_node_modules
from loopwright.adapters.checks.environment import is_of_the_tree
from loopwright.adapters.checks.local_installs import ENVIRONMENTS, INTERPRETER, is_below
from loopwright.adapters.checks.managed import in_environment
from loopwright.adapters.checks.order import as_run
from loopwright.adapters.checks.runners.reading import texts_in
from loopwright.adapters.git.program import persons_git
from loopwright.config.settings import CheckSettings, Settings


def runnable_checks(settings: Settings, *, root: Path, environ: Mapping[str, str]) -> tuple[CheckSettings, ...]:
    """The checks with the commands that are really started here."""

    def is_tracked(path: str) -> bool:
        git = persons_git(environ, root).having(GIT_LITERAL_PATHSPECS="1")
        return any(git.names("ls-files", "-z", "--", path))

    return tuple(
        replace(spec, run=in_environment(located(spec.run, root, is_tracked), root, environ))
        for spec in map(as_run, settings.checks)
    )


def located(argv: tuple[str, ...], root: Path, is_tracked: Callable[[str], bool]) -> tuple[str, ...]:
    """The command as it runs in a checkout: what git does not carry there is started in the person's own tree.

    So `.venv/bin/python` is the person's, while `./run` stays a file of what is judged. A program that is in
    neither is left as it is: the candidate may be about to make it.
    """
    if not is_of_the_tree(argv):
        return argv
    path = posixpath.normpath(argv[0])
    if path.startswith("../") or is_tracked(path) or not (root / path).is_file():
        return argv
    return (str(root / path), *argv[1:])


def names_taken(specs: tuple[CheckSettings, ...], *, root: Path, environ: Mapping[str, str]) -> frozenset[str]:
    """What the programs of these checks find by name outside of the tree, and those that their scripts start."""
    commands = tuple(spec.run for spec in specs)
    words = {command[0] for command in commands}
    for text in ("\n".join(" ".join(command) for command in commands), *texts_in(root, commands).values()):
        words.update(INTERPRETER.findall(text))
    found = (shutil.which(root / word if is_below(word) else word, path=environ.get("PATH")) for word in words)
    programs = [Path(each) for each in found if each]
    programs += [root / folder / "bin" / "python" for folder in ENVIRONMENTS]
    return names_around(programs) | names_in_node_modules(root / "node_modules")
