"""The environment a check runs in, and a digest of what in it could change a result."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from loopwright.adapters.agents.redaction import Redactor, looks_secret
from loopwright.adapters.agents.remains import redact_in_place
from loopwright.adapters.checks.bytecode import Bytecode, LentBytecode
from loopwright.adapters.pins import Pins, ReliedOn, differing, files_named, importable
from loopwright.adapters.resolution import Resolution
from loopwright.adapters.steps import StepWatch
from loopwright.config.settings import CheckSettings, Settings
from loopwright.errors import CheckNotRunnable, NeedsPerson

T = TypeVar("T")

# The person's variables that a check sees; any other is named in `[checks.X] env`. What looks like a secret is not
# among them, even where its family is.
USUAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM"),
    *("TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE"),
    *("CI", "GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "PY_COLORS", "DISPLAY", "WAYLAND_DISPLAY"),
    *("XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "SOURCE_DATE_EPOCH", "DEVELOPER_DIR", "SDKROOT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("VIRTUAL_ENV", "PNPM_HOME", "BUN_INSTALL", "VOLTA_HOME", "JAVA_HOME", "M2_HOME", "PHP_INI_SCAN_DIR"),
    *("CC", "CXX", "CPP", "LD", "AR", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CPATH", "LIBRARY_PATH"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "PKG_CONFIG_PATH", "OMP_NUM_THREADS"),
)
USUAL_FAMILIES = (
    *("LC_", "XDG_", "CONDA_", "MAMBA_", "PYENV_", "UV_", "PIP_", "POETRY_", "PDM_", "HATCH_", "TOX_", "NOX_"),
    *("PYTEST_", "COVERAGE_", "HYPOTHESIS_", "NODE_", "NVM_", "NPM_CONFIG_", "npm_config_", "YARN_", "COREPACK_"),
    *("FNM_", "ASDF_", "MISE_", "DENO_", "PLAYWRIGHT_", "CARGO_", "RUSTUP_", "RUST_", "RUSTC_", "GO", "CGO_"),
    *("JDK_", "MAVEN_", "GRADLE_", "ANDROID_", "RBENV_", "GEM_", "BUNDLE_", "COMPOSER_", "DOTNET_", "NUGET_", "CMAKE_"),
    *("NIX_", "HOMEBREW_", "GUIX_"),
)
# What could hand the check another repository or our own door, even if it is named.
_NEVER = ("GIT_", "LOOP_")
_TRIES = 3  # of a check whose environment changes while it runs
# Different in every shell and of no weight for a result.
_VOLATILE = ("_", "PWD", "OLDPWD", "SHLVL", "PYTEST_CURRENT_TEST")


def for_checks(person: Mapping[str, str], ceiling: Path) -> dict[str, str]:
    """What of the person's environment every check sees, with a wall above its folder for git.

    No site of the user and no bytecode beside sources: what an agent may write there must not run.
    """
    usual = (name for name in person if name in USUAL or name.startswith(USUAL_FAMILIES))
    kept = {name: person[name] for name in usual if not looks_secret(name)}
    # A relative or empty entry means the current folder, where a candidate could have put its own `pytest`.
    folders = [folder for folder in kept.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
    return kept | {
        "PATH": os.pathsep.join(folders),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "GIT_CEILING_DIRECTORIES": str(ceiling),
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


def handed_to(check: CheckSettings, person: Mapping[str, str]) -> dict[str, str]:
    """What `[checks.X] env` lets through besides."""
    return {name: person[name] for name in check.env if name in person and not name.startswith(_NEVER)}


def as_activated(argv: tuple[str, ...], checkout: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """What a shell would have in which the Python environment of the command's program is active.

    Tests start the programs that the project installs, by their bare names.
    """
    folder = (checkout / argv[0]).parent
    if "/" not in argv[0] or not (folder.parent / "pyvenv.cfg").is_file():
        return {}
    path = os.pathsep.join(filter(None, (str(folder), environment.get("PATH", ""))))
    return {"PATH": path, "VIRTUAL_ENV": str(folder.parent)}


def is_of_the_tree(argv: tuple[str, ...]) -> bool:
    """`./run` is a file of the candidate; `pytest` and `/usr/bin/make` are not."""
    return "/" in argv[0] and not argv[0].startswith("/")


def program(check: str, argv: tuple[str, ...], environment: Mapping[str, str]) -> Path | None:
    """Where the command's program is, or None when it is a file of the tree. Raises `CheckNotRunnable`."""
    if is_of_the_tree(argv):
        return None
    found = shutil.which(argv[0], path=environment.get("PATH", ""))
    if found is None:
        raise CheckNotRunnable(check, " ".join(argv), f"the program {argv[0]!r} was not found")
    return Path(found)


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of what the command of a check resolves to, and of the names of its variables."""

    resolution: Resolution
    setup: tuple[tuple[str, ...], ...] = ()
    person: Mapping[str, str] = field(default_factory=dict)  # the whole: `env` names of it, secrets are known by it
    bytecode: Bytecode | None = None  # None: every run compiles anew
    relied_on: Callable[[], Pins] = dict  # what an agent could change of it: as it is now
    pinned: Pins = field(default_factory=dict)  # and as it was when the loop was taken up

    @property
    def environment(self) -> Mapping[str, str]:
        return self.resolution.environ

    async def of(self, check: CheckSettings) -> str:
        """Programs, what Python imports, setup and names of variables; a receipt names the tree besides.

        Raises `CheckNotRunnable` where the command's own program is missing.
        """
        return await asyncio.to_thread(self._digest, check)

    def _digest(self, check: CheckSettings) -> str:
        if program(check.name, check.run, self.environment) is None:
            lines = [f"tree {check.run[0]}"]
        else:
            lines = [_tool(place) for place in self.resolution.programs(check.run).values()]
        for place, found in self.resolution.interpreters(check.run).items():
            lines += [f"python {place} {found.version}"]
            lines += [f"import {path} {held}" for path, held in importable(found.folders).items()]
        names = self.environment.keys() | handed_to(check, self.person).keys()
        named = files_named((check.run,), self.person.get("HOME", ""))
        lines += [f"file {path} {held}" for path, held in named.items()]
        lines += [f"setup {command!r}" for command in self.setup]
        lines += [f"name {name}" for name in sorted(names) if name not in _VOLATILE]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def refuse_what_was_changed(self, check: CheckSettings) -> None:
        """Raise `NeedsPerson` where a script or the environment of checks was changed while the loop ran."""
        for path in differing(self.pinned, self.relied_on()):
            raise NeedsPerson(
                f"check {check.name!r} was not run: {path} since the loop was taken up, and the check relies on it;"
                " look at it, then go on with `loop resume` at a terminal"
            )


class EnvironmentChanged(Exception):
    """What a check imports or starts was changed while it ran."""


async def in_one_environment(check: CheckSettings, make: Callable[[], Awaitable[T]]) -> T:
    """Base and candidate run in the same environment: where it changes meanwhile, both run again."""
    for _ in range(_TRIES):
        with contextlib.suppress(EnvironmentChanged):
            return await make()
    raise NeedsPerson(
        f"check {check.name!r}: what it imports or starts changes while it runs; stop what changes it, then run"
        " `loop resume`"
    )


def _tool(place: str) -> str:
    real = Path(place).resolve()
    found = real.stat()
    return f"tool {place} {real} {found.st_size} {found.st_mtime_ns}"


def digests_for(
    settings: Settings,
    commands: tuple[tuple[str, ...], ...],
    environ: Mapping[str, str],
    *,
    root: Path,
    is_named: Callable[[str], Awaitable[bool]],
) -> Digests:
    """For the checks of a repository, with what they rely on now as what they are to find later."""
    resolution = Resolution(for_checks(environ, root / ".loop" / "verify"), root)
    relied_on = ReliedOn(commands, settings.workspace.setup, resolution)
    return Digests(
        resolution,
        setup=settings.workspace.setup,
        person=environ,
        bytecode=Bytecode(root / ".loop" / "bytecode", is_named),
        relied_on=relied_on.now,
        pinned=relied_on.now(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutfit:
    """The environment of checks on one side of a change, and what of it must not come back in what they print."""

    digests: Digests
    is_base: bool  # what runs here is the base's own: what it compiles may serve candidates
    rest_on: Callable[[str], None] = lambda _name: None

    async def environment(
        self, check: CheckSettings, compiled: Path, checkout: Path
    ) -> tuple[dict[str, str], LentBytecode | None]:
        """Return the variables, and the bytecode that is lent. `compiled` becomes an empty folder of this run."""
        given = self.digests
        given.refuse_what_was_changed(check)
        env = {**given.environment, **handed_to(check, given.person), "PYTHONPYCACHEPREFIX": str(compiled)}
        compiled.mkdir(mode=0o700)
        lent = None
        if given.bytecode is not None and self.is_base:
            env.pop("PYTHONDONTWRITEBYTECODE", None)
        elif given.bytecode is not None and (lent := await given.bytecode.made_before(check.name, checkout)):
            env["PYTHONPYCACHEPREFIX"] = str(lent.folder)
            self.rest_on(lent.list_name)
        return env, lent

    async def keep_compiled(self, check: CheckSettings, compiled: Path, checkout: Path) -> None:
        if self.digests.bytecode is not None and self.is_base:
            self.rest_on(await self.digests.bytecode.keep(check.name, compiled, checkout))

    def redact(self, check: CheckSettings, *files: Path) -> None:
        for file in files:
            redact_in_place(file, self._redactor(check))

    def without_secrets(self, check: CheckSettings, watch: StepWatch | None) -> StepWatch | None:
        redactor = self._redactor(check)
        return None if watch is None else lambda text, size: watch(redactor.text(text), size)

    def _redactor(self, check: CheckSettings) -> Redactor:
        return Redactor(self.digests.person, handed=check.env)
