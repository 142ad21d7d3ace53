import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.checks.judgement import Rewriting
from loopwright.adapters.checks.receipts import Receipt, as_result, read_receipt, receipt_key, stands
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.model import Blob, Commit, LoopId, Tree
from tests.adapters.checks.projects import STEADY, UNITTEST, project

pytestmark = pytest.mark.unmeasured

PASSED = Receipt(
    key="k",
    check="test",
    command=("pytest",),
    tree=Tree("t"),
    base=Commit("b"),
    exit_code=0,
    result="pass",
    tests=2,
    environment="e",
    output=Blob("o"),
    seconds=1.0,
    at=5.0,
    loop=LoopId("l"),
    step="s1",
    wrote=Rewriting(),
)
COUNTS = """\
import pathlib, sys
file = pathlib.Path({path!r})
n = int(file.read_text()) if file.exists() else 0
file.write_text(str(n + 1))
"""


def counting(tmp_path: Path, ending: str = "") -> tuple[CheckSettings, Path]:
    """A check that counts how often it was really run."""
    counter = tmp_path / "counter"
    code = COUNTS.format(path=str(counter)) + ending
    return CheckSettings(name="build", run=(sys.executable, "-c", code)), counter


def test_a_receipt_that_no_event_names_does_not_count(tmp_path: Path) -> None:
    """Whoever can write into the store cannot make a check that never ran pass."""

    async def story() -> None:
        spec, counter = counting(tmp_path)
        made = project(tmp_path, {"a.py": ""}, [spec])
        commit = made.candidate({"a.py": "1\n"})
        run = made.run(commit)
        await made.checks.run(run, made.updates.append)  # its controller is killed before the event is written
        await made.only(commit)
        assert counter.read_text() == "2"

    asyncio.run(story())


def test_a_named_receipt_with_another_content_does_not_count(tmp_path: Path) -> None:
    async def story() -> None:
        spec, counter = counting(tmp_path, "sys.exit(1)")
        made = project(tmp_path, {"a.py": ""}, [spec])
        commit = made.candidate({"a.py": "1\n"})
        failed = await made.only(commit)
        text = await made.store.receipt(failed.receipt) or ""
        forged = replace(decode(Receipt, text), result="pass", failures=(), failing=())
        await made.store.keep_receipt(failed.receipt, forged.loop, encode(forged))
        assert not (await made.only(commit)).passed
        assert counter.read_text() == "2"

    asyncio.run(story())


def test_a_report_names_all_that_it_rests_on(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": STEADY}, [UNITTEST])
        first = await made.report(made.candidate({"a.py": "1\n"}))
        # The receipts of candidate, base, canary and witnesses, and where packages were found.
        assert len(first.rests_on) == 5
        again = await made.report(made.candidate({"a.py": "2\n"}))
        assert len(set(first.rests_on) & set(again.rests_on)) == 1

    asyncio.run(story())


def test_a_pass_is_reused_by_any_step_without_a_checkout(tmp_path: Path) -> None:
    async def story() -> None:
        spec, counter = counting(tmp_path)
        made = project(tmp_path, {"a.py": ""}, [spec])
        commit = made.candidate({"a.py": "1\n"})
        first = await made.only(commit, step="s1")
        laid = list(made.checkouts.laid)
        again = await made.only(commit, step="s2")
        assert (counter.read_text(), made.checkouts.laid) == ("1", laid)
        assert again == replace(first, reused=True, seconds=0.0)

    asyncio.run(story())


def test_a_preflight_is_made_without_a_checkout_until_something_else_is_linked(tmp_path: Path) -> None:
    """It may be tens of thousands of files, for a question whose answer is known."""

    async def story() -> None:
        files = {"tests/test_a.py": STEADY, "package.json": '{"name": "own"}', ".gitignore": "node_modules\n"}
        made = project(tmp_path, files, [UNITTEST])
        first = await made.report(made.base, preflight=True)
        laid = list(made.checkouts.laid)
        again = await made.report(made.base, step="s2", preflight=True)
        assert (made.checkouts.laid, again.unable) == (laid, ())
        assert set(again.rests_on) == set(first.rests_on)
        scope = made.repository.path / "node_modules" / "@own"
        scope.mkdir(parents=True)
        (scope / "part").symlink_to(tmp_path)
        await made.report(made.base, step="s3", preflight=True)
        assert len(made.checkouts.laid) == len(laid) + 1

    asyncio.run(story())


def test_a_pass_with_a_report_is_reused_without_a_checkout_too(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": STEADY}, [UNITTEST])
        commit = made.candidate({"a.py": "1\n"})
        await made.only(commit)
        laid = list(made.checkouts.laid)
        again = await made.only(commit, step="s2")
        assert (again.reused, again.passed, again.tests, made.checkouts.laid) == (True, True, 1, laid)

    asyncio.run(story())


def test_a_fail_is_reused_within_its_step_only(tmp_path: Path) -> None:
    async def story() -> None:
        spec, counter = counting(tmp_path, "sys.exit(1)\n")
        made = project(tmp_path, {"a.py": ""}, [spec])
        commit = made.candidate({"a.py": "1\n"})
        first = await made.only(commit, step="s1")
        same = await made.only(commit, step="s1")
        assert (same.reused, same.failures, counter.read_text()) == (True, first.failures, "1")
        other = await made.only(commit, step="s2")
        assert (other.reused, other.passed, counter.read_text()) == (False, False, "2")

    asyncio.run(story())


def test_another_tree_another_command_or_another_variable_means_another_run(tmp_path: Path) -> None:
    async def story() -> None:
        spec, counter = counting(tmp_path)
        made = project(tmp_path, {"a.py": ""}, [spec])
        await made.only(made.candidate({"a.py": "1\n"}))
        await made.only(made.candidate({"a.py": "2\n"}))
        assert counter.read_text() == "2"

    asyncio.run(story())


def test_the_base_is_run_once_for_all_candidates(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": STEADY}, [UNITTEST])
        await made.only(made.candidate({"a.py": "1\n"}))
        await made.only(made.candidate({"a.py": "2\n"}), step="s2")
        assert made.checkouts.laid.count(made.base) == 1

    asyncio.run(story())


def test_on_another_base_that_has_more_tests_those_are_run(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": STEADY}, [UNITTEST])
        commit = made.candidate({"a.py": "1\n"})
        assert (await made.only(commit)).passed
        made.base = made.candidate({"tests/test_b.py": STEADY})
        other = await made.only(commit, step="s2")
        assert (other.passed, other.reused, other.tests) == (True, False, 2)

    asyncio.run(story())


def test_a_candidate_that_is_its_own_base_is_run_once(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": STEADY}, [UNITTEST])
        assert (await made.only(made.base)).passed
        assert made.checkouts.laid == [made.base]

    asyncio.run(story())


def test_a_receipt_says_all_that_it_stands_for(tmp_path: Path) -> None:
    async def story() -> None:
        spec, _ = counting(tmp_path)
        made = project(tmp_path, {"a.py": ""}, [spec])
        commit = made.candidate({"a.py": "1\n"})
        result = await made.only(commit)
        told = json.loads(await made.store.receipt(result.receipt) or "")
        assert told["tree"] == made.repository.git("rev-parse", f"{commit}^{{tree}}")
        wanted = {"check": "build", "base": made.base, "exit_code": 0, "result": "pass", "loop": "l", "step": "s1"}
        assert wanted.items() <= told.items()
        assert told["command"] == list(spec.run)
        assert {"key", "tests", "environment", "output", "seconds", "at"} <= told.keys()
        assert told["key"] == result.receipt == receipt_key(told["tree"], "build", spec.run, told["environment"])

    asyncio.run(story())


def test_a_pass_that_rewrote_what_its_base_writes_too_holds_for_that_base_only() -> None:
    dirty = replace(PASSED, wrote=Rewriting(written=("a.py",), rewritten=("a.py",)))
    assert stands(dirty, base=PASSED.base, step="s9")
    assert not stands(dirty, base=Commit("other"), step="s9")


def test_a_pass_that_forgave_something_holds_for_its_own_base_only() -> None:
    assert stands(PASSED, base=Commit("other"), step="s9")
    assert not stands(replace(PASSED, forgiven=True), base=Commit("other"), step="s1")
    assert stands(replace(PASSED, forgiven=True), base=Commit("b"), step="s9")


def test_a_receipt_that_cannot_be_read_is_none() -> None:
    assert read_receipt(encode(PASSED)) == PASSED
    assert [read_receipt(text) for text in (None, "", "{}", '{"key": 1}', encode(PASSED)[:-3])] == [None] * 5
    assert as_result(PASSED).passed


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_different_commands_have_different_keys(one: list[str], two: list[str]) -> None:
    keys = {receipt_key(Tree("t"), "c", tuple(command), "e") for command in (one, two)}
    assert len(keys) == (1 if one == two else 2)
