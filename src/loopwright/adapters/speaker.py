"""Who speaks through a command: the login and the machine, as the machine says."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping


def speaker(environ: Mapping[str, str]) -> str:
    """As the log has it: `ann@laptop`."""
    return f"{_login(environ)}@{os.uname().nodename}"


def _login(environ: Mapping[str, str]) -> str:
    if name := environ.get("LOGNAME") or environ.get("USER"):
        return name
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"
