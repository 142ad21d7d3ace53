"""What is charged with an event, and on whose word."""

import pytest

from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Cancelled,
    Interrupted,
    Logged,
    ReportedLate,
)
from loopwright.kernel.model import AgentReport, Key, Usage
from loopwright.kernel.record import is_estimated

KEY = Key("implement", 1, tries=1)
SAID, SILENT, PRICED = Usage(usd=0.5), Usage(), Usage(usd=0.5, estimated=True)


def late(answer: AgentReported) -> ReportedLate:
    return ReportedLate(key=KEY, kind=type(answer).__name__, data=encode(answer))


def reported(usage: Usage) -> AgentReported:
    return AgentReported(key=KEY, report=AgentReport(), usage=usage)


@pytest.mark.parametrize(
    ("event", "estimated"),
    [
        (reported(SAID), False),
        (reported(SILENT), True),
        (reported(PRICED), True),
        (AgentFailed(key=KEY, reason="idle", usage=SAID), False),
        (AgentFailed(key=KEY, reason="idle", usage=SILENT), True),
        (AgentUnavailable(key=KEY, until=1.0, usage=SAID), False),
        (AgentUnavailable(key=KEY, until=1.0, usage=PRICED), True),
        (late(reported(SAID)), False),
        (late(reported(SILENT)), True),
        (ReportedLate(key=KEY, kind="OfAnotherVersion", data="{}"), True),
        (Cancelled(key=KEY), True),
        (Interrupted(key=KEY), True),
        (None, True),
    ],
)
def test_only_what_an_agent_said_of_itself_is_no_guess(event: Logged | None, *, estimated: bool) -> None:
    assert is_estimated(0.5, event) is estimated
    assert not is_estimated(0.0, event)
