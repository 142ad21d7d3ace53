"""The checks of a JavaScript or TypeScript project: its scripts, by its package manager, and what a checkout needs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loopwright.adapters.detection.ways import Detected, Look, Prospect, Way, single

_BINARIES = "node_modules/.bin"
_BUILDS = re.compile(r"build|compile|tsc|babel|rollup|prepare|generate|gyp")
# Tool: the check it makes, its arguments, the files that configure it.
_TOOLS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("eslint", "lint", (".",), ("eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts")),
    ("eslint", "lint", (".",), (".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml")),
    ("biome", "lint", ("ci", "."), ("biome.json", "biome.jsonc")),
    ("tsc", "typecheck", ("--noEmit",), ("tsconfig.json",)),
)
# Programs that scripts lint with, by the package that has them.
_PACKAGES = {"eslint": "eslint", "prettier": "prettier", "biome": "@biomejs/biome", "tsc": "typescript"}
_PACKAGES |= {name: name for name in ("standard", "xo", "jshint", "oxlint", "stylelint")}
_RUNNERS = ("jest", "vitest", "mocha")
_INSTALLED = ("dependencies", "devDependencies")
_LISTS = (*_INSTALLED, "optionalDependencies", "peerDependencies")
_LOCKS = {
    "npm": ("package-lock.json", "npm-shrinkwrap.json"),
    "pnpm": ("pnpm-lock.yaml",),
    "yarn": ("yarn.lock",),
    "bun": ("bun.lock", "bun.lockb"),
}
_ENDINGS = ("js", "ts", "mjs", "mts", "cjs", "cts", "json")
# What keeps a runner out of our folders. Anchored: the checkouts that checks run in lie below them.
_WIDE = {
    "jest": (
        'modulePathIgnorePatterns: ["<rootDir>/.loop/", "<rootDir>/.worktrees/"]',
        ("package.json", *(f"jest.config.{ending}" for ending in _ENDINGS)),
    ),
    "vitest": (
        'test: { exclude: [...configDefaults.exclude, ".loop/**", ".worktrees/**"] }',
        tuple(f"{name}.config.{ending}" for name in ("vitest", "vite") for ending in _ENDINGS),
    ),
}
# Node's own takes globs since 21, which leave out folders with a dot; before, it looks into them unless told where.
_NODES_OWN = re.compile(r"\bnode\b(?:\s+-\S+)*\s+--test(?:\s+-\S+)*\s*(?:$|[&|;])")
_GLOBS_SINCE = 21
_CLASSIC = re.compile(r"yarn@[01]\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What `package.json` says, as far as it can be believed."""

    scripts: Mapping[str, str]
    manager: str
    needs: bool  # whether it has dependencies at all
    pinned: str = ""  # the manager with its version, where it says so: `yarn@4.1.0`
    named: frozenset[str] = frozenset()  # its dependencies
    installed: frozenset[str] = frozenset()  # those of them that every installation brings
    has_parts: bool = False  # which have dependencies of their own

    @property
    def tests(self) -> str:
        """The line of the test script; empty where it is the one that npm writes by itself."""
        line = self.scripts.get("test", "")
        return "" if "no test specified" in line else line


def read_package(look: Look) -> Package | None:
    try:
        said: Any = json.loads(look.text("package.json"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    scripts = said.get("scripts")
    lines = {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}
    needs = any(said.get(name) for name in ("dependencies", "devDependencies", "optionalDependencies", "workspaces"))
    pinned = str(said.get("packageManager", ""))
    return Package(
        scripts=lines,
        manager=_manager(look, pinned),
        needs=needs,
        pinned=pinned,
        named=_listed(said, _LISTS),
        installed=_listed(said, _INSTALLED),
        has_parts=bool(said.get("workspaces")) or look.has("pnpm-workspace.yaml"),
    )


def _listed(said: dict[str, Any], lists: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for each in map(said.get, lists) if isinstance(each, dict) for name in each)


def _manager(look: Look, pinned: str) -> str:
    named = pinned.partition("@")[0]
    if named in _LOCKS:
        return named
    return next((manager for manager, locks in _LOCKS.items() if manager != "npm" and look.has(*locks)), "npm")


def node_checks(look: Look) -> Detected:
    package = read_package(look)
    if package is None:
        return Detected(stack="node", notes=("package.json is not a JSON object",))
    prospects = [
        each for each in (_build(package), _tests(look, package), *_linters(look, package)) if each is not None
    ]
    missing = () if package.tests else ("package.json has no script 'test'",)
    prepared = tuple(_prepared(look, package, each) for each in prospects)
    return Detected(stack="node", prospects=prepared, notes=(*missing, *_finds_ours(look, package)))


def _finds_ours(look: Look, package: Package) -> Iterator[str]:
    """Runners that look into every folder, and so find the tests of a loop that is at work or waits."""
    for runner, (line, files) in _WIDE.items():
        if runner in package.named and not any(".worktrees" in look.text(name) for name in files):
            yield f"while a loop works or waits, your own {runner} finds its tests as well, unless you add: {line}"
    if any(map(_NODES_OWN.search, package.scripts.values())) and _major(look.ask(("node", "--version"))) < _GLOBS_SINCE:
        yield (
            "while a loop works or waits, your own `node --test` finds its tests as well,"
            " unless you say where yours are, such as `node --test test/`"
        )


def _major(version: str) -> int:
    """0 where nobody can say."""
    found = re.match(r"v(\d+)\.", version)
    return int(found[1]) if found else 0


def install_command(look: Look, package: Package) -> tuple[str, ...]:
    """What makes `node_modules` exactly as the lock file has it; where there is none, what makes one."""
    if not _is_locked(look, package):
        return (package.manager, "install")
    match package.manager:
        case "npm":
            return ("npm", "ci")
        case "yarn" if look.has(".yarnrc.yml") or "\n__metadata:" in look.text("yarn.lock") or _is_berry(package):
            return ("yarn", "install", "--immutable")
        case manager:
            return (manager, "install", "--frozen-lockfile")


def _is_berry(package: Package) -> bool:
    return package.pinned.startswith("yarn@") and not _CLASSIC.match(package.pinned)


def node_advice(look: Look, package: Package, argv: tuple[str, ...]) -> str:
    """What brings what this command may miss; empty where an installation would bring nothing that is not there."""
    words = [word for word in argv[1:3] if word != "run" and argv[0] == package.manager]
    if missing := _in_no_list(look, package, next(iter(words), "")):
        return shlex.join((package.manager, "install" if package.manager == "npm" else "add", "-D", missing))
    return shlex.join(install_command(look, package)) if _lacks(look, package) else ""


def _lacks(look: Look, package: Package) -> bool:
    if look.has(".pnp.cjs"):
        return False
    missing = any(not (look.root / "node_modules" / name).exists() for name in package.installed)
    return missing or (package.needs and not module_folders(look))


def _prepared(look: Look, package: Package, prospect: Prospect) -> Prospect:
    """With what a checkout needs: the person's `node_modules`, or else an installation of its own."""
    copy = module_folders(look)
    setup = () if copy or not package.needs or not _is_locked(look, package) else (install_command(look, package),)
    ways = tuple(Way(check=way.check, copy=copy, setup=setup) for way in prospect.ways)
    return Prospect(name=prospect.name, ways=ways, advice=node_advice(look, package, ways[0].check.run))


def _in_no_list(look: Look, package: Package, script: str) -> str:
    """The package whose program the script starts, where no installation brings it."""
    program = package.scripts.get(script, "").strip().partition(" ")[0]
    needed = _PACKAGES.get(program, "")
    is_there = needed in package.named or package.has_parts or look.has(f"{_BINARIES}/{program}")
    return "" if is_there else needed


def _is_locked(look: Look, package: Package) -> bool:
    return look.has(*_LOCKS[package.manager])


def module_folders(look: Look) -> tuple[str, ...]:
    """Every `node_modules` of the tree that is not inside another: those of workspaces too."""
    found = ["node_modules"] if (look.root / "node_modules").is_dir() else []
    for pattern in ("*/node_modules", "*/*/node_modules"):
        inside = sorted(folder.relative_to(look.root).as_posix() for folder in look.root.glob(pattern))
        found += [path for path in inside if "node_modules/" not in path and not path.startswith(".")]
    return tuple(found)


def _run(package: Package, script: str) -> tuple[str, ...]:
    return (package.manager, "run", script)


def _build(package: Package) -> Prospect | None:
    return single("build", _run(package, "build")) if "build" in package.scripts else None


def _tests(look: Look, package: Package) -> Prospect | None:
    if not package.tests:
        return None
    without_manager = () if look.where(package.manager) else _runners(look, package, "test", frozenset())
    return single("test", _whole(package), *without_manager)


def _runners(look: Look, package: Package, script: str, seen: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Return the test runners that a script starts, also by other scripts, as they are started without a manager."""
    for line in package.scripts.get(script, "").split("&&") if script not in seen else ():
        try:
            program, *words = shlex.split(line)
        except ValueError:
            continue
        if program in _RUNNERS and look.has(f"{_BINARIES}/{program}"):
            yield (f"{_BINARIES}/{program}", *words)
        elif program == package.manager and words[:1] == ["run"]:
            yield from _runners(look, package, "".join(words[1:2]), seen | {script})


def _whole(package: Package) -> tuple[str, ...]:
    """`npm test`; without what lints or audits before and after it, which is no test."""
    around = " ".join(package.scripts.get(name, "") for name in ("pretest", "posttest"))
    quiet = ("--ignore-scripts",) if around.strip() and package.manager == "npm" and not _BUILDS.search(around) else ()
    return (package.manager, "test", *quiet)


def _linters(look: Look, package: Package) -> Iterator[Prospect]:
    names = {"lint": ("lint",), "typecheck": ("typecheck", "type-check", "check-types", "tsc")}
    done = set()
    for check, scripts in names.items():
        for script in (name for name in scripts if name in package.scripts and check not in done):
            quiet = ("--ignore-scripts",) if package.manager == "npm" and f"post{script}" in package.scripts else ()
            done.add(check)
            yield single(check, (*_run(package, script), *quiet))
    for tool, check, arguments, files in _TOOLS:
        if check not in done and look.has(*files):
            done.add(check)
            yield single(check, (f"{_BINARIES}/{tool}", *arguments))
