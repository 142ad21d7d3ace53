import asyncio
import os
import sys
from pathlib import Path

import pytest

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.environment import Digests, for_checks
from loopwright.adapters.checks.outfit import Outfit
from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.adapters.resolution import Resolution
from loopwright.config.settings import CheckSettings
from loopwright.kernel.findings import identify
from loopwright.kernel.model import CheckResult, Commit, Demand, Finding, Severity
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from loopwright.testing.scripted_checks import ScriptedChecks
from tests.ports.conformance.checks import CONTRACTS, ChecksStage, Contract
from tests.repository import Repository

FAILURE = identify(Finding(severity=Severity.HIGH, category="tests", rule="t", issue="t - no"))
BUILD = CheckResult(name="build", passed=True)
MET = Demand("T-001", (sys.executable, "-c", ""))
UNMET = Demand("mustNot-1", (sys.executable, "-c", "raise SystemExit(3)"))
UNSTARTABLE = Demand("criterion-1", ("no-such-program-here",))
# The `hang` file names where to leave a process id, so that the test can see whether it is alive.
CODE = """\
import os, pathlib, time
hang, bad = pathlib.Path("hang"), pathlib.Path("bad")
if hang.exists():
    pathlib.Path(hang.read_text()).write_text(str(os.getpid()))
    print("begun", flush=True)
    time.sleep(600)
raise SystemExit(1 if bad.exists() else 0)
"""


def scripted() -> ChecksStage:
    good, bad = Commit("good"), Commit("bad")
    fake = ScriptedChecks(
        {
            good: (BUILD, CheckResult(name="test", passed=True)),
            bad: (BUILD, CheckResult(name="test", passed=False, failures=(FAILURE,))),
        },
        unmet={good: (UNMET.name, UNSTARTABLE.name)},
    )
    return ChecksStage(
        checks=fake,
        base=Commit("base"),
        good=good,
        bad=bad,
        hanging=Commit("hanging"),
        alive=lambda: fake.under_way > 0,
        met=MET,
        unmet=UNMET,
        unstartable=UNSTARTABLE,
    )


def commands(tmp_path: Path) -> ChecksStage:
    repository = Repository.create(tmp_path / "repo")
    base = Commit(repository.git("rev-parse", "HEAD"))
    mark = tmp_path / "pid"

    def commit(name: str, text: str) -> Commit:
        repository.git("checkout", "--quiet", "--detach", base)
        repository.write(name, text)
        return Commit(repository.commit(name))

    return ChecksStage(
        checks=real_checks(repository.path),
        base=base,
        good=commit("good", ""),
        bad=commit("bad", ""),
        hanging=commit("hang", str(mark)),
        alive=lambda: mark.exists() and Path(f"/proc/{mark.read_text()}").exists(),
        met=MET,
        unmet=UNMET,
        unstartable=UNSTARTABLE,
    )


def real_checks(root: Path) -> CommandChecks:
    specs = (
        CheckSettings(name="build", run=(sys.executable, "-c", "")),
        CheckSettings(name="test", run=(sys.executable, "-c", CODE), after=("build",)),
    )
    clock = ManualClock()
    checkouts = VerificationCheckouts(root, env=os.environ)
    return CommandChecks(
        specs=specs,
        outfit=Outfit(
            checkouts=checkouts,
            source=checkouts.objects,
            store=MemoryStore(Memory(), clock),
            clock=clock,
            root=root,
            runs=root / ".loop" / "runs",
            digests=Digests(Resolution(for_checks(os.environ, root / ".loop" / "verify"), root)),
        ),
        classifier=Classifier(source=checkouts.objects, product=("**",)),
    )


@pytest.mark.parametrize("contract", CONTRACTS)
def test_scripted_checks_keep_the_contract(contract: Contract) -> None:
    asyncio.run(contract(scripted()))


@pytest.mark.parametrize("contract", CONTRACTS)
def test_commands_keep_the_contract(contract: Contract, tmp_path: Path) -> None:
    asyncio.run(contract(commands(tmp_path)))
