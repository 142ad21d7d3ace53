"""Who speaks through a command: the login and the machine, and the names that their git gives them.

All of it is what the machine says, and whoever may change its settings may be called otherwise.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.git.program import persons_git


def speaker(environ: Mapping[str, str]) -> str:
    """As the log has it: `ann@laptop`."""
    return f"{_login(environ)}@{os.uname().nodename}"


def git_names(environ: Mapping[str, str], root: Path) -> tuple[str, str]:
    """`user.name` and `user.email`; empty where git knows none."""
    git = persons_git(environ, root)
    name, mail = (git.ask("config", "--get", key) for key in ("user.name", "user.email"))
    return _value(name.code, name.out), _value(mail.code, mail.out)


def _value(code: int, out: bytes) -> str:
    return out.decode("utf-8", "backslashreplace").strip() if code == 0 else ""


def _login(environ: Mapping[str, str]) -> str:
    if name := environ.get("LOGNAME") or environ.get("USER"):
        return name
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"
