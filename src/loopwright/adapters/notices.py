"""Sending people notices through apprise, and a process of its own that does it, so that nobody waits."""

from __future__ import annotations

import fcntl
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from loopwright.adapters.files import PRIVATE_FILE

_HELD_BY = "env"  # the scheme of an address that a variable holds
# A hundred services, each written by somebody else: what one of them stumbles over is one more way to fail.
_FAULTS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)


def scheme_of(url: str) -> str:
    """All of an address that may be shown: the rest is often a password."""
    return url.partition("://")[0]


def send(url: str, title: str, body: str, environ: Mapping[str, str]) -> str:
    """Why it was not delivered; empty: it was. The text goes out as it is."""
    scheme, _, name = url.partition("://")
    if scheme == _HELD_BY:
        url = environ.get(name, "")
        if not url:
            return f"{_HELD_BY}://{name}: there is no such variable here"
    # Loading it takes longer than most commands.
    import apprise  # noqa: PLC0415

    logging.getLogger("apprise").disabled = True  # what it says has addresses in it
    scheme = scheme_of(url)
    way = apprise.Apprise(asset=apprise.AppriseAsset(app_id="Loopwright", async_mode=False))
    try:
        if not way.add(url):
            return f"{scheme}: not an address that apprise {apprise.__version__} knows"
        return "" if way.notify(title=title, body=body) else f"{scheme}: the service did not take it"
    except _FAULTS as fault:
        return f"{scheme}: {type(fault).__name__}"  # what it says may have the address in it


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Among all who deliver notices of a project."""
    lock = os.open(folder / "notices.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def start_behind(root: Path, environ: Mapping[str, str]) -> None:
    """Have what is pending delivered by a process that outlives this one. What was not begun is left for later.

    Not `subprocess`: it wants its processes waited for.
    """
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    # Without -P a folder of the project that is called as one of our packages would be run.
    argv = [sys.executable, "-P", "-m", "loopwright", "notify", "--behind", str(root)]
    with suppress(OSError):
        os.posix_spawn(sys.executable, argv, dict(environ), file_actions=quiet, setsid=True)
