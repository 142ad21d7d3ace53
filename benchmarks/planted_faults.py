"""A fault planted in public projects, and its mending, each as the work of an agent in a feedback loop; prints a table.

`python -m benchmarks.planted_faults [NAME ...]` takes the projects of `benchmarks.real_projects` with the checks that
`loop setup` wrote. The developer is a script that changes one line, the reviewer one that always passes: only the
checks stand between the fault and a verified end. The fault must never be verified, its mending always. Opt-in.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_projects import LOOP, PROJECTS, cache_folder, prepare_project, run

_AGENT = """
import json, os, pathlib
if os.environ["LOOP_ROLE"] == "reviewer":
    answer = {"status": "done", "verdict": "pass", "summary": "Good."}
else:
    file, old, new = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())
    text = pathlib.Path(file).read_text()
    pathlib.Path(file).write_text(text.replace(old, new))
    answer = {"status": "done", "summary": "Changed."}
pathlib.Path(os.environ["LOOP_RESULT"]).write_text(json.dumps(answer))
"""


@dataclass(frozen=True, slots=True)
class Fault:
    project: str
    file: str
    good: str
    bad: str


FAULTS = (
    Fault("humanize", "src/humanize/filesize.py", "(gnu or binary) else 1000", "(gnu or binary) else 1001"),
    Fault("tinydb", "tinydb/table.py", "self._next_id = next_id + 1", "self._next_id = next_id + 2"),
    Fault("sqlparse", "sqlparse/utils.py", "val = val[1:-1]", "val = val[1:]"),
    Fault("toolz", "toolz/itertoolz.py", "return sum(1 for i in seq)", "return sum(2 for i in seq)"),
    Fault("iniconfig", "src/iniconfig/_parse.py", 'COMMENTCHARS = "#;"', 'COMMENTCHARS = "#"'),
    Fault("minimist", "index.js", "/^0x[0-9a-f]+$/i", "/^0y[0-9a-f]+$/i"),
    Fault("left-pad", "index.js", "len = len - str.length;", "len = len - str.length - 1;"),
    Fault("sum", "src/lib.rs", "a + b", "a - b"),
)


def main(names: list[str]) -> int:
    folder = cache_folder()
    rows = [_row(each, folder) for each in FAULTS if not names or each.project in names]
    print("\n| project | the fault | its mending | |\n|---|---|---|---|")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return 0 if all(row[-1] == "right" for row in rows) else 1


def _row(fault: Fault, folder: Path) -> tuple[str, str, str, str]:
    project = next(each for each in PROJECTS if each.name == fault.project)
    repository = folder / "repositories" / project.name
    environ = prepare_project(project, folder, repository)
    start = _said(["git", "rev-parse", "HEAD"], repository, environ).strip()
    try:
        _engage(fault, folder, repository, environ)
        planted = _ending(fault, folder, repository, environ, (fault.good, fault.bad))
        file = repository / fault.file
        file.write_text(file.read_text().replace(fault.good, fault.bad))
        run(["git", "commit", "-qam", "A fault"], repository, environ)
        mended = _ending(fault, folder, repository, environ, (fault.bad, fault.good))
    finally:
        run(["git", "reset", "-q", "--hard", start], repository, environ)
    is_right = planted != "verified" and mended == "verified"
    print(f"{fault.project}: {planted}; {mended}", flush=True)
    return fault.project, planted, mended, "right" if is_right else "wrong"


def _engage(fault: Fault, folder: Path, repository: Path, environ: dict[str, str]) -> None:
    """The checks as setup writes them, and an agent for every role."""
    run([*LOOP, "setup", "--force"], repository, environ)
    script = folder / f"agent-{fault.project}.py"
    script.write_text(_AGENT)
    agent = f'\n[agents.scripted]\nkind = "command"\nargv = {json.dumps([sys.executable, str(script)])}\n'
    with (repository / "loop.toml").open("a") as settings:
        settings.write(f'{agent}\n[roles]\ndefault = "scripted"\n')
    run(["git", "add", "-f", "loop.toml"], repository, environ)
    run(["git", "commit", "-qm", "Loop", "--allow-empty"], repository, environ)


def _ending(fault: Fault, folder: Path, repository: Path, environ: dict[str, str], change: tuple[str, str]) -> str:
    (folder / f"agent-{fault.project}.json").write_text(json.dumps([fault.file, *change]))
    argv = [*LOOP, "feedback", "Mend what is wrong", "--unattended", "--max-iterations", "2", "--json"]
    answer = json.loads(_said(argv, repository, environ))
    return str(answer.get("outcome") or answer.get("error") or answer)


def _said(argv: list[str], cwd: Path, environ: dict[str, str]) -> str:
    return subprocess.run(argv, cwd=cwd, env=environ, check=False, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
