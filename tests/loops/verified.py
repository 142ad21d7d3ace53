"""What a verification may say, and what a person says to it: for the stories of every loop."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported, GateDecided
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import NO_KEY, Change, CheckResult, Commit, Finding, Severity, Tree
from loopwright.kernel.trust import Canary, Claim, Trust

NOW = Trust(in_force=True)
PART = Trust(in_force=True, base=Commit("root"))  # of a larger loop

BENT = (Change(path="tests/t.py", how="changed", blob="1"),)
OTHERWISE_BENT = (Change(path="tests/t.py", how="changed", blob="2"),)
MANIFEST = (Change(path="pyproject.toml", how="changed", blob="3"),)
E1, E2, E3 = evidence(BENT), evidence(OTHERWISE_BENT), evidence(MANIFEST)
WRONG = identify(Finding(severity=Severity.HIGH, rule="t::old", issue="assert 1 == 2", category="tests"))
_PASSED = CheckResult(name="test", passed=True, tests=3)
_FAILED = CheckResult(name="test", passed=False, failures=(WRONG,))

LANDS = ChecksReported(key=NO_KEY, tree=Tree("t"), results=(_PASSED,), lands=Tree("lands"))
RED = replace(LANDS, results=(_FAILED,))
RED_LANDING = replace(LANDS, landing=(_FAILED,))
WITHOUT = replace(LANDS, held=BENT)
NOTHING_ELSE = replace(WITHOUT, nothing_else=True)
CLAIM = Claim(changes=BENT, failing=("t::old",))
CLAIMED = replace(RED, held=BENT, claim=CLAIM)
AT_ONCE = replace(RED, held=MANIFEST, claim=Claim(changes=MANIFEST, at_once=True))
MISSED = Canary(said="untested-change", missed=("src/a.py: add",), sentence="no test notices src/a.py: add")
UNNOTICED = replace(LANDS, canary=MISSED)
UNREAD = replace(LANDS, canary=replace(MISSED, said="unread", rule="off"))
UNABLE = ChecksReported(key=NO_KEY, tree=Tree("t"), results=(), unable=("check 'test' cannot run: no pytest",))


def approves(digest: str = E1, gate: str = "protected") -> GateDecided:
    return GateDecided(key=NO_KEY, gate=gate, approved=True, evidence=digest)


def rejects(digest: str = E1, gate: str = "protected") -> GateDecided:
    return GateDecided(key=NO_KEY, gate=gate, approved=False, evidence=digest, reason="no")
