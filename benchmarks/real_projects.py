"""`loop setup` and `loop doctor --run` on public projects, as their people have them; prints a table.

`python -m benchmarks.real_projects [NAME ...]` fetches them by name from PyPI and npm, each with its own environment,
into a folder that is kept (`LOOP_REAL_PROJECTS`, else one in the temporary folder). Opt-in: it needs a network.
A project is right when setup, unedited, wrote a test check that runs on HEAD and finds at least the tests named here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LOOP = (sys.executable, "-m", "loopwright.cli.main")
_VENV = ".venv"
_RUST = {
    "Cargo.toml": '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn sum(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n"
    "    #[test]\n    fn adds() {\n        assert_eq!(super::sum(1, 2), 3);\n    }\n}\n",
    ".gitignore": "target\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    name: str
    registry: Literal["pypi", "npm", "made"]
    shape: str
    environment: Literal["in repository", "active", "none", "node_modules"]
    install: tuple[str, ...] = ()
    least: int = 1  # tests, where they are counted; 0: the exit code alone speaks


PROJECTS = (
    Real(
        name="humanize",
        registry="pypi",
        shape="src, editable, tox",
        environment="active",
        install=("-e", ".[tests]"),
        least=600,
    ),
    Real(
        name="tinydb",
        registry="pypi",
        shape="flat, hatch",
        environment="in repository",
        install=("-e", ".", "pytest", "pytest-cov", "pyyaml"),
        least=150,
    ),
    Real(
        name="sqlparse",
        registry="pypi",
        shape="flat, uv.lock, ruff",
        environment="in repository",
        install=("-e", ".", "pytest", "ruff"),
        least=400,
    ),
    Real(
        name="toolz",
        registry="pypi",
        shape="flat, tests inside, not active",
        environment="in repository",
        install=("pytest",),
        least=150,
    ),
    Real(
        name="python-slugify",
        registry="pypi",
        shape="flat, plain install, tox",
        environment="active",
        install=(".", "pytest"),
        least=50,
    ),
    Real(
        name="parse",
        registry="pypi",
        shape="package, --cov in addopts but not installed",
        environment="in repository",
        install=("-e", ".", "pytest"),
        least=100,
    ),
    Real(
        name="iniconfig",
        registry="pypi",
        shape="src, editable, hatch",
        environment="in repository",
        install=("-e", ".", "pytest"),
        least=20,
    ),
    Real(name="minimist", registry="npm", shape="tape, lint before, audit after", environment="node_modules", least=0),
    Real(name="left-pad", registry="npm", shape="node test", environment="node_modules", least=0),
    Real(name="sum", registry="made", shape="cargo", environment="none", least=0),
)


def cache_folder() -> Path:
    return Path(os.environ.get("LOOP_REAL_PROJECTS") or Path(tempfile.gettempdir()) / "loop-real-projects")


def project_named(name: str) -> Real:
    """Return the project of the table, or one on PyPI or npm (`npm:NAME`) with a plain environment."""
    if name.startswith("npm:"):
        return Real(name=name[4:], registry="npm", shape="node", environment="node_modules")
    known = next((each for each in PROJECTS if each.name == name), None)
    plain = ("-e", ".", "pytest", "hypothesis")
    return known or Real(name=name, registry="pypi", shape="python", environment="in repository", install=plain)


def main(names: list[str]) -> int:
    folder = cache_folder()
    wanted = [each for each in PROJECTS if not names or each.name in names]
    rows = []
    for each in wanted:
        try:
            rows.append(_row(each, folder))
        except (subprocess.CalledProcessError, OSError) as error:
            said = getattr(error, "stderr", b"") or str(error).encode()
            rows.append((each.name, each.shape, "not made", said.decode("utf-8", "replace").strip()[-160:], "-"))
        print(" | ".join(rows[-1]), flush=True)
    right = sum(row[-1] == "right" for row in rows)
    print("\n| project | shape | doctor | checks | |\n|---|---|---|---|---|")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    print(f"\n{right} of {len(rows)} right without editing")
    return 0 if right == len(rows) else 1


def _row(each: Real, folder: Path) -> tuple[str, str, str, str, str]:
    repository = folder / "repositories" / each.name
    environ = prepare_project(each, folder, repository)
    run([*LOOP, "setup", "--force"], repository, environ)
    run(["git", "add", "loop.toml"], repository, environ)
    run(["git", "commit", "-qm", "Loop", "--allow-empty"], repository, environ)
    done = subprocess.run(
        [*LOOP, "doctor", "--run", "--json"], cwd=repository, env=environ, capture_output=True, check=False
    )
    runs = json.loads(done.stdout)["runs"]
    tests = [run for run in runs if run["check"] == "test" and run["status"] == "ok"]
    is_right = any(each.least == 0 or (run["tests"] or 0) >= each.least for run in tests)
    is_right = is_right and all(run["status"] in ("ok", "red") for run in runs)
    shown = "; ".join(f"{run['check']} {run['status']} ({_count(run)}{run['seconds']:.1f} s)" for run in runs)
    return each.name, each.shape, str(done.returncode), shown or "none", "right" if is_right else "wrong"


def _count(run: dict[str, int | None]) -> str:
    return "" if run["tests"] is None else f"{run['tests']} tests, "


def prepare_project(each: Real, folder: Path, repository: Path) -> dict[str, str]:
    """Fetch the repository with its environment unless it is there; return the variables of its people's shell."""
    plain = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    plain["PYTHONPATH"] = ""
    if not repository.exists():
        _fetch(each, folder, repository)
        _prepare(each, folder, repository)
    if each.environment != "active":
        return plain
    active = folder / "environments" / each.name
    return {**plain, "VIRTUAL_ENV": str(active), "PATH": f"{active}/bin{os.pathsep}{plain['PATH']}"}


def _fetch(each: Real, folder: Path, repository: Path) -> None:
    packed = folder / "packed" / each.name
    shutil.rmtree(packed, ignore_errors=True)
    packed.mkdir(parents=True)
    match each.registry:
        case "pypi":
            run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", each.name, each.name],
                packed,
            )
        case "npm":
            run(["npm", "pack", "--silent", each.name], packed)
        case "made":
            for path, text in _RUST.items():
                (repository / path).parent.mkdir(parents=True, exist_ok=True)
                (repository / path).write_text(text)
    for archive in packed.iterdir():
        with tarfile.open(archive) as content:
            content.extractall(packed, filter="data")
        (inner,) = (path for path in packed.iterdir() if path.is_dir())
        repository.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(inner, repository)
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "As published"]):
        run(["git", "-c", "user.name=Real", "-c", "user.email=real@example.com", *argv], repository)
    with (repository / ".git" / "info" / "exclude").open("a") as ignored:
        ignored.write(f"{_VENV}\nnode_modules\npackage-lock.json\n*.egg-info\n")


def _prepare(each: Real, folder: Path, repository: Path) -> None:
    if each.environment == "node_modules":
        run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], repository)
    elif each.environment != "none":
        where = repository / _VENV if each.environment == "in repository" else folder / "environments" / each.name
        run([sys.executable, "-m", "venv", "--clear", str(where)], repository)
        run([str(where / "bin" / "python"), "-m", "pip", "install", "-q", *each.install], repository)


def run(argv: list[str], cwd: Path, environ: dict[str, str] | None = None) -> None:
    subprocess.run(argv, cwd=cwd, env=environ, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
