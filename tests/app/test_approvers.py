"""Who may decide a gate."""

import asyncio
import os

import pytest

from loopwright.app.approvers import Deciding, objection
from loopwright.app.loops import view
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.config.settings import GateSettings, LifecycleSettings, Settings
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import encode
from loopwright.kernel.events import ConfigChanged, GateDecided
from loopwright.kernel.gates import gate_key
from loopwright.kernel.model import LoopId
from tests.cli.projects import NAMES_THE_CHECK, TOUCHES_PROTECTED, Sample

YES = GateDecided(key=gate_key("security", "e"), gate="security", approved=True, evidence="e", by="ann@laptop")
NO = replace(YES, approved=False)
NAMES = ("Ann Example", "ann@example.org")
ALONE = "gate security may be decided by bob, sec@example.org alone, and you are "
SAME = "gate security wants four eyes, and you started the loop: somebody else has to approve it"
UNKNOWN = "gate security wants four eyes, and nobody knows who started the loop"


@pytest.mark.parametrize(
    ("said", "names", "wanted", "why"),
    [
        (YES, NAMES, Deciding(), ""),
        (YES, NAMES, Deciding(approvers=("bob", "ann")), ""),
        (YES, NAMES, Deciding(approvers=("ANN@laptop",)), ""),
        (YES, NAMES, Deciding(approvers=(" Ann Example ",)), ""),
        (NO, NAMES, Deciding(approvers=("Ann@Example.org",)), ""),
        (
            YES,
            NAMES,
            Deciding(approvers=("bob", "sec@example.org")),
            f"{ALONE}ann@laptop (Ann Example, ann@example.org)",
        ),
        (NO, ("", ""), Deciding(approvers=("bob", "sec@example.org")), f"{ALONE}ann@laptop"),
        (
            replace(YES, by=""),
            ("", ""),
            Deciding(approvers=("",)),
            "gate security may be decided by  alone, and you are ",
        ),
        (YES, NAMES, Deciding(four_eyes=True, started_by="bob@laptop"), ""),
        (YES, NAMES, Deciding(four_eyes=True, started_by="ann@laptop"), SAME),
        (YES, NAMES, Deciding(four_eyes=True, started_by="ann@laptop", approvers=("ann",)), SAME),
        (NO, NAMES, Deciding(four_eyes=True, started_by="ann@laptop"), ""),
        (YES, NAMES, Deciding(four_eyes=True), UNKNOWN),
    ],
)
def test_who_may_decide(said: GateDecided, names: tuple[str, str], wanted: Deciding, why: str) -> None:
    assert objection(said, names, wanted) == why


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    sample = Sample.create(tmp_path_factory.mktemp("gated") / "repo", TOUCHES_PROTECTED)
    assert sample.loop("feedback", NAMES_THE_CHECK, LOGNAME="ann").code == 4
    return sample


def pinned(sample: Sample, settings: Settings) -> str:
    """The gate that is open, after the loop has taken in these settings."""
    (gate,) = sample.loop("gates", "--json").data["gates"]

    async def take(project: Project) -> None:
        seen = await view(project, LoopId(gate["loop"]))
        limits = encode(seen.now.state.plan.limits)
        changed = ConfigChanged(digest=settings.digest, settings=settings.to_json(), limits=limits, by="ann")
        assert await take_in(project, seen, changed, print) is not None

    with opened(Here(cwd=sample.repo.path, environ=dict(os.environ))) as project:
        asyncio.run(take(project))
    return f"{gate['name']}@{gate['id']}"


def test_the_settings_that_a_loop_is_pinned_to_say_who_may_decide_its_gates(gated: Sample) -> None:
    listed = Settings(gates=(GateSettings(name="protected", approvers=("bob", "eve@example.org")),))
    gate = pinned(gated, listed)
    for verb, more in (("approve", ()), ("reject", ("--reason", "no"))):
        refused = gated.loop(verb, gate, *more, LOGNAME="ann")
        assert refused.code == 3
        assert refused.err.startswith(
            "loop: gate protected may be decided by bob, eve@example.org alone, and you are ann@"
        )
        assert refused.err.endswith("; nothing was recorded\n")
    pinned(gated, Settings(lifecycle=LifecycleSettings(four_eyes=True)))
    refused = gated.loop("approve", gate, LOGNAME="ann")
    assert (refused.code, "and you started the loop" in refused.err) == (3, True)
    approved = gated.loop("approve", gate, "--json", LOGNAME="bob")
    assert (approved.code, approved.data["by"].partition("@")[0]) == (0, "bob")
