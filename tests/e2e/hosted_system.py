"""A small system whose agents only leave what is asked of them; its repository may be on the stand-in for GitHub."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopwright.loops.lifecycle.skills import SKILLS
from tests.adapters.forges.github_stand_in import GithubStandIn, HubPull, github_of
from tests.cli.projects import Done, Sample

_CHECK = """\
import pathlib, sys
place = pathlib.Path("orders/create.py")
known = {}
exec(place.read_text() if place.exists() else "", known)
sys.exit("create" in known and known["create"]("a") != {"name": "a"})
"""
CONFIG = f"""\
version = 1
[agents.script]
kind = "rehearsal"
scenario = "scenario.toml"
[roles]
default = "script"
[checks.test]
run = [{json.dumps(sys.executable)}, "check.py"]
trust = "exit-code"
[workspace]
product = ["orders/**", "pyproject.toml"]
[forge]
kind = "github"
[lifecycle]
scaffold = "trust"
[gates.architecture]
approvers = ["ada"]
[gates.security]
approvers = ["ada", "grace"]
[deploy]
run = ["true"]
"""
_SYSTEM = "docs/systems/sys-001"
_VALIDATION = "# Validation\n\n## Integration\n\nFine.\n\n## Security\n\nFine.\n\n## Performance\n\nFine.\n"


@dataclass(frozen=True, slots=True)
class HostedSystem:
    sample: Sample
    hub: GithubStandIn
    env: dict[str, str]

    def loop(self, *argv: str) -> Done:
        return self.sample.loop(*argv, **self.env)

    def run(self, *argv: str) -> Any:  # noqa: ANN401 - JSON
        done = self.loop("run", *argv, "--json")
        assert done.out, done.err
        return {**done.data, "code": done.code}

    @property
    def pull(self) -> HubPull:
        return self.hub.pulls[1]


def small_system(path: Path, config: str = CONFIG) -> Sample:
    """One system in the queue of a repository, and nothing of it done."""
    sample = Sample.create(path / "repo", _scenario(), config)
    sample.repo.write("check.py", _CHECK)
    sample.repo.commit("Check it")
    sample.loop("queue", "add", "Orders", "--capability", "create", "--issue", "7")
    return sample


@contextmanager
def hosted_system(path: Path) -> Iterator[HostedSystem]:
    sample = small_system(path)
    with github_of(sample.repo, path) as (hub, env):
        yield HostedSystem(sample, hub, env)


def _scenario() -> str:
    return "\n".join(("[default]\nlenient = true\n", *map(_skill, SKILLS), _SCAFFOLD, _DEVELOPER))


def _skill(name: str) -> str:
    skill = SKILLS[name]
    if not skill.leaves:
        return ""
    text = _VALIDATION if skill.section else f"# {name}\n\nWhat was found out about it.\n"
    return (
        f'[[step]]\nrole = "skill"\nskill = "{name}"\nrepeat = true\n'
        f"edits = [{{ path = {json.dumps(f'{_SYSTEM}/{skill.leaves}')}, content = {json.dumps(text)} }}]\n"
        f'result = {{ status = "done", summary = "{name}", verdict = "pass" }}\n'
    )


_SCAFFOLD = """\
[[step]]
role = "skill"
skill = "scaffold"
edits = [{ path = "pyproject.toml", content = "[project]\\nname = 'orders'\\n" }]
result = { status = "done", summary = "scaffold" }
[[step]]
role = "skill"
skill = "scaffold"
edits = [{ path = "pyproject.toml", content = "[project]\\nname = 'orders'\\nversion = '1'\\n" }]
result = { status = "done", summary = "scaffold" }
"""
_DEVELOPER = """\
[[step]]
role = "developer"
edits = [{ path = "orders/create.py", content = "def create(name):\\n    return {'name': name}\\n" }]
result = { status = "done", summary = "create" }
"""
