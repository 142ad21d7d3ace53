"""Done means that something which failed before passes now: one story for each loop, told with the command line."""

import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from loopwright.cli.here import Here
from loopwright.loops.lifecycle.skills import JUDGES
from tests.cli.projects import Done, Sample, told
from tests.e2e.systems import PAPERS
from tests.kept import Kept
from tests.repository import Repository

pytestmark = pytest.mark.unmeasured

CONFIG = f"""\
version = 1
[agents.script]
kind = "rehearsal"
scenario = "scenario.toml"
[roles]
default = "script"
[checks.test]
run = [{json.dumps(sys.executable)}, "-X", "pycache_prefix", "-m", "unittest", "discover", "-s", "tests"]
[workspace]
product = ["*.py"]
tests = ["tests/**"]
protected = ["loop.toml", "scenario.toml"]
"""
CALC = "def add(a, b):\n    return a + b\n"
MUL = CALC + "\n\ndef mul(a, b):\n    return a * b\n"
HEAD = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n"
TEST_ADD = "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
TEST_MUL = "\n    def test_mul(self):\n        self.assertEqual(calc.mul(2, 3), 6)\n"
FILE = "tests/test_calc.py"
NUMERALS = CALC.replace("a + b", "int(a) + int(b)")
TEST_NUMERALS = '\n    def test_numerals(self):\n        self.assertEqual(calc.add("2", "3"), 5)\n'
PRICE, DEARER = "def price(net):\n    return net * 2\n", "def price(net):\n    return net * 3\n"
PRICE_TEST = """\
import unittest

from price import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2), 4)
"""
REVIEW = '[[step]]\nrole = "reviewer"\nrepeat = true\nresult = { status = "done", verdict = "pass" }\n'


def step(files: dict[str, str], *, repeat: bool = False, **result: Any) -> str:  # noqa: ANN401 - of a result
    edits = ", ".join(f"{{ path = {json.dumps(path)}, content = {json.dumps(text)} }}" for path, text in files.items())
    told = {"status": "done", "summary": "made it", **result}
    fields = ", ".join(f"{name} = {json.dumps(value)}" for name, value in told.items())
    again = "repeat = true\n" if repeat else ""
    return f'[[step]]\nrole = "developer"\n{again}edits = [{edits}]\nresult = {{ {fields} }}\n'


LIBRARY = {"calc.py": CALC, "price.py": PRICE, FILE: HEAD + TEST_ADD, "tests/test_price.py": PRICE_TEST}


def sample(path: Path, *steps: str, config: str = CONFIG, files: Mapping[str, str] = LIBRARY) -> Sample:
    repo = Repository.create(path / "repo")
    for name, text in {**files, "loop.toml": config, "scenario.toml": "".join((*steps, REVIEW))}.items():
        repo.write(name, text)
    repo.commit("Set up")
    return Sample(repo)


def level_of(done: Done) -> str:
    return str(done.data["evidence"]["level"])


def test_a_test_in_an_existing_file_shows_the_change_and_it_is_merged(tmp_path: Path) -> None:
    made = sample(tmp_path, step({"calc.py": MUL, FILE: HEAD + TEST_ADD + TEST_MUL}))
    done = made.loop("feedback", "Add mul", "--merge", "--json")
    assert (done.code, done.data["outcome"], done.data["merged"], done.data["iterations"]) == (0, "verified", True, 1)
    assert done.data["evidence"]["witnesses"] == [
        {"id": "test_calc.Calc.test_mul", "check": "test", "fails_on_base": "missing-name", "by": "maker"}
    ]
    assert (level_of(done), done.data["held_back"]) == ("shown", [])
    assert "test_mul" in made.repo.git("show", f"main:{FILE}")
    assert "Evidence: shown by test_calc.Calc.test_mul" in made.repo.git("log", "-1", "--format=%B", "main")
    assert [each["evidence"] for each in made.loop("receipts", "--json").data["evidence"]] == [done.data["evidence"]]
    assert "shown by test_calc.Calc.test_mul" in made.loop("receipts").out


@pytest.mark.parametrize("file", [FILE, "tests/test_mul.py"])
def test_a_maker_mends_its_own_faulty_new_test(tmp_path: Path, file: str) -> None:
    head = HEAD + TEST_ADD if file == FILE else HEAD
    faulty = head + TEST_MUL.replace("2, 3), 6", "2, 3), 7")
    made = sample(tmp_path, step({"calc.py": MUL, file: faulty}), step({file: head + TEST_MUL}))
    done = made.loop("feedback", "Add mul", "--merge", "--unattended", "--json")
    assert (done.code, done.data["outcome"], done.data["merged"], done.data["iterations"]) == (0, "verified", True, 2)
    assert [each["id"].rpartition(".")[2] for each in done.data["evidence"]["witnesses"]] == ["test_mul"]


SWAPPED = CALC.replace("a + b", "b + a")
REFACTORED = (step({"calc.py": SWAPPED}), step({}, repeat=True, no_test="it only swaps the summands"))


def test_a_merge_that_no_test_shows_waits_for_a_person_and_is_merged_by_their_word(tmp_path: Path) -> None:
    made = sample(tmp_path, *REFACTORED)
    done = made.loop("feedback", "Swap the summands", "--merge", "--unattended", "--json")
    (need,) = done.data["needs"]
    assert (done.code, level_of(done), need["what"]) == (4, "guarded", "unshown")
    assert "it only swaps the summands" in need["why"]
    assert "--keeps-behaviour" in need["why"]
    assert made.loop("approve", f"unshown@{need['id']}").code == 0
    after = made.loop("resume", "--unattended", "--json")
    assert (after.code, after.data["outcome"], after.data["merged"]) == (0, "verified", True)
    (decision,) = after.data["evidence"]["decisions"]
    (shown,) = made.loop("status", "--json").data["loops"]
    receipts = made.loop("receipts", "--json").data["evidence"]
    explained = made.loop("explain", "--json").data
    told = (shown["evidence"], receipts[-1]["evidence"], explained["evidence"])
    assert [each["decisions"] for each in told] == [[decision]] * 3
    message = made.repo.git("log", "-1", "--format=%B", "main")
    screens = [made.loop(command).out for command in ("status", "explain", "receipts")]
    assert [decision in text and "guarded" in text for text in (message, *screens)] == [True] * 4


def test_a_change_that_no_test_shows_ends_on_its_branch_where_nothing_is_merged(tmp_path: Path) -> None:
    made = sample(tmp_path, *REFACTORED)
    done = made.loop("feedback", "Swap the summands", "--json")
    assert (done.code, done.data["outcome"], level_of(done), done.data["iterations"]) == (0, "verified", "guarded", 2)
    assert done.data["evidence"]["no_test"] == ["it only swaps the summands"]
    assert made.loop("status", "--json").data["loops"][0]["evidence"] == done.data["evidence"]
    assert "it only swaps the summands" in made.loop("explain").out
    assert "it only swaps the summands" in made.repo.git("log", "-1", "--format=%B", done.data["branch"])


def test_a_change_that_keeps_behaviour_needs_no_test(tmp_path: Path) -> None:
    made = sample(tmp_path, step({"calc.py": SWAPPED}))
    done = made.loop("feedback", "Swap the summands", "--merge", "--unattended", "--keeps-behaviour", "--json")
    assert (done.code, done.data["merged"], level_of(done), done.data["iterations"]) == (0, True, "guarded", 1)


def test_the_advised_commands_add_a_test_to_the_branch(tmp_path: Path) -> None:
    made = sample(tmp_path, step({"calc.py": NUMERALS}), step({}, repeat=True))
    advice = made.loop("feedback", "Read numerals").out.partition("Go on: ")[2]
    switch, more = (shlex.split(each) for each in re.findall(r"`((?:git switch|loop feedback) .*?)`", advice))
    made.repo.git(*switch[1:])
    made.repo.write("scenario.toml", step({FILE: HEAD + TEST_ADD + TEST_NUMERALS}) + REVIEW)
    made.repo.commit("Play another agent")
    done = made.loop(*more[1:], "--json")
    assert (done.code, done.data["merged_into"].removeprefix("refs/heads/")) == (0, switch[-1])


@pytest.mark.parametrize(("words", "is_advised"), [((), True), (("--keeps-behaviour",), False)])
def test_no_test_is_advised_that_cannot_be_written(tmp_path: Path, words: tuple[str, ...], *, is_advised: bool) -> None:
    made = sample(tmp_path, *(REFACTORED if is_advised else (step({"calc.py": SWAPPED}),)))
    done = made.loop("feedback", "Swap the summands", *words)
    assert (done.code, "--about tests" in done.out) == (0, is_advised)
    assert ("it only swaps the summands" in done.out) == is_advised


def test_comments_alone_land_where_the_work_keeps_the_behaviour(tmp_path: Path) -> None:
    made = sample(tmp_path, step({"calc.py": "# Sums.\n" + CALC}))
    done = made.loop("feedback", "Say what it does", "--keeps-behaviour", "--unattended", "--json")
    assert (done.code, done.data["outcome"]) == (0, "verified")


def test_a_changed_setting_lets_an_unshown_change_be_merged(tmp_path: Path) -> None:
    made = sample(tmp_path, *REFACTORED, config=CONFIG + '[trust]\nunshown = "land"\n')
    done = made.loop("feedback", "Swap the summands", "--merge", "--unattended", "--json")
    assert (done.code, done.data["merged"], level_of(done)) == (0, True, "guarded")


def test_a_wrong_fix_whose_own_test_fails_never_lands(tmp_path: Path) -> None:
    wrong = MUL.replace("a * b", "a + b")
    made = sample(tmp_path, step({"calc.py": wrong, FILE: HEAD + TEST_ADD + TEST_MUL}), step({}, repeat=True))
    done = made.loop("feedback", "Add mul", "--merge", "--unattended", "--max-iterations", "2", "--json")
    assert (done.code, done.data["merged"]) == (4, False)
    assert "test_mul" not in made.repo.git("show", f"main:{FILE}")


def test_own_tests_that_fail_beside_a_manifest_go_back_to_the_maker_first(tmp_path: Path) -> None:
    setup = {"setup.py": "from setuptools import setup\n\nsetup(name='calc', install_requires=['more'])\n"}
    wrong = {"calc.py": MUL.replace("a * b", "a + b"), FILE: HEAD + TEST_ADD + TEST_MUL, **setup}
    made = sample(tmp_path, step(wrong), step({"calc.py": MUL}))
    done = made.loop("feedback", "Add mul", "--merge", "--unattended", "--json")
    assert (done.code, done.data["outcome"], done.data["iterations"], level_of(done)) == (0, "verified", 2, "shown")
    assert [each["path"] for each in done.data["held_back"]] == ["setup.py"]


def test_own_tests_that_still_fail_beside_a_manifest_wait_for_a_person(tmp_path: Path) -> None:
    needing = CALC + "\n\ndef mul(a, b):\n    import more\n\n    return more.mul(a, b)\n"
    changed = {"calc.py": needing, FILE: HEAD + TEST_ADD + TEST_MUL, "setup.py": "import more\n"}
    made = sample(tmp_path, step(changed, repeat=True))
    done = made.loop("feedback", "Add mul", "--merge", "--unattended", "--json")
    needs = [each["what"] for each in done.data["needs"]]
    assert (done.code, done.data["iterations"], needs) == (4, 1, ["protected"])
    (gate,) = made.loop("gates", "--json").data["gates"]
    assert gate["failing"] == ["test_calc.Calc.test_mul"]


HELD = {"README.md": "Calculates.\n", "tox.ini": "[pytest]\naddopts = -q\n"}
TESTS_ONLY = {FILE: HEAD + TEST_ADD + TEST_ADD.replace("test_add", "test_sum")}
NO_PRODUCT = {"a test": TESTS_ONLY, "data of tests": {"tests/cases.json": "[]\n"}, "what is held back": HELD}


@pytest.mark.parametrize("files", NO_PRODUCT.values(), ids=NO_PRODUCT)
def test_work_about_code_that_changes_none_is_nothing_done(tmp_path: Path, files: dict[str, str]) -> None:
    made = sample(tmp_path, step(files, repeat=True))
    done = made.loop("feedback", "Add mul", "--unattended", "--json")
    assert (done.code, done.data["outcome"]) == (4, "escalated")


@pytest.mark.parametrize("merge", [True, False])
def test_what_changed_no_code_is_accepted_and_merged_as_was_asked_for(tmp_path: Path, *, merge: bool) -> None:
    made = sample(tmp_path, step({"README.md": "Calculates.\n"}))
    done = made.loop("feedback", "Document the sum in the README", "--merge", "--unattended", "--json")
    accept, merged = (each for each in done.data["needs"][0]["choices"] if "accept" in each["command"])
    assert ("on a branch" in accept["label"], "into main" in merged["label"]) == (True, True)
    assert made.loop(*shlex.split((merged if merge else accept)["command"])[1:]).code == 0
    ended = made.loop("resume", "--unattended")
    assert "changed no code (README.md)" in ended.out
    assert "with 0 known issues" in ended.out
    if not merge:
        (command,) = re.findall(r"although --merge was given \(`git (.*?)` merges\)", ended.out)
        made.repo.git(*shlex.split(command))
    assert made.repo.git("show", "main:README.md") == "Calculates."


def test_work_about_tests_may_change_tests_alone(tmp_path: Path) -> None:
    made = sample(tmp_path, step(TESTS_ONLY))
    done = made.loop("feedback", "Test the sum", "--about", "tests", "--json")
    assert (done.code, done.data["outcome"], level_of(done)) == (0, "verified", "not shown")


MORE_TESTS = {"tests/test_sum.py": TESTS_ONLY[FILE].replace("class Calc", "class Sum")}
OTHER_ADD = CALC.replace("a + b", "a + abs(b)")


@pytest.mark.parametrize("words", [("--about", "tests"), ()], ids=["a person says so", "the reviewer says so"])
def test_work_about_tests_that_changes_the_product_unseen_waits_for_a_person(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    review = REVIEW if words else REVIEW.replace('"pass"', '"pass", about = "tests"')
    made = sample(tmp_path, step({"calc.py": OTHER_ADD, **MORE_TESTS}), step({}, repeat=True), review)
    done = made.loop("feedback", "Test the sum", "--merge", "--unattended", *words, "--json")
    needs = [each["what"] for each in done.data["needs"]]
    assert (done.code, done.data["merged"], level_of(done), needs) == (4, False, "guarded", ["unshown"])


def test_the_next_loop_names_tests_that_were_altered_without_a_persons_word(tmp_path: Path) -> None:
    altered = TEST_ADD.replace("calc.add(2, 3), 5)", "calc.add(2, 3), 5)\n        self.assertEqual(calc.add(0, 1), 1)")
    again = MUL.replace("return a * b", "return b * a")
    steps = (step({"calc.py": MUL, FILE: HEAD + altered + TEST_MUL}), step({"calc.py": again}))
    made = sample(tmp_path, *steps, step({}, repeat=True, no_test="none can"))
    first = made.loop("feedback", "Add mul", "--merge", "--json")
    assert [each["id"] for each in first.data["evidence"]["altered_tests"]] == ["test_calc.Calc.test_add"]
    named = f"Loop {first.data['loop']} altered tests"
    assert named not in first.err
    second = made.loop("feedback", "Swap the factors")
    assert (named in second.err, "test_calc.Calc.test_add" in second.err) == (True, True)


ANOTHER_VALUE = TEST_ADD.replace("2, 3), 5", "2, 4), 6")
NOTHING_ASSERTED = TEST_ADD.replace("calc.add(2, 3), 5", "5, 5")


@pytest.mark.parametrize(
    ("test", "allowed"), [(NOTHING_ASSERTED, ()), (ANOTHER_VALUE, ("--allow", FILE))], ids=["held back", "allowed"]
)
def test_a_test_that_did_not_land_or_that_a_person_allowed_is_not_named_by_the_next_loop(
    tmp_path: Path, test: str, allowed: tuple[str, ...]
) -> None:
    new = {"calc.py": MUL, FILE: HEAD + test, "tests/test_mul.py": HEAD + TEST_MUL}
    made = sample(tmp_path, step(new), step({"calc.py": MUL.replace("a * b", "b * a")}, repeat=True))
    first = made.loop("feedback", "Add mul", "--merge", *allowed)
    assert first.code == 0
    names = [line for line in first.out.splitlines() if "test_add" in line or FILE in line]
    assert [line.split()[0] for line in names] == (["Tests:", "Tests"] if allowed else ["Held", "Why:"])
    assert "altered tests" not in made.loop("feedback", "Swap the factors", "--max-iterations", "1").err


def test_a_changed_test_that_no_check_names_is_said(tmp_path: Path) -> None:
    """The exit code of a command is all there is."""
    by_code = CONFIG.replace('"-m", "unittest"', '"run_tests.py"').replace("run = [", 'trust = "exit-code"\nrun = [')
    script = "import sys, unittest\n\nunittest.main(None, argv=sys.argv)\n"
    made = sample(
        tmp_path,
        step({"calc.py": NUMERALS, FILE: HEAD + TEST_ADD + TEST_NUMERALS}),
        step({}, repeat=True, no_test="the check names no test"),
        config=by_code.replace("protected = [", 'protected = ["run_tests.py", '),
        files={**LIBRARY, "run_tests.py": script},
    )
    done = made.loop("feedback", "Let add take numerals", "--json")
    assert (done.code, done.data["outcome"], done.data["evidence"]["uncompared"]) == (0, "verified", [FILE])


# --- a system from nothing --------------------------------------------------------------------------------------------

SYSTEM = (
    CONFIG.replace('["*.py"]', '["shop/**"]')
    + """\
[autonomy]
mode = "autonomous"
[lifecycle]
scaffold = "trust"
[deploy]
run = ["cat", "FILE"]
"""
)
TEST_SALE = """\
import unittest

from shop.sale import total


class Sale(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([2, 3]), 5)
"""


def skill(name: str, files: dict[str, str], **result: Any) -> str:  # noqa: ANN401 - as `step`
    return step(files, repeat=True, **result).replace('role = "developer"', f'role = "skill"\nskill = "{name}"')


def papers() -> Iterator[str]:
    text = "# Paper\n\nDone.\n\n## Integration\n\nFine.\n\n## Security\n\nFine.\n\n## Performance\n\nFine.\n"
    for name, paper in PAPERS.items():
        yield skill(name, {f"docs/systems/sys-001/{paper}.md": text}, **({"verdict": "pass"} if name in JUDGES else {}))


SALE = "def total(prices):\n    return sum(prices)\n"


def new_system(path: Path, *steps: str) -> Sample:
    """A queue with one system and nothing else; it deploys where a file says that this goes well."""
    made = sample(
        path,
        *papers(),
        skill("scaffold", {"shop/__init__.py": "", "tests/__init__.py": ""}),
        *steps,
        skill("test-generation", {"tests/test_sale.py": TEST_SALE}),
        config=SYSTEM.replace("FILE", str(path / "goes-well")),
        files={},
    )
    assert made.loop("queue", "add", "Shop", "--capability", "total").code == 0
    return made


def goes_on(made: Sample, *words: str) -> Done:
    return made.loop(*(words or ("run",)), "--unattended", "--json")


@pytest.fixture(scope="module")
def at_deploy(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    made = new_system(tmp_path_factory.mktemp("system"), step({"shop/sale.py": SALE}))
    done = goes_on(made)
    assert (done.code, done.data["gate"], level_of(done)) == (4, "deploy", "shown")
    return Kept.of(made.repo.path)


def approved(at_deploy: Kept) -> Sample:
    made = Sample(Repository(at_deploy.restored()))
    (gate,) = made.loop("gates", "--json").data["gates"]
    assert "total: shown by test_sale.Sale.test_total" in gate["why"]
    assert made.loop("approve", f"deploy@{gate['id']}").code == 0
    return made


def test_a_system_from_nothing_is_shown_by_the_tests_that_came_with_it(at_deploy: Kept) -> None:
    made = approved(at_deploy)
    (made.repo.path.parent / "goes-well").touch()
    done = goes_on(made)
    assert (done.code, done.data["outcome"], level_of(done)) == (0, "complete", "shown")
    assert [each["id"] for each in done.data["evidence"]["witnesses"]] == ["test_sale.Sale.test_total"]
    assert made.repo.git("show", "main:shop/sale.py") + "\n" == SALE
    assert "Evidence: shown by test_sale.Sale.test_total" in made.repo.git("log", "-1", "--format=%B", "main")


def test_a_deploy_that_failed_waits_for_a_person_whatever_goes_on_unattended(at_deploy: Kept) -> None:
    made = approved(at_deploy)
    (made.repo.path.parent / "goes-well").unlink(missing_ok=True)
    for words in (("run",), ("resume",), ("run",)):
        done = goes_on(made, *words)
        assert (done.code, done.data["outcome"]) == (4, "blocked"), words


def test_a_fix_that_bends_the_failing_test_instead_of_the_code_waits_for_a_person(tmp_path: Path) -> None:
    bent = TEST_SALE.replace("total([2, 3]), 5", "total([2, 3]), 2")
    wrong = step({"shop/sale.py": SALE.replace("sum", "len")})
    fix = step({"tests/test_sale.py": bent}, repeat=True)
    made = new_system(tmp_path, wrong, skill("debug-assist", {}), fix)
    done = goes_on(made)
    assert (done.code, done.data["gate"], done.data["state"]) == (4, "protected", "TEST")


def test_a_system_that_changes_no_product_asks_after_one_maker_and_is_accepted(tmp_path: Path) -> None:
    made = sample(
        tmp_path,
        *papers(),
        *(skill(name, {}) for name in ("scaffold", "test-generation", "debug-assist")),
        step({}, repeat=True),
        config=SYSTEM.replace('run = ["cat", "FILE"]', 'run = ["true"]'),
        files={"shop/__init__.py": "", "shop/sale.py": SALE, "tests/test_sale.py": TEST_SALE, "tests/__init__.py": ""},
    )
    assert made.loop("queue", "add", "Shop", "--capability", "total").code == 0
    done = goes_on(made)
    assert (done.code, done.data["state"], done.err.count("developer starts")) == (4, "BLOCKED", 1), done.err
    assert made.loop("answer", "accept").code == 0
    gate = goes_on(made)
    assert gate.data["gate"] == "deploy", gate
    (need,) = made.loop("gates", "--json").data["gates"]
    assert made.loop("approve", f"deploy@{need['id']}").code == 0
    after = goes_on(made)
    assert (after.code, after.data["outcome"]) == (0, "accepted"), after


HOLE = {"severity": "critical", "rule": "S1", "file": "shop/sale.py", "line": 2, "issue": "a hole", "evidence": "sum"}
HAND = """\
import json, os, pathlib
root, sale = pathlib.Path({root!r}), pathlib.Path("shop/sale.py")
state = root / "domain-memory" / root.name / "systems" / "sys-001" / "loop-state.json"
if state.is_file() and json.loads(state.read_text())["state"] == "BLOCKED":
    state.write_text(json.dumps({{**json.loads(state.read_text()), "state": "VALIDATE"}}))
else:
    sale.write_text({sale!r})
pathlib.Path(os.environ["LOOP_RESULT"]).write_text(json.dumps({{"status": "done", "summary": "made it"}}))
"""


TEST_SHOP = """\
import unittest

import shop


class Shop(unittest.TestCase):
    def test_shop(self):
        self.assertEqual(shop.__name__, "shop")
"""


@pytest.fixture(scope="module")
def insecure(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A system that its first audit blocks; the next one would pass. A maker at work then writes into its state."""
    path = tmp_path_factory.mktemp("insecure")
    fault = ", ".join(f"{name} = {json.dumps(value)}" for name, value in {**HOLE, "guidance": "Close it."}.items())
    found = skill("security-audit", {}, verdict="fail").replace("repeat = true\n", "")
    found = found.replace('verdict = "fail"', f'verdict = "fail", findings = [{{ {fault} }}]')
    (path / "hand.py").write_text(HAND.format(root=str(path / "repo"), sale=SALE))
    hand = f'[agents.hand]\nkind = "command"\nargv = {json.dumps([sys.executable, str(path / "hand.py")])}\n'
    made = sample(
        path,
        found,
        *papers(),
        skill("scaffold", {"shop/scaffold.py": "", "tests/__init__.py": ""}),
        skill("test-generation", {"tests/test_sale.py": TEST_SALE}),
        config=SYSTEM.replace("FILE", str(path / "goes-well")).replace(
            '[roles]\ndefault = "script"\n', f'{hand}[roles]\ndefault = "script"\ndeveloper = "hand"\n'
        ),
        files={"shop/__init__.py": "", "tests/test_shop.py": TEST_SHOP},
    )
    assert made.loop("queue", "add", "Shop", "--capability", "total").code == 0
    done = goes_on(made)
    assert (done.code, done.data["outcome"], done.data["state"]) == (4, "blocked", "BLOCKED"), done.err
    return Kept.of(made.repo.path)


def log_of(made: Sample, loop_id: str) -> str:
    return made.loop("log", "--loop", loop_id).out


def test_a_security_no_stays_until_a_person_answers_and_the_answer_is_said(insecure: Kept) -> None:
    made = Sample(Repository(insecure.restored()))
    (shown, *_) = made.loop("status", "--json").data["loops"]
    audits = log_of(made, shown["id"]).count("security-audit")
    for words in (("resume",), ("run",), ("next",), ("resume",)):
        assert goes_on(made, *words).code == 4, words
    assert log_of(made, shown["id"]).count("security-audit") == audits
    assert made.loop("answer", "resume").code == 0
    done = goes_on(made)
    assert (done.data["gate"], len(done.data["evidence"]["decisions"])) == ("deploy", 1)


def test_a_state_that_a_step_of_another_loop_wrote_waits_for_a_person(
    insecure: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Sample(Repository(insecure.restored()))
    (shown, *_) = made.loop("status", "--json").data["loops"]
    log = log_of(made, shown["id"])
    made.loop("feedback", "Add a sale", "--unattended", "--max-iterations", "1")
    for words in (("run",), ("resume", "--loop", shown["id"]), ("next",)):
        refused = made.loop(*words, "--unattended")
        assert (refused.code, "VALIDATE" in refused.out + refused.err) == (4, True), (words, refused)
    here = Here(cwd=made.repo.path, environ=dict(os.environ), asks=True)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    asked = told(here, "resume", "--loop", shown["id"])
    assert (asked.code, "loop-state.json" in asked.err) == (4, True), asked
    assert log_of(made, shown["id"]) == log


# --- a review of one file ---------------------------------------------------------------------------------------------

FAULT = {
    "severity": "critical",
    "rule": "S2",
    "file": "calc.py",
    "line": 2,
    "issue": "numerals are joined",
    "evidence": "a + b",
    "guidance": "Make numbers of them.",
}


def played_by(role: str, made: str) -> str:
    return made.replace('role = "developer"', f"role = {json.dumps(role)}")


def finds(file: str) -> str:
    fault = ", ".join(f"{name} = {json.dumps(value)}" for name, value in {**FAULT, "file": file}.items())
    return (
        f'[[step]]\nrole = "reviewer"\nresult = {{ status = "done", verdict = "fail", findings = [{{ {fault} }}] }}\n'
    )


def test_a_review_says_what_shows_its_fix_and_asks_for_nothing(tmp_path: Path) -> None:
    made = sample(tmp_path, finds("calc.py"), played_by("creator", step({"calc.py": NUMERALS})))
    done = made.loop("review", "calc.py", "--merge", "--unattended", "--json")
    assert (done.code, done.data["outcome"], done.data["merged"], level_of(done)) == (0, "verified", True, "guarded")


# --- a ticket session -------------------------------------------------------------------------------------------------


def test_a_ticket_without_a_test_goes_back_once_and_is_approved_with_one(tmp_path: Path) -> None:
    made = sample(
        tmp_path,
        played_by("creator", step({"calc.py": NUMERALS})),
        played_by("creator", step({FILE: HEAD + TEST_ADD + TEST_NUMERALS})),
        REVIEW.replace("reviewer", "critic"),
    )
    ticket = made.loop("ticket", "new", "Let add take numerals", "--accept", "Numerals are added", "--json")
    assert ticket.code == 0
    done = made.loop("ticket", "run", "--merge", "--unattended", "--json")
    assert (done.code, done.data["verdict"], done.data["merged"], level_of(done)) == (0, "APPROVE", True, "shown")
    assert [each["id"] for each in done.data["evidence"]["witnesses"]] == ["test_calc.Calc.test_numerals"]
    assert len(done.data["tickets"]) == 2
