"""Programs of the person's that talk to a forge, and what of their words means that it is away, or nobody logged in.

A program that is stopped half-way may have done its work: whoever asks again looks first.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.program import Said, readable
from loopwright.kernel.quoting import one_line

LONGEST = 120.0  # seconds; whatever takes longer than that hangs
_TOO_LONG, _NOT_FOUND = 124, 127
_NO_LOGIN = 4  # what `gh` ends with where it has no token
_UNKNOWN_PERSON = re.compile(
    r"HTTP 401|Bad credentials|gh auth login|Authentication failed|could not read (?:Username|Password)"
    r"|Permission denied \(|terminal prompts disabled|Invalid username or",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"HTTP 5\d\d|HTTP 429|rate limit|abuse detection|error connecting|could(?: not|n't) resolve host|no such host"
    r"|connection (?:refused|reset|timed out|closed)|network is unreachable|i/o timeout|timed? ?out|TLS handshake"
    r"|unexpected EOF|dial (?:tcp|unix)|returned error: (?:5\d\d|429)|remote end hung up|Failed to connect"
    r"|took longer than",
    re.IGNORECASE,
)
_SHOWN = 500  # characters of what a program said


@dataclass(frozen=True, slots=True)
class Fault:
    """Why something was not done, in one sentence. `away`: it is worth another try."""

    text: str
    away: bool = False


async def said_by(argv: tuple[str, ...], *, env: Mapping[str, str], cwd: Path, fed: str = "") -> Said:
    """What came of it, whatever that is. A caller that is cancelled leaves no such program behind."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,  # Ctrl-C in the person's terminal is for us, and we end it
        )
    except OSError as error:
        return Said(code=_NOT_FOUND, out=b"", err=f"{argv[0]}: {error.strerror}")
    try:
        out, err = await asyncio.wait_for(process.communicate(fed.encode()), LONGEST)
    except TimeoutError:
        return Said(code=_TOO_LONG, out=b"", err=f"{argv[0]} took longer than {LONGEST:.0f} s")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(process.wait())
    return Said(code=process.returncode or 0, out=out, err=readable(err))


def fault_of_gh(said: Said, host: str) -> Fault:
    if said.code == _NOT_FOUND:
        return Fault(
            "gh, the command line of GitHub, is not installed: install your system's package `gh`, then run"
            f" `gh auth login --hostname {host}`"
        )
    if said.code == _NO_LOGIN or _UNKNOWN_PERSON.search(said.err):
        return Fault(f"gh is not logged in to {host}: run `gh auth login --hostname {host}`")
    return Fault(f"gh: {words_of(said.err)}", away=_AWAY.search(said.err) is not None)


def fault_of_git(said: Said, remote: str, host: str) -> Fault:
    if _UNKNOWN_PERSON.search(said.err):
        log_in = f"`gh auth setup-git --hostname {host}` lets it use the log-in of gh"
        return Fault(f"git may not write to {remote}: {words_of(said.err)}; {log_in}")
    return Fault(f"git cannot reach {remote}: {words_of(said.err)}", away=_AWAY.search(said.err) is not None)


def words_of(err: str) -> str:
    """What matters of it: advice, and what a remote prints for people, are long."""
    lines = [line.strip() for line in err.splitlines() if line.strip() and not line.startswith("hint:")]
    return one_line(" ".join(lines) or "it said nothing", _SHOWN)
