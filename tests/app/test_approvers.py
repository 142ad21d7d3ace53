"""Who may decide a gate."""

import asyncio
import os
from contextlib import nullcontext
from pathlib import Path
from typing import cast

import pytest

from loopwright.app.approvers import Deciding, objection
from loopwright.app.loops import view
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.app.views.gates import ShownGate, gates
from loopwright.cli import afterwards
from loopwright.cli.afterwards import decided_on
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.person import person
from loopwright.config.settings import Settings
from loopwright.config.systems import GateSettings, LifecycleSettings
from loopwright.engine.world import World
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


def test_at_a_terminal_it_is_the_same(gated: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned(gated, Settings(lifecycle=LifecycleSettings(four_eyes=True)))
    here = Here(cwd=gated.repo.path, environ={**os.environ, "LOGNAME": "ann"})

    async def approves(gate: ShownGate, _question: str, by: str) -> GateDecided:
        return replace(YES, gate=gate.name, evidence=gate.evidence, key=gate_key(gate.name, gate.evidence), by=by)

    async def asked(project: Project) -> tuple[str, str, bool]:
        (row,) = await project.store.rows()
        seen = await view(project, row.id)
        (gate,) = gates(seen)
        world = cast("World", None)  # for differences alone
        at_prompt = person(project, world, Settings(), here.who, nullcontext)
        stays = await decided_on(project, here, seen, gate)
        refusals = [await at_prompt.objection(row.id, await approves(gate, "", by)) for by in (here.who, "bob@laptop")]
        return refusals[0], refusals[1], stays is seen

    monkeypatch.setattr(afterwards, "heard_on", approves)
    with Path(os.devnull).open() as stdin, opened(here) as project:
        monkeypatch.setattr("sys.stdin", stdin)
        assert asyncio.run(asked(project)) == (SAME.replace("security", "protected"), "", True)


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
