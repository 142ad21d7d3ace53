"""The person at the terminal, who is shown what nobody recorded and asked whether it is theirs."""

from __future__ import annotations

from collections.abc import Sequence

import click

from loopwright.app.readiness import Confirm
from loopwright.cli.here import Here
from loopwright.cli.output import note


def confirmation(here: Here, *, unattended: bool) -> Confirm | None:
    """Return the way to ask; None where no person is at a terminal."""
    return _ask if here.asks and not unattended else None


def _ask(question: str, shown: Sequence[str]) -> bool:
    for line in shown:
        note(line)
    return click.confirm(question, default=False, err=True)
