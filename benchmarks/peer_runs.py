"""Runs a peer's script in the environment that `./run bench-setup` makes, and reads the one line it prints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PYTHON = HERE.parent / ".bench-venv" / "bin" / "python"
MISSING = "peers not installed (./run bench-setup)"
LIMIT = 120.0  # seconds; a peer's server may need most of a minute to start on a busy machine


class PeerFailed(Exception):
    """The peer's script did not come to a figure."""


@dataclass(frozen=True, slots=True)
class PeerLine:
    version: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """What the peers of a figure came to: details, sentences for the page, and whether the goal is met for each."""

    details: dict[str, float]
    notes: tuple[str, ...]
    met: bool


def are_installed() -> bool:
    return PYTHON.is_file()


def run_peer(script: str, field: str, *arguments: str) -> PeerLine:
    """Run `peers/<script>.py` to its end, in a process group that is gone afterwards, and take `field` of its line."""
    argv = [str(PYTHON), str(HERE / "peers" / f"{script}.py"), *arguments]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            argv,
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as peer,
    ):
        try:
            output, errors = peer.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired as late:
            raise PeerFailed(f"{script} did not end within {LIMIT:g} s") from late
        finally:
            with suppress(ProcessLookupError):
                os.killpg(peer.pid, signal.SIGKILL)
    if peer.returncode != 0:
        raise PeerFailed(f"{script} failed: {(errors.strip().splitlines() or ['no message'])[-1]}")
    line = json.loads(output.strip().splitlines()[-1])
    return PeerLine(version=line["version"], value=float(line[field]))
