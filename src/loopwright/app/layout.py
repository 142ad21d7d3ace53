"""Where our own things are in a repository."""

from __future__ import annotations

STATE_FOLDER = ".loop"
WORKSPACES = ".worktrees"
MEMORY = "domain-memory"
CONFIG_FILE = "loop.toml"
LOG_FILE = "loop.db"
DEBT = "debt.md"
RECORDS = "records"  # what we have written into files that others write too
