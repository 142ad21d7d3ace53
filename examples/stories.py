"""A workflow with plain functions as agents: one request, a plan of three tasks, two of them at once.

Run it with `python examples/stories.py`. The planner takes the request apart; each task is made in a workspace of its
own, with a test that fails without it, and lands together with what has landed before.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from loopwright import Check, Outcome, Workflow, run

REQUEST = """\
Write the modules of the package story within 3 functions

- story/hero.py must name the hero and story/place.py must name the place
- It must not change test_story.py
- Success: the tests pass and story/tale.py tells of both
- Done when story/tale.py is there
"""
TEST = """import importlib
import pkgutil
import unittest
import story

class Story(unittest.TestCase):
    def test_every_module_has_something_to_tell(self):
        for module in pkgutil.iter_modules(story.__path__):
            loaded = importlib.import_module(f"story.{module.name}")
            self.assertTrue(getattr(loaded, module.name)().strip())
"""
CODE = {
    "hero": 'def hero():\n    return "Ann"\n',
    "place": 'def place():\n    return "the harbour"\n',
    "tale": (
        "from story.hero import hero\nfrom story.place import place\n\n\n"
        'def tale():\n    return f"{hero()} went to {place()}"\n'
    ),
}


SAYS = {"hero": "Ann", "place": "the harbour", "tale": "Ann went to the harbour"}
SHOWS = """import unittest
from story.{name} import {name}

class {title}(unittest.TestCase):
    def test_{name}(self):
        self.assertEqual({name}(), "{says}")
"""


def task(number: int, name: str, *after: str) -> dict[str, Any]:
    file = f"story/{name}.py"
    files = [file, f"test_{name}.py"]
    told = {"id": f"T-{number:03}", "subject": f"Write {file}", "verify": ["test", "-s", file], "files": files}
    return {**told, "blockedBy": [*after]}


TASKS = [task(1, "hero"), task(2, "place"), task(3, "tale", "T-001", "T-002")]


def planner(_context: dict[str, Any]) -> dict[str, Any]:
    return {"status": "done", "summary": "two modules and what is made of them", "tasks": TASKS}


def developer(context: dict[str, Any]) -> dict[str, Any]:
    file = Path(context["task"].splitlines()[0].split()[-1])  # "T-001: Write story/hero.py"
    test = SHOWS.format(name=file.stem, title=file.stem.title(), says=SAYS[file.stem])
    (Path(context["workspace"]) / file).write_text(CODE[file.stem])
    (Path(context["workspace"]) / f"test_{file.stem}.py").write_text(test)
    return {"status": "done", "summary": f"wrote {file}"}


def reviewer(_context: dict[str, Any]) -> dict[str, Any]:
    return {"status": "done", "verdict": "pass", "score": 9}


def sample_repository(folder: Path) -> Path:
    (folder / "story").mkdir()
    (folder / "story" / "__init__.py").write_text("")
    (folder / "test_story.py").write_text(TEST)
    git = ["git", "-C", str(folder), "-c", "user.name=Example", "-c", "user.email=example@localhost"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "A test"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


def main() -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(
            Workflow(request=REQUEST, shape="tool", protected=("test_story.py",)),
            agents={"planner": planner, "developer": developer, "reviewer": reviewer},
            checks=[Check("test", [sys.executable, "-m", "unittest", "-q"])],
            root=sample_repository(Path(folder)),
        )
    for part in outcome.parts:
        print(f"{part.name}: {part.ending.value}")
    print(f"{outcome.ending.value} after {outcome.attempts} iterations on branch {outcome.branch}")
    return outcome


if __name__ == "__main__":
    main()
